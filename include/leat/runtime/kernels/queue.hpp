#pragma once
// Queues, through which steps and threads exchange values. Elements are tuples of tensors. A closed queue still returns its remaining
// elements; a dequeue beyond those fails with `out_of_range`, an enqueue with `cancelled`. A call for several elements completes before the
// next one begins, in order of arrival: two calls that each held a part of the elements they need would deadlock. Blocked calls check their
// run's deadline and cancellation. Source: TensorFlow's QueueBase, whose attempts are queued in the same way.

#include <leat/core/fill.hpp>
#include <leat/runtime/kernels/control.hpp>
#include <leat/runtime/kernels/kernel.hpp>
#include <leat/runtime/kernels/random_sequences.hpp>
#include <leat/runtime/kernels/shape.hpp>

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <list>
#include <mutex>

namespace leat::runtime {

enum class queue_order { first_in, padding, shuffled, priority };

class value_queue final : public resource {
 public:
  using element = std::vector<tensor_value>;
  struct settings {
    queue_order order = queue_order::first_in;
    std::string name;
    std::vector<dtype> types;
    std::vector<shape> shapes;  // empty: any shapes
    std::int64_t capacity = -1;
    std::int64_t least = 0;  // elements that remain while the queue is open
    kernels::seeded_sequence words{0, 0, 0};  // which element comes next
  };
  explicit value_queue(settings s) : settings_(std::move(s)) {}

  const settings& made_with() const { return settings_; }

  void add(element e, step_state& step) {
    std::vector<element> one;
    one.push_back(std::move(e));
    add_all(std::move(one), step);
  }
  /// Enqueues all elements, each as soon as this call is first in line and there is room. Errors: cancelled if the queue was closed before.
  void add_all(std::vector<element> elements, step_state& step) {
    std::unique_lock lock(guard_);
    if (closing_) throw cancelled(kind() + " '" + settings_.name + "' is closed.");
    const auto epoch = cancels_;
    const place_in_line mine(adders_, changed_);
    for (auto& e : elements) {
      wait(lock, step, [&] { return cancels_ != epoch || (mine.is_first() && (settings_.capacity < 0 || size() < settings_.capacity)); });
      if (cancels_ != epoch) throw cancelled("Enqueue operation was cancelled");
      insert(std::move(e));
      changed_.notify_all();
    }
  }
  /// Dequeues `count` elements, or, with `fewer`, the rest of a closed queue if that is less. Errors: out_of_range if the queue is closed
  /// and has too few elements; those of the step's check.
  std::vector<element> take(std::int64_t count, bool fewer, step_state& step) {
    std::unique_lock lock(guard_);
    std::vector<element> taken;
    if (count <= 0) return taken;
    const place_in_line mine(takers_, changed_);
    const auto available = [&] { return closed() ? size() : std::max<std::int64_t>(0, size() - settings_.least); };
    // Elements are taken one by one, because each makes room for a blocked enqueue.
    const auto give_back = [&] {
      for (auto e = taken.rbegin(); e != taken.rend(); ++e) {
        if (settings_.order == queue_order::priority) insert(std::move(*e));
        else elements_.push_front(std::move(*e));
      }
      changed_.notify_all();
    };
    while (static_cast<std::int64_t>(taken.size()) < count) {
      try {
        wait(lock, step, [&] { return mine.is_first() && (available() > 0 || closed()); });
      } catch (...) {
        give_back();
        throw;
      }
      if (size() == 0) {
        if (fewer && !taken.empty()) break;
        const auto current = static_cast<std::int64_t>(taken.size());
        give_back();
        throw out_of_range(kind() + " '" + settings_.name + "' is closed and has insufficient elements (requested " +
                           std::to_string(count) + ", current size " + std::to_string(current) + ")");
      }
      if (settings_.order == queue_order::shuffled) {
        // As TensorFlow does, with the same numbers: the last element takes the place of the one that is drawn.
        std::swap(elements_[word_of(settings_.words, drawn_++) % elements_.size()], elements_.back());
      }
      if (settings_.order == queue_order::priority) std::pop_heap(elements_.begin(), elements_.end(), comes_later);
      if (settings_.order == queue_order::shuffled || settings_.order == queue_order::priority) {
        taken.push_back(std::move(elements_.back()));
        elements_.pop_back();
      } else {
        taken.push_back(std::move(elements_.front()));
        elements_.pop_front();
      }
      changed_.notify_all();
    }
    return taken;
  }
  /// Later enqueues fail. Enqueues that are blocked for room still complete, unless `cancel_waiting`.
  void close(bool cancel_waiting) {
    const std::lock_guard lock(guard_);
    closing_ = true;
    if (cancel_waiting) ++cancels_;
    changed_.notify_all();
  }
  bool is_closed() const {
    const std::lock_guard lock(guard_);
    return closed();
  }
  std::int64_t count() const {
    const std::lock_guard lock(guard_);
    return size();
  }
  std::string kind() const {
    switch (settings_.order) {
      case queue_order::padding: return "PaddingFIFOQueue";
      case queue_order::shuffled: return "RandomShuffleQueue";
      case queue_order::priority: return "PriorityQueue";
      case queue_order::first_in: break;
    }
    return "FIFOQueue";
  }

