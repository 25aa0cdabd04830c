#include <doctest/doctest.h>

#include <string>

#include "server/notify/notice.hpp"
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
