#include "server/api/markdown_answer.hpp"

#include <fmt/format.h>

#include <utility>

#include "server/wire/run_markdown.hpp"

namespace traceweir::api {
namespace {

http::Response answer(std::string markdown) {
  return http::respond(http::Status::ok, "text/markdown; charset=utf-8", std::move(markdown)).set("Vary", "Accept");
}

/// What the client wrote of us, where it is a plain host and port; else there are no links.
std::string address_in(const http::Request& request) {
  constexpr std::string_view allowed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-:[]";
  const std::string host = request.header("host").value_or("");
  if (host.empty() || host.find_first_not_of(allowed) != std::string::npos) return "";
  const bool https = request.header("x-forwarded-proto").value_or("") == "https";
  return fmt::format("{}://{}", https ? "https" : "http", host);
}

Result<wire::RunAnswer> answer_of(const wire::RunDocument& document) {
  auto run = wire::run_from_json(wire::to_json(document, wire::Detail::head_only));
  if (!run) return fail(ErrorCode::internal, "the stored verdict cannot be read: " + run.error().message);
  run->acceptances = document.acceptances;
  return run;
}

}  // namespace

Result<http::Response> markdown_of(const http::Request& request, const wire::RunDocument& run) {
  TRACEWEIR_TRY(answered, answer_of(run));
  return answer(wire::run_markdown(answered, address_in(request)));
}

Result<http::Response> markdown_of_commit(const http::Request& request, const std::string& sha,
                                          const std::vector<wire::RunDocument>& runs) {
  std::vector<wire::RunAnswer> answers;
  for (const wire::RunDocument& run : runs) {
    TRACEWEIR_TRY(answered, answer_of(run));
    answers.push_back(std::move(answered));
  }
  return answer(wire::commit_markdown(request.param("project"), sha, answers, address_in(request)));
}

}  // namespace traceweir::api
