#pragma once
// The ranks of a test that mpirun starts.

#include <leat/collective/communicator.hpp>

namespace leat_test {

inline int rank() { return leat::collective::communicator::current().rank(); }
inline int size() { return leat::collective::communicator::current().size(); }
// The sum of f(0), f(1), ... of all ranks.
template <class F>
auto over_ranks(F f) {
  auto sum = f(0);
  for (int r = 1; r < size(); ++r) sum += f(r);
  return sum;
}

}  // namespace leat_test
