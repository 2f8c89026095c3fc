#pragma once
// The one intermediate representation: a flat table of nodes, built and rewritten by the same functions during constant evaluation and at
// run time. A node is a row; its inputs, control inputs and attributes are ranges in shared pools. Nodes are in topological order because
// an operand must exist before its user.

#include <leat/core/error.hpp>
#include <leat/core/list.hpp>
#include <leat/graph/id_table.hpp>
#include <leat/graph/operator.hpp>

namespace leat {

/// One row of the graph.
struct node {
  const op_info* op = nullptr;
  tensor_info result;
  int inputs = 0;  // first input in the pool of edges
  int input_count = 0;
  int controls = 0;  // first control input in the pool of edges
  int control_count = 0;
  int attributes = 0;  // first attribute in the pool of attributes
  int attribute_count = 0;
  std::string_view name{};
  std::uint64_t id = 0;  // identity of a graph input or constant: key of its storage in a session
};

/// A node's name in messages, or its operator's type if it has no name.
constexpr std::string_view name_in_message(const node& n) { return n.name.empty() ? n.op->type : n.name; }

/// Extension of the table for graphs that users name and save; absent during constant evaluation. A graph that has it creates nodes through
/// it: they get names, devices, control inputs, and TensorFlow's inputs and attributes. `named/graph/named.hpp` has the one derived class.
class graph_names {
 public:
  graph_names() = default;
  graph_names(const graph_names&) = delete;
  graph_names& operator=(const graph_names&) = delete;
  virtual ~graph_names() = default;
  virtual output make(graph& g, const op_info& op, std::span<const output> operands, std::span<const std::int64_t> numbers,
                      std::span<const int> controls) = 0;
  virtual output make_leaf(graph& g, const op_info& op, const tensor_info& result, std::string_view name,
                           std::span<const std::int64_t> numbers) = 0;
  /// A scalar constant next to an operand; it is named after the operator that uses it ("mul/x").
  virtual output make_number(graph& g, const tensor_info& result, double value) = 0;
  virtual tensor_info further_result(int index, int port) const = 0;
};

class default_graph_scope;
class named_part;

class graph {
 public:
  detail::list<node> nodes;
  detail::list<int> edges;
  detail::list<std::int64_t> numbers;
  struct dimension_name {
    std::int64_t value;
    std::string_view text;
  };
  detail::list<dimension_name> dimension_names;
  detail::list<std::int64_t> models;  // the numbers of models of `vmap`, each a size or a named dimension
  detail::list<std::uint64_t> ids;  // of all typed expressions in the table, with and without operands

  constexpr int size() const { return static_cast<int>(nodes.size_); }
  constexpr const node& at(int i) const { return nodes.data_[i]; }
  constexpr node& at(int i) { return nodes.data_[i]; }
  /// The index of the node that is input `k`; likewise `control`. `attribute` is numeric attribute `k`.
  constexpr int input(const node& n, int k) const { return edges.data_[n.inputs + k]; }
  constexpr int control(const node& n, int k) const { return edges.data_[n.controls + k]; }
  constexpr std::int64_t attribute(const node& n, int k) const {
    return numbers.data_[n.attributes + k];
  }

  /// Appends a node without operands, such as a graph input or constant: its dtype and shape are given, not inferred.
  constexpr int add_leaf(const op_info& op, const tensor_info& result, std::string_view name, std::uint64_t id,
                         detail::list_view<std::int64_t> attributes = {}) {
    if (names_.held != nullptr) return names_.held->make_leaf(*this, op, result, name, {attributes.data(), attributes.size()}).index();
    node n{.op = &op, .result = result, .name = name, .id = id};
    put_attributes(n, attributes);
    nodes.push_back(n);
    return size() - 1;
  }

