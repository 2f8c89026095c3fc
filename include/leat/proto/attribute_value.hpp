#pragma once
// The value of a node's attribute, as in TensorFlow's files (attr_value.proto, tensor.proto, tensor_shape.proto): a number, a string, a
// type, a shape, a tensor, a function's name with its own attributes, or a list of one of these. Value types: copied deeply, moved cheaply,
// 40 bytes each; larger contents are boxed. Two values are equal if the files written from them are equal: numbers are compared by their
// bits, so a NaN equals itself and 0 does not equal -0.

#include <leat/core/function_bodies.hpp>
#include <leat/proto/data_type.hpp>

#include <bit>
#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace leat {

/// A value on the heap with value semantics. Empty only after a move.
template <class T>
class box {
 public:
  box() : value_(std::make_unique<T>()) {}
  box(T value) : value_(std::make_unique<T>(std::move(value))) {}
  box(const box& other) : value_(other.value_ ? std::make_unique<T>(*other.value_) : nullptr) {}
  box(box&&) noexcept = default;
  box& operator=(const box& other) {
    box copy(other);
    value_ = std::move(copy.value_);
    return *this;
  }
  box& operator=(box&&) noexcept = default;
  ~box() = default;

  T& operator*() { return *value_; }
  const T& operator*() const { return *value_; }
  T* operator->() { return value_.get(); }
  const T* operator->() const { return value_.get(); }
  bool operator==(const box& other) const { return value_ && other.value_ ? *value_ == *other.value_ : !value_ == !other.value_; }

 private:
  std::unique_ptr<T> value_;
};

/// A shape in a file: any rank, each dimension a size (-1: unknown) with an optional name; or unknown rank.
/// Source: TensorShapeProto.
struct tensor_shape_proto {
  struct dimension {
    std::int64_t size = 0;
    std::string name{};
    bool operator==(const dimension&) const;
  };
  std::vector<dimension> dims;
  bool unknown_rank = false;

  tensor_shape_proto() noexcept;
  tensor_shape_proto(std::initializer_list<std::int64_t> sizes);
  tensor_shape_proto(const tensor_shape_proto&);
  tensor_shape_proto(tensor_shape_proto&&) noexcept;
  tensor_shape_proto& operator=(const tensor_shape_proto&);
  tensor_shape_proto& operator=(tensor_shape_proto&&) noexcept;
  ~tensor_shape_proto();
  bool operator==(const tensor_shape_proto&) const;
};

/// The field of a TensorProto that holds its elements, by its number in tensor.proto.
enum class tensor_field : std::uint8_t {
  none = 0,
  tensor_content = 4,
  float_val = 5,
  double_val = 6,
  int_val = 7,
  string_val = 8,
  scomplex_val = 9,
  int64_val = 10,
  bool_val = 11,
  dcomplex_val = 12,
  half_val = 13,
  uint32_val = 16,
  uint64_val = 17,
  float8_val = 18
};

/// A tensor in a file, with its elements in the field that the file used. Numbers are in `bytes`, little endian, as wide as the field's
/// type: a half or a uint8 in `int_val` takes four bytes, a bool takes one. Strings are in `strings`. `tensor_contents.hpp` reads and
/// writes elements. Source: TensorProto.
struct tensor_proto {
  data_type dtype = data_type::invalid;
  tensor_field field = tensor_field::none;
  std::int32_t version_number = 0;
  tensor_shape_proto shape{};
  std::string bytes{};
  std::vector<std::string> strings{};
  bool operator==(const tensor_proto&) const;
};

/// The name of an attribute that a function's body leaves to its caller. Source: AttrValue.placeholder.
struct attribute_placeholder {
  std::string name;
  bool operator==(const attribute_placeholder&) const;
};

class attribute_value;
struct attribute;

/// Attributes by name: a sorted vector, since a node has few. Copies share it until one of them changes, because most nodes of an operator
/// have the same attributes.
class attribute_map {
 public:
  attribute_map() noexcept;
  attribute_map(std::initializer_list<std::pair<std::string_view, attribute_value>> list);
  attribute_map(const attribute_map&);
  attribute_map(attribute_map&&) noexcept;
  attribute_map& operator=(const attribute_map&);
  attribute_map& operator=(attribute_map&&) noexcept;
  ~attribute_map();

  /// The value under this name, or null.
  const attribute_value* find(std::string_view name) const;
  /// The same, for writing: the pointer refers to an unshared copy until the map is copied.
  attribute_value* find_to_change(std::string_view name);
  /// Whether there is a value under this name.
  bool contains(std::string_view name) const { return find(name) != nullptr; }
  /// The value under this name; inserts an empty one if there is none.
  attribute_value& operator[](std::string_view name);
  /// Removes a name and its value, if present.
  void erase(std::string_view name);

  std::vector<attribute>::const_iterator begin() const;
  std::vector<attribute>::const_iterator end() const;
  std::size_t size() const;
  bool empty() const;
  bool operator==(const attribute_map& other) const;

  /// Reserves exactly this capacity, since graphs have many of these maps.
  void reserve(std::size_t count);
  /// For readers of files: appends without sorting. No lookup is allowed before `restore_order`.
  attribute_value& append(std::string name);
  /// Sorts the attributes; returns a name that occurs twice, or null.
  const std::string* restore_order();

 private:
  friend class attribute_supply;
  std::vector<attribute>::const_iterator place(std::string_view name) const;
  const std::vector<attribute>& list() const;
  // An unshared copy, for writing.
  std::vector<attribute>& own();
  struct shared_list;            // the attributes, and the count of maps that share them
  shared_list* list_ = nullptr;  // null if the map is empty
};

