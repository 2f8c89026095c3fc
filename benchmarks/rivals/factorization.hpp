#pragma once
// A step of gradient descent of a matrix factorization: ratings of users for items as products of their rows in two tables.
//   r = sum over the columns of P[user] Q[item]    loss = mean (r - rating)^2
// A step changes the rows of its batch alone; a user or an item may be in it several times.

#include <cstddef>
#include <cstdint>
#include <vector>

namespace bench {

struct factorization_data {
  static constexpr int users = 1000, items = 2000, columns = 16, batch = 256;
  static constexpr float rate = 0.5f;
  std::vector<float> p, q, ratings;
  std::vector<std::int32_t> user, item;

  factorization_data() : p(users * columns), q(items * columns), ratings(batch), user(batch), item(batch) {
    for (std::size_t k = 0; k < p.size(); ++k) p[k] = 0.01f * static_cast<float>(k * 7 % 31) - 0.1f;
    for (std::size_t k = 0; k < q.size(); ++k) q[k] = 0.01f * static_cast<float>(k * 11 % 29) - 0.1f;
    for (std::size_t k = 0; k < batch; ++k) {
      user[k] = static_cast<std::int32_t>(k * 37 % 211);
      item[k] = static_cast<std::int32_t>(k * k % users);
      ratings[k] = static_cast<float>(k % 5) / 5;
    }
  }
};

/// The batch's rows are copied before the first of them changes.
class factorization_loop {
  using data = factorization_data;
  static constexpr int columns = data::columns, batch = data::batch;

 public:
  explicit factorization_loop(const data& d) : d_(d), p_(d.p), q_(d.q), user_rows_(batch * columns), item_rows_(batch * columns) {}
  void reset() {
    p_ = d_.p;
    q_ = d_.q;
  }
  void step() {
    float sum = 0;
    for (int k = 0; k < batch; ++k) {
      const float* const p = row(p_, d_.user, k);
      const float* const q = row(q_, d_.item, k);
      float* const a = &user_rows_[static_cast<std::size_t>(k * columns)];
      float* const b = &item_rows_[static_cast<std::size_t>(k * columns)];
      float rating = 0;
#pragma omp simd reduction(+ : rating)
      for (int j = 0; j < columns; ++j) {
        a[j] = p[j];
        b[j] = q[j];
        rating += a[j] * b[j];
      }
      const float error = rating - d_.ratings[static_cast<std::size_t>(k)];
      sum += error * error;
      errors_[k] = data::rate * 2 / batch * error;
    }
    loss_ = sum / batch;
    for (int k = 0; k < batch; ++k) {
      float* const p = row(p_, d_.user, k);
      float* const q = row(q_, d_.item, k);
      const float* const a = &user_rows_[static_cast<std::size_t>(k * columns)];
      const float* const b = &item_rows_[static_cast<std::size_t>(k * columns)];
      const float error = errors_[k];
#pragma omp simd
      for (int j = 0; j < columns; ++j) {
        p[j] -= error * b[j];
        q[j] -= error * a[j];
      }
    }
  }
  std::vector<float> result() const {
    std::vector<float> all{loss_};
    all.insert(all.end(), p_.begin(), p_.end());
    all.insert(all.end(), q_.begin(), q_.end());
    return all;
  }

 private:
  static float* row(std::vector<float>& table, const std::vector<std::int32_t>& ids, int k) {
    return &table[static_cast<std::size_t>(ids[static_cast<std::size_t>(k)]) * columns];
  }
  const data& d_;
  std::vector<float> p_, q_, user_rows_, item_rows_;
  float errors_[batch] = {};
  float loss_ = 0;
};

}  // namespace bench
