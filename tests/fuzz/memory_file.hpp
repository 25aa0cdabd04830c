// For: bytes as an open file, without a disk: the readers take descriptors. Not for: files that have a name.
#pragma once

#include <string_view>

#include "analyzer/ingest/open_file.hpp"

namespace traceweir::fuzz {

/// A file in memory, open at its beginning.
class MemoryFile {
 public:
  explicit MemoryFile(std::string_view bytes = {});

  /// Another descriptor of it. Shape: both share one place in the file.
  [[nodiscard]] ingest::File file() const;
  [[nodiscard]] int descriptor() const { return owned_.descriptor(); }

 private:
  ingest::File owned_;
};

}  // namespace traceweir::fuzz
