// For: a run as the Markdown of a job summary and of the one comment of a pull request: the CLI writes it, the service
// answers it. Worst first; names are escaped, so that nothing pings, links or breaks out.
// Not for: posting it (ci-templates), JSON.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "server/wire/run_document.hpp"

namespace traceweir::wire {

/// GitHub takes 65 536 characters of a comment.
inline constexpr std::size_t markdown_bytes_max = 65'000;

/// The hidden line by which the comment of a workload is found again: `<!-- traceweir:PROJECT/WORKLOAD -->`.
std::string comment_marker(std::string_view project, std::string_view workload);

/// `address`: what the service's paths begin with, for links (`https://traceweir.example.org`); empty: there are none.
/// Shape: begins with the marker; at most markdown_bytes_max bytes: what passes is left out first, then what is least.
std::string run_markdown(const RunAnswer& run, std::string_view address);

/// All runs of a commit, oldest first: the outcome, and the newest run of each workload, the worst first.
/// Shape: as run_markdown, with the marker `<!-- traceweir:PROJECT -->`.
std::string commit_markdown(std::string_view project, std::string_view commit, std::span<const RunAnswer> runs,
                            std::string_view address);

}  // namespace traceweir::wire
