#pragma once
// Implementation of canonical.hpp.

#include <leat/core/function_bodies.hpp>
#include <leat/graph/known_operators.hpp>
#include <leat/graph/leaves.hpp>
#include <leat/named/canonical/canonical.hpp>
#include <leat/named/canonical/canonical_rewrite.hpp>
#include <leat/named/graph/graph_operation.hpp>
#include <leat/ops/add_n.hpp>

namespace leat {

LEAT_FUNCTION int canonical_graph::operator[](const output& o) const {
  if (o.port() > 0) {
    const auto found = further.find({o.index(), o.port()});
    if (found == further.end()) throw not_found(o.name() + " is not part of what was asked for");
    return found->second;
  }
  const auto at = index_of.find(o.owner().named().value_of(o).index());
  if (at == index_of.end()) throw not_found(o.name() + " is not part of what was asked for");
  return at->second;
}

}  // namespace leat

namespace leat::detail {

class canonical_builder {
 public:
  canonical_builder(graph& g, const canonical_options& options) : g_(g), nodes_(g.named()), options_(options) {}

  canonical_graph build(std::span<const output> targets) {
    nodes_.settle_names(g_);
    mark_writes();
    std::vector<char> needed(static_cast<std::size_t>(g_.size()), 0);
    std::vector<int> open;
    for (const output& t : targets) open.push_back(nodes_.value_of(t).index());
    while (!open.empty()) {
      const int i = open.back();
      open.pop_back();
      if (needed[static_cast<std::size_t>(i)] != 0) continue;
      needed[static_cast<std::size_t>(i)] = 1;
      if (is_fed(i)) continue;
      for (int k : operands_of(i)) open.push_back(nodes_.input(g_, i, k).index());
      for (int c : controls_of(i)) open.push_back(c);
    }
    for (int i = 0; i < g_.size(); ++i)
      if (needed[static_cast<std::size_t>(i)] != 0) made_.index_of[i] = enter(i);
    for (const output& t : targets) made_.targets.push_back(t.port() > 0 ? row_of(t.index(), t) : target(nodes_.value_of(t).index()));
    check_writes();
    return std::move(made_);
  }

 private:
  bool is_fed(int index) const {
    for (const output& f : options_.feeds)
      if (f.index() == index && f.port() == 0) return true;
    return g_.at(index).op->kind == op_kind::placeholder;
  }
  [[noreturn]] void fail(int index, const std::string& what) const {
    throw unimplemented("the node '" + nodes_.record(index).name + "' (" + std::string(g_.at(index).op->type) + "): " + what +
                        made_at(index));
  }
  std::string made_at(int index) const {
    const source_position& at = nodes_.record(index).made_at;
    return at.line == 0 ? std::string{} : std::string(", made at ") + at.file + ":" + std::to_string(at.line);
  }

  // Refuses two unordered writes to one variable.
  void check_writes() const {
    const graph& t = made_.table;
    std::map<int, std::vector<int>> writes;  // by variable: nodes of the graph with names
    for (const auto& [index, row] : made_.index_of) {
      if (t.at(row).op->kind != op_kind::assign) continue;
      int variable = t.input(t.at(row), 0);
      while (t.at(variable).op->kind == op_kind::assign || t.at(variable).op->kind == op_kind::identity)
        variable = t.input(t.at(variable), 0);
      writes[variable].push_back(index);
    }
    for (const auto& [variable, these] : writes) {
      for (std::size_t j = 1; j < these.size(); ++j) {
        std::vector<char> before(static_cast<std::size_t>(t.size()), 0);
        std::vector<int> open{made_.index_of.at(these[j])};
        while (!open.empty()) {
          const node& n = t.at(open.back());
          open.pop_back();
          for (int k = 0; k < n.input_count + n.control_count; ++k) {
            const int from = k < n.input_count ? t.input(n, k) : t.control(n, k - n.input_count);
            if (std::exchange(before[static_cast<std::size_t>(from)], char{1}) == 0) open.push_back(from);
          }
        }
        for (std::size_t i = 0; i < j; ++i)
          if (before[static_cast<std::size_t>(made_.index_of.at(these[i]))] == 0)
            throw invalid_argument("two writes to variable '" + std::string(t.at(variable).name) + "' in one step without an order: '" +
                                   nodes_.record(these[i]).name + "'" + made_at(these[i]) + ", and '" + nodes_.record(these[j]).name + "'" +
                                   made_at(these[j]) + "; order them with control_dependencies");
      }
    }
  }

