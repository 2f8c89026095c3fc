// factorization: a step of a matrix factorization, whose gradients are rows of two tables. Feeds and the loss included.

#include <leat/leat.hpp>

#include "../rivals/factorization.hpp"
#include "cases.hpp"
#include "suite.hpp"

#include <xtensor/xadapt.hpp>

namespace bench {
namespace {

void compare_factorization(suite& cases, const std::string& name) {
  using namespace leat;
  using data = factorization_data;
  constexpr std::int64_t users = data::users, items = data::items, columns = data::columns, batch = data::batch;
  const data d;
  const auto vector_of = [](const auto& values) { return xt::adapt(values, {values.size()}); };
  const xt::xtensor<std::int32_t, 1> user_ids = vector_of(d.user), item_ids = vector_of(d.item);
  const xt::xtensor<float, 1> ratings = vector_of(d.ratings);
  const xt::xtensor<float, 2> p_start = xt::adapt(d.p, {static_cast<std::size_t>(users), static_cast<std::size_t>(columns)});
  const xt::xtensor<float, 2> q_start = xt::adapt(d.q, {static_cast<std::size_t>(items), static_cast<std::size_t>(columns)});

  auto user = placeholder<"user", std::int32_t, batch>();
  auto item = placeholder<"item", std::int32_t, batch>();
  auto rating = placeholder<"rating", float, batch>();
  auto p = variable<"p", float, users, columns>(zeros);
  auto q = variable<"q", float, items, columns>(zeros);
  auto loss = reduce_mean(square(reduce_sum<1>(gather(p, user) * gather(q, item)) - rating));
  auto train = gradient_descent(data::rate).minimize(loss);
  session s{loss, train};
  s.initialize();
  float value = 0;
  auto step = s.prepare(fetch(loss, train), user = user_ids, item = item_ids, rating = ratings);
  const auto reset = [&] {
    s.assign(p, p_start);
    s.assign(q, q_start);
  };
  const auto ours = contend("leat", reset, [&] { value = std::get<0>(step()); }, [&] {
    std::vector<float> all{value};
    const auto ps = s.value(p);
    const auto qs = s.value(q);
    all.insert(all.end(), ps.begin(), ps.end());
    all.insert(all.end(), qs.begin(), qs.end());
    return all;
  });
  factorization_loop loop(d);
  cases.compare(name, 1e-5, ours, {rival("C++ loop", loop)});
}

}  // namespace

void rows(suite& cases) {
  on_one_thread(cases, "factorization", [&](const std::string& name) { compare_factorization(cases, name); });
}

}  // namespace bench
