// Reports: the one value that crosses from the process that read a stranger's file into the service.
#include "analyzer/report/report.hpp"
#include "tests/fuzz/target.hpp"
#include "tests/fuzz/upload_check.hpp"

using namespace traceweir;

int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const auto report = report::from_json(fuzz::text_of(bytes, size));
  if (!report)
    fuzz::check_refusal(report.error());
  else
    fuzz::check_report(*report);
  return 0;
}
