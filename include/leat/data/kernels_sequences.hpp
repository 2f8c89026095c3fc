#pragma once
// Kernels that read tf.SequenceExample messages within a graph: features of a message's context, and lists that have one feature for each
// step. Source: TensorFlow `ParseSequenceExample`, `ParseSequenceExampleV2`, `ParseSingleSequenceExample`, `DecodeJSONExample`.

#include <leat/core/fill.hpp>
#include <leat/core/memory.hpp>
#include <leat/core/sizes_text.hpp>
#include <leat/data/json_examples.hpp>
#include <leat/data/kernels_examples.hpp>
#include <leat/io/example_message.hpp>
#include <leat/runtime/kernels/kernel.hpp>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace leat::detail {

/// A feature of the context or a list of features that a node asks for: dense, sparse or ragged.
struct wanted_sequence {
  std::string key;
  wanted_feature::form what = wanted_feature::form::dense;
  dtype type = dtype::invalid;
  dtype split_type = dtype::int64;
  shape extent{};            // of a dense one, or of each step of a dense list
  tensor_value fallback{};   // of a dense one in the context; without elements the feature is required
  bool may_be_missing = true;  // a list
};

/// Reads the wanted features of some messages, of a vector of them, or of one. In the words of TensorFlow's errors a message has a name.
class sequence_parser : private feature_lists {
 public:
  /// How many messages there are, and whose operator's errors and rules apply.
  enum class kind { batch, one, single };

  sequence_parser(kernel_context& c, kind what, std::vector<wanted_sequence> context, std::vector<wanted_sequence> lists)
      : c_(c), what_(what), context_(std::move(context)), lists_(std::move(lists)) {
    for (std::size_t k = 0; k < context_.size(); ++k) context_by_key_.emplace(context_[k].key, k);
    for (std::size_t k = 0; k < lists_.size(); ++k) lists_by_key_.emplace(lists_[k].key, k);
  }

  /// Finds the features in the messages, which the caller keeps. Errors: invalid_argument.
  void find(const std::vector<std::string>& messages, std::vector<std::string> names) {
    names_ = std::move(names);
    count_ = messages.size();
    taken_.take((context_.size() * sizeof(found_feature) + lists_.size() * sizeof(found_list)) * count_);
    found_.assign(context_.size() * count_, {});
    found_lists_.assign(lists_.size() * count_, {});
    for (std::size_t i = 0; i < count_; ++i) {
      if (i % 256 == 0) c_.step.check();
      try {
        io::detail::for_each_feature(messages[i], [&](std::string_view name, std::uint32_t number, std::string_view list) {
          for (auto [k, end] = context_by_key_.equal_range(std::string(name)); k != end; ++k)
            found_[k->second * count_ + i] = {number, list, true};
        });
        io::detail::for_each_feature_list(messages[i], [&](std::string_view name, std::string_view list) {
          for (auto [k, end] = lists_by_key_.equal_range(std::string(name)); k != end; ++k)
            found_lists_[k->second * count_ + i] = {list, true};
        });
      } catch (const data_loss&) {
        if (what_ == kind::single) refuse_message(messages[i]);
        throw invalid_argument("Invalid protocol message input, example id: " + name_of_message(i));
      }
    }
    if (what_ != kind::single) check_types();
  }

