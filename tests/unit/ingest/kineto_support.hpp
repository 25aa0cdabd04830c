// For: traces in memory for the tests of the Kineto reader. Not for: files (kineto_files.hpp).
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzer/ingest/inflate.hpp"
#include "analyzer/ingest/kineto_json.hpp"
#include "analyzer/timeline/timeline.hpp"

namespace traceweir::ingest::test {

/// Text as a ByteSource that gives it in pieces of chosen sizes; the last size goes on for ever.
class TextSource final : public ByteSource {
 public:
  explicit TextSource(std::string text, std::vector<std::size_t> sizes = {SIZE_MAX})
      : text_(std::move(text)), sizes_(std::move(sizes)) {}

  Result<std::size_t> read(std::span<char> buffer) override {
    const std::size_t size = sizes_[std::min(reads_++, sizes_.size() - 1)];
    const std::size_t got = std::min({size, buffer.size(), text_.size() - at_});
    std::copy_n(text_.begin() + static_cast<std::ptrdiff_t>(at_), got, buffer.begin());
    at_ += got;
    return got;
  }

 private:
  std::string text_;
  std::vector<std::size_t> sizes_;
  std::size_t reads_ = 0;
  std::size_t at_ = 0;
};

/// What the reader makes of `text`. Errors: those of read_kineto().
inline Result<timeline::Timeline> read_text(std::string_view text, std::vector<std::size_t> sizes = {SIZE_MAX}) {
  TextSource source{std::string(text), std::move(sizes)};
  return read_kineto(source);
}

inline ErrorCode error_of(const Result<timeline::Timeline>& result) {
  return result ? ErrorCode::internal : result.error().code;
}

/// `{"traceEvents": [events]}`.
inline std::string trace_of(std::string_view events) { return fmt::format(R"({{"traceEvents": [{}]}})", events); }

/// A kernel row. `more`: further members of args, each with a comma in front.
inline std::string kernel(std::string_view name, std::string_view ts, std::string_view dur,
                          std::string_view more = "") {
  return fmt::format(R"({{"ph": "X", "cat": "kernel", "name": "{}", "pid": 0, "tid": 7, "ts": {}, "dur": {}, )"
                     R"("args": {{"device": 0, "stream": 7, "correlation": 5{}}}}})",
                     name, ts, dur, more);
}

/// Everything of a timeline that a reader decides, as text: two readings are equal if their texts are.
inline std::string text_of(const timeline::Timeline& t) {
  std::string out =
      fmt::format("{} | {} {} | {} {} {} {}\n", t.source.producer, t.rank.value_or(-1), t.world_size.value_or(-1),
                  t.environment.driver, t.environment.cuda, t.environment.nccl, t.environment.framework);
  for (const auto& d : t.devices) out += fmt::format("device {} {}\n", d.ordinal, d.gpu);
  for (const auto& w : t.work)
    out += fmt::format("work {} {} {} {} {} {} {} {} {} {} {}\n", w.begin.count(), w.end.count(), w.stream, w.bytes,
                       t.name(w.name), w.call, w.message, static_cast<int>(w.device), static_cast<int>(w.kind),
                       word(w.collective), word(w.direction));
  for (const auto& m : t.messages)
    out += fmt::format("message {} {} {} {} {}\n", m.bytes, m.group_size, m.dtype, m.group, m.sequence.value_or(-1));
  for (const auto& c : t.calls)
    out += fmt::format("call {} {} {} {}\n", c.begin.count(), c.end.count(), t.name(c.name),
                       static_cast<unsigned>(c.thread));
  for (const auto& r : t.ranges)
    out += fmt::format("range {} {} {} {} {}\n", r.begin.count(), r.end.count(), t.name(r.name),
                       static_cast<unsigned>(r.thread), static_cast<int>(r.kind));
  for (const auto& [code, oddity] : t.oddities)
    out += fmt::format("odd {} {} {}\n", word(code), oddity.count, fmt::join(oddity.examples, "; "));
  return out;
}

inline std::int64_t oddities(const timeline::Timeline& t, FindingCode code) {
  const auto found = t.oddities.find(code);
  return found == t.oddities.end() ? 0 : found->second.count;
}

}  // namespace traceweir::ingest::test
