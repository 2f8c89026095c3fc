#pragma once
// The tasks of a cluster within this process, without any transport: calls and notes go from thread to thread. Tasks can be cut off.

#include <leat/cluster/master_client.hpp>
#include <leat/named/scopes/cluster_spec.hpp>

#include <atomic>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace leat_test {

class local_network final : public leat::cluster::task_network {
 public:
  using message = leat::transport::message;
  using method = leat::cluster::method;
  using steady_time = leat::cluster::steady_time;

  std::vector<std::shared_ptr<leat::cluster::task_service>> services;
  std::vector<bool> is_cut;
  /// Changes answers on their way, if it is set.
  std::function<void(int task, method what, message& answer)> on_answer;
  /// The same of calls.
  std::function<void(int task, method what, message& asked)> on_call;

  void call(int task, method what, message m, steady_time deadline, leat::cluster::answer_handler done) override {
    if (is_cut[static_cast<std::size_t>(task)])
      return done({}, std::make_exception_ptr(leat::unavailable("task " + std::to_string(task) + " cannot be reached")));
    ++calls;
    if (on_message) on_message(what, m);
    if (on_call) on_call(task, what, m);
    if (on_answer)
      done = [this, task, what, then = std::move(done)](message answer, std::exception_ptr failure) {
        if (!failure) on_answer(task, what, answer);
        then(std::move(answer), std::move(failure));
      };
    services[static_cast<std::size_t>(task)]->called(1, what, std::move(m), deadline, std::move(done));
  }
  void note(int task, method what, message m) override {
    if (is_cut[static_cast<std::size_t>(task)]) throw leat::unavailable("task " + std::to_string(task) + " cannot be reached");
    ++notes;
    if (on_message) on_message(what, m);
    services[static_cast<std::size_t>(task)]->noted(1, what, std::move(m));
  }
  bool wait(const std::atomic<bool>& done, steady_time until) override {
    std::unique_lock lock(guard_);
    while (!done.load()) {
      if (until == steady_time::max()) changed_.wait(lock);
      else if (changed_.wait_until(lock, until) == std::cv_status::timeout) return done.load();
    }
    return true;
  }
  void wake() override {
    const std::lock_guard lock(guard_);
    changed_.notify_all();
  }
  std::string describe(int task) override { return is_cut[static_cast<std::size_t>(task)] ? "cut off" : "there"; }
  std::atomic<int> calls{0}, notes{0};
  std::function<void(method, const message&)> on_message;  // sees all of them

 private:
  std::mutex guard_;
  std::condition_variable changed_;
};

/// The tasks of jobs, "ps:1,worker:2".
class local_cluster {
 public:
  explicit local_cluster(const std::vector<std::pair<std::string, int>>& jobs) {
    std::vector<std::string> devices, addresses;
    for (const auto& [job, count] : jobs)
      for (int k = 0; k < count; ++k) {
        devices.push_back("/job:" + job + "/replica:0/task:" + std::to_string(k) + "/device:CPU:0");
        addresses.push_back(job + std::to_string(k) + ":1");
      }
    network->is_cut.assign(devices.size(), false);
    for (std::size_t k = 0; k < devices.size(); ++k)
      network->services.push_back(std::make_shared<leat::cluster::task_service>(*network, devices, addresses, static_cast<int>(k)));
    std::weak_ptr<local_network> reached = network;
    leat::register_session_target("test://", [](leat::graph& g, const leat::session_options& options) {
      const int task = std::stoi(options.target.substr(options.target.rfind('/') + 1));
      local_cluster& here = *current();
      // An even session lives in its target's process, an odd one elsewhere.
      auto access = here.sessions++ % 2 == 0 ? leat::cluster::access_to(here.network->services[static_cast<std::size_t>(task)])
                                             : leat::cluster::access_to(here.network, task);
      return leat::cluster::session_at(g, options, std::move(access));
    });
    current() = this;
  }
  ~local_cluster() {
    for (const auto& s : network->services) s->stop();
    network->services.clear();
    current() = nullptr;
  }
  static std::string target(int task) { return "test://" + std::to_string(task); }

  std::shared_ptr<local_network> network = std::make_shared<local_network>();
  std::atomic<int> sessions = 0;

 private:
  static local_cluster*& current() {
    static local_cluster* c = nullptr;
    return c;
  }
};

}  // namespace leat_test
