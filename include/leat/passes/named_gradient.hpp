#pragma once
// Gradients in graphs with names, as TensorFlow 1.x adds them: nodes in a scope "gradients/", those of the node "a/b" in
// "gradients/a/b_grad/", sums as `AddN`. The operators' own gradients are used, on a plain table of the part of the graph
// that lies between (gradient_table.hpp), and what they add is written back as nodes (gradient_writer.hpp).
//
//   auto dw = gradients({loss}, {w, b});   // for each of w and b; empty where the loss does not depend on it

#include <leat/passes/gradient_writer.hpp>

namespace leat {

namespace detail {

// The functions of typed expressions have the same name: they are out of question for lists of handles. clang asks for their
// result's type before it looks at what they require.
template <class Y, class... Xs>
  requires(!tensor_expression<Y>)
struct gradient_refusal<Y, Xs...> {};

class named_gradients {
 public:
  named_gradients(graph& g, std::vector<output> ys, std::vector<output> xs, const std::vector<output>& stops)
      : g_(g), ys_(std::move(ys)), xs_(std::move(xs)), made_(g, ys_, xs_, stops) {}

  std::vector<output> run(const std::vector<output>& seeds, const std::string& scope) {
    graph& t = made_.table;
    const int forward = t.size();
    parts_.resize(static_cast<std::size_t>(forward));
    total_.assign(static_cast<std::size_t>(forward), -1);
    for (std::size_t k = 0; k < ys_.size(); ++k)
      if (const int row = made_.find(ys_[k]); row >= 0) parts_[static_cast<std::size_t>(row)].push_back(made_.add_leaf_like(row, seeds[k]));
    wanted_ = made_.wanted_rows();
    owners_.assign(static_cast<std::size_t>(t.size()), -1);
    slots_.assign(static_cast<std::size_t>(t.size()), -1);
    for (int i = forward - 1; i >= 0; --i) backward(i);
    std::vector<int> targets;
    for (const output& x : xs_) {
      const int row = made_.find(x);
      targets.push_back(row < 0 ? -1 : total_[static_cast<std::size_t>(row)]);
    }
    std::vector<int> some;
    for (int row : targets)
      if (row >= 0) some.push_back(row);
    gradient_writer writer(g_, made_, owners_, scope);
    writer.write(some);
    std::vector<output> result;
    for (int row : targets) result.push_back(row < 0 ? output{} : writer.tensor(row));
    return result;
  }

 private:
  // What was added to the table since, belongs to this forward row.
  void own(int row) { owners_.resize(static_cast<std::size_t>(made_.table.size()), row); }

  // The gradient of a row: what its users gave, added up.
  int total(int row) {
    std::vector<int> parts = parts_[static_cast<std::size_t>(row)];
    while (parts.size() > 1) {
      const auto n = static_cast<std::ptrdiff_t>(std::min(parts.size(), graph::max_operands));
      const std::vector<int> first(parts.begin(), parts.begin() + n);
      parts.erase(parts.begin(), parts.begin() + n);
      parts.insert(parts.begin(), made_.table.add(info_of<add_n_op>, first));
    }
    own(-1);
    return parts.empty() ? -1 : parts[0];
  }

  void backward(int row) {
    graph& t = made_.table;
    const int dy = total_[static_cast<std::size_t>(row)] = total(row);
    const op_info& op = *t.at(row).op;
    const bool is_leaf = t.at(row).input_count == 0;
    if (dy < 0 || is_leaf || op.gradient == nullptr) return;
    // an operand that is there twice gets a row of its own for the second time, so that each gradient is a part of the sum
    std::vector<std::pair<int, int>> inputs;  // as the operator sees it, and itself
    const int first_edge = t.at(row).inputs;
    for (int k = 0; k < t.at(row).input_count; ++k) {
      const int in = t.edges[static_cast<std::size_t>(first_edge + k)];
      int seen_as = in;
      for (const auto& [before, itself] : inputs)
        if (itself == in) {
          const int same[]{in};
          seen_as = t.add(info_of<identity_op>, same);
          break;
        }
      inputs.emplace_back(seen_as, in);
    }
    const auto size = static_cast<std::size_t>(t.size());
    slots_.resize(size, -1);
    wanted_.resize(size, 0);
    for (std::size_t k = 0; k < inputs.size(); ++k) {
      t.edges[static_cast<std::size_t>(first_edge) + k] = inputs[k].first;
      wanted_[static_cast<std::size_t>(inputs[k].first)] = wanted_[static_cast<std::size_t>(inputs[k].second)];
    }
    gradient_scope scope(t, row, output(t, dy), &slots_, &wanted_);
    op.gradient(scope);
    own(row);
    for (std::size_t k = 0; k < inputs.size(); ++k) {
      t.edges[static_cast<std::size_t>(first_edge) + k] = inputs[k].second;
      int& given = slots_[static_cast<std::size_t>(inputs[k].first)];
      if (given >= 0) parts_[static_cast<std::size_t>(inputs[k].second)].push_back(given);
      given = -1;
    }
  }

