// What is made of a Postgres URL, and that its password is never shown.
#include "server/store/postgres_url.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace traceweir;
using namespace traceweir::store;

namespace {

bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("postgres: what a URL leaves open gets our limits, what it says stays") {
  const std::string plain = postgres_address("u@db/x").value();
  CHECK(plain.starts_with("postgresql://u@db/x?connect_timeout=5&"));
  for (const char* part : {"application_name=traceweird", "client_encoding=UTF8", "tcp_user_timeout=20000"})
    CHECK(contains(plain, part));
  const std::string own = postgres_address("/x?host=/run/pg&connect_timeout=2").value();
  CHECK(own.starts_with("postgresql:///x?host=/run/pg&connect_timeout=2&application_name="));
  CHECK_FALSE(contains(own, "connect_timeout=5"));
  CHECK(postgres_address("u:p%40ss@[::1]:5433,other/x").has_value());
}

TEST_CASE("postgres: a URL that could be read in two ways is refused without repeating it") {
  for (const char* rest :
       {"a:hun@ter2@db/x", "a:hunter2/3@db/x", "a:hunter2?3@db/x", "a:hunter2#@db", "a:hunter2%zz@db", "a:hunter2%4"}) {
    CAPTURE(rest);
    const auto refused = postgres_address(rest);
    REQUIRE_FALSE(refused.has_value());
    CHECK(refused.error().code == ErrorCode::bad_config);
    CHECK_FALSE(contains(refused.error().message, "hun"));
  }
}

TEST_CASE("postgres: a password is masked wherever it stands") {
  struct Row {
    const char *url, *want;
  };
  const Row rows[] = {
      {"postgresql://u:secret@db/x", "postgresql://u:***@db/x"},
      {"postgres://u:se@cret@db/x", "postgres://u:***@db/x"},
      {"postgresql://u@db:5432/x", "postgresql://u@db:5432/x"},
      {"postgresql://db:5432/x?user=u&password=secret&sslmode=require",
       "postgresql://db:5432/x?user=u&password=***&sslmode=require"},
      {"postgresql:///x?password=secret", "postgresql:///x?password=***"},
      {"postgresql:///x?a=1&sslpassword=secret", "postgresql:///x?a=1&sslpassword=***"},
      {"sqlite:/var/lib/a.db", "sqlite:/var/lib/a.db"},
      {"", ""},
  };
  for (const Row& row : rows) CHECK(without_password(row.url) == row.want);
}
