#include "analyzer/ingest/kineto_brackets.hpp"

namespace traceweir::ingest {
std::size_t ValueEnd::find(std::string_view text) {
  if (text.empty()) return std::string_view::npos;
  if (kind_ == Kind::unknown) {
    const char first = text.front();
    kind_ = first == '{' || first == '[' ? Kind::container : first == '"' ? Kind::string : Kind::scalar;
    if (kind_ == Kind::string) {
      const std::size_t end = end_of_string(text.substr(1));
      return end == std::string_view::npos ? end : end + 1;
    }
  }
  if (kind_ == Kind::container) return end_of_container(text);
  if (kind_ == Kind::string) return end_of_string(text);
  return text.find_first_of(",]} \t\r\n");
}

std::size_t ValueEnd::end_of_container(std::string_view text) {
  std::size_t end = std::string_view::npos;
  scanner_.scan(text, [&](std::size_t at, bool opens) {
    depth_ += opens ? 1 : -1;
    too_deep_ = depth_ > json_depth_max;
    if (depth_ > 0 && !too_deep_) return true;
    end = at + 1;
    return false;
  });
  return end;
}

std::size_t ValueEnd::end_of_string(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (escaped_)
      escaped_ = false;
    else if (text[i] == '\\')
      escaped_ = true;
    else if (text[i] == '"')
      return i + 1;
  }
  return std::string_view::npos;
}

}  // namespace traceweir::ingest
