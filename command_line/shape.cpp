#include "command_line/shape.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <string_view>

namespace traceweir::command_line {
namespace {

constexpr std::string_view file_words[] = {"FILE", "FOLDER", "PATH", "DIR"};

/// CLI11 writes a type and what checks it as one text: `TEXT:{fail,pass}`, `INT:INT in [0 - 600]`, `TEXT:FILE`.
struct TypeText {
  std::string type, check;
};
TypeText type_of(const CLI::Option& option) {
  const std::string text = option.get_type_name();
  const std::size_t colon = text.find(':');
  if (colon == std::string::npos) return {text, ""};
  return {text.substr(0, colon), text.substr(colon + 1)};
}

std::vector<std::string> choices_in(std::string_view check) {
  std::vector<std::string> choices;
  if (!check.starts_with('{') || !check.ends_with('}')) return choices;
  for (check = check.substr(1, check.size() - 2); !check.empty();) {
    const std::size_t comma = std::min(check.find(','), check.size());
    choices.emplace_back(check.substr(0, comma));
    check.remove_prefix(std::min(comma + 1, check.size()));
  }
  return choices;
}

bool is_one_of_files(std::string_view word) {
  return std::find(std::begin(file_words), std::end(file_words), word) != std::end(file_words);
}

Argument argument_of(const CLI::Option& option) {
  const auto [type, check] = type_of(option);
  Argument argument;
  const bool positional = option.get_lnames().empty() && option.get_snames().empty();
  argument.name = positional                    ? option.get_name(true)
                  : option.get_lnames().empty() ? "-" + option.get_snames().front()
                                                : "--" + option.get_lnames().front();
  if (!option.get_snames().empty() && !option.get_lnames().empty()) argument.letter = "-" + option.get_snames().front();
  argument.about = option.get_description();
  if (positional)
    argument.value = argument.name;
  else if (option.get_items_expected_max() > 0)
    argument.value = type;
  argument.choices = choices_in(check);
  argument.variable = option.get_envname();
  argument.standard = option.get_default_str();
  argument.group = option.get_group();
  argument.required = option.get_required();
  argument.repeats = option.get_items_expected_max() > 1;
  argument.takes_files = check == "FILE" || is_one_of_files(argument.value);
  return argument;
}

enum class Kind { option, positional };

std::vector<Argument> arguments_of(const CLI::App& app, Kind kind) {
  const auto fits = [kind](const CLI::Option* option) {
    const bool positional = option->get_lnames().empty() && option->get_snames().empty();
    return !option->get_group().empty() && positional == (kind == Kind::positional);
  };
  std::vector<Argument> arguments;
  for (const CLI::Option* option : app.get_options(fits)) arguments.push_back(argument_of(*option));
  return arguments;
}

/// CLI11 hands a parent's text down to its commands; that is not their own.
std::string own_footer(const CLI::App& app) {
  for (const CLI::App* parent = app.get_parent(); parent != nullptr; parent = parent->get_parent())
    if (parent->get_footer() == app.get_footer()) return "";
  return app.get_footer();
}

Shape shape_within(const CLI::App& app, const Shape* around) {
  Shape shape;
  shape.name = app.get_name();
  shape.path = around == nullptr ? shape.name : around->path + " " + shape.name;
  shape.about = app.get_description();
  shape.notes = own_footer(app);
  shape.options = arguments_of(app, Kind::option);
  shape.positionals = arguments_of(app, Kind::positional);
  if (around != nullptr && app.get_fallthrough()) {
    for (const Argument& option : around->options) {
      const auto same = [&](const Argument& own) { return own.name == option.name; };
      if (std::none_of(shape.options.begin(), shape.options.end(), same)) shape.options.push_back(option);
    }
  }
  for (const CLI::App* sub : app.get_subcommands([](const CLI::App* one) { return !one->get_group().empty(); }))
    shape.commands.push_back(shape_within(*sub, &shape));
  return shape;
}

}  // namespace

Shape shape_of(const CLI::App& root) { return shape_within(root, nullptr); }

}  // namespace traceweir::command_line
