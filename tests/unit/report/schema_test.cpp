// Reports against schema/report.schema.json, by a checker of the few keywords that the schema uses.
#include <doctest/doctest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>

#include "tests/unit/report/reports.hpp"

namespace traceweir::report::test {
namespace {

using nlohmann::json;

class Checker {
 public:
  explicit Checker(const json& schema) : root_(schema) {}

  /// The first thing that is wrong with `value`, or an empty text.
  std::string problem(const json& value) const { return check(value, root_, "report"); }

 private:
  static bool is_type(const json& value, const std::string& type) {
    if (type == "null") return value.is_null();
    if (type == "object") return value.is_object();
    if (type == "array") return value.is_array();
    if (type == "string") return value.is_string();
    if (type == "integer") return value.is_number_integer();
    return type == "number" && value.is_number();
  }

  static bool has_type(const json& value, const json& types) {
    if (types.is_string()) return is_type(value, types);
    return std::any_of(types.begin(), types.end(), [&](const json& type) { return is_type(value, type); });
  }

  std::string check(const json& value, const json& schema, const std::string& path) const {
    if (schema.contains("$ref")) return check(value, root_.at("$defs").at(name_of(schema["$ref"])), path);
    if (const std::string wrong = check_scalar(value, schema); !wrong.empty()) return path + ": " + wrong;
    if (const std::string wrong = check_choices(value, schema, path); !wrong.empty()) return wrong;
    if (value.is_object()) return check_object(value, schema, path);
    if (!value.is_array() || !schema.contains("items")) return {};
    if (value.size() < schema.value("minItems", 0U)) return path + ": too few";
    for (std::size_t i = 0; i < value.size(); ++i) {
      const std::string wrong = check(value[i], schema["items"], path + "[" + std::to_string(i) + "]");
      if (!wrong.empty()) return wrong;
    }
    return {};
  }

  static std::string name_of(const std::string& reference) { return reference.substr(reference.rfind('/') + 1); }

  static std::string check_scalar(const json& value, const json& schema) {
    if (schema.contains("type") && !has_type(value, schema["type"])) return "type";
    if (schema.contains("const") && value != schema["const"]) return "const";
    if (schema.contains("enum") &&
        std::find(schema["enum"].begin(), schema["enum"].end(), value) == schema["enum"].end())
      return "enum";
    if (schema.contains("minimum") && value.is_number() && value < schema["minimum"]) return "minimum";
    if (!value.is_string()) return {};
    const std::string text = value;
    if (schema.contains("maxLength") && text.size() > schema["maxLength"].get<std::size_t>()) return "maxLength";
    if (schema.contains("pattern") && !std::regex_search(text, std::regex(schema["pattern"].get<std::string>())))
      return "pattern";
    return {};
  }

  std::string check_choices(const json& value, const json& schema, const std::string& path) const {
    for (const char* keyword : {"anyOf", "oneOf"}) {
      if (!schema.contains(keyword)) continue;
      const auto fits = std::count_if(schema[keyword].begin(), schema[keyword].end(),
                                      [&](const json& choice) { return check(value, choice, path).empty(); });
      if (fits != 1) return path + ": " + keyword;
    }
    return {};
  }

  std::string check_object(const json& value, const json& schema, const std::string& path) const {
    for (const json& key : schema.value("required", json::array()))
      if (!value.contains(key.get<std::string>())) return path + ": lacks " + key.get<std::string>();
    const json properties = schema.value("properties", json::object());
    for (const auto& [key, member] : value.items()) {
      const bool named = properties.contains(key);
      if (!named && !schema.contains("additionalProperties")) {
        if (schema.contains("properties")) return path + ": the schema lacks " + key;
        continue;
      }
      const std::string wrong =
          check(member, named ? properties[key] : schema["additionalProperties"], path + "." + key);
      if (!wrong.empty()) return wrong;
    }
    return {};
  }

  json root_;
};

json schema() {
  std::ifstream file("schema/report.schema.json");
  REQUIRE(file.good());
  return json::parse(file);
}

}  // namespace

// Why: the schema is what others write their readers from; it must say no less and no more than what we write.
TEST_CASE("report.schema.json: what we write is valid") {
  const Checker checker(schema());
  CHECK(checker.problem(json::parse(to_json(full_report()))) == "");
  const std::vector<timeline::Timeline> timelines = {small_timeline(), timeline::TimelineBuilder().finish()};
  const auto report = report_of(timelines, std::vector<TraceFacts>(2));
  REQUIRE(report.has_value());
  CHECK(checker.problem(json::parse(to_json(*report))) == "");

  timeline::TimelineBuilder stated;
  stated.stated = {{"custom.rate", Number{-1.5}, Unit("tokens/s"), Better::higher}};
  const std::vector<timeline::Timeline> of_the_job = {std::move(stated).finish()};
  const auto given = report_of(of_the_job, std::vector<TraceFacts>(1));
  REQUIRE(given.has_value());
  CHECK(checker.problem(json::parse(to_json(*given))) == "");
}

TEST_CASE("report.schema.json: finds what is wrong") {
  const Checker checker(schema());
  json broken = json::parse(to_json(full_report()));
  SUBCASE("a missing key") { broken["ranks"][0].erase("window"); }
  SUBCASE("a wrong type") { broken["ranks"][0]["rank"] = "0"; }
  SUBCASE("an unknown word") { broken["ranks"][0]["measurements"][0]["unit"] = "furlong"; }
  SUBCASE("a key that the schema does not describe") { broken["ranks"][0]["weather"] = "sunny"; }
  CHECK(checker.problem(broken) != "");
}

/// The words of every enumerator of the schema that has one table in the program.
TEST_CASE("report.schema.json: knows every word") {
  const json defs = schema().at("$defs");
  for (const json& word : defs["finding"]["properties"]["code"]["enum"])
    CHECK(finding_code_of(word.get<std::string>()).has_value());
  CHECK(defs["finding"]["properties"]["code"]["enum"].size() == static_cast<std::size_t>(FindingCode::hot_gpu) + 1);
  for (const json& word : defs["measurement"]["properties"]["not_measured"]["enum"])
    CHECK(not_measured_of(word.get<std::string>()).has_value());
  CHECK(defs["measurement"]["properties"]["not_measured"]["enum"].size() ==
        static_cast<std::size_t>(NotMeasured::untrusted_data) + 1);
}

}  // namespace traceweir::report::test
