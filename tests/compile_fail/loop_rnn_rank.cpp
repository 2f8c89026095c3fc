// A layer of a batch without time.
// expect: lstm<name, units>(x, lengths, state, seed) takes sequences of floating point [batch, time, inputs]
#include <leat/leat.hpp>

#include <leat/loops.hpp>

using namespace leat;
using namespace leat::literals;

int main() {
#ifdef LEAT_FIXED
  auto x = placeholder<"x", float, "batch", "time", 8>();
#else
  auto x = placeholder<"x", float, "batch", 8>();
#endif
  auto layer = lstm<"rnn/basic_lstm_cell", 64>(x);  // ERROR HERE
}
