// compiles
// The same things as in the other snippets, done right.
#include "analyzer/core/error.hpp"
#include "analyzer/core/time.hpp"
#include "analyzer/timeline/builder.hpp"
#include "analyzer/timeline/timeline.hpp"

using namespace traceweir;

Result<int> half(int n) {
  if (n % 2 != 0) return fail(ErrorCode::usage, "n: odd");
  return n / 2;
}

Result<void> check(int n) {
  TRACEWEIR_TRY(once, half(n));
  TRACEWEIR_TRY_VOID(half(once));
  return {};
}

const std::string& name_of(const timeline::Timeline& timeline, timeline::NameId id) { return timeline.name(id); }
Nanos twice(Nanos time) { return time * 2; }
Interval span_ns(std::int64_t begin, std::int64_t end) { return {Nanos{begin}, Nanos{end}}; }
std::int64_t count_of(Nanos time) { return time.count(); }
