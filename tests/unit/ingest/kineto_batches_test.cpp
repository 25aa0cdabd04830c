// However many threads read a trace, what comes out is the same, errors too.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <random>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "analyzer/ingest/kineto_json.hpp"
#include "analyzer/ingest/kineto_masks.hpp"
#include "tests/unit/ingest/kineto_support.hpp"

using namespace traceweir;
using namespace traceweir::ingest;

namespace {

using Pieces = std::vector<std::size_t>;

std::string read_on(std::size_t threads, std::string_view text, Pieces pieces, std::size_t alone = 1) {
  test::TextSource source(std::string(text), std::move(pieces));
  const auto rank = read_kineto(source, threads, alone);
  return rank ? test::text_of(*rank) : rank.error().message;
}

/// Whatever a block begins in, every way finds the brackets that the loop over bytes finds, and ends in the same.
void check_brackets(const char* text, std::size_t blocks, unsigned begins_in) {
  const StringState begin{(begins_in & 1U) != 0, (begins_in & 2U) != 0};
  const auto of = [&](const MaskWay& way) {
    StringState state = begin;
    std::vector<BlockBrackets> out(blocks);
    way.brackets(text, blocks, state, out.data());
    return std::tuple(out, state.in_string, state.escaped);
  };
  for (const MaskWay& way : mask_ways()) {
    CAPTURE(way.name);
    CHECK((of(way) == of(mask_ways().back())));
  }
}

std::string event(std::mt19937& random, int i) {
  switch (random() % 6) {
    case 0:
      return fmt::format(R"({{"ph": "X", "cat": "kernel", "name": "k{}", "pid": 0, "tid": 7, "ts": {}.25, "dur": 9.5,)"
                         R"( "args": {{"device": {}, "stream": {}, "correlation": {}}}}})",
                         random() % 5000, i * 10, random() % 2, random() % 3, i);
    case 1:
      return fmt::format(R"({{"args": {{"correlation": {}}}, "dur": 3, "ts": {}, "tid": {}, "pid": 1, "name": )"
                         R"("cuda\u004caunchKernel", "cat": "cuda_runtime", "ph": "X"}})",
                         i, i * 10, random() % 3);
    case 2:
      return fmt::format(R"({{"ph": "X", "cat": "user_annotation", "name": "step {}", "pid": 1, "tid": 1, "ts": {}, )"
                         R"("dur": 5}})",
                         random() % 100, i * 10);
    case 3:
      return fmt::format(R"({{"ph": "X", "cat": "kernel", "name": "a "quoted" {}", "pid": 0, "tid": 7, "ts": {}, )"
                         R"("dur": NaN, "args": {{"device": 0}}}})",
                         i, i * 10);
    default:
      return fmt::format(R"({{"ph": "X", "cat": "cpu_op", "name": "aten::mm [{{]", "pid": 1, "tid": 1, "ts": {}, )"
                         R"("dur": 5, "args": {{"text": "\\\" }}]"}}}})",
                         i * 10);
  }
}

/// Several batches of events.
std::string trace(std::mt19937& random, int events) {
  std::string text = R"({"schemaVersion": 1, "deviceProperties": 7, "traceEvents": [)";
  for (int i = 0; i < events; ++i) text += (i == 0 ? "\n" : ",\n") + event(random, i);
  return text + R"(], "distributedInfo": [], "other": {"a": [1, "]"]}})";
}

}  // namespace

TEST_CASE("read_kineto: the same on 1, 2 and 5 threads, whole, cut and damaged") {
  std::mt19937 random(5);
  const std::string whole = trace(random, 24'000);
  REQUIRE(whole.size() > std::size_t{2} << 20);
  for (int round = 0; round < 12; ++round) {
    CAPTURE(round);
    std::string text = whole;
    if (round % 3 == 1) text.resize(random() % text.size());
    for (int changes = round % 4; changes > 0 && round > 2; --changes)
      text[random() % text.size()] = static_cast<char>(random());
    if (round == 2) text.insert(text.size() / 2, "\"");
    const Pieces pieces = {round % 2 == 0 ? text.size() : 100'000};
    const std::string alone = read_on(1, text, pieces);
    CHECK(read_on(2, text, pieces) == alone);
    CHECK(read_on(5, text, pieces) == alone);
  }
}

// Why: an upload that is read while it arrives comes in pieces of any size, and each read ends a batch.
TEST_CASE("read_kineto: the same from any pieces on any number of threads") {
  std::mt19937 random(7);
  const std::string text = trace(random, 3'000);
  const std::string want = read_on(1, text, {text.size()});
  CHECK(want.find("odd invalid_text") != std::string::npos);
  for (int round = 0; round < 20; ++round) {
    CAPTURE(round);
    Pieces pieces;
    const std::size_t most = std::size_t{1} << (6 + random() % 12);
    for (std::size_t sum = 0; sum < text.size(); sum += pieces.back()) pieces.push_back(1 + random() % most);
    const std::size_t threads = 1 + random() % 8, alone = random() % 8;
    CAPTURE(threads);
    CAPTURE(alone);
    CHECK(read_on(threads, text, pieces, alone) == want);
  }
}

// Why: the first thing that is wrong is what is told, and a thread that runs ahead must not tell another.
TEST_CASE("read_kineto: an error is the first one of the file, on any number of threads") {
  std::string numbers = "[";
  for (int i = 0; i < 400'000; ++i) numbers += "[1],";
  numbers += "}";
  const std::string alone = read_on(1, numbers, {numbers.size()});
  CHECK(alone.find("holds no events") != std::string::npos);
  for (int round = 0; round < 5; ++round) CHECK(read_on(4, numbers, {numbers.size()}) == alone);
}

// Why: which processor reads a trace must not decide what is in it.
TEST_CASE("masks: every way gives the same, on any bytes at any place") {
  std::mt19937 random(6);
  constexpr std::size_t blocks = 5;
  constexpr std::string_view alphabet = "{}[]\"\\;}[\x7b\xfb\xdb\xdd\x5c\x02\x00 a";
  for (int round = 0; round < 2000; ++round) {
    std::string text(blocks * block_bytes + 1, ' ');
    for (char& c : text) c = round % 2 == 0 ? static_cast<char>(random()) : alphabet[random() % alphabet.size()];
    const std::size_t offset = random() % 2;
    BlockMasks want[blocks];
    mask_ways().back().make(text.data() + offset, blocks, want);
    for (const MaskWay& way : mask_ways()) {
      CAPTURE(way.name);
      BlockMasks got[blocks];
      way.make(text.data() + offset, blocks, got);
      for (std::size_t i = 0; i < blocks; ++i) CHECK(got[i] == want[i]);
    }
    check_brackets(text.data() + offset, blocks, random() % 4);
  }
}
