#include "server/http/session.hpp"

#include <algorithm>
#include <array>
#include <boost/asio/post.hpp>
#include <exception>
#include <utility>

// g++ 12 takes Asio's pair of operators for coroutine frames for a mismatch once sanitizers are on.
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"

#include "analyzer/core/text.hpp"
#include "server/http/admission.hpp"
#include "server/http/problem.hpp"
#include "server/http/target.hpp"

namespace traceweir::http {
namespace {

namespace asio = boost::asio;

constexpr std::size_t request_id_bytes_max = 64;
constexpr std::size_t method_bytes_max = 32;
constexpr std::string_view request_id_characters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
constexpr std::size_t piece_bytes = std::size_t{256} * 1024;

/// The client's own id goes into logs and answers, so it must be short, inert and no token.
bool is_clean_id(std::string_view id) {
  return !id.empty() && id.size() <= request_id_bytes_max && id.find("twr_") == std::string_view::npos &&
         !holds_token(id) && id.find_first_not_of(request_id_characters) == std::string_view::npos;
}

std::string text_of(const Error& error) { return std::string(word(error.code)) + ": " + clean_text(error.message); }

/// Too much at once, by this one client: 503 would say that the service is at its end.
Response turned_back(const TurnedBack& by) {
  Response response = problem({ErrorCode::queue_full, by.why});
  response.status = Status::too_many_requests;
  return std::move(response).set("Retry-After", std::to_string(by.retry_after.count()));
}

}  // namespace

void SessionSet::add(Session& session) {
  const std::lock_guard lock(mutex_);
  sessions_.insert(&session);
}

void SessionSet::remove(Session& session) {
  bool last = false;
  {
    const std::lock_guard lock(mutex_);
    sessions_.erase(&session);
    last = sessions_.empty();
  }
  if (last && on_empty) on_empty();
}

std::size_t SessionSet::size() const {
  const std::lock_guard lock(mutex_);
  return sessions_.size();
}

std::vector<std::shared_ptr<Session>> SessionSet::all() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::shared_ptr<Session>> alive;
  for (Session* session : sessions_)
    if (auto shared = session->weak_from_this().lock()) alive.push_back(std::move(shared));
  return alive;
}

asio::ip::address peer_of(const asio::ip::tcp::socket& socket) {
  boost::system::error_code error;
  const auto endpoint = socket.remote_endpoint(error);
  return error ? asio::ip::address() : endpoint.address();
}

Session::Session(asio::ip::tcp::socket socket, const SessionHost& host, Visit visit)
    : options_(host.options),
      set_(host.set),
      visitors_(host.visitors),
      visit_(std::move(visit)),
      strand_(socket.get_executor()),
      work_(strand_),
      peer_(peer_of(socket)),
      wire_(std::move(socket), options_.tls) {
  set_.add(*this);
}

Session::~Session() { set_.remove(*this); }

void Session::begin_stop() {
  asio::post(strand_, [self = shared_from_this()] {
    if (self->idle_) self->wire_.interrupt();
  });
}

void Session::close() {
  asio::post(strand_, [self = shared_from_this()] { self->wire_.close(); });
}

asio::awaitable<void> Session::run() {
  const std::shared_ptr<Session> self = shared_from_this();
  try {
    Next next = co_await begin();
    while (next == Next::request && !set_.stopping()) next = co_await serve_one();
    if (wire_.is_encrypted()) co_await say_goodbye();
  } catch (const std::exception&) {
    // The last resort: no memory, or a log that throws. This connection ends, the service goes on.
  }
  wire_.close();
}

asio::awaitable<Session::Next> Session::begin() {
  idle_ = true;  // a stop ends a handshake, too
  const auto until = Wire::Clock::now() + options_.limits.handshake_time_max;
  const Result<void> done = co_await wire_.handshake(until);
  if (!done) wire_.close();
  co_return done ? Next::request : Next::close;
}

