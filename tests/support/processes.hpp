#pragma once
// Processes that tests start, stop and kill; none outlives its object.

#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

namespace leat_test {

class process {
 public:
  /// Runs a program with arguments; its standard input is held open, its standard output can be read.
  explicit process(std::vector<std::string> arguments) {
    int in[2], out[2];
    if (::pipe2(in, O_CLOEXEC) != 0 || ::pipe2(out, O_CLOEXEC) != 0) throw std::runtime_error("no pipes");
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_adddup2(&actions, in[0], 0);
    ::posix_spawn_file_actions_adddup2(&actions, out[1], 1);
    std::vector<char*> texts;
    for (std::string& a : arguments) texts.push_back(a.data());
    texts.push_back(nullptr);
    const int problem = ::posix_spawn(&id_, texts[0], &actions, nullptr, texts.data(), environ);
    ::posix_spawn_file_actions_destroy(&actions);
    ::close(in[0]), ::close(out[1]);
    in_ = in[1], out_ = out[0];
    if (problem != 0) id_ = 0;
    if (problem != 0) throw std::runtime_error("cannot run " + arguments[0]);
  }
  process(const process&) = delete;
  process& operator=(const process&) = delete;
  ~process() {
    send(SIGKILL), send(SIGCONT);
    wait();
    ::close(in_), ::close(out_);
  }

  pid_t id() const { return id_; }
  void send(int signal) const {
    if (id_ > 0 && !is_over_) ::kill(id_, signal);
  }
  void end_input() { ::close(in_), in_ = ::open("/dev/null", O_WRONLY | O_CLOEXEC); }
  /// The next line that it prints; empty if none comes within five seconds.
  std::string line() {
    std::string text;
    for (char c = 0;;) {
      pollfd waited{out_, POLLIN, 0};
      if (::poll(&waited, 1, 5000) <= 0 || ::read(out_, &c, 1) != 1) return text;
      if (c == '\n') return text;
      text += c;
    }
  }
  /// Its exit status, or minus the signal.
  int wait() {
    int status = 0;
    if (is_over_) return 0;
    ::waitpid(id_, &status, 0);
    is_over_ = true;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }

 private:
  pid_t id_ = 0;
  int in_ = -1, out_ = -1;
  bool is_over_ = false;
};

/// The program tests/support/transport_peer.cpp.
inline std::string transport_peer() {
  const char* const path = std::getenv("LEAT_TRANSPORT_PEER");
  if (path == nullptr) throw std::runtime_error("LEAT_TRANSPORT_PEER names no program: run by ctest");
  return path;
}

}  // namespace leat_test
