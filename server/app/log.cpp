#include "server/app/log.hpp"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include "analyzer/core/text.hpp"
#include "server/wire/json.hpp"
#include "server/wire/timestamp.hpp"

namespace traceweir::app {
namespace {

struct LevelRow {
  std::string_view word;
  spdlog::level::level_enum level;
};
constexpr LevelRow levels[] = {
    {"info", spdlog::level::info}, {"warning", spdlog::level::warn}, {"error", spdlog::level::err}};

/// Whole lines, from any thread; flushed at once, since a log that lags behind a crash is of no use.
spdlog::logger& lines() {
  static const auto logger = [] {
    auto made = std::make_shared<spdlog::logger>("traceweird", std::make_shared<spdlog::sinks::stderr_sink_mt>());
    made->set_pattern("%v");
    made->flush_on(spdlog::level::trace);
    return made;
  }();
  return *logger;
}

std::string now_text() {
  return wire::to_rfc3339(std::chrono::time_point_cast<std::chrono::microseconds>(std::chrono::system_clock::now()));
}

void write(LogLevel level, wire::Json line) {
  lines().log(levels[static_cast<std::size_t>(level)].level, wire::dump(line));
}

wire::Json head(LogLevel level, std::string_view event) {
  return {{"time", now_text()}, {"level", levels[static_cast<std::size_t>(level)].word}, {"event", event}};
}

}  // namespace

void log(LogLevel level, std::string_view event, LogFields fields) {
  wire::Json line = head(level, event);
  for (const auto& [key, value] : fields) line[std::string(key)] = clean_text(value, 2048);
  write(level, std::move(line));
}

void log_access(const http::AccessRecord& record) {
  const LogLevel level = record.status >= 500 ? LogLevel::error : LogLevel::info;
  wire::Json line = head(level, "request");
  line["request_id"] = record.request_id;
  line["remote"] = record.remote;
  line["method"] = record.method;
  line["path"] = record.target;
  line["status"] = record.status;
  line["bytes_in"] = record.bytes_in;
  line["bytes_out"] = record.bytes_out;
  line["duration_us"] = std::chrono::duration_cast<std::chrono::microseconds>(record.duration).count();
  if (!record.error.empty()) line["error"] = record.error;
  write(level, std::move(line));
}

}  // namespace traceweir::app
