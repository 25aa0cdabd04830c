#include "cli/repository_policy.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>

#include "cli/git.hpp"

namespace traceweir::cli {
namespace {

namespace fs = std::filesystem;

Result<std::string> text_of(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::string text(gate::policy_bytes_max + 1, '\0');
  if (!in) return fail(ErrorCode::io_failed, fmt::format("{}: cannot be opened", file.string()));
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(in.gcount()));
  return text;
}

fs::path default_place() {
  if (fs::exists(policy_file_name)) return policy_file_name;
  const auto top = git({"rev-parse", "--show-toplevel"});
  return top ? fs::path(*top) / policy_file_name : fs::path(policy_file_name);
}

/// The default file's text: of the base where there is one, else as it lies here. Nothing: there is none.
Result<std::optional<std::string>> default_text(const std::string& base) {
  if (!base.empty()) return git({"show", base + ":" + policy_file_name});
  const fs::path place = default_place();
  if (!fs::exists(place)) return std::optional<std::string>{};
  TRACEWEIR_TRY(text, text_of(place));
  return std::optional(std::move(text));
}

}  // namespace

Result<std::optional<gate::Policy>> repository_policy(const std::string& file, const std::string& base) {
  std::optional<std::string> text;
  if (file.empty()) {
    TRACEWEIR_TRY(found, default_text(base));
    text = std::move(found);
  } else {
    TRACEWEIR_TRY(given, text_of(file));
    text = std::move(given);
  }
  if (!text) return std::optional<gate::Policy>{};
  auto policy = gate::parse_policy(*text);
  const std::string name = file.empty() ? policy_file_name : file;
  if (!policy) return fail(policy.error().code, fmt::format("{}: {}", name, policy.error().message));
  return std::optional(*std::move(policy));
}

}  // namespace traceweir::cli
