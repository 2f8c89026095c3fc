#pragma once
// Implementation of describe.hpp.

#include <leat/core/function_bodies.hpp>
#include <leat/io/describe.hpp>
#include <leat/io/text/write.hpp>
#include <leat/named/exchange/export.hpp>
#include <leat/named/graph/part.hpp>

#include <ostream>

namespace leat {

LEAT_FUNCTION std::string describe(const graph_operation& operation) {
  if (!operation) throw failed_precondition("describe: the handle refers to no operation");
  operation.owner().named().settle_names(operation.owner());
  return io::detail::text_of_message(to_node_def(operation.owner(), operation.index()));
}

LEAT_FUNCTION std::ostream& operator<<(std::ostream& out, const graph_operation& operation) { return out << describe(operation); }
LEAT_FUNCTION std::ostream& operator<<(std::ostream& out, const output& tensor) { return out << describe(tensor); }

}  // namespace leat
