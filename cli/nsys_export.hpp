// For: binary reports of Nsight Systems (.nsys-rep, .qdrep), whose format is closed: they are exported by an `nsys` of
// the user's, here on the client. Not for: the service, which never starts a foreign program.
#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>

#include "analyzer/core/error.hpp"

namespace traceweir::cli {

/// How an export is made. `program`: a path; empty: `nsys` of PATH; `off`: none, such a file is refused.
struct ExportOptions {
  std::string program;
  std::chrono::seconds time_max{600};
};

/// A file that the readers know: the one that was given, or an export of it that goes with this object.
class ReadableFile {
 public:
  /// Exports `file` where it is a binary report and there is an nsys.
  /// Errors: unsupported_format (no nsys; the message has the command to run), malformed_trace (nsys failed; with the
  ///         end of what it said), analysis_timeout, io_failed.
  static Result<ReadableFile> of(const std::filesystem::path& file, const ExportOptions& options);

  ReadableFile(ReadableFile&& other) noexcept;
  ReadableFile& operator=(ReadableFile&&) = delete;
  ~ReadableFile();

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  ReadableFile(std::filesystem::path path, std::filesystem::path folder)
      : path_(std::move(path)), folder_(std::move(folder)) {}

  std::filesystem::path path_;
  std::filesystem::path folder_;  ///< of the export; empty: none was made
};

}  // namespace traceweir::cli
