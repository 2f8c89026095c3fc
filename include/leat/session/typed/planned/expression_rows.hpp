#pragma once
// The expressions of a typed session as one array of integers, which the compiler passes to run time if the session plans its programs
// itself. Gradients and training steps are one row each (`graph::defers`), so that the array and the time to make it grow only with the
// user's expressions. Constant evaluation writes the array and checks it for errors of a run; session_plan.hpp makes graphs from it.

#include <leat/expr/tensor.hpp>

#include <vector>

namespace leat::detail {

/// Reads the rows. Positions are indices of the array; 0 stands for no string.
class expression_rows {
 public:
  enum header {
    rows_at,
    row_count,
    operators_at,
    operator_count,
    ids_at,
    id_count,
    dimensions_at,
    dimension_count,
    models_at,
    model_count,
    session_at,
    header_fields
  };

  constexpr explicit expression_rows(const std::int64_t* data) : data_(data) {}

  struct row {
    int code;
    int number_of_operator;
    op_kind kind;
    tensor_info result;
    std::uint64_t id;
    std::int64_t name;
    int input_count, control_count, attribute_count;
    const std::int64_t* inputs;
    const std::int64_t* controls;
    const std::int64_t* attributes;
  };
  constexpr int size() const { return static_cast<int>(data_[row_count]); }
  constexpr row at(int k) const {
    const std::int64_t* p = data_ + data_[data_[rows_at] + k];
    row r{};
    r.number_of_operator = static_cast<int>(p[0]);
    r.code = static_cast<int>(data_[data_[operators_at] + 3 * p[0]]);
    r.kind = static_cast<op_kind>(data_[data_[operators_at] + 3 * p[0] + 1]);
    r.result.type = static_cast<dtype>(p[1]);
    r.id = static_cast<std::uint64_t>(p[2]);
    r.name = p[3];
    r.input_count = static_cast<int>(p[4]);
    r.control_count = static_cast<int>(p[5]);
    r.attribute_count = static_cast<int>(p[6]);
    r.result.extent.rank = static_cast<int>(p[7]);
    for (int i = 0; i < r.result.extent.rank; ++i) r.result.extent.dim[i] = p[8 + i];
    r.inputs = p + 8 + (r.result.extent.rank > 0 ? r.result.extent.rank : 0);
    r.controls = r.inputs + r.input_count;
    r.attributes = r.controls + r.control_count;
    return r;
  }
  /// The name of a row's operator.
  constexpr const std::int64_t* type_of(const row& r) const { return data_ + data_[data_[operators_at] + 3 * r.number_of_operator + 2]; }
  constexpr const std::int64_t* text_at(std::int64_t at) const { return data_ + at; }

  constexpr int ids() const { return static_cast<int>(data_[id_count]); }
  constexpr std::uint64_t id(int k) const { return static_cast<std::uint64_t>(data_[data_[ids_at] + 2 * k]); }
  constexpr int row_of_id(int k) const { return static_cast<int>(data_[data_[ids_at] + 2 * k + 1]); }
  /// The row of an expression, or -1.
  constexpr int find(std::uint64_t wanted) const {
    for (int k = 0; k < ids(); ++k)
      if (id(k) == wanted) return row_of_id(k);
    return -1;
  }
  /// The start of the table of variables and numbers; see `session_view`.
  constexpr const std::int64_t* session() const { return data_ + data_[session_at]; }
  constexpr int dimensions() const { return static_cast<int>(data_[dimension_count]); }
  constexpr std::int64_t dimension(int k) const { return data_[data_[dimensions_at] + 2 * k]; }
  /// The numbers of models of `vmap` (`graph::models`).
  constexpr int models() const { return static_cast<int>(data_[model_count]); }
  constexpr std::int64_t number_of_models(int k) const { return data_[data_[models_at] + k]; }
  constexpr const std::int64_t* text_of_dimension(int k) const { return data_ + data_[data_[dimensions_at] + 2 * k + 1]; }

