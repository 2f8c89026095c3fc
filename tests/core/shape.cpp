#include <leat/core/shape.hpp>

#include <doctest/doctest.h>

using namespace leat;

namespace {
constexpr shape of(std::initializer_list<std::int64_t> list) {
  shape s;
  for (auto d : list) s.push(d);
  return s;
}
constexpr bool gives(const shape& a, const shape& b, const shape& c) {
  const auto ab = broadcast(a, b);
  const auto ba = broadcast(b, a);
  return ab.ok && ba.ok && ab.extent == c && ba.extent == c;
}
constexpr std::int64_t batch = named_dimension("batch");
}  // namespace

static_assert(gives(of({2, 3}), of({2, 3}), of({2, 3})));
static_assert(gives(of({2, 3}), of({3}), of({2, 3})));
static_assert(gives(of({2, 1}), of({3}), of({2, 3})));
static_assert(gives(of({}), of({2, 3}), of({2, 3})));
static_assert(gives(of({0, 1}), of({1, 5}), of({0, 5})));
static_assert(gives(of({batch, 1}), of({1, 4}), of({batch, 4})));
static_assert(!broadcast(of({2, 3}), of({2, 4})).ok);
static_assert(!broadcast(of({batch}), of({2})).ok);
static_assert(!broadcast(of({batch}), of({named_dimension("rows")})).ok);
static_assert(!broadcast(of({0}), of({2})).ok);

// A list of sizes is not taken for a rank and what follows.
template <class T>
concept takes_two_sizes = requires { T{32, 784}; };
template <class T>
concept takes_a_rank = requires { T{1}; };
static_assert(!takes_two_sizes<shape> && !takes_a_rank<shape>);
static_assert(shape{2, {2, 3}} == of({2, 3}) && !shape::unknown().has_rank());

static_assert(is_named(batch) && !is_named(0) && !is_named(unknown_dimension));
static_assert(of({2, 3}).is_static() && !of({batch}).is_static());
static_assert(of({2, 3, 4}).elements() == 24 && of({}).elements() == 1 && of({0, 7}).elements() == 0);
static_assert(of({1, 2, 1}).squeezed() == of({2}));
static_assert(!(of({1, 2}) == of({2})));

static_assert(std::is_same_v<dims_of<2, 3>, dims<2, 3>>);
static_assert(dims_of<"batch", 3>::value == of({batch, 3}));
static_assert(dims<>::rank == 0);
static_assert(dims<2, 3>::hash != dims<3, 2>::hash && dims<>::hash != dims<0>::hash);

TEST_CASE("the text of a named dimension is found from its number") {
  using shape_type = dims_of<"batch", 4>;
  CHECK(detail::text_of_dimension<shape_type::value[0]>() == "batch");
  CHECK(detail::text_of_dimension<4>().empty());
}
