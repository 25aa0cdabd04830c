// For: makers of configuration keys (a field is named once, as something that can be set), and the keys that have a
// file of their own. Not for: values as text (config_values.hpp), where values come from (config.hpp).
#pragma once

#include <fmt/format.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "analyzer/core/error.hpp"
#include "server/app/config.hpp"
#include "server/app/config_values.hpp"

namespace traceweir::app {

/// What is kept, where, for how long and how much (config_kept.cpp).
std::vector<ConfigKey> kept_keys();
/// Who may come in and how: limits per address, TLS, issuers of CI jobs' tokens (access_keys.cpp).
std::vector<ConfigKey> access_keys();

template <typename Field>
ConfigKey text_key(std::string_view name, std::string_view help, Field field) {
  return {name, help,
          [field](Config& config, std::string_view text) -> Result<void> {
            field(config) = text;
            return {};
          },
          [field](Config config) { return field(config); }};
}

/// Text that `check` must take.
template <typename Check, typename Field>
ConfigKey checked_key(std::string_view name, std::string_view help, Check check, Field field) {
  return {name, help,
          [=](Config& config, std::string_view text) -> Result<void> {
            if (const auto value = check(text); !value) return tl::unexpected(value.error());
            field(config) = text;
            return {};
          },
          [field](Config config) { return field(config); }};
}

/// Where nothing, too, has a meaning. Errors: those of `check`.
template <auto check>
Result<void> if_any(std::string_view text) {
  if (!text.empty()) TRACEWEIR_TRY_VOID(check(text));
  return {};
}

template <typename Field>
ConfigKey count_key(std::string_view name, std::string_view help, std::uint64_t least, Field field,
                    std::uint64_t most = 1'000'000'000) {
  return {name, help,
          [=](Config& config, std::string_view text) -> Result<void> {
            TRACEWEIR_TRY(value, parse_count(text, least, most));
            field(config) = static_cast<std::remove_reference_t<decltype(field(config))>>(value);
            return {};
          },
          [field](Config config) { return fmt::format("{}", field(config)); }};
}

/// Whether nothing at all is a sensible value of a size or a time.
enum class Zero { allowed, refused };

template <typename Field>
ConfigKey bytes_key(std::string_view name, std::string_view help, Field field, Zero zero = Zero::allowed) {
  return {name, help,
          [=](Config& config, std::string_view text) -> Result<void> {
            TRACEWEIR_TRY(value, parse_bytes(text));
            if (value == 0 && zero == Zero::refused) return fail(ErrorCode::bad_config, "at least 1 B was expected");
            field(config) = static_cast<std::remove_reference_t<decltype(field(config))>>(value);
            return {};
          },
          [field](Config config) { return show_bytes(static_cast<std::uint64_t>(field(config))); }};
}

template <typename Field>
ConfigKey time_key(std::string_view name, std::string_view help, Field field, Zero zero = Zero::allowed) {
  return {name, help,
          [=](Config& config, std::string_view text) -> Result<void> {
            TRACEWEIR_TRY(value, parse_time(text));
            using Time = std::remove_reference_t<decltype(field(config))>;
            if (std::chrono::duration_cast<Time>(value) == Time::zero() && zero == Zero::refused)
              return fail(ErrorCode::bad_config,
                          fmt::format("at least {} was expected", show_time(std::chrono::milliseconds{Time{1}})));
            field(config) = std::chrono::duration_cast<Time>(value);
            return {};
          },
          [field](Config config) { return show_time(field(config)); }};
}

}  // namespace traceweir::app
