#pragma once
// Values of tensors in graphs with names, computed in the plainest way, in double: what tests compare gradients with. Each
// operator is written from its definition, with none of the library's code, and sizes are those of the arrays that are fed.

#include <leat/graphs.hpp>
#include <leat/kernels/math/special.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace leat_test {

struct array {
  std::vector<std::int64_t> dims;
  std::vector<double> at;
};

/// The numbers of a constant.
inline array constant_of(const leat::tensor_proto& p) {
  array r;
  for (const auto& d : p.shape.dims) r.dims.push_back(d.size);
  const auto size = static_cast<std::size_t>(leat::content_size_of(p.dtype));
  const std::size_t stored = size == 0 ? 0 : p.bytes.size() / size;
  std::int64_t n = 1;
  for (auto d : r.dims) n *= d;
  for (std::size_t i = 0; i < static_cast<std::size_t>(n) && stored > 0; ++i) {
    const std::size_t at = std::min(i, stored - 1);
    if (p.dtype == leat::data_type::float32) r.at.push_back(static_cast<double>(leat::detail::get_bytes<float>(p.bytes, at)));
    else if (p.dtype == leat::data_type::float64) r.at.push_back(leat::detail::get_bytes<double>(p.bytes, at));
    else if (p.dtype == leat::data_type::int64) r.at.push_back(static_cast<double>(leat::detail::get_bytes<std::int64_t>(p.bytes, at)));
    else if (p.dtype == leat::data_type::boolean) r.at.push_back(p.bytes[at] != 0 ? 1 : 0);
    else r.at.push_back(leat::detail::get_bytes<std::int32_t>(p.bytes, at));
  }
  return r;
}

/// Evaluates tensors, given the values of placeholders and variables by the names of their nodes.
class evaluator {
 public:
  explicit evaluator(std::map<std::string, array> given) : given_(std::move(given)) {}

  array operator()(const leat::output& o) { return results(o.operation())[static_cast<std::size_t>(o.port())]; }

