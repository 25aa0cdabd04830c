#include <algorithm>
#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <memory>
#include <optional>
#include <utility>

#include "server/api/arrival.hpp"
#include "server/api/auth.hpp"
#include "server/api/binding.hpp"
#include "server/api/handlers.hpp"
#include "server/api/query_values.hpp"
#include "server/api/run_answer.hpp"
#include "server/api/upload_query.hpp"
#include "server/spool/room.hpp"

namespace traceweir::api {
namespace {

/// An upload that may come in: who sends it, and what it says of its run.
struct Admitted {
  Caller caller;
  UploadQuery query;
  spool::IncomingFile file;
  std::optional<analysis::AnalysisOptions> reading;  ///< nothing: its policy cannot be read, which the run will say
  pipeline::Allowance allowance{};
  store::Upload upload{};                        ///< once it is there
  std::shared_ptr<pipeline::Completion> done{};  ///< of the run, where it is done here
};

/// Checks everything that can be checked before a byte of the body is read.
Result<Admitted> admit(const http::Request& request, Services& services) {
  TRACEWEIR_TRY(caller, authorize(request, services, Right::upload));
  if (request.header("content-type").value_or("").starts_with("multipart/"))
    return fail(ErrorCode::bad_body, "this is a form upload; send the file itself: curl --data-binary @FILE");
  TRACEWEIR_TRY(query, upload_query(request, services.limits));
  TRACEWEIR_TRY_VOID(apply_binding(caller.binding, query.head));
  TRACEWEIR_TRY_VOID(services.runs.check_room());
  const auto announced = request.body->announced_bytes();
  const pipeline::Wanted wanted{caller.project, static_cast<std::int64_t>(announced.value_or(0)),
                                query.head.idempotency_key, services.now()};
  TRACEWEIR_TRY(allowance, pipeline::check_quota(services.store, services.limits.keeping, wanted));
  TRACEWEIR_TRY(file, services.spool.create(announced));
  query.head.project = caller.project.name;
  if (!query.policy.empty()) {
    TRACEWEIR_TRY(policy, services.store.policy(caller.project.name, query.policy));
    if (!policy)
      return fail(ErrorCode::bad_query, "policy: no such policy was sent; PUT …/policies/" + query.policy + " first");
    query.head.policy = *std::move(policy);
  }
  query.head.token = caller.token;
  const auto reading = pipeline::reading_for(caller.project, query.head);
  return Admitted{std::move(caller), std::move(query), std::move(file),
                  reading ? std::optional(*reading) : std::nullopt, std::move(allowance)};
}

/// Whether so many bytes fit where they are to be kept.
Result<void> check_room_for(const Services& services, std::uint64_t bytes) {
  return spool::check_room(services.blobs, bytes, services.spool.limits().disk_headroom_bytes);
}

/// The same before they come. A disk of its own may be a network's, and slow: nobody who only asks is to wait for it.
boost::asio::awaitable<Result<void>> check_announced(const http::Request& request, Services& services) {
  if (!services.blobs.own_disk()) co_return Result<void>{};
  auto asking = [&] { return check_room_for(services, request.body->announced_bytes().value_or(0)); };
  co_return co_await services.transfers.run(asking);
}

/// The run as begin_run() made it of one upload that is all of it.
store::RunRecord recorded_run(const Admitted& admitted) {
  store::RunRecord run;
  run.head = admitted.query.head;
  run.status = store::RunStatus::analysing;
  run.uploads.push_back(admitted.upload);
  run.uploads.front().status = store::UploadStatus::whole;
  return run;
}

/// Hands the job of an upload that was recorded to whoever does it: this process where it began it already, else
/// whoever is idle.
void hand_over(Admitted& admitted, Services& services, const store::Begun& begun, const store::Claim& claim,
               std::shared_ptr<pipeline::EarlyReport> early) {
  if (claim.holder.empty()) return services.runs.poke();
  if (begun.state == store::Begun::State::seen_before) return services.runs.give_back(claim);
  const store::RunHead& head = admitted.query.head;
  const bool alone = head.group.empty();
  early->is_of(admitted.upload.sha256, alone ? std::optional(recorded_run(admitted)) : std::nullopt);
  const auto rank = alone ? std::nullopt : std::optional(admitted.query.rank);
  auto done = services.runs.take({head.project, begun.run, rank, claim.holder, 1}, std::move(early));
  if (alone) admitted.done = std::move(done);
}

/// Whether the upload would be refused once it is kept: then its bytes would lie there for a day, in nobody's quota.
/// begin_run() looks again, at what has come in between.
Result<void> check_wanted(const Admitted& admitted, Services& services) {
  const store::RunHead& head = admitted.query.head;
  if (head.idempotency_key.empty() && head.group.empty()) return {};
  return services.store.check_run(head, admitted.upload);
}

/// Makes the upload durable: the file first, then the row that refers to it, and its job. Nothing is acknowledged
/// before all are.
Result<store::Begun> record(Admitted& admitted, Services& services, std::shared_ptr<pipeline::EarlyReport> early) {
  TRACEWEIR_TRY(spooled, std::move(admitted.file).finish());
  UploadQuery& query = admitted.query;
  if (!query.sha256.empty() && query.sha256 != spooled.sha256())
    return fail(ErrorCode::hash_mismatch,
                "the bytes that arrived have the SHA-256 " + spooled.sha256() + ", not the one that was announced");
  admitted.upload = {query.rank, spooled.sha256(), static_cast<std::int64_t>(spooled.bytes()), query.name};
  TRACEWEIR_TRY_VOID(check_wanted(admitted, services));
  TRACEWEIR_TRY_VOID(check_room_for(services, spooled.bytes()));
  TRACEWEIR_TRY_VOID(services.blobs.keep(std::move(spooled)));
  if (!query.parents.empty()) {
    const store::Commit commit{query.head.commit, query.parents, std::nullopt, "", ""};
    TRACEWEIR_TRY_VOID(keep_commits(services.store, admitted.caller, std::span(&commit, 1)));
  }
  query.head.id = services.new_id();
  query.head.received_at = services.now();
  const store::Claim claim = services.runs.claim_for(early);
  const auto begun = services.store.begin_run(query.head, admitted.upload, claim);
  if (begun)
    hand_over(admitted, services, *begun, claim, std::move(early));
  else
    services.runs.give_back(claim);
  return begun;
}

/// A run for which no further rank is waited for, and how the answer is wanted.
struct Closed {
  std::string project, run;
  std::chrono::seconds wait;
  FailStatus fail_status = FailStatus::created;
};

Result<Closed> close_run(const http::Request& request, Services& services) {
  TRACEWEIR_TRY(caller, authorize(request, services, Right::upload));
  TRACEWEIR_TRY_VOID(request.query.only({"wait", "fail_status"}));
  TRACEWEIR_TRY(wait, integer_in(request.query, "wait", 0, services.limits.wait_max.count()));
  TRACEWEIR_TRY(fail_status, integer_in(request.query, "fail_status", 424, 424));
  const std::string& run = request.param("run");
  if (!caller.binding.empty()) {
    TRACEWEIR_TRY(record, run_in(services, caller.project.name, run));
    TRACEWEIR_TRY_VOID(check_binding(caller.binding, record.head));
  }
  if (const auto status = services.store.close_run(caller.project.name, run); !status)
    return tl::unexpected(status.error());
  services.runs.poke();
  return Closed{caller.project.name, run, wait ? std::chrono::seconds{*wait} : services.limits.wait_default,
                fail_status ? FailStatus::failed_dependency : FailStatus::created};
}

/// This request's upload of a run of several; nothing where another try has taken its slot since.
const store::Upload* own_upload(const store::RunRecord& run, const Admitted& admitted) {
  const auto found = std::find_if(run.uploads.begin(), run.uploads.end(), [&](const store::Upload& upload) {
    return upload.rank == admitted.query.rank && upload.sha256 == admitted.upload.sha256;
  });
  return found == run.uploads.end() ? nullptr : &*found;
}

/// Waits until the upload of one rank was looked at. Why it was rejected, or nothing.
/// Errors: those of the store.
boost::asio::awaitable<Result<std::optional<Error>>> check_upload(Admitted& admitted, Services& services,
                                                                  const std::string& run) {
  const std::string& project = admitted.query.head.project;
  auto looking_up = [&] { return run_in(services, project, run); };
  auto record = co_await services.workers.run(looking_up);
  const store::Upload* upload = record ? own_upload(*record, admitted) : nullptr;
  const bool waits = admitted.query.wait.count() > 0;
  if (waits && upload != nullptr && upload->status == store::UploadStatus::received) {
    co_await pipeline::wait_for(services.runs.watch(run, upload->rank), admitted.query.wait);
    record = co_await services.workers.run(looking_up);
    upload = record ? own_upload(*record, admitted) : nullptr;
  }
  if (!record) co_return tl::unexpected(std::move(record).error());
  if (upload == nullptr || upload->status != store::UploadStatus::rejected) co_return std::optional<Error>{};
  co_return std::optional(
      Error{error_code_of(upload->error_code).value_or(ErrorCode::internal), upload->error_message});
}

}  // namespace

/// POST /api/v1/projects/{project}/runs?commit=…   body: one trace
/// 201 the run with its verdict | 202 the run, still analysed, or waiting for ranks | 4xx, 5xx problem
boost::asio::awaitable<http::Response> post_run(http::Request& request, Services& services) {
  // 1. Who sends it, and what does it say of its run? Nothing of the body is read before that is settled.
  auto admission = [&] { return admit(request, services); };
  auto admitted = co_await services.workers.run(admission);
  if (!admitted) co_return http::problem(std::move(admitted).error());
  if (auto room = co_await check_announced(request, services); !room) co_return http::problem(std::move(room).error());
  const UploadQuery& query = admitted->query;

  // 2. Take the bytes, straight to disk, and meanwhile into an analysis where that can be done.
  auto received = co_await receive(request, admitted->file, services, admitted->query.head.project, admitted->reading,
                                   admitted->allowance);
  if (!received) co_return http::problem(std::move(received).error());
  auto recording = [&] { return record(*admitted, services, *std::move(received)); };
  const auto begun = co_await services.transfers.run(recording);
  if (!begun) co_return http::problem(begun.error());
  // From here on the upload is safe, whatever happens to this process or this connection.
  if (query.wait.count() == 0 && query.head.group.empty() && begun->state == store::Begun::State::created)
    co_return answer_of(recorded_run(*admitted), {http::Status::created, query.fail_status, query.warnings});

  // 3. A rank of several is looked at by itself, so that a bad file is refused now and not with its run.
  const auto deadline = std::chrono::steady_clock::now() + query.wait;
  if (!query.head.group.empty()) {
    const auto refused = co_await check_upload(*admitted, services, begun->run);
    if (!refused) co_return http::problem(refused.error());
    if (*refused) co_return http::problem(**refused);
  }

  // 4. Analyse and judge, once per run, however many ask for it; one that waits for ranks is answered as it stands.
  const auto left = std::chrono::duration_cast<std::chrono::seconds>(deadline - std::chrono::steady_clock::now());
  const Awaited awaited{query.head.project, begun->run, admitted->done};
  const auto run =
      co_await result_of(services, awaited, query.wait.count() > 0 ? std::max(left, std::chrono::seconds{1}) : left);

  // 5. Answer.
  if (!run) co_return http::problem(run.error());
  co_return answer_of(*run, {http::Status::created, query.fail_status, query.warnings});
}

/// POST /api/v1/projects/{project}/runs/{run}/finish?wait=&fail_status=
/// No further rank is waited for: 200 the run with its verdict | 202 the run, still analysed | 4xx, 5xx problem
boost::asio::awaitable<http::Response> finish_run(http::Request& request, Services& services) {
  auto closing = [&] { return close_run(request, services); };
  const auto closed = co_await services.workers.run(closing);
  if (!closed) co_return http::problem(closed.error());
  const Awaited awaited{closed->project, closed->run, nullptr};  // named: GCC 12 destroys a temporary of these twice
  const auto run = co_await result_of(services, awaited, closed->wait);
  if (!run) co_return http::problem(run.error());
  co_return answer_of(*run, {http::Status::ok, closed->fail_status, {}});
}

}  // namespace traceweir::api
