#pragma once
// The ranks of an MPI run. A process makes one `communicator`, which the collective operators of its graphs and typed expressions
// (operators.hpp, named_collective.hpp) use:
//
//   leat::collective::communicator ranks;         // mpirun -n 2 program: rank 0 or 1 of 2; without mpirun rank 0 of 1
//
// Each collective begins with an agreement: every rank sends to the others what it is about to do (operator, node, dtype, shape), and each
// rank compares. So ranks that differ get an error that names what each rank does, and an error at the deadline names the ranks that did
// not arrive. Then the data are exchanged, in messages that are polled until the same deadline; small arrays are sent with the agreement.
// In runs of many ranks (`communicator_options::direct_ranks`) rank 0 compares for all ranks, and answers.
//
// Order. Collectives are matched in the order in which each rank calls them, so this order must be the same on all ranks. The operators
// keep it: the steps of a typed program have one order, which its expressions and fetches determine, and a session of a graph with names
// runs the collectives of a run one after another, in an order that the graph, the fetches and the feeds determine. Concurrent calls from
// several threads have no defined order and fail with the error above.
//
// Source: MPI 3.1; the agreement follows Horovod's coordinator (Sergeev and Del Balso 2018).

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

/// How the arrays of all ranks are combined. The values are those of Horovod's `reduce_op`.
enum class reduce_by : int { mean = 0, sum = 1, minimum = 3, maximum = 4 };

namespace collective {

/// Options of a communicator.
struct communicator_options {
  /// How long a collective waits for other ranks, and how long the first call waits for all of them to start.
  std::chrono::milliseconds timeout = std::chrono::minutes(5);
  /// How long the destructor waits for those of the other ranks, because a rank may have more to do, such as a final evaluation.
  std::chrono::milliseconds end_timeout = std::chrono::hours(1);
  /// The communicator of a program that uses MPI itself, as `MPI_Comm_c2f` returns it; it is duplicated. By default MPI_COMM_WORLD.
  std::optional<int> handle{};
  /// In runs of up to this many ranks, arrays are reduced by messages between each pair of ranks; larger runs use MPI's collectives, and
  /// rank 0 compares the calls. Must be the same on all ranks. Sums of the two ways may differ in their last bits.
  int direct_ranks = 16;
};

/// Describes one call of a collective, for the agreement and for error messages.
struct call {
  std::string_view name;             // name of the node
  dtype type = dtype::invalid;       // float32, float64, int32, int64; also uint8 and bool if nothing is summed
  std::span<const shape> extents{};  // shapes of the tensors; more than one for a fused all_reduce
  std::function<void()> check{};     // throws if the run must stop; called repeatedly while the call waits
};

/// The ranks of this run. Thread-safe; concurrent calls wait for each other. The constructor initializes MPI unless the program has done
/// so; the destructor, if the constructor initialized MPI, finalizes it once all ranks have reached their destructor. Results are the same
/// on all ranks, and do not depend on timing.
///
/// Errors of all collectives: invalid_argument on all ranks if they are about to do different things, naming ranks, nodes, dtypes and
/// shapes; deadline_exceeded, naming the ranks that did not arrive if rank 0 could report them; unavailable if MPI reports a failure, and
/// for ranks that have ended their communicator. After any of these errors except the first, the communicator is unusable: all further
/// calls fail, its destructor leaves MPI unchanged, and the process should end, which makes mpirun end the others. The process must not use
/// MPI any further, because unfinished operations of MPI may still refer to arrays of the failed run.
class communicator {
 public:
  /// Errors: failed_precondition if the process has a communicator already, if MPI was finalized, or if the program has initialized MPI for
  /// one thread and calls from another; deadline_exceeded if the ranks do not start in time.
  explicit communicator(const communicator_options& options = {});
  ~communicator();
  communicator(const communicator&) = delete;
  communicator& operator=(const communicator&) = delete;

  /// The number of this rank, from 0.
  int rank() const;
  /// The number of ranks.
  int size() const;
  std::chrono::milliseconds timeout() const;

  /// The communicator of this process. Errors: failed_precondition if there is none.
  static communicator& current();

  /// Reduces arrays of the same shape on all ranks, element by element; the result of each array of `from` goes to that of `to`, which may
  /// be the same array. Several arrays are reduced in one call, and the small ones in one message. The mean of integers is rounded toward
  /// zero, as in TensorFlow.
  void all_reduce(const call& what, reduce_by how, std::span<const void* const> from, std::span<void* const> to);
  /// Concatenates the arrays of all ranks along the first dimension, in the order of ranks. The shapes may differ in that dimension:
  /// `allocate` receives the number of rows of each rank and returns the memory for all of them. A scalar counts as one row.
  void all_gather(const call& what, const void* from, const std::function<void*(std::span<const std::int64_t>)>& allocate);
  /// Copies the array of rank `root` to all ranks; `from` is read only on that rank. Errors: invalid_argument for a root that is not a
  /// rank.
  void broadcast(const call& what, int root, const void* from, void* to);
  /// The gradient of `all_gather`: sums over ranks `from`, which holds the rows of all ranks, and writes this rank's rows of the sum to
  /// `to`. The shape in `what` is that of this rank's rows.
  void sum_to_rows(const call& what, const void* from, void* to);
  /// The gradient of `broadcast`: the sum over ranks on rank `root`, zeros on all others.
  void sum_to_root(const call& what, int root, const void* from, void* to);
  /// Waits until all ranks have called it.
  void barrier();

 private:
  friend class device_collectives;  // nccl.hpp: agrees in the same way, and lets NCCL move the data
  struct ranks;
  std::unique_ptr<ranks> ranks_;
};

}  // namespace collective

}  // namespace leat

#include <leat/collective/impl/communicator.hpp>
