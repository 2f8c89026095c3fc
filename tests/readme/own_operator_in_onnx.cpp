// An operator defined outside the library that says what it is in ONNX: what docs/architecture.md shows.

#include <leat/cpu/use_operator.hpp>
#include <leat/graphs.hpp>
#include <leat/io/onnx.hpp>
#include <leat/leat.hpp>

#include <cstdio>
#include <string>

using namespace leat;

// [listing own_operator_in_onnx]
/// x without what it shares with [-0.5, 0.5].
struct soft_shrink_op : rule::unary<rule::takes::floating> {
  static constexpr std::string_view type = "SoftShrink";
  template <class M, class V>
  static constexpr auto apply(V x) {
    return M::subtract(x, M::minimum(M::maximum(x, V(-0.5)), V(0.5)));
  }
  static void onnx(onnx_nodes& n) { n.result(n.node("Shrink", {n.input()}, {{"lambd", 0.5f}, {"bias", 0.5f}})); }
};
LEAT_FUNCTION_OF_ONE(soft_shrink, soft_shrink_op);
// [end]

int main() {
  // [listing own_operator_in_onnx_used]
  use_operator<soft_shrink_op>();

  graph g;
  auto scope = g.as_default();
  auto x = placeholder(dtype::float32, {-1}, "x");
  auto y = soft_shrink(3.0f * x);
  std::string file = io::write_onnx(g, {.inputs = {{"x", x}}, .outputs = {{"y", y}}});
  // [end]

  const bool right = file.find("lambd") != file.npos;
  std::printf("%s\n", right ? "a node Shrink" : "no node Shrink");
  return right ? 0 : 1;
}
