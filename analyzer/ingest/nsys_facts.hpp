// For: what an export says about itself, its machine and its losses. Only what a report may show is read: no host, no
// user, no paths, no variables of the job's environment.
// Not for: rows of work and calls.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/core/error.hpp"
#include "analyzer/ingest/sqlite_file.hpp"
#include "analyzer/timeline/timeline.hpp"

namespace traceweir::ingest::nsys {

/// What is known of one GPU. Empty: unknown.
struct Gpu {
  std::string name;
  std::string uuid;
  std::optional<std::int64_t> number;  ///< the machine's own
};

/// Which GPU a process calls by which ordinal.
class Gpus {
 public:
  /// Errors: malformed_trace, io_failed.
  static Result<Gpus> read(SqliteFile& file);
  [[nodiscard]] Gpu of(std::int64_t pid, std::int64_t ordinal) const;
  /// The machine's own number of that GPU; where the file lists no GPUs, the ordinal.
  [[nodiscard]] std::int64_t machine_number(std::int64_t pid, std::int64_t ordinal) const;

 private:
  Result<void> read_machine(SqliteFile& file);
  Result<void> read_processes(SqliteFile& file);
  void forget_shared_uuids();

  std::vector<Gpu> gpus_;
  std::map<std::int64_t, std::size_t> by_id_;                                ///< the machine's own number
  std::map<std::int64_t, std::size_t> by_ordinal_;                           ///< of a process that sees all of them
  std::map<std::pair<std::int64_t, std::int64_t>, std::size_t> by_process_;  ///< (pid, ordinal)
};

/// `nsys 2024.6.2.25, schema 3.16.1`; `nsys before 2021.5` where the export does not say.
/// Errors: malformed_trace, io_failed.
Result<std::string> producer_of(SqliteFile& file);

/// Versions of the driver, and of CUDA as far as the driver goes.
/// Errors: malformed_trace, io_failed.
Result<timeline::Environment> environment_of(SqliteFile& file);

/// Something that the profiler says it did not collect.
struct Loss {
  std::optional<std::int64_t> pid;  ///< nothing: the whole capture
  std::string text;
};

/// Errors: malformed_trace, io_failed.
Result<std::vector<Loss>> losses_of(SqliteFile& file);

/// Whether a diagnostic of severity warning or error says that events were lost.
bool tells_of_loss(std::string_view diagnostic);

}  // namespace traceweir::ingest::nsys
