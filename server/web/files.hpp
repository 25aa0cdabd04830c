// For: the files of the dashboard, as they were built into the program: index.html, and assets whose names carry their
// hash. Their sources (TypeScript) are in src/; cmake/embed_web.cmake makes the table.
// Not for: HTTP (server/api/pages.cpp).
#pragma once

#include <span>
#include <string_view>

namespace traceweir::web {

struct File {
  std::string_view name;  ///< `index.html`, `assets/app-0123456789ab.js`
  std::string_view type;  ///< the media type
  std::string_view hash;  ///< of the content
  std::string_view plain;
  std::string_view gzip;
};

/// All files, in the order of their names.
std::span<const File> files();

/// The file of that name; nullptr where there is none.
const File* find(std::string_view name);

}  // namespace traceweir::web
