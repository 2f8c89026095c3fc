// Forty types of rows, each in a list and a view of leat/core/list.hpp or, with VECTORS, in a std::vector and a std::span.
#include <leat/core/list.hpp>

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#if defined(VECTORS)
template <class T>
using rows_of = std::vector<T>;
template <class T>
using view_of = std::span<const T>;
#else
using leat::detail::list;
template <class T>
using rows_of = list<T>;
template <class T>
using view_of = leat::detail::list_view<T>;
#endif

template <std::size_t I>
struct row {
  int a = 0, b = 0;
  long c = 0;
};
template <std::size_t I>
constexpr long sum(view_of<row<I>> rows) {
  long s = 0;
  for (const row<I>& r : rows) s += r.a;
  return s;
}
template <std::size_t I>
constexpr bool use() {
  rows_of<row<I>> rows;
  rows.push_back({1, 2, 3});
  rows.resize(7);
  rows[1].a = 3;
  rows_of<row<I>> copy = rows;
  copy = rows;
  return sum<I>(copy) == 4 && rows.back().b == 0;
}
constexpr bool all = []<std::size_t... I>(std::index_sequence<I...>) { return (use<I>() && ...); }(std::make_index_sequence<40>{});
static_assert(all);

int main() {}
