#include "analyzer/ingest/nsys_stats_tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "analyzer/ingest/small_json.hpp"

namespace traceweir::ingest {
namespace {

/// The spellings of a report's name and title, 2020 to 2026.
struct ReportWord {
  std::string_view word;
  std::string_view report;
};
constexpr ReportWord report_words[] = {
    {"cuda_gpu_kern_sum", "cuda_gpu_kern_sum"},
    {"gpukernsum", "cuda_gpu_kern_sum"},
    {"CUDA GPU Kernel Summary", "cuda_gpu_kern_sum"},
    {"CUDA Kernel Statistics", "cuda_gpu_kern_sum"},
    {"GPU Kernel Summary", "cuda_gpu_kern_sum"},
    {"cuda_gpu_mem_time_sum", "cuda_gpu_mem_time_sum"},
    {"gpumemtimesum", "cuda_gpu_mem_time_sum"},
    {"MemOps Summary (by Time)", "cuda_gpu_mem_time_sum"},
    {"Memory Operation Statistics (by time", "cuda_gpu_mem_time_sum"},
    {"cuda_gpu_mem_size_sum", "cuda_gpu_mem_size_sum"},
    {"gpumemsizesum", "cuda_gpu_mem_size_sum"},
    {"MemOps Summary (by Size)", "cuda_gpu_mem_size_sum"},
    {"Memory Operation Statistics (by size", "cuda_gpu_mem_size_sum"},
};

/// Reports that share their columns with one that we read, or hold its rows again: known, and passed over.
constexpr std::string_view unread_words[] = {"_kern_gb_sum",
                                             "gpukerngbsum",
                                             "cuda_gpu_sum",
                                             "gpusum",
                                             "cuda_api_sum",
                                             "cudaapisum",
                                             "CUDA API",
                                             "osrt_sum",
                                             "osrtsum",
                                             "OS Runtime",
                                             "Operating System Runtime",
                                             "nvtx",
                                             "NVTX",
                                             "_trace",
                                             "gputrace",
                                             "apitrace",
                                             "um_sum",
                                             "umsum",
                                             "openacc",
                                             "openmp",
                                             "OpenMP",
                                             "OpenACC",
                                             "opengl",
                                             "vulkan",
                                             "wddm",
                                             "dx1",
                                             "mpi_event",
                                             "nvvideo",
                                             "network",
                                             "syscall",
                                             "kern_exec",
                                             "kernexec",
                                             "um_total",
                                             "umtotal"};
constexpr std::string_view other_report = "other";

constexpr std::string_view time_columns[] = {"Time (%)", "Time(%)", "Total Time", "Total"};
constexpr std::string_view count_columns[] = {"Instances", "Num Calls", "Count", "Operations", "Num Called"};
constexpr std::string_view name_columns[] = {"Name", "Operation", "Range"};

template <std::size_t n>
bool begins_one(const std::string_view (&words)[n], std::string_view text) {
  return std::any_of(std::begin(words), std::end(words), [&](std::string_view w) { return text.starts_with(w); });
}

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

/// The report that a line in front of a table names: ours, `other`, or nothing.
std::string_view named_in(std::string_view line) {
  if (const std::string_view report = stats_report_in(line); !report.empty()) return report;
  const bool other = std::any_of(std::begin(unread_words), std::end(unread_words),
                                 [&](std::string_view w) { return line.find(w) != std::string_view::npos; });
  return other ? other_report : std::string_view();
}

bool is_header(const std::vector<std::string>& cells) {
  if (cells.size() < 3 || !begins_one(time_columns, cells.front())) return false;
  const bool counts =
      std::any_of(cells.begin(), cells.end(), [](const auto& c) { return begins_one(count_columns, c); });
  return counts && begins_one(name_columns, cells.back());
}

/// Cells of a header in printed columns: two blanks or more between them. No more than a table may have.
std::vector<std::string> printed_header(std::string_view line) {
  std::vector<std::string> cells;
  for (line = trimmed(line); !line.empty() && cells.size() < stats_columns_max; line = trimmed(line)) {
    const std::size_t end = std::min(line.find("  "), line.size());
    cells.emplace_back(trimmed(line.substr(0, end)));
    line.remove_prefix(end);
  }
  return cells;
}

/// Cells of a printed row: numbers have no blanks, the last cell is the rest.
std::vector<std::string> printed_row(std::string_view line, std::size_t columns) {
  std::vector<std::string> cells;
  line = trimmed(line);
  while (cells.size() + 1 < columns && !line.empty()) {
    const std::size_t end = std::min(line.find_first_of(" \t"), line.size());
    cells.emplace_back(line.substr(0, end));
    line = trimmed(line.substr(end));
  }
  if (!line.empty()) cells.emplace_back(line);
  return cells;
}

/// Cells of a CSV record. A quote inside a quoted cell is doubled; a name is on one line. A release that does not quote
/// names leaves their commas: what is too much belongs to the last cell.
std::vector<std::string> csv_row(std::string_view line, std::size_t columns) {
  std::vector<std::string> cells(1);
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    const bool doubled = quoted && c == '"' && i + 1 < line.size() && line[i + 1] == '"';
    if (doubled)
      cells.back() += line[++i];
    else if (c == '"')
      quoted = !quoted;
    else if (c == ',' && !quoted && cells.size() < columns)
      cells.emplace_back();
    else
      cells.back() += c;
  }
  return cells;
}

std::vector<std::string> trimmed_all(std::vector<std::string> cells) {
  for (std::string& cell : cells) cell = std::string(trimmed(cell));
  return cells;
}

/// The bytes of the JSON array that begins at `text`; 0: it does not end.
std::size_t array_bytes(std::string_view text) {
  std::size_t depth = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted && c == '\\')
      ++i;
    else if (c == '"')
      quoted = !quoted;
    else if (!quoted && (c == '[' || c == '{'))
      ++depth;
    else if (!quoted && (c == ']' || c == '}') && --depth == 0)
      return i + 1;
  }
  return 0;
}

