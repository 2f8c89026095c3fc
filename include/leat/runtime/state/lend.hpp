#pragma once
// Tensor values that borrow the elements of a program's arrays.

#include <leat/runtime/state/tensor_value.hpp>

#include <cstddef>
#include <vector>

namespace leat::detail {

template <class A>
concept contiguous_array = array_like<A> && requires(const A& a) {
  a.data();
  a.strides();
};

// Makes `to` refer to an array's elements, or to a copy of an array that is not contiguous row-major.
template <class A>
void lend_to(tensor_value& to, const A& a) {
  if constexpr (contiguous_array<A>) {
    shape s;
    if (a.dimension() > static_cast<std::size_t>(max_rank)) throw invalid_argument("an array of more than 8 dimensions");
    std::ptrdiff_t expected = 1;
    bool in_order = true;
    for (std::size_t k = 0; k < a.dimension(); ++k) s.push(static_cast<std::int64_t>(a.shape()[k]));
    for (std::size_t k = a.dimension(); k-- > 0;) {
      in_order = in_order && (s[static_cast<int>(k)] == 1 || static_cast<std::ptrdiff_t>(a.strides()[k]) == expected);
      expected *= static_cast<std::ptrdiff_t>(s[static_cast<int>(k)]);
    }
    if (in_order) {
      const auto* first = a.data();
      if constexpr (requires { a.data_offset(); }) first += a.data_offset();
      return to.borrow_again(array_dtype_of<typename A::value_type>, s, const_cast<typename A::value_type*>(first));
    }
  }
  to = tensor_value(a);
}
template <value_element T>
  requires(!std::is_same_v<T, bool>)
void lend_to(tensor_value& to, const std::vector<T>& v) {
  shape s;
  s.push(static_cast<std::int64_t>(v.size()));
  to.borrow_again(array_dtype_of<T>, s, const_cast<T*>(v.data()));
}
inline void lend_to(tensor_value& to, const tensor_value& v) { to = v; }
template <class A>
tensor_value lend(const A& a)
  requires requires(tensor_value to) { lend_to(to, a); }
{
  tensor_value made;
  lend_to(made, a);
  return made;
}

}  // namespace leat::detail
