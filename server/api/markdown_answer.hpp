// For: runs and commits as Markdown, where the client asks for it (Accept: text/markdown).
// Not for: what it looks like (server/wire/run_markdown.hpp).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analyzer/core/error.hpp"
#include "server/http/request.hpp"
#include "server/http/response.hpp"
#include "server/wire/run_document.hpp"

namespace traceweir::api {

inline constexpr std::string_view markdown_type = "text/markdown";

/// The job summary of a run. Its links lead to the address by which the client reached us (Host, and X-Forwarded-Proto
/// of a proxy in front).
/// Errors: internal: the stored verdict cannot be read back.
Result<http::Response> markdown_of(const http::Request& request, const wire::RunDocument& run);

/// The same of all runs of a commit, oldest first. Errors: as above.
Result<http::Response> markdown_of_commit(const http::Request& request, const std::string& sha,
                                          const std::vector<wire::RunDocument>& runs);

}  // namespace traceweir::api
