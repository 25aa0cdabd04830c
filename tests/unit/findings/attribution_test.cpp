#include "analyzer/findings/attribution.hpp"

#include <algorithm>
#include <optional>
#include <random>

#include "tests/unit/findings/ranks.hpp"

namespace traceweir::findings::test {
namespace {

using timeline::Collective;
using timeline::Direction;
using timeline::Timeline;
using timeline::WorkKind;
using timeline::WorkSource;

constexpr IdleCause all_causes[] = {IdleCause::input, IdleCause::sync, IdleCause::launch, IdleCause::dependency,
                                    IdleCause::unknown};

timeline::WorkRow copy_row(Rank& rank, Direction direction, Interval span) {
  timeline::WorkRow row{.span = span};
  row.name = rank.builder.name("Memcpy HtoD");
  row.kind = WorkKind::memory;
  row.source = WorkSource::memcpy;
  row.direction = direction;
  row.bytes = 64;
  return row;
}

// Why: the causes are the contract's, rule by rule; each row is a gap from 100 to 200 between two kernels.
TEST_CASE("idle causes: the first rule that applies to a nanosecond") {
  struct Row {
    const char* name;
    void (*fill)(Rank&);
    std::vector<std::pair<IdleCause, std::int64_t>> want;
  };
  const Row rows[] = {
      {"no launching call is unknown", [](Rank& r) { r.kernel(ns(200, 300)); }, {{IdleCause::unknown, 100}}},
      {"queued before the gap began",
       [](Rank& r) { r.kernel(ns(200, 300), ns(90, 95)); },
       {{IdleCause::dependency, 100}}},
      {"queued exactly at its begin",
       [](Rank& r) { r.kernel(ns(200, 300), ns(100, 105)); },
       {{IdleCause::dependency, 100}}},
      {"launched late: the host was busy elsewhere, then latency",
       [](Rank& r) { r.kernel(ns(200, 300), ns(180, 185)); },
       {{IdleCause::launch, 100}}},
      {"data loading on the launching thread",
       [](Rank& r) { r.range("load batch", ns(110, 150)).kernel(ns(200, 300), ns(180, 185)); },
       {{IdleCause::input, 40}, {IdleCause::launch, 60}}},
      {"data loading on another thread says nothing",
       [](Rank& r) { r.range("load batch", ns(110, 150), 2).kernel(ns(200, 300), ns(180, 185)); },
       {{IdleCause::launch, 100}}},
      {"a blocking call on the launching thread",
       [](Rank& r) { r.call("cudaDeviceSynchronize", ns(50, 160)).kernel(ns(200, 300), ns(180, 185)); },
       {{IdleCause::sync, 60}, {IdleCause::launch, 40}}},
      {"data loading goes before a blocking call inside it",
       [](Rank& r) {
         r.range("fetch", ns(100, 150)).call("cudaStreamSynchronize", ns(120, 170)).kernel(ns(200, 300), ns(180, 185));
       },
       {{IdleCause::input, 50}, {IdleCause::sync, 20}, {IdleCause::launch, 30}}},
      {"before a host-to-device copy the rest is input, until it is launched",
       [](Rank& r) {
         r.call("cudaStreamSynchronize", ns(100, 130));
         r.work(copy_row(r, Direction::h2d, ns(200, 300)), ns(180, 185), 1);
       },
       {{IdleCause::input, 50}, {IdleCause::sync, 30}, {IdleCause::launch, 20}}},
      {"before a device-to-host copy it is not",
       [](Rank& r) { r.work(copy_row(r, Direction::d2h, ns(200, 300)), ns(180, 185), 1); },
       {{IdleCause::launch, 100}}},
      {"of two that start together the one launched first counts",
       [](Rank& r) { r.kernel(ns(200, 300), ns(180, 185)).kernel(ns(200, 290), ns(60, 65)); },
       {{IdleCause::dependency, 100}}},
      {"a data loader's own range counts wherever it is",
       [](Rank& r) {
         r.range("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", ns(100, 170));
         r.kernel(ns(200, 300), ns(180, 185));
       },
       {{IdleCause::input, 70}, {IdleCause::launch, 30}}},
  };
  for (const Row& row : rows) {
    CAPTURE(row.name);
    Rank rank;
    rank.kernel(ns(0, 100), ns(-10, -5));
    row.fill(rank);
    const Timeline timeline = rank.done();
    const Attribution got = attribute(span_view(timeline));
    REQUIRE(got.idle.size() == 1);
    for (const IdleCause cause : all_causes) {
      CAPTURE(word(cause));
      std::int64_t want = 0;
      for (const auto& [wanted, length] : row.want)
        if (wanted == cause) want = length;
      CHECK(got.idle[0].causes.at(cause).count() == want);
    }
  }
}

// Why: a window that cuts a gap must not change its cause, only how much of it counts.
TEST_CASE("idle causes: the gap is the device's, the nanoseconds are the window's") {
  Rank rank;
  rank.kernel(ns(0, 100)).kernel(ns(300, 400), ns(120, 125));
  const Timeline timeline = rank.done();
  const Attribution inside = attribute(range_view(timeline, ns(150, 350)));
  // 150-300 is idle; at 150 the kernel was launched already, but not when the gap began at 100.
  CHECK(inside.idle[0].causes.at(IdleCause::launch) == Nanos{150});
  CHECK(inside.idle[0].causes.at(IdleCause::dependency) == Nanos{0});
  // After the last work nothing ends the gap, so nothing tells its cause.
  const Attribution after = attribute(range_view(timeline, ns(350, 500)));
  CHECK(after.idle[0].causes.at(IdleCause::unknown) == Nanos{100});
}

// Why: the explanation of an idle regression names the phase; only the innermost one may have a nanosecond.
TEST_CASE("phases of idle time") {
  Rank rank;
  rank.kernel(ns(0, 100)).kernel(ns(200, 300), ns(190, 195));
  SUBCASE("innermost, digits as N") {
    rank.range("outer 12", ns(100, 200)).range("inner_3.4", ns(120, 150));
    const Timeline timeline = rank.done();
    const Attribution got = attribute(span_view(timeline));
    CHECK(term(got, TermKind::idle, "inner_N.N", IdleCause::launch) == 30);
    CHECK(term(got, TermKind::idle, "outer N", IdleCause::launch) == 70);
  }
  SUBCASE("a step is no phase, nor is what encloses steps; between steps it is") {
    rank.range("epoch 1", ns(-50, 400)).range("step 1", ns(100, 140)).range("next_batch data", ns(150, 170));
    rank.range("step 2", ns(180, 220)).range("forward", ns(185, 200));
    rank.builder.step_naming = timeline::StepNaming::nvtx;
    const Timeline timeline = rank.done();
    const Attribution got = attribute(span_view(timeline));
    CHECK(term(got, TermKind::idle, "", IdleCause::launch) == 65);
    CHECK(term(got, TermKind::idle, "next_batch data", IdleCause::input) == 20);
    CHECK(term(got, TermKind::idle, "forward", IdleCause::launch) == 15);
  }
}

// Why: an instant that two spans of a class cover is counted once, for the one that started first.
TEST_CASE("breakdown: who owns an instant") {
  Rank rank;
  rank.kernel(ns(0, 100), {}, 1, "a");
  rank.work({.span = ns(50, 150), .stream = 8, .name = rank.builder.name("b")});
  const auto message =
      rank.builder.message({.bytes = 4096, .group_size = 2, .dtype = "Float", .group = "0", .sequence = 1});
  rank.work({.span = ns(140, 200),
             .stream = 20,
             .name = rank.builder.name("ncclDevKernel_AllReduce_Sum_f32_RING_LL"),
             .kind = WorkKind::comm,
             .collective = Collective::allreduce,
             .message = message});
  rank.work(copy_row(rank, Direction::h2d, ns(190, 230)));
  rank.work({.span = ns(225, 240),
             .name = rank.builder.name("Memset"),
             .kind = WorkKind::memory,
             .source = WorkSource::memset});
  rank.work({.span = ns(235, 250),
             .name = rank.builder.name("graph"),
             .kind = WorkKind::graph,
             .source = WorkSource::graph_launch});
  const Timeline timeline = rank.done();
  const Attribution got = attribute(span_view(timeline));
  CHECK(term(got, TermKind::compute, "a") == 100);
  CHECK(term(got, TermKind::compute, "b") == 50);
  CHECK(term(got, TermKind::exposed_comm) == 50);
  CHECK(term(got, TermKind::exposed_memory, "h2d") == 30);
  CHECK(term(got, TermKind::exposed_memory, "memset") == 5);
  CHECK(term(got, TermKind::graph) == 15);
  const auto comm = std::find_if(got.breakdown.begin(), got.breakdown.end(),
                                 [](const Term& t) { return t.kind == TermKind::exposed_comm; });
  REQUIRE(comm != got.breakdown.end());
  CHECK(comm->collective == Collective::allreduce);
  CHECK(comm->bytes == 4096);
}

// Why: traces may hold the ends of the clock; sums over devices must not overflow.
TEST_CASE("breakdown: times at the ends of the clock") {
  constexpr std::int64_t far = (std::int64_t{1} << 62) - 1;
  Rank rank;
  for (rank.device = 0; rank.device < 4; ++rank.device) rank.kernel(ns(-far, -far + 5)).kernel(ns(far - 5, far));
  const Timeline timeline = rank.done();
  const Attribution got = attribute(span_view(timeline));
  CHECK(got.idle.size() == 4);
  CHECK(term(got, TermKind::compute, "gemm") == 40);
}

TEST_CASE("a rank without work has nothing to attribute") {
  const Timeline timeline = Rank().done();
  const Attribution got = attribute(span_view(timeline));
  CHECK(got.idle.empty());
  CHECK(got.breakdown.empty());
}

/// The rules of the spec, nanosecond by nanosecond, over a made-up rank with small times.
class BruteForce {
 public:
  explicit BruteForce(const metrics::RankView& view) : timeline_(*view.timeline), window_(view.window->span) {}

