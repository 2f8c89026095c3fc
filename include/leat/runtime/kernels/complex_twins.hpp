#pragma once
// Nodes with complex dtypes whose kernels know no complex numbers. A node that only moves elements takes complex64 for int64, by its bits,
// without a copy. One that moves complex128, or that is linear in its elements with real coefficients (a sum, a mean), runs as its twin of
// real dtypes: once for the real parts and once for the imaginary ones.

#include <leat/runtime/kernels/kernel.hpp>
#include <leat/runtime/kernels/narrow.hpp>

#include <algorithm>
#include <array>
#include <span>
#include <string_view>
#include <vector>

namespace leat::runtime {

namespace complex_twins {

/// complex64 as int64, which has as many bytes.
struct as_bits {
  static constexpr bool adapts = false;
  static constexpr dtype other(dtype d) { return d == complex64_dtype ? dtype::int64 : dtype::invalid; }
  static tensor_value there(const tensor_value& v) { return v && v.type() == complex64_dtype ? v.reinterpreted(dtype::int64) : v; }
  static tensor_value back(const tensor_value& v, dtype to) { return v.reinterpreted(to); }
};

/// Complex dtypes as those of their parts.
struct as_parts {
  static constexpr dtype other(dtype d) { return part_dtype(d); }
};

/// The real parts of a complex value, or the imaginary ones for `which` 1.
inline tensor_value part_of(const tensor_value& v, int which) {
  return with_part(v.type(), [&]<class T>(T) {
    tensor_value made(part_dtype(v.type()), v.extent());
    const T* from = reinterpret_cast<const T*>(v.data()) + which;
    for (T& x : made.values<T>()) {
      x = *from;
      from += 2;
    }
    return made;
  });
}
/// The complex value of these parts.
inline tensor_value joined(dtype type, const tensor_value& real, const tensor_value& imaginary) {
  tensor_value made(type, real.extent());
  with_part(type, [&]<class T>(T) {
    T* to = reinterpret_cast<T*>(made.data());
    const auto re = real.values<T>(), im = imaginary.values<T>();
    for (std::size_t i = 0; i < re.size(); ++i) {
      to[2 * i] = re[i];
      to[2 * i + 1] = im[i];
    }
  });
  return made;
}

}  // namespace complex_twins

/// Runs a node on complex64 elements as on int64 ones. For operators that move elements.
inline void run_by_bits(kernel_context& c) { narrow::run_as_twin<complex_twins::as_bits>(c); }

/// Runs a node on the real parts of its complex inputs, then on the imaginary ones. For operators without effects that move elements or are
/// linear in them; inputs of other dtypes are the same in both.
inline void run_by_parts(kernel_context& c) {
  using namespace complex_twins;
  narrow::twin& its = narrow::twin_of<as_parts>(c.node);
  const auto count = static_cast<std::size_t>(c.input_count()), results = static_cast<std::size_t>(c.result_count());
  std::vector<tensor_value> given(count);
  for (std::size_t k = 0; k < count; ++k) given[k] = c.input(static_cast<int>(k));
  std::array<std::vector<token>, 2> parts;
  for (int which = 0; which < 2; ++which) {
    std::vector<token> inputs(count);
    for (std::size_t k = 0; k < count; ++k)
      inputs[k].value = given[k] && is_complex(given[k].type()) ? part_of(given[k], which) : given[k];
    std::vector<token>& made = parts[static_cast<std::size_t>(which)];
    made.resize(results);
    kernel_context real(its.node, c.step, inputs, made);
    (*its.run)(real);
  }
  dtype type = dtype::invalid;
  for (const tensor_value& v : given)
    if (v && is_complex(v.type())) type = v.type();
  if (type == dtype::invalid) type = c.node.type_of("T", c.node.type_of("dtype"));
  for (std::size_t k = 0; k < results; ++k) {
    tensor_value& real = parts[0][k].value;
    const bool is_part = real && real.type() == part_dtype(type);
    c.set(static_cast<int>(k), is_part ? joined(type, real, parts[1][k].value) : std::move(real));
  }
}

}  // namespace leat::runtime
