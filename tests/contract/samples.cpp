#include "tests/contract/samples.hpp"

#include <sstream>

#include "tests/contract/store_under_test.hpp"

namespace traceweir::contract {

using namespace store;

namespace {

template <typename T>
std::string shown(const std::optional<T>& value) {
  return value ? std::to_string(*value) : "none";
}

std::string shown(const std::optional<Timestamp>& value) {
  return value ? std::to_string(value->time_since_epoch().count()) : "none";
}

}  // namespace

Timestamp at(std::int64_t seconds) { return Timestamp{std::chrono::seconds{1'790'000'000 + seconds}}; }

AuditEntry audit_entry(std::string_view action) { return {at(0), "llama", "tester", std::string(action), "because"}; }

void add_project(Store& store, std::string_view name) {
  Project project;
  project.name = name;
  project.created_at = at(0);
  must(store.put_project(project, audit_entry("project")));
}

RunHead plain_head(std::string_view id) {
  RunHead head;
  head.id = id;
  head.project = "llama";
  head.workload = "ddp";
  head.commit = "sha-" + head.id;
  head.branch = "main";
  head.received_at = at(0);
  return head;
}

RunHead full_head(std::string_view id) {
  RunHead head = plain_head(id);
  head.base_branch = "release";
  head.head = "head-sha";
  head.base = "base-sha";
  head.pull_request = 12;
  head.fork = true;
  head.attempt = 3;
  head.ci_run = "ci-77";
  head.job = "bench";
  head.matrix = "py3.11, cuda12";
  head.job_url = "https://ci.example/77";
  head.run_key = "key";
  head.idempotency_key = "idempotent-" + head.id;
  head.ranks_expected = 8;
  head.environment = {{"driver", "550.54"}, {"node", ""}};
  head.steps_glob = "train_step*";
  head.window = "steps";
  head.skip_steps = 0;
  head.policy = "version = 1\n";
  head.token = "tok1";
  head.received_at = at(17);
  return head;
}

Upload upload_of(std::string_view sha256) { return {5, std::string(sha256), 123'456'789'012, "trace.json.gz"}; }

RunResult plain_result(std::string_view id, double value) {
  RunResult result;
  result.run = id;
  result.outcome = gate::Outcome::pass;
  result.report_json = "{}";
  result.verdict_json = "{}";
  result.comparable_key = "a100";
  result.in_baseline = true;
  result.values = {{"gpu.utilization", value}};
  result.finished_at = at(60);
  return result;
}

RunResult full_result(std::string_view id) {
  RunResult result = plain_result(id);
  result.outcome = gate::Outcome::fail;
  result.report_json = R"({"schema": "traceweir.report/1"})";
  result.verdict_json = R"({"outcome": "fail"})";
  result.error_code = "analysis_failed";
  result.error_message = "killed by signal 9";
  result.values = {{"gpu.utilization", 0.1 + 0.2}, {"step.time_p50", 61'728'394.5}, {"custom.tiny", 5e-324}};
  return result;
}

void add_run(Store& store, const RunHead& head, const RunResult& result) {
  CHECK(must(store.begin_run(head, upload_of("blob-" + head.id))).state == Begun::State::created);
  must(store.finish_run(result));
}

std::string text_of(const RunHead& head) {
  std::ostringstream out;
  for (const std::string& field : {head.id, head.project, head.workload, head.commit, head.branch, head.base_branch,
                                   head.head, head.base, head.ci_run, head.job, head.matrix, head.job_url, head.run_key,
                                   head.idempotency_key, head.steps_glob, head.window, head.policy, head.token})
    out << field << '|';
  out << shown(head.pull_request) << '|' << head.fork << '|' << head.attempt << '|' << head.ranks_expected << '|'
      << shown(head.skip_steps) << '|' << head.received_at.time_since_epoch().count();
  for (const auto& [name, value] : head.environment) out << '|' << name << '=' << value;
  return out.str();
}

std::string text_of(const RunRecord& record) {
  std::ostringstream out;
  out << text_of(record.head) << '\n';
  for (const Upload& upload : record.uploads)
    out << upload.rank << ' ' << upload.sha256 << ' ' << upload.bytes << ' ' << upload.name << '\n';
  out << word(record.status) << '|' << (record.outcome ? gate::word(*record.outcome) : "none") << '|'
      << record.comparable_key << '|' << record.in_baseline << '|' << record.report_json << '|' << record.verdict_json
      << '|' << record.error_code << '|' << record.error_message << '|' << shown(record.finished_at) << '|'
      << record.superseded;
  return out.str();
}

std::string ids_of(const std::vector<RunRecord>& records) {
  std::string ids;
  for (const RunRecord& record : records) ids += (ids.empty() ? "" : " ") + record.head.id;
  return ids;
}

std::string ids_of(const std::vector<BaselineRow>& rows) {
  std::string ids;
  for (const BaselineRow& row : rows) ids += (ids.empty() ? "" : " ") + row.run;
  return ids;
}

}  // namespace traceweir::contract
