#include "server/spool/uuid.hpp"

#include <sys/random.h>

#include <array>
#include <chrono>
#include <cstdint>

#include "analyzer/core/assert.hpp"
#include "analyzer/core/uuid.hpp"

namespace traceweir::spool {

std::string new_uuid() {
  std::array<std::uint8_t, 10> random{};
  // Up to 256 bytes come at once and never fail once the system has started.
  const bool drawn = ::getrandom(random.data(), random.size(), 0) == static_cast<ssize_t>(random.size());
  TRACEWEIR_ASSERT(drawn);
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return uuid_v7(std::chrono::duration_cast<std::chrono::milliseconds>(now), random);
}

}  // namespace traceweir::spool
