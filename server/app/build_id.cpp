#include "server/app/build_id.hpp"

#include <elf.h>
#include <fmt/format.h>
#include <gnu/libc-version.h>
#include <link.h>

#include <cstdint>
#include <cstring>

#include "analyzer/core/version.hpp"

namespace traceweir::app {
namespace {

/// Notes are aligned to four bytes. Source: elf(5), "Notes".
std::size_t aligned(std::size_t bytes) { return (bytes + 3) & ~std::size_t{3}; }

/// The linker's id among the notes of a segment, as hex; empty: it is not there.
std::string id_in(const char* notes, std::size_t bytes) {
  while (bytes >= sizeof(ElfW(Nhdr))) {
    ElfW(Nhdr) note;
    std::memcpy(&note, notes, sizeof note);
    const std::size_t name = sizeof note, text = name + aligned(note.n_namesz), end = text + aligned(note.n_descsz);
    if (end > bytes) return {};
    const bool is_id = note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && std::memcmp(notes + name, "GNU", 4) == 0;
    if (is_id) {
      std::string hex;
      for (std::size_t i = 0; i < note.n_descsz && i < 8; ++i)
        hex += fmt::format("{:02x}", static_cast<std::uint8_t>(notes[text + i]));
      return hex;
    }
    notes += end, bytes -= end;
  }
  return {};
}

/// Called for every object of the process; the program itself comes first.
int look_at(dl_phdr_info* object, std::size_t, void* found) {
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr)& part = object->dlpi_phdr[i];
    if (part.p_type != PT_NOTE) continue;
    const auto* notes = reinterpret_cast<const char*>(object->dlpi_addr + part.p_vaddr);
    const std::string id = id_in(notes, part.p_memsz);
    if (!id.empty()) *static_cast<std::string*>(found) = id;
  }
  return 1;
}

std::string_view processor() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("fma") != 0 ? "fma" : "no-fma";
#else
  return "other";
#endif
}

}  // namespace

std::string build_id() {
  std::string id;
  dl_iterate_phdr(&look_at, &id);
  return fmt::format("{} {} glibc-{} {}", version, id.empty() ? "unknown" : id, gnu_get_libc_version(), processor());
}

}  // namespace traceweir::app
