#pragma once
// Implementation of communicator.hpp: how the ranks agree on a call before they exchange data, and wait with a deadline.

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
#include <mutex>
#include <thread>

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

// What a rank tells rank 0 that it is about to do.
struct intention {
  std::int32_t what = 0;
  std::int32_t number = 0;  // the reduction, or the root
  std::int32_t type = 0;
  std::int32_t rank = 0;  // of the shape
  std::int64_t pieces = 0;
  std::int64_t elements = 0;
  std::uint64_t shapes = 0;  // a hash of all
  std::uint64_t node = 0;    // a hash of its name
  std::int64_t extent[max_rank]{};
  char name[64]{};  // the end of it, if it is longer

  bool same_as(const intention& o) const {
    // Rows to be gathered may differ in number.
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
    if (what == static_cast<std::int32_t>(kind::all_reduce)) {
      const auto how = static_cast<reduce_by>(number);
      t += how == reduce_by::mean ? " (mean)" : how == reduce_by::sum ? " (sum)" : how == reduce_by::minimum ? " (min)" : " (max)";
    } else if (what == static_cast<std::int32_t>(kind::broadcast) || what == static_cast<std::int32_t>(kind::sum_to_root)) {
      t += " (root " + std::to_string(number) + ")";
    }
    if (name[0] != '\0') t += std::string(" '") + name + "'";
    t += " of " + std::string(name_of_dtype(static_cast<dtype>(type)));
    if (pieces != 1) return t + ", " + std::to_string(pieces) + " tensors of together " + std::to_string(elements) + " elements";
    t += " [";
    for (int k = 0; k < rank && k < max_rank; ++k) t += (k > 0 ? ", " : "") + std::to_string(extent[k]);
    return t + "]";
  }
};

enum class verdict_state : std::int64_t { agreed, differ, missing, ended };

