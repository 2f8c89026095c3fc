#pragma once
// Binds the user's arrays to a step: feeds without copies if the layout allows, fetches directly to their destination.

#include <leat/kernels/program_plan.hpp>
#include <leat/session/typed/array.hpp>
#include <leat/session/typed/table.hpp>

#include <cstddef>
#include <memory>
#include <span>

namespace leat::detail {

// An array without elements may have a null address. Steps add offsets to the addresses of their operands, which is undefined for null.
alignas(64) inline std::byte no_elements[64]{};
[[gnu::always_inline]] inline void* some_address(void* elements) { return elements != nullptr ? elements : no_elements; }

/// An array with an expression's shape; `resolve` returns the sizes of named dimensions.
template <class E, class Resolve>
auto make_array(Resolve resolve) {
  using array = array_of<E>;
  typename array::shape_type extent{};
  for (int a = 0; a < E::rank; ++a) {
    if constexpr (std::is_same_v<Resolve, std::nullptr_t>)
      extent[static_cast<std::size_t>(a)] = static_cast<typename array::size_type>(E::extent[a]);
    else
      extent[static_cast<std::size_t>(a)] = static_cast<typename array::size_type>(resolve(E::extent[a]));
  }
  static_cast<void>(resolve);
  return array::from_shape(extent);
}

// ---- feeds ----------------------------------------------------------------------------------------------------------

// Elements that a run copies. Most runs copy none; then this is a null pointer in a register, and no function is called for it.
template <class T>
class copied_elements {
 public:
  T* allocate(std::size_t size) {
    elements_.reset(new T[size]);
    return elements_.get();
  }