  std::map<IdleCause, std::int64_t> causes(timeline::DeviceIndex device) const {
    std::map<IdleCause, std::int64_t> sums;
    for (Nanos t = window_.begin; t < window_.end; ++t)
      if (!works(device, t)) ++sums[cause(device, t)];
    return sums;
  }

 private:
  bool works(timeline::DeviceIndex device, Nanos t) const {
    return std::any_of(timeline_.work.begin(), timeline_.work.end(),
                       [&](const auto& w) { return w.device == device && w.span().contains(t); });
  }

  IdleCause cause(timeline::DeviceIndex device, Nanos t) const {
    Nanos g0{-1000};
    for (const auto& w : timeline_.work)
      if (w.device == device && w.end <= t && !w.span().empty()) g0 = std::max(g0, w.end);
    const timeline::Work* next = nullptr;
    const auto launch = [&](const timeline::Work& w) { return timeline_.calls[w.call].begin; };
    for (const auto& w : timeline_.work) {
      if (w.device != device || w.begin <= t || w.span().empty()) continue;
      const bool known = w.call != timeline::none;
      if (next == nullptr || w.begin < next->begin ||
          (w.begin == next->begin && known && (next->call == timeline::none || launch(w) < launch(*next))))
        next = &w;
    }
    if (next == nullptr || next->call == timeline::none) return IdleCause::unknown;
    const timeline::Call& call = timeline_.calls[next->call];
    if (call.begin <= g0) return IdleCause::dependency;
    if (t >= call.begin) return IdleCause::launch;
    for (const auto& r : timeline_.ranges)
      if (r.thread == call.thread && r.span().contains(t) && timeline_.name(r.name) == "load") return IdleCause::input;
    for (const auto& c : timeline_.calls)
      if (c.thread == call.thread && c.blocking && c.span().contains(t)) return IdleCause::sync;
    return next->direction == Direction::h2d ? IdleCause::input : IdleCause::launch;
  }

