#include "command_line/man_page.hpp"

#include <doctest/doctest.h>
#include <CLI/CLI.hpp>

namespace traceweir::command_line {
namespace {

struct Declared {
  std::string file, word = "fail";
  std::vector<std::string> items;
  bool json = false;
  CLI::App app{"Does things.", "tw"};
  Declared() {
    app.footer("Examples:\n  tw do a.txt");
    CLI::App* sub = app.add_subcommand("do", "does it");
    sub->add_option("FILE", file, "what is read")->required()->check(CLI::ExistingFile);
    sub->add_option("--word", word, ".begins with a dot, and 'quotes' \\ back")
        ->check(CLI::IsMember({"fail", "pass"}))
        ->envname("TW_WORD")
        ->capture_default_str();
    sub->add_option("-i,--item", items, "may stand there again")->type_name("N");
    sub->add_flag("--json", json, "as JSON");
    sub->footer("Examples:\n  tw do 'a b' --json\n\nExit codes: 0 done.");
    CLI::App* outer = app.add_subcommand("outer", "holds another");
    outer->add_option("--around", file, "of the outer one");
    outer->add_subcommand("inner", "is inside")->fallthrough();
    app.add_subcommand("hidden", "nobody sees it")->group("");
  }
};

const Argument& named(const std::vector<Argument>& arguments, std::string_view name) {
  for (const Argument& argument : arguments)
    if (argument.name == name) return argument;
  FAIL("no argument " << std::string(name));
  return arguments.front();
}

TEST_CASE("shape: what CLI11 was told is there") {
  const Declared declared;
  const Shape root = shape_of(declared.app);
  REQUIRE(root.commands.size() == 2);
  const Shape& sub = root.commands[0];
  CHECK(sub.path == "tw do");
  REQUIRE(sub.positionals.size() == 1);
  CHECK(sub.positionals[0].name == "FILE");
  CHECK(sub.positionals[0].takes_files);
  CHECK(sub.positionals[0].required);
  const Argument& word = named(sub.options, "--word");
  CHECK(word.choices == std::vector<std::string>{"fail", "pass"});
  CHECK(word.variable == "TW_WORD");
  CHECK(word.standard == "fail");
  CHECK(named(sub.options, "--item").letter == "-i");
  CHECK(named(sub.options, "--item").repeats);
  CHECK(named(sub.options, "--json").value.empty());
  CHECK(!word.repeats);
}

TEST_CASE("shape: a parent's examples are not a command's own; what falls through is") {
  const Declared declared;
  const Shape root = shape_of(declared.app);
  CHECK(root.commands[0].notes.find("tw do 'a b'") != std::string::npos);
  const Shape& inner = root.commands[1].commands.at(0);
  CHECK(inner.notes.empty());
  CHECK(inner.path == "tw outer inner");
  CHECK(named(inner.options, "--around").about == "of the outer one");
}

TEST_CASE("man: a page for the program and one for each command, nothing read as roff that is text") {
  const Declared declared;
  const std::vector<ManPage> pages = man_pages(shape_of(declared.app), {"tw", "1", "9.9"});
  REQUIRE(pages.size() == 3);
  CHECK(pages[0].name == "tw.1");
  CHECK(pages[1].name == "tw-do.1");
  const std::string& page = pages[1].text;
  CHECK(page.starts_with(".TH TW\\-DO 1 \"\" \"tw 9.9\" \"Traceweir\"\n"));
  CHECK(page.find("\n\\&.begins with a dot, and \\(aqquotes\\(aq \\e back; fail where it is left out.\n") !=
        std::string::npos);
  CHECK(page.find("Variable: \\fBTW_WORD\\fR.\n") != std::string::npos);
  CHECK(page.find("\\fBtw do\\fR [\\fIOPTIONS\\fR] \\fIFILE\\fR\n") != std::string::npos);
  CHECK(page.find(".EX\n  tw do \\(aqa b\\(aq \\-\\-json\n.EE\n") != std::string::npos);
  CHECK(pages[2].text.find(".SH COMMAND TW OUTER INNER\n") != std::string::npos);
  CHECK(pages[0].text.find("hidden") == std::string::npos);
}

}  // namespace
}  // namespace traceweir::command_line
