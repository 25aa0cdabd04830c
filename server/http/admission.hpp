// For: what a handler finds out about the token of a request, told the moment it is known: guesses that come in at once
// are counted one after the other, whenever their answers are written. Not for: whether a token is valid (server/api).
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "server/http/visitors.hpp"

namespace traceweir::http {

/// Of one request with a token. Each of the two may be said again: the first time counts. Thread: one at a time.
class Admission {
 public:
  Admission(Visitors& visitors, std::string client, std::string authorization)
      : visitors_(visitors), client_(std::move(client)), authorization_(std::move(authorization)) {}

  /// False: its address has tried too many wrong ones by now, and is not told that this one is right. The request must
  /// not go on.
  [[nodiscard]] bool found_valid();
  void found_wrong();

  /// Why nothing may be said of the token at all.
  [[nodiscard]] const std::optional<TurnedBack>& turned_back() const { return turned_back_; }

 private:
  Visitors& visitors_;
  std::string client_, authorization_;
  bool was_valid_ = false, was_wrong_ = false;
  std::optional<TurnedBack> turned_back_;
};

}  // namespace traceweir::http
