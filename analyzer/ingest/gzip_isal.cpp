#include "analyzer/ingest/gzip_member.hpp"

#ifdef TRACEWEIR_HAS_ISAL
#include <isa-l/igzip_lib.h>

#include <algorithm>

namespace traceweir::ingest {
namespace {

/// What the codes of the library mean, in the words of zlib.
struct Damage {
  int code;
  std::string_view why;
};
constexpr Damage damages[] = {
    {ISAL_INVALID_BLOCK, "invalid block"},
    {ISAL_INVALID_SYMBOL, "invalid code"},
    {ISAL_INVALID_LOOKBACK, "invalid distance too far back"},
    {ISAL_INVALID_WRAPPER, "incorrect header check"},
    {ISAL_UNSUPPORTED_METHOD, "unknown compression method"},
    {ISAL_INCORRECT_CHECKSUM, "incorrect data check"},
};

std::string_view why(int code) {
  for (const Damage& row : damages)
    if (row.code == code) return row.why;
  return "unknown damage";
}

class IsalMember final : public GzipMember {
 public:
  IsalMember() : state_(std::make_unique<inflate_state>()) { ::isal_inflate_init(state_.get()); }

  void begin() override {
    ::isal_inflate_reset(state_.get());
    state_->crc_flag = ISAL_GZIP;
    seen_ = 0;
  }

  Step inflate(std::span<const char> in, std::span<char> out) override {
    if (has_unknown_flags(in)) return {flags_at - seen_, 0, State::damaged, "unknown header flags set"};
    const auto input = static_cast<std::uint32_t>(std::min(in.size(), piece_bytes_max));
    const auto room = static_cast<std::uint32_t>(std::min(out.size(), piece_bytes_max));
    state_->next_in = reinterpret_cast<std::uint8_t*>(const_cast<char*>(in.data()));  // the header knows no const
    state_->avail_in = input;
    state_->next_out = reinterpret_cast<std::uint8_t*>(out.data());
    state_->avail_out = room;
    const int code = ::isal_inflate(state_.get());
    if (state_->avail_in > input) return {0, 0, State::damaged, "unknown damage"};  // it cannot give back more
    Step step{input - state_->avail_in, room - state_->avail_out, State::going_on, {}};
    seen_ += step.taken;
    if (code < 0 || code == ISAL_NEED_DICT) {
      step.state = State::damaged;
      step.why = why(code);
    } else if (state_->block_state == ISAL_BLOCK_FINISH) {
      step.state = State::whole;
    }
    return step;
  }

 private:
  /// The library passes over the flags that no version of gzip has, where zlib refuses them.
  [[nodiscard]] bool has_unknown_flags(std::span<const char> in) const {
    constexpr unsigned unknown_flags = 0xE0;
    return seen_ <= flags_at && flags_at - seen_ < in.size() &&
           (static_cast<unsigned char>(in[flags_at - seen_]) & unknown_flags) != 0;
  }

  static constexpr std::size_t flags_at = 3;                            ///< in a member
  static constexpr std::size_t piece_bytes_max = std::size_t{1} << 30;  // the library counts in 32 bits

  std::unique_ptr<inflate_state> state_;
  std::size_t seen_ = 0;  ///< bytes of the member
};

}  // namespace

std::unique_ptr<GzipMember> gzip_member_of_isal() { return std::make_unique<IsalMember>(); }

}  // namespace traceweir::ingest

#else

namespace traceweir::ingest {
std::unique_ptr<GzipMember> gzip_member_of_isal() { return nullptr; }
}  // namespace traceweir::ingest

#endif
