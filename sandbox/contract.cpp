#include "sandbox/contract.hpp"

#include <fmt/format.h>

#include <charconv>

namespace traceweir::sandbox {
namespace {

constexpr std::string_view before = "sandbox seccomp=";
constexpr std::string_view between = " landlock=";

/// Takes a number off the front of `text`.
std::optional<int> take_number(std::string_view& text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || number < 0) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

bool take(std::string_view& text, std::string_view word) {
  if (!text.starts_with(word)) return false;
  text.remove_prefix(word.size());
  return true;
}

}  // namespace

std::string describe(const Parts& parts) {
  std::string out = parts.seccomp ? "seccomp" : "";
  if (parts.landlock_abi > 0) out += fmt::format("{}landlock abi {}", out.empty() ? "" : ", ", parts.landlock_abi);
  return out.empty() ? "nothing" : out;
}

std::string input_name(int i) { return i == 0 ? "-" : "-" + std::to_string(i); }

std::string to_line(const Parts& parts) {
  return fmt::format("{}{}{}{}\n", before, parts.seccomp ? 1 : 0, between, parts.landlock_abi);
}

std::optional<Parts> parts_of(std::string_view line) {
  if (!take(line, before)) return std::nullopt;
  const auto seccomp = take_number(line);
  if (!seccomp || *seccomp > 1 || !take(line, between)) return std::nullopt;
  const auto landlock = take_number(line);
  if (!landlock || line != "\n") return std::nullopt;
  return Parts{*seccomp == 1, *landlock};
}

}  // namespace traceweir::sandbox
