#pragma once
// The table of handwritten digits that digits.cpp and convnet.cpp are trained on: a header line, then 64 cells of 0 to 16 and the digit in
// each row (data/README.md names its source). Every fifth row is held out.

#include <leat/data.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <stdexcept>
#include <string>
#include <tuple>

#include <xtensor/xtensor.hpp>

namespace leat::examples {

constexpr std::size_t cells = 64;

struct pictures {
  xt::xtensor<float, 2> cells_of;  // each of 0 to 1
  xt::xtensor<std::int64_t, 1> labels;
};

/// Every fifth row of the file, or the others: all of them are one batch. Errors: std::runtime_error for a label that is no digit, or if
/// there are no rows.
inline pictures read_digits(const std::string& file, bool held_out) {
  namespace dataset = leat::dataset;
  const auto rows = dataset::zip(dataset::range(std::numeric_limits<std::int64_t>::max()),
                                 dataset::csv<std::array<float, cells>, std::int64_t>(file));
  pictures result;
  const auto chosen = rows.filter([held_out](std::int64_t row, const auto&, std::int64_t) { return (row % 5 == 0) == held_out; })
                          .map([](std::int64_t row, std::array<float, cells>& picture, std::int64_t label) {
                            if (label < 0 || label > 9)
                              throw std::runtime_error("row " + std::to_string(row) + ": a label that is no digit");
                            for (float& cell : picture) cell /= 16;
                            return std::tuple(picture, label);
                          });
  for (auto& [all, labels] : chosen.batch(1000000)) result = {all, labels};
  if (result.labels.size() == 0) throw std::runtime_error(file + ": too few rows");
  return result;
}

/// The line of an epoch: of the first, the last, and ten between them.
inline void report_epoch(int epoch, int epochs, double mean_loss, float held_out_loss, float accuracy) {
  if ((epoch - 1) % std::max(1, epochs / 10) == 0 || epoch == epochs)
    std::printf("epoch %3d   loss %.4f   held out: loss %.4f, accuracy %6.2f %%\n", epoch, mean_loss, static_cast<double>(held_out_loss),
                100 * static_cast<double>(accuracy));
}

}  // namespace leat::examples
