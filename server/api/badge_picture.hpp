// For: a badge as SVG, from its words. Not for: which words (badge.cpp).
#pragma once

#include <string>
#include <string_view>

namespace traceweir::api {

struct Badge {
  std::string label;        ///< left, on grey
  std::string message;      ///< right, on `colour`
  std::string title;        ///< what a screen reader says, and a pointer shows
  std::string_view colour;  ///< `#rrggbb`, a constant of the program
};

/// Shape: one SVG element without scripts, styles or references, so that it is safe wherever it is shown. Texts are
///        escaped, and cleaned of what XML cannot hold.
/// Units: pixels; the width follows the texts.
std::string badge_svg(const Badge& badge);

}  // namespace traceweir::api
