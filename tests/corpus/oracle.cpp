#include "tests/corpus/oracle.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <fstream>

#include "analyzer/ingest/ingest.hpp"
#include "analyzer/metrics/named.hpp"
#include "analyzer/metrics/steps.hpp"

namespace traceweir::corpus {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

fs::path shared() {
  const char* folder = std::getenv("TRACEWEIR_SHARED");
  return folder != nullptr ? fs::path(folder) : fs::path("../shared");
}

/// Unpacked files of this program; they vanish with it.
class Unpacked {
 public:
  Unpacked() : folder_(fs::temp_directory_path() / fmt::format("traceweir-corpus-{}", ::getpid())) {
    fs::create_directories(folder_);
  }
  ~Unpacked() {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }
  Unpacked(const Unpacked&) = delete;
  Unpacked& operator=(const Unpacked&) = delete;

  [[nodiscard]] fs::path unpack(const fs::path& file) const {
    const fs::path target = folder_ / file.stem();
    const std::string command = fmt::format("zstd -q -f -d '{}' -o '{}'", file.string(), target.string());
    REQUIRE_MESSAGE(std::system(command.c_str()) == 0, command);
    return target;
  }

 private:
  fs::path folder_;
};

std::string text(const json& value) { return value.dump(); }

bool close(double got, double want) {
  return std::abs(got - want) <= 1e-9 * std::max(std::abs(got), std::abs(want)) + 1e-300;
}

std::int64_t oddity(const timeline::Timeline& timeline, FindingCode code) {
  const auto found = timeline.oddities.find(code);
  return found == timeline.oddities.end() ? 0 : found->second.count;
}

/// "8325:0" or "0": the oracle names a device by process and ordinal.
std::int64_t ordinal_of(const std::string& device) { return std::stoll(device.substr(device.find(':') + 1)); }

}  // namespace

std::optional<json> oracle() { return vectors("traceweir-oracle.json"); }

std::optional<json> vectors(const std::string& name) {
  const fs::path file = shared() / "vectors" / name;
  if (!fs::exists(file)) {
    MESSAGE("SKIPPED: no corpus: " << file.string() << " does not exist (set TRACEWEIR_SHARED to its folder)");
    return std::nullopt;
  }
  std::ifstream in(file);
  return json::parse(in);
}

const Result<std::vector<timeline::Timeline>>& timelines_of(const std::string& name) {
  static const Unpacked unpacked;
  static std::map<std::string, Result<std::vector<timeline::Timeline>>> cache;
  const auto found = cache.find(name);
  if (found != cache.end()) return found->second;
  fs::path file = shared() / "corpus" / name;
  if (file.extension() == ".zst") file = unpacked.unpack(file);
  return cache.emplace(name, ingest::read_trace(file)).first->second;
}

void Comparison::differs(const std::string& what, const std::string& got, const std::string& want) {
  ++different_;
  FAIL_CHECK(fmt::format("{} {}: got {}, want {}", where_, what, got, want));
}

void Comparison::number(const std::string& what, std::int64_t got, const json& want) {
  ++compared_;
  if (!want.is_number_integer() || want.get<std::int64_t>() != got) differs(what, std::to_string(got), text(want));
}

void Comparison::number(const std::string& what, double got, const json& want) {
  ++compared_;
  if (!want.is_number() || !close(got, want.get<double>())) differs(what, fmt::format("{}", got), text(want));
}

void Comparison::measurement(const metrics::Measurement& got, const json& want) {
  if (!got.value) {
    ++compared_;
    const std::string reason(word(*got.not_measured));
    if (!want.is_object() || want["not_measured"] != reason) differs(got.metric, reason, text(want));
  } else if (want.is_object()) {
    ++compared_;
    differs(got.metric, fmt::format("{}", as_double(*got.value)), text(want));
  } else {
    std::visit([&](auto value) { number(got.metric, value, want); }, *got.value);
  }
}

void Comparison::window(const std::optional<metrics::Window>& got, const json& want) {
  if (got.has_value() == want.is_null()) {
    ++compared_;
    return differs("window", got ? std::string(word(got->kind)) : "null", text(want));
  }
  if (!got) return;
  ++compared_;
  if (word(got->kind) != want["kind"]) differs("window.kind", std::string(word(got->kind)), text(want));
  number("window.start", got->span.begin.count(), want["start_ns"]);
  number("window.end", got->span.end.count(), want["end_ns"]);
  ++compared_;
  const json steps = got->steps ? json(*got->steps) : json();
  if (steps != want["steps"]) differs("window.steps", text(steps), text(want["steps"]));
}

