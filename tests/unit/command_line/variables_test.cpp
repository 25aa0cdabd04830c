#include "command_line/variables.hpp"

#include <doctest/doctest.h>

#include <cstdlib>

namespace traceweir::command_line {
namespace {

/// A variable of this process while it lives.
class Variable {
 public:
  explicit Variable(std::string name) : name_(std::move(name)) { ::setenv(name_.c_str(), "x", 1); }
  ~Variable() { ::unsetenv(name_.c_str()); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  std::string name_;
};

/// Those about variables of this test: others may be set around it.
std::vector<std::string> sentences_about(std::string_view part, const std::vector<std::string>& read,
                                         std::span<const std::string_view> of_others) {
  std::vector<std::string> sentences = unread_variables(read, of_others);
  std::erase_if(sentences, [part](const std::string& one) { return one.find(part) == std::string::npos; });
  return sentences;
}

TEST_CASE("a variable that nobody reads is told of, with the one that was meant") {
  const Variable misspelt("TRACEWEIR_UNITTEST_BYTES_MX"), strange("TRACEWEIR_UNITTEST_SOMETHING_ELSE"),
      read("TRACEWEIR_UNITTEST_BYTES_MAX"), others("TRACEWEIR_UNITTEST_TOKEN"), elsewhere("OTHER_UNITTEST_BYTES_MX");
  constexpr std::string_view of_others[] = {"TRACEWEIR_UNITTEST_TOKEN"};
  CHECK(sentences_about("UNITTEST", {"TRACEWEIR_UNITTEST_BYTES_MAX", "TRACEWEIR_STORE"}, of_others) ==
        std::vector<std::string>{
            "the variable TRACEWEIR_UNITTEST_BYTES_MX is read by nobody; did you mean TRACEWEIR_UNITTEST_BYTES_MAX?",
            "the variable TRACEWEIR_UNITTEST_SOMETHING_ELSE is read by nobody"});
}

TEST_CASE("a program that reads no variables has nothing to propose") {
  const Variable strange("TRACEWEIR_UNITTEST_X");
  CHECK(sentences_about("UNITTEST", {}, {}) ==
        std::vector<std::string>{"the variable TRACEWEIR_UNITTEST_X is read by nobody"});
}

}  // namespace
}  // namespace traceweir::command_line
