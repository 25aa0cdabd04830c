// R2: simdjson On-Demand over a whole file in memory, nine fields of every event. Loading the file is not counted.
#include <simdjson.h>

#include <cstdint>
#include <cstdlib>
#include <exception>

#include "tests/bench/reference/stopwatch.hpp"

namespace {

using namespace simdjson;

struct Found {
  std::uint64_t events = 0, kernels = 0, characters = 0, numbers = 0;
};

void read_args(ondemand::object args, Found& found) {
  for (auto field : args) {
    const std::string_view key = field.unescaped_key();
    if (key == "stream" || key == "correlation" || key == "device") {
      std::uint64_t number = 0;
      if (field.value().get(number) == SUCCESS) found.numbers += number;
    }
  }
}

void read_event(ondemand::object event, Found& found) {
  bool kernel = false;
  for (auto field : event) {
    const std::string_view key = field.unescaped_key();
    if (key == "ph" || key == "cat" || key == "name") {
      std::string_view text;
      if (field.value().get(text) != SUCCESS) continue;
      found.characters += text.size();
      kernel = kernel || (key == "cat" && text == "kernel");
    } else if (key == "ts" || key == "dur" || key == "tid") {
      found.numbers += std::string_view(field.value().raw_json_token()).size();
    } else if (key == "args") {
      ondemand::object args;
      if (field.value().get(args) == SUCCESS) read_args(args, found);
    }
  }
  ++found.events;
  found.kernels += kernel ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  try {
    const padded_string text = padded_string::load(argv[1]);
    const traceweir::bench::Stopwatch watch;
    ondemand::parser parser(text.size());
    ondemand::document document = parser.iterate(text);
    Found found;
    for (ondemand::object event : document["traceEvents"].get_array()) read_event(event, found);
    watch.print(fmt::format("\"kernels\": {}, \"events\": {}, \"sum\": {}", found.kernels, found.events,
                            found.characters + found.numbers));
    return EXIT_SUCCESS;
  } catch (const std::exception& error) {
    fmt::print(stderr, "on_demand: {}\n", error.what());
    return EXIT_FAILURE;
  }
}
