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

/// What an operator does with elements of the dtypes that kernels do not compute with: half, bfloat16, int8, int16, uint16, uint32, uint64.
/// Such a node runs with a wider dtype in place of the narrow one, for uint64 with int64 (runtime/kernels/narrow.hpp).
enum class narrow_rule : unsigned char {
  computes,  // its results are rounded or wrapped; for uint64 it has no kernel
  any,       // its kernel takes and gives elements of any dtype, as their bits, or checks dtypes itself
  moves,     // it gives elements of its inputs, or zeros: it neither compares elements nor computes with them
  exact,     // uint64 elements give the right bits if they are taken for int64
  ordered,   // it only compares elements: right for uint64 if the sign bits of all are exchanged
  refused    // it has no kernel, as its result depends on the width of an element, or on random bits that are drawn for it
};

/// How a result depends on the width of the elements, other than by being rounded or wrapped.
enum class width_rule : unsigned char {
  none,
  extreme,         // of no elements it is the least or greatest number of the dtype
  finite_extreme,  // the same, but it is finite
  shift,           // elements are shifted by its second input, at most by their bits less one
  bit_count,       // the bits of each element are counted
  uniform,         // random numbers below 1
  cast             // conversion, also with the attribute Truncate
};

/// What the gradient of an operator is for complex numbers: the same as for real ones, as that of an operator that is linear, or that with
/// the conjugates of operands and result in their place. Source: the calls of `conj` in TensorFlow's gradients.
enum class complex_slopes : unsigned char { unknown, same, of_conjugates };

/// Dtypes, as a fact names them.
enum class dtype_group : unsigned char { none, signed_integers, reals };

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
  narrow_rule narrow = narrow_rule::computes;  // for a class that is a view: `moves`, unless it states another one
  width_rule by_width = width_rule::none;
  dtype_group elsewhere = dtype_group::none;  // dtypes with which TensorFlow computes it, and this library does not
  input_range values{};                       // inputs that are sizes, axes or indices of a slice; for a class, derived from its form
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
  complex_slopes of_complex = complex_slopes::unknown;

  constexpr bool is_pure() const { return is == nature::pure; }
  /// Whether it does more than compute or forward values, such as writing a variable.
  constexpr bool acts() const { return is > nature::inert; }
  /// Whether it forwards its first input and does nothing else.
  constexpr bool passes_on() const { return forwards && !acts(); }
  constexpr bool looks_at_shape_alone() const { return depends_on == looks_at::shape || depends_on == looks_at::shapes; }
  /// Whether the node represents a variable and its result is a reference to it.
  constexpr bool makes_variable() const { return state == state_role::variable || state == state_role::temporary_variable; }
  /// Whether it makes, fills or empties one of the stacks on which loops save values.
  constexpr bool is_of_stack() const { return state == state_role::stack || state == state_role::push || state == state_role::pop; }
  /// Whether its kernel takes and gives elements of any dtype. So do all that pass on their inputs as they are, look at no element, or take
  /// a variable as a whole.
  constexpr bool takes_any_dtype() const {
    return narrow == narrow_rule::any || control != flow::plain || passes_on() || reshapes || looks_at_shape_alone() ||
           (state != state_role::none && !is_of_stack());
  }
  /// Whether uint64 elements that are taken for int64 give the right bits. So do elements that are only moved, saved or added.
  constexpr bool keeps_uint64() const { return narrow == narrow_rule::moves || narrow == narrow_rule::exact || adds || is_of_stack(); }
};

}  // namespace leat
