#pragma once
// The ranks of an MPI run as leat sees them: a process makes one `communicator`, and the collective operators of its graphs and typed
// expressions (operators.hpp, named_collective.hpp) use it:
//
//   leat::collective::communicator ranks;         // mpirun -n 2 program: rank 0 or 1 of 2; without mpirun rank 0 of 1
//
// Each collective begins with an agreement: every rank tells the others what it is about to do (operator, node, dtype, shape), and each
// compares. So ranks that differ get an error that says which rank has what, and a rank that does not come is named when the deadline
// passes. Then the data move, in messages that are polled until the same deadline; small arrays travel with the agreement. In runs of
// many ranks (`communicator_options::direct_ranks`) rank 0 compares for all, and answers.
//
// Order. The ranks' collectives meet in the order in which each rank calls them, so this must be the same on all. The operators keep
// it: a typed program's steps have one order, which its expressions and fetches determine, and a session of a graph with names runs the
// collectives of a run one behind the other, in an order that the graph, the fetches and the feeds determine. Calls from several threads
// at once have no order: they end with the error above.
//
// Source: MPI 3.1; the agreement is in the manner of Horovod's coordinator (Sergeev and Del Balso 2018).

#include <leat/core/dtype.hpp>
#include <leat/core/error.hpp>
#include <leat/core/shape.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace leat {

/// How ranks' arrays become one. The numbers are Horovod's `reduce_op`.
enum class reduce_by : int { mean = 0, sum = 1, minimum = 3, maximum = 4 };

namespace collective {

struct communicator_options {
  /// How long a collective waits for other ranks, and how long the first call waits for all of them to start.
  std::chrono::milliseconds timeout = std::chrono::minutes(5);
  /// How long its destructor waits for those of the other ranks, one of which may have more to do, such as a last evaluation.
  std::chrono::milliseconds end_timeout = std::chrono::hours(1);
  /// The communicator of a program that uses MPI itself, as `MPI_Comm_c2f` gives it; it is duplicated. Otherwise MPI_COMM_WORLD.
  std::optional<int> handle{};
  /// Runs of up to so many ranks reduce arrays by messages from each to each; more use MPI's collectives, and rank 0 compares what
  /// they are about to do. The same on all ranks. Sums of the two may differ in their last bits.
  int direct_ranks = 16;
};

/// What one call of a collective is about, for the agreement and for messages.
struct call {
  std::string_view name;             // of the node
  dtype type = dtype::invalid;       // float32, float64, int32, int64; uint8 and bool where nothing is summed
  std::span<const shape> extents{};  // of the tensors; more than one for a fused all_reduce
  std::function<void()> check{};     // throws if the run must stop; called from time to time while the call waits
};

/// The ranks of this run. Thread-safe; calls wait for each other. It initializes MPI unless the program has done so, and finalizes it if it
/// initialized it, once all ranks have come to their destructor. Results are the same on all ranks, and do not depend on timing.
///
/// Errors of all collectives: invalid_argument on all ranks where they are about to do different things, naming ranks, nodes, dtypes and
/// shapes; deadline_exceeded, naming the ranks that did not come where rank 0 could tell; unavailable where MPI reports a failure, and for
/// ranks that have ended their communicator. After all but the first the communicator is of no more use: all further calls fail, its
/// destructor leaves MPI as it is, and the process should end, whereupon mpirun ends the others. It must not use MPI any further, whose
/// unfinished operations may still refer to arrays of the failed run.
class communicator {
 public:
  /// Errors: failed_precondition if the process has one already, if MPI was finalized, and for a program that has initialized MPI for
  /// one thread and calls from another; deadline_exceeded if the ranks do not start in time.
  explicit communicator(const communicator_options& options = {});
  ~communicator();
  communicator(const communicator&) = delete;
  communicator& operator=(const communicator&) = delete;

  int rank() const;
  int size() const;
  std::chrono::milliseconds timeout() const;

  /// The communicator of this process. Errors: failed_precondition if there is none.
  static communicator& current();

  /// Reduces arrays of the same sizes on all ranks, element by element, each of `from` to that of `to`, which may be the same. Several are
  /// one call, and the small ones of them one message. The mean of integers is rounded toward zero, as TensorFlow's.
  void all_reduce(const call& what, reduce_by how, std::span<const void* const> from, std::span<void* const> to);
  /// The shapes may differ in their first dimension: how many rows each rank has, told to `allocate`, which gives the memory for all of
  /// them, behind each other in the order of ranks. A scalar is a row.
  void all_gather(const call& what, const void* from, const std::function<void*(std::span<const std::int64_t>)>& allocate);
  /// The elements of rank `root` to all ranks; `from` is read there alone. Errors: invalid_argument for a root that is no rank.
  void broadcast(const call& what, int root, const void* from, void* to);
  /// The gradient of `all_gather`: the sum over ranks of `from`, of all ranks' rows; this rank's are given to `to`. The shape is that of this
  /// rank's rows.
  void sum_to_rows(const call& what, const void* from, void* to);
  /// The gradient of `broadcast`: the sum over ranks to rank `root`, zeros to all others.
  void sum_to_root(const call& what, int root, const void* from, void* to);
  /// Waits for all ranks.
  void barrier();

 private:
  friend class device_collectives;  // nccl.hpp: agrees as these do, and lets NCCL move the data
  struct ranks;
  std::unique_ptr<ranks> ranks_;
};

}  // namespace collective

}  // namespace leat

#include <leat/collective/communicator_bodies.hpp>
