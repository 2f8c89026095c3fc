// Arrays whose rank only the run knows: each operator that is told axes, sizes or a number for each axis gives what it gives where the
// shape is known when the graph is built, for all ranks that the library has, in graphs of files and in those of a program.

#include <leat/graphs.hpp>
#include <leat/session/graph_session.hpp>

#include <doctest/doctest.h>

#include <cstring>
#include <functional>
#include <string>
#include <vector>

using namespace leat;

namespace {

using sizes = std::vector<std::int32_t>;

// 2, 1, 3, 1, 2, 1, 3, 1
shape array_shape(int rank) {
  shape s;
  for (int i = 0; i < rank; ++i) s.push(i % 2 == 1 ? 1 : i % 4 == 0 ? 2 : 3);
  return s;
}
tensor_value array_of_rank(int rank) {
  tensor_value v(dtype::float32, array_shape(rank));
  for (std::int64_t i = 0; i < v.elements(); ++i) v.values<float>()[static_cast<std::size_t>(i)] = static_cast<float>((i * 7) % 11) - 4;
  return v;
}
sizes each_axis(int rank, const std::function<int(int)>& of) {
  sizes list;
  for (int i = 0; i < rank; ++i) list.push_back(of(i));
  return list;
}
std::string text_of(const tensor_value& v) {
  return dtype_name(v.type()) + brackets(v.extent()) + std::string(reinterpret_cast<const char*>(v.data()), v.bytes());
}

// A node of a file that takes x; its other inputs are constants in front of x or behind it.
struct case_of_file {
  std::string op;
  std::vector<tensor_literal> before{}, after{};
  attribute_map attributes{};
  int copies = 1;  // of x
  int results = 1;
};

std::string result_of(const case_of_file& c, int rank, bool knows_shape, bool fuse) {
  graph_def def;
  const tensor_value x = array_of_rank(rank);
  tensor_shape_proto extent = to_proto(x.extent());
  if (!knows_shape) extent = {}, extent.unknown_rank = true;
  const auto add = [&](std::string name, std::string op, std::vector<std::string> inputs, attribute_map attributes) {
    def.nodes.push_back({std::move(name), std::move(op), std::move(inputs), {}, std::move(attributes)});
  };
  add("x", "Placeholder", {}, {{"dtype", dtype::float32}, {"shape", extent}});
  node_def y{"y", c.op, {}, {}, c.attributes};
  y.attributes["T"] = dtype::float32;
  const auto constants = [&](const std::vector<tensor_literal>& of, const std::string& name) {
    for (const tensor_literal& value : of) {
      y.inputs.push_back(name + std::to_string(y.inputs.size()));
      add(y.inputs.back(), "Const", {}, {{"dtype", static_cast<dtype>(value.type())}, {"value", value.proto()}});
    }
  };
  constants(c.before, "before");
  for (int k = 0; k < c.copies; ++k) y.inputs.push_back("x");
  constants(c.after, "after");
  if (c.op == "All" || c.op == "Any") {
    add("zero", "Const", {}, {{"dtype", dtype::float32}, {"value", tensor_literal(0.0f).proto()}});
    add("positive", "Greater", {"x", "zero"}, {{"T", dtype::float32}});
    y.inputs[0] = "positive";
    y.attributes.erase("T");
  }
  def.nodes.push_back(y);
  def.versions.producer = graph_def_producer;
  try {
    graph g;
    import_graph(g, def, {.name = ""});
    graph_session s(g, {.fuse = fuse});
    std::string all;
    std::vector<fetch_item> fetches;
    for (int k = 0; k < c.results; ++k) fetches.emplace_back("y:" + std::to_string(k));
    for (const tensor_value& v : s.run(fetches, {{"x:0", x}})) all += text_of(v) + ";";
    return all;
  } catch (const error& e) {
    return std::string("error: ") + e.what();
  }
}

std::vector<case_of_file> cases_of_files(int rank) {
  std::vector<case_of_file> cases;
  const auto put = [&](case_of_file c) { cases.push_back(std::move(c)); };
  const shape s = array_shape(rank);
  for (std::int32_t axis = -rank; axis < rank; ++axis) {
    const int at = axis < 0 ? axis + rank : axis;
    for (const char* op : {"Sum", "Mean", "Max", "Min", "Prod", "All", "Any"})
      for (const bool keep : {false, true}) put({op, {}, {tensor_literal(sizes{axis})}, {{"keep_dims", keep}}});
    for (const char* op : {"ArgMax", "ArgMin"}) put({op, {}, {tensor_literal(axis)}, {{"output_type", dtype::int64}}});
    put({"ConcatV2", {}, {tensor_literal(axis)}, {{"N", 3}}, 3});
    put({"ConcatV2", {}, {tensor_literal(axis)}, {{"N", 7}}, 7});
    put({"Concat", {tensor_literal(axis)}, {}, {{"N", 2}}, 2});
    put({"Unpack", {}, {}, {{"axis", axis}, {"num", s[at]}}, 1, static_cast<int>(s[at])});
    put({"Split", {tensor_literal(axis)}, {}, {{"num_split", s[at]}}, 1, static_cast<int>(s[at])});
    put({"SplitV", {}, {tensor_literal(sizes{0, -1}), tensor_literal(axis)}, {{"num_split", 2}, {"Tlen", dtype::int32}}, 1, 2});
    put({"ReverseV2", {}, {tensor_literal(sizes{axis})}, {}});
    for (const char* op : {"Cumsum", "Cumprod"}) put({op, {}, {tensor_literal(axis)}, {{"exclusive", false}, {"reverse", true}}});
    put({"GatherV2",
         {},
         {tensor_literal(sizes{0, 0}), tensor_literal(axis)},
         {{"Tparams", dtype::float32}, {"Tindices", dtype::int32}, {"Taxis", dtype::int32}}});
    if (s[at] == 1) put({"Squeeze", {}, {}, {{"squeeze_dims", std::vector<std::int64_t>{axis}}}});
  }
  for (std::int32_t axis = -rank - 1; axis <= rank && rank < max_rank; ++axis) {
    put({"ExpandDims", {}, {tensor_literal(axis)}, {}});
    put({"Pack", {}, {}, {{"axis", axis}, {"N", 2}}, 2});
  }
  put({"Squeeze"});
  put({"Transpose", {}, {tensor_literal(each_axis(rank, [&](int i) { return rank - 1 - i; }))}, {}});
  put({"Sum", {}, {tensor_literal(each_axis(rank, [](int i) { return i; }))}, {{"keep_dims", false}}});
  put({"Slice", {}, {tensor_literal(each_axis(rank, [](int) { return 0; })), tensor_literal(each_axis(rank, [](int) { return -1; }))}, {}});
  put({"Slice",
       {},
       {tensor_literal(each_axis(rank, [&](int i) { return s[i] > 1 ? 1 : 0; })), tensor_literal(each_axis(rank, [](int) { return 1; }))},
       {}});
  put({"StridedSlice",
       {},
       {tensor_literal(each_axis(rank, [](int) { return 0; })),
        tensor_literal(each_axis(rank, [&](int i) { return static_cast<int>(s[i]); })),
        tensor_literal(each_axis(rank, [](int) { return 2; }))},
       {{"shrink_axis_mask", 0}}});
  put({"Reshape", {}, {tensor_literal(each_axis(rank, [&](int i) { return static_cast<int>(s[rank - 1 - i]); }))}, {}});
  put({"BroadcastTo", {}, {tensor_literal(each_axis(rank, [&](int i) { return s[i] == 1 ? 4 : static_cast<int>(s[i]); }))}, {}});
  put({"Tile", {}, {tensor_literal(each_axis(rank, [](int i) { return 1 + i % 2; }))}, {}});
  shape pairs;
  pairs.push(rank);
  pairs.push(2);
  put({"Pad", {}, {tensor_literal(pairs, each_axis(2 * rank, [](int i) { return i % 3 == 0 ? 1 : 0; }))}, {}});
  put({"AddN", {}, {}, {{"N", 6}}, 6});
  put({"AddV2", {}, {tensor_literal(1.0f)}, {}});
  return cases;
}

}  // namespace

