// For: values of configuration keys as text: whole numbers, sizes (`4 GiB`), times (`120 s`), both ways.
// Not for: which keys there are (config.hpp).
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "analyzer/core/error.hpp"

namespace traceweir::app {

/// Errors: bad_config, saying what was expected; the caller adds the key.
Result<std::uint64_t> parse_count(std::string_view text, std::uint64_t least, std::uint64_t most);
/// `4 GiB`, `256 KiB`, `1000` (bytes). Errors: bad_config.
Result<std::uint64_t> parse_bytes(std::string_view text);
/// `500 ms`, `120 s`, `5 min`, `12 h`, `90 d`, `120` (seconds). Errors: bad_config.
Result<std::chrono::milliseconds> parse_time(std::string_view text);

/// The shortest exact form: `4 GiB`, `1000 B`.
std::string show_bytes(std::uint64_t bytes);
/// `120 s`, `500 ms`.
std::string show_time(std::chrono::milliseconds time);

}  // namespace traceweir::app
