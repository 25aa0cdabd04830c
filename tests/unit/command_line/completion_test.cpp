#include "command_line/completion.hpp"

#include <doctest/doctest.h>

namespace traceweir::command_line {
namespace {

Argument flag(std::string name) {
  Argument argument;
  argument.name = std::move(name);
  argument.about = "about " + argument.name;
  return argument;
}

Argument option(std::string name, std::string value) {
  Argument argument = flag(std::move(name));
  argument.value = std::move(value);
  return argument;
}

Shape program() {
  Shape gate;
  gate.name = "gate";
  gate.options = {flag("--json"), option("--on-unreachable", "WORD"), option("--policy", "FILE"),
                  option("--env", "KEY")};
  gate.options[0].letter = "-j";
  gate.options[1].choices = {"fail", "pass"};
  gate.options[2].takes_files = true;
  gate.options[3].repeats = true;
  gate.positionals = {option("FILE", "FILE")};
  gate.positionals[0].takes_files = gate.positionals[0].repeats = true;
  Shape history;
  history.name = "history";
  history.positionals = {option("METRIC", "METRIC")};
  Shape root;
  root.name = "tw";
  root.options = {flag("--help")};
  root.commands = {gate, history};
  return root;
}

std::vector<Candidate> values(std::string_view kind) {
  if (kind != "METRIC") return {};
  return {{"gpu.idle", "idle"}, {"gpu.utilization", "busy"}, {"step.time_p50", "median"}};
}

std::string at(std::vector<std::string> words) {
  const Candidates found = candidates(program(), words, &values);
  std::string text;
  for (const Candidate& candidate : found.words) text += candidate.word + " ";
  return text + (found.files ? "files" : "");
}

TEST_CASE("completion: what may stand at the cursor") {
  CHECK(at({}) == "gate history ");
  CHECK(at({""}) == "gate history ");
  CHECK(at({"h"}) == "history ");
  CHECK(at({"--"}) == "--help ");
  CHECK(at({"gate", ""}) == "files");
  CHECK(at({"gate", "--"}) == "--json --on-unreachable --policy --env ");
  CHECK(at({"gate", "--o"}) == "--on-unreachable ");
  CHECK(at({"gate", "--on-unreachable", ""}) == "fail pass ");
  CHECK(at({"gate", "--on-unreachable", "p"}) == "pass ");
  CHECK(at({"gate", "--policy", ""}) == "files");
  CHECK(at({"gate", "a.json", "--on-unreachable", "pass", "b"}) == "files");
}

TEST_CASE("completion: an option is offered once, unless it may stand there again") {
  CHECK(at({"gate", "--json", "--"}) == "--on-unreachable --policy --env ");
  CHECK(at({"gate", "-j", "--"}) == "--on-unreachable --policy --env ");
  CHECK(at({"gate", "--env", "a=b", "--e"}) == "--env ");
}

TEST_CASE("completion: a positional that is there already is not offered again") {
  CHECK(at({"history", "gpu"}) == "gpu.idle gpu.utilization ");
  CHECK(at({"history", "gpu.idle", ""}) == "");
}

TEST_CASE("completion: a shell may cut at the sign of --option=value") {
  CHECK(at({"gate", "--on-unreachable", "=", "p"}) == "pass ");
  CHECK(at({"gate", "--on-unreachable", "="}) == "fail pass ");
}

TEST_CASE("completion: words that lead nowhere offer nothing wrong") {
  CHECK(at({"nothing", "--"}) == "--help ");
  CHECK(at({"gate", "--unknown", "--p"}) == "--policy ");
  CHECK(at({"history", "--policy", "x"}) == "");
}

TEST_CASE("completion: the scripts name the program and ask it") {
  for (const std::string_view shell : {"bash", "zsh", "fish"}) {
    const auto script = completion_script(shell, "traceweird");
    REQUIRE(script);
    CHECK(script->find("traceweird completion " + std::string(shell)) != std::string::npos);
    CHECK(script->find("PROGRAM") == std::string::npos);
    CHECK(script->find(completion_word) != std::string::npos);
  }
  CHECK(completion_script("tcsh", "traceweir").error().code == ErrorCode::usage);
}

TEST_CASE("completion: lines that the scripts read") {
  CHECK(to_lines({{{"a", "one"}, {"b", ""}}, true}) == "a\tone\nb\t\n:files\n");
}

}  // namespace
}  // namespace traceweir::command_line