  const Timeline& timeline_;
  Interval window_;
};

Timeline random_rank(std::mt19937& random) {
  const auto upto = [&](int most) {
    return std::int64_t{static_cast<int>(random() % static_cast<unsigned>(most + 1))};
  };
  Rank rank;
  for (int i = 0; i < 12; ++i) {
    const std::int64_t begin = upto(150);
    const Interval span = ns(begin, begin + upto(15));
    const std::int64_t launched = begin - upto(60);
    rank.device = upto(1);
    const Interval launch = upto(3) == 0 ? Interval{} : ns(launched, launched + 1 + upto(5));
    const std::int64_t thread = 1 + upto(1);
    if (upto(2) == 0)
      rank.work(copy_row(rank, Direction::h2d, span), launch, thread);
    else
      rank.work({.span = span, .stream = 7 + upto(2), .name = rank.builder.name("k" + std::to_string(i))}, launch,
                thread);
    const std::int64_t at = upto(150);
    if (upto(1) == 0) rank.range(upto(1) == 0 ? "load" : "forward", ns(at, at + upto(20)), thread);
    if (upto(2) == 0) rank.call("cudaDeviceSynchronize", ns(at, at + upto(20)), thread);
  }
  return rank.done();
}

// Why: gaps, windows, threads and ties meet in ways that no table lists; the rules themselves are a loop over time.
TEST_CASE("idle causes: as a loop over nanoseconds finds them") {
  std::mt19937 random(20'241);
  for (int round = 0; round < 300; ++round) {
    CAPTURE(round);
    const Timeline timeline = random_rank(random);
    const metrics::RankView view = round % 2 == 0 ? span_view(timeline) : range_view(timeline, ns(20, 110));
    if (!view.window) continue;
    const Attribution got = attribute(view);
    const BruteForce brute(view);
    for (std::size_t d = 0; d < view.devices.size(); ++d) {
      const auto want = brute.causes(view.devices[d].device);
      for (const IdleCause cause : all_causes) {
        CAPTURE(word(cause));
        const auto found = want.find(cause);
        CHECK(got.idle[d].causes.at(cause).count() == (found == want.end() ? 0 : found->second));
      }
    }
  }
}

}  // namespace
}  // namespace traceweir::findings::test
