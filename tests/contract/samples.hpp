// For: runs, uploads and results with every field set, and their comparison as text.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "server/store/store.hpp"

namespace traceweir::contract {

/// `seconds` after an arbitrary instant.
store::Timestamp at(std::int64_t seconds);

store::AuditEntry audit_entry(std::string_view action);

/// A store with the project "llama".
void add_project(store::Store& store, std::string_view name = "llama");

/// A run of llama/ddp on main with no more than it needs; its commit is `sha-ID`.
store::RunHead plain_head(std::string_view id);
/// A run with every field set.
store::RunHead full_head(std::string_view id);
store::Upload upload_of(std::string_view sha256);

/// A judged baseline run with one value of `gpu.utilization`.
store::RunResult plain_result(std::string_view id, double value = 0.9);
/// A result with every field set.
store::RunResult full_result(std::string_view id);

/// Begins and finishes a run.
void add_run(store::Store& store, const store::RunHead& head, const store::RunResult& result);

/// Every field, in order, so that a difference shows where it is.
std::string text_of(const store::RunHead& head);
std::string text_of(const store::RunRecord& record);

/// The ids, joined by blanks.
std::string ids_of(const std::vector<store::RunRecord>& records);
std::string ids_of(const std::vector<store::BaselineRow>& rows);

}  // namespace traceweir::contract
