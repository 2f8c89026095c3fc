#pragma once
// Sessions for machines without a heap: see `static_session`.

#include <leat/session/static/static_check.hpp>
#include <leat/session/typed/initialize.hpp>

#include <array>
#include <cstring>
#include <new>
#include <span>
#include <tuple>

namespace leat {

/// Runs steps whose sizes the compiler knows, without the heap, threads, exceptions and files, so also on a microcontroller:
/// `static_session s{fetch(loss, train), fetch(prediction)};`. Its memory is a part of the object, and `step_memory<...>` its size. Errors
/// are returned as a `status`. One thread at a time may use a session.
template <class... Steps>
class static_session : detail::refused_calls_of<detail::static_table_of<Steps...>>, detail::static_refused_calls_of<Steps...> {
  using steps = detail::static_steps<Steps...>;
  using refused_calls = detail::refused_calls_of<detail::static_table_of<Steps...>>;
  using static_refused_calls = detail::static_refused_calls_of<Steps...>;
  using table = detail::static_table_of<Steps...>;
  using layout = detail::static_layout<table, typename detail::static_step<Steps>::program...>;
  static constexpr auto& view = table::view;
  static constexpr int variables = view.variables(), numbers = view.numbers();
  static constexpr auto carried_ids = detail::static_numbers_of<Steps...>::ids;
  template <class V>
  static constexpr int variable_at = view.find_variable(V::identity::hash);
  template <class V>
  static constexpr bool has_variable = variable_at<V> >= 0;
  template <class P>
  static constexpr bool has_number = P::rank == 0 && view.find_number(P::identity::hash) >= 0;

 public:
  explicit static_session(const Steps&... given) {
    std::array<bool, static_cast<std::size_t>(carried_ids.size) + 1> set{};
    (take(set, given, std::make_index_sequence<std::tuple_size_v<decltype(given.targets)>>{}), ...);
    [&]<std::size_t... K>(std::index_sequence<K...>) {
      (keep(write_number<static_cast<int>(K)>(carried_[place_of(view.number(static_cast<int>(K)).carried)])), ...);
    }(std::make_index_sequence<static_cast<std::size_t>(numbers)>{});
  }
  static_session(const static_session&) = delete;  // variables have one place; a session refers to nothing outside of it
  static_session& operator=(const static_session&) = delete;

  /// Runs one of the steps: each node once. Values are fetched into the program's numbers and arrays. Errors: invalid_argument (an array of
  /// another size, a number that the dtype does not hold, an index out of range, an integer divided by zero, a parameter or an initial
  /// value with another number than in the session, memory that is fetched into twice, or fed and fetched into), failed_precondition (a
  /// variable without a value). At compile time: those of `session::run`, and fetches that are no step of the session.
  template <class... Fs, feed_binding... Feeds>
    requires(detail::static_run_check<steps, fetch_list<Fs...>, Feeds...>::ok)
  [[nodiscard("a static session returns its errors")]] status run(const fetch_list<Fs...>& fetches, const Feeds&... feeds) {
    using its = typename detail::static_step<fetch_list<Fs...>>::program;
    if (problem_ != status::ok) return problem_;
    if (const status adopted = adopt(fetches, std::index_sequence_for<Fs...>{}); adopted != status::ok) return adopted;
    void* buffers[its::view.buffers() + 1];
    bind_places<its>(buffers, std::make_index_sequence<static_cast<std::size_t>(its::view.buffers())>{});
    std::tuple<fed<Feeds>...> bound;
    if (!bind_feeds<its>(buffers, bound, std::index_sequence_for<Feeds...>{}, feeds...) ||
        !bind_fetches<its>(buffers, fetches, std::index_sequence_for<Fs...>{}, feeds...))
      return status::invalid_argument;
    constexpr auto all = std::make_index_sequence<static_cast<std::size_t>(variables)>{};
    if (!are_readable<its>(all)) return status::failed_precondition;
    const status result = detail::run_static_steps<its>(
        buffers, arena(), std::make_index_sequence<static_cast<std::size_t>(its::view.steps())>{});
    if (result == status::ok) mark_written<its>(all);
    return result;
  }

