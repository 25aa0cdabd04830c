#include "server/wire/json.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "analyzer/core/text.hpp"

namespace traceweir::wire {
namespace {

/// Thrown out of the parser's callback: returning false there would drop the deep part in silence.
struct TooDeep {};

}  // namespace

Result<Json> parse_json(std::string_view text) {
  const auto guard = [](int depth, Json::parse_event_t, Json&) {
    if (depth > json_depth_max) throw TooDeep{};
    return true;
  };
  try {
    return Json::parse(text, guard);
  } catch (const TooDeep&) {
    return fail(ErrorCode::bad_body, fmt::format("JSON: nested deeper than {} levels", json_depth_max));
  } catch (const Json::parse_error& error) {
    return fail(ErrorCode::bad_body, fmt::format("JSON: byte {}: not valid JSON", error.byte));
  } catch (const Json::exception& error) {
    return fail(ErrorCode::bad_body, fmt::format("JSON: {}", clean_text(error.what())));
  }
}

std::vector<std::string> texts_of(const Json* list) {
  std::vector<std::string> texts;
  if (list != nullptr)
    for (const Json& item : *list)
      if (item.is_string()) texts.push_back(item.get<std::string>());
  return texts;
}

std::string dump(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

ObjectReader::ObjectReader(const Json& json) : json_(json) {
  if (!json.is_object()) error_ = Error{ErrorCode::bad_body, "JSON: an object was expected"};
}

const Json* ObjectReader::find(std::string_view key) {
  asked_.emplace_back(key);
  if (!json_.is_object()) return nullptr;
  const auto it = json_.find(key);
  return it == json_.end() || it->is_null() ? nullptr : &*it;
}

const Json* ObjectReader::child(std::string_view key) { return find(key); }

void ObjectReader::refuse(std::string_view key, std::string_view why) {
  if (!error_) error_ = Error{ErrorCode::bad_body, fmt::format("{}: {}", clean_text(key, 64), why)};
}

std::optional<std::string> ObjectReader::maybe_text(std::string_view key) {
  const Json* value = find(key);
  if (value == nullptr) return std::nullopt;
  if (value->is_string()) return value->get<std::string>();
  refuse(key, "text was expected");
  return std::nullopt;
}

std::string ObjectReader::text(std::string_view key) {
  auto value = maybe_text(key);
  if (!value) refuse(key, "missing");
  return value.value_or("");
}

std::optional<std::int64_t> ObjectReader::maybe_integer(std::string_view key) {
  const Json* value = find(key);
  if (value == nullptr) return std::nullopt;
  const bool fits = value->is_number_integer() &&
                    (!value->is_number_unsigned() || value->get<std::uint64_t>() <= std::uint64_t{INT64_MAX});
  if (fits) return value->get<std::int64_t>();
  refuse(key, "an integer was expected");
  return std::nullopt;
}

std::int64_t ObjectReader::integer(std::string_view key) {
  const auto value = maybe_integer(key);
  if (!value) refuse(key, "missing");
  return value.value_or(0);
}

std::optional<double> ObjectReader::maybe_number(std::string_view key) {
  const Json* value = find(key);
  if (value == nullptr) return std::nullopt;
  if (value->is_number()) return value->get<double>();
  refuse(key, "a number was expected");
  return std::nullopt;
}

double ObjectReader::number(std::string_view key) {
  const auto value = maybe_number(key);
  if (!value) refuse(key, "missing");
  return value.value_or(0);
}

bool ObjectReader::boolean(std::string_view key) {
  const Json* value = find(key);
  if (value != nullptr && value->is_boolean()) return value->get<bool>();
  refuse(key, value == nullptr ? "missing" : "true or false was expected");
  return false;
}

void ObjectReader::finish() {
  if (!json_.is_object()) return;
  for (const auto& [key, value] : json_.items())
    if (std::find(asked_.begin(), asked_.end(), key) == asked_.end()) refuse(key, "unknown key");
}

}  // namespace traceweir::wire
