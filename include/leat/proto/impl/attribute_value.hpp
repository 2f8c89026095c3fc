#pragma once
// Implementation of attribute_value.hpp.

#include <leat/core/function_bodies.hpp>
#include <leat/proto/attribute_value.hpp>

#include <algorithm>
#include <atomic>

namespace leat {

LEAT_FUNCTION tensor_shape_proto::tensor_shape_proto() noexcept = default;
LEAT_FUNCTION tensor_shape_proto::tensor_shape_proto(const tensor_shape_proto&) = default;
LEAT_FUNCTION tensor_shape_proto::tensor_shape_proto(tensor_shape_proto&&) noexcept = default;
LEAT_FUNCTION tensor_shape_proto& tensor_shape_proto::operator=(const tensor_shape_proto&) = default;
LEAT_FUNCTION tensor_shape_proto& tensor_shape_proto::operator=(tensor_shape_proto&&) noexcept = default;
LEAT_FUNCTION tensor_shape_proto::~tensor_shape_proto() = default;
LEAT_FUNCTION tensor_shape_proto::tensor_shape_proto(std::initializer_list<std::int64_t> sizes) {
  dims.reserve(sizes.size());
  for (auto s : sizes) dims.push_back({s, {}});
}
LEAT_FUNCTION bool tensor_shape_proto::dimension::operator==(const dimension&) const = default;
LEAT_FUNCTION bool tensor_shape_proto::operator==(const tensor_shape_proto&) const = default;
LEAT_FUNCTION bool tensor_proto::operator==(const tensor_proto&) const = default;
LEAT_FUNCTION bool attribute_placeholder::operator==(const attribute_placeholder&) const = default;
LEAT_FUNCTION bool function_value::operator==(const function_value& other) const {
  return name == other.name && attributes == other.attributes;
}
LEAT_FUNCTION bool attribute::operator==(const attribute&) const = default;

LEAT_FUNCTION bool detail::same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](float x, float y) { return same_bits(x, y); });
}

LEAT_FUNCTION attribute_value::attribute_value() noexcept = default;
LEAT_FUNCTION attribute_value::attribute_value(const attribute_value&) = default;
LEAT_FUNCTION attribute_value::attribute_value(attribute_value&&) noexcept = default;
LEAT_FUNCTION attribute_value& attribute_value::operator=(const attribute_value&) = default;
LEAT_FUNCTION attribute_value& attribute_value::operator=(attribute_value&&) noexcept = default;
LEAT_FUNCTION attribute_value::~attribute_value() = default;

LEAT_FUNCTION attribute_value::attribute_value(std::string text) : value(std::move(text)) {}
LEAT_FUNCTION attribute_value::attribute_value(std::string_view text) : value(std::string(text)) {}
LEAT_FUNCTION attribute_value::attribute_value(const char* text) : value(std::string(text)) {}
LEAT_FUNCTION attribute_value::attribute_value(float number) : value(number) {}
LEAT_FUNCTION attribute_value::attribute_value(data_type type) : value(type) {}
LEAT_FUNCTION attribute_value::attribute_value(dtype type) : value(to_data_type(type)) {}
LEAT_FUNCTION attribute_value::attribute_value(tensor_shape_proto shape) : value(std::move(shape)) {}
LEAT_FUNCTION attribute_value::attribute_value(tensor_proto tensor) : value(box<tensor_proto>(std::move(tensor))) {}
LEAT_FUNCTION attribute_value::attribute_value(function_value function) : value(box<function_value>(std::move(function))) {}
LEAT_FUNCTION attribute_value::attribute_value(attribute_placeholder open) : value(std::move(open)) {}
LEAT_FUNCTION attribute_value::attribute_value(attribute_list list) : value(box<attribute_list>(std::move(list))) {}
LEAT_FUNCTION void attribute_value::put(std::int64_t number) { value = number; }
LEAT_FUNCTION void attribute_value::put(bool truth) { value = truth; }
LEAT_FUNCTION void attribute_value::put(std::vector<std::string>& list) { value = box<attribute_list>(attribute_list{std::move(list)}); }
LEAT_FUNCTION void attribute_value::put(std::vector<std::int64_t>& list) { value = box<attribute_list>(attribute_list{std::move(list)}); }
LEAT_FUNCTION void attribute_value::put(std::vector<float>& list) { value = box<attribute_list>(attribute_list{std::move(list)}); }
LEAT_FUNCTION void attribute_value::put(std::vector<bool>& list) { value = box<attribute_list>(attribute_list{std::move(list)}); }
LEAT_FUNCTION void attribute_value::put(std::vector<data_type>& list) { value = box<attribute_list>(attribute_list{std::move(list)}); }
LEAT_FUNCTION void attribute_value::put(std::vector<tensor_shape_proto>& list) {
  value = box<attribute_list>(attribute_list{std::move(list)});
}
LEAT_FUNCTION void attribute_value::put(std::vector<tensor_proto>& list) { value = box<attribute_list>(attribute_list{std::move(list)}); }
LEAT_FUNCTION void attribute_value::put(std::vector<function_value>& list) { value = box<attribute_list>(attribute_list{std::move(list)}); }

LEAT_FUNCTION bool attribute_value::operator==(const attribute_value& other) const {
  const float* a = get_if<float>();
  const float* b = other.get_if<float>();
  return a != nullptr && b != nullptr ? detail::same_bits(*a, *b) : value == other.value;
}