  /// The arrays of a feature of the context: one of a dense feature; indices, values and shape of a sparse one; values and splits.
  std::vector<tensor_value> context(std::size_t k) const {
    c_.step.check();
    if (context_[k].what == wanted_feature::form::dense) return {dense_context(k)};
    const wanted_sequence& wanted = context_[k];
    std::vector<std::int64_t> indices, ends{0};
    std::int64_t all = 0, longest = 0;
    for (std::size_t i = 0; i < count_; ++i) {
      if (what_ == kind::single && found(k, i).number != 0) check_context(k, i);
      const std::int64_t n = number_of(wanted.type, found(k, i).number, found(k, i).list);
      if (wanted.what == wanted_feature::form::sparse) add_pairs(indices, i, n);
      all += n;
      longest = std::max(longest, n);
      ends.push_back(all);
    }
    tensor_value values(wanted.type, {all});
    writer to{values};
    for (std::size_t i = 0; i < count_; ++i)
      if (found(k, i).number != 0) for_each(wanted.type, found(k, i).list, [&](auto v) { to(v); });
    if (wanted.what == wanted_feature::form::ragged) {
      if (!has_batch()) ends.clear();
      return {std::move(values), integer_tensor(wanted.split_type, ends)};
    }
    std::vector<std::int64_t> extent{longest};
    if (has_batch()) extent.insert(extent.begin(), static_cast<std::int64_t>(count_));
    return {tensor_value({all, has_batch() ? 2 : 1}, indices), std::move(values), tensor_value(extent)};
  }
  /// The arrays of a list: values and lengths of a dense one; indices, values and shape of a sparse one; values, outer and inner splits.
  std::vector<tensor_value> list(std::size_t k) const {
    c_.step.check();
    if (lists_[k].what == wanted_feature::form::dense) return dense_list(k);
    const wanted_sequence& wanted = lists_[k];
    std::vector<std::int64_t> indices, ends{0}, outer{0};
    std::int64_t all = 0, longest = 0, most_steps = 0, steps = 0;
    for (std::size_t i = 0; i < count_; ++i) {
      std::int64_t at = 0;
      for_each_step(k, i, [&](const io::detail::feature_bytes& step) {
        if (what_ == kind::single && step.number != 0 && types[step.number] != wanted.type)
          refuse_type("Feature List: " + wanted.key + ", Index: " + std::to_string(at), i, wanted.type);
        const std::int64_t n = number_of(wanted.type, step.number, step.list);
        if (wanted.what == wanted_feature::form::sparse) add_triples(indices, i, at, n);
        all += n;
        longest = std::max(longest, n);
        ends.push_back(all);
        ++at;
      });
      most_steps = std::max(most_steps, at);
      steps += at;
      outer.push_back(steps);
    }
    tensor_value values(wanted.type, {all});
    writer to{values};
    for (std::size_t i = 0; i < count_; ++i)
      for_each_step(k, i, [&](const io::detail::feature_bytes& step) {
        if (step.number != 0) for_each(wanted.type, step.list, [&](auto v) { to(v); });
      });
    if (wanted.what == wanted_feature::form::ragged) {
      if (!has_batch()) outer.clear();
      return {std::move(values), integer_tensor(wanted.split_type, outer), integer_tensor(wanted.split_type, ends)};
    }
    std::vector<std::int64_t> extent{most_steps, longest};
    if (has_batch()) extent.insert(extent.begin(), static_cast<std::int64_t>(count_));
    return {tensor_value({all, has_batch() ? 3 : 2}, indices), std::move(values), tensor_value(extent)};
  }

 private:
  struct found_feature {
    std::uint32_t number = 0;  // the number of the list's field: 0 for none
    std::string_view list;
    bool is_there = false;
  };
  struct found_list {
    std::string_view steps;
    bool is_there = false;
  };

