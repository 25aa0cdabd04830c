#include "analyzer/ingest/kineto_document.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "analyzer/core/text.hpp"
#include "analyzer/ingest/kineto_brackets.hpp"
#include "analyzer/ingest/kineto_text.hpp"

namespace traceweir::ingest {
namespace {

constexpr std::string_view utf8_mark = "\xEF\xBB\xBF";
constexpr std::size_t value_bytes_max = std::size_t{16} << 20;
constexpr std::size_t keys_named_max = 8;

tl::unexpected<Error> malformed(std::uint64_t position, std::string_view what) {
  return fail(ErrorCode::malformed_trace, fmt::format("byte {}: {}", position, what));
}

/// Nested deeper than any parser should follow.
tl::unexpected<Error> too_deep(std::uint64_t position) {
  return malformed(position, fmt::format("brackets are nested deeper than {}", json_depth_max));
}

/// The walk over one document. A function that returns false met the end of the source.
class Walk {
 public:
  Walk(TextWindow& window, DocumentSink& sink) : window_(window), sink_(sink) {}

  Result<DocumentShape> run() {
    TRACEWEIR_TRY(whole, document());
    if (!whole) shape_.cut = why_cut();
    if (whole) TRACEWEIR_TRY_VOID(tail());
    return std::move(shape_);
  }

 private:
  Result<bool> document() {
    TRACEWEIR_TRY_VOID(byte_order_mark());
    TRACEWEIR_TRY(begun, to_token());
    if (!begun) return false;
    if (take('{')) return object();
    if (!take('[')) return malformed(window_.position(), "neither a JSON object nor an array begins here");
    shape_.bare_array = true;
    return events();
  }

  Result<void> byte_order_mark() {
    while (window_.text().size() < utf8_mark.size()) {
      TRACEWEIR_TRY(more, window_.more());
      if (!more) return {};
    }
    if (window_.text().starts_with(utf8_mark)) window_.consume(utf8_mark.size());
    return {};
  }

  Result<bool> object() {
    for (bool first = true;; first = false) {
      TRACEWEIR_TRY(token, to_token());
      if (!token) return false;
      if (take('}')) return true;
      if (!first && !take(',')) return malformed(window_.position(), "expected ',' or '}' between top-level keys");
      TRACEWEIR_TRY(key_token, to_token());
      if (!key_token) return false;
      if (take('}')) return true;  // a comma behind the last key, as some writers leave it
      TRACEWEIR_TRY(whole, member());
      if (!whole) return false;
    }
  }

  Result<bool> member() {
    if (window_.text().front() != '"') return malformed(window_.position(), "expected a top-level key in quotes");
    TRACEWEIR_TRY(key, value(value_bytes_max));
    if (!key.whole) return false;
    const std::string name(key.text.data() + 1, key.text.size() - 2);
    window_.consume(key.text.size());
    if (shape_.keys.size() < keys_named_max) shape_.keys.push_back(clean_text(name, 64));
    TRACEWEIR_TRY(colon, to_token());
    if (!colon) return false;
    if (!take(':')) return malformed(window_.position(), "expected ':' after a top-level key");
    TRACEWEIR_TRY(begun, to_token());
    if (!begun) return false;
    if (name == "traceEvents") return event_array();
    return sink_.wants(name) ? wanted(name) : passed_over();
  }

  Result<bool> event_array() {
    if (!take('[')) return fail(ErrorCode::not_a_trace, "\"traceEvents\" is there but is no array");
    return events();
  }

  Result<bool> wanted(const std::string& name) {
    const std::uint64_t position = window_.position();
    TRACEWEIR_TRY(found, value(value_bytes_max));
    if (found.whole) {
      sink_.member(name, found.text, position);
      window_.consume(found.text.size());
      return true;
    }
    if (window_.text().size() < value_bytes_max) return false;
    shape_.passed_over.push_back(name);
    return passed_over();
  }

  /// A value that stays in the window; not whole: the source ended in it or it is larger than `bytes_max`.
  struct Value {
    std::span<char> text;
    bool whole;
  };
  Result<Value> value(std::size_t bytes_max) {
    ValueEnd end;
    for (std::size_t seen = 0;;) {
      const std::string_view text = window_.text().substr(seen);
      const std::size_t found = end.find(text);
      if (end.too_deep()) return too_deep(window_.position() + seen);
      if (found != std::string_view::npos) return Value{window_.unread().first(seen + found), true};
      seen += text.size();
      if (seen >= bytes_max) return Value{{}, false};
      TRACEWEIR_TRY(more, window_.more());
      if (!more) return Value{{}, false};
    }
  }

  /// Walks over a value without keeping it.
  Result<bool> passed_over() {
    ValueEnd end;
    for (bool first = true;; first = false) {
      const std::string_view text = window_.text();
      const std::size_t found = end.find(text);
      if (end.too_deep()) return too_deep(window_.position());
      window_.consume(found == std::string_view::npos ? text.size() : found);
      if (found == 0 && first) return malformed(window_.position(), "expected a value");
      if (found != std::string_view::npos) return true;
      TRACEWEIR_TRY(more, window_.more());
      if (!more) return false;
    }
  }

