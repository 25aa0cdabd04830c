#include "server/http/admission.hpp"

namespace traceweir::http {

bool Admission::found_valid() {
  if (was_valid_) return true;
  if (turned_back_) return false;
  turned_back_ = visitors_.was_valid(client_, authorization_, Visitors::Clock::now());
  was_valid_ = !turned_back_;
  return was_valid_;
}

void Admission::found_wrong() {
  if (std::exchange(was_wrong_, true) || turned_back_) return;
  turned_back_ = visitors_.was_wrong(client_, authorization_, Visitors::Clock::now());
}

}  // namespace traceweir::http
