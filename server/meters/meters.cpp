#include "server/meters/meters.hpp"

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include <algorithm>
#include <sstream>

#include "analyzer/core/version.hpp"
#include "server/meters/process.hpp"

namespace traceweir::meters {
namespace {

using prometheus::Counter;
using prometheus::Family;
using prometheus::Gauge;
using prometheus::Histogram;
using prometheus::Registry;

/// Seconds. An answer that waits for its verdict may take minutes.
const Histogram::BucketBoundaries second_buckets = {0.001, 0.005, 0.02, 0.1, 0.5, 2, 10, 60, 300};

constexpr std::string_view error_codes[] = {"store_unavailable", "disk_full",  "io_failed", "analysis_interrupted",
                                            "queue_full",        "claim_lost", "blob_lost", "internal"};

/// Whatever else fails is a surprise, and so a fault of ours: no series comes into being by its first event.
std::string_view counted_as(std::string_view code) {
  const auto known = std::find(std::begin(error_codes), std::end(error_codes), code);
  return known == std::end(error_codes) ? std::string_view("internal") : *known;
}

double seconds(std::chrono::nanoseconds duration) { return std::chrono::duration<double>(duration).count(); }

Family<Counter>& counter(Registry& registry, const char* name, const char* help) {
  return prometheus::BuildCounter().Name(name).Help(help).Register(registry);
}

Family<Histogram>& histogram(Registry& registry, const char* name, const char* help) {
  return prometheus::BuildHistogram().Name(name).Help(help).Register(registry);
}

/// A value of this moment: in a registry of its own, since it lives for one answer.
void level(Registry& registry, const char* name, const char* help, double value) {
  prometheus::BuildGauge().Name(name).Help(help).Register(registry).Add({}).Set(value);
}

void add_levels(Registry& registry, const Levels& now) {
  level(registry, "traceweir_store_ready", "1 where the store answers.", now.store_ready ? 1 : 0);
  level(registry, "traceweir_disk_free_bytes", "Free space where traces are kept.",
        static_cast<double>(now.disk_free_bytes));
  level(registry, "traceweir_disk_headroom_bytes", "Free space below which uploads are refused.",
        static_cast<double>(now.disk_headroom_bytes));
  level(registry, "traceweir_queue_depth", "Uploads that wait for their analysis or are analysed.",
        static_cast<double>(now.queue_depth));
  level(registry, "traceweir_queue_depth_max", "The limit of traceweir_queue_depth.",
        static_cast<double>(now.queue_depth_max));
  level(registry, "traceweir_requests_waiting", "Requests that wait for the store or are answered from it.",
        static_cast<double>(now.requests_waiting));
}

/// Names as Prometheus' own client libraries give them.
void add_process(Registry& registry) {
  const Process process = this_process();
  level(registry, "process_resident_memory_bytes", "Resident memory.", static_cast<double>(process.resident_bytes));
  level(registry, "process_open_fds", "Open file descriptors.", static_cast<double>(process.open_descriptors));
  level(registry, "process_start_time_seconds", "Start, in seconds since 1970.", process.start_seconds);
  prometheus::BuildCounter()
      .Name("process_cpu_seconds_total")
      .Help("User and system time, children that were analysed not included.")
      .Register(registry)
      .Add({})
      .Increment(process.cpu_seconds);
}

}  // namespace

struct Meters::Impl {
  Registry registry;
  Family<Counter>& requests =
      counter(registry, "traceweir_http_requests_total", "Requests, by route, method and status.");
  Family<Counter>& bytes_in = counter(registry, "traceweir_http_received_bytes_total", "Bytes of bodies, by route.");
  Family<Counter>& bytes_out = counter(registry, "traceweir_http_sent_bytes_total", "Bytes of answers, by route.");
  Family<Histogram>& durations =
      histogram(registry, "traceweir_http_request_duration_seconds", "From the first byte to the last, by route.");
  Family<Counter>& runs = counter(registry, "traceweir_runs_total", "Runs that got a result: an outcome, or rejected.");
  Family<Counter>& run_errors =
      counter(registry, "traceweir_run_errors_total", "Tries that failed for the service's own reasons.");
  Family<Counter>& notices =
      counter(registry, "traceweir_notices_total", "Notices to the webhook, by what became of them.");
  Histogram& run_durations =
      histogram(registry, "traceweir_run_duration_seconds", "From the queue to the result: analysis and judgement.")
          .Add({}, second_buckets);

  Impl() {
    prometheus::BuildGauge()
        .Name("traceweir_build_info")
        .Help("Always 1; the version is the label.")
        .Register(registry)
        .Add({{"version", std::string(version)}})
        .Set(1);
    // Series that exist from the start make rates right from the first event.
    for (const char* result : {"pass", "warn", "inconclusive", "fail", "rejected"}) runs.Add({{"result", result}});
    for (const std::string_view code : error_codes) run_errors.Add({{"code", std::string(code)}});
    for (const char* result : {"sent", "retried", "failed", "dropped"}) notices.Add({{"result", result}});
  }
};

Meters::Meters() : impl_(std::make_unique<Impl>()) {}
Meters::~Meters() = default;

void Meters::request(const RequestSeen& seen) {
  const std::string route(seen.route.empty() ? "none" : seen.route);
  // An unknown method is the client's own text and never a label.
  const std::string method(seen.route.empty() ? "other" : seen.method);
  impl_->requests.Add({{"route", route}, {"method", method}, {"status", std::to_string(seen.status)}}).Increment();
  impl_->bytes_in.Add({{"route", route}}).Increment(static_cast<double>(seen.bytes_in));
  impl_->bytes_out.Add({{"route", route}}).Increment(static_cast<double>(seen.bytes_out));
  impl_->durations.Add({{"route", route}}, second_buckets).Observe(seconds(seen.duration));
}

void Meters::run(std::string_view result) { impl_->runs.Add({{"result", std::string(result)}}).Increment(); }

void Meters::run_error(std::string_view code) {
  impl_->run_errors.Add({{"code", std::string(counted_as(code))}}).Increment();
}

void Meters::notice(std::string_view result) { impl_->notices.Add({{"result", std::string(result)}}).Increment(); }

void Meters::run_duration(std::chrono::nanoseconds duration) { impl_->run_durations.Observe(seconds(duration)); }

std::span<const std::string_view> run_error_codes() { return error_codes; }

std::string Meters::text(const Levels& levels) const {
  Registry now;
  add_levels(now, levels);
  add_process(now);
  std::ostringstream out;
  const prometheus::TextSerializer serializer;
  serializer.Serialize(out, impl_->registry.Collect());
  serializer.Serialize(out, now.Collect());
  return out.str();
}

}  // namespace traceweir::meters
