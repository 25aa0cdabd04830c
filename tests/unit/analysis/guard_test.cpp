#include <doctest/doctest.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>

#include "sandbox/contract.hpp"
#include "server/analysis/child.hpp"

using namespace traceweir;
using namespace traceweir::analysis;
using namespace std::chrono_literals;
using How = ChildEnd::How;

namespace {

/// Runs a shell script as a child of which `demanded` is asked.
ChildEnd run(const std::string& script, const sandbox::Parts& demanded) {
  const ChildLimits limits{20s, 0, 64, 1 << 20, 1 << 10, 0, demanded};
  const int nothing = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  const ChildFiles files[] = {{nothing}};
  Children children;
  auto end = children.run({"/bin/sh", "-c", script}, limits, files);
  ::close(nothing);
  if (!end) FAIL(end.error().message);
  return *std::move(end);
}

}  // namespace

// Why: a child that skipped its sandbox, by a bug or an old program, must not be able to pass for one that did not. A
// shell has no filter, so that the kernel contradicts whatever it says of one.
TEST_CASE("child: without the sandbox that was asked for nothing of it is believed") {
  const sandbox::Parts filter{true, 0};
  const sandbox::Parts landlock{false, 3};
  struct Row {
    const char* script;
    sandbox::Parts demanded;
    How how;
  };
  const Row rows[] = {
      {"echo report", {}, How::exited},
      {"echo report", filter, How::unguarded},
      {"echo report", landlock, How::unguarded},
      {"exec 3>&-; exec sleep 600", filter, How::unguarded},
      {"echo hello >&3; exec 3>&-; exec sleep 600", filter, How::unguarded},
      {"echo 'sandbox seccomp=0 landlock=7' >&3; echo report", filter, How::unguarded},
      {"echo 'sandbox seccomp=1 landlock=7' >&3; exec 3>&-; exec sleep 600", filter, How::unguarded},
      {"echo 'sandbox seccomp=1 landlock=7' >&3; echo report", landlock, How::unguarded},
      {"echo 'sandbox seccomp=0 landlock=2' >&3; echo report", landlock, How::unguarded},
      {"echo 'sandbox seccomp=0 landlock=3' >&3; echo report", landlock, How::exited},
      {"head -c 100000 /dev/zero >&3; exec sleep 600", landlock, How::unguarded},
      {"kill -SEGV $$", filter, How::signalled},
  };
  for (const Row& row : rows) {
    CAPTURE(row.script);
    CHECK(run(row.script, row.demanded).how == row.how);
  }
}

TEST_CASE("child: its word is what it says where the kernel does not contradict") {
  CHECK_FALSE(run("echo report", {}).sandbox);
  CHECK_FALSE(run("echo 'sandbox seccomp=1 landlock=7' >&3", {}).sandbox);
  CHECK(run("echo 'sandbox seccomp=0 landlock=7' >&3", {}).sandbox == sandbox::Parts{false, 7});
}

TEST_CASE("contract: the line about the sandbox, both ways") {
  for (const sandbox::Parts parts : {sandbox::Parts{}, sandbox::Parts{true, 0}, sandbox::Parts{true, 7}})
    CHECK(sandbox::parts_of(sandbox::to_line(parts)) == parts);
  for (const char* line : {"", "\n", "sandbox", "sandbox seccomp=2 landlock=1\n", "sandbox seccomp=1 landlock=-1\n",
                           "sandbox seccomp=1 landlock=1", "sandbox seccomp=1 landlock=1\n\n",
                           "sandbox seccomp=1 landlock=99999999999\n", " sandbox seccomp=1 landlock=1\n"})
    CHECK_FALSE(sandbox::parts_of(line));
  CHECK(sandbox::describe({true, 7}) == "seccomp, landlock abi 7");
  CHECK(sandbox::describe({false, 2}) == "landlock abi 2");
  CHECK(sandbox::describe({}) == "nothing");
}
