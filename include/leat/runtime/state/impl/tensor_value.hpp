#pragma once
// Implementation of tensor_value.hpp.

#include <leat/core/function_bodies.hpp>
#include <leat/core/sanitizer.hpp>
#include <leat/core/summary_text.hpp>
#include <leat/proto/narrow_floats.hpp>
#include <leat/proto/tensor_contents.hpp>
#include <leat/runtime/state/large_blocks.hpp>
#include <leat/runtime/state/tensor_value.hpp>

#include <new>
#include <utility>

namespace leat {

LEAT_FUNCTION std::string brackets(const shape& s) {
  if (!s.has_rank()) return "<unknown>";
  std::string text = "[";
  for (int i = 0; i < s.rank; ++i) text += (i > 0 ? "," : "") + (s[i] < 0 ? std::string("?") : std::to_string(s[i]));
  return text + "]";
}

}  // namespace leat

namespace leat::detail {

// Per-thread cache of small free buffers: scalars are allocated in every run, and aligned heap allocation is slow.
class small_store {
 public:
  static void* take() {
    small_store* const s = mine();
    if (s == nullptr || s->first_ == nullptr) return nullptr;
    --s->count_;
    return std::exchange(s->first_, s->first_->next);
  }
  static bool give(void* p) {
    small_store* const s = mine();
    if (s == nullptr || s->count_ == most) return false;
    s->first_ = new (p) free_buffer{s->first_};
    ++s->count_;
    return true;
  }

 private:
#if defined(LEAT_ADDRESS_SANITIZER)
  static constexpr int most = 0;  // so that the address sanitizer detects use after release
#else
  static constexpr int most = 1024;  // 192 KiB: as many as the scalars of a step of a thousand nodes
#endif
  struct free_buffer {
    free_buffer* next;
  };
  small_store() = default;
  ~small_store() {
    ended() = true;
    while (first_ != nullptr) ::operator delete(std::exchange(first_, first_->next), std::align_val_t{64});
  }
  static bool& ended() {
    thread_local bool value = false;  // readable after the thread's other objects are destroyed
    return value;
  }
  static small_store* mine() {
    if (ended()) return nullptr;
    thread_local small_store store;
    return &store;
  }
  int count_ = 0;
  free_buffer* first_ = nullptr;
};

LEAT_FUNCTION tensor_buffer* tensor_buffer::make(std::size_t bytes, std::size_t beside) {
  constexpr std::size_t header = (sizeof(tensor_buffer) + 63) / 64 * 64;
  const bool is_small = bytes <= small_bytes;
  if ((!is_small || beside > 0) && memory_meter::current() != nullptr) return make_metered(bytes, beside);
  if (bytes >= large_blocks::least) return make_large(bytes);
  void* raw = is_small ? small_store::take() : nullptr;
  if (raw == nullptr) raw = allocate_aligned(header + (is_small ? small_bytes : bytes) + 64);  // SIMD may read past the end
  auto* made = new (raw) tensor_buffer;
  made->data = static_cast<std::byte*>(raw) + header;
  made->is_small_ = is_small;
  return made;
}

LEAT_FUNCTION void tensor_buffer::end() {
  const bool keep = is_small_;
  if (is_metered_) [[unlikely]]
    return end_metered();
  if (is_large_) [[unlikely]]
    return end_large();
  this->~tensor_buffer();
  if (!keep || !small_store::give(this)) ::operator delete(this, std::align_val_t{64});
}

LEAT_FUNCTION tensor_buffer* tensor_buffer::make_large(std::size_t bytes) {
  constexpr std::size_t header = (sizeof(tensor_buffer) + 63) / 64 * 64;
  const large_blocks::block its = large_blocks::all().make(large_note + header + bytes + 64);
  *static_cast<std::size_t*>(its.memory) = its.bytes;
  auto* const made = new (static_cast<std::byte*>(its.memory) + large_note) tensor_buffer;
  made->data = reinterpret_cast<std::byte*>(made) + header;
  made->is_large_ = true;
  return made;
}

LEAT_FUNCTION void tensor_buffer::end_large() {
  std::byte* const memory = reinterpret_cast<std::byte*>(this) - large_note;
  this->~tensor_buffer();
  large_blocks::all().give({memory, *reinterpret_cast<const std::size_t*>(memory)});
}

LEAT_FUNCTION tensor_buffer* tensor_buffer::make_metered(std::size_t bytes, std::size_t beside) {
  constexpr std::size_t header = (sizeof(tensor_buffer) + 63) / 64 * 64;
  metered_bytes first;  // charges the meter before allocating
  first.take(bytes + beside);
  void* const raw = allocate_aligned(sizeof(meter_note) + header + bytes + 64);
  first.give_back();
  auto* const note = new (raw) meter_note;
  try {
    note->taken.take(bytes + beside);
  } catch (...) {
    ::operator delete(raw, std::align_val_t{64});
    throw;
  }
  auto* const made = new (static_cast<std::byte*>(raw) + sizeof(meter_note)) tensor_buffer;
  made->data = reinterpret_cast<std::byte*>(made) + header;
  made->is_metered_ = true;
  return made;
}

LEAT_FUNCTION tensor_buffer::meter_note& tensor_buffer::note() {
  return *reinterpret_cast<meter_note*>(reinterpret_cast<std::byte*>(this) - sizeof(meter_note));
}

LEAT_FUNCTION void tensor_buffer::count_texts(std::size_t bytes) {
  if (is_metered_ && bytes > 0) note().texts.take(bytes);
}

LEAT_FUNCTION void tensor_buffer::end_metered() {
  meter_note* const its = &note();
  this->~tensor_buffer();
  its->~meter_note();
  ::operator delete(static_cast<void*>(its), std::align_val_t{64});
}

}  // namespace leat::detail

