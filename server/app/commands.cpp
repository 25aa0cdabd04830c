#include "server/app/commands.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>

#include "analyzer/core/text.hpp"
#include "analyzer/core/version.hpp"
#include "command_line/commands.hpp"
#include "server/api/token_document.hpp"
#include "server/api/tokens.hpp"
#include "server/api/upload_query.hpp"
#include "server/app/access.hpp"
#include "server/app/analysts.hpp"
#include "server/app/backup_commands.hpp"
#include "server/app/blobs.hpp"
#include "server/app/config.hpp"
#include "server/app/notices.hpp"
#include "server/app/service.hpp"
#include "server/app/stopper.hpp"
#include "server/app/variables.hpp"
#include "server/app/worker.hpp"
#include "server/spool/file.hpp"
#include "server/wire/timestamp.hpp"

namespace traceweir::app {
namespace {

constexpr int exit_usage = 2;
constexpr int exit_world = 3;

/// Everything that the command line can say.
struct Arguments {
  ConfigSource source;
  std::string project, scopes = "upload,read", note, token_id, expires, overlap = "24h";
  bool json = false;
};

int say(const Error& error) {
  fmt::print(stderr, "traceweird: {}: {}\n", word(error.code), error.message);
  const bool usage =
      error.code == ErrorCode::bad_config || error.code == ErrorCode::usage || error.code == ErrorCode::not_found;
  return usage ? exit_usage : exit_world;
}

int answer(const Result<void>& done) { return done ? 0 : say(done.error()); }

Result<std::unique_ptr<store::Store>> open_beside(const Arguments& arguments) {
  say_misspelt_variables();
  TRACEWEIR_TRY(config, load_config(arguments.source));
  TRACEWEIR_TRY_VOID(spool::make_folder(config.data_dir));
  return store::open_store(config.store_url(), store::Opening::beside_service);
}

Result<void> command_serve(const Arguments& arguments) {
  block_stop_signals();  // here alone: every other command ends at Ctrl-C
  log_misspelt_variables();
  TRACEWEIR_TRY(config, load_config(arguments.source));
  return serve(config);
}

Result<void> command_worker(const Arguments& arguments) {
  log_misspelt_variables();
  TRACEWEIR_TRY(config, load_config(arguments.source));
  return work(config);
}

Result<void> make_project(store::Store& store, const std::string& name) {
  if (!api::is_name(name))
    return fail(ErrorCode::usage, "--project: expected 1 to 128 letters, digits, '.', '_' or '-'");
  TRACEWEIR_TRY(known, store.project(name));
  if (known) return {};
  store::Project project;
  project.name = name;
  project.created_at = now();
  return store.put_project(project, {project.created_at, name, "command line", "project_created", ""});
}

Result<void> command_token_create(const Arguments& arguments) {
  store::Token token;
  TRACEWEIR_TRY(scopes, api::scopes_of(arguments.scopes));
  if (arguments.project.empty() && !scopes.admin)
    return fail(ErrorCode::usage, "--project is needed for a token without the scope admin");
  if (!arguments.expires.empty()) {
    token.expires_at = wire::from_rfc3339(arguments.expires);
    if (!token.expires_at) return fail(ErrorCode::usage, "--expires: expected a date such as 2027-01-31");
    if (*token.expires_at <= now()) return fail(ErrorCode::usage, "--expires: is past: the token would never be valid");
  }
  TRACEWEIR_TRY(store, open_beside(arguments));
  if (!arguments.project.empty()) TRACEWEIR_TRY_VOID(make_project(*store, arguments.project));
  token.project = arguments.project;
  token.scopes = scopes;
  token.note = arguments.note;
  token.created_at = now();
  TRACEWEIR_TRY(text, api::issue_token(*store, token, "command line"));
  fmt::print("{}\n", text);
  return {};
}

std::string seconds_of(store::Timestamp time) {
  return wire::to_rfc3339(std::chrono::floor<std::chrono::seconds>(time));
}

std::string state_of(const store::Token& token) {
  if (token.revoked_at) return "revoked";
  if (!token.expires_at) return "live";
  return (api::is_live(token, now()) ? "expires " : "expired ") + seconds_of(*token.expires_at);
}

Result<void> command_token_list(const Arguments& arguments) {
  TRACEWEIR_TRY(store, open_beside(arguments));
  TRACEWEIR_TRY(tokens, store->tokens());
  if (arguments.json) {
    wire::Json list = wire::Json::array();
    for (const store::Token& token : tokens) list.push_back(api::token_document(token, now()));
    fmt::print("{}\n", wire::dump({{"tokens", std::move(list)}}));
    return {};
  }
  fmt::print("{:<17} {:<20} {:<18} {:<21} {:<21} {:<29} {}\n", "id", "project", "scopes", "created", "last used",
             "state", "note");
  for (const store::Token& token : tokens)
    fmt::print("{:<17} {:<20} {:<18} {:<21} {:<21} {:<29} {}\n", token.id,
               token.project.empty() ? "(all)" : token.project, api::to_text(token.scopes),
               seconds_of(token.created_at), token.last_used_at ? seconds_of(*token.last_used_at) : "never",
               state_of(token), clean_text(token.note));
  return {};
}

Result<void> command_token_revoke(const Arguments& arguments) {
  TRACEWEIR_TRY(store, open_beside(arguments));
  TRACEWEIR_TRY(token, store->token(arguments.token_id));
  const std::string project = token ? token->project : "";
  const store::AuditEntry audit{now(), project, "command line", "token_revoked", "token " + arguments.token_id};
  return store->revoke_token(arguments.token_id, audit.at, audit);
}

struct OverlapUnit {
  char letter;
  std::chrono::seconds length;
};
constexpr OverlapUnit overlap_units[] = {{'s', std::chrono::seconds{1}},
                                         {'m', std::chrono::minutes{1}},
                                         {'h', std::chrono::hours{1}},
                                         {'d', std::chrono::hours{24}}};

/// `24h`, `90m`, `7d`, `0s`. Errors: usage.
Result<std::chrono::seconds> overlap_of(const std::string& text) {
  const std::string digits = text.substr(0, text.find_first_not_of("0123456789"));
  if (!digits.empty() && digits.size() < 8 && digits.size() + 1 == text.size())
    for (const OverlapUnit& unit : overlap_units)
      if (unit.letter == text.back() && unit.length * std::stoll(digits) <= api::overlap_max)
        return unit.length * std::stoll(digits);
  return fail(ErrorCode::usage, "--overlap: expected a time of at most 90 days, such as 24h, 90m, 7d or 0s");
}

Result<void> command_token_rotate(const Arguments& arguments) {
  TRACEWEIR_TRY(overlap, overlap_of(arguments.overlap));
  TRACEWEIR_TRY(store, open_beside(arguments));
  TRACEWEIR_TRY(text, api::rotate_token(*store, arguments.token_id, {now(), overlap, "command line"}));
  fmt::print("{}\n", text);
  return {};
}

/// Columns as wide as what is in them: keys and values have no end that one could know.
void print_config(const Config& config) {
  std::size_t names = 0, values = 0;
  for (const ConfigKey& key : config_keys())
    names = std::max(names, key.name.size()), values = std::max(values, key.show(config).size());
  for (const ConfigKey& key : config_keys())
    fmt::print("{:<{}} = {:<{}} # {}\n", key.name, names, key.show(config), values, key.help);
}

Result<void> command_config_check(const Arguments& arguments) {
  say_misspelt_variables();
  TRACEWEIR_TRY(config, load_config(arguments.source));
  config.store = config.store_url();  // what is left open is shown as what it comes to
  TRACEWEIR_TRY(program, program_of(config));
  config.analysis_program = program.string();
  TRACEWEIR_TRY_VOID(webhook_of(config));
  TRACEWEIR_TRY_VOID(check_blobs(config));
  TRACEWEIR_TRY_VOID(access_of(config));
  print_config(config);
  return {};
}

Result<void> command_migrate(const Arguments& arguments) {
  TRACEWEIR_TRY(store, open_beside(arguments));
  return store->ready();
}

/// Every configuration key is also a flag: --upload-bytes-max, --listen, …
void add_config_flags(CLI::App& app, Arguments& arguments) {
  app.add_option("--config", arguments.source.file, "TOML file with the keys below")->type_name("FILE");
  for (const ConfigKey& key : config_keys()) {
    std::string flag(key.name);
    for (char& c : flag) c = c == '_' ? '-' : c;
    const auto keep = [&arguments, name = std::string(key.name)](const std::string& value) {
      arguments.source.flags[name] = value;
    };
    app.add_option_function<std::string>("--" + flag, keep, std::string(key.help))
        ->type_name("VALUE")
        ->group("Configuration");
  }
}

using Command = std::function<Result<void>(const Arguments&)>;

constexpr const char* token_create_footer = R"(Examples:
  traceweird --data-dir ./data token create --project llama
  traceweird --data-dir ./data token create --project llama --scope read --expires 2027-01-31 --note "dashboard on the wall")";

constexpr const char* config_check_footer = R"(Examples:
  traceweird --config /etc/traceweir/traceweird.toml config check
  TRACEWEIR_UPLOAD_BYTES_MAX='8 GiB' traceweird config check)";

