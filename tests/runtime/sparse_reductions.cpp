// Sparse tensors that are compared with each other, reduced to sparse ones and split: values and errors of TensorFlow 2.21.

#include <leat/graphs.hpp>
#include <leat/session/graph_session.hpp>

#include "support/messages.hpp"
#include "support/node_results.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <string>

namespace sparse_reduction_tests {

using namespace leat;
using namespace node_results;

namespace {

using numbers = std::vector<std::int64_t>;

tensor_value list(const numbers& all) { return tensor_value(all); }
tensor_value pairs(const numbers& all, std::int64_t columns = 2) {
  return tensor_value({static_cast<std::int64_t>(all.size()) / columns, columns}, all);
}
tensor_value floats(const number_list& all) { return tensor_of(dtype::float32, {static_cast<std::int64_t>(all.size())}, all); }
numbers whole(const tensor_value& v) { return v.as<numbers>(); }
void refuses(std::string_view type, const std::vector<tensor_value>& arrays, std::string_view words, const attribute_map& settings = {}) {
  const std::string problem = leat_test::message_of<invalid_argument>([&] { run_node(type, arrays, {}, settings, "culprit"); });
  CHECK_MESSAGE(leat_test::says(problem, words, "culprit"), type << ": " << problem);
}

}  // namespace

TEST_CASE("the larger and the smaller values of two sparse tensors") {
  const tensor_value sizes = list({2, 3});
  const auto gives = [&](bool larger, const numbers& a, const number_list& x, const numbers& b, const number_list& y, const numbers& indices,
                         const number_list& values) {
    const auto made = run_node(larger ? "SparseSparseMaximum" : "SparseSparseMinimum", {pairs(a), floats(x), sizes, pairs(b), floats(y), sizes}, {}, {});
    CHECK(whole(made[0]) == indices);
    CHECK(made[0].extent()[1] == 2);
    CHECK(list_of(made[1]) == values);
  };
  const numbers all{0, 0, 0, 1, 0, 2, 1, 1};
  gives(true, {0, 0, 0, 2, 1, 1}, {1, -2, 3}, {0, 1, 0, 2, 1, 1}, {5, -1, 2}, all, {1, 5, -1, 3});
  gives(false, {0, 0, 0, 2, 1, 1}, {1, -2, 3}, {0, 1, 0, 2, 1, 1}, {5, -1, 2}, all, {0, 0, -2, 2});
  gives(true, {}, {}, {0, 1}, {-5}, {0, 1}, {0});
  gives(false, {}, {}, {0, 1}, {-5}, {0, 1}, {-5});
  gives(true, {}, {}, {}, {}, {}, {});
  gives(true, {1, 1, 0, 0}, {1, 2}, {0, 0, 1, 1}, {-1, 4}, {0, 0, 1, 1, 0, 0}, {0, 4, 2});
  gives(false, {1, 1, 0, 0}, {1, 2}, {0, 0, 1, 1}, {-1, 4}, {0, 0, 1, 1, 0, 0}, {-1, 1, 0});
  gives(true, {0, 0, 0, 0}, {1, 2}, {0, 0}, {-1}, {0, 0, 0, 0}, {1, 2});
  for (const char* type : {"SparseSparseMaximum", "SparseSparseMinimum"}) {
    for (const bool first : {true, false}) {
      const tensor_value one = floats({1}), none = floats({std::numeric_limits<double>::quiet_NaN()});
      const auto made = run_node(type, {pairs({0, 0}), first ? none : one, sizes, pairs({0, 0}), first ? one : none, sizes}, {}, {});
      CHECK(std::isnan(list_of(made[1])[0]));
    }
    const tensor_value at = pairs({0, 0}), one = floats({1});
    refuses(type, {at, one, sizes, at, one, list({3, 3})}, "Operands' shapes do not match: got 2 and 3 for dimension 0");
    refuses(type, {at, one, sizes, at, one, list({2})}, "Index rank (2) and shape rank (1) do not match");
    refuses(type, {at, one, sizes, pairs({0}, 1), one, list({2})}, "Operands do not have the same ranks");
    refuses(type, {at, floats({1, 2}), sizes, at, one, sizes}, "Number of elements in indices (1) and values (2) do not match");
    refuses(type, {list({0, 0}), floats({1, 2}), sizes, at, one, sizes}, "");
    refuses(type, {pairs({5, 7}), one, sizes, at, one, sizes}, "Sparse index tuple indices[0, :] = [5, 7] is out of bounds");
    refuses(type, {at, one, sizes, pairs({-1, 0}), one, sizes}, "Sparse index tuple indices[0, :] = [-1, 0] is out of bounds");
  }
  const auto whole_numbers = run_node("SparseSparseMaximum", {pairs({0, 0}), tensor_value(std::vector<std::int32_t>{-3}), sizes, pairs({0, 1}),
                                                              tensor_value(std::vector<std::int32_t>{4}), sizes}, {}, {});
  CHECK(list_of(whole_numbers[1]) == number_list{0, 4});
}

TEST_CASE("reductions of sparse tensors to sparse tensors") {
  const tensor_value at = pairs({0, 0, 1, 0, 2, 0, 1, 1, 1, 1, 1, 0, 0, 0, 0}, 3), values = floats({1, 2, 3, -4, 5}), sizes = list({2, 3, 2});
  const auto axes = [](const std::vector<std::int32_t>& all) { return tensor_value(all); };
  const auto gives = [&](const std::vector<std::int32_t>& by, bool keeps, const numbers& indices, const number_list& sums, const number_list& largest,
                         const numbers& result) {
    for (const bool is_sum : {true, false}) {
      const auto made = run_node(is_sum ? "SparseReduceSumSparse" : "SparseReduceMaxSparse", {at, values, sizes, axes(by)}, {}, {{"keep_dims", keeps}});
      CHECK(whole(made[0]) == indices);
      CHECK(made[0].extent() == shape(2, {static_cast<std::int64_t>(sums.size()), static_cast<std::int64_t>(result.size())}));
      CHECK(list_of(made[1]) == (is_sum ? sums : largest));
      CHECK(whole(made[2]) == result);
    }
  };
  gives({0}, false, {0, 0, 0, 1, 1, 0, 1, 1, 2, 0}, {5, 1, -4, 3, 2}, {5, 1, -4, 3, 2}, {3, 2});
  gives({0}, true, {0, 0, 0, 0, 0, 1, 0, 1, 0, 0, 1, 1, 0, 2, 0}, {5, 1, -4, 3, 2}, {5, 1, -4, 3, 2}, {1, 3, 2});
  gives({1}, false, {0, 0, 0, 1, 1, 0, 1, 1}, {7, 1, -4, 3}, {5, 1, -4, 3}, {2, 2});
  gives({-1}, false, {0, 0, 0, 2, 1, 1}, {6, 2, -1}, {5, 2, 3}, {2, 3});
  gives({2}, true, {0, 0, 0, 0, 2, 0, 1, 1, 0}, {6, 2, -1}, {5, 2, 3}, {2, 3, 1});
  gives({0, 1}, false, {0, 1}, {3, 4}, {5, 3}, {2});
  gives({2, 0}, true, {0, 0, 0, 0, 1, 0, 0, 2, 0}, {6, -1, 2}, {5, 3, 2}, {1, 3, 1});
  gives({0, 1, 2}, false, {}, {7}, {5}, {});
  gives({0, 1, 2}, true, {0, 0, 0}, {7}, {5}, {1, 1, 1});
  gives({}, false, {0, 0, 0, 0, 0, 1, 0, 2, 0, 1, 1, 0, 1, 1, 1}, {5, 1, 2, -4, 3}, {5, 1, 2, -4, 3}, {2, 3, 2});
  gives({0, 0}, false, {0, 0, 0, 1, 1, 0, 1, 1, 2, 0}, {5, 1, -4, 3, 2}, {5, 1, -4, 3, 2}, {3, 2});
  for (const bool is_sum : {true, false}) {
    const char* const type = is_sum ? "SparseReduceSumSparse" : "SparseReduceMaxSparse";
    const auto none = run_node(type, {pairs({}), floats({}), list({2, 3}), axes({0})}, {}, {});
    CHECK(none[0].extent() == shape(2, {0, 1}));
    CHECK(none[1].elements() == 0);
    CHECK(whole(none[2]) == numbers{3});
    const auto unsorted = run_node(type, {pairs({1, 0, 0, 0, 1, 0}), floats({1, 2, 4}), list({2, 3}), axes({1})}, {}, {});
    CHECK(whole(unsorted[0]) == numbers{0, 1});
    CHECK(list_of(unsorted[1]) == (is_sum ? number_list{2, 5} : number_list{2, 4}));
    refuses(type, {at, values, sizes, axes({3})}, "Invalid reduction dimension 3, for input with 3 dimensions.");
    refuses(type, {at, values, sizes, axes({-4})}, "Invalid reduction dimension -4, for input with 3 dimensions.");
    refuses(type, {at, values, sizes, tensor_of(dtype::int32, {1, 1}, {0})}, "Expected reduction_axes to be a scalar or a vector; got shape: [1,1]");
    refuses(type, {pairs({0, 0}), floats({1}), sizes, axes({0})}, "Index rank (2) and shape rank (3) do not match");
    refuses(type, {pairs({0, 0, 0}, 3), floats({1, 2}), sizes, axes({0})}, "Number of elements in indices (1) and values (2) do not match");
  }
}

TEST_CASE("sparse tensors are split") {
  const tensor_value at = pairs({0, 0, 0, 4, 1, 2, 2, 1, 2, 6}), values = floats({1, 2, 3, 4, 5}), sizes = list({3, 7});
  const auto axis = [](std::int64_t a) { return tensor_value(a); };
  struct part {
    numbers indices;
    number_list values;
    numbers sizes;
  };
  const auto gives = [&](std::int64_t along, const std::vector<part>& wanted) {
    const auto made = run_node("SparseSplit", {axis(along), at, values, sizes}, {}, {{"num_split", static_cast<std::int64_t>(wanted.size())}});
    REQUIRE(made.size() == 3 * wanted.size());
    for (std::size_t k = 0; k < wanted.size(); ++k) {
      CHECK(whole(made[k]) == wanted[k].indices);
      CHECK(made[k].extent()[1] == 2);
      CHECK(list_of(made[wanted.size() + k]) == wanted[k].values);
      CHECK(whole(made[2 * wanted.size() + k]) == wanted[k].sizes);
    }
  };
  gives(1, {{{0, 0, 1, 2, 2, 1}, {1, 3, 4}, {3, 4}}, {{0, 0, 2, 2}, {2, 5}, {3, 3}}});
  gives(-1, {{{0, 0, 1, 2, 2, 1}, {1, 3, 4}, {3, 4}}, {{0, 0, 2, 2}, {2, 5}, {3, 3}}});
  gives(1, {{{0, 0, 1, 2, 2, 1}, {1, 3, 4}, {3, 3}}, {{0, 1}, {2}, {3, 2}}, {{2, 1}, {5}, {3, 2}}});
  gives(0, {{{0, 0, 0, 4}, {1, 2}, {1, 7}}, {{0, 2}, {3}, {1, 7}}, {{0, 1, 0, 6}, {4, 5}, {1, 7}}});
  gives(0, {{{0, 0, 0, 4, 1, 2, 2, 1, 2, 6}, {1, 2, 3, 4, 5}, {3, 7}}});
  gives(1, {{{0, 0}, {1}, {3, 1}}, {{2, 0}, {4}, {3, 1}}, {{1, 0}, {3}, {3, 1}}, {{}, {}, {3, 1}}, {{0, 0}, {2}, {3, 1}}, {{}, {}, {3, 1}}, {{2, 0}, {5}, {3, 1}}});
  const attribute_map two{{"num_split", 2}}, three{{"num_split", 3}};
  const auto words = run_node("SparseSplit", {axis(1), at, tensor_value(std::vector<std::string>{"a", "b", "c", "d", "e"}), sizes}, {}, two);
  CHECK(words[2].texts() == std::vector<std::string>{"a", "c", "d"});
  CHECK(words[3].texts() == std::vector<std::string>{"b", "e"});
  refuses("SparseSplit", {axis(2), at, values, sizes}, "Input axis should be in range [-2, 2), got 2", two);
  refuses("SparseSplit", {axis(0), at, values, sizes}, "Input num_split should be between 1 and the splitting dimension size (3), got 4", {{"num_split", 4}});
  refuses("SparseSplit", {axis(1), pairs({0, 9}), floats({1}), sizes}, "Sparse index tuple indices[0, :] = [0, 9] is out of bounds", two);
  refuses("SparseSplit", {axis(1), pairs({0, -1}), floats({1}), sizes}, "Sparse index tuple indices[0, :] = [0, -1] is out of bounds", two);
  refuses("SparseSplit", {axis(0), pairs({0, 9}), floats({1}), sizes}, "Sparse index tuple indices[0, :] = [0, 9] is out of bounds", three);
  refuses("SparseSplit", {axis(0), at, values, list({3})}, "Index rank (2) and shape rank (1) do not match", three);
  refuses("SparseSplit", {axis(0), at, floats({1, 2, 3}), sizes}, "Number of elements in indices (5) and values (3) do not match", three);
  refuses("SparseSplit", {axis(0), at, values, list({-3, 7})}, "", three);
  refuses("SparseSplit", {list({1}), at, values, sizes}, "Input axis should be a scalar but received shape [1]", two);
}

}  // namespace sparse_reduction_tests
