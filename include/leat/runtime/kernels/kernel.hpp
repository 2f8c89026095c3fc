#pragma once
// Kernels of graphs at run time: one function per operator type, from input values to results. Most operators need none, because their
// definition runs as a program of one node (node_program.hpp). Kernels exist for operators without a definition and for those with side
// effects: variables, queues, printing. Programs register their own with `register_kernel`.

#include <leat/core/fill.hpp>
#include <leat/core/function_bodies.hpp>
#include <leat/cpu/interruption.hpp>
#include <leat/named/graph/nodes.hpp>
#include <leat/runtime/state/program_budget.hpp>
#include <leat/runtime/state/random_table.hpp>
#include <leat/runtime/state/resources.hpp>
#include <leat/runtime/state/run_arguments.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <unordered_map>

namespace leat {

/// What travels along an edge: a value, a reference to a variable, or a dead value (from a branch that was not taken).
struct token {
  tensor_value value;
  variable_slot* variable = nullptr;
  bool dead = false;
};

/// The host functions of a session, by token. Thread-safe: a call in progress keeps the function that it started with.
class session_functions {
 public:
  void set(std::string_view token_text, session_function f);
  /// The function of a token, or null.
  std::shared_ptr<const session_function> find(std::string_view token_text) const;

 private:
  mutable std::mutex guard_;
  std::map<std::string, std::shared_ptr<const session_function>, std::less<>> by_token_;
};

/// State that all runs of a session share.
struct session_state {
  const std::shared_ptr<resource_table> kept_resources;  // on a server: shared by several sessions
  resource_table& resources;
  std::shared_ptr<random_table> random_numbers;  // null: each node keeps its own position
  session_functions host_functions;
  std::shared_ptr<program_budget> programs = std::make_shared<program_budget>();
  std::atomic<bool> closed{false};
  std::ostream* log = nullptr;  // output of Print; null: standard error
  std::mutex log_guard;
  std::string file_root;                   // the folder in which nodes may read and write files; empty: nowhere
  std::atomic<std::int64_t> part_runs{0};  // number of runs of compiled subgraphs
  memory_meter* meter = nullptr;           // null if the session has no limit

  explicit session_state(std::shared_ptr<resource_table> shared = nullptr)
      : kept_resources(shared != nullptr ? std::move(shared) : std::make_shared<resource_table>()), resources(*kept_resources) {}
  session_state(const session_state&) = delete;
  session_state& operator=(const session_state&) = delete;
  ~session_state() {
    if (meter != nullptr) meter->let_go();
  }
};

class run_trace;
class tensor_exchange;

/// The state of one run.
struct step_state {
  explicit step_state(session_state& its_session) : session(its_session) {}
  session_state& session;
  std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max();
  std::int64_t timeout_in_ms = 0;  // 0: no limit
  const cancellation* cancel = nullptr;
  tensor_exchange* exchange = nullptr;  // to the run's subgraphs on other devices
  run_trace* trace = nullptr;
  int traced_run = 0;
  resource_table resources;          // stacks and temporary variables
  int threads = 1;                   // that may run its nodes
  bool threads_for_waiting = false;  // blocking nodes may have dedicated threads
  std::atomic<bool> stopped{false};  // a node has failed, so the others stop

  /// Starts the clock if it is not running. This is deferred because reading the clock takes longer than a short run.
  void start_clock();
  /// Checks whether the run must stop. Errors: cancelled, deadline_exceeded.
  void check() const;
  /// Like `check`, without reading the clock. Errors: cancelled.
  void check_calls() const;
};

/// Lets a run interrupt the loops that its nodes execute.
class step_interruption final : public cpu::interruption {
 public:
  explicit step_interruption(const step_state& its_step) : step_(its_step) {}
  LEAT_INLINE void check(std::int64_t chunk) const override;