  // The inputs of a node that are operands in the plain table: not those that hold numeric attributes.
  std::vector<int> operands_of(int index) const {
    const node& n = g_.at(index);
    if (named_part::is_opaque(*n.op))
      if (const auto* rewrite = find_rewrite(n.op->type)) return rewrite->operands;
    std::vector<int> all;
    for (int k = 0; k < n.input_count; ++k) all.push_back(k);
    return all;
  }
  static bool is_unknown_or_writes(const node& n) {
    if (!named_part::is_opaque(*n.op)) return false;
    const canonical_rewrite* rewrite = find_rewrite(n.op->type);
    return rewrite == nullptr || rewrite->writes;
  }
  // Marks the nodes that write, or depend on one that does. Other control dependencies have no visible effect and would only prevent
  // fusion: gradients have many.
  void mark_writes() {
    writes_.assign(static_cast<std::size_t>(g_.size()), 0);
    const auto any = [&](int i) { return writes_[static_cast<std::size_t>(i)] != 0; };
    for (int i = 0; i < g_.size(); ++i) {
      const node& n = g_.at(i);
      bool writes = n.op->kind == op_kind::assign || is_unknown_or_writes(n);
      for (int k = 0; k < nodes_.input_count(g_, i) && !writes; ++k) writes = any(nodes_.input(g_, i, k).index());
      for (int k = 0; k < n.control_count && !writes; ++k) writes = any(g_.control(n, k));
      writes_[static_cast<std::size_t>(i)] = writes ? 1 : 0;
    }
  }

  // A node's control inputs, and those of its constant inputs, since these are plain numbers in the table.
  std::vector<int> controls_of(int index) const {
    std::vector<int> all;
    const auto add = [&](int of) {
      for (int k = 0; k < g_.at(of).control_count; ++k)
        if (const int c = g_.control(g_.at(of), k); writes_[static_cast<std::size_t>(c)] != 0) all.push_back(c);
    };
    add(index);
    for (int k = 0; k < nodes_.input_count(g_, index); ++k) {
      const int from = nodes_.input(g_, index, k).index();
      if (g_.at(from).op->kind == op_kind::constant) add(from);
    }
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    return all;
  }
  // A constant that is a target keeps its control inputs.
  int target(int index) {
    const int row = made_.index_of.at(index);
    return g_.at(index).op->kind == op_kind::constant ? waiting(row, index) : row;
  }
  // The row with its node's control inputs: an Identity of it, if there are any.
  int waiting(int row, int index) {
    const op_info* identity = find_operator("Identity");
    std::vector<int> controls;
    for (int c : controls_of(index)) controls.push_back(made_.index_of.at(c));
    if (controls.empty() || identity == nullptr) return row;
    const int inputs[]{row};
    return made_.table.add(*identity, inputs, {}, controls);
  }