asio::awaitable<Session::Next> Session::serve_one() {
  std::optional<HeadOrRefusal> head = co_await read_head();
  idle_ = false;
  if (!head) co_return Next::close;
  if (!*head) co_return co_await refuse(head->error());
  co_return co_await serve(**head);
}

/// Nothing: the client left, or never sent a byte in idle_time_max.
asio::awaitable<std::optional<Session::HeadOrRefusal>> Session::read_head() {
  const HttpLimits& limits = options_.limits;
  HeadScan scan;
  idle_ = wire_.ahead().empty();
  begin_record();
  auto until = begun_ + (idle_ ? limits.idle_time_max : limits.header_time_max);
  for (;;) {
    const std::string_view here = wire_.ahead().substr(0, limits.header_bytes_max);
    const HeadScan::State state = scan.look_at(here);
    if (state == HeadScan::State::complete) co_return take_head(scan.head_bytes());
    if (state == HeadScan::State::broken) co_return refused(here, {ErrorCode::bad_request, "not a valid HTTP head"});
    if (here.size() == limits.header_bytes_max)
      co_return refused(
          here, {ErrorCode::bad_request, "the head is larger than header_bytes_max = " + std::to_string(here.size())});

    const auto got = co_await wire_.read_ahead(limits.header_bytes_max - here.size(), until);
    if (!got && !idle_ && got.error().code == ErrorCode::request_timeout) co_return refused(wire_.ahead(), got.error());
    if (!got || *got == 0) co_return std::nullopt;
    if (std::exchange(idle_, false)) {
      begin_record();
      until = begun_ + limits.header_time_max;
    }
  }
}

Session::HeadOrRefusal Session::take_head(std::size_t head_bytes) {
  const std::string_view bytes = wire_.ahead().substr(0, head_bytes);
  note_request_line(bytes);
  HeadOrRefusal head = parse_head(bytes, options_.limits);
  wire_.use(head_bytes);
  return head;
}

/// For a head that never became complete.
Session::HeadOrRefusal Session::refused(std::string_view bytes, Error error) {
  note_request_line(bytes);
  return tl::unexpected(Refusal{status_of(error.code), std::move(error)});
}

void Session::note_request_line(std::string_view bytes) {
  const RequestLine line = request_line_of(bytes);
  record_.method = clean_text(line.method, method_bytes_max);
  record_.target = target_for_log(line.path);
}

asio::awaitable<Session::Next> Session::refuse(const Refusal& refusal) {
  record_.request_id = options_.new_request_id();
  record_.error = text_of(refusal.error);
  Response response = problem(refusal.error);
  response.status = refusal.status;
  const ReplyFacts facts{record_.request_id, Verb::get, KeepAlive::no, transport()};
  Reply reply = make_reply(std::move(response), facts);
  const bool written = co_await write(reply);
  end_record();
  if (written) co_await linger();
  co_return Next::close;
}

asio::awaitable<Session::Next> Session::serve(Head& head) {
  SocketBody body(wire_, head, options_.limits);
  const asio::ip::address client = client_of(peer_, head.headers, options_.trusted_proxies);
  Request request = request_of(head);
  request.body = &body;
  request.remote = client.to_string();
  record_.request_id = request.id;
  record_.remote = request.remote;

  const std::string key = client_key(client);
  Response response = co_await let_in(request, key);
  record_.route = request.route;
  if (const auto* error = std::get_if<Error>(&response.body); error != nullptr && record_.error.empty())
    record_.error = text_of(*error);
  // A body that was not read to its end leaves the connection in the middle of it: the next request cannot be found.
  const bool keep = head.keep_alive && body.complete() && !set_.stopping();
  const ReplyFacts facts{request.id, request.verb, keep ? KeepAlive::yes : KeepAlive::no, transport()};
  Reply reply = make_reply(std::move(response), facts);
  const bool written = co_await write(reply);
  record_.bytes_in = body.bytes();
  end_record();
  if (written && keep) co_return Next::request;
  if (written && (!body.complete() || !wire_.ahead().empty())) co_await linger();
  co_return Next::close;
}

