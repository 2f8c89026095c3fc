#pragma once
// Implementation of communicator.hpp: how the ranks agree on a call before they exchange data, and how they wait with a deadline.

#ifndef LEAT_USE_MPI
#error "<leat/collective.hpp> needs MPI: link leat::mpi, or define LEAT_USE_MPI and compile and link with mpicxx's flags"
#endif

#include <leat/collective/communicator.hpp>
#include <leat/core/text.hpp>

#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <type_traits>
#include <utility>

namespace leat::collective {

namespace detail {

using clock = std::chrono::steady_clock;

enum class kind : std::int32_t { all_reduce, all_gather, broadcast, sum_to_rows, sum_to_root, barrier, leave, fail };

inline std::string_view name_of(std::int32_t k) {
  constexpr std::string_view names[]{
      "all_reduce",  "all_gather", "broadcast",          "the gradient of an all_gather", "the gradient of a broadcast",
      "the barrier", "the end",    "the end by an error"};
  return k >= 0 && k < 8 ? names[k] : std::string_view("what this version of leat does not know");
}

// What a rank is about to do, as it sends it to rank 0 or, in direct exchange, to all ranks.
struct intention {
  static constexpr std::int32_t on_device = 1 << 30;  // flag in `number`: the data move between GPUs
  std::int32_t what = 0;
  std::int32_t number = 0;  // the reduction, or the root
  std::int32_t type = 0;
  std::int32_t rank = 0;  // rank of the shape
  std::int64_t pieces = 0;
  std::int64_t elements = 0;
  std::uint64_t shapes = 0;  // a hash of all shapes
  std::uint64_t node = 0;    // a hash of the node's name
  std::int64_t extent[max_rank]{};
  char name[64]{};  // the last characters of a longer name

