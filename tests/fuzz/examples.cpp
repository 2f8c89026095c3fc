// The operators that read messages of examples, records of comma-separated values, bytes and numbers, under libFuzzer: what different
// operators read from the same bytes is the same. The first byte chooses how the others are used.

#include <leat/io/example.hpp>

#include "run_node.hpp"

#include <algorithm>

namespace {

using namespace leat;
using leat_fuzz::are_same;
using leat_fuzz::fed_node;
using leat_fuzz::must;
using texts = std::vector<std::string>;
using results = std::optional<std::vector<tensor_value>>;

// One key of each type, in every form.
const texts keys{"a", "b", "c"};
const std::vector<data_type> types{data_type::float32, data_type::int64, data_type::string};
const std::size_t forms = keys.size();

tensor_shape_proto proto_of(std::initializer_list<std::int64_t> list) {
  shape s;
  for (const auto n : list) s.push(n);
  return to_proto(s);
}
attribute_map settings_of(attribute_map more) {
  more["sparse_types"] = attribute_value(types);
  more["Tdense"] = attribute_value(types);
  more["dense_shapes"] = attribute_value(std::vector<tensor_shape_proto>{proto_of({2}), proto_of({-1, 2}), proto_of({-1})});
  return more;
}
std::vector<tensor_value> defaults() {
  return {tensor_value(std::vector<float>{7, 8}), tensor_value(std::int64_t{-1}), tensor_value(std::string("none"))};
}

constexpr dtype text = text_dtype;
fed_node& batch_node() {
  static fed_node node("ParseExample", {text, text, text, text, text, text, text, text, dtype::float32, dtype::int64, text},
                       settings_of({{"Nsparse", std::int64_t{3}}, {"Ndense", std::int64_t{3}}}));
  return node;
}
fed_node& vector_node() {
  static fed_node node("ParseExampleV2", {text, text, text, text, text, dtype::float32, dtype::int64, text},
                       settings_of({{"num_sparse", std::int64_t{3}},
                                    {"ragged_value_types", types},
                                    {"ragged_split_types", std::vector<data_type>{data_type::int32, data_type::int64, data_type::int32}}}));
  return node;
}
fed_node& single_node() {
  static fed_node node("ParseSingleExample", {text, dtype::float32, dtype::int64, text},
                       settings_of({{"num_sparse", std::int64_t{3}}, {"sparse_keys", keys}, {"dense_keys", keys}}));
  return node;
}
results read_by_vectors(const tensor_value& messages) {
  std::vector<tensor_value> in{messages, tensor_value(texts{}), tensor_value(keys), tensor_value(keys), tensor_value(keys)};
  for (auto& v : defaults()) in.push_back(v);
  return vector_node().run(in);
}

void look_at_messages(const texts& messages) {
  const results got = read_by_vectors(tensor_value(messages));
  std::vector<tensor_value> in{tensor_value(messages), tensor_value(texts(messages.size(), "name"))};
  for (int k = 0; k < 2; ++k)
    for (const auto& key : keys) in.emplace_back(key);
  for (auto& v : defaults()) in.push_back(v);
  const results others = batch_node().run(in);
  must(got.has_value() == others.has_value(), "both operators read a batch");
  if (!got) return;
  for (std::size_t k = 0; k < others->size(); ++k) must(are_same((*got)[k], (*others)[k]), "both operators read the same");
  for (std::size_t k = 0; k < forms; ++k) {
    const tensor_value &values = (*got)[forms + k], &splits = (*got)[5 * forms + k];
    must(are_same(values, (*got)[4 * forms + k]), "a feature has the same values sparse and ragged");
    must((*got)[k].extent()[0] == values.extent()[0], "each value has its index");
    must(splits.elements() == static_cast<std::int64_t>(messages.size()) + 1, "each example has its values");
  }
}
void look_at_message(const std::string& message) {
  std::vector<tensor_value> in{tensor_value(message)};
  for (auto& v : defaults()) in.push_back(v);
  const results single = single_node().run(in), scalar = read_by_vectors(tensor_value(message));
  must(single.has_value() == scalar.has_value(), "both operators read a message");
  if (!single) return;
  for (std::size_t k = 0; k < single->size(); ++k) must(are_same((*single)[k], (*scalar)[k]), "both operators read the same");
  try {
    const io::example whole = io::read_example(message);
    for (std::size_t k = 0; k < forms; ++k) {
      const auto at = whole.features.find(keys[k]);
      const std::size_t count = at == whole.features.end()
                                    ? 0
                                    : std::visit(
                                          []<class F>(const F& f) -> std::size_t {
                                            if constexpr (std::is_same_v<F, std::monostate>) return 0;
                                            else return f.size();
                                          },
                                          at->second);
      must((*single)[forms + k].elements() == static_cast<std::int64_t>(count), "a feature has its values");
    }
  } catch (const error&) {
  }
}

void look_at_records(const std::string& line) {
  static fed_node two("DecodeCSV", {text, text, text}, {{"OUT_TYPE", std::vector<data_type>(2, data_type::string)}});
  static fed_node numbers("DecodeCSV", {text, dtype::int32, dtype::float32, dtype::float64},
                          {{"OUT_TYPE", std::vector<data_type>{data_type::int32, data_type::float32, data_type::float64}},
                           {"field_delim", ";"},
                           {"use_quote_delim", false},
                           {"na_value", "NA"}});
  static fed_node some("DecodeCSV", {text, dtype::int64, text},
                       {{"OUT_TYPE", std::vector<data_type>{data_type::int64, data_type::string}},
                        {"field_delim", "\t"},
                        {"select_cols", std::vector<std::int64_t>{1, 3}}});
  numbers.run({tensor_value(texts{line, "1;;NA"}), tensor_value(std::vector<std::int32_t>{}), tensor_value(1.0f), tensor_value(2.0)});
  some.run({tensor_value(line), tensor_value(std::int64_t{0}), tensor_value(texts{})});
  const tensor_value none(std::string{});
  const results got = two.run({tensor_value(line), none, none});
  if (!got) return;
  std::string again;
  for (int k = 0; k < 2; ++k) {
    again += k > 0 ? ",\"" : "\"";
    for (const char c : (*got)[static_cast<std::size_t>(k)].texts()[0]) again += c == '"' ? "\"\"" : std::string(1, c);
    again += '"';
  }
  const results its = two.run({tensor_value(again), none, none});
  must(its && are_same((*its)[0], (*got)[0]) && are_same((*its)[1], (*got)[1]), "fields come back");
}

void look_at_bytes(const std::string& bytes) {
  struct raw_node {
    data_type type;
    fed_node little, big;
    explicit raw_node(data_type t)
        : type(t),
          little("DecodeRaw", {text}, {{"out_type", t}, {"little_endian", true}}),
          big("DecodeRaw", {text}, {{"out_type", t}, {"little_endian", false}}) {}
  };
  static raw_node nodes[]{raw_node(data_type::uint8), raw_node(data_type::boolean), raw_node(data_type::int32),
                          raw_node(data_type::float64)};
  for (raw_node& node : nodes) {
    const auto size = static_cast<std::size_t>(size_of(static_cast<dtype>(node.type)));
    const results got = node.little.run({tensor_value(texts{bytes, bytes})});
    must(got.has_value() == (bytes.size() % size == 0), "bytes are numbers if there are as many");
    if (!got || bytes.empty()) continue;
    const tensor_value& v = (*got)[0];
    must(v.bytes() == 2 * bytes.size(), "all bytes are used");
    if (node.type != data_type::boolean)
      must(std::memcmp(v.data(), bytes.data(), bytes.size()) == 0 && std::memcmp(v.data() + bytes.size(), bytes.data(), bytes.size()) == 0,
           "bytes are those of the text");
    std::string turned = bytes;
    for (std::size_t at = 0; at < turned.size(); at += size)
      std::reverse(turned.begin() + static_cast<std::ptrdiff_t>(at), turned.begin() + static_cast<std::ptrdiff_t>(at + size));
    const results others = node.big.run({tensor_value(texts{turned, turned})});
    must(others && are_same((*others)[0], v), "bytes in the other order");
  }
}
void look_at_letters(const std::string& bytes) {
  static fed_node encode("EncodeBase64", {text}), padded("EncodeBase64", {text}, {{"pad", true}}), decode("DecodeBase64", {text});
  for (fed_node* node : {&encode, &padded}) {
    const results letters = node->run({tensor_value(bytes)});
    must(letters.has_value(), "any bytes can be written as letters");
    const results back = decode.run(*letters);
    must(back && (*back)[0].texts()[0] == bytes, "bytes come back");
  }
  decode.run({tensor_value(bytes)});
}
void look_at_number(const std::string& bytes) {
  static fed_node to_number[]{fed_node("StringToNumber", {text}, {{"out_type", data_type::float32}}),
                              fed_node("StringToNumber", {text}, {{"out_type", data_type::float64}}),
                              fed_node("StringToNumber", {text}, {{"out_type", data_type::int32}}),
                              fed_node("StringToNumber", {text}, {{"out_type", data_type::int64}})};
  for (fed_node& node : to_number) node.run({tensor_value(bytes)});
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  static const std::string known = io::write_example(
      {{{"a", std::vector<float>{1, 2}}, {"b", std::vector<std::int64_t>{3, 4}}, {"c", std::vector<std::string>{"x"}}}});
  switch (data[0] & 3) {
    case 0: look_at_message(bytes); break;
    case 1: look_at_messages((data[0] & 4) != 0 ? texts{bytes, "", known, bytes} : texts{bytes}); break;
    case 2: look_at_records(bytes); break;
    default: {
      constexpr void (*looks[])(const std::string&){look_at_bytes, look_at_letters, look_at_number};
      looks[(data[0] >> 2) % 3](bytes);
    }
  }
  return 0;
}
