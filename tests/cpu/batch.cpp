#include <leat/cpu/batch.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>
#include <vector>

#if defined(__unix__)
#include <sys/mman.h>
#include <unistd.h>
#endif

using namespace leat::cpu;

namespace {

template <class T>
T number(int i) {
  return static_cast<T>((i * 7 + 3) % 23 - 11);
}

template <class T>
std::vector<T> values(const batch<T>& v) {
  std::vector<T> result(lanes<T>);
  store(result.data(), v);
  return result;
}

template <class T>
std::vector<T> numbers(int from = 0) {
  std::vector<T> result;
  for (int i = 0; i < lanes<T>; ++i) result.push_back(number<T>(from + i));
  return result;
}

// A page of memory between two that may not be touched.
template <class T>
class guarded_page {
 public:
#if defined(__unix__)
  guarded_page() : page_(static_cast<std::size_t>(sysconf(_SC_PAGESIZE))) {
    base_ = static_cast<char*>(mmap(nullptr, 3 * page_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    REQUIRE(base_ != MAP_FAILED);
    REQUIRE(mprotect(base_ + page_, page_, PROT_READ | PROT_WRITE) == 0);
  }
  guarded_page(const guarded_page&) = delete;
  guarded_page& operator=(const guarded_page&) = delete;
  ~guarded_page() { munmap(base_, 3 * page_); }
  T* first() { return reinterpret_cast<T*>(base_ + page_); }
  T* last(int count) { return reinterpret_cast<T*>(base_ + 2 * page_) - count; }

 private:
  std::size_t page_;
  char* base_;
#else
  T* first() { return memory_; }
  T* last(int count) { return memory_ + 64 - count; }

 private:
  T memory_[64] = {};
#endif
};

}  // namespace

TEST_CASE_TEMPLATE("a batch is stored as it was loaded, at any alignment", T, float, double, std::int32_t,
                   std::int64_t) {
  std::vector<T> memory(static_cast<std::size_t>(3 * lanes<T>));
  for (int i = 0; i < 3 * lanes<T>; ++i) memory[static_cast<std::size_t>(i)] = number<T>(i);
  for (int offset = 0; offset <= lanes<T>; ++offset) CHECK(values(load(memory.data() + offset)) == numbers<T>(offset));
}

TEST_CASE_TEMPLATE("partial loads and stores touch nothing else", T, float, double, std::int32_t, std::int64_t) {
  guarded_page<T> page;
  for (int n = 1; n < lanes<T>; ++n)
    for (T* p : {page.first(), page.last(n)}) {
      CAPTURE(n);
      for (int i = 0; i < n; ++i) p[i] = number<T>(i);
      const std::vector<T> read = values(load_partial(p, n, T(5)));
      for (int i = 0; i < lanes<T>; ++i) CHECK(read[static_cast<std::size_t>(i)] == (i < n ? number<T>(i) : T(5)));
      store_partial(p, load(numbers<T>(9).data()), n);
      for (int i = 0; i < n; ++i) CHECK(p[i] == number<T>(9 + i));
    }
  std::vector<T> memory(static_cast<std::size_t>(lanes<T> + 2), T(77));
  for (int n = 1; n < lanes<T>; ++n) {
    store_partial(memory.data() + 1, batch<T>(T(1)), n);
    CHECK(memory[0] == T(77));
    for (int i = n; i <= lanes<T>; ++i) CHECK(memory[static_cast<std::size_t>(i + 1)] == T(77));
  }
}

TEST_CASE_TEMPLATE("partial loads and stores of a count that the compiler knows do the same", T, float, double, std::int32_t,
                   std::int64_t) {
  guarded_page<T> page;
  const auto check = [&]<int N>(std::integral_constant<int, N>) {
    CAPTURE(N);
    for (T* p : {page.first(), page.last(N)}) {
      for (int i = 0; i < N; ++i) p[i] = number<T>(i);
      const std::vector<T> read = values(load_rest(p, N));
      for (int i = 0; i < lanes<T>; ++i) CHECK(read[static_cast<std::size_t>(i)] == (i < N ? number<T>(i) : T(0)));
      store_rest(p, load(numbers<T>(9).data()), N);
      for (int i = 0; i < N; ++i) CHECK(p[i] == number<T>(9 + i));
    }
    std::vector<T> memory(static_cast<std::size_t>(lanes<T> + 2), T(77));
    store_rest(memory.data() + 1, batch<T>(T(1)), N);
    CHECK(memory[0] == T(77));
    for (int i = N; i <= lanes<T>; ++i) CHECK(memory[static_cast<std::size_t>(i + 1)] == T(77));
  };
  check(std::integral_constant<int, 1>{});
  if constexpr (lanes<T> > 2) check(std::integral_constant<int, 2>{});
  if constexpr (lanes<T> > 3) check(std::integral_constant<int, 3>{});
}

TEST_CASE_TEMPLATE("streamed batches arrive", T, float, double, std::int32_t, std::int64_t) {
  alignas(batch_bytes) T memory[2 * lanes<T>] = {};
  CHECK(is_batch_aligned(memory));
  CHECK_FALSE(is_batch_aligned(memory + 1));
  stream(memory, load(numbers<T>().data()));
  stream(memory + lanes<T>, load(numbers<T>(lanes<T>).data()));
  stream_fence();
  for (int i = 0; i < 2 * lanes<T>; ++i) CHECK(memory[i] == number<T>(i));
}

TEST_CASE_TEMPLATE("lane numbers, first lanes and selection", T, float, double, std::int32_t, std::int64_t) {
  for (int i = 0; i < lanes<T>; ++i) CHECK(values(iota<T>())[static_cast<std::size_t>(i)] == static_cast<T>(i));
  for (int n = 0; n <= lanes<T>; ++n) {
    CHECK(mask_bits<T>(first_lanes<T>(n)) == (1U << n) - 1U);
    const std::vector<T> chosen = values(leat::cpu::select<T>(first_lanes<T>(n), batch<T>(T(3)), iota<T>()));
    for (int i = 0; i < lanes<T>; ++i) CHECK(chosen[static_cast<std::size_t>(i)] == (i < n ? T(3) : static_cast<T>(i)));
  }
}

TEST_CASE_TEMPLATE("masks and bools", T, float, double, std::int32_t, std::int64_t) {
  guarded_page<bool> page;
  for (unsigned bits = 0; bits < (1U << lanes<T>); bits = bits * 3 + 1)
    for (int n = 1; n <= lanes<T>; ++n)
      for (bool* p : {page.first(), page.last(n)}) {
        for (int i = 0; i < n; ++i) p[i] = (bits >> i & 1U) != 0;
        const mask<T> m = load_mask<T>(p, n);
        CHECK(mask_bits<T>(m) == (bits & ((1U << n) - 1U)));
        for (int i = 0; i < n; ++i) p[i] = !p[i];
        store_mask<T>(p, m, n);
        unsigned stored = 0;
        for (int i = 0; i < n; ++i) {
          unsigned char byte;
          std::memcpy(&byte, p + i, 1);
          CHECK(byte <= 1);
          stored |= unsigned(byte) << i;
        }
        CHECK(stored == (bits & ((1U << n) - 1U)));
      }
}

TEST_CASE_TEMPLATE("masks of integers and of numbers mix", T, std::int32_t, std::int64_t) {
  using real = std::conditional_t<sizeof(T) == 4, float, double>;
  const mask<T> integers = as_mask(iota<T>() < batch<T>(T(1)));
  const mask<real> reals = as_mask(iota<real>() < batch<real>(real(1)));
  CHECK(mask_bits<T>(integers & reals) == 1U);
  CHECK(mask_bits<T>(as_mask(as_batch_bool<T>(integers))) == 1U);
}

TEST_CASE_TEMPLATE("a square is transposed", T, float, double, std::int32_t, std::int64_t) {
  batch<T> rows[lanes<T>];
  for (int i = 0; i < lanes<T>; ++i) rows[i] = load(numbers<T>(i * 100).data());
  transpose<T>(rows);
  for (int i = 0; i < lanes<T>; ++i)
    for (int j = 0; j < lanes<T>; ++j) CHECK(values(rows[i])[static_cast<std::size_t>(j)] == number<T>(j * 100 + i));
}

TEST_CASE("conversions between types of one width") {
  const float reals[] = {0.0f, -0.0f, 1.5f, -1.5f, 2.75f,  -2.75f, 8388609.0f, -2147483648.0f,
                         7.0f, 8.5f,  9.5f, 10.9f, -10.9f, 1e9f,   -1e9f,      3.0f};
  for (int from = 0; from + lanes<float> <= 16; from += lanes<float>) {
    const auto integers = values(convert<std::int32_t>(load(reals + from)));
    const auto back = values(convert<float>(convert<std::int32_t>(load(reals + from))));
    for (int i = 0; i < lanes<float>; ++i) {
      CHECK(integers[static_cast<std::size_t>(i)] == static_cast<std::int32_t>(reals[from + i]));
      CHECK(back[static_cast<std::size_t>(i)] == static_cast<float>(static_cast<std::int32_t>(reals[from + i])));
    }
  }
  const double wide[] = {0.0, -1.5, 1e15, -1e18, 4503599627370497.0, -2.9, 9.007199254740993e15, 3.99};
  for (int from = 0; from + lanes<double> <= 8; from += lanes<double>) {
    const auto integers = values(convert<std::int64_t>(load(wide + from)));
    const auto back = values(convert<double>(convert<std::int64_t>(load(wide + from))));
    for (int i = 0; i < lanes<double>; ++i) {
      CHECK(integers[static_cast<std::size_t>(i)] == static_cast<std::int64_t>(wide[from + i]));
      CHECK(back[static_cast<std::size_t>(i)] == static_cast<double>(static_cast<std::int64_t>(wide[from + i])));
    }
  }
  CHECK(values(bits_as<std::int32_t>(batch<float>(1.0f)))[0] == 0x3f800000);
}

TEST_CASE_TEMPLATE("horizontal reductions", T, float, double, std::int32_t, std::int64_t) {
  for (int from = 0; from < 40; ++from) {
    const std::vector<T> v = numbers<T>(from);
    T sum(0), product(1), greatest = v[0], least = v[0];
    for (const T each : v) {
      sum = static_cast<T>(sum + each);
      product = static_cast<T>(product * (each > T(0) ? T(2) : T(1)));
      greatest = each > greatest ? each : greatest;
      least = each < least ? each : least;
    }
    std::vector<T> factors;
    for (const T each : v) factors.push_back(each > T(0) ? T(2) : T(1));
    CHECK(reduce_add(load(v.data())) == sum);
    CHECK(reduce_mul(load(factors.data())) == product);
    CHECK(reduce_max(load(v.data())) == greatest);
    CHECK(reduce_min(load(v.data())) == least);
  }
}

TEST_CASE_TEMPLATE("many sums at once are the same sums", T, float, double, std::int32_t, std::int64_t) {
  batch<T> rows[lanes<T>];
  for (int i = 0; i < lanes<T>; ++i) {
    std::vector<T> row = numbers<T>(i * 100);
    for (T& each : row) each = static_cast<T>(each * T(1.1)) + static_cast<T>(i);
    rows[i] = load(row.data());
  }
  const std::vector<T> sums = values(reduce_add_each<T>(rows));
  for (int i = 0; i < lanes<T>; ++i) CHECK(sums[static_cast<std::size_t>(i)] == reduce_add(rows[i]));
}

TEST_CASE_TEMPLATE("a NaN in any lane reaches the greatest and the least", T, float, double) {
  for (int place = 0; place < lanes<T>; ++place) {
    std::vector<T> v = numbers<T>();
    v[static_cast<std::size_t>(place)] = std::numeric_limits<T>::quiet_NaN();
    CHECK(std::isnan(reduce_max(load(v.data()))));
    CHECK(std::isnan(reduce_min(load(v.data()))));
  }
}

TEST_CASE_TEMPLATE("integer sums wrap around", T, std::int32_t, std::int64_t) {
  std::vector<T> v(lanes<T>, T(0));
  v[0] = std::numeric_limits<T>::max();
  v[1] = T(1);
  CHECK(reduce_add(load(v.data())) == std::numeric_limits<T>::min());
  // halves that overflow before lanes do: the sanitizer sees them
  const std::vector<T> greatest(static_cast<std::size_t>(lanes<T>), std::numeric_limits<T>::max());
  CHECK(reduce_add(load(greatest.data())) == T(-lanes<T>));
  CHECK(reduce_mul(load(greatest.data())) == T(1));
}

TEST_CASE_TEMPLATE("rounding, extremes and fused products", T, float, double) {
  const T samples[] = {T(0.5),
                       T(1.5),
                       T(2.5),
                       T(-0.5),
                       T(-1.5),
                       T(2.4),
                       T(-2.6),
                       T(1e7 + 0.5),
                       T(-0.0),
                       T(3e18),
                       std::numeric_limits<T>::infinity(),
                       T(0.49999997)};
  for (const T x : samples) {
    CAPTURE(x);
    CHECK(values(round_down(batch<T>(x)))[0] == std::floor(x));
    CHECK(values(round_up(batch<T>(x)))[0] == std::ceil(x));
    CHECK(values(round_to_zero(batch<T>(x)))[0] == std::trunc(x));
    CHECK(values(round_to_even(batch<T>(x)))[0] == std::nearbyint(x));
  }
  const T nan = std::numeric_limits<T>::quiet_NaN();
  CHECK(values(least(batch<T>(nan), batch<T>(T(1))))[0] == T(1));
  CHECK(std::isnan(values(least(batch<T>(T(1)), batch<T>(nan)))[0]));
  CHECK(values(greatest(batch<T>(nan), batch<T>(T(1))))[0] == T(1));
  CHECK(values(fused_multiply_add(batch<T>(T(3)), batch<T>(T(4)), batch<T>(T(5))))[0] == T(17));
  CHECK(values(square_root(batch<T>(T(9))))[0] == T(3));
}