void Comparison::devices(const metrics::RankView& view, const json& want) {
  ++compared_;
  if (view.devices.size() != want.size()) return differs("devices", std::to_string(view.devices.size()), text(want));
  for (const auto& [name, of_device] : want.items()) {
    const auto found = std::find_if(view.devices.begin(), view.devices.end(), [&](const metrics::DeviceView& device) {
      return device.times.device == ordinal_of(name);
    });
    if (found == view.devices.end()) return differs("device", "none", name);
    const std::string at = "device " + name + " ";
    number(at + "compute", (found->times.compute + found->times.graph).count(), of_device["compute_ns"]);
    number(at + "comm", found->comm.total().count(), of_device["comm_ns"]);
    number(at + "memory", found->memory.total().count(), of_device["memory_ns"]);
    number(at + "exposed_comm", found->times.exposed_comm.count(), of_device["exposed_comm_ns"]);
    number(at + "exposed_memory", found->times.exposed_memory.count(), of_device["exposed_memory_ns"]);
    number(at + "idle", found->times.idle.count(), of_device["idle_ns"]);
    number(at + "busy_kernel", found->running.total().count(), of_device["busy_kernel_ns"]);
  }
}

void Comparison::totals(const metrics::RankView& view, const json& want) {
  for (const auto& [name, total] : want.items()) {
    if (const auto kind = timeline::collective_of(name)) {
      const metrics::KindTally& tally = view.kinds[static_cast<std::size_t>(*kind)];
      number(name + " count", static_cast<std::int64_t>(tally.durations.size()), total["count"]);
      number(name + " sum", tally.duration.clamped(), total["sum_ns"]);
      number(name + " union", tally.united.clamped(), total["union_ns"]);
      number(name + " exposed", tally.exposed.clamped(), total["exposed_ns"]);
    }
    for (const auto direction : {timeline::Direction::h2d, timeline::Direction::d2h, timeline::Direction::d2d}) {
      if (name != word(direction)) continue;
      const metrics::CopyTally& tally = view.copies[static_cast<std::size_t>(direction)];
      number(name + " count", tally.count, total["count"]);
      number(name + " bytes", tally.bytes.clamped(), total["bytes"]);
      number(name + " union", tally.united.clamped(), total["union_ns"]);
    }
  }
}

void Comparison::checks(const timeline::Timeline& timeline, const json& want) {
  number("duplicates", oddity(timeline, FindingCode::duplicate_events), want["duplicates"]);
  number("negative_duration", oddity(timeline, FindingCode::negative_duration), want["negative_duration"]);
  number("open_ranges", oddity(timeline, FindingCode::open_range), want["open_ranges"]);
  number("zero_timestamps", oddity(timeline, FindingCode::zero_timestamps), want["zero_timestamps"]);
  std::int64_t orphans = 0;
  for (const timeline::Work& work : timeline.work) orphans += work.call == timeline::none ? 1 : 0;
  number("orphan_work", orphans, want["orphan_work"]);
}

void Comparison::rank(const metrics::RankView& view, const metrics::RankMeasures& got, const json& want) {
  window(got.window, want["window"]);
  // An nsys file states no ranks; the oracle numbers its processes where there are several.
  if (want["format"] == "kineto") {
    ++compared_;
    const json rank = view.timeline->rank ? json(*view.timeline->rank) : json();
    if (rank != want["rank"]) differs("rank", text(rank), text(want["rank"]));
  }
  ++compared_;
  if (const json periods = metrics::step_periods(view); periods != want["step_periods_ns"])
    differs("step_periods", text(periods), text(want["step_periods_ns"]));
  ++compared_;
  // The oracle lists the catalogue; it knows no metrics that a trace names.
  const auto catalogued = static_cast<std::size_t>(
      std::count_if(got.measurements.begin(), got.measurements.end(),
                    [](const metrics::Measurement& m) { return !metrics::family_member(m.metric); }));
  if (catalogued != want["metrics"].size())
    differs("count of metrics", std::to_string(catalogued), std::to_string(want["metrics"].size()));
  for (const metrics::Measurement& each : got.measurements) {
    if (metrics::family_member(each.metric)) continue;
    if (want["metrics"].contains(each.metric))
      measurement(each, want["metrics"][each.metric]);
    else
      differs(each.metric, "a metric", "none");
  }
  devices(view, want["devices"]);
  totals(view, want["totals"]);
  checks(*view.timeline, want["checks"]);
}

void Comparison::run(const std::vector<metrics::RunMeasurement>& got, const json& want) {
  for (const metrics::RunMeasurement& each : got) {
    const bool several = want["metrics"].contains(each.mean.metric);
    if (!several && !want["over_ranks"].contains(each.mean.metric)) continue;
    const json& expected = several ? want["metrics"][each.mean.metric] : want["over_ranks"][each.mean.metric];
    if (!expected.contains("mean")) {
      measurement(each.mean, expected);
      continue;
    }
    measurement(each.mean, expected["mean"]);
    if (!each.mean.value) continue;
    number(each.mean.metric + " min", each.min, expected["min"]);
    number(each.mean.metric + " max", each.max, expected["max"]);
  }
}

}  // namespace traceweir::corpus
