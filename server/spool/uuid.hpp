// For: ids that this service makes. Time and randomness come in here and not in analyzer/core.
// Not for: secrets.
#pragma once

#include <string>

namespace traceweir::spool {

/// A UUID version 7 of now: sorts by the millisecond in which it was made. Not for ordering by itself (the wall clock
/// may step back), not a secret. Shape:  36 characters, lower-case hex. Source: RFC 9562, section 5.7. Thread: any.
std::string new_uuid();

}  // namespace traceweir::spool
