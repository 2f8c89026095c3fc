// The readers of rows, lines, records, examples and pipelines' states, under libFuzzer: they end, go on behind an error, and find again
// the place that they told.

#include <leat/data.hpp>

#include "properties.hpp"

#include <sys/mman.h>

namespace {

// A file in memory, at a path.
struct memory_file {
  int number = ::memfd_create("rows", MFD_CLOEXEC);
  std::filesystem::path path = "/proc/self/fd/" + std::to_string(number);
  explicit memory_file(std::string_view bytes) {
    leat_fuzz::must(::pwrite(number, bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size()), "a file in memory");
  }
  ~memory_file() { ::close(number); }
};

template <class Look>
bool try_to_read(Look look) {
  try {
    look();
    return true;
  } catch (const leat::error& e) {
    leat_fuzz::must(e.what()[0] != '\0' && leat::io::is_utf8(e.what()), "an error says something");
    return false;
  }
}

// Reads to the end, past errors; a second reader that goes to each tenth place sees the same.
template <class Row>
void look_at_table(const memory_file& file, std::size_t size, const leat::io::csv_options& options) {
  leat::io::csv_reader reader(file.path, options, 16), again(file.path, options, 40);
  Row row, other;
  std::size_t steps = 0;
  bool more = true;
  while (more) {
    const bool looks_again = steps++ % 10 == 0;
    leat_fuzz::must(steps <= size + 3, "a table has no more rows than bytes");
    const std::uint64_t offset = reader.offset(), line = reader.next_line();
    const bool fine = try_to_read([&] { more = reader.next(row); });
    if (!looks_again) continue;
    again.seek(offset, line);
    bool found = more;
    leat_fuzz::must(try_to_read([&] { found = again.next(other); }) == fine, "a place is found again");
    if (fine) leat_fuzz::must(found == more, "a place is found again");
    if (fine && more) leat_fuzz::must(row == other && reader.line() == again.line(), "a row comes back equal");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace leat;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const memory_file file(text);
  try_to_read([&] { look_at_table<std::tuple<std::int64_t, std::string>>(file, size, {}); });
  try_to_read(
      [&] { look_at_table<std::tuple<std::array<std::uint8_t, 2>, bool>>(file, size, {.delimiter = ';', .header = false, .empty = 1}); });
  try_to_read([&] { look_at_table<std::tuple<std::string>>(file, size, {.columns = {"a"}}); });
  try_to_read([&] {
    io::line_reader reader(file.path, 16);
    std::uint64_t before = 0;
    while (const auto line = reader.next()) {
      leat_fuzz::must(line->size() < reader.offset() - before + 1 && reader.offset() > before, "a line takes its bytes");
      before = reader.offset();
    }
    leat_fuzz::must(before == size, "lines are the whole text");
  });
  try_to_read([&] {
    io::record_reader reader(file.path, 64, io::record_compression::none);
    std::string again;
    while (const auto record = reader.next()) io::append_record(again, *record);
    leat_fuzz::must(text.starts_with(again) && reader.offset() == again.size(), "records come back equal");
    leat_fuzz::must((reader.end() == io::record_end::whole) == (again.size() == size), "the end is told");
  });
  try_to_read([&] {
    io::record_reader reader(file.path, 64), again(file.path, 1000);
    while (const auto record = reader.next()) {
      const std::string kept(*record);
      leat_fuzz::must(again.next() == kept, "a compressed record comes back equal");
    }
    again.next();
    leat_fuzz::must(again.end() == reader.end(), "the end is told");
  });
  try_to_read([&] {
    const io::example read = io::read_example(text);
    const std::string written = io::write_example(read);
    leat_fuzz::must(io::write_example(io::read_example(written)) == written, "an example comes back equal");
    for (const auto& [name, values] : read.features) {
      io::example_fields fields({name});
      fields.find(text);
      if (const auto* floats = std::get_if<std::vector<float>>(&values))
        leat_fuzz::must(fields.count<float>(0) == floats->size(), "a feature has its values");
    }
  });
  try_to_read([&] {
    static const auto pipeline = dataset::range(10).map([](std::int64_t i) { return i; }).shuffle(5, 1).batch(3).repeat(2);
    auto rows = pipeline.iterate();
    rows.restore_state(text);
    std::size_t left = 0;
    while (rows.next()) ++left;
    leat_fuzz::must(left <= 8, "a restored pipeline has no more than its elements");
  });
  return 0;
}
