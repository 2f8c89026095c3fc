#pragma once
// Values of tensors in graphs with names, computed in the plainest way, in double: what tests compare gradients with. Each
// operator is written from its definition, with none of the library's code, and sizes are those of the arrays that are fed.

#include <leat/graphs.hpp>

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
        for (std::size_t l = 0; l < k; ++l) r.at[i * n + j] += (ta ? a.at[l * m + i] : a.at[i * k + l]) * (tb ? b.at[j * k + l] : b.at[l * n + j]);
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
    if (type == "Const") return {constant(*op.attribute("value").get_if<leat::tensor_proto>())};
    std::vector<array> x;
    for (const auto& in : op.inputs()) x.push_back(results(in.operation())[static_cast<std::size_t>(in.port())]);
    if (type == "Identity" || type == "StopGradient" || type == "Cast") return {x[0]};
    if (type == "AddV2") return {pair(x[0], x[1], [](double a, double b) { return a + b; })};
    if (type == "Sub") return {pair(x[0], x[1], [](double a, double b) { return a - b; })};
    if (type == "Mul") return {pair(x[0], x[1], [](double a, double b) { return a * b; })};
    if (type == "RealDiv") return {pair(x[0], x[1], [](double a, double b) { return a / b; })};
    if (type == "Greater") return {pair(x[0], x[1], [](double a, double b) { return a > b ? 1.0 : 0.0; })};
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
    if (type == "SelectV2") {
      const array a = pair(x[0], x[1], [](double c, double v) { return c != 0 ? v : 0; });
      const array b = pair(x[0], x[2], [](double c, double v) { return c != 0 ? 0 : v; });
      return {pair(a, b, [](double p, double q) { return p + q; })};
    }
    if (type == "Sum" || type == "Mean") return {summed(x[0], x[1], flag(op, "keep_dims"), type == "Mean")};
    if (type == "MatMul") return {product(x[0], flag(op, "transpose_a"), x[1], flag(op, "transpose_b"))};
    if (type == "Softmax") return {softmax(x[0])};
    if (type == "SoftmaxCrossEntropyWithLogits") {
      const array p = softmax(x[0]);
      const array logs = pair(x[1], each(p, [](double v) { return std::log(v); }), [](double l, double v) { return -l * v; });
      return {summed(logs, vector_of({-1}), false, false)};
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
    if (type == "StridedSlice") return {array{{}, {x[0].at[static_cast<std::size_t>(x[1].at[0])]}}};
    if (type == "Pack") {
      std::vector<double> all;
      for (const array& a : x) all.push_back(a.at[0]);
      return {vector_of(all)};
    }
    if (type == "BroadcastGradientArgs") {
      const std::size_t rank = std::max(x[0].at.size(), x[1].at.size());
      std::vector<double> axes[2];
      for (std::size_t k = 0; k < rank; ++k) {
        const auto size = [&](const array& a) { return k + a.at.size() < rank ? 1.0 : a.at[k + a.at.size() - rank]; };
        for (int side = 0; side < 2; ++side)
          if (size(x[static_cast<std::size_t>(side)]) == 1 && size(x[static_cast<std::size_t>(1 - side)]) != 1) axes[side].push_back(static_cast<double>(k));
      }
      return {vector_of(axes[0]), vector_of(axes[1])};
    }
    throw std::runtime_error("the evaluator does not know " + type + ", the operator of " + op.name());
  }
  static array constant(const leat::tensor_proto& p) {
    array r;
    for (const auto& d : p.shape.dims) r.dims.push_back(d.size);
    const auto size = static_cast<std::size_t>(leat::content_size_of(p.dtype));
    const std::size_t stored = p.bytes.size() / size;
    for (std::size_t i = 0; i < static_cast<std::size_t>(count(r.dims)); ++i) {
      const std::size_t at = std::min(i, stored - 1);
      if (p.dtype == leat::data_type::float32) r.at.push_back(static_cast<double>(leat::detail::get_bytes<float>(p.bytes, at)));
      else if (p.dtype == leat::data_type::float64) r.at.push_back(leat::detail::get_bytes<double>(p.bytes, at));
      else r.at.push_back(leat::detail::get_bytes<std::int32_t>(p.bytes, at));
    }
    return r;
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
