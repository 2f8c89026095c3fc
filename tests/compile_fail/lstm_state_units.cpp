// A state of another size than the cell's.
// expect: lstm_cell<name, units>(x, lstm_state{c, h}) takes inputs [batch, inputs] of floating point and a state [batch, units]
#include <leat/leat.hpp>

int main() {
  using namespace leat;
  auto x = placeholder<"x", float, "batch", 2>();
  auto h = placeholder<"h", float, "batch", 4>();
#ifdef LEAT_FIXED
  auto y = lstm_cell<"cell", 4>(x, lstm_state{h, h});
#else
  auto y = lstm_cell<"cell", 5>(x, lstm_state{h, h});  // ERROR HERE
#endif
  (void)y;
}
