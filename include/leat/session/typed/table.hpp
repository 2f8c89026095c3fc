#pragma once
// Data that the compiler passes to run time: the list of a session's variables and numbers, and one packed program for each set of fetches.
// Both are computed once, in constant evaluation, as arrays of integers.

#include <leat/core/constant_data.hpp>
#include <leat/core/list.hpp>
#include <leat/passes/gradient.hpp>
#include <leat/passes/lower.hpp>
#include <leat/expr/initializer.hpp>

#include <cstdio>

namespace leat::detail {

// ---- the session's variables and numbers ----------------------------------------------------------------------------

struct variable_row {
  std::uint64_t id;
  dtype type;
  initializer_kind kind;
  int numbers;  // how many its initializer takes
  shape extent;
  std::int64_t name;  // position of its name in the data
  std::int64_t offset;  // in the session's storage, in bytes
  std::uint64_t start;  // id of another's number that it starts from, or 0
};
struct number_row {
  std::uint64_t id;
  dtype type;
  std::uint64_t carried;  // id under which expressions carry its value
  bool is_parameter;      // keyed by name: the session's value counts, not the carried one
  std::int64_t name;      // position of a parameter's name in the data
};

enum session_header { session_variables, session_numbers, session_ids, session_bytes, session_problem, session_header_size };
inline constexpr int variable_row_size = 8 + max_rank;
inline constexpr int number_row_size = 4;

/// Reads the packed table of a session.
class session_view {
 public:
  constexpr explicit session_view(const std::int64_t* data) : data_(data) {}
  constexpr int variables() const { return static_cast<int>(data_[session_variables]); }
  constexpr int numbers() const { return static_cast<int>(data_[session_numbers]); }
  constexpr std::int64_t bytes() const { return data_[session_bytes]; }
  constexpr variable_row variable(int k) const {
    const std::int64_t* row = data_ + session_header_size + k * variable_row_size;
    variable_row v{static_cast<std::uint64_t>(row[0]), static_cast<dtype>(row[1]), static_cast<initializer_kind>(row[2]),
                   static_cast<int>(row[3]), {}, row[5], row[6], static_cast<std::uint64_t>(row[7])};
    v.extent.rank = static_cast<int>(row[4]);
    for (int i = 0; i < max_rank; ++i) v.extent.dim[i] = row[8 + i];
    return v;
  }
  constexpr number_row number(int k) const {
    const std::int64_t* row = data_ + session_header_size + variables() * variable_row_size + number_row_size * k;
    return {static_cast<std::uint64_t>(row[0]), static_cast<dtype>(row[1]), static_cast<std::uint64_t>(row[2]), row[3] != 0, row[3]};
  }
  constexpr bool has(std::uint64_t id) const {
    const std::int64_t* row = data_ + session_header_size + variables() * variable_row_size + number_row_size * numbers();
    for (std::int64_t k = 0; k < data_[session_ids]; ++k)
      if (static_cast<std::uint64_t>(row[k]) == id) return true;
    return false;
  }
  constexpr int find_variable(std::uint64_t id) const {
    for (int k = 0; k < variables(); ++k)
      if (variable(k).id == id) return k;
    return -1;
  }
  constexpr int find_number(std::uint64_t id) const {
    for (int k = 0; k < numbers(); ++k)
      if (number(k).id == id) return k;
    return -1;
  }
  constexpr message text_at(std::int64_t at) const {
    message m;
    for (; data_[at] != 0; ++at) {
      const char c = static_cast<char>(data_[at]);
      m << std::string_view(&c, 1);
    }
    return m;
  }
  constexpr message problem() const { return text_at(data_[session_problem]); }
  constexpr message name_of(int k) const { return text_at(variable(k).name); }

