// TensorFlow's operators of datasets in graphs from files: their elements are those of TensorFlow, and no graph makes a run crash or hang.

#include <leat/data/graph_datasets.hpp>
#include <leat/graphs.hpp>
#include <leat/io/text.hpp>
#include <leat/session/graph_session.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <optional>
#include <set>
#include <string>
#include <vector>

using namespace leat;
using namespace std::string_literals;

namespace {
namespace of_graph_datasets {

using integer_list = std::vector<std::int64_t>;

std::string inputs_text(const std::vector<std::string>& inputs) {
  std::string text;
  for (const auto& in : inputs) text += " input: '" + in + "'";
  return text;
}
std::string node_text(const std::string& name, const std::string& op, const std::vector<std::string>& inputs = {},
                      const std::string& more = "") {
  return "node { name: '" + name + "' op: '" + op + "'" + inputs_text(inputs) + " " + more + " }\n";
}
std::string in_function_text(const std::string& name, const std::string& op, const std::vector<std::string>& inputs,
                             const std::string& more = "") {
  return "node_def { name: '" + name + "' op: '" + op + "'" + inputs_text(inputs) + " " + more + " }\n";
}
std::string type_attr_text(const std::string& name, const std::string& type) {
  return "attr { key: '" + name + "' value { type: " + type + " } } ";
}
std::string types_attr_text(const std::string& name, const std::string& types) {
  return "attr { key: '" + name + "' value { list { type: " + types + " } } } ";
}
std::string function_attr_text(const std::string& name, const std::string& f) {
  return "attr { key: '" + name + "' value { func { name: '" + f + "' } } } ";
}
// What dataset and iterator nodes state of elements of one component of any shape.
std::string elements_text(const std::string& type = "DT_INT64", const std::string& attribute = "output_types") {
  return types_attr_text(attribute, type) + "attr { key: 'output_shapes' value { list { shape { unknown_rank: true } } } } ";
}
std::string scalar_text(const std::string& name, std::int64_t value) {
  return node_text(name, "Const", {},
                   type_attr_text("dtype", "DT_INT64") +
                       "attr { key: 'value' value { tensor { dtype: DT_INT64 tensor_shape { } int64_val: " + std::to_string(value) +
                       " } } }");
}
std::string flag_text(const std::string& name, bool value) {
  return node_text(name, "Const", {},
                   type_attr_text("dtype", "DT_BOOL") + "attr { key: 'value' value { tensor { dtype: DT_BOOL tensor_shape { } bool_val: " +
                       (value ? "true" : "false") + " } } }");
}
std::string word_text(const std::string& name, const std::string& value) {
  return node_text(name, "Const", {},
                   type_attr_text("dtype", "DT_STRING") +
                       "attr { key: 'value' value { tensor { dtype: DT_STRING tensor_shape { } string_val: '" + value + "' } } }");
}
std::string range_text(const std::string& name, std::int64_t stop) {
  return scalar_text(name + "/0", 0) + scalar_text(name + "/n", stop) + scalar_text(name + "/1", 1) +
         node_text(name, "RangeDataset", {name + "/0", name + "/n", name + "/1"}, elements_text());
}
std::string dataset_text(const std::string& name, const std::string& op, const std::vector<std::string>& inputs,
                         const std::string& more = "") {
  return node_text(name, op, inputs, elements_text() + more);
}
std::string function_text(const std::string& name, const std::string& inputs, const std::string& outputs, const std::string& nodes,
                          const std::string& ret) {
  std::string signature = "signature { name: '" + name + "' ";
  const auto add = [&](const std::string& kind, const std::string& list) {
    for (std::size_t at = 0; at < list.size();) {
      const auto colon = list.find(':', at), end = std::min(list.find(' ', at), list.size());
      signature += kind + " { name: '" + list.substr(at, colon - at) + "' type: " + list.substr(colon + 1, end - colon - 1) + " } ";
      at = end + 1;
    }
  };
  add("input_arg", inputs);
  add("output_arg", outputs);
  return "function { " + signature + "} " + nodes + " ret { key: 'y' value: '" + ret + "' } }\n";
}
// x * x.
std::string square_text(const std::string& name = "square") {
  return function_text(name, "x:DT_INT64", "y:DT_INT64", in_function_text("m", "Mul", {"x", "x"}, type_attr_text("T", "DT_INT64")),
                       "m:z:0");
}
// x < limit.
std::string below_text(const std::string& name = "below") {
  return function_text(name, "x:DT_INT64 limit:DT_INT64", "y:DT_BOOL",
                       in_function_text("m", "Less", {"x", "limit"}, type_attr_text("T", "DT_INT64")), "m:z:0");
}
// The numbers below x, as a dataset.
std::string up_to_text() {
  return function_text("up_to", "x:DT_INT64", "y:DT_VARIANT",
                       in_function_text("zero", "Sub", {"x", "x"}, type_attr_text("T", "DT_INT64")) +
                           in_function_text("one", "OnesLike", {"x"}, type_attr_text("T", "DT_INT64")) +
                           in_function_text("d", "RangeDataset", {"zero:z:0", "x", "one:y:0"}, elements_text()),
                       "d:handle:0");
}
std::string mapped_text(const std::string& name, const std::string& op, const std::string& from, const std::string& attribute,
                        const std::string& f, const std::vector<std::string>& captured = {}, const std::vector<std::string>& behind = {}) {
  std::vector<std::string> inputs{from};
  inputs.insert(inputs.end(), captured.begin(), captured.end());
  inputs.insert(inputs.end(), behind.begin(), behind.end());
  const std::string types = captured.empty() ? "attr { key: 'Targuments' value { list { } } } " : types_attr_text("Targuments", "DT_INT64");
  return dataset_text(name, op, inputs, function_attr_text(attribute, f) + types);
}

// A graph from a file with an iterator of its dataset "d".
struct iterated_graph {
  graph g;
  std::optional<graph_session> session;

