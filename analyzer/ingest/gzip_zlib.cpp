#include <zlib.h>

#include <algorithm>

#include "analyzer/core/assert.hpp"
#include "analyzer/ingest/gzip_member.hpp"

namespace traceweir::ingest {
namespace {

constexpr int gzip_only = 16 + MAX_WBITS;
constexpr std::size_t piece_bytes_max = std::size_t{1} << 30;  // zlib counts in 32 bits

class ZlibMember final : public GzipMember {
 public:
  ZlibMember() : status_(::inflateInit2(&stream_, gzip_only)) {
    TRACEWEIR_ASSERT(status_ == Z_OK || status_ == Z_MEM_ERROR);
  }
  ZlibMember(const ZlibMember&) = delete;
  ZlibMember& operator=(const ZlibMember&) = delete;
  ~ZlibMember() override { ::inflateEnd(&stream_); }

  [[nodiscard]] bool has_memory() const { return status_ == Z_OK; }

  void begin() override { ::inflateReset(&stream_); }

  Step inflate(std::span<const char> in, std::span<char> out) override {
    const auto input = static_cast<uInt>(std::min(in.size(), piece_bytes_max));
    const auto room = static_cast<uInt>(std::min(out.size(), piece_bytes_max));
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(in.data()));  // zlib.h without ZLIB_CONST
    stream_.avail_in = input;
    stream_.next_out = reinterpret_cast<Bytef*>(out.data());
    stream_.avail_out = room;
    const int status = ::inflate(&stream_, Z_NO_FLUSH);
    Step step{input - stream_.avail_in, room - stream_.avail_out, State::going_on, {}};
    if (status == Z_STREAM_END) step.state = State::whole;
    if (status != Z_STREAM_END && status != Z_OK && status != Z_BUF_ERROR) {
      step.state = State::damaged;
      step.why = stream_.msg != nullptr ? stream_.msg : "unknown damage";
    }
    return step;
  }

 private:
  z_stream stream_{};
  int status_;
};

}  // namespace

std::unique_ptr<GzipMember> gzip_member_of_zlib() {
  auto member = std::make_unique<ZlibMember>();
  if (!member->has_memory()) return nullptr;
  return member;
}

}  // namespace traceweir::ingest
