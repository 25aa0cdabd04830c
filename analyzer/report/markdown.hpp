// For: text from outside inside Markdown, so that it stays text: no markup, no links, no pings.
// Not for: HTML attributes or URLs.
#pragma once

#include <string>
#include <string_view>

namespace traceweir::report {

/// `text` with everything that Markdown or GitHub's additions read as markup written as a character reference.
/// Shape: no newline, and none of | ` < > @ # * ~ [ ] \ & as themselves (but in references).
std::string escaped_markdown(std::string_view text);

}  // namespace traceweir::report
