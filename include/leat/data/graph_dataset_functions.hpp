#pragma once
// Datasets of graphs that call a function for each element: map, filter, flat_map, interleave, scan, take_while, group_by_window. Functions
// are called one after the other, for one element at a time, also where TensorFlow's operator calls several at once.

#include <leat/data/dataset_function.hpp>
#include <leat/data/graph_dataset_stages.hpp>

namespace leat::data::detail {

/// A function of a dataset, and the values that it captured.
struct captured_function {
  std::shared_ptr<const function_recipe> recipe;
  components captured;

  components call(pipeline& p, components arguments) const {
    return p.function(recipe).call(p.step(), joined(std::move(arguments), captured));
  }
  /// The result of a function that has one. Errors: invalid_argument for another number of results.
  tensor_value call_for_one(pipeline& p, components arguments) const {
    components results = call(p, std::move(arguments));
    if (results.size() != 1) fail("must have one result");
    return std::move(results[0]);
  }
  bool decide(pipeline& p, const components& element) const {
    const tensor_value v = call_for_one(p, element);
    if (v.type() != dtype::boolean || v.elements() != 1) fail("must return a scalar bool tensor");
    return v.values<bool>()[0];
  }
  std::shared_ptr<const graph_dataset> dataset(pipeline& p, const components& element) const {
    const tensor_value v = call_for_one(p, element);
    if (v.type() != resource_dtype || dynamic_cast<const graph_dataset*>(v.held().get()) == nullptr) fail("must return a dataset");
    return dataset_in(v);
  }
  [[noreturn]] void fail(const std::string& what) const {
    throw invalid_argument("the function '" + recipe->function.name + "' of the dataset '" + recipe->node + "' (" + recipe->type + ") " +
                           what);
  }
  /// Errors: invalid_argument, with the dataset's node, for an element that is not of the node's dtypes and shapes.
  void check(const components& element, const element_spec& spec) const {
    try {
      check_element(element, spec);
    } catch (const invalid_argument& e) {
      fail("does not give what the node states: " + std::string(e.what()));
    }
  }
};

/// Source: TensorFlow `MapDataset`.
class mapped_dataset final : public graph_dataset {
 public:
  mapped_dataset(std::string its_type, inputs from, captured_function f, element_spec spec, bool keeps_count)
      : graph_dataset(std::move(its_type), std::move(from)), f_(std::move(f)), spec_(std::move(spec)), keeps_count_(keeps_count) {
    nest(f_.captured);
  }
  std::unique_ptr<dataset_pass> iterate(pipeline& p) const override { return std::make_unique<pass>(p, *this); }

 private:
  struct pass final : pass_of<mapped_dataset> {
    pass(pipeline& p, const mapped_dataset& of) : pass_of(p, of), from(of.from().iterate(p)) {}
    std::unique_ptr<dataset_pass> from;
    bool advance(components& to) override {
      components element;
      if (!from->next(element)) return false;
      try {
        to = of_.f_.call(pipeline_, std::move(element));
      } catch (const out_of_range& e) {
        // As in TensorFlow: the function may end the dataset, unless it is to have as many elements as its input.
        if (!of_.keeps_count_) return false;
        throw invalid_argument("Function invocation produced OutOfRangeError: " + std::string(e.what()));
      }
      of_.f_.check(to, of_.spec_);
      return true;
    }
  };
  const captured_function f_;
  const element_spec spec_;
  const bool keeps_count_;
};

/// The elements that a function accepts; with `stops`, those before the first that it does not. Source: TensorFlow `FilterDataset`,
/// `TakeWhileDataset`.
class filtered_dataset final : public graph_dataset {
 public:
  filtered_dataset(std::string its_type, inputs from, captured_function f, bool stops)
      : graph_dataset(std::move(its_type), std::move(from)), f_(std::move(f)), stops_(stops) {
    nest(f_.captured);
  }
  std::unique_ptr<dataset_pass> iterate(pipeline& p) const override { return std::make_unique<pass>(p, *this); }

