#include "server/http/query.hpp"

#include <algorithm>

#include "analyzer/core/text.hpp"
#include "server/http/target.hpp"

namespace traceweir::http {
namespace {

std::optional<std::string> form_decoded(std::string_view text) {
  std::string spaced(text);
  std::replace(spaced.begin(), spaced.end(), '+', ' ');
  auto decoded = percent_decoded(spaced);
  if (decoded && (!is_utf8(*decoded) || decoded->find('\0') != std::string::npos)) return std::nullopt;
  return decoded;
}

bool allows(std::string_view known, std::string_view key) {
  if (known.ends_with('*')) return key.starts_with(known.substr(0, known.size() - 1));
  return known == key;
}

tl::unexpected<Error> repeated(std::string_view key) {
  return fail(ErrorCode::bad_query, clean_text(key) + ": given more than once");
}

}  // namespace

Result<Query> Query::parse(std::string_view text) {
  Query query;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('&', begin), text.size());
    const std::string_view item = text.substr(begin, end - begin);
    begin = end + 1;
    if (item.empty()) continue;
    if (query.items_.size() == query_items_max)
      return fail(ErrorCode::bad_query, "more than " + std::to_string(query_items_max) + " query parameters");
    const std::size_t equals = std::min(item.find('='), item.size());
    auto key = form_decoded(item.substr(0, equals));
    auto value = form_decoded(item.substr(std::min(equals + 1, item.size())));
    if (!key || !value || key->empty())
      return fail(ErrorCode::bad_query, "query parameter " + std::to_string(query.items_.size() + 1) +
                                            ": an empty key, a broken escape or invalid UTF-8");
    query.items_.push_back({*std::move(key), *std::move(value)});
  }
  return query;
}

Result<std::optional<std::string>> Query::one(std::string_view key) const {
  std::optional<std::string> found;
  for (const Item& item : items_) {
    if (item.key != key) continue;
    if (found) return repeated(key);
    found = item.value;
  }
  return found;
}

std::vector<std::string> Query::all(std::string_view key) const {
  std::vector<std::string> found;
  for (const Item& item : items_)
    if (item.key == key) found.push_back(item.value);
  return found;
}

Result<std::vector<Query::Item>> Query::with_prefix(std::string_view prefix) const {
  std::vector<Item> found;
  for (const Item& item : items_) {
    if (!item.key.starts_with(prefix)) continue;
    std::string rest = item.key.substr(prefix.size());
    if (rest.empty()) return fail(ErrorCode::bad_query, item.key + ": a name is missing after the prefix");
    const auto same = [&](const Item& other) { return other.key == rest; };
    if (std::any_of(found.begin(), found.end(), same)) return repeated(item.key);
    found.push_back({std::move(rest), item.value});
  }
  return found;
}

Result<void> Query::only(std::initializer_list<std::string_view> known) const {
  for (const Item& item : items_) {
    const auto fits = [&](std::string_view entry) { return allows(entry, item.key); };
    if (std::any_of(known.begin(), known.end(), fits)) continue;
    std::string list;
    for (const std::string_view entry : known) list.append(list.empty() ? "" : ", ").append(entry);
    return fail(ErrorCode::bad_query, clean_text(item.key, 64) + ": no such parameter here; known: " +
                                          (list.empty() ? std::string("none") : list));
  }
  return {};
}

}  // namespace traceweir::http
