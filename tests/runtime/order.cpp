// Programs drawn at random in which variables are written several times and seen through views, each read ordered with the writes around
// it by control dependencies: they give what one operation after the other gives, fused or not.

#include <leat/graphs.hpp>
#include <leat/named/functions/embedding.hpp>
#include <leat/session/graph_session.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

using namespace leat;

namespace {

constexpr std::int64_t n = 4;
using matrix = std::vector<double>;  // n x n

matrix each(const matrix& a, auto f) {
  matrix r(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) r[i] = f(i / n, i % n);
  return r;
}
const double& at(const matrix& a, std::size_t row, std::size_t column) { return a[row * n + column]; }

// A graph, and beside it what each of its tensors is when it is computed.
class random_program {
 public:
  explicit random_program(unsigned seed, int length) : random_(seed), scope_(g.as_default()) {
    for (int k = 0; k < 3; ++k) {
      const matrix start =
          each(matrix(n * n), [&](std::size_t i, std::size_t j) { return 0.1 * static_cast<double>(i + 2 * j) - 0.3 * k; });
      variables_.push_back({variable(constant(start, {n, n}), "v" + std::to_string(k)), start, {}, {}});
      variables.push_back(variables_.back().ref);
      starts.push_back(start);
    }
    while (length-- > 0) step();
    for (const its_variable& v : variables_) {
      results.push_back(read(v));
      expected.push_back(v.value);
      made.push_back("last value of " + v.ref.name());
    }
  }
  random_program(const random_program&) = delete;
  random_program& operator=(const random_program&) = delete;

  graph g;
  std::vector<output> variables, results;
  std::vector<matrix> expected, starts;
  std::vector<std::string> made;

 private:
  struct its_variable {
    output ref;
    matrix value;
    std::vector<output> last_write;
    std::vector<output> readers;  // since then
  };

  std::size_t draw(std::size_t count) { return std::uniform_int_distribution<std::size_t>(0, count - 1)(random_); }
  void add(const char* what, const output& o, matrix value) {
    results.push_back(o);
    expected.push_back(std::move(value));
    made.emplace_back(what);
  }
  output read(const its_variable& v) {
    const auto wait = control_dependencies(v.last_write);
    return identity(v.ref);
  }

  // An operation on a, which is a tensor or a variable that is read by it. Not identity, which forwards what a variable is when it is used.
  std::pair<output, matrix> operation(const output& a, const matrix& x, const char*& what) {
    switch (draw(7)) {
      case 0: what = "transpose"; return {transpose(a), each(x, [&](auto i, auto j) { return at(x, j, i); })};
      case 1: what = "reshapes"; return {reshape(reshape(a, {2, n * n / 2}), {n, n}), x};
      case 2:
        what = "halves exchanged";
        return {concat({slice(a, {n / 2, 0}, {n / 2, n}), slice(a, {0, 0}, {n / 2, n})}, 0),
                each(x, [&](auto i, auto j) { return at(x, (i + n / 2) % n, j); })};
      case 3:
        what = "rows reversed";
        return {strided_slice(a, {n - 1, 0}, {-n - 1, n}, {-1, 1}), each(x, [&](auto i, auto j) { return at(x, n - 1 - i, j); })};
      case 4: what = "half"; return {multiply(a, 0.5), each(x, [&](auto i, auto j) { return 0.5 * at(x, i, j); })};
      case 5: what = "tanh"; return {tanh(a), each(x, [&](auto i, auto j) { return std::tanh(at(x, i, j)); })};
      default: what = "transposed twice"; return {transpose(transpose(a)), x};
    }
  }

