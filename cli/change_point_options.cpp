#include "cli/change_point_options.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

namespace traceweir::cli {

void add_change_point_options(CLI::App& app, gate::ChangePointOptions& options) {
  app.add_option("--p", options.p_max, "a change must be less probable than this by noise alone")
      ->check(CLI::Range(1e-300, 1.0))
      ->type_name("P")
      ->capture_default_str();
  app.add_option("--magnitude", options.magnitude_min, "and larger than this ratio of a level")
      ->check(CLI::Range(0.0, 1e9))
      ->type_name("RATIO")
      ->capture_default_str();
  app.add_option("--window", options.window, "so many values are looked at together")
      ->check(CLI::Range(std::size_t{2}, gate::change_window_max))
      ->type_name("N")
      ->capture_default_str();
  app.add_option("--min-side", options.values_min, "so many values on each side of a change; 1 is Otava's own rule")
      ->check(CLI::Range(std::size_t{1}, gate::change_window_max))
      ->type_name("N")
      ->capture_default_str();
}

Result<void> check_change_point_options(const gate::ChangePointOptions& options) {
  if (options.window >= 2 * options.values_min) return {};
  return fail(ErrorCode::usage, fmt::format("--window {} holds no change with {} values on each side (--min-side)",
                                            options.window, options.values_min));
}

wire::Json json_of(const gate::ChangePoint& point) {
  return {{"index", point.index},
          {"before", point.before},
          {"after", point.after},
          {"p", point.p},
          {"magnitude", point.magnitude}};
}

}  // namespace traceweir::cli
