// For: the signature of a notice, by which its receiver knows that it is ours and how old it is.
// Not for: reading the secret (server/app).
#pragma once

#include <string>
#include <string_view>

namespace traceweir::notify {

/// HMAC-SHA256 of `TIMESTAMP.BODY` under the secret, as `sha256=` and 64 characters of lower-case hex. The time is
/// signed too, so that an old notice cannot be sent again as a new one. Source: RFC 2104.
std::string signature_of(std::string_view secret, std::string_view timestamp, std::string_view body);

}  // namespace traceweir::notify
