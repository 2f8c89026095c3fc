// The readers of files of arrays, NPY, NPZ, IDX and safetensors, and of gzip, under libFuzzer: what they accept has the bytes that its
// shape says, and is written and read again equal.

#include <leat/io/idx.hpp>
#include <leat/io/npy.hpp>
#include <leat/io/npz.hpp>
#include <leat/io/safetensors.hpp>

#include "properties.hpp"

namespace {

template <class Look>
void try_to_read(Look look) {
  try {
    look();
  } catch (const leat::error& e) {
    leat_fuzz::must(e.what()[0] != '\0' && leat::io::is_utf8(e.what()), "an error says something");
  }
}

void look_at(const leat::io::safetensors& file) {
  std::map<std::string, leat::io::array_bytes, std::less<>> arrays;
  for (const auto& name : file.names()) {
    leat::io::array_bytes array;
    try {
      array = file[name];
    } catch (const leat::error&) {  // of a dtype that is not read
      continue;
    }
    leat_fuzz::must(array.bytes.size() == static_cast<std::size_t>(array.extent.elements() * leat::size_of(array.type)),
                    "an array has the bytes that its shape says");
    unsigned sum = 0;
    for (const std::byte b : array.bytes) sum += std::to_integer<unsigned>(b);
    static_cast<void>(sum);
    arrays.emplace(name, array);
  }
  const leat::io::safetensors again(leat::io::write_safetensors(arrays, file.metadata));
  leat_fuzz::must(again.names().size() == arrays.size() && again.metadata == file.metadata, "arrays have the same names again");
  for (const auto& [name, array] : arrays)
    leat_fuzz::must(again[name].extent == array.extent && std::ranges::equal(again[name].bytes, array.bytes), "arrays come back equal");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try_to_read([&] { look_at(leat::io::safetensors(std::string(text))); });
  try_to_read([&] {
    const auto array = leat::io::read_npy(text);
    leat_fuzz::must(leat::problem_of(array).empty(), "an array is right");
    leat_fuzz::must(leat::io::read_npy(leat::io::write_npy(array)) == array, "an array comes back equal");
  });
  try_to_read([&] { leat_fuzz::must(leat::problem_of(leat::io::read_idx(text)).empty(), "an array is right"); });
  try_to_read([&] { leat_fuzz::must(leat::io::gunzip(text, 1 << 20).size() <= 1 << 20, "a limit holds"); });
  try_to_read([&] {
    const leat::io::npz file{std::string(text)};
    for (const auto& name : file.names()) try_to_read([&] { leat_fuzz::must(leat::problem_of(file[name]).empty(), "an array is right"); });
  });
  return 0;
}
