#include "analyzer/ingest/sniff.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

namespace traceweir::ingest {
namespace {

constexpr std::string_view what_is_read =
    "PyTorch profiler (Kineto) JSON, plain or gzip, and Nsight Systems SQLite exports "
    "(nsys export --type sqlite -o report.sqlite report.nsys-rep)";

constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

/// Something that people upload by mistake.
struct Refused {
  std::string_view magic;
  enum class Where { begin, anywhere } where;
  std::string_view what;
};

using Where = Refused::Where;
constexpr Refused refused[] = {
    // Reports and raw captures of Nsight Systems have no documented magic; the names of NVIDIA's own classes are
    // inside.
    {"QuadD", Where::anywhere,
     "a binary report of Nsight Systems; export it first: nsys export --type sqlite -o report.sqlite report.nsys-rep"},
    {"QDSTRM", Where::begin,
     "a raw capture of Nsight Systems; import it, then: nsys export --type sqlite -o report.sqlite report.nsys-rep"},
    {"NVIDIA Nsight Systems", Where::anywhere,
     "a binary report of Nsight Systems; export it first: nsys export --type sqlite -o report.sqlite report.nsys-rep"},
    {std::string_view("NVR\0", 4), Where::begin,
     "a report of Nsight Compute; Traceweir reads whole timelines, from the PyTorch profiler or Nsight Systems"},
    {"PK\x03\x04", Where::begin, "a zip archive; unpack it and upload the trace itself"},
    {"\xFD"
     "7zXZ",
     Where::begin, "compressed with xz; decompress it first: xz -d FILE"},
    {"BZh", Where::begin, "compressed with bzip2; decompress it first: bzip2 -d FILE"},
    {"\x28\xB5\x2F\xFD", Where::begin, "compressed twice, with zstd inside; decompress it first: zstd -d FILE"},
    {"\x04\x22\x4D\x18", Where::begin, "compressed with lz4; decompress it first: lz4 -d FILE"},
    {"\x1F\x8B", Where::begin, "compressed twice with gzip; decompress it once: gzip -d FILE.gz"},
    {"<!DOCTYPE", Where::begin, "an HTML page; a download that was redirected to a log-in page looks like this"},
    {"<html", Where::begin, "an HTML page; a download that was redirected to a log-in page looks like this"},
    {"version https://git-lfs", Where::begin, "a Git LFS pointer; fetch the file itself: git lfs pull"},
};

bool matches(const Refused& row, std::string_view head) {
  return row.where == Where::begin ? head.starts_with(row.magic) : head.find(row.magic) != std::string_view::npos;
}

/// The first bytes, so that a person can tell what they uploaded.
std::string first_bytes(std::string_view head) {
  std::string out;
  for (const char c : head.substr(0, 16)) {
    const auto byte = static_cast<unsigned char>(c);
    out += byte >= 0x20 && byte < 0x7F && c != '\\' ? std::string(1, c) : fmt::format("\\x{:02x}", byte);
  }
  return out;
}

}  // namespace

bool looks_like_json(std::string_view head) {
  if (head.starts_with(byte_order_mark)) head.remove_prefix(byte_order_mark.size());
  const std::size_t first = head.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && (head[first] == '{' || head[first] == '[');
}

Error refusal_of(std::string_view head) {
  for (const Refused& row : refused)
    if (matches(row, head)) return {ErrorCode::unsupported_format, fmt::format("the file is {}", row.what)};
  return {ErrorCode::unknown_format,
          fmt::format("the file begins with \"{}\", which is no trace that is known; read are {}", first_bytes(head),
                      what_is_read)};
}

}  // namespace traceweir::ingest
