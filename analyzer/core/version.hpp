// For: the versions that are stored with every result, so that a changed rule never looks like a regression.
// Not for: versions of documents or schemas.
#pragma once

namespace traceweir {

#ifndef TRACEWEIR_VERSION
#define TRACEWEIR_VERSION "0.0.0"
#endif

/// The program's version, as in CMakeLists.txt.
inline constexpr const char* version = TRACEWEIR_VERSION;

/// The version of the table of collective names (analyzer/ingest/collectives). Raised with every change of its meaning.
inline constexpr int classifier_version = 1;

}  // namespace traceweir