struct ShellCommand {
  const char* name;
  const char* help;
  command_line::Task (*declare)(CLI::App& app);
};
constexpr ShellCommand shell_commands[] = {
    {"completion", "the script that lets a shell complete command lines", &command_line::declare_completion},
    {"man", "the page of man(8)",
     [](CLI::App& app) {
       return command_line::declare_man(app, {"traceweird", "8", std::string(version)});
     }},
};

/// Declares the commands; `chosen` is set to the one that was given.
void add_commands(CLI::App& app, Arguments& arguments, Command& chosen) {
  const auto command = [&chosen](CLI::App& parent, const char* name, const char* help, Command run) {
    CLI::App* sub = parent.add_subcommand(name, help);
    sub->callback([&chosen, run = std::move(run)] { chosen = run; });
    sub->fallthrough();
    return sub;
  };
  command(app, "serve", "run the service; what is done without a command", &command_serve)
      ->footer("Example:\n  traceweird --config /etc/traceweir/traceweird.toml serve");
  command(app, "worker", "only analyse, beside services on the same PostgreSQL store and blobs", &command_worker)
      ->footer("Example:\n  traceweird --config /etc/traceweir/traceweird.toml worker --analysis-workers 8");
  CLI::App* token =
      app.add_subcommand("token", "make, list, rotate and revoke tokens (works beside a running service)");
  token->require_subcommand(1)->fallthrough();
  CLI::App* create =
      command(*token, "create", "make a token; it is printed once, alone on stdout", &command_token_create);
  create->add_option("--project", arguments.project, "project; made where it is missing");
  create->add_option("--scope", arguments.scopes, "upload, read, admin; separated by commas")->capture_default_str();
  create->add_option("--expires", arguments.expires, "date or time from which it is no longer valid");
  create->add_option("--note", arguments.note, "for the list");
  create->footer(token_create_footer);
  CLI::App* list = command(*token, "list", "all tokens, without their secrets", &command_token_list);
  list->add_flag("--json", arguments.json, "as JSON, as GET /api/v1/tokens answers");
  list->footer("Example:\n  traceweird --data-dir ./data token list");
  CLI::App* rotate = command(*token, "rotate", "make a token that takes the place of another; printed once, alone",
                             &command_token_rotate);
  rotate->add_option("ID", arguments.token_id, "the old token's id, as the list shows it")->required();
  rotate->add_option("--overlap", arguments.overlap, "how long the old one is still valid: 24h, 90m, 7d, 0s")
      ->capture_default_str();
  rotate->footer("Example:\n  traceweird --data-dir ./data token rotate 0123456789abcdef --overlap 7d");
  CLI::App* revoke = command(*token, "revoke", "end a token at once", &command_token_revoke);
  revoke->add_option("ID", arguments.token_id, "the token's id, as the list shows it")->required();
  revoke->footer("Example:\n  traceweird --data-dir ./data token revoke 0123456789abcdef");
  token->footer("Examples:\n  traceweird token create --project llama\n  traceweird token list");
  CLI::App* config = app.add_subcommand("config", "the effective configuration");
  config->require_subcommand(1)->fallthrough();
  command(*config, "check", "print every key with its value, or the first mistake", &command_config_check)
      ->footer(config_check_footer);
  config->footer("Example:\n  traceweird config check");
  command(app, "migrate", "bring the store's schema up to date", &command_migrate)
      ->footer("Example:\n  traceweird --config /etc/traceweir/traceweird.toml migrate");
  add_backup_commands(app, [&chosen](const StoreCommand& given) {
    chosen = [given](const Arguments& all) { return given(all.source); };
  });
  for (const auto& [name, help, declare] : shell_commands) {
    CLI::App* sub = app.add_subcommand(name, help);
    sub->callback([&chosen, task = declare(*sub)] { chosen = [task](const Arguments&) { return task(); }; });
  }
}

