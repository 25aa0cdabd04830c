// What the contract suite cannot ask for cheaply: the bounds of the walk. The orders themselves are tested there.
#include "server/store/commit_order.hpp"

#include <doctest/doctest.h>

using namespace traceweir::store;

namespace {

/// The parent of number n is n - 1, down to 0.
std::optional<std::string> number_before(const std::string& sha) {
  const long number = std::stol(sha);
  return number > 0 ? std::optional(std::to_string(number - 1)) : std::nullopt;
}

using Order = std::vector<std::size_t>;
using Commits = std::vector<std::string_view>;

}  // namespace

TEST_CASE("commit order: chains that share their upper part ask for no commit twice") {
  std::size_t questions = 0;
  const auto counted = [&](const std::string& sha) {
    ++questions;
    return number_before(sha);
  };
  // Why: below 1'000 nothing was measured, so every walk could go down to 0.
  std::vector<std::string> numbers;
  for (int i = 0; i < 1'000; ++i) numbers.push_back(std::to_string(2'000 - i));
  const Order order = commit_order(Commits(numbers.begin(), numbers.end()), counted);
  CHECK(order.front() == 999);
  CHECK(order.back() == 0);
  CHECK(questions == 2'001);
}

TEST_CASE("commit order: the questions end, and what lies further counts as unknown") {
  std::size_t questions = 0;
  const auto counted = [&](const std::string& sha) {
    ++questions;
    return number_before(sha);
  };
  const std::string near = std::to_string(parent_questions_max), far = std::to_string(parent_questions_max + 1);
  CHECK(commit_order(Commits{near, "0"}, counted) == Order{1, 0});
  CHECK(questions <= parent_questions_max);
  questions = 0;
  CHECK(commit_order(Commits{far, "0"}, counted) == Order{0, 1});
  CHECK(questions == parent_questions_max);
}

TEST_CASE("commit order: nothing, and one") {
  CHECK(commit_order({}, number_before).empty());
  CHECK(commit_order(Commits{"7"}, number_before) == Order{0});
}

TEST_CASE("commit order: runs of one commit stay in their order, and come before its children's") {
  const Commits commits{"2", "1", "2", "0", "1", "2"};
  CHECK(commit_order(commits, number_before) == Order{3, 1, 4, 0, 2, 5});
}
