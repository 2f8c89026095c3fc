// Tables of keys and values in graphs, also from files: values and errors are those of TensorFlow 2.21.

#include <leat/data/kernels.hpp>
#include <leat/graphs.hpp>
#include <leat/session/graph_session.hpp>

#include "support/messages.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

using namespace leat;
using namespace std::string_literals;

namespace {

using strings = std::vector<std::string>;
using wholes = std::vector<std::int64_t>;

struct tables {
  graph g;
  default_graph_scope scope{g.as_default()};

  output make(const char* type, dtype keys, dtype values, const std::string& shared = "") {
    return call_operator(g, type, {}, {{"key_dtype", keys}, {"value_dtype", values}, {"shared_name", shared}}).result();
  }
  output text(const strings& list) { return constant_of(tensor_value(list)); }
  output constant_of(const tensor_value& v) {
    const output place = placeholder(v.type(), v.extent());
    feeds.push_back({place, v});
    return place;
  }
  // A session that a node's first run has made keeps the tables.
  std::vector<tensor_value> run(const graph_operation& node) {
    if (!session) session.emplace(g, options);
    if (node.outputs().empty()) return session->run({fetch_item(node)}, feeds);
    return session->run(node.outputs(), feeds);
  }
  std::vector<tensor_value> run(const char* type, std::initializer_list<number_argument> inputs, attribute_map settings = {}) {
    return run(call_operator(g, type, inputs, std::move(settings)));
  }
  template <class Error>
  std::string refusal(const char* type, std::initializer_list<number_argument> inputs, attribute_map settings = {}) {
    return leat_test::message_of<Error>([&] { run(type, inputs, settings); });
  }
  session_options options;
  std::vector<feed_item> feeds;
  std::optional<graph_session> session;
};
bool says(const std::string& is, std::string_view words) { return leat_test::says(is, words); }
wholes whole_of(const tensor_value& v) { return v.as<wholes>(); }

}  // namespace

TEST_CASE("a static table: contents once, values of keys") {
  tables t;
  const output table = t.make("HashTableV2", text_dtype, dtype::int64, "t1");
  const output a = t.text({"a"}), abc = t.text({"a", "b", "c"}), numbers = t.constant_of(wholes{1, 2, 3});
  const output none = t.constant_of(tensor_value(std::int64_t{-1}));
  CHECK(says(t.refusal<failed_precondition>("LookupTableFindV2", {table, a, none}), "Table not initialized."));
  CHECK(says(t.refusal<aborted>("LookupTableExportV2", {table}, {{"Tkeys", text_dtype}, {"Tvalues", dtype::int64}}),
             "HashTable is not initialized."));
  CHECK(whole_of(t.run("LookupTableSizeV2", {table})[0]) == wholes{0});
  t.run("InitializeTableV2", {table, abc, numbers});
  t.run("InitializeTableV2", {table, abc, numbers});
  CHECK(whole_of(t.run("LookupTableSizeV2", {table})[0]) == wholes{3});
  const output pair = t.constant_of(tensor_value(strings{"a", "x"}).reshaped(shape(2, {1, 2})));
  const auto found = t.run("LookupTableFindV2", {table, pair, none})[0];
  CHECK(found.extent() == shape(2, {1, 2}));
  CHECK(whole_of(found) == wholes{1, -1});
  auto exported = t.run("LookupTableExportV2", {table}, {{"Tkeys", text_dtype}, {"Tvalues", dtype::int64}});
  for (std::size_t i = 0; i < 3; ++i)
    CHECK(exported[0].texts()[i] == strings{"", "a", "b", "c"}[static_cast<std::size_t>(whole_of(exported[1])[i])]);

  CHECK(whole_of(t.run("LookupTableFindV2", {table, t.text({"x", "y"}), t.constant_of(wholes{-1, -2})})[0]) == wholes{-1, -1});
  const output az = t.text({"a", "z"}), two = t.constant_of(wholes{1, 2}), one = t.constant_of(wholes{1});
  CHECK(says(t.refusal<failed_precondition>("InitializeTableV2", {table, az, two}), "Table was already initialized with different data."));
  CHECK(says(t.refusal<unimplemented>("LookupTableInsertV2", {table, a, one}),
             "Insert not supported by InitializableLookupTable implementations"));
  CHECK(says(t.refusal<failed_precondition>("LookupTableImportV2", {table, a, one}), "Table was already initialized with different data."));
  CHECK(says(t.refusal<invalid_argument>("LookupTableFindV2", {table, one, none}),
             "Signature mismatch, have: resource, int64, int64->int64 expected: resource, string, int64->int64"));
  CHECK(says(t.refusal<invalid_argument>("LookupTableFindV2", {table, a, t.constant_of(tensor_value(1.0f))}),
             "Signature mismatch, have: resource, string, float->float expected: resource, string, int64->int64"));
  CHECK(says(t.refusal<invalid_argument>("LookupTableFindV2", {table, a, two}), "Expected shape [] or [1] for default value, got [2]"));
  CHECK(says(t.refusal<invalid_argument>("LookupTableSizeV2", {t.make("HashTableV2", dtype::int64, dtype::int64, "t1")}),
             "Conflicting key/value dtypes int64->int64 with string-int64 for table t1"));

  const output other = t.make("HashTableV2", text_dtype, dtype::int64);
  const output aa = t.text({"a", "a"});
  CHECK(says(t.refusal<failed_precondition>("InitializeTableV2", {other, aa, two}),
             "HashTable has different value for same key. Key a has 1 and trying to add value 2"));
  CHECK(says(t.refusal<invalid_argument>("InitializeTableV2", {other, aa, one}), "Keys and values must have the same size 2 vs 1"));
  CHECK(says(t.refusal<invalid_argument>("InitializeTableV2", {other, pair, two}), "Keys must be a vector, but received shape[1,2]"));
  CHECK(says(t.refusal<invalid_argument>("InitializeTableV2", {other, t.text({}), t.constant_of(wholes{})}),
             "keys and values cannot be empty tensors."));
  CHECK(says(t.refusal<invalid_argument>("InitializeTableV2", {other, one, one}),
             "Signature mismatch, have: resource, int64, int64-> expected: resource, string, int64->"));
  t.run("InitializeTableV2", {other, aa, t.constant_of(wholes{5, 5})});
  CHECK(whole_of(t.run("LookupTableSizeV2", {other})[0]) == wholes{1});
  CHECK_THROWS_AS(t.run("LookupTableSizeV2", {t.make("HashTableV2", dtype::float32, dtype::int64)}), unimplemented);
}

