#pragma once
// Implementation of communicator.hpp. It is compiled by every source that includes collective.hpp, since the prebuilt runtime library is
// built without MPI.

#include <leat/collective/communicator.hpp>
#include <leat/collective/impl/communicator_direct.hpp>
#include <leat/collective/impl/communicator_ranks.hpp>
#include <leat/core/text.hpp>

#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <mutex>
#include <thread>

namespace leat::collective {

inline communicator::communicator(const communicator_options& options) : ranks_(std::make_unique<ranks>()) {
  auto& known = detail::the_registry();
  const std::lock_guard lock(known.guard);
  if (known.current != nullptr) throw failed_precondition("the process has a communicator already");
  ranks& r = *ranks_;
  r.timeout = options.timeout;
  r.end_timeout = options.end_timeout;
  int initialized = 0, finalized = 0;
  MPI_Initialized(&initialized);
  MPI_Finalized(&finalized);
  if (finalized != 0) throw failed_precondition("MPI was finalized: a process can initialize it once");
  if (initialized == 0) {
    if (options.handle) throw failed_precondition("a communicator's handle, and MPI was not initialized");
    if (MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &r.threads) != MPI_SUCCESS)
      throw unavailable("MPI could not be initialized");
    r.owns_mpi = true;
  } else {
    MPI_Query_thread(&r.threads);
  }
  const MPI_Comm from = options.handle ? MPI_Comm_f2c(*options.handle) : MPI_COMM_WORLD;
  if (MPI_Comm_rank(from, &r.rank) != MPI_SUCCESS || MPI_Comm_size(from, &r.size) != MPI_SUCCESS)
    throw invalid_argument("the handle is of no communicator of MPI");
  const char* here = std::getenv("OMPI_COMM_WORLD_LOCAL_SIZE");
  if (here == nullptr) here = std::getenv("MPI_LOCALNRANKS");
  r.is_crowded = static_cast<unsigned>(here != nullptr ? std::max(1, std::atoi(here)) : r.size) > std::thread::hardware_concurrency();
  // A separate communicator, so that the program's own messages are not matched with leat's.
  r.requests.assign(1, MPI_REQUEST_NULL);
  r.must(MPI_Comm_idup(from, &r.comm, &r.requests[0]), "MPI_Comm_idup");
  if (!r.wait(detail::clock::now() + r.timeout, {}, "MPI_Comm_idup")) {
    static_cast<void>(ranks_.release());  // MPI may still write to it
    throw deadline_exceeded("the ranks have not all made their communicator within " + std::to_string(options.timeout.count()) + " ms");
  }
  r.must(MPI_Comm_set_errhandler(r.comm, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  r.is_direct = r.size > 1 && r.size <= options.direct_ranks;
  if (r.is_direct) {
    r.letters.resize(static_cast<std::size_t>(r.size));
    r.sources.resize(static_cast<std::size_t>(r.size));
  }
  known.current = this;
}

inline communicator::~communicator() {
  auto& known = detail::the_registry();
  {
    const std::lock_guard lock(known.guard);
    if (known.current == this) known.current = nullptr;
  }
  ranks& r = *ranks_;
  int finalized = 0;
  MPI_Finalized(&finalized);
  if (finalized != 0) return;
  bool all_left = false;
  if (r.broken.empty()) {
    try {
      const bool by_error = std::uncaught_exceptions() > 0;
      r.agree(r.intend(by_error ? detail::kind::fail : detail::kind::leave, {}, 0), detail::clock::now() + r.end_timeout, {});
      all_left = !by_error || r.size == 1;
    } catch (const error&) {  // reported already to the ranks that wait
    }
  }
  if (!all_left) {
    static_cast<void>(ranks_.release());  // incomplete requests refer to it
    return;
  }
  MPI_Comm_free(&r.comm);
  if (r.owns_mpi) MPI_Finalize();
}

inline int communicator::rank() const { return ranks_->rank; }
inline int communicator::size() const { return ranks_->size; }
inline std::chrono::milliseconds communicator::timeout() const { return ranks_->timeout; }

inline communicator& communicator::current() {
  auto& known = detail::the_registry();
  const std::lock_guard lock(known.guard);
  if (known.current == nullptr)
    throw failed_precondition(
        "a collective, and the process has no communicator: make a leat::collective::communicator at the beginning of main, which lives "
        "until its end");
  return *known.current;
}

inline void communicator::all_reduce(const call& what, reduce_by how, std::span<const void* const> from, std::span<void* const> to) {
  ranks& r = *ranks_;
  const std::lock_guard lock(r.guard);
  r.enter();
  const MPI_Datatype type = detail::mpi_type(what.type, true);
  if (from.size() != what.extents.size() || to.size() != from.size()) throw invalid_argument("all_reduce: not as many arrays as shapes");
  const auto deadline = detail::clock::now() + r.timeout;
  const auto mine = r.intend(detail::kind::all_reduce, what, static_cast<int>(how));
  const auto width = static_cast<std::size_t>(size_of(what.type));
  const auto bytes_of = [&](const ranks::array& a) { return static_cast<std::size_t>(a.count) * width; };
  // Small arrays are sent in one message: with the agreement if they fit, or, with MPI's collectives, separately from the large ones, for
  // which a copy takes longer than a message.
  std::size_t room = r.is_direct ? ranks::letter::most_bytes : std::size_t{1} << 16, small_bytes = 0;
  r.arrays.clear();
  r.small_arrays.clear();
  for (std::size_t k = 0; k < from.size(); ++k) {
    const ranks::array its{static_cast<const std::byte*>(from[k]), static_cast<std::byte*>(to[k]), what.extents[k].elements()};
    if (its.count == 0) continue;
    const bool is_small = bytes_of(its) <= (r.is_direct ? room - small_bytes : room);
    (is_small ? r.small_arrays : r.arrays).push_back(its);
    if (is_small) small_bytes += bytes_of(its);
  }
  if (r.size == 1) {
    for (const auto* list : {&r.arrays, &r.small_arrays})
      for (const ranks::array& a : *list)
        if (a.from != a.to) std::memmove(a.to, a.from, bytes_of(a));
    return;
  }
  if (!r.is_direct && r.parts.size() < small_bytes) r.parts.resize(small_bytes);
  std::byte* const small = r.is_direct ? r.letters[static_cast<std::size_t>(r.rank)].data : r.parts.data();
  std::byte* next = small;
  for (const ranks::array& a : r.small_arrays) next = std::copy_n(a.from, bytes_of(a), next);

  if (r.is_direct) {
    r.agree(mine, deadline, what.check, small_bytes);
    std::size_t at = 0;
    for (const ranks::array& a : r.small_arrays) {
      for (std::size_t k = 0; k < r.letters.size(); ++k) r.sources[k] = r.letters[k].data + at;
      detail::combine(what.type, how, r.sources, a.to, a.count);
      at += bytes_of(a);
    }
    return r.reduce_directly(mine, what, how, deadline);
  }

  r.agree(mine, deadline, what.check);
  const MPI_Op op = how == reduce_by::minimum ? MPI_MIN : how == reduce_by::maximum ? MPI_MAX : MPI_SUM;
  const auto reduce = [&](const ranks::array& a) {
    r.in_pieces(a.count, deadline, what, mine, [&](std::int64_t first, int count, MPI_Request* request) {
      const auto skipped = static_cast<std::size_t>(first) * width;
      return MPI_Iallreduce(a.from == a.to ? MPI_IN_PLACE : a.from + skipped, a.to + skipped, count, type, op, r.comm, request);
    });
    if (how == reduce_by::mean)
      detail::with_reduced_type(what.type, [&]<class T>(T) { detail::divide(reinterpret_cast<T*>(a.to), a.count, r.size); });
  };
  if (small_bytes > 0) reduce({small, small, static_cast<std::int64_t>(small_bytes / width)});
  next = small;
  for (const ranks::array& a : r.small_arrays) {
    std::copy_n(next, bytes_of(a), a.to);
    next += bytes_of(a);
  }
  for (const ranks::array& a : r.arrays) reduce(a);
}

inline void communicator::all_gather(const call& what, const void* from,
                                     const std::function<void*(std::span<const std::int64_t>)>& allocate) {
  ranks& r = *ranks_;
  const std::lock_guard lock(r.guard);
  r.enter();
  static_cast<void>(detail::mpi_type(what.type, false));
  const auto deadline = detail::clock::now() + r.timeout;
  const auto mine = r.intend(detail::kind::all_gather, what, 0);
  r.agree(mine, deadline, what.check);
  void* const to = allocate(r.rows);
  const std::int64_t width = mine.rows() > 0 ? mine.elements / mine.rows() : [&] {
    std::int64_t w = 1;
    for (int a = 1; a < mine.rank; ++a) w *= mine.extent[a];
    return w;
  }();
  const auto row_bytes = static_cast<std::size_t>(width) * static_cast<std::size_t>(size_of(what.type));
  if (r.size == 1) {
    if (mine.elements > 0) std::memcpy(to, from, static_cast<std::size_t>(mine.rows()) * row_bytes);
    return;
  }
  std::int64_t all = 0;
  for (const std::int64_t n : r.rows) all += n;
  if (all == 0 || row_bytes == 0) return;
  if (all > r.most_at_once) throw unimplemented("all_gather of more than 2^28 rows");
  r.counts.clear();
  r.places.clear();
  int place = 0;
  for (const std::int64_t n : r.rows) {
    r.counts.push_back(static_cast<int>(n));
    r.places.push_back(place);
    place += static_cast<int>(n);
  }
  MPI_Datatype row = MPI_DATATYPE_NULL;
  if (width > r.most_at_once) throw unimplemented("all_gather of rows of more than 2^28 elements");
  MPI_Type_contiguous(static_cast<int>(width), detail::mpi_type(what.type, false), &row);
  MPI_Type_commit(&row);
  r.requests.assign(1, MPI_REQUEST_NULL);
  const int started = MPI_Iallgatherv(from, r.counts[static_cast<std::size_t>(r.rank)], row, to, r.counts.data(), r.places.data(), row,
                                      r.comm, &r.requests[0]);
  MPI_Type_free(&row);  // frees the type when the call is complete
  r.must(started, mine);
  r.wait_for_data(deadline, what, mine);
}

inline void communicator::broadcast(const call& what, int root, const void* from, void* to) {
  ranks& r = *ranks_;
  const std::lock_guard lock(r.guard);
  r.enter();
  r.check_root(root);
  const MPI_Datatype type = detail::mpi_type(what.type, false);
  const auto deadline = detail::clock::now() + r.timeout;
  const auto mine = r.intend(detail::kind::broadcast, what, root);
  const auto bytes = static_cast<std::size_t>(size_of(what.type));
  r.agree(mine, deadline, what.check);
  if (r.rank == root && mine.elements > 0 && from != to) std::memcpy(to, from, static_cast<std::size_t>(mine.elements) * bytes);
  if (r.size == 1) return;
  r.in_pieces(mine.elements, deadline, what, mine, [&](std::int64_t first, int count, MPI_Request* request) {
    return MPI_Ibcast(static_cast<std::byte*>(to) + static_cast<std::size_t>(first) * bytes, count, type, root, r.comm, request);
  });
}

inline void communicator::sum_to_rows(const call& what, const void* from, void* to) {
  ranks& r = *ranks_;
  const std::lock_guard lock(r.guard);
  r.enter();
  const MPI_Datatype type = detail::mpi_type(what.type, true);
  const auto deadline = detail::clock::now() + r.timeout;
  const auto mine = r.intend(detail::kind::sum_to_rows, what, 0);
  r.agree(mine, deadline, what.check);
  if (r.size == 1) {
    if (mine.elements > 0) std::memcpy(to, from, static_cast<std::size_t>(mine.elements) * static_cast<std::size_t>(size_of(what.type)));
    return;
  }
  std::int64_t width = 1;
  for (int a = 1; a < mine.rank; ++a) width *= mine.extent[a];
  std::int64_t all = 0;
  for (const std::int64_t n : r.rows) all += n * width;
  if (all > r.most_at_once) throw unimplemented("the gradient of an all_gather of more than 2^28 elements");
  if (all == 0) return;
  r.counts.clear();
  for (const std::int64_t n : r.rows) r.counts.push_back(static_cast<int>(n * width));
  r.requests.assign(1, MPI_REQUEST_NULL);
  r.must(MPI_Ireduce_scatter(from, to, r.counts.data(), type, MPI_SUM, r.comm, &r.requests[0]), mine);
  r.wait_for_data(deadline, what, mine);
}

inline void communicator::sum_to_root(const call& what, int root, const void* from, void* to) {
  ranks& r = *ranks_;
  const std::lock_guard lock(r.guard);
  r.enter();
  r.check_root(root);
  const MPI_Datatype type = detail::mpi_type(what.type, true);
  const auto deadline = detail::clock::now() + r.timeout;
  const auto mine = r.intend(detail::kind::sum_to_root, what, root);
  const auto bytes = static_cast<std::size_t>(size_of(what.type));
  r.agree(mine, deadline, what.check);
  if (r.size == 1) {
    if (mine.elements > 0) std::memcpy(to, from, static_cast<std::size_t>(mine.elements) * bytes);
    return;
  }
  r.in_pieces(mine.elements, deadline, what, mine, [&](std::int64_t first, int count, MPI_Request* request) {
    const auto at = static_cast<std::size_t>(first) * bytes;
    return MPI_Ireduce(static_cast<const std::byte*>(from) + at, static_cast<std::byte*>(to) + at, count, type, MPI_SUM, root, r.comm,
                       request);
  });
  if (r.rank != root && mine.elements > 0) std::memset(to, 0, static_cast<std::size_t>(mine.elements) * bytes);
}

inline void communicator::barrier() {
  ranks& r = *ranks_;
  const std::lock_guard lock(r.guard);
  r.enter();
  r.agree(r.intend(detail::kind::barrier, {}, 0), detail::clock::now() + r.timeout, {});
}

}  // namespace leat::collective
