#pragma once
// Kernels that read tf.Example messages within a graph: features of a fixed shape, padded ones, sparse and ragged ones. Source: TensorFlow
// `ParseExample`, `ParseExampleV2`, `ParseSingleExample`.

#include <leat/core/fill.hpp>
#include <leat/core/memory.hpp>
#include <leat/core/sizes_text.hpp>
#include <leat/io/example_message.hpp>
#include <leat/proto/in_quotes.hpp>
#include <leat/runtime/kernels/kernel.hpp>
#include <leat/runtime/kernels/shape.hpp>

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace leat::detail {

/// A feature that a node asks for.
struct wanted_feature {
  enum class form { dense, padded, sparse, ragged };
  std::string key;
  form what = form::dense;
  dtype type = dtype::invalid;
  shape extent{};           // of a dense one, in each example; the first size of a padded one is unknown
  tensor_value fallback{};  // of a dense one; without elements the feature is required
  std::int64_t width = 1;   // values of an example, or of a row of a padded one
};

/// The values of one feature of one example, as they lie in the message.
struct found_feature {
  std::uint32_t kind = 0;  // the number of the list's field: 0 for none
  std::string_view list;
};

/// Lists of values as examples and sequences of examples have them. Errors are TensorFlow's, in its words.
class feature_lists {
 public:
  static constexpr dtype types[]{dtype::invalid, text_dtype, dtype::float32, dtype::int64};
  static std::string name_of(dtype type) { return type == dtype::float32 ? "float" : dtype_name(type); }
  static std::string kind_word(dtype type) { return type == text_dtype ? "bytes" : name_of(type); }
  [[noreturn]] static void refuse_message(std::string_view message) {
    throw invalid_argument("Could not parse example input, value: " + proto::detail::in_quotes(std::string(message.substr(0, 100))));
  }
  // Calls `use` with each value of a list of the feature's type.
  template <class Use>
  static void for_each(dtype type, std::string_view list, Use use) {
    try {
      if (type == text_dtype) io::detail::for_each_value<std::string>(list, use);
      else if (type == dtype::float32) io::detail::for_each_value<float>(list, use);
      else io::detail::for_each_value<std::int64_t>(list, use);
    } catch (const data_loss&) {
      refuse_message(list);
    }
  }
  static std::int64_t count(dtype type, std::string_view list) {
    std::int64_t n = 0;
    for_each(type, list, [&](auto) { ++n; });
    return n;
  }
  // Where the next value of an array goes.
  struct writer {
    tensor_value& to;
    std::size_t at = 0;
    void operator()(float v) { to.values<float>()[at++] = v; }
    void operator()(std::int64_t v) { to.values<std::int64_t>()[at++] = v; }
    void operator()(std::string_view v) { to.texts()[at++] = v; }
    /// `n` values of another array, over and over.
    void repeat(const tensor_value& from, std::int64_t n) {
      runtime::with_storage(to.type(), [&]<class S>(S) {
        for (std::int64_t i = 0; i < n; ++i) runtime::stored<S>(to)[at++] = runtime::stored<S>(from)[i % from.elements()];
      });
    }
  };
};

/// Reads the wanted features of some messages.
class example_parser : private feature_lists {
 public:
  example_parser(kernel_context& c, std::vector<wanted_feature> features, std::vector<std::string> names, bool is_single)
      : c_(c), features_(std::move(features)), names_(std::move(names)), is_single_(is_single) {
    for (std::size_t k = 0; k < features_.size(); ++k) by_key_.emplace(features_[k].key, k);
  }

  /// The results of each feature, in order: one of a dense feature; indices, values and shape of a sparse one; values and splits.
  std::vector<std::vector<tensor_value>> read(const std::vector<std::string>& messages, dtype split_type) {
    taken_.take(features_.size() * messages.size() * sizeof(found_feature));  // many features of many short messages
    found_.assign(features_.size() * messages.size(), {});
    for (std::size_t i = 0; i < messages.size(); ++i) {
      if (i % 256 == 0) c_.step.check();
      find(messages[i], i);
    }
    std::vector<std::vector<tensor_value>> made;
    for (std::size_t k = 0; k < features_.size(); ++k) {
      c_.step.check();
      const bool is_dense = features_[k].what == wanted_feature::form::dense || features_[k].what == wanted_feature::form::padded;
      made.push_back(is_dense ? std::vector{dense(k, messages.size())} : lists(k, messages.size(), split_type));
    }
    return made;
  }

 private:
  void find(const std::string& message, std::size_t at) {
    try {
      // As in TensorFlow, the last of several features of one name counts.
      io::detail::for_each_feature(message, [&](std::string_view name, std::uint32_t kind, std::string_view list) {
        for (auto [k, end] = by_key_.equal_range(std::string(name)); k != end; ++k)
          found_[at * features_.size() + k->second] = {kind, list};
      });
    } catch (const data_loss&) {
      refuse_message(message);
    }
  }
  /// "Name: a, " or, with a key, "Name: a, Key: x, Index: 3.  ", which a single example shortens.
  std::string who(std::size_t at) const { return is_single_ ? "" : "Name: " + (names_.empty() ? "<unknown>" : names_[at]) + ", "; }
  std::string which(std::size_t k, std::size_t at) const {
    return who(at) + "Key: " + features_[k].key + (is_single_ ? "" : ", Index: " + std::to_string(at)) + ".  ";
  }
  /// The values of a feature of an example; null if there are none of it.
  const found_feature* values(std::size_t k, std::size_t at) const {
    const found_feature& found = found_[at * features_.size() + k];
    if (found.kind == 0) return nullptr;
    const wanted_feature& wanted = features_[k];
    if (types[found.kind] != wanted.type) {
      const bool is_list = wanted.what == wanted_feature::form::sparse || wanted.what == wanted_feature::form::ragged;
      const std::string is = name_of(types[found.kind]), should = name_of(wanted.type);
      throw invalid_argument(
          which(k, at) + "Data types don't match. " +
          (is_list ? "Expected type: " + should + ", Actual type: " + is : "Data type: " + is + " but expected type: " + should));
    }
    return &found;
  }
  tensor_value dense(std::size_t k, std::size_t examples) const {
    const wanted_feature& wanted = features_[k];
    const bool is_padded = wanted.what == wanted_feature::form::padded;
    std::vector<std::int64_t> counts(examples, 0);
    std::vector<const found_feature*> lists(examples, nullptr);
    std::int64_t longest = 0;
    for (std::size_t i = 0; i < examples; ++i) {
      lists[i] = values(k, i);
      if (lists[i] == nullptr) {
        if (!is_padded && wanted.fallback.elements() == 0 && wanted.width > 0)
          throw invalid_argument(who(i) + "Feature: " + wanted.key + " (data type: " + name_of(wanted.type) +
                                 ") is required but could not be found.");
        continue;
      }
      counts[i] = count(wanted.type, lists[i]->list);
      longest = std::max(longest, counts[i]);
      if (is_padded ? counts[i] % std::max<std::int64_t>(wanted.width, 1) != 0 || (wanted.width == 0 && counts[i] > 0)
                    : counts[i] != wanted.width)
        refuse_count(k, i, counts[i]);
    }
    const std::int64_t rows = is_padded ? longest / std::max<std::int64_t>(wanted.width, 1) : 0;
    shape extent;
    if (!is_single_) extent.push(static_cast<std::int64_t>(examples));
    for (int axis = 0; axis < wanted.extent.rank; ++axis) extent.push(axis == 0 && is_padded ? rows : wanted.extent[axis]);
    const std::int64_t each = is_padded ? rows * wanted.width : wanted.width;
    tensor_value made(wanted.type, extent);
    writer to{made};
    for (std::size_t i = 0; i < examples; ++i) {
      if (lists[i] != nullptr) for_each(wanted.type, lists[i]->list, [&](auto v) { to(v); });
      if (counts[i] < each) to.repeat(wanted.fallback, each - counts[i]);
    }
    return made;
  }
  [[noreturn]] void refuse_count(std::size_t k, std::size_t at, std::int64_t is) const {
    const wanted_feature& wanted = features_[k];
    const std::string sizes = sizes_text(wanted.extent);
    const std::string kind = kind_word(wanted.type);
    if (wanted.what == wanted_feature::form::padded)
      throw invalid_argument(which(k, at) + "Number of " + kind + " values is not a multiple of stride length. Saw " + std::to_string(is) +
                             " values but output shape is: " + sizes);
    throw invalid_argument(which(k, at) + "Number of " + kind + " values != expected.  Values size: " + std::to_string(is) +
                           " but output shape: " + sizes);
  }

  std::vector<tensor_value> lists(std::size_t k, std::size_t examples, dtype split_type) const {
    const wanted_feature& wanted = features_[k];
    std::int64_t all = 0, longest = 0;
    std::vector<std::int64_t> indices, ends{0};
    for (std::size_t i = 0; i < examples; ++i) {
      const found_feature* const list = values(k, i);
      const std::int64_t n = list != nullptr ? count(wanted.type, list->list) : 0;
      if (wanted.what == wanted_feature::form::sparse)
        for (std::int64_t j = 0; j < n; ++j) {
          if (!is_single_) indices.push_back(static_cast<std::int64_t>(i));
          indices.push_back(j);
        }
      all += n;
      longest = std::max(longest, n);
      ends.push_back(all);
    }
    tensor_value made(wanted.type, {all});
    writer to{made};
    for (std::size_t i = 0; i < examples; ++i)
      if (const found_feature* const list = values(k, i)) for_each(wanted.type, list->list, [&](auto v) { to(v); });
    if (wanted.what == wanted_feature::form::ragged) {
      if (is_single_) ends.clear();
      return {std::move(made), integer_tensor(split_type, ends)};
    }
    std::vector<std::int64_t> extent{longest};
    if (!is_single_) extent.insert(extent.begin(), static_cast<std::int64_t>(examples));
    return {tensor_value({all, is_single_ ? 1 : 2}, indices), std::move(made), tensor_value(extent)};
  }

  kernel_context& c_;
  std::vector<wanted_feature> features_;
  std::vector<std::string> names_;
  bool is_single_ = false;
  std::unordered_multimap<std::string, std::size_t> by_key_;
  std::vector<found_feature> found_;
  metered_bytes taken_;
};

/// The keys that the inputs from `first` on hold, one in each.
inline std::vector<std::string> feature_keys(kernel_context& c, int first, std::size_t count) {
  std::vector<std::string> keys;
  for (std::size_t k = 0; k < count; ++k) {
    const tensor_value key = c.input(first + static_cast<int>(k));
    if (key.elements() != 1) throw invalid_argument("the key of a feature must be a scalar, not " + brackets(key.extent()));
    keys.push_back(key.texts()[0]);
  }
  return keys;
}
inline void check_feature_type(dtype type) {
  if (type != text_dtype && type != dtype::float32 && type != dtype::int64)
    throw invalid_argument("the values of a feature are float, int64 or string, not " + dtype_name(type));
}
/// Features that are lists, of the dtypes in an attribute.
inline void add_lists(kernel_context& c, std::vector<wanted_feature>& to, const std::vector<std::string>& keys, const char* attribute,
                      wanted_feature::form what) {
  const auto types = c.node.list<data_type>(attribute);
  if (types.size() != keys.size())
    throw invalid_argument(std::to_string(keys.size()) + " keys, but " + std::to_string(types.size()) + " " + attribute);
  for (std::size_t k = 0; k < keys.size(); ++k) {
    const auto type = static_cast<dtype>(types[k]);
    check_feature_type(type);
    to.push_back({.key = keys[k], .what = what, .type = type});
  }
}
/// Features of fixed or padded shapes, whose defaults are the inputs from `first` on.
inline void add_dense(kernel_context& c, std::vector<wanted_feature>& to, const std::vector<std::string>& keys, int first) {
  const auto shapes = c.node.list<tensor_shape_proto>("dense_shapes");
  if (shapes.size() != keys.size() || c.input_count() - first != static_cast<int>(keys.size()))
    throw invalid_argument(std::to_string(keys.size()) + " dense keys, but " + std::to_string(shapes.size()) + " dense_shapes and " +
                           std::to_string(c.input_count() - first) + " dense_defaults");
  for (std::size_t k = 0; k < keys.size(); ++k) {
    wanted_feature made{.key = keys[k], .extent = to_shape(shapes[k]), .fallback = c.input(first + static_cast<int>(k))};
    made.type = made.fallback.type();
    check_feature_type(made.type);
    const std::string at = std::to_string(k);
    if (!made.extent.has_rank()) throw invalid_argument("dense_shapes[" + at + "] has unknown rank");
    for (int axis = 1; axis < made.extent.rank; ++axis)
      if (made.extent[axis] < 0) throw invalid_argument("dense_shapes[" + at + "] has unknown rank or unknown inner dimensions");
    const bool is_padded = made.extent.rank > 0 && made.extent[0] < 0;
    made.width = made.extent.elements(is_padded ? 1 : 0, made.extent.rank);
    if (is_padded) {
      made.what = wanted_feature::form::padded;
      if (made.fallback.elements() != 1)
        throw invalid_argument(
            "dense_shape[" + at + "] is a variable length shape: " + sizes_text(made.extent) + ", therefore def_value[" + at +
            "] must contain a single element (the padding element).  But its shape is: " + brackets(made.fallback.extent()));
    } else if (made.fallback.elements() > 0 && !(made.fallback.extent() == made.extent)) {
      throw invalid_argument("def_value[" + at + "].shape() == " + brackets(made.fallback.extent()) +
                             " is not compatible with dense_shapes_[" + at + "] == " + brackets(made.extent));
    }
    to.push_back(std::move(made));
  }
}

struct example_results {
  std::size_t sparse = 0, dense = 0, ragged = 0;
};
/// Reads the features, sparse ones first, and sets the results in TensorFlow's order.
inline void parse_examples(kernel_context& c, std::vector<wanted_feature> features, std::vector<std::string> names, bool is_single,
                           example_results n) {
  const tensor_value serialized = c.input(0);
  if (!names.empty() && names.size() != serialized.texts().size())
    throw invalid_argument(std::to_string(names.size()) + " names of " + std::to_string(serialized.texts().size()) + " examples");
  const auto split_types = n.ragged > 0 ? c.node.list<data_type>("ragged_split_types") : std::vector<data_type>{};
  if (n.ragged > 0 && split_types.size() != n.ragged)
    throw invalid_argument(std::to_string(n.ragged) + " ragged keys, but " + std::to_string(split_types.size()) + " ragged_split_types");
  example_parser parser(c, std::move(features), std::move(names), is_single);
  auto made = parser.read(serialized.texts(), dtype::int64);
  if (static_cast<std::size_t>(c.result_count()) < 3 * n.sparse + n.dense + 2 * n.ragged)
    throw invalid_argument("the node has too few results");
  const auto set = [&](std::size_t place, tensor_value v) { c.set(static_cast<int>(place), std::move(v)); };
  for (std::size_t k = 0; k < n.sparse; ++k)
    for (std::size_t part = 0; part < 3; ++part) set(part * n.sparse + k, std::move(made[k][part]));
  for (std::size_t k = 0; k < n.dense; ++k) set(3 * n.sparse + k, std::move(made[n.sparse + k][0]));
  for (std::size_t k = 0; k < n.ragged; ++k) {
    auto& its = made[n.sparse + n.dense + k];
    set(3 * n.sparse + n.dense + k, std::move(its[0]));
    set(3 * n.sparse + n.dense + n.ragged + k, integer_tensor(static_cast<dtype>(split_types[k]), integers(its[1])));
  }
}
/// The names of the examples for errors. Errors: invalid_argument.
inline std::vector<std::string> example_names(kernel_context& c) {
  if (c.input(1).elements() == 0) return {};
  if (!(c.extent(1) == c.extent(0)))
    throw invalid_argument("Expected names have the same shape as serialized: name.shape=" + brackets(c.extent(1)) +
                           ", serialized.shape=" + brackets(c.extent(0)));
  return c.input(1).texts();
}

inline void run_parse_example(kernel_context& c) {
  if (c.extent(0).rank != 1) throw invalid_argument("Expected serialized to be a vector, got shape: " + brackets(c.extent(0)));
  const auto count = [&](const char* name) {
    const std::int64_t n = c.node.integer(name);
    if (n < 0 || n > c.input_count()) throw invalid_argument(std::string(name) + " is " + std::to_string(n));
    return static_cast<std::size_t>(n);
  };
  const std::size_t sparse = count("Nsparse"), dense = count("Ndense");
  const auto sparse_keys = feature_keys(c, 2, sparse), dense_keys = feature_keys(c, 2 + static_cast<int>(sparse), dense);
  std::vector<wanted_feature> features;
  add_lists(c, features, sparse_keys, "sparse_types", wanted_feature::form::sparse);
  add_dense(c, features, dense_keys, 2 + static_cast<int>(sparse + dense));
  parse_examples(c, std::move(features), example_names(c), false, {sparse, dense, 0});
}
inline void run_parse_example_by_vectors(kernel_context& c) {
  if (c.extent(0).rank > 1) throw invalid_argument("Expected serialized to be a scalar or vector, got shape: " + brackets(c.extent(0)));
  std::vector<wanted_feature> features;
  const std::vector<std::string> sparse = c.input(2).texts(), dense = c.input(3).texts(), ragged = c.input(4).texts();
  if (c.node.integer("num_sparse", static_cast<std::int64_t>(sparse.size())) != static_cast<std::int64_t>(sparse.size()))
    throw invalid_argument("num_sparse is " + std::to_string(c.node.integer("num_sparse")) + ", but there are " +
                           std::to_string(sparse.size()) + " sparse keys");
  add_lists(c, features, sparse, "sparse_types", wanted_feature::form::sparse);
  add_dense(c, features, dense, 5);
  add_lists(c, features, ragged, "ragged_value_types", wanted_feature::form::ragged);
  parse_examples(c, std::move(features), example_names(c), c.extent(0).rank == 0, {sparse.size(), dense.size(), ragged.size()});
}
inline void run_parse_single_example(kernel_context& c) {
  if (c.extent(0).rank != 0) throw invalid_argument("Expected serialized to be a scalar, got shape: " + brackets(c.extent(0)));
  const auto sparse = c.node.list<std::string>("sparse_keys"), dense = c.node.list<std::string>("dense_keys");
  std::vector<wanted_feature> features;
  add_lists(c, features, sparse, "sparse_types", wanted_feature::form::sparse);
  add_dense(c, features, dense, 1);
  parse_examples(c, std::move(features), {}, true, {sparse.size(), dense.size(), 0});
}

LEAT_FILL(fill_example_kernels) {
  register_kernel("ParseExample", run_parse_example);
  register_kernel("ParseExampleV2", run_parse_example_by_vectors);
  register_kernel("ParseSingleExample", run_parse_single_example);
}

}  // namespace leat::detail