 private:
  struct pass final : pass_of<filtered_dataset> {
    pass(pipeline& p, const filtered_dataset& of) : pass_of(p, of), from(of.from().iterate(p)) {}
    std::unique_ptr<dataset_pass> from;
    bool advance(components& to) override {
      while (from != nullptr && from->next(to)) {
        if (of_.f_.decide(pipeline_, to)) return true;
        if (of_.stops_) from.reset();
      }
      return false;
    }
  };
  const captured_function f_;
  const bool stops_;
};

/// The elements of the datasets that a function makes of elements: `cycle` of these datasets in turn, `block` elements of each. With one,
/// it is flat_map. Source: TensorFlow `FlatMapDataset`, `InterleaveDataset`.
class interleaved_dataset final : public graph_dataset {
 public:
  interleaved_dataset(std::string its_type, inputs from, captured_function f, element_spec spec, std::int64_t cycle, std::int64_t block)
      : graph_dataset(std::move(its_type), std::move(from)), f_(std::move(f)), spec_(std::move(spec)), cycle_(cycle), block_(block) {
    if (cycle <= 0) throw invalid_argument("cycle_length must be greater than zero.");
    if (block <= 0) throw invalid_argument("block_length must be greater than zero.");
    nest(f_.captured);
  }
  std::unique_ptr<dataset_pass> iterate(pipeline& p) const override { return std::make_unique<pass>(p, *this); }

 private:
  struct pass final : pass_of<interleaved_dataset> {
    pass(pipeline& p, const interleaved_dataset& of) : pass_of(p, of), from(of.from().iterate(p)) {}
    struct one_of_cycle {
      std::unique_ptr<dataset_pass> elements;
    };
    std::unique_ptr<dataset_pass> from;
    std::vector<one_of_cycle> cycle;  // as long as it was needed
    std::size_t at = 0, running = 0;
    std::int64_t in_block = 0;
    bool advance(components& to) override {
      while (from != nullptr || running > 0) {
        pipeline_.step().check();
        if (at == cycle.size()) {
          if (from == nullptr) {
            at = 0;
            continue;
          }
          cycle.emplace_back();
        }
        one_of_cycle& its = cycle[at];
        if (its.elements == nullptr) {
          components element;
          if (from == nullptr) {
            turn();
          } else if (!from->next(element)) {
            from.reset();
          } else {
            const auto made = of_.f_.dataset(pipeline_, element);
            its.elements = made->iterate(pipeline_);
            ++running;
          }
          continue;
        }
        if (its.elements->next(to)) {
          if (++in_block == of_.block_) turn();
          of_.f_.check(to, of_.spec_);
          return true;
        }
        its.elements.reset();
        --running;
        turn();
      }
      return false;
    }
    void turn() {
      in_block = 0;
      if (static_cast<std::int64_t>(++at) == of_.cycle_) at = 0;
    }
  };
  const captured_function f_;
  const element_spec spec_;
  const std::int64_t cycle_, block_;
};

/// Results of a function that takes a state with each element and returns the next. Source: TensorFlow `ScanDataset`.
class scanned_dataset final : public graph_dataset {
 public:
  scanned_dataset(std::string its_type, inputs from, captured_function f, components initial, element_spec spec)
      : graph_dataset(std::move(its_type), std::move(from)), f_(std::move(f)), initial_(std::move(initial)), spec_(std::move(spec)) {
    nest(f_.captured);
    nest(initial_);
  }
  std::unique_ptr<dataset_pass> iterate(pipeline& p) const override { return std::make_unique<pass>(p, *this); }