namespace leat {

LEAT_FUNCTION tensor_value::tensor_value(dtype type, const shape& extent) : type_(type), extent_(extent) {
  if (!extent.is_static()) throw invalid_argument("a value of a shape that is not known: " + brackets(extent));
  const auto count = static_cast<std::size_t>(extent.elements());
  if (type == text_dtype) make_texts(count);
  else if (element_bytes(type) == 0 && (type != resource_dtype || extent.rank > 0))
    throw unimplemented("no arrays of dtype " + dtype_name(type));
  else buffer_ = detail::tensor_buffer::make(count * static_cast<std::size_t>(element_bytes(type)));
}

LEAT_FUNCTION tensor_value tensor_value::borrow(dtype type, const shape& extent, void* elements, std::shared_ptr<resource> owner) {
  tensor_value made;
  made.type_ = type;
  made.extent_ = extent;
  made.buffer_ = detail::tensor_buffer::make(0);
  made.buffer_->data = static_cast<std::byte*>(elements);
  made.buffer_->borrowed = true;
  made.buffer_->handle = std::move(owner);
  return made;
}

LEAT_FUNCTION tensor_value tensor_value::place(dtype type, const shape& extent, void* memory, std::shared_ptr<resource> owner) {
  tensor_value made = borrow(type, extent, memory, std::move(owner));
  made.buffer_->borrowed = false;
  made.buffer_->placed = true;
  return made;
}

LEAT_FUNCTION tensor_value tensor_value::copy() const {
  if (buffer_ == nullptr) return {};
  tensor_value made(type_, extent_);
  std::memcpy(made.buffer_->data, buffer_->data, bytes());
  made.buffer_->texts = buffer_->texts;
  if (!buffer_->borrowed && !buffer_->placed) made.buffer_->handle = buffer_->handle;
  return made;
}

LEAT_FUNCTION void tensor_value::make_texts(std::size_t count) {
  buffer_ = detail::tensor_buffer::make(0, count * sizeof(std::string));
  try {
    buffer_->texts.resize(count);
  } catch (const std::exception&) {  // the destructor does not run for a partly constructed object
    buffer_->release();
    throw resource_exhausted(std::to_string(count) + " texts: the system has no such memory");
  }
}

LEAT_FUNCTION std::vector<std::int64_t> integers(const tensor_value& v) {
  return with_index(v.type(), [&]<class T>(T) {
    const auto all = v.values<T>();
    return std::vector<std::int64_t>(all.begin(), all.end());
  });
}

LEAT_FUNCTION tensor_value integer_tensor(dtype type, const std::vector<std::int64_t>& numbers, bool scalar) {
  shape extent;
  if (!scalar) extent.push(static_cast<std::int64_t>(numbers.size()));
  tensor_value made(type, extent);
  with_index(type, [&]<class T>(T) {
    auto all = made.values<T>();
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      all[i] = static_cast<T>(numbers[i]);
      if (static_cast<std::int64_t>(all[i]) != numbers[i])
        throw invalid_argument(std::to_string(numbers[i]) + " does not fit " + dtype_name(type));
    }
  });
  return made;
}

