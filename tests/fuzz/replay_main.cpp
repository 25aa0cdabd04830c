// Runs a target on files and on every file of folders, in the order of their names, where no fuzzer is linked.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "tests/fuzz/target.hpp"

namespace {

constexpr std::chrono::seconds slowest_max{10};

std::vector<std::filesystem::path> files_of(int count, char** names) {
  std::vector<std::filesystem::path> files;
  for (int i = 1; i < count; ++i) {
    const std::filesystem::path path = names[i];
    if (!std::filesystem::is_directory(path)) files.push_back(path);
    if (std::filesystem::is_directory(path))
      for (const auto& entry : std::filesystem::directory_iterator(path)) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::string bytes_of(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

int main(int count, char** names) {
  std::chrono::steady_clock::duration slowest{};
  const auto files = files_of(count, names);
  for (const std::filesystem::path& file : files) {
    std::fprintf(stderr, "%s\n", file.filename().c_str());  // the last one is it, where the process ends
    const std::string bytes = bytes_of(file);
    const auto begin = std::chrono::steady_clock::now();
    LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
    slowest = std::max(slowest, std::chrono::steady_clock::now() - begin);
  }
  const auto milliseconds = std::chrono::duration_cast<std::chrono::milliseconds>(slowest).count();
  std::printf("%zu inputs, slowest %lld ms\n", files.size(), static_cast<long long>(milliseconds));
  return files.empty() || slowest > slowest_max ? EXIT_FAILURE : EXIT_SUCCESS;
}
