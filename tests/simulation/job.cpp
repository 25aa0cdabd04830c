#include "tests/simulation/job.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numbers>
#include <string_view>

#include "tests/unit/gate/cases.hpp"

namespace traceweir::gate::simulated {
namespace {

/// Levels of the segments: the current one first.
constexpr double moved[] = {1.0, 1.1, 0.9};

double sign_of(const Kind& kind) { return kind.better == Better::lower ? 1 : -1; }

}  // namespace

const std::vector<Kind>& kinds() {
  static const std::vector<Kind> all = {
      {"times",
       {"step.time_p50", "allreduce.time_mean", "comm.exposed_per_step", "allgather.time_mean", "broadcast.time_mean"},
       Better::lower,
       50e6},
      {"rates",
       {"allreduce.busbw", "allgather.busbw", "reducescatter.busbw", "broadcast.busbw", "memcpy.h2d_bandwidth"},
       Better::higher,
       120},
      {"shares, lower",
       {"gpu.idle", "gpu.exposed_comm", "gpu.exposed_memory", "comm.share", "allreduce.share"},
       Better::lower,
       0.2},
      {"shares, higher",
       {"gpu.utilization", "gpu.compute", "comm.overlap", "memcpy.h2d_overlap", "allreduce.busbw"},
       Better::higher,
       0.6},
  };
  return all;
}

double SimulatedJob::value(Noise& noise, double shift) const {
  const double z = noise.next();
  const double scatter = shape == Shape::log_normal ? std::exp(cv * z) : 1 + cv * z;
  return kind.level * (1 + sign_of(kind) * shift) * scatter;
}

double SimulatedJob::deviations(double threshold) const {
  const double ratio = threshold / kind.level;
  return sign_of(kind) * (shape == Shape::log_normal ? std::log(ratio) / cv : (ratio - 1) / cv);
}

double SimulatedJob::worse_than(double threshold, double shift) const {
  return 0.5 * std::erfc(deviations(threshold / (1 + sign_of(kind) * shift)) / std::numbers::sqrt2);
}

Baseline baseline_of(const SimulatedJob& job, const Past& past, std::size_t metrics, Noise& noise) {
  Baseline baseline;
  for (std::size_t segment = 0; segment < past.segments; ++segment) {
    const std::size_t size = past.runs / past.segments + (segment < past.runs % past.segments ? 1 : 0);
    for (std::size_t i = 0; i < size; ++i) {
      const bool bad = past.outliers.share > 0 && noise.uniform() < past.outliers.share;
      for (std::size_t m = 0; m < metrics; ++m)
        baseline.series[job.kind.metrics[m]].push_back(
            {"r", "c", moved[segment] * job.value(noise, bad ? past.outliers.shift : 0),
             static_cast<std::int64_t>(segment)});
    }
  }
  return baseline;
}

JudgedRun run_of(const SimulatedJob& job, std::size_t metrics, Noise& noise, double shift) {
  JudgedRun run;
  for (std::size_t m = 0; m < metrics; ++m)
    run.measurements.push_back(cases::measured(job.kind.metrics[m], job.value(noise, shift)));
  return run;
}

Policy rules(const Kind& kind, std::size_t metrics, const std::string& keys) {
  std::string toml = "[baseline]\nmin_runs = 2\nruns = 100\n";
  for (std::size_t m = 0; m < metrics; ++m) toml += fmt::format("[rules.\"{}\"]\n{}\n", kind.metrics[m], keys);
  return cases::policy_of(toml);
}

int trials(int few, int many) {
  const char* form = std::getenv("TRACEWEIR_SIMULATION");
  return form != nullptr && std::string_view(form) == "full" ? many : few;
}

std::string_view name_of(Shape shape) { return shape == Shape::normal ? "normal" : "log-normal"; }

double Share::error() const {
  const double centre = mean();
  return std::sqrt(std::max(squares / count - centre * centre, 0.0) / count);
}

}  // namespace traceweir::gate::simulated
