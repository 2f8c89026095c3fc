// bench_calculus [filter]: derivatives, loops and programs that need them, against such by hand and other libraries'. See benchmarks/README.md.

#include "cases.hpp"
#include "command_line.hpp"

int main(int count, char** arguments) {
  return bench::run_cases("bench_calculus", count, arguments, [](bench::suite& cases) {
    bench::derivatives(cases);
    bench::filters(cases);
    bench::bundle(cases);
    bench::mixture(cases);
    bench::loops(cases);
  });
}
