#pragma once
// Collectives as operators of typed expressions: in a run of several ranks (communicator.hpp) each operator combines the arrays of all
// ranks into one. All ranks must run the same fetches of the same expressions; sizes of named dimensions, such as the batch, may differ
// between ranks unless they belong to the shape of a collective.
//
//   auto mean_loss = all_reduce<reduce_by::mean>(loss);
//   auto everyones = all_gather<2>(scores);                  // [2 n, ...] on each of two ranks
//   auto same = broadcast(noise);                            // that of rank 0
//
// The gradients are collectives too, so all ranks must also take the same gradients. They are the gradients of the sum over ranks of the
// differentiated expression: the loss of each rank counts.

#include <leat/collective/communicator.hpp>
#include <leat/collective/nccl.hpp>
#include <leat/core/early.hpp>
#include <leat/core/list.hpp>
#include <leat/cpu/interpret/registry.hpp>
#include <leat/ops/print.hpp>

#include <array>

namespace leat {

namespace detail {

constexpr bool is_reduced_type(dtype t) { return t == dtype::float32 || t == dtype::float64 || t == dtype::int32 || t == dtype::int64; }
inline constexpr std::string_view collective_types = "takes float32, float64, int32 and int64";

// The attributes of a collective: its number, and the name for error messages, encoded as `put_text` does.
template <std::int64_t Number, class Name>
struct collective_words {
  static constexpr std::size_t size = 2 + (Name::view().size() + 7) / 8;
  static constexpr auto words = [] {
    leat::detail::list<std::int64_t> all{Number};
    put_text(all, Name::view());
    std::array<std::int64_t, size> fixed{};
    for (std::size_t k = 0; k < all.size(); ++k) fixed[k] = all[k];
    return fixed;
  }();
  template <std::size_t... I>
  static attributes<words[I]...> list(std::index_sequence<I...>);
  using type = decltype(list(std::make_index_sequence<size>{}));
};
template <fixed_string Name>
struct written_name {
  static constexpr std::string_view view() { return Name.view(); }
};
template <std::int64_t Number, fixed_string Name>
using collective_attributes = collective_words<Number, written_name<Name>>;
constexpr bool has_collective_attributes(const operand_list& x) {
  return x.attribute_count >= 2 && x.attribute(1) >= 0 && x.attribute(1) <= 8 * (std::int64_t{x.attribute_count} - 2);
}
// A node of operator `Op` with the attributes of the node that `g` differentiates.
template <class Op, class G>
constexpr output with_attributes_of(const G& g, const output& x) {
  std::vector<std::int64_t> numbers;
  for (int k = 0; k < g.attribute_count(); ++k) numbers.push_back(g.attribute(k));
  return make_node<Op>(numbers, x);
}

inline std::string name_of_step(const kernels::step_numbers& n) {
  std::vector<std::int64_t> words;
  for (int k = 1; k < n.attributes(); ++k) words.push_back(n.attribute(k));
  const auto text = text_in(words.data());
  return {text.begin(), text.end()};
}
inline shape extent_of_step(const kernels::step_numbers& n, int operand) {
  shape s;
  for (int a = 0; a < n.rank(operand); ++a) s.push(n.size(operand, a));
  return s;
}

}  // namespace detail

/// Reduces one operand over the ranks, or several, whose results are concatenated to a vector. Attributes: the `reduce_by`; the name.
struct all_reduce_op {
  static constexpr std::string_view type = "leat.AllReduce";
  static constexpr op_kind kind = op_kind::kernel;
  static constexpr bool may_refuse = true;
  static constexpr inference infer(const operand_list& x) {
    if (!detail::has_collective_attributes(x)) return inference::wrong("without a name");
    std::int64_t all = 0;
    for (int k = 0; k < x.count; ++k) {
      if (!detail::is_reduced_type(x.type(k))) return inference::wrong(detail::collective_types);
      if (x.type(k) != x.type(0)) return inference::wrong("dtypes differ (cast<T>(x) converts)");
      if (x.count > 1 && !x.extent(k).is_static()) return inference::wrong("several arrays of which one has a named dimension");
      if (x.count > 1) all += x.extent(k).elements();
    }
    if (x.count == 1) return {x.type(0), x.extent(0)};
    inference got{x.type(0), {}};
    got.extent.push(all);
    return got;
  }
  template <class G>
  static constexpr void gradient(G& g) {
    const auto how = static_cast<reduce_by>(g.attribute(0));
    std::vector<std::int64_t> numbers{static_cast<std::int64_t>(how == reduce_by::mean ? how : reduce_by::sum)};
    for (int k = 1; k < g.attribute_count(); ++k) numbers.push_back(g.attribute(k));
    // A generic lambda, because clang would otherwise need the operator's gradient while it parses it.
    const auto sum = [&](const auto& x) { return make_node<all_reduce_op>(numbers, x); };
    const output all = sum(g.dy());
    if (g.input_count() == 1) {
      if (how == reduce_by::mean || how == reduce_by::sum) return give(g, 0, all);
      // The gradient goes to the elements that equal the extreme value, in equal shares, as in the gradient of Max.
      const output is_one = select(equal(g.input(0), g.result()), constant_like(g.dy(), 1), constant_like(g.dy(), 0));
      return give(g, 0, all * is_one / sum(is_one));
    }
    std::int64_t at = 0;
    for (int k = 0; k < g.input_count(); ++k) {
      const shape part = g.input(k).extent();
      const std::int64_t piece[]{at, part.elements()};
      at += part.elements();
      if (g.wants(k)) give(g, k, make_node<reshape_op>({part.dim, static_cast<std::size_t>(part.rank)}, make_node<slice_op>(piece, all)));
    }
  }
  static void run_on_host(void* const* p, const kernels::step_numbers& n, dtype t, int inputs) {
    std::vector<shape> extents;
    for (int k = 0; k < inputs; ++k) extents.push_back(detail::extent_of_step(n, k));
    const std::vector<const void*> from(p, p + inputs);
    std::vector<void*> to;
    for (auto* next = static_cast<std::byte*>(p[inputs]); const shape& s : extents) {
      to.push_back(next);
      next += s.elements() * size_of(t);
    }
    collective::communicator::current().all_reduce({detail::name_of_step(n), t, extents}, static_cast<reduce_by>(n.attribute(0)), from, to);
  }
#if defined(LEAT_USE_NCCL) && defined(__CUDACC__)
  template <class T, class Device>
    requires detail::moved_by_nccl<T, Device>
  static void run_on_device(Device& device, void* const* p, const kernels::step_numbers& n, int inputs) {
    std::vector<shape> extents;
    for (int k = 0; k < inputs; ++k) extents.push_back(detail::extent_of_step(n, k));
    const std::vector<const void*> from(p, p + inputs);
    collective::device_collectives::current().all_reduce<T>({detail::name_of_step(n), dtype_of<T>, extents},
                                                            static_cast<reduce_by>(n.attribute(0)), from, static_cast<T*>(p[inputs]),
                                                            device.stream());
  }
#endif
};

struct all_gather_op;
struct sum_to_root_op;

/// The sum over ranks of an array that holds the rows of all ranks, of which each rank keeps its own rows: the gradient of `all_gather`.
/// Attributes: the number of ranks, negative if a row is a scalar; the name.
struct sum_to_rows_op {
  static constexpr std::string_view type = "leat.AllGatherGradient";
  static constexpr op_kind kind = op_kind::kernel;
  static constexpr bool may_refuse = true;
  static constexpr inference infer(const operand_list& x) {
    if (!detail::has_collective_attributes(x)) return inference::wrong("without a name");
    const auto ranks = x.attribute(0) < 0 ? -x.attribute(0) : x.attribute(0);
    inference got{x.type(0), x.extent(0)};
    if (!detail::is_reduced_type(got.type)) return inference::wrong(detail::collective_types);
    if (ranks < 1 || got.extent.rank < 1 || got.extent[0] < 0 || got.extent[0] % ranks != 0)
      return inference::wrong("rows that are not as many for each rank");
    if (x.attribute(0) > 0) {
      got.extent.dim[0] /= ranks;
      return got;
    }
    if (got.extent.rank != 1 || got.extent[0] != ranks) return inference::wrong("scalars that are not one for each rank");
    return {got.type, {}};
  }
  template <class G>
  static constexpr void gradient(G& g) {
    if (g.wants(0)) give(g, 0, detail::with_attributes_of<all_gather_op>(g, g.dy()));
  }
  static void run_on_host(void* const* p, const kernels::step_numbers& n, dtype t, int inputs);
};

/// The concatenated arrays of all ranks. Attributes: the number of ranks, negative for a scalar; the name.
struct all_gather_op {
  static constexpr std::string_view type = "leat.AllGather";
  static constexpr op_kind kind = op_kind::kernel;
  static constexpr bool may_refuse = true;
  static constexpr inference infer(const operand_list& x) {
    if (!detail::has_collective_attributes(x)) return inference::wrong("without a name");
    const auto ranks = x.attribute(0) < 0 ? -x.attribute(0) : x.attribute(0);
    inference got{x.type(0), x.extent(0)};
    if (!detail::is_reduced_type(got.type)) return inference::wrong(detail::collective_types);
    if (ranks < 1 || ranks > (std::int64_t{1} << 24)) return inference::wrong("a number of ranks that is not positive");
    if ((got.extent.rank == 0) != (x.attribute(0) < 0)) return inference::wrong("a scalar's rows, or an array's");
    if (got.extent.rank == 0) got.extent.push(ranks);
    else if (got.extent[0] < 0) return inference::wrong("the first dimension has a name: how many rows all ranks have is not known");
    else if (got.extent[0] > max_elements / ranks) return inference::wrong("a result of more than 2^44 elements");
    else got.extent.dim[0] *= ranks;
    return got;
  }
  template <class G>
  static constexpr void gradient(G& g) {
    if (g.wants(0)) give(g, 0, detail::with_attributes_of<sum_to_rows_op>(g, g.dy()));
  }
  static void check_ranks(const kernels::step_numbers& n) {
    const auto asked = n.attribute(0) < 0 ? -n.attribute(0) : n.attribute(0);
    const int size = collective::communicator::current().size();
    if (asked != size)
      throw invalid_argument("all_gather<" + std::to_string(asked) + "> in a run of " + std::to_string(size) +
                             (size == 1 ? " rank" : " ranks"));
  }
  static void run_on_host(void* const* p, const kernels::step_numbers& n, dtype t, int) {
    check_ranks(n);
    const shape extent = detail::extent_of_step(n, 0);
    collective::communicator::current().all_gather({detail::name_of_step(n), t, {&extent, 1}}, p[0],
                                                   [&](std::span<const std::int64_t>) { return p[1]; });
  }
#if defined(LEAT_USE_NCCL) && defined(__CUDACC__)
  template <class T, class Device>
    requires detail::moved_by_nccl<T, Device>
  static void run_on_device(Device& device, void* const* p, const kernels::step_numbers& n, int) {
    check_ranks(n);
    const shape extent = detail::extent_of_step(n, 0);
    collective::device_collectives::current().all_gather<T>({detail::name_of_step(n), dtype_of<T>, {&extent, 1}},
                                                            static_cast<const T*>(p[0]), static_cast<T*>(p[1]), device.stream());
  }
#endif
};

inline void sum_to_rows_op::run_on_host(void* const* p, const kernels::step_numbers& n, dtype t, int) {
  all_gather_op::check_ranks(n);
  const shape extent = detail::extent_of_step(n, 1);
  collective::communicator::current().sum_to_rows({detail::name_of_step(n), t, {&extent, 1}}, p[0], p[1]);
}

namespace detail {
// Base of operators with a result like the operand; the first attribute is the root.
struct rooted_collective {
  static constexpr op_kind kind = op_kind::kernel;
  static constexpr bool may_refuse = true;
  static constexpr inference infer(const operand_list& x) {
    if (!has_collective_attributes(x)) return inference::wrong("without a name");
    if (!is_reduced_type(x.type(0))) return inference::wrong(collective_types);
    if (x.attribute(0) < 0 || x.attribute(0) > (1 << 24)) return inference::wrong("a root that is no rank");
    return {x.type(0), x.extent(0)};
  }
};
}  // namespace detail

/// The array of one rank. Attributes: the rank; the name.
struct broadcast_op : detail::rooted_collective {
  static constexpr std::string_view type = "leat.Broadcast";
  template <class G>
  static constexpr void gradient(G& g) {
    if (g.wants(0)) give(g, 0, detail::with_attributes_of<sum_to_root_op>(g, g.dy()));
  }
  static void run_on_host(void* const* p, const kernels::step_numbers& n, dtype t, int) {
    const shape extent = detail::extent_of_step(n, 0);
    collective::communicator::current().broadcast({detail::name_of_step(n), t, {&extent, 1}}, static_cast<int>(n.attribute(0)), p[0], p[1]);
  }
#if defined(LEAT_USE_NCCL) && defined(__CUDACC__)
  template <class T, class Device>
    requires detail::moved_by_nccl<T, Device>
  static void run_on_device(Device& device, void* const* p, const kernels::step_numbers& n, int) {
    const shape extent = detail::extent_of_step(n, 0);
    collective::device_collectives::current().broadcast<T>({detail::name_of_step(n), dtype_of<T>, {&extent, 1}},
                                                           static_cast<int>(n.attribute(0)), static_cast<const T*>(p[0]),
                                                           static_cast<T*>(p[1]), device.stream());
  }
#endif
};
/// The sum over ranks on one rank, zeros elsewhere: the gradient of `broadcast`. Attributes: as of broadcast_op.
struct sum_to_root_op : detail::rooted_collective {
  static constexpr std::string_view type = "leat.BroadcastGradient";
  template <class G>
  static constexpr void gradient(G& g) {
    if (g.wants(0)) give(g, 0, detail::with_attributes_of<broadcast_op>(g, g.dy()));
  }
  static void run_on_host(void* const* p, const kernels::step_numbers& n, dtype t, int) {
    const shape extent = detail::extent_of_step(n, 0);
    collective::communicator::current().sum_to_root({detail::name_of_step(n), t, {&extent, 1}}, static_cast<int>(n.attribute(0)), p[0],
                                                    p[1]);
  }
};

/// Reduces x over all ranks, element by element; the result is equal on all of them. The mean of integers is rounded toward zero. `Name`
/// appears in error messages.
/// Shapes: any, the same on all ranks; the result is like x. Dtypes: float32, float64, int32, int64. Errors, in a run: those of
/// `collective::communicator`. Gradient: the gradient reduced in the same way; for minimum and maximum, its sum, distributed in equal
/// shares to the elements that equal the result. Source: Horovod `allreduce`.
template <reduce_by How = reduce_by::sum, fixed_string Name = fixed_string(""), tensor_expression X>
  requires accepted_with<all_reduce_op, typename detail::collective_attributes<static_cast<int>(How), Name>::type, X>
constexpr auto all_reduce(const X& x) {
  return make<all_reduce_op, typename detail::collective_attributes<static_cast<int>(How), Name>::type>(x);
}
template <reduce_by How = reduce_by::sum, fixed_string Name = fixed_string(""), tensor_expression X>
  requires refused_with<all_reduce_op, typename detail::collective_attributes<static_cast<int>(How), Name>::type, X>
why_with<all_reduce_op, typename detail::collective_attributes<static_cast<int>(How), Name>::type, X> all_reduce(const X&) = delete;

/// Concatenates the arrays of all ranks, in the order of ranks; `Ranks` is the number of ranks.
/// Shapes: x [n, d1, …], the same on all ranks, or [], a scalar; result [Ranks n, d1, …], or [Ranks]. Dtypes: float32, float64, int32,
/// int64. Errors, in a run: those of `collective::communicator`, and invalid_argument if the number of ranks is not `Ranks`. Gradient: this
/// rank's rows of the gradients' sum over ranks. Source: Horovod `allgather`.
template <int Ranks, fixed_string Name = fixed_string(""), tensor_expression X>
  requires accepted_with<all_gather_op, typename detail::collective_attributes<X::rank == 0 ? -Ranks : Ranks, Name>::type, X>
constexpr auto all_gather(const X& x) {
  return make<all_gather_op, typename detail::collective_attributes<X::rank == 0 ? -Ranks : Ranks, Name>::type>(x);
}
template <int Ranks, fixed_string Name = fixed_string(""), tensor_expression X>
  requires refused_with<all_gather_op, typename detail::collective_attributes<X::rank == 0 ? -Ranks : Ranks, Name>::type, X>
why_with<all_gather_op, typename detail::collective_attributes<X::rank == 0 ? -Ranks : Ranks, Name>::type, X> all_gather(const X&) = delete;

/// Copies the array of rank `Root` to all ranks. Shapes: any, the same on all ranks; the result is like x. Dtypes: float32, float64, int32,
/// int64. Errors, in a run: those of `collective::communicator`. Gradient: on the root the gradients' sum over ranks, zeros elsewhere.
/// Source: Horovod `broadcast`.
template <int Root = 0, fixed_string Name = fixed_string(""), tensor_expression X>
  requires accepted_with<broadcast_op, typename detail::collective_attributes<Root, Name>::type, X>
constexpr auto broadcast(const X& x) {
  return make<broadcast_op, typename detail::collective_attributes<Root, Name>::type>(x);
}
template <int Root = 0, fixed_string Name = fixed_string(""), tensor_expression X>
  requires refused_with<broadcast_op, typename detail::collective_attributes<Root, Name>::type, X>
why_with<broadcast_op, typename detail::collective_attributes<Root, Name>::type, X> broadcast(const X&) = delete;

namespace detail {

template <class Op>
struct host_kernel_of {
  template <dtype D>
  static void run(void* const* p, const kernels::step_numbers& n, int count) {
    Op::run_on_host(p, n, D, count - 1);
  }
  static cpu::kernel_function find(const dtype* t, int) {
    switch (t[0]) {
      case dtype::float32: return &run<dtype::float32>;
      case dtype::float64: return &run<dtype::float64>;
      case dtype::int32: return &run<dtype::int32>;
      case dtype::int64: return &run<dtype::int64>;
      default: return nullptr;
    }
  }
};
template <class... Ops>
void enter_collectives() {
  (register_expression_operator<Ops>(), ...);
  (cpu::detail::enter_functions(operator_record<Ops>::code, {nullptr, nullptr, &host_kernel_of<Ops>::find}), ...);
}
LEAT_EARLY inline const filled_early collectives_known{
    [] { enter_collectives<all_reduce_op, all_gather_op, sum_to_rows_op, broadcast_op, sum_to_root_op>(); }};

}  // namespace detail

}  // namespace leat
