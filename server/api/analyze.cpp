#include <boost/asio/awaitable.hpp>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/core/text.hpp"
#include "server/api/auth.hpp"
#include "server/api/body_buffer.hpp"
#include "server/api/handlers.hpp"
#include "server/api/query_values.hpp"
#include "server/http/body.hpp"

namespace traceweir::api {
namespace {

constexpr std::size_t name_bytes_max = 255;
constexpr std::size_t glob_bytes_max = 256;

/// A trace that somebody is curious about: where it arrives, what it is called, and how it is to be read.
struct Curiosity {
  spool::IncomingFile file;
  std::string name;
  analysis::AnalysisOptions reading;
};

Result<std::optional<std::string>> text_in(const http::Query& query, std::string_view key, std::size_t bytes_max) {
  TRACEWEIR_TRY(text, query.one(key));
  if (text && text->size() > bytes_max)
    return fail(ErrorCode::bad_query, std::string(key) + ": longer than " + std::to_string(bytes_max) + " bytes");
  return text ? std::optional(clean_text(*text, bytes_max + 64)) : std::nullopt;
}

/// Checks everything that can be checked before a byte of the body is read.
Result<Curiosity> admit(const http::Request& request, Services& services) {
  TRACEWEIR_TRY(token, authorize_member(request, services));
  static_cast<void>(token);
  TRACEWEIR_TRY_VOID(request.query.only({"name", "window", "steps", "skip_steps"}));
  TRACEWEIR_TRY(name, text_in(request.query, "name", name_bytes_max));
  TRACEWEIR_TRY(window, text_in(request.query, "window", glob_bytes_max));
  TRACEWEIR_TRY(steps, text_in(request.query, "steps", glob_bytes_max));
  TRACEWEIR_TRY(skip, integer_in(request.query, "skip_steps", 0, std::numeric_limits<std::int32_t>::max()));
  TRACEWEIR_TRY_VOID(services.runs.check_room());
  TRACEWEIR_TRY(file, services.spool.create(request.body->announced_bytes()));
  return Curiosity{std::move(file), name.value_or(""), {std::move(window), std::move(steps), skip}};
}

/// Streams the body to the file: it is never held in memory.
/// Errors: those of the body and of the spool.
boost::asio::awaitable<Result<void>> receive(http::BodyReader& body, spool::IncomingFile& file) {
  BodyBuffer buffer;
  for (;;) {
    const auto space = buffer.space();
    const auto count = co_await body.read(space);
    if (!count) co_return tl::unexpected(count.error());
    if (*count == 0) co_return Result<void>{};
    if (auto written = file.write(buffer.filled(*count)); !written)
      co_return tl::unexpected(std::move(written).error());
  }
}

}  // namespace

/// POST /api/v1/analyze?name=&window=&steps=&skip_steps=   body: one trace
/// 200 its report; nothing is stored, and the file is gone with the answer | 4xx, 5xx problem
boost::asio::awaitable<http::Response> post_analyze(http::Request& request, Services& services) {
  // 1. May it come in?
  auto admission = [&] { return admit(request, services); };
  auto curiosity = co_await services.workers.run(admission);
  if (!curiosity) co_return http::problem(std::move(curiosity).error());

  // 2. Take the bytes, straight to disk.
  if (auto received = co_await receive(*request.body, curiosity->file); !received)
    co_return http::problem(std::move(received).error());
  auto finishing = [&] { return std::move(curiosity->file).finish(); };
  const auto spooled = co_await services.workers.run(finishing);
  if (!spooled) co_return http::problem(spooled.error());

  // 3. Look at it as at any upload, in the same locked child, behind the same queue.
  const analysis::InputFile input{spooled->path(), curiosity->name, spooled->sha256()};
  const auto report = co_await services.runs.look_at(input, curiosity->reading);
  if (!report) co_return http::problem(report.error());
  co_return http::respond(http::Status::ok, json_type, report::to_json(*report));
}

}  // namespace traceweir::api
