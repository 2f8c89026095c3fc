#pragma once
// Strings in a safetensors file: the length of each string in eight bytes, little endian, followed by its bytes.

#include <leat/core/function_bodies.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace leat::detail {

std::string pack_texts(const std::vector<std::string>& texts);
/// Unpacks as many strings as `texts` has elements. Returns whether they take exactly all bytes.
bool unpack_texts(std::string_view bytes, std::vector<std::string>& texts);

}  // namespace leat::detail

#if LEAT_WITH_BODIES
#include <leat/checkpoint/impl/packed_texts.hpp>
#endif
