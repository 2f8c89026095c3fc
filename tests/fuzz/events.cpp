// The reader of event files under libFuzzer: what it accepts is written and read again equal, and never takes more memory than the file.

#include <leat/summary/event_reader.hpp>

#include "properties.hpp"

#include <unistd.h>

#include <filesystem>
#include <fstream>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  try {
    const auto e = leat::summary::read_event(bytes);
    const std::string again = leat::summary::to_bytes(e);
    leat_fuzz::must(leat::summary::to_bytes(leat::summary::read_event(again)) == again, "an event comes back equal");
    if (e.summary) static_cast<void>(leat::summary::tags_of(leat::summary::to_bytes(*e.summary)));
  } catch (const leat::error& e) {
    leat_fuzz::must(e.what()[0] != '\0', "an error says something");
  }
  // The same bytes as a file.
  static const std::filesystem::path path = std::filesystem::temp_directory_path() / ("leat_fuzz_events." + std::to_string(::getpid()));
  std::ofstream(path, std::ios::binary | std::ios::trunc).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  try {
    leat::summary::event_reader in(path);
    while (in.next()) leat_fuzz::must(in.offset() <= size, "an event lies within the file");
    leat_fuzz::must(in.offset() <= size && (in.end() == leat::io::record_end::whole) == (in.offset() == size), "the end is told");
  } catch (const leat::error& e) {
    leat_fuzz::must(std::string_view(e.what()).find(path.string()) == 0, "an error names the file");
  }
  return 0;
}
