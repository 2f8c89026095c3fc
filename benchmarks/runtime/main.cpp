// bench_runtime [filter]: the library against its rivals, as a table and as a JSON file. See benchmarks/README.md.

#include "cases.hpp"
#include "command_line.hpp"

int main(int count, char** arguments) {
  return bench::run_cases("bench_runtime", count, arguments, [](bench::suite& cases) {
    bench::linear(cases);
    bench::network(cases);
    bench::fused(cases);
    bench::reductions(cases);
    bench::softmax(cases);
    bench::matmul(cases);
    bench::tiny(cases);
    bench::slices(cases);
    bench::rows(cases);
  });
}
