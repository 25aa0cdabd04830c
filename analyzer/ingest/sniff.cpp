#include "analyzer/ingest/sniff.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

namespace traceweir::ingest {
namespace {

constexpr std::string_view what_is_read =
    "PyTorch profiler (Kineto) JSON, plain, gzip or zstd, Nsight Systems SQLite exports "
    "(nsys export --type sqlite -o report.sqlite report.nsys-rep), rocpd databases of rocprofv3 and the output of nsys "
    "stats";

constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

/// Reports and raw captures of Nsight Systems have no documented magic; the names of NVIDIA's own classes are inside.
constexpr std::string_view nsys_report_words[] = {"QuadD", "NVIDIA Nsight Systems"};

constexpr std::string_view kept_as =
    "a binary report of Nsight Systems; export it first: nsys export --type sqlite -o report.sqlite report.nsys-rep";

/// Something that people upload by mistake.
struct Refused {
  std::string_view magic;
  enum class Where { begin, anywhere, tar } where;
  std::string_view what;
};

using Where = Refused::Where;
constexpr std::size_t tar_magic_at = 257;
constexpr Refused refused[] = {
    {"QDSTRM", Where::begin,
     "a raw capture of Nsight Systems; import it, then: nsys export --type sqlite -o report.sqlite report.nsys-rep"},
    {nsys_report_words[0], Where::anywhere, kept_as},
    {nsys_report_words[1], Where::anywhere, kept_as},
    {std::string_view("NVR\0", 4), Where::begin,
     "a report of Nsight Compute; Traceweir reads whole timelines, from the PyTorch profiler or Nsight Systems"},
    {"ustar", Where::tar, "a tar archive; unpack it and give the trace itself"},
    {"PK\x03\x04", Where::begin, "a zip archive; unpack it and upload the trace itself"},
    {"\xFD"
     "7zXZ",
     Where::begin, "compressed with xz; decompress it first: xz -d FILE"},
    {"BZh", Where::begin, "compressed with bzip2; decompress it first: bzip2 -d FILE"},
    {"\x28\xB5\x2F\xFD", Where::begin, "compressed twice, with zstd inside; decompress it first: zstd -d FILE"},
    {"\x04\x22\x4D\x18", Where::begin, "compressed with lz4; decompress it first: lz4 -d FILE"},
    {"\x1F\x8B", Where::begin, "compressed twice with gzip; decompress it once: gzip -d FILE.gz"},
    {"==", Where::begin,
     "text output of nvprof, which ended with CUDA 11; profile with nsys, or with the PyTorch profiler"},
    {"\"Index\",\"KernelName\"", Where::begin,
     "a table of rocprof (version 1); it has no times of copies and calls: profile with rocprofv3 --output-format "
     "rocpd"},
    {"Index,KernelName", Where::begin,
     "a table of rocprof (version 1); it has no times of copies and calls: profile with rocprofv3 --output-format "
     "rocpd"},
    {"<!DOCTYPE", Where::begin, "an HTML page; a download that was redirected to a log-in page looks like this"},
    {"<html", Where::begin, "an HTML page; a download that was redirected to a log-in page looks like this"},
    {"version https://git-lfs", Where::begin, "a Git LFS pointer; fetch the file itself: git lfs pull"},
};

/// A Perfetto trace is a row of packets: field 1, length-delimited, each with fields of its own inside.
bool is_perfetto(std::string_view head) {
  constexpr int packets_wanted = 3;
  std::size_t at = 0;
  for (int packet = 0; packet < packets_wanted; ++packet) {
    if (at + 2 > head.size() || head[at] != '\x0A') return false;
    std::size_t length = 0;
    int shift = 0;
    for (++at; at < head.size() && shift < 28; shift += 7) {
      const auto byte = static_cast<unsigned char>(head[at++]);
      length |= static_cast<std::size_t>(byte & 0x7FU) << shift;
      if ((byte & 0x80U) == 0) break;
    }
    if (length == 0) return false;
    at += length;
    if (at > head.size()) return packet > 0;  // the rest lies behind the head
  }
  return true;
}

bool matches(const Refused& row, std::string_view head) {
  if (row.where == Where::begin) return head.starts_with(row.magic);
  if (row.where == Where::tar) return head.size() > tar_magic_at && head.substr(tar_magic_at).starts_with(row.magic);
  return head.find(row.magic) != std::string_view::npos;
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

bool is_nsys_report(std::string_view head) {
  if (looks_like_json(head) || head.starts_with("SQLite format 3")) return false;
  return std::any_of(std::begin(nsys_report_words), std::end(nsys_report_words),
                     [&](std::string_view word) { return head.find(word) != std::string_view::npos; });
}

Error refusal_of(std::string_view head) {
  for (const Refused& row : refused)
    if (matches(row, head)) return {ErrorCode::unsupported_format, fmt::format("the file is {}", row.what)};
  if (is_perfetto(head))
    return {ErrorCode::unsupported_format,
            "the file is a Perfetto trace; Traceweir reads the JSON of the PyTorch profiler (export_chrome_trace) and "
            "exports of Nsight Systems"};
  return {ErrorCode::unknown_format,
          fmt::format("the file begins with \"{}\", which is no trace that is known; read are {}", first_bytes(head),
                      what_is_read)};
}

}  // namespace traceweir::ingest