  explicit iterated_graph(const std::string& nodes, const std::string& functions = "", session_options options = {},
                          const std::string& structure = elements_text()) {
    const std::string text = nodes +
                             node_text("it", "IteratorV2", {},
                                       structure +
                                           "attr { key: 'shared_name' value { s: '' } } "
                                           "attr { key: 'container' value { s: '' } } ") +
                             node_text("begin", "MakeIterator", {"d", "it"}) + node_text("next", "IteratorGetNext", {"it"}, structure) +
                             "library {\n" + functions + "}\nversions { producer: 1286 }\n";
    g.named();
    import_graph(g, io::read_text<graph_def>(text), {.name = ""});
    session.emplace(g, options);
  }
  void begin() { session->run({fetch_item(get_operation_by_name(g, "begin"))}); }
  tensor_value next(const run_options& how = {}) { return session->run({fetch_item(get_tensor_by_name(g, "next:0"))}, {}, how)[0]; }
  // All elements that are numbers, or arrays of these, in a row.
  integer_list all(std::size_t most = 100) {
    begin();
    integer_list list;
    try {
      while (list.size() < most) {
        const tensor_value v = next();
        for (const std::int64_t n : v.values<std::int64_t>()) list.push_back(n);
      }
    } catch (const out_of_range& e) {
      CHECK(std::string(e.what()).starts_with("End of sequence"));
    }
    return list;
  }
  std::vector<std::string> words() {
    begin();
    std::vector<std::string> list;
    try {
      for (;;) {
        const tensor_value v = next();
        list.insert(list.end(), v.texts().begin(), v.texts().end());
      }
    } catch (const out_of_range&) {
    }
    return list;
  }
};
integer_list elements_of(const std::string& nodes, const std::string& functions = "") { return iterated_graph(nodes, functions).all(); }

template <class E>
std::string failure_of(iterated_graph& m) {
  try {
    m.begin();
    for (int k = 0; k < 1000; ++k) m.next();
  } catch (const E& e) {
    return e.what();
  } catch (const std::exception& e) {
    return "another error: "s + e.what();
  }
  return "no error";
}
template <class E>
std::string failure_of(const std::string& nodes, const std::string& functions = "", session_options options = {}) {
  iterated_graph m(nodes, functions, std::move(options));
  return failure_of<E>(m);
}
bool says_part(const std::string& text, const std::string& part) {
  const bool found = text.find(part) != text.npos;
  if (!found) MESSAGE(text);
  return found;
}

}  // namespace of_graph_datasets
using namespace of_graph_datasets;
}  // namespace

TEST_CASE("datasets of a file's graph: what selects and orders elements") {
  CHECK(elements_of(range_text("d", 4)) == integer_list{0, 1, 2, 3});
  CHECK(elements_of(range_text("r", 5) + scalar_text("n", 2) + dataset_text("d", "BatchDataset", {"r", "n"})) ==
        integer_list{0, 1, 2, 3, 4});
  CHECK(elements_of(range_text("r", 5) + scalar_text("n", 2) + flag_text("drop", true) +
                    dataset_text("d", "BatchDatasetV2", {"r", "n", "drop"})) == integer_list{0, 1, 2, 3});
  CHECK(elements_of(range_text("r", 2) + scalar_text("n", 3) + dataset_text("d", "RepeatDataset", {"r", "n"})) ==
        integer_list{0, 1, 0, 1, 0, 1});
  CHECK(elements_of(range_text("r", 5) + scalar_text("n", 2) + dataset_text("d", "TakeDataset", {"r", "n"})) == integer_list{0, 1});
  CHECK(elements_of(range_text("r", 5) + scalar_text("n", 2) + dataset_text("d", "SkipDataset", {"r", "n"})) == integer_list{2, 3, 4});
  CHECK(elements_of(range_text("r", 5) + scalar_text("n", -1) + dataset_text("d", "TakeDataset", {"r", "n"})).size() == 5);
  CHECK(elements_of(range_text("r", 5) + scalar_text("n", -1) + dataset_text("d", "SkipDataset", {"r", "n"})).empty());
  CHECK(elements_of(range_text("r", 7) + scalar_text("n", 3) + scalar_text("k", 1) + dataset_text("d", "ShardDataset", {"r", "n", "k"})) ==
        integer_list{1, 4});
  CHECK(elements_of(range_text("r", 2) + range_text("s", 3) + dataset_text("d", "ConcatenateDataset", {"r", "s"})) ==
        integer_list{0, 1, 0, 1, 2});
  CHECK(elements_of(range_text("r", 3) + word_text("file", "") + dataset_text("c", "CacheDataset", {"r", "file"}) + scalar_text("n", 2) +
                    dataset_text("d", "RepeatDataset", {"c", "n"})) == integer_list{0, 1, 2, 0, 1, 2});
  CHECK(elements_of(range_text("r", 4) + scalar_text("n", 8) + dataset_text("d", "PrefetchDataset", {"r", "n"})).size() == 4);
  CHECK(elements_of(range_text("r", 0) + scalar_text("n", -1) + dataset_text("d", "RepeatDataset", {"r", "n"})).empty());
}

