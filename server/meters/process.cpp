#include "server/meters/process.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <system_error>
#include <vector>

namespace traceweir::meters {
namespace {

// Fields of /proc/self/stat behind the name of the program (field 2, which may hold anything), counted from there.
constexpr std::size_t start_ticks = 19;  // field 22
constexpr std::size_t resident_pages = 21;

std::vector<std::string> stat_fields() {
  std::ifstream file("/proc/self/stat");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  std::istringstream behind(text.substr(std::min(text.size(), text.rfind(')') + 1)));
  return {std::istream_iterator<std::string>(behind), {}};
}

std::uint64_t number(const std::vector<std::string>& fields, std::size_t index) {
  std::uint64_t value = 0;
  if (index < fields.size()) std::istringstream(fields[index]) >> value;
  return value;
}

double boot_seconds() {
  std::ifstream file("/proc/stat");
  std::string key;
  double value = 0;
  while (file >> key)
    if (key == "btime" && file >> value) return value;
  return 0;
}

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

std::uint64_t open_descriptors() {
  std::error_code error;
  std::uint64_t count = 0;
  for (std::filesystem::directory_iterator each("/proc/self/fd", error), end; !error && each != end;
       each.increment(error))
    ++count;
  return count;
}

}  // namespace

Process this_process() {
  const std::vector<std::string> fields = stat_fields();
  Process process;
  process.resident_bytes = number(fields, resident_pages) * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  process.open_descriptors = open_descriptors();
  process.start_seconds =
      boot_seconds() + static_cast<double>(number(fields, start_ticks)) / static_cast<double>(::sysconf(_SC_CLK_TCK));
  rusage used{};
  if (::getrusage(RUSAGE_SELF, &used) == 0) process.cpu_seconds = seconds(used.ru_utime) + seconds(used.ru_stime);
  return process;
}

}  // namespace traceweir::meters
