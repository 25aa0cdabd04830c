#include "analyzer/timeline/home_paths.hpp"

#include <algorithm>

#include "analyzer/core/text.hpp"

namespace traceweir::timeline {
namespace {

/// What stands before the name of a user, and what ends the name.
struct Home {
  std::string_view folder;
  std::string_view ends;
};
constexpr std::string_view path_ends = "/\\ \t\r\n\"'`<>()[]{}|:;,";
constexpr std::string_view windows_ends = "/\\\r\n\"'`<>()[]{}|:;,";  // names of Windows may hold blanks
constexpr Home homes[] = {
    {"/home/", path_ends},
    {"/Users/", path_ends},
    {"\\Users\\", windows_ends},
    {"\\\\Users\\\\", windows_ends},
};
constexpr std::string_view root = "/root";

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '.';
}

/// Bytes of the home that `rest` begins with; 0: with none.
std::size_t home_size(std::string_view rest, std::string_view before) {
  for (const Home& home : homes) {
    if (!rest.starts_with(home.folder)) continue;
    const std::size_t end = std::min(rest.find_first_of(home.ends, home.folder.size()), rest.size());
    if (end > home.folder.size()) return end;
  }
  // Any tree may have a root inside; only at the top it is a home.
  const bool at_top = before.empty() || !is_word(before.back());
  const bool is_root = at_top && rest.starts_with(root) && (rest.size() == root.size() || !is_word(rest[root.size()]));
  return is_root ? root.size() : 0;
}

/// `C:` belongs to the home behind it.
void drop_drive(std::string& out) {
  const std::size_t n = out.size();
  if (n >= 2 && out[n - 1] == ':' && is_word(out[n - 2]) && (n == 2 || (!is_word(out[n - 3]) && out[n - 3] != '/')))
    out.resize(n - 2);
}

}  // namespace

bool may_hold_home(std::string_view text) {
  if (text.find('\\') != std::string_view::npos) return true;
  constexpr std::string_view after_slash = "hUr";
  for (std::size_t at = text.find('/'); at != std::string_view::npos; at = text.find('/', at + 1))
    if (at + 1 < text.size() && after_slash.find(text[at + 1]) != std::string_view::npos) return true;
  return false;
}

std::string without_homes(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const bool may_begin = text[at] == '/' || text[at] == '\\';
    const std::size_t size = may_begin ? home_size(text.substr(at), text.substr(0, at)) : 0;
    if (size == 0) {
      out += text[at++];
      continue;
    }
    drop_drive(out);
    out += '~';
    at += size;
  }
  return out;
}

std::string clean_name(std::string_view text) {
  return may_hold_home(text) ? clean_text(without_homes(text)) : clean_text(text);
}

}  // namespace traceweir::timeline
