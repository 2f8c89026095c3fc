// The steps on the board of examples/on_a_microcontroller: prints the results by their bits, and behind # what the board has of its own.

#include "../../examples/on_a_microcontroller/board.hpp"
#include "platform.hpp"

extern "C" {
void say_bits(const char* name, std::uint32_t bits) {
  print(name);
  print(" ");
  print(bits, 16, 8);
  print("\n");
}
void say_own(const char* name, std::uint32_t number) {
  print("# ");
  print(name);
  print(" ");
  print(number);
  print("\n");
}
std::uint32_t instructions_passed(void) { return instructions_now(); }
int run_static_steps(void);
}

int main() { return run_static_steps(); }