/// Hands out copies of a map. It raises the reference count for many copies at once, since updating a counter that threads share costs more
/// than the rest of a copy.
class attribute_supply {
 public:
  attribute_supply() noexcept = default;
  attribute_supply(attribute_map map) noexcept : map_(std::move(map)) {}
  attribute_supply(attribute_supply&& other) noexcept : map_(std::move(other.map_)), ahead_(std::exchange(other.ahead_, 0)) {}
  attribute_supply& operator=(attribute_supply other) noexcept {
    std::swap(map_, other.map_);
    std::swap(ahead_, other.ahead_);
    return *this;
  }
  ~attribute_supply() { count(-ahead_); }
  /// A copy of the map.
  attribute_map copy() {
    attribute_map made;
    if (map_.list_ == nullptr) return made;
    if (ahead_ == 0) count(ahead_ = at_a_time);
    --ahead_;
    made.list_ = map_.list_;
    return made;
  }

 private:
  static constexpr int at_a_time = 64;
  void count(int more) noexcept;
  attribute_map map_;
  int ahead_ = 0;  // copies that are counted but not handed out yet
};

/// A function's name and the attributes of its call. Source: NameAttrList.
struct function_value {
  std::string name{};
  attribute_map attributes{};
  bool operator==(const function_value& other) const;
};

/// Values of one kind. An empty list has no kind: all empty lists are equal. Source: AttrValue.ListValue.
struct attribute_list {
  std::variant<std::monostate, std::vector<std::string>, std::vector<std::int64_t>, std::vector<float>, std::vector<bool>,
               std::vector<data_type>, std::vector<tensor_shape_proto>, std::vector<tensor_proto>, std::vector<function_value>>
      values;

  std::size_t size() const;
  /// The values as a vector of T, or null if they are of another kind.
  template <class T>
  const std::vector<T>* get_if() const {
    return std::get_if<std::vector<T>>(&values);
  }
  bool operator==(const attribute_list& other) const;
};

namespace detail {
template <class T>
inline constexpr bool is_boxed_attribute =
    std::is_same_v<T, tensor_proto> || std::is_same_v<T, attribute_list> || std::is_same_v<T, function_value>;

bool same_bits(float a, float b);
bool same_bits(const std::vector<float>& a, const std::vector<float>& b);
}  // namespace detail

/// The value of an attribute, or none. Strings may hold arbitrary bytes. Source: AttrValue.
class attribute_value {
 public:
  using variant = std::variant<std::monostate, std::string, std::int64_t, float, bool, data_type, tensor_shape_proto, box<tensor_proto>,
                               box<attribute_list>, box<function_value>, attribute_placeholder>;
  variant value;

  attribute_value() noexcept;
  attribute_value(const attribute_value&);
  attribute_value(attribute_value&&) noexcept;
  attribute_value& operator=(const attribute_value&);
  attribute_value& operator=(attribute_value&&) noexcept;
  ~attribute_value();

  attribute_value(std::string text);
  attribute_value(std::string_view text);
  attribute_value(const char* text);
  template <std::integral T>
    requires(!std::same_as<T, bool>)
  attribute_value(T number) : attribute_value() {
    put(static_cast<std::int64_t>(number));
  }
  attribute_value(float number);
  attribute_value(double) = delete;  // files hold float32: convert explicitly
  template <std::same_as<bool> T>
  attribute_value(T truth) : attribute_value() {
    put(truth);
  }
  attribute_value(data_type type);
  attribute_value(dtype type);
  attribute_value(tensor_shape_proto shape);
  attribute_value(tensor_proto tensor);
  attribute_value(function_value function);
  attribute_value(attribute_placeholder open);
  attribute_value(attribute_list list);
  template <class T>
  attribute_value(std::vector<T> list) : attribute_value() {
    put(list);
  }

  bool has_value() const { return value.index() != 0; }

  /// The value if it is a T (std::string, std::int64_t, float, bool, data_type, tensor_shape_proto, tensor_proto, attribute_list,
  /// function_value, attribute_placeholder), else null.
  template <class T>
  const T* get_if() const {
    if constexpr (detail::is_boxed_attribute<T>) {
      const auto* held = std::get_if<box<T>>(&value);
      return held != nullptr ? &**held : nullptr;
    } else {
      return std::get_if<T>(&value);
    }
  }
  template <class T>
  T* get_if() {
    return const_cast<T*>(std::as_const(*this).template get_if<T>());
  }
  /// The value if it is a list of T, else null. An empty list in a file has no kind and matches no T.
  template <class T>
  const std::vector<T>* get_list() const {
    const auto* list = get_if<attribute_list>();
    return list != nullptr ? list->get_if<T>() : nullptr;
  }

  bool operator==(const attribute_value& other) const;

 private:
  void put(std::int64_t number);
  void put(bool truth);
  // Each takes the elements out of the list.
  void put(std::vector<std::string>& list);
  void put(std::vector<std::int64_t>& list);
  void put(std::vector<float>& list);
  void put(std::vector<bool>& list);
  void put(std::vector<data_type>& list);
  void put(std::vector<tensor_shape_proto>& list);
  void put(std::vector<tensor_proto>& list);
  void put(std::vector<function_value>& list);
};

/// A named attribute of a node.
struct attribute {
  std::string name;
  attribute_value value;
  bool operator==(const attribute&) const;
};

}  // namespace leat

#if LEAT_WITH_BODIES
#include <leat/proto/impl/attribute_value.hpp>
#endif
