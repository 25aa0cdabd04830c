// Projects, tokens and the audit log.
#include "tests/contract/samples.hpp"
#include "tests/contract/store_under_test.hpp"

using namespace traceweir;
using namespace traceweir::contract;
using namespace traceweir::store;

namespace {

Project full_project() {
  Project project;
  project.name = "llama";
  project.mode = Mode::observe;
  project.policy_source = PolicySource::server;
  project.read_access = ReadAccess::everyone;
  project.policy = "version = 1\n[rules.\"gpu.utilization\"]\nmin = \"85%\"\n";
  project.created_at = at(5);
  project.trusted_jobs = "[{}]";
  return project;
}

std::string text_of(const Project& project) {
  return project.name + "|" + std::string(word(project.mode)) + "|" + std::string(word(project.policy_source)) + "|" +
         std::string(word(project.read_access)) + "|" + project.policy + "|" +
         std::to_string(project.created_at.time_since_epoch().count()) + "|" + project.trusted_jobs;
}

Token full_token(std::string_view id) {
  Token token;
  token.id = id;
  token.secret_sha256 = "5ec3e7";
  token.project = "llama";
  token.scopes = {true, true, false};
  token.note = "for CI";
  token.created_at = at(1);
  token.expires_at = at(1'000);
  return token;
}

}  // namespace

TEST_CASE("store: it answers that it is ready") {
  on_each_store([](StoreUnderTest& under_test) { must(under_test.open()->ready()); });
}

TEST_CASE("store: a project is created, changed and listed by name") {
  on_each_store([](StoreUnderTest& under_test) {
    const auto store = under_test.open();
    CHECK_FALSE(must(store->project("llama")).has_value());
    must(store->put_project(full_project(), audit_entry("create")));
    CHECK(text_of(must(store->project("llama")).value()) == text_of(full_project()));

    // Why: a change must not make the project younger, and an emptied policy is gone.
    Project changed = full_project();
    changed.mode = Mode::gate;
    changed.policy_source = PolicySource::repository;
    changed.read_access = ReadAccess::token;
    changed.policy.clear();
    changed.trusted_jobs.clear();
    changed.created_at = at(99);
    must(store->put_project(changed, audit_entry("change")));
    changed.created_at = at(5);
    CHECK(text_of(must(store->project("llama")).value()) == text_of(changed));

    add_project(*store, "bert");
    const auto projects = must(store->projects());
    REQUIRE(projects.size() == 2);
    CHECK(projects[0].name == "bert");
    CHECK(projects[1].name == "llama");
  });
}

TEST_CASE("store: a token is kept, listed and revoked once") {
  on_each_store([](StoreUnderTest& under_test) {
    const auto store = under_test.open();
    add_project(*store);
    CHECK_FALSE(must(store->token("t1")).has_value());
    must(store->add_token(full_token("t1"), audit_entry("token")));
    Token everywhere = full_token("t2");
    everywhere.project.clear();
    everywhere.scopes = {false, false, true};
    everywhere.expires_at.reset();
    everywhere.created_at = at(2);
    must(store->add_token(everywhere, audit_entry("token")));

    const Token kept = must(store->token("t1")).value();
    CHECK(kept.secret_sha256 == "5ec3e7");
    CHECK(kept.project == "llama");
    CHECK(kept.scopes == Scopes{true, true, false});
    CHECK(kept.note == "for CI");
    CHECK(kept.created_at == at(1));
    CHECK(kept.expires_at == at(1'000));
    CHECK_FALSE(kept.revoked_at.has_value());
    const auto tokens = must(store->tokens());
    REQUIRE(tokens.size() == 2);
    CHECK(tokens[0].id == "t1");
    CHECK(tokens[1].project.empty());
    CHECK(tokens[1].scopes == Scopes{false, false, true});
    CHECK_FALSE(tokens[1].expires_at.has_value());

    must(store->revoke_token("t1", at(50), audit_entry("revoke")));
    must(store->revoke_token("t1", at(70), audit_entry("revoke")));
    CHECK(must(store->token("t1")).value().revoked_at == at(50));
    CHECK_FALSE(must(store->token("t2")).value().revoked_at.has_value());
  });
}

TEST_CASE("store: a token is used, replaced once, and forgotten where it was issued to a job") {
  on_each_store([](StoreUnderTest& under_test) {
    const auto store = under_test.open();
    add_project(*store);
    must(store->add_token(full_token("t1"), audit_entry("token")));
    Token issued = full_token("t2");
    issued.binding = R"({"ref":"refs/heads/main"})";
    issued.expires_at = at(900);
    must(store->add_token(issued, audit_entry("token")));
    CHECK(must(store->token("t2")).value().binding == issued.binding);
    CHECK(must(store->token("t1")).value().binding.empty());

    CHECK_FALSE(must(store->token("t1")).value().last_used_at.has_value());
    must(store->note_token_use("t1", at(70)));
    must(store->note_token_use("t1", at(60)));
    must(store->note_token_use("nobody", at(60)));
    CHECK(must(store->token("t1")).value().last_used_at == at(70));

    // Why: an overlap of a rotation never makes a token live longer than it would have.
    CHECK(must(store->token("t1")).value().replaced_by.empty());
    must(store->replace_token("t1", "t3", at(5'000), audit_entry("replace")));
    CHECK(must(store->token("t1")).value().expires_at == at(1'000));
    CHECK(must(store->token("t1")).value().replaced_by == "t3");
    must(store->add_token(full_token("t5"), audit_entry("token")));
    must(store->replace_token("t5", "t6", at(500), audit_entry("replace")));
    CHECK(must(store->token("t5")).value().expires_at == at(500));
    // Why: of two rotations at once one has to make way, or a token would have two successors.
    CHECK(error_of(store->replace_token("t1", "t4", at(500), audit_entry("refused"))) == ErrorCode::conflict);
    CHECK(must(store->token("t1")).value().replaced_by == "t3");
    CHECK(must(store->token("t1")).value().expires_at == at(1'000));
    CHECK(error_of(store->replace_token("t9", "t4", at(1), audit_entry("refused"))) == ErrorCode::not_found);

    CHECK(must(store->remove_issued_tokens(at(900))) == 0);
    CHECK(must(store->remove_issued_tokens(at(901))) == 1);
    CHECK_FALSE(must(store->token("t2")).has_value());
    CHECK(must(store->token("t1")).has_value());
  });
}

TEST_CASE("store: what is refused of tokens") {
  on_each_store([](StoreUnderTest& under_test) {
    const auto store = under_test.open();
    add_project(*store);
    must(store->add_token(full_token("t1"), audit_entry("token")));
    Token other = full_token("t1");
    other.secret_sha256 = "0";
    CHECK(error_of(store->add_token(other, audit_entry("refused"))) == ErrorCode::conflict);
    CHECK(must(store->token("t1")).value().secret_sha256 == "5ec3e7");
    Token lost = full_token("t3");
    lost.project = "nowhere";
    CHECK(error_of(store->add_token(lost, audit_entry("refused"))) == ErrorCode::not_found);
    CHECK(error_of(store->revoke_token("t9", at(1), audit_entry("refused"))) == ErrorCode::not_found);

    // Why: the audit entry is part of the change, so a refused change leaves none.
    for (const AuditEntry& entry : must(store->audit("", 100))) CHECK(entry.action != "refused");
  });
}

TEST_CASE("store: the audit log is read newest first, by project, up to a limit") {
  on_each_store([](StoreUnderTest& under_test) {
    const auto store = under_test.open();
    add_project(*store);  // writes the entry "project"
    Token token = full_token("t1");
    must(store->add_token(token, {at(3), "llama", "root", "token", "t1, upload"}));
    must(store->revoke_token("t1", at(4), {at(4), "", "root", "revoke", "t1"}));

    const auto all = must(store->audit("", 100));
    REQUIRE(all.size() == 3);
    CHECK(all[0].action == "revoke");
    CHECK(all[1].action == "token");
    CHECK(all[2].action == "project");
    const auto of_llama = must(store->audit("llama", 1));
    REQUIRE(of_llama.size() == 1);
    CHECK(of_llama[0].at == at(3));
    CHECK(of_llama[0].project == "llama");
    CHECK(of_llama[0].actor == "root");
    CHECK(of_llama[0].detail == "t1, upload");
    CHECK(must(store->audit("bert", 100)).empty());
    CHECK(must(store->audit("", 0)).empty());
    CHECK(must(store->audit("", -1)).empty());
  });
}