  // The shape with a name for each unknown dimension.
  shape named_shape(int index, shape extent) {
    for (const auto& [tensor, more] : options_.shapes)
      if (tensor.index() == index) {
        if (!may_equal(extent, more))
          throw invalid_argument("Cannot feed value of shape " + leat::shape_text(more) + " for Tensor " + tensor.name() +
                                 ", which has shape " + leat::shape_text(extent));
        extent = known_of(extent, more);
      }
    if (!extent.has_rank()) fail(index, "how many dimensions it has is not known");
    for (int i = 0; i < extent.rank; ++i) {
      if (extent[i] != unknown_dimension) continue;
      const std::string_view text = made_.table.keep(nodes_.record(index).name, "." + std::to_string(i));
      extent.dim[i] = named_dimension(text);
      made_.table.name_dimension(extent[i], text);
    }
    return extent;
  }
  int leaf(int index, const op_info& op, canonical_leaf::source from, std::span<const std::int64_t> numbers = {}) {
    const node& n = g_.at(index);
    if (to_dtype(to_data_type(n.result.type)) == dtype::invalid) fail(index, "a dtype that the library does not compute with");
    const int made = made_.table.add_leaf(op, {n.result.type, named_shape(index, n.result.extent)},
                                          made_.table.keep(nodes_.record(index).name, ""), n.id, numbers);
    made_.leaves.push_back({made, output(g_, index), from});
    return made;
  }
  // The value that all elements have, if there is one.
  std::optional<double> uniform(int index) const {
    const tensor_proto* p = nodes_.contents_of(g_, index);
    if (p == nullptr || p->field == tensor_field::none || p->field == tensor_field::tensor_content) return std::nullopt;
    switch (to_dtype(p->dtype)) {
      case dtype::float32: return p->bytes.size() == 4 ? std::optional<double>(get_bytes<float>(p->bytes, 0)) : std::nullopt;
      case dtype::float64: return p->bytes.size() == 8 ? std::optional<double>(get_bytes<double>(p->bytes, 0)) : std::nullopt;
      case dtype::int32: return p->bytes.size() == 4 ? std::optional<double>(get_bytes<std::int32_t>(p->bytes, 0)) : std::nullopt;
      case dtype::int64: {
        if (p->bytes.size() != 8) return std::nullopt;
        const auto v = get_bytes<std::int64_t>(p->bytes, 0);
        return v < (std::int64_t{1} << 53) && v > -(std::int64_t{1} << 53) ? std::optional<double>(static_cast<double>(v)) : std::nullopt;
      }
      case dtype::boolean: return p->bytes.size() == 1 ? std::optional<double>(p->bytes[0] != 0) : std::nullopt;
      case dtype::uint8: return p->bytes.size() == 4 ? std::optional<double>(get_bytes<std::int32_t>(p->bytes, 0)) : std::nullopt;
      case dtype::invalid: break;
    }
    return std::nullopt;
  }

  int enter(int index) {
    const node n = g_.at(index);
    if (is_fed(index)) return leaf(index, info_of<placeholder_op>, canonical_leaf::source::fed);
    if (n.op->kind == op_kind::constant) {
      const auto value = uniform(index);
      if (!value || !n.result.extent.is_static()) return leaf(index, info_of<placeholder_op>, canonical_leaf::source::array);
      return constant(made_.table, n.result.type, n.result.extent, *value).index();
    }
    if (n.op->kind == op_kind::variable) {
      std::vector<std::int64_t> numbers;
      for (int k = 0; k < n.attribute_count; ++k) numbers.push_back(g_.attribute(n, k));
      return leaf(index, *n.op, canonical_leaf::source::variable, numbers);
    }
    if (named_part::is_opaque(*n.op)) return enter_rewritten(index);
    if (!nodes_.record(index).complete) fail(index, "its axes, shape or dtype are known only when it runs");
    std::vector<int> inputs;
    std::vector<int> controls;
    for (int k = 0; k < n.input_count; ++k) {
      inputs.push_back(row_of(index, nodes_.input(g_, index, k)));
    }
    for (int c : controls_of(index)) controls.push_back(made_.index_of.at(c));
    std::vector<std::int64_t> numbers;
    for (int k = 0; k < n.attribute_count; ++k) numbers.push_back(g_.attribute(n, k));
    return add_definition(made_.table, *n.op, inputs, numbers, controls);
  }

