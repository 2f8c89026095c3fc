// Resized, normalized and rearranged images of typed expressions against the same expressions in a graph with names, whose nodes are
// TensorFlow's.

#include "support/agreement.hpp"
#include "support/check.hpp"

#include <doctest/doctest.h>

using namespace leat;
using namespace leat::literals;

namespace {

// `f` of images, and its gradient by a variable, compiled and in a graph that has nodes of these types.
template <class F>
void compare(F f, std::initializer_list<const char*> types, double tolerance = 1e-5) {
  const auto x = placeholder<"x", float, 2, 4, 6, 4>();
  const auto w = variable<"w", float, 4>(random_uniform(0.5, 1, 1));
  const auto y = f(x * w);
  const auto loss = reduce_sum(y * y);
  const auto [dw] = gradients(loss, w);
  const auto train = gradient_descent(0.001f).minimize(loss);
  leat_test::both_sessions both(train, y, loss, dw);
  both.copy(w);
  std::string names = " ";
  const graph& g = both.dynamic().owner();
  for (int i = 0; i < g.size(); ++i) names += std::string(g.at(i).op->type) + " ";
  for (const char* type : types) {
    CAPTURE(type);
    CHECK(names.find(std::string(" ") + type + " ") != std::string::npos);
  }
  const auto images = leat_test::filled<float, 4>({2, 4, 6, 4}, -1, 1, 3);
  CHECK(both.look({{"x:0", tensor_value(images)}}, x = images) < tolerance);
  both.train({{"x:0", tensor_value(images)}}, x = images);
  CHECK(both.of(w) < tolerance);
}

}  // namespace

TEST_CASE("resized images agree with those of graphs") {
  compare([](const auto& x) { return resize_nearest_neighbor<7, 5>(x); }, {"ResizeNearestNeighbor", "ResizeNearestNeighborGrad"});
  compare([](const auto& x) { return resize_bilinear<3, 9, pixels::align_corners>(x); }, {"ResizeBilinear", "ResizeBilinearGrad"});
  compare([](const auto& x) { return resize_bilinear<8, 2, pixels::half_pixel_centers>(x); }, {"ResizeBilinear"});
}

TEST_CASE("normalized channels agree with those of graphs") {
  compare([](const auto& x) { return local_response_normalization<1, 2.0, 0.1, 0.75>(x); }, {"LRN", "LRNGrad"});
}

TEST_CASE("blocks and mirror images agree with those of graphs") {
  compare([](const auto& x) { return space_to_depth<2>(x); }, {"SpaceToDepth", "DepthToSpace"});
  compare([](const auto& x) { return depth_to_space<2>(x); }, {"SpaceToDepth", "DepthToSpace"});
  compare([](const auto& x) { return space_to_batch<sizes<2, 3>, before<0, 1>, behind<2, 2>>(x); }, {"SpaceToBatchND", "BatchToSpaceND"});
  compare([](const auto& x) { return batch_to_space<sizes<2>, before<1>, behind<2>>(x); }, {"SpaceToBatchND", "BatchToSpaceND"});
  compare([](const auto& x) { return mirror_pad<mirror::reflect, before<0, 3, 1, 0>, behind<0, 0, 2, 3>>(x); },
          {"MirrorPad", "MirrorPadGrad"});
  compare([](const auto& x) { return mirror_pad<mirror::symmetric, before<1, 4, 1, 0>, behind<0, 1, 6, 2>>(x); }, {"MirrorPad"});
}
