#pragma once
// Nodes with dtypes beyond those of typed expressions. Those with narrow dtypes (half, bfloat16, int8, int16, uint16, uint32, uint64) have
// no kernels of their own. Such a node runs as its twin: the same node with the wide dtypes in place of the narrow ones (`wide_dtype`).
// Inputs are widened, the twin's kernel runs, and its results are narrowed: real numbers are rounded, integers wrap, as in TensorFlow. So a
// sum of halves is computed in float32 and rounded once. Nodes that only pass elements on run as they are, on the elements' bits. Nodes
// with complex dtypes run in kernels of their own (complex.hpp); those that only move elements, as twins by their bits or by their parts
// (complex_twins.hpp). A plan decides this for each of its nodes, so that other nodes pay nothing.

#include <leat/named/graph/named.hpp>
#include <leat/proto/narrow_attributes.hpp>
#include <leat/runtime/kernels/kernel.hpp>
#include <leat/runtime/kernels/node_program.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <deque>
#include <limits>
#include <mutex>
#include <span>
#include <vector>

namespace leat::runtime {

/// How a node runs with regard to narrow and complex dtypes.
enum class narrow_way {
  none,           // it has none
  bits,           // its kernel passes elements on, or looks at shapes only, whatever their dtype
  twin,           // as its twin with wide dtypes
  complex_own,    // in its operator's kernel for complex dtypes
  complex_bits,   // as its twin that takes complex64 for int64
  complex_parts,  // as its twin of real dtypes, once for the real parts and once for the imaginary ones
  refused         // there is no kernel
};

namespace narrow {

/// How run-time values and attributes are exchanged for those of a twin: a narrow dtype for its wide one.
struct widening {
  static constexpr bool adapts = true;
  static constexpr dtype other(dtype d) { return wide_dtype(d); }
  static tensor_value there(const tensor_value& v) { return v.widened(); }
  static tensor_value back(const tensor_value& v, dtype to) { return v.narrowed(to_data_type(to)); }
};

/// A node's twin, with its kernel.
struct twin final : kernel_memory {
  node_record record;
  kernel_node node;
  const operator_kernel* run = nullptr;
  dtype named = dtype::invalid;  // the attribute T
  const facts* what = nullptr;   // the operator's
};
template <class Exchange>
twin& twin_of(kernel_node& node) {
  const std::lock_guard lock(node.guard);
  if (node.memory == nullptr) {
    static const operator_kernel definition = run_definition;
    auto made = std::make_unique<twin>();
    made->what = &node.owner->at(node.index).op->what;
    made->record.attributes = with_other_dtypes(node.record->attributes, Exchange::other);
    if (made->what->by_width == width_rule::cast) made->record.attributes.erase("Truncate");  // see `adapt_result`
    made->record.made_at = node.record->made_at;
    made->record.results = node.record->results;
    made->record.number_inputs = node.record->number_inputs;
    made->record.complete = node.record->complete;
    made->node.owner = node.owner;
    made->node.index = node.index;
    made->node.type = node.type;
    made->node.record = &made->record;
    made->run = find_kernel(node.type);
    if (made->run == nullptr) made->run = &definition;
    made->named = node.type_of("T");
    node.memory = std::move(made);
  }
  return static_cast<twin&>(*node.memory);
}

/// A variable that a kernel sees with another dtype, while the kernel runs.
struct wide_variable {
  variable_slot* narrow = nullptr;
  std::unique_ptr<variable_slot> wide;
  bool is_written = false;
};

inline void exchange_signs(tensor_value& v) {
  for (std::int64_t& x : v.values<std::int64_t>()) x ^= std::numeric_limits<std::int64_t>::min();
}

/// Changes an input where TensorFlow's result depends on the width of an element.
inline void adapt_input(const facts& what, int k, dtype narrow, tensor_value& wide) {
  const int bits = 8 * element_bytes(narrow);
  const bool is_uint64 = to_data_type(narrow) == data_type::uint64;
  const auto each = [&](auto change) {
    with_index(wide.type(), [&]<class T>(T) {
      for (T& x : wide.values<T>()) x = change(x);
    });
  };
  if (k == 1 && what.by_width == width_rule::shift)
    each([&]<class T>(T x) { return is_uint64 && x < 0 ? static_cast<T>(63) : std::clamp<T>(x, 0, static_cast<T>(bits - 1)); });
  if (what.by_width == width_rule::bit_count && bits < 32) each([&]<class T>(T x) { return static_cast<T>(x & ((T(1) << bits) - 1)); });
  if (is_uint64 && what.narrow == narrow_rule::ordered) exchange_signs(wide);
}

/// The least and greatest number of a narrow dtype; finite ones.
inline std::pair<double, double> range_of_narrow(data_type type) {
  switch (type) {
    case data_type::half: return {-65504.0, 65504.0};
    case data_type::bfloat16: return {-0x1.fep127, 0x1.fep127};
    case data_type::int8: return {-128, 127};
    case data_type::int16: return {-32768, 32767};
    case data_type::uint16: return {0, 65535};
    default: return {0, 4294967295.0};  // uint32
  }
}

/// Changes a twin's result, before it is narrowed, to what TensorFlow computes with the narrow dtype.
inline void adapt_result(const facts& what, bool truncates, dtype narrow, tensor_value& wide) {
  const data_type to = to_data_type(narrow);
  const bool is_real = wide.type() == dtype::float32;
  const auto change = [&]<class T>(T, auto f) {
    if (!wide.is_alone()) wide = wide.copy();
    for (T& x : wide.values<T>()) x = f(x);
  };
  if (to == data_type::uint64) {
    if (what.narrow == narrow_rule::ordered)
      change(std::int64_t{}, [](std::int64_t x) { return x ^ std::numeric_limits<std::int64_t>::min(); });
    return;
  }
  if (what.by_width == width_rule::finite_extreme || (what.by_width == width_rule::extreme && !is_real))
    with_number(wide.type(), [&]<class T>(T zero) {
      const auto [least, most] = range_of_narrow(to);
      change(zero, [low = static_cast<T>(least), high = static_cast<T>(most)](T x) { return std::clamp(x, low, high); });
    });
  if (is_real && what.by_width == width_rule::uniform) {
    // Of the same random bits, a half takes the last 10 and a bfloat16 the last 7. Rounded numbers might be 1.
    const int fraction = to == data_type::half ? 10 : 7;
    const std::uint32_t mask = (1u << fraction) - 1;
    change(float{}, [&](float x) { return std::ldexp(static_cast<float>(static_cast<std::uint32_t>(x * 0x1p23f) & mask), -fraction); });
  }
  if (is_real && truncates) {
    const std::uint32_t mask = to == data_type::half ? ~0x1fffu : ~0xffffu;
    change(float{}, [&](float x) { return std::bit_cast<float>(std::bit_cast<std::uint32_t>(x) & mask); });
  }
}

/// Casts between uint64 and real numbers, for which int64 is no twin. Returns false for others.
inline bool cast_of_64_bits(kernel_context& c) {
  const auto from = to_data_type(c.node.type_of("SrcT")), to = to_data_type(c.node.type_of("DstT"));
  const auto is_real = [](data_type type) {
    return type == data_type::float32 || type == data_type::float64 || type == data_type::half || type == data_type::bfloat16;
  };
  if (from == data_type::uint64 && is_real(to)) {
    const tensor_value x = c.input(0).widened();
    tensor_value made(to == data_type::float64 ? dtype::float64 : dtype::float32, x.extent());
    with_fraction(made.type(), [&]<class T>(T) {
      std::transform(x.values<std::int64_t>().begin(), x.values<std::int64_t>().end(), made.values<T>().begin(),
                     [](std::int64_t bits) { return static_cast<T>(static_cast<std::uint64_t>(bits)); });
    });
    c.set(0, is_narrow(static_cast<dtype>(to)) ? made.narrowed(to) : std::move(made));
    return true;
  }
  if (to == data_type::uint64 && is_real(from)) {
    const tensor_value x = c.input(0).widened();
    tensor_value made(dtype::int64, x.extent());
    with_fraction(x.type(), [&]<class T>(T) {
      std::transform(x.values<T>().begin(), x.values<T>().end(), made.values<std::int64_t>().begin(), [](T value) {
        if (value >= T(0x1p64) || value <= T(-0x1p63) || std::isnan(value)) return std::numeric_limits<std::int64_t>::min();
        return value < T(0x1p63) ? static_cast<std::int64_t>(value) : static_cast<std::int64_t>(static_cast<std::uint64_t>(value));
      });
    });
    c.set(0, made.narrowed(to));
    return true;
  }
  return false;
}

/// Runs a node as its twin.
template <class Exchange>
void run_as_twin(kernel_context& c) {
  twin& its = twin_of<Exchange>(c.node);
  const bool is_cast = its.what->by_width == width_rule::cast;
  if (Exchange::adapts && is_cast && cast_of_64_bits(c)) return;
  const graph& g = *c.node.owner;
  const int count = c.input_count();
  const input_set written = its.what->written.among(count);
  std::vector<token> inputs(static_cast<std::size_t>(count)), results(static_cast<std::size_t>(c.result_count()));
  std::deque<wide_variable> variables;
  const auto variable_for = [&](variable_slot* narrow) -> wide_variable& {
    for (wide_variable& v : variables)
      if (v.narrow == narrow) return v;
    return variables.emplace_back(
        wide_variable{narrow, std::make_unique<variable_slot>(narrow->name(), Exchange::other(narrow->type()), narrow->extent()), false});
  };
  // First what is only read: reading takes the locks that are held for what is written.
  for (int k = 0; k < count; ++k) {
    const token& from = c.incoming(k);
    token& to = inputs[static_cast<std::size_t>(k)];
    to.dead = from.dead;
    to.variable = from.variable;
    const bool is_narrow_variable = from.variable != nullptr && Exchange::other(from.variable->type()) != dtype::invalid;
    if (is_narrow_variable) to.variable = variable_for(from.variable).wide.get();
    if (is_narrow_variable && written.contains(static_cast<std::uint64_t>(k))) {
      variable_for(from.variable).is_written = true;
      continue;
    }
    to.value = Exchange::there(is_narrow_variable ? c.input(k) : from.value);
    if (is_narrow_variable) to.variable->adopt(to.value);
    if constexpr (Exchange::adapts)
      if (const dtype was = is_narrow_variable ? from.variable->type() : from.value.type(); is_narrow(was))
        adapt_input(*its.what, k, was, to.value);
  }
  std::sort(variables.begin(), variables.end(), [](const wide_variable& a, const wide_variable& b) { return a.narrow < b.narrow; });
  std::vector<std::unique_lock<std::mutex>> locks;
  for (wide_variable& v : variables) {
    if (!v.is_written) continue;
    locks.emplace_back(v.narrow->guard());
    if (v.narrow->locked_value()) v.wide->adopt(Exchange::there(v.narrow->locked_value()));
  }

  kernel_context wide(its.node, c.step, inputs, results);
  (*its.run)(wide);

  // All values are made before one is stored, because there may be no memory.
  for (wide_variable& v : variables)
    if (v.is_written)
      if (tensor_value& now = v.wide->locked_value()) now = Exchange::back(now, v.narrow->type());
  for (wide_variable& v : variables)
    if (v.is_written) v.narrow->locked_value() = std::move(v.wide->locked_value());
  locks.clear();
  const auto further = c.node.record->further();
  for (int k = 0; k < c.result_count(); ++k) {
    token& t = results[static_cast<std::size_t>(k)];
    const auto at = static_cast<std::size_t>(k);
    dtype said = k == 0 ? g.at(c.node.index).result.type : at <= further.size() ? further[at - 1].type : dtype::invalid;
    said = static_cast<dtype>(base_of(to_data_type(said)));
    if (said == dtype::invalid && t.value && t.value.type() == Exchange::other(its.named)) said = its.named;
    for (const wide_variable& v : variables)
      if (t.variable == v.wide.get()) t.variable = v.narrow;
    if (t.value && Exchange::other(said) != dtype::invalid && t.value.type() == Exchange::other(said)) {
      if constexpr (Exchange::adapts) adapt_result(*its.what, is_cast && c.node.flag("Truncate"), said, t.value);
      t.value = Exchange::back(t.value, said);
    }
    c.set_token(k, std::move(t));
  }
}

}  // namespace narrow

/// How a node with complex dtypes runs, unless it takes any dtype.
inline narrow_way complex_way_of(const op_info& op, bool has_complex128) {
  if (find_complex_kernel(op.type) != nullptr) return narrow_way::complex_own;
  const bool moves = op.what.narrow == narrow_rule::moves || op.what.is_of_stack();
  // What keeps values between its calls, such as a queue, keeps them as they are; tensor arrays also add them.
  const bool keeps = op.what.is == nature::inert || (op.what.is == nature::effect && op.what.written.empty());
  if (keeps && (moves || op.what.narrow == narrow_rule::exact)) return narrow_way::bits;
  if (!moves) return narrow_way::refused;
  if (!has_complex128) return narrow_way::complex_bits;
  return op.what.is_pure() || op.what.is == nature::observes ? narrow_way::complex_parts : narrow_way::refused;
}

/// How a node of these dtypes runs. `gives(k)` is the dtype of result `k`, `takes(k)` that of input `k`.
template <class Gives, class Takes>
narrow_way narrow_way_of(const op_info& op, const attribute_map& attributes, int results, Gives gives, int inputs, Takes takes) {
  bool has_narrow = false, has_uint64 = false, has_quantized = false, has_complex = false, has_complex128 = false;
  const auto meet = [&](dtype type) {
    type = static_cast<dtype>(base_of(to_data_type(type)));
    has_complex = has_complex || is_complex(type);
    has_complex128 = has_complex128 || type == complex128_dtype;
    has_narrow = has_narrow || is_narrow(type);
    has_uint64 = has_uint64 || to_data_type(type) == data_type::uint64;
    has_quantized = has_quantized || is_quantized(type);
  };
  for (int k = 0; k < results; ++k) meet(gives(k));
  for (int k = 0; k < inputs; ++k) meet(takes(k));
  for_each_dtype(attributes, meet);
  if (!has_narrow && !has_complex) return narrow_way::none;
  if (op.what.takes_any_dtype() || op.kind == op_kind::placeholder || op.kind == op_kind::constant || op.kind == op_kind::variable ||
      op.kind == op_kind::identity)
    return narrow_way::bits;
  if (has_complex) return complex_way_of(op, has_complex128);
  const bool keeps = op.what.keeps_uint64();
  if (op.what.narrow == narrow_rule::refused || (has_quantized && !keeps) ||
      (has_uint64 && !keeps && op.what.narrow != narrow_rule::ordered))
    return narrow_way::refused;
  return narrow_way::twin;
}

}  // namespace leat::runtime
