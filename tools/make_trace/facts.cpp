#include "tools/make_trace/facts.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <unordered_set>
#include <vector>

namespace traceweir::make_trace {
namespace {

constexpr int window_steps_min = 3;
constexpr Ns never = std::numeric_limits<Ns>::max();

/// Source: docs/metrics.md, window: whole periods between the first work of the first and of the last kept step.
void find_window(const Rank& rank, Facts& facts) {
  std::map<int, Ns> first_work;
  Ns begin = never;
  Ns end = 0;
  for (const Work& work : rank.work) {
    const auto [at, fresh] = first_work.try_emplace(work.step, work.begin);
    if (!fresh) at->second = std::min(at->second, work.begin);
    begin = std::min(begin, work.begin);
    end = std::max(end, work.end);
  }
  const int steps = static_cast<int>(first_work.size());
  const int skipped = steps > window_steps_min ? 1 : 0;
  facts.window_kind = "span";
  if (steps - skipped >= window_steps_min) {
    begin = first_work.at(skipped);
    end = first_work.at(steps - 1);
    facts.steps = steps - 1 - skipped;
    facts.window_kind = "steps";
  }
  facts.window_begin = begin;
  facts.window = end - begin;
}

/// Walks over every moment at which something begins or ends, and counts what is running in between.
void sweep(const Rank& rank, Facts& facts) {
  struct Edge {
    Ns at;
    int change;
    WorkKind kind;
  };
  const Ns begin = facts.window_begin;
  const Ns end = begin + facts.window;
  std::vector<Edge> edges{{begin, 0, {}}, {end, 0, {}}};
  for (const Work& work : rank.work) {
    edges.push_back({std::clamp(work.begin, begin, end), 1, work.kind});
    edges.push_back({std::clamp(work.end, begin, end), -1, work.kind});
  }
  std::sort(edges.begin(), edges.end(), [](const Edge& a, const Edge& b) { return a.at < b.at; });

  std::map<WorkKind, int> running;
  Ns before = begin;
  for (const Edge& edge : edges) {
    const Ns passed = edge.at - before;
    before = edge.at;
    const bool compute = running[WorkKind::compute] > 0;
    const bool comm = running[WorkKind::allreduce] > 0;
    const bool h2d = running[WorkKind::copy_h2d] > 0;
    const bool memory = h2d || running[WorkKind::copy_d2h] > 0;
    facts.compute += compute ? passed : 0;
    facts.comm += comm ? passed : 0;
    facts.memory += memory ? passed : 0;
    facts.h2d += h2d ? passed : 0;
    facts.comm_overlap += comm && compute ? passed : 0;
    facts.exposed_comm += comm && !compute ? passed : 0;
    facts.exposed_memory += memory && !comm && !compute ? passed : 0;
    facts.idle += memory || comm || compute ? 0 : passed;
    running[edge.kind] += edge.change;
  }
}

void count_work(const Work& work, Facts& facts) {
  const bool pageable = work.host_memory == HostMemory::pageable;
  switch (work.kind) {
    case WorkKind::compute:
      ++facts.kernels;
      break;
    case WorkKind::allreduce:
      ++facts.kernels;
      ++facts.allreduces;
      facts.allreduce_total += work.end - work.begin;
      facts.allreduce_max = std::max(facts.allreduce_max, work.end - work.begin);
      break;
    case WorkKind::copy_h2d:
      ++facts.h2d_copies;
      facts.h2d_bytes += work.bytes;
      facts.pageable_bytes += pageable ? work.bytes : 0;
      break;
    case WorkKind::copy_d2h:
      facts.d2h_bytes += work.bytes;
      facts.pageable_bytes += pageable ? work.bytes : 0;
      break;
  }
}

void count(const Rank& rank, Facts& facts) {
  const Ns begin = facts.window_begin;
  const Ns end = begin + facts.window;
  for (const Work& work : rank.work)
    if (begin <= work.begin && work.begin < end) count_work(work, facts);
  for (const Call& call : rank.calls) {
    if (!call.blocking) continue;
    if (begin <= call.begin && call.begin < end) ++facts.syncs;
    facts.sync += std::max<Ns>(0, std::min(call.end, end) - std::max(call.begin, begin));
  }
}

nlohmann::ordered_json json_of(const Facts& facts) {
  return {{"rank", facts.rank},
          {"device", facts.device},
          {"window_kind", facts.window_kind},
          {"window_ns", facts.window},
          {"steps", facts.steps},
          {"compute_ns", facts.compute},
          {"comm_ns", facts.comm},
          {"memory_ns", facts.memory},
          {"exposed_comm_ns", facts.exposed_comm},
          {"exposed_memory_ns", facts.exposed_memory},
          {"idle_ns", facts.idle},
          {"comm_overlap_ns", facts.comm_overlap},
          {"h2d_ns", facts.h2d},
          {"sync_ns", facts.sync},
          {"kernels", facts.kernels},
          {"allreduces", facts.allreduces},
          {"allreduce_total_ns", facts.allreduce_total},
          {"allreduce_max_ns", facts.allreduce_max},
          {"h2d_copies", facts.h2d_copies},
          {"h2d_bytes", facts.h2d_bytes},
          {"d2h_bytes", facts.d2h_bytes},
          {"pageable_bytes", facts.pageable_bytes},
          {"syncs", facts.syncs}};
}

/// How much was written, whether in the window or not. `needed_calls`: those that put work on the GPU or wait for it.
nlohmann::ordered_json rows_of(const Rank& rank) {
  std::unordered_set<std::int64_t> launching;
  for (const Work& work : rank.work) launching.insert(work.correlation);
  const auto needed = std::count_if(rank.calls.begin(), rank.calls.end(), [&](const Call& call) {
    return call.blocking || launching.count(call.correlation) != 0;
  });
  return {{"gpu_work", rank.work.size()},
          {"calls", rank.calls.size()},
          {"needed_calls", needed},
          {"ranges", rank.ranges.size()}};
}

}  // namespace

Facts facts_of(const Rank& rank) {
  Facts facts;
  facts.rank = rank.rank;
  facts.device = rank.device;
  if (rank.work.empty()) return facts;
  find_window(rank, facts);
  sweep(rank, facts);
  count(rank, facts);
  return facts;
}

std::string facts_json(const Trace& trace, const std::string& file) {
  nlohmann::ordered_json ranks = nlohmann::ordered_json::array();
  for (const Rank& rank : trace.ranks) {
    ranks.push_back(json_of(facts_of(rank)));
    ranks.back()["rows"] = rows_of(rank);
  }
  const nlohmann::ordered_json line{{"file", file}, {"world_size", trace.job.ranks}, {"ranks", ranks}};
  return line.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace traceweir::make_trace
