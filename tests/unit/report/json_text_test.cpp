#include "analyzer/report/json_text.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

using traceweir::report::JsonText;

namespace {

using Json = nlohmann::ordered_json;

/// Says the document as the library has it.
void say(JsonText& text, const Json& json) {
  if (json.is_object())
    text.object([&] {
      for (const auto& [key, value] : json.items()) {
        text.key(key);
        say(text, value);
      }
    });
  else if (json.is_array())
    text.array([&] {
      for (const Json& element : json) say(text, element);
    });
  else if (json.is_string())
    text.value(json.get_ref<const std::string&>());
  else if (json.is_number_float())
    text.value(json.get<double>());
  else if (json.is_number_integer())
    text.value(json.get<std::int64_t>());
  else
    text.value(nullptr);
}

std::string said(const Json& json, int indent) {
  JsonText text(indent);
  say(text, json);
  return std::move(text).take();
}

class Documents {
 public:
  explicit Documents(std::uint32_t seed) : random_(seed) {}

  Json any(int depth) {
    const std::size_t kind = below(depth > 0 ? 6 : 4);
    if (kind == 0) return nullptr;
    if (kind == 1) return one_of(numbers);
    if (kind == 2) return one_of(fractions);
    if (kind == 3) return one_of(texts);
    Json out = kind == 4 ? Json::array() : Json::object();
    for (std::size_t left = below(4); left > 0; --left) {
      if (kind == 4)
        out.push_back(any(depth - 1));
      else
        out[one_of(texts)] = any(depth - 1);
    }
    return out;
  }

 private:
  template <typename T>
  T one_of(const std::vector<T>& values) {
    return values[below(values.size())];
  }
  std::size_t below(std::size_t end) { return random_() % end; }

  std::mt19937 random_;
  const std::vector<std::int64_t> numbers = {
      0, 1, -1, 42, std::numeric_limits<std::int64_t>::max(), std::numeric_limits<std::int64_t>::min()};
  const std::vector<double> fractions = {
      0.0, -0.0, 0.1, 1.0, 1.0 / 3, 1e-7, 1e21, 1e6, -2.5, std::numeric_limits<double>::max(), 5e-324};
  const std::vector<std::string> texts = {"",
                                          "a",
                                          "gpu.utilization",
                                          "\"quoted\"",
                                          "back\\slash",
                                          "\n\t",
                                          "\x1b[31m",
                                          "Größe",
                                          "日本",
                                          "\x7f",
                                          "\xff",
                                          "half \xe6\x97",
                                          std::string("nul\0", 4),
                                          "</script>"};
};

}  // namespace

// Why: two ways of writing JSON must not differ in what a reader gets, whatever names a trace holds.
TEST_CASE("JSON text: what is said is what the library writes of the same values") {
  Documents documents(20261130);
  for (int round = 0; round < 2000; ++round) {
    const Json document = documents.any(4);
    CHECK(said(document, -1) == document.dump(-1, ' ', false, Json::error_handler_t::replace));
    CHECK(said(document, 2) == document.dump(2, ' ', false, Json::error_handler_t::replace));
  }
}

// Why: unknown is null.
TEST_CASE("JSON text: a value that may be there") {
  JsonText text;
  text.object([&] {
    text.member("there", std::optional<std::int64_t>(3));
    text.member("missing", std::optional<std::int64_t>());
  });
  CHECK(std::move(text).take() == R"({"there":3,"missing":null})");
}