  /// Appends a node. While `merge_equal` is set, an equal existing node that writes nothing is returned instead. Errors: invalid_argument
  /// if the operator refuses the operands.
  constexpr int add(const op_info& op, detail::list_view<int> inputs, detail::list_view<std::int64_t> attributes = {},
                    detail::list_view<int> controls = {}) {
    if (names_.held != nullptr) return add_named(op, inputs, attributes, controls);
    std::uint64_t key = 0;
    if (merge_equal && controls.empty() && op.kind != op_kind::assign) {  // equal writes are not merged
      key = key_of(op, inputs, attributes);
      if (const int known = equal_.find(key); known >= 0 && is(known, op, inputs, attributes)) return known;
    }
    if (inputs.size() > max_operands) LEAT_THROW(invalid_argument("a node with more than 64 inputs"));
    const inference got = infer(op, inputs.data(), static_cast<int>(inputs.size()), attributes);
    if (!got.problem.empty()) fail(op, inputs, got.problem);
    if (!got.extent.is_countable()) fail(op, inputs, "a result of more than 2^44 elements, which no memory holds");
    const int made = add_known(op, {got.type, got.extent}, inputs, attributes, controls);
    if (key != 0) equal_.insert(key, made);
    return made;
  }
  /// Appends a node of a table without names; its dtype and shape are known, since it is copied from another table.
  constexpr int add_known(const op_info& op, const tensor_info& result, detail::list_view<int> inputs,
                          detail::list_view<std::int64_t> attributes, detail::list_view<int> controls) {
    node n{.op = &op, .result = result};
    n.inputs = static_cast<int>(edges.size());
    n.input_count = static_cast<int>(inputs.size());
    for (int i : inputs) edges.push_back(i);
    n.controls = static_cast<int>(edges.size());
    n.control_count = static_cast<int>(controls.size());
    for (int i : controls) edges.push_back(i);
    put_attributes(n, attributes);
    nodes.push_back(n);
    return size() - 1;
  }

  /// Dtype and shape that the operator infers for these inputs, or the problem with them.
  constexpr inference infer(const op_info& op, const int* inputs, int count, detail::list_view<std::int64_t> attributes) const {
    return ask(op.infer, inputs, count, attributes);
  }
  /// Checks operands by another rule of the operator. Errors: invalid_argument, as for `add`, if the rule refuses them.
  constexpr void check(const op_info& op, inference (*rule)(const operand_list&), detail::list_view<int> inputs,
                       detail::list_view<std::int64_t> attributes) const {
    const inference got = ask(rule, inputs.data(), static_cast<int>(inputs.size()), attributes);
    if (!got.problem.empty()) fail(op, inputs, got.problem);
  }

  /// The node of the typed expression with this id, or -1.
  constexpr int find(std::uint64_t id) const { return known_.find(id); }
  constexpr void remember(std::uint64_t id, int index) {
    known_.insert(id, index);
    ids.push_back(id);
  }

  /// Registers the text of a named dimension, for messages; `text_of` returns it.
  constexpr void name_dimension(std::int64_t value, std::string_view text) {
    for (const auto& d : dimension_names)
      if (d.value == value) return;
    dimension_names.push_back({value, text});
  }
  constexpr void note_models(std::int64_t count) {
    for (const std::int64_t known : models)
      if (known == count) return;
    models.push_back(count);
  }
  constexpr std::string_view text_of(std::int64_t dimension) const {
    for (const auto& d : dimension_names)
      if (d.value == dimension) return d.text;
    return "?";
  }

  /// Concatenates two strings to a name that lives as long as the graph.
  constexpr std::string_view keep(std::string_view first, std::string_view second) {
    detail::list<char> text;
    text.reserve(first.size() + second.size());
    for (char c : first) text.push_back(c);
    for (char c : second) text.push_back(c);
    kept_.push_back(std::move(text));
    return {kept_.back().data(), kept_.back().size()};
  }

  bool merge_equal = false;
  bool defers = false;      // keeps each gradient and training step as one row, for writers that have their own form of them
  bool is_written = false;  // is written to a graph with names: training steps must consist of TensorFlow's operators
  static constexpr std::size_t max_operands = 64;

  /// The extension for names, defined in named/graph/named.hpp; null for plain tables.
  constexpr graph_names* names() const { return names_.held; }
  /// The extension for names, created if missing: from then on the graph has names.
  named_part& named();
  const named_part& named() const;
  /// Makes this the graph that `constant`, `placeholder` and scopes apply to, during the result's lifetime.
  [[nodiscard]] default_graph_scope as_default();

