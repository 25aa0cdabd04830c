#include "cli/repository_policy.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

#include "analyzer/core/text.hpp"
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

/// Where the policy may lie: the named file, else .traceweir.toml here, else at the top of the work tree.
std::vector<fs::path> places_of(const std::string& file) {
  if (!file.empty()) return {file};
  std::vector<fs::path> places = {policy_file_name};
  if (const auto top = git({"rev-parse", "--show-toplevel"})) places.push_back(fs::path(*top) / policy_file_name);
  return places;
}

/// The path of a file in its repository, as git wants it behind `COMMIT:`; nothing where it lies outside.
std::optional<std::string> path_in_repository(const fs::path& file) {
  std::error_code error;
  const auto top = git({"rev-parse", "--show-toplevel"});
  if (!top) return std::nullopt;
  const fs::path path = fs::weakly_canonical(file, error).lexically_relative(fs::weakly_canonical(*top, error));
  if (path.empty() || *path.begin() == "..") return std::nullopt;
  return path.generic_string();
}

using Places = std::vector<fs::path>;

fs::path first_here(const Places& places) {
  for (const fs::path& place : places)
    if (fs::exists(place)) return place;
  return {};
}

Result<std::optional<std::string>> text_here(const Places& places) {
  const fs::path place = first_here(places);
  if (place.empty()) return std::optional<std::string>{};
  TRACEWEIR_TRY(text, text_of(place));
  return std::optional(std::move(text));
}

/// The text in a commit. Nothing: the commit, or its file, is not there.
std::optional<std::string> text_in(const std::string& commit, const Places& places) {
  for (const fs::path& place : places)
    if (const auto path = path_in_repository(place))
      if (auto text = git_output({"show", commit + ":" + *path})) return text;
  return std::nullopt;
}

/// The file as the base of a change has it.
Result<std::optional<std::string>> text_of_base(const Places& places, const CiEnvironment& ci) {
  const std::string base = ci.text(Fact::base);
  if (!path_in_repository(places.front())) return text_here(places);
  auto text = base.empty() ? std::nullopt : text_in(base, places);
  if (text) return text;
  const bool seen = !base.empty() && git({"cat-file", "-e", base + "^{commit}"}).has_value();
  const bool is_request = ci.facts.contains(Fact::pr) || ci.is(Fact::fork);
  if (!seen && !is_request) return text_here(places);
  const fs::path here = first_here(places);
  if (!here.empty())
    fmt::print(stderr, "traceweir: {}: {}\n", clean_text(here.string()),
               seen
                   ? "the base has no such file: its rules count once they are merged; until then the service's policy "
                     "judges"
                   : "a pull request is judged by the policy of its base, and this clone does not have the merge "
                     "base: the service's own policy judges; with more of the history (fetch-depth: 0) it is the "
                     "repository's");
  return std::optional<std::string>{};
}

}  // namespace

Result<std::optional<gate::Policy>> repository_policy(const std::string& file, const CiEnvironment& ci) {
  const Places places = places_of(file);
  const bool asked = ci.source(Fact::base) == "--base" || ci.source(Fact::base) == "TRACEWEIR_BASE";
  TRACEWEIR_TRY(text, ci.is_change() || asked ? text_of_base(places, ci) : text_here(places));
  if (!text) return std::optional<gate::Policy>{};
  auto policy = gate::parse_policy(*text);
  const std::string name = file.empty() ? policy_file_name : file;
  if (!policy) return fail(policy.error().code, fmt::format("{}: {}", name, policy.error().message));
  return std::optional(*std::move(policy));
}

PolicyNames names_here(const std::string& file) {
  const auto text = text_here(places_of(file));
  if (!text || !*text) return {};
  const auto policy = gate::parse_policy(**text);
  return policy ? PolicyNames{policy->project, policy->workload} : PolicyNames{};
}

}  // namespace traceweir::cli