TEST_CASE("datasets of a file's graph: a shuffle is a permutation that its seeds and buffer decide") {
  const auto shuffled = [](std::int64_t seed, std::int64_t buffer, bool again) {
    return range_text("r", 12) + scalar_text("n", buffer) + scalar_text("a", seed) + scalar_text("b", 7) +
           dataset_text("s", "ShuffleDataset", {"r", "n", "a", "b"},
                        "attr { key: 'reshuffle_each_iteration' value { b: "s + (again ? "true" : "false") + " } } ") +
           scalar_text("times", 2) + dataset_text("d", "RepeatDataset", {"s", "times"});
  };
  const integer_list first = elements_of(shuffled(1, 12, true));
  CHECK(first == elements_of(shuffled(1, 12, true)));
  CHECK(first != elements_of(shuffled(2, 12, true)));
  integer_list one(first.begin(), first.begin() + 12), two(first.begin() + 12, first.end());
  CHECK(one != two);
  const integer_list same = elements_of(shuffled(1, 12, false));
  CHECK(integer_list(same.begin(), same.begin() + 12) == integer_list(same.begin() + 12, same.end()));
  std::sort(one.begin(), one.end());
  std::sort(two.begin(), two.end());
  CHECK(one == two);
  CHECK(one == elements_of(range_text("d", 12)));
  // An element comes no earlier than a buffer's length before its place.
  const integer_list near = elements_of(shuffled(1, 3, true));
  for (int k = 0; k < 12; ++k) CHECK(near[static_cast<std::size_t>(k)] <= k + 2);
}

TEST_CASE("datasets of a file's graph: with seeds, orders and random integers are TensorFlow's") {
  const auto shuffled = [](std::int64_t count, std::int64_t buffer, bool again, std::int64_t times) {
    return range_text("r", count) + scalar_text("n", buffer) + scalar_text("a", 87654321) + scalar_text("b", 5) +
           dataset_text("s", "ShuffleDataset", {"r", "n", "a", "b"},
                        "attr { key: 'reshuffle_each_iteration' value { b: "s + (again ? "true" : "false") + " } } ") +
           scalar_text("times", times) + dataset_text("d", "RepeatDataset", {"s", "times"});
  };
  CHECK(elements_of(shuffled(10, 20, true, 1)) == integer_list{5, 3, 0, 2, 7, 6, 4, 1, 9, 8});
  CHECK(elements_of(shuffled(10, 4, true, 1)) == integer_list{1, 4, 5, 6, 2, 7, 0, 3, 9, 8});
  CHECK(elements_of(shuffled(6, 4, true, 3)) == integer_list{1, 4, 5, 2, 3, 0, 0, 4, 5, 1, 2, 3, 3, 1, 5, 4, 0, 2});
  CHECK(elements_of(shuffled(6, 4, false, 3)) == integer_list{3, 4, 2, 5, 1, 0, 3, 4, 2, 5, 1, 0, 3, 4, 2, 5, 1, 0});
  CHECK(elements_of(range_text("r", 6) + scalar_text("times", 3) + dataset_text("t", "RepeatDataset", {"r", "times"}) + scalar_text("n", 4) +
                    scalar_text("a", 87654321) + scalar_text("b", 5) +
                    dataset_text("d", "ShuffleDataset", {"t", "n", "a", "b"},
                                 "attr { key: 'reshuffle_each_iteration' value { b: true } } ")) ==
        integer_list{1, 4, 5, 0, 2, 1, 0, 3, 3, 0, 1, 4, 5, 2, 4, 3, 2, 5});
  CHECK(elements_of(scalar_text("a", 87654321) + scalar_text("b", 5) + dataset_text("i", "RandomDataset", {"a", "b"}) + scalar_text("n", 4) +
                    dataset_text("d", "TakeDataset", {"i", "n"})) == integer_list{3568415791, 2798973839, 2476249224, 2816106479});
}

