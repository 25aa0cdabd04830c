// For: what a file is, told by its first inflated bytes, and how to refuse what we do not read so that its owner knows
// what to do. Not for: formats that we read, except the test that all kinds of JSON share.
#pragma once

#include <string_view>

#include "analyzer/core/error.hpp"

namespace traceweir::ingest {

/// Whether `head` begins like a JSON object or array (after white space and a byte-order mark).
bool looks_like_json(std::string_view head);

/// Whether the bytes are of a binary report of Nsight Systems (.nsys-rep, .qdrep), which only nsys itself can read.
bool is_nsys_report(std::string_view head);

/// Why a file that no reader wants is refused: unsupported_format for what we recognise, else unknown_format.
/// Shape: the message says what was found and what to upload instead.
Error refusal_of(std::string_view head);

}  // namespace traceweir::ingest