class Cutter {
 public:
  explicit Cutter(std::string_view text) : text_(text) {}

  Result<std::vector<StatsTable>> run() {
    while (at_ < text_.size()) {
      const std::string_view line = trimmed(rest().substr(0, rest().find('\n')));
      if (line.starts_with('[') && begins_array()) {
        TRACEWEIR_TRY_VOID(take_json());
        continue;
      }
      TRACEWEIR_TRY_VOID(take(line));
      next_line();
    }
    return std::move(tables_);
  }

 private:
  enum class Form { none, printed, csv };

  [[nodiscard]] std::string_view rest() const { return text_.substr(at_); }
  void next_line() {
    const std::size_t end = rest().find('\n');
    at_ = end == std::string_view::npos ? text_.size() : at_ + end + 1;
    ++line_;
  }

  [[nodiscard]] bool begins_array() const {
    const std::size_t next = text_.find_first_not_of(" \t\r\n", text_.find('[', at_) + 1);
    return next != std::string_view::npos && (text_[next] == '{' || text_[next] == ']');
  }

  tl::unexpected<Error> malformed(std::string_view why) const {
    return fail(ErrorCode::malformed_trace, fmt::format("line {}: {}", line_, why));
  }

  Result<void> add(StatsTable table) {
    if (tables_.size() == stats_tables_max) return malformed(fmt::format("more than {} tables", stats_tables_max));
    tables_.push_back(std::move(table));
    return {};
  }

  Result<void> add_row(StatsTable& table, std::vector<std::string> cells) const {
    if (table.rows.size() == stats_rows_max)
      return malformed(fmt::format("{}: more than {} rows", table.report, stats_rows_max));
    table.rows.push_back(std::move(cells));
    return {};
  }

  Result<void> open_table(std::vector<std::string> columns, Form form) {
    StatsTable table;
    table.report = named_;
    table.columns = std::move(columns);
    form_ = form;
    return add(std::move(table));
  }

  void leave_table() {
    if (form_ != Form::none) named_.clear();
    form_ = Form::none;
  }

  Result<void> take(std::string_view line) {
    if (line.empty()) return leave_table(), Result<void>{};
    if (line.find_first_not_of("- ") == std::string_view::npos) return {};  // the rule below a header
    if (line.find("SKIPPED:") != std::string_view::npos) return skip(line);
    if (const auto [columns, form] = header_in(line); form != Form::none) return open_table(columns, form);
    if (form_ != Form::none && !is_talk(line)) return take_row(line);
    leave_table();
    if (const std::string_view report = named_in(line); !report.empty()) named_ = report;
    return {};
  }

  static bool is_talk(std::string_view line) {
    return line.starts_with("Processing [") || line.starts_with("Running [") || line.starts_with("**") ||
           line.starts_with("Generating ") || (line.starts_with('[') && line.find("Executing '") != line.npos);
  }

