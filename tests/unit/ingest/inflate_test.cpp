#include <doctest/doctest.h>
#include <zstd.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/ingest/inflate.hpp"
#include "analyzer/ingest/inflate_parts.hpp"
#include "tests/unit/ingest/kineto_files.hpp"

using namespace traceweir;
using namespace traceweir::ingest;
using ingest::test::BytesFile;
using ingest::test::gzipped;

namespace {

/// All that a file gives, and the error that ended it.
struct Drained {
  std::string text;
  std::optional<Error> error;
};

Drained drain_source(ByteSource& source, std::size_t piece) {
  Drained out;
  std::vector<char> buffer(piece);
  for (;;) {
    const auto got = source.read(buffer);
    if (!got) return out.error = got.error(), out;
    if (*got == 0) return out;
    out.text.append(buffer.data(), *got);
  }
}

Drained drain(const std::filesystem::path& path, const ReadLimits& limits = {}, std::size_t piece = 1000) {
  auto source = open_bytes(path, limits);
  if (!source) return {"", source.error()};
  return drain_source(**source, piece);
}

using MakeMember = std::unique_ptr<GzipMember> (*)();

/// By one library for gzip.
Drained drain_by(MakeMember make, const std::filesystem::path& path, const ReadLimits& limits = {},
                 std::size_t piece = 1000) {
  auto file = File::open(path);
  REQUIRE(file);
  auto source = gzip_source(*std::move(file), limits, make());
  REQUIRE(source);
  return drain_source(**source, piece);
}

/// All that this build has; what holds of one must hold of the other.
std::vector<MakeMember> gzip_libraries() {
  std::vector<MakeMember> out = {&gzip_member_of_zlib};
  if (gzip_member_of_isal() != nullptr) out.push_back(&gzip_member_of_isal);
  return out;
}

/// `window_log` 0: the library's choice. Streamed, so that the frame does not state its size.
std::string zstd_compressed(std::string_view text, int window_log = 0) {
  ZSTD_CCtx* context = ZSTD_createCCtx();
  if (window_log != 0) ZSTD_CCtx_setParameter(context, ZSTD_c_windowLog, window_log);
  std::string out(ZSTD_compressBound(text.size()) + 64, '\0');
  ZSTD_inBuffer in{text.data(), text.size(), 0};
  ZSTD_outBuffer to{out.data(), out.size(), 0};
  while (ZSTD_compressStream2(context, &to, &in, ZSTD_e_continue) > 0 && in.pos < in.size) {
  }
  while (ZSTD_compressStream2(context, &to, &in, ZSTD_e_end) != 0) {
  }
  ZSTD_freeCCtx(context);
  out.resize(to.pos);
  return out;
}

std::string text_of_size(std::size_t size) {
  std::string out;
  for (std::size_t i = 0; out.size() < size; ++i) out += std::to_string(i * 7919) + ",";
  out.resize(size);
  return out;
}

}  // namespace

