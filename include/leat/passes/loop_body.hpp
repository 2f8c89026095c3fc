#pragma once
// The body of a loop as a graph: one step from the states, the step's entries of the sequences and the arrays that do not change, to the
// next states and what the step gives. A loop over a body, and the loop that computes its gradients, are the same operator over two bodies;
// the second is made of the first by the rules of reverse mode (`backward_body`). Source: Griewank and Walther, "Evaluating Derivatives".

#include <leat/core/list.hpp>
#include <leat/ops/array_parts.hpp>
#include <leat/ops/stacked_matmul.hpp>
#include <leat/passes/gradient.hpp>
#include <leat/passes/rows.hpp>

namespace leat::passes {

/// A loop's body. `states`, `xs` and `invariants` are graph inputs; `next` and `outs` are computed from them.
struct loop_body {
  graph g;
  list<int> states, xs, invariants;
  list<int> next;   // for each state
  list<int> outs;   // one entry each of the sequences that the loop gives
  list<int> kept;   // matrix products: a gradient that reads them from a tape need not compute them again
  list<char> adds;  // for each state: whether `next` is what is added to it
  bool is_reversed = false;  // whether the last entry of the sequences comes first
  bool is_limited = false;   // whether an operand says the number of steps, at most the loop's length
  int go = -1;               // whether there is another step, after this one: a scalar of bool
  int holds = -1;            // the same of the states before a step, which graphs with names ask before each

  constexpr const tensor_info& state(std::size_t k) const { return g.at(states[k]).result; }
  constexpr const tensor_info& out(std::size_t k) const { return g.at(outs[k]).result; }
  /// What the loop can keep on tape: the states before each step, then products in it.
  constexpr std::size_t tapes() const { return states.size() + kept.size(); }
  constexpr int on_tape(std::size_t k) const { return k < states.size() ? states[k] : kept[k - states.size()]; }
  /// The results of a loop: last states, given sequences and tapes; after them, if `go` is given, the number of steps.
  constexpr std::size_t results() const { return states.size() + outs.size() + tapes(); }
};

enum class loop_role : int { state, sequence, invariant };
/// The id of an input of a body.
constexpr std::uint64_t loop_input_id(loop_role role, std::size_t k) {
  return mix(mix(k, static_cast<std::uint64_t>(role)), 0x6c6f6f70);
}
constexpr int add_loop_input(graph& g, loop_role role, std::size_t k, const tensor_info& info) {
  const std::uint64_t id = loop_input_id(role, k);
  if (role != loop_role::state) return g.add_leaf(info_of<placeholder_op>, info, {}, id);
  const std::int64_t attribute[]{0, 0, 0};
  return g.add_leaf(info_of<variable_op>, info, {}, id, attribute);
}

/// Copies the nodes of `from` that `targets` need to `to`. `rows` has the node of `to` for each node of `from`, or -1, and is completed.
constexpr void copy_needed(const graph& from, graph& to, list<int>& rows, std::span<const int> targets) {
  list<char> live(from.nodes.size(), 0);
  for (const int t : targets) live[t] = 1;
  for (int i = from.size(); i-- > 0;) {
    if (live[i] == 0 || rows[i] >= 0) continue;
    const node& n = from.at(i);
    for (int k = 0; k < n.input_count; ++k) live[from.input(n, k)] = 1;
  }
  for (const auto& d : from.dimension_names) to.name_dimension(d.value, d.text);
  for (const std::int64_t count : from.models) to.note_models(count);
  for (int i = 0; i < from.size(); ++i) {
    if (live[i] == 0 || rows[i] >= 0) continue;
    const node& n = from.at(i);
    const detail::list_view<std::int64_t> numbers{from.numbers.data() + n.attributes, static_cast<std::size_t>(n.attribute_count)};
    if (n.input_count == 0) {
      const int known = n.id != 0 ? to.find(n.id) : -1;
      rows[i] = known >= 0 ? known : to.add_leaf(*n.op, n.result, n.name, n.id, numbers);
      if (n.id != 0 && known < 0) to.remember(n.id, rows[i]);
    } else {
      list<int> in;
      for (int k = 0; k < n.input_count; ++k) in.push_back(rows[from.input(n, k)]);
      rows[i] = to.add(*n.op, in, numbers);
    }
  }
}

/// A function of one step, as its graph: the nodes that stand for its arguments, and its results. Nodes that depend on no argument are
/// computed once, outside of the loop; those that the step reads are the loop's invariants.
struct traced_step {
  graph one;
  list<int> states, xs, operands;  // `operands` are the same in each step, and what depends on them is computed in the step
  list<int> next, outs;
  int go = -1;  // of the states before a step

