#include "cli/nsys_export.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <system_error>
#include <utility>
#include <vector>

#include "analyzer/core/text.hpp"
#include "analyzer/ingest/sniff.hpp"
#include "cli/child_environment.hpp"

namespace traceweir::cli {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr std::size_t said_bytes_max = 600;

std::string why(int error) { return std::generic_category().message(error); }

std::string head_of(const fs::path& file) {
  constexpr std::size_t head_bytes = 4096;
  std::ifstream in(file, std::ios::binary);
  std::string head(head_bytes, '\0');
  in.read(head.data(), static_cast<std::streamsize>(head.size()));
  head.resize(static_cast<std::size_t>(in.gcount()));
  return head;
}

bool is_program(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path, error) && ::access(path.c_str(), X_OK) == 0;
}

/// The nsys to use, or nothing. Empty parts of PATH, which mean the working directory, are not looked into.
std::optional<fs::path> program_of(const ExportOptions& options) {
  if (options.program == "off") return std::nullopt;
  if (!options.program.empty()) return fs::path(options.program);
  const char* const path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "" : path);
  for (std::string folder; std::getline(folders, folder, ':');)
    if (!folder.empty() && is_program(fs::path(folder) / "nsys")) return fs::path(folder) / "nsys";
  return std::nullopt;
}

std::string command_for_people(const fs::path& file) {
  const std::string stem = clean_text(file.stem().string(), 128);
  return fmt::format("nsys export --type sqlite --output {}.sqlite {}", stem,
                     clean_text(file.filename().string(), 128));
}

/// The reading end of a pipe on which a child says what goes wrong.
struct Pipe {
  int read = -1, write = -1;
  ~Pipe() {
    if (read >= 0) ::close(read);
    if (write >= 0) ::close(write);
  }
};

/// Starts the export as the leader of a group of its own, so that its helpers end with it.
Result<pid_t> start(const std::vector<std::string>& words, const Pipe& err) {
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&files);
  posix_spawnattr_init(&attributes);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_adddup2(&files, err.write, STDERR_FILENO);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  std::vector<char*> arguments;
  std::vector<std::string> copies = words;
  for (std::string& word : copies) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  pid_t child = 0;
  auto environment = ChildEnvironment::of_process();
  const int error =
      posix_spawn(&child, words.front().c_str(), &files, &attributes, arguments.data(), environment.pointers());
  posix_spawn_file_actions_destroy(&files);
  posix_spawnattr_destroy(&attributes);
  if (error != 0)
    return fail(ErrorCode::unsupported_format,
                fmt::format("cannot run {}: {}", clean_text(words.front(), 256), why(error)));
  return child;
}

struct Ending {
  bool timed_out = false;
  int status = 0;
  std::string said;  ///< the end of it
};

/// Reads what the child says until it ends or time is up.
Ending wait_for(pid_t child, Pipe& err, Clock::time_point until) {
  ::close(std::exchange(err.write, -1));
  Ending ending;
  std::array<char, 1024> buffer{};
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now()).count();
    pollfd waiting{err.read, POLLIN, 0};
    const int ready = left > 0 ? ::poll(&waiting, 1, static_cast<int>(std::min<long long>(left, 60'000))) : 0;
    if (ready < 0 && errno == EINTR) continue;
    if (ready == 0 && left > 0) continue;
    ending.timed_out = ready <= 0;
    if (ready <= 0) break;
    const ssize_t got = ::read(err.read, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    ending.said.append(buffer.data(), static_cast<std::size_t>(got));
    if (ending.said.size() > 4 * said_bytes_max) ending.said.erase(0, ending.said.size() - said_bytes_max);
  }
  if (ending.timed_out) ::kill(-child, SIGKILL);
  while (::waitpid(child, &ending.status, 0) < 0 && errno == EINTR) {
  }
  if (ending.said.size() > said_bytes_max) ending.said.erase(0, ending.said.size() - said_bytes_max);
  return ending;
}

Result<void> export_to(const fs::path& out, const fs::path& file, const fs::path& program,
                       const ExportOptions& options) {
  Pipe err;
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return fail(ErrorCode::io_failed, "no pipe: " + why(errno));
  err.read = ends[0];
  err.write = ends[1];
  const std::vector<std::string> words = {
      program.string(),           "export", "--type", "sqlite", "--output", out.string(), "--force-overwrite", "true",
      fs::absolute(file).string()};
  TRACEWEIR_TRY(child, start(words, err));
  const Ending ending = wait_for(child, err, Clock::now() + options.time_max);
  const std::string said = ending.said.empty() ? "" : "; it said: " + clean_text(ending.said, said_bytes_max);
  if (ending.timed_out)
    return fail(ErrorCode::analysis_timeout,
                fmt::format("nsys export took longer than {} s{}", options.time_max.count(), said));
  std::error_code error;
  const bool made = fs::is_regular_file(out, error);
  if (ending.status != 0 || !made)
    return fail(ErrorCode::malformed_trace,
                fmt::format("nsys export failed ({}){}",
                            WIFEXITED(ending.status) ? fmt::format("exit code {}", WEXITSTATUS(ending.status))
                                                     : fmt::format("signal {}", WTERMSIG(ending.status)),
                            said));
  return {};
}

Result<fs::path> own_folder() {
  std::error_code error;
  const fs::path parent = fs::canonical(fs::temp_directory_path(error), error);
  if (error) return fail(ErrorCode::io_failed, "no temporary directory: " + error.message());
  std::string name = (parent / "traceweir-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) return fail(ErrorCode::io_failed, "no temporary directory: " + why(errno));
  return fs::path(name);
}

}  // namespace

Result<ReadableFile> ReadableFile::of(const fs::path& file, const ExportOptions& options) {
  if (!ingest::is_nsys_report(head_of(file))) return ReadableFile(file, {});
  const auto program = program_of(options);
  if (!program)
    return fail(ErrorCode::unsupported_format,
                fmt::format("a binary report of Nsight Systems, and no nsys to export it (--nsys PATH); run: {}",
                            command_for_people(file)));
  TRACEWEIR_TRY(folder, own_folder());
  ReadableFile readable(folder / (file.stem().string() + ".sqlite"), folder);
  TRACEWEIR_TRY_VOID(export_to(readable.path(), file, *program, options));
  return readable;
}

ReadableFile::ReadableFile(ReadableFile&& other) noexcept
    : path_(std::move(other.path_)), folder_(std::exchange(other.folder_, {})) {}

ReadableFile::~ReadableFile() {
  std::error_code ignored;
  if (!folder_.empty()) fs::remove_all(folder_, ignored);
}

}  // namespace traceweir::cli