  /// Initializes all variables. Errors: invalid_argument for a number that a variable cannot hold.
  [[nodiscard("a static session returns its errors")]] status initialize() {
    if (problem_ != status::ok) return problem_;
    status result = status::ok;
    const auto each = [&]<std::size_t... K>(std::index_sequence<K...>) {
      static_cast<void>(((result = initialize_one<static_cast<int>(K)>(), result == status::ok) && ...));
    };
    each(std::make_index_sequence<static_cast<std::size_t>(variables)>{});
    return result;
  }
  template <tensor_expression V>
    requires has_variable<V>
  bool is_initialized(const V&) const {
    return initialized_[static_cast<std::size_t>(variable_at<V>)];
  }

  /// The value of a variable: a number for a scalar, else its elements, row-major, in the session's memory. Zeros before it has a value.
  template <tensor_expression V>
    requires has_variable<V>
  auto value(const V&) const {
    using T = typename V::element;
    constexpr auto offset = static_cast<std::ptrdiff_t>(layout::variable_offset(variable_at<V>));
    const auto* const from = std::launder(reinterpret_cast<const T*>(memory_.data() + offset));
    if constexpr (V::rank == 0) return *from;
    else return std::span<const T, static_cast<std::size_t>(V::extent.elements())>(from, static_cast<std::size_t>(V::extent.elements()));
  }
  /// Sets a variable. Errors: invalid_argument if the array has another size, or the dtype does not hold the number.
  template <tensor_expression V, class Array>
    requires(has_variable<V> && detail::value_check<V, Array>::ok && detail::static_array_check<V, Array>::ok)
  [[nodiscard("a static session returns its errors")]] status assign(const V&, const Array& array) {
    using T = typename V::element;
    constexpr int k = variable_at<V>;
    auto* const to = memory_.data() + static_cast<std::ptrdiff_t>(layout::variable_offset(k));
    if constexpr (std::is_arithmetic_v<Array>) {
      if (!detail::fits<T>(array)) return status::invalid_argument;
      const auto number = static_cast<T>(array);
      std::memcpy(to, &number, sizeof number);
    } else {
      if (static_cast<std::int64_t>(array.size()) != V::extent.elements()) return status::invalid_argument;
      if (array.size() > 0) std::memcpy(to, array.data(), array.size() * sizeof(T));
    }
    initialized_[static_cast<std::size_t>(k)] = true;
    return status::ok;
  }
  /// Sets a parameter for all following runs. Errors: invalid_argument if its dtype does not hold the number.
  template <tensor_expression P, number N>
    requires has_number<P>
  [[nodiscard("a static session returns its errors")]] status assign(const P&, N value) {
    using T = typename P::element;
    static_assert(std::is_floating_point_v<T> || std::is_integral_v<N>, "assign: a fraction for a parameter of integers");
    if (!detail::fits<T>(value)) return status::invalid_argument;
    const auto number = static_cast<T>(value);
    std::memcpy(number_place(view.find_number(P::identity::hash)), &number, sizeof number);
    return status::ok;
  }

  using refused_calls::run;
  using static_refused_calls::run;
  using refused_calls::assign;
  using static_refused_calls::assign;
  using refused_calls::is_initialized;
  using refused_calls::value;

 private:
  // What a feed needs during a run: a converted number.
  template <class Feed>
  struct fed {
    static constexpr bool is_number = std::is_arithmetic_v<typename Feed::array_type>;
    struct nothing {};
    [[no_unique_address]] std::conditional_t<is_number, typename Feed::leaf::element, nothing> converted;
  };

  std::byte* arena() { return memory_.data() + static_cast<std::ptrdiff_t>(layout::arena_offset); }
  std::byte* number_place(int k) { return memory_.data() + static_cast<std::ptrdiff_t>(layout::number_offset(k)); }
  static consteval std::size_t place_of(std::uint64_t id) {
    const int at = carried_ids.find(id);
    return static_cast<std::size_t>(at < 0 ? carried_ids.size : at);  // the last place holds 0
  }
  void keep(status s) {
    if (problem_ == status::ok) problem_ = s;
  }
  template <int K>
  status write_number(std::uint64_t bits) {
    using T = element_of<view.number(K).type>;
    if constexpr (std::is_same_v<T, float>)
      if (!detail::fits<float>(std::bit_cast<double>(bits))) return status::invalid_argument;
    const T number = number_of<T>(bits);
    std::memcpy(number_place(K), &number, sizeof number);
    return status::ok;
  }
  // A carried number in its dtype.
  template <class T>
  static T number_of(std::uint64_t bits) {
    if constexpr (std::is_floating_point_v<T>) return static_cast<T>(std::bit_cast<double>(bits));
    else if constexpr (std::is_same_v<T, bool>) return bits != 0;
    else return static_cast<T>(bits);
  }