  bool has_batch() const { return what_ == kind::batch; }
  const found_feature& found(std::size_t k, std::size_t message) const { return found_[k * count_ + message]; }
  const found_list& steps_of(std::size_t k, std::size_t message) const { return found_lists_[k * count_ + message]; }
  std::string name_of_message(std::size_t message) const { return message < names_.size() ? names_[message] : "<unknown>"; }
  std::string who(std::size_t message) const { return "Name: " + name_of_message(message) + ", "; }
  static std::int64_t number_of(dtype type, std::uint32_t number, std::string_view list) { return number == 0 ? 0 : count(type, list); }
  template <class Use>
  void for_each_step(std::size_t k, std::size_t message, Use use) const {
    try {
      io::detail::for_each_step(steps_of(k, message).steps, use);
    } catch (const data_loss&) {
      if (what_ == kind::single) refuse_message(steps_of(k, message).steps);
      throw invalid_argument(who(message) + "Feature list: " + lists_[k].key + " is damaged");
    }
  }
  void add_pairs(std::vector<std::int64_t>& to, std::size_t message, std::int64_t n) const {
    for (std::int64_t j = 0; j < n; ++j) {
      if (has_batch()) to.push_back(static_cast<std::int64_t>(message));
      to.push_back(j);
    }
  }
  void add_triples(std::vector<std::int64_t>& to, std::size_t message, std::int64_t step, std::int64_t n) const {
    for (std::int64_t j = 0; j < n; ++j) {
      if (has_batch()) to.push_back(static_cast<std::int64_t>(message));
      to.push_back(step);
      to.push_back(j);
    }
  }
  [[noreturn]] void refuse_type(const std::string& which, std::size_t message, dtype type) const {
    throw invalid_argument(who(message) + which + ".  Data types don't match. Expected type: " + name_of(type));
  }
  void check_context(std::size_t k, std::size_t message) const {
    const found_feature& its = found(k, message);
    if (its.number == 0 ? what_ == kind::single : types[its.number] != context_[k].type)
      refuse_type("Context feature: " + context_[k].key, message, context_[k].type);
  }
  // In a batch, dtypes are checked before anything else; features without a kind have any.
  void check_types() const {
    for (std::size_t i = 0; i < count_; ++i) {
      if (i % 256 == 0) c_.step.check();
      for (std::size_t k = 0; k < context_.size(); ++k) check_context(k, i);
      for (std::size_t k = 0; k < lists_.size(); ++k) {
        std::int64_t at = 0;
        for_each_step(k, i, [&](const io::detail::feature_bytes& step) {
          if (step.number != 0 && types[step.number] != lists_[k].type)
            refuse_type("Feature list: " + lists_[k].key + ", Index: " + std::to_string(at), i, lists_[k].type);
          ++at;
        });
      }
    }
  }
  [[noreturn]] void refuse_count(const wanted_sequence& wanted, std::size_t message, std::int64_t at, std::int64_t is) const {
    throw invalid_argument(who(message) + "Key: " + wanted.key + ", Index: " + std::to_string(at) + ".  Number of " +
                           (what_ == kind::single ? kind_word(wanted.type) + " " : "") +
                           "values != expected.  values size: " + std::to_string(is) + " but output shape: " + sizes_text(wanted.extent));
  }
  shape behind_batch(const shape& extent) const {
    shape made;
    if (has_batch()) made.push(static_cast<std::int64_t>(count_));
    for (int axis = 0; axis < extent.rank; ++axis) made.push(extent[axis]);
    return made;
  }

  tensor_value dense_context(std::size_t k) const {
    const wanted_sequence& wanted = context_[k];
    const std::int64_t width = wanted.extent.elements();
    std::vector<std::int64_t> counts(count_, 0);
    std::int64_t most = wanted.fallback.elements();
    for (std::size_t i = 0; i < count_; ++i) {
      if (what_ == kind::single && found(k, i).is_there) check_context(k, i);
      counts[i] = number_of(wanted.type, found(k, i).number, found(k, i).list);
      most = std::max(most, counts[i]);
    }
    if (what_ != kind::single && most != width)
      throw invalid_argument("Inconsistent max number of elements for feature " + wanted.key + ": expected " + std::to_string(width) +
                             ", but found " + std::to_string(most));
    tensor_value made(wanted.type, behind_batch(wanted.extent));
    writer to{made};
    for (std::size_t i = 0; i < count_; ++i) {
      if (!found(k, i).is_there) {
        if (wanted.fallback.elements() == 0 && (width > 0 || what_ == kind::single)) refuse_missing(wanted, i);
        to.repeat(wanted.fallback, width);
        continue;
      }
      if (counts[i] != width) {
        if (what_ == kind::single) refuse_count(wanted, i, 0, counts[i]);
        throw invalid_argument("Unexpected number of elements in example " + name_of_message(i));
      }
      if (width > 0) for_each(wanted.type, found(k, i).list, [&](auto v) { to(v); });
    }
    return made;
  }
  [[noreturn]] void refuse_missing(const wanted_sequence& wanted, std::size_t message) const {
    if (what_ == kind::single)
      throw invalid_argument(who(message) + "Context feature '" + wanted.key + "' is required but could not be found.");
    throw invalid_argument("Feature: " + wanted.key + " (data type: " + name_of(wanted.type) + ") is required but could not be found.");
  }

