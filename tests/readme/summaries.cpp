// Summaries and event files as docs/summaries.md shows them.

// [listing summaries_includes]
#include <leat/graphs.hpp>
#include <leat/leat.hpp>
#include <leat/session/graph_session.hpp>
#include <leat/summary.hpp>

#include <cstdio>
// [end]

#include <cstdlib>
#include <filesystem>
#include <vector>

using namespace leat;

namespace {

void graphs() {
  // [listing summaries_graph]
  graph g;
  auto scope = g.as_default();
  auto x = placeholder(dtype::float32, {-1}, "x");
  auto w = variable(0.0f, "w");
  auto z = x * w;
  auto loss = reduce_mean(square(z - 2.0f * x), {0});
  auto train = gradient_descent(0.1f).minimize(loss);
  summary::scalar("loss_function", loss);
  summary::histogram("z", z);
  auto merged = summary::merge_all();

  graph_session s(g);
  s.run(global_variables_initializer());
  summary::file_writer log("logs/graph", g);
  const std::vector<float> xs{-1, 0, 1, 2};
  for (int step = 0; step < 20; ++step) log.add_summary(s.run({merged, train}, {{x, xs}})[0], step);
  log.close();
  // [end]
  // [listing summaries_read]
  for (const auto& e : summary::read_events(log.path())) {
    if (!e.summary || e.step % 10 != 0) continue;
    for (const auto& v : e.summary->values) {
      if (const float* number = std::get_if<float>(&v.content))
        std::printf("step %d: %s %.4f\n", static_cast<int>(e.step), v.tag.c_str(), *number);
      if (const auto* h = std::get_if<summary::histogram_value>(&v.content))
        std::printf("step %d: %s %g numbers from %g to %.3f\n", static_cast<int>(e.step), v.tag.c_str(), h->num, h->min, h->max);
    }
  }
  // [end]
}

void typed() {
  // [listing summaries_typed]
  auto x = placeholder<"x", float, "n">();
  auto w = variable<"w", float>(0.0f);
  auto z = x * w;
  auto loss = reduce_mean(square(z - 2.0f * x));
  auto train = gradient_descent(0.1f).minimize(loss);
  auto summaries = summary::merge(summary::scalar<"loss_function">(loss), summary::histogram<"z">(z));

  session s{loss, train};
  s.initialize();
  summary::file_writer log("logs/typed");
  std::vector<float> xs{-1, 0, 1, 2};
  auto step = s.prepare(fetch(loss, train, summaries), x = xs);
  for (int k = 0; k < 20; ++k) {
    const auto results = step();  // the loss, then the two summaries
    log.add_summary(results, k);
  }
  // [end]
  log.close();
  std::printf("typed: %zu points\n", summary::read_scalars("logs/typed").at("loss_function").size());
}

void kinds() {
  graph g;
  auto scope = g.as_default();
  auto pictures = placeholder(dtype::float32, {-1, 8, 8, 1}, "pictures");
  auto sounds = reshape(pictures, {-1, 64});
  // [listing summaries_kinds]
  summary::image("seen", pictures, 2);          // up to 2 of [batch, height, width, channels]
  summary::audio("heard", sounds, 8000.0f, 1);  // up to 1 of [batch, frames], at 8,000 a second
  summary::text("notes", constant("**first** try"));
  {
    auto inner = name_scope("layer");
    summary::scalar("average", reduce_mean(pictures));  // its tag is its name, "layer/average"
  }
  auto merged = summary::merge_all();
  // [end]
  graph_session s(g);
  const auto result = s.run(merged, {{pictures, tensor_value({3, 8, 8, 1}, std::vector<float>(192))}});
  for (const auto& tag : summary::tags_of(result.as<std::string>())) std::printf("%s\n", tag.c_str());
}

void by_hand() {
  // [listing summaries_by_hand]
  summary::file_writer log("logs/by_hand");
  log.add_scalar("temperature", 21.5f, 1);
  summary::value_list values;
  values.scalar("pressure", 1013);
  values.histogram("speeds", std::vector<float>{1, 2, 2, 4});
  values.text("weather", "sunny");
  log.add_summary(values, 2);
  // [end]
}

void resumed() {
  int resumed_at = 0;
  // [listing summaries_resumed]
  summary::file_writer log("logs/resumed", {.flush_secs = 10});
  log.add_session_log(summary::session_status::start, resumed_at);
  // [end]
}

void traced() {
  graph g;
  auto scope = g.as_default();
  auto y = add(constant(1.0f, "a"), 2.0f, "y");
  graph_session s(g);
  summary::file_writer log("logs/traced", g);
  // [listing summaries_traced]
  run_trace trace(trace_detail::nodes);
  s.run(y, {}, {.trace = &trace});
  log.add_run_metadata(trace, "step 1", 1);
  // [end]
}

}  // namespace

int main() {
  std::filesystem::remove_all("logs");
  graphs();
  typed();
  kinds();
  by_hand();
  resumed();
  traced();
  std::filesystem::remove_all("logs");
}
