// For: `backup`, `restore` and `copy-store`: what an operator does with a whole store.
// Not for: how it is done (server/backup, server/store/copy_tables.hpp), other commands (commands.hpp).
#pragma once

#include <functional>

#include "analyzer/core/error.hpp"
#include "server/app/config.hpp"

namespace CLI {
class App;
}

namespace traceweir::app {

/// A command that was given, with its own arguments already in it.
using StoreCommand = std::function<Result<void>(const ConfigSource&)>;

/// Declares the three; `on_given` is called when one of them is parsed.
void add_backup_commands(CLI::App& app, const std::function<void(const StoreCommand&)>& on_given);

}  // namespace traceweir::app