LEAT_FUNCTION shape shape_from(const std::vector<std::int64_t>& sizes) {
  if (sizes.size() > static_cast<std::size_t>(max_rank)) throw unimplemented("more than 8 dimensions");
  shape s;
  for (auto n : sizes) {
    if (n < 0) throw invalid_argument("Dimension " + std::to_string(n) + " must be >= 0");
    s.push(n);
  }
  return s;
}

namespace detail {

// Calls `f` with the functions that convert an element of a narrow dtype, given by its bits, to its wide one, and back.
template <class F>
decltype(auto) with_narrow(dtype narrow, F&& f) {
  const auto integer = [&]<class Narrow, class Wide>(Narrow, Wide) -> decltype(auto) {
    return f([](Narrow bits) { return static_cast<Wide>(bits); }, [](Wide value) { return static_cast<Narrow>(value); }, Narrow{});
  };
  switch (to_data_type(narrow)) {
    case data_type::half: return f(float_of_half, half_of_float, std::uint16_t{});
    case data_type::bfloat16: return f(float_of_bfloat16, bfloat16_of_float, std::uint16_t{});
    case data_type::int8:
    case data_type::qint8: return integer(std::int8_t{}, std::int32_t{});
    case data_type::int16:
    case data_type::qint16: return integer(std::int16_t{}, std::int32_t{});
    case data_type::uint16:
    case data_type::quint16: return integer(std::uint16_t{}, std::int32_t{});
    case data_type::quint8: return integer(std::uint8_t{}, std::int32_t{});
    case data_type::qint32: return integer(std::int32_t{}, std::int32_t{});
    case data_type::uint32: return integer(std::uint32_t{}, std::int64_t{});
    case data_type::uint64: return integer(std::uint64_t{}, std::int64_t{});
    default:
      throw invalid_argument(dtype_name(narrow) +
                             " is none of half, bfloat16, int8, int16, uint16, uint32, uint64 and the quantized integers");
  }
}

inline std::string summary_of_narrow(const tensor_value& v, std::int64_t i) {
  tensor_value one = tensor_value::borrow(v.type(), shape{}, const_cast<std::byte*>(v.data()) + i * element_bytes(v.type())).widened();
  if (to_data_type(v.type()) == data_type::uint64) return std::to_string(static_cast<std::uint64_t>(one.as<std::int64_t>()));
  return with_dtype(one.type(), [&]<class T>(T) { return element_text(one.type(), one.values<T>().data(), 0); });
}

// Part `i` of a complex value's numbers, of which each element has two.
inline std::string summary_of_part(const tensor_value& v, std::int64_t i) {
  const dtype part = part_dtype(v.type());
  return with_fraction(part, [&]<class T>(T) { return element_text(part, reinterpret_cast<const T*>(v.data()), i); });
}

}  // namespace detail

LEAT_FUNCTION tensor_value tensor_value::widened() const {
  if (buffer_ == nullptr || !is_narrow(type_)) return *this;
  tensor_value made(wide_dtype(type_), extent_);
  const std::byte* const from = data();
  std::byte* const to = made.data();
  detail::with_narrow(type_, [&]<class Widen, class Narrow, class Bits>(Widen widen, Narrow, Bits) {
    for (std::size_t i = 0, n = static_cast<std::size_t>(elements()); i < n; ++i) {
      Bits bits;
      std::memcpy(&bits, from + i * sizeof bits, sizeof bits);
      const auto value = widen(bits);
      std::memcpy(to + i * sizeof value, &value, sizeof value);
    }
  });
  return made;
}

LEAT_FUNCTION tensor_value tensor_value::narrowed(data_type type) const {
  const auto narrow = static_cast<dtype>(type);
  if (buffer_ == nullptr || type_ == narrow) return *this;
  return detail::with_narrow(narrow, [&]<class Widen, class Narrow, class Bits>(Widen, Narrow to_bits, Bits) {
    using wide = std::invoke_result_t<Widen, Bits>;
    if (size_of(type_) == 0 || is_floating(type_) != std::is_floating_point_v<wide>)
      throw invalid_argument("values of " + dtype_name(type_) + " are to be narrowed to " + dtype_name(narrow) +
                             "; a Cast converts between real numbers and integers");
    tensor_value made(narrow, extent_);
    std::byte* const to = made.data();
    with_dtype(type_, [&]<class T>(T) {
      const auto from = values<T>();
      for (std::size_t i = 0; i < from.size(); ++i) {
        const Bits bits = to_bits(static_cast<wide>(from[i]));
        std::memcpy(to + i * sizeof bits, &bits, sizeof bits);
      }
    });
    return made;
  });
}

