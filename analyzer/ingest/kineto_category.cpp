#include "analyzer/ingest/kineto_event.hpp"

#include <algorithm>

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
    {"xpu_runtime", Category::call},
    {"xpu_driver", Category::call},
    {"privateuse1_runtime", Category::call},
    {"privateuse1_driver", Category::call},
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

/// What else the profiler writes and no metric needs: host rows, other accelerators, its own bookkeeping.
/// Source: spec of formats, section 4.2.
constexpr std::string_view ignored_words[] = {"external_correlation",
                                              "cpu_instant_event",
                                              "python_function",
                                              "overhead",
                                              "cuda_sync",
                                              "cuda_event",
                                              "cuda_profiler_range",
                                              "mtia_runtime",
                                              "mtia_ccp_events",
                                              "mtia_insight",
                                              "mtia_counters",
                                              "mtia_workloadd",
                                              "glow_runtime",
                                              "hpu_op",
                                              "xpu_sync",
                                              "xpu_scope_profiler",
                                              "collective_comm",
                                              "hardware_counters",
                                              "trace",
                                              "fwdbwd",
                                              "ac2g",
                                              "async",
                                              "async_gpu",
                                              "async_cpu_to_gpu"};

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

bool is_work(Category category) {
  return category == Category::kernel || category == Category::memcpy || category == Category::memset;
}

bool is_kineto_category(std::string_view cat) {
  return category_of(cat) != Category::unneeded ||
         std::any_of(std::begin(ignored_words), std::end(ignored_words),
                     [&](std::string_view word) { return equal_folded(cat, word); });
}

}  // namespace traceweir::ingest