 private:
  struct pass final : pass_of<scanned_dataset> {
    pass(pipeline& p, const scanned_dataset& of) : pass_of(p, of), from(of.from().iterate(p)), state(of.initial_) {}
    std::unique_ptr<dataset_pass> from;
    components state;
    bool advance(components& to) override {
      components element;
      if (!from->next(element)) return false;
      components results = of_.f_.call(pipeline_, joined(state, element));
      if (results.size() < state.size()) of_.f_.fail("has fewer results than the state has components");
      const auto middle = results.begin() + static_cast<std::ptrdiff_t>(state.size());
      components output(std::make_move_iterator(middle), std::make_move_iterator(results.end()));
      results.resize(state.size());
      check_state(of_.f_, results, state);
      state = std::move(results);
      to = std::move(output);
      of_.f_.check(to, of_.spec_);
      return true;
    }
  };

 public:
  /// Errors: invalid_argument if a state has components of other dtypes than the one before.
  static void check_state(const captured_function& f, const components& now, const components& before) {
    for (std::size_t k = 0; k < now.size(); ++k)
      if (!now[k] || now[k].type() != before[k].type())
        f.fail("gives a state of another dtype than it takes, in component " + std::to_string(k));
  }

 private:
  const captured_function f_;
  const components initial_;
  const element_spec spec_;
};

/// Source: TensorFlow `GroupByWindowDataset`.
class grouped_dataset final : public graph_dataset {
 public:
  grouped_dataset(std::string its_type, inputs from, captured_function key, captured_function reduce, captured_function size,
                  element_spec spec)
      : graph_dataset(std::move(its_type), std::move(from)),
        key_(std::move(key)),
        reduce_(std::move(reduce)),
        size_(std::move(size)),
        spec_(std::move(spec)) {
    for (const auto* f : {&key_, &reduce_, &size_}) nest(f->captured);
  }
  std::unique_ptr<dataset_pass> iterate(pipeline& p) const override { return std::make_unique<pass>(p, *this); }

 private:
  struct group {
    std::shared_ptr<held_elements> elements = std::make_shared<held_elements>();
    std::int64_t size = 0;
  };
  static std::int64_t whole(const captured_function& f, const tensor_value& v) {
    if (v.type() != dtype::int64 || v.elements() != 1) f.fail("must return a scalar int64");
    return v.values<std::int64_t>()[0];
  }
  struct pass final : pass_of<grouped_dataset> {
    pass(pipeline& p, const grouped_dataset& of) : pass_of(p, of), from(of.from().iterate(p)) {}
    std::unique_ptr<dataset_pass> from, current;
    std::map<std::int64_t, group> groups;
    metered_bytes taken;
    std::size_t counted = 0;
    bool advance(components& to) override {
      for (;;) {
        if (current != nullptr) {
          if (current->next(to)) {
            of_.reduce_.check(to, of_.spec_);
            return true;
          }
          current.reset();
        }
        pipeline_.step().check();
        components element;
        if (from != nullptr && !from->next(element)) from.reset();
        if (from == nullptr) {
          if (groups.empty()) return false;
          begin(groups.begin());
          continue;
        }
        const std::int64_t key = whole(of_.key_, of_.key_.call_for_one(pipeline_, element));
        if (groups.size() >= counted) taken.take((counted = std::max<std::size_t>(64, 2 * counted)) * sizeof(group));
        const auto [at, fresh] = groups.try_emplace(key);
        if (fresh) {
          at->second.size = whole(of_.size_, of_.size_.call_for_one(pipeline_, {tensor_value(key)}));
          if (at->second.size <= 0) {
            groups.erase(at);
            of_.size_.fail("returned a window size that is not above 0");
          }
        }
        at->second.elements->push(std::move(element));
        if (static_cast<std::int64_t>(at->second.elements->size()) >= at->second.size) begin(at);
      }
    }
    void begin(std::map<std::int64_t, group>::iterator at) {
      const auto window = std::make_shared<dataset_of_elements>("GroupByWindowDataset", at->second.elements);
      const tensor_value key(at->first);
      groups.erase(at);
      const auto made = of_.reduce_.dataset(pipeline_, {key, tensor_value::handle(window)});
      current = made->iterate(pipeline_);
    }
  };
  const captured_function key_, reduce_, size_;
  const element_spec spec_;
};

}  // namespace leat::data::detail
