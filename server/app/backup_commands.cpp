#include "server/app/backup_commands.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>

#include "analyzer/core/version.hpp"
#include "server/app/blobs.hpp"
#include "server/app/config_values.hpp"
#include "server/app/variables.hpp"
#include "server/backup/backup.hpp"
#include "server/spool/blob_store.hpp"
#include "server/spool/file.hpp"
#include "server/spool/uuid.hpp"
#include "server/store/copy_tables.hpp"
#include "server/store/store.hpp"
#include "server/store/url.hpp"
#include "server/wire/timestamp.hpp"

namespace traceweir::app {
namespace {

/// What the three commands can be told.
struct BackupArguments {
  std::string file, to;
  bool no_traces = false, check = false;
};

void say(const std::string& line) { fmt::print(stderr, "{}\n", line); }

std::int64_t seconds_now() {
  return std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch()).count();
}

/// What the service of this configuration keeps.
struct Kept {
  Config config;
  std::unique_ptr<spool::BlobStore> blobs;
  [[nodiscard]] backup::Place place() const { return {config.store_url(), config.data_dir, config.spool, *blobs}; }
};

Result<Kept> kept_of(const ConfigSource& source) {
  say_misspelt_variables();
  TRACEWEIR_TRY(config, load_config(source));
  TRACEWEIR_TRY_VOID(spool::make_folder(config.data_dir));
  TRACEWEIR_TRY(blobs, open_blobs(config));
  return Kept{std::move(config), std::move(blobs)};
}

std::string counted(std::int64_t count, std::string_view one) {
  return fmt::format("{} {}{}", count, one, count == 1 ? "" : "s");
}

/// The answer of the three on stdout: what was carried.
void print_result(const std::string& what, const backup::Manifest& manifest) {
  std::int64_t rows = 0;
  for (const backup::BackedUpTable& table : manifest.tables) rows += table.digest.rows;
  fmt::print("{}: {} in {}, {} ({}), taken at {}\n", what, counted(rows, "row"),
             counted(static_cast<std::int64_t>(manifest.tables.size()), "table"), counted(manifest.blobs, "trace"),
             show_bytes(manifest.blob_bytes), manifest.taken_at);
}

/// What an operator has to know of traces that are not there, or not whole.
/// Errors: hash_mismatch: some are lost or damaged.
Result<void> judge_traces(const backup::Manifest& manifest) {
  if (!manifest.missing.empty())
    say(fmt::format("{} lost when the backup was taken: kept, as the store says, and not there. The first: {}",
                    counted(std::ssize(manifest.missing), "trace"), manifest.missing.front()));
  if (manifest.damaged.empty() && manifest.missing.empty()) return {};
  if (manifest.damaged.empty())
    return fail(ErrorCode::hash_mismatch, "the backup has everything but traces that are lost");
  return fail(
      ErrorCode::hash_mismatch,
      fmt::format("{} had other bytes than their hash says when the backup was taken; everything else is in "
                  "it. The first: {}",
                  counted(static_cast<std::int64_t>(manifest.damaged.size()), "trace"), manifest.damaged.front()));
}

Result<void> command_backup(const ConfigSource& source, const BackupArguments& arguments) {
  TRACEWEIR_TRY(config, load_config(source));
  if (!std::filesystem::exists(config.data_dir))
    return fail(ErrorCode::io_failed, "data_dir = '" + config.data_dir + "': nothing is stored there");
  TRACEWEIR_TRY(kept, kept_of(source));
  const auto traces = arguments.no_traces ? backup::Traces::without : backup::Traces::with;
  TRACEWEIR_TRY(manifest,
                backup::back_up({kept.place(), arguments.file, traces, std::string(version), seconds_now()}, &say));
  print_result(arguments.file, manifest);
  return judge_traces(manifest);
}

Result<void> command_restore(const ConfigSource& source, const BackupArguments& arguments) {
  if (arguments.check) {
    TRACEWEIR_TRY(manifest, backup::verify(arguments.file, &say));
    print_result(arguments.file + " is whole", manifest);
    return judge_traces(manifest);
  }
  TRACEWEIR_TRY(kept, kept_of(source));
  TRACEWEIR_TRY(manifest, backup::restore(arguments.file, kept.place(), &say));
  TRACEWEIR_TRY(store, store::open_store(kept.config.store_url(), store::Opening::beside_service));
  TRACEWEIR_TRY(id, store->identity(spool::new_uuid()));
  TRACEWEIR_TRY_VOID(kept.blobs->set_owner(id));  // also where the backup has no traces
  print_result(store::shown_url(kept.config.store_url()), manifest);
  return judge_traces(manifest);
}

/// Tells of a table when it is done, and of a long one now and then.
class TableProgress {
 public:
  void operator()(const std::string& table, std::int64_t rows) {
    const auto now = std::chrono::steady_clock::now();
    if (now - last_ < std::chrono::seconds{2}) return;
    last_ = now;
    say(fmt::format("table {}: {} so far", table, counted(rows, "row")));
  }

