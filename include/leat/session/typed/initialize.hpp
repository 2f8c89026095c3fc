#pragma once
// Initialization of variables.

#include <leat/core/orthogonal.hpp>
#include <leat/core/philox.hpp>
#include <leat/expr/scaled_initializers.hpp>
#include <leat/session/typed/table.hpp>

#include <cmath>
#include <cstring>

namespace leat::detail {

// Converts a number, given as the bits of `bits_as`, to its dtype and stores it.
inline void write_number(void* to, dtype type, std::uint64_t bits) {
  const double real = std::bit_cast<double>(bits);
  const auto whole = static_cast<std::int64_t>(bits);
  switch (type) {
    case dtype::float32: *static_cast<float*>(to) = static_cast<float>(real); break;
    case dtype::float64: *static_cast<double*>(to) = real; break;
    case dtype::int32: *static_cast<std::int32_t*>(to) = static_cast<std::int32_t>(whole); break;
    case dtype::int64: *static_cast<std::int64_t*>(to) = whole; break;
    case dtype::uint8: *static_cast<std::uint8_t*>(to) = static_cast<std::uint8_t>(whole); break;
    case dtype::boolean: *static_cast<bool*>(to) = whole != 0; break;
    case dtype::invalid: break;
  }
}

// The inverse of `write_number`: the bits of a number that is stored in its dtype.
[[gnu::cold]] inline std::uint64_t read_number(const void* from, dtype type) {
  switch (type) {
    case dtype::float32: return std::bit_cast<std::uint64_t>(static_cast<double>(*static_cast<const float*>(from)));
    case dtype::float64: return std::bit_cast<std::uint64_t>(*static_cast<const double*>(from));
    case dtype::int32: return static_cast<std::uint64_t>(static_cast<std::int64_t>(*static_cast<const std::int32_t*>(from)));
    case dtype::int64: return static_cast<std::uint64_t>(*static_cast<const std::int64_t*>(from));
    case dtype::uint8: return *static_cast<const std::uint8_t*>(from);
    case dtype::boolean: return *static_cast<const bool*>(from) ? 1 : 0;
    case dtype::invalid: break;
  }
  return 0;
}

// Checks that a number fits float32. Settings of optimizers are float64 until the variable's dtype is known.
inline void check_number(dtype type, std::uint64_t bits) {
  if (type == dtype::float32) checked_number<float>("a setting of an optimizer: ", std::bit_cast<double>(bits));
}

// Checks a carried number that differs from the session's. A plain number may differ between runs if its dtype can hold it; parameters and
// the initial values of variables may not.
[[gnu::cold]] inline void check_other_number(const session_view& view, std::uint64_t id, std::uint64_t bits) {
  const auto refuse = [](std::string_view what, std::string_view name, std::string_view remedy, std::string_view start = "number") {
    LEAT_THROW(invalid_argument(joined({"two values for one ", start, ": ", what, " \"", name, "\" starts from another ", start,
                                   " in an expression that is fetched than in the session. ", remedy})));
  };
  for (int k = 0; k < view.numbers(); ++k) {
    const auto row = view.number(k);
    if (row.id == id && row.is_parameter)
      refuse("parameter", view.text_at(row.name).view(), "Feed it in the run, or set it with session.assign");
    if (row.carried == id) check_number(row.type, bits);
  }
  for (int k = 0; k < view.variables(); ++k)
    for (int i = 0; i < view.variable(k).numbers; ++i)
      if (view.variable(k).start == 0 && initial_number_id(view.variable(k).id, i) == id)
        refuse("variable", view.name_of(k).view(), "Make the session of that expression, or set the variable with session.assign",
               view.variable(k).kind == initializer_kind::array ? "array" : "number");
}

// The bits of a value: those of a double for floating-point dtypes, else those of an int64.
inline std::uint64_t bits_as(dtype type, double value) {
  return is_floating(type) ? std::bit_cast<std::uint64_t>(value) : static_cast<std::uint64_t>(static_cast<std::int64_t>(value));
}

// Random numbers depend only on the seed and the variable's name, given as its hash. They are drawn in the variable's precision.
// Orthonormal matrices need the heap, so their code is a choice.
template <bool Orthonormal = true>
[[gnu::cold]] void fill_random(std::byte* to, const variable_row& v, const std::uint64_t* numbers, std::uint64_t name) {
  const auto count = static_cast<std::uint64_t>(v.extent.elements());
  const std::uint64_t seed = mix(numbers[2], name);
  double first = std::bit_cast<double>(numbers[0]);
  double second = std::bit_cast<double>(numbers[1]);
  if constexpr (Orthonormal) {
    if (v.kind == initializer_kind::orthogonal) {
      const auto columns = static_cast<std::size_t>(v.extent[v.extent.rank - 1]);
      const auto q = columns == 0 ? std::vector<double>{} : orthonormal(static_cast<std::size_t>(count) / columns, columns, seed);
      for (std::size_t i = 0; i < q.size(); ++i)
        write_number(to + i * static_cast<std::size_t>(size_of(v.type)), v.type, std::bit_cast<std::uint64_t>(first * q[i]));
      return;
    }
  }
  initializer_kind kind = v.kind;
  if (kind == initializer_kind::variance_scaling || kind == initializer_kind::glorot_uniform) {
    const auto draw = kind == initializer_kind::glorot_uniform ? draw_of(1, fan_mode::fan_avg, distribution::uniform, v.extent)
                                                               : draw_of(first, mode_of(second), distribution_of(second), v.extent);
    kind = draw.kind;
    first = kind == initializer_kind::uniform ? -draw.spread : 0;
    second = draw.spread;
  }
  const bool flat = kind == initializer_kind::uniform;
  for (std::uint64_t i = 0; i < count; ++i) {
    double value = 0;
    if (flat) {
      const double unit = v.type == dtype::float32 ? static_cast<double>(uniform<float>(seed, i)) : uniform<double>(seed, i);
      value = first + (second - first) * unit;
    } else {
      double drawn = normal<double>(seed, i);
      for (std::uint64_t again = 1; kind == initializer_kind::truncated_normal && (drawn > 2 || drawn < -2); ++again)
        drawn = normal<double>(mix(seed, again), i);
      value = first + second * drawn;
    }
    write_number(to + i * static_cast<std::uint64_t>(size_of(v.type)), v.type, std::bit_cast<std::uint64_t>(value));
  }
}

/// Validates an initializer's settings before any variable is written. Errors: invalid_argument.
template <bool Random>
[[gnu::cold]] void check_initializer(const variable_row& v, const std::uint64_t* numbers, std::string_view name) {
  if (const std::string_view problem = matrix_problem(v.kind, v.extent); !problem.empty())
    LEAT_THROW(invalid_argument(joined({"variable \"", name, "\": ", problem})));
  if constexpr (Random) {
    if (!is_random(v.kind)) return;
    if (!is_floating(v.type))
      LEAT_THROW(invalid_argument(joined({"variable \"", name, "\" cannot start from random numbers: they are float32 or float64"})));
    for (int i = 0; v.kind != initializer_kind::glorot_uniform && i < 2; ++i)
      if (const double value = std::bit_cast<double>(numbers[i]); !fits(v.type, value))
        refuse_number(joined({"variable \"", name, "\": "}), v.type, value);
  }
}

/// Initializes a variable. `Random` is false if no variable of the session starts from random numbers, so that their code is not compiled.
template <bool Random>
[[gnu::cold]] void initialize_variable(std::byte* to, const variable_row& v, const std::uint64_t* numbers, std::string_view name) {
  const auto count = static_cast<std::size_t>(v.extent.elements());
  const auto size = static_cast<std::size_t>(size_of(v.type));
  if (v.kind == initializer_kind::zeros) {
    std::memset(to, 0, count * size);
  } else if (v.kind == initializer_kind::ones || v.kind == initializer_kind::number) {
    const std::uint64_t bits = v.kind == initializer_kind::ones ? bits_as(v.type, 1) : numbers[0];
    for (std::size_t i = 0; i < count; ++i) write_number(to + i * size, v.type, bits);
  } else if (v.kind == initializer_kind::identity) {
    std::memset(to, 0, count * size);
    const auto columns = static_cast<std::size_t>(v.extent[1]);
    for (std::size_t i = 0; i < columns && i * (columns + 1) < count; ++i)
      write_number(to + i * (columns + 1) * size, v.type, bits_as(v.type, std::bit_cast<double>(numbers[0])));
  } else if constexpr (Random) {
    fill_random(to, v, numbers, hash_text(name));
  }
}

}  // namespace leat::detail
