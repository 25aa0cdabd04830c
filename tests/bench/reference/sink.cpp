// R7: a Beast server that takes one request, throws its body away and answers. Prints its port, then what it cost.
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <limits>
#include <vector>

#include "tests/bench/reference/stopwatch.hpp"

namespace {

namespace beast = boost::beast;
namespace http = beast::http;
using tcp = boost::asio::ip::tcp;

std::uint64_t throw_away(tcp::socket& socket) {
  beast::flat_buffer buffer;
  http::request_parser<http::buffer_body> parser;
  parser.body_limit(std::numeric_limits<std::uint64_t>::max());
  http::read_header(socket, buffer, parser);
  std::vector<char> piece(std::size_t{256} * 1024);
  std::uint64_t bytes = 0;
  while (!parser.is_done()) {
    parser.get().body().data = piece.data();
    parser.get().body().size = piece.size();
    beast::error_code error;
    http::read(socket, buffer, parser, error);
    if (error && error != http::error::need_buffer) throw beast::system_error(error);
    bytes += piece.size() - parser.get().body().size;
  }
  http::response<http::empty_body> answer(http::status::ok, parser.get().version());
  answer.prepare_payload();
  http::write(socket, answer);
  return bytes;
}

}  // namespace

int main() {
  try {
    boost::asio::io_context context(1);
    tcp::acceptor acceptor(context, {boost::asio::ip::make_address("127.0.0.1"), 0});
    fmt::print("{{\"port\": {}}}\n", acceptor.local_endpoint().port());
    std::fflush(stdout);
    tcp::socket socket = acceptor.accept();
    const traceweir::bench::Stopwatch watch;
    const std::uint64_t bytes = throw_away(socket);
    watch.print(fmt::format("\"bytes\": {}", bytes));
    return EXIT_SUCCESS;
  } catch (const std::exception& error) {
    fmt::print(stderr, "sink: {}\n", error.what());
    return EXIT_FAILURE;
  }
}
