#pragma once
// Iterators of datasets as nodes of a graph, with TensorFlow 1.x's operators and names: `IteratorV2`, `MakeIterator`, `OneShotIterator`,
// `IteratorGetNext`, `IteratorToStringHandle`, `IteratorFromStringHandleV2`. The dataset itself belongs to the program: a node
// `HostDataset` refers to it by a token, so that a graph from a file cannot run without the program that built it. Each session has its own
// iterators; <leat/data/iterator_states.hpp> saves their positions.

#include <leat/core/function_bodies.hpp>
#include <leat/data/dataset.hpp>
#include <leat/data/element.hpp>
#include <leat/data/iterator_states.hpp>
#include <leat/named/functions/operand.hpp>
#include <leat/runtime/state/tensor_value.hpp>

#include <memory>
#include <source_location>
#include <string>
#include <string_view>
#include <vector>

namespace leat {

namespace data {

/// A component's dtype and shape in a graph, and its value.
template <class T>
struct graph_component;
template <element_type T>
struct graph_component<T> {
  static data_type type() { return to_data_type(dtype_of<T>); }
  static shape extent() { return {}; }
  static tensor_value value(const T& component) { return tensor_value(component); }
};
template <>
struct graph_component<std::string> {
  static data_type type() { return data_type::string; }
  static shape extent() { return {}; }
  static tensor_value value(const std::string& component) { return tensor_value(component); }
};
template <>
struct graph_component<std::vector<std::string>> {
  static data_type type() { return data_type::string; }
  static shape extent() {
    shape s;
    s.push(-1);
    return s;
  }
  static tensor_value value(const std::vector<std::string>& component) { return tensor_value(component); }
};
template <element_type T, std::size_t N>
struct graph_component<std::array<T, N>> {
  static data_type type() { return to_data_type(dtype_of<T>); }
  static shape extent() {
    shape s;
    s.push(static_cast<std::int64_t>(N));
    return s;
  }
  static tensor_value value(const std::array<T, N>& component) {
    return tensor_value(extent(), std::vector<T>(component.begin(), component.end()));
  }
};
template <element_type T, std::size_t Rank>
struct graph_component<xt::xtensor<T, Rank>> {
  static data_type type() { return to_data_type(dtype_of<T>); }
  static shape extent() {
    shape s;
    for (std::size_t k = 0; k < Rank; ++k) s.push(-1);
    return s;
  }
  static tensor_value value(const xt::xtensor<T, Rank>& component) { return tensor_value(component); }
};
/// Components that a graph can hold: numbers, strings, and arrays of these.
template <class T>
concept graph_component_type = requires(const T& component) { graph_component<T>::value(component); };

/// The dtypes and shapes of an iterator's components; a size of -1 stands for any size.
struct iterator_structure {
  std::vector<data_type> types;
  std::vector<shape> shapes;
  friend bool operator==(const iterator_structure&, const iterator_structure&) = default;
};
template <class... Ts>
iterator_structure structure_of(const dataset_of<Ts...>&) {
  return {{graph_component<Ts>::type()...}, {graph_component<Ts>::extent()...}};
}

template <class... Ts>
class dataset_source final : public value_source {
 public:
  explicit dataset_source(const dataset_of<Ts...>& from) : rows_(from.iterate()) {}
  bool next(step_state&, std::vector<tensor_value>& to) override {
    if (!rows_.next()) return false;
    std::apply([&](const Ts&... component) { to = {graph_component<Ts>::value(component)...}; }, rows_.element());
    return true;
  }
  std::string save_state() const override { return rows_.save_state(); }
  void restore_state(std::string_view text) override { rows_.restore_state(text); }

 private:
  dataset_iterator<Ts...> rows_;
};
template <class... Ts>
source_maker source_of(const dataset_of<Ts...>& from) {
  return [from]() -> std::unique_ptr<value_source> { return std::make_unique<dataset_source<Ts...>>(from); };
}

}  // namespace data

/// Handle of an iterator in a graph.
class graph_iterator {
 public:
  /// The components of the next element, as results of a node. Each run of the node advances the iterator by one element.
  /// Errors in a run: out_of_range at the end; failed_precondition if no initializer has run; those of the dataset.
  /// Source: `Iterator.get_next`.
  std::vector<output> get_next(std::string_view name = {}, const std::source_location& where = std::source_location::current()) const;
  /// An operation that starts a dataset from its beginning; for any iterator, including those made without a dataset.
  /// Errors: invalid_argument for a dataset with other components. Source: `Iterator.make_initializer`.
  template <data::graph_component_type... Ts>
  graph_operation make_initializer(const dataset_of<Ts...>& from, std::string_view name = {},
                                   const std::source_location& where = std::source_location::current()) const {
    return initialize(data::structure_of(from), data::source_of(from), name, where);
  }
  /// The operation that starts the dataset of `make_initializable_iterator`. Errors: failed_precondition for other iterators.
  const graph_operation& initializer() const;
  /// A string that identifies the iterator in its session, to be fed to `from_string_handle`.
  output string_handle(std::string_view name = {}, const std::source_location& where = std::source_location::current()) const;
  /// The iterator's handle.
  const output& reference() const { return reference_; }
  const data::iterator_structure& structure() const { return structure_; }

  /// An iterator without a dataset; initializers set one. Source: `Iterator.from_structure`.
  static graph_iterator from_structure(data::iterator_structure structure, std::string_view shared_name = {},
                                       const std::source_location& where = std::source_location::current());
  /// The iterator that a fed string identifies. Source: `Iterator.from_string_handle`.
  static graph_iterator from_string_handle(const output& handle, data::iterator_structure structure,
                                           const std::source_location& where = std::source_location::current());
  /// See `make_one_shot_iterator` and `make_initializable_iterator`.
  static graph_iterator one_shot(data::iterator_structure structure, data::source_maker maker, const std::source_location& where);
  static graph_iterator initializable(data::iterator_structure structure, data::source_maker maker, std::string_view shared_name,
                                      const std::source_location& where);

 private:
  graph_operation initialize(const data::iterator_structure& structure, data::source_maker maker, std::string_view name,
                             const std::source_location& where) const;

  output reference_;
  data::iterator_structure structure_;
  std::vector<graph_operation> initializer_;  // at most one
};

/// An iterator that starts its dataset automatically, once per session. Source: `Dataset.make_one_shot_iterator`.
template <data::graph_component_type... Ts>
graph_iterator make_one_shot_iterator(const dataset_of<Ts...>& from, const std::source_location& where = std::source_location::current()) {
  return graph_iterator::one_shot(data::structure_of(from), data::source_of(from), where);
}
/// An iterator that starts its dataset each time its `initializer()` runs. Iterators with equal `shared_name` are one iterator of a
/// session.
/// Source: `Dataset.make_initializable_iterator`.
template <data::graph_component_type... Ts>
graph_iterator make_initializable_iterator(const dataset_of<Ts...>& from, std::string_view shared_name = {},
                                           const std::source_location& where = std::source_location::current()) {
  return graph_iterator::initializable(data::structure_of(from), data::source_of(from), shared_name, where);
}

}  // namespace leat

#if LEAT_WITH_BODIES
#include <leat/data/impl/graph_iterator.hpp>
#endif
