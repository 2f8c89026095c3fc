#pragma once
// Summaries for TensorBoard: typed fetches, event files and a reader of them, and, where <leat/graphs.hpp> is included too, operators of
// graphs. Needs protozero, as files do.

#include <leat/core/standard.hpp>
#include <leat/summary/event_reader.hpp>
#include <leat/summary/file_writer.hpp>
#include <leat/summary/histogram_counts.hpp>
#include <leat/summary/run_metadata.hpp>
#include <leat/summary/typed_summary.hpp>
#include <leat/summary/value_list.hpp>