 private:
  // A position in the line of enqueues or dequeues. The constructor and the destructor must be called with the lock held.
  class place_in_line {
   public:
    place_in_line(std::list<int>& line, std::condition_variable& changed)
        : line_(line), changed_(changed), at_(line.insert(line.end(), 0)) {}
    place_in_line(const place_in_line&) = delete;
    place_in_line& operator=(const place_in_line&) = delete;
    ~place_in_line() {
      line_.erase(at_);
      changed_.notify_all();
    }
    bool is_first() const { return at_ == line_.begin(); }

   private:
    std::list<int>& line_;
    std::condition_variable& changed_;
    std::list<int>::iterator at_;
  };

  // The first component is the priority, and the least comes first: a heap, as in TensorFlow, also for elements of one priority.
  static bool comes_later(const element& a, const element& b) { return a[0].as<std::int64_t>() > b[0].as<std::int64_t>(); }
  void insert(element e) {
    elements_.push_back(std::move(e));
    if (settings_.order == queue_order::priority) std::push_heap(elements_.begin(), elements_.end(), comes_later);
  }
  bool closed() const { return closing_ && adders_.empty(); }
  std::int64_t size() const { return static_cast<std::int64_t>(elements_.size()); }
  template <class Until>
  void wait(std::unique_lock<std::mutex>& lock, step_state& step, Until until) {
    while (!until()) {
      step.check();
      // A cancellation does not notify this condition variable, so it is polled.
      changed_.wait_for(lock, std::chrono::milliseconds(2));
    }
  }

