#include "server/outbound/address.hpp"

#include <doctest/doctest.h>

#include <string>

#include "server/outbound/caller.hpp"

using namespace traceweir;
using namespace traceweir::outbound;

TEST_CASE("outbound: addresses are one host by HTTP or HTTPS") {
  struct Row {
    const char* url;
    const char* shown;  // nullptr: refused
    const char* target;
  };
  const Row rows[] = {
      {"http://127.0.0.1:9000/hook?key=1", "http://127.0.0.1:9000/***", "/hook?key=1"},
      {"https://hooks.example.com/T0/B0/secret", "https://hooks.example.com/***", "/T0/B0/secret"},
      {"https://hooks.example.com", "https://hooks.example.com/***", "/"},
      {"https://hooks.example.com?a=b", "https://hooks.example.com/***", "/?a=b"},
      {"https://hooks.example.com:443/x", "https://hooks.example.com/***", "/x"},
      {"http://hooks.example.com:443/x", "http://hooks.example.com:443/***", "/x"},
      {"http://[::1]:8080/x", "http://[::1]:8080/***", "/x"},
      {"ftp://hooks.example.com/x", nullptr, ""},
      {"https://user@hooks.example.com/x", nullptr, ""},
      {"https://user:secret@hooks.example.com/x", nullptr, ""},
      {"https://hooks.example.com/x#part", nullptr, ""},
      {"https:///x", nullptr, ""},
      {"hooks.example.com/x", nullptr, ""},
      {"", nullptr, ""},
      {"http://hooks.example.com/a b", nullptr, ""},
      {"http://hooks.example.com/\r\nX: y", nullptr, ""},
  };
  for (const Row& row : rows) {
    CAPTURE(row.url);
    const auto address = address_of(row.url);
    REQUIRE(address.has_value() == (row.shown != nullptr));
    if (address) {
      CHECK(address->shown() == row.shown);
      CHECK(address->target == row.target);
    } else {
      // A URL may hold a secret.
      CHECK(address.error().message.find("secret") == std::string::npos);
    }
  }
}

// Why: a cloud's machine gives its credentials to whoever asks at 169.254.169.254.
TEST_CASE("outbound: which addresses may be called") {
  const auto may = [](const char* text) { return may_be_called(boost::asio::ip::make_address(text)); };
  for (const char* yes : {"127.0.0.1", "10.1.2.3", "192.168.0.1", "203.0.113.9", "2001:db8::1", "::1", "fd12::1",
                          "::ffff:203.0.113.9", "64:ff9b::203.0.113.9", "169.253.255.255", "100.100.100.201"})
    CHECK_MESSAGE(may(yes), yes);
  for (const char* no : {"169.254.169.254", "169.254.0.1", "0.0.0.0", "0.1.2.3", "224.0.0.1", "255.255.255.255",
                         "::", "fe80::1", "ff02::1", "fd00:ec2::254", "100.100.100.200", "192.0.0.192",
                         "::ffff:169.254.169.254", "64:ff9b::169.254.169.254", "::ffff:0.0.0.0"})
    CHECK_MESSAGE(!may(no), no);
  CHECK(is_loopback("localhost"));
  CHECK(is_loopback("127.9.9.9"));
  CHECK(is_loopback("::1"));
  CHECK_FALSE(is_loopback("localhost.example.com"));
  CHECK_FALSE(is_loopback("10.0.0.1"));
}

TEST_CASE("outbound: what may not be called is not") {
  for (const char* url : {"http://169.254.169.254/latest/meta-data/", "https://[fe80::1]/x", "http://0.0.0.0:1/x",
                          "http://[::ffff:169.254.169.254]/x"}) {
    Caller caller(address_of(url).value());
    const auto answer = caller.send({}, std::chrono::milliseconds{5'000});
    REQUIRE_FALSE(answer);
    CHECK(answer.error().code == ErrorCode::unreachable);
    CHECK_MESSAGE(answer.error().message.find("not called") != std::string::npos, answer.error().message);
  }
}
