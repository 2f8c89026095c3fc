// A session of a graph that is built at run time.
// expect: is run by graph_session s(g) of <leat/session/graph_session.hpp>
#include <leat/leat.hpp>

using namespace leat;
using namespace leat::literals;

int main() {
  graph g;
  auto x = placeholder<"x", float, "batch", 2>();
#ifdef LEAT_FIXED
  session s{x};
#else
  session s(g);  // ERROR HERE
#endif
}
