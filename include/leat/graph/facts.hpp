#pragma once
// Facts about an operator, for passes, planner and executors. They are stated where the operator is defined: by its class, as `static
// constexpr facts what{...}`, or with the line of `define_operator` that registers it. A class that states none has the facts of its kind
// (`facts_of_kind`): most are pure, and their cost is their number of elements. An operator that is registered by a line without facts may
// do anything.

#include <cstdint>

namespace leat {

/// The effects of a node in addition to computing its results from its inputs.
enum class nature : unsigned char {
  pure,      // no effect: it may run at any time, and more than once
  inert,     // no effect, but its results are not a function of its inputs: a variable, a value that may be fed, a group
  control,   // decides which nodes run: branches, loops, the ends of an edge between devices
  observes,  // reads state and changes nothing: asks whether a variable has a value, checks
  random,    // draws from a stream of random numbers
  effect     // any other effect: writes, queues, printing, host functions
};

/// The quantity that measures a node's work, for the cost model (runtime/plan/work.hpp).
enum class work_kind : unsigned char { none, elements, product, convolution, filled, random, tiled, broadcast, gathered, scattered };

/// A node's role in control flow. `feed` is a node whose value comes from outside. A `send` also runs if its input is a dead value.
enum class flow : unsigned char { plain, branch, merge, enter, exit, next, trigger, feed, send, receive };

/// A node's role for variables, and for the stacks on which loops save values for their gradients.
enum class state_role : unsigned char {
  none,
  variable,
  temporary_variable,       // a variable that exists only during a run
  temporary_variable_ends,  // returns its value, and the run then forgets the variable
  is_initialized,           // whether a variable has a value
  stack,
  push,
  pop
};

/// The part of its inputs that a node's results depend on: elements of the inputs, the shape of the only input, the shapes of all inputs,
/// or how many elements of which shape a list has.
enum class looks_at : unsigned char { elements, shape, shapes, list_size };

/// How integers that follow from shapes and constants are computed while a graph is built (named/graph/known_value.hpp).
enum class integer_rule : unsigned char {
  none,
  contents,  // the elements of a constant
  same,      // those of the first input
  shape,
  rank,
  size,
  packed,  // those of all inputs, concatenated
  joined,  // as `packed`, without the last input, the axis
  slice,
  range,
  sum,
  difference,
  product,
  quotient,
  larger,
  smaller
};

/// A set of inputs, by index.
struct input_set {
  std::uint64_t bits = 0;
  static constexpr int most = 64;

  constexpr bool empty() const { return bits == 0; }
  constexpr bool contains(std::uint64_t k) const { return k < most && (bits >> k & 1) != 0; }
  constexpr void insert(int k) { bits |= std::uint64_t{1} << k; }
  /// The subset among the first `count` inputs.
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

/// Consecutive inputs: `count` from `first` on, which is counted from the end if it is negative.
struct input_range {
  signed char first = 0;
  signed char count = 0;
  constexpr bool contains(int k, int inputs) const {
    const int begin = first < 0 ? first + inputs : first;
    return k >= begin && k < begin + count;
  }
};

/// The facts of an operator. The defaults are those of most classes: pure, with a cost equal to the number of elements.
struct facts {
  nature is = nature::pure;
  work_kind work = work_kind::elements;
  flow control = flow::plain;
  state_role state = state_role::none;
  looks_at depends_on = looks_at::elements;
  integer_rule integers = integer_rule::none;
  input_range values{};             // inputs that are sizes, axes or indices of a slice; for a class, derived from its form
  input_set written{};              // inputs that are variables which it changes; for a registered line, derived from its references
  bool adds = false;                // it adds to the variables that it writes: two such writes give the same result in either order
  bool forwards = false;            // its result is its first input, unchanged; for a variable, the variable itself
  bool forwards_reference = false;  // it forwards a reference, not a value; for a registered line, derived from its references
  bool divides = false;             // for integers it has a kernel that rejects a divisor of zero
  bool stops_gradient = false;      // its inputs get no gradient; without this, the lack of a gradient function is an error
  bool waits = false;               // its kernel may block until another node or process acts
  bool ordered = false;             // such nodes of a run are executed one after the other, in the order of one thread
  bool reshapes = false;            // its result is its first input in another shape
  bool takes_shape = false;         // an input gives the shape of its result
  bool is_zero = false;             // its result is all zeros
  bool by_matrix = false;           // its result for stacks of matrices, along the last two axes, is that of each, in a stack
  bool is_summary = false;          // its result is a string that summarizes its inputs, for an event file

  constexpr bool is_pure() const { return is == nature::pure; }
  /// Whether it does more than compute or forward values, such as writing a variable.
  constexpr bool acts() const { return is > nature::inert; }
  /// Whether it forwards its first input and does nothing else.
  constexpr bool passes_on() const { return forwards && !acts(); }
  constexpr bool looks_at_shape_alone() const { return depends_on == looks_at::shape || depends_on == looks_at::shapes; }
  /// Whether the node represents a variable and its result is a reference to it.
  constexpr bool makes_variable() const { return state == state_role::variable || state == state_role::temporary_variable; }
};

}  // namespace leat