  std::vector<tensor_value> dense_list(std::size_t k) const {
    const wanted_sequence& wanted = lists_[k];
    const std::int64_t width = wanted.extent.elements();
    std::vector<std::int64_t> lengths(count_, 0);
    std::int64_t most_steps = 0, most = 0;
    for (std::size_t i = 0; i < count_; ++i) {
      std::int64_t n = 0;
      for_each_step(k, i, [&](const io::detail::feature_bytes& step) {
        if (types[step.number] == wanted.type) n += count(wanted.type, step.list);
        ++lengths[i];
      });
      most = std::max(most, n);
      most_steps = std::max(most_steps, lengths[i]);
    }
    if (what_ != kind::single && (width == 0 ? most > 0 : most % width != 0))
      throw invalid_argument("Feature list '" + wanted.key + "' has an unexpected number of values.  Total values size: " +
                             std::to_string(most) + " is not consistent with output shape: " + list_text(wanted.extent));
    for (std::size_t i = 0; i < count_; ++i) {
      if (!steps_of(k, i).is_there && !wanted.may_be_missing)
        throw invalid_argument(
            who(i) + "Feature list '" + wanted.key +
            "' is required but could not be found.  Did you mean to include it in feature_list_dense_missing_assumed_empty "
            "or feature_list_dense_defaults?");
      std::int64_t at = 0;
      for_each_step(k, i, [&](const io::detail::feature_bytes& step) {
        if (what_ == kind::single && types[step.number] != wanted.type)
          refuse_type("Feature list: " + wanted.key + ", Index: " + std::to_string(at), i, wanted.type);
        if (const std::int64_t n = number_of(wanted.type, step.number, step.list); n != width) refuse_count(wanted, i, at, n);
        ++at;
      });
    }
    shape each;
    each.push(most_steps);
    for (int axis = 0; axis < wanted.extent.rank; ++axis) each.push(wanted.extent[axis]);
    tensor_value made(wanted.type, behind_batch(each)), zero(wanted.type, shape{});
    if (wanted.type == dtype::float32) zero.values<float>()[0] = 0;
    if (wanted.type == dtype::int64) zero.values<std::int64_t>()[0] = 0;
    writer to{made};
    for (std::size_t i = 0; i < count_; ++i) {
      for_each_step(k, i, [&](const io::detail::feature_bytes& step) {
        if (width > 0) for_each(wanted.type, step.list, [&](auto v) { to(v); });
      });
      to.repeat(zero, (most_steps - lengths[i]) * width);
    }
    return {std::move(made), has_batch() || lengths.empty() ? tensor_value(lengths) : tensor_value(lengths[0])};
  }
  static std::string list_text(const shape& extent) {
    const std::string sizes = sizes_text(extent);
    return extent.rank == 0 ? "[?]" : "[?," + sizes.substr(1);
  }

  kernel_context& c_;
  kind what_;
  std::vector<wanted_sequence> context_, lists_;
  std::unordered_multimap<std::string, std::size_t> context_by_key_, lists_by_key_;
  std::vector<std::string> names_;
  std::size_t count_ = 0;
  std::vector<found_feature> found_;
  std::vector<found_list> found_lists_;
  metered_bytes taken_;
};

/// The features that a node of sequences asks for: of the context and of the lists dense, sparse and ragged ones.
class sequence_request {
 public:
  explicit sequence_request(kernel_context& c) : c_(c) {}

