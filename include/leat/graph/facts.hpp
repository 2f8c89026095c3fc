#pragma once
// Facts about an operator that passes, planner and executors ask for. They are stated where the operator is defined: by its class, as
// `static constexpr facts what{...}`, or by the registration of its line. A class that states none has those of its kind
// (`facts_of_kind`): most are pure, and cost as much as they have elements. A line that states none may do anything.

#include <cstdint>

namespace leat {

/// What a node does besides computing its results from its inputs.
enum class nature : unsigned char {
  pure,      // nothing: it may run at any time, and more than once
  inert,     // nothing, but its results are no function of its inputs: a variable, what may be fed, a group
  control,   // decides which nodes run: branches, loops, the ends of an edge between devices
  observes,  // changes nothing: asks whether a variable has a value, checks
  random,    // draws from a stream of random numbers
  effect     // anything else: writes, queues, printing, host functions
};

/// What the work of a node is measured by (runtime/plan/work.hpp).
enum class work_kind : unsigned char { none, elements, product, convolution, filled, random, tiled, broadcast, gathered, scattered };

/// A node's role in control flow; `feed` stands for a value from outside. A `send` runs also if its input is dead.
enum class flow : unsigned char { plain, branch, merge, enter, exit, next, trigger, feed, send, receive };

/// A node's role for variables, and for the stacks on which loops save values for their gradients.
enum class state_role : unsigned char {
  none,
  variable,
  temporary_variable,       // that only a run has
  temporary_variable_ends,  // its value, which the run then forgets
  is_initialized,           // whether a variable has a value
  stack,
  push,
  pop
};

/// What the results depend on: elements of the inputs, the shape of the one input, or the shapes of all.
enum class looks_at : unsigned char { elements, shape, shapes };

/// How integers that follow from shapes and constants are computed while a graph is built (named/graph/known_value.hpp).
enum class integer_rule : unsigned char {
  none,
  contents,  // of a constant
  same,      // as the first input
  shape,
  rank,
  size,
  packed,  // the inputs, one behind the other
  joined,  // the same without the last input, the axis
  slice,
  range,
  sum,
  difference,
  product,
  quotient,
  larger,
  smaller
};

/// A set of inputs, by number.
struct input_set {
  std::uint64_t bits = 0;
  static constexpr int most = 64;

  constexpr bool empty() const { return bits == 0; }
  constexpr bool contains(std::uint64_t k) const { return k < most && (bits >> k & 1) != 0; }
  constexpr void insert(int k) { bits |= std::uint64_t{1} << k; }
  /// Those of the first `count` inputs.
  constexpr input_set among(int count) const { return {count < most ? bits & ((std::uint64_t{1} << count) - 1) : bits}; }

  struct iterator {
    std::uint64_t left;
    constexpr int operator*() const { return __builtin_ctzll(left); }
    constexpr iterator& operator++() {
      left &= left - 1;
      return *this;
    }
    constexpr bool operator!=(const iterator& other) const { return left != other.left; }
  };
  constexpr iterator begin() const { return {bits}; }
  constexpr iterator end() const { return {0}; }
  constexpr bool operator==(const input_set&) const = default;
};

/// Inputs in a row: `count` from `first` on, which is counted from the end if it is negative.
struct input_range {
  signed char first = 0;
  signed char count = 0;
  constexpr bool contains(int k, int inputs) const {
    const int begin = first < 0 ? first + inputs : first;
    return k >= begin && k < begin + count;
  }
};

struct facts {
  nature is = nature::pure;
  work_kind work = work_kind::elements;
  flow control = flow::plain;
  state_role state = state_role::none;
  looks_at depends_on = looks_at::elements;
  integer_rule integers = integer_rule::none;
  input_range values{};             // inputs that are sizes, axes or indices of a slice; of a class, its form tells
  input_set written{};              // variables that it changes; of a line, found from its references
  bool adds = false;                // it adds to what it writes: two such writes give the same in either order
  bool forwards = false;            // its result is its first input, unchanged; for a variable, the variable itself
  bool forwards_reference = false;  // the same of a reference alone; of a line, found from its references
  bool divides = false;             // of integers it has a kernel, which refuses a divisor of zero
  bool stops_gradient = false;      // its inputs get no gradient; without this, a gradient that nothing computes is an error
  bool waits = false;               // its kernel may block until another node or process acts
  bool ordered = false;             // such nodes of a run follow each other, in the order of one thread
  bool reshapes = false;            // its result is its first input in another shape
  bool takes_shape = false;         // the shape of its result is an input
  bool is_zero = false;             // its result is all zeros
  bool is_summary = false;          // its result is a text about its inputs, for an event file

  constexpr bool is_pure() const { return is == nature::pure; }
  /// Whether it does more than compute or forward values, but for writes of variables.
  constexpr bool acts() const { return is > nature::inert; }
  /// Whether it forwards its first input and does nothing else.
  constexpr bool passes_on() const { return forwards && !acts(); }
  constexpr bool looks_at_shape_alone() const { return depends_on != looks_at::elements; }
  /// Whether the node represents a variable and its result is a reference to it.
  constexpr bool makes_variable() const { return state == state_role::variable || state == state_role::temporary_variable; }
};

}  // namespace leat