  // The numbers that the constructor's expressions carry. Two that carry the same number must agree on its value.
  template <class Set, class Step, std::size_t... I>
  void take(Set& set, const Step& step, std::index_sequence<I...>) {
    (take_one(set, std::get<I>(step.targets)), ...);
  }
  template <class Set, class E>
  void take_one([[maybe_unused]] Set& set, const E& e) {
    for_each_carried(e, [&]<std::size_t I, std::uint64_t Id>(const auto& carrier) {
      constexpr auto at = place_of(Id);
      if (set[at] && carried_[at] != carrier.carried[I]) keep(status::invalid_argument);
      carried_[at] = carrier.carried[I];
      set[at] = true;
    });
  }
  // Calls `f<I, Id>(e)` for the I-th number that an expression carries.
  template <class E, class F>
  static void for_each_carried([[maybe_unused]] const E& e, [[maybe_unused]] F f) {
    if constexpr (E::carried_count > 0) {
      constexpr auto& ids = structure_with<typename E::identity>::carried_ids;
      [&]<std::size_t... I>(std::index_sequence<I...>) {
        (f.template operator()<I, ids.id[I]>(e), ...);
      }(std::make_index_sequence<static_cast<std::size_t>(ids.size)>{});
    }
  }
  // A run uses the numbers that the fetched objects carry; those that variables and parameters start from remain.
  template <class F>
  static constexpr const auto& asked_for(const F& fetch) {
    if constexpr (expression<F>) return fetch;
    else return fetch.value;
  }
  template <class... Fs, std::size_t... I>
  status adopt(const fetch_list<Fs...>& fetches, std::index_sequence<I...>) {
    status result = status::ok;
    static_cast<void>(((result = adopt_one(asked_for(std::get<I>(fetches.targets))), result == status::ok) && ...));
    return result;
  }
  template <class E>
  status adopt_one(const E& e) {
    status result = status::ok;
    for_each_carried(e, [&]<std::size_t I, std::uint64_t Id>(const auto& carrier) {
      if (result == status::ok && carried_[place_of(Id)] != carrier.carried[I]) [[unlikely]]
        result = change<Id>(carrier.carried[I], std::make_index_sequence<static_cast<std::size_t>(numbers)>{});
    });
    return result;
  }
  // Whether the number under an id is a plain one, not what a variable or a parameter starts from.
  static constexpr bool is_plain(std::uint64_t id) {
    bool found = false;
    for (int k = 0; k < numbers; ++k) {
      const auto row = view.number(k);
      if (row.id == id && row.is_parameter) return false;
      found = found || row.carried == id;
    }
    return found;
  }
  template <std::uint64_t Id, std::size_t... K>
  [[gnu::cold, gnu::noinline]] status change(std::uint64_t bits, std::index_sequence<K...>) {
    if constexpr (!is_plain(Id)) {
      return status::invalid_argument;
    } else {
      status result = status::ok;
      const auto one = [&]<int N>(std::integral_constant<int, N>) {
        if constexpr (view.number(N).carried == Id)
          if (result == status::ok) result = write_number<N>(bits);
      };
      (one(std::integral_constant<int, static_cast<int>(K)>{}), ...);
      if (result == status::ok) carried_[place_of(Id)] = bits;
      return result;
    }
  }

