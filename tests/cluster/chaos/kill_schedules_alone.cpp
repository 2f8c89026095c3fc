// Training on a cluster of processes, of which some are killed or stopped at random moments, and come back or do not. Each schedule must end,
// within its deadline, in the stated result or in an error that says why; what is trained on must be a checkpoint's values and what followed.
//
//   ps 0, worker 0 (the chief), worker 1; asynchronous with a supervisor or monitored sessions, or synchronous.
//
// A schedule follows from its number. LEAT_CHAOS_SCHEDULES says how many are run (9 otherwise), LEAT_CHAOS_FIRST the first one's number.

#include <leat/cluster.hpp>
#include <leat/supervise.hpp>

#include "cluster/support/free_address.hpp"
#include "support/scratch_folder.hpp"

#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <optional>
#include <random>
#include <sstream>
#include <thread>
#include <tuple>

using namespace leat;
using namespace leat_test;
namespace files = std::filesystem;

namespace {

using steady = std::chrono::steady_clock;
using std::chrono::milliseconds;

enum class training { asynchronous, monitored, synchronous };
constexpr const char* training_names[] = {"asynchronous", "monitored", "synchronous"};
constexpr int stated_error = 3;  // a task's exit status
constexpr std::int64_t last_step = 600;

// ---- a task ----

class wrong_value : public std::logic_error {
  using std::logic_error::logic_error;
};

// Writes to standard output at once, and remembers.
class told final : public std::streambuf {
 public:
  std::string text;

 private:
  int overflow(int c) override {
    const char byte = static_cast<char>(c);
    return xsputn(&byte, 1) == 1 ? c : traits_type::eof();
  }
  std::streamsize xsputn(const char* bytes, std::streamsize count) override {
    text.append(bytes, static_cast<std::size_t>(count));
    return ::write(1, bytes, static_cast<std::size_t>(count));
  }
};

// Of the chief: whenever there is a session, its values are those of the newest checkpoint, or later ones.
class restored_check final : public session_run_hook {
 public:
  restored_check(output w, std::string folder, const told& log, bool alone) : w_(w), folder_(std::move(folder)), log_(log), alone_(alone) {}
  void after_create_session(watched_session& s, coordinator&) override {
    const std::string news = log_.text.substr(seen_);
    seen_ = log_.text.size();
    const checkpoint_path latest = latest_checkpoint(folder_);
    if (!latest) return;
    const auto saved = latest.open()->value(w_.operation().name()).as<float>();
    const auto now = s.of_graph()->value(w_).as<float>();
    // Nobody else trains before the chief does where all wait for all.
    const bool is_restored = news.rfind("restored from") != news.npos;
    if (is_restored && alone_ ? now != saved : now < saved)
      throw wrong_value("w is " + std::to_string(now) + ", and " + std::to_string(saved) + " in " + latest.str());
  }

