#include "analyzer/ingest/kineto_event.hpp"

namespace traceweir::ingest {
namespace {

struct CategoryWord {
  std::string_view word;  ///< in lower case
  Category category;
};
constexpr CategoryWord category_words[] = {
    {"cpu_op", Category::cpu_op},
    {"kernel", Category::kernel},
    {"cuda_runtime", Category::call},
    {"cuda_driver", Category::call},
    {"gpu_memcpy", Category::memcpy},
    {"gpu_memset", Category::memset},
    {"user_annotation", Category::user_annotation},
    {"gpu_user_annotation", Category::gpu_annotation},
    // 2021
    {"operator", Category::operator_2021},
    {"runtime", Category::call},
    {"memcpy", Category::memcpy},
    {"memset", Category::memset},
};

bool equal_folded(std::string_view text, std::string_view lower_case) {
  if (text.size() != lower_case.size()) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const char folded = c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c;
    if (folded != lower_case[i]) return false;
  }
  return true;
}

}  // namespace

Category category_of(std::string_view cat) {
  for (const CategoryWord& row : category_words)
    if (equal_folded(cat, row.word)) return row.category;
  return Category::unneeded;
}

}  // namespace traceweir::ingest