 private:
  std::unique_ptr<T[]> elements_;
};

// Memory that a feed needs during a run: a converted number, or a copy of an array that is not contiguous row-major or that a fetch of the
// same run overwrites (`BesideInto`).
template <class Feed, bool BesideInto>
struct bound_feed {
  using leaf = typename Feed::leaf;
  using array = typename Feed::array_type;
  static constexpr bool is_number = std::is_arithmetic_v<array>;
  static constexpr bool may_copy = !is_number && (BesideInto || shaped_array<array>);
  struct nothing {};
  std::conditional_t<is_number, typename leaf::element, nothing> converted;
  std::conditional_t<may_copy, copied_elements<typename leaf::element>, nothing> copied;
};

// `buffer_of_leaf` as a value; looked up once for a planned program.
template <class Program, class Leaf>
[[gnu::always_inline]] inline int feed_buffer() {
  if constexpr (Program::is_planned) {
    static const int found = Program::code().buffer_of_leaf(Leaf::identity::hash);
    return found;
  } else {
    constexpr int found = buffer_of_leaf(Program::view, Leaf::identity::hash);
    return found;
  }
}
template <class Program>
[[gnu::always_inline]] inline program_view view_of() {
  if constexpr (Program::is_planned) return Program::code().view();
  else return Program::view;
}
template <class Program, int I>
[[gnu::always_inline]] inline int fetch_buffer() {
  if constexpr (Program::is_planned) {
    return view_of<Program>().fetch(I);
  } else {
    constexpr int found = Program::view.fetch(I);
    return found;
  }
}
/// Whether a feed replaces one of the session's numbers during a run, that is, feeds a parameter.
template <class Program, class Feed>
constexpr bool feeds_number() {
  if constexpr (Program::is_planned) {
    return structure_with<typename Feed::leaf::identity>::carried_count > 0;
  } else {
    constexpr int b = buffer_of_leaf(Program::view, Feed::leaf::identity::hash);
    if constexpr (b < 0) return false;
    else return Program::view.buffer_at(b).where == storage::number;
  }
}
template <class Program>
constexpr int name_number(std::int64_t d) {
  for (int k = 0; k < Program::view.names(); ++k)
    if (Program::view.name(k) == d) return k;
  return -1;
}
template <class Program, std::int64_t Dimension>
[[gnu::always_inline]] inline int number_of_name() {
  if constexpr (Program::is_planned) {
    static const int found = Program::code().number_of_name(Dimension);
    return found;
  } else {
    constexpr int found = name_number<Program>(Dimension);
    return found;
  }
}
// Room for the sizes of a program's named dimensions: as many as it has or, if it is planned at run time, as it may have (`term`).
template <class Program>
constexpr int room_for_names() {
  if constexpr (Program::is_planned) return term::most_names;
  else return Program::view.names();
}
template <class Program>
constexpr bool is_small() {
  if (Program::view.names() > 0) return false;
  std::int64_t work = 0;
  for (int k = 0; k < Program::view.steps(); ++k) {
    const auto s = Program::view.step_at(k);
    if (!s.is_cluster) return false;
    std::int64_t n = 1;
    for (int l = 0; l < s.loop_count; ++l) n *= s.loop(l).factor;
    work += n * (s.instruction_count / words_per_instruction);
  }
  return work <= 4096;
}

/// Whether a program's sizes are static and so small that it runs in nanoseconds.
template <class Program>
constexpr bool is_tiny() {
  if constexpr (Program::is_planned) return false;
  else return is_small<Program>();
}
template <class Program, class Leaf, int Axis, class Array>
[[gnu::always_inline]] inline void bind_dimension(std::int64_t* sizes, std::int64_t got, const Array& array) {
  constexpr std::int64_t d = Leaf::extent.dim[Axis];
  if constexpr (d >= 0) {
    if (got != d) [[unlikely]]
      wrong_shape<Leaf>("the feed of", array);
  } else {
    const int k = number_of_name<Program, d>();
    if (k >= 0) {
      if (sizes[k] >= 0 && sizes[k] != got) [[unlikely]]
        throw_two_sizes(text_of_dimension<d>(), sizes[k], got, leaf_name<Leaf>());
      sizes[k] = got;
    }
  }
}
template <class Program, class Leaf, class Array, std::size_t... Axis>
[[gnu::always_inline]] inline void bind_shape(std::int64_t* sizes, const Array& array, std::index_sequence<Axis...>) {
  if constexpr (shaped_array<Array>) {
    if constexpr (array_rank<Array>() < 0) {
      if (array.dimension() != static_cast<std::size_t>(Leaf::rank)) [[unlikely]]
        wrong_shape<Leaf>("the feed of", array);
    }
    (bind_dimension<Program, Leaf, static_cast<int>(Axis)>(sizes, static_cast<std::int64_t>(array.shape()[Axis]), array), ...);
  } else if constexpr (plain_range<Array>) {
    // A flat range has no shape: its length must be the product of the sizes, and determines one named dimension that is not bound yet.
    std::int64_t fixed = 1;
    int open = -1;
    bool is_bound = false;  // an earlier feed has bound some named dimension
    bool is_free = false;   // the program does not use some named dimension
    for (int a = 0; a < Leaf::rank; ++a) {
      const auto d = Leaf::extent[a];
      int k = -1;
      const program_view view = view_of<Program>();
      for (int i = 0; i < view.names(); ++i)
        if (view.name(i) == d) k = i;
      if (d >= 0)
        fixed *= d;
      else if (k >= 0 && sizes[k] >= 0) {
        fixed *= sizes[k];
        is_bound = true;
      } else if (k >= 0 && open < 0)
        open = k;
      else if (k >= 0)
        wrong_shape<Leaf>("the feed of", array);
      else
        is_free = true;
    }
    const auto length = static_cast<std::int64_t>(array.size());
    const bool is_multiple = fixed > 0 && length % fixed == 0;
    if (is_free) {
      if (!is_multiple || open >= 0) wrong_shape<Leaf>("the feed of", array);
    } else if (open >= 0 && is_multiple) {
      sizes[open] = length / fixed;
    } else if (length != fixed) {
      if (is_bound && open < 0) throw_bound_size(leaf_name<Leaf>(), shape_text<Leaf>.text, fixed, length);
      wrong_shape<Leaf>("the feed of", array);
    }
  }
}

template <class Leaf>
inline constexpr message feed_place = message{} << "feed of \"" << structure_with<typename Leaf::identity>::name << "\": ";

template <class Program, class Bound, class Feed>
[[gnu::always_inline]] inline void bind_feed(void** buffers, std::int64_t* sizes, Bound& bound, const Feed& f) {
  using leaf = typename Feed::leaf;
  using array = typename Feed::array_type;
  using T = typename leaf::element;
  const array& a = f.array;
  bind_shape<Program, leaf>(sizes, a, std::make_index_sequence<static_cast<std::size_t>(leaf::rank)>{});
  const int b = feed_buffer<Program, leaf>();
  if (b >= 0) {
    const void* data = nullptr;
    if constexpr (Bound::is_number) {
      bound.converted = checked_number<T>(feed_place<leaf>.view(), a);
      data = &bound.converted;
    } else if constexpr (strided_array<array>) {
      if (array::static_layout == xt::layout_type::row_major && !requires { a.data_offset(); }) {
        data = a.data();
      } else if (is_row_major(a)) {
        data = array_data(a);
      }
    } else if constexpr (plain_range<array>) {
      data = a.data();
    }
    if constexpr (Bound::may_copy && shaped_array<array>) {
      if (data == nullptr) {
        T* const copy = bound.copied.allocate(a.size());
        std::copy(a.template begin<xt::layout_type::row_major>(), a.template end<xt::layout_type::row_major>(), copy);
        data = copy;
      }
    }
    buffers[b] = some_address(const_cast<void*>(data));
  }
}

template <class V>
inline constexpr message variable_place = message{} << "assign: variable \"" << structure_with<typename V::identity>::name << "\": ";

template <class P>
inline constexpr message number_place = message{} << "assign: parameter \"" << leaf_name<P>() << "\": ";

/// Copies the user's array or number into a variable. Errors: invalid_argument for another shape, or a number that the dtype does not hold.
template <class V, class Array>
void copy_in(typename V::element* to, const Array& array) {
  using T = typename V::element;
  if constexpr (std::is_arithmetic_v<Array>) {
    static_assert(V::rank == 0, "a number for a variable that is not a scalar");
    *to = checked_number<T>(variable_place<V>.view(), array);
  } else if constexpr (shaped_array<Array>) {
    bool fits = array.dimension() == static_cast<std::size_t>(V::rank);
    for (int a = 0; fits && a < V::rank; ++a) fits = static_cast<std::int64_t>(array.shape()[static_cast<std::size_t>(a)]) == V::extent[a];
    if (!fits) wrong_shape<V>("variable", array);
    std::copy(array.template begin<xt::layout_type::row_major>(), array.template end<xt::layout_type::row_major>(), to);
  } else {
    static_assert(plain_range<Array>, "neither an array nor a number");
    if (static_cast<std::int64_t>(array.size()) != V::extent.elements()) wrong_shape<V>("variable", array);
    std::copy_n(array.data(), array.size(), to);
  }
}

// ---- fetches --------------------------------------------------------------------------------------------------------

template <int I, class... Fs>
constexpr int result_position() {
  constexpr bool gives[]{(tensor_expression<Fs> || is_fetch_as<Fs>)...};
  int at = 0;
  for (int k = 0; k < I; ++k) at += gives[k];
  return at;
}

template <class Program, class State>
std::int64_t resolved(const State& state, std::int64_t d) {
  return view_of<Program>().size_of_dimension(d, state.sizes);
}

template <class F>
inline constexpr bool is_into = false;
template <class E, class Array>
inline constexpr bool is_into<fetch_into<E, Array>> = true;

// The value within a result: a result of a wrapper type has a member of this name; arrays and numbers do not.
template <class R>
[[gnu::always_inline]] inline auto& value_in(R& result) {
  if constexpr (requires { result.value; }) return result.value;
  else return result;
}

template <class Program, int I, int At, class State, class Results, class F>
[[gnu::always_inline]] inline void bind_fetch(State& state, Results& results, const F& f) {
  const int b = fetch_buffer<Program, I>();
  if constexpr (tensor_expression<F> || is_fetch_as<F>) {
    using E = typename fetch_target<F>::type;
    auto& to = value_in(std::get<static_cast<std::size_t>(At)>(results));
    if constexpr (E::rank == 0) {
      state.buffers[b] = &to;
    } else {
      to = make_array<E>([&](std::int64_t d) { return resolved<Program>(state, d); });
      state.buffers[b] = some_address(to.data());
    }
  } else if constexpr (is_into<F>) {
    using E = typename F::target;
    using T = typename E::element;
    auto& to = *f.array;
    using array = std::remove_cvref_t<decltype(to)>;
    if constexpr (std::is_same_v<array, T>) {
      static_assert(E::rank == 0, "a number cannot hold an array");
      state.buffers[b] = &to;
    } else if constexpr (shaped_array<array>) {
      static_assert(std::is_same_v<typename array::value_type, T>, "the array's elements have another dtype than the fetched expression");
      bool fits = to.dimension() == static_cast<std::size_t>(E::rank);
      for (int a = 0; fits && a < E::rank; ++a)
        fits = static_cast<std::int64_t>(to.shape()[static_cast<std::size_t>(a)]) == resolved<Program>(state, E::extent[a]);
      if (!fits) {
        using extents = typename array::shape_type;
        if constexpr (requires(const extents& e) { to.resize(e); } && (array_rank<array>() == E::rank || array_rank<array>() < 0)) {
          extents extent{};
          if constexpr (requires { extent.resize(std::size_t{1}); }) extent.resize(static_cast<std::size_t>(E::rank));
          for (int a = 0; a < E::rank; ++a)
            extent[static_cast<std::size_t>(a)] = static_cast<typename array::size_type>(resolved<Program>(state, E::extent[a]));
          to.resize(extent);
        } else {
          wrong_shape<E>("the array that is to hold", to);
        }
      }
      if (!is_row_major(to)) throw invalid_argument("the array that is to hold a fetch must be row-major and contiguous");
      state.buffers[b] = array_data(to);
    } else {
      static_assert(std::is_same_v<typename array::value_type, T>, "the array's elements have another dtype than the fetched expression");
      std::int64_t n = 1;
      for (int a = 0; a < E::rank; ++a) n *= resolved<Program>(state, E::extent[a]);
      if constexpr (requires { to.resize(1); }) {
        to.resize(static_cast<std::size_t>(n));
      } else {
        if (static_cast<std::int64_t>(to.size()) != n) wrong_shape<E>("the array that is to hold", to);
      }
      state.buffers[b] = some_address(to.data());
    }
  }
}

struct byte_range {
  const void* begin;
  const void* end;
  bool overlaps(const byte_range& other) const {
    const std::less<const void*> before{};
    return before(begin, other.end) && before(other.begin, end);
  }
};
template <class T>
byte_range range_of(const T* data, std::size_t size) {
  return {data, data + size};
}
// The memory that a fetch into `to` writes, unless it resizes `to`.
template <class Array>
byte_range destination_of(Array& to) {
  if constexpr (std::is_arithmetic_v<Array>)
    return range_of(&to, 1);
  else if constexpr (shaped_array<Array>)
    return range_of(array_data(to), to.size());
  else
    return range_of(to.data(), to.size());
}

// Copies a feed whose memory a fetch will overwrite: a step may write an element before another step reads it, and resizing the array would
// free its memory.
template <class Program, class Bound, class Feed>
[[gnu::always_inline]] inline void copy_where_written(void** buffers, Bound& bound, const Feed& f, const byte_range& written) {
  const int b = feed_buffer<Program, typename Feed::leaf>();
  if constexpr (Bound::is_number) return;
  else if (b >= 0) {
    using T = typename Feed::leaf::element;
    const T* data = static_cast<const T*>(buffers[b]);
    const auto size = static_cast<std::size_t>(f.array.size());
    if (range_of(data, size).overlaps(written)) [[unlikely]] {
      T* const copy = bound.copied.allocate(size);
      std::copy_n(data, size, copy);
      buffers[b] = copy;
    }
  }
}
template <class A, class B>
void refuse_same_destination(A& a, B& b) {
  const bool is_one = static_cast<const void*>(std::addressof(a)) == static_cast<const void*>(std::addressof(b));
  if (is_one || destination_of(a).overlaps(destination_of(b)))
    throw invalid_argument("two fetches of one run are to be written into the same memory");
}
// Compares each fetch into an array with those after it.
constexpr void refuse_same_destinations() {}
template <class F, class... Fs>
void refuse_same_destinations(const F& first, const Fs&... rest) {
  if constexpr (is_into<F>) {
    const auto with = [&]<class G>(const G& other) {
      if constexpr (is_into<G>) refuse_same_destination(*first.array, *other.array);
    };
    (with(rest), ...);
  }
  refuse_same_destinations(rest...);
}

template <class Program, int I, class State, class F>
[[gnu::always_inline]] inline void finish_fetch(State&, const F&) {}

}  // namespace leat::detail