  graph& g_;
  std::vector<output> ys_;
  std::vector<output> xs_;
  gradient_table made_;
  std::vector<std::vector<int>> parts_;  // of each forward row: the gradients that its users give it
  std::vector<int> total_;
  std::vector<int> owners_;
  std::vector<int> slots_;
  std::vector<char> wanted_;
};

// What a gradient starts from: ones in the shape of y, or what is given, as a node "grad_ys_0".
inline output gradient_seed(graph& g, const output& y, const output& given, std::size_t k, const std::source_location& where) {
  named_part& nodes = g.named();
  const std::string name = "grad_ys_" + std::to_string(k);
  if (static_cast<bool>(given)) {
    if (given.type() != y.type())
      throw invalid_argument("gradients: " + describe(given) + " is given for " + describe(y) + ", which has another dtype");
    if (!may_equal(given.extent(), y.extent()))
      throw invalid_argument("gradients: " + describe(given) + " is given for " + describe(y) + ", which has another shape");
    const output only[]{given};
    return nodes.build(g, info_of<identity_op>, only, {}, name);
  }
  const output extent = leat::shape_of(y, "Shape", where);
  const name_scope scope(g, name);
  const output one = nodes.make_constant(g, {y.type(), {}, 1}, "Const");
  const output inputs[]{extent, one};
  if (!y.extent().is_static())
    return nodes.raw(g, "Fill", inputs, {{"T", y.type()}, {"index_type", dtype::int32}}, {{y.type(), y.extent()}}, scope.text()).result();
  const shape sizes = y.extent();
  return nodes.build(g, info_of<fill_op>, inputs, {sizes.dim, static_cast<std::size_t>(sizes.rank)}, scope.text());
}

}  // namespace detail

/// Settings of `gradients`.
struct gradient_options {
  std::vector<output> grad_ys{};         // what each y is multiplied by; an empty one, or none at all, means ones
  std::string_view name = "gradients";   // of the scope
  std::vector<output> stop_gradients{};  // taken as constants: nothing passes their nodes
};

/// The gradients of the sum of `ys` for each of `xs`: new nodes of the same graph, in a fresh scope. An x may be a variable
/// ("w:0"), whose gradient is the sum over all its reads. A result is empty (`if (dx)` tells) where no y depends on x by operators that
/// let a gradient pass: not through integers, comparisons, `stop_gradient`.
/// Shapes and dtypes: those of the xs, as far as known.
/// Errors: invalid_argument for tensors of two graphs, none at all, or a `grad_ys` that does not fit; unimplemented, naming
/// node and line, where an operator on the way is not known to the library or takes axes and shapes that are known only when
/// it runs, and for tensors of unknown rank. Nothing is left in the graph by an error but nodes that nothing uses.
/// Source: TensorFlow `gradients`.
inline std::vector<output> gradients(const std::vector<output>& ys, const std::vector<output>& xs, const gradient_options& options = {},
                                     const std::source_location& where = std::source_location::current()) {
  if (ys.empty() || xs.empty()) throw invalid_argument("gradients: of at least one tensor for at least one");
  if (!options.grad_ys.empty() && options.grad_ys.size() != ys.size())
    throw invalid_argument("Passed " + std::to_string(options.grad_ys.size()) + " grad_ys for " + std::to_string(ys.size()) + " ys");
  if (!static_cast<bool>(ys.front())) throw invalid_argument("gradients: an operand that is no node of a graph");
  graph& g = ys.front().owner();
  named_part& nodes = g.named();
  nodes.check_graph(g, ys);
  nodes.check_graph(g, xs);
  nodes.check_graph(g, options.stop_gradients);
  const source_scope line(g, where);
  nodes.settle_names(g);
  std::vector<output> values;
  for (const output& y : ys) values.push_back(nodes.value_of(y));
  for (const output& y : values) {
    if (y.type() == dtype::invalid) detail::refuse_gradient(g, y.index(), "no gradient is known of this operator");
    if (!is_number(y.type())) throw invalid_argument("gradients: " + describe(y) + " is not a number");
  }
  detail::named_gradients all(g, values, xs, options.stop_gradients);
  const name_scope scope(g, options.name);
  std::vector<output> seeds;
  for (std::size_t k = 0; k < values.size(); ++k) {
    const output given = options.grad_ys.empty() ? output{} : options.grad_ys[k];
    if (static_cast<bool>(given)) nodes.check_graph(g, std::array{values[k], given});
    seeds.push_back(detail::gradient_seed(g, values[k], given, k, where));
  }
  return all.run(seeds, std::string(without_slash(scope.text())));
}

}  // namespace leat
