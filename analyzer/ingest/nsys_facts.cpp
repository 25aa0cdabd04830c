#include "analyzer/ingest/nsys_facts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "analyzer/core/ascii.hpp"
#include "analyzer/core/text.hpp"
#include "analyzer/ingest/nsys_schema.hpp"

namespace traceweir::ingest::nsys {
namespace {

constexpr std::size_t version_bytes_max = 60;
constexpr std::size_t losses_max = 1000;
constexpr std::int64_t severity_warning = 2, severity_error = 3;
constexpr std::int64_t machine_gpus_max = 4096;

/// A text to search in diagnostics, in lower case. Not among them: "No NVTX events collected", which asks whether the
/// job uses NVTX at all, and the missing rights to sample the CPU, which no metric of ours needs.
constexpr std::string_view loss_words[] = {
    "events might have been collected",
    "might have not been started correctly",
    "might not have been started correctly",
    "lost",
    "dropped",
    "discarded",
    "overflow",
    "not been collected",
    "not recorded",
    "not been recorded",
    "buffers were full",
    "buffer was full",
    "buffer is full",
    "buffers are full",
    "out of buffer",
};

/// Diagnostics may name files and users; a report may not.
std::string without_paths(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    const bool telling = word.find_first_of("/\\@") != std::string_view::npos;
    out += telling ? std::string_view("…") : word;
    if (end < text.size()) out += ' ';
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

std::string text_or_empty(const Cell& cell) {
  return cell.type == Cell::Type::text ? std::string(cell.text) : std::string();
}

/// Values by name of a (name, value) table, only for the names that are asked for.
Result<std::map<std::string, std::string>> values_of(SqliteFile& file, std::string_view table, std::string_view first,
                                                     std::string_view second) {
  std::map<std::string, std::string> values;
  TRACEWEIR_TRY(
      rows, TableRows::open(file, table, {"name", "value"}, fmt::format("\"name\" IN ('{}', '{}')", first, second)));
  for (;;) {
    TRACEWEIR_TRY(more, rows.next());
    if (!more) return values;
    if (rows[1].type == Cell::Type::text)
      values.emplace(rows[0].text, clean_text(rows[1].text, version_bytes_max));
    else if (rows[1].type == Cell::Type::integer)
      values.emplace(rows[0].text, fmt::format("{}", rows[1].integer));
  }
}

std::optional<int> number_of(std::string_view text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size() || number < 0) return std::nullopt;
  return number;
}

/// `12.9` for 12090, the driver API's way to write it.
std::string cuda_version(const std::string& text) {
  const auto number = number_of(text);
  if (!number || *number < 1000) return text;
  return fmt::format("{}.{}", *number / 1000, *number % 1000 / 10);
}

/// `530.30.02` for 5303002: exporters before 2023 wrote the version without its points.
std::string driver_version(const std::string& text) {
  if (!number_of(text) || text.size() < 6) return text;
  return fmt::format("{}.{}.{}", text.substr(0, 3), text.substr(3, text.size() - 5), text.substr(text.size() - 2));
}

}  // namespace

Result<Gpus> Gpus::read(SqliteFile& file) {
  Gpus gpus;
  TRACEWEIR_TRY_VOID(gpus.read_machine(file));
  TRACEWEIR_TRY_VOID(gpus.read_processes(file));
  gpus.forget_shared_uuids();
  return gpus;
}

Result<void> Gpus::read_machine(SqliteFile& file) {
  // The ordinal is cuDevice from 2021.5, deviceId before; slim exports keep the number alone.
  TRACEWEIR_TRY(rows, TableRows::open(file, "TARGET_INFO_GPU", {"id", "name", "uuid", "cuDevice", "deviceId"}));
  for (;;) {
    TRACEWEIR_TRY(more, rows.next());
    if (!more || gpus_.size() == machine_gpus_max) return {};
    const std::size_t index = gpus_.size();
    gpus_.push_back({text_or_empty(rows[1]), text_or_empty(rows[2]), {}});
    if (rows[0].type == Cell::Type::integer) gpus_.back().number = rows[0].integer;
    if (rows[0].type == Cell::Type::integer) by_id_.emplace(rows[0].integer, index);
    for (const std::size_t column : {std::size_t{3}, std::size_t{4}, std::size_t{0}}) {
      if (rows[column].type != Cell::Type::integer) continue;
      by_ordinal_.emplace(rows[column].integer, index);
      break;
    }
  }
}

Result<void> Gpus::read_processes(SqliteFile& file) {
  TRACEWEIR_TRY(rows, TableRows::open(file, "TARGET_INFO_CUDA_DEVICE", {"pid", "cudaId", "gpuId", "uuid"}));
  for (;;) {
    TRACEWEIR_TRY(more, rows.next());
    if (!more || by_process_.size() == machine_gpus_max) return {};
    const auto pid = integer_or(rows[0], 0);
    if (!pid || rows[1].type != Cell::Type::integer) continue;
    const auto machine = rows[2].type == Cell::Type::integer ? by_id_.find(rows[2].integer) : by_id_.end();
    std::size_t index = gpus_.size();
    if (machine != by_id_.end())
      index = machine->second;
    else
      gpus_.push_back({{}, text_or_empty(rows[3]), {}});
    by_process_.emplace(std::pair(*pid, rows[1].integer), index);
  }
}

void Gpus::forget_shared_uuids() {
  // Slices of one GPU may carry its uuid; they are devices of their own.
  std::map<std::string, int> uses;
  for (const Gpu& gpu : gpus_) ++uses[gpu.uuid];
  for (Gpu& gpu : gpus_)
    if (uses[gpu.uuid] > 1) gpu.uuid.clear();
}

Gpu Gpus::of(std::int64_t pid, std::int64_t ordinal) const {
  const auto own = by_process_.find({pid, ordinal});
  if (own != by_process_.end()) return gpus_[own->second];
  const auto machine = by_ordinal_.find(ordinal);
  return machine == by_ordinal_.end() ? Gpu{} : gpus_[machine->second];
}

std::int64_t Gpus::machine_number(std::int64_t pid, std::int64_t ordinal) const {
  return of(pid, ordinal).number.value_or(ordinal);
}

Result<std::string> producer_of(SqliteFile& file) {
  constexpr std::string_view product = "EXPORT_PRODUCT_VERSION";
  constexpr std::string_view schema = "EXPORT_SCHEMA_VERSION";
  for (const std::string_view table : {"META_DATA_EXPORT", "EXPORT_META_DATA"}) {
    TRACEWEIR_TRY(values, values_of(file, table, product, schema));
    const auto version = values.find(std::string(product));
    if (version == values.end()) continue;
    const auto layout = values.find(std::string(schema));
    return layout == values.end() ? fmt::format("nsys {}", version->second)
                                  : fmt::format("nsys {}, schema {}", version->second, layout->second);
  }
  return std::string("nsys before 2021.5");
}

Result<timeline::Environment> environment_of(SqliteFile& file) {
  // The same table holds the whole environment of the job: only these two rows are asked for.
  TRACEWEIR_TRY(values, values_of(file, "TARGET_INFO_SYSTEM_ENV", "NvDriverVersion", "CudaDriverVersion"));
  timeline::Environment environment;
  environment.driver = driver_version(values["NvDriverVersion"]);
  environment.cuda = cuda_version(values["CudaDriverVersion"]);
  return environment;
}

bool tells_of_loss(std::string_view diagnostic) {
  const std::string text = lower_case(diagnostic);
  return std::any_of(std::begin(loss_words), std::end(loss_words),
                     [&](std::string_view words) { return text.find(words) != std::string::npos; });
}

Result<std::vector<Loss>> losses_of(SqliteFile& file) {
  std::vector<Loss> losses;
  TRACEWEIR_TRY(rows, TableRows::open(file, "DIAGNOSTIC_EVENT", {"text", "globalPid", "severity"}));
  for (;;) {
    TRACEWEIR_TRY(more, rows.next());
    if (!more || losses.size() == losses_max) return losses;
    const std::int64_t severity = integer_or(rows[2], 0).value_or(0);
    if (severity != severity_warning && severity != severity_error) continue;
    if (rows[0].type != Cell::Type::text || !tells_of_loss(rows[0].text)) continue;
    Loss loss{std::nullopt, without_paths(rows[0].text)};
    if (rows[1].type == Cell::Type::integer && rows[1].integer != 0) loss.pid = process_of(rows[1].integer);
    losses.push_back(std::move(loss));
  }
}

}  // namespace traceweir::ingest::nsys
