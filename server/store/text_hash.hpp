// For: the hash that names a policy text. Not for: files (server/spool hashes while it writes).
#pragma once

#include <string>
#include <string_view>

namespace traceweir::store {

/// The SHA-256 of `text` as 64 lower-case hex digits.
std::string sha256_hex(std::string_view text);

}  // namespace traceweir::store