TEST_CASE("operators of files that are told axes or sizes do not need the rank beforehand") {
  for (int rank = 0; rank <= max_rank; ++rank)
    for (const case_of_file& c : cases_of_files(rank)) {
      const std::string known = result_of(c, rank, true, true);
      INFO("rank " << rank << ", " << c.op);
      CHECK(known.find("error") == std::string::npos);
      CHECK(result_of(c, rank, false, true) == known);
      CHECK(result_of(c, rank, false, false) == known);
    }
}

TEST_CASE("functions of programs do not need the rank beforehand") {
  using making = std::function<output(const output&)>;
  for (int rank = 1; rank <= max_rank; ++rank) {
    const shape s = array_shape(rank);
    std::vector<making> all{
        [&](const output& x) { return transpose(x, each_axis(rank, [&](int i) { return (i + 1) % rank; })); },
        [&](const output& x) { return transpose(x); },
        [&](const output& x) { return reduce_sum(x); },
        [&](const output& x) { return reduce_mean(x, each_axis(rank, [](int i) { return i; }), keep_dims::yes); },
        [&](const output& x) { return slice(x, each_axis(rank, [](int) { return 0; }), each_axis(rank, [](int) { return 1; })); },
        [&](const output& x) { return tile(x, each_axis(rank, [](int i) { return 1 + i % 2; })); },
        [&](const output& x) { return squeeze(x, {}); },
        [&](const output& x) { return broadcast_to(x, each_axis(rank, [&](int i) { return s[i] == 1 ? 4 : static_cast<int>(s[i]); })); },
        [&](const output& x) { return add_n({x, x, x, x, x, x}); },
        [&](const output& x) { return softmax(x, "s"); },
    };
    for (std::int32_t axis = -rank; axis < rank; ++axis) {
      all.push_back([=](const output& x) { return reduce_max(x, axis); });
      all.push_back([=](const output& x) { return argmax(x, axis); });
      all.push_back([=](const output& x) { return concat({x, x}, axis); });
      all.push_back([=](const output& x) { return reverse(x, axis); });
      all.push_back([=](const output& x) { return cumsum(x, axis); });
      all.push_back([=](const output& x) { return split(x, 1, axis)[0]; });
      if (rank < max_rank) {
        all.push_back([=](const output& x) { return expand_dims(x, axis); });
        all.push_back([=](const output& x) { return stack({x, x}, axis); });
      }
      if (s[axis < 0 ? axis + rank : axis] == 1) all.push_back([=](const output& x) { return squeeze(x, {axis}); });
    }
    for (std::size_t k = 0; k < all.size(); ++k) {
      std::string results[2];
      for (const bool knows_shape : {true, false}) {
        graph g;
        const auto scope = g.as_default();
        try {
          const output x = knows_shape ? placeholder(dtype::float32, shape_value(s), "x") : placeholder(dtype::float32, unknown_shape, "x");
          const output y = all[k](x);
          graph_session session(g);
          results[knows_shape ? 0 : 1] = text_of(session.run(y, {{x, array_of_rank(rank)}}));
        } catch (const error& e) {
          results[knows_shape ? 0 : 1] = std::string("error: ") + e.what();
        }
      }
      INFO("rank " << rank << ", function " << k);
      CHECK(results[0].find("error") == std::string::npos);
      CHECK(results[0] == results[1]);
    }
  }
}

TEST_CASE("what no array of the library has is refused where the rank is unknown, too") {
  graph g;
  const auto scope = g.as_default();
  const output x = placeholder(dtype::float32, unknown_shape, "x");
  CHECK_THROWS_WITH_AS(reduce_sum(x, max_rank), doctest::Contains("axis out of range"), invalid_argument);
  CHECK_THROWS_WITH_AS(transpose(x, each_axis(max_rank + 1, [](int i) { return i; })), doctest::Contains("not a permutation"),
                       invalid_argument);
  CHECK_THROWS_AS(squeeze(x, {-max_rank - 1}), invalid_argument);
  CHECK_THROWS_AS(expand_dims(x, max_rank), invalid_argument);
}