TEST_CASE("a mutable table") {
  tables t;
  const output table = t.make("MutableHashTableV2", dtype::int64, dtype::float32);
  const output keys = t.constant_of(wholes{5, 3, 5});
  t.run("LookupTableInsertV2", {table, keys, t.constant_of(std::vector<float>{1, 2, 9})});
  const output some = t.constant_of(wholes{5, 7}), none = t.constant_of(tensor_value(-1.0f));
  CHECK(t.run("LookupTableFindV2", {table, some, none})[0].as<std::vector<float>>() == std::vector<float>{9, -1});
  const output each = t.constant_of(std::vector<float>{-1, -2});
  CHECK(t.run("LookupTableFindV2", {table, some, each})[0].as<std::vector<float>>() == std::vector<float>{9, -2});
  CHECK(says(t.refusal<invalid_argument>("LookupTableInsertV2", {table, some, t.constant_of(std::vector<float>{1})}),
             "Expected shape [2] for value, got [1]"));
  CHECK(says(t.refusal<invalid_argument>("InitializeTableV2", {table, some, each}), "is not initializable"));
  t.run("LookupTableRemoveV2", {table, some});
  CHECK(whole_of(t.run("LookupTableSizeV2", {table})[0]) == wholes{1});
  t.run("LookupTableImportV2", {table, t.constant_of(wholes{1}), t.constant_of(std::vector<float>{4})});
  const auto all = t.run("LookupTableExportV2", {table}, {{"Tkeys", dtype::int64}, {"Tvalues", dtype::float32}});
  CHECK(whole_of(all[0]) == wholes{1});
  CHECK(all[1].as<std::vector<float>>() == std::vector<float>{4});
  CHECK_THROWS_AS(t.run("LookupTableExportV2", {table}, {{"Tkeys", text_dtype}, {"Tvalues", dtype::float32}}), invalid_argument);
  const output words = t.make("MutableHashTableV2", dtype::int32, text_dtype);
  t.run("LookupTableInsertV2", {words, t.constant_of(std::vector<std::int32_t>{-7}), t.text({"seven\0"s})});
  CHECK(t.run("LookupTableFindV2", {words, t.constant_of(std::vector<std::int32_t>{-7, 0}), t.constant_of(tensor_value("none"))})[0]
            .texts() == strings{"seven\0"s, "none"});
  CHECK_THROWS_AS(t.run("LookupTableSizeV2", {t.constant_of(tensor_value("no table"))}), error);
}

