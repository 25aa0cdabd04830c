// For: what may and what must not be said of a store's URL: its password is in no message. Not for: connecting.
#pragma once

#include <string>
#include <string_view>

#include "analyzer/core/error.hpp"

namespace traceweir::store {

/// The address that libpq is given: the URL with our defaults for what it does not say (connect_timeout,
/// application_name, client_encoding, time limits of TCP). `rest`: what follows `postgresql://` or `postgres://`.
/// Errors: bad_config: a URL whose parts libpq could take for others (and then print them): characters that have to be
///         percent-encoded, an escape that is none.
Result<std::string> postgres_address(std::string_view rest);

/// `url` with *** for each password in it.
std::string without_password(std::string_view url);

}  // namespace traceweir::store