// Why: names lie; the bytes say what a file is.
TEST_CASE("open_bytes: plain and gzip by content, members one after another") {
  const std::string text = text_of_size(300'000);
  const std::string more = text_of_size(5'000);
  CHECK(drain(BytesFile(text, ".json.gz").path()).text == text);
  CHECK(drain(BytesFile(gzipped(text), ".json").path()).text == text);
  for (const MakeMember make : gzip_libraries()) {
    CHECK(drain_by(make, BytesFile(gzipped(text) + gzipped("") + gzipped(more)).path()).text == text + more);
    // padded by a tape or a device
    CHECK(drain_by(make, BytesFile(gzipped(text) + std::string(512, '\0')).path()).text == text);
    for (const std::size_t piece : {std::size_t{1}, std::size_t{70'000}, std::size_t{1} << 20}) {
      const BytesFile file(gzipped(more) + gzipped(more));
      const Drained got = drain_by(make, file.path(), {}, piece);
      CHECK(got.text == more + more);
      CHECK_FALSE(got.error);
    }
  }
  const BytesFile packed(gzipped(more));
  const BytesFile plain(more);
  CHECK((*open_bytes(packed.path(), {}))->compression() == Compression::gzip);
  CHECK((*open_bytes(plain.path(), {}))->compression() == Compression::none);
}

// Why: a job that was killed leaves half a member; what came before stays usable, and the end is told.
TEST_CASE("open_bytes: a cut or damaged member gives what stood before it, then malformed_trace") {
  for (const MakeMember make : gzip_libraries()) {
    const std::string text = text_of_size(300'000);
    const std::string packed = gzipped(text);
    for (const std::size_t size :
         {std::size_t{1}, std::size_t{5}, std::size_t{11}, packed.size() / 2, packed.size() - 1}) {
      CAPTURE(size);
      std::string bytes = packed.substr(0, size);
      if (size == 1) bytes = gzipped("") + bytes;  // one byte alone is no gzip yet
      const BytesFile file(bytes);
      const Drained got = drain_by(make, file.path());
      REQUIRE(got.error);
      CHECK(got.error->code == ErrorCode::malformed_trace);
      CHECK(text.starts_with(got.text));
    }
    std::string damaged = packed;
    damaged[packed.size() / 2] = static_cast<char>(damaged[packed.size() / 2] ^ 0x55);
    const BytesFile damaged_file(damaged);
    const Drained got = drain_by(make, damaged_file.path());
    REQUIRE(got.error);
    CHECK(got.error->code == ErrorCode::malformed_trace);
    CHECK(got.text.size() > 1000);

    std::string wrong_sum = packed;
    wrong_sum[packed.size() - 6] = static_cast<char>(wrong_sum[packed.size() - 6] ^ 1);
    const BytesFile wrong_sum_file(wrong_sum);
    CHECK(drain_by(make, wrong_sum_file.path()).error->code == ErrorCode::malformed_trace);

    const BytesFile junk_behind(packed + "junk");
    const Drained junk = drain_by(make, junk_behind.path());
    CHECK(junk.text == text);
    CHECK(junk.error->code == ErrorCode::malformed_trace);
  }
}

// Why: a bomb must cost its limit and no more, and splitting it into members must not help it.
TEST_CASE("open_bytes: limits count over all members") {
  for (const MakeMember make : gzip_libraries()) {
    const std::string zeros(std::size_t{3} << 20, '\0');
    const std::string bomb = gzipped(zeros);
    const BytesFile one(bomb);
    const Drained by_ratio = drain_by(make, one.path());
    REQUIRE(by_ratio.error);
    CHECK(by_ratio.error->code == ErrorCode::trace_too_large);
    CHECK(by_ratio.error->message.find("inflate_ratio_max") != std::string::npos);

    std::string members;
    const std::string small = gzipped(std::string(std::size_t{100} << 10, '\0'));
    for (int i = 0; i < 40; ++i) members += small;
    const BytesFile many(members);
    CHECK(drain_by(make, many.path()).error->code == ErrorCode::trace_too_large);

    ReadLimits limits;
    limits.inflate_ratio_max = 1e9;
    limits.inflated_bytes_max = zeros.size() - 1;
    const Drained by_size = drain_by(make, one.path(), limits);
    REQUIRE(by_size.error);
    CHECK(by_size.error->code == ErrorCode::trace_too_large);
    CHECK(by_size.error->message.find("inflated_bytes_max") != std::string::npos);
    limits.inflated_bytes_max = zeros.size();
    CHECK_FALSE(drain_by(make, one.path(), limits).error);

    const BytesFile plain(text_of_size(5000));
    limits.inflated_bytes_max = 4999;
    CHECK(drain(plain.path(), limits).error->code == ErrorCode::trace_too_large);
  }
}

// Why: which library a build has must not decide what is a trace: the same bytes come out of a whole file, and damage
// is damage.
TEST_CASE("open_bytes: the libraries for gzip agree on damaged files too") {
  if (gzip_libraries().size() < 2) {
    MESSAGE("this build has zlib alone");
    return;
  }
  std::mt19937 random(7);
  for (int round = 0; round < 400; ++round) {
    CAPTURE(round);
    std::string packed = gzipped(text_of_size(random() % 3000)) + gzipped(text_of_size(random() % 300));
    if (round % 3 == 1) packed.resize(2 + random() % (packed.size() - 2));
    if (round % 3 == 2) packed[2 + random() % (packed.size() - 2)] ^= static_cast<char>(1U << random() % 8);
    const std::size_t piece = 1 + random() % 2000;
    const BytesFile file(packed);
    const Drained zlib = drain_by(&gzip_member_of_zlib, file.path(), {}, piece);
    const Drained isal = drain_by(&gzip_member_of_isal, file.path(), {}, piece);
    REQUIRE(zlib.error.has_value() == isal.error.has_value());
    if (!zlib.error) CHECK(zlib.text == isal.text);
    if (!zlib.error) continue;
    CHECK(zlib.error->code == isal.error->code);
    CHECK((zlib.text.starts_with(isal.text) || isal.text.starts_with(zlib.text)));
  }
}

// Why: honest traces compress up to 30 : 1, and their first KiB much better.
TEST_CASE("open_bytes: the ratio of a small file is nobody's business") {
  for (const MakeMember make : gzip_libraries()) {
    const BytesFile small(gzipped(std::string(std::size_t{1} << 20, ' ')));
    CHECK_FALSE(drain_by(make, small.path()).error);
  }
}

TEST_CASE("open_bytes: what cannot be opened or is not read") {
  CHECK(drain("/nonexistent/trace.json").error->code == ErrorCode::io_failed);
  CHECK(drain("/").error->code == ErrorCode::io_failed);
}

// Why: zstd is what people compress big traces with; its bombs are thirty times worse than those of gzip.
TEST_CASE("open_bytes: zstd frames as one stream, cut, damaged, and beyond the limits") {
  const std::string text = text_of_size(300'000);
  const std::string packed = zstd_compressed(text);
  const BytesFile two(packed + zstd_compressed("tail"));
  for (const std::size_t piece : {std::size_t{1}, std::size_t{1000}, std::size_t{1} << 20})
    CHECK(drain(two.path(), {}, piece).text == text + "tail");
  CHECK((*open_bytes(two.path(), {}))->compression() == Compression::zstd);
  for (const std::size_t size : {std::size_t{5}, packed.size() / 2, packed.size() - 1}) {
    CAPTURE(size);
    const BytesFile cut(packed.substr(0, size));
    const Drained got = drain(cut.path());
    REQUIRE(got.error);
    CHECK(got.error->code == ErrorCode::malformed_trace);
    CHECK(text.starts_with(got.text));
  }
  const BytesFile followed(packed + "no frame");
  CHECK(drain(followed.path()).error->code == ErrorCode::malformed_trace);
  const BytesFile bomb(zstd_compressed(std::string(std::size_t{64} << 20, '\0')));
  CHECK(drain(bomb.path()).error->code == ErrorCode::trace_too_large);
  ReadLimits small;
  small.inflated_bytes_max = text.size() - 1;
  CHECK(drain(two.path(), small).error->message.find("inflated_bytes_max") != std::string::npos);
}

TEST_CASE("open_bytes: a zstd frame may not ask for a huge window") {
  const BytesFile wide(zstd_compressed(text_of_size(5'000), 27));
  const Drained got = drain(wide.path());
  REQUIRE(got.error);
  CHECK(got.error->code == ErrorCode::trace_too_large);
  CHECK(got.error->message.find("zstd_window_bytes_max") != std::string::npos);
}
