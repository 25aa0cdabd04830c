#include <doctest/doctest.h>

#include <string>

#include "server/notify/notice.hpp"
#include "server/notify/poster.hpp"
#include "server/notify/signature.hpp"

using namespace traceweir;
using namespace traceweir::notify;

// Source: HMAC-SHA256 of "1764460800.{}" under "key", as `openssl dgst -sha256 -hmac key` prints it.
TEST_CASE("notify: the signature is HMAC-SHA256 of time and body") {
  CHECK(signature_of("key", "1764460800", "{}") ==
        "sha256=a709b28d48d2817fc8bf0087652a92133c2a6bde542e517ce307e0ce4320a0fd");
  CHECK(signature_of("key", "1764460800", "{}") != signature_of("key", "1764460801", "{}"));
  CHECK(signature_of("key", "1764460800", "{}") != signature_of("kez", "1764460800", "{}"));
}

TEST_CASE("notify: addresses are one host by HTTP or HTTPS") {
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
      {"http://[::1]:8080/x", "http://::1:8080/***", "/x"},
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

TEST_CASE("notify: the document of a notice") {
  Notice notice{"drift", "llama", "ddp", "main", "0197", "c0ffee", "", "it \"rose\"\xff", "/p", "2026-11-30T00:00:00Z",
                true};
  CHECK(
      to_json(notice) ==
      R"({"schema":"traceweir.notice/1","kind":"drift","project":"llama","workload":"ddp","branch":"main","run":"0197",)"
      R"("commit":"c0ffee","metric":null,"summary":"it \"rose\")"
      "\xEF\xBF\xBD"
      R"(","link":"/p","at":"2026-11-30T00:00:00Z","observe":true})");
}
