#pragma once
// Arrays of tensors in named graphs, to which a loop writes an element in each iteration:
//
//   const tensor_array squares(dtype::float32, 5);
//   auto [i, flow] = while_loop([](output i, output) { return i < 5; }, [&](output i, output flow) {
//     return std::array{i + 1, squares.with_flow(flow).write(i, square(cast(i, dtype::float32))).flow()};
//   }, {0, squares.flow()});
//   auto all = squares.with_flow(flow).stack();
//
// What was written is known to those operations that depend on the `flow` after the writes, a scalar without meaning. So each write returns
// the array with another flow, and loops have the flow as a variable. Node names, checks and shapes follow TensorFlow 1.x.
// Source: TensorFlow 1.x `TensorArray`.

#include <leat/core/function_bodies.hpp>
#include <leat/named/functions/operand.hpp>
#include <leat/named/graph/part.hpp>

#include <memory>

namespace leat {

/// Options of a new `tensor_array`.
struct tensor_array_options {
  bool dynamic_size = false;                   // whether a write behind the end makes the array longer
  bool clear_after_read = true;                // whether an element is read once, and is released then
  bool infer_shape = true;                     // whether all elements have the shape of the first one written
  shape_value element_shape = unknown_shape;   // of each element; -1 for an unknown dimension
  std::string tensor_array_name{};             // name in messages; empty: that of the node
  bool colocate_with_first_write_call = true;  // whether writes are placed where the first written value is
  std::string name{};                          // name of the node; empty: "TensorArray"
};

/// Handle of an array of tensors in a graph, and the flow after the writes that its operations follow.
class tensor_array {
 public:
  /// A new array of `size` (int32) elements, which exists during a run. Errors in a run: invalid_argument for a negative size,
  /// resource_exhausted for more than 2^24 elements.
  tensor_array(dtype type, const operand_value& size, const tensor_array_options& options = {},
               const std::source_location& where = std::source_location::current());
  /// The array that a handle refers to.
  tensor_array(dtype type, const output& handle, const output& flow, bool infer_shape = true);

  /// The tensor that refers to the array, a resource.
  const output& handle() const { return handle_; }
  /// A float32 scalar; operations that depend on it follow the writes so far.
  const output& flow() const { return flow_; }
  dtype type() const { return type_; }
  /// The shape of each element, as far as it is known.
  shape_value element_shape() const { return shared_->element; }
  /// The same array after other writes: in a loop, `flow` is the loop's variable.
  tensor_array with_flow(const output& flow) const;
  /// The same array with a flow of its own, which waits for the control dependencies around it. Source: `identity`.
  tensor_array identity(const std::source_location& where = std::source_location::current()) const;

  /// Element `index` (int32); one that was not written is zeros if its shape is known. Errors in a run: invalid_argument for an index
  /// outside, or an element that was cleared by an earlier read. Source: `read`.
  output read(const operand_value& index, std::string_view name = {},
              const std::source_location& where = std::source_location::current()) const;
  /// Writes element `index` (int32), and returns the array after that. Errors: invalid_argument for another dtype or shape; in a run, also
  /// for an index outside, or an element that was written before. Source: `write`.
  [[nodiscard]] tensor_array write(const operand_value& index, const operand_value& value, std::string_view name = {},
                                   const std::source_location& where = std::source_location::current()) const;
  /// All elements as one tensor, along a new first dimension. Errors in a run: as for `read`; invalid_argument for elements of several
  /// shapes. Source: `stack`.
  output stack(std::string_view name = {}, const std::source_location& where = std::source_location::current()) const;
  /// The elements at `indices`, a vector of int32, as `stack` returns them. Errors in a run: as for `stack`. Source: `gather`.
  output gather(const operand_value& indices, std::string_view name = {},
                const std::source_location& where = std::source_location::current()) const;
  /// All elements joined along their first dimension, in which their sizes may differ. Errors in a run: as for `stack`. Source: `concat`.
  output concat(std::string_view name = {}, const std::source_location& where = std::source_location::current()) const;
  /// Writes each row of a tensor to one element, and returns the array after that. Errors: as for `write`. Source: `unstack`.
  [[nodiscard]] tensor_array unstack(const operand_value& value, std::string_view name = {},
                                     const std::source_location& where = std::source_location::current()) const;
  /// Writes row k of a tensor to element `indices[k]`, and returns the array after that. Errors: as for `write`. Source: `scatter`.
  [[nodiscard]] tensor_array scatter(const operand_value& indices, const operand_value& value, std::string_view name = {},
                                     const std::source_location& where = std::source_location::current()) const;
  /// Writes the first `lengths[0]` rows of a tensor to element 0, the next `lengths[1]` to element 1, and so on; returns the array after
  /// that. Errors: as for `write`; in a run, invalid_argument if the lengths do not add up. Source: `split`.
  [[nodiscard]] tensor_array split(const operand_value& value, const operand_value& lengths, std::string_view name = {},
                                   const std::source_location& where = std::source_location::current()) const;
  /// The number of elements, an int32 scalar. Source: `size`.
  output size(std::string_view name = {}, const std::source_location& where = std::source_location::current()) const;
  /// Releases all elements when it runs; later operations of the run on the array fail. Source: `close`.
  graph_operation close(std::string_view name = {}, const std::source_location& where = std::source_location::current()) const;
  /// The array of the gradients of this one's elements, which each gradient `source` has one of: what is written to an element adds up. It
  /// is made after the writes that `flow` follows, which is this array's if it is empty. Source: `grad`.
  tensor_array grad(std::string_view source, const output& flow = {}, std::string_view name = {},
                    const std::source_location& where = std::source_location::current()) const;

 private:
  // What all handles of one array have in common.
  struct common {
    shape element = shape::unknown();
    bool infers = true;
    bool is_dynamic = false;
    std::optional<operand_value> size{};
    bool colocates = false;
    output first_written{};
  };
  tensor_array(const tensor_array& other, const output& flow) : tensor_array(other) { flow_ = flow; }

  output value_for(const operand_value& value) const;
  void check_element(const shape& element) const;
  void set_element_shape(const output& o, bool is_stacked, std::int64_t count = unknown_dimension) const;
  graph_operation call(std::string_view type, std::vector<number_argument> given, attribute_map attributes, std::string_view name) const;
  tensor_array written(std::string_view type, std::vector<number_argument> given, std::string_view name, const output& value) const;

  dtype type_;
  output handle_;
  output flow_;
  std::shared_ptr<common> shared_;
};

}  // namespace leat

#if LEAT_WITH_BODIES
#include <leat/named/functions/impl/tensor_array.hpp>
#endif
