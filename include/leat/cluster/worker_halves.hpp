#pragma once
// A typed training step in two halves: the worker computes gradients by its own session, and the parameter servers apply them. The servers'
// half is a graph, which `to_graph` writes as the optimizer's operators. The step is split where variables are written.

#include <leat/cluster/parameter_client.hpp>
#include <leat/core/fill.hpp>
#include <leat/core/list.hpp>
#include <leat/passes/deferred.hpp>
#include <leat/runtime/state/tensor_value.hpp>
#include <leat/session/typed/session.hpp>
#include <leat/train/optimizer.hpp>

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace leat {

namespace detail {

// ---- a training step's halves ---------------------------------------------------------------------------------------

template <class Structure>
struct step_halves {
  static constexpr bool is_step = false;
};
// Wire form of a variable's gradient: dense, or, if it is a sum of rows by index, the rows with their indices. If a session's step changes
// only these rows, they are sent as one list, as the step uses them. If it does not, the servers build the dense gradient by the same
// operators as a session: sums of rows, added up and scaled by numbers, which are sent, too.
struct sent_gradient {
  enum class part_kind { whole, rows, indices, number };
  enum class sent_form { whole, one_list, sums };
  struct part {
    part_kind kind = part_kind::whole;
    int node = -1;
    tensor_info info{};
  };
  static constexpr int most = 96;
  part all[most]{};
  int size = 0;
  bool overflows = false;
  sent_form form = sent_form::whole;

  constexpr sent_gradient(graph& g, int gradient, bool as_rows, bool rows_alone) {
    if (as_rows && rows_alone)
      if (const auto rows = train::rows_of(output(g, gradient)); static_cast<bool>(rows.indices)) {
        form = sent_form::one_list;
        add(g, part_kind::rows, rows.rows.index());
        add(g, part_kind::indices, rows.indices.index());
        return;
      }
    if (list<train::row_gradient> sums; as_rows && train::detail::collect_rows(g, gradient, {}, sums)) {
      form = sent_form::sums;
      add_operands(g, gradient);
      if (!overflows) return;
    }
    form = sent_form::whole;
    size = 0;
    add(g, part_kind::whole, gradient);
  }

 private:
  constexpr void add(const graph& g, part_kind kind, int at) {
    if (size < most) all[size++] = {kind, at, g.at(at).result};
    else overflows = true;
  }
  // Lists the operands of a sum of rows by index: rows with their indices, and numbers that scale them.
  constexpr void add_operands(const graph& g, int at) {
    const leat::node& n = g.at(at);
    if (is_operator<segment_sum_op>(*n.op)) {
      add(g, part_kind::rows, g.input(n, 0));
      add(g, part_kind::indices, g.input(n, 1));
    } else if (n.result.extent.rank == 0) {
      add(g, part_kind::number, at);
    } else {
      for (int k = 0; k < n.input_count; ++k) add_operands(g, g.input(n, k));
    }
  }
};

// A part of a gradient in graphs with deferred gradients: its contents are determined once the gradient is computed. Operand: the gradient.
// Attributes: the part's number, whether rows are one list, dtype and shape.
struct deferred_part_op {
  static constexpr std::string_view type = "leat.GradientPart";
  static constexpr op_kind kind = op_kind::kernel;
  static constexpr inference infer(const operand_list& x) {
    shape extent;
    for (int a = 3; a < x.attribute_count; ++a) extent.push(x.attribute(a));
    return {static_cast<dtype>(x.attribute(2)), extent};
  }
};
inline int expand_part(graph& g, const deferred_row& row) {
  const sent_gradient parts(g, row.inputs[0], true, row.attributes[1] != 0);
  return parts.all[row.attributes[0]].node;
}
LEAT_FILL(fill_part_expander) { enter_deferred_expander<deferred_part_op>(expand_part); }

template <bool RowsAlone, class Gradient, class Variable, bool AsRows>
struct gradient_parts {
  using part_kind = sent_gradient::part_kind;
  using sent_form = sent_gradient::sent_form;
  static constexpr sent_gradient found = [] {
    graph g;
    return sent_gradient(g, flatten<Gradient>(g), AsRows, RowsAlone);
  }();

  // Part K as an expression of the worker's session.
  template <int K>
  struct part_structure : carries<Gradient> {
    template <class E>
    static constexpr int enter(graph& g) {
      const int gradient = flatten<Gradient>(g);
      if (!g.defers) return sent_gradient(g, gradient, AsRows, RowsAlone).all[K].node;
      constexpr tensor_info info = found.all[K].info;
      list<std::int64_t> numbers{K, RowsAlone ? 1 : 0, static_cast<std::int64_t>(info.type)};
      for (int a = 0; a < info.extent.rank; ++a) numbers.push_back(info.extent[a]);
      const int inputs[]{gradient};
      return g.add(info_of<deferred_part_op>, inputs, numbers);
    }
  };
  template <int K, std::size_t... D>
  static constexpr auto part_of_shape(const Gradient& from, std::index_sequence<D...>) {
    using made =
        typename record<id<mix(Gradient::identity::hash, (RowsAlone ? 7000 : 7100) + K)>,
                        part_structure<K>>::template tensor<element_of<found.all[K].info.type>, dims<found.all[K].info.extent.dim[D]...>>;
    return carry_all<made>(from);
  }
  template <int K>
  static constexpr auto part(const Gradient& from) {
    if constexpr (found.all[K].kind == part_kind::whole) return from;
    else return part_of_shape<K>(from, std::make_index_sequence<static_cast<std::size_t>(found.all[K].info.extent.rank)>{});
  }
  static constexpr auto parts(const Gradient& from) {
    return [&]<std::size_t... K>(std::index_sequence<K...>) {
      return std::make_tuple(part<static_cast<int>(K)>(from)...);
    }(std::make_index_sequence<static_cast<std::size_t>(found.size)>{});
  }

  // At the servers: a placeholder for each part. Rows have unique indices, and their number is known only in a run.
  static int enter_part(graph& g, int k) {
    const sent_gradient::part& p = found.all[k];
    const std::uint64_t its_id =
        mix(mix(Gradient::identity::hash, Variable::identity::hash), (RowsAlone ? 7200 : 7300) + static_cast<std::uint64_t>(k));
    if (const int known = g.find(its_id); known >= 0) return known;
    tensor_info info = p.info;
    if (p.kind == part_kind::rows || p.kind == part_kind::indices) {
      constexpr auto some = named_dimension("rows");
      g.name_dimension(some, "rows");
      info.extent = {};
      info.extent.push(some);
      for (int a = 1; p.kind == part_kind::rows && a < Variable::rank; ++a) info.extent.push(Variable::extent[a]);
    }
    const std::string_view name = g.at(flatten<Variable>(g)).name;
    constexpr std::string_view kinds[]{"/gradient", "/gradient", "/indices", "/scale"};
    const int made = g.add_leaf(info_of<placeholder_op>, info, g.keep(name, kinds[static_cast<int>(p.kind)]), its_id);
    if (g.find(its_id) < 0) g.remember(its_id, made);
    return made;
  }
  template <int K>
  static int enter_part_number(graph& g) {
    return enter_part(g, K);
  }
  // Builds the gradient from its parts; `next` is the next part to use.
  static int enter_sum(graph& g, const graph& from, int at, int& next) {
    const node& n = from.at(at);
    if (is_operator<segment_sum_op>(*n.op)) {
      const int inputs[]{enter_part(g, next), enter_part(g, next + 1)};
      next += 2;
      const std::int64_t rows[]{Variable::extent[0]};
      return g.add(info_of<segment_sum_op>, inputs, rows);
    }
    if (n.result.extent.rank == 0) return enter_part(g, next++);
    std::vector<int> inputs;
    for (int k = 0; k < n.input_count; ++k) inputs.push_back(enter_sum(g, from, from.input(n, k), next));
    return g.add(*n.op, inputs, {});
  }
  static int enter(graph& g) {
    if constexpr (found.form == sent_form::whole) {
      return enter_part(g, 0);
    } else if constexpr (found.form == sent_form::one_list) {
      const int inputs[]{enter_part(g, 0), enter_part(g, 1)};
      const std::int64_t rows[]{Variable::extent[0]};
      return g.add(info_of<deferred_rows_op>, inputs, rows);
    } else {
      graph from;
      const int gradient = flatten<Gradient>(from);
      int next = 0;
      return enter_sum(g, from, gradient, next);
    }
  }
  static void list_parts(std::vector<any_expression>& all) {
    compile_fill(fill_part_expander);  // sessions of the prebuilt runtime expand the parts
    [&]<std::size_t... K>(std::index_sequence<K...>) {
      (all.push_back({&enter_part_number<static_cast<int>(K)>, true, {}}), ...);
    }(std::make_index_sequence<static_cast<std::size_t>(found.size)>{});
  }
  // Lists the parts, counted from `first`, that are rows; their indices follow them.
  static void list_rows(std::vector<cluster::sent_rows>& all, std::size_t& first) {
    graph g;
    const std::string name(g.at(flatten<Variable>(g)).name);
    for (int k = 0; k < found.size; ++k, ++first)
      if (found.all[k].kind == part_kind::rows) all.push_back({first, Variable::extent[0], name, false});
  }
};

template <bool AsRows, class Rule, class Pairs, class Counter, class... Settings>
struct server_half;
template <bool AsRows, class Rule, class... Gs, class... Vs, class Counter, class... Settings>
struct server_half<AsRows, Rule, std::tuple<gradient_and_variable<Gs, Vs>...>, Counter, Settings...> {
  template <class G, class V>
  using parts_of = gradient_parts<train::changes_rows_alone<Rule>, G, V, AsRows>;
  static int enter(graph& g) {
    list<int> inputs{parts_of<Gs, Vs>::enter(g)...};
    (inputs.push_back(flatten<Vs>(g)), ...);
    const int counter = enter_counter<Counter>(g);
    const train::setting_source settings[]{enter_setting<Settings>(g)...};
    return defer_step(g, Rule::name, std::move(inputs), static_cast<std::int64_t>(sizeof...(Gs)), counter, settings);
  }
  static std::vector<any_expression> placeholders() {
    std::vector<any_expression> all;
    (parts_of<Gs, Vs>::list_parts(all), ...);
    return all;
  }
  static std::vector<cluster::sent_rows> rows() {
    std::vector<cluster::sent_rows> all;
    std::size_t first = 0;
    (parts_of<Gs, Vs>::list_rows(all, first), ...);
    for (cluster::sent_rows& r : all) r.one_by_one = train::is_linear_step<Rule>;
    return all;
  }
  static constexpr auto parts(const std::tuple<gradient_and_variable<Gs, Vs>...>& pairs) {
    return std::apply([](const auto&... p) { return std::tuple_cat(parts_of<Gs, Vs>::parts(p.gradient)...); }, pairs);
  }
};
template <class Counter, class... Settings>
struct step_settings {
  static constexpr bool is_step = true;
  // Whether the servers' half uses a graph input.
  static constexpr bool has_leaf(std::uint64_t id) {
    graph g;
    (static_cast<void>(flatten<Settings>(g)), ...);
    return g.find(id) >= 0;
  }
  template <class Train>
  static bool same_settings(const Train& a, const Train& b) {
    return (same_numbers(part_of<Settings>(a), part_of<Settings>(b)) && ...);
  }
  template <class E>
  static bool same_numbers(const E& a, const E& b) {
    if constexpr (E::carried_count > 0) {
      for (int i = 0; i < E::carried_count; ++i)
        if (!(a.carried[static_cast<std::size_t>(i)] == b.carried[static_cast<std::size_t>(i)])) return false;
    }
    return true;
  }
};
template <class Rule, class Loss, class Counter, class... Settings>
struct step_halves<minimize_structure<Rule, Loss, Counter, Settings...>> : step_settings<Counter, Settings...> {
  static_assert(loss_variables<Loss>::found.size < loss_variables<Loss>::most, "worker_session: a loss of more than 63 variables");
  using counter = Counter;
  template <class Train>
  static constexpr auto pairs(const Train& t) {
    return optimizer<Rule, Settings...>(part_of<Settings>(t)...).compute_gradients(part_of<Loss>(t));
  }
  template <class Train, bool AsRows>
  using server = server_half<AsRows, Rule, decltype(pairs(std::declval<Train>())), Counter, Settings...>;
};
template <class Rule, class... Gs, class... Vs, class Counter, class... Settings>
struct step_halves<apply_structure<Rule, expression_list<gradient_and_variable<Gs, Vs>...>, Counter, Settings...>>
    : step_settings<Counter, Settings...> {
  using counter = Counter;
  template <class Train>
  static constexpr auto pairs(const Train& t) {
    return std::tuple<gradient_and_variable<Gs, Vs>...>{{part_of<Gs>(t), part_of<Vs>(t)}...};
  }
  template <class Train, bool AsRows>
  using server = server_half<AsRows, Rule, std::tuple<gradient_and_variable<Gs, Vs>...>, Counter, Settings...>;
};
template <class E>
using halves_of = step_halves<structure_with<typename E::identity>>;
template <class E>
inline constexpr bool is_training_step = halves_of<E>::is_step;

// The worker's half of an expression: the expression itself, or the gradients of a training step and the step's counter, so that the
// worker's session has it.
template <bool AsRows, class E>
constexpr auto worker_half(const E& e) {
  if constexpr (is_training_step<E>) return halves_of<E>::template server<E, AsRows>::parts(halves_of<E>::pairs(e));
  else return std::make_tuple(e);
}
template <class E>
constexpr auto counter_of(const E& e) {
  if constexpr (is_training_step<E>)
    if constexpr (!std::is_same_v<typename halves_of<E>::counter, no_step>)
      return std::make_tuple(part_of<typename halves_of<E>::counter>(e));
    else return std::tuple<>{};
  else return std::tuple<>{};
}
template <class E>
constexpr bool writes_variables() {
  graph g;
  static_cast<void>(flatten<E>(g));
  for (const node& n : g.nodes)
    if (n.op->kind == op_kind::assign) return true;
  return false;
}
template <class E>
inline constexpr bool worker_takes = is_training_step<E> || (tensor_expression<E> && !writes_variables<E>());

// The expressions of a worker's own session, and their variables; the session computes the expressions of `Computed`.
template <class Device, bool AsRows, class Computed, class All>
struct worker_table;
template <class Device, bool AsRows, class... Cs, class... Ls>
struct worker_table<Device, AsRows, std::tuple<Cs...>, std::tuple<Ls...>> {
  using session_type = basic_session<Device, Ls...>;
  static constexpr int most = 256;
  struct list {
    std::uint64_t id[most]{};
    bool is_copied[most]{};
    int size = 0;
    bool overflows = false;
  };
  // Variables of which only rows are read, by indices that are fed: a step requests these rows.
  struct row_read {
    std::uint64_t variable = 0;
    std::uint64_t ids = 0;
    tensor_info ids_info{};
  };
  struct row_list {
    row_read row[16]{};
    int size = 0;
  };
  static constexpr row_list rows = [] {
    row_list l;
    if constexpr (AsRows) {
      graph g;
      const int targets[]{flatten<Cs>(g)..., -1};
      for (int v = 0; v < g.size(); ++v) {
        if (g.at(v).op->kind != op_kind::variable) continue;
        row_list its;
        bool is_whole = false;
        for (const int t : targets) is_whole = is_whole || t == v;
        for (int i = 0; i < g.size(); ++i) {
          const node& n = g.at(i);
          for (int k = 0; k < n.input_count; ++k) {
            if (g.input(n, k) != v) continue;
            const bool is_gather = k == 0 && is_operator<gather_op>(*n.op) && g.at(g.input(n, 1)).op->kind == op_kind::placeholder;
            if (!is_gather || its.size + l.size == 16) {
              is_whole = true;
              continue;
            }
            const node& ids = g.at(g.input(n, 1));
            bool known = false;
            for (int r = 0; r < its.size; ++r) known = known || its.row[r].ids == ids.id;
            if (!known) its.row[its.size++] = {g.at(v).id, ids.id, ids.result};
          }
        }
        for (int r = 0; r < its.size && !is_whole; ++r) l.row[l.size++] = its.row[r];
      }
    }
    return l;
  }();
  static constexpr bool reads_rows_of(std::uint64_t variable) {
    for (int r = 0; r < rows.size; ++r)
      if (rows.row[r].variable == variable) return true;
    return false;
  }
  // The indices of a row read, as they are fed.
  template <int R, std::size_t... D>
  static auto ids_type(std::index_sequence<D...>)
      -> tensor<element_of<rows.row[R].ids_info.type>, dims<rows.row[R].ids_info.extent.dim[D]...>, fed_id<rows.row[R].ids>>;
  template <int R>
  using ids_of = decltype(ids_type<R>(std::make_index_sequence<static_cast<std::size_t>(rows.row[R].ids_info.extent.rank)>{}));
  template <std::size_t... R>
  static auto all_ids(std::index_sequence<R...>) -> std::tuple<ids_of<static_cast<int>(R)>...>;
  using ids_tuple = decltype(all_ids(std::make_index_sequence<static_cast<std::size_t>(rows.size)>{}));
  // The row reads that some expressions need.
  template <class... Es>
  static constexpr std::uint32_t rows_needed_by(const std::tuple<Es...>*) {
    graph g;
    (static_cast<void>(flatten<Es>(g)), ...);
    std::uint32_t needed = 0;
    for (int r = 0; r < rows.size; ++r)
      if (g.find(rows.row[r].variable) >= 0 && g.find(rows.row[r].ids) >= 0) needed |= std::uint32_t{1} << r;
    return needed;
  }
  template <int R>
  static int enter_ids(graph& g) {
    return flatten<ids_of<R>>(g);
  }
  static std::vector<cluster::parameter_rows> row_reads() {
    return [&]<std::size_t... R>(std::index_sequence<R...>) {
      return std::vector<cluster::parameter_rows>{
          {static_cast<std::size_t>(find_variable(rows.row[R].variable)), {&enter_ids<static_cast<int>(R)>, true, {}}}...};
    }(std::make_index_sequence<static_cast<std::size_t>(rows.size)>{});
  }

  static constexpr list variables = [] {
    list l;
    graph computed, g;
    (static_cast<void>(flatten<Cs>(computed)), ...);
    (static_cast<void>(flatten<Ls>(g)), ...);
    for (int i = 0; i < g.size(); ++i) {
      if (g.at(i).op->kind != op_kind::variable) continue;
      if (l.size == most) {
        l.overflows = true;
        break;
      }
      l.is_copied[l.size] = computed.find(g.at(i).id) >= 0 && !reads_rows_of(g.at(i).id);
      l.id[l.size++] = g.at(i).id;
    }
    return l;
  }();
  static_assert(!variables.overflows, "worker_session: more than 256 variables");

  static constexpr bool has_leaf(std::uint64_t id) {
    graph g;
    (static_cast<void>(flatten<Ls>(g)), ...);
    return g.find(id) >= 0;
  }
  static constexpr int find_variable(std::uint64_t id) {
    for (int k = 0; k < variables.size; ++k)
      if (variables.id[k] == id) return k;
    return -1;
  }
  // Enters only a variable.
  template <int K>
  static int enter_variable(graph& g) {
    const std::uint64_t its_id = variables.id[K];
    if (const int known = g.find(its_id); known >= 0) return known;
    graph all;
    (static_cast<void>(flatten<Ls>(all)), ...);
    const node& n = all.at(all.find(its_id));
    std::vector<std::int64_t> attributes;
    for (int k = 0; k < n.attribute_count; ++k) attributes.push_back(all.attribute(n, k));
    const int made = g.add_leaf(info_of<variable_op>, n.result, g.keep(n.name, ""), its_id, attributes);
    if (g.find(its_id) < 0) g.remember(its_id, made);
    return made;
  }
  static std::vector<cluster::parameter> parameters() {
    graph all;
    (static_cast<void>(flatten<Ls>(all)), ...);
    return [&]<std::size_t... K>(std::index_sequence<K...>) {
      return std::vector<cluster::parameter>{{std::string(all.at(all.find(variables.id[K])).name),
                                              {&enter_variable<static_cast<int>(K)>, true, {}},
                                              variables.is_copied[K]}...};
    }(std::make_index_sequence<static_cast<std::size_t>(variables.size)>{});
  }
};

// Memory for the parts of a step's gradients. A part with a static shape is written directly into the memory from which it is sent.
template <class Part>
struct sent_part {
  static constexpr bool is_static = Part::extent.is_static() && Part::rank > 0;
  tensor_value value;
  array_of<Part> other{};  // for scalars, and for shapes that are known only in a run
  std::span<typename Part::element> elements;

  /// Takes memory from `give(dtype, shape)` before the first step, and when the memory of the last step is still in use.
  template <class Give>
  void take_memory([[maybe_unused]] const Give& give) {
    if constexpr (is_static) {
      if (value.is_alone()) return;
      if (tensor_value given = give(Part::type, Part::extent)) value = std::move(given);
    }
  }
  auto& destination() {
    if constexpr (is_static) {
      if (!value.is_alone()) value = tensor_value(Part::type, Part::extent);
      elements = value.template values<typename Part::element>();
      return elements;
    } else {
      return other;
    }
  }
  const tensor_value& written() {
    if constexpr (Part::rank == 0) {
      value = tensor_value(other);
    } else if constexpr (!is_static) {
      shape extent;
      for (std::size_t k = 0; k < other.dimension(); ++k) extent.push(static_cast<std::int64_t>(other.shape()[k]));
      if (!value.is_alone() || !(value.extent() == extent)) value = tensor_value(Part::type, extent);
      std::copy(other.data(), other.data() + other.size(), value.template values<typename Part::element>().data());
    }
    return value;
  }
};
template <class Parts>
struct sent_parts;
template <class... Parts>
struct sent_parts<std::tuple<Parts...>> {
  using type = std::tuple<sent_part<Parts>...>;
};
template <class Train, bool AsRows>
using parts_of_step = decltype(worker_half<AsRows>(std::declval<const Train&>()));

template <class... Fs>
inline constexpr int training_steps_in = (0 + ... + (is_training_step<fetch_target_of<Fs>> ? 1 : 0));

}  // namespace detail

}  // namespace leat