TEST_CASE("datasets of a file's graph: functions of the library") {
  CHECK(elements_of(range_text("r", 4) + mapped_text("d", "MapDataset", "r", "f", "square"), square_text()) == integer_list{0, 1, 4, 9});
  CHECK(elements_of(range_text("r", 9) + scalar_text("limit", 3) + mapped_text("d", "FilterDataset", "r", "predicate", "below", {"limit"}),
                    below_text()) == integer_list{0, 1, 2});
  CHECK(elements_of(range_text("r", 4) + mapped_text("d", "FlatMapDataset", "r", "f", "up_to"), up_to_text()) ==
        integer_list{0, 0, 1, 0, 1, 2});
  CHECK(elements_of(range_text("r", 4) + scalar_text("cycle", 2) + scalar_text("block", 1) +
                        mapped_text("d", "InterleaveDataset", "r", "f", "up_to", {}, {"cycle", "block"}),
                    up_to_text()) == integer_list{0, 0, 1, 0, 1, 2});
  // A function that calls a function.
  const std::string outer = function_text(
      "outer", "x:DT_INT64", "y:DT_INT64",
      in_function_text("c", "PartitionedCall", {"x"},
                       types_attr_text("Tin", "DT_INT64") + types_attr_text("Tout", "DT_INT64") + function_attr_text("f", "square")),
      "c:output:0");
  CHECK(elements_of(range_text("r", 3) + mapped_text("d", "MapDataset", "r", "f", "outer"), outer + square_text()) ==
        integer_list{0, 1, 4});
}

TEST_CASE("datasets of a file's graph: elements of narrow dtypes") {
  // The numbers 1 to 5 as a tensor in the field of the dtype; halves are told by their bits.
  struct row {
    const char *type, *field, *numbers;
    data_type is;
  };
  for (const row& r : {row{"DT_UINT16", "int_val", "1 2 3 4 5", data_type::uint16},
                       {"DT_INT8", "int_val", "1 2 3 4 5", data_type::int8},
                       {"DT_UINT32", "uint32_val", "1 2 3 4 5", data_type::uint32},
                       {"DT_UINT64", "uint64_val", "1 2 3 4 5", data_type::uint64},
                       {"DT_HALF", "half_val", "15360 16384 16896 17408 17664", data_type::half}}) {
    CAPTURE(r.type);
    std::string values, one, zero;
    const std::string numbers = r.numbers, field = r.field;
    for (std::size_t at = 0; at < numbers.size();) {
      const std::size_t end = std::min(numbers.find(' ', at), numbers.size());
      values += " " + field + ": " + numbers.substr(at, end - at);
      at = end + 1;
    }
    const auto constant_of = [&](const std::string& name, const std::string& extent, const std::string& contents) {
      return node_text(name, "Const", {},
                       type_attr_text("dtype", r.type) + "attr { key: 'value' value { tensor { dtype: " + r.type + " tensor_shape { " +
                           extent + " } " + contents + " } } }");
    };
    const std::string structure = elements_text(r.type);
    const std::string slices =
        constant_of("c", "dim { size: 5 }", values) + node_text("s", "TensorSliceDataset", {"c"}, elements_text(r.type, "Toutput_types"));
    const std::string twice = function_text("twice", "x:"s + r.type, "y:"s + r.type,
                                            in_function_text("m", "AddV2", {"x", "x"}, type_attr_text("T", r.type)), "m:z:0");
    const std::string mapped = node_text("m", "MapDataset", {"s"},
                                         structure + function_attr_text("f", "twice") + "attr { key: 'Targuments' value { list { } } } ");
    const auto numbers_of = [&](iterated_graph& graph) {
      std::vector<double> list;
      graph.begin();
      try {
        while (list.size() < 100) {
          const tensor_value v = graph.next();
          CHECK(to_data_type(v.type()) == r.is);
          const tensor_value wide = v.widened();
          with_number(wide.type(), [&]<class T>(T) {
            for (const T x : wide.values<T>()) list.push_back(static_cast<double>(x));
          });
        }
      } catch (const out_of_range&) {
      }
      return list;
    };
    iterated_graph doubled(slices + mapped + scalar_text("n", 2) + node_text("d", "BatchDataset", {"m", "n"}, structure), twice, {},
                           structure);
    CHECK(numbers_of(doubled) == std::vector<double>{2, 4, 6, 8, 10});
    // Batches of two, apart again but for the last one, as one padded array.
    iterated_graph padded(slices + scalar_text("n", 2) + node_text("b", "BatchDataset", {"s", "n"}, structure) + scalar_text("k", 3) +
                              node_text("width", "Const", {},
                                        type_attr_text("dtype", "DT_INT64") +
                                            "attr { key: 'value' value { tensor { dtype: DT_INT64 tensor_shape { dim { size: 1 } } "
                                            "int64_val: -1 } } }") +
                              constant_of("fill", "", " " + field + ": " + numbers.substr(0, numbers.find(' '))) +
                              node_text("d", "PaddedBatchDataset", {"b", "k", "width", "fill"},
                                        elements_text(r.type, "Toutput_types") + "attr { key: 'N' value { i: 1 } } "),
                          "", {}, structure);
    CHECK(numbers_of(padded) == std::vector<double>{1, 2, 3, 4, 5, 1});
    iterated_graph range(scalar_text("0", 0) + scalar_text("3", 3) + scalar_text("1", 1) +
                             node_text("d", "RangeDataset", {"0", "3", "1"}, structure),
                         "", {}, structure);
    CHECK(numbers_of(range) == std::vector<double>{0, 1, 2});
  }
}

