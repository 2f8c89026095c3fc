#pragma once
// What an operator's class writes in ONNX: the argument of its member `onnx`. The writer of ONNX files implements it.

#include <leat/core/dtype.hpp>
#include <leat/core/shape.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace leat {

/// An attribute of an ONNX node: its name, and an integer, a float, a text, or a list of integers.
struct onnx_attribute {
  enum class kind { integer, real, text, integers };
  onnx_attribute(std::string_view its_name, std::int64_t value) : name(its_name), what(kind::integer), integers{value} {}
  onnx_attribute(std::string_view its_name, int value) : onnx_attribute(its_name, std::int64_t{value}) {}
  onnx_attribute(std::string_view its_name, float value) : name(its_name), what(kind::real), real(value) {}
  onnx_attribute(std::string_view its_name, std::string_view value) : name(its_name), what(kind::text), text(value) {}
  onnx_attribute(std::string_view its_name, const char* value) : onnx_attribute(its_name, std::string_view(value)) {}
  onnx_attribute(std::string_view its_name, std::vector<std::int64_t> values)
      : name(its_name), what(kind::integers), integers(std::move(values)) {}

  std::string_view name;
  kind what;
  std::vector<std::int64_t> integers{};
  float real = 0;
  std::string text{};
};
using onnx_attributes = std::vector<onnx_attribute>;

/// A node that is being written as ONNX nodes. Tensors are named by strings.
class onnx_nodes {
 public:
  /// The inputs of the node: their number, the name, dtype and static shape of each.
  virtual int input_count() const = 0;
  virtual std::string input(int k = 0) const = 0;
  virtual dtype type(int k = 0) const = 0;
  virtual shape extent(int k = 0) const = 0;
  /// Number `k` of the operator, as in its other members. Errors: unimplemented if the graph does not know it.
  virtual std::int64_t attribute(int k) const = 0;
  /// The version of ONNX's operators that is written.
  virtual int opset() const = 0;
  /// Adds an ONNX node with one result, and returns its name.
  virtual std::string node(std::string_view onnx_type, std::vector<std::string> inputs, const onnx_attributes& settings = {}) = 0;
  /// The same with several results.
  virtual std::vector<std::string> nodes(std::string_view onnx_type, std::vector<std::string> inputs, const onnx_attributes& settings,
                                         int results) = 0;
  /// A scalar.
  virtual std::string number(dtype type, double value) = 0;
  /// A vector of int64.
  virtual std::string integers(const std::vector<std::int64_t>& values) = 0;
  /// Makes a tensor the result of the node.
  virtual void result(const std::string& name, int number = 0) = 0;
  /// Throws unimplemented, naming the node.
  [[noreturn]] virtual void refuse(const std::string& why) const = 0;

 protected:
  ~onnx_nodes() = default;
};

}  // namespace leat
