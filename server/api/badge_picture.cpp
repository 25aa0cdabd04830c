#include "server/api/badge_picture.hpp"

#include <fmt/format.h>

#include "analyzer/core/text.hpp"

namespace traceweir::api {
namespace {

constexpr std::size_t text_bytes_max = 128;
constexpr int padding = 6;

struct WidthRow {
  std::string_view characters;
  int tenths;
};
/// Verdana at 11 px, in tenths of a pixel. `textLength` makes other fonts fit.
constexpr WidthRow widths[] = {
    {"iIjl.,:;'|!", 42}, {"ftr()[]- /", 50}, {"mMWw%@", 105}, {"ABCDEFGHKLNOPQRSTUVXYZ", 77}, {"&+<>=~", 80}};
constexpr int usual_width = 68;

int width_of(std::string_view text) {
  int tenths = 0;
  for (const char c : text) {
    if ((static_cast<unsigned char>(c) & 0xC0) == 0x80) continue;  // not the first byte of its character
    int width = usual_width;
    for (const WidthRow& row : widths)
      if (row.characters.find(c) != std::string_view::npos) width = row.tenths;
    tenths += width;
  }
  return (tenths + 9) / 10;
}

struct Escape {
  char character;
  std::string_view name;
};
constexpr Escape escapes[] = {{'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}, {'"', "&quot;"}, {'\'', "&#39;"}};

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    std::string_view written(&c, 1);
    for (const Escape& escape : escapes)
      if (escape.character == c) written = escape.name;
    out += written;
  }
  return out;
}

}  // namespace

std::string badge_svg(const Badge& badge) {
  const std::string label = clean_text(badge.label, text_bytes_max),
                    message = clean_text(badge.message, text_bytes_max);
  const std::string title = escaped(clean_text(badge.title));
  const int left_text = width_of(label), right_text = width_of(message);
  const int left = left_text + 2 * padding, right = right_text + 2 * padding;
  const auto text = [](int x, int width, const std::string& words) {
    return fmt::format(R"(<text x="{}" y="14" textLength="{}" lengthAdjust="spacingAndGlyphs">{}</text>)", x, width,
                       escaped(words));
  };
  return fmt::format(
      R"(<svg xmlns="http://www.w3.org/2000/svg" width="{0}" height="20" role="img" aria-label="{1}"><title>{1}</title>)"
      R"(<rect width="{0}" height="20" rx="3" fill="#555"/><rect x="{2}" width="{3}" height="20" rx="3" fill="{4}"/>)"
      R"(<rect x="{2}" width="4" height="20" fill="{4}"/>)"
      R"(<g fill="#fff" font-family="Verdana,DejaVu Sans,Geneva,sans-serif" font-size="11">{5}{6}</g></svg>)"
      "\n",
      left + right, title, left, right, badge.colour, text(padding, left_text, label),
      text(left + padding, right_text, message));
}

}  // namespace traceweir::api