  /// Form::none: the line is no header.
  static std::pair<std::vector<std::string>, Form> header_in(std::string_view line) {
    std::vector<std::string> cells = trimmed_all(csv_row(line, stats_columns_max));
    if (is_header(cells)) return {std::move(cells), Form::csv};
    cells = printed_header(line);
    if (is_header(cells)) return {std::move(cells), Form::printed};
    return {{}, Form::none};
  }

  Result<void> take_row(std::string_view line) {
    StatsTable& table = tables_.back();
    const std::size_t columns = table.columns.size();
    std::vector<std::string> cells = form_ == Form::csv ? csv_row(line, columns) : printed_row(line, columns);
    if (cells.size() < columns)
      return malformed(fmt::format("{} cells in a table of {} columns", cells.size(), columns));
    cells = trimmed_all(std::move(cells));
    if (cells.back().empty()) return malformed("a row without a name");
    return add_row(table, std::move(cells));
  }

  Result<void> skip(std::string_view line) {
    if (const std::string_view report = named_in(line); named_.empty() && !report.empty()) named_ = report;
    StatsTable table;
    table.report = named_;
    table.skipped = true;
    form_ = Form::none;
    named_.clear();
    return add(std::move(table));
  }

  Result<void> take_json() {
    const std::size_t begin = text_.find('[', at_);
    const std::size_t size = array_bytes(text_.substr(begin));
    if (size == 0) return malformed("a JSON array that does not end");
    auto rows = parse_small_json(text_.substr(begin, size));
    if (!rows) return malformed("behind this line: " + rows.error().message);
    line_ += static_cast<std::size_t>(std::count(text_.begin() + static_cast<std::ptrdiff_t>(at_),
                                                 text_.begin() + static_cast<std::ptrdiff_t>(begin + size), '\n'));
    at_ = begin + size;
    return take_objects(*rows);
  }

  Result<void> take_objects(const SmallJson& rows) {
    StatsTable table;
    table.report = named_;
    if (rows.items.empty()) table.skipped = true;
    for (const SmallJson& row : rows.items) {
      if (row.kind != SmallJson::Kind::object) return malformed("a row that is no JSON object");
      if (row.members.size() > stats_columns_max)
        return malformed(fmt::format("a row of more than {} columns", stats_columns_max));
      if (table.columns.empty())
        for (const JsonMember& member : row.members) table.columns.push_back(member.key);
      std::vector<std::string> cells;
      for (const std::string& column : table.columns) {
        const SmallJson* cell = row.find(column);
        if (cell == nullptr) return malformed(fmt::format("a row without \"{}\"", column));
        cells.push_back(cell->text);
      }
      TRACEWEIR_TRY_VOID(add_row(table, std::move(cells)));
    }
    named_.clear();
    form_ = Form::none;  // what follows is no row of the table before the array
    return table.skipped || is_header(table.columns) ? add(std::move(table)) : Result<void>{};
  }

  std::string_view text_;
  std::size_t at_ = 0, line_ = 1;
  Form form_ = Form::none;
  std::string named_;
  std::vector<StatsTable> tables_;
};

}  // namespace

std::string_view stats_report_in(std::string_view text) {
  for (const ReportWord& row : report_words)
    if (text.find(row.word) != std::string_view::npos) return row.report;
  return {};
}

Result<std::vector<StatsTable>> stats_tables(std::string_view text) { return Cutter(text).run(); }

bool looks_like_nsys_stats(std::string_view head) {
  const std::size_t first = head.find_first_not_of("\xEF\xBB\xBF \t\r\n");
  if (first == std::string_view::npos || head[first] == '{' || head.find('\0') != std::string_view::npos) return false;
  head.remove_prefix(head.starts_with('\xEF') ? first : 0);
  const bool is_json = head[first] == '[' && head.find_first_not_of(" \t\r\n", first + 1) != std::string_view::npos &&
                       head[head.find_first_not_of(" \t\r\n", first + 1)] == '{';
  if (is_json) {
    const std::size_t key = head.find('"', first);
    return key != std::string_view::npos && begins_one(time_columns, head.substr(key + 1));
  }
  for (std::size_t at = 0; at < head.size();) {
    const std::size_t end = std::min(head.find('\n', at), head.size());
    const std::string_view line = trimmed(head.substr(at, end - at));
    if (is_header(trimmed_all(csv_row(line, stats_columns_max))) || is_header(printed_header(line))) return true;
    const bool report = line.starts_with("Processing [") || line.starts_with("Running [");
    if (report && !named_in(line).empty()) return true;
    at = end + 1;
  }
  return false;
}

}  // namespace traceweir::ingest
