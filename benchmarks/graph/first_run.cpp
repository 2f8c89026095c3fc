// bench_first_run N [FILE.pb]: what the first run of a graph of N nodes costs, planning included, and the memory it takes, as
// one line of JSON; the graph also as a file, for TensorFlow to run. One measurement a process: scripts/interop --bench repeats.

#include "tree.hpp"
#include "../support/memory.hpp"

#include <leat/io/binary.hpp>
#include <leat/session/graph_session.hpp>

#include <chrono>
#include <cstdio>
#include <cstdlib>

int main(int count, char** arguments) try {
  const int nodes = count > 1 ? std::atoi(arguments[1]) : 0;
  if (nodes < 6) throw std::runtime_error("bench_first_run N [FILE.pb]");
  leat::graph g;
  const leat::output root = bench::product_of_sums(g, nodes);
  if (count > 2) leat::io::write_binary_file(leat::export_graph(g), arguments[2]);
  const std::size_t before = bench::process_bytes("VmRSS");
  leat::graph_session s(g);
  const auto start = std::chrono::steady_clock::now();
  const float value = s.run<float>(root, {{"a:0", 1.0f}});
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  const std::size_t after = bench::process_bytes("VmHWM");
  std::printf("{\"nodes\": %d, \"nanoseconds\": %.1f, \"bytes\": %.1f, \"value\": %.9g}\n", g.size(), seconds * 1e9 / g.size(),
              after > before ? static_cast<double>(after - before) / g.size() : 0.0, static_cast<double>(value));
  return 0;
} catch (const std::exception& e) {
  std::fprintf(stderr, "bench_first_run: %s\n", e.what());
  return 1;
}