  bool same_as(const intention& o) const {
    // The numbers of rows to be gathered may differ between ranks.
    const bool by_rows = what == static_cast<std::int32_t>(kind::all_gather) || what == static_cast<std::int32_t>(kind::sum_to_rows);
    if (what != o.what || number != o.number || type != o.type || rank != o.rank || pieces != o.pieces || node != o.node) return false;
    if (!by_rows) return shapes == o.shapes && elements == o.elements;
    for (int k = 1; k < rank; ++k)
      if (extent[k] != o.extent[k]) return false;
    return true;
  }
  std::int64_t rows() const { return rank == 0 ? 1 : extent[0]; }
  std::string text() const {
    std::string t(name_of(what));
    if (what >= static_cast<std::int32_t>(kind::barrier)) return t;
    const std::int32_t its_number = number & ~on_device;
    if (what == static_cast<std::int32_t>(kind::all_reduce)) {
      const auto how = static_cast<reduce_by>(its_number);
      t += how == reduce_by::mean ? " (mean)" : how == reduce_by::sum ? " (sum)" : how == reduce_by::minimum ? " (min)" : " (max)";
    } else if (what == static_cast<std::int32_t>(kind::broadcast) || what == static_cast<std::int32_t>(kind::sum_to_root)) {
      t += " (root " + std::to_string(its_number) + ")";
    }
    if (number != its_number) t += " on GPUs";
    if (name[0] != '\0') t += std::string(" '") + name + "'";
    t += " of " + std::string(name_of_dtype(static_cast<dtype>(type)));
    if (pieces != 1) return t + ", " + std::to_string(pieces) + " tensors of together " + std::to_string(elements) + " elements";
    t += " [";
    for (int k = 0; k < rank && k < max_rank; ++k) t += (k > 0 ? ", " : "") + std::to_string(extent[k]);
    return t + "]";
  }
};

enum class verdict_state : std::int64_t { agreed, differ, missing, ended };

// Rank 0's answer. It is followed by the text if there is one, and by each rank's number of rows if rows are gathered.
struct verdict {
  std::int64_t state = 0;
  std::int64_t text_length = 0;
};

inline std::string list_of(const std::vector<int>& all) {
  std::string text = all.size() == 1 ? "rank " : "ranks ";
  for (std::size_t k = 0; k < all.size() && k < 16; ++k) text += (k > 0 ? ", " : "") + std::to_string(all[k]);
  return all.size() > 16 ? text + ", ..." : text;
}

inline std::string describe(std::span<const intention> all) {
  std::vector<bool> told(all.size(), false);
  std::string text = "the ranks are about to do different things:";
  int kinds = 0;
  for (std::size_t k = 0; k < all.size(); ++k) {
    if (told[k]) continue;
    std::vector<int> same;
    const std::string its = all[k].text();
    for (std::size_t j = k; j < all.size(); ++j)
      if (!told[j] && all[j].text() == its) {
        told[j] = true;
        same.push_back(static_cast<int>(j));
      }
    text += "\n  " + list_of(same) + ": " + its;
    ++kinds;
  }
  if (kinds == 1) text += "; the shapes of single tensors differ, or the beginning of the name";
  return text;
}

inline MPI_Datatype mpi_type(dtype type, bool is_reduced) {
  switch (type) {
    case dtype::float32: return MPI_FLOAT;
    case dtype::float64: return MPI_DOUBLE;
    case dtype::int32: return MPI_INT32_T;
    case dtype::int64: return MPI_INT64_T;
    case dtype::uint8:
    case dtype::boolean:
      if (!is_reduced) return MPI_BYTE;
      break;
    default: break;
  }
  throw invalid_argument("a collective of " + std::string(name_of_dtype(type)) + "; " +
                         (is_reduced ? "reductions take float32, float64, int32 and int64" : "it takes numbers and bool"));
}

template <class T>
void divide(T* x, std::int64_t count, int by) {
  // If `by` is a power of two, multiplying by its reciprocal gives the same bits as dividing, and is faster.
  if (std::is_floating_point_v<T> && (by & (by - 1)) == 0) {
    const T factor = T(1) / static_cast<T>(by);
    for (std::int64_t k = 0; k < count; ++k) x[k] *= factor;
  } else {
    for (std::int64_t k = 0; k < count; ++k) x[k] /= static_cast<T>(by);
  }
}
// Calls `f` with a value of the C++ type of a dtype that can be reduced.
template <class F>
void with_reduced_type(dtype type, F f) {
  switch (type) {
    case dtype::float32: return f(float{});
    case dtype::float64: return f(double{});
    case dtype::int32: return f(std::int32_t{});
    default: return f(std::int64_t{});
  }
}

struct registry {
  std::mutex guard;
  communicator* current = nullptr;
};
inline registry& the_registry() {
  static registry r;
  return r;
}

}  // namespace detail

struct communicator::ranks {
  static constexpr int intention_tag = 1, verdict_tag = 2, text_tag = 3, rows_tag = 4, note_tag = 5, part_tag = 6;
  static constexpr std::int64_t most_at_once = std::int64_t{1} << 28;  // MPI counts in int
  static constexpr std::size_t most_words = 4096;                      // maximal length of a note

  // The message between ranks that exchange directly: the intention, and arrays that fit next to it.
  struct letter {
    static constexpr std::size_t most_bytes = 16384;
    detail::intention what;
    std::byte data[most_bytes];
  };

  // One of the arrays of a call.
  struct array {
    const std::byte* from;
    std::byte* to;
    std::int64_t count;
  };

  MPI_Comm comm = MPI_COMM_NULL;
  int rank = 0, size = 1;
  bool owns_mpi = false;
  bool is_direct = false;   // each pair of ranks exchanges directly: impl/communicator_direct.hpp
  bool is_crowded = false;  // this machine has fewer processors than ranks
  int threads = MPI_THREAD_SINGLE;
  std::chrono::milliseconds timeout{}, end_timeout{};
  std::mutex guard;
  std::string broken;  // why the communicator is unusable; empty if it is usable