  settings settings_;
  mutable std::mutex guard_;
  std::condition_variable changed_;
  std::deque<element> elements_;
  std::list<int> adders_, takers_;
  bool closing_ = false;
  std::uint64_t cancels_ = 0;
  std::uint64_t drawn_ = 0;
};

inline void check_element(const value_queue& q, const std::vector<tensor_value>& e) {
  const auto& s = q.made_with();
  if (e.size() != s.types.size())
    throw invalid_argument("Wrong number of components in tuple. Expected " + std::to_string(s.types.size()) + ", got " +
                           std::to_string(e.size()));
  for (std::size_t k = 0; k < e.size(); ++k) {
    if (e[k].type() != s.types[k])
      throw invalid_argument("Type mismatch in tuple component " + std::to_string(k) + ". Expected " + dtype_name(s.types[k]) + ", got " +
                             dtype_name(e[k].type()));
    if (!s.shapes.empty() && !may_equal(s.shapes[k], e[k].extent()))
      throw invalid_argument("Shape mismatch in tuple component " + std::to_string(k) + ". Expected " + brackets(s.shapes[k]) + ", got " +
                             brackets(e[k].extent()));
  }
}

/// Stacks values as the rows of an array; where the queue pads, smaller values are padded with zeros.
inline tensor_value rows_of(const std::vector<value_queue::element>& elements, std::size_t component, const value_queue& q) {
  const auto& settings = q.made_with();
  shape row;
  const dtype type = settings.types[component];
  if (elements.empty()) {
    if (settings.shapes.empty()) throw invalid_argument("a queue without shapes gives no batches");
    row = settings.shapes[component];
    for (int i = 0; i < row.rank; ++i) row.dim[i] = std::max<std::int64_t>(row[i], 0);
  }
  for (std::size_t k = 0; k < elements.size(); ++k) {
    const shape& s = elements[k][component].extent();
    if (k == 0) row = s;
    else if (settings.order == queue_order::padding && s.rank == row.rank)
      for (int i = 0; i < s.rank; ++i) row.dim[i] = std::max(row[i], s[i]);
    else if (!(s == row)) throw invalid_argument("elements of shapes " + brackets(row) + " and " + brackets(s) + " make no batch");
  }
  shape extent;
  extent.push(static_cast<std::int64_t>(elements.size()));
  for (int i = 0; i < row.rank; ++i) extent.push(row[i]);
  tensor_value made = filled_number(type, extent, 0);
  const std::int64_t width = row.elements();
  const auto strides = strides_of(row);
  with_storage(type, [&]<class S>(S) {
    for (std::size_t k = 0; k < elements.size(); ++k) {
      const tensor_value& e = elements[k][component];
      if (e.elements() == 0) continue;
      scatter_walk(stored<S>(made) + static_cast<std::int64_t>(k) * width, stored<S>(e), e.extent().dim, strides.data(), strides.size());
    }
  });
  return made;
}

/// Checks that the node's results match the queue's components; called before anything is dequeued.
inline void check_components(const value_queue& q, kernel_context& c) {
  const auto& types = q.made_with().types;
  if (static_cast<std::size_t>(c.result_count()) != types.size())
    throw invalid_argument("the queue '" + q.made_with().name + "' has " + std::to_string(types.size()) + " components, the node takes " +
                           std::to_string(c.result_count()));
  const auto wanted = c.node.list<data_type>("component_types");
  for (std::size_t k = 0; k < wanted.size() && k < types.size(); ++k)
    if (static_cast<dtype>(base_of(wanted[k])) != types[k])
      throw invalid_argument("component " + std::to_string(k) + " of the queue '" + q.made_with().name + "' is " + dtype_name(types[k]) +
                             ", the node takes " + dtype_name(static_cast<dtype>(base_of(wanted[k]))));
}

inline void run_queue(kernel_context& c, queue_order order) {
  value_queue::settings s{.order = order,
                          .name = c.node.name(),
                          .types = {},
                          .shapes = {},
                          .capacity = c.node.integer("capacity", -1),
                          .least = c.node.integer("min_after_dequeue"),
                          .words{0, 0, 0}};
  for (const auto t : c.node.list<data_type>("component_types")) {
    // A queue that holds itself, directly or through another resource, would never be released.
    if (t == data_type::resource) throw unimplemented("a queue of handles");
    s.types.push_back(static_cast<dtype>(t));
  }
  for (const auto& e : c.node.list<tensor_shape_proto>("shapes")) s.shapes.push_back(to_shape(e));
  if (order == queue_order::priority) {
    if (s.shapes.empty()) throw invalid_argument("a queue of priorities without shapes of its components");
    s.types.insert(s.types.begin(), dtype::int64);
    s.shapes.insert(s.shapes.begin(), shape{});
  }
  if (!s.shapes.empty() && s.shapes.size() != s.types.size())
    throw invalid_argument("a queue of " + std::to_string(s.types.size()) + " components with " + std::to_string(s.shapes.size()) +
                           " shapes");
  if (order != queue_order::padding)
    for (const shape& e : s.shapes)
      if (!e.is_static()) throw invalid_argument("shapes of a queue's components must be known: " + brackets(e));
  if (order == queue_order::shuffled && s.capacity >= 0 && s.least >= s.capacity)
    throw invalid_argument("min_after_dequeue " + std::to_string(s.least) + " must be < capacity " + std::to_string(s.capacity));
  const auto seed = first_seed(c);
  s.words = sequence_from(c, seed, 0);
  const std::string shared = c.node.text("shared_name");
  const std::string& name = shared.empty() ? c.node.name() : shared;
  c.set(0, tensor_value::handle(c.step.session.resources.find_or_make<value_queue>(
               c.node.text("container"), "queue " + name, [&] { return std::make_shared<value_queue>(std::move(s)); })));
}

LEAT_FILL(fill_queue_kernels) {
  for (const bool old : {false, true}) {
    const std::string v = old ? "" : "V2";
    register_kernel("FIFOQueue" + v, [](kernel_context& c) { run_queue(c, queue_order::first_in); });
    register_kernel("PaddingFIFOQueue" + v, [](kernel_context& c) { run_queue(c, queue_order::padding); });
    register_kernel("RandomShuffleQueue" + v, [](kernel_context& c) { run_queue(c, queue_order::shuffled); });
    register_kernel("PriorityQueue" + v, [](kernel_context& c) { run_queue(c, queue_order::priority); });
    register_kernel("QueueEnqueue" + v, [](kernel_context& c) {
      auto& q = held_as<value_queue>(c.input(0));
      value_queue::element e;
      for (int k = 1; k < c.input_count(); ++k) e.push_back(c.input(k).kept());
      check_element(q, e);
      q.add(std::move(e), c.step);
    });
    register_kernel("QueueEnqueueMany" + v, [](kernel_context& c) {
      auto& q = held_as<value_queue>(c.input(0));
      std::vector<value_queue::element> all;
      metered_bytes rows;  // rows without elements take memory, too
      for (int k = 1; k < c.input_count(); ++k) {
        const shape& s = c.extent(k);
        if (s.rank < 1 || (k > 1 && s[0] != static_cast<std::int64_t>(all.size())))
          throw invalid_argument("All input tensors must have the same size in the 0th dimension. Component " + std::to_string(k - 1) +
                                 " has shape " + brackets(s));
        if (k == 1) rows.take(static_cast<std::size_t>(s[0]) * 256);
        all.resize(static_cast<std::size_t>(s[0]));
        for (std::size_t r = 0; r < all.size(); ++r) all[r].push_back(row_of(c.input(k), static_cast<std::int64_t>(r)));
      }
      for (const auto& e : all) check_element(q, e);
      if (all.empty() && q.is_closed()) throw cancelled(q.kind() + " '" + q.made_with().name + "' is closed.");
      q.add_all(std::move(all), c.step);
    });
    register_kernel("QueueDequeue" + v, [](kernel_context& c) {
      auto& q = held_as<value_queue>(c.input(0));
      check_components(q, c);
      auto taken = q.take(1, false, c.step);
      for (int k = 0; k < c.result_count(); ++k) c.set(k, std::move(taken[0][static_cast<std::size_t>(k)]));
    });
    for (const bool fewer : {false, true})
      register_kernel((fewer ? "QueueDequeueUpTo" : "QueueDequeueMany") + v, [fewer](kernel_context& c) {
        auto& q = held_as<value_queue>(c.input(0));
        const std::int64_t n = c.number(1);
        if (n < 0) throw invalid_argument("DequeueMany requested " + std::to_string(n) + " < 0 elements");
        if (q.made_with().shapes.empty())
          throw invalid_argument(q.kind() + "'s DequeueMany and DequeueUpTo require the components to have specified shapes.");
        check_components(q, c);
        const auto taken = q.take(n, fewer, c.step);
        for (int k = 0; k < c.result_count(); ++k) c.set(k, rows_of(taken, static_cast<std::size_t>(k), q));
      });
    register_kernel("QueueClose" + v,
                    [](kernel_context& c) { held_as<value_queue>(c.input(0)).close(c.node.flag("cancel_pending_enqueues")); });
    register_kernel("QueueSize" + v,
                    [](kernel_context& c) { c.set(0, tensor_value(static_cast<std::int32_t>(held_as<value_queue>(c.input(0)).count()))); });
    register_kernel("QueueIsClosed" + v, [](kernel_context& c) { c.set(0, tensor_value(held_as<value_queue>(c.input(0)).is_closed())); });
  }
}

}  // namespace leat::runtime
