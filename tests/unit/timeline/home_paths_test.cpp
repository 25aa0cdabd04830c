// Homes in the names that jobs give.
#include "analyzer/timeline/home_paths.hpp"

#include <doctest/doctest.h>

using traceweir::timeline::may_hold_home;
using traceweir::timeline::without_homes;

// Why: names are returned to everyone who may read a report; the path of a home names a person.
TEST_CASE("home paths: whoever's home it is, it becomes a tilde") {
  struct Row {
    const char* text;
    const char* want;
  };
  const Row rows[] = {
      {"load /home/bob/data", "load ~/data"},
      {"/home/bob", "~"},
      {"/home/a/x:/home/b/y", "~/x:~/y"},
      {"open('/Users/bob/x')", "open('~/x')"},
      {"C:\\Users\\Bob Smith\\data", "~\\data"},
      {"C:\\\\Users\\\\bob\\\\data", "~\\\\data"},
      {"C:/Users/bob/data", "~/data"},
      {"read /root/x", "read ~/x"},
      {"/root", "~"},
      {"/rootfs/x", "/rootfs/x"},
      {"tree/root/leaf", "tree/root/leaf"},
      {"/home/", "/home/"},
      {"step 5/10", "step 5/10"},
      {"", ""},
  };
  for (const Row& row : rows) {
    CAPTURE(row.text);
    CHECK(without_homes(row.text) == row.want);
    CHECK((may_hold_home(row.text) || without_homes(row.text) == row.text));
  }
}