  // These live as long as requests that may never complete refer to them.
  std::vector<detail::intention> intentions;
  detail::intention own;
  detail::verdict answer;
  std::vector<char> text;
  std::vector<std::int64_t> rows;
  std::vector<int> counts, places;
  std::vector<MPI_Request> requests;
  std::string note;
  std::vector<letter> letters;  // by rank; the entry of this rank is what it sends
  std::vector<array> arrays, small_arrays;
  std::vector<const void*> sources;
  std::shared_ptr<void> at_device;  // used by nccl.hpp
  std::vector<std::byte> parts;     // of arrays that others send to be reduced here; or small arrays, concatenated

  [[noreturn]] void give_up(const std::string& why) {
    broken = why;
    throw unavailable(why);
  }
  static std::string text_of(std::string_view what) { return std::string(what); }
  static std::string text_of(const detail::intention& what) { return what.text(); }
  // `what` is a text, or an intention, which is converted to a text only in case of an error.
  void must(int code, const auto& what) {
    if (code == MPI_SUCCESS) return;
    char words[MPI_MAX_ERROR_STRING + 1]{};
    int length = 0;
    MPI_Error_string(code, words, &length);
    give_up("rank " + std::to_string(rank) + ": MPI failed in " + text_of(what) + ": " + words);
  }

  // A rank that gives up notifies the others, which would otherwise wait for it until their own deadlines.
  void tell_others(bool is_deadline) {
    note = (is_deadline ? "d" : "u") + broken.substr(0, most_words - 1);
    for (int r = 0; r < size; ++r) {
      MPI_Request never_awaited = MPI_REQUEST_NULL;
      if (r != rank) MPI_Isend(note.data(), static_cast<int>(note.size()), MPI_BYTE, r, note_tag, comm, &never_awaited);
    }
  }
  [[noreturn]] void miss(std::string why) {
    broken = std::move(why);
    tell_others(true);
    throw deadline_exceeded(broken);
  }
  void hear_of_failures() {
    int is_there = 0, length = 0;
    MPI_Status from;
    if (MPI_Iprobe(MPI_ANY_SOURCE, note_tag, comm, &is_there, &from) != MPI_SUCCESS || is_there == 0) return;
    std::string words(most_words, '\0');
    if (MPI_Recv(words.data(), static_cast<int>(words.size()), MPI_BYTE, from.MPI_SOURCE, note_tag, comm, &from) == MPI_SUCCESS)
      MPI_Get_count(&from, MPI_BYTE, &length);
    words.resize(static_cast<std::size_t>(std::max(length, 0)));
    broken = "rank " + std::to_string(rank) + " has heard that another gave up: " + (words.empty() ? words : words.substr(1));
    if (words.starts_with('d')) throw deadline_exceeded(broken);
    throw unavailable(broken);
  }