struct attribute_map::shared_list {
  std::atomic<int> users{1};
  std::vector<attribute> rows;
};
LEAT_FUNCTION attribute_map::attribute_map() noexcept = default;
LEAT_FUNCTION attribute_map::attribute_map(const attribute_map& other) : list_(other.list_) {
  if (list_ != nullptr) list_->users.fetch_add(1, std::memory_order_relaxed);
}
LEAT_FUNCTION attribute_map::attribute_map(attribute_map&& other) noexcept : list_(std::exchange(other.list_, nullptr)) {}
LEAT_FUNCTION attribute_map& attribute_map::operator=(const attribute_map& other) { return *this = attribute_map(other); }
LEAT_FUNCTION attribute_map& attribute_map::operator=(attribute_map&& other) noexcept {
  attribute_map taken(std::move(other));
  std::swap(list_, taken.list_);
  return *this;
}
LEAT_FUNCTION attribute_map::~attribute_map() {
  // Acquire and release: reads of the list by other threads, through copies that they have released, happen before its deletion.
  if (list_ != nullptr && list_->users.fetch_sub(1, std::memory_order_acq_rel) == 1) delete list_;
}
LEAT_FUNCTION void attribute_supply::count(int more) noexcept {
  if (more != 0) map_.list_->users.fetch_add(more, std::memory_order_acq_rel);  // never reaches zero: the supply's own map is counted, too
}
LEAT_FUNCTION const std::vector<attribute>& attribute_map::list() const {
  static const std::vector<attribute> none;
  return list_ != nullptr ? list_->rows : none;
}
LEAT_FUNCTION std::vector<attribute>& attribute_map::own() {
  if (list_ == nullptr) {
    list_ = new shared_list;
  } else if (list_->users.load(std::memory_order_acquire) > 1) {  // acquire: after reads by others through copies since released
    attribute_map mine;
    mine.list_ = new shared_list;
    mine.list_->rows = list_->rows;
    *this = std::move(mine);
  }
  return list_->rows;
}
LEAT_FUNCTION std::vector<attribute>::const_iterator attribute_map::begin() const { return list().begin(); }
LEAT_FUNCTION std::vector<attribute>::const_iterator attribute_map::end() const { return list().end(); }
LEAT_FUNCTION std::size_t attribute_map::size() const { return list().size(); }
LEAT_FUNCTION bool attribute_map::empty() const { return list().empty(); }
LEAT_FUNCTION attribute_map::attribute_map(std::initializer_list<std::pair<std::string_view, attribute_value>> values) : attribute_map() {
  if (values.size() > 0) reserve(values.size());
  for (const auto& [name, value] : values) (*this)[name] = value;
}
LEAT_FUNCTION std::vector<attribute>::const_iterator attribute_map::place(std::string_view name) const {
  return std::lower_bound(begin(), end(), name, [](const attribute& a, std::string_view b) { return std::string_view(a.name) < b; });
}
LEAT_FUNCTION const attribute_value* attribute_map::find(std::string_view name) const {
  const auto at = place(name);
  return at != end() && at->name == name ? &at->value : nullptr;
}
LEAT_FUNCTION attribute_value* attribute_map::find_to_change(std::string_view name) {
  const auto at = place(name);
  if (at == end() || at->name != name) return nullptr;
  const auto k = static_cast<std::size_t>(at - begin());
  return &own()[k].value;
}
LEAT_FUNCTION attribute_value& attribute_map::operator[](std::string_view name) {
  if (auto* found = find_to_change(name)) return *found;
  const auto k = place(name) - begin();
  std::vector<attribute>& mine = own();
  return mine.insert(mine.begin() + k, attribute{std::string(name), {}})->value;
}
LEAT_FUNCTION void attribute_map::erase(std::string_view name) {
  if (!contains(name)) return;
  const auto k = place(name) - begin();
  std::vector<attribute>& mine = own();
  mine.erase(mine.begin() + k);
}
LEAT_FUNCTION bool attribute_map::operator==(const attribute_map& other) const { return list_ == other.list_ || list() == other.list(); }
LEAT_FUNCTION void attribute_map::reserve(std::size_t count) { own().reserve(count); }
LEAT_FUNCTION attribute_value& attribute_map::append(std::string name) { return own().emplace_back(attribute{std::move(name), {}}).value; }
LEAT_FUNCTION const std::string* attribute_map::restore_order() {
  if (empty()) return nullptr;
  const auto before = [](const attribute& a, const attribute& b) { return a.name < b.name; };
  if (!std::is_sorted(begin(), end(), before)) {
    std::vector<attribute>& mine = own();
    std::sort(mine.begin(), mine.end(), before);
  }
  const auto twice = std::adjacent_find(begin(), end(), [](const attribute& a, const attribute& b) { return a.name == b.name; });
  return twice != end() ? &twice->name : nullptr;
}

LEAT_FUNCTION std::size_t attribute_list::size() const {
  return std::visit(
      [](const auto& list) -> std::size_t {
        if constexpr (std::is_same_v<std::decay_t<decltype(list)>, std::monostate>) return 0;
        else return list.size();
      },
      values);
}
LEAT_FUNCTION bool attribute_list::operator==(const attribute_list& other) const {
  if (size() == 0 || other.size() == 0) return size() == other.size();
  const auto* a = get_if<float>();
  const auto* b = other.get_if<float>();
  return a != nullptr && b != nullptr ? detail::same_bits(*a, *b) : values == other.values;
}

}  // namespace leat

namespace leat::detail {

LEAT_FUNCTION bool same_bits(float a, float b) { return std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b); }

}  // namespace leat::detail
