// mutants: many damaged copies of a file, the same for the same seed; read here, or written for somebody to send.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "analyzer/core/assert.hpp"
#include "analyzer/ingest/ingest.hpp"
#include "tests/fuzz/mutate.hpp"
#include "tests/fuzz/upload_check.hpp"

namespace {

using namespace traceweir;
using Change = void (*)(std::string&, fuzz::Chance&);

struct Request {
  std::filesystem::path file, write;
  std::uint64_t first = 0, count = 1000;
};

Change change_of(std::string_view bytes) {
  if (bytes.starts_with("SQLite format 3")) return &fuzz::change_sqlite;
  return bytes.starts_with('{') || bytes.starts_with('[') ? &fuzz::change_json : &fuzz::change_bytes;
}

/// One to four changes. Shape: a mutant is its file and its number.
std::string mutant(const std::string& bytes, Change change, std::uint64_t number) {
  fuzz::Chance chance(number);
  std::string out = bytes;
  for (std::size_t changes = 1 + chance.below(4); changes > 0; --changes) change(out, chance);
  return out;
}

struct Tally {
  std::uint64_t read = 0, refused = 0, slowest = 0;
  std::chrono::steady_clock::duration slowest_took{};

  void take(const std::string& bytes, std::uint64_t number) {
    const auto begin = std::chrono::steady_clock::now();
    const fuzz::Answer answer =
        fuzz::check_upload(bytes, [](ingest::TraceInput& input) { return ingest::read_trace(input); });
    ++(answer == fuzz::Answer::read ? read : refused);
    const auto took = std::chrono::steady_clock::now() - begin;
    if (took > slowest_took) slowest_took = took, slowest = number;
  }
};

int run(const Request& request) {
  std::ifstream in(request.file, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(in), {}};
  TRACEWEIR_ASSERT(!bytes.empty());
  const Change change = change_of(bytes);
  Tally tally;
  for (std::uint64_t number = request.first; number < request.first + request.count; ++number) {
    std::fprintf(stderr, "\r%llu",
                 static_cast<unsigned long long>(number));  // the last one is it, where the process ends
    const std::string made = mutant(bytes, change, number);
    if (request.write.empty())
      tally.take(made, number);
    else
      std::ofstream(request.write / std::to_string(number), std::ios::binary) << made;
  }
  const auto milliseconds = std::chrono::duration_cast<std::chrono::milliseconds>(tally.slowest_took).count();
  std::printf(R"({"read": %llu, "refused": %llu, "slowest_ms": %lld, "slowest": %llu})"
              "\n",
              static_cast<unsigned long long>(tally.read), static_cast<unsigned long long>(tally.refused),
              static_cast<long long>(milliseconds), static_cast<unsigned long long>(tally.slowest));
  return EXIT_SUCCESS;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app(
      "Reads damaged copies of a trace and checks what holds for any upload; standard output: one line of JSON.");
  Request request;
  app.add_option("file", request.file, "the trace that is damaged")->required()->check(CLI::ExistingFile);
  app.add_option("--first", request.first, "number of the first copy; a number always makes the same copy");
  app.add_option("--count", request.count, "how many copies")->capture_default_str();
  app.add_option("--write", request.write, "a folder: the copies are written there and not read")
      ->check(CLI::ExistingDirectory);
  CLI11_PARSE(app, argc, argv);
  return run(request);
}