TEST_CASE("datasets of a file's graph: a function reads a variable that it captured by its handle") {
  const std::string variable = type_attr_text("dtype", "DT_INT64") + "attr { key: 'shape' value { shape { } } } ";
  const std::string reads = function_text("plus_v", "x:DT_INT64 v:DT_RESOURCE", "y:DT_INT64",
                                          in_function_text("r", "ReadVariableOp", {"v"}, type_attr_text("dtype", "DT_INT64")) +
                                              in_function_text("m", "AddV2", {"x", "r:value:0"}, type_attr_text("T", "DT_INT64")),
                                          "m:z:0");
  iterated_graph m(range_text("r", 3) + scalar_text("n", 10) + node_text("v", "VarHandleOp", {}, variable) +
                       node_text("set", "AssignVariableOp", {"v", "n"}, type_attr_text("dtype", "DT_INT64")) +
                       dataset_text("d", "MapDataset", {"r", "v"},
                                    function_attr_text("f", "plus_v") + types_attr_text("Targuments", "DT_RESOURCE")),
                   reads);
  m.session->run({fetch_item(get_operation_by_name(m.g, "set"))});
  CHECK(m.all() == integer_list{10, 11, 12});
}

TEST_CASE("datasets of a file's graph: random numbers of a function differ from element to element") {
  const std::string f =
      function_text("draw", "x:DT_INT64", "y:DT_INT64",
                    in_function_text("size", "Const", {},
                                     type_attr_text("dtype", "DT_INT32") +
                                         "attr { key: 'value' value { tensor { dtype: DT_INT32 tensor_shape { dim { size: 0 } } } } }") +
                        in_function_text("r", "RandomUniform", {"size:output:0"},
                                         type_attr_text("dtype", "DT_FLOAT") + type_attr_text("T", "DT_INT32") +
                                             "attr { key: 'seed' value { i: 3 } } attr { key: 'seed2' value { i: 5 } } ") +
                        in_function_text("big", "Const", {},
                                         type_attr_text("dtype", "DT_FLOAT") +
                                             "attr { key: 'value' value { tensor { dtype: DT_FLOAT tensor_shape { } float_val: 1e6 } } }") +
                        in_function_text("m", "Mul", {"r:output:0", "big:output:0"}, type_attr_text("T", "DT_FLOAT")) +
                        in_function_text("c", "Cast", {"m:z:0"}, type_attr_text("SrcT", "DT_FLOAT") + type_attr_text("DstT", "DT_INT64")),
                    "c:y:0");
  iterated_graph m(range_text("r", 5) + mapped_text("d", "MapDataset", "r", "f", "draw"), f);
  const integer_list first = m.all();
  REQUIRE(first.size() == 5);
  CHECK(std::set<std::int64_t>(first.begin(), first.end()).size() == 5);
  CHECK(m.all() == first);  // an iterator that begins again draws the same
}

TEST_CASE("datasets of a file's graph: an iterator that begins by itself, by a function of the library") {
  const std::string factory = function_text(
      "factory", "", "y:DT_VARIANT",
      in_function_text("n", "Const", {},
                       type_attr_text("dtype", "DT_INT64") +
                           "attr { key: 'value' value { tensor { dtype: DT_INT64 tensor_shape { } int64_val: 3 } } }") +
          in_function_text("zero", "Sub", {"n:output:0", "n:output:0"}, type_attr_text("T", "DT_INT64")) +
          in_function_text("one", "OnesLike", {"n:output:0"}, type_attr_text("T", "DT_INT64")) +
          in_function_text("r", "RangeDataset", {"zero:z:0", "n:output:0", "one:y:0"}, elements_text()) +
          in_function_text("d", "MapDataset", {"r:handle:0"},
                           elements_text() + function_attr_text("f", "square") + "attr { key: 'Targuments' value { list { } } } "),
      "d:handle:0");
  const std::string text = node_text("it", "OneShotIterator", {}, elements_text() + function_attr_text("dataset_factory", "factory")) +
                           node_text("next", "IteratorGetNext", {"it"}, elements_text()) + "library {\n" + factory + square_text() +
                           "}\nversions { producer: 1286 }\n";
  graph g;
  g.named();
  import_graph(g, io::read_text<graph_def>(text), {.name = ""});
  // A graph is written with the functions that its nodes name, and those that these need.
  const graph_def written = export_graph(g);
  CHECK(says_part(io::write_text(written), "name: \"square\""));
  graph again;
  again.named();
  import_graph(again, written, {.name = ""});
  for (graph* one : {&g, &again}) {
    graph_session s(*one);
    CHECK(s.refusal_of(get_operation_by_name(*one, "it")).empty());
    const auto next = get_tensor_by_name(*one, "next:0");
    for (const std::int64_t want : {0, 1, 4}) CHECK(s.run<std::int64_t>(next) == want);
    CHECK_THROWS_AS(s.run({fetch_item(next)}), out_of_range);
  }
  // The iterator goes on in another session where it was.
  graph_session s(g), other(g);
  const auto next = get_tensor_by_name(g, "next:0");
  s.run({fetch_item(next)});
  const std::string state = iterator_states(s);
  restore_iterator_states(other, state);
  CHECK(other.run<std::int64_t>(next) == 1);
}