 private:
  friend class named_part;
  struct names_owner {
    graph_names* held = nullptr;
    constexpr names_owner() = default;
    constexpr names_owner(const names_owner& other) { refuse_copy(other); }
    constexpr names_owner(names_owner&& other) noexcept : held(other.held) { other.held = nullptr; }
    constexpr names_owner& operator=(const names_owner& other) {
      refuse_copy(other);
      return *this;
    }
    constexpr names_owner& operator=(names_owner&& other) noexcept {
      graph_names* mine = held;
      held = other.held;
      other.held = mine;
      return *this;
    }
    constexpr ~names_owner() {
      if (held != nullptr) delete held;
    }
    static constexpr void refuse_copy(const names_owner& other) {
      if (other.held != nullptr) LEAT_THROW(failed_precondition("a graph with names is not copied: export it and import it into another"));
    }
  };
  int add_named(const op_info& op, detail::list_view<int> inputs, detail::list_view<std::int64_t> attributes,
                detail::list_view<int> controls) {
    detail::list<output> operands;
    for (int i : inputs) operands.push_back({*this, i});
    return names_.held
        ->make(*this, op, {operands.data(), operands.size()}, {attributes.data(), attributes.size()}, {controls.data(), controls.size()})
        .index();
  }
  constexpr void put_attributes(node& n, detail::list_view<std::int64_t> attributes) {
    n.attributes = static_cast<int>(numbers.size());
    n.attribute_count = static_cast<int>(attributes.size());
    for (auto a : attributes) numbers.push_back(a);
  }
  static constexpr std::uint64_t key_of(const op_info& op, detail::list_view<int> inputs,
                                        detail::list_view<std::int64_t> attributes) {
    std::uint64_t h = mix(static_cast<std::uint64_t>(op.code), 7);
    for (int i : inputs) h = mix(h, static_cast<std::uint64_t>(i));
    for (auto a : attributes) h = mix(h, static_cast<std::uint64_t>(a));
    return h | 1;
  }
  constexpr bool is(int index, const op_info& op, detail::list_view<int> inputs,
                    detail::list_view<std::int64_t> attributes) const {
    const node& n = at(index);
    if (n.op->code != op.code || n.input_count != static_cast<int>(inputs.size()) ||
        n.attribute_count != static_cast<int>(attributes.size()))
      return false;
    const int* const input_rows = inputs.data();
    for (int k = 0; k < n.input_count; ++k)
      if (edges.data_[n.inputs + k] != input_rows[k]) return false;
    const std::int64_t* const attribute_rows = attributes.data();
    for (int k = 0; k < n.attribute_count; ++k)
      if (numbers.data_[n.attributes + k] != attribute_rows[k]) return false;
    return true;
  }
  constexpr inference ask(inference (*rule)(const operand_list&), const int* inputs, int count,
                          detail::list_view<std::int64_t> attributes) const {
    const tensor_info* operands[max_operands];
    for (int k = 0; k < count; ++k) operands[k] = &nodes.data_[inputs[k]].result;
    return rule({nullptr, count, attributes.data(), static_cast<int>(attributes.size()), operands});
  }
  [[noreturn]] void fail(const op_info& op, detail::list_view<int> inputs, std::string_view problem) const;

  names_owner names_;
  detail::list<detail::list<char>> kept_;  // names created here; moving the list does not move the characters
  id_table known_;
  id_table equal_;
};

constexpr dtype output::type() const {
  return port_ == 0 ? owner_->at(index_).result.type : owner_->names()->further_result(index_, port_).type;
}
constexpr shape output::extent() const {
  return port_ == 0 ? owner_->at(index_).result.extent : owner_->names()->further_result(index_, port_).extent;
}

/// Dtype and shape as messages show them: "float32 [batch, 10]".
constexpr message describe(const tensor_info& t, const graph& g) {
  message m;
  m << name_of_dtype(t.type);
  if (!t.extent.has_rank()) return m << " of unknown rank";
  m << " [";
  for (int i = 0; i < t.extent.rank; ++i) {
    if (i > 0) m << ", ";
    if (is_named(t.extent[i]))
      m << g.text_of(t.extent[i]);
    else if (t.extent[i] < 0)
      m << "?";
    else
      m << t.extent[i];
  }
  m << "]";
  return m;
}

inline void graph::fail(const op_info& op, detail::list_view<int> inputs, std::string_view problem) const {
  std::string text(op.type);
  text += ": ";
  text += problem;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    text += i == 0 ? ": " : " and ";
    text += name_in_message(at(inputs[i]));
    text += ' ';
    text += describe(at(inputs[i]).result, *this).view();
  }
  LEAT_THROW(invalid_argument(text));
}

}  // namespace leat
