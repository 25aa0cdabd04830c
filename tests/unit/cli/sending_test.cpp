#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "cli/body_source.hpp"
#include "cli/natural_order.hpp"
#include "cli/progress.hpp"
#include "cli/proxy.hpp"
#include "cli/text_layout.hpp"

using namespace traceweir;
using namespace traceweir::cli;

namespace {

Variables variables_of(std::map<std::string, std::string> values) {
  return [values = std::move(values)](const std::string& name) {
    const auto found = values.find(name);
    return found == values.end() ? std::string() : found->second;
  };
}

std::string all_of(BodySource& source, std::size_t piece) {
  std::string text;
  std::vector<char> buffer(piece);
  for (std::size_t count = 1; count > 0;) {
    const auto read = source.read(buffer);
    REQUIRE(read.has_value());
    count = *read;
    text.append(buffer.data(), count);
  }
  return text;
}

}  // namespace

TEST_CASE("proxy: which hosts go without one") {
  struct Row {
    const char* list;
    const char* host;
    const char* port;
    bool named;
  };
  const Row rows[] = {
      {"", "a.example", "443", false},
      {"*", "a.example", "443", true},
      {"a.example", "a.example", "443", true},
      {"A.Example", "a.exampLE", "443", true},
      {"example", "a.example", "443", true},
      {".example", "a.example", "443", true},
      {"*.example", "a.example", "443", true},
      {"ample", "a.example", "443", false},
      {"a.example:443", "a.example", "443", true},
      {"a.example:8443", "a.example", "443", false},
      {"x, a.example ,y", "a.example", "443", true},
      {"10.0.0.0/8", "10.1.2.3", "443", true},
      {"10.0.0.0/8", "11.1.2.3", "443", false},
      {"10.0.0.0/33", "10.1.2.3", "443", false},
      {"0.0.0.0/0", "11.1.2.3", "443", true},
      {"10.0.0.1", "10.0.0.1", "443", true},
      {"::1", "::1", "443", true},
      {".", "a.example", "443", false},
      {":443", "a.example", "443", false},
      {",,", "a.example", "443", false},
  };
  for (const Row& row : rows) CHECK_MESSAGE(is_named(row.list, row.host, row.port) == row.named, std::string(row.list));
}

TEST_CASE("proxy: what the variable says") {
  const auto ask = [](const char* value) {
    return https_proxy("a.example", "443", variables_of({{"HTTPS_PROXY", value}}));
  };
  const auto plain = ask("http://proxy.example:3128");
  REQUIRE((plain && *plain));
  CHECK((*plain)->host == "proxy.example");
  CHECK((*plain)->port == "3128");
  CHECK((*plain)->credentials.empty());
  REQUIRE((ask("proxy.example:3128") && *ask("proxy.example:3128")));
  CHECK((*ask("http://proxy.example"))->port == "80");
  CHECK((*ask("http://Aladdin:open%20sesame@p"))->credentials == "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==");
  for (const std::string wrong : {"socks5://p:1", "https://p:1", "http://", "http://user:secret@", "::::"}) {
    const auto refused = ask(wrong.c_str());
    REQUIRE_MESSAGE(!refused.has_value(), wrong);
    CHECK(refused.error().message.find("secret") == std::string::npos);
  }
  CHECK(!*https_proxy("a", "443", variables_of({{"HTTPS_PROXY", "p:1"}, {"NO_PROXY", "a"}})));
  CHECK((*https_proxy("a", "443", variables_of({{"HTTPS_PROXY", "p:1"}, {"https_proxy", "q:2"}})))->host == "q");
}

TEST_CASE("order: numbers count as numbers, and only equal texts are equal") {
  std::vector<std::string> names = {"rank10", "rank9", "rank09", "b", "rank", "a10b2", "a10b10", "a9", "", "rank9x"};
  std::sort(names.begin(), names.end(), &comes_before);
  CHECK(names ==
        std::vector<std::string>{"", "a9", "a10b2", "a10b10", "b", "rank", "rank09", "rank9", "rank9x", "rank10"});
  for (const std::string& a : names)
    for (const std::string& b : names) CHECK((comes_before(a, b) || comes_before(b, a)) == (a != b));
}

TEST_CASE("progress: share, rate and what is left") {
  using Seconds = std::chrono::duration<double>;
  CHECK(progress_text(512, 1024, Seconds(2)) == "50 % of 1 KiB, 256 B/s, 2 s left");
  CHECK(progress_text(0, 1024, Seconds(2)) == "0 % of 1 KiB");
  CHECK(progress_text(0, 0, Seconds(0)) == "100 % of 0 B");
  CHECK(progress_text(1, 1000000, Seconds(1)).ends_with("left"));
}

TEST_CASE("body: as it is, and packed into a smaller one that ends") {
  const std::string text = [] {
    std::string out;
    for (int i = 0; i < 40'000; ++i) out += "{\"ph\":\"X\",\"ts\":" + std::to_string(i) + "}";
    return out;
  }();
  const std::string no_file;
  for (const std::size_t piece : {std::size_t{1} << 20, std::size_t{777}}) {
    auto plain = body_source({no_file, text, Packing::as_is});
    REQUIRE(plain.has_value());
    CHECK((*plain)->length() == text.size());
    CHECK(all_of(**plain, piece) == text);
    auto packed = body_source({no_file, text, Packing::zstd});
    REQUIRE(packed.has_value());
    CHECK(!(*packed)->length());
    const std::string bytes = all_of(**packed, piece);
    CHECK(bytes.size() * 4 < text.size());
    CHECK(bytes.starts_with("\x28\xb5\x2f\xfd"));
    CHECK((*packed)->done() == text.size());
  }
  CHECK(packing_of("{", 1 << 20) == Packing::zstd);
  CHECK(packing_of("{", 100) == Packing::as_is);
  CHECK(packing_of("\x1f\x8b", 1 << 20) == Packing::as_is);
  CHECK(packing_of("\x28\xb5\x2f\xfd", 1 << 20) == Packing::as_is);
  CHECK(!body_source({"/nowhere/x", text, Packing::zstd}).has_value());
}

TEST_CASE("lines: wrapped at words, the rest indented") {
  CHECK(wrapped("  next: ", "a b", 0) == "  next: a b\n");
  CHECK(wrapped("n: ", "one two three", 9) == "n: one\n   two\n   three\n");
  CHECK(wrapped("n: ", "überlang ß", 8) == "n: überlang\n   ß\n");
  CHECK(wrapped("n: ", "", 5) == "n: \n");
}