TEST_CASE("datasets of a file's graph: elements without an iterator") {
  const std::string add = function_text("add", "a:DT_INT64 x:DT_INT64", "y:DT_INT64",
                                        in_function_text("m", "AddV2", {"a", "x"}, type_attr_text("T", "DT_INT64")), "m:z:0");
  graph g;
  g.named();
  import_graph(g,
               io::read_text<graph_def>(range_text("r", 5) + scalar_text("begin", 100) +
                                        node_text("sum", "ReduceDataset", {"r", "begin"},
                                                  elements_text() + function_attr_text("f", "add") + types_attr_text("Tstate", "DT_INT64") +
                                                      "attr { key: 'Targuments' value { list { } } } ") +
                                        range_text("o", 1) + node_text("one", "DatasetToSingleElement", {"o"}, elements_text()) +
                                        node_text("many", "DatasetToSingleElement", {"r"}, elements_text()) + range_text("z", 0) +
                                        node_text("none", "DatasetToSingleElement", {"z"}, elements_text()) + "library { " + add + " }"),
               {.name = ""});
  graph_session s(g);
  for (int k = 0; k < 2; ++k) CHECK(s.run<std::int64_t>(get_tensor_by_name(g, "sum:0")) == 110);
  CHECK(s.run<std::int64_t>(get_tensor_by_name(g, "one:0")) == 0);
  CHECK_THROWS_AS(s.run({fetch_item(get_tensor_by_name(g, "many:0"))}), invalid_argument);
  CHECK_THROWS_AS(s.run({fetch_item(get_tensor_by_name(g, "none:0"))}), invalid_argument);
}

TEST_CASE("datasets of a file's graph: a function's error names the dataset and the function, and the next element follows") {
  const std::string f = function_text("divide", "x:DT_INT64", "y:DT_INT64",
                                      in_function_text("one", "OnesLike", {"x"}, type_attr_text("T", "DT_INT64")) +
                                          in_function_text("less", "Sub", {"x", "one:y:0"}, type_attr_text("T", "DT_INT64")) +
                                          in_function_text("m", "FloorDiv", {"x", "less:z:0"}, type_attr_text("T", "DT_INT64")),
                                      "m:z:0");
  iterated_graph m(range_text("r", 3) + mapped_text("d", "MapDataset", "r", "f", "divide"), f);
  m.begin();
  CHECK(m.next().values<std::int64_t>()[0] == 0);
  std::string said;
  try {
    m.next();
  } catch (const error& e) {
    said = e.what();
  }
  CHECK(says_part(said, "function 'divide' of the dataset 'd' (MapDataset)"));
  CHECK(m.next().values<std::int64_t>()[0] == 2);
}

TEST_CASE("datasets of a file's graph: a pipeline ends with its run") {
  // Nothing passes the filter, and the range is endless.
  const std::string endless = range_text("r", 1) + scalar_text("n", -1) + dataset_text("e", "RepeatDataset", {"r", "n"}) +
                              scalar_text("limit", -5) + mapped_text("d", "FilterDataset", "e", "predicate", "below", {"limit"});
  {
    session_options options;
    options.operation_timeout_in_ms = 200;
    iterated_graph m(endless, below_text(), options);
    const auto begun = std::chrono::steady_clock::now();
    m.begin();
    CHECK_THROWS_AS(m.next(), deadline_exceeded);
    CHECK(std::chrono::steady_clock::now() - begun < std::chrono::seconds(30));
  }
  {
    iterated_graph m(endless, below_text());
    m.begin();
    cancellation stop;
    stop.cancel();
    run_options how;
    how.cancel = &stop;
    CHECK_THROWS_AS(m.next(how), cancelled);
  }
  // Skipping, and sizes that no memory holds.
  session_options brief;
  brief.operation_timeout_in_ms = 100;
  constexpr std::int64_t huge = std::int64_t{1} << 62;
  CHECK(says_part(failure_of<deadline_exceeded>(
                      range_text("r", huge) + scalar_text("n", huge) + dataset_text("d", "SkipDataset", {"r", "n"}), "", brief),
                  "Timed out"));
}

