// Clients that send one request again and again, each over its own connection, as fast as the answers come. `@` signs
// of the request become a number that no two requests share. Prints how many answers came, and how long they took.
#include <algorithm>
#include <atomic>
#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <iterator>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "tests/bench/reference/stopwatch.hpp"

namespace {

namespace beast = boost::beast;
namespace http = beast::http;
using tcp = boost::asio::ip::tcp;
using Clock = std::chrono::steady_clock;

constexpr std::size_t number_characters = 40;
constexpr std::uint64_t answer_bytes_max = std::uint64_t{1} << 30U;

/// What all clients share.
struct Work {
  unsigned short port = 0;
  std::string request;
  std::string::size_type number_at = std::string::npos;
  std::atomic<long> left{0};
  std::atomic<std::uint64_t> number{0};
  std::mutex mutex{};
  std::vector<double> took{};
  std::uint64_t bytes = 0;
  std::string refused{};
};

void send_all(Work& work) {
  boost::asio::io_context context(1);
  tcp::socket socket(context);
  socket.connect({boost::asio::ip::make_address("127.0.0.1"), work.port});
  socket.set_option(tcp::no_delay(true));
  beast::flat_buffer buffer;
  std::string request = work.request;
  std::vector<double> took;
  std::uint64_t bytes = 0;
  std::string refused;
  while (refused.empty() && --work.left >= 0) {
    if (work.number_at != std::string::npos)
      request.replace(work.number_at, number_characters, fmt::format("{:040x}", ++work.number));
    const auto begun = Clock::now();
    boost::asio::write(socket, boost::asio::buffer(request));
    http::response_parser<http::string_body> answer;
    answer.body_limit(answer_bytes_max);
    http::read(socket, buffer, answer);
    took.push_back(std::chrono::duration<double>(Clock::now() - begun).count());
    bytes += answer.get().body().size();
    if (http::to_status_class(answer.get().result()) != http::status_class::successful) refused = answer.get().body();
  }
  const std::lock_guard lock(work.mutex);
  work.took.insert(work.took.end(), took.begin(), took.end());
  work.bytes += bytes;
  if (!refused.empty()) work.refused = refused;
}

void run(Work& work, int clients) {
  std::vector<std::thread> threads;
  for (int i = 0; i < clients; ++i)
    threads.emplace_back([&work] {
      try {
        send_all(work);
      } catch (const std::exception& error) {
        const std::lock_guard lock(work.mutex);
        work.refused = error.what();
      }
    });
  for (std::thread& thread : threads) thread.join();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 6) return 2;
  try {
    Work work;
    work.port = static_cast<unsigned short>(std::stoi(argv[1]));
    work.left = std::stol(argv[3]);
    std::ifstream file(argv[4], std::ios::binary);
    work.request.assign(std::istreambuf_iterator<char>(file), {});
    work.number = std::stoul(argv[5]);
    work.number_at = work.request.find(std::string(number_characters, '@'));
    const traceweir::bench::Stopwatch watch;
    run(work, std::stoi(argv[2]));
    if (!work.refused.empty() || work.took.empty()) throw std::runtime_error(work.refused);
    std::sort(work.took.begin(), work.took.end());
    watch.print(fmt::format("\"answers\": {}, \"bytes\": {}, \"p50_s\": {:.6f}, \"p99_s\": {:.6f}", work.took.size(),
                            work.bytes, work.took[work.took.size() / 2], work.took[work.took.size() * 99 / 100]));
    return EXIT_SUCCESS;
  } catch (const std::exception& error) {
    fmt::print(stderr, "clients: {}\n", error.what());
    return EXIT_FAILURE;
  }
}