  /// The elements of the array whose bracket was just read.
  Result<bool> events() {
    shape_.has_events = true;
    Events events(*this);
    TRACEWEIR_TRY_VOID(sink_.batches(events));
    return events.outcome();
  }

  /// Cuts the array that the window stands in into batches.
  class Events final : public BatchSource {
   public:
    explicit Events(Walk& walk) : walk_(walk) {}

    std::optional<TextBatch> next(TextMemory memory) override {
      if (!outcome_) walk_.window_.read_into(std::move(memory));
      while (!outcome_) {
        if (auto batch = scan()) return batch;
        if (outcome_) break;
        const auto more = walk_.window_.more();
        if (!more || !*more) outcome_ = more;
      }
      return std::nullopt;
    }

    /// Whether the array was closed; else the source ended in it. Shape: after the last batch.
    [[nodiscard]] Result<bool> outcome() const { return outcome_.value_or(false); }

   private:
    /// Looks at what was read since.
    std::optional<TextBatch> scan() {
      Elements found;
      const std::string_view text = walk_.window_.text().substr(seen_);
      const auto visit = [&](std::size_t at, bool opens) {
        depth_ += opens ? 1 : -1;
        if (depth_ == 0 && !opens) found.end = seen_ + at + 1;
        if (depth_ < 0) found.closed_at = seen_ + at;
        if (depth_ > json_depth_max) found.too_deep_at = seen_ + at;
        return depth_ >= 0 && depth_ <= json_depth_max;
      };
      // Whatever their order, these brackets end no element and go not too deep.
      const auto pass = [&](int opening, int closing) {
        const bool inside = depth_ > closing && depth_ + opening <= json_depth_max;
        if (inside) depth_ += opening - closing;
        return inside;
      };
      scanner_.scan(text, visit, pass);
      seen_ += text.size();
      if (found.too_deep_at) {
        outcome_ = too_deep(walk_.window_.position() + *found.too_deep_at);
        return std::nullopt;
      }
      auto batch = walk_.cut_off(found);
      seen_ -= std::min(seen_, found.end);
      if (found.closed_at) outcome_ = walk_.close_array();
      return batch;
    }

    Walk& walk_;
    BracketScanner scanner_;
    std::int64_t depth_ = 0;
    std::size_t seen_ = 0;  ///< bytes of the window that were scanned
    std::optional<Result<bool>> outcome_;
  };

  /// What a scan of the window found, as offsets in it.
  struct Elements {
    std::size_t end = 0;  ///< behind the last whole element
    std::optional<std::size_t> closed_at;
    std::optional<std::size_t> too_deep_at;
  };

  /// Takes the whole elements out of the window; with the array's end, whatever stands before it.
  std::optional<TextBatch> cut_off(const Elements& found) {
    std::size_t end = found.closed_at.value_or(found.end);
    const std::string_view text = window_.text().substr(0, end);
    const std::size_t last = text.find_last_not_of(", \t\r\n");
    std::optional<TextBatch> batch;
    if (last != std::string_view::npos) {
      std::size_t begin = text.find_first_not_of(json_blanks);
      const bool comma = text[begin] == ',';
      if (begun_ && !comma) ++shape_.missing_commas;
      if (begun_ && comma) ++begin;
      begun_ = true;
      batch = window_.take(begin, last + 1);
      end -= last + 1;
    }
    window_.consume(end);
    return batch;
  }

  Result<bool> close_array() {
    if (!take(']'))
      return malformed(window_.position(), "'}' closes the array of events; quotes may be missing before");
    begun_ = false;
    return true;
  }

  /// What comes behind the document, if anything.
  Result<void> tail() {
    TRACEWEIR_TRY(more, to_token());
    if (more) shape_.second_document = window_.position();
    if (!more && window_.damage()) shape_.cut = window_.damage()->message;
    return {};
  }

  /// Consumes blanks. false: nothing else came.
  Result<bool> to_token() {
    for (;;) {
      const std::string_view text = window_.text();
      const std::size_t first = text.find_first_not_of(json_blanks);
      window_.consume(first == std::string_view::npos ? text.size() : first);
      if (first != std::string_view::npos) return true;
      TRACEWEIR_TRY(more, window_.more());
      if (!more) return false;
    }
  }

  bool take(char c) {
    if (window_.text().empty() || window_.text().front() != c) return false;
    window_.consume(1);
    return true;
  }

  [[nodiscard]] std::string why_cut() const {
    const std::uint64_t end = window_.position() + window_.text().size();
    if (window_.damage()) return fmt::format("byte {}: {}", end, window_.damage()->message);
    return fmt::format("byte {}: the file ends inside the trace", end);
  }

  TextWindow& window_;
  DocumentSink& sink_;
  DocumentShape shape_;
  bool begun_ = false;  ///< a batch of the array was handed out: the next begins with a comma
};

}  // namespace

Result<DocumentShape> walk_document(TextWindow& window, DocumentSink& sink) { return Walk(window, sink).run(); }

}  // namespace traceweir::ingest
