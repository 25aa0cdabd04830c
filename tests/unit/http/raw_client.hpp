// For: talking to the listener byte by byte, as a hostile or clumsy client would. Every wait ends by itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

/// An answer as it came. Names of fields in lower case.
struct Answer {
  int status = 0;  ///< 0: the connection ended before a head came
  std::map<std::string, std::string> fields;
  std::string body;
};

class RawClient {
 public:
  explicit RawClient(std::uint16_t port);
  RawClient(const RawClient&) = delete;
  RawClient& operator=(const RawClient&) = delete;
  ~RawClient();

  /// Returns false when the server does not take it.
  bool send(std::string_view text);
  /// Nothing more will be sent; reading goes on.
  void end_sending();
  /// Reads one answer with its body (of Content-Length; none for `head`).
  Answer answer();
  Answer answer_to_head();
  /// Sends and reads one answer.
  Answer ask(std::string_view text);
  /// Whether the server ends the connection without another byte.
  bool is_at_end();

 private:
  bool fill();
  Answer read_head();

  int socket_ = -1;
  std::string buffer_;
};
