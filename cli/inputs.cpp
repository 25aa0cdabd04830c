#include "cli/inputs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <string_view>
#include <utility>

#include "analyzer/core/text.hpp"
#include "cli/natural_order.hpp"

namespace traceweir::cli {
namespace {

namespace fs = std::filesystem;
using timeline::Sums;

constexpr std::size_t folder_files_max = 4096;

Result<std::vector<FoundFile>> files_in(const std::string& folder) {
  std::error_code error;
  std::vector<FoundFile> found;
  for (fs::directory_iterator entry(folder, error); !error && entry != fs::directory_iterator();
       entry.increment(error)) {
    const bool hidden = entry->path().filename().string().starts_with('.');
    if (!hidden && entry->is_regular_file(error)) found.push_back({entry->path().string(), FoundFile::How::in_folder});
    if (found.size() > folder_files_max)
      return fail(ErrorCode::usage, fmt::format("a folder of more than {} files", folder_files_max));
  }
  if (error) return fail(ErrorCode::io_failed, "cannot list the folder: " + error.message());
  std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return comes_before(a.path, b.path); });
  return found;
}

/// `base` of `base_cuda_gpu_kern_sum.csv`; nothing where no report is named.
std::optional<std::string> base_of_report(const std::string& file) {
  std::string stem = fs::path(file).stem().string();
  for (const std::string_view word : {"cuda_gpu_kern_sum", "cuda_gpu_mem_time_sum", "cuda_gpu_mem_size_sum",
                                      "gpukernsum", "gpumemtimesum", "gpumemsizesum"}) {
    if (!stem.ends_with(word)) continue;
    stem.resize(stem.size() - word.size());
    return (fs::path(file).parent_path() / stem).string();
  }
  return std::nullopt;
}

bool share_no_table(const Sums& a, const Sums& b) {
  return !(a.kernels && b.kernels) && !(a.copies && b.copies) && !(a.copy_bytes && b.copy_bytes);
}

Sums* sums_in(MeasuredFile& file) {
  const bool has = file.ranks.size() == 1 && file.ranks.front().sums;
  return has ? &*file.ranks.front().sums : nullptr;
}

/// The file whose tables this one goes on with, or nullptr.
MeasuredFile* earlier_of(std::vector<MeasuredFile>& earlier, const std::string& path, const Sums& sums) {
  const auto base = base_of_report(path);
  for (MeasuredFile& file : earlier)
    if (sums_in(file) != nullptr && base && base_of_report(file.path) == base) return &file;
  if (earlier.empty() || base) return nullptr;
  const Sums* const last = sums_in(earlier.back());
  return last != nullptr && share_no_table(*last, sums) ? &earlier.back() : nullptr;
}

bool is_export_of(const fs::path& file, const fs::path& report) {
  std::error_code error;
  const fs::path wanted = fs::path(report).replace_extension(".sqlite");
  return file.filename() == wanted.filename() && fs::equivalent(file, wanted, error);
}

}  // namespace

bool is_measured_twice(const std::string& file, const std::vector<std::string>& files) {
  const std::string kind = fs::path(file).extension();
  if (kind != ".nsys-rep" && kind != ".qdrep") return false;
  const bool twice =
      std::any_of(files.begin(), files.end(), [&](const std::string& other) { return is_export_of(other, file); });
  if (twice) fmt::print(stderr, "traceweir: {} is passed over: its export is there\n", clean_text(file));
  return twice;
}

Result<std::vector<FoundFile>> files_of(const std::vector<std::string>& paths) {
  std::vector<FoundFile> files;
  for (const std::string& path : paths) {
    std::error_code error;
    if (!fs::is_directory(path, error)) {
      files.push_back({path, FoundFile::How::named});
      continue;
    }
    TRACEWEIR_TRY(found, files_in(path));
    files.insert(files.end(), found.begin(), found.end());
  }
  std::vector<std::string> names;
  for (const FoundFile& file : files) names.push_back(file.path);
  std::erase_if(files, [&](const FoundFile& file) { return is_measured_twice(file.path, names); });
  return files;
}

Result<void> join_tables(std::vector<MeasuredFile>& files) {
  std::vector<MeasuredFile> joined;
  for (MeasuredFile& file : files) {
    Sums* const sums = sums_in(file);
    MeasuredFile* const earlier = sums == nullptr ? nullptr : earlier_of(joined, file.path, *sums);
    if (earlier == nullptr) {
      joined.push_back(std::move(file));
      continue;
    }
    TRACEWEIR_TRY_VOID(timeline::add_tables(*sums_in(*earlier), std::move(*sums)));
    earlier->ranks.front().source.bytes += file.ranks.front().source.bytes;
    earlier->facts.sha256.clear();
  }
  files = std::move(joined);
  return {};
}

}  // namespace traceweir::cli