 private:
  const std::int64_t* data_;
};

// Reports that a number or array has two values in the session's expressions, and names the variable that starts from it.
[[noreturn, gnu::cold]] inline void throw_two_values(const session_view& view, std::uint64_t id, std::uint64_t before, std::uint64_t now,
                                                     bool is_array) {
  for (int v = 0; v < view.variables(); ++v) {
    const variable_row row = view.variable(v);
    for (int i = 0; i < row.numbers; ++i) {
      if ((row.start != 0 ? row.start : initial_number_id(row.id, i)) != id || (row.start != 0 && row.start != id)) continue;
      char numbers[128];
      const char* differs = numbers;
      if (row.kind == initializer_kind::number)
        std::snprintf(numbers, sizeof numbers, "starts from %.9g in one expression and from %.9g in another",
                      value_of_bits(row.type, static_cast<std::int64_t>(before)),
                      value_of_bits(row.type, static_cast<std::int64_t>(now)));
      else if (row.kind == initializer_kind::array) differs = "starts from an array of other elements in one expression than in another";
      else differs = "has an initializer of other numbers in one expression than in another";
      LEAT_THROW(invalid_argument(joined({"variable \"", view.name_of(v).view(), "\" ", differs,
                                     ": one name is one variable in a session; make it once and pass it on, or name the other"})));
    }
  }
  two_values_of(is_array);
}

/// The variables and numbers of a graph, and the message of an error in it, as integers.
constexpr list<std::int64_t> pack_session(const graph& g) {
  message problem;
  list<int> variables;
  list<int> numbers;
  id_table variable_names, placeholder_names;  // keyed by hash
  const auto earlier = [&](id_table& names, std::string_view name, int index) {
    const std::uint64_t key = hash_text(name);
    const int found = names.find(key);
    if (found < 0) names.insert(key, index);
    return found >= 0 && g.at(found).name == name ? found : -1;
  };
  for (int i = 0; i < g.size(); ++i) {
    const node& n = g.at(i);
    if (n.op->kind == op_kind::number) numbers.push_back(i);
    if (n.op->kind != op_kind::variable) continue;
    variables.push_back(i);
    const int v = earlier(variable_names, n.name, i);
    if (v < 0 || problem.size > 0) continue;
    problem << "two variables named \"" << n.name << "\": " << describe(g.at(v).result, g).view() << " and "
            << describe(n.result, g).view();
    if (n.name == "beta1_power" || n.name == "beta2_power")
      problem << ": two optimizers that keep it; make one, auto optimizer = adam(0.1f), and minimize by it, or use two sessions";
    else if (g.at(v).result == n.result)
      problem << ", with different initializers: one name is one variable; make it once and pass it on, or name the other";
  }
  for (int i = 0; i < g.size(); ++i) {
    const node& n = g.at(i);
    if (n.op->kind != op_kind::placeholder) continue;
    if (is_operator<model_op>(*n.op)) {
      if (problem.size == 0) problem << "vmap: what its function was given is used outside: let the function return what is made of it";
      continue;
    }
    const int k = earlier(placeholder_names, n.name, i);
    if (k >= 0 && problem.size == 0)
      problem << "two placeholders named \"" << n.name << "\": " << describe(g.at(k).result, g).view() << " and "
              << describe(n.result, g).view();
  }
  list<std::int64_t> data(session_header_size, 0);
  data[session_variables] = static_cast<std::int64_t>(variables.size());
  data[session_numbers] = static_cast<std::int64_t>(numbers.size());
  data[session_ids] = static_cast<std::int64_t>(g.ids.size());
  std::int64_t offset = 0;
  for (int v : variables) {
    const node& n = g.at(v);
    data.push_back(static_cast<std::int64_t>(n.id));
    data.push_back(static_cast<std::int64_t>(n.result.type));
    data.push_back(g.attribute(n, 0));
    data.push_back(g.attribute(n, 2));
    data.push_back(n.result.extent.rank);
    data.push_back(0);
    data.push_back(offset);
    data.push_back(n.attribute_count > 3 ? g.attribute(n, 3) : 0);
    for (int i = 0; i < max_rank; ++i) data.push_back(n.result.extent[i]);
    const std::int64_t bytes = n.result.extent.elements() * size_of(n.result.type);
    offset += (bytes + 63) / 64 * 64;
  }
  data[session_bytes] = offset;
  for (int k : numbers) {
    data.push_back(static_cast<std::int64_t>(g.at(k).id));
    data.push_back(static_cast<std::int64_t>(g.at(k).result.type));
    data.push_back(g.at(k).attribute_count > 0 ? g.attribute(g.at(k), 0) : static_cast<std::int64_t>(g.at(k).id));
    data.push_back(0);
  }
  for (auto i : g.ids) data.push_back(static_cast<std::int64_t>(i));
  auto put = [&](std::string_view text) {
    const auto here = static_cast<std::int64_t>(data.size());
    for (char c : text) data.push_back(c);
    data.push_back(0);
    return here;
  };
  for (std::size_t k = 0; k < variables.size(); ++k)
    data[session_header_size + k * variable_row_size + 5] = put(g.at(variables[k]).name);
  for (std::size_t k = 0; k < numbers.size(); ++k)
    if (const auto name = g.at(numbers[k]).name; !name.empty() && g.at(numbers[k]).result.extent.rank == 0)  // arrays cannot be parameters
      data[session_header_size + variables.size() * variable_row_size + k * number_row_size + 3] = put(name);
  data[session_problem] = put(problem.view());
  return data;
}

template <class... Es>
struct make_session_table {
  static constexpr list<std::int64_t> make() {
    graph g;
    (flatten<Es>(g), ...);
    return pack_session(g);
  }
};

template <class... Es>
struct session_table {
  static constexpr const auto& data = constant_data<make_session_table<Es...>>::value;
  static constexpr session_view view{data.data()};
  static constexpr message problem() { return view.problem(); }
};

// ---- programs -------------------------------------------------------------------------------------------------------

template <class... Fs>
struct make_program {
  static constexpr list<std::int64_t> make() {
    graph g;
    list<int> targets{flatten<Fs>(g)...};
    const program p = passes::compile(g, targets, true, passes::long_row);
    return pack(p);
  }
};

/// The program of one set of fetches.
template <class... Fs>
struct program_table {
  static constexpr bool is_planned = false;
  static constexpr const auto& data = constant_data<make_program<Fs...>>::value;
  static constexpr program_view view{data.data()};
  static constexpr message problem() {
    message m;
    for (auto at = static_cast<std::size_t>(data[program_problem_at]); data[at] != 0; ++at) {
      const char c = static_cast<char>(data[at]);
      m << std::string_view(&c, 1);
    }
    return m;
  }
};

/// The buffer of a placeholder or number, or -1.
constexpr int buffer_of_leaf(const program_view& view, std::uint64_t id) {
  for (int b = 0; b < view.buffers(); ++b) {
    const auto info = view.buffer_at(b);
    if ((info.where == storage::feed || info.where == storage::number) && info.id == id) return b;
  }
  return -1;
}

}  // namespace leat::detail
