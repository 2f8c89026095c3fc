#pragma once
// Examples of TensorFlow (tf.train.Example, the usual contents of a record): features by name, each a list of byte strings, of floats or of
// int64. Files are untrusted: all lengths are checked, and memory grows with the length of the message. Needs protozero (Debian:
// libprotozero-dev). Source: tensorflow/core/example/example.proto and feature.proto.

#include <leat/core/error.hpp>
#include <leat/core/function_bodies.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

namespace leat::io {

/// The values of a feature; std::monostate for a feature without a kind.
using feature = std::variant<std::monostate, std::vector<std::string>, std::vector<float>, std::vector<std::int64_t>>;

/// An example: features by name.
struct example {
  std::map<std::string, feature, std::less<>> features{};
  friend bool operator==(const example&, const example&) = default;
};

/// The features of a message. Unknown fields are skipped; numbers may be packed or not.
/// Errors: data_loss if the bytes are not such a message; invalid_argument for a feature that occurs twice.
example read_example(std::string_view bytes);
/// The message of an example, with features in the order of their names. Errors: invalid_argument for a name that is not UTF-8.
std::string write_example(const example& e);

/// The types of a feature's values: float, std::int64_t and std::string.
template <class T>
concept feature_value = std::is_same_v<T, float> || std::is_same_v<T, std::int64_t> || std::is_same_v<T, std::string>;

/// Reads some features of many examples, without allocating memory for each.
///
///   example_fields fields({"image", "label"});
///   fields.find(record);
///   fields.read(0, std::span(pixels));
///   fields.read(1, std::span(&label, 1));
class example_fields {
 public:
  /// The names of the features to read. Errors: invalid_argument for a name that occurs twice.
  explicit example_fields(std::vector<std::string> names);

  /// Finds the features in a message, which is borrowed and must outlive their use. Errors: those of `read_example`; not_found, naming the
  /// feature and those in the message, if a feature is missing.
  void find(std::string_view message);

  /// The number of values of feature `index`. Errors: invalid_argument, naming the feature, if its values are of another kind; data_loss if
  /// the values are malformed.
  template <feature_value T>
  std::size_t count(std::size_t index) const {
    return count_of(index, kind_of<T>);
  }
  /// Copies the values of feature `index`. Errors: also invalid_argument if their number differs from the size of `to`.
  template <feature_value T>
  void read(std::size_t index, std::span<T> to) const {
    const std::size_t there = count_of(index, kind_of<T>);
    if (there != to.size()) fail_count(index, there, to.size());
    copy(index, to.data());
  }

 private:
  enum class kind { none, bytes, floats, ints };
  template <class T>
  static constexpr kind kind_of = std::is_same_v<T, std::string> ? kind::bytes
                                  : std::is_same_v<T, float>     ? kind::floats
                                                                 : kind::ints;
  struct place {
    kind holds = kind::none;
    std::string_view list;
    bool found = false;
  };
  std::size_t count_of(std::size_t index, kind wanted) const;
  void copy(std::size_t index, float* to) const;
  void copy(std::size_t index, std::int64_t* to) const;
  void copy(std::size_t index, std::string* to) const;
  [[noreturn]] void fail_count(std::size_t index, std::size_t there, std::size_t wanted) const;

  std::vector<std::string> names_;
  std::vector<place> places_;
};

}  // namespace leat::io

#if LEAT_WITH_BODIES
#include <leat/io/impl/example.hpp>
#endif
