// For: the names of one Timeline's ranges, as a form and its numbers (RangeName). A million ranges of operators have a
// million names and a few hundred forms: the forms stay in the caches, and their numbers are written one after the
// other. Not for: other names; kernels that differ in a number are different kernels.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

#include "analyzer/core/text.hpp"
#include "analyzer/timeline/name_table.hpp"
#include "analyzer/timeline/timeline.hpp"

namespace traceweir::timeline {

class RangeNames {
 public:
  /// The name `text`, stored cleaned; its form goes to `forms`. Cost: O(n).
  RangeName name(std::string_view text, NameTable& forms);

  /// The numbers of all names. The object is empty afterwards.
  std::string take_numbers() &&;

 private:
  /// A name with more digits is its own form, stored once however often it comes: its numbers would be stored each
  /// time.
  static constexpr std::size_t digits_max = 32;

  /// A text while it is split. Shape: the numbers are a copy of all digits, with at most a comma behind each.
  struct Split {
    std::array<char, name_bytes_max> form;
    std::array<char, 2 * digits_max> numbers;
    std::size_t form_size = 0;
    std::size_t numbers_size = 0;
  };
  bool split(std::string_view text);
  RangeName store(NameTable& forms);

  Split split_;
  std::string numbers_;
  NameMap<RangeName> unclean_;  ///< by spellings that are not split as they stand
};

}  // namespace traceweir::timeline
