// Heads of requests, as a session reads them: found in whatever pieces they come, read once and only once, and routed.
#include "server/http/head.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "analyzer/core/assert.hpp"
#include "analyzer/core/text.hpp"
#include "server/http/router.hpp"
#include "server/http/target.hpp"
#include "tests/fuzz/target.hpp"

using namespace traceweir;
using http::HeadScan;

namespace {

const http::HttpLimits limits;

struct Found {
  HeadScan::State state = HeadScan::State::incomplete;
  std::size_t bytes = 0;
};

Found scanned(std::string_view text, std::size_t piece) {
  HeadScan scan;
  Found found;
  for (std::size_t end = 0; end < text.size() && found.state == HeadScan::State::incomplete;) {
    end = std::min(end + piece, text.size());
    found.state = scan.look_at(text.substr(0, end));
  }
  found.bytes = found.state == HeadScan::State::complete ? scan.head_bytes() : 0;
  return found;
}

/// The head as its fields say it, written anew. A proxy in front of us may do the same.
std::string written(const http::Head& head, std::string_view target) {
  std::string out = std::string(word(head.verb)) + " " + std::string(target) + " HTTP/1.1\r\n";
  for (const http::Header& field : head.headers) out += field.name + ": " + field.value + "\r\n";
  return out + "\r\n";
}

void check_head(const http::Head& head, std::string_view bytes) {
  TRACEWEIR_ASSERT(head.headers.size() <= limits.header_count_max);
  for (const std::string& segment : head.segments)
    TRACEWEIR_ASSERT(is_utf8(segment) && segment != ".." && segment.find('/') == std::string::npos);
  const std::size_t begin = bytes.find(' ') + 1;
  const auto again = parse_head(written(head, bytes.substr(begin, bytes.find(' ', begin) - begin)), limits);
  TRACEWEIR_ASSERT(again.has_value());
  TRACEWEIR_ASSERT(again->segments == head.segments && again->framing == head.framing);
  TRACEWEIR_ASSERT(again->body_bytes == head.body_bytes && again->expects_continue == head.expects_continue);
  TRACEWEIR_ASSERT(std::equal(again->query.items().begin(), again->query.items().end(), head.query.items().begin(),
                              head.query.items().end()));
}

http::Router router() {
  http::Router out;
  const auto never = [](http::Request&) -> boost::asio::awaitable<http::Response> { co_return http::Response{}; };
  out.add(http::Verb::get, "/", never);
  out.add(http::Verb::get, "/healthz", never);
  out.add(http::Verb::post, "/api/v1/projects/{project}/runs", never);
  out.add(http::Verb::get, "/api/v1/projects/{project}/runs/{run}", never);
  out.add(http::Verb::del, "/api/v1/projects/{project}/runs/{run}", never);
  out.add(http::Verb::get, "/api/v1/projects/{project}/runs/latest", never);
  return out;
}

/// What the router does with it; a handler is made and not run.
void check_routes(http::Head head) {
  static const http::Router routes = router();
  http::Request request;
  request.verb = head.verb;
  request.segments = std::move(head.segments);
  const auto answer = routes(request);
  for (const http::PathParam& param : request.params) TRACEWEIR_ASSERT(!param.value.empty());
  request.headers = std::move(head.headers);
  static_cast<void>(request.bearer_token());
  static_cast<void>(request.accepts("text/markdown"));
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view text = fuzz::text_of(bytes, size);
  const Found whole = scanned(text, std::max<std::size_t>(text.size(), 1));
  const Found pieces = scanned(text, 1);
  TRACEWEIR_ASSERT(whole.state == pieces.state && whole.bytes == pieces.bytes);
  TRACEWEIR_ASSERT(is_utf8(http::target_for_log(http::request_line_of(text).path)));
  if (whole.state != HeadScan::State::complete || whole.bytes > limits.header_bytes_max) return 0;
  auto head = parse_head(text.substr(0, whole.bytes), limits);
  if (!head) {
    TRACEWEIR_ASSERT(!head.error().error.message.empty());
    return 0;
  }
  check_head(*head, text);
  check_routes(*std::move(head));
  return 0;
}
