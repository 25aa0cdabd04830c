#include "sandbox/landlock.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>

namespace traceweir::sandbox {
namespace {

// Numbers and layout of the kernel's interface, which is stable: the headers of the system that we are built on may
// be older than the kernel that we run on. The numbers are the same on every architecture.
constexpr long sys_create_ruleset = 444;
constexpr long sys_restrict_self = 446;
constexpr std::uint32_t ask_for_version = 1;

struct Ruleset {
  std::uint64_t handled_access_fs;   ///< version 1
  std::uint64_t handled_access_net;  ///< version 4
  std::uint64_t scoped;              ///< version 6
};

/// What each version added.
struct Version {
  int abi;
  std::uint64_t files;  ///< bits of handled_access_fs
  std::uint64_t net;
  std::uint64_t scoped;
};
constexpr Version versions[] = {
    {1, 0x1FFF, 0, 0},     // execute, read and write files, read, make and remove entries of every kind
    {2, 1U << 13U, 0, 0},  // move between folders
    {3, 1U << 14U, 0, 0},  // truncate
    {4, 0, 0x3, 0},        // bind and connect TCP
    {5, 1U << 15U, 0, 0},  // ioctl of devices
    {6, 0, 0, 0x3},        // abstract UNIX sockets, signals
};

/// An older kernel takes only the fields that it knows.
std::size_t size_for(int abi) {
  constexpr std::size_t field = sizeof(std::uint64_t);
  if (abi < 4) return field;
  return abi < 6 ? 2 * field : 3 * field;
}

}  // namespace

int apply_landlock() {
  const long abi = ::syscall(sys_create_ruleset, nullptr, std::size_t{0}, ask_for_version);
  if (abi <= 0) return 0;
  Ruleset ruleset{};
  for (const Version& version : versions) {
    if (version.abi > abi) break;
    ruleset.handled_access_fs |= version.files;
    ruleset.handled_access_net |= version.net;
    ruleset.scoped |= version.scoped;
  }
  const long made = ::syscall(sys_create_ruleset, &ruleset, size_for(static_cast<int>(abi)), std::uint32_t{0});
  if (made < 0) return 0;
  const int rules = static_cast<int>(made);
  const long restricted = ::syscall(sys_restrict_self, rules, std::uint32_t{0});
  ::close(rules);
  return restricted == 0 ? static_cast<int>(abi) : 0;
}

}  // namespace traceweir::sandbox
