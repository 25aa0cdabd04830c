#include "server/web/files.hpp"

#include <algorithm>

namespace traceweir::web {

const File* find(std::string_view name) {
  const auto all = files();
  const auto found = std::find_if(all.begin(), all.end(), [name](const File& file) { return file.name == name; });
  return found == all.end() ? nullptr : &*found;
}

}  // namespace traceweir::web
