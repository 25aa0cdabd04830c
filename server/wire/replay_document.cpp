#include "server/wire/replay_document.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <span>

namespace traceweir::wire {
namespace {

/// What the judge says of a run, and what of it must be equal between builds.
constexpr std::string_view verdict_keys[] = {"outcome", "learning",      "summary",      "ancestry",
                                             "notes",   "baseline_runs", "policy_sha256"};
constexpr std::size_t verdict_keys_of_any_build = 2;
/// The same of a rule.
constexpr std::string_view rule_keys[] = {"outcome",     "reason",    "observed",   "unit",    "better",   "limit",
                                          "limit_text",  "tolerance", "baseline",   "delta",   "fails_at", "level",
                                          "delta_ratio", "next",      "detectable", "confirm", "sentence"};
constexpr std::size_t rule_keys_of_any_build = 2;

std::span<const std::string_view> first(std::span<const std::string_view> keys, std::size_t of_any, Sameness sameness) {
  return sameness == Sameness::to_the_bit ? keys : keys.first(of_any);
}

const Json& at(const Json& json, std::string_view key) {
  static const Json none = nullptr;
  const auto it = json.find(key);
  return it == json.end() ? none : *it;
}

/// A value for a sentence, cut where it is long.
std::string shown(const Json& value) {
  constexpr std::size_t shown_max = 120;
  std::string text = dump(value);
  if (text.size() <= shown_max) return text;
  std::size_t end = shown_max;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;  // no half of a character
  return text.substr(0, end) + "…";
}

std::string name_of(const Json& rule) {
  const Json &metric = at(rule, "metric"), &against = at(rule, "against");
  const std::string name = metric.is_string() ? metric.get<std::string>() : shown(metric);
  return against.is_string() ? fmt::format("{} against {}", name, against.get<std::string>()) : name;
}

const Json* find(const Json& rules, const Json& wanted) {
  const auto it = std::find_if(rules.begin(), rules.end(), [&](const Json& rule) {
    return rule.is_object() && at(rule, "metric") == at(wanted, "metric") &&
           at(rule, "against") == at(wanted, "against");
  });
  return it == rules.end() ? nullptr : &*it;
}

class Comparing {
 public:
  explicit Comparing(Sameness sameness) : sameness_(sameness) {}

  std::vector<std::string> result(const Json& stored, const Json& now) {
    compare("the verdict", stored, now, first(verdict_keys, verdict_keys_of_any_build, sameness_));
    const Json &stored_rules = at(stored, "rules"), &now_rules = at(now, "rules");
    for (const Json& rule : stored_rules) compare_rule(rule, now_rules);
    for (const Json& rule : now_rules)
      if (!find(stored_rules, rule)) say("{}: the rule is not in the stored verdict", name_of(rule));
    return std::move(sentences_);
  }

 private:
  template <typename... Arguments>
  void say(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    sentences_.push_back(fmt::format(format, std::forward<Arguments>(arguments)...));
  }

  void compare_rule(const Json& stored, const Json& now_rules) {
    if (!stored.is_object()) return say("a rule of the stored verdict is {}", shown(stored));
    const Json* now = find(now_rules, stored);
    if (now == nullptr) return say("{}: the policy has no such rule", name_of(stored));
    compare(name_of(stored), stored, *now, first(rule_keys, rule_keys_of_any_build, sameness_));
  }

  void compare(const std::string& what, const Json& stored, const Json& now, std::span<const std::string_view> keys) {
    for (const std::string_view key : keys)
      if (at(stored, key) != at(now, key))
        say("{}: {} is stored as {}, and judged now as {}", what, key, shown(at(stored, key)), shown(at(now, key)));
  }

  Sameness sameness_;
  std::vector<std::string> sentences_;
};

}  // namespace

std::vector<std::string> differences_of(const Json& stored, const Json& now, Sameness sameness) {
  if (!stored.is_object()) return {"the stored verdict is no document"};
  return Comparing(sameness).result(stored, now);
}

std::string to_json(const ReplayDocument& document) {
  const Json head = {{"run", document.run},
                     {"same", document.differences.empty()},
                     {"build", {{"stored", document.build_stored}, {"now", document.build_now}}},
                     {"differences", document.differences}};
  std::string text = dump(head);
  text.pop_back();
  // Both are documents of our own: they are put in as they are.
  const auto or_null = [](const std::string& json) { return json.empty() ? std::string("null") : json; };
  return text + fmt::format(R"(,"stored":{},"now":{}}})", or_null(document.stored_json), or_null(document.now_json));
}

Result<ReplayAnswer> replay_from_json(std::string_view text) {
  TRACEWEIR_TRY(json, parse_json(text));
  ObjectReader in(json);
  ReplayAnswer answer;
  answer.run = in.text("run");
  answer.same = in.boolean("same");
  if (const Json* build = in.child("build")) {
    ObjectReader inner(*build);
    answer.build_stored = inner.maybe_text("stored").value_or("");
    answer.build_now = inner.maybe_text("now").value_or("");
  }
  if (const Json* sentences = in.child("differences"))
    for (const Json& sentence : *sentences)
      if (sentence.is_string()) answer.differences.push_back(sentence.get<std::string>());
  if (in.error()) return tl::unexpected(*in.error());
  // A verdict that somebody changed may say anything: it is then shown by its differences alone.
  const auto read = [&in](const char* key, std::optional<VerdictDocument>& out) {
    if (const Json* verdict = in.child(key))
      if (auto document = verdict_of(*verdict)) out = std::move(*document);
  };
  read("stored", answer.stored);
  read("now", answer.now);
  return answer;
}

}  // namespace traceweir::wire
