// A session of what the function is given: of one model, which there is not.
// expect: vmap: what its function was given is used outside: let the function return what is made of it
#include <leat/leat.hpp>

#include <leat/vmap.hpp>

using namespace leat;
using namespace leat::literals;

int main() {
  auto x = placeholder<"x", float, 1000, 4>();
  auto y = vmap([](auto state) {
    auto twice = state * 2_c;
#ifndef LEAT_FIXED
    session s{twice};  // ERROR HERE
#endif
    return twice;
  })(x);
}