  void step() {
    const char* what = "";
    switch (draw(4)) {
      case 0: {  // something that reads a variable
        its_variable& v = variables_[draw(variables_.size())];
        const auto wait = control_dependencies(v.last_write);
        auto [o, value] = operation(v.ref, v.value, what);
        v.readers.push_back(o);
        add(what, o, std::move(value));
        return;
      }
      case 1: {  // a write
        its_variable& v = variables_[draw(variables_.size())];
        if (results.empty()) return;
        const std::size_t from = draw(results.size());
        std::vector<output> before = v.readers;
        before.insert(before.end(), v.last_write.begin(), v.last_write.end());
        const auto wait = control_dependencies(before);
        const output x = results[from];
        const matrix& by = expected[from];
        output up;
        if (draw(2) == 0) {
          up = assign(v.ref, x);
          v.value = by;
        } else {
          up = assign_sub(v.ref, multiply(x, 0.25));
          v.value = each(by, [&](auto i, auto j) { return at(v.value, i, j) - 0.25 * at(by, i, j); });
        }
        v.last_write = {up};
        v.readers.clear();
        return;
      }
      case 2: {  // tensors alone
        if (results.empty()) return;
        const std::size_t from = draw(results.size());
        auto [o, value] = operation(results[from], expected[from], what);
        add(what, o, std::move(value));
        return;
      }
      default: {
        if (results.empty()) return;
        const std::size_t a = draw(results.size()), b = draw(results.size());
        const matrix &x = expected[a], &y = expected[b];
        if (draw(2) == 0) {
          matrix value = each(x, [&](auto i, auto j) { return at(x, i, j) + at(y, j, i); });
          add("sum", leat::add(results[a], transpose(results[b])), std::move(value));
        } else {
          matrix value = each(x, [&](auto i, auto j) {
            double sum = 0;
            for (std::size_t k = 0; k < n; ++k) sum += at(x, i, k) * at(y, j, k);
            return std::tanh(sum);
          });
          add("product", tanh(matmul(results[a], results[b], {.transpose_b = true})), std::move(value));
        }
      }
    }
  }

  std::mt19937 random_;
  default_graph_scope scope_;
  std::vector<its_variable> variables_;
};

}  // namespace

TEST_CASE("variables written several times and seen through views, in a given order") {
  for (unsigned seed = 0; seed < 500; ++seed) {
    random_program p(seed, 10 + static_cast<int>(seed % 30));
    for (const bool fuse : {true, false}) {
      session_options options;
      options.fuse = fuse;
      graph_session s(p.g, options);
      // All results, and some: what is not fetched need not be stored.
      for (std::size_t every = 1; every < 6; every += 2) {
        for (std::size_t k = 0; k < p.starts.size(); ++k) {
          tensor_value start(dtype::float64, shape_value{n, n});
          std::copy(p.starts[k].begin(), p.starts[k].end(), start.values<double>().begin());
          s.assign(p.variables[k], start);
        }
        std::vector<output> fetches;
        std::vector<std::size_t> which;
        for (std::size_t k = 0; k < p.results.size(); ++k)
          if (k % every == 0 || k + 3 >= p.results.size()) fetches.push_back(p.results[k]), which.push_back(k);
        const std::vector<tensor_value> values = s.run(fetches);
        for (std::size_t k = 0; k < which.size(); ++k) {
          double worst = 0;
          for (std::size_t i = 0; i < n * n; ++i)
            worst = std::max(worst,
                             std::abs(values[k].values<double>()[i] - p.expected[which[k]][i]) / (1 + std::abs(p.expected[which[k]][i])));
          const std::string where = "seed " + std::to_string(seed) + (fuse ? ", fused" : ", node by node") + ", every " +
                                    std::to_string(every) + ", result " + std::to_string(which[k]) + ": " + p.made[which[k]];
          CHECK_MESSAGE(worst < 1e-9, where);
        }
      }
    }
  }
}

TEST_CASE("in branches and loops, a variable that is read behind a write has the value that was written") {
  for (const bool fuse : {true, false}) {
    CAPTURE(fuse);
    graph g;
    const auto scope = g.as_default();
    const output v = variable(1.0f, "v"), p = placeholder(dtype::boolean, {}, "p");
    const auto read_behind = [&](const output& written) {
      const auto behind = control_dependencies({written});
      return read_value(v);
    };
    const output branch = cond(p, [&] { return read_behind(assign_add(v, 10.0f)) * 2.0f; }, [&] { return constant(0.0f); });
    const output sums = while_loop([](output i, output) { return i < 4; },
                                   [&](output i, output s) { return std::array{i + 1, s + read_behind(assign_add(v, 1.0f))}; },
                                   {0, constant(0.0f)})[1];
    const output count = while_loop([&](output i) { return read_behind(i) < 5.0f; },
                                    [&](output i) {
                                      const auto behind = control_dependencies({assign_add(v, 1.0f)});
                                      return i + 1;
                                    },
                                    {0}, {.maximum_iterations = 20});
    graph_session s(g, {.fuse = fuse});
    s.run(global_variables_initializer());
    CHECK(s.run<float>(branch, {{p, true}}) == 22);
    CHECK(s.run<float>(branch, {{p, true}}) == 42);
    s.run(global_variables_initializer());
    CHECK(s.run<float>(sums) == 2 + 3 + 4 + 5);
    CHECK(s.run<float>(sums) == 6 + 7 + 8 + 9);
    s.run(global_variables_initializer());
    CHECK(s.run<std::int32_t>(count) == 4);
    CHECK(s.run<float>(v) == 5);
  }
}
