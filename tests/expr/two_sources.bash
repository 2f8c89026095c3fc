#!/usr/bin/env bash
# two_sources.bash COMPILER [ARGUMENT...]: a model that an inline function of a header makes has its numbers and arrays in their places in each
# source that includes the header, whichever source's copy of the function the linker keeps. The second source writes other
# numbers before it, so that the two number their call sites differently.
set -euo pipefail
export LC_ALL=C

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cat >"$scratch/model.hpp" <<'END_OF_SOURCE'
#include <leat/ops/arithmetic.hpp>
#include <vector>
inline auto model() {
  const auto x = leat::placeholder<"x", float>();
  const auto line = 2.0f * x + 3.0f;
  return 1.0f * line + (line - 4.0f) * 5.0f + 6.0f;
}
inline auto arrays() {
  const auto x = leat::placeholder<"x", float, 2>();
  const auto line = leat::constant<float, 2>(std::vector<int>{2, 3}) * x + 3.0f;
  return 1.0f * line + leat::constant(std::array{4.0f, 5.0f}) + leat::variable<"w">(std::array{5.0f, 6.0f});
}
// What `arrays` carries, in the order in which it is mentioned: 1, {2, 3}, 3, {4, 5}, {5, 6}.
template <class E>
int wrong_arrays(const E& e) {
  int wrong = E::carried_count == 5 ? 0 : 100;
  for (int k = 0; k < E::carried_count; ++k) {
    const auto& value = e.carried[static_cast<std::size_t>(k)];
    const bool is_number = k == 0 || k == 2;
    if (is_number != !value.elements) {
      ++wrong;
    } else if (is_number) {
      wrong += std::bit_cast<double>(value.bits) == k + 1 ? 0 : 1;
    } else {
      const auto* f = static_cast<const float*>(value.elements.data());
      const float first = k == 1 ? 2.0f : static_cast<float>(k + 1);
      wrong += f[0] == first && f[1] == first + 1 ? 0 : 1;
    }
  }
  return wrong;
}
template <class E>
int wrong_numbers(const E& e) {
  int wrong = E::carried_count == 6 ? 0 : 100;
  for (int k = 0; k < E::carried_count; ++k) wrong += std::bit_cast<double>(e.carried[static_cast<std::size_t>(k)]) == k + 1 ? 0 : 1;
  return wrong;
}
END_OF_SOURCE
cat >"$scratch/first.cpp" <<'END_OF_SOURCE'
#include "model.hpp"
int first();
int first() { return wrong_numbers(model()) + wrong_arrays(arrays()); }
END_OF_SOURCE
cat >"$scratch/second.cpp" <<'END_OF_SOURCE'
#include <leat/ops/arithmetic.hpp>
inline auto others() { return (7.0f * leat::placeholder<"x", float>() + 8.0f) * 9.0f; }
inline auto other_arrays() { return leat::constant(std::array{7.0f, 8.0f}) + leat::constant(std::array{1.0f, 2.0f}); }
#include "model.hpp"
int second();
int second() {
  if (wrong_numbers(others() * model()) == 0 || wrong_arrays(other_arrays() * arrays()) == 0) return -1;
  return wrong_numbers(model()) + wrong_arrays(arrays());
}
END_OF_SOURCE
cat >"$scratch/main.cpp" <<'END_OF_SOURCE'
#include <cstdio>
int first();
int second();
int main() {
  const int a = first();
  const int b = second();
  if (a != 0 || b != 0) std::printf("%d numbers are wrong in the first source, %d in the second\n", a, b);
  return a != 0 || b != 0;
}
END_OF_SOURCE

failed=0
"$@" -c "$scratch/main.cpp" -o "$scratch/main.o"
for level in -O0 -O2; do
  for source in first second; do "$@" "$level" -c "$scratch/$source.cpp" -o "$scratch/$source.o"; done
  for order in "first second" "second first"; do
    read -r one two <<<"$order"
    "$1" "$scratch/main.o" "$scratch/$one.o" "$scratch/$two.o" -o "$scratch/program"
    if "$scratch/program"; then
      echo "$level, $order: as written"
    else
      echo "FAILED: $level, $order"
      failed=1
    fi
  done
done
exit "$failed"
