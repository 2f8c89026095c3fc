// bench_runtime [filter]: the library against its rivals, as a table and as a JSON file. See benchmarks/README.md.

#include <leat/cpu/float_mode.hpp>

#include "cases.hpp"
#include "environment.hpp"
#include "report.hpp"
#include "suite.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>

namespace {

constexpr const char* usage =
    "bench_runtime [options] [filter]\n"
    "Times the cases whose name contains the filter; all of them without one.\n"
    "  --json FILE     write the results there (results.json)\n"
    "  --seconds S     time each pair for S seconds (1)\n"
    "  --list          print the names of the cases\n"
    "  --table FILE    print an earlier run's results as a Markdown table, and nothing else\n";

}  // namespace

int main(int count, char** arguments) try {
  bench::options settings;
  for (int i = 1; i < count; ++i) {
    const char* argument = arguments[i];
    const auto is = [&](const char* option) { return std::strcmp(argument, option) == 0; };
    const char* next = i + 1 < count ? arguments[i + 1] : nullptr;
    if (is("--help")) return std::fputs(usage, stdout), 0;
    if (is("--list")) {
      settings.list = true;
    } else if ((is("--json") || is("--seconds") || is("--table")) && next != nullptr) {
      if (is("--table")) return std::fputs(bench::markdown_table(next).c_str(), stdout), 0;
      if (is("--json")) settings.json = next;
      if (is("--seconds")) settings.seconds = std::strtod(next, nullptr);
      ++i;
    } else if (argument[0] == '-' || !settings.filter.empty()) {
      return std::fputs(usage, stderr), 2;
    } else {
      settings.filter = argument;
    }
  }

  bench::prepare_environment(arguments);
  const leat::denormals_as_zero flushed;  // as the rivals are timed, too
  bench::suite cases(settings);
  bench::linear(cases);
  bench::network(cases);
  bench::fused(cases);
  bench::reductions(cases);
  bench::softmax(cases);
  bench::matmul(cases);
  bench::tiny(cases);
  bench::slices(cases);
  bench::rows(cases);
  bench::calculus(cases);
  return cases.finish();
} catch (const std::exception& error) {
  std::fprintf(stderr, "bench_runtime: %s\n", error.what());
  return 1;
}
