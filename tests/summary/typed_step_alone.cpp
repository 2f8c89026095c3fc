#include <leat/leat.hpp>
#include <leat/summary.hpp>
#include <leat/summary/file_writer.hpp>

#include "support/allocations.hpp"
#include "support/scratch_folder.hpp"

#include <doctest/doctest.h>

#include <vector>

using namespace leat;

// A training step that hands its scalars to a writer asks the heap for nothing.
TEST_CASE("scalars of each step are written without allocations") {
  auto x = placeholder<"x", float, 4>();
  auto w = variable<"w", float, 4>(ones);
  auto loss = reduce_mean(square(x * w));
  auto train = gradient_descent(0.1f).minimize(loss);
  session s{loss, train};
  s.initialize();
  const std::vector<float> xs{1, 2, 3, 4};
  const leat_test::scratch_folder folder("typed_step_alone");
  summary::file_writer log(folder.path);
  auto step = s.prepare(fetch(train, summary::scalar<"loss">(loss), summary::scalar<"twice">(loss)), x = xs);
  std::int64_t k = 0;
  const auto many = [&] {
    for (int i = 0; i < 2500; ++i) log.add_summary(step(), ++k);
  };
  CHECK(leat_test::count(many) == 0);
  log.close();
  CHECK(summary::read_scalars(folder.path).at("loss").size() == 10000);
}
