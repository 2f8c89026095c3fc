#pragma once
// Operators that exist only in graphs at run time: those with several results or none, with references to variables, with lists of tensors.
// Each is defined by one line in TensorFlow's terms,
//
//   Switch(data: T, pred: bool) -> (output_false: T, output_true: T)
//   Pack(values: N*T) -> (output: T); axis: int = 0
//   ApplyGradientDescent(var: &T, alpha: T, delta: T) -> (out: &T); use_locking: bool = false
//   Assert(condition: bool, data: list(T)) -> (); summarize: int = 3
//
// and a shape rule for its results. `&` is a reference to a variable, `N*T` is N tensors of one dtype, `list(T)` are tensors of any dtypes,
// and attributes, with defaults, follow the semicolon. `&resource` is a variable of any dtype, by its handle. T and N are attributes that
// follow from the inputs; other attributes are written out: `out_type: type = int32`. `{float32, float64}` limits a type.

#include <leat/core/fill.hpp>
#include <leat/core/function_bodies.hpp>
#include <leat/graph/operator.hpp>
#include <leat/proto/attribute_value.hpp>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace leat {

/// The kind of a defined operator's attribute. `is_list` makes it a list.
enum class attribute_kind : unsigned char { type, integer, real, flag, text, shape, tensor, function };

/// An attribute of a defined operator.
struct attribute_definition {
  std::string name;
  attribute_kind kind = attribute_kind::type;
  bool is_list = false;
  attribute_value fallback{};        // empty: the attribute must be given, or follows from the inputs
  std::int64_t least = INT64_MIN;    // minimum of an integer, or of a list's length
  std::vector<data_type> allowed{};  // dtypes that a type may be; empty: all
};

/// An input or a result: one tensor, several tensors of one dtype, or a list.
struct argument_definition {
  std::string name;
  data_type type = data_type::invalid;  // if the dtype is fixed
  std::string type_attribute{};         // "T", if it is not fixed
  std::string list_attribute{};         // for `list(T)`: the attribute with all dtypes
  std::string count_attribute{};        // for `N*T`: the attribute with the count
  bool reference = false;
  bool is_list() const { return !list_attribute.empty() || !count_attribute.empty(); }
};

class shape_context;
/// Sets the shapes of the results; a shape that it does not set has unknown rank.
using shape_rule = std::function<void(shape_context&)>;

/// An operator as defined by its line, with its shape rule.
struct operator_definition {
  std::string type;
  std::vector<argument_definition> inputs;
  std::vector<argument_definition> results;
  std::vector<attribute_definition> attributes;
  shape_rule shapes;
  op_info info;  // rows of the table point to it

  const attribute_definition* find_attribute(std::string_view name) const;
};

/// The argument of a shape rule: has a node's inputs and attributes, and takes the shapes of the results.
class shape_context {
 public:
  shape_context(const operator_definition& definition, std::span<const tensor_info> inputs, const attribute_map& attributes,
                std::vector<tensor_info>& results)
      : definition_(definition), inputs_(inputs), attributes_(attributes), results_(results) {}

  int input_count() const { return static_cast<int>(inputs_.size()); }
  const tensor_info& input(int k) const { return inputs_[static_cast<std::size_t>(k)]; }
  int result_count() const { return static_cast<int>(results_.size()); }
  /// Sets a result's shape. Errors: invalid_argument for more elements than a tensor may have.
  void set(int result, const shape& extent);
  /// Sets the shape of all results. Errors: as for `set`.
  void set_all(const shape& extent) {
    check(extent);
    for (auto& r : results_) r.extent = extent;
  }
  /// The elements of an integer input as far as they are known, with -1 for an unknown element; nullopt if not even their number is known.
  std::optional<std::vector<std::int64_t>> numbers(int k) const { return numbers_of ? numbers_of(k) : std::nullopt; }
  /// Whether the input is a constant: then -1 is a value and not "unknown".
  bool constant(int k) const { return constant_of && constant_of(k); }
  /// Attributes of the node; 0, false or null for an absent one.
  std::int64_t integer(std::string_view name) const { return get<std::int64_t>(name, 0); }
  bool flag(std::string_view name, bool otherwise = false) const { return get<bool>(name, otherwise); }
  const attribute_value* attribute(std::string_view name) const { return attributes_.find(name); }
  /// Throws invalid_argument with this text.
  [[noreturn]] void fail(std::string_view text) const { throw invalid_argument(definition_.type + ": " + std::string(text)); }

