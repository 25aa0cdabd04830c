// For: the environment of programs that we start: a command that profiles, git, nsys. The token is ours alone.
// Not for: starting them (confirmation.hpp, git.hpp, nsys_export.hpp).
#pragma once

#include <string>
#include <vector>

namespace traceweir::cli {

/// Variables for a program that we start, as NAME=VALUE, and the pointers that posix_spawn wants.
class ChildEnvironment {
 public:
  /// Shape: `ours`, a null-terminated list like `environ`, without all that begins with TRACEWEIR_ (the token, and
  ///        whatever a later version or a team keeps under such a name), and then `more`.
  explicit ChildEnvironment(const char* const* ours, std::vector<std::string> more = {});
  /// Of this process.
  static ChildEnvironment of_process(std::vector<std::string> more = {});

  [[nodiscard]] const std::vector<std::string>& items() const { return items_; }
  /// Null-terminated; good as long as this object.
  [[nodiscard]] char* const* pointers();

 private:
  std::vector<std::string> items_;
  std::vector<char*> pointers_;
};

}  // namespace traceweir::cli
