#include "server/api/remembered.hpp"

#include <string_view>
#include <utility>
#include <variant>

#include "server/api/services.hpp"
#include "server/hash/sha256.hpp"

namespace traceweir::api {
namespace {

/// GET /api/v1/projects/{project}/runs/{run}, without a query.
bool is_of_a_run(const http::Request& request) {
  const auto& path = request.segments;
  return request.verb == http::Verb::get && request.query.items().empty() && path.size() == 6 && path[0] == "api" &&
         path[1] == "v1" && path[2] == "projects" && path[4] == "runs";
}

/// All that the answer depends on. A hash: no token stays in memory for its sake.
std::string key_of(const http::Request& request) {
  std::string text;
  for (const std::string& part : {request.segments[3], request.segments[5], request.header("accept").value_or(""),
                                  request.header("authorization").value_or("")})
    text += std::to_string(part.size()) + ':' + part;
  return hash::sha256_hex(text);
}

/// A run that is still analysed changes at any moment.
bool is_settled(const http::Response& response) {
  const auto* text = std::get_if<std::string>(&response.body);
  return response.status == http::Status::ok && text != nullptr && text->size() <= Remembered::answer_bytes_max &&
         response.header("Content-Type") == json_type && text->find(R"("status":"judged")") != std::string::npos;
}

}  // namespace

boost::asio::awaitable<http::Response> Remembered::answer(http::Request& request) {
  const bool reads = request.verb == http::Verb::get || request.verb == http::Verb::head;
  if (!reads) {
    // Also where the handler throws: it may have written before.
    struct Forgetting {
      Remembered& self;
      ~Forgetting() { self.forget(); }
    } forgetting{*this};
    co_return co_await router_(request);
  }
  if (!is_of_a_run(request)) co_return co_await router_(request);

  const std::string key = key_of(request);
  if (auto known = recall(key, request)) co_return *std::move(known);
  const std::uint64_t before = changes();
  const auto read_at = Clock::now();
  http::Response response = co_await router_(request);
  if (is_settled(response)) keep(key, {response, request.route, read_at}, before);
  co_return response;
}

std::optional<http::Response> Remembered::recall(const std::string& key, http::Request& request) {
  const std::lock_guard lock(mutex_);
  const auto found = answers_.find(key);
  if (found == answers_.end()) return std::nullopt;
  if (Clock::now() - found->second.read_at >= age_max) {
    answers_.erase(found);
    return std::nullopt;
  }
  request.route = found->second.route;
  return found->second.response;
}

/// What was read before a change is of no use behind it.
void Remembered::keep(const std::string& key, Answer answer, std::uint64_t changes) {
  const std::lock_guard lock(mutex_);
  if (changes != changes_) return;
  if (answers_.size() == answers_max) answers_.clear();
  answers_.insert_or_assign(key, std::move(answer));
}

std::uint64_t Remembered::changes() const {
  const std::lock_guard lock(mutex_);
  return changes_;
}

void Remembered::forget() {
  const std::lock_guard lock(mutex_);
  ++changes_;
  answers_.clear();
}

}  // namespace traceweir::api
