#include <leat/proto/node_index.hpp>

#include "support/graph_files.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using leat::proto::detail::node_index;

TEST_CASE("what was entered is found, the first of a name") {
  for (int count : {0, 1, 2, 3, 5, 1000, 70000}) {
    std::vector<leat::node_def> nodes;
    for (int i = 0; i < count; ++i)
      nodes.push_back(leat_test::node(std::string(static_cast<std::size_t>(i % 20), 'x') + std::to_string(i), "A"));
    nodes.push_back(leat_test::node("", "A"));
    nodes.push_back(leat_test::node("", "A"));
    node_index t(nodes);
    std::size_t wrong = 0;
    for (std::size_t i = 0; i + 1 < nodes.size(); ++i) wrong += t.insert(i) != node_index::none;
    CHECK(t.insert(nodes.size() - 1) == nodes.size() - 2);
    for (std::size_t i = 0; i + 1 < nodes.size(); ++i) wrong += t.find(nodes[i].name) != i;
    CHECK(wrong == 0);
    CHECK(t.find("none") == node_index::none);
    CHECK(t.find(std::string("\0", 1)) == node_index::none);
  }
}