  /// Lists of values, of the dtypes in an attribute.
  void add(std::vector<wanted_sequence>& to, const std::vector<std::string>& keys, const char* types, wanted_feature::form what,
           const char* split_types = nullptr) {
    const auto all = c_.node.list<data_type>(types);
    const auto splits =
        split_types != nullptr ? c_.node.list<data_type>(split_types) : std::vector<data_type>(all.size(), data_type::int64);
    if (all.size() != keys.size() || splits.size() != keys.size())
      throw invalid_argument("Expected len(keys) to match len(" + std::string(types) + "), which is " + std::to_string(all.size()) +
                             ", but got " + std::to_string(keys.size()) + " keys");
    for (std::size_t k = 0; k < keys.size(); ++k) {
      const auto type = static_cast<dtype>(all[k]);
      check_feature_type(type);
      to.push_back({.key = keys[k], .what = what, .type = type, .split_type = static_cast<dtype>(splits[k])});
    }
  }
  /// Dense features of the context, whose defaults are the inputs from `first` on.
  void add_dense(std::vector<wanted_sequence>& to, const std::vector<std::string>& keys, int first) {
    add_dense_of(to, keys, "Tcontext_dense", "context_dense_shapes");
    if (c_.input_count() < first + static_cast<int>(keys.size()))
      throw invalid_argument("Expected len(context_dense_defaults) == len(context_dense_keys) but got: " +
                             std::to_string(c_.input_count() - first) + " vs. " + std::to_string(keys.size()));
    for (std::size_t k = 0; k < keys.size(); ++k) {
      wanted_sequence& its = to[to.size() - keys.size() + k];
      its.fallback = c_.input(first + static_cast<int>(k));
      const std::string at = std::to_string(k);
      if (its.fallback.type() != its.type)
        throw invalid_argument("context_dense_defaults[" + at + "].dtype() == " + dtype_name(its.fallback.type()) +
                               " != context_dense_types[" + at + "] == " + dtype_name(its.type));
      if (its.fallback.elements() > 0 && !(its.fallback.extent() == its.extent))
        throw invalid_argument("default_value[" + at + "].shape() == " + sizes_text(its.fallback.extent()) + " != context_dense_shapes[" +
                               at + "] == " + sizes_text(its.extent));
    }
  }
  void add_dense_lists(std::vector<wanted_sequence>& to, const std::vector<std::string>& keys) {
    add_dense_of(to, keys, "feature_list_dense_types", "feature_list_dense_shapes");
  }

 private:
  void add_dense_of(std::vector<wanted_sequence>& to, const std::vector<std::string>& keys, const char* types, const char* shapes) {
    const auto extents = c_.node.list<tensor_shape_proto>(shapes);
    if (extents.size() != keys.size())
      throw invalid_argument("Expected len(keys) to match len(" + std::string(shapes) + "), which is " + std::to_string(extents.size()) +
                             ", but got " + std::to_string(keys.size()) + " keys");
    add(to, keys, types, wanted_feature::form::dense);
    for (std::size_t k = 0; k < keys.size(); ++k) {
      shape extent = to_shape(extents[k]);
      if (!extent.is_static())
        throw invalid_argument("Shape " + sizes_text(extent) + " is not fully defined: " + shapes + "[" + std::to_string(k) + "]");
      to[to.size() - keys.size() + k].extent = extent;
    }
  }
  kernel_context& c_;
};

/// A key may be asked for in one form only.
inline void check_forms(const std::vector<wanted_sequence>& features, const char* of) {
  std::map<std::string_view, wanted_feature::form> seen;
  for (const auto what : {wanted_feature::form::sparse, wanted_feature::form::ragged, wanted_feature::form::dense})
    for (const wanted_sequence& f : features) {
      if (f.what != what) continue;
      const auto [at, is_new] = seen.emplace(f.key, what);
      if (!is_new && at->second != what)
        throw invalid_argument(std::string(of) + " feature " + f.key + " cannot be both " +
                               (what == wanted_feature::form::dense ? "dense and sparse" : "ragged and sparse"));
    }
}

/// Reads the messages and sets the results in TensorFlow's order.
inline void parse_sequences(kernel_context& c, sequence_parser::kind what, std::vector<wanted_sequence> context,
                            std::vector<wanted_sequence> lists, std::vector<std::string> names) {
  using form = wanted_feature::form;
  const tensor_value serialized = c.input(0);
  const auto of = [](const std::vector<wanted_sequence>& all, form f) {
    std::vector<std::size_t> places;
    for (std::size_t k = 0; k < all.size(); ++k)
      if (all[k].what == f) places.push_back(k);
    return places;
  };
  const auto context_sparse = of(context, form::sparse), context_dense = of(context, form::dense),
             context_ragged = of(context, form::ragged);
  const auto sparse = of(lists, form::sparse), dense = of(lists, form::dense), ragged = of(lists, form::ragged);
  const bool is_single = what == sequence_parser::kind::single;
  const std::size_t wanted = 3 * (context_sparse.size() + sparse.size() + ragged.size()) + context_dense.size() +
                             2 * context_ragged.size() + (is_single ? 1 : 2) * dense.size();
  if (static_cast<std::size_t>(c.result_count()) < wanted) throw invalid_argument("the node has too few results");
  sequence_parser parser(c, what, std::move(context), std::move(lists));
  parser.find(serialized.texts(), std::move(names));
  int at = 0;
  const auto set = [&](const std::vector<std::size_t>& places, std::size_t parts, auto read) {
    const int count = static_cast<int>(places.size());
    for (int k = 0; k < count; ++k) {
      auto made = read(places[static_cast<std::size_t>(k)]);
      for (std::size_t part = 0; part < parts; ++part) c.set(at + static_cast<int>(part) * count + k, std::move(made[part]));
    }
    at += count * static_cast<int>(parts);
  };
  const auto of_context = [&](std::size_t k) { return parser.context(k); };
  const auto of_list = [&](std::size_t k) { return parser.list(k); };
  set(context_sparse, 3, of_context);
  set(context_dense, 1, of_context);
  set(context_ragged, 2, of_context);
  set(sparse, 3, of_list);
  set(dense, is_single ? 1 : 2, of_list);
  set(ragged, 3, of_list);
}

