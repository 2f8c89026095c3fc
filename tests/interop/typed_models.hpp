#pragma once
// Typed expressions as graphs with names, each with what is to be run of it.

#include "run_plan.hpp"

#include <memory>
#include <string>
#include <vector>

namespace interop {

struct typed_model {
  std::string name;
  std::unique_ptr<leat::graph> graph;
  run_plan plan;
};

/// The models of the examples, and some more.
std::vector<typed_model> typed_models();

}  // namespace interop
