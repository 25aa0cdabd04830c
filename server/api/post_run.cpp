#include <boost/asio/awaitable.hpp>
#include <vector>

#include "server/api/auth.hpp"
#include "server/api/handlers.hpp"
#include "server/api/run_answer.hpp"
#include "server/api/upload_query.hpp"
#include "server/http/body.hpp"

namespace traceweir::api {
namespace {

/// An upload that may come in: who sends it, and what it says of its run.
struct Admitted {
  UploadQuery query;
  spool::IncomingFile file;
};

/// Checks everything that can be checked before a byte of the body is read.
Result<Admitted> admit(const http::Request& request, Services& services) {
  TRACEWEIR_TRY(caller, authorize(request, services, Right::upload));
  if (request.header("content-type").value_or("").starts_with("multipart/"))
    return fail(ErrorCode::bad_body, "this is a form upload; send the file itself: curl --data-binary @FILE");
  TRACEWEIR_TRY(query, upload_query(request, services.limits));
  TRACEWEIR_TRY_VOID(services.runs.check_room());
  TRACEWEIR_TRY(file, services.spool.create(request.body->announced_bytes()));
  query.head.project = caller.project.name;
  if (!query.policy.empty()) {
    TRACEWEIR_TRY(policy, services.store.policy(caller.project.name, query.policy));
    if (!policy)
      return fail(ErrorCode::bad_query, "policy: no such policy was sent; PUT …/policies/" + query.policy + " first");
    query.head.policy = *std::move(policy);
  }
  query.head.token = caller.token;
  return Admitted{std::move(query), std::move(file)};
}

/// Streams the body to the file: it is never held in memory.
boost::asio::awaitable<Result<void>> receive(http::Request& request, spool::IncomingFile& file) {
  std::vector<std::byte> buffer(http::body_buffer_bytes);
  for (;;) {
    auto count = co_await request.body->read(buffer);
    if (!count) co_return tl::unexpected(std::move(count).error());
    if (*count == 0) co_return Result<void>{};
    if (auto written = file.write(std::span(buffer).first(*count)); !written) co_return written;
  }
}

/// Makes the upload durable: the file first, then the row that refers to it. Nothing is acknowledged before both are.
Result<store::Begun> record(Admitted& admitted, Services& services) {
  TRACEWEIR_TRY(spooled, std::move(admitted.file).finish());
  UploadQuery& query = admitted.query;
  if (!query.sha256.empty() && query.sha256 != spooled.sha256())
    return fail(ErrorCode::hash_mismatch,
                "the bytes that arrived have the SHA-256 " + spooled.sha256() + ", not the one that was announced");
  const store::Upload upload{query.rank, spooled.sha256(), static_cast<std::int64_t>(spooled.bytes()), query.name};
  TRACEWEIR_TRY_VOID(services.blobs.keep(std::move(spooled)));
  if (!query.parents.empty()) {
    const store::Commit commit{query.head.commit, query.parents, std::nullopt, "", ""};
    TRACEWEIR_TRY_VOID(services.store.put_commits(query.head.project, std::span(&commit, 1)));
  }
  query.head.id = services.new_id();
  query.head.received_at = services.now();
  return services.store.begin_run(query.head, upload);
}

/// The answer for a run as it stands: 201 judged, 202 on its way, or the reason why it was rejected.
http::Response answer_of(const store::RunRecord& run, const UploadQuery& query) {
  wire::RunDocument document = document_of(run);
  document.warnings = query.warnings;
  if (run.status == store::RunStatus::rejected) return http::problem(*document.error);
  const std::string path = wire::run_path(run.head.project, run.head.id);
  const std::string text = wire::to_json(document, wire::Detail::whole);
  if (run.status != store::RunStatus::judged)
    return http::respond(http::Status::accepted, json_type, text).set("Location", path).set("Retry-After", "2");
  const bool as_error = run.outcome == gate::Outcome::fail && query.fail_status == FailStatus::failed_dependency;
  const http::Status status = as_error ? http::Status::failed_dependency : http::Status::created;
  return http::respond(status, json_type, text).set("Location", path);
}

Result<store::RunRecord> look_up(Services& services, const std::string& project, const std::string& run) {
  TRACEWEIR_TRY(record, services.store.run(project, run));
  if (!record) return fail(ErrorCode::not_found, "the run was deleted while it was analysed");
  return *std::move(record);
}

bool is_open(store::RunStatus status) {
  return status == store::RunStatus::analysing || status == store::RunStatus::pending;
}

}  // namespace

/// POST /api/v1/projects/{project}/runs?commit=…   body: one trace
/// 201 the run with its verdict | 202 the run, still analysed | 4xx, 5xx problem
boost::asio::awaitable<http::Response> post_run(http::Request& request, Services& services) {
  // 1. Who sends it, and what does it say of its run? Nothing of the body is read before that is settled.
  auto admission = [&] { return admit(request, services); };
  auto admitted = co_await services.workers.run(admission);
  if (!admitted) co_return http::problem(std::move(admitted).error());

  // 2. Take the bytes, straight to disk.
  if (auto received = co_await receive(request, admitted->file); !received)
    co_return http::problem(std::move(received).error());
  auto recording = [&] { return record(*admitted, services); };
  const auto begun = co_await services.workers.run(recording);
  if (!begun) co_return http::problem(begun.error());
  // From here on the upload is safe, whatever happens to this process or this connection.

  // 3. Analyse and judge, once per run, however many ask for it.
  const std::string project = admitted->query.head.project;
  auto looking_up = [&] { return look_up(services, project, begun->run); };
  auto run = co_await services.workers.run(looking_up);
  if (run && is_open(run->status)) {
    const auto completion = services.runs.submit(project, begun->run);
    if (admitted->query.wait.count() > 0) co_await pipeline::wait_for(completion, admitted->query.wait);
    run = co_await services.workers.run(looking_up);
  }

  // 4. Answer.
  if (!run) co_return http::problem(run.error());
  co_return answer_of(*run, admitted->query);
}

}  // namespace traceweir::api
