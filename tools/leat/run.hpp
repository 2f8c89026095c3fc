#pragma once
// Running a graph or a saved model from the command line.

#include <string>
#include <vector>

namespace tool {

/// What one run asks for, and how often it is repeated; the results of the last repetition are told.
struct requested_run {
  std::vector<std::string> fetches;
  long long times = 1;
};

struct run_request {
  std::string path;
  std::vector<requested_run> runs;
  std::vector<std::string> feeds;  // NAME=VALUE
  std::string signature;
  std::vector<std::string> tags;  // of a SavedModel of TensorFlow's
  std::vector<std::string> variables;
  bool initialize = false;
  std::string save;
  std::string format = "text";
  std::string out;
  bool progress = false;
  std::string trace;  // a file for what ran when, in Chrome's format
  double timeout = 0;  // seconds for each run; 0: the session's
  double memory = 0;   // megabytes for arrays; 0: what the system has
  std::string files;   // the folder in which the graph's nodes may read and write; empty: none
};

/// Runs, and prints or writes the results. Returns the exit code: 0, or 1 where a run failed or the graph is wrong.
/// Errors: usage_error for names that the graph does not have and values that do not fit; leat::error for files.
int run_model(const run_request& request);

}  // namespace tool
