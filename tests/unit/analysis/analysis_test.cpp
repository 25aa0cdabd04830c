#include "server/analysis/analysis.hpp"

#include <doctest/doctest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <future>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

using namespace traceweir;
using namespace traceweir::analysis;
using namespace std::chrono_literals;
namespace fs = std::filesystem;

namespace {

/// A folder with a shell script that stands in for `traceweir`.
struct StandIn {
  explicit StandIn(std::string_view script) {
    std::string name = (fs::temp_directory_path() / "traceweir_child_XXXXXX").string();
    REQUIRE(::mkdtemp(name.data()) != nullptr);
    folder = name;
    program = folder / "stand_in";
    std::ofstream(program) << "#!/bin/sh\n" << script << "\n";
    fs::permissions(program, fs::perms::owner_all);
    trace = folder / "trace file.json";
    std::ofstream(trace) << "{}";
  }
  StandIn(const StandIn&) = delete;
  StandIn& operator=(const StandIn&) = delete;
  ~StandIn() { fs::remove_all(folder); }

  [[nodiscard]] Result<report::Report> run(const AnalysisLimits& limits, const AnalysisOptions& options = {},
                                           InputFile file = {}) const {
    file.path = trace;
    return Analysis(program, limits).report_of(std::span(&file, 1), options);
  }
  [[nodiscard]] std::vector<InputFile> files() const { return {{trace, "", ""}}; }

  fs::path folder;
  fs::path program;
  fs::path trace;
};

AnalysisLimits quick() {
  AnalysisLimits limits;
  limits.analysis_time_max = 20s;
  limits.analysis_memory_max = 0;
  return limits;
}

std::string report_text(const std::string& trace_name) {
  report::Report report;
  report.analyzer_version = "0.1.0";
  report.classifier = 1;
  report::RankReport rank;
  rank.trace.format = "kineto_json";
  rank.trace.compression = "none";
  rank.trace.name = trace_name;
  rank.environment.graph_mode = "none";
  report.ranks.push_back(rank);
  return report::to_json(report);
}

std::string says(std::string_view text, int exit_code) {
  return "cat <<'END'\n" + std::string(text) + "\nEND\nexit " + std::to_string(exit_code);
}

}  // namespace

TEST_CASE("analysis: a report comes back with the client's name and our hash") {
  const StandIn child(says(report_text("-"), 0));  // the child does not know a name
  const std::string hash(64, 'a');
  const auto report = child.run(quick(), {}, {{}, "../dir/run\n1.json", hash});
  CAPTURE(report ? std::string() : report.error().message);
  REQUIRE(report);
  REQUIRE(report->ranks.size() == 1);
  CHECK(report->ranks[0].trace.format == "kineto_json");
  CHECK(report->ranks[0].trace.name == "run\\x0a1.json");
  CHECK(report->ranks[0].trace.sha256 == hash);
}

// Why: a report that was made at the edge names the trace that it was made from; its own bytes are no trace.
TEST_CASE("analysis: a report made elsewhere keeps the names of its traces") {
  const StandIn child(says(report_text("rank0.json"), 0));
  const auto report = child.run(quick(), {}, {{}, "report.json", std::string(64, 'a')});
  REQUIRE(report);
  CHECK(report->ranks[0].trace.name == "rank0.json");
  CHECK(report->ranks[0].trace.sha256.empty());
}

// Why: the ranks of a run are one analysis; what it says of a file must reach the client in the client's own words.
TEST_CASE("analysis: several files are told apart by their place and come back under their names") {
  const StandIn child(
      "[ \"$7 $8 $9\" = '- - ' ] || exit 7; [ \"$(cat)\" = zero ] || exit 8; "
      "[ \"$(cat <&5)\" = one ] || exit 9; " +
      says(report_text("-1"), 0));
  const std::vector<InputFile> files = {{child.folder / "a", "rank0.json", std::string(64, '0')},
                                        {child.folder / "b", "rank1.json", std::string(64, '1')}};
  std::ofstream(files[0].path) << "zero";
  std::ofstream(files[1].path) << "one";
  const auto report = Analysis(child.program, quick()).report_of(files, {});
  CAPTURE(report ? std::string() : report.error().message);
  REQUIRE(report);
  CHECK(report->ranks[0].trace.name == "rank1.json");
  CHECK(report->ranks[0].trace.sha256 == files[1].sha256);

  const StandIn refusing(says(R"({"error":{"code":"malformed_trace","message":"-1: byte 7"}})", 3));
  const auto refused = Analysis(refusing.program, quick()).report_of(files, {});
  REQUIRE_FALSE(refused);
  CHECK(refused.error().message == "rank1.json: byte 7");
}

