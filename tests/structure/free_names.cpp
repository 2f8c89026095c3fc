// Names of rooms that a program does not include stay its own, also beside `using namespace leat`.

#include <leat/graphs.hpp>
#include <leat/leat.hpp>
#include <leat/planned.hpp>
#include <leat/session/graph_session.hpp>

using namespace leat;

struct data {
  int x = 1;
};
struct summary {
  int x = 2;
};
struct cluster {
  int x = 3;
};
struct collective {
  int x = 4;
};

int main() { return data{}.x + summary{}.x + cluster{}.x + collective{}.x == 10 ? 0 : 1; }
