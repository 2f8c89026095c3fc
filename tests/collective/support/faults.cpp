// Runs of ranks in which something goes wrong, one for each argument: a rank prints "as expected" if it gets the error that it should get, in
// time. Started by mpirun: see tests/CMakeLists.txt.

#include <leat/collective/communicator.hpp>

#include <mpi.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

using namespace leat;
using namespace std::chrono_literals;

namespace {

void sum(collective::communicator& ranks, std::string_view name = "total") {
  shape two;
  two.push(2);
  const float x[]{1, 2};
  float y[2];
  const void* const from[]{x};
  void* const to[]{y};
  ranks.all_reduce({name, dtype::float32, {&two, 1}}, reduce_by::sum, from, to);
}

// Whether a call fails with these words, within some seconds.
template <class Error, class F>
void expect(int rank, const std::string& words, F call, std::chrono::milliseconds within = 5s) {
  const auto start = std::chrono::steady_clock::now();
  std::string got = "nothing";
  try {
    call();
  } catch (const Error& e) {
    got = e.what();
    const auto took = std::chrono::steady_clock::now() - start;
    if (took > within) got += " (too late)";
    else if (got.find(words) != std::string::npos) got = "as expected";
  } catch (const std::exception& e) {
    got = std::string("another error: ") + e.what();
  }
  std::printf("rank %d: %s\n", rank, got.c_str());
  std::fflush(stdout);
}

int run(const std::string& what) {
  if (what == "none") {
    expect<failed_precondition>(0, "make a leat::collective::communicator", [] { collective::communicator::current(); });
    return 0;
  }
  if (what == "own_mpi") {  // of a program that uses MPI itself
    int given = 0;
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &given);
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm half;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    {
      collective::communicator ranks({.timeout = 10s, .handle = MPI_Comm_c2f(half)});
      sum(ranks);
      expect<failed_precondition>(rank, "has a communicator already", [] { collective::communicator second; });
      std::string said = "nothing";
      std::thread other([&] {
        try {
          sum(ranks);
        } catch (const failed_precondition& e) {
          said = e.what();
        }
      });
      other.join();
      // MPI may give more than it was asked for.
      if (given < MPI_THREAD_SERIALIZED && said.find("MPI_THREAD_SERIALIZED") == std::string::npos) std::printf("said %s\n", said.c_str());
      if (ranks.size() > 2) std::printf("the split communicator was not taken\n");
    }
    int finalized = 0;
    MPI_Finalized(&finalized);
    std::printf("rank %d: MPI is %s\n", rank, finalized != 0 ? "finalized" : "as it was");
    MPI_Comm_free(&half);
    MPI_Finalize();
    expect<failed_precondition>(rank, "MPI was finalized", [] { collective::communicator late; });
    return 0;
  }

  const bool is_short = what == "late" || what == "late_leader" || what == "stopped";
  const char* const most = std::getenv("LEAT_TEST_DIRECT_RANKS");
  const bool is_direct = most == nullptr;
  collective::communicator ranks(
      {.timeout = is_short ? 1500ms : std::chrono::milliseconds(60s), .direct_ranks = is_direct ? 16 : std::atoi(most)});
  const int rank = ranks.rank();
  sum(ranks);
  if (what == "late") {  // the last rank does not come
    if (rank == ranks.size() - 1) std::this_thread::sleep_for(5s);
    // Every rank knows who is missing if they exchange directly; otherwise rank 0, which tells the others if it is in time itself. The late
    // one hears of it.
    const std::string who = "rank " + std::to_string(ranks.size() - 1) + " did not come ";
    const std::string missing = (rank == 0 || is_direct ? who : std::string()) + "within 1500 ms";
    expect<deadline_exceeded>(rank, missing, [&] { sum(ranks, "late"); });
    expect<unavailable>(rank, "of no more use", [&] { sum(ranks); });
    return 0;
  }
  if (what == "late_leader") {
    if (rank == 0) std::this_thread::sleep_for(5s);
    if (rank > 0)
      expect<deadline_exceeded>(rank, is_direct ? "rank 0 did not come within 1500 ms" : "rank 0 gave no answer within 1500 ms",
                                [&] { sum(ranks, "late"); });
    return 0;
  }
  if (what == "late_for_data") {  // all have come, and one does not send its part
    shape large;
    large.push(100000);
    const std::vector<float> x(100000, 1);
    std::vector<float> y(100000);
    const void* const from[]{x.data()};
    void* const to[]{y.data()};
    const bool is_late = rank == ranks.size() - 1;
    int looks = 0;
    const auto check = [&] {
      if (is_late && ++looks == 1) throw cancelled("enough");
    };
    if (!is_late) std::this_thread::sleep_for(500ms);
    if (is_late)
      expect<cancelled>(rank, "enough", [&] { ranks.all_reduce({"x", dtype::float32, {&large, 1}, check}, reduce_by::sum, from, to); });
    // The others are told at once, long before their deadline.
    else
      expect<unavailable>(rank, "another gave up: a collective was left unfinished: enough",
                          [&] { ranks.all_reduce({"x", dtype::float32, {&large, 1}}, reduce_by::sum, from, to); });
    std::this_thread::sleep_for(500ms);  // mpirun ends all with the first that ends
    return 0;
  }
  if (what == "stopped") {
    if (rank == ranks.size() - 1) std::raise(SIGSTOP);
    else expect<deadline_exceeded>(rank, rank == 0 ? "did not come within 1500 ms" : "within 1500 ms", [&] { sum(ranks, "stopped"); });
    return 1;
  }
  if (what == "killed") {
    if (rank == ranks.size() - 1) std::raise(SIGKILL);
    sum(ranks, "killed");
    return 0;
  }
  if (what == "throws" || what == "throws_at_leader") {  // a rank fails elsewhere
    const int who = what == "throws" ? ranks.size() - 1 : 0;
    if (rank == who) throw invalid_argument("a wrong feed");
    expect<unavailable>(rank, "rank " + std::to_string(who) + " has ended the communicator by an error", [&] { sum(ranks, "throws"); });
    return 1;
  }
  if (what == "ends" || what == "ends_at_leader") {  // a rank has fewer steps than the others
    const int who = what == "ends" ? ranks.size() - 1 : 0;
    if (rank != who) expect<unavailable>(rank, "rank " + std::to_string(who) + " has ended the communicator", [&] { sum(ranks, "ends"); });
    return 0;
  }
  if (what == "cancelled") {  // a call that is stopped while it waits
    if (rank == ranks.size() - 1) std::this_thread::sleep_for(1s);
    else {
      const shape one{};
      const float x = 1;
      float y;
      const void* const from[]{&x};
      void* const to[]{&y};
      const auto start = std::chrono::steady_clock::now();
      expect<cancelled>(rank, "enough", [&] {
        ranks.all_reduce({"x",
                          dtype::float32,
                          {&one, 1},
                          [&] {
                            if (std::chrono::steady_clock::now() - start > 200ms) throw cancelled("enough");
                          }},
                         reduce_by::sum, from, to);
      });
    }
    return 0;
  }
  std::fprintf(stderr, "no such run: %s\n", what.c_str());
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc > 1 ? argv[1] : "none");
  } catch (const std::exception& e) {
    std::printf("ended by: %s\n", e.what());
    return 1;
  }
}
