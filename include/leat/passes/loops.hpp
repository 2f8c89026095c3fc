#pragma once
// Loops as nodes. A loop has several results, and a node has one: so memory for each result is a node, the loop writes to it, and another
// node is that memory after the loop. The gradient of a loop is a loop over the body that reverse mode makes of its own (loop_body.hpp),
// from the last step to the first; it reads the states of each step from a tape, which the loop keeps as soon as a gradient asks for it.

#include <leat/core/list.hpp>
#include <leat/passes/loop_code.hpp>
#include <leat/passes/model_axes.hpp>

#include <array>
#include <span>
#include <string_view>

namespace leat {

namespace passes {

/// Memory for a result of a loop. Inputs: those of the loop. Attributes: the number of the result, its dtype, rank and dimensions, and a
/// hash of the loop's operator and attributes. So equal loops alone share memory.
struct loop_memory_op {
  static constexpr std::string_view type = "leat.LoopMemory";
  static constexpr op_kind kind = op_kind::kernel;
  static constexpr inference infer(const operand_list& x) {
    shape extent;
    for (int a = 0; a < x.attribute(2); ++a) extent.push(x.attribute(3 + a));
    return {static_cast<dtype>(x.attribute(1)), extent};
  }
  /// Stands for nothing: the loop sets what its memory holds after it, for many models.
  static constexpr void batch(batcher& all, int i) { all.set(i, all.handle(all.one().input(all.one().at(i), 0)), true); }
};

/// A result of a loop: its memory, after the loop. Inputs: its memory, the loop. Attribute: the number of the result.
struct loop_result_op {
  static constexpr std::string_view type = "leat.LoopResult";
  static constexpr facts what{.work = work_kind::none, .forwards = true};
  static constexpr op_kind kind = op_kind::kernel;
  static constexpr inference infer(const operand_list& x) { return {x.type(0), x.extent(0)}; }
  static constexpr void gradient(gradient_scope& g) {
    if (g.wants(1)) g.mark(1);
  }
  static constexpr void batch(batcher& all, int i) {
    const int memory = all.one().input(all.one().at(i), 0);
    all.set(i, all.handle(memory), all.has_models(memory));
  }
};

/// The operands of a loop.
struct loop_operands {
  list<int> states, xs, invariants;
  int limit = -1;  // the number of steps, int64, or -1
};
/// The results of a loop: the last states, then the given sequences.
constexpr shape with_length(std::int64_t length, const shape& entry) {
  shape all;
  all.push(length);
  for (int a = 0; a < entry.rank; ++a) all.push(entry[a]);
  return all;
}

/// Enters a loop into a graph; returns the nodes of its results; the last is the number of steps, if the steps say whether there is
/// another. `attributes`: as `loop_attribute` lists them, without a tape. Each tape has memory, which is empty until the tape is kept.
constexpr list<int> enter_loop(graph& g, const op_info& op, list<std::int64_t> attributes, const loop_body& b, const loop_operands& from) {
  list<int> inputs;
  for (const int i : from.states) inputs.push_back(i);
  for (const int i : from.xs) inputs.push_back(i);
  for (const int i : from.invariants) inputs.push_back(i);
  if (b.is_limited) inputs.push_back(from.limit);
  const list<int> read = inputs;
  std::uint64_t hash = static_cast<std::uint64_t>(op.code);
  for (const std::int64_t a : attributes) hash = mix(hash, static_cast<std::uint64_t>(a));
  std::int64_t number = 0;
  const auto memory = [&](const tensor_info& info) {
    list<std::int64_t> numbers{number++, static_cast<std::int64_t>(info.type), info.extent.rank};
    for (int a = 0; a < info.extent.rank; ++a) numbers.push_back(info.extent[a]);
    numbers.push_back(static_cast<std::int64_t>(hash >> 1));
    inputs.push_back(g.add(info_of<loop_memory_op>, read, numbers));
  };
  const std::int64_t length = attributes[static_cast<int>(loop_length)];
  for (std::size_t k = 0; k < b.states.size(); ++k) memory(b.state(k));
  for (std::size_t k = 0; k < b.outs.size(); ++k) memory({b.out(k).type, with_length(length, b.out(k).extent)});
  for (std::size_t k = 0; k < b.tapes(); ++k) {
    const tensor_info& entry = b.g.at(b.on_tape(k)).result;
    memory({entry.type, with_length(0, entry.extent)});
  }
  if (b.go >= 0) memory({dtype::int64, {}});
  const int loop = g.add(op, inputs, attributes);
  list<int> results;
  const auto result = [&](std::size_t k) {
    const std::int64_t which[]{static_cast<std::int64_t>(k)};
    const int operands[]{inputs[read.size() + k], loop};
    results.push_back(g.add(info_of<loop_result_op>, operands, which));
  };
  for (std::size_t k = 0; k < b.states.size() + b.outs.size(); ++k) result(k);
  if (b.go >= 0) result(b.results());
  return results;
}

/// The values of a state, or of a kept product, in each step, from a tape of loop `loop`, which is kept from now on. `first`: the first of
/// the loop's inputs that is memory; `tape`: the number of the tape.
constexpr int tape_of(graph& g, int loop, const loop_body& b, int first, int tape) {
  const node n = g.at(loop);
  const auto at = first + static_cast<int>(b.states.size() + b.outs.size()) + tape;
  const int memory = g.input(n, at);
  node& m = g.at(memory);
  const std::int64_t length = g.attribute(n, loop_length);
  g.numbers[n.attributes + loop_tape] |= std::int64_t{1} << tape;
  g.numbers[m.attributes + 3] = length;
  m.result.extent.dim[0] = length;
  const std::int64_t which[]{at - first};
  const int operands[]{memory, loop};
  return g.add(info_of<loop_result_op>, operands, which);
}

/// Adds the gradients of a loop's operands, by a loop from the end to the beginning.
constexpr void loop_gradient(gradient_scope& s, const loop_body& b) {
  graph& g = s.owner();
  const int me = s.result().index();
  const auto states = b.states.size(), xs = b.xs.size(), invariants = b.invariants.size();
  list<int> dy(b.results(), -1);  // of the last states, the given sequences and the tapes
  std::int64_t given = 0;
  for (int i = me + 1; i < s.reach(); ++i) {
    if (!is_operator<loop_result_op>(*g.at(i).op) || g.input(g.at(i), 1) != me || s.gradient_of(i) < 0) continue;
    const auto which = static_cast<std::size_t>(g.attribute(g.at(i), 0));
    if (which >= dy.size()) continue;
    int& sum = dy[which];
    sum = sum < 0 ? s.gradient_of(i) : (output(g, sum) + output(g, s.gradient_of(i))).index();
    if (which >= states) given |= std::int64_t{1} << (which - states);
  }
  std::int64_t wanted = 0, wanted_xs = 0;
  const auto asks = [&](std::size_t k) { return s.wants(static_cast<int>(k)) && is_floating(s.input(static_cast<int>(k)).type()); };
  for (std::size_t k = 0; k < xs; ++k)
    if (asks(states + k)) wanted_xs |= std::int64_t{1} << k;
  for (std::size_t k = 0; k < invariants; ++k)
    if (asks(states + xs + k)) wanted |= std::int64_t{1} << k;
  // A loop that ends early leaves the factors of its other steps unset.
  const std::int64_t length = s.attribute(loop_length);
  const products_after after = b.is_limited ? products_after::none : is_named(length) ? products_after::with_one_row : products_after::any;
  const backward_body back = backward_of(b, wanted, wanted_xs, given, after);
  list<std::int64_t> attributes{length, 0};
  for (int k = loop_recipe; k < s.attribute_count(); ++k) attributes.push_back(s.attribute(k));
  for (const std::int64_t v :
       {static_cast<std::int64_t>(loop_change::backward), wanted, wanted_xs, given, static_cast<std::int64_t>(after)})
    attributes.push_back(v);
  loop_operands from;
  for (const int k : back.slopes)
    from.states.push_back(
        dy[k] >= 0 ? dy[k]
                   : constant(g, b.state(static_cast<std::size_t>(k)).type, b.state(static_cast<std::size_t>(k)).extent, 0).index());
  for (const int k : back.sums) {
    const tensor_info info = b.g.at(b.invariants[k]).result;
    from.states.push_back(constant(g, info.type, info.extent, 0).index());
  }
  const int first = static_cast<int>(states + xs + invariants) + (b.is_limited ? 1 : 0);
  for (const int k : back.tapes) from.xs.push_back(tape_of(g, me, b, first, k));
  for (const int k : back.xs) from.xs.push_back(s.input(static_cast<int>(states) + k).index());
  for (const int k : back.dys) from.xs.push_back(dy[static_cast<int>(states) + k]);
  for (const int k : back.invariants) from.invariants.push_back(s.input(static_cast<int>(states + xs) + k).index());
  for (const auto& p : back.parts) {
    const output matrix = s.input(static_cast<int>(states + xs) + p.invariant);
    std::int64_t where[]{0, 0, matrix.extent()[0], matrix.extent()[1]};
    where[p.axis] = p.begin;
    where[2 + p.axis] = p.size;
    from.invariants.push_back(make_node<slice_op>(where, matrix).index());
  }
  if (b.go >= 0) {
    const std::int64_t which[]{static_cast<std::int64_t>(b.results())};
    const int operands[]{s.input(first + static_cast<int>(which[0])).index(), me};
    from.limit = g.add(info_of<loop_result_op>, operands, which);
  } else if (b.is_limited) {
    from.limit = s.input(first - 1).index();
  }
  const list<int> made = enter_loop(g, *g.at(me).op, attributes, back.body, from);
  const auto give = [&](std::size_t k, int value) {
    if (asks(k)) s.give(static_cast<int>(k), output(g, value), [](const auto& x, const auto& y) { return x + y; });
  };
  std::size_t at = 0;
  for (const int k : back.slopes) give(static_cast<std::size_t>(k), made[at++]);
  for (const int k : back.sums) give(states + xs + static_cast<std::size_t>(k), made[at++]);
  for (const int k : back.dxs) give(states + static_cast<std::size_t>(k), made[at++]);
  const std::size_t given_from = back.slopes.size() + back.sums.size();
  for (const auto& p : back.products) {
    const auto rows = [&](int k) {  // of all steps, [time, rows, columns], as one matrix
      const output all(g, made[given_from + static_cast<std::size_t>(k)]);
      const shape& extent = all.extent();
      shape matrix;
      matrix.push(extent[1] == 1 ? extent[0] : extent[0] * extent[1]);
      matrix.push(extent[2]);
      return reshape_to(all, matrix);
    };
    const std::int64_t transposed[]{1, 0};
    give(states + xs + static_cast<std::size_t>(p.invariant), make_node<matmul_op>(transposed, rows(p.left), rows(p.right)).index());
  }
}

/// Whether each model has few elements of everything in a loop, so that the arrays of many models are best stored with the models last:
/// then each element is an array over the models.
constexpr bool has_small_models(const loop_body& b, std::int64_t models) {
  if (models >= 0 && models <= detail::model_axes::most_elements) return false;
  bool is_small = true;
  for (const list<int>* each : {&b.states, &b.xs, &b.invariants, &b.outs})
    for (const int i : *each) {
      const shape& own = b.g.at(i).result.extent;
      is_small = is_small && own.is_static() && own.elements() <= detail::model_axes::most_elements;
    }
  return is_small;
}

/// Writes a loop, node `i` of the graph of one model, as one loop for all models.
constexpr void batch_loop(batcher& all, int i, const loop_body& b) {
  const node n = all.one().at(i);
  graph& g = all.to();
  const auto states = b.states.size(), xs = b.xs.size(), invariants = b.invariants.size();
  const auto input = [&](std::size_t k) { return all.one().input(n, static_cast<int>(k)); };
  const auto differing = [&](std::size_t from, std::size_t count) {
    std::int64_t set = 0;
    for (std::size_t k = 0; k < count; ++k)
      if (all.has_models(input(from + k))) set |= std::int64_t{1} << k;
    return set;
  };
  const std::int64_t length = all.one().attribute(n, loop_length);
  batching_of_body by{all.models(), differing(0, states), differing(states, xs), differing(states + xs, invariants), 0};
  const bool limit_differs_here = b.is_limited && all.has_models(input(states + xs + invariants));
  if (limit_differs_here) by.how |= limit_differs;
  if (length == 1) by.how |= at_most_once;
  if (has_small_models(b, all.models())) by.how |= models_last;
  const batched_body made = batched_of(b, by);
  if (made.problem.size > 0) return all.fail(made.problem);
  by.states = made.states;
  const std::size_t operands = 2 * made.body.states.size() + made.body.tapes() + xs + made.body.invariants.size() + b.outs.size() +
                               (b.is_limited ? 1 : 0) + (b.go >= 0 ? 1 : 0);
  if (operands > graph::max_operands) return all.fail(message{} << "vmap: a loop with too many states, sequences and captured tensors");
  const auto axis = [&](int rank) { return (by.how & models_last) != 0 ? rank : 0; };
  loop_operands from;
  for (std::size_t k = 0; k < states; ++k) {
    const bool differs = in_set(made.states, k);
    from.states.push_back((differs ? batcher::moved(all.each(input(k)), 0, axis(b.state(k).extent.rank)) : all.handle(input(k))).index());
  }
  for (std::size_t k = 0; k < xs; ++k) {
    const output x = all.handle(input(states + k));
    from.xs.push_back((in_set(by.xs, k) ? batcher::moved(x, 0, 1 + axis(x.extent().rank - 2)) : x).index());
  }
  for (std::size_t k = 0; k < invariants; ++k) {
    const output x = all.handle(input(states + xs + k));
    from.invariants.push_back((in_set(by.invariants, k) ? batcher::moved(x, 0, axis(x.extent().rank - 1)) : x).index());
  }
  if (b.is_limited) {
    const output limit = all.handle(input(states + xs + invariants));
    const output zero = constant_like(limit, 0);
    output most = limit;
    if (limit_differs_here) {
      const std::int64_t whole[]{0, 0};
      most = maximum(make_node<max_op>(whole, limit), zero);
    }
    from.limit = most.index();
    shape line;
    line.push(all.models());
    if (made.ends_apart && b.go >= 0) {
      from.states.push_back(less(zero, all.each(input(states + xs + invariants))).index());
      from.states.push_back(constant(g, dtype::int64, line, 0).index());
    } else if (made.ends_apart) {
      from.invariants.push_back(limit.index());
      if (length != 1) from.states.push_back((b.is_reversed ? most - constant_like(most, 1) : zero).index());
    }
  }
  list<std::int64_t> attributes{length, 0};
  for (int k = loop_recipe; k < n.attribute_count; ++k) attributes.push_back(all.one().attribute(n, k));
  for (const std::int64_t v : {static_cast<std::int64_t>(loop_change::batched), by.models, by.states, by.xs, by.invariants, by.how})
    attributes.push_back(v);
  const list<int> results = enter_loop(g, *n.op, attributes, made.body, from);
  // What the memory of the loop holds after it: the array of all models.
  const int loop = g.input(g.at(results[0]), 1);
  const std::size_t memory = states + xs + invariants + (b.is_limited ? 1 : 0);
  const auto sequence = [&](int row, int rank) { return batcher::moved(output(g, row), 1 + axis(rank), 0); };
  for (std::size_t k = 0; k < states; ++k) {
    const bool differs = in_set(made.states, k);
    const output last(g, results[k]);
    all.set(input(memory + k), differs ? batcher::moved(last, axis(b.state(k).extent.rank), 0) : last, differs);
  }
  for (std::size_t k = 0; k < b.outs.size(); ++k) {
    const bool differs = in_set(made.outs, k);
    const int row = results[made.body.states.size() + k];
    all.set(input(memory + states + k), differs ? sequence(row, b.out(k).extent.rank) : output(g, row), differs);
  }
  const auto first = static_cast<int>(from.states.size() + from.xs.size() + from.invariants.size()) + (b.is_limited ? 1 : 0);
  const std::size_t tapes = memory + states + b.outs.size();
  for (std::size_t k = 0; k < b.tapes(); ++k) {
    if (!in_set(all.one().attribute(n, loop_tape), k)) continue;
    const bool is_state = k < states, differs = is_state ? in_set(made.states, k) : in_set(made.kept, k - states);
    const std::size_t place = is_state ? k : made.body.states.size() + k - states;
    const output tape(g, tape_of(g, loop, made.body, first, static_cast<int>(place)));
    all.set(input(tapes + k),
            !differs   ? tape
            : is_state ? sequence(tape.index(), b.state(k).extent.rank)
                       : batcher::moved(tape, 1, 0),
            differs);
  }
  if (b.go >= 0) {
    const output steps(g, made.ends_apart ? results[states + 1] : results.back());
    all.set(input(memory + b.results()), steps, made.ends_apart);
  }
  all.set(i, output(g, loop), true);
}

}  // namespace passes

namespace detail {

/// The name of a loop's operator: each body has one.
template <std::uint64_t Hash>
struct loop_name {
  static constexpr auto text = [] {
    std::array<char, 5 + 16 + 1> t{'l', 'o', 'o', 'p', '.'};
    for (std::size_t k = 0; k < 16; ++k) t[5 + k] = "0123456789abcdef"[Hash >> (60 - 4 * k) & 15];
    return t;
  }();
  static constexpr std::string_view view{text.data(), 5 + 16};
};

}  // namespace detail

/// A loop over a body: `Body` has a `hash` and makes the body, `make()`. The result stands for the loop; results are `loop_result_op`.
/// Inputs: the states, sequences and invariants, memory for the results and tapes. Attributes: see `loop_attribute`.
template <class Body>
struct loop_op {
  using body = Body;
  static constexpr std::string_view type = detail::loop_name<Body::hash>::view;
  static constexpr op_kind kind = op_kind::kernel;
  static constexpr bool may_refuse = true;  // a lookup in a step may
  static constexpr inference infer(const operand_list&) { return {dtype::float32, {}}; }
  static constexpr passes::loop_body make(std::span<const std::int64_t> recipe) { return passes::changed(Body::make(), recipe); }
  static constexpr void gradient(gradient_scope& g) {
    detail::list<std::int64_t> recipe;
    for (int k = passes::loop_recipe; k < g.attribute_count(); ++k) recipe.push_back(g.attribute(k));
    passes::loop_gradient(g, make({recipe.data(), recipe.size()}));
  }
  static constexpr void batch(passes::batcher& all, int i) {
    const node& n = all.one().at(i);
    const auto first = static_cast<std::size_t>(n.attributes) + passes::loop_recipe;
    passes::batch_loop(all, i, make({all.one().numbers.data() + first, static_cast<std::size_t>(n.attribute_count) - passes::loop_recipe}));
  }
};

}  // namespace leat