 private:
  using dims = std::vector<std::int64_t>;
  static std::int64_t count(const dims& d) {
    std::int64_t n = 1;
    for (auto s : d) n *= s;
    return n;
  }
  // Where element `i` of an array of shape `full` is read in one of shape `d` that is repeated up to it.
  static std::size_t place(std::int64_t i, const dims& full, const dims& d) {
    std::int64_t at = 0;
    std::int64_t step = 1;
    for (std::size_t k = 1; k <= full.size(); ++k) {
      const std::int64_t size = full[full.size() - k];
      const std::int64_t index = i % size;
      i /= size;
      if (k > d.size()) continue;
      if (d[d.size() - k] != 1) at += index * step;
      step *= d[d.size() - k];
    }
    return static_cast<std::size_t>(at);
  }
  static dims together(const dims& a, const dims& b) {
    dims r(std::max(a.size(), b.size()));
    for (std::size_t k = 1; k <= r.size(); ++k) {
      const std::int64_t x = k <= a.size() ? a[a.size() - k] : 1;
      const std::int64_t y = k <= b.size() ? b[b.size() - k] : 1;
      if (x != y && x != 1 && y != 1) throw std::runtime_error("sizes differ: " + std::to_string(x) + " and " + std::to_string(y));
      r[r.size() - k] = x == 1 ? y : x;
    }
    return r;
  }
  static array pair(const array& a, const array& b, double (*f)(double, double)) {
    array r{together(a.dims, b.dims), {}};
    for (std::int64_t i = 0; i < count(r.dims); ++i) r.at.push_back(f(a.at[place(i, r.dims, a.dims)], b.at[place(i, r.dims, b.dims)]));
    return r;
  }
  static array each(array a, double (*f)(double)) {
    for (double& v : a.at) v = f(v);
    return a;
  }
  static array stretched(const array& a, const array& to) {
    array r{{to.at.begin(), to.at.end()}, {}};
    if (together(a.dims, r.dims) != r.dims) throw std::runtime_error("does not broadcast to the shape");
    for (std::int64_t i = 0; i < count(r.dims); ++i) r.at.push_back(a.at[place(i, r.dims, a.dims)]);
    return r;
  }
  static array summed(const array& a, const array& axes, bool keep, bool mean) {
    dims kept = a.dims;
    double reduced = 1;
    for (double axis : axes.at) {
      auto& d = kept[static_cast<std::size_t>(axis < 0 ? axis + static_cast<double>(a.dims.size()) : axis)];
      reduced *= static_cast<double>(d);
      d = 1;
    }
    array r{kept, std::vector<double>(static_cast<std::size_t>(count(kept)))};
    for (std::size_t i = 0; i < a.at.size(); ++i) r.at[place(static_cast<std::int64_t>(i), a.dims, kept)] += a.at[i] / (mean ? reduced : 1);
    if (keep) return r;
    r.dims.clear();
    for (std::size_t k = 0; k < kept.size(); ++k) {
      bool gone = false;
      for (double axis : axes.at) gone = gone || static_cast<std::size_t>(axis < 0 ? axis + static_cast<double>(kept.size()) : axis) == k;
      if (!gone) r.dims.push_back(kept[k]);
    }
    return r;
  }
  static array product(const array& a, bool ta, const array& b, bool tb) {
    const auto m = static_cast<std::size_t>(a.dims[ta ? 1 : 0]);
    const auto k = static_cast<std::size_t>(a.dims[ta ? 0 : 1]);
    const auto n = static_cast<std::size_t>(b.dims[tb ? 0 : 1]);
    if (b.dims[tb ? 1 : 0] != static_cast<std::int64_t>(k)) throw std::runtime_error("inner sizes differ");
    array r{{static_cast<std::int64_t>(m), static_cast<std::int64_t>(n)}, std::vector<double>(m * n)};
    for (std::size_t i = 0; i < m; ++i)
      for (std::size_t j = 0; j < n; ++j)
        for (std::size_t l = 0; l < k; ++l)
          r.at[i * n + j] += (ta ? a.at[l * m + i] : a.at[i * k + l]) * (tb ? b.at[j * k + l] : b.at[l * n + j]);
    return r;
  }
  // Products of stacks, whose first dimensions are repeated.
  static array stacked(const array& a, bool ta, const array& b, bool tb) {
    const dims as(a.dims.begin(), a.dims.end() - 2);
    const dims bs(b.dims.begin(), b.dims.end() - 2);
    const dims all = together(as, bs);
    const auto matrix = [](const array& of, std::size_t at) {
      const auto n = static_cast<std::size_t>(of.dims[of.dims.size() - 1] * of.dims[of.dims.size() - 2]);
      return array{{of.dims.end() - 2, of.dims.end()},
                   {of.at.begin() + static_cast<std::ptrdiff_t>(at * n), of.at.begin() + static_cast<std::ptrdiff_t>((at + 1) * n)}};
    };
    array r{all, {}};
    for (std::int64_t i = 0; i < count(all); ++i) {
      const array one = product(matrix(a, place(i, all, as)), ta, matrix(b, place(i, all, bs)), tb);
      if (i == 0) r.dims.insert(r.dims.end(), one.dims.begin(), one.dims.end());
      r.at.insert(r.at.end(), one.at.begin(), one.at.end());
    }
    return r;
  }
  static array softmax(array a) {
    const auto n = static_cast<std::size_t>(a.dims.back());
    for (std::size_t row = 0; row < a.at.size(); row += n) {
      double sum = 0;
      for (std::size_t j = 0; j < n; ++j) sum += std::exp(a.at[row + j]);
      for (std::size_t j = 0; j < n; ++j) a.at[row + j] = std::exp(a.at[row + j]) / sum;
    }
    return a;
  }
  // Where element `i` of an array of these dimensions stands.
  static dims position(std::int64_t i, const dims& d) {
    dims at(d.size());
    for (std::size_t k = d.size(); k-- > 0;) {
      at[k] = i % d[k];
      i /= d[k];
    }
    return at;
  }
  static std::size_t index(const dims& at, const dims& d) {
    std::int64_t i = 0;
    for (std::size_t k = 0; k < d.size(); ++k) i = i * d[k] + at[k];
    return static_cast<std::size_t>(i);
  }
  // An array of other dimensions, whose element at `to` is that at `from(to)`.
  template <class From>
  static array moved(const array& a, const dims& d, From from) {
    array r{d, {}};
    for (std::int64_t i = 0; i < count(d); ++i) r.at.push_back(a.at[index(from(position(i, d)), a.dims)]);
    return r;
  }
  static array tiled(const array& a, const array& times) {
    dims d = a.dims;
    for (std::size_t k = 0; k < d.size(); ++k) d[k] *= static_cast<std::int64_t>(times.at[k]);
    return moved(a, d, [&](dims at) {
      for (std::size_t k = 0; k < at.size(); ++k) at[k] %= a.dims[k];
      return at;
    });
  }
  static array transposed(const array& a, const array& order) {
    dims d;
    for (double axis : order.at) d.push_back(a.dims[static_cast<std::size_t>(axis)]);
    return moved(a, d, [&](const dims& at) {
      dims from(at.size());
      for (std::size_t k = 0; k < at.size(); ++k) from[static_cast<std::size_t>(order.at[k])] = at[k];
      return from;
    });
  }
  static array gathered(const array& a, const array& rows) {
    const std::size_t row = a.at.size() / static_cast<std::size_t>(a.dims[0]);
    array r{rows.dims, {}};
    r.dims.insert(r.dims.end(), a.dims.begin() + 1, a.dims.end());
    for (double i : rows.at)
      for (std::size_t j = 0; j < row; ++j) r.at.push_back(a.at[static_cast<std::size_t>(i) * row + j]);
    return r;
  }
  static array cut(const array& a, const array& begin, const array& size) {
    dims d;
    for (std::size_t k = 0; k < a.dims.size(); ++k)
      d.push_back(size.at[k] < 0 ? a.dims[k] - static_cast<std::int64_t>(begin.at[k]) : static_cast<std::int64_t>(size.at[k]));
    return moved(a, d, [&](dims at) {
      for (std::size_t k = 0; k < at.size(); ++k) at[k] += static_cast<std::int64_t>(begin.at[k]);
      return at;
    });
  }
  static array padded(const array& a, const array& paddings) {
    array r{a.dims, {}};
    for (std::size_t k = 0; k < r.dims.size(); ++k) r.dims[k] += static_cast<std::int64_t>(paddings.at[2 * k] + paddings.at[2 * k + 1]);
    r.at.assign(static_cast<std::size_t>(count(r.dims)), 0);
    for (std::int64_t i = 0; i < count(a.dims); ++i) {
      dims at = position(i, a.dims);
      for (std::size_t k = 0; k < at.size(); ++k) at[k] += static_cast<std::int64_t>(paddings.at[2 * k]);
      r.at[index(at, r.dims)] = a.at[static_cast<std::size_t>(i)];
    }
    return r;
  }
  static array one_after_the_other(const std::vector<array>& x) {
    const auto axis =
        static_cast<std::size_t>(x.back().at[0] < 0 ? x.back().at[0] + static_cast<double>(x[0].dims.size()) : x.back().at[0]);
    array r{x[0].dims, {}};
    for (std::size_t k = 1; k + 1 < x.size(); ++k) r.dims[axis] += x[k].dims[axis];
    for (std::int64_t i = 0; i < count(r.dims); ++i) {
      dims at = position(i, r.dims);
      std::size_t k = 0;
      while (at[axis] >= x[k].dims[axis]) at[axis] -= x[k++].dims[axis];
      r.at.push_back(x[k].at[index(at, x[k].dims)]);
    }
    return r;
  }
  static std::vector<array> offsets(const std::vector<array>& x) {
    std::vector<array> all;
    double sum = 0;
    const auto axis = static_cast<std::size_t>(x[0].at[0]);
    for (std::size_t k = 1; k < x.size(); ++k) {
      array r{x[k].dims, std::vector<double>(x[k].at.size(), 0)};
      r.at[axis] = sum;
      sum += x[k].at[axis];
      all.push_back(r);
    }
    return all;
  }
  static array packed(std::vector<array> x, std::size_t axis) {
    for (array& a : x) a.dims.insert(a.dims.begin() + static_cast<std::ptrdiff_t>(axis), 1);
    x.push_back({{}, {static_cast<double>(axis)}});
    return one_after_the_other(x);
  }
  static std::vector<array> parts(const array& a, std::size_t axis, std::size_t n, bool drops) {
    std::vector<array> all;
    dims size = a.dims;
    size[axis] /= static_cast<std::int64_t>(n);
    array begin = vector_of(std::vector<double>(a.dims.size(), 0));
    for (std::size_t k = 0; k < n; ++k) {
      begin.at[axis] = static_cast<double>(k) * static_cast<double>(size[axis]);
      all.push_back(cut(a, begin, vector_of({size.begin(), size.end()})));
      if (drops) all.back().dims.erase(all.back().dims.begin() + static_cast<std::ptrdiff_t>(axis));
    }
    return all;
  }
  static array reduced(const array& a, const array& axes, bool keep, const std::string& how) {
    const array shape = summed(a, axes, true, false);
    array r{shape.dims, std::vector<double>(shape.at.size(), how == "Prod" ? 1 : how == "Max" ? -1e300 : 1e300)};
    for (std::size_t i = 0; i < a.at.size(); ++i) {
      double& to = r.at[place(static_cast<std::int64_t>(i), a.dims, r.dims)];
      to = how == "Prod" ? to * a.at[i] : how == "Max" ? std::max(to, a.at[i]) : std::min(to, a.at[i]);
    }
    r.dims = summed(a, axes, keep, false).dims;
    return r;
  }
  // What a slice as "x[:, k]" of a matrix, or "x[k]" of a vector, gives back.
  array spread(const leat::graph_operation& op, const std::vector<array>& x) const {
    array r{{x[0].at.begin(), x[0].at.end()}, {}};
    r.at.assign(static_cast<std::size_t>(count(r.dims)), 0);
    if (r.dims.size() == 1 && integer(op, "shrink_axis_mask") == 1) {
      r.at[static_cast<std::size_t>(x[1].at[0])] = x[4].at[0];
    } else if (r.dims.size() == 1) {
      for (std::size_t i = 0; i < x[4].at.size(); ++i) r.at[static_cast<std::size_t>(x[1].at[0]) + i] = x[4].at[i];
    } else {
      const auto n = static_cast<std::size_t>(r.dims[1]);
      for (std::size_t i = 0; i < x[4].at.size(); ++i) r.at[i * n + static_cast<std::size_t>(x[1].at[1])] = x[4].at[i];
    }
    return r;
  }
  static std::int64_t integer(const leat::graph_operation& op, std::string_view name) {
    const auto* a = op.attributes().find(name);
    const auto* n = a != nullptr ? a->get_if<std::int64_t>() : nullptr;
    return n != nullptr ? *n : 0;
  }
  static std::size_t axis_of(const leat::graph_operation& op, std::size_t rank) {
    const std::int64_t axis = integer(op, "axis");
    return axis < 0 ? static_cast<std::size_t>(axis) + rank : static_cast<std::size_t>(axis);
  }
  static array vector_of(const std::vector<double>& v) { return {{static_cast<std::int64_t>(v.size())}, v}; }

