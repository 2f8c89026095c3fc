#pragma once
// The command line of programs that time cases, the same for all of them.

#include <leat/cpu/float_mode.hpp>

#include "environment.hpp"
#include "report.hpp"
#include "suite.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <string>

namespace bench {

/// Reads the arguments of `program` and times the cases that `families`, a function of a suite, adds. Returns the exit status.
template <class Families>
int run_cases(const std::string& program, int count, char** arguments, Families families) try {
  const std::string usage = program +
                            " [options] [filter]\n"
                            "Times the cases whose name contains the filter; all of them without one.\n"
                            "  --json FILE     write the results there (results.json)\n"
                            "  --seconds S     time each pair for S seconds (1)\n"
                            "  --list          print the names of the cases\n"
                            "  --table FILE    print an earlier run's results as a Markdown table, and nothing else\n";
  options settings;
  for (int i = 1; i < count; ++i) {
    const char* argument = arguments[i];
    const auto is = [&](const char* option) { return std::strcmp(argument, option) == 0; };
    const char* next = i + 1 < count ? arguments[i + 1] : nullptr;
    if (is("--help")) return std::fputs(usage.c_str(), stdout), 0;
    if (is("--list")) {
      settings.list = true;
    } else if ((is("--json") || is("--seconds") || is("--table")) && next != nullptr) {
      if (is("--table")) return std::fputs(markdown_table(next).c_str(), stdout), 0;
      if (is("--json")) settings.json = next;
      if (is("--seconds")) settings.seconds = std::strtod(next, nullptr);
      ++i;
    } else if (argument[0] == '-' || !settings.filter.empty()) {
      return std::fputs(usage.c_str(), stderr), 2;
    } else {
      settings.filter = argument;
    }
  }

  prepare_environment(arguments);
  const leat::denormals_as_zero flushed;  // as the rivals are timed, too
  suite cases(settings);
  families(cases);
  return cases.finish();
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s: %s\n", program.c_str(), error.what());
  return 1;
}

}  // namespace bench
