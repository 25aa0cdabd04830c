#include "tests/fuzz/memory_file.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include "analyzer/core/assert.hpp"

namespace traceweir::fuzz {

MemoryFile::MemoryFile(std::string_view bytes) : owned_(::memfd_create("traceweir-fuzz", MFD_CLOEXEC)) {
  TRACEWEIR_ASSERT(owned_.descriptor() >= 0);
  const auto written = owned_.write(bytes);
  TRACEWEIR_ASSERT(written.has_value());
  ::lseek(owned_.descriptor(), 0, SEEK_SET);
}

ingest::File MemoryFile::file() const { return ingest::File(::dup(owned_.descriptor())); }

}  // namespace traceweir::fuzz
