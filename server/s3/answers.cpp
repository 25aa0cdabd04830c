#include "server/s3/answers.hpp"

#include <time.h>

#include <charconv>
#include <utility>

namespace traceweir::s3 {
namespace {

constexpr std::pair<std::string_view, char> entities[] = {
    {"&lt;", '<'}, {"&gt;", '>'}, {"&quot;", '"'}, {"&apos;", '\''}, {"&#34;", '"'}, {"&#39;", '\''}, {"&amp;", '&'}};

std::string resolved(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    std::size_t taken = 1;
    char c = text.front();
    for (const auto& [entity, character] : entities)
      if (text.starts_with(entity)) c = character, taken = entity.size();
    out += c;
    text.remove_prefix(taken);
  }
  return out;
}

/// What stands between the first <name> and its end, and all after that.
struct Found {
  std::string_view inside, after;
};
std::optional<Found> find(std::string_view xml, std::string_view name) {
  const std::string opening = "<" + std::string(name) + ">", closing = "</" + std::string(name) + ">";
  const std::size_t begin = xml.find(opening);
  if (begin == std::string_view::npos) return std::nullopt;
  const std::string_view rest = xml.substr(begin + opening.size());
  const std::size_t end = rest.find(closing);
  if (end == std::string_view::npos) return std::nullopt;
  return Found{rest.substr(0, end), rest.substr(end + closing.size())};
}

std::optional<std::uint64_t> number(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<Seconds> parsed(std::string_view text, const char* format) {
  struct tm parts {};
  if (::strptime(std::string(text).c_str(), format, &parts) == nullptr) return std::nullopt;
  return ::timegm(&parts);
}

}  // namespace

std::optional<std::string> element(std::string_view xml, std::string_view name) {
  const auto found = find(xml, name);
  if (!found || found->inside.find('<') != std::string_view::npos) return std::nullopt;  // in a text it is &lt;
  return resolved(found->inside);
}

std::optional<Listing> listing_of(std::string_view xml) {
  if (xml.find("<ListBucketResult") == std::string_view::npos) return std::nullopt;
  if (xml.find("</ListBucketResult>") == std::string_view::npos) return std::nullopt;  // cut: objects would be missing
  const auto truncated = element(xml, "IsTruncated");
  Listing listing;
  if (truncated == "true") listing.next = element(xml, "NextContinuationToken").value_or("");
  if (truncated == "true" && listing.next.empty()) return std::nullopt;
  for (auto found = find(xml, "Contents"); found; found = find(found->after, "Contents")) {
    const auto key = element(found->inside, "Key");
    const auto bytes = number(element(found->inside, "Size").value_or(""));
    if (!key || !bytes) return std::nullopt;
    listing.objects.push_back({*key, *bytes, time_of_list(element(found->inside, "LastModified").value_or(""))});
  }
  return listing;
}

std::optional<Seconds> time_of_list(std::string_view text) { return parsed(text, "%Y-%m-%dT%H:%M:%S"); }

std::optional<Seconds> time_of_header(std::string_view text) { return parsed(text, "%a, %d %b %Y %H:%M:%S GMT"); }

}  // namespace traceweir::s3
