// R6: libpqxx fetches the rows of a history into strings, again and again over one connection. Prints the median.
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <pqxx/pqxx>
#include <string>
#include <vector>

#include "tests/bench/reference/stopwatch.hpp"

namespace {

constexpr const char* newest_points =
    "SELECT v.run_seq, r.id, r.commit_sha, v.branch, r.comparable_key, c.committed_us, r.received_us, v.value, "
    "r.outcome, coalesce(c.subject, ''), coalesce(c.author, ''), r.superseded, r.in_baseline, v.level, v.low, v.high "
    "FROM (SELECT s.run_seq, s.value, s.level, s.low, s.high, l.branch, l.project_id FROM project p "
    "JOIN lane l ON l.project_id = p.id JOIN metric m ON m.name = $2 "
    "CROSS JOIN LATERAL (SELECT n.run_seq, n.value, n.level, n.low, n.high FROM measurement n "
    "WHERE n.lane_id = l.id AND n.metric_id = m.id ORDER BY n.run_seq DESC LIMIT $3) s WHERE p.name = $1 "
    "ORDER BY s.run_seq DESC LIMIT $3) v JOIN run r ON r.seq = v.run_seq "
    "LEFT JOIN commit_node c ON c.project_id = v.project_id AND c.sha = r.commit_sha ORDER BY v.run_seq DESC";

std::size_t fetch(pqxx::connection& connection, const std::string& project, const std::string& metric, int limit) {
  pqxx::nontransaction statement(connection);
  const pqxx::result rows = statement.exec_prepared("newest_points", project, metric, limit);
  std::vector<std::string> texts;
  texts.reserve(rows.size() * rows.columns());
  for (const auto& row : rows)
    for (const auto& field : row) texts.emplace_back(field.c_str(), field.size());
  return rows.size();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 6) return 2;
  try {
    const int limit = std::stoi(argv[4]);
    const int times = std::stoi(argv[5]);
    pqxx::connection connection(argv[1]);
    connection.prepare("newest_points", newest_points);
    std::vector<double> took;
    std::size_t rows = 0;
    const traceweir::bench::Stopwatch watch;
    for (int i = 0; i < times; ++i) {
      const auto begun = std::chrono::steady_clock::now();
      rows = fetch(connection, argv[2], argv[3], limit);
      took.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count());
    }
    std::sort(took.begin(), took.end());
    watch.print(fmt::format("\"rows\": {}, \"p50_s\": {:.6f}", rows, took[took.size() / 2]));
    return EXIT_SUCCESS;
  } catch (const std::exception& error) {
    fmt::print(stderr, "fetch: {}\n", error.what());
    return EXIT_FAILURE;
  }
}
