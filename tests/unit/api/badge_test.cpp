#include <doctest/doctest.h>

#include "server/api/badge_picture.hpp"

namespace traceweir::api {
namespace {

TEST_CASE("badge: texts cannot leave their element") {
  const std::string svg = badge_svg({"custom.<script>\"'&", "1\x01\n2", "</title><svg onload='x'> \xff", "#123456"});
  for (const char* word : {"<script", "onload='", "</title><svg", "\x01", "\xff"})
    CHECK(svg.find(word) == std::string::npos);
  CHECK(svg.find("custom.&lt;script&gt;&quot;&#39;&amp;") != std::string::npos);
  CHECK(svg.find("fill=\"#123456\"") != std::string::npos);
}

TEST_CASE("badge: the width follows the texts, by characters and not by bytes") {
  const auto width = [](const char* label, const char* message) {
    const std::string svg = badge_svg({label, message, "", "#000000"});
    return std::stoi(svg.substr(svg.find("width=\"") + 7));
  };
  CHECK(width("gpu.utilization", "89.1 %") > width("gpu.idle", "89.1 %"));
  CHECK(width("a", "12 \xC2\xB5s") == width("a", "12 us"));
  CHECK(width("a", "WWW") > width("a", "iii"));
}

TEST_CASE("badge: a text without an end is cut") {
  CHECK(badge_svg({std::string(100'000, 'x'), "1", "", "#000000"}).size() < 5000);
}

}  // namespace
}  // namespace traceweir::api