  int fed_result(const output& fed) {
    const std::string name = fed.name();
    const int made = made_.table.add_leaf(info_of<placeholder_op>, {fed.type(), named_shape(fed.index(), fed.extent())},
                                          made_.table.keep(name, ""), mix(g_.at(fed.index()).id, static_cast<std::uint64_t>(fed.port())));
    made_.leaves.push_back({made, fed, canonical_leaf::source::fed});
    return made;
  }
  // The row of an input. A further result is computed separately, by the rewrite of "Type:1".
  int row_of(int user, const output& in) {
    if (in.port() == 0) return made_.index_of.at(in.index());
    const auto known = made_.further.find({in.index(), in.port()});
    if (known != made_.further.end()) return known->second;
    for (const output& f : options_.feeds)
      if (f.index() == in.index() && f.port() == in.port()) return made_.further[{in.index(), in.port()}] = fed_result(in);
    const canonical_rewrite* rewrite = find_rewrite(g_.at(in.index()).op->type, in.port());
    output made;
    if (rewrite != nullptr) {
      std::vector<output> operands;
      for (int k : rewrite->operands) operands.emplace_back(made_.table, row_of(in.index(), nodes_.input(g_, in.index(), k)));
      made = rewrite->make(made_.table, operands, graph_operation(g_, in.index()));
    }
    if (!static_cast<bool>(made))
      fail(user, "result " + std::to_string(in.port()) + " of '" + nodes_.record(in.index()).name + "' is asked for");
    return made_.further[{in.index(), in.port()}] = made.index();
  }
  // An optimizer's step: its last write, to its first variable, comes after the others.
  output write_all(const canonical_rewrite& rewrite, std::span<const output> operands, int index) {
    const auto updates = rewrite.updates(operands, graph_operation(g_, index));
    const op_info* assign = find_operator("Assign");
    const op_info* subtract = find_operator("AssignSub");
    if (assign == nullptr || subtract == nullptr) return {};
    std::vector<int> after;
    for (std::size_t k = updates.size(); k-- > 0;) {
      const int inputs[]{operands[static_cast<std::size_t>(updates[k].variable)].index(), updates[k].value.index()};
      after.push_back(made_.table.add(updates[k].subtract ? *subtract : *assign, inputs, {},
                                      k == 0 ? std::span<const int>(after) : std::span<const int>()));
    }
    return after.empty() ? output{} : output(made_.table, after.back());
  }
  int enter_rewritten(int index) {
    const canonical_rewrite* rewrite = find_rewrite(g_.at(index).op->type);
    if (rewrite == nullptr) fail(index, "an operator that is not known");
    std::vector<output> operands;
    for (int k : rewrite->operands) {
      operands.emplace_back(made_.table, row_of(index, nodes_.input(g_, index, k)));
    }
    const output made =
        rewrite->updates ? write_all(*rewrite, operands, index) : rewrite->make(made_.table, operands, graph_operation(g_, index));
    if (!static_cast<bool>(made)) fail(index, "its axes, shape or dtype are known only when it runs");
    return waiting(made.index(), index);
  }

  graph& g_;
  named_part& nodes_;
  const canonical_options& options_;
  canonical_graph made_;
  std::vector<char> writes_;  // by node: whether it writes, or depends on one that does
};

}  // namespace leat::detail

namespace leat {

LEAT_FUNCTION canonical_graph canonical(graph& g, std::span<const output> targets, const canonical_options& options) {
  return detail::canonical_builder(g, options).build(targets);
}

LEAT_FUNCTION canonical_graph canonical(std::initializer_list<output> targets, const canonical_options& options) {
  if (targets.size() == 0) throw invalid_argument("canonical: no targets");
  return canonical(targets.begin()->owner(), std::span<const output>(targets.begin(), targets.size()), options);
}

}  // namespace leat
