#include "analyzer/report/ordered_json.hpp"

#include <doctest/doctest.h>

#include <string>
#include <utility>

using traceweir::report::OrderedJson;

namespace {

/// An object of so many members, each with a list and an object in it, by both ways of setting one.
template <typename Json>
Json grown(int members) {
  Json json = Json::object();
  for (int i = 0; i < members; ++i) {
    const std::string key = "member " + std::to_string(i * 7 % members);
    if (i % 2 == 0)
      json[key] = {{"list", {i, "text"}}, {"number", i}};
    else
      json.emplace(key, Json{{"list", {i}}});
  }
  return json;
}

}  // namespace

TEST_CASE("ordered json: an object of any size is the library's own, member by member") {
  for (const int members : {0, 1, 3, 4, 5, 8, 9, 17, 1'000})
    CHECK(grown<OrderedJson>(members).dump() == grown<nlohmann::ordered_json>(members).dump());
}

TEST_CASE("ordered json: a key that is there keeps its place, and emplace its value") {
  OrderedJson json = {{"a", 1}, {"b", 2}, {"c", 3}, {"d", 4}};
  json["b"] = 5;
  json.emplace("c", 6);
  json["e"] = 7;
  json.erase("a");
  CHECK(json.dump() == R"({"b":5,"c":3,"d":4,"e":7})");
  CHECK(OrderedJson::parse(json.dump()) == json);
}

TEST_CASE("ordered json: what a member holds is moved along as the object grows, and not copied") {
  OrderedJson json = OrderedJson::object();
  json["first"] = OrderedJson::array({1, 2, 3});
  const auto* list = &json["first"].get_ref<const OrderedJson::array_t&>();
  for (int i = 0; i < 100; ++i) json[std::to_string(i)] = i;
  CHECK(&json["first"].get_ref<const OrderedJson::array_t&>() == list);  // moved along, not copied
}

TEST_CASE("ordered json: a key that is there moves nothing, and a member may become another one") {
  for (const int members : {1, 4, 8, 16}) {
    OrderedJson json = grown<OrderedJson>(members);
    const OrderedJson before = json;
    const OrderedJson& first = json.begin().value();
    for (const auto& [key, value] : before.items()) json[key];
    for (auto it = json.begin(); it != json.end(); ++it) json.emplace(it.key(), nullptr);
    CHECK(&json.begin().value() == &first);
    CHECK(json == before);
    json.emplace("new", std::move(json["member 0"]));
    CHECK(json["new"] == before["member 0"]);
  }
}
