#include "cli/child_environment.hpp"

#include <unistd.h>

#include <string_view>
#include <utility>

extern char** environ;  // NOLINT: POSIX's own name

namespace traceweir::cli {

ChildEnvironment::ChildEnvironment(const char* const* ours, std::vector<std::string> more) {
  for (const char* const* item = ours; *item != nullptr; ++item)
    if (!std::string_view(*item).starts_with("TRACEWEIR_")) items_.emplace_back(*item);
  for (std::string& item : more) items_.push_back(std::move(item));
}

ChildEnvironment ChildEnvironment::of_process(std::vector<std::string> more) {
  return ChildEnvironment(environ, std::move(more));
}

char* const* ChildEnvironment::pointers() {
  pointers_.clear();
  for (std::string& item : items_) pointers_.push_back(item.data());
  pointers_.push_back(nullptr);
  return pointers_.data();
}

}  // namespace traceweir::cli
