// For: the Postgres kind of the contract suite: a cluster per test program, a database per test.
// Not for: the suite itself (store_under_test.hpp).
#pragma once

#include <memory>

#include "tests/contract/store_under_test.hpp"

namespace traceweir::contract {

std::unique_ptr<StoreUnderTest> make_postgres_under_test();

}  // namespace traceweir::contract