 private:
  const std::int64_t* data_;
};

constexpr list<std::int64_t> pack_expressions(const graph& g) {
  using rows = expression_rows;
  list<std::int64_t> data(rows::header_fields, 0);
  const auto here = [&] { return static_cast<std::int64_t>(data.size()); };
  std::vector<const op_info*> operators;
  list<std::int64_t> places;
  for (int i = 0; i < g.size(); ++i) {
    const node& n = g.at(i);
    int op = -1;
    for (std::size_t k = 0; k < operators.size() && op < 0; ++k)
      if (operators[k]->code == n.op->code) op = static_cast<int>(k);
    if (op < 0) {
      op = static_cast<int>(operators.size());
      operators.push_back(n.op);
    }
    const std::int64_t name = n.name.empty() ? 0 : put_text(data, n.name);
    places.push_back(here());
    for (const std::int64_t v : {std::int64_t{op}, static_cast<std::int64_t>(n.result.type), static_cast<std::int64_t>(n.id), name,
                                 std::int64_t{n.input_count}, std::int64_t{n.control_count}, std::int64_t{n.attribute_count},
                                 std::int64_t{n.result.extent.rank}})
      data.push_back(v);
    for (int k = 0; k < n.result.extent.rank; ++k) data.push_back(n.result.extent[k]);
    for (int k = 0; k < n.input_count; ++k) data.push_back(g.input(n, k));
    for (int k = 0; k < n.control_count; ++k) data.push_back(g.control(n, k));
    for (int k = 0; k < n.attribute_count; ++k) data.push_back(g.attribute(n, k));
  }
  data[rows::rows_at] = here();
  data[rows::row_count] = g.size();
  for (const std::int64_t p : places) data.push_back(p);
  list<std::int64_t> types, dimension_texts;
  for (const op_info* op : operators) types.push_back(put_text(data, op->type));
  data[rows::operators_at] = here();
  data[rows::operator_count] = static_cast<std::int64_t>(operators.size());
  for (std::size_t k = 0; k < operators.size(); ++k) {
    data.push_back(operators[k]->code);
    data.push_back(static_cast<std::int64_t>(operators[k]->kind));
    data.push_back(types[k]);
  }
  data[rows::ids_at] = here();
  data[rows::id_count] = static_cast<std::int64_t>(g.ids.size());
  for (const std::uint64_t id : g.ids) {
    data.push_back(static_cast<std::int64_t>(id));
    data.push_back(g.find(id));
  }
  for (const auto& d : g.dimension_names) dimension_texts.push_back(put_text(data, d.text));
  data[rows::dimensions_at] = here();
  data[rows::dimension_count] = static_cast<std::int64_t>(g.dimension_names.size());
  for (std::size_t k = 0; k < g.dimension_names.size(); ++k) {
    data.push_back(g.dimension_names[k].value);
    data.push_back(dimension_texts[k]);
  }
  data[rows::models_at] = here();
  data[rows::model_count] = static_cast<std::int64_t>(g.models.size());
  for (const std::int64_t count : g.models) data.push_back(count);
  return data;
}

/// Marks the rows that `targets` depend on, including themselves.
constexpr std::vector<char> rows_behind(const expression_rows& rows, const std::vector<int>& targets) {
  std::vector<char> reached(static_cast<std::size_t>(rows.size()), 0);
  for (const int t : targets) reached[static_cast<std::size_t>(t)] = 1;
  for (int k = rows.size(); k-- > 0;) {
    if (reached[static_cast<std::size_t>(k)] == 0) continue;
    const auto r = rows.at(k);
    for (int i = 0; i < r.input_count; ++i) reached[static_cast<std::size_t>(r.inputs[i])] = 1;
    for (int i = 0; i < r.control_count; ++i) reached[static_cast<std::size_t>(r.controls[i])] = 1;
  }
  return reached;
}

}  // namespace leat::detail