// Why: a value of a query must arrive as a value, whatever it looks like, and never pass through a shell.
TEST_CASE("analysis: the arguments arrive as they are") {
  const StandIn child("for word in \"$@\"; do printf '[%s]' \"$word\" >&2; done; exit 9");
  AnalysisOptions options;
  options.window = "--version";
  options.steps = "$(reboot)*; `id`";
  options.skip_steps = -2;
  const auto failed = child.run(quick(), options);
  REQUIRE_FALSE(failed);
  CHECK(failed.error().message.find(
            "[analyze][--json][--child][--window=--version][--steps=$(reboot)*; `id`][--skip=-2]"
            "[--inflated-bytes-max=17179869184][--inflate-ratio-max=200][--][-]") != std::string::npos);
  CHECK(failed.error().message.find(child.folder.string()) == std::string::npos);  // no path of ours
  options.steps = std::string("a\0b", 3);
  CHECK(child.run(quick(), options).error().code == ErrorCode::bad_query);
}

// Why: no secret of the service may be within reach of a file's code, and nothing of it may outlive the call.
TEST_CASE("analysis: what the child can see") {
  ::setenv("TRACEWEIR_TEST_SECRET", "hunter2", 1);
  const StandIn child(
      "printf 'cwd=%s secret=%s stdin=%s core=%s files=%s nnp=%s fds=%s session=%s' \"$(pwd)\" "
      "\"$TRACEWEIR_TEST_SECRET\" \"$(cat)\" \"$(ulimit -c)\" \"$(ulimit -n)\" "
      "\"$(sed -n 's/NoNewPrivs:[^0-9]*//p' /proc/self/status)\" \"$(ls /proc/$$/fd | tr '\\n' ' ')\" "
      "\"$(cut -d' ' -f6 /proc/$$/stat | sed s/$$/own/)\" >&2\n"
      "exit 9");
  const std::string message = child.run(quick()).error().message;
  CAPTURE(message);
  const auto holds = [&](std::string_view part) { return message.find(part) != std::string::npos; };
  CHECK(holds("cwd=/ secret= stdin={} core=0 files=64 nnp=1 "));
  CHECK(holds("fds=0 1 10 2 3 4  session=own"));  // 10: the shell's script; 4: the pipe that this list comes through
  ::unsetenv("TRACEWEIR_TEST_SECRET");
}

TEST_CASE("analysis: how a child can end") {
  struct Row {
    const char* name;
    std::string script;
    ErrorCode code;
    std::string_view message;
  };
  const auto refusal = [](std::string_view code) {
    return says(R"({"error":{"code":")" + std::string(code) + R"(","message":"row 7: no ts"}})", 3);
  };
  const Row rows[] = {
      {"our disk is full", refusal("disk_full"), ErrorCode::disk_full, "row 7: no ts"},
      {"our disk", refusal("io_failed"), ErrorCode::io_failed, "row 7: no ts"},
      {"malformed", refusal("malformed_trace"), ErrorCode::malformed_trace, "row 7: no ts"},
      {"unknown format", refusal("unknown_format"), ErrorCode::unknown_format, "row 7: no ts"},
      {"not a trace", refusal("not_a_trace"), ErrorCode::not_a_trace, "row 7: no ts"},
      {"too large", refusal("trace_too_large"), ErrorCode::trace_too_large, "row 7: no ts"},
      {"its usage is our query", refusal("usage"), ErrorCode::bad_query, "row 7: no ts"},
      {"a word that is not its to say", refusal("unauthorized"), ErrorCode::analysis_failed, "without saying why"},
      {"a word that is none", refusal("nonsense"), ErrorCode::analysis_failed, "without saying why"},
      {"a refusal without a reason", "exit 3", ErrorCode::analysis_failed, "without saying why"},
      {"a refusal of another shape", says(R"({"error":[1]})", 3), ErrorCode::analysis_failed, "without saying why"},
      {"a refusal that is no text", "printf '{\"error\":{\"code\":1,\"message\":\"\\377\"}}'; exit 3",
       ErrorCode::analysis_failed, "without saying why"},
      {"nothing", "exit 0", ErrorCode::analysis_failed, "breaks its contract"},
      {"garbage", "head -c 1000 /dev/urandom", ErrorCode::analysis_failed, "breaks its contract"},
      {"deep garbage", "head -c 900000 /dev/zero | tr '\\0' '['", ErrorCode::analysis_failed, "breaks its contract"},
      {"a report without end", "exec cat /dev/zero", ErrorCode::analysis_failed, "bytes of report"},
      {"last words", "echo first >&2; printf 'last\\033[31m\\n' >&2; exit 7", ErrorCode::analysis_failed,
       "exit code 7; it said: last\\x1b[31m"},
      {"many last words", "head -c 5000000 /dev/zero | tr '\\0' x >&2; echo; echo end >&2; exit 7",
       ErrorCode::analysis_failed, "exit code 7"},
      {"a crash", "kill -SEGV $$", ErrorCode::analysis_failed, "crashed (SIGSEGV)"},
      {"an abort", "kill -ABRT $$", ErrorCode::analysis_failed, "crashed (SIGABRT)"},
      {"the kernel's killer", "kill -KILL $$", ErrorCode::analysis_interrupted, "want of memory"},
      {"the CPU limit's signal", "kill -XCPU $$", ErrorCode::analysis_timeout, "analysis_time_max = 20000 ms"},
      {"no memory", "echo \"terminate called: what(): std::bad_alloc\" >&2; kill -ABRT $$", ErrorCode::analysis_failed,
       "ran out of memory"},
      {"writing a file", "echo x > \"${0%/*}/written\"; exit 9", ErrorCode::analysis_failed, "SIGXFSZ"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.name);
    const StandIn child(row.script);
    const auto failed = child.run(quick());
    REQUIRE_FALSE(failed);
    CAPTURE(failed.error().message);
    CHECK(word(failed.error().code) == word(row.code));
    CHECK(failed.error().message.find(row.message) != std::string::npos);
    CHECK(failed.error().message.size() < 2000);
  }
}

