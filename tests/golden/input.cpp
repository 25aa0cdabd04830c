#include "tests/golden/input.hpp"

#include <sqlite3.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <string>

namespace traceweir::golden {
namespace {

/// `input.EXT`, or the ranks of one run: `input_0.EXT`, `input_1.EXT`, … in the order of their names.
std::vector<std::filesystem::path> inputs_of(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> found;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.path().filename().string().starts_with("input")) found.push_back(entry.path());
  if (found.empty()) throw std::runtime_error("no input in " + folder.string());
  std::sort(found.begin(), found.end());
  if (found.size() > 1 && found.front().stem() == "input") throw std::runtime_error("two inputs in " + folder.string());
  return found;
}

std::string text_of(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void build_database(const std::filesystem::path& file, const std::string& sql) {
  sqlite3* raw = nullptr;
  const int opened = sqlite3_open(file.c_str(), &raw);
  const std::unique_ptr<sqlite3, int (*)(sqlite3*)> database(raw, &sqlite3_close);
  const std::string all = "PRAGMA synchronous=OFF;" + sql;  // it goes with the test
  if (opened != SQLITE_OK || sqlite3_exec(raw, all.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK)
    throw std::runtime_error("input.sql: " + std::string(sqlite3_errmsg(raw)));
}

std::filesystem::path own_folder() {
  std::string name = (std::filesystem::temp_directory_path() / "traceweir_golden_XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("cannot make " + name);
  return name;
}

}  // namespace

Input::Input(const std::filesystem::path& folder) : paths_(inputs_of(folder)) {
  for (std::filesystem::path& path : paths_) {
    if (path.extension() != ".sql") continue;
    if (built_.empty()) built_ = own_folder();
    const std::string sql = text_of(path);
    path = built_ / path.filename().replace_extension(".sqlite");
    try {
      build_database(path, sql);
    } catch (...) {
      std::filesystem::remove_all(built_);
      throw;
    }
  }
}

Input::~Input() {
  std::error_code ignored;
  if (!built_.empty()) std::filesystem::remove_all(built_, ignored);
}

}  // namespace traceweir::golden
