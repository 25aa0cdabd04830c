#include "cli/trace_files.hpp"

#include <fmt/format.h>
#include <glob.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <utility>

#include "analyzer/core/text.hpp"
#include "analyzer/ingest/sniff.hpp"
#include "analyzer/ingest/sqlite_file.hpp"
#include "analyzer/ingest/sqlite_header.hpp"
#include "cli/inputs.hpp"
#include "cli/natural_order.hpp"

namespace traceweir::cli {
namespace {

namespace fs = std::filesystem;

std::string head_of(const std::string& file) {
  constexpr std::size_t head_bytes = 4096;
  std::ifstream in(file, std::ios::binary);
  std::string head(head_bytes, '\0');
  in.read(head.data(), static_cast<std::streamsize>(head.size()));
  head.resize(static_cast<std::size_t>(in.gcount()));
  return head;
}

bool begins_like_a_trace(const std::string& head) {
  using namespace std::string_view_literals;
  for (const std::string_view magic : {"\x1f\x8b"sv, "\x28\xb5\x2f\xfd"sv})
    if (head.starts_with(magic)) return true;
  return ingest::is_sqlite(head) || ingest::is_nsys_report(head) || ingest::looks_like_json(head);
}

/// Errors: usage.
Result<std::vector<std::string>> files_of_pattern(const std::string& pattern) {
  glob_t found{};
  std::vector<std::string> files;
  if (::glob(pattern.c_str(), 0, nullptr, &found) == 0)
    for (std::size_t i = 0; i < found.gl_pathc; ++i) files.emplace_back(found.gl_pathv[i]);
  ::globfree(&found);
  if (files.empty()) return fail(ErrorCode::usage, fmt::format("{}: there is no such file", clean_text(pattern)));
  std::sort(files.begin(), files.end(), &comes_before);
  return files;
}

std::vector<std::string> each_once(const std::vector<std::string>& files) {
  std::vector<std::string> once;
  for (const std::string& file : files)
    if (!is_measured_twice(file, files)) once.push_back(file);
  return once;
}

/// Errors: usage, io_failed.
Result<std::vector<std::string>> files_of_folder(const std::string& folder) {
  TRACEWEIR_TRY(found, files_of({folder}));
  std::vector<std::string> files;
  for (const FoundFile& file : found) {
    if (begins_like_a_trace(head_of(file.path)))
      files.push_back(file.path);
    else
      fmt::print(stderr, "traceweir: {} is passed over\n", clean_text(file.path));
  }
  if (files.empty())
    return fail(ErrorCode::usage, fmt::format("{}: there is no trace in the folder", clean_text(folder)));
  return files;
}

Result<void> check_whole(const std::string& file) {
  if (!ingest::is_sqlite(head_of(file))) return {};
  auto whole = ingest::check_journals(file);
  if (!whole) whole.error().message = fmt::format("{}: {}", clean_text(file), whole.error().message);
  return whole;
}

}  // namespace

Result<std::vector<std::string>> trace_files(const std::vector<std::string>& given) {
  std::vector<std::string> files;
  for (const std::string& name : given) {
    std::error_code error;
    const fs::file_status status = fs::status(name, error);
    if (fs::is_directory(status)) {
      TRACEWEIR_TRY(found, files_of_folder(name));
      files.insert(files.end(), found.begin(), found.end());
    } else if (fs::exists(status)) {
      files.push_back(name);
    } else {
      TRACEWEIR_TRY(found, files_of_pattern(name));
      files.insert(files.end(), found.begin(), found.end());
    }
  }
  for (const std::string& file : files) TRACEWEIR_TRY_VOID(check_whole(file));
  return each_once(files);
}

}  // namespace traceweir::cli
