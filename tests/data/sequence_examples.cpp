// tf.SequenceExample messages read within graphs, and examples from JSON: values, bytes and errors of TensorFlow 2.21.

#include "support/recorded_nodes.hpp"

#include <leat/data/kernels.hpp>

#include <cmath>
#include <string>

using namespace leat;
using namespace recorded_nodes;
using namespace std::string_literals;

namespace sequence_example_tests {

// Features a, b, s and the lists t, d; without a and s, and other lists; empty features.
const std::string first =
    "\n+\n\013\n\001a\022\006\032\004\n\002\001\002\n\015\n\001b\022\010\022\006\n\004\000\000\300?\n\015\n\001s\022\010\n\006\n"
    "\001x\n\001y\022;\n!\n\001d\022\034\n\014\022\n\n\010\000\000\200?\000\000\000@\n\014\022\n\n\010\000\000@@\000\000\200@\n\026"
    "\n\001t\022\021\n\006\032\004\n\002\001\002\n\005\032\003\n\001\003\n\000"s;
const std::string second =
    "\n\017\n\015\n\001b\022\010\022\006\n\004\000\000 @\022?\n/\n\001d\022*\n\014\022\n\n\010\000\000\240@\000\000\300@\n\014\022"
    "\n\n\010\000\000\340@\000\000\000A\n\014\022\n\n\010\000\000\000\000\000\000\200?\n\014\n\001t\022\007\n\005\032\003\n\001\011"s;
const std::string third =
    "\n\020\n\007\n\001a\022\002\032\000\n\005\n\001s\022\000\022\026\n\024\n\001t\022\017\n\002\032\000\n\000\n\007\032\005\n\003"
    "\004\005\006"s;

// Ragged features of one message have no outer splits: they are empty, where TensorFlow gives a scalar of no meaning.
const std::vector<recorded>& recordings() {
  // clang-format off
  static const std::vector<recorded> list{
      {"ParseSequenceExampleV2", {text({3}, {first, second, third}), text({0}, {}), text({1}, {"s"}), text({0}, {}), text({1}, {"a"}),
       text({1}, {"q"}), text({0}, {}), text({1}, {"t"}), flags({0}, {})}, {{"Ncontext_sparse", std::int64_t{1}},
       {"Nfeature_list_sparse", std::int64_t{1}}, {"context_sparse_types", std::vector<data_type>{data_type::string}},
       {"context_ragged_value_types", std::vector<data_type>{data_type::int64}}, {"context_ragged_split_types",
       std::vector<data_type>{data_type::int32}}, {"feature_list_sparse_types", std::vector<data_type>{data_type::int64}},
       {"feature_list_ragged_value_types", std::vector<data_type>{data_type::int64}}, {"feature_list_ragged_split_types",
       std::vector<data_type>{data_type::int32}}}, {i64({2, 2}, {0, 0, 0, 1}), text({2}, {"x", "y"}), i64({2}, {3, 2}), i64({2}, {1,
       2}), i32({4}, {0, 2, 2, 2}), i64({0, 3}, {}), i64({0}, {}), i64({3}, {3, 0, 0}), i64({7}, {1, 2, 3, 9, 4, 5, 6}), i32({4}, {0,
       3, 4, 7}), i32({8}, {0, 2, 3, 3, 4, 4, 4, 7})}},
      {"ParseSequenceExampleV2", {text({2}, {first, second}), text({0}, {}), text({2}, {"a", "s"}), text({1}, {"b"}), text({0}, {}),
       text({1}, {"t"}), text({1}, {"d"}), text({0}, {}), flags({1}, {0}), f32({0}, {})}, {{"Ncontext_sparse", std::int64_t{2}},
       {"Nfeature_list_sparse", std::int64_t{1}}, {"Nfeature_list_dense", std::int64_t{1}}, {"context_sparse_types",
       std::vector<data_type>{data_type::int64, data_type::string}}, {"context_dense_shapes",
       std::vector<tensor_shape_proto>{to_proto(extent_of({1}))}}, {"feature_list_sparse_types",
       std::vector<data_type>{data_type::int64}}, {"feature_list_dense_types", std::vector<data_type>{data_type::float32}},
       {"feature_list_dense_shapes", std::vector<tensor_shape_proto>{to_proto(extent_of({2}))}}, {"Tcontext_dense",
       std::vector<data_type>{data_type::float32}}}, {i64({2, 2}, {0, 0, 0, 1}), i64({2, 2}, {0, 0, 0, 1}), i64({2}, {1, 2}), text({2},
       {"x", "y"}), i64({2}, {2, 2}), i64({2}, {2, 2}), f32({2, 1}, {1.5, 2.5}), i64({4, 3}, {0, 0, 0, 0, 0, 1, 0, 1, 0, 1, 0, 0}),
       i64({4}, {1, 2, 3, 9}), i64({3}, {2, 3, 2}), f32({2, 3, 2}, {1, 2, 3, 4, 0, 0, 5, 6, 7, 8, 0, 1}), i64({2}, {2, 3})}},
      {"ParseSequenceExampleV2", {text({2}, {first, third}), text({2}, {"x", "y"}), text({0}, {}), text({1}, {"b"}), text({0}, {}),
       text({0}, {}), text({1}, {"d"}), text({0}, {}), flags({1}, {1}), f32({1}, {7})}, {{"Nfeature_list_dense", std::int64_t{1}},
       {"context_dense_shapes", std::vector<tensor_shape_proto>{to_proto(extent_of({1}))}}, {"feature_list_dense_types",
       std::vector<data_type>{data_type::float32}}, {"feature_list_dense_shapes",
       std::vector<tensor_shape_proto>{to_proto(extent_of({2}))}}, {"Tcontext_dense", std::vector<data_type>{data_type::float32}}},
       {f32({2, 1}, {1.5, 7}), f32({2, 2, 2}, {1, 2, 3, 4, 0, 0, 0, 0}), i64({2}, {2, 0})}},
      {"ParseSequenceExampleV2", {text({}, {first}), text({0}, {}), text({1}, {"s"}), text({1}, {"b"}), text({1}, {"a"}), text({1},
       {"d"}), text({0}, {}), text({1}, {"t"}), flags({0}, {}), f32({}, {3})}, {{"Ncontext_sparse", std::int64_t{1}},
       {"Nfeature_list_sparse", std::int64_t{1}}, {"context_sparse_types", std::vector<data_type>{data_type::string}},
       {"context_ragged_value_types", std::vector<data_type>{data_type::int64}}, {"context_ragged_split_types",
       std::vector<data_type>{data_type::int64}}, {"context_dense_shapes", std::vector<tensor_shape_proto>{to_proto(extent_of({}))}},
       {"feature_list_sparse_types", std::vector<data_type>{data_type::float32}}, {"feature_list_ragged_value_types",
       std::vector<data_type>{data_type::int64}}, {"feature_list_ragged_split_types", std::vector<data_type>{data_type::int64}},
       {"Tcontext_dense", std::vector<data_type>{data_type::float32}}}, {i64({2, 1}, {0, 1}), text({2}, {"x", "y"}), i64({1}, {2}),
       f32({}, {1.5}), i64({2}, {1, 2}), i64({0}, {}), i64({4, 2}, {0, 0, 0, 1, 1, 0, 1, 1}), f32({4}, {1, 2, 3, 4}), i64({2}, {2, 2}),
       i64({3}, {1, 2, 3}), i64({0}, {}), i64({4}, {0, 2, 3, 3})}},
      {"ParseSequenceExampleV2", {text({}, {first}), text({0}, {}), text({0}, {}), text({0}, {}), text({0}, {}), text({0}, {}),
       text({1}, {"d"}), text({0}, {}), flags({1}, {0})}, {{"Nfeature_list_dense", std::int64_t{1}}, {"feature_list_dense_types",
       std::vector<data_type>{data_type::float32}}, {"feature_list_dense_shapes",
       std::vector<tensor_shape_proto>{to_proto(extent_of({2}))}}}, {f32({2, 2}, {1, 2, 3, 4}), i64({}, {2})}},
      {"ParseSequenceExampleV2", {text({0}, {}), text({0}, {}), text({1}, {"s"}), text({0}, {}), text({1}, {"a"}), text({1}, {"q"}),
       text({1}, {"d"}), text({1}, {"t"}), flags({1}, {0})}, {{"Ncontext_sparse", std::int64_t{1}}, {"Nfeature_list_sparse",
       std::int64_t{1}}, {"Nfeature_list_dense", std::int64_t{1}}, {"context_sparse_types", std::vector<data_type>{data_type::string}},
       {"context_ragged_value_types", std::vector<data_type>{data_type::int64}}, {"context_ragged_split_types",
       std::vector<data_type>{data_type::int64}}, {"feature_list_sparse_types", std::vector<data_type>{data_type::int64}},
       {"feature_list_dense_types", std::vector<data_type>{data_type::float32}}, {"feature_list_dense_shapes",
       std::vector<tensor_shape_proto>{to_proto(extent_of({2}))}}, {"feature_list_ragged_value_types",
       std::vector<data_type>{data_type::int64}}, {"feature_list_ragged_split_types", std::vector<data_type>{data_type::int64}}},
       {i64({0, 2}, {}), text({0}, {}), i64({2}, {0, 0}), i64({0}, {}), i64({1}, {0}), i64({0, 3}, {}), i64({0}, {}), i64({3}, {0, 0,
       0}), f32({0, 0, 2}, {}), i64({0}, {}), i64({0}, {}), i64({1}, {0}), i64({1}, {0})}},
      {"ParseSequenceExample", {text({2}, {first, second}), text({0}, {}), f32({0}, {})}, {{"feature_list_dense_missing_assumed_empty",
       std::vector<std::string>{"q"}}, {"context_sparse_keys", std::vector<std::string>{"a", "s"}}, {"context_dense_keys",
       std::vector<std::string>{"b"}}, {"feature_list_sparse_keys", std::vector<std::string>{"t"}}, {"feature_list_dense_keys",
       std::vector<std::string>{"d", "q"}}, {"Ncontext_sparse", std::int64_t{2}}, {"Ncontext_dense", std::int64_t{1}},
       {"Nfeature_list_sparse", std::int64_t{1}}, {"Nfeature_list_dense", std::int64_t{2}}, {"context_sparse_types",
       std::vector<data_type>{data_type::int64, data_type::string}}, {"Tcontext_dense", std::vector<data_type>{data_type::float32}},
       {"feature_list_dense_types", std::vector<data_type>{data_type::float32, data_type::string}}, {"context_dense_shapes",
       std::vector<tensor_shape_proto>{to_proto(extent_of({1}))}}, {"feature_list_sparse_types",
       std::vector<data_type>{data_type::int64}}, {"feature_list_dense_shapes",
       std::vector<tensor_shape_proto>{to_proto(extent_of({2})), to_proto(extent_of({}))}}}, {i64({2, 2}, {0, 0, 0, 1}), i64({2, 2},
       {0, 0, 0, 1}), i64({2}, {1, 2}), text({2}, {"x", "y"}), i64({2}, {2, 2}), i64({2}, {2, 2}), f32({2, 1}, {1.5, 2.5}), i64({4, 3},
       {0, 0, 0, 0, 0, 1, 0, 1, 0, 1, 0, 0}), i64({4}, {1, 2, 3, 9}), i64({3}, {2, 3, 2}), f32({2, 3, 2}, {1, 2, 3, 4, 0, 0, 5, 6, 7,
       8, 0, 1}), text({2, 0}, {}), i64({2}, {2, 3}), i64({2}, {0, 0})}},
      {"ParseSingleSequenceExample", {text({}, {first}), text({1}, {"q"}), text({}, {"a"}), text({}, {"z"}), text({}, {"b"}), text({},
       {"s"}), text({}, {"t"}), text({}, {"z"}), text({}, {"d"}), text({}, {"q"}), f32({0}, {}), text({2}, {"k", "l"}), text({},
       {""})}, {{"Ncontext_sparse", std::int64_t{2}}, {"Ncontext_dense", std::int64_t{2}}, {"Nfeature_list_sparse", std::int64_t{2}},
       {"Nfeature_list_dense", std::int64_t{2}}, {"context_sparse_types", std::vector<data_type>{data_type::int64,
       data_type::float32}}, {"Tcontext_dense", std::vector<data_type>{data_type::float32, data_type::string}},
       {"feature_list_dense_types", std::vector<data_type>{data_type::float32, data_type::int64}}, {"context_dense_shapes",
       std::vector<tensor_shape_proto>{to_proto(extent_of({1})), to_proto(extent_of({2}))}}, {"feature_list_sparse_types",
       std::vector<data_type>{data_type::int64, data_type::string}}, {"feature_list_dense_shapes",
       std::vector<tensor_shape_proto>{to_proto(extent_of({2})), to_proto(extent_of({3}))}}}, {i64({2, 1}, {0, 1}), i64({0, 1}, {}),
       i64({2}, {1, 2}), f32({0}, {}), i64({1}, {2}), i64({1}, {0}), f32({1}, {1.5}), text({2}, {"x", "y"}), i64({3, 2}, {0, 0, 0, 1,
       1, 0}), i64({0, 2}, {}), i64({3}, {1, 2, 3}), text({0}, {}), i64({2}, {3, 2}), i64({2}, {0, 0}), f32({2, 2}, {1, 2, 3, 4}),
       i64({0, 3}, {})}},
      {"ParseSingleSequenceExample", {text({}, {third}), text({0}, {}), text({}, {"a"}), text({}, {"s"}), text({}, {"t"}), text({},
       {""})}, {{"Ncontext_sparse", std::int64_t{2}}, {"Nfeature_list_sparse", std::int64_t{1}}, {"context_sparse_types",
       std::vector<data_type>{data_type::int64, data_type::string}}, {"feature_list_sparse_types",
       std::vector<data_type>{data_type::int64}}}, {i64({0, 1}, {}), i64({0, 1}, {}), i64({0}, {}), text({0}, {}), i64({1}, {0}),
       i64({1}, {0}), i64({3, 2}, {2, 0, 2, 1, 2, 2}), i64({3}, {4, 5, 6}), i64({2}, {3, 3})}}};
  // clang-format on
  return list;
}

using types = std::vector<data_type>;
using extents = std::vector<tensor_shape_proto>;
/// Keys, and their dtype and shape in the node of sequences that `refused` runs.
struct wanted {
  std::vector<std::string> context_sparse{}, context_dense{}, context_ragged{}, sparse{}, dense{}, ragged{};
  data_type type = data_type::int64;
  size_list extent{1};
  tensor_value fallback = i64({0}, {});
  std::vector<std::string> names{};
};
attribute_map settings_of(const wanted& w, bool has_ragged) {
  const auto all = [&](const std::vector<std::string>& keys) { return types(keys.size(), w.type); };
  const auto count = [](const std::vector<std::string>& keys) { return static_cast<std::int64_t>(keys.size()); };
  const auto shapes = [&](const std::vector<std::string>& keys) { return extents(keys.size(), to_proto(extent_of(w.extent))); };
  attribute_map made{{"Ncontext_sparse", count(w.context_sparse)},
                     {"Nfeature_list_sparse", count(w.sparse)},
                     {"Nfeature_list_dense", count(w.dense)},
                     {"context_sparse_types", all(w.context_sparse)},
                     {"Tcontext_dense", all(w.context_dense)},
                     {"context_dense_shapes", shapes(w.context_dense)},
                     {"feature_list_sparse_types", all(w.sparse)},
                     {"feature_list_dense_types", all(w.dense)},
                     {"feature_list_dense_shapes", shapes(w.dense)}};
  if (has_ragged) {
    made["context_ragged_value_types"] = all(w.context_ragged);
    made["context_ragged_split_types"] = types(w.context_ragged.size(), data_type::int64);
    made["feature_list_ragged_value_types"] = all(w.ragged);
    made["feature_list_ragged_split_types"] = types(w.ragged.size(), data_type::int64);
  } else {
    made["Ncontext_dense"] = count(w.context_dense);
  }
  return made;
}
bool refused(const std::vector<std::string>& messages, const wanted& w, std::string_view words) {
  const auto keys = [](const std::vector<std::string>& list) { return tensor_value(list); };
  std::vector<tensor_value> inputs{keys(messages),         keys(w.names), keys(w.context_sparse), keys(w.context_dense),
                                   keys(w.context_ragged), keys(w.sparse), keys(w.dense),          keys(w.ragged),
                                   flags({static_cast<std::int64_t>(w.dense.size())}, std::vector<int>(w.dense.size(), 0))};
  for (std::size_t k = 0; k < w.context_dense.size(); ++k) inputs.push_back(w.fallback);
  return refuses("ParseSequenceExampleV2", inputs, settings_of(w, true), words);
}
/// The same of one message, with a name.
bool single_refused(const std::string& message, const wanted& w, std::string_view words) {
  std::vector<tensor_value> inputs{tensor_value(message), text({0}, {})};
  for (const auto* list : {&w.context_sparse, &w.context_dense, &w.sparse, &w.dense})
    for (const std::string& key : *list) inputs.emplace_back(key);
  for (std::size_t k = 0; k < w.context_dense.size(); ++k) inputs.push_back(w.fallback);
  inputs.emplace_back("nm");
  return refuses("ParseSingleSequenceExample", inputs, settings_of(w, false), words);
}

TEST_CASE("sequences of examples have TensorFlow's values") { check_recorded(recordings()); }

TEST_CASE("sequences of examples refuse as TensorFlow does") {
  const auto real = data_type::float32;
  const std::string invalid = "Invalid protocol message input, example id: <unknown>";
  CHECK(refused({first.substr(0, first.size() - 3)}, {.sparse = {"t"}}, invalid));
  CHECK(refused({"\x0a\x05" "ab"}, {.sparse = {"t"}}, invalid));
  CHECK(refused({"\xff\xff\xff"}, {.sparse = {"t"}}, invalid));
  CHECK(refused({first, second}, {.sparse = {"t"}, .names = {"n"}}, "example_names must be empty or have the correct number of elements"));
  CHECK(refused({first, second}, {.sparse = {"t"}, .type = real, .names = {"n1", "n2"}},
                "Name: n1, Feature list: t, Index: 0.  Data types don't match. Expected type: float"));
  CHECK(refused({first}, {.context_sparse = {"a"}, .type = real}, "Name: <unknown>, Context feature: a.  Data types don't match. Expected type: float"));
  CHECK(refused({first}, {.context_dense = {"a"}, .type = real, .fallback = f32({0}, {})}, "Context feature: a.  Data types don't match."));
  CHECK(refused({first}, {.context_dense = {"a"}, .extent = {3}}, "Inconsistent max number of elements for feature a: expected 3, but found 2"));
  CHECK(refused({first}, {.context_dense = {"a"}, .extent = {3}, .fallback = i64({3}, {0, 0, 0})},
                "Unexpected number of elements in example <unknown>"));
  CHECK(refused({first, second}, {.context_dense = {"a"}, .extent = {2}}, "Feature: a (data type: int64) is required but could not be found."));
  CHECK(refused({first}, {.context_dense = {"a"}, .extent = {2}, .fallback = i64({3}, {0, 0, 0})},
                "default_value[0].shape() == [3] != context_dense_shapes[0] == [2]"));
  CHECK(refused({first}, {.context_sparse = {"a"}, .context_dense = {"a"}, .extent = {2}}, "Context feature a cannot be both dense and sparse"));
  CHECK(refused({first}, {.context_sparse = {"a"}, .context_ragged = {"a"}}, "Context feature a cannot be both ragged and sparse"));
  CHECK(refused({first}, {.sparse = {"t"}, .ragged = {"t"}}, "Sequence feature t cannot be both ragged and sparse"));
  CHECK(refused({first}, {.dense = {"t"}, .ragged = {"t"}}, "Sequence feature t cannot be both dense and sparse"));
  CHECK(refused({first}, {.dense = {"q"}, .extent = {2}},
                "Name: <unknown>, Feature list 'q' is required but could not be found.  Did you mean to include it in "
                "feature_list_dense_missing_assumed_empty or feature_list_dense_defaults?"));
  CHECK(refused({first}, {.dense = {"d"}, .type = real, .extent = {3}},
                "Feature list 'd' has an unexpected number of values.  Total values size: 4 is not consistent with output shape: [?,3]"));
  CHECK(refused({first}, {.dense = {"d"}, .type = real, .extent = {4}},
                "Name: <unknown>, Key: d, Index: 0.  Number of values != expected.  values size: 2 but output shape: [4]"));
  CHECK(refused({first}, {.dense = {"d"}, .extent = {2}}, "Name: <unknown>, Feature list: d, Index: 0.  Data types don't match. Expected type: int64"));
  CHECK(refused({first}, {.dense = {"d"}, .type = real, .extent = {0}}, "output shape: [?,0]"));
  CHECK(refused({first}, {.dense = {"d"}, .type = real, .extent = {-1}}, "is not fully defined"));

  CHECK(single_refused(first, {.context_sparse = {"a"}, .type = real}, "Name: nm, Context feature: a.  Data types don't match. Expected type: float"));
  CHECK(single_refused(first, {.context_dense = {"a"}, .extent = {3}},
                       "Name: nm, Key: a, Index: 0.  Number of int64 values != expected.  values size: 2 but output shape: [3]"));
  CHECK(single_refused(first, {.context_dense = {"q"}}, "Name: nm, Context feature 'q' is required but could not be found."));
  CHECK(single_refused(first, {.dense = {"q"}}, "Name: nm, Feature list 'q' is required but could not be found."));
  CHECK(single_refused(first, {.dense = {"d"}, .type = real, .extent = {3}},
                       "Name: nm, Key: d, Index: 0.  Number of float values != expected.  values size: 2 but output shape: [3]"));
  CHECK(single_refused(first, {.dense = {"t"}, .extent = {2}}, "Index: 1.  Number of int64 values != expected."));
  CHECK(single_refused(first, {.sparse = {"d"}}, "Name: nm, Feature List: d, Index: 0.  Data types don't match. Expected type: int64"));
  CHECK(single_refused(first.substr(0, first.size() - 3), {.sparse = {"d"}}, "Could not parse example input, value:"));
}

TEST_CASE("damaged sequences are refused or read, and nothing beyond their ends is") {
  const wanted all{.context_ragged = {"a"}, .sparse = {"t"}};
  for (std::size_t at = 0; at < first.size(); ++at)
    for (const char bits : {'\x01', '\x80', '\x7f'}) {
      std::string message = first.substr(0, bits == '\x01' ? at : first.size());
      if (at < message.size()) message[at] = static_cast<char>(message[at] ^ bits);
      const std::string held(message.begin(), message.end());
      std::vector<tensor_value> inputs{text({1}, {held}), text({0}, {}), text({0}, {}), text({0}, {}), text({1}, {"a"}),
                                       text({1}, {"t"}),  text({0}, {}), text({0}, {}), flags({0}, {})};
      try {
        const auto made = recorded_nodes::run_on("ParseSequenceExampleV2", inputs, settings_of(all, true));
        CHECK(made[1].extent() == extent_of({2}));
        CHECK(made[2].extent()[0] == made[3].extent()[0]);
      } catch (const invalid_argument&) {
      }
    }
}

TEST_CASE("examples from JSON have TensorFlow's bytes") {
  const auto made = [](const std::string& json) { return recorded_nodes::run_on("DecodeJSONExample", {tensor_value(json)}, {})[0].texts()[0]; };
  const auto of = [&](const std::string& list) { return made("{\"features\":{\"feature\":{\"a\":" + list + "}}}"); };
  CHECK(made("{}").empty());
  CHECK(made("{\"features\":null}").empty());
  CHECK(made("{'features':{}}") == "\n\0"s);
  CHECK(made(" {features:{},} ") == "\n\0"s);
  CHECK(made("{\"features\":{},\"features\":{}}") == "\n\0\n\0"s);
  CHECK(of("null") == "\n\x05\n\x03\n\x01" "a");
  CHECK(of("{}") == "\n\x07\n\x05\n\x01" "a\x12\0"s);
  CHECK(of("{\"int64List\":null}") == of("{}"));
  CHECK(of("{\"int64List\":{}}") == "\n\t\n\x07\n\x01" "a\x12\x02\x1a\0"s);
  CHECK(of("{\"int64List\":{\"value\":null}}") == of("{\"int64List\":{}}"));
  CHECK(of("{\"int64List\":{\"value\":[]}}") == of("{\"int64List\":{}}"));
  CHECK(of("{\"int64_list\":{\"value\":[1,]}}") == "\n\x0b\n\t\n\x01" "a\x12\x04\x1a\x02\x08\x01");
  CHECK(of("{\"int64List\":{\"value\":1}}") == of("{\"int64List\":{\"value\":[1]}}"));
  CHECK(of("{\"int64List\":{\"value\":[null]}}") == of("{\"int64List\":{\"value\":[0]}}"));
  CHECK(of("{\"int64List\":{\"value\":[\"1\",2,-3,\"4.0\",5e1]}}") ==
        "\n\x1c\n\x1a\n\x01" "a\x12\x15\x1a\x13\x08\x01\x08\x02\x08\xfd\xff\xff\xff\xff\xff\xff\xff\xff\x01\x08\x04\x08" "2");
  CHECK(of("{\"int64List\":{\"value\":[-9223372036854775808]}}") ==
        "\n\x14\n\x12\n\x01" "a\x12\x0d\x1a\x0b\x08\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01");
  CHECK(made("{\"features\":{\"feature\":{\"b\":{\"floatList\":{\"value\":[1.5,\"NaN\",\"-Infinity\",\"2.5\"]}},\"a\":{\"bytesList\":{\"value\":"
             "[\"aGk=\",\"aGk\",\"-_8=\"]}}}}}") == "\n2\n\x1b\n\x01" "b\x12\x16\x12\x14\x0d\0\0\xc0?\x0d\0\0\xc0\x7f\x0d\0\0\x80\xff\x0d\0\0 @\n\x13\n\x01" "a"
                                                 "\x12\x0e\n\x0c\n\x02hi\n\x02hi\n\x02\xfb\xff"s);
  CHECK(made("{\"features\":{\"feature\":{\"\\u00e9\\n\":{\"int64List\":{\"value\":[1]}}}}}") == "\n\x0d\n\x0b\n\x03\xc3\xa9\n\x12\x04\x1a\x02\x08\x01");
  CHECK(made("{\"features\":{\"feature\":{\"\":{\"int64List\":{\"value\":[0]}}}}}") == "\n\n\n\x08\n\0\x12\x04\x1a\x02\x08\0"s);

  const auto bad = [](const std::string& json, std::string_view words) {
    CHECK(refuses("DecodeJSONExample", {tensor_value(json)}, {}, "Error while parsing JSON: " + std::string(words)));
  };
  const auto bad_list = [&](const std::string& list, std::string_view words) {
    CHECK(refuses("DecodeJSONExample", {tensor_value("{\"features\":{\"feature\":{\"a\":" + list + "}}}")}, {}, words));
  };
  bad("", "unexpected EOF");
  bad("{", "unexpected EOF");
  bad("[]", "near 1:1 (offset 0): unexpected character: '['; expected '{'");
  bad("1", "near 1:1 (offset 0): unexpected character: '1'; expected '{'");
  bad("{} x", "extraneous characters after end of JSON object");
  bad("{\"bad\":1}", "near 1:8 (offset 7): no such field: 'bad'");
  bad("{\"features\":{\"bad\":1}}", "near 1:20 (offset 19): no such field: 'bad'");
  bad("{\"features\":{\"feature\":[]}}", "near 1:24 (offset 23): unexpected character: '['; expected '{'");
  bad_list("{\"int64List\":{\"value\":[1]},\"floatList\":{\"value\":[1]}}",
           "'floatList' has already been set (either directly or as part of a oneof)");
  bad_list("{},\"a\":{}", "got unexpectedly-repeated repeated map key: 'a'");
  bad_list("{\"int64List\":{\"value\":[1.5]}}", "(offset 51): expected integer, but JSON number had fractional part");
  bad_list("{\"int64List\":{\"value\":[\"x\"]}}", "(offset 51): invalid number: 'x'");
  bad_list("{\"int64List\":{\"value\":[9223372036854775808]}}", "(offset 51): JSON number out of range for int");
  bad_list("{\"bytesList\":{\"value\":[\"a*\"]}}", "(offset 51): corrupt base64");
  bad_list("{\"bytesList\":{\"value\":[1]}}", "(offset 51): unexpected character: '1'; expected '\"'");
  bad_list("{\"floatList\":{\"value\":[\"x\"]}}", "(offset 51): non-number characters in quoted number");
  bad_list("{\"floatList\":{\"value\":[1e99]}}", "(offset 51): float out of range");
  bad_list("{\"floatList\":{\"value\":[true]}}", "(offset 51): expected number or string");
  bad("{\"\\ud800\":1}", "near 1:9 (offset 8): unpaired high surrogate");
  bad("{\"\\u12", "unexpected EOF");
  bad("{\"a", "unexpected EOF");
  bad("{\"a\\", "unexpected EOF");
}

}  // namespace sequence_example_tests
