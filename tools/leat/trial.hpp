#pragma once
// Trials: whether runs take a node, found out by running it. A node is copied into a graph of its own, with zeros for inputs of the dtypes
// and shapes that its graph tells, so its operator, attributes, dtypes and constant inputs meet the very code of a run.

#include <leat/session/graph_session.hpp>

#include <map>
#include <string>
#include <vector>

namespace tool {

/// The trials of one graph. Equal nodes are tried once.
class node_trials {
 public:
  explicit node_trials(leat::graph_session& session) : session_(session) {}

  /// Why runs cannot take a node; empty where they can, as far as can be told without values. A node that waits, that is part of the control
  /// flow, or of whose inputs dtype or rank are not known, is not tried: then its operator and its results' dtypes are asked for alone.
  std::string refusal_of(const leat::graph_operation& node);

 private:
  std::string trial_of(const leat::graph_operation& node);

  leat::graph_session& session_;
  std::map<std::string, std::vector<std::pair<leat::graph_def, std::string>>, std::less<>> known_;  // by operator
};

}  // namespace tool
