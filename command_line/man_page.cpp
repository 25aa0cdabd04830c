#include "command_line/man_page.hpp"

#include <fmt/format.h>

#include <cctype>
#include <filesystem>
#include <fstream>
#include <utility>

namespace traceweir::command_line {
namespace {

constexpr std::pair<char, std::string_view> special[] = {{'\\', "\\e"},  {'-', "\\-"},   {'\'', "\\(aq"},
                                                         {'`', "\\(ga"}, {'~', "\\(ti"}, {'^', "\\(ha"}};

/// Text that roff shows as it stands.
std::string plain(std::string_view text) {
  std::string out;
  for (const char c : text) {
    std::string_view written(&c, 1);
    for (const auto& [character, name] : special)
      if (character == c) written = name;
    out += written;
  }
  return out.starts_with('.') ? "\\&" + out : out;
}

std::string upper(std::string text) {
  for (char& c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return text;
}

std::string page_name(const Shape& command) {
  std::string name = command.path;
  for (char& c : name) c = c == ' ' ? '-' : c;
  return name;
}

std::string value_text(const Argument& argument) {
  if (argument.choices.empty()) return argument.value;
  return fmt::format("{}", fmt::join(argument.choices, "|"));
}

void add_argument(std::string& page, const Argument& argument) {
  page += ".TP\n";
  if (argument.value == argument.name)
    page += fmt::format("\\fI{}\\fR{}\n", plain(argument.name), argument.repeats ? " ..." : "");
  else
    page += fmt::format(
        "{}\\fB{}\\fR{}\n", argument.letter.empty() ? "" : fmt::format("\\fB{}\\fR, ", plain(argument.letter)),
        plain(argument.name), argument.value.empty() ? "" : fmt::format(" \\fI{}\\fR", plain(value_text(argument))));
  page += plain(argument.about);
  if (argument.required) page += " (required)";
  if (!argument.standard.empty()) page += fmt::format("; {} where it is left out", plain(argument.standard));
  page += ".\n";
  if (!argument.variable.empty()) page += fmt::format("Variable: \\fB{}\\fR.\n", plain(argument.variable));
}

void add_arguments(std::string& page, const Shape& command) {
  for (const Argument& argument : command.positionals) add_argument(page, argument);
  const std::vector<Argument>& options = command.options;
  std::string group = options.empty() ? "" : options.front().group;
  for (const Argument& option : options) {
    if (option.group != group) page += fmt::format(".SS {}\n", plain(group = option.group));
    add_argument(page, option);
  }
}

std::string synopsis(const Shape& command) {
  std::string line = fmt::format("\\fB{}\\fR", plain(command.path));
  for (const Argument& option : command.options)
    if (option.required) line += fmt::format(" \\fB{}\\fR \\fI{}\\fR", plain(option.name), plain(value_text(option)));
  line += " [\\fIOPTIONS\\fR]";
  for (const Argument& argument : command.positionals) {
    const std::string word = fmt::format("\\fI{}\\fR{}", plain(argument.name), argument.repeats ? "..." : "");
    line += argument.required ? " " + word : fmt::format(" [{}]", word);
  }
  if (!command.commands.empty()) line += " \\fICOMMAND\\fR";
  return line + "\n";
}

constexpr std::string_view exit_codes = "Exit codes: ";

bool is_example_heading(std::string_view line) { return line == "Example:" || line == "Examples:"; }

/// One line of the text below the options that is no example.
std::string text_line(const std::string& line, std::string_view heading) {
  if (line.empty()) return ".PP\n";
  if (is_example_heading(line)) return fmt::format("{} EXAMPLES\n", heading);
  if (!line.starts_with(exit_codes)) return plain(line) + "\n";
  return fmt::format("{} EXIT STATUS\n{}\n", heading, plain(line.substr(exit_codes.size())));
}

/// The text below the options: indented lines are examples, shown as they stand. `heading`: `.SH` or `.SS`.
void add_notes(std::string& page, const std::string& notes, std::string_view heading) {
  bool in_example = false;
  const auto change = [&](bool next) {
    if (next != in_example) page += next ? ".EX\n" : ".EE\n";
    in_example = next;
  };
  if (!notes.empty() && !notes.starts_with("Example")) page += fmt::format("{} NOTES\n", heading);
  for (std::size_t at = 0; at < notes.size();) {
    const std::size_t end = std::min(notes.find('\n', at), notes.size());
    const std::string line = notes.substr(at, end - at);
    at = end + 1;
    change(line.starts_with("  "));
    page += in_example ? plain(line) + "\n" : text_line(line, heading);
  }
  change(false);
}

void add_command(std::string& page, const Shape& command) {
  page += fmt::format(".SH COMMAND {}\n{}{}.\n", plain(upper(command.path)), synopsis(command) + ".PP\n",
                      plain(command.about));
  add_arguments(page, command);
  add_notes(page, command.notes, ".SS");
  for (const Shape& sub : command.commands) add_command(page, sub);
}

void add_commands(std::string& page, const Shape& root, const Manual& manual) {
  page += ".SH COMMANDS\n";
  for (const Shape& command : root.commands)
    page += fmt::format(".TP\n\\fB{}\\fR({})\n{}.\n", plain(page_name(command)), manual.section, plain(command.about));
}

std::string head(const Shape& command, const Manual& manual) {
  const std::string name = page_name(command);
  return fmt::format(".TH {} {} \"\" \"{} {}\" \"Traceweir\"\n.SH NAME\n{} \\- {}\n.SH SYNOPSIS\n{}.SH OPTIONS\n",
                     plain(upper(name)), manual.section, plain(manual.program), plain(manual.version), plain(name),
                     plain(command.about), synopsis(command));
}

ManPage program_page(const Shape& root, const Manual& manual) {
  std::string page = head(root, manual);
  add_arguments(page, root);
  add_commands(page, root, manual);
  add_notes(page, root.notes, ".SH");
  return {fmt::format("{}.{}", root.name, manual.section), page};
}

ManPage command_page(const Shape& command, const Manual& manual) {
  std::string page = head(command, manual);
  add_arguments(page, command);
  add_notes(page, command.notes, ".SH");
  for (const Shape& sub : command.commands) add_command(page, sub);
  page += fmt::format(".SH SEE ALSO\n\\fB{}\\fR({})\n", plain(manual.program), manual.section);
  return {fmt::format("{}.{}", page_name(command), manual.section), page};
}

}  // namespace

std::vector<ManPage> man_pages(const Shape& root, const Manual& manual) {
  std::vector<ManPage> pages{program_page(root, manual)};
  for (const Shape& command : root.commands) pages.push_back(command_page(command, manual));
  return pages;
}

Result<void> write_man_pages(const Shape& root, const Manual& manual, const std::string& folder) {
  std::error_code none;
  std::filesystem::create_directories(folder, none);
  for (const ManPage& page : man_pages(root, manual)) {
    const std::filesystem::path path = std::filesystem::path(folder) / page.name;
    std::ofstream out(path, std::ios::binary);
    out << page.text;
    out.close();
    if (!out) return fail(ErrorCode::io_failed, path.string() + ": cannot be written");
  }
  return {};
}

}  // namespace traceweir::command_line
