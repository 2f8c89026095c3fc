#pragma once
// The size of a model: the number of its trainable parameters, and a table of its layers. The layer of a variable is its name up to the
// last slash: "hidden" for "hidden/kernel". train/named/layers.hpp has the same for graphs with names.

#include <leat/core/function_bodies.hpp>
#include <leat/core/list.hpp>
#include <leat/expr/tensor.hpp>
#include <leat/graph/graph.hpp>

#include <string>

namespace leat {

/// A variable, as tables of models list it.
struct parameter_row {
  std::string name;
  tensor_info info;
};
/// A line of a table of layers.
struct layer_row {
  std::string layer;
  std::string shape;
  std::int64_t parameters = 0;
};

namespace detail {

/// Trainable variables of a plain table, in order of creation.
list<parameter_row> parameters_of(const graph& g);
/// Groups variables by layer, in the order of each layer's first variable.
list<layer_row> layers_of(list_view<parameter_row> parameters);
std::int64_t count_of(list_view<parameter_row> parameters);
std::int64_t bytes_of(list_view<parameter_row> parameters);
/// The table as text; its last line states the number of all parameters and their bytes.
std::string table_text(list_view<layer_row> rows, std::int64_t bytes);

template <class... Es>
list<parameter_row> parameters_of_expressions() {
  graph g;
  (static_cast<void>(flatten<Es>(g)), ...);
  return parameters_of(g);
}

}  // namespace detail

/// The number of elements of all trainable variables that these expressions depend on.
template <expression... Es>
  requires(sizeof...(Es) > 0)
std::int64_t parameter_count(const Es&...) {
  return detail::count_of(detail::parameters_of_expressions<Es...>());
}
/// A table of the layers of these expressions: name, shapes of the variables, number of parameters.
template <expression... Es>
  requires(sizeof...(Es) > 0)
std::string summary_table(const Es&...) {
  const auto all = detail::parameters_of_expressions<Es...>();
  return detail::table_text(detail::layers_of(all), detail::bytes_of(all));
}

}  // namespace leat

#if LEAT_WITH_BODIES
#include <leat/train/impl/layer_summary.hpp>
#endif
