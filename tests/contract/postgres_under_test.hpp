// For: the Postgres kind of the contract suite: a cluster per test program, a database per test.
// Not for: the suite itself (store_under_test.hpp).
#pragma once

#include <memory>
#include <string>

#include "tests/contract/store_under_test.hpp"

namespace traceweir::contract {

std::unique_ptr<StoreUnderTest> make_postgres_under_test();

/// The URL of a new database; `options` as in CREATE DATABASE. It goes with the cluster.
std::string new_database(const std::string& options = "");

/// Runs `sql` as the superuser on the database of `url`; the first value of its answer, or nothing.
std::string ask_postgres(const std::string& url, const std::string& sql);

}  // namespace traceweir::contract