/// One message is a scalar, a batch a vector.
inline sequence_parser::kind kind_of_sequences(kernel_context& c, int most) {
  const shape& extent = c.extent(0);
  if (extent.rank > most) throw invalid_argument("Expected serialized to be a scalar or vector, got shape: " + sizes_text(extent));
  return extent.rank == 0 ? sequence_parser::kind::one : sequence_parser::kind::batch;
}
inline std::vector<std::string> names_of_sequences(kernel_context& c) {
  const std::vector<std::string>& names = c.input(1).texts();
  if (!names.empty() && names.size() != c.input(0).texts().size())
    throw invalid_argument("example_names must be empty or have the correct number of elements");
  return names;
}

inline void run_parse_sequences(kernel_context& c) {
  using form = wanted_feature::form;
  const auto what = kind_of_sequences(c, 1);
  if (what != sequence_parser::kind::batch) throw invalid_argument("Expected serialized to be a vector, got shape: []");
  const auto keys = [&](const char* name) { return c.node.list<std::string>(name); };
  std::vector<wanted_sequence> context, lists;
  sequence_request request(c);
  request.add(context, keys("context_sparse_keys"), "context_sparse_types", form::sparse);
  request.add_dense(context, keys("context_dense_keys"), 2);
  request.add(lists, keys("feature_list_sparse_keys"), "feature_list_sparse_types", form::sparse);
  request.add_dense_lists(lists, keys("feature_list_dense_keys"));
  const auto empty = keys("feature_list_dense_missing_assumed_empty");
  for (wanted_sequence& f : lists) f.may_be_missing = std::find(empty.begin(), empty.end(), f.key) != empty.end();
  check_forms(context, "Context");
  check_forms(lists, "Sequence");
  parse_sequences(c, what, std::move(context), std::move(lists), names_of_sequences(c));
}
inline void run_parse_sequences_by_vectors(kernel_context& c) {
  using form = wanted_feature::form;
  const auto what = kind_of_sequences(c, 1);
  const auto keys = [&](int k, const char* types, const char* name, const char* limit) {
    const std::vector<std::string> list = c.input(k).texts();
    if (list.size() != c.node.list<data_type>(types).size())
      throw invalid_argument("Expected len(" + std::string(name) + ") to match " + limit);
    return list;
  };
  const auto context_sparse = keys(2, "context_sparse_types", "context_sparse_keys", "Ncontext_sparse");
  const auto context_dense = keys(3, "Tcontext_dense", "context_dense_keys", "len(Tcontext_dense)");
  const auto context_ragged = keys(4, "context_ragged_value_types", "context_ragged_keys", "len(context_ragged_value_types)");
  const auto sparse = keys(5, "feature_list_sparse_types", "feature_list_sparse_keys", "Nfeature_list_sparse");
  const auto dense = keys(6, "feature_list_dense_types", "feature_list_dense_keys", "Nfeature_list_dense");
  const auto ragged = keys(7, "feature_list_ragged_value_types", "feature_list_ragged_keys", "len(feature_list_ragged_value_types)");
  const tensor_value may_be_missing = c.input(8);
  if (may_be_missing.elements() != static_cast<std::int64_t>(dense.size()))
    throw invalid_argument("Expected len(feature_list_dense_missing_assumed_empty to match Nfeature_list_dense");
  std::vector<wanted_sequence> context, lists;
  sequence_request request(c);
  request.add(context, context_sparse, "context_sparse_types", form::sparse);
  request.add_dense(context, context_dense, 9);
  request.add(context, context_ragged, "context_ragged_value_types", form::ragged, "context_ragged_split_types");
  request.add_dense_lists(lists, dense);
  for (std::size_t k = 0; k < dense.size(); ++k) lists[k].may_be_missing = may_be_missing.values<bool>()[k];
  request.add(lists, sparse, "feature_list_sparse_types", form::sparse);
  request.add(lists, ragged, "feature_list_ragged_value_types", form::ragged, "feature_list_ragged_split_types");
  check_forms(context, "Context");
  check_forms(lists, "Sequence");
  parse_sequences(c, what, std::move(context), std::move(lists), names_of_sequences(c));
}
inline void run_parse_single_sequence(kernel_context& c) {
  using form = wanted_feature::form;
  if (c.extent(0).rank != 0) throw invalid_argument("Expected serialized to be a scalar, got shape: " + sizes_text(c.extent(0)));
  int at = 2;
  const auto keys = [&](const char* count, const char* name) {
    const std::int64_t n = c.node.integer(count);
    if (n < 0 || n > c.input_count() - at) throw invalid_argument(std::string(count) + " is " + std::to_string(n));
    std::vector<std::string> list;
    for (std::int64_t k = 0; k < n; ++k, ++at) {
      const tensor_value key = c.input(at);
      if (key.extent().rank != 0)
        throw invalid_argument("Expected " + std::string(name) + "[" + std::to_string(k) + "] to be a scalar, got shape: " +
                               sizes_text(key.extent()));
      list.push_back(key.texts()[0]);
    }
    return list;
  };
  const auto context_sparse = keys("Ncontext_sparse", "context_sparse_keys"), context_dense = keys("Ncontext_dense", "context_dense_keys");
  const auto sparse = keys("Nfeature_list_sparse", "feature_list_sparse_keys"),
             dense = keys("Nfeature_list_dense", "feature_list_dense_keys");
  const tensor_value assumed_empty = c.input(1);
  if (assumed_empty.extent().rank != 1)
    throw invalid_argument("Expected feature_list_dense_missing_assumed_empty to be a vector, got shape: " +
                           sizes_text(assumed_empty.extent()));
  std::vector<wanted_sequence> context, lists;
  sequence_request request(c);
  request.add(context, context_sparse, "context_sparse_types", form::sparse);
  request.add_dense(context, context_dense, at);
  request.add(lists, sparse, "feature_list_sparse_types", form::sparse);
  request.add_dense_lists(lists, dense);
  const std::set<std::string> empty(assumed_empty.texts().begin(), assumed_empty.texts().end());
  for (wanted_sequence& f : lists) f.may_be_missing = f.what != form::dense || empty.contains(f.key);
  const tensor_value name = c.input(c.input_count() - 1);
  if (name.elements() > 0 && name.extent().rank != 0)
    throw invalid_argument("Expected debug_name to be a scalar, got shape: " + sizes_text(name.extent()));
  parse_sequences(c, sequence_parser::kind::single, std::move(context), std::move(lists), name.texts());
}
inline void run_decode_json_example(kernel_context& c) {
  const tensor_value texts = c.input(0);
  tensor_value made(text_dtype, texts.extent());
  for (std::size_t k = 0; k < texts.texts().size(); ++k) {
    if (k % 64 == 0) c.step.check();
    made.texts()[k] = example_of_json(texts.texts()[k]);
  }
  c.set(0, std::move(made));
}

LEAT_FILL(fill_sequence_example_kernels) {
  register_kernel("ParseSequenceExample", run_parse_sequences);
  register_kernel("ParseSequenceExampleV2", run_parse_sequences_by_vectors);
  register_kernel("ParseSingleSequenceExample", run_parse_single_sequence);
  register_kernel("DecodeJSONExample", run_decode_json_example);
}

}  // namespace leat::detail