  // Where variable K starts, as the other sessions start it (session/typed/initialize.hpp), with all sizes as constants.
  template <int K>
  status initialize_one() {
    static constexpr detail::variable_row row = view.variable(K);
    using T = element_of<row.type>;
    constexpr auto count = static_cast<std::ptrdiff_t>(row.extent.elements());
    [[maybe_unused]] std::uint64_t start[3]{};
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      ((start[I] = carried_[place_of(row.start != 0 ? row.start : detail::initial_number_id(row.id, static_cast<int>(I)))]), ...);
    }(std::make_index_sequence<static_cast<std::size_t>(row.numbers)>{});
    T* const to = std::launder(reinterpret_cast<T*>(memory_.data() + static_cast<std::ptrdiff_t>(layout::variable_offset(K))));
    if constexpr (is_random(row.kind)) {
      for (int i = 0; row.kind != initializer_kind::glorot_uniform && i < 2; ++i)
        if (!detail::fits(row.type, std::bit_cast<double>(start[i]))) return status::invalid_argument;
      constexpr std::uint64_t name = hash_text(view.name_of(K).view());
      detail::fill_random<false>(reinterpret_cast<std::byte*>(to), row, start, name);
    } else {
      constexpr bool is_matrix = row.kind == initializer_kind::identity;
      T first{};
      if constexpr (row.kind == initializer_kind::ones) first = T(1);
      else if constexpr (row.kind != initializer_kind::zeros) {
        if (row.type == dtype::float32 && !detail::fits<float>(std::bit_cast<double>(start[0]))) return status::invalid_argument;
        constexpr bool converts = is_matrix && !std::is_floating_point_v<T>;
        first = number_of<T>(converts ? detail::bits_as(row.type, std::bit_cast<double>(start[0])) : start[0]);
      }
      for (std::ptrdiff_t i = 0; i < count; ++i) to[i] = is_matrix ? T{} : first;
      if constexpr (is_matrix) {
        constexpr auto columns = static_cast<std::ptrdiff_t>(row.extent[1]);
        for (std::ptrdiff_t i = 0; i < columns && i * (columns + 1) < count; ++i) to[i * (columns + 1)] = first;
      }
    }
    initialized_[static_cast<std::size_t>(K)] = true;
    return status::ok;
  }

  // The addresses of everything that is not fed or fetched.
  template <class Program, int B>
  void bind_place(void** buffers) {
    constexpr auto info = Program::view.buffer_at(B);
    constexpr auto at = [&] {
      if (info.where == storage::variable) return layout::variable_offset(view.find_variable(info.id));
      if (info.where == storage::number) return layout::number_offset(view.find_number(info.id));
      return layout::arena_offset + (info.where == storage::arena ? Program::arena_offset(B) : 0);
    }();
    buffers[B] = memory_.data() + static_cast<std::ptrdiff_t>(at);
  }
  template <class Program, std::size_t... B>
  void bind_places(void** buffers, std::index_sequence<B...>) {
    (bind_place<Program, static_cast<int>(B)>(buffers), ...);
  }
  template <class Program, std::size_t... I, class Bound, class... Feeds>
  static bool bind_feeds([[maybe_unused]] void** buffers, [[maybe_unused]] Bound& bound, std::index_sequence<I...>, const Feeds&... feeds) {
    return (bind_feed<Program>(buffers, std::get<I>(bound), feeds) && ...);
  }
  template <class Program, class Bound, class Feed>
  static bool bind_feed(void** buffers, Bound& bound, const Feed& f) {
    using leaf = typename Feed::leaf;
    constexpr int b = detail::buffer_of_leaf(Program::view, leaf::identity::hash);
    if constexpr (Bound::is_number) {
      if (!detail::fits<typename leaf::element>(f.array)) return false;
      bound.converted = static_cast<typename leaf::element>(f.array);
      if constexpr (b >= 0) buffers[b] = &bound.converted;
    } else {
      if (static_cast<std::int64_t>(f.array.size()) != leaf::extent.elements()) return false;
      if constexpr (b >= 0 && leaf::extent.elements() > 0) buffers[b] = const_cast<void*>(static_cast<const void*>(f.array.data()));
    }
    return true;
  }

