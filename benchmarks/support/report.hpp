#pragma once
// The three forms of a measurement: a row on the terminal, an object in results.json, a line of a Markdown table.

#include <string>
#include <vector>

namespace bench {

struct row;

/// A time in the unit that reads best: ns below a microsecond, us below a millisecond, ms above.
struct scaled_time {
  double value;
  const char* unit;
};
scaled_time scaled(double seconds);
double in_unit(double seconds, const std::string& unit);

void print_header();
void print_row(const row& measured);

/// [{"case", "rival", "leat", "rival_value", "unit", "ratio"}]; throws std::runtime_error if the file cannot be
/// written.
void write_results(const std::string& path, const std::vector<row>& rows);

/// The Markdown table of a file that write_results wrote.
std::string markdown_table(const std::string& path);

}  // namespace bench
