#include "analyzer/ingest/stated_json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string>

#include "analyzer/core/text.hpp"
#include "analyzer/ingest/kineto_text.hpp"
#include "analyzer/ingest/small_json.hpp"
#include "analyzer/ingest/whole_text.hpp"
#include "analyzer/timeline/builder.hpp"

namespace traceweir::ingest {
namespace {

using Kind = SmallJson::Kind;
using timeline::StatedMetric;

/// Larger numbers are no measurements: their squares would not be numbers.
constexpr double size_max = 1e150;

tl::unexpected<Error> wrong(std::string_view where, std::string_view what) {
  return fail(ErrorCode::bad_body, fmt::format("metrics.{}: {}", clean_text(where, stated_name_bytes_max), what));
}

bool is_name_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-';
}

Result<void> check_name(std::string_view id) {
  if (!is_custom(id)) return wrong(id, "values of your own are called custom.NAME");
  if (id.size() > stated_name_bytes_max) return wrong(id, fmt::format("longer than {} bytes", stated_name_bytes_max));
  if (!std::all_of(id.begin(), id.end(), &is_name_character))
    return wrong(id, "a name has letters, digits, dots, dashes and underscores");
  return {};
}

/// An integer where it is written as one.
Result<Number> number_of(std::string_view id, const SmallJson& value) {
  if (value.kind != Kind::number) return wrong(id, "value: a number is needed");
  const char* const end = value.text.data() + value.text.size();
  std::int64_t integer = 0;
  if (const auto read = std::from_chars(value.text.data(), end, integer); read.ec == std::errc{} && read.ptr == end)
    return Number{integer};
  double real = 0;
  const auto read = std::from_chars(value.text.data(), end, real);
  if (read.ec != std::errc{} || !std::isfinite(real) || std::abs(real) > size_max)
    return wrong(id, fmt::format("value: {} is out of range", clean_text(value.text, 32)));
  return Number{real};
}

Result<Unit> unit_in(std::string_view id, const SmallJson& value) {
  if (value.kind == Kind::text && value.text.empty()) return Unit::count;
  const auto unit = value.kind == Kind::text ? unit_of(value.text) : std::nullopt;
  if (!unit) return wrong(id, fmt::format("unit: a text of 1 to {} plain bytes is needed", Unit::bytes_max));
  return *unit;
}

Result<Better> better_in(std::string_view id, const SmallJson& value) {
  const auto better = value.kind == Kind::text ? better_of(value.text) : std::nullopt;
  if (!better) return wrong(id, "better: lower, higher or none is needed");
  return *better;
}

Result<StatedMetric> metric_of(const JsonMember& member) {
  TRACEWEIR_TRY_VOID(check_name(member.key));
  if (member.value.kind != Kind::object)
    return wrong(member.key, "{\"value\": …, \"unit\": …, \"better\": …} is needed");
  if (member.value.find("value") == nullptr) return wrong(member.key, "value: missing");
  StatedMetric out;
  out.id = member.key;
  for (const auto& [key, value] : member.value.members) {
    if (key == "value") {
      TRACEWEIR_TRY(number, number_of(member.key, value));
      out.value = number;
    } else if (key == "unit") {
      TRACEWEIR_TRY(unit, unit_in(member.key, value));
      out.unit = unit;
    } else if (key == "better") {
      TRACEWEIR_TRY(better, better_in(member.key, value));
      out.better = better;
    } else {
      return wrong(member.key, fmt::format("unknown key \"{}\"", clean_text(key, 64)));
    }
  }
  return out;
}

Result<std::vector<StatedMetric>> metrics_of(const SmallJson& document) {
  for (const auto& [key, value] : document.members)
    if (key != "metrics")
      return fail(ErrorCode::bad_body, fmt::format("unknown key \"{}\" beside \"metrics\"", clean_text(key, 64)));
  const SmallJson* const found = document.find("metrics");
  if (found == nullptr || found->kind != Kind::object || document.members.size() != 1)
    return fail(ErrorCode::bad_body, "metrics: one object with a member for each metric is needed");
  const SmallJson& metrics = *found;
  if (metrics.members.empty()) return fail(ErrorCode::bad_body, "metrics: there is none");
  if (metrics.members.size() > stated_metrics_max)
    return fail(ErrorCode::bad_body,
                fmt::format("metrics: {} of them; at most {} are taken", metrics.members.size(), stated_metrics_max));
  std::vector<StatedMetric> out;
  for (const JsonMember& member : metrics.members) {
    const bool twice = std::any_of(out.begin(), out.end(), [&](const StatedMetric& m) { return m.id == member.key; });
    if (twice) return wrong(member.key, "stated twice");
    TRACEWEIR_TRY(metric, metric_of(member));
    out.push_back(std::move(metric));
  }
  return out;
}

}  // namespace

bool is_stated_json(std::string_view head) {
  const std::size_t brace = head.find('{');
  if (brace == std::string_view::npos || head.find_first_not_of("\xEF\xBB\xBF \t\r\n") != brace) return false;
  const std::size_t key = head.find_first_not_of(json_blanks, brace + 1);
  return key != std::string_view::npos && head.substr(key).starts_with("\"metrics\"");
}

Result<std::vector<timeline::Timeline>> read_stated_json(TraceInput& input) {
  TRACEWEIR_TRY(text, whole_text(input, stated_bytes_max));
  TRACEWEIR_TRY(document, parse_small_json(text));
  TRACEWEIR_TRY(metrics, metrics_of(document));
  timeline::TimelineBuilder builder;
  builder.stated = std::move(metrics);
  std::vector<timeline::Timeline> ranks;
  ranks.push_back(std::move(builder).finish());
  return ranks;
}

}  // namespace traceweir::ingest
