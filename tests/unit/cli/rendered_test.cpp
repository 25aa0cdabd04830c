// Documents of runs as people and CIs see them: rendered/NAME.json gives exactly NAME.txt (a terminal of 100 columns),
// NAME.md, NAME.xml and NAME.annotations. With TRACEWEIR_RENDER=write they are written anew, to be looked at and
// committed.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "analyzer/report/quantities.hpp"
#include "cli/outputs.hpp"
#include "cli/print_run.hpp"
#include "server/wire/annotations.hpp"
#include "server/wire/junit.hpp"
#include "server/wire/run_markdown.hpp"

using namespace traceweir;
namespace fs = std::filesystem;

namespace {

const fs::path folder = "tests/unit/cli/rendered";
const std::string address = "https://traceweir.example.org";

std::string text_of(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

wire::RunAnswer run_of(const std::string& name) {
  const std::string json = text_of(folder / (name + ".json"));
  auto run = wire::run_from_json(json);
  REQUIRE_MESSAGE(run.has_value(), name);
  return *run;
}

std::vector<std::string> names() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.path().extension() == ".json") names.push_back(entry.path().stem().string());
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

struct Form {
  const char* extension;
  std::string (*render)(const wire::RunAnswer& run);
};
const Form forms[] = {
    {".txt",
     [](const wire::RunAnswer& run) {
       return cli::run_table(run, {report::Paint::plain, 100, address});
     }},
    {".md", [](const wire::RunAnswer& run) { return wire::run_markdown(run, address); }},
    {".xml", [](const wire::RunAnswer& run) { return wire::junit_xml(run, address); }},
    {".annotations", [](const wire::RunAnswer& run) { return wire::github_annotations(run, address); }},
};

/// Far more rules than a page can hold.
wire::RunAnswer run_of_many() {
  wire::RunAnswer run = run_of("fail");
  std::vector<gate::RuleResult>& rules = run.verdict->verdict.rules;
  rules.assign(1000, rules.front());
  for (std::size_t i = 0; i < rules.size(); ++i)
    rules[i].metric =
        "custom.metric_" + std::to_string(i) + ".with_a_name_that_is_rather_long_for_a_table_of_a_terminal";
  return run;
}

}  // namespace

TEST_CASE("rendered: each form of each run is the one that was looked at") {
  const char* const write = std::getenv("TRACEWEIR_RENDER");
  REQUIRE(names().size() >= 10);
  for (const std::string& name : names()) {
    for (const Form& form : forms) {
      const fs::path file = folder / (name + form.extension);
      const std::string rendered = form.render(run_of(name));
      if (write != nullptr) std::ofstream(file, std::ios::binary) << rendered;
      CHECK_MESSAGE(rendered == text_of(file), file.string());
    }
  }
}

TEST_CASE("rendered: lines fit into the terminal, and what matters stays") {
  for (const std::string& name : names()) {
    for (const std::size_t width : {60U, 80U, 100U, 140U, 200U}) {
      const std::string text = cli::run_table(run_of(name), {report::Paint::plain, width, address});
      INFO(name, " ", width);
      for (const std::string& line : lines_of(text)) {
        const bool is_address = line.find("https://") != std::string::npos || line.starts_with("run ") ||
                                line.find("look again with: ") != std::string::npos;
        const bool is_one_word = line.find_first_of(' ', line.find_first_not_of(' ')) == std::string::npos;
        if (!is_address && !is_one_word) CHECK_MESSAGE(report::width_of(line) <= width, line);
      }
      CHECK(text.find('\x1b') == std::string::npos);
      CHECK(text.find(address) != std::string::npos);
    }
  }
  const std::string wide = cli::run_table(run_of("fail"), {report::Paint::plain, 0, address});
  for (const char* const part :
       {"gpu.utilization", "68.0 %", "89.1 % ± 0.4 %", "runs", "-21.1 pp", "3 pp", "worse", "next:"})
    CHECK_MESSAGE(wide.find(part) != std::string::npos, part);
}

TEST_CASE("rendered: a comment keeps to its limit, and the worst is in it") {
  const std::string text = wire::run_markdown(run_of_many(), address);
  CHECK(text.size() <= wire::markdown_bytes_max);
  CHECK(text.starts_with("<!-- traceweir:llama/ddp-8gpu -->\n"));
  CHECK(text.find("custom.metric_0.with") != std::string::npos);
  CHECK(text.find("more metrics") != std::string::npos);
  CHECK(text.find("[run 0197c0de-1111-7000-8000-00000000abcd](https://traceweir.example.org/projects/llama/runs/") !=
        std::string::npos);
  std::vector<wire::RunAnswer> runs(40, run_of_many());
  for (std::size_t i = 0; i < runs.size(); ++i) runs[i].workload = "w" + std::to_string(i);
  CHECK(wire::commit_markdown("llama", runs[0].commit, runs, address).size() <= wire::markdown_bytes_max);
}

TEST_CASE("rendered: hostile names stay text") {
  const wire::RunAnswer run = run_of("hostile");
  const std::string markdown = wire::run_markdown(run, address);
  for (const char* const part : {"@everyone", "@octocat", "#1", "<img", "<script", "<b>", "[x](", "https://e.example",
                                 "www.e", "\n## h", "\x1b", "\xE2\x80\xAE", "GH-1"})
    CHECK_MESSAGE(markdown.find(part) == std::string::npos, part);
  for (const std::string& line : lines_of(wire::github_annotations(run, address))) {
    CHECK_MESSAGE(line.starts_with("::error title="), line);
    CHECK(line.find("::set-output") > line.find("::", 2));
  }
  CHECK(lines_of(wire::github_annotations(run, address)).size() == 1);
  const std::string log =
      wire::inert_for_runner(cli::run_table(run, {report::Paint::plain, 40, address}) + "::error::z\n");
  for (const std::string& line : lines_of(log)) {
    CHECK(line.find("##[") == std::string::npos);
    CHECK(line.substr(std::min(line.find_first_not_of(" \t"), line.size())).find("::") != 0U);
  }
  const std::string outputs = cli::github_outputs({run, 1, address});
  CHECK(lines_of(outputs).size() == 5);
  CHECK(lines_of(cli::dotenv_outputs({run, 1, address})).size() == 5);
  CHECK(outputs.starts_with("outcome=fail\nexit-code=1\nrun-id=0197c0de-"));
}

TEST_CASE("rendered: a commit shows the newest run of each workload, the worst first") {
  std::vector<wire::RunAnswer> runs = {run_of("fail"), run_of("pass"), run_of("fail")};
  runs[1].workload = runs[2].workload = "b";
  runs[2].superseded = true;
  std::swap(runs[0], runs[1]);
  const std::string text = wire::commit_markdown("llama", runs[0].commit, runs, address);
  CHECK(text.starts_with("<!-- traceweir:llama -->\n"));
  CHECK(text.find("fail · llama / ddp-8gpu") < text.find("pass · llama / b"));
  CHECK(text.find("fail · llama / b") == std::string::npos);
}
