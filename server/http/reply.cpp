#include "server/http/reply.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <ctime>
#include <utility>

#include "server/http/ascii.hpp"
#include "server/http/problem.hpp"

namespace traceweir::http {
namespace {

struct Constant {
  std::string_view name;
  std::string_view value;
};

/// On every answer, whatever it is. Source: spec of reliability, section 3. The page of the dashboard needs no more.
constexpr std::array<Constant, 5> every_answer = {{
    {"Content-Security-Policy",
     "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
     "frame-ancestors 'none'; base-uri 'none'; form-action 'self'"},
    {"X-Content-Type-Options", "nosniff"},
    {"Referrer-Policy", "no-referrer"},
    {"Cross-Origin-Opener-Policy", "same-origin"},
    {"Cache-Control", "no-store"},
}};

/// On every answer over TLS: from then on browsers ask in no other way.
constexpr Constant over_tls = {"Strict-Transport-Security", "max-age=31536000"};

/// Fields that are the session's own; a handler's are left out.
constexpr std::array<std::string_view, 4> session_fields = {"content-length", "connection", "transfer-encoding",
                                                            "date"};

bool is_line(std::string_view text) {
  return std::none_of(text.begin(), text.end(),
                      [](char c) { return (static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7f; });
}

bool is_name(std::string_view text) {
  const auto fits = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || (c >= '0' && c <= '9');
  };
  return !text.empty() && std::all_of(text.begin(), text.end(), fits);
}

bool is_writable(const Response& response) {
  const auto fits = [](const Header& field) { return is_name(field.name) && is_line(field.value); };
  return std::all_of(response.headers.begin(), response.headers.end(), fits);
}

std::string date_now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  ::gmtime_r(&now, &parts);
  std::array<char, 40> text{};
  return {text.data(), std::strftime(text.data(), text.size(), "%a, %d %b %Y %H:%M:%S GMT", &parts)};
}

void add(std::string& head, std::string_view name, std::string_view value) {
  head.append(name).append(": ").append(value).append("\r\n");
}

bool has_no_body(Status status) { return status == Status::no_content || status == Status::not_modified; }

std::string head_of(const Response& response, const ReplyFacts& facts, std::uint64_t body_bytes) {
  std::string head = "HTTP/1.1 " + std::to_string(static_cast<unsigned>(response.status)) + ' ';
  head.append(reason(response.status)).append("\r\n");
  add(head, "Date", date_now());
  add(head, "X-Request-Id", facts.request_id);
  for (const Header& field : response.headers) {
    const auto same = [&](std::string_view own) { return equal_ignoring_case(own, field.name); };
    if (std::none_of(session_fields.begin(), session_fields.end(), same)) add(head, field.name, field.value);
  }
  for (const Constant& field : every_answer)
    if (!response.header(field.name)) add(head, field.name, field.value);
  if (facts.transport == Transport::tls) add(head, over_tls.name, over_tls.value);
  if (!has_no_body(response.status)) add(head, "Content-Length", std::to_string(body_bytes));
  add(head, "Connection", facts.keep_alive == KeepAlive::yes ? "keep-alive" : "close");
  return head + "\r\n";
}

Reply make_file_reply(const Response& response, const FileBody& body, const ReplyFacts& facts) {
  Result<OpenFile> file = OpenFile::open(body.path);
  if (!file) return make_reply(problem(file.error()), facts);
  Reply reply{response.status, head_of(response, facts, file->bytes()), std::nullopt};
  if (facts.verb != Verb::head) reply.file = *std::move(file);
  return reply;
}

}  // namespace

Result<OpenFile> OpenFile::open(const std::filesystem::path& path) {
  OpenFile file;
  file.descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  struct stat about {};
  if (file.descriptor_ < 0 || ::fstat(file.descriptor_, &about) != 0 || !S_ISREG(about.st_mode))
    return fail(ErrorCode::not_found, "the file is no longer kept");
  file.bytes_ = static_cast<std::uint64_t>(about.st_size);
  return file;
}

OpenFile::OpenFile(OpenFile&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)), bytes_(other.bytes_) {}

OpenFile& OpenFile::operator=(OpenFile&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

OpenFile::~OpenFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

std::string OpenFile::read(std::size_t bytes_max) {
  std::string piece(bytes_max, '\0');
  ssize_t count = -1;
  do {
    count = ::read(descriptor_, piece.data(), piece.size());
  } while (count < 0 && errno == EINTR);
  piece.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
  return piece;
}

Reply make_reply(Response response, const ReplyFacts& facts) {
  if (!is_writable(response)) response = problem({ErrorCode::internal, "an answer could not be written"});
  if (const auto* body = std::get_if<FileBody>(&response.body)) return make_file_reply(response, *body, facts);
  if (const auto* error = std::get_if<Error>(&response.body))
    response.body = problem_json(*error, response.status, facts.request_id);
  const std::string& body = std::get<std::string>(response.body);
  Reply reply{response.status, head_of(response, facts, body.size()), std::nullopt};
  if (facts.verb != Verb::head && !has_no_body(response.status)) reply.text += body;
  return reply;
}

}  // namespace traceweir::http
