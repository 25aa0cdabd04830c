// For: the trace of a golden case as a file. SQL text becomes a database, since a binary file could not be reviewed.
// Not for: reading it.
#pragma once

#include <filesystem>
#include <vector>

namespace traceweir::golden {

/// The case's input as a trace, or as one per rank (`input_0.json`, `input_1.json`). A database that was built for it
/// goes when this goes.
class Input {
 public:
  /// Throws std::runtime_error where the folder has no input, or an input.* beside another, or the SQL is wrong: the
  /// case is then broken.
  explicit Input(const std::filesystem::path& folder);
  ~Input();
  Input(const Input&) = delete;
  Input& operator=(const Input&) = delete;

  [[nodiscard]] const std::vector<std::filesystem::path>& paths() const { return paths_; }

 private:
  std::vector<std::filesystem::path> paths_;
  std::filesystem::path built_;  // a folder of ours; empty: nothing was built
};

}  // namespace traceweir::golden
