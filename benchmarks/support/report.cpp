#include "report.hpp"

#include "suite.hpp"

#include <nlohmann/json.hpp>

#include <cstdio>
#include <fstream>
#include <stdexcept>

namespace bench {

scaled_time scaled(double seconds) {
  if (seconds < 1e-6) return {seconds * 1e9, "ns"};
  if (seconds < 1e-3) return {seconds * 1e6, "us"};
  return {seconds * 1e3, "ms"};
}

double in_unit(double seconds, const std::string& unit) {
  return seconds * (unit == "ns" ? 1e9 : unit == "us" ? 1e6 : 1e3);
}

void print_header() { std::printf("%-18s %-24s %10s %10s      %7s\n", "case", "rival", "leat", "rival", "ratio"); }

void print_row(const row& measured) {
  const auto [rivals, unit] = scaled(measured.rivals);
  std::printf("%-18s %-24s %10.4g %10.4g %-4s %7.3f\n", measured.name.c_str(), measured.rival.c_str(),
              in_unit(measured.ours, unit), rivals, unit, measured.ratio());
  std::fflush(stdout);
}

void write_results(const std::string& path, const std::vector<row>& rows) {
  auto list = nlohmann::ordered_json::array();
  for (const row& measured : rows) {
    const auto [rivals, unit] = scaled(measured.rivals);
    list.push_back({{"case", measured.name},
                    {"rival", measured.rival},
                    {"leat", in_unit(measured.ours, unit)},
                    {"rival_value", rivals},
                    {"unit", unit},
                    {"ratio", measured.ratio()}});
  }
  std::ofstream file(path);
  if (!(file << list.dump(2) << '\n')) throw std::runtime_error("cannot write " + path);
}

std::string markdown_table(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot read " + path + ": run the benchmarks first");
  const auto list = nlohmann::ordered_json::parse(file);
  std::string text = "| case | rival | leat | rival | ratio |\n|---|---|---:|---:|---:|\n";
  std::string last;
  for (const auto& entry : list) {
    const auto name = entry.at("case").get<std::string>();
    const auto unit = entry.at("unit").get<std::string>();
    char line[256];
    std::snprintf(line, sizeof line, "| %s | %s | %.3g %s | %.3g %s | %.2f |\n", name == last ? "" : name.c_str(),
                  entry.at("rival").get<std::string>().c_str(), entry.at("leat").get<double>(), unit.c_str(),
                  entry.at("rival_value").get<double>(), unit.c_str(), entry.at("ratio").get<double>());
    text += line;
    last = name;
  }
  return text;
}

}  // namespace bench