  struct bytes {
    std::uintptr_t begin = 0, end = 0;
    bool overlap(const bytes& other) const { return begin < other.end && other.begin < end; }
  };
  template <class A>
  static bytes bytes_of(const A& a) {
    const void* begin = nullptr;
    std::size_t size = sizeof a;
    if constexpr (std::is_arithmetic_v<A>) {
      begin = &a;
    } else {
      begin = a.data();
      size = a.size() * sizeof *a.data();
    }
    const auto first = reinterpret_cast<std::uintptr_t>(begin);
    return {first, first + size};
  }
  template <class F>
  static bytes written_by(const F& f) {
    if constexpr (expression<F>) return {};
    else return bytes_of(*f.array);
  }
  template <class Program, class... Fs, std::size_t... I, class... Feeds>
  static bool bind_fetches([[maybe_unused]] void** buffers, const fetch_list<Fs...>& fetches, std::index_sequence<I...>,
                           const Feeds&... feeds) {
    if (!(bind_fetch<Program, static_cast<int>(I)>(buffers, std::get<I>(fetches.targets)) && ...)) return false;
    // No fetch may write what is fed, or what another writes.
    const bytes written[]{written_by(std::get<I>(fetches.targets))..., {}};
    const bytes read[]{bytes_of(feeds.array)..., {}};
    bool are_apart = true;
    for (std::size_t i = 0; i < sizeof...(Fs); ++i) {
      for (std::size_t k = 0; k < sizeof...(Feeds); ++k) are_apart = are_apart && !written[i].overlap(read[k]);
      for (std::size_t k = 0; k < i; ++k) are_apart = are_apart && !written[i].overlap(written[k]);
    }
    return are_apart;
  }
  template <class Program, int I, class F>
  static bool bind_fetch([[maybe_unused]] void** buffers, [[maybe_unused]] const F& f) {
    if constexpr (!expression<F>) {
      using E = typename F::target;
      constexpr int b = Program::view.fetch(I);
      if constexpr (std::is_arithmetic_v<std::remove_pointer_t<decltype(F::array)>>) {
        buffers[b] = f.array;
      } else {
        if (static_cast<std::int64_t>(f.array->size()) != E::extent.elements()) return false;
        if constexpr (E::extent.elements() > 0) buffers[b] = f.array->data();
      }
    }
    return true;
  }

  // Whether a program reads a variable, and whether it writes one that it does not read.
  template <class Program>
  static constexpr bool uses(int k, bool reading) {
    for (int b = 0; b < Program::view.buffers(); ++b)
      if (const auto info = Program::view.buffer_at(b); info.where == storage::variable && info.id == view.variable(k).id)
        return info.read == reading;
    return false;
  }
  template <class Program, std::size_t... K>
  bool are_readable(std::index_sequence<K...>) const {
    return ((std::bool_constant<uses<Program>(static_cast<int>(K), true)>::value ? initialized_[K] : true) && ...);
  }
  template <class Program, std::size_t... K>
  void mark_written(std::index_sequence<K...>) {
    ((std::bool_constant<uses<Program>(static_cast<int>(K), false)>::value ? void(initialized_[K] = true) : void()), ...);
  }

  alignas(detail::static_alignment) std::array<std::byte, static_cast<std::size_t>(layout::bytes)> memory_{};
  std::array<std::uint64_t, static_cast<std::size_t>(carried_ids.size) + 1> carried_{};
  std::array<bool, static_cast<std::size_t>(variables) + 1> initialized_{};
  status problem_ = status::ok;
};

/// The bytes of a static session of these steps: `static_assert(step_memory<decltype(fetch(loss, train))> < 32768)`.
template <class... Steps>
inline constexpr std::size_t step_memory = sizeof(static_session<Steps...>);

/// The type of a static session that cannot be; its name makes the compiler print the reason.
template <detail::literal_text... Words>
class static_session<detail::refused_session<Words...>> {
 public:
  static_session(...) = delete;
};

template <class... Fs, class... More>
  requires(detail::static_check<fetch_list<Fs...>, More...>::ok)
static_session(const fetch_list<Fs...>&, const More&...) -> static_session<fetch_list<Fs...>, More...>;
template <class... Fs, class... More>
  requires(!detail::static_check<fetch_list<Fs...>, More...>::ok)
static_session(const fetch_list<Fs...>&, const More&...)
    -> static_session<typename detail::static_check<fetch_list<Fs...>, More...>::problem>;
static_session(...)
    -> static_session<detail::refused_session<LEAT_WORDS("static_session s{fetch(loss, train), fetch(prediction)} takes its steps: what "
                                                         "each kind of run fetches and does")>>;

}  // namespace leat
