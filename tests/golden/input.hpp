// For: the trace of a golden case as a file. SQL text becomes a database, since a binary file could not be reviewed.
// Not for: reading it.
#pragma once

#include <filesystem>

namespace traceweir::golden {

/// The case's input as a trace. A database that was built for it goes when this goes.
class Input {
 public:
  /// Throws std::runtime_error where the folder has no single input.* or the SQL is wrong: the case is then broken.
  explicit Input(const std::filesystem::path& folder);
  ~Input();
  Input(const Input&) = delete;
  Input& operator=(const Input&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  std::filesystem::path built_;  // a folder of ours; empty: nothing was built
};

}  // namespace traceweir::golden