  // Polls until all of `requests` are complete or `stop` returns true: first without pause, as long as each rank on this machine has a
  // processor, then yielding the processor, then sleeping. Returns false when the deadline has passed.
  template <class Stop>
  bool wait(detail::clock::time_point deadline, const std::function<void()>& check, const auto& what, Stop stop) {
    const auto start = detail::clock::now();
    bool yields = is_crowded;
    for (std::int64_t turn = 0;; ++turn) {
      int done = 0;
      must(MPI_Testall(static_cast<int>(requests.size()), requests.data(), &done, MPI_STATUSES_IGNORE), what);
      if (done != 0) return true;
      if (turn < 64) continue;
      if (yields) std::this_thread::yield();
      if (turn % 16 != 0) continue;
      if (stop()) return true;
      const auto now = detail::clock::now();
      if (now >= deadline) return false;
      yields = yields || now - start > std::chrono::milliseconds(2);
      if (check) {
        try {
          check();
        } catch (const error& e) {
          broken = std::string("a collective was left unfinished: ") + e.what();
          tell_others(false);
          throw;
        }
      }
      if (now - start > std::chrono::milliseconds(200)) std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
  }
  bool wait(detail::clock::time_point deadline, const std::function<void()>& check, const auto& what) {
    return wait(deadline, check, what, [] { return false; });
  }
  void wait_for_data(detail::clock::time_point deadline, const call& what, const detail::intention& mine) {
    const auto listen = [&] {
      hear_of_failures();
      return false;
    };
    if (wait(deadline, what.check, mine, listen)) return;
    miss("rank " + std::to_string(rank) + ": " + mine.text() + " did not end within " + std::to_string(timeout.count()) +
         " ms, though all ranks had come to it: one of them has stopped since");
  }

  detail::intention intend(detail::kind k, const call& what, int number) {
    detail::intention i;
    i.what = static_cast<std::int32_t>(k);
    i.number = number;
    i.type = static_cast<std::int32_t>(what.type);
    i.pieces = static_cast<std::int64_t>(what.extents.size());
    i.node = hash_text(what.name);
    for (const shape& s : what.extents) {
      i.elements += s.elements();
      i.shapes = mix(i.shapes, static_cast<std::uint64_t>(s.rank));
      for (int a = 0; a < s.rank; ++a) i.shapes = mix(i.shapes, static_cast<std::uint64_t>(s[a]));
    }
    if (what.extents.size() == 1) {
      i.rank = what.extents[0].rank;
      for (int a = 0; a < i.rank; ++a) i.extent[a] = what.extents[0][a];
    }
    const std::string_view name = what.name.size() < sizeof i.name ? what.name : what.name.substr(what.name.size() - sizeof i.name + 1);
    std::copy(name.begin(), name.end(), i.name);
    return i;
  }

  void enter() {
    if (!broken.empty()) throw unavailable("the communicator is of no more use since a collective failed: " + broken);
    int finalized = 0;
    MPI_Finalized(&finalized);
    if (finalized != 0) throw failed_precondition("MPI was finalized before the communicator's last use");
    if (threads >= MPI_THREAD_SERIALIZED) return;
    int is_main = 0;
    MPI_Is_thread_main(&is_main);
    if (is_main == 0)
      throw failed_precondition(
          "a collective on a thread that is not the main one, and the program has initialized MPI for one thread; call MPI_Init_thread "
          "with MPI_THREAD_SERIALIZED");
  }

  // Returns when all ranks are known to be about to do the same. Ranks that exchange directly each receive the letters of all others, with
  // `bytes` of their data; in larger runs rank 0 receives all intentions, compares, and answers. Errors: those of collectives.
  void agree(const detail::intention& mine, detail::clock::time_point deadline, const std::function<void()>& check, std::size_t bytes = 0) {
    const bool by_rows = mine.what == static_cast<std::int32_t>(detail::kind::all_gather) ||
                         mine.what == static_cast<std::int32_t>(detail::kind::sum_to_rows);
    if (size == 1) {
      rows.assign(1, mine.rows());
      return;
    }
    own = mine;
    if (is_direct) meet(deadline, check, by_rows, bytes);
    else if (rank == 0) lead(deadline, check, by_rows);
    else follow(deadline, check, by_rows);
  }
  void meet(detail::clock::time_point deadline, const std::function<void()>& check, bool by_rows, std::size_t bytes);
  void reduce_directly(const detail::intention& mine, const call& what, reduce_by how, detail::clock::time_point deadline);

  // Decides the outcome of a call from the intentions of the ranks that have arrived.
  template <class Arrived>
  std::pair<detail::verdict_state, std::string> judge(std::span<const detail::intention> all, Arrived arrived, bool in_time) const {
    std::string words;
    std::vector<int> missing, ended;
    bool is_one_at_work = false;
    for (std::size_t r = 0; r < all.size(); ++r) {
      if (!arrived(r)) missing.push_back(static_cast<int>(r));
      else is_one_at_work = is_one_at_work || !is_end(all[r]);
    }
    // Ranks that all leave at the same call leave in order, which is not an error.
    for (std::size_t r = 0; r < all.size(); ++r)
      if (arrived(r) && (is_failure(all[r]) || (is_end(all[r]) && is_one_at_work))) ended.push_back(static_cast<int>(r));
    if (!ended.empty()) {
      words = detail::list_of(ended) + (ended.size() == 1 ? " has" : " have") + " ended the communicator";
      for (const int r : ended)
        if (is_failure(all[static_cast<std::size_t>(r)])) words += " by an error";
      for (std::size_t r = 0; r < all.size(); ++r)
        if (arrived(r) && !is_end(all[r])) {
          words += ", rank " + std::to_string(r) + " waits in " + all[r].text();
          break;
        }
      return {detail::verdict_state::ended, words};
    }
    if (!in_time)
      return {detail::verdict_state::missing,
              own.text() + ": " + detail::list_of(missing) + " did not come within " + std::to_string(timeout.count()) + " ms"};
    for (const auto& i : all)
      if (!i.same_as(own)) return {detail::verdict_state::differ, detail::describe(all)};
    return {detail::verdict_state::agreed, words};
  }
  static bool is_end(const detail::intention& i) { return i.what >= static_cast<std::int32_t>(detail::kind::leave); }
  static bool is_failure(const detail::intention& i) { return i.what == static_cast<std::int32_t>(detail::kind::fail); }
  // Whether the other rank's intention alone decides the call: it ends and this rank does not, or the reverse, or it reports a failure.
  bool ends_the_call(const detail::intention& i) const { return is_end(i) != is_end(own) || is_failure(i); }

  void lead(detail::clock::time_point deadline, const std::function<void()>& check, bool by_rows) {
    const auto n = static_cast<std::size_t>(size);
    intentions.assign(n, {});
    intentions[0] = own;
    requests.assign(n - 1, MPI_REQUEST_NULL);
    for (int r = 1; r < size; ++r) {
      auto& its = intentions[static_cast<std::size_t>(r)];
      its.what = -1;
      must(MPI_Irecv(&its, sizeof its, MPI_BYTE, r, intention_tag, comm, &requests[static_cast<std::size_t>(r) - 1]), own);
    }
    const auto arrived = [&](std::size_t r) { return r == 0 || requests[r - 1] == MPI_REQUEST_NULL; };
    const auto stop = [&] {
      // MPI_Testall completes no request until all can be completed, so each is tested separately.
      for (auto& q : requests) {
        int done = 0;
        if (q != MPI_REQUEST_NULL) MPI_Test(&q, &done, MPI_STATUS_IGNORE);
      }
      for (std::size_t r = 1; r < n; ++r)
        if (arrived(r) && ends_the_call(intentions[r])) return true;
      return false;
    };
    bool in_time = true;
    if (is_failure(own)) stop();
    else in_time = wait(deadline, check, own, stop);

    const auto [state_of_all, words_of_all] = judge(intentions, arrived, in_time);
    auto state = state_of_all;
    std::string words = words_of_all;

    // Ranks that have not arrived receive the answer when they do.
    answer = {static_cast<std::int64_t>(state), static_cast<std::int64_t>(words.size())};
    text.assign(words.begin(), words.end());
    rows.clear();
    if (by_rows)
      for (const auto& i : intentions) rows.push_back(i.rows());
    std::vector<MPI_Request> unheard;
    unheard.swap(requests);
    for (int r = 1; r < size; ++r) {
      const auto send = [&](const void* data, std::size_t bytes, int tag) {
        requests.push_back(MPI_REQUEST_NULL);
        must(MPI_Isend(data, static_cast<int>(bytes), MPI_BYTE, r, tag, comm, &requests.back()), own);
      };
      send(&answer, sizeof answer, verdict_tag);
      if (!text.empty()) send(text.data(), text.size(), text_tag);
      if (by_rows && state == detail::verdict_state::agreed) send(rows.data(), rows.size() * sizeof(std::int64_t), rows_tag);
    }
    const bool sent = wait(std::max(deadline, detail::clock::now() + std::chrono::seconds(1)), {}, own);
    if (!sent && state == detail::verdict_state::agreed) {
      state = detail::verdict_state::missing;
      words = own.text() + ": a rank did not take rank 0's answer within " + std::to_string(timeout.count()) + " ms";
    }
    conclude(state, words);
  }

  void follow(detail::clock::time_point deadline, const std::function<void()>& check, bool by_rows) {
    // Rank 0, if it arrives at all, may take until its own deadline to answer for the others.
    const auto grace = std::min<std::chrono::milliseconds>(timeout / 4 + std::chrono::milliseconds(500), std::chrono::seconds(10));
    const auto patience = deadline + grace;
    const auto receive = [&](void* data, std::size_t bytes, int tag) {
      requests.push_back(MPI_REQUEST_NULL);
      must(MPI_Irecv(data, static_cast<int>(bytes), MPI_BYTE, 0, tag, comm, &requests.back()), own);
    };
    const auto complete = [&] {
      const auto listen = [&] {
        hear_of_failures();
        return false;
      };
      if (wait(patience, check, own, listen)) return;
      miss("rank " + std::to_string(rank) + ": " + own.text() + ": rank 0 gave no answer within " + std::to_string(timeout.count()) +
           " ms: it has not come, or waits for another rank that has not");
    };
    requests.clear();
    receive(&answer, sizeof answer, verdict_tag);
    requests.push_back(MPI_REQUEST_NULL);
    must(MPI_Isend(&own, sizeof own, MPI_BYTE, 0, intention_tag, comm, &requests.back()), own);
    if (is_failure(own)) {
      // The others are notified; they do not answer, so this waits only briefly for the messages to leave.
      static_cast<void>(wait(detail::clock::now() + std::chrono::milliseconds(500), {}, own));
      return;
    }
    complete();
    const auto state = static_cast<detail::verdict_state>(answer.state);
    requests.clear();
    if (answer.text_length < 0 || answer.text_length > (1 << 20)) give_up("rank 0 gave an answer that leat does not give");
    text.assign(static_cast<std::size_t>(answer.text_length), '\0');
    if (!text.empty()) receive(text.data(), text.size(), text_tag);
    if (by_rows && state == detail::verdict_state::agreed) {
      rows.assign(static_cast<std::size_t>(size), 0);
      receive(rows.data(), rows.size() * sizeof(std::int64_t), rows_tag);
    }
    complete();
    conclude(state, {text.begin(), text.end()});
  }

  void conclude(detail::verdict_state state, const std::string& words) {
    const std::string all = "rank " + std::to_string(rank) + ": " + words;
    switch (state) {
      case detail::verdict_state::agreed: return;
      case detail::verdict_state::differ: throw invalid_argument(all);
      case detail::verdict_state::missing: miss(all);
      case detail::verdict_state::ended: break;
    }
    give_up(all);
  }

  // Calls `start(first, count, request)` for pieces with at most `most_at_once` elements, because MPI counts in int, and waits for each.
  template <class Start>
  void in_pieces(std::int64_t elements, detail::clock::time_point deadline, const call& what, const detail::intention& mine, Start start) {
    for (std::int64_t first = 0; first < elements; first += most_at_once) {
      requests.assign(1, MPI_REQUEST_NULL);
      must(start(first, static_cast<int>(std::min(most_at_once, elements - first)), &requests[0]), mine);
      wait_for_data(deadline, what, mine);
    }
  }
  void check_root(int root) const {
    if (root < 0 || root >= size)
      throw invalid_argument("root rank " + std::to_string(root) + " in a run of " + std::to_string(size) + " ranks");
  }
};

}  // namespace leat::collective
