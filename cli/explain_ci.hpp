// For: what `gate --explain-ci` prints: everything that was found out of the CI, with where it comes from.
// Not for: finding it out (ci_environment.hpp).
#pragma once

#include <string>
#include <vector>

#include "cli/ci_environment.hpp"

namespace traceweir::cli {

/// A line per fact: name, value, source; what the service is shown (`credential`, never a secret); then the notes.
std::string ci_table(const CiEnvironment& found, const std::string& credential);

/// Shape: the object of the contract (spec of the API, section 4) and `tag`, `ci_run`, `matrix`, `credential`,
/// `sources`; what is not known is null.
std::string ci_json(const CiEnvironment& found, const std::string& credential);

/// A sentence per TRACEWEIR_* variable of this process that nobody reads: a typo must not silently keep a default.
/// `known`: the variables of the command's own options.
std::vector<std::string> unknown_variables(const std::vector<std::string>& known);

}  // namespace traceweir::cli