  /// The nodes of `one` that become invariants.
  constexpr list<int> invariants() const {
    const list<char> inside = varies();
    list<char> read(one.nodes.size(), 0);
    const auto reads = [&](int i) {
      const node& n = one.at(i);
      const bool is_own =
          inside[i] != 0 || ((n.op->kind == op_kind::constant || n.op->kind == op_kind::index) && n.result.extent.is_static());
      if (!is_own) read[i] = 1;
    };
    for (int i = 0; i < one.size(); ++i)
      if (inside[i] != 0)
        for (int k = 0; k < one.at(i).input_count; ++k) reads(one.input(one.at(i), k));
    for (const int i : next) reads(i);
    for (const int i : outs) reads(i);
    if (go >= 0) reads(go);
    list<int> found;
    for (int i = 0; i < one.size(); ++i)
      if (read[i] != 0) found.push_back(i);
    return found;
  }
  /// The problem of a step that does more than compute; empty if there is none.
  constexpr message problem(std::string_view word) const {
    message m;
    const list<char> inside = varies();
    for (int i = 0; i < one.size() && m.size == 0; ++i) {
      const node& n = one.at(i);
      if (inside[i] == 0 || n.input_count == 0) continue;
      if (n.op->kind == op_kind::assign)
        m << word << ": " << n.op->type << " in a step: let it return the value as a state, and assign that outside";
      else if (n.control_count > 0)
        m << word << ": an order of writes in a step, which writes nothing";
    }
    return m;
  }
  constexpr loop_body body() const {
    loop_body b;
    list<int> rows(one.nodes.size(), -1);
    const auto input = [&](list<int>& to, loop_role role, int i) {
      const int made = add_loop_input(b.g, role, to.size(), one.at(i).result);
      to.push_back(made);
      rows[i] = made;
    };
    for (const int i : states) input(b.states, loop_role::state, i);
    for (const int i : xs) input(b.xs, loop_role::sequence, i);
    for (const int i : operands) input(b.invariants, loop_role::invariant, i);
    for (const int i : invariants()) input(b.invariants, loop_role::invariant, i);
    list<int> after = rows;  // of the states after the step
    copy_needed(one, b.g, rows, {next.data(), next.size()});
    copy_needed(one, b.g, rows, {outs.data(), outs.size()});
    for (const int i : next) b.next.push_back(rows[i]);
    for (const int i : outs) b.outs.push_back(rows[i]);
    b.adds.resize(states.size(), 0);
    keep_products(b, rows);
    if (go >= 0) {
      copy_needed(one, b.g, rows, {&go, 1});
      b.holds = rows[go];
      for (std::size_t k = 0; k < states.size(); ++k) after[states[k]] = b.next[k];
      copy_needed(one, b.g, after, {&go, 1});
      b.go = after[go];
    }
    return b;
  }

 private:
  // A shorter sum is computed again in less time than it is written and read.
  static constexpr std::int64_t shortest_kept_sum = 16;
  static constexpr std::size_t most_kept = 8, most_operands = 48;  // of 64, some of which `vmap` adds

  // Enters the products of a step that depend on its arguments.
  constexpr void keep_products(loop_body& b, const list<int>& rows) const {
    const list<char> inside = varies();
    const std::size_t fixed = 3 * states.size() + xs.size() + b.invariants.size() + 2 * outs.size();
    for (int i = 0; i < one.size() && b.kept.size() < most_kept && fixed + b.kept.size() < most_operands; ++i) {
      const node& n = one.at(i);
      if (inside[i] == 0 || rows[i] < 0 || !is_floating(n.result.type) || n.result.extent.rank + 2 > max_rank) continue;
      if (!is_operator<matmul_op>(*n.op) && !is_operator<stacked_matmul_op>(*n.op)) continue;
      const shape& left = one.at(one.input(n, 0)).result.extent;
      const std::int64_t summed = left[left.rank - (one.attribute(n, 0) != 0 ? 2 : 1)];
      if (is_named(summed) || summed >= shortest_kept_sum) b.kept.push_back(rows[i]);
    }
  }

