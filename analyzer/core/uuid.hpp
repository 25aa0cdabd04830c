// For: the text form of time-ordered ids. Time and randomness are arguments: this room has no clock.
// Not for: reading the clock or making randomness: both come in as arguments.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace traceweir {

/// A UUID version 7. Only 74 bits of `random` are used; times before 1970 count as 1970.
/// Shape:  36 characters, lower-case hex, sorts by time. Source: RFC 9562, section 5.7.
std::string uuid_v7(std::chrono::milliseconds unix_time, const std::array<std::uint8_t, 10>& random);

/// Whether `text` is a UUID in that form: 36 characters, lower-case hex, dashes in their places.
bool is_uuid(std::string_view text);

/// When a UUID of version 7 was made, since 1970. Nothing: it is none of that version.
std::optional<std::chrono::milliseconds> time_of_uuid_v7(std::string_view text);

}  // namespace traceweir
