// For: how changes of a series are looked for, as options, and a change as JSON. Shared by changepoints and backtest.
// Not for: finding them (gate/change_points.hpp).
#pragma once

#include "analyzer/core/error.hpp"
#include "gate/change_points.hpp"
#include "server/wire/json.hpp"

namespace CLI {
class App;
}

namespace traceweir::cli {

/// --p, --magnitude, --window, --min-side.
void add_change_point_options(CLI::App& app, gate::ChangePointOptions& options);

/// Errors: usage: a window that holds no change with so many values on each side.
Result<void> check_change_point_options(const gate::ChangePointOptions& options);

wire::Json json_of(const gate::ChangePoint& point);

}  // namespace traceweir::cli
