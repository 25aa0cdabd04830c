#include "server/store/postgres_url.hpp"

#include <algorithm>
#include <cctype>

namespace traceweir::store {
namespace {

struct Default {
  std::string_view key, value;
};

/// In seconds, but tcp_user_timeout, which is in ms. A host that is gone without a word is noticed by these alone.
constexpr Default defaults[] = {{"connect_timeout", "5"},     {"application_name", "traceweird"},
                                {"client_encoding", "UTF8"},  {"keepalives_idle", "10"},
                                {"keepalives_interval", "5"}, {"keepalives_count", "3"},
                                {"tcp_user_timeout", "20000"}};

bool says(std::string_view query, std::string_view key) {
  const std::string text = '&' + std::string(query);
  return text.find('&' + std::string(key) + '=') != std::string::npos;
}

bool has_broken_escape(std::string_view text) {
  const auto is_digit = [](char c) { return std::isxdigit(static_cast<unsigned char>(c)) != 0; };
  for (std::size_t i = 0; i < text.size(); ++i)
    if (text[i] == '%' && (i + 2 >= text.size() || !is_digit(text[i + 1]) || !is_digit(text[i + 2]))) return true;
  return false;
}

/// Masks the value of `key=` wherever it begins a parameter.
void mask_parameter(std::string& url, std::string_view key) {
  for (const char before : {'?', '&'}) {
    const std::string start = before + std::string(key) + '=';
    for (std::size_t at = url.find(start); at != std::string::npos; at = url.find(start, at + 1)) {
      const std::size_t value = at + start.size();
      url.replace(value, std::min(url.find('&', value), url.size()) - value, "***");
    }
  }
}

}  // namespace

Result<std::string> postgres_address(std::string_view rest) {
  const std::string_view authority = rest.substr(0, rest.find_first_of("/?#"));
  const auto signs = std::count(rest.begin(), rest.end(), '@');
  if (signs > 1 || (signs == 1 && authority.find('@') == authority.npos) || rest.find('#') != rest.npos)
    return fail(ErrorCode::bad_config,
                "store: in user name and password the characters @ / ? # % have to be percent-encoded (@ is %40)");
  if (has_broken_escape(rest)) return fail(ErrorCode::bad_config, "store: a % has to be followed by two hex digits");
  std::string address = "postgresql://" + std::string(rest);
  const std::size_t question = rest.find('?');
  const std::string_view query = question == rest.npos ? "" : rest.substr(question + 1);
  char separator = question == rest.npos ? '?' : '&';
  for (const auto& [key, value] : defaults) {
    if (says(query, key)) continue;
    address += separator + std::string(key) + '=' + std::string(value);
    separator = '&';
  }
  return address;
}

std::string without_password(std::string_view url) {
  std::string shown(url);
  for (const char* key : {"password", "sslpassword"}) mask_parameter(shown, key);
  const std::size_t start = shown.find("://");
  if (start == std::string::npos) return shown;
  const std::size_t user = start + 3, sign = shown.rfind('@');  // the last: a password may hold one by mistake
  const std::size_t colon = shown.find(':', user);
  if (sign != std::string::npos && colon != std::string::npos && colon < sign)
    shown.replace(colon + 1, sign - colon - 1, "***");
  return shown;
}

}  // namespace traceweir::store
