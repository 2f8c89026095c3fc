// Random graphs of small matrices: with products as scalars, as compiled sessions have them, they give the bytes that they give with
// products as kernels.

#include <leat/cpu/interpret.hpp>

#include "support/interpreted.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <map>
#include <random>

using namespace leat;
using namespace leat_test;

namespace {

template <class T>
class random_graph {
 public:
  explicit random_graph(unsigned seed) : random_(seed) {
    g_.merge_equal = true;
    for (int i = 0; i < 4; ++i) leaf(info_of<placeholder_op>);
    for (int i = 0; i < 3; ++i) variables_.push_back(leaf(info_of<variable_op>));
    nodes_.push_back(leat::constant(g_, dtype_of<T>, {}, 0.75).index());
    for (int i = 0; i < 24; ++i) grow();
    for (const int v : variables_) {
      const int value = some();
      if (below(2) == 0 || !(g_.at(value).result.extent == g_.at(v).result.extent)) continue;
      const int in[]{v, value};
      targets_.push_back(g_.add(info_of<assign_op>, in));
    }
    for (int i = 0; i < 3; ++i) targets_.push_back(some());
  }

  /// What a run fetches and leaves in the variables.
  std::vector<T> run(bool unrolled) {
    interpreted code(g_, targets_, unrolled);
    products += count_of(code.program(), info_of<matmul_op>.code) * (unrolled ? -1 : 1);
    auto values = values_;
    for (auto& [id, elements] : values) code.bind(id, elements.data());
    code.run();
    std::vector<T> all;
    for (std::size_t k = 0; k < targets_.size(); ++k) {
      const auto& bytes = code.bytes(static_cast<int>(k));
      std::vector<T> part((bytes.size() - 1) / sizeof(T));
      std::memcpy(part.data(), bytes.data(), part.size() * sizeof(T));
      all.insert(all.end(), part.begin(), part.end());
    }
    for (auto& [id, elements] : values) all.insert(all.end(), elements.begin(), elements.end());
    return all;
  }

  int products = 0;  // kernels that there are fewer of

 private:
  static int count_of(const program& p, int code) {
    int n = 0;
    for (const auto& s : p.steps) n += !s.is_cluster && s.code == code ? 1 : 0;
    return n;
  }
  std::int64_t below(std::int64_t n) { return static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(n)); }
  int some() { return nodes_[static_cast<std::size_t>(below(static_cast<std::int64_t>(nodes_.size())))]; }
  int leaf(const op_info& op) {
    shape extent;
    extent.push(1 + below(4));
    extent.push(1 + below(5));
    const auto id = static_cast<std::uint64_t>(100 + nodes_.size());
    auto& elements = values_[id];
    for (std::int64_t i = 0; i < extent.elements(); ++i) elements.push_back(static_cast<T>(0.1 + 0.01 * static_cast<double>(below(150))));
    nodes_.push_back(g_.add_leaf(op, {dtype_of<T>, extent}, "leaf", id));
    return nodes_.back();
  }
  void grow() {
    const int a = some();
    const int b = some();
    const shape& from = g_.at(a).result.extent;
    try {
      switch (below(10)) {
        case 0: return keep(info_of<add_op>, {a, b}, {});
        case 1: return keep(info_of<sub_op>, {a, b}, {});
        case 2: return keep(info_of<real_div_op>, {a, b}, {});
        case 3: return keep(info_of<transpose_op>, {a}, {});
        case 4:
          return keep(info_of<reshape_op>, {a}, {from.elements() % 2 == 0 ? 2 : 1, from.elements() / (from.elements() % 2 == 0 ? 2 : 1)});
        case 5: {
          if (from.rank != 2) return;
          const std::int64_t row = below(from[0]);
          const std::int64_t column = below(from[1]);
          return keep(info_of<slice_op>, {a}, {row, column, 1 + below(from[0] - row), 1 + below(from[1] - column)});
        }
        case 6: return keep(below(4) == 0 ? info_of<tanh_op> : info_of<neg_op>, {a}, {});
        default:
          for (int tries = 0; tries < 30; ++tries) {
            const int x = some();
            const int y = some();
            const std::int64_t ta = below(2);
            const std::int64_t tb = below(2);
            const shape& left = g_.at(x).result.extent;
            const shape& right = g_.at(y).result.extent;
            if (left.rank == 2 && right.rank == 2 && left[ta != 0 ? 0 : 1] == right[tb != 0 ? 1 : 0])
              return keep(info_of<matmul_op>, {x, y}, {ta, tb});
          }
      }
    } catch (const invalid_argument&) {  // shapes that do not fit
    }
  }
  void keep(const op_info& op, std::vector<int> in, std::vector<std::int64_t> attributes) { nodes_.push_back(g_.add(op, in, attributes)); }

  std::mt19937 random_;
  graph g_;
  std::vector<int> nodes_;
  std::vector<int> variables_;
  std::vector<int> targets_;
  std::map<std::uint64_t, std::vector<T>> values_;
};

template <class T>
void check_random() {
  int fewer = 0;
  for (unsigned seed = 0; seed < 400; ++seed) {
    CAPTURE(seed);
    random_graph<T> g(seed);
    const auto whole = g.run(false);
    const auto scalars = g.run(true);
    fewer += g.products;
    REQUIRE(whole.size() == scalars.size());
    std::size_t different = 0;
    for (std::size_t i = 0; i < whole.size(); ++i)
      if (!(std::isnan(whole[i]) && std::isnan(scalars[i])) && std::memcmp(&whole[i], &scalars[i], sizeof(T)) != 0) ++different;
    CHECK(different == 0);
  }
  CHECK(fewer > 400);
}

}  // namespace

TEST_CASE("small products as scalars give what they give as kernels, double") { check_random<double>(); }
TEST_CASE("small products as scalars give what they give as kernels, float") { check_random<float>(); }