  std::function<std::optional<std::vector<std::int64_t>>(int)> numbers_of;
  std::function<bool(int)> constant_of;

 private:
  void check(const shape& extent) const {
    if (!extent.is_countable()) fail("a result of more than 2^44 elements, which no memory holds");
  }
  template <class T>
  T get(std::string_view name, T otherwise) const {
    const auto* a = attributes_.find(name);
    const auto* held = a != nullptr ? a->get_if<T>() : nullptr;
    return held != nullptr ? *held : otherwise;
  }
  const operator_definition& definition_;
  std::span<const tensor_info> inputs_;
  const attribute_map& attributes_;
  std::vector<tensor_info>& results_;
};

// The library's own definitions. Those of iterators are made in a higher layer, and are declared here because a graph from a file may have
// such nodes.
namespace detail {
LEAT_DECLARE_FILL(fill_array_definitions);
LEAT_DECLARE_FILL(fill_audio_definitions);
LEAT_DECLARE_FILL(fill_control_definitions);
LEAT_DECLARE_FILL(fill_diagonal_definitions);
LEAT_DECLARE_FILL(fill_einsum_definitions);
LEAT_DECLARE_FILL(fill_element_definitions);
LEAT_DECLARE_FILL(fill_example_definitions);
LEAT_DECLARE_FILL(fill_exchange_definitions);
LEAT_DECLARE_FILL(fill_file_definitions);
LEAT_DECLARE_FILL(fill_image_definitions);
LEAT_DECLARE_FILL(fill_candidate_definitions);
LEAT_DECLARE_FILL(fill_image_file_definitions);
LEAT_DECLARE_FILL(fill_matrix_definitions);
LEAT_DECLARE_FILL(fill_nn_definitions);
LEAT_DECLARE_FILL(fill_quantized_definitions);
LEAT_DECLARE_FILL(fill_quantized_layer_definitions);
LEAT_DECLARE_FILL(fill_queue_definitions);
LEAT_DECLARE_FILL(fill_ragged_definitions);
LEAT_DECLARE_FILL(fill_random_definitions);
LEAT_DECLARE_FILL(fill_resource_definitions);
LEAT_DECLARE_FILL(fill_scatter_definitions);
LEAT_DECLARE_FILL(fill_sparse_definitions);
LEAT_DECLARE_FILL(fill_sequence_example_definitions);
LEAT_DECLARE_FILL(fill_special_definitions);
LEAT_DECLARE_FILL(fill_sparse_row_definitions);
LEAT_DECLARE_FILL(fill_state_definitions);
LEAT_DECLARE_FILL(fill_table_definitions);
LEAT_DECLARE_FILL(fill_tensor_array_definitions);
LEAT_DECLARE_FILL(fill_tensor_list_definitions);
LEAT_DECLARE_FILL(fill_text_definitions);
LEAT_DECLARE_FILL(fill_iterator_definitions);
LEAT_DECLARE_FILL(fill_dataset_definitions);
LEAT_DECLARE_FILL(fill_older_definitions);  // last
}  // namespace detail

/// Registers an operator for graphs and files, by its line, its facts and its shape rule. `info.what` holds the facts; inputs that the line
/// takes by reference are added to those that the operator writes, unless it only controls, observes or forwards. Thread-safe; the first
/// definition of a type stays.
/// Errors: invalid_argument, with the position, for a line that cannot be parsed.
const operator_definition& define_operator(std::string_view line, const facts& what, shape_rule shapes = {});
/// Registers an operator that may have any effect.
inline const operator_definition& define_operator(std::string_view line, shape_rule shapes = {}) {
  return define_operator(line, facts{.is = nature::effect}, std::move(shapes));
}

/// The definition of this type, or null.
const operator_definition* find_definition(std::string_view type);

/// Whether result `port` of an operator is a reference to a variable.
bool is_reference_result(const op_info& op, int port);
/// The inputs, among the first `inputs`, that an operator takes by reference or as a handle: variables and queues.
std::vector<int> reference_inputs(const op_info& op, int inputs);

/// The types of all defined operators, sorted.
std::vector<std::string_view> defined_operator_types();

}  // namespace leat

#if LEAT_WITH_BODIES
#include <leat/named/graph/impl/operator_definition.hpp>
#endif