TEST_CASE("datasets of a file's graph: what stages hold counts toward the session's limit") {
  constexpr std::int64_t huge = std::int64_t{1} << 62;
  session_options limited;
  limited.memory_limit_in_bytes = 4 << 20;
  const std::string n = scalar_text("n", huge) + scalar_text("a", 1) + scalar_text("b", 2);
  CHECK(says_part(failure_of<resource_exhausted>(range_text("r", huge) + n + dataset_text("d", "BatchDataset", {"r", "n"}), "", limited),
                  "memory_limit_in_bytes"));
  CHECK(says_part(
      failure_of<resource_exhausted>(range_text("r", huge) + n + dataset_text("d", "ShuffleDataset", {"r", "n", "a", "b"}), "", limited),
      "memory_limit_in_bytes"));
  CHECK(says_part(
      failure_of<resource_exhausted>(range_text("r", huge) + n + word_text("file", "") + dataset_text("c", "CacheDataset", {"r", "file"}) +
                                         dataset_text("d", "SkipDataset", {"c", "n"}),
                                     "", limited),
      "memory_limit_in_bytes"));
  // So do the arrays that a function makes.
  const std::string wide = function_text(
      "wide", "x:DT_INT64", "y:DT_INT64",
      in_function_text("size", "Const", {},
                       type_attr_text("dtype", "DT_INT32") +
                           "attr { key: 'value' value { tensor { dtype: DT_INT32 tensor_shape { dim { size: 1 } } int_val: 10000 } } }") +
          in_function_text("m", "Fill", {"size:output:0", "x"}, type_attr_text("T", "DT_INT64") + type_attr_text("index_type", "DT_INT32")),
      "m:output:0");
  CHECK(says_part(failure_of<resource_exhausted>(range_text("r", huge) + n + mapped_text("w", "MapDataset", "r", "f", "wide") +
                                                     dataset_text("d", "ShuffleDataset", {"w", "n", "a", "b"}),
                                                 wide, limited),
                  "memory_limit_in_bytes"));
}

TEST_CASE("datasets of a file's graph: graphs that are wrong are refused") {
  const auto is_invalid = [](const std::string& nodes, const std::string& functions, const std::string& part) {
    return says_part(failure_of<invalid_argument>(nodes, functions), part);
  };
  CHECK(is_invalid(range_text("r", 3) + scalar_text("n", 0) + dataset_text("d", "BatchDataset", {"r", "n"}), "",
                   "Batch size must be greater than zero"));
  CHECK(is_invalid(range_text("r", 3) + scalar_text("n", 0) + scalar_text("k", 0) + dataset_text("d", "ShardDataset", {"r", "n", "k"}), "",
                   "Number of shards"));
  CHECK(
      is_invalid(range_text("r", 3) + scalar_text("n", 0) + scalar_text("a", 1) + dataset_text("d", "ShuffleDataset", {"r", "n", "a", "a"}),
                 "", "buffer_size"));
  CHECK(is_invalid(scalar_text("z", 0) + dataset_text("d", "RangeDataset", {"z", "z", "z"}), "", "step must be"));
  // A function that needs itself.
  const std::string loop = function_text(
      "loop", "x:DT_INT64", "y:DT_VARIANT",
      in_function_text("t", "TensorDataset", {"x"}, elements_text("DT_INT64", "Toutput_types")) +
          in_function_text("d", "FlatMapDataset", {"t:handle:0"},
                           elements_text() + function_attr_text("f", "loop") + "attr { key: 'Targuments' value { list { } } } "),
      "d:handle:0");
  CHECK(is_invalid(range_text("r", 3) + mapped_text("d", "FlatMapDataset", "r", "f", "loop"), loop, "needs itself"));
  CHECK(
      says_part(failure_of<not_found>(range_text("r", 3) + mapped_text("d", "MapDataset", "r", "f", "absent"), square_text()), "'absent'"));
  CHECK(says_part(failure_of<not_found>(range_text("r", 3) + mapped_text("d", "MapDataset", "r", "f", "absent")), "'absent'"));
  // Other results than the node states, and arguments that the function does not take.
  CHECK(is_invalid(range_text("r", 3) + scalar_text("n", 2) + mapped_text("d", "MapDataset", "r", "f", "below", {"n"}), below_text(),
                   "instead of int64"));
  CHECK(is_invalid(range_text("r", 3) + mapped_text("d", "MapDataset", "r", "f", "below"), below_text(), "takes 2 arguments"));
  CHECK(is_invalid(range_text("r", 3) + mapped_text("d", "FlatMapDataset", "r", "f", "square"), square_text(), "must return a dataset"));
  CHECK(is_invalid(range_text("r", 3) + mapped_text("d", "FilterDataset", "r", "predicate", "square"), square_text(),
                   "must return a scalar bool"));
  // Datasets that need each other too deeply, and passes without number.
  std::string chain = range_text("d0", 3) + scalar_text("n", 1), doubled = range_text("d0", 3);
  for (int k = 1; k <= 300; ++k)
    chain += dataset_text(k == 300 ? "d" : "d" + std::to_string(k), "SkipDataset", {"d" + std::to_string(k - 1), "n"});
  CHECK(says_part(failure_of<resource_exhausted>(chain), "datasets that need each other"));
  for (int k = 1; k <= 40; ++k)
    doubled += dataset_text(k == 40 ? "d" : "d" + std::to_string(k), "ConcatenateDataset",
                            {"d" + std::to_string(k - 1), "d" + std::to_string(k - 1)});
  session_options brief;
  brief.operation_timeout_in_ms = 300;
  iterated_graph endless(doubled, "", brief);
  endless.begin();
  CHECK(endless.next().values<std::int64_t>()[0] == 0);  // of 3 * 2^40
  std::string zipped = range_text("d0", 3);
  for (int k = 1; k <= 40; ++k)
    zipped += dataset_text(k == 40 ? "d" : "d" + std::to_string(k), "ZipDataset",
                           {"d" + std::to_string(k - 1), "d" + std::to_string(k - 1)}, "attr { key: 'N' value { i: 2 } } ");
  CHECK(says_part(failure_of<resource_exhausted>(zipped), "passes through datasets"));
  // A handle that is none of a dataset.
  CHECK_THROWS_AS(iterated_graph(scalar_text("d", 1)), invalid_argument);
  CHECK(is_invalid(
      range_text("r", 3) + scalar_text("n", 1) + dataset_text("b", "BatchDataset", {"r", "n"}) +
          node_text("d", "MapDataset", {"b"},
                    elements_text("DT_FLOAT") + function_attr_text("f", "square") + "attr { key: 'Targuments' value { list { } } } "),
      square_text(), "instead of float32"));
}

