// For: whose word about commits it is, said once for both stores. Not for: what it counts for (store.hpp).
#pragma once

namespace traceweir::store {

enum class CommitWord { settled, proposed };

}  // namespace traceweir::store