LEAT_FUNCTION std::string summary_text(const tensor_value& v, std::int64_t most) {
  return summary_text(v.extent(), most, [&](std::int64_t i) -> std::string {
    if (v.type() == text_dtype) return v.texts()[static_cast<std::size_t>(i)];
    if (v.type() == resource_dtype) return "<resource>";
    if (is_narrow(v.type())) return detail::summary_of_narrow(v, i);
    if (is_complex(v.type())) return "(" + detail::summary_of_part(v, 2 * i) + "," + detail::summary_of_part(v, 2 * i + 1) + ")";
    return with_dtype(v.type(), [&]<class T>(T) { return element_text(v.type(), v.values<T>().data(), i); });
  });
}

LEAT_FUNCTION std::string dtype_name(dtype d) {
  if (size_of(d) > 0) return std::string(name_of_dtype(d));
  return lower_name_of_data_type(to_data_type(d));
}

LEAT_FUNCTION tensor_value::tensor_value(std::string text) : tensor_value(text_dtype, shape{}) { buffer_->texts[0] = std::move(text); }
LEAT_FUNCTION tensor_value::tensor_value(const char* text) : tensor_value(std::string(text)) {}
LEAT_FUNCTION tensor_value::tensor_value(std::vector<std::string> texts) : tensor_value(text_dtype, vector_shape(texts.size())) {
  buffer_->texts = std::move(texts);
}
LEAT_FUNCTION tensor_value::tensor_value(const tensor_literal& literal) : tensor_value(from_proto(literal.proto())) {}

LEAT_FUNCTION tensor_value tensor_value::handle(std::shared_ptr<resource> held) {
  tensor_value made(resource_dtype, shape{});
  made.buffer_->handle = std::move(held);
  return made;
}

LEAT_FUNCTION void tensor_value::refuse_type(dtype wanted) const {
  if (buffer_ == nullptr) throw invalid_argument("an operation gives no value");
  throw invalid_argument("a value of " + dtype_name(type_) + " was taken as " + dtype_name(wanted) +
                         (is_narrow(type_) ? "; widened() gives it as " + dtype_name(wide_dtype(type_)) : std::string{}));
}
LEAT_FUNCTION void tensor_value::refuse_count() const {
  throw invalid_argument("a value of shape " + brackets(extent_) + " is not one number");
}

LEAT_FUNCTION std::int64_t integer(const tensor_value& v) {
  if (v.elements() != 1) throw invalid_argument("one number is wanted, not shape " + brackets(v.extent()));
  return integers(v)[0];
}

LEAT_FUNCTION tensor_value tensor_value::from_proto(const tensor_proto& p) {
  const auto type = static_cast<dtype>(p.dtype);
  const shape extent = to_shape(p.shape);
  if (!extent.is_static()) throw unimplemented("a tensor of shape " + to_text(p.shape));
  if (type == text_dtype) {
    tensor_value made(type, extent);
    made.texts() = contents<std::string>(p);
    return made;
  }
  if (stand_in_dtype(type) != dtype::invalid) {
    tensor_value made(type, extent);
    const std::string elements = content_bytes(p);
    if (!elements.empty()) std::memcpy(made.data(), elements.data(), elements.size());
    return made;
  }
  return with_dtype(type, [&]<class T>(T) {
    tensor_value made(type, extent);  // first, because it throws if there is no memory
    const auto all = contents<T>(p);
    std::copy(all.begin(), all.end(), made.values<T>().begin());
    return made;
  });
}

LEAT_FUNCTION tensor_proto tensor_value::proto() const {
  tensor_shape_proto s = to_proto(extent_);
  if (type_ == text_dtype) return make_tensor_proto(buffer_->texts, std::move(s));
  if (stand_in_dtype(type_) != dtype::invalid)
    return tensor_proto_of_bytes(to_data_type(type_), {reinterpret_cast<const char*>(data()), bytes()}, std::move(s));
  return with_dtype(type_, [&]<class T>(T) {
    const auto all = values<T>();
    return make_tensor_proto(std::vector<T>(all.begin(), all.end()), std::move(s));
  });
}

}  // namespace leat
