#pragma once
// Definitions of operators on files; their kernels are in a higher layer (data/kernels_files.hpp).

#include <leat/core/fill.hpp>
#include <leat/named/definitions/shapes.hpp>

namespace leat::detail {

LEAT_FILL(fill_file_definitions) {
  constexpr facts makes{.is = nature::effect, .work = work_kind::none, .stops_gradient = true};
  constexpr facts works{.is = nature::effect, .stops_gradient = true};
  constexpr facts waits{.is = nature::effect, .stops_gradient = true, .waits = true};
  // In older graphs handles are references to strings.
  for (const bool old : {false, true}) {
    const std::string v = old ? "" : "V2";
    const std::string reader = old ? "reader_handle: &string" : "reader_handle: resource";
    const std::string queue = old ? "queue_handle: &string" : "queue_handle: resource";
    const std::string made = "() -> (" + reader + "); container: string = \"\"; shared_name: string = \"\"";
    define_operator("TextLineReader" + v + made + "; skip_header_lines: int = 0", makes, shapes::numbers);
    define_operator("TFRecordReader" + v + made + "; compression_type: string = \"\"", makes, shapes::numbers);
    define_operator("WholeFileReader" + v + made, makes, shapes::numbers);
    define_operator("IdentityReader" + v + made, makes, shapes::numbers);
    define_operator("ReaderRead" + v + "(" + reader + ", " + queue + ") -> (key: string, value: string)", waits, shapes::numbers);
    define_operator("ReaderReadUpTo" + v + "(" + reader + ", " + queue + ", num_records: int64) -> (keys: string, values: string)", waits,
                    [](shape_context& c) { c.set_all(shapes::vector_of(-1)); });
    define_operator("ReaderReset" + v + "(" + reader + ") -> ()", waits);
    define_operator("ReaderNumRecordsProduced" + v + "(" + reader + ") -> (records_produced: int64)", waits, shapes::numbers);
    define_operator("ReaderNumWorkUnitsCompleted" + v + "(" + reader + ") -> (units_completed: int64)", waits, shapes::numbers);
  }
  define_operator("ReadFile(filename: string) -> (contents: string)", works, shapes::numbers);
  define_operator("WriteFile(filename: string, contents: string) -> ()", works);
  define_operator("MatchingFiles(pattern: string) -> (filenames: string)", works,
                  [](shape_context& c) { c.set(0, shapes::vector_of(-1)); });
}

}  // namespace leat::detail