// Rank 0's answer. A text follows if there is one, and where rows are gathered each rank's number of them.
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
void divide(void* data, std::int64_t count, int by) {
  T* const x = static_cast<T*>(data);
  for (std::int64_t k = 0; k < count; ++k) x[k] /= static_cast<T>(by);
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
  static constexpr int intention_tag = 1, verdict_tag = 2, text_tag = 3, rows_tag = 4;
  static constexpr std::int64_t most_at_once = std::int64_t{1} << 28;  // MPI counts in int

  MPI_Comm comm = MPI_COMM_NULL;
  int rank = 0, size = 1;
  bool owns_mpi = false;
  bool is_crowded = false;  // more ranks than processors on this machine
  int threads = MPI_THREAD_SINGLE;
  std::chrono::milliseconds timeout{}, end_timeout{};
  std::mutex guard;
  std::string broken;  // why there is no more use

  // Live as long as requests that may never complete refer to them.
  std::vector<detail::intention> intentions;
  detail::intention own;
  detail::verdict answer;
  std::vector<char> text;
  std::vector<std::int64_t> rows;
  std::vector<int> counts, places;
  std::vector<MPI_Request> requests;

  [[noreturn]] void give_up(const std::string& why) {
    broken = why;
    throw unavailable(why);
  }
  void must(int code, std::string_view what) {
    if (code == MPI_SUCCESS) return;
    char words[MPI_MAX_ERROR_STRING + 1]{};
    int length = 0;
    MPI_Error_string(code, words, &length);
    give_up("rank " + std::to_string(rank) + ": MPI failed in " + std::string(what) + ": " + words);
  }

  // Polls until all of `requests` are complete: at first without pause, as long as each rank here has a processor; then yielding its own,
  // then sleeping. Returns false when the deadline has passed.
  bool wait(detail::clock::time_point deadline, const std::function<void()>& check, std::string_view what,
            const std::function<bool()>& stop = {}) {
    const auto start = detail::clock::now();
    bool yields = is_crowded;
    for (std::int64_t turn = 0;; ++turn) {
      int done = 0;
      must(MPI_Testall(static_cast<int>(requests.size()), requests.data(), &done, MPI_STATUSES_IGNORE), what);
      if (done != 0) return true;
      if (stop && stop()) return true;
      if (turn < 64) continue;
      if (yields) std::this_thread::yield();
      if (turn % 16 != 0) continue;
      const auto now = detail::clock::now();
      if (now >= deadline) return false;
      yields = yields || now - start > std::chrono::milliseconds(2);
      if (check) {
        try {
          check();
        } catch (const error& e) {
          broken = std::string("a collective was left unfinished: ") + e.what();
          throw;
        }
      }
      if (now - start > std::chrono::milliseconds(200)) std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
  }
  void wait_for_data(detail::clock::time_point deadline, const call& what, const detail::intention& mine) {
    if (wait(deadline, what.check, mine.text())) return;
    broken = "rank " + std::to_string(rank) + ": " + mine.text() + " did not end within " + std::to_string(timeout.count()) +
             " ms, though all ranks had come to it: one of them has stopped since";
    throw deadline_exceeded(broken);
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
          "a collective on a thread that is not the main one, and the program has initialized MPI for one thread; call MPI_Init_thread with "
          "MPI_THREAD_SERIALIZED");
  }

  // Rank 0 hears all ranks, compares, and answers. Errors: those of collectives.
  void agree(const detail::intention& mine, detail::clock::time_point deadline, const std::function<void()>& check) {
    const bool by_rows = mine.what == static_cast<std::int32_t>(detail::kind::all_gather) ||
                         mine.what == static_cast<std::int32_t>(detail::kind::sum_to_rows);
    if (size == 1) {
      rows.assign(1, mine.rows());
      return;
    }
    own = mine;
    if (rank == 0) lead(deadline, check, by_rows);
    else follow(deadline, check, by_rows);
  }

  void lead(detail::clock::time_point deadline, const std::function<void()>& check, bool by_rows) {
    const auto n = static_cast<std::size_t>(size);
    const auto leave = static_cast<std::int32_t>(detail::kind::leave);
    intentions.assign(n, {});
    intentions[0] = own;
    requests.assign(n - 1, MPI_REQUEST_NULL);
    for (int r = 1; r < size; ++r) {
      auto& its = intentions[static_cast<std::size_t>(r)];
      its.what = -1;
      must(MPI_Irecv(&its, sizeof its, MPI_BYTE, r, intention_tag, comm, &requests[static_cast<std::size_t>(r) - 1]), own.text());
    }
    // Where some have ended and others not, no need to hear the rest.
    const auto fail = static_cast<std::int32_t>(detail::kind::fail);
    const auto has_ended = [&](const detail::intention& i) { return (i.what >= leave) != (own.what >= leave) || i.what == fail; };
    const auto arrived = [&](std::size_t r) { return r == 0 || requests[r - 1] == MPI_REQUEST_NULL; };
    const auto stop = [&] {
      // Testall leaves requests alone until all are complete: ask each.
      for (auto& q : requests) {
        int done = 0;
        if (q != MPI_REQUEST_NULL) MPI_Test(&q, &done, MPI_STATUS_IGNORE);
      }
      for (std::size_t r = 1; r < n; ++r)
        if (arrived(r) && has_ended(intentions[r])) return true;
      return false;
    };
    bool in_time = true;
    if (own.what == fail) stop();
    else in_time = wait(deadline, check, own.text(), stop);

    auto state = detail::verdict_state::agreed;
    std::string words;
    std::vector<int> missing, ended;
    for (std::size_t r = 0; r < n; ++r) {
      if (!arrived(r)) missing.push_back(static_cast<int>(r));
      else if (intentions[r].what >= leave && !(intentions[r].what == leave && own.what == leave)) ended.push_back(static_cast<int>(r));
    }
    if (own.what == leave)
      for (std::size_t r = 1; r < n; ++r)
        if (arrived(r) && intentions[r].what < leave) ended.assign(1, 0);
    if (!ended.empty()) {
      state = detail::verdict_state::ended;
      words = detail::list_of(ended) + (ended.size() == 1 ? " has" : " have") + " ended the communicator";
      for (const int r : ended)
        if (intentions[static_cast<std::size_t>(r)].what == static_cast<std::int32_t>(detail::kind::fail)) words += " by an error";
      for (std::size_t r = 0; r < n; ++r)
        if (arrived(r) && intentions[r].what < leave) {
          words += ", rank " + std::to_string(r) + " waits in " + intentions[r].text();
          break;
        }
    } else if (!in_time) {
      state = detail::verdict_state::missing;
      words = own.text() + ": " + detail::list_of(missing) + " did not come within " + std::to_string(timeout.count()) + " ms";
    } else {
      for (const auto& i : intentions)
        if (!i.same_as(own)) state = detail::verdict_state::differ;
      if (state == detail::verdict_state::differ) words = detail::describe(intentions);
    }

    // Ranks that have not come get the answer when they do.
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
        must(MPI_Isend(data, static_cast<int>(bytes), MPI_BYTE, r, tag, comm, &requests.back()), own.text());
      };
      send(&answer, sizeof answer, verdict_tag);
      if (!text.empty()) send(text.data(), text.size(), text_tag);
      if (by_rows && state == detail::verdict_state::agreed) send(rows.data(), rows.size() * sizeof(std::int64_t), rows_tag);
    }
    const bool sent = wait(std::max(deadline, detail::clock::now() + std::chrono::seconds(1)), {}, own.text());
    if (!sent && state == detail::verdict_state::agreed) {
      state = detail::verdict_state::missing;
      words = own.text() + ": a rank did not take rank 0's answer within " + std::to_string(timeout.count()) + " ms";
    }
    conclude(state, words);
  }

  void follow(detail::clock::time_point deadline, const std::function<void()>& check, bool by_rows) {
    // Rank 0, if it comes at all, has until its own deadline to answer for the others.
    const auto grace = std::min<std::chrono::milliseconds>(timeout / 4 + std::chrono::milliseconds(500), std::chrono::seconds(10));
    const auto patience = deadline + grace;
    const auto receive = [&](void* data, std::size_t bytes, int tag) {
      requests.push_back(MPI_REQUEST_NULL);
      must(MPI_Irecv(data, static_cast<int>(bytes), MPI_BYTE, 0, tag, comm, &requests.back()), own.text());
    };
    const auto complete = [&] {
      if (wait(patience, check, own.text())) return;
      broken = "rank " + std::to_string(rank) + ": " + own.text() + ": rank 0 gave no answer within " + std::to_string(timeout.count()) +
               " ms: it has not come, or waits for another rank that has not";
      throw deadline_exceeded(broken);
    };
    requests.clear();
    receive(&answer, sizeof answer, verdict_tag);
    requests.push_back(MPI_REQUEST_NULL);
    must(MPI_Isend(&own, sizeof own, MPI_BYTE, 0, intention_tag, comm, &requests.back()), own.text());
    if (own.what == static_cast<std::int32_t>(detail::kind::fail)) {
      // The others are told; nobody answers in time.
      static_cast<void>(wait(detail::clock::now() + std::chrono::milliseconds(500), {}, own.text()));
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
      case detail::verdict_state::missing: broken = all; throw deadline_exceeded(all);
      case detail::verdict_state::ended: break;
    }
    give_up(all);
  }

  // Calls `start(first, count, request)` for pieces that MPI can count, and waits for each.
  template <class Start>
  void in_pieces(std::int64_t elements, detail::clock::time_point deadline, const call& what, const detail::intention& mine, Start start) {
    for (std::int64_t first = 0; first < elements; first += most_at_once) {
      requests.assign(1, MPI_REQUEST_NULL);
      must(start(first, static_cast<int>(std::min(most_at_once, elements - first)), &requests[0]), mine.text());
      wait_for_data(deadline, what, mine);
    }
  }
  void check_root(int root) const {
    if (root < 0 || root >= size)
      throw invalid_argument("root rank " + std::to_string(root) + " in a run of " + std::to_string(size) + " ranks");
  }
};

}  // namespace leat::collective
