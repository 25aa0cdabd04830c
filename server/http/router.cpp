#include "server/http/router.hpp"

#include <algorithm>
#include <utility>

#include "analyzer/core/assert.hpp"
#include "server/http/ascii.hpp"
#include "server/http/problem.hpp"

namespace traceweir::http {
namespace {

boost::asio::awaitable<Response> at_once(Response response) { co_return response; }

}  // namespace

void Router::add(Verb verb, std::string_view pattern, Handler handler) {
  TRACEWEIR_ASSERT(pattern.starts_with('/'));
  Row row{verb, std::string(pattern), {}, std::move(handler)};
  if (pattern != "/") {
    for (const std::string_view part : split(pattern.substr(1), '/')) {
      const bool is_name = part.starts_with('{') && part.ends_with('}') && part.size() > 2;
      TRACEWEIR_ASSERT(is_name || (!part.empty() && part.find_first_of("{}") == std::string_view::npos));
      row.segments.push_back({std::string(is_name ? part.substr(1, part.size() - 2) : part), is_name});
    }
  }
  const auto same = [&](const Row& other) { return other.verb == verb && other.pattern == pattern; };
  TRACEWEIR_ASSERT(std::none_of(rows_.begin(), rows_.end(), same));
  rows_.push_back(std::move(row));
}

bool Router::fits(const Row& row, const std::vector<std::string>& path) {
  const auto same = [](const Segment& segment, const std::string& text) {
    return segment.is_name ? !text.empty() : segment.text == text;
  };
  return std::equal(row.segments.begin(), row.segments.end(), path.begin(), path.end(), same);
}

bool Router::more_exact(const Row& a, const Row& b) {
  const auto less = [](const Segment& x, const Segment& y) { return x.is_name < y.is_name; };
  return std::lexicographical_compare(a.segments.begin(), a.segments.end(), b.segments.begin(), b.segments.end(), less);
}

const Router::Row* Router::find(Verb verb, const std::vector<std::string>& path) const {
  const Verb wanted = verb == Verb::head ? Verb::get : verb;
  const Row* best = nullptr;
  for (const Row& row : rows_)
    if (row.verb == wanted && fits(row, path) && (best == nullptr || more_exact(row, *best))) best = &row;
  return best;
}

std::string Router::allow(const std::vector<std::string>& path) const {
  std::string list;
  for (const Row& row : rows_) {
    if (!fits(row, path) || list.find(word(row.verb)) != std::string::npos) continue;
    list.append(word(row.verb)).append(row.verb == Verb::get ? ", HEAD, " : ", ");
  }
  return list.empty() ? list : list + "OPTIONS";
}

boost::asio::awaitable<Response> Router::operator()(Request& request) const {
  if (const Row* row = find(request.verb, request.segments)) {
    for (std::size_t i = 0; i < row->segments.size(); ++i)
      if (row->segments[i].is_name) request.params.push_back({row->segments[i].text, request.segments[i]});
    request.route = row->pattern;
    return row->handler(request);
  }
  const std::string allowed = allow(request.segments);
  if (allowed.empty()) return at_once(problem({ErrorCode::not_found, "no such path"}));
  if (request.verb == Verb::options) return at_once(Response{Status::no_content, {{"Allow", allowed}}, {}});
  return at_once(problem({ErrorCode::method_not_allowed, "this path allows " + allowed}).set("Allow", allowed));
}

}  // namespace traceweir::http
