// For: the few things of S3's XML and dates that we read. The text is a stranger's: what is not as expected is not
// read. Not for: XML in general.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace traceweir::s3 {

/// Seconds since 1970 by the store's own clock.
using Seconds = std::int64_t;

struct ListedObject {
  std::string key;
  std::uint64_t bytes = 0;
  std::optional<Seconds> modified;  ///< nothing: it could not be read
};
struct Listing {
  std::vector<ListedObject> objects;
  std::string next;  ///< where the list goes on; empty: nowhere
};

/// The text of the first element of this name, its entities resolved; nothing where there is none, or others stand in
/// it.
std::optional<std::string> element(std::string_view xml, std::string_view name);

/// A ListBucketResult. Nothing: the text is none.
std::optional<Listing> listing_of(std::string_view xml);

/// `2026-11-30T03:20:00.000Z`, and `Mon, 30 Nov 2026 03:20:00 GMT`.
std::optional<Seconds> time_of_list(std::string_view text);
std::optional<Seconds> time_of_header(std::string_view text);

}  // namespace traceweir::s3
