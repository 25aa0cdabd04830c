// For: a CI environment while it is being found out: facts are offered, and the first offer stays.
// Not for: the result (ci_environment.hpp).
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/ci_environment.hpp"

namespace traceweir::cli {

class CiReading {
 public:
  explicit CiReading(const CiInputs& inputs) : inputs_(inputs) {}

  [[nodiscard]] std::string variable(const std::string& name) const { return inputs_.variables(name); }
  [[nodiscard]] std::optional<std::string> git(const std::vector<std::string>& arguments) const {
    return inputs_.git(arguments);
  }
  [[nodiscard]] bool knows(Fact fact) const { return found.facts.contains(fact); }

  /// Takes a value unless the fact is known already. One that it cannot have is noted and left out; empty: nothing.
  void offer(Fact fact, const std::string& value, const std::string& source);
  /// Offers a variable's value. Returns whether it is set.
  bool offer_variable(Fact fact, const std::string& name);
  /// The same of a flag or a TRACEWEIR_* variable. Errors: usage, naming `source`.
  Result<void> demand(const FactRow& row, const std::string& value, const std::string& source);

  /// Something to change.
  void note(std::string sentence);
  /// Something to know.
  void remark(std::string sentence) { found.remarks.push_back(std::move(sentence)); }

  [[nodiscard]] Sender sender() const { return inputs_.sender; }

  CiEnvironment found;

 private:
  const CiInputs& inputs_;
};

// What variables alone do not tell, a function per CI.
void read_github(CiReading& in);
void read_gitlab(CiReading& in);
void read_buildkite(CiReading& in);
void read_jenkins(CiReading& in);

/// What the work tree tells of the rest: commit, branch, base branch, merge base, parents. `deepen`: how a person gets
/// a whole clone in this CI.
void read_git(CiReading& in, std::string_view deepen);

/// The commit that both sides have in common, or nothing. `ref` is any name.
std::optional<std::string> merge_base(const CiReading& in, const std::string& commit, const std::string& ref);
/// The remote-tracking or local branch of that name as git knows it here; empty: none.
std::string ref_of_branch(const CiReading& in, const std::string& branch);
/// The real parents of a commit that the clone has, also where a shallow clone ends.
std::vector<std::string> real_parents(const CiReading& in, const std::string& commit);

}  // namespace traceweir::cli
