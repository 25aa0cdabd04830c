#include <doctest/doctest.h>
#include <stdlib.h>  // NOLINT: mkdtemp

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "cli/trace_files.hpp"

using namespace traceweir;
using namespace traceweir::cli;
namespace fs = std::filesystem;

namespace {

const std::string sqlite = std::string("SQLite format 3", 15) + '\0' + std::string(100, '\0');
const std::string profile = "QuadD" + std::string(100, '\1');

/// A folder of its own; files by name.
class Folder {
 public:
  Folder() {
    std::string name = fs::temp_directory_path() / "traceweir-files-XXXXXX";
    REQUIRE(::mkdtemp(name.data()) != nullptr);
    path_ = name;
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() { fs::remove_all(path_); }

  std::string add(const std::string& name, const std::string& text) const {
    std::ofstream(path_ / name, std::ios::binary) << text;
    return path_ / name;
  }
  [[nodiscard]] std::string operator()(const std::string& name) const { return path_ / name; }
  [[nodiscard]] std::string text() const { return path_; }

 private:
  fs::path path_;
};

std::vector<std::string> names(const std::vector<std::string>& given) {
  const auto files = trace_files(given);
  REQUIRE(files.has_value());
  std::vector<std::string> found;
  for (const std::string& file : *files) found.push_back(fs::path(file).filename());
  return found;
}

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("trace files: a report beside its export counts once, however they are given") {
  const Folder folder;
  for (const char* rank : {"rank0", "rank1"}) {
    folder.add(std::string(rank) + ".nsys-rep", profile);
    folder.add(std::string(rank) + ".sqlite", sqlite);
  }
  folder.add("old.qdrep", profile);
  folder.add("old.sqlite", sqlite);
  folder.add("rank2.nsys-rep", profile);
  const Names expected = {"rank0.sqlite", "rank1.sqlite", "rank2.nsys-rep"};
  CHECK(names({folder("rank*")}) == expected);
  CHECK(names({folder("rank0.nsys-rep"), folder("rank0.sqlite"), folder("rank1.sqlite"), folder("rank1.nsys-rep"),
               folder("rank2.nsys-rep")}) == expected);
  CHECK(names({folder("rank*.nsys-rep"), folder("*.sqlite")}) ==
        Names{"rank2.nsys-rep", "old.sqlite", "rank0.sqlite", "rank1.sqlite"});
  CHECK(names({folder("old*")}) == Names{"old.sqlite"});
  CHECK(names({folder.text()}) == Names{"old.sqlite", "rank0.sqlite", "rank1.sqlite", "rank2.nsys-rep"});
}

TEST_CASE("trace files: a report that is given alone stays, and so does one of another folder") {
  const Folder folder, other;
  const std::string alone = folder.add("rank0.nsys-rep", profile);
  const std::string beside = folder.add("rank0.sqlite", sqlite);
  const std::string elsewhere = other.add("rank0.sqlite", sqlite);
  CHECK(names({alone}) == Names{"rank0.nsys-rep"});
  CHECK(names({alone, elsewhere}) == Names{"rank0.nsys-rep", "rank0.sqlite"});
  CHECK(names({alone, other.text() + "/../" + fs::path(folder.text()).filename().string() + "/rank0.sqlite"}) ==
        Names{"rank0.sqlite"});
}
