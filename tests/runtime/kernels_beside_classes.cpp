// Operators that have a class and, for nodes of graphs with names, a function of their own. A node runs by its operator's class
// (runtime/kernels/node_program.hpp). Where it has a function, this either calls the class's kernel, which its return type proves
// (runtime/kernels/class_kernel.hpp), or is a second text for a reason that stands here. The list is compared with the tables themselves,
// so that classes made by templates count, too.

#include <leat/runtime/kernels/kernel.hpp>

#include <leat/graph/known_operators.hpp>
#include <leat/graphs.hpp>
#include <leat/ops/known.hpp>
#include <leat/passes/lower.hpp>
#include <leat/session/graph_session.hpp>

#include <doctest/doctest.h>

#include <map>
#include <set>
#include <string>
#include <string_view>

using namespace leat;

namespace {

struct reason {
  std::string_view why;
  std::initializer_list<std::string_view> types;
};
const reason reasons[]{
    {"begins, reads, writes or reports something of the session",
     {"Assign", "AssignAdd", "AssignSub", "Const", "NoOp", "Placeholder", "VarHandleOp", "Variable", "VariableV2"}},
    // A program copies: 1.3 to 1.9 times the time for 32 elements, 90 times for 128 Ki.
    {"moves no element: its result is the memory of its operand, of any dtype",
     {"ExpandDims", "Identity", "Reshape", "Squeeze", "StopGradient"}},
    // The class fuses with the operators around it; a kernel for both would end that.
    {"moves blocks in one step, of any dtype, where the class is a composite of views",
     {"BatchToSpaceND", "DepthToSpace", "SpaceToBatchND", "SpaceToDepth"}},
};
// Classes that consist of a kernel of another class and of what that kernel needs.
const std::map<std::string_view, std::string_view> kernels_of_composites{
    {"BatchMatMulV2", "leat.StackedProducts"}, {"GatherNd", "GatherPlaces"}, {"ScatterNd", "ScatterPlaces"}};

// Whether the program of a node has a step of this class.
template <class Op>
bool has_step_of(const graph& table, const output& node) {
  for (const program_step& step : passes::compile(table, std::vector<int>{node.index()}).steps)
    if (!step.is_cluster && step.code == operator_record<Op>::code) return true;
  return false;
}

}  // namespace

TEST_CASE("a class and a kernel of its own, each with its reason") {
  std::map<std::string_view, std::string_view> listed;
  for (const reason& r : reasons)
    for (const std::string_view type : r.types) CHECK(listed.emplace(type, r.why).second);
  std::set<std::string_view> classes;
  for (const std::string_view type : known_operator_types())
    if (find_operator(type)->infer != nullptr) classes.insert(type);
  for (const std::string_view type : detail::types_of_expressions()) classes.insert(type);
  CHECK(classes.size() > 200);
  std::set<std::string> both, shared;
  for (const std::string& type : kernel_types()) {
    if (!classes.contains(type)) continue;
    both.insert(type);
    INFO(type << " has a class and a function of its own");
    if (const std::string_view runs = detail::class_of_kernel(type); runs.empty()) {
      CHECK(listed.contains(type));
    } else {
      shared.insert(type);
      const auto composite = kernels_of_composites.find(type);
      CHECK(runs == (composite == kernels_of_composites.end() ? std::string_view(type) : composite->second));
      CHECK_FALSE(listed.contains(type));
    }
  }
  for (const auto& [type, why] : listed) {
    INFO(type << " is listed here, and has no function beside its class any more");
    CHECK(both.contains(std::string(type)));
  }
  for (const auto& [type, kernel] : kernels_of_composites) CHECK(shared.contains(std::string(type)));
  CHECK(both.size() == 62);
  CHECK(shared.size() == 44);
}

TEST_CASE("composites run the kernels that their nodes run") {
  graph table;
  const auto place = [&](std::uint64_t k, dtype type, std::initializer_list<std::int64_t> sizes) {
    shape s;
    for (const std::int64_t n : sizes) s.push(n);
    return output(table, table.add_leaf(info_of<placeholder_op>, {type, s}, table.keep("input ", std::to_string(k)), k));
  };
  const output x = place(1, dtype::float32, {4, 3, 40}), y = place(2, dtype::float32, {4, 40, 9}), rows = place(3, dtype::int32, {5, 2});
  const output updates = place(4, dtype::float32, {5, 40});
  const std::int64_t no_flags[]{0, 0}, sizes[]{4, 3, 40};
  CHECK(has_step_of<gather_places_op>(table, make_node<gather_nd_op>({}, x, rows)));
  CHECK(has_step_of<scatter_places_op>(table, make_node<scatter_nd_op>(sizes, rows, updates)));
  CHECK(has_step_of<stacked_products_op>(table, make_node<stacked_matmul_op>(no_flags, x, y)));
}
