// For: formats whose readers need a plain file that they can seek in (SQLite), where the upload is compressed.
// Not for: JSON, which is read as it inflates.
#pragma once

#include <filesystem>

#include "analyzer/core/error.hpp"
#include "analyzer/ingest/ingest.hpp"

namespace traceweir::ingest {

/// The inflated bytes of a file, in a private temporary file that goes with this object.
class UnpackedFile {
 public:
  /// Errors: malformed_trace (damaged), trace_too_large, io_failed, unsupported_format.
  /// Shape:  the file lies in the system's temporary directory: SQLite refuses paths that lead over symbolic links, as
  ///         /proc/self/fd does. Whoever kills its process from outside gives it a directory of its own and removes it.
  static Result<UnpackedFile> of(const std::filesystem::path& packed, const ReadLimits& limits);

  UnpackedFile(UnpackedFile&& other) noexcept;
  UnpackedFile& operator=(UnpackedFile&&) = delete;
  ~UnpackedFile();

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  explicit UnpackedFile(std::filesystem::path path) : path_(std::move(path)) {}

  std::filesystem::path path_;
};

}  // namespace traceweir::ingest
