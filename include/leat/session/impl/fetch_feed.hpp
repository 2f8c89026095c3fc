#pragma once
// Implementation of fetch_feed.hpp.

#include <leat/core/function_bodies.hpp>
#include <leat/session/fetch_feed.hpp>

#include <cstring>
#include <utility>

namespace leat {

LEAT_FUNCTION fetch_item::fetch_item(const graph_element& element) {
  if (const auto* operation = std::get_if<graph_operation>(&element)) *this = *operation;
  else *this = std::get<output>(element);
}
LEAT_FUNCTION fetch_item::fetch_item(std::string name) : name_(std::make_shared<const std::string>(std::move(name))) {}
LEAT_FUNCTION fetch_item::fetch_item(std::string_view name) : fetch_item(std::string(name)) {}
LEAT_FUNCTION fetch_item::fetch_item(const char* name) : fetch_item(std::string(name)) {}

LEAT_FUNCTION feed_key::feed_key(std::string name) : name_(std::make_shared<const std::string>(std::move(name))) {}
LEAT_FUNCTION feed_key::feed_key(std::string_view name) : feed_key(std::string(name)) {}
LEAT_FUNCTION feed_key::feed_key(const char* name) : feed_key(std::string(name)) {}

LEAT_FUNCTION graph_element fetch_item::resolve(graph& g) const {
  const graph_element found = named_in_errors(g);
  const auto* tensor = std::get_if<output>(&found);
  const int index = tensor != nullptr ? tensor->index() : std::get<graph_operation>(found).index();
  if (!g.named().record(index).fetchable)
    throw invalid_argument("Operation '" + g.named().record(index).name +
                           "' has been marked as not fetchable: it is inside of a branch or a loop.");
  return found;
}

LEAT_FUNCTION graph_element fetch_item::named_in_errors(graph& g) const {
  const auto refuse = [&](const error& e) {
    const std::string what = name_ != nullptr ? *name_ : !is_operation_ && static_cast<bool>(tensor_) ? describe(tensor_) : "the operation";
    throw invalid_argument("Argument `fetch` = " + what + " cannot be interpreted as a Tensor. (" + e.what() + ")");
  };
  try {
    return find(g);
  } catch (const not_found& e) {
    refuse(e);
  } catch (const invalid_argument& e) {
    refuse(e);
  }
  return {};
}

LEAT_FUNCTION graph_element fetch_item::find(graph& g) const {
  if (name_ != nullptr) return as_graph_element(g, *name_);
  if (!is_operation_) {
    if (!static_cast<bool>(tensor_)) throw invalid_argument("a fetch that is no node of a graph");
    return as_graph_element(g, tensor_);
  }
  if (!operation_) throw invalid_argument("a fetch that is no node of a graph");
  return as_graph_element(g, operation_);
}

LEAT_FUNCTION output feed_key::resolve(graph& g) const {
  output found;
  try {
    found = find(g);
  } catch (const not_found& e) {
    throw invalid_argument(std::string("Cannot interpret feed_dict key as Tensor: ") + e.what());
  } catch (const invalid_argument& e) {
    throw invalid_argument(std::string("Cannot interpret feed_dict key as Tensor: ") + e.what());
  }
  if (!g.named().record(found.index()).feedable) throw invalid_argument("Tensor " + found.name() + " may not be fed.");
  return found;
}

LEAT_FUNCTION output feed_key::find(graph& g) const {
  if (name_ != nullptr) return get_tensor_by_name(g, name_->find(':') == name_->npos ? *name_ + ":0" : *name_);
  if (!static_cast<bool>(tensor_)) throw invalid_argument("a feed for what is no node of a graph");
  return as_graph_element(g, tensor_);
}

}  // namespace leat

namespace leat::detail {

LEAT_FUNCTION tensor_value converted(const tensor_value& v, dtype wanted) {
  if (v.type() == wanted) return v;
  if (is_narrow(wanted)) {  // real numbers are rounded; integers must fit
    const tensor_value wide = converted(v, wide_dtype(wanted));
    if (!wide) return {};
    tensor_value made = wide.narrowed(to_data_type(wanted));
    if (is_integer(wide.type()) && to_data_type(wanted) != data_type::uint64) {
      const tensor_value back = made.widened();
      if (std::memcmp(std::as_const(back).data(), wide.data(), wide.bytes()) != 0) return {};
    }
    return made;
  }
  if (is_narrow(v.type())) return converted(v.widened(), wanted);
  if (is_complex(wanted)) {  // real numbers get imaginary parts of 0
    const dtype part = part_dtype(wanted);
    if (is_complex(v.type())) {
      shape parts;
      parts.push(2 * v.elements());
      const tensor_value from = tensor_value::borrow(part_dtype(v.type()), parts, const_cast<std::byte*>(v.data()));
      return converted(from, part).reinterpreted(wanted).reshaped(v.extent());
    }
    const tensor_value real = converted(v, part);
    if (!real) return {};
    tensor_value made(wanted, v.extent());
    std::fill_n(made.data(), made.bytes(), std::byte{0});
    with_fraction(part, [&]<class T>(T) {
      T* to = reinterpret_cast<T*>(made.data());
      for (const T x : real.values<T>()) {
        *to = x;
        to += 2;
      }
    });
    return made;
  }
  if (size_of(v.type()) == 0 || size_of(wanted) == 0) return {};
  return with_dtype(wanted, [&]<class To>(To) {
    return with_dtype(v.type(), [&]<class From>(From) -> tensor_value {
      if constexpr (std::is_same_v<To, bool> != std::is_same_v<From, bool>) {
        return {};
      } else {
        tensor_value made(wanted, v.extent());
        const auto from = v.values<From>();
        auto to = made.values<To>();
        for (std::size_t i = 0; i < from.size(); ++i) {
          // A floating-point value is rounded to the nearest float, so that 0.1 can be fed to float32; an integer is not rounded.
          if constexpr (!std::is_floating_point_v<To>) {
            if (std::is_floating_point_v<From> ? !(from[i] >= From(-9.2e18) && from[i] <= From(9.2e18)) : false) return {};
            const auto whole = static_cast<std::int64_t>(from[i]);
            to[i] = static_cast<To>(whole);
            if (static_cast<From>(whole) != from[i] || static_cast<std::int64_t>(to[i]) != whole) return {};
          } else {
            to[i] = static_cast<To>(from[i]);
            if constexpr (!std::is_floating_point_v<From>) {
              const auto back = static_cast<double>(to[i]);
              if (!(back < 0x1p63) || static_cast<std::int64_t>(back) != static_cast<std::int64_t>(from[i])) return {};
            }
          }
        }
        return made;
      }
    });
  });
}

}  // namespace leat::detail
