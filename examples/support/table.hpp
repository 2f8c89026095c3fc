#pragma once
// Tables of numbers for the examples. A CSV file with one header line becomes an array with one row per line; a split
// holds every n-th row out, so that a model is judged on rows that it was not trained on; and a scale, measured on the
// training rows alone, brings each column to mean 0 and variance 1.

#include <leat/leat.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <fstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace leat::examples {

/// Columns by name, and one row of numbers per line of the file.
struct table {
  std::vector<std::string> columns;
  xt::xtensor<double, 2> values;

  std::size_t rows() const { return values.shape(0); }
};

namespace detail {

inline std::vector<std::string_view> split_line(std::string_view line) {
  std::vector<std::string_view> fields;
  for (;;) {
    const std::size_t comma = line.find(',');
    fields.push_back(line.substr(0, comma));
    if (comma == std::string_view::npos) return fields;
    line.remove_prefix(comma + 1);
  }
}

inline bool read_line(std::istream& stream, std::string& line) {
  if (!std::getline(stream, line)) return false;
  if (!line.empty() && line.back() == '\r') line.pop_back();
  return true;
}

}  // namespace detail

/// The table in a file of comma-separated numbers below one header line. Empty lines are passed over.
/// Errors: std::runtime_error that names the file, and the line and column where there is one.
inline table read_table(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error(path + ": cannot be opened");
  std::string line;
  if (!detail::read_line(file, line) || line.empty()) throw std::runtime_error(path + ": has no header line");

  table result;
  for (const std::string_view name : detail::split_line(line)) result.columns.emplace_back(name);
  std::vector<double> numbers;
  for (std::size_t number_of_line = 2; detail::read_line(file, line); ++number_of_line) {
    if (line.empty()) continue;
    const auto fields = detail::split_line(line);
    const std::string place = path + ":" + std::to_string(number_of_line) + ": ";
    if (fields.size() != result.columns.size())
      throw std::runtime_error(place + std::to_string(fields.size()) + " fields where the header has " +
                               std::to_string(result.columns.size()));
    for (std::size_t column = 0; column < fields.size(); ++column) {
      const std::string_view field = fields[column];
      double value = 0;
      const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), value);
      if (error != std::errc{} || end != field.data() + field.size() || !std::isfinite(value))
        throw std::runtime_error(place + "\"" + std::string(field) + "\" in column " + result.columns[column] +
                                 " is not a finite number");
      numbers.push_back(value);
    }
  }
  if (numbers.empty()) throw std::runtime_error(path + ": has no rows");

  result.values = xt::xtensor<double, 2>::from_shape({numbers.size() / result.columns.size(), result.columns.size()});
  std::copy(numbers.begin(), numbers.end(), result.values.begin());
  return result;
}

/// Rows to train on and rows to judge by.
struct split {
  xt::xtensor<double, 2> training, held_out;
};

/// Holds out the rows 0, n, 2n, ...; the others are for training.
inline split hold_out_every(std::size_t n, const table& all) {
  const std::size_t width = all.columns.size();
  const std::size_t held_out = (all.rows() + n - 1) / n;
  if (held_out == all.rows()) throw std::runtime_error("too few rows to hold some out");
  split result{xt::xtensor<double, 2>::from_shape({all.rows() - held_out, width}),
               xt::xtensor<double, 2>::from_shape({held_out, width})};
  std::size_t to_training = 0, to_held_out = 0;
  for (std::size_t row = 0; row < all.rows(); ++row) {
    auto& half = row % n == 0 ? result.held_out : result.training;
    const std::size_t to = row % n == 0 ? to_held_out++ : to_training++;
    for (std::size_t column = 0; column < width; ++column) half(to, column) = all.values(row, column);
  }
  return result;
}

/// Mean and standard deviation of each column, and their use: (value - mean) / deviation.
class scale {
 public:
  explicit scale(const xt::xtensor<double, 2>& rows) : mean_(rows.shape(1), 0.0), deviation_(rows.shape(1), 0.0) {
    const auto count = static_cast<double>(rows.shape(0));
    for (std::size_t column = 0; column < rows.shape(1); ++column) {
      for (std::size_t row = 0; row < rows.shape(0); ++row) mean_[column] += rows(row, column) / count;
      double variance = 0;
      for (std::size_t row = 0; row < rows.shape(0); ++row)
        variance += (rows(row, column) - mean_[column]) * (rows(row, column) - mean_[column]) / count;
      deviation_[column] = variance > 0 ? std::sqrt(variance) : 1.0;
    }
  }

  double operator()(double value, std::size_t column) const { return (value - mean_[column]) / deviation_[column]; }

 private:
  std::vector<double> mean_, deviation_;
};

}  // namespace leat::examples