TEST_CASE("analysis: time is limited, by the wall and by the processor") {
  AnalysisLimits limits = quick();
  limits.analysis_time_max = 100ms;
  for (const char* script :
       {"exec sleep 600", "while :; do :; done", "sleep 600 & sleep 600", "while :; do echo x >&2; done"}) {
    CAPTURE(script);
    const StandIn child(script);
    const auto begun = std::chrono::steady_clock::now();
    const auto failed = child.run(limits);
    REQUIRE_FALSE(failed);
    CHECK(failed.error().code == ErrorCode::analysis_timeout);
    CHECK(std::chrono::steady_clock::now() - begun < 20s);
  }
}

// Why: a process of the child's that is left behind would go on with a hostile file, without limits of ours on its
// time.
TEST_CASE("analysis: what the child started ends with it") {
  const StandIn child("sleep 600 & echo $! >&2; exit 7");
  const std::string message = child.run(quick()).error().message;
  const pid_t left = std::stoi(message.substr(message.rfind(' ') + 1));
  const auto until = std::chrono::steady_clock::now() + 20s;
  const auto is_alive = [&] {
    std::ifstream stat("/proc/" + std::to_string(left) + "/stat");
    std::string line;
    std::getline(stat, line);
    return !line.empty() && line.find(") Z ") == std::string::npos;
  };
  while (is_alive() && std::chrono::steady_clock::now() < until) std::this_thread::yield();
  CHECK_FALSE(is_alive());
}

TEST_CASE("analysis: memory is limited") {
  AnalysisLimits limits = quick();
  limits.analysis_memory_max = 256 << 20;
  const StandIn child("exec dd if=/dev/zero of=/dev/null bs=1G count=1");
  const auto failed = child.run(limits);
  REQUIRE_FALSE(failed);
  CHECK(failed.error().code == ErrorCode::analysis_failed);
  CHECK(failed.error().message.find("memory") != std::string::npos);
}

TEST_CASE("analysis: a program that is not there is ours to repair") {
  const auto failed =
      Analysis("/nonexistent/traceweir", quick()).report_of(std::vector<InputFile>{{"/dev/null", "", ""}}, {});
  REQUIRE_FALSE(failed);
  CHECK(failed.error().code == ErrorCode::io_failed);
  CHECK(failed.error().message == "the program /nonexistent/traceweir cannot be started: No such file or directory");
}

TEST_CASE("analysis: a stop ends the children that run, and lets none start") {
  const StandIn child(": > /dev/null; exec sleep 600");
  Analysis analysis(child.program, quick());
  std::vector<std::future<Result<report::Report>>> running;
  for (int i = 0; i < 4; ++i)
    running.push_back(std::async(std::launch::async, [&] { return analysis.report_of(child.files(), {}); }));
  analysis.stop();
  for (auto& one : running) {
    REQUIRE(one.wait_for(20s) == std::future_status::ready);
    const auto failed = one.get();
    REQUIRE_FALSE(failed);
    CHECK(failed.error().code == ErrorCode::queue_full);  // a client may come again: the file is not at fault
    CHECK(failed.error().message == "the service is stopping");
  }
  CHECK(analysis.report_of(child.files(), {}).error().message == "the service is stopping");
}

TEST_CASE("analysis: several children at once keep their answers apart") {
  const StandIn child(
      "printf '{\"error\":{\"code\":\"malformed_trace\",\"message\":\"%s\"}}' \"${4#--steps=}\"; exit 3");
  const Analysis analysis(child.program, quick());
  std::vector<std::future<Result<report::Report>>> running;
  for (int i = 0; i < 16; ++i) {
    running.push_back(std::async(std::launch::async, [&, i] {
      AnalysisOptions options;
      options.steps = "step " + std::to_string(i);
      return analysis.report_of(child.files(), options);
    }));
  }
  for (int i = 0; i < 16; ++i) {
    const auto failed = running[static_cast<std::size_t>(i)].get();
    REQUIRE_FALSE(failed);
    CHECK(failed.error().message == "step " + std::to_string(i));
  }
}
