#include "server/notify/notice.hpp"

#include <nlohmann/json.hpp>

namespace traceweir::notify {

std::string to_json(const Notice& notice) {
  using Json = nlohmann::ordered_json;
  const Json json = {{"schema", "traceweir.notice/1"},
                     {"kind", notice.kind},
                     {"project", notice.project},
                     {"workload", notice.workload},
                     {"branch", notice.branch},
                     {"run", notice.run},
                     {"commit", notice.commit},
                     {"metric", notice.metric.empty() ? Json(nullptr) : Json(notice.metric)},
                     {"summary", notice.summary},
                     {"link", notice.link},
                     {"at", notice.at},
                     {"observe", notice.observe}};
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace traceweir::notify