TEST_CASE("tables of older graphs, whose handles are references") {
  tables t;
  const output table = t.make("MutableHashTable", text_dtype, text_dtype);
  t.run("LookupTableInsert", {table, t.text({"a"}), t.text({"b"})});
  CHECK(t.run("LookupTableFind", {table, t.text({"a"}), t.constant_of(tensor_value("-"))})[0].texts() == strings{"b"});
  CHECK(whole_of(t.run("LookupTableSize", {table})[0]) == wholes{1});
}

TEST_CASE("a table from the lines of a file") {
  const std::filesystem::path folder = std::filesystem::temp_directory_path() / "leat_table_operators";
  std::filesystem::create_directories(folder);
  tables t;
  t.options.file_root = folder.string();
  int number = 0;
  const auto initialize = [&](const std::string& contents, std::int64_t key, std::int64_t value, attribute_map settings = {},
                              dtype keys = text_dtype, dtype values = dtype::int64, const std::string& name = "words.txt") {
    std::ofstream(folder / "words.txt", std::ios::binary) << contents;
    const output table = t.make("HashTableV2", keys, values, "from file " + std::to_string(++number));
    settings["key_index"] = key;
    settings["value_index"] = value;
    t.run("InitializeTableFromTextFileV2", {table, t.constant_of(tensor_value(name))}, settings);
    auto got = t.run("LookupTableExportV2", {table}, {{"Tkeys", keys}, {"Tvalues", values}});
    return got;
  };
  const auto entries = [&](auto... arguments) {
    const auto got = initialize(arguments...);
    std::vector<std::pair<std::string, std::int64_t>> list;
    for (std::size_t i = 0; i < got[0].texts().size(); ++i) list.emplace_back(got[0].texts()[i], whole_of(got[1])[i]);
    std::sort(list.begin(), list.end());
    return list;
  };
  using list = std::vector<std::pair<std::string, std::int64_t>>;
  CHECK(entries("a\nb\nc", -2, -1) == list{{"a", 0}, {"b", 1}, {"c", 2}});
  CHECK(entries("a\r\nb\r\n", -2, -1) == list{{"a", 0}, {"b", 1}});
  CHECK(entries("x\t1\ny\t2\n", 0, 1) == list{{"x", 1}, {"y", 2}});
  CHECK(entries("x 1\ny 2\n", 0, 1, attribute_map{{"delimiter", " "s}}) == list{{"x", 1}, {"y", 2}});
  CHECK(entries("a\nb\nc\n", -2, -1, attribute_map{{"vocab_size", 2}}) == list{{"a", 0}, {"b", 1}});
  CHECK(entries("h\na\n", -2, -1, attribute_map{{"offset", 1}}) == list{{"a", 2}, {"h", 1}});
  const auto turned = initialize("a\n", -1, -2, {}, dtype::int64, text_dtype);
  CHECK(turned[1].texts() == strings{"a"});
  CHECK(initialize("x\t1.5\n", 0, 1, {}, text_dtype, dtype::float32)[1].as<std::vector<float>>() == std::vector<float>{1.5f});
  const auto refuses = [&](std::string_view words, auto... arguments) {
    CHECK(says(leat_test::message_of<error>([&] { initialize(arguments...); }), words));
  };
  refuses("Invalid number of columns in words.txt line 0 (x) : expected at least 2 got 1", "x\n", 0, 1);
  refuses("Field q in line 0 is not a valid int64.", "x\tq\n", 0, 1);
  refuses("Invalid vocab_size in words.txt: expected 5 but got 3", "a\nb\nc\n", -2, -1, attribute_map{{"vocab_size", 5}});
  refuses("HashTable has different value for same key. Key a has 0 and trying to add value 1", "a\na\n", -2, -1);
  refuses("Invalid content in words.txt: empty line found at position 3.", "a\n\nb\n", -2, -1);
  refuses("Value index for line number requires table value dtype of int64, got float", "a\n", -2, -1, attribute_map{}, text_dtype,
          dtype::float32);
  refuses("Field a in line 0 is not a valid int64.", "a\n", -2, -1, attribute_map{}, dtype::int64);
  refuses("delimiter should be only 1 char", "x::1\n", 0, 1, attribute_map{{"delimiter", "::"s}});
  refuses("no lines", "", -2, -1);
  refuses("is not within", "a\n", -2, -1, attribute_map{}, text_dtype, dtype::int64, "../words.txt"s);
  refuses("cannot be opened", "a\n", -2, -1, attribute_map{}, text_dtype, dtype::int64, "none.txt"s);
  refuses("", "a\n", std::int64_t{1} << 62, -1);
  refuses("", "a\n", -3, -1);
  refuses("", "a\n", -2, -1, attribute_map{{"offset", INT64_MAX}, {"vocab_size", -1}}, text_dtype, dtype::int64, "none"s);
  std::filesystem::remove_all(folder);
}
