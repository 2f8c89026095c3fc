// Servers: a process that waits for work, and a server in the program itself. server.sh starts the first as three processes:
//
//    ps 0 <----+----> worker 0       each prints the tasks of each job, with their addresses, and its own target;
//              +----> worker 1       it serves from its construction on, join() only waits, SIGTERM ends it with 0

#include <leat/cluster.hpp>

#include "support/notes.hpp"
#include "support/roles.hpp"

using namespace leat;
using namespace leat::examples;

namespace {

int serve(int count, char** arguments) {
  server here(cluster_flags(count, arguments).role());
  introduce(here);
  here.join();
  return 0;
}

void in_one_process() {
  item("17.2", "a server in this process");
  server here = server::local();
  graph g;
  const auto scope = g.as_default();
  auto a = constant(1), b = constant(2), c = constant(3);
  auto out = add(add(a, b), multiply(b, c));
  graph_session s(g, {.target = here.target()});
  expect("1 + 2 + 2 * 3", s.run(out), 9);
  expect_true("its target is " + here.target(), here.target().starts_with("tcp://"));
}

void refusals() {
  item("17.1", "what is no server");
  const cluster_spec c{{"ps", {"localhost:1"}}, {"worker", {"localhost:2", "localhost:3"}}};
  expect_refused<invalid_argument>("a job that the cluster lacks", "Job \"zzz\" was not defined", [&] { server(c, {.job_name = "zzz"}); });
  expect_refused<invalid_argument>("a task that the job lacks", "Task 5 was not defined in job \"worker\"",
                                   [&] { server(c, {.job_name = "worker", .task_index = 5}); });
  server here = server::local();
  const std::string taken = here.target().substr(6);
  expect_refused<failed_precondition>("a port in use", "cannot listen at", [&] { server(cluster_spec{{"local", {taken}}}); });
}

void who_hears() {
  item("17.3", "a session waits for all tasks, and says for whom");
  server here = server::local();
  const std::string mine = here.target().substr(6);
  here.stop();
  const cluster_spec c{{"ps", {mine}}, {"worker", {"localhost:9"}}};  // nobody listens at port 9
  server ps(c, {.job_name = "ps"});
  graph g;
  const auto scope = g.as_default();
  auto one = constant(1);
  session_options options{.target = ps.target(), .start_timeout_in_ms = 500};
  expect_refused<deadline_exceeded>("one of two tasks is not there", "/job:worker/replica:0/task:0", [&] { graph_session(g, options); });
  options.device_filters = {"/job:ps"};
  expect("a session that does not use it", graph_session(g, options).run(one), 1);
}

}  // namespace

int main(int count, char** arguments) {
  if (has_role(count, arguments)) return run_role([&] { return serve(count, arguments); });
  return run_sections(count, arguments, "servers",
                      {{"local", "a server in one process", in_one_process},
                       {"refused", "jobs, tasks and ports that are wrong", refusals},
                       {"waiting", "for whom a session waits", who_hears}});
}