Transport Session::transport() const { return options_.tls != nullptr ? Transport::tls : Transport::plain; }

Request Session::request_of(Head& head) {
  Request request;
  request.verb = head.verb;
  request.segments = std::move(head.segments);
  request.query = std::move(head.query);
  request.headers = std::move(head.headers);
  request.id = request.header("x-request-id").value_or(std::string());
  if (!is_clean_id(request.id)) request.id = options_.new_request_id();
  return request;
}

/// What an address may cost is looked at before a handler is; what its token cost is counted when the handler knows it.
asio::awaitable<Response> Session::let_in(Request& request, const std::string& client) {
  const std::string authorization = request.header("authorization").value_or("");
  if (const auto early = visitors_.ask(client, authorization, Wire::Clock::now())) co_return turned_back(*early);
  Admission admission(visitors_, client, authorization);
  request.admission = &admission;
  Response response = co_await answer(request);
  if (authorization.empty()) co_return response;
  if (response.status == Status::unauthorized) admission.found_wrong();
  if (const auto& late = admission.turned_back()) co_return turned_back(*late);
  co_return response;
}

/// The last resort for what a handler throws: an answer without details, and the details in the log.
asio::awaitable<Response> Session::answer(Request& request) {
  std::string what = "not a std::exception";
  try {
    co_return co_await options_.handler(request);
  } catch (const std::exception& error) {
    what = error.what();
  } catch (...) {
    // `what` says so.
  }
  record_.error = "exception: " + clean_text(what);
  co_return problem({ErrorCode::internal, "an error of the service; its log has the details"});
}

asio::awaitable<bool> Session::write(Reply& reply) {
  Patience patience(options_.limits);
  record_.status = static_cast<std::uint16_t>(reply.status);
  if (!co_await write_piece(reply.text, patience)) co_return false;
  if (!reply.file) co_return true;
  for (std::uint64_t left = reply.file->bytes(); left > 0;) {
    const std::string piece = reply.file->read(std::min<std::uint64_t>(left, piece_bytes));
    // A file that became shorter cannot be announced any more: the client sees the connection break.
    if (piece.empty() || !co_await write_piece(piece, patience)) co_return false;
    left -= piece.size();
  }
  co_return true;
}

asio::awaitable<bool> Session::write_piece(std::string_view piece, Patience& patience) {
  while (!piece.empty()) {
    const auto begun = Wire::Clock::now();
    const Result<std::size_t> sent = co_await wire_.write_some(piece, begun + patience.left());
    if (!sent) co_return false;
    patience.spend(Wire::Clock::now() - begun, *sent);
    record_.bytes_out += *sent;
    piece.remove_prefix(*sent);
  }
  co_return true;
}

/// Closing with unread bytes would reset the connection, and the client might never see its answer.
asio::awaitable<void> Session::linger() {
  const auto until = Wire::Clock::now() + options_.limits.linger_time_max;
  co_await wire_.end_writing(until);
  std::array<std::byte, 16 * 1024> waste;
  for (std::size_t taken = 0; taken < options_.limits.linger_bytes_max;) {
    const Result<std::size_t> got = co_await wire_.read_some(waste, until);
    if (!got || *got == 0) co_return;
    taken += *got;
  }
}

/// An end that TLS can tell from a cut.
asio::awaitable<void> Session::say_goodbye() {
  constexpr std::chrono::milliseconds goodbye_time_max{1'000};
  const auto until = Wire::Clock::now() + goodbye_time_max;
  co_await wire_.end_writing(until);
}

void Session::begin_record() {
  begun_ = Wire::Clock::now();
  record_ = AccessRecord();
  record_.remote = peer_.to_string();
}

void Session::end_record() {
  record_.duration = Wire::Clock::now() - begun_;
  if (options_.access_log) options_.access_log(record_);
}

}  // namespace traceweir::http