  constexpr list<char> varies() const {
    list<char> inside(one.nodes.size(), 0);
    for (const int i : states) inside[i] = 1;
    for (const int i : xs) inside[i] = 1;
    for (const int i : operands) inside[i] = 1;
    for (int i = 0; i < one.size(); ++i)
      for (int k = 0; k < one.at(i).input_count; ++k)
        if (inside[one.input(one.at(i), k)] != 0) inside[i] = 1;
    return inside;
  }
};

/// The body of the loop that computes gradients, and where its inputs come from. Its states are the gradients by the states, then sums for
/// the invariants; its sequences are the tapes, the sequences, and the gradients of what the loop gives; its results are the gradients by
/// the sequences' entries, and the factors of products that are summed over the steps after the loop, as one product.
struct backward_body {
  loop_body body;
  list<int> slopes;    // the states of the loop whose gradients are states
  list<int> sums;      // the invariants whose gradients are states
  list<int> tapes;     // the states and kept products whose values it reads
  list<int> xs;        // the sequences that it reads
  list<int> dys;       // the given sequences whose gradients it reads; tapes follow what the loop gives
  list<int> invariants;
  list<int> dxs;       // the sequences whose gradients it gives
  struct summed_product {
    int invariant;     // whose gradient it is, or a part of it: transpose(left) right, summed over the steps
    int left, right;   // among what the body gives
  };
  list<summed_product> products;
  struct part_of_matrix {
    int invariant;            // a matrix, by which a product is computed of which a part is read
    int axis;
    std::int64_t begin, size;  // its rows or columns that this part depends on
    constexpr bool operator==(const part_of_matrix&) const = default;
  };
  list<part_of_matrix> parts;  // further invariants
};

/// Which sums over the steps may become one product after the loop: their factors are then kept for all steps. `with_one_row`: the number
/// of steps is named, so that only factors of one row in each step are matrices over all steps.
enum class products_after : std::int64_t { none, with_one_row, any };

/// Takes products of two matrices, transpose(left) right, out of `sum`, a node of `h`: `take(left, right)` says whether it takes one.
/// Returns the rest of the sum, or -1.
template <class Take>
constexpr int without_products(graph& h, int sum, const Take& take) {
  const node n = h.at(sum);
  if (is_operator<matmul_op>(*n.op) && h.attribute(n, 0) != 0 && h.attribute(n, 1) == 0 && take(h.input(n, 0), h.input(n, 1))) return -1;
  if (!is_operator<add_op>(*n.op) || h.at(h.input(n, 0)).result != n.result || h.at(h.input(n, 1)).result != n.result) return sum;
  const int left = h.input(n, 0), right = h.input(n, 1);
  const int a = without_products(h, left, take), b = without_products(h, right, take);
  if (a == left && b == right) return sum;
  if (a < 0 || b < 0) return a < 0 ? b : a;
  return (output(h, a) + output(h, b)).index();
}

/// A set of numbers below 64, as an attribute of a loop: which of its inputs and results take part.
constexpr bool in_set(std::int64_t set, std::size_t k) { return k < 63 && (set >> k & 1) != 0; }

/// Whether a sum over the steps of products of matrices [rows, m] and [rows, n] is computed in less time after the loop: it writes the
/// factors of each step, instead of reading and writing the sum.
constexpr bool pays_after(const shape& left, const shape& right, products_after after) {
  if (after == products_after::none || !left.is_static() || !right.is_static()) return false;
  const std::int64_t rows = left[0], m = left[1], n = right[1];
  return (after == products_after::any || rows == 1) && rows * (m + n) < m * n;
}

/// Marks the slices of columns of products by an invariant matrix that are all that is read of the product, and what is read no longer.
constexpr list<char> narrow_products(const graph& h, list<char>& live, const list<char>& is_kept, const list<int>& results,
                                     const list<int>& invariants) {
  list<int> readers(h.nodes.size(), 0);
  for (const int i : results) ++readers[i];
  for (int i = 0; i < h.size(); ++i)
    for (int k = 0; live[i] != 0 && is_kept[i] == 0 && k < h.at(i).input_count; ++k) ++readers[h.input(h.at(i), k)];
  list<char> found(h.nodes.size(), 0);
  for (int i = 0; i < h.size(); ++i) {
    const node& n = h.at(i);
    if (live[i] == 0 || !is_operator<slice_op>(*n.op)) continue;
    const int whole = h.input(n, 0);
    const node& product = h.at(whole);
    if (!is_operator<matmul_op>(*product.op) || is_kept[whole] != 0 || readers[whole] != 1) continue;
    if (n.result.extent[0] != product.result.extent[0] || n.result.extent[1] < 0) continue;
    const int matrix = h.input(product, 1);
    bool is_invariant = false;
    for (const int k : invariants) is_invariant = is_invariant || k == matrix;
    if (!is_invariant) continue;
    found[i] = 1;
    if (--readers[matrix] == 0) live[matrix] = 0;
  }
  return found;
}
/// Enters such a slice as the product by a part of the matrix, which is a further invariant; returns its node.
constexpr int enter_narrow_product(const graph& h, int slice, const list<int>& invariants, list<int>& place, backward_body& made) {
  const node& n = h.at(slice);
  const node& product = h.at(h.input(n, 0));
  const int left = h.input(product, 0), matrix = h.input(product, 1);
  backward_body::part_of_matrix part{0, h.attribute(product, 1) != 0 ? 0 : 1, h.attribute(n, 1), n.result.extent[1]};
  while (invariants[part.invariant] != matrix) ++part.invariant;
  loop_body& to = made.body;
  const std::size_t first = to.invariants.size() - made.parts.size();
  std::size_t k = 0;
  while (k < made.parts.size() && !(made.parts[k] == part)) ++k;
  if (k == made.parts.size()) {
    tensor_info info = h.at(matrix).result;
    info.extent.dim[part.axis] = part.size;
    to.invariants.push_back(add_loop_input(to.g, loop_role::invariant, to.invariants.size(), info));
    made.parts.push_back(part);
  }
  copy_needed(h, to.g, place, {&left, 1});
  const std::int64_t transposed[]{h.attribute(product, 0), h.attribute(product, 1)};
  const int operands[]{place[left], to.invariants[first + k]};
  return to.g.add(info_of<matmul_op>, operands, transposed);
}

/// `wanted`, `wanted_xs`: invariants and sequences whose gradients are computed; `given`: given sequences that have gradients, and after
/// them the tapes that have.
constexpr backward_body backward_of(const loop_body& b, std::int64_t wanted, std::int64_t wanted_xs, std::int64_t given,
                                    products_after after) {
  graph h;  // the step, its weights and its gradients, with leaves for all that might be needed
  list<int> rows(b.g.nodes.size(), -1);
  list<int> states, xs, invariants, weights, ys, by, dys;
  const auto leaf = [&](const tensor_info& info) { return h.add_leaf(info_of<placeholder_op>, info, {}, 0); };
  const auto copy = [&](const list<int>& from, list<int>& to) {
    for (const int i : from) {
      rows[i] = leaf(b.g.at(i).result);
      to.push_back(rows[i]);
    }
  };
  copy(b.states, states);
  copy(b.xs, xs);
  copy(b.invariants, invariants);
  copy_needed(b.g, h, rows, {b.next.data(), b.next.size()});
  copy_needed(b.g, h, rows, {b.outs.data(), b.outs.size()});
  copy_needed(b.g, h, rows, {b.kept.data(), b.kept.size()});
  list<int> taped = states;
  for (const int i : b.kept) taped.push_back(rows[i]);
  backward_body made;
  for (std::size_t k = 0; k < states.size(); ++k) {
    if (!is_floating(b.state(k).type)) continue;
    const int next = rows[b.next[k]];
    made.slopes.push_back(static_cast<int>(k));
    ys.push_back(b.adds[k] != 0 ? (output(h, states[k]) + output(h, next)).index() : next);
    weights.push_back(leaf(b.state(k)));
    by.push_back(states[k]);
  }
  for (std::size_t k = 0; k < b.outs.size() + taped.size(); ++k) {
    if (!in_set(given, k)) continue;
    const int y = k < b.outs.size() ? rows[b.outs[k]] : taped[k - b.outs.size()];
    made.dys.push_back(static_cast<int>(k));
    ys.push_back(y);
    weights.push_back(leaf(tensor_info(h.at(y).result)));
    dys.push_back(weights.back());
  }
  for (std::size_t k = 0; k < invariants.size(); ++k)
    if (in_set(wanted, k)) {
      made.sums.push_back(static_cast<int>(k));
      by.push_back(invariants[k]);
    }
  for (std::size_t k = 0; k < xs.size(); ++k)
    if (in_set(wanted_xs, k)) {
      made.dxs.push_back(static_cast<int>(k));
      by.push_back(xs[k]);
    }
  list<int> found(by.size(), -1);
  if (!ys.empty() && !by.empty()) found = gradients(h, {ys.data(), ys.size()}, {weights.data(), weights.size()}, {by.data(), by.size()});
  for (std::size_t k = 0; k < found.size(); ++k)
    if (found[k] < 0) {
      const tensor_info info = h.at(by[k]).result;
      found[k] = constant(h, info.type, info.extent, 0).index();
    } else if (h.at(found[k]).result.type != h.at(by[k]).result.type) {
      found[k] = cast_to(output(h, found[k]), h.at(by[k]).result.type).index();
    }
  const std::size_t slopes = made.slopes.size();
  list<int> results;  // of a step, in the order of its states and of what it gives
  for (std::size_t k = 0; k < slopes; ++k) results.push_back(found[k]);
  const list<int> summed = made.sums;
  made.sums = {};
  list<int> factors;
  const auto place_of = [&](int factor) {
    std::size_t k = 0;
    while (k < factors.size() && factors[k] != factor) ++k;
    if (k == factors.size()) factors.push_back(factor);
    return static_cast<int>(made.dxs.size() + k);
  };
  for (std::size_t k = 0; k < summed.size(); ++k) {
    const int rest = without_products(h, found[slopes + k], [&](int left, int right) {
      if (!pays_after(h.at(left).result.extent, h.at(right).result.extent, after)) return false;
      const int first = place_of(left);
      made.products.push_back({summed[k], first, place_of(right)});
      return true;
    });
    if (rest < 0) continue;
    made.sums.push_back(summed[k]);
    results.push_back(rest);
  }
  const std::size_t sums = made.sums.size();
  for (std::size_t k = slopes + summed.size(); k < found.size(); ++k) results.push_back(found[k]);
  for (const int f : factors) results.push_back(f);
  // what the gradients read, of the leaves and the kept products
  list<char> live(h.nodes.size(), 0), is_kept(h.nodes.size(), 0);
  for (const int i : taped) is_kept[i] = 1;
  for (const int f : results) live[f] = 1;
  for (int i = h.size(); i-- > 0;)
    if (live[i] != 0 && is_kept[i] == 0)
      for (int k = 0; k < h.at(i).input_count; ++k) live[h.input(h.at(i), k)] = 1;
  const list<char> narrow = narrow_products(h, live, is_kept, results, invariants);
  loop_body& to = made.body;
  list<int> place(h.nodes.size(), -1);
  const auto enter = [&](list<int>& list_of, loop_role role, int i) {
    place[i] = add_loop_input(to.g, role, list_of.size(), h.at(i).result);
    list_of.push_back(place[i]);
  };
  for (std::size_t k = 0; k < made.slopes.size(); ++k) enter(to.states, loop_role::state, weights[k]);
  for (const int k : made.sums) to.states.push_back(add_loop_input(to.g, loop_role::state, to.states.size(), h.at(invariants[k]).result));
  const auto enter_live = [&](const list<int>& leaves, list<int>& which, list<int>& list_of, loop_role role) {
    for (std::size_t k = 0; k < leaves.size(); ++k)
      if (live[leaves[k]] != 0) {
        which.push_back(static_cast<int>(k));
        enter(list_of, role, leaves[k]);
      }
  };
  enter_live(taped, made.tapes, to.xs, loop_role::sequence);
  enter_live(xs, made.xs, to.xs, loop_role::sequence);
  list<int> read;
  for (std::size_t k = 0; k < dys.size(); ++k)
    if (live[dys[k]] != 0) {
      read.push_back(made.dys[k]);
      enter(to.xs, loop_role::sequence, dys[k]);
    }
  made.dys = read;
  enter_live(invariants, made.invariants, to.invariants, loop_role::invariant);
  for (int i = 0; i < h.size(); ++i)
    if (narrow[i] != 0) place[i] = enter_narrow_product(h, i, invariants, place, made);
  copy_needed(h, to.g, place, {results.data(), results.size()});
  for (std::size_t k = 0; k < slopes + sums; ++k) {
    to.next.push_back(place[results[k]]);
    to.adds.push_back(k < slopes ? 0 : 1);
  }
  for (std::size_t k = slopes + sums; k < results.size(); ++k) to.outs.push_back(place[results[k]]);
  to.is_reversed = !b.is_reversed;
  to.is_limited = b.is_limited;
  return made;
}

}  // namespace leat::passes