constexpr const char* footer = R"(Without a command, the service runs in the foreground until SIGTERM.

Examples:
  traceweird --data-dir ./data --listen 127.0.0.1:8080
  traceweird --data-dir ./data token create --project llama --scope upload,read
  TRACEWEIR_DATA_DIR=./data traceweird config check

Precedence: flag > TRACEWEIR_* variable > file > default.)";

}  // namespace

int run_commands(int argc, char** argv) {
  CLI::App app{"Traceweir service: takes GPU traces, judges them against their history, answers over HTTP.",
               "traceweird"};
  app.footer(footer);
  app.set_version_flag("--version", fmt::format("traceweird {}", version));
  Arguments arguments;
  arguments.source.environment = [](const std::string& name) -> std::optional<std::string> {
    const char* value = std::getenv(name.c_str());
    return value == nullptr ? std::nullopt : std::optional<std::string>(value);
  };
  Command command = &command_serve;
  add_config_flags(app, arguments);
  add_commands(app, arguments, command);
  const auto no_values = [](std::string_view) { return std::vector<command_line::Candidate>{}; };
  if (command_line::answer_completion(app, argc, argv, no_values) == command_line::Asked::yes) return 0;
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : exit_usage;
  }
  return answer(command(arguments));
}

}  // namespace traceweir::app
