// A program that must not compile; README.md shows what g++ says of it.
#include <leat/leat.hpp>

using namespace leat;

int main() {
  // [listing wrong_shape]
  auto x = placeholder<"x", float, "batch", 64>();
  auto b = variable<"b", float, 10>(zeros);
  auto y = x + b;
  // [end]
}
