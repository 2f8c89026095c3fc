// Tensors and sparse tensors as messages in strings: bytes, values and errors of TensorFlow 2.21.

#include <leat/core/memory.hpp>
#include <leat/data/kernels.hpp>
#include <leat/graphs.hpp>
#include <leat/session/graph_session.hpp>

#include "support/messages.hpp"
#include "support/node_results.hpp"

#include <doctest/doctest.h>

#include <string>

namespace tensor_message_tests {

using namespace leat;
using namespace node_results;
using namespace std::string_literals;

namespace {

using numbers = std::vector<std::int64_t>;
using texts = std::vector<std::string>;

tensor_value floats(const extents& of, const number_list& all) { return tensor_of(dtype::float32, of, all); }
tensor_value list(const numbers& all) { return tensor_value(all); }
tensor_value pairs(const numbers& all, std::int64_t columns = 2) {
  return tensor_value({static_cast<std::int64_t>(all.size()) / columns, columns}, all);
}
tensor_value strings(const texts& all, const extents& of) {
  tensor_value v(all);
  shape s;
  for (const auto n : of) s.push(n);
  return v.reshaped(s);
}
const attribute_map as_float{{"dtype", dtype::float32}};
texts message_of_sparse(const tensor_value& indices, const tensor_value& values, const tensor_value& sizes) {
  texts made;
  for (const tensor_value* v : {&indices, &values, &sizes}) made.push_back(run_node("SerializeTensor", {*v}, {}, {})[0].texts()[0]);
  return made;
}
template <class Error = invalid_argument>
void refuses(std::string_view type, const std::vector<tensor_value>& arrays, std::string_view words, const attribute_map& settings = {}) {
  const std::string problem = leat_test::message_of<Error>([&] { run_node(type, arrays, {}, settings, "culprit"); });
  CHECK_MESSAGE(leat_test::says(problem, words, "culprit"), type << ": " << problem);
}
void holds(const std::vector<tensor_value>& made, const numbers& indices, const number_list& values, const numbers& sizes) {
  REQUIRE(made.size() == 3);
  CHECK(made[0].as<numbers>() == indices);
  CHECK(made[0].extent()[1] == static_cast<std::int64_t>(sizes.size()));
  CHECK(list_of(made[1]) == values);
  CHECK(made[2].as<numbers>() == sizes);
}

}  // namespace

TEST_CASE("tensors become messages and come back") {
  const auto goes = [](const tensor_value& v, const std::string& bytes) {
    const auto made = run_node("SerializeTensor", {v}, {}, {})[0];
    CHECK(made.extent().rank == 0);
    CHECK(made.texts()[0] == bytes);
    const auto back = run_node("ParseTensor", {made}, {}, {{"out_type", v.type()}})[0];
    CHECK(back.type() == v.type());
    CHECK(back.extent() == v.extent());
    if (v.type() == text_dtype) CHECK(back.texts() == v.texts());
    else CHECK(std::string(reinterpret_cast<const char*>(std::as_const(back).data()), back.bytes()) ==
               std::string(reinterpret_cast<const char*>(v.data()), v.bytes()));
  };
  goes(floats({2}, {1, 2}), "\x08\x01\x12\x04\x12\x02\x08\x02\"\x08\x00\x00\x80?\x00\x00\x00@"s);
  goes(floats({}, {3}), "\x08\x01\x12\x00\"\x04\x00\x00@@"s);
  goes(floats({0, 2}, {}), "\x08\x01\x12\x06\x12\x00\x12\x02\x08\x02"s);
  goes(strings({"ab", "c"}, {1, 2}), "\x08\x07\x12\x08\x12\x02\x08\x01\x12\x02\x08\x02" "B\x02" "abB\x01" "c"s);
  goes(floats({2}, {1, 2}).narrowed(data_type::half), "\x08\x13\x12\x04\x12\x02\x08\x02\"\x04\x00<\x00@"s);
  tensor_value truth(dtype::boolean, {1});
  truth.values<bool>()[0] = true;
  goes(truth, "\x08\n\x12\x04\x12\x02\x08\x01\"\x01\x01"s);

  const attribute_map as_int{{"out_type", dtype::int32}};
  CHECK(list_of(run_node("ParseTensor", {tensor_value("\x08\x03\x12\x08\x12\x02\x08\x02\x12\x02\x08\x03:\x01\x07"s)}, {}, as_int)[0]) ==
        number_list{7, 7, 7, 7, 7, 7});
  refuses("ParseTensor", {run_node("SerializeTensor", {floats({}, {3})}, {}, {})[0]}, "Type mismatch between parsed tensor (float32) and dtype (int32)", as_int);
  for (const std::string& bytes : {"abc"s, ""s, "\x08\x01\x12\x0d\x12\x0b\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"s, "\x08\x01\x12\x04\x12\x02\x08\x02\"\x03" "abc"s})
    refuses("ParseTensor", {tensor_value(bytes)}, "Could not parse", {{"out_type", dtype::float32}});
  refuses("ParseTensor", {tensor_value(texts{"a", "b"})}, "Expected `serialized` to be a scalar, got shape: [2]", as_int);
  // Few bytes that stand for more elements than there is memory.
  refuses<error>("ParseTensor", {tensor_value("\x08\x03\x12\x08\x12\x06\x08\x80\x80\x80\x80\x20:\x01\x07"s)}, "", as_int);
}

TEST_CASE("sparse tensors become messages and come back") {
  const tensor_value at = pairs({0, 1, 2, 0}), values = floats({2}, {1, 2}), sizes = list({3, 4});
  const auto one = run_node("SerializeSparse", {at, values, sizes}, {}, {})[0];
  CHECK(one.texts() == texts{"\x08\t\x12\x08\x12\x02\x08\x02\x12\x02\x08\x02\" \x00\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x02\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"s,
                             "\x08\x01\x12\x04\x12\x02\x08\x02\"\x08\x00\x00\x80?\x00\x00\x00@"s,
                             "\x08\t\x12\x04\x12\x02\x08\x02\"\x10\x03\x00\x00\x00\x00\x00\x00\x00\x04\x00\x00\x00\x00\x00\x00\x00"s});
  holds(run_node("DeserializeSparse", {one}, {}, as_float), {0, 1, 2, 0}, {1, 2}, {3, 4});
  const auto many = run_node("SerializeManySparse", {pairs({0, 1, 2, 0, 2, 3}), floats({3}, {1, 2, 3}), sizes}, {}, {})[0];
  const std::string four = "\x08\t\x12\x04\x12\x02\x08\x01\"\x08\x04\x00\x00\x00\x00\x00\x00\x00"s;
  CHECK(many.extent() == shape(2, {3, 3}));
  CHECK(many.texts() == texts{"\x08\t\x12\x08\x12\x02\x08\x01\x12\x02\x08\x01\"\x08\x01\x00\x00\x00\x00\x00\x00\x00"s, "\x08\x01\x12\x04\x12\x02\x08\x01\"\x04\x00\x00\x80?"s, four,
                              "\x08\t\x12\x06\x12\x00\x12\x02\x08\x01"s, "\x08\x01\x12\x02\x12\x00"s, four,
                              "\x08\t\x12\x08\x12\x02\x08\x02\x12\x02\x08\x01\"\x10\x00\x00\x00\x00\x00\x00\x00\x00\x03\x00\x00\x00\x00\x00\x00\x00"s,
                              "\x08\x01\x12\x04\x12\x02\x08\x02\"\x08\x00\x00\x00@\x00\x00@@"s, four});
  for (const char* type : {"DeserializeSparse", "DeserializeManySparse"})
    holds(run_node(type, {many}, {}, as_float), {0, 1, 2, 0, 2, 3}, {1, 2, 3}, {3, 4});
  const auto words = run_node("SerializeSparse", {pairs({0, 1}), tensor_value(texts{"ab"}), sizes}, {}, {})[0];
  CHECK(words.texts()[1] == "\x08\x07\x12\x04\x12\x02\x08\x01\"\x03\x02" "ab"s);
  const auto read = run_node("DeserializeSparse", {words}, {}, {{"dtype", text_dtype}});
  CHECK(read[1].texts() == texts{"ab"});

  // Several are joined along new axes, and have the largest sizes.
  const auto other = run_node("SerializeSparse", {pairs({1, 1}), floats({1}, {7}), list({2, 5})}, {}, {})[0];
  texts both = one.texts();
  both.insert(both.end(), other.texts().begin(), other.texts().end());
  for (const char* type : {"DeserializeSparse", "DeserializeManySparse"})
    holds(run_node(type, {strings(both, {2, 3})}, {}, as_float), {0, 0, 1, 0, 2, 0, 1, 1, 1}, {1, 2, 7}, {2, 3, 5});
  texts four_of = both;
  four_of.insert(four_of.end(), other.texts().begin(), other.texts().end());
  four_of.insert(four_of.end(), one.texts().begin(), one.texts().end());
  holds(run_node("DeserializeSparse", {strings(four_of, {2, 2, 3})}, {}, as_float),
        {0, 0, 0, 1, 0, 0, 2, 0, 0, 1, 1, 1, 1, 0, 1, 1, 1, 1, 0, 1, 1, 1, 2, 0}, {1, 2, 7, 7, 1, 2}, {2, 2, 3, 5});
  const auto half = run_node("SerializeSparse", {at, values.narrowed(data_type::half), sizes}, {}, {})[0];
  const auto narrow = run_node("DeserializeSparse", {half}, {}, {{"dtype", data_type::half}});
  CHECK(list_of(narrow[1].widened()) == number_list{1, 2});
  holds(run_node("DeserializeSparse", {strings(message_of_sparse(pairs({}), floats({0}, {}), list({2, 2})), {3})}, {}, as_float), {}, {}, {2, 2});
}

TEST_CASE("what messages of sparse tensors refuse") {
  const tensor_value sizes = list({2, 2}), one = floats({1}, {1}), at = pairs({0, 1});
  const auto bad = [&](const tensor_value& indices, const tensor_value& values, const tensor_value& its_sizes, std::string_view words) {
    refuses("DeserializeSparse", {strings(message_of_sparse(indices, values, its_sizes), {3})}, words, as_float);
    refuses("DeserializeManySparse", {strings(message_of_sparse(indices, values, its_sizes), {1, 3})}, words, as_float);
  };
  bad(list({0, 1}), one, sizes, "Expected serialized_sparse[0, 0] to represent an index matrix but received shape [2]");
  bad(tensor_of(dtype::int32, {1, 2}, {0, 1}), one, sizes, "Type mismatch: actual int32 vs. expect int64");
  bad(at, floats({1, 1}, {1}), sizes, "Expected serialized_sparse[0, 1] to represent a values vector but received shape [1,1]");
  bad(at, one, pairs({2, 2}), "received shape [1,2]");
  bad(at, floats({2}, {1, 2}), sizes, "Expected row counts of SparseTensor[0].indices and SparseTensor[0].values to match but they do not: 1 vs. 2");
  bad(at, one, list({2}), "Expected column counts of SparseTensor[0].indices to match size of SparseTensor[0].shape but they do not: 2 vs. 1");
  bad(at, one, list({2, -4}), "SparseTensor[0] has a shape with the size -4");
  bad(at, tensor_value(std::vector<std::int32_t>{1}), sizes, "Requested SparseTensor of type float32 but SparseTensor[0].values.dtype() == int32");
  texts two = message_of_sparse(at, one, sizes);
  for (const std::string& message : message_of_sparse(pairs({0}, 1), one, list({2}))) two.push_back(message);
  refuses("DeserializeSparse", {strings(two, {2, 3})}, "rank prior to SparseTensor[1] was: 2 but rank of SparseTensor[1] is: 1", as_float);
  refuses("DeserializeSparse", {strings({"a", "b", "c"}, {3})}, "Could not parse serialized proto", as_float);
  refuses("DeserializeSparse", {strings({"a", "b"}, {2})}, "Serialized sparse should have 3 as the last dimension [2]", as_float);
  refuses("DeserializeSparse", {tensor_value("a")}, "Serialized sparse should have non-zero rank []", as_float);
  refuses("DeserializeManySparse", {strings({"a", "b", "c"}, {3})}, "should be a matrix", as_float);
  for (const char* type : {"DeserializeSparse", "DeserializeManySparse"})
    refuses(type, {strings({}, {0, 3})}, "Serialized sparse should have at least 1 serialized tensor, but has a zero dimension [0,3]", as_float);

  refuses("SerializeSparse", {list({0, 1}), floats({2}, {1, 2}), sizes}, "");
  refuses("SerializeManySparse", {pairs({0, 5}, 1), floats({2}, {1, 2}), list({6})}, "Rank of input SparseTensor should be > 1, but saw rank: 1");
  refuses("SerializeManySparse", {pairs({5, 0}), one, list({3, 2})}, "[5, 0] is out of bounds");
  refuses("SerializeManySparse", {pairs({1, 0, 0, 0}), floats({2}, {1, 2}), list({3, 2})}, "indices[1] is out of order. Many sparse ops require sorted indices.");
  refuses("SerializeManySparse", {pairs({1, 0, 1, 0}), floats({2}, {1, 2}), list({3, 2})}, "indices[1] is repeated");
  refuses<unimplemented>("SerializeSparse", {at, one, sizes}, "variants", {{"out_type", data_type::variant}});
}

}  // namespace tensor_message_tests