  std::vector<array> results(const leat::graph_operation& op) {
    const auto known = known_.find(op.name());
    if (known != known_.end()) return known->second;
    return known_[op.name()] = compute(op);
  }
  bool flag(const leat::graph_operation& op, std::string_view name) const { return *op.attribute(name).get_if<bool>(); }

  std::vector<array> compute(const leat::graph_operation& op) {
    const std::string type(op.type());
    if (const auto at = given_.find(op.name()); at != given_.end()) return {at->second};
    if (type == "Const") return {constant_of(*op.attribute("value").get_if<leat::tensor_proto>())};
    std::vector<array> x;
    for (const auto& in : op.inputs()) x.push_back(results(in.operation())[static_cast<std::size_t>(in.port())]);
    return apply(op, x);
  }

 public:
  /// What an operator makes of its operands.
  std::vector<array> apply(const leat::graph_operation& op, const std::vector<array>& x) const {
    const std::string type(op.type());
    if (type == "Less") return {pair(x[0], x[1], [](double a, double b) { return a < b ? 1.0 : 0.0; })};
    if (type == "LogicalAnd") return {pair(x[0], x[1], [](double a, double b) { return a != 0 && b != 0 ? 1.0 : 0.0; })};
    if (type == "All") {
      bool all = true;
      for (double v : x[0].at) all = all && v != 0;
      return {array{{}, {all ? 1.0 : 0.0}}};
    }
    if (type == "LogicalNot") return {each(x[0], [](double a) { return a == 0 ? 1.0 : 0.0; })};
    if (type == "Identity" || type == "StopGradient" || type == "Print" || type == "Cast") return {x[0]};
    if (type == "AddV2") return {pair(x[0], x[1], [](double a, double b) { return a + b; })};
    if (type == "Sub") return {pair(x[0], x[1], [](double a, double b) { return a - b; })};
    if (type == "Mul") return {pair(x[0], x[1], [](double a, double b) { return a * b; })};
    if (type == "RealDiv") return {pair(x[0], x[1], [](double a, double b) { return a / b; })};
    if (type == "Greater") return {pair(x[0], x[1], [](double a, double b) { return a > b ? 1.0 : 0.0; })};
    if (type == "GreaterEqual") return {pair(x[0], x[1], [](double a, double b) { return a >= b ? 1.0 : 0.0; })};
    if (type == "LessEqual") return {pair(x[0], x[1], [](double a, double b) { return a <= b ? 1.0 : 0.0; })};
    if (type == "Equal") return {pair(x[0], x[1], [](double a, double b) { return a == b ? 1.0 : 0.0; })};
    if (type == "Maximum") return {pair(x[0], x[1], [](double a, double b) { return std::max(a, b); })};
    if (type == "Minimum") return {pair(x[0], x[1], [](double a, double b) { return std::min(a, b); })};
    if (type == "Pow") return {pair(x[0], x[1], [](double a, double b) { return std::pow(a, b); })};
    if (type == "DivNoNan") return {pair(x[0], x[1], [](double a, double b) { return b == 0 ? 0 : a / b; })};
    if (type == "FloorMod") return {pair(x[0], x[1], [](double a, double b) { return a - b * std::floor(a / b); })};
    if (type == "FloorDiv") return {pair(x[0], x[1], [](double a, double b) { return std::floor(a / b); })};
    if (type == "SquaredDifference") return {pair(x[0], x[1], [](double a, double b) { return (a - b) * (a - b); })};
    if (type == "TanhGrad") return {pair(x[0], x[1], [](double y, double dy) { return dy * (1 - y * y); })};
    if (type == "SigmoidGrad") return {pair(x[0], x[1], [](double y, double dy) { return dy * y * (1 - y); })};
    if (type == "SqrtGrad") return {pair(x[0], x[1], [](double y, double dy) { return dy / (2 * y); })};
    if (type == "RsqrtGrad") return {pair(x[0], x[1], [](double y, double dy) { return -dy * y * y * y / 2; })};
    if (type == "ReciprocalGrad") return {pair(x[0], x[1], [](double y, double dy) { return -dy * y * y; })};
    if (type == "ReluGrad") return {pair(x[0], x[1], [](double dy, double y) { return y > 0 ? dy : 0; })};
    if (type == "Relu6Grad") return {pair(x[0], x[1], [](double dy, double y) { return y > 0 && y < 6 ? dy : 0; })};
    if (type == "EluGrad") return {pair(x[0], x[1], [](double dy, double y) { return y < 0 ? dy * (y + 1) : dy; })};
    if (type == "SoftplusGrad") return {pair(x[0], x[1], [](double dy, double v) { return dy / (1 + std::exp(-v)); })};
    if (type == "Sqrt") return {each(x[0], [](double a) { return std::sqrt(a); })};
    if (type == "Rsqrt") return {each(x[0], [](double a) { return 1 / std::sqrt(a); })};
    if (type == "Reciprocal") return {each(x[0], [](double a) { return 1 / a; })};
    if (type == "Sign") return {each(x[0], [](double a) { return a > 0 ? 1.0 : a < 0 ? -1.0 : 0.0; })};
    if (type == "Abs") return {each(x[0], [](double a) { return std::abs(a); })};
    if (type == "Log") return {each(x[0], [](double a) { return std::log(a); })};
    if (type == "Log1p") return {each(x[0], [](double a) { return std::log1p(a); })};
    if (type == "Expm1") return {each(x[0], [](double a) { return std::expm1(a); })};
    if (type == "Sigmoid") return {each(x[0], [](double a) { return 1 / (1 + std::exp(-a)); })};
    if (type == "Softplus") return {each(x[0], [](double a) { return std::log1p(std::exp(a)); })};
    if (type == "Elu") return {each(x[0], [](double a) { return a < 0 ? std::expm1(a) : a; })};
    if (type == "Relu6") return {each(x[0], [](double a) { return std::min(6.0, std::max(0.0, a)); })};
    if (type == "Sin") return {each(x[0], [](double a) { return std::sin(a); })};
    if (type == "Cos") return {each(x[0], [](double a) { return std::cos(a); })};
    if (type == "Tan") return {each(x[0], [](double a) { return std::tan(a); })};
    if (type == "Asin") return {each(x[0], [](double a) { return std::asin(a); })};
    if (type == "Acos") return {each(x[0], [](double a) { return std::acos(a); })};
    if (type == "Atan") return {each(x[0], [](double a) { return std::atan(a); })};
    if (type == "Sinh") return {each(x[0], [](double a) { return std::sinh(a); })};
    if (type == "Cosh") return {each(x[0], [](double a) { return std::cosh(a); })};
    if (type == "Erfc") return {each(x[0], [](double a) { return std::erfc(a); })};
    if (type == "Asinh") return {each(x[0], [](double a) { return std::asinh(a); })};
    if (type == "Acosh") return {each(x[0], [](double a) { return std::acosh(a); })};
    if (type == "Atanh") return {each(x[0], [](double a) { return std::atanh(a); })};
    if (type == "Lgamma") return {each(x[0], [](double a) { return std::lgamma(a); })};
    if (type == "Digamma") return {each(x[0], [](double a) { return leat::kernels::special::digamma(a); })};
    if (type == "Polygamma") return {pair(x[0], x[1], [](double n, double a) { return leat::kernels::special::polygamma(n, a); })};
    if (type == "Selu") return {each(x[0], [](double a) { return a < 0 ? leat::rule::selu_scale_alpha * std::expm1(a) : leat::rule::selu_scale * a; })};
    if (type == "SeluGrad")
      return {pair(x[0], x[1], [](double dy, double y) { return dy * (y < 0 ? y + leat::rule::selu_scale_alpha : leat::rule::selu_scale); })};
    if (type == "Softsign") return {each(x[0], [](double a) { return a / (1 + std::abs(a)); })};
    if (type == "SoftsignGrad") return {pair(x[0], x[1], [](double dy, double a) { return dy / ((1 + std::abs(a)) * (1 + std::abs(a))); })};
    if (type == "Erf") return {each(x[0], [](double a) { return std::erf(a); })};
    if (type == "ZerosLike") return {each(x[0], [](double) { return 0.0; })};
    if (type == "Size") return {array{{}, {static_cast<double>(x[0].at.size())}}};
    if (type == "Rank") return {array{{}, {static_cast<double>(x[0].dims.size())}}};
    if (type == "L2Loss") {
      double half = 0;
      for (double v : x[0].at) half += v * v / 2;
      return {array{{}, {half}}};
    }
    if (type == "Range") {
      std::vector<double> all;
      for (double v = x[0].at[0]; v < x[1].at[0]; v += x[2].at[0]) all.push_back(v);
      return {vector_of(all)};
    }
    if (type == "Tile") return {tiled(x[0], x[1])};
    if (type == "Max" || type == "Min" || type == "Prod") return {reduced(x[0], x[1], flag(op, "keep_dims"), type)};
    if (type == "GatherV2") return {gathered(x[0], x[1])};
    if (type == "DynamicStitch") {
      std::map<double, double> all;
      for (std::size_t k = 0; k < x.size() / 2; ++k)
        for (std::size_t i = 0; i < x[k].at.size(); ++i) all[x[k].at[i]] = x[x.size() / 2 + k].at[i];
      std::vector<double> values;
      for (const auto& [index, value] : all) values.push_back(value);
      return {vector_of(values)};
    }
    if (type == "InvertPermutation") {
      array r = x[0];
      for (std::size_t i = 0; i < r.at.size(); ++i) r.at[static_cast<std::size_t>(x[0].at[i])] = static_cast<double>(i);
      return {r};
    }
    if (type == "Transpose") return {transposed(x[0], x[1])};
    if (type == "ExpandDims") {
      array r = x[0];
      const double axis = x[1].at[0] < 0 ? x[1].at[0] + static_cast<double>(r.dims.size()) + 1 : x[1].at[0];
      r.dims.insert(r.dims.begin() + static_cast<std::ptrdiff_t>(axis), 1);
      return {r};
    }
    if (type == "LogSoftmax") return {each(softmax(x[0]), [](double v) { return std::log(v); })};
    if (type == "BiasAdd") return {pair(x[0], x[1], [](double a, double b) { return a + b; })};
    if (type == "BiasAddGrad") {
      array r{{x[0].dims.back()}, std::vector<double>(static_cast<std::size_t>(x[0].dims.back()))};
      for (std::size_t i = 0; i < x[0].at.size(); ++i) r.at[i % r.at.size()] += x[0].at[i];
      return {r};
    }
    if (type == "Slice") return {cut(x[0], x[1], x[2])};
    if (type == "Pad") return {padded(x[0], x[1])};
    if (type == "ConcatV2") return {one_after_the_other(x)};
    if (type == "ConcatOffset") return offsets(x);
    if (type == "ShapeN") {
      std::vector<array> shapes;
      for (const array& a : x) shapes.push_back(vector_of({a.dims.begin(), a.dims.end()}));
      return shapes;
    }
    if (type == "Unpack") return parts(x[0], axis_of(op, x[0].dims.size()), static_cast<std::size_t>(integer(op, "num")), true);
    if (type == "Split")
      return parts(x[1], static_cast<std::size_t>(x[0].at[0]), static_cast<std::size_t>(integer(op, "num_split")), false);
    if (type == "UnsortedSegmentSum") {
      const std::size_t row = x[0].at.size() / std::max<std::size_t>(1, x[1].at.size());
      array r{x[0].dims, {}};
      r.dims[0] = static_cast<std::int64_t>(x[2].at[0]);
      r.at.assign(static_cast<std::size_t>(count(r.dims)), 0);
      for (std::size_t i = 0; i < x[1].at.size(); ++i)
        for (std::size_t j = 0; j < row; ++j) r.at[static_cast<std::size_t>(x[1].at[i]) * row + j] += x[0].at[i * row + j];
      return {r};
    }
    if (type == "StridedSliceGrad") return {spread(op, x)};
    if (type == "Neg") return {each(x[0], [](double a) { return -a; })};
    if (type == "Square") return {each(x[0], [](double a) { return a * a; })};
    if (type == "Tanh") return {each(x[0], [](double a) { return std::tanh(a); })};
    if (type == "Exp") return {each(x[0], [](double a) { return std::exp(a); })};
    if (type == "Relu") return {each(x[0], [](double a) { return a > 0 ? a : 0; })};
    if (type == "AddN") {
      array sum = x[0];
      for (std::size_t k = 1; k < x.size(); ++k) {
        if (x[k].dims != sum.dims) throw std::runtime_error("AddN of two shapes");
        for (std::size_t i = 0; i < sum.at.size(); ++i) sum.at[i] += x[k].at[i];
      }
      return {sum};
    }
    if (type == "SelectV2" || type == "Select") {
      const array a = pair(x[0], x[1], [](double c, double v) { return c != 0 ? v : 0; });
      const array b = pair(x[0], x[2], [](double c, double v) { return c != 0 ? 0 : v; });
      return {pair(a, b, [](double p, double q) { return p + q; })};
    }
    if (type == "Sum" || type == "Mean") return {summed(x[0], x[1], flag(op, "keep_dims"), type == "Mean")};
    if (type == "BatchMatMulV2") return {stacked(x[0], flag(op, "adj_x"), x[1], flag(op, "adj_y"))};
    if (type == "MatMul") return {product(x[0], flag(op, "transpose_a"), x[1], flag(op, "transpose_b"))};
    if (type == "Softmax") return {softmax(x[0])};
    if (type == "SoftmaxCrossEntropyWithLogits") {
      const array p = softmax(x[0]);
      const array logs = pair(x[1], each(p, [](double v) { return std::log(v); }), [](double l, double v) { return -l * v; });
      return {summed(logs, vector_of({-1}), false, false), pair(p, x[1], [](double q, double l) { return q - l; })};
    }
    if (type == "SparseSoftmaxCrossEntropyWithLogits") {
      const array p = softmax(x[0]);
      const auto n = static_cast<std::size_t>(p.dims.back());
      array loss{{p.dims.begin(), p.dims.end() - 1}, {}};
      array slope = p;
      for (std::size_t row = 0; row < x[1].at.size(); ++row) {
        const std::size_t hit = row * n + static_cast<std::size_t>(x[1].at[row]);
        loss.at.push_back(-std::log(p.at[hit]));
        slope.at[hit] -= 1;
      }
      return {loss, slope};
    }
    if (type == "Reshape") {
      array r{{}, x[0].at};
      std::int64_t rest = 1;
      for (double d : x[1].at) rest *= d < 0 ? 1 : static_cast<std::int64_t>(d);
      for (double d : x[1].at) r.dims.push_back(d < 0 ? static_cast<std::int64_t>(r.at.size()) / rest : static_cast<std::int64_t>(d));
      if (count(r.dims) != static_cast<std::int64_t>(r.at.size())) throw std::runtime_error("Reshape to another number of elements");
      return {r};
    }
    if (type == "BroadcastTo") return {stretched(x[0], x[1])};
    if (type == "Fill") return {stretched(x[1], x[0])};
    if (type == "Shape") return {vector_of({x[0].dims.begin(), x[0].dims.end()})};
    if (type == "StridedSlice") {  // of a vector, or columns of a matrix as "x[:, k]"
      if (x[0].dims.size() == 1 && integer(op, "shrink_axis_mask") == 1)
        return {array{{}, {x[0].at[static_cast<std::size_t>(x[1].at[0])]}}};
      if (x[0].dims.size() == 1) {
        const auto from = integer(op, "begin_mask") != 0 ? std::size_t{0} : static_cast<std::size_t>(x[1].at[0]);
        const double end = x[2].at[0] < 0 ? x[2].at[0] + static_cast<double>(x[0].at.size()) : x[2].at[0];
        const auto to = integer(op, "end_mask") != 0 ? x[0].at.size() : static_cast<std::size_t>(end);
        return {vector_of({x[0].at.begin() + static_cast<std::ptrdiff_t>(from), x[0].at.begin() + static_cast<std::ptrdiff_t>(to)})};
      }
      std::vector<double> column;
      const auto n = static_cast<std::size_t>(x[0].dims[1]);
      for (std::size_t i = 0; i < static_cast<std::size_t>(x[0].dims[0]); ++i)
        column.push_back(x[0].at[i * n + static_cast<std::size_t>(x[1].at[1])]);
      return {vector_of(column)};
    }
    if (type == "Pack") return {packed(x, axis_of(op, x[0].dims.size() + 1))};
    if (type == "BroadcastGradientArgs") {
      const std::size_t rank = std::max(x[0].at.size(), x[1].at.size());
      std::vector<double> axes[2];
      for (std::size_t k = 0; k < rank; ++k) {
        const auto size = [&](const array& a) { return k + a.at.size() < rank ? 1.0 : a.at[k + a.at.size() - rank]; };
        for (int side = 0; side < 2; ++side)
          if (size(x[static_cast<std::size_t>(side)]) == 1 && size(x[static_cast<std::size_t>(1 - side)]) != 1)
            axes[side].push_back(static_cast<double>(k));
      }
      return {vector_of(axes[0]), vector_of(axes[1])};
    }
    throw std::runtime_error("the evaluator does not know " + type + ", the operator of " + op.name());
  }
  std::map<std::string, array> given_;
  std::map<std::string, std::vector<array>> known_;
};

/// Deterministic numbers between -1 and 1.
inline array some(std::vector<std::int64_t> dims, unsigned seed) {
  array a{std::move(dims), {}};
  std::int64_t n = 1;
  for (auto d : a.dims) n *= d;
  for (std::int64_t i = 0; i < n; ++i) {
    seed = seed * 1664525U + 1013904223U;
    a.at.push_back(static_cast<double>(seed >> 8) / static_cast<double>(1U << 23) - 1);
  }
  return a;
}

}  // namespace leat_test