TEST_CASE("datasets of a file's graph: files are within the session's folder") {
  const std::filesystem::path root = std::filesystem::temp_directory_path() / "leat_graph_datasets";
  std::filesystem::remove_all(root);
  std::filesystem::create_directories(root);
  std::ofstream(root / "a.txt", std::ios::binary) << "one\ntwo\r\n\nfour";
  std::ofstream(root / "b.bin", std::ios::binary) << "HHaabbF";
  session_options inside;
  inside.file_root = root.string();
  const auto lines = [](const std::string& name) {
    return word_text("name", name) + word_text("none", "") + scalar_text("buffer", 0) +
           node_text("d", "TextLineDataset", {"name", "none", "buffer"});
  };
  const std::string texts = elements_text("DT_STRING");
  CHECK(iterated_graph(lines("a.txt"), "", inside, texts).words() == std::vector<std::string>{"one", "two", "", "four"});
  const auto fixed = [](std::int64_t length) {
    return word_text("name", "b.bin") + scalar_text("header", 2) + scalar_text("length", length) + scalar_text("footer", 1) +
           scalar_text("buffer", 0) + node_text("d", "FixedLengthRecordDataset", {"name", "header", "length", "footer", "buffer"});
  };
  CHECK(iterated_graph(fixed(2), "", inside, texts).words() == std::vector<std::string>{"aa", "bb"});
  {
    iterated_graph m(fixed(3), "", inside, texts);
    CHECK(says_part(failure_of<invalid_argument>(m), "not an exact multiple"));
  }
  {
    iterated_graph m(lines("../leat_outside.txt"), "", inside, texts);
    CHECK(says_part(failure_of<invalid_argument>(m), "is not within"));
  }
  {
    iterated_graph m(lines("a.txt"), "", {}, texts);
    CHECK(says_part(failure_of<failed_precondition>(m), "session_options::file_root"));
  }
  {
    iterated_graph m(lines("absent.txt"), "", inside, texts);
    CHECK(says_part(failure_of<not_found>(m), "absent.txt"));
  }
  CHECK(says_part(
      failure_of<unimplemented>(range_text("r", 3) + word_text("file", "cache") + dataset_text("d", "CacheDataset", {"r", "file"})),
      "in memory"));
  std::filesystem::remove_all(root);
}

TEST_CASE("datasets of a file's graph: two graphs with different functions of one name") {
  graph g;
  g.named();
  const auto with = [](const std::string& f) {
    return io::read_text<graph_def>(range_text("r", 3) + mapped_text("d", "MapDataset", "r", "f", "square") + "library { " + f + " }");
  };
  import_graph(g, with(square_text()));
  import_graph(g, with(square_text()));  // the same function
  const std::string other = function_text("square", "x:DT_INT64", "y:DT_INT64",
                                          in_function_text("m", "AddV2", {"x", "x"}, type_attr_text("T", "DT_INT64")), "m:z:0");
  CHECK_THROWS_AS(import_graph(g, with(other)), invalid_argument);
}
