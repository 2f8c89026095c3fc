// The listings of docs/supervised.md.

// [listing supervised_includes]
#include <leat/graphs.hpp>
#include <leat/leat.hpp>
#include <leat/summary.hpp>
#include <leat/supervise.hpp>

#include <cstdio>
#include <filesystem>
// [end]

#include <unistd.h>

#include <string>

using namespace leat;

namespace {

void monitored(const std::string& folder) {
  // [listing monitored]
  graph g;
  auto scope = g.as_default();
  auto w = variable(4.0f, "w");
  auto loss = square(w - 1.0f, "loss");
  summary::scalar("loss_function", loss);
  auto train = gradient_descent(0.001f).minimize(loss, {.global_step = get_or_create_global_step()});

  monitored_session s({.checkpoint_dir = folder,
                       .save_checkpoint_secs = seconds(60),
                       .save_summaries_steps = 100,
                       .hooks = {stop_at_step(2000), nan_tensor(loss), progress({.last_step = 2000, .loss = loss})}});
  std::printf("from step %lld", static_cast<long long>(s.global_step()));
  while (!s.should_stop()) s.run(train);
  std::printf(" to %lld\n", static_cast<long long>(s.global_step()));
  s.close();
  // [end]
}

// [listing own_hook]
// Stops when the loss has become small.
class good_enough final : public session_run_hook {
 public:
  good_enough(output loss, float limit) : loss_(loss), limit_(limit) {}
  session_run_args before_run(session_run_context&) override { return {.fetches = {loss_}}; }
  void after_run(session_run_context& context, const session_run_values& values) override {
    if (values.results[0].as<float>() < limit_) context.request_stop();
  }

 private:
  output loss_;
  float limit_;
};
// [end]

void with_own_hook() {
  graph g;
  auto scope = g.as_default();
  auto w = variable(4.0f, "w");
  auto loss = square(w - 1.0f, "loss");
  auto train = gradient_descent(0.25f).minimize(loss, {.global_step = get_or_create_global_step()});
  // [listing loop]
  monitored_session s({.hooks = {std::make_shared<good_enough>(loss, 0.01f)}});
  s.loop([&] { s.run(train); });
  // [end]
  std::printf("closed: %s\n", s.is_closed() ? "yes" : "no");
}

void nan() {
  // [listing nan]
  graph g;
  auto scope = g.as_default();
  auto w = variable(3.0f, "w");
  auto steps = get_or_create_global_step();
  auto loss = log(w, "loss");  // of 3, 2, 1, 0, -1
  auto train = group(assign_sub(w, 1.0f), assign_add(steps, 1));
  monitored_session s({.hooks = {nan_tensor(loss)}});
  try {
    s.loop([&] { s.run(train); });
  } catch (const nan_loss_during_training& e) {
    const std::string text = e.what();
    std::printf("%s\n", text.substr(0, text.find(", made at")).c_str());
  }
  // [end]
}

void by_supervisor(const std::string& folder) {
  graph g;
  auto scope = g.as_default();
  auto w = variable(4.0f, "w");
  auto steps = get_or_create_global_step();
  auto train = gradient_descent(0.25f).minimize(square(w - 1.0f), {.global_step = steps});
  // [listing supervisor]
  supervisor sv({.logdir = folder, .save_model_secs = 60});
  auto s = sv.managed_session();
  while (!sv.should_stop()) {
    s.run(train);
    if (s.value(steps).as<std::int64_t>() == 100) sv.request_stop();
  }
  sv.save_model();
  sv.stop();
  // [end]
  std::printf("%s\n", std::filesystem::path(latest_checkpoint(folder).str()).filename().c_str());
}

void typed(const std::string& folder) {
  // [listing typed]
  auto x = placeholder<"x", float, "batch">();
  auto w = variable<"w", float>(0.0f);
  auto loss = reduce_mean(square(w - x));
  auto train = adam(0.1f).minimize(loss);
  session s{loss, train};

  std::uint64_t drawn = 0;  // the state of the data
  std::vector<float> xs(16);
  auto step = s.prepare(fetch(train, summary::scalar<"loss">(loss)), x = xs);
  supervised_loop training(
      s,
      {.checkpoint_dir = folder,
       .save_checkpoint_steps = 100,
       .parts = {{"data",
                  {.save = [&] { return std::to_string(drawn); }, .restore = [&](const std::string& text) { drawn = std::stoull(text); }}}},
       .hooks = {stop_at_step(150), nan_tensor("loss")}});
  training.loop([&] {
    for (float& v : xs) v = uniform<float>(1, drawn++);
    return step();
  });
  // [end]
  std::printf("%llu numbers drawn\n", static_cast<unsigned long long>(drawn));
}

void queues() {
  // [listing queues]
  graph g;
  auto scope = g.as_default();
  auto numbers = fifo_queue(10, {dtype::float32}, {{}});
  auto fill = numbers.enqueue_many({{1.0f, 2.0f, 3.0f, 4.0f, 5.0f}});
  auto no_more = numbers.close();
  auto q = fifo_queue(3, {dtype::float32}, {{}});
  add_queue_runner(queue_runner(q, {q.enqueue({square(numbers.dequeue()[0])})}));
  auto next = q.dequeue()[0];

  graph_session s(g);
  s.run(fill);
  s.run(no_more);
  coordinator c;  // after the session: its threads end before the session does
  start_queue_runners(s, c);
  float sum = 0;
  try {
    for (;;) sum += s.run<float>(next);
  } catch (const out_of_range&) {
    std::printf("sum %g\n", static_cast<double>(sum));
  }
  c.request_stop();
  c.join();
  // [end]
}

}  // namespace

int main() {
  const auto folder = std::filesystem::temp_directory_path() / ("leat_supervised." + std::to_string(::getpid()));
  std::filesystem::remove_all(folder);
  monitored((folder / "monitored").string());
  with_own_hook();
  nan();
  by_supervisor((folder / "supervisor").string());
  typed((folder / "typed").string());
  queues();
  std::filesystem::remove_all(folder);
}
