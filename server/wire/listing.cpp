#include "server/wire/listing.hpp"

#include <fmt/format.h>

#include "server/wire/json.hpp"

namespace traceweir::wire {
namespace {

std::string list_of(const std::vector<RunDocument>& runs) {
  std::string list = "[";
  for (const RunDocument& run : runs) {
    if (list.size() > 1) list += ',';
    list += to_json(run, Detail::head_only);
  }
  return list + "]";
}

}  // namespace

std::string runs_to_json(const std::vector<RunDocument>& runs, std::string_view next) {
  return fmt::format(R"({{"runs":{},"next":{}}})", list_of(runs), next.empty() ? "null" : dump(Json(next)));
}

Result<RunPage> runs_from_json(std::string_view text) {
  TRACEWEIR_TRY(json, parse_json(text));
  ObjectReader in(json);
  RunPage page;
  page.next = in.maybe_text("next").value_or("");
  if (const Json* runs = in.child("runs")) {
    for (const Json& item : *runs) {
      TRACEWEIR_TRY(run, run_of(item));
      page.runs.push_back(std::move(run));
    }
  }
  if (in.error()) return tl::unexpected(*in.error());
  return page;
}

std::string commit_to_json(std::string_view sha, const std::optional<gate::Outcome>& outcome,
                           const std::vector<RunDocument>& runs) {
  const Json verdict = outcome ? Json(gate::word(*outcome)) : Json(nullptr);
  return fmt::format(R"({{"commit":{},"outcome":{},"runs":{}}})", dump(Json(sha)), dump(verdict), list_of(runs));
}

}  // namespace traceweir::wire