 private:
  const step_state& step_;
};

/// State that a kernel keeps for its node between runs.
struct kernel_memory {
  virtual ~kernel_memory() = default;
};

namespace runtime {
class node_function;
}

/// A node as its kernel sees it.
struct kernel_node {
  graph* owner = nullptr;
  int index = -1;
  std::string_view type;
  const node_record* record = nullptr;
  std::mutex guard;  // protects `memory`, because two runs may execute this node
  std::unique_ptr<kernel_memory> memory;
  std::atomic<std::uint64_t> calls{0};
  std::atomic<const runtime::node_function*> function{nullptr};  // made and owned by `run_definition`, for the node's lifetime
  mutable std::atomic<const std::string*> known_name{nullptr};   // cache of `name()`; the graph owns the string

  /// The node's name, which is looked up once.
  const std::string& name() const;
  template <class T>
  T attribute(std::string_view name, T otherwise) const {
    const auto* a = record->attributes.find(name);
    const auto* held = a != nullptr ? a->get_if<T>() : nullptr;
    return held != nullptr ? *held : otherwise;
  }
  std::int64_t integer(std::string_view name, std::int64_t otherwise = 0) const { return attribute<std::int64_t>(name, otherwise); }
  bool flag(std::string_view name, bool otherwise = false) const { return attribute<bool>(name, otherwise); }
  std::string text(std::string_view name) const { return attribute<std::string>(name, {}); }
  dtype type_of(std::string_view name, dtype otherwise = dtype::invalid) const;
  template <class T>
  std::vector<T> list(std::string_view name) const {
    const auto* a = record->attributes.find(name);
    const auto* held = a != nullptr ? a->get_list<T>() : nullptr;
    return held != nullptr ? *held : std::vector<T>{};
  }
};

/// One call of a kernel: its inputs, and the places of its results.
class kernel_context {
 public:
  kernel_context(kernel_node& its_node, step_state& its_step, std::span<token> inputs, std::span<token> results)
      : node(its_node), step(its_step), inputs_(inputs), results_(results) {}

  kernel_node& node;
  step_state& step;

  /// How many inputs the node has.
  int input_count() const { return static_cast<int>(inputs_.size()); }
  /// How many results the node has.
  int result_count() const { return static_cast<int>(results_.size()); }
  /// The value of an input; for a variable, its current value. Errors: failed_precondition if the variable has none.
  const tensor_value& input(int k);
  /// Moves an input out. The kernel may write to the value if it is the only holder.
  tensor_value take(int k);
  /// Whether an input is a reference to a variable, not a value.
  bool is_variable(int k) { return at(k).variable != nullptr; }
  /// The variable that an input refers to. Errors: invalid_argument if the input is a value.
  variable_slot& variable(int k);
  /// An input as it came: a value, a variable, or dead.
  const token& incoming(int k) { return at(k); }

  /// Sets a result. A result that the node does not have is dropped, because nothing reads it.
  void set(int k, tensor_value value) { set_token(k, {std::move(value), nullptr, false}); }
  /// A result that has been set, or an empty value.
  tensor_value& result(int k) { return results_[static_cast<std::size_t>(k)].value; }
  /// Sets a result to a reference to a variable.
  void set_variable(int k, variable_slot& v) { set_token(k, {{}, &v, false}); }
  /// Sets a result to what came in, or to a value, a variable, or dead.
  void set_token(int k, token t);
  /// Sets a result that nothing may use, as that of the branch not taken.
  void set_dead(int k) { set_token(k, {{}, nullptr, true}); }

  /// The dtype of an input.
  dtype type(int k) { return input(k).type(); }
  /// The shape of an input.
  const shape& extent(int k) { return input(k).extent(); }
  /// An input of one integer. Errors: invalid_argument for another dtype or number of elements.
  std::int64_t number(int k) { return leat::integer(input(k)); }
  /// An input of integers. Errors: invalid_argument for another dtype.
  std::vector<std::int64_t> numbers(int k) { return integers(input(k)); }