 private:
  output w_;
  std::string folder_;
  const told& log_;
  bool alone_;
  std::size_t seen_ = 0;
};

// Each training step adds one to w, to the global step, and to the number of this worker's steps.
void work(training kind, const cluster_spec& c, int task, const std::string& folder) {
  const server here(c, {.job_name = "worker", .task_index = task});
  const bool is_chief = task == 0;
  graph g;
  const auto scope = g.as_default();
  output w, steps, own;
  graph_operation train;
  std::optional<sync_replicas> sync;
  {
    const device replica(replica_device_setter({.worker_device = here.device(), .cluster = c}));
    w = variable(0.0f, "w");
    steps = get_or_create_global_step();
    std::vector<output> all_own;
    for (int k = 0; k < 2; ++k) all_own.push_back(variable(std::int64_t{0}, "own_" + std::to_string(k), {.trainable = false}));
    own = all_own[static_cast<std::size_t>(task)];
    const output loss = multiply(w, -1.0f);
    graph_operation update;
    if (kind == training::synchronous) {
      sync.emplace(gradient_descent(1.0f), sync_replicas_options{.replicas_to_aggregate = 2, .total_num_replicas = 2});
      update = sync->minimize(loss, {.global_step = steps});
    } else {
      update = gradient_descent(1.0f).minimize(loss, {.global_step = steps});
    }
    const control_dependencies after{update};
    train = assign_add(own, constant(std::int64_t{1})).operation();
  }
  told log_buffer;
  std::ostream log(&log_buffer);
  session_options session;
  session.target = here.target();
  session.start_timeout_in_ms = 6'000;
  session.operation_timeout_in_ms = 8'000;
  session.device_filters = {"/job:ps", here.device()};

  // Runs until the last step, and anew if the variables are lost before their last values are read. While the session is the same one, this
  // worker's count rises by one with each run; it falls to 0 if the chief ended before its first checkpoint, and initializes once more.
  const auto loop = [&](auto& s, auto should_stop, auto recoveries) {
    std::int64_t before = -1, at = 0;
    float value = 0;
    int of_session = -1;
    do {
      for (std::int64_t now = 0; !should_stop() && now < last_step;) {
        s.run(train);
        const auto [step, count] = s.template run<std::int64_t, std::int64_t>({steps, own});
        now = step;
        if (const int session_now = recoveries(); session_now == of_session && count != before + 1 && count > 1)
          throw wrong_value("this worker's steps went from " + std::to_string(before) + " to " + std::to_string(count));
        else of_session = session_now;
        before = count;
        std::this_thread::sleep_for(milliseconds(2));
      }
      std::tie(at, value) = s.template run<std::int64_t, float>({steps, w});
    } while (at < last_step && !should_stop());
    log << "final steps " << at << " w " << static_cast<std::int64_t>(value) << "\n";
  };

  if (kind == training::asynchronous) {
    supervisor sv({.is_chief = is_chief,
                   .logdir = is_chief ? folder : std::string{},
                   .summary = {},
                   .global_step = steps,
                   .save_summaries_secs = 0,
                   .save_model_secs = 0.2,
                   .max_wait_secs = 10,
                   .stop_on_signals = false,
                   .session = session,
                   .log = &log});
    auto s = sv.managed_session();
    loop(s, [&] { return sv.should_stop(); }, [&] { return sv.recoveries(); });
    sv.stop();
    return;
  }
  monitored_options o;
  o.is_chief = is_chief;
  if (is_chief) o.checkpoint_dir = folder;
  o.save_checkpoint_steps = 50;
  o.save_summaries_steps = 0;
  o.log_step_count_steps = 0;
  o.max_wait = seconds(10);
  o.stop_on_signals = false;
  o.session = session;
  o.log = &log;
  if (sync) o.hooks.push_back(sync_replicas_hook(*sync, is_chief));
  o.chief_only_hooks.push_back(std::make_shared<restored_check>(w, folder, log_buffer, kind == training::synchronous));
  monitored_session s(std::move(o));
  s.within([&] { loop(s, [&] { return s.should_stop(); }, [&] { return s.recoveries(); }); });
}

int run_task(training kind, const cluster_spec& c, const std::string& job, int task, const std::string& folder) {
  try {
    if (job == "ps") {
      server here(c, {.job_name = "ps"});
      here.join();
    } else {
      work(kind, c, task, folder);
    }
    std::puts("ended");
    std::fflush(stdout);
    return 0;
  } catch (const wrong_value& e) {
    std::printf("wrong: %s\n", e.what());
    std::fflush(stdout);
    return 4;
  } catch (const error& e) {
    std::printf("error: %s\n", e.what());
    std::fflush(stdout);
    return stated_error;
  } catch (const std::exception& e) {
    std::printf("unexpected: %s\n", e.what());
    std::fflush(stdout);
    return 5;
  }
}

// ---- schedules ----

struct event {
  int who;  // 0: ps, 1: chief, 2: worker
  milliseconds when;
  bool is_kill;  // otherwise stopped
  std::optional<milliseconds> back_after;
};
constexpr const char* who_names[] = {"ps", "chief", "worker"};

struct schedule {
  training kind;
  std::vector<event> events;
  std::string text() const {
    std::ostringstream out;
    out << training_names[static_cast<int>(kind)];
    for (const event& e : events) {
      out << "; " << who_names[e.who] << (e.is_kill ? " killed" : " stopped") << " at " << e.when.count() << " ms, ";
      if (e.back_after) out << "back after " << e.back_after->count() << " ms";
      else out << "for good";
    }
    return out.str();
  }
};

schedule schedule_of(int number) {
  std::mt19937 random(static_cast<unsigned>(number));
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  schedule s{static_cast<training>(number % 3), {}};
  const int count = 1 + below(2);
  for (int k = 0; k < count; ++k) {
    event e{below(3), milliseconds(50 + below(1200)), below(3) != 0, {}};
    if (!e.is_kill) e.back_after = milliseconds(100 + below(3500));
    else if (below(5) != 0) e.back_after = milliseconds(below(800));
    s.events.push_back(e);
  }
  std::sort(s.events.begin(), s.events.end(), [](const event& a, const event& b) { return a.when < b.when; });
  return s;
}

bool is_free(int port) {
  const int s = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int yes = 1;
  ::setsockopt(s, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  sockaddr_in a{};
  a.sin_family = AF_INET;
  a.sin_port = htons(static_cast<std::uint16_t>(port));
  a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const bool bound = ::bind(s, reinterpret_cast<sockaddr*>(&a), sizeof a) == 0 && ::listen(s, 1) == 0;
  ::close(s);
  return bound;
}

// What the library's processes might leave with a name in the system: files of shared memory. Other programs have theirs.
std::vector<std::string> named_memory() {
  std::vector<std::string> names;
  std::error_code ignored;
  for (const auto& f : files::directory_iterator("/dev/shm", ignored)) {
    const std::string name = f.path().filename().string();
    if (name.starts_with("leat") && !name.starts_with("leat_test_")) names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

class cluster_of_processes {
 public:
  cluster_of_processes(training kind, files::path folder) : kind_(kind), folder_(std::move(folder)) {
    for (int& p : ports_) p = leat_test::free_port();
    const auto at = [&](int k) { return "localhost:" + std::to_string(ports_[static_cast<std::size_t>(k)]); };
    spec_ = cluster_spec{{"ps", {at(0)}}, {"worker", {at(1), at(2)}}};
    for (int k = 0; k < 3; ++k) start(k);
  }
  cluster_of_processes(const cluster_of_processes&) = delete;
  cluster_of_processes& operator=(const cluster_of_processes&) = delete;
  ~cluster_of_processes() {
    for (int k = 0; k < 3; ++k) kill(k);
  }

  void start(int who) {
    std::fflush(stdout);
    const pid_t parent = ::getpid();
    const pid_t pid = ::fork();
    if (pid == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (::getppid() != parent) ::_exit(9);
      const int log = ::open(log_path(who).c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
      ::dup2(log, 1);
      ::dup2(log, 2);
      ::close(log);
      const int status = run_task(kind_, spec_, who == 0 ? "ps" : "worker", who == 2 ? 1 : 0, (folder_ / "log").string());
      std::fflush(stdout);
      ::_exit(status);
    }
    pids_[static_cast<std::size_t>(who)] = pid;
    status_[static_cast<std::size_t>(who)].reset();
  }
  void signal(int who, int number) {
    if (is_running(who)) ::kill(pids_[static_cast<std::size_t>(who)], number);
  }
  void kill(int who) {
    if (!is_running(who)) return;
    ::kill(pids_[static_cast<std::size_t>(who)], SIGKILL);
    int status = 0;
    ::waitpid(pids_[static_cast<std::size_t>(who)], &status, 0);
    status_[static_cast<std::size_t>(who)] = -SIGKILL;
  }
  bool is_running(int who) {
    auto& known = status_[static_cast<std::size_t>(who)];
    if (known) return false;
    int status = 0;
    if (::waitpid(pids_[static_cast<std::size_t>(who)], &status, WNOHANG) == 0) return true;
    known = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
    return false;
  }
  bool ends_by(int who, steady::time_point deadline) {
    while (is_running(who)) {
      if (steady::now() >= deadline) return false;
      std::this_thread::sleep_for(milliseconds(5));
    }
    return true;
  }
  // 0, an exit status, or the signal that ended it, negative.
  int status(int who) const { return *status_[static_cast<std::size_t>(who)]; }
  std::string log(int who) const {
    std::ifstream in(log_path(who));
    return {std::istreambuf_iterator<char>(in), {}};
  }
  const std::array<int, 3>& ports() const { return ports_; }

 private:
  std::string log_path(int who) const { return (folder_ / (std::string(who_names[who]) + ".log")).string(); }
  training kind_;
  files::path folder_;
  std::array<int, 3> ports_{};
  cluster_spec spec_;
  std::array<pid_t, 3> pids_{};
  std::array<std::optional<int>, 3> status_{};
};

struct ending {
  std::string problem;  // "" if all is as it should be
  std::string logs;
};

ending run_schedule(const schedule& s, const files::path& folder) {
  files::create_directories(folder);
  const auto memory_before = named_memory();
  ending result;
  std::array<int, 3> ports{};
  {
    cluster_of_processes tasks(s.kind, folder);
    ports = tasks.ports();
    const auto start = steady::now();
    struct action {
      milliseconds when;
      int who;
      int what;  // a signal, or 0: started again
      auto operator<=>(const action&) const = default;
    };
    std::vector<action> actions;
    bool may_fail = false;  // somebody whom others need does not come back, or has left when they begin anew
    for (const event& e : s.events) {
      actions.push_back({e.when, e.who, e.is_kill ? SIGKILL : SIGSTOP});
      if (e.back_after) actions.push_back({e.when + *e.back_after, e.who, e.is_kill ? 0 : SIGCONT});
      else may_fail = true;
    }
    std::sort(actions.begin(), actions.end());
    const auto someone_is_done = [&] {
      for (const int k : {1, 2})
        if (!tasks.is_running(k) && tasks.status(k) >= 0) return true;
      return false;
    };
    for (const action& a : actions) {
      std::this_thread::sleep_until(start + a.when);
      if (someone_is_done()) may_fail = true;
      switch (a.what) {
        case SIGKILL: tasks.kill(a.who); break;
        case 0:
          if (!tasks.is_running(a.who) && tasks.status(a.who) == -SIGKILL) tasks.start(a.who);
          break;
        default: tasks.signal(a.who, a.what);
      }
    }
    for (int k = 0; k < 3; ++k) tasks.signal(k, SIGCONT);
    const auto deadline = steady::now() + std::chrono::seconds(40);
    std::string problem;
    for (const int k : {1, 2}) {
      if (!tasks.ends_by(k, deadline)) {
        problem += std::string(who_names[k]) + " does not end; ";
        continue;
      }
      const int status = tasks.status(k);
      const std::string log = tasks.log(k);
      if (status == stated_error ? !may_fail : status != 0 && status != -SIGKILL)
        problem += std::string(who_names[k]) + " ended with " + std::to_string(status) + "; ";
      if (const auto at = log.rfind("final steps "); status == 0 && at != log.npos) {
        long steps = 0, w = 0;
        std::sscanf(log.c_str() + at, "final steps %ld w %ld", &steps, &w);
        // A step that its worker's end interrupts has added to one of the two only; so has one while a checkpoint was taken.
        const long slack = (s.kind == training::synchronous ? 2 : 12) * static_cast<long>(s.events.size());
        if (steps < last_step && s.kind != training::synchronous) problem += "stopped at step " + std::to_string(steps) + "; ";
        if (std::labs(steps - w) > slack) problem += "w is " + std::to_string(w) + " at step " + std::to_string(steps) + "; ";
      }
    }
    tasks.signal(0, SIGTERM);
    if (!tasks.ends_by(0, steady::now() + std::chrono::seconds(5))) problem += "the ps does not end; ";
    // It may have been started again so late that it does not take the signal as its end yet.
    else if (const int status = tasks.status(0); status != 0 && status != -SIGKILL && status != -SIGTERM)
      problem += "the ps ended with " + std::to_string(tasks.status(0)) + "; ";
    result.problem = problem;
    for (int k = 0; k < 3; ++k) result.logs += std::string("--- ") + who_names[k] + "\n" + tasks.log(k);
  }
  for (const int port : ports)
    if (!is_free(port)) result.problem += "somebody still listens at " + std::to_string(port) + "; ";
  if (named_memory() != memory_before) result.problem += "shared memory is left behind; ";
  return result;
}

int number_of(const char* name, int otherwise) {
  const char* text = std::getenv(name);
  return text != nullptr ? std::atoi(text) : otherwise;
}

}  // namespace

TEST_CASE("an undisturbed run of each kind") {
  for (const training kind : {training::asynchronous, training::monitored, training::synchronous}) {
    const scratch_folder folder("chaos_calm");
    const ending e = run_schedule({kind, {}}, folder.path);
    INFO(training_names[static_cast<int>(kind)] << "\n" << e.logs);
    CHECK(e.problem == "");
  }
}

TEST_CASE("random schedules") {
  const int first = number_of("LEAT_CHAOS_FIRST", 0), count = number_of("LEAT_CHAOS_SCHEDULES", 9);
  for (int k = first; k < first + count; ++k) {
    const schedule s = schedule_of(k);
    const scratch_folder folder("chaos_" + std::to_string(k));
    const auto start = steady::now();
    const ending e = run_schedule(s, folder.path);
    INFO("schedule " << k << ": " << s.text() << "\n" << e.logs);
    CHECK(e.problem == "");
    if (count > 20 || std::getenv("LEAT_CHAOS_TOLD") != nullptr)
      MESSAGE("schedule " << k << ": " << s.text() << ": " << seconds(steady::now() - start).count() << " s");
  }
}