 private:
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

Result<void> command_copy_store(const ConfigSource& source, const BackupArguments& arguments) {
  say_misspelt_variables();
  TRACEWEIR_TRY_VOID(store::check_url(arguments.to));
  TRACEWEIR_TRY(config, load_config(source));
  TRACEWEIR_TRY(snapshot, store::open_snapshot(config.store_url()));
  const std::string taken_at = wire::to_rfc3339(wire::Timestamp{std::chrono::seconds{seconds_now()}});
  TRACEWEIR_TRY(target, store::open_target(arguments.to, snapshot->version()));
  TRACEWEIR_TRY(digests, store::copy_tables(*snapshot, *target, TableProgress()));
  std::int64_t rows = 0;
  for (const store::TableDigest& digest : digests) {
    say(fmt::format("table {}: {}, sha256 {}", digest.table, counted(digest.rows, "row"), digest.sha256));
    rows += digest.rows;
  }
  fmt::print("{}: {} in {}, as of {}\n", store::shown_url(arguments.to), counted(rows, "row"),
             counted(static_cast<std::int64_t>(digests.size()), "table"), taken_at);
  say("what came later is not in it; traces stay in data_dir: set store to the new one and start the service");
  return {};
}

constexpr const char* backup_footer =
    R"(FILE is a tar: store/TABLE/NUMBER (rows as text), blobs/SHA256, manifest.json, manifest.sha256. It has token hashes and policies in it and is
readable for you alone. The file DATA_DIR/admin-token is not in it.

Examples:
  traceweird --config /etc/traceweir/traceweird.toml backup /backups/traceweir-$(date +%F).tar
  traceweird --data-dir ./data backup --no-traces store.tar)";

constexpr const char* restore_footer = R"(The store may be of either kind, whatever the backup was taken from.

Examples:
  traceweird restore --check /backups/traceweir-2027-01-31.tar
  traceweird --data-dir ./data restore /backups/traceweir-2027-01-31.tar
  traceweird --data-dir ./data --store postgresql://traceweir@db/traceweir restore /backups/traceweir-2027-01-31.tar)";

constexpr const char* copy_footer =
    R"(Stop the service first, or repeat the copy after it stopped: what it takes meanwhile stays behind. All or nothing: an
interrupted copy leaves the target empty. A password in the URL is seen by others of this host: put it into PGPASSWORD or
TRACEWEIR_COPY_TO.

Example:
  traceweird --data-dir ./data copy-store --to postgresql://traceweir@db/traceweir)";

}  // namespace

void add_backup_commands(CLI::App& app, const std::function<void(const StoreCommand&)>& on_given) {
  const auto arguments = std::make_shared<BackupArguments>();  // outlives this function in the options and callbacks
  using Run = Result<void> (*)(const ConfigSource&, const BackupArguments&);
  const auto command = [&](const char* name, const char* help, const char* footer, Run run) {
    CLI::App* const sub = app.add_subcommand(name, help)->fallthrough();
    sub->footer(footer);
    sub->callback([on_given, arguments, run] {
      on_given([arguments, run](const ConfigSource& source) { return run(source, *arguments); });
    });
    return sub;
  };
  CLI::App* const backup =
      command("backup", "write store and traces into one file, while the service runs", backup_footer, &command_backup);
  backup->add_option("FILE", arguments->file, "the file to be made; an existing one is left alone")->required();
  backup->add_flag("--no-traces", arguments->no_traces, "only the traces that runs still need for their result");
  CLI::App* const restore =
      command("restore", "put a backup into an empty store and data_dir", restore_footer, &command_restore);
  restore->add_option("FILE", arguments->file, "a backup")->required();
  restore->add_flag("--check", arguments->check, "compare every hash of the backup and write nothing");
  CLI::App* const copy =
      command("copy-store", "carry everything but traces into another, empty store", copy_footer, &command_copy_store);
  copy->add_option("--to", arguments->to, "sqlite:PATH or postgresql://USER@HOST/DATABASE")
      ->envname("TRACEWEIR_COPY_TO")
      ->required();
}

}  // namespace traceweir::app
