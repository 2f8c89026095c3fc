#pragma once
// Nodes with narrow dtypes (half, bfloat16, int8, int16, uint16, uint32, uint64), for which no operator has a kernel of its own. Such a node
// runs as its twin: the same node with the wide dtypes in place of the narrow ones (`wide_dtype`). Inputs are widened, the twin's kernel
// runs, and its results are narrowed: real numbers are rounded, integers wrap, as in TensorFlow. So a sum of halves is computed in float32
// and rounded once. Nodes that only pass elements on run as they are, on the elements' bits. A plan decides this for each of its nodes, so
// that other nodes pay nothing.

#include <leat/named/graph/named.hpp>
#include <leat/proto/narrow_attributes.hpp>
#include <leat/runtime/kernels/kernel.hpp>
#include <leat/runtime/kernels/node_program.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <deque>
#include <limits>
#include <mutex>
#include <span>
#include <vector>

namespace leat::runtime {

/// How a node runs with regard to narrow dtypes.
enum class narrow_way {
  none,   // it has none
  bits,   // its kernel passes elements on, or looks at shapes only, whatever their dtype
  twin,   // as its twin with wide dtypes
  refused // there is no kernel
};

namespace narrow {

// Whose kernels take and give elements of any dtype. Those of files, images and host functions check dtypes themselves.
inline constexpr std::string_view on_bits[]{
    "Assign",          "AssignVariableOp",   "Bitcast",          "DecodeImage",      "DecodePng",           "DecodeRaw",           "DeepCopy",
    "DestroyResourceOp", "DestroyTemporaryVariable", "DisableCopyOnRead", "EncodePng", "EnsureShape",      "ExpandDims",
    "IdentityN",       "IsVariableInitialized", "IteratorGetNext", "IteratorV2",     "OneShotIterator",     "MakeIterator",
    "PlaceholderWithDefault", "PreventGradient", "PyFunc",       "PyFuncStateless",  "Rank",                "ReadVariableOp",
    "Reshape",         "Restore",            "RestoreSlice",     "RestoreV2",        "Save",                "SaveSlices",
    "SaveV2",          "Shape",              "ShapeN",           "Size",             "Snapshot",            "Squeeze",
    "StopGradient",    "TemporaryVariable",  "VarHandleOp",      "VarIsInitializedOp", "VariableShape",     "_Recv",
    "_Send"};
// Whose results depend on how many bits an element has, or on random bits that they draw for it.
inline constexpr std::string_view refused[]{"DecodePaddedRaw", "Fingerprint", "StatelessRandomUniformFullInt",
                                            "StatelessRandomUniformFullIntV2", "StatelessRandomUniformInt",
                                            "StatelessRandomUniformIntV2"};
// Of which the bits of a uint64, computed with as an int64, give the right bits.
inline constexpr std::string_view exact_in_64_bits[]{
    "Add",          "AddN",          "AddV2",         "AssignAdd",     "AssignAddVariableOp", "AssignSub",    "AssignSubVariableOp",
    "BitwiseAnd",   "BitwiseOr",     "BitwiseXor",    "BiasAdd",      "BroadcastTo",   "Cast",                "Concat",       "ConcatV2",
    "Cumsum",       "DynamicPartition", "DynamicStitch", "Empty",      "Equal",               "Fill",         "Gather",
    "GatherNd",     "GatherV2",      "Invert",        "LeftShift",     "MirrorPad",           "Mul",          "Neg",
    "NotEqual",     "OneHot",        "OnesLike",      "Pack",          "Pad",                 "PadV2",        "PopulationCount",
    "Prod",         "ResourceGather", "ResourceScatterAdd", "ResourceScatterSub", "ResourceScatterUpdate", "Reverse", "ReverseV2",
    "Roll",         "ScatterAdd",    "ScatterNd",     "ScatterSub",    "ScatterUpdate",       "Select",       "SelectV2",
    "Slice",        "Split",         "SplitV",        "Square",        "StridedSlice",        "Sub",          "Sum",
    "Tile",         "Transpose",     "Unpack",        "Where",         "ZerosLike",     "BatchToSpaceND",      "DepthToSpace",
    "MatrixBandPart", "SegmentProd", "SegmentSum",    "SpaceToBatchND", "SpaceToDepth", "Unique",              "UniqueV2",
    "UniqueWithCounts", "UnsortedSegmentProd", "UnsortedSegmentSum"};
// Which only compare elements: right if the sign bits of all are exchanged, so that the order of int64 is that of uint64.
inline constexpr std::string_view ordered[]{"ArgMax",    "ArgMin",  "Greater",   "GreaterEqual", "Less", "LessEqual",          "Max",
                                            "Maximum",   "Min",     "Minimum",   "MaxPool",      "TopK", "TopKV2",             "ClipByValue",
                                            "SegmentMaxV2", "SegmentMinV2", "UnsortedSegmentMax", "UnsortedSegmentMin"};

inline bool is_among(std::span<const std::string_view> list, std::string_view type) {
  return std::find(list.begin(), list.end(), type) != list.end();
}
inline bool is_exact_in_64_bits(std::string_view type) {
  return is_among(exact_in_64_bits, type) || is_among(ordered, type) || type.starts_with("TensorArray") || type.starts_with("TensorList") ||
         type.starts_with("Stack") || type.find("Queue") != type.npos;
}

/// A node's twin, with its kernel.
struct twin final : kernel_memory {
  node_record record;
  kernel_node node;
  const operator_kernel* run = nullptr;
  dtype named = dtype::invalid;  // the attribute T
};
inline twin& twin_of(kernel_node& node) {
  const std::lock_guard lock(node.guard);
  if (node.memory == nullptr) {
    static const operator_kernel definition = run_definition;
    auto made = std::make_unique<twin>();
    made->record.attributes = with_wide_dtypes(node.record->attributes);
    if (node.type == "Cast") made->record.attributes.erase("Truncate");  // see `adapt_result`
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

/// A narrow variable that a kernel sees as a wide one, while the kernel runs.
struct wide_variable {
  variable_slot* narrow = nullptr;
  std::unique_ptr<variable_slot> wide;
  bool is_written = false;
};

inline void exchange_signs(tensor_value& v) {
  for (std::int64_t& x : v.values<std::int64_t>()) x ^= std::numeric_limits<std::int64_t>::min();
}

/// What TensorFlow computes from the bits of an element.
inline void adapt_input(const kernel_node& node, int k, dtype narrow, tensor_value& wide) {
  const int bits = 8 * element_bytes(narrow);
  const auto each = [&](auto change) {
    with_index(wide.type(), [&]<class T>(T) {
      for (T& x : wide.values<T>()) x = change(x);
    });
  };
  const bool is_unsigned_64 = to_data_type(narrow) == data_type::uint64;
  // A shift is by at most the bits of an element less one.
  if (k == 1 && (node.type == "LeftShift" || node.type == "RightShift"))
    each([&]<class T>(T x) { return is_unsigned_64 && x < 0 ? static_cast<T>(63) : std::clamp<T>(x, 0, static_cast<T>(bits - 1)); });
  if (is_unsigned_64 && is_among(ordered, node.type)) exchange_signs(wide);
  if (node.type == "PopulationCount" && bits < 32) each([&]<class T>(T x) { return static_cast<T>(x & ((T(1) << bits) - 1)); });
}

/// A twin's result before it is narrowed.
inline void adapt_result(const kernel_node& node, dtype narrow, tensor_value& wide) {
  const std::string_view type = node.type;
  const auto own = [&] {
    if (!wide.is_alone()) wide = wide.copy();
  };
  const data_type to = to_data_type(narrow);
  if (to == data_type::uint64) {
    if (!is_among(ordered, type)) return;
    own();
    exchange_signs(wide);
  } else if (wide.type() == dtype::int32 && (type == "Max" || type == "Min" || type == "UnsortedSegmentMax" || type == "UnsortedSegmentMin")) {
    // Of no elements: the least or greatest number of the narrow dtype.
    const std::int32_t least = to == data_type::int8 ? -128 : to == data_type::int16 ? -32768 : 0;
    const std::int32_t most = to == data_type::int8 ? 127 : to == data_type::int16 ? 32767 : 65535;
    own();
    for (std::int32_t& x : wide.values<std::int32_t>()) x = std::clamp(x, least, most);
  } else if (wide.type() == dtype::int64 && to == data_type::uint32 &&
             (type == "Max" || type == "Min" || type == "UnsortedSegmentMax" || type == "UnsortedSegmentMin")) {
    own();
    for (std::int64_t& x : wide.values<std::int64_t>()) x = std::clamp<std::int64_t>(x, 0, 0xffffffff);
  } else if (wide.type() == dtype::float32 && (type == "UnsortedSegmentMax" || type == "UnsortedSegmentMin")) {
    // Of no elements: the least or greatest finite number.
    const float most = to == data_type::half ? 65504.0f : 0x1.fep127f;
    own();
    for (float& x : wide.values<float>()) x = type == "UnsortedSegmentMax" ? std::max(x, -most) : std::min(x, most);
  } else if (wide.type() == dtype::float32 && (type == "RandomUniform" || type.starts_with("StatelessRandomUniform"))) {
    // The same random bits, of which a half takes the last 10 and a bfloat16 the last 7: rounded numbers might be 1.
    const int fraction = to == data_type::half ? 10 : 7;
    const std::uint32_t mask = (1u << fraction) - 1;
    own();
    for (float& x : wide.values<float>())
      x = std::ldexp(static_cast<float>(static_cast<std::uint32_t>(x * 0x1p23f) & mask), -fraction);
  } else if (wide.type() == dtype::float32 && type == "Cast" && node.flag("Truncate")) {
    const std::uint32_t mask = to == data_type::half ? ~0x1fffu : ~0xffffu;
    own();
    for (float& x : wide.values<float>()) x = std::bit_cast<float>(std::bit_cast<std::uint32_t>(x) & mask);
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
inline void run_as_twin(kernel_context& c) {
  if (c.node.type == "Cast" && cast_of_64_bits(c)) return;
  twin& its = twin_of(c.node);
  const graph& g = *c.node.owner;
  const int count = c.input_count();
  const input_set written = g.at(c.node.index).op->what.written.among(count);
  std::vector<token> inputs(static_cast<std::size_t>(count)), results(static_cast<std::size_t>(c.result_count()));
  std::deque<wide_variable> variables;
  const auto variable_for = [&](variable_slot* narrow) -> wide_variable& {
    for (wide_variable& v : variables)
      if (v.narrow == narrow) return v;
    return variables.emplace_back(narrow, std::make_unique<variable_slot>(narrow->name(), wide_dtype(narrow->type()), narrow->extent()));
  };
  // First what is only read: reading takes the locks that are held for what is written.
  for (int k = 0; k < count; ++k) {
    const token& from = c.incoming(k);
    token& to = inputs[static_cast<std::size_t>(k)];
    to.dead = from.dead;
    to.variable = from.variable;
    const bool is_narrow_variable = from.variable != nullptr && is_narrow(from.variable->type());
    if (is_narrow_variable) to.variable = variable_for(from.variable).wide.get();
    if (is_narrow_variable && written.contains(static_cast<std::uint64_t>(k))) {
      variable_for(from.variable).is_written = true;
      continue;
    }
    to.value = (is_narrow_variable ? c.input(k) : from.value).widened();
    if (is_narrow_variable) to.variable->adopt(to.value);
    if (const dtype was = is_narrow_variable ? from.variable->type() : from.value.type(); is_narrow(was))
      adapt_input(c.node, k, was, to.value);
  }
  std::sort(variables.begin(), variables.end(), [](const wide_variable& a, const wide_variable& b) { return a.narrow < b.narrow; });
  std::vector<std::unique_lock<std::mutex>> locks;
  for (wide_variable& v : variables) {
    if (!v.is_written) continue;
    locks.emplace_back(v.narrow->guard());
    if (v.narrow->locked_value()) v.wide->adopt(v.narrow->locked_value().widened());
  }

  kernel_context wide(its.node, c.step, inputs, results);
  (*its.run)(wide);

  for (wide_variable& v : variables)
    if (v.is_written) {
      tensor_value& now = v.wide->locked_value();
      v.narrow->locked_value() = now ? now.narrowed(to_data_type(v.narrow->type())) : tensor_value{};
    }
  locks.clear();
  const auto further = c.node.record->further();
  for (int k = 0; k < c.result_count(); ++k) {
    token& t = results[static_cast<std::size_t>(k)];
    const auto at = static_cast<std::size_t>(k);
    dtype said = k == 0 ? g.at(c.node.index).result.type : at <= further.size() ? further[at - 1].type : dtype::invalid;
    said = static_cast<dtype>(base_of(to_data_type(said)));
    if (said == dtype::invalid && t.value && t.value.type() == wide_dtype(its.named)) said = its.named;
    for (const wide_variable& v : variables)
      if (t.variable == v.wide.get()) t.variable = v.narrow;
    if (t.value && is_narrow(said) && t.value.type() == wide_dtype(said)) {
      adapt_result(c.node, said, t.value);
      t.value = t.value.narrowed(to_data_type(said));
    }
    c.set_token(k, std::move(t));
  }
}

}  // namespace narrow

/// How a node of these dtypes runs. `gives(k)` is the dtype of result `k`, `takes(k)` that of input `k`.
template <class Gives, class Takes>
narrow_way narrow_way_of(const op_info& op, const attribute_map& attributes, int results, Gives gives, int inputs, Takes takes) {
  bool has_narrow = false, has_uint64 = false;
  const auto meet = [&](dtype type) {
    type = static_cast<dtype>(base_of(to_data_type(type)));
    has_narrow = has_narrow || is_narrow(type);
    has_uint64 = has_uint64 || to_data_type(type) == data_type::uint64;
  };
  for (int k = 0; k < results; ++k) meet(gives(k));
  for (int k = 0; k < inputs; ++k) meet(takes(k));
  for_each_dtype(attributes, meet);
  if (!has_narrow) return narrow_way::none;
  if (op.what.control != flow::plain || op.what.passes_on() || op.what.makes_variable() || op.kind == op_kind::placeholder ||
      op.kind == op_kind::constant || op.kind == op_kind::variable || op.kind == op_kind::identity ||
      narrow::is_among(narrow::on_bits, op.type))
    return narrow_way::bits;
  if (narrow::is_among(narrow::refused, op.type) || (has_uint64 && !narrow::is_exact_in_64_bits(op.type))) return narrow_way::refused;
  return narrow_way::twin;
}

}  // namespace leat::runtime
