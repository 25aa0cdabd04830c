// Configuration files of the service: each value that is accepted is shown in a form that sets it again.
#include "server/app/config.hpp"

#include <fmt/format.h>

#include "analyzer/core/assert.hpp"
#include "tests/fuzz/memory_file.hpp"
#include "tests/fuzz/target.hpp"

using namespace traceweir;

int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const fuzz::MemoryFile file(fuzz::text_of(bytes, size));
  const app::ConfigSource source{
      fmt::format("/proc/self/fd/{}", file.descriptor()), [](const std::string&) { return std::nullopt; }, {}};
  const auto config = app::load_config(source);
  if (!config) {
    TRACEWEIR_ASSERT(!config.error().message.empty());
    return 0;
  }
  app::Config again;
  for (const app::ConfigKey& key : app::config_keys()) {
    const std::string shown = key.show(*config);
    TRACEWEIR_ASSERT(key.set(again, shown).has_value());
    TRACEWEIR_ASSERT(key.show(again) == shown);
  }
  return 0;
}
