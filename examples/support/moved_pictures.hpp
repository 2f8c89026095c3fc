#pragma once
// The pictures of digits_table.hpp as images of 8x8 cells, and in endless variants for training: each is moved by up to one cell and gets
// fresh noise each time it is shown.

#include "digits_table.hpp"

#include <array>
#include <random>

namespace leat::examples {

constexpr std::size_t side = 8;
static_assert(side * side == cells);

inline xt::xtensor<float, 4> images_of(const pictures& all) {
  xt::xtensor<float, 4> images(std::array<std::size_t, 4>{all.labels.size(), side, side, 1});
  std::copy(all.cells_of.begin(), all.cells_of.end(), images.begin());
  return images;
}

/// Moves a picture by some cells down and to the right; what comes in is empty.
inline void move(xt::xtensor<float, 3>& picture, int down, int right) {
  constexpr int n = side;
  auto moved = picture;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      const int y = i - down, x = j - right;
      moved(i, j, 0) = y >= 0 && y < n && x >= 0 && x < n ? picture(y, x, 0) : 0.0f;
    }
  picture = moved;
}

/// All pictures with their labels, shuffled, moved, and with noise of this standard deviation.
inline auto moved_pictures(const pictures& all, float noise, unsigned seed) {
  namespace dataset = leat::dataset;
  return dataset::from_tensor_slices(images_of(all), all.labels)
      .shuffle(all.labels.size(), seed)
      .modify(
          [normal = std::normal_distribution<float>(0.0f, noise)](leat::data::random_stream& random, xt::xtensor<float, 3>& picture,
                                                                  std::int64_t&) mutable {
            std::uniform_int_distribution<int> by(-1, 1);
            const int down = by(random);
            move(picture, down, by(random));
            normal.reset();
            for (float& cell : picture) cell += normal(random);
          },
          seed);
}

}  // namespace leat::examples
