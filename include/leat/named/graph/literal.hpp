#pragma once
// Arrays written in a program, which become constants of a graph: a scalar, a list, a list of lists, a vector with a shape. Values are
// stored as in TensorFlow's files: a single one in the field of its type, several as bytes.

#include <leat/core/error.hpp>
#include <leat/core/function_bodies.hpp>
#include <leat/core/shape.hpp>
#include <leat/proto/attribute_value.hpp>
#include <leat/proto/data_type.hpp>

#include <bit>
#include <cstring>
#include <optional>
#include <span>

namespace leat {

/// Converts a shape to file form; named dimensions become unknown.
tensor_shape_proto to_proto(const shape& s);
/// Converts a shape from file form; its rank becomes unknown if it has more dimensions than the library supports.
shape to_shape(const tensor_shape_proto& p);

namespace detail {

constexpr tensor_field field_of(data_type d) {
  switch (d) {
    case data_type::float32: return tensor_field::float_val;
    case data_type::float64: return tensor_field::double_val;
    case data_type::int64: return tensor_field::int64_val;
    case data_type::boolean: return tensor_field::bool_val;
    case data_type::string: return tensor_field::string_val;
    case data_type::complex64: return tensor_field::scomplex_val;
    case data_type::complex128: return tensor_field::dcomplex_val;
    default: return tensor_field::int_val;
  }
}

template <class T>
void put_bytes(std::string& bytes, T value) {
  char raw[sizeof(T)];
  std::memcpy(raw, &value, sizeof(T));
  bytes.append(raw, sizeof(T));
}
template <class T>
T get_bytes(const std::string& bytes, std::size_t at) {
  T value;
  std::memcpy(&value, bytes.data() + at * sizeof(T), sizeof(T));
  return value;
}
static_assert(std::endian::native == std::endian::little, "contents of constants are copied as they stand in memory");

}  // namespace detail

/// A scalar by its bits (leaves.hpp): those of a double for floating-point dtypes; for other dtypes the integer itself, which a double may
/// not represent exactly.
struct kept_number {
  std::int64_t bits = 0;
};

/// An array literal: `3.0f`, `{1, 2, 3}`, `{{1.0f, 2.0f}, {3.0f, 4.0f}}`, a vector, a string. Its dtype is that of its C++ elements.
class tensor_literal {
 public:
  template <value_element T>
  tensor_literal(T value) : tensor_literal(to_data_type(array_dtype_of<T>), shape{}) {
    put(value);
  }
  tensor_literal(const char* text);
  tensor_literal(std::string text);
  tensor_literal(const tensor_literal&);
  tensor_literal(tensor_literal&&) noexcept;
  tensor_literal& operator=(const tensor_literal&);
  tensor_literal& operator=(tensor_literal&&) noexcept;
  ~tensor_literal();
  template <value_element T>
  tensor_literal(std::initializer_list<T> list) : tensor_literal(to_data_type(array_dtype_of<T>), shape{}) {
    extent_.push(static_cast<std::int64_t>(list.size()));
    for (T v : list) put(v);
  }
  template <value_element T>
  tensor_literal(std::initializer_list<std::initializer_list<T>> rows) : tensor_literal(to_data_type(array_dtype_of<T>), shape{}) {
    extent_.push(static_cast<std::int64_t>(rows.size()));
    extent_.push(rows.size() == 0 ? 0 : static_cast<std::int64_t>(rows.begin()->size()));
    for (const auto& row : rows) {
      if (static_cast<std::int64_t>(row.size()) != extent_[1]) throw invalid_argument("constant: rows of different lengths");
      for (T v : row) put(v);
    }
  }
  template <value_element T>
  tensor_literal(const std::vector<T>& values) : tensor_literal(to_data_type(array_dtype_of<T>), shape{}) {
    extent_.push(static_cast<std::int64_t>(values.size()));
    for (T v : values) put(v);
  }
  template <value_element T>
  tensor_literal(const shape& extent, const std::vector<T>& values) : tensor_literal(to_data_type(array_dtype_of<T>), extent) {
    for (T v : values) put(v);
    fill();
  }
  /// An array with one value in every element.
  tensor_literal(dtype type, const shape& extent, kept_number value);
  /// An array with one value in every element, by default 0.
  tensor_literal(dtype type, const shape& extent, double value = 0);
  /// An array of elements from memory, row-major.
  tensor_literal(dtype type, const shape& extent, std::span<const std::byte> elements);
  tensor_literal(data_type type, const shape& extent, std::vector<std::string> texts);

  /// The dtype, which may be any of TensorFlow's.
  data_type type() const { return type_; }
  const shape& extent() const { return extent_; }
  /// The stored values, little endian: one for all elements, or one for each; empty for strings.
  const std::string& bytes() const { return bytes_; }

  /// The same values in another shape; the last value is repeated to fill it.
  /// Errors: invalid_argument if there are more values than elements.
  tensor_literal shaped(const shape& extent) const;
  /// The values converted to another dtype; real ones may become complex, with imaginary parts of 0. Errors: invalid_argument if a fraction
  /// is to become an integer, a complex number a real one, or a string a number.
  tensor_literal as(dtype type) const;
  /// Element `i` as a double.
  double number(std::int64_t i) const;

  /// The array in file form.
  tensor_proto proto() const;

 private:
  // Makes a literal without elements, to be filled.
  tensor_literal(data_type type, const shape& extent);
  template <class T>
  void put(T value) {
    if constexpr (std::is_same_v<T, bool>) bytes_ += value ? '\1' : '\0';
    else if constexpr (dtype_of<T> == dtype::int64) detail::put_bytes(bytes_, static_cast<std::int64_t>(value));
    else detail::put_bytes(bytes_, value);
  }
  template <class N>
  void put_number(N value) {
    if (type_ == data_type::string) {
      texts_.emplace_back();  // the empty string is the zero of strings
      return;
    }
    if (is_complex(array_dtype(type_))) return put_complex(static_cast<double>(value), 0);
    switch (to_dtype(type_)) {
      case dtype::float32: put(static_cast<float>(value)); break;
      case dtype::float64: put(static_cast<double>(value)); break;
      case dtype::int32: put(static_cast<std::int32_t>(value)); break;
      case dtype::int64: put(static_cast<std::int64_t>(value)); break;
      case dtype::uint8: put(static_cast<std::uint8_t>(value)); break;
      case dtype::boolean: put(value != 0); break;
      case dtype::invalid: throw invalid_argument("constant: a dtype that has no numbers");
    }
  }
  // Puts a number of a complex dtype.
  void put_complex(double real, double imaginary);
  std::int64_t stored() const;
  // Fills the shape: a single stored value stands for all elements; of several values, the last one is repeated.
  void fill();

  data_type type_ = data_type::invalid;
  shape extent_;
  std::string bytes_;
  std::vector<std::string> texts_;
};

/// The elements of an integer tensor in file form, if there are at most `limit`; nullopt for more elements, and for other dtypes.
std::optional<std::vector<std::int64_t>> integers_of(const tensor_proto& p, std::int64_t limit = 64);

}  // namespace leat

#if LEAT_WITH_BODIES
#include <leat/named/graph/impl/literal.hpp>
#endif
