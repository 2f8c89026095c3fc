#pragma once
// Compile-time part of a session that plans its programs itself: the compiler enters the expressions into one table, without their
// gradients, and checks it for errors. Only if that table does not suffice (two training steps, assignments together with a training step,
// a placeholder that perhaps only gradients need) does it make the whole graph, as for a compiled session.

#include <leat/session/typed/planned/expression_rows.hpp>
#include <leat/session/typed/planned/session_plan.hpp>
#include <leat/session/typed/refusals.hpp>

namespace leat::cpu::detail {
template <class Op>
struct planned_loop;  // cpu/interpret/loops.hpp
}  // namespace leat::cpu::detail

namespace leat::detail {

template <class... Es>
struct make_planned_table {
  static constexpr list<std::int64_t> make() {
    graph g;
    g.defers = true;
    (flatten<Es>(g), ...);
    auto data = pack_expressions(g);
    const auto here = static_cast<std::int64_t>(data.size());
    data[expression_rows::session_at] = here;
    for (const std::int64_t v : pack_session(g)) data.push_back(v);
    return data;
  }
};
constexpr bool is_deferred_step(const expression_rows::row& r) { return r.kind == op_kind::kernel && r.result.type == dtype::invalid; }

constexpr bool is_input(const expression_rows::row& of, int row) {
  for (int i = 0; i < of.input_count; ++i)
    if (of.inputs[i] == row) return true;
  return false;
}

constexpr int deferred_steps(const expression_rows& rows) {
  int n = 0;
  for (int k = 0; k < rows.size(); ++k) n += is_deferred_step(rows.at(k)) ? 1 : 0;
  return n;
}

template <class... Es>
struct planned_table {
  static constexpr const auto& data = constant_data<make_planned_table<Es...>>::value;
  static constexpr expression_rows rows{data.data()};
  static constexpr session_view view{rows.session()};

  static constexpr message problem() {
    if constexpr (deferred_steps(rows) < 2) return view.problem();
    else return session_table<Es...>::problem();
  }
  // Makes operators with bodies known, which exist for their expressions only.
  template <int K>
  static void know_operator() {
    using op = operator_with<static_cast<int>(data[static_cast<std::size_t>(data[expression_rows::operators_at]) + 3 * K])>;
    if constexpr (requires { typename op::body; }) static_cast<void>(&cpu::detail::planned_loop<op>::known);
  }
  template <std::size_t... K>
  static void know_operators(std::index_sequence<K...>) {
    (know_operator<static_cast<int>(K)>(), ...);
  }
  static const session_plan& plan() {
    know_operators(std::make_index_sequence<static_cast<std::size_t>(data[expression_rows::operator_count])>{});
    static constexpr std::uint64_t ids[]{Es::identity::hash...};
    static const session_plan made(data.data(), ids);
    return made;
  }
};

/// The program of one set of fetches, planned at its first use.
template <class Table, class... Fs>
struct interpreted_program {
  static constexpr bool is_planned = true;
  static const planned_code& code() {
    static constexpr std::uint64_t ids[]{Fs::identity::hash...};
    static const planned_code made(Table::plan(), ids);
    return made;
  }
};

template <class... Es, class... Fs, class... LeafIds>
struct program_check<planned_table<Es...>, fetch_targets<Fs...>, LeafIds...> {
  using table = planned_table<Es...>;
  static constexpr bool is_plain = [] {
    constexpr expression_rows rows = table::rows;
    const std::vector<int> targets{rows.find(Fs::identity::hash)...};
    for (const int t : targets)
      if (t < 0) return true;  // not in this session: `run_check` has reported it
    const auto reached = rows_behind(rows, targets);
    int step = -1;
    std::vector<int> assigned;
    std::vector<std::int64_t> names;  // named dimensions
    for (int k = 0; k < rows.size(); ++k) {
      if (reached[static_cast<std::size_t>(k)] == 0) continue;
      const auto r = rows.at(k);
      if (r.kind == op_kind::placeholder && !(false || ... || (LeafIds::hash == r.id))) return false;
      for (int a = 0; a < r.result.extent.rank; ++a) {
        const std::int64_t d = r.result.extent[a];
        if (d >= 0) continue;
        if (!says_size<LeafIds...>(d)) return false;
        if (std::find(names.begin(), names.end(), d) == names.end()) names.push_back(d);
      }
      if (names.size() > term::most_names) return false;
      const bool is_composite_of_integers = r.kind == op_kind::composite && is_integer(r.result.type);  // it may contain a division
      if (is_composite_of_integers || passes::detail::divides_integers(r.code, r.result.type)) return false;
      if (r.kind == op_kind::assign) assigned.push_back(static_cast<int>(r.inputs[0]));
      if (!is_deferred_step(r)) continue;
      if (step >= 0) return false;
      step = k;
    }
    // Each write must have a variable of its own. A training step writes trainable variables and its counter.
    for (std::size_t k = 0; k < assigned.size(); ++k) {
      const auto variable = rows.at(assigned[k]);
      if (step >= 0 && (variable.kind != op_kind::variable || variable.attributes[1] != 0 || is_input(rows.at(step), assigned[k])))
        return false;
      for (std::size_t i = 0; i < k; ++i)
        if (assigned[i] == assigned[k]) return false;
    }
    return true;
  }();
  static constexpr message text() {
    if constexpr (is_plain) return {};
    else return program_check<session_table<Es...>, fetch_targets<Fs...>, LeafIds...>::text();
  }
};

template <class... Es>
struct refused_calls_by<planned_table<Es...>> {
  using type = refused_calls<typename short_name<id<expressions_hash<903, Es...>>, planned_table<Es...>>::type>;
};

}  // namespace leat::detail