 private:
  // An input. Errors: invalid_argument if the node has fewer, because only the kernel of an operator without a definition knows how many it
  // takes.
  token& at(int k);
  std::span<token> inputs_;
  std::span<token> results_;
};

/// What runs a node: reads the inputs from the context, and sets the results there. It throws an error of leat to fail the run.
using operator_kernel = std::function<void(kernel_context&)>;

// The library's own kernels. Higher layers add kernels of their own, because a graph read from a file may contain such nodes.
namespace runtime {
LEAT_DECLARE_FILL(fill_leaf_kernels);
LEAT_DECLARE_FILL(fill_accumulator_kernels);
LEAT_DECLARE_FILL(fill_array_kernels);
LEAT_DECLARE_FILL(fill_audio_kernels);
LEAT_DECLARE_FILL(fill_bessel_kernels);
LEAT_DECLARE_FILL(fill_binomial_kernels);
LEAT_DECLARE_FILL(fill_cell_gradient_kernels);
LEAT_DECLARE_FILL(fill_cell_kernels);
LEAT_DECLARE_FILL(fill_color_kernels);
LEAT_DECLARE_FILL(fill_control_kernels);
LEAT_DECLARE_FILL(fill_count_kernels);
LEAT_DECLARE_FILL(fill_crop_kernels);
LEAT_DECLARE_FILL(fill_cross_kernels);
LEAT_DECLARE_FILL(fill_diagonal_kernels);
LEAT_DECLARE_FILL(fill_dilation_kernels);
LEAT_DECLARE_FILL(fill_drawn_box_kernels);
LEAT_DECLARE_FILL(fill_einsum_kernels);
LEAT_DECLARE_FILL(fill_element_kernels);
LEAT_DECLARE_FILL(fill_exchange_kernels);
LEAT_DECLARE_FILL(fill_glimpse_kernels);
LEAT_DECLARE_FILL(fill_block_kernels);
LEAT_DECLARE_FILL(fill_image_kernels);
LEAT_DECLARE_FILL(fill_matrix_kernels);
LEAT_DECLARE_FILL(fill_normalization_kernels);
LEAT_DECLARE_FILL(fill_patch_kernels);
LEAT_DECLARE_FILL(fill_pool_kernels);
LEAT_DECLARE_FILL(fill_projective_kernels);
LEAT_DECLARE_FILL(fill_quantized_kernels);
LEAT_DECLARE_FILL(fill_quantized_layer_kernels);
LEAT_DECLARE_FILL(fill_ragged_kernels);
LEAT_DECLARE_FILL(fill_resize_kernels);
LEAT_DECLARE_FILL(fill_network_kernels);
LEAT_DECLARE_FILL(fill_queue_kernels);
LEAT_DECLARE_FILL(fill_generator_kernels);
LEAT_DECLARE_FILL(fill_random_gamma_kernels);
LEAT_DECLARE_FILL(fill_random_kernels);
LEAT_DECLARE_FILL(fill_replica_kernels);
LEAT_DECLARE_FILL(fill_resource_kernels);
LEAT_DECLARE_FILL(fill_roster_kernels);
LEAT_DECLARE_FILL(fill_sampled_box_kernels);
LEAT_DECLARE_FILL(fill_scaled_image_kernels);
LEAT_DECLARE_FILL(fill_scatter_kernels);
LEAT_DECLARE_FILL(fill_candidate_kernels);
LEAT_DECLARE_FILL(fill_ctc_beam_kernels);
LEAT_DECLARE_FILL(fill_ctc_kernels);
LEAT_DECLARE_FILL(fill_cumulative_log_kernels);
LEAT_DECLARE_FILL(fill_sequence_kernels);
LEAT_DECLARE_FILL(fill_set_kernels);
LEAT_DECLARE_FILL(fill_shape_kernels);
LEAT_DECLARE_FILL(fill_edit_distance_kernels);
LEAT_DECLARE_FILL(fill_fractional_pool_kernels);
LEAT_DECLARE_FILL(fill_fused_layer_kernels);
LEAT_DECLARE_FILL(fill_rounded_range_kernels);
LEAT_DECLARE_FILL(fill_special_kernels);
LEAT_DECLARE_FILL(fill_vector_kernels);
LEAT_DECLARE_FILL(fill_sparse_kernels);
LEAT_DECLARE_FILL(fill_sparse_row_kernels);
LEAT_DECLARE_FILL(fill_sparse_segment_kernels);
LEAT_DECLARE_FILL(fill_sparse_value_kernels);
LEAT_DECLARE_FILL(fill_staging_kernels);
LEAT_DECLARE_FILL(fill_state_kernels);
LEAT_DECLARE_FILL(fill_suppression_kernels);
LEAT_DECLARE_FILL(fill_table_kernels);
LEAT_DECLARE_FILL(fill_tensor_array_kernels);
LEAT_DECLARE_FILL(fill_tensor_list_kernels);
LEAT_DECLARE_FILL(fill_text_format_kernels);
LEAT_DECLARE_FILL(fill_text_kernels);
LEAT_DECLARE_FILL(fill_text_part_kernels);
LEAT_DECLARE_FILL(fill_truncated_normal_kernels);
LEAT_DECLARE_FILL(fill_text_value_kernels);
LEAT_DECLARE_FILL(fill_unicode_kernels);
LEAT_DECLARE_FILL(fill_unigram_kernels);
LEAT_DECLARE_FILL(fill_unique_kernels);
LEAT_DECLARE_FILL(fill_update_kernels);
LEAT_DECLARE_FILL(fill_wide_resize_kernels);
}  // namespace runtime

namespace detail {
// Kernels of higher layers. They are not in the namespaces of those layers, so that a program that does not include them may use the names
// `data` and `summary`.
LEAT_DECLARE_FILL(fill_summary_kernels);
LEAT_DECLARE_FILL(fill_iterator_kernels);
LEAT_DECLARE_FILL(fill_dataset_kernels);
LEAT_DECLARE_FILL(fill_saver_kernels);
LEAT_DECLARE_FILL(fill_example_kernels);
LEAT_DECLARE_FILL(fill_sequence_example_kernels);
LEAT_DECLARE_FILL(fill_tensor_message_kernels);
LEAT_DECLARE_FILL(fill_file_kernels);
LEAT_DECLARE_FILL(fill_image_file_kernels);

struct kernel_registry {
  std::mutex guard;
  std::unordered_map<std::string, operator_kernel> by_type;
  std::unordered_map<std::string, std::string_view> classes;  // the class whose kernel a node's function runs (class_kernel.hpp)
};
inline kernel_registry& kernels_by_type() {
  static auto& table = *new kernel_registry;
  static constinit table_fills fills;
  fills.run({LEAT_FILLS(runtime::fill_leaf_kernels, runtime::fill_accumulator_kernels, runtime::fill_array_kernels,
                        runtime::fill_audio_kernels, runtime::fill_sampled_box_kernels, runtime::fill_glimpse_kernels,
                        runtime::fill_projective_kernels, runtime::fill_scaled_image_kernels, runtime::fill_text_format_kernels,
                        runtime::fill_unicode_kernels,
                        runtime::fill_bessel_kernels, runtime::fill_binomial_kernels, runtime::fill_count_kernels, runtime::fill_cross_kernels, runtime::fill_quantized_layer_kernels, runtime::fill_ragged_kernels, runtime::fill_truncated_normal_kernels, fill_sequence_example_kernels,
                        runtime::fill_cell_gradient_kernels, runtime::fill_cell_kernels, runtime::fill_color_kernels,
                        runtime::fill_control_kernels, runtime::fill_crop_kernels, runtime::fill_diagonal_kernels,
                        runtime::fill_dilation_kernels, runtime::fill_drawn_box_kernels, runtime::fill_einsum_kernels, runtime::fill_element_kernels,
                        runtime::fill_exchange_kernels, runtime::fill_block_kernels, runtime::fill_image_kernels,
                        runtime::fill_matrix_kernels, runtime::fill_normalization_kernels, runtime::fill_patch_kernels,
                        runtime::fill_pool_kernels,
                        runtime::fill_quantized_kernels, runtime::fill_resize_kernels, runtime::fill_network_kernels,
                        runtime::fill_queue_kernels, runtime::fill_random_kernels, runtime::fill_random_gamma_kernels, runtime::fill_generator_kernels, runtime::fill_replica_kernels,
                        runtime::fill_resource_kernels, runtime::fill_roster_kernels, runtime::fill_scatter_kernels,
                        runtime::fill_candidate_kernels, runtime::fill_ctc_kernels, runtime::fill_ctc_beam_kernels, runtime::fill_cumulative_log_kernels, runtime::fill_sequence_kernels, runtime::fill_set_kernels, runtime::fill_shape_kernels, runtime::fill_edit_distance_kernels, runtime::fill_rounded_range_kernels, runtime::fill_fractional_pool_kernels, runtime::fill_fused_layer_kernels, runtime::fill_special_kernels, runtime::fill_vector_kernels, runtime::fill_sparse_kernels,
                        runtime::fill_sparse_row_kernels, runtime::fill_sparse_segment_kernels, runtime::fill_sparse_value_kernels,
                        runtime::fill_staging_kernels, runtime::fill_state_kernels, runtime::fill_suppression_kernels,
                        runtime::fill_table_kernels,
                        runtime::fill_tensor_array_kernels, runtime::fill_tensor_list_kernels, runtime::fill_text_kernels,
                        runtime::fill_text_part_kernels, runtime::fill_text_value_kernels, runtime::fill_unigram_kernels,
                        runtime::fill_unique_kernels,
                        runtime::fill_update_kernels, runtime::fill_wide_resize_kernels, fill_summary_kernels, fill_iterator_kernels,
                        fill_dataset_kernels, fill_saver_kernels, fill_example_kernels, fill_tensor_message_kernels, fill_file_kernels,
                        fill_image_file_kernels)});
  return table;
}
}  // namespace detail

/// Registers the kernel of an operator type. Thread-safe; the first kernel registered for a type stays. A kernel that may block, for a
/// queue's element or an answer from outside, needs `waits` among its operator's facts: such a node runs when nothing else of its run is
/// ready, or concurrently on a dedicated thread. While it waits it calls `step.check()` from time to time, so that deadlines and
/// cancellation take effect.
void register_kernel(std::string_view type, operator_kernel k);
/// Registers one kernel for several operator types.
inline void register_kernels(std::initializer_list<std::string_view> types, const operator_kernel& k) {
  for (const auto type : types) register_kernel(type, k);
}
/// The kernel of an operator type, or null.
const operator_kernel* find_kernel(std::string_view type);

/// All operator types that have a kernel, sorted.
std::vector<std::string> kernel_types();

namespace detail {
/// `register_kernel` for a function that runs the kernel of this class.
void enter_kernel(std::string_view type, operator_kernel k, std::string_view of_class);
/// The type of the class whose kernel computes nodes of this type; empty if their function has a text of its own.
std::string_view class_of_kernel(std::string_view type);
}  // namespace detail

namespace runtime {

/// The source line that created a node, "model.cpp:12", or an empty string.
std::string source_text(const kernel_node& n);
/// The node's name, operator and source line; appended to every error of a run.
std::string node_text(const kernel_node& n);
/// Throws an error of the same class with `more` appended to its message.
[[noreturn]] inline void rethrow_with(const error& e, const std::string& more) { leat::detail::rethrow_saying(e, e.what() + more); }

}  // namespace runtime

namespace runtime {

/// The session's storage of the variable that this node declares, created if there is none. Errors: invalid_argument if it exists with
/// another dtype or an incompatible shape.
variable_slot& slot_of(kernel_context& c);

}  // namespace runtime

}  // namespace leat

#if LEAT_WITH_BODIES
#include <leat/runtime/kernels/impl/kernel.hpp>
#endif
