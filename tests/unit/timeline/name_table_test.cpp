#include "analyzer/timeline/name_table.hpp"

#include <doctest/doctest.h>

#include <string>

namespace tml = traceweir::timeline;

// Why: the table is a hash table of our own; it must stay one while it grows over many texts that share beginnings.
TEST_CASE("NameTable: every text keeps its id") {
  tml::NameTable table;
  CHECK(table.find("") == std::nullopt);
  constexpr std::uint32_t count = 20'000;
  for (std::uint32_t i = 0; i < count; ++i) REQUIRE(table.add("name " + std::to_string(i)) == tml::NameId{i});
  CHECK(table.add("") == tml::NameId{count});
  CHECK(table.add("name 7") == tml::NameId{7});
  CHECK(table.size() == count + 1);
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::string text = "name " + std::to_string(i);
    REQUIRE(table.find(text) == tml::NameId{i});
    REQUIRE(table.text(tml::NameId{i}) == text);
  }
  CHECK(table.find("name") == std::nullopt);
  CHECK(std::move(table).take().size() == count + 1);
}
