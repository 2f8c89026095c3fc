#pragma once
// Kernels of graphs at run time: one function per operator type, from input values to results. Most operators need none, because their
// definition runs as a program of one node (node_program.hpp). Kernels exist for operators without a definition and for those with side
// effects: variables, queues, printing. Programs register their own with `register_kernel`.

#include <leat/core/fill.hpp>
#include <leat/core/function_bodies.hpp>
#include <leat/core/operator_table.hpp>
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
#include <map>
#include <memory>
#include <mutex>

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

// The functions that enter the library's own kernels.
#define LEAT_KERNEL_FILLS(each)                                                                                                          \
  each(fill_accumulator_kernels) each(fill_array_kernels) each(fill_audio_kernels) each(fill_bessel_kernels) each(fill_binomial_kernels) \
  each(fill_block_kernels) each(fill_candidate_kernels) each(fill_cell_gradient_kernels) each(fill_cell_kernels)                         \
  each(fill_color_kernels) each(fill_complex_kernels) each(fill_control_kernels) each(fill_count_kernels) each(fill_crop_kernels)        \
  each(fill_cross_kernels) each(fill_ctc_beam_kernels) each(fill_ctc_kernels) each(fill_cumulative_log_kernels)                          \
  each(fill_diagonal_kernels) each(fill_dilation_kernels) each(fill_drawn_box_kernels) each(fill_edit_distance_kernels)                  \
  each(fill_einsum_kernels) each(fill_element_kernels) each(fill_exchange_kernels) each(fill_fourier_kernels)                            \
  each(fill_fractional_pool_kernels) each(fill_fused_layer_kernels) each(fill_generator_kernels) each(fill_glimpse_kernels)              \
  each(fill_image_kernels) each(fill_leaf_kernels) each(fill_matrix_kernels) each(fill_network_kernels) each(fill_normalization_kernels) \
  each(fill_patch_kernels) each(fill_pool_kernels) each(fill_projective_kernels) each(fill_quantized_kernels)                            \
  each(fill_quantized_layer_kernels) each(fill_queue_kernels) each(fill_ragged_kernels) each(fill_random_gamma_kernels)                  \
  each(fill_random_kernels) each(fill_replica_kernels) each(fill_resize_kernels) each(fill_resource_kernels) each(fill_roster_kernels)   \
  each(fill_rounded_range_kernels) each(fill_sampled_box_kernels) each(fill_scaled_image_kernels) each(fill_scatter_kernels)             \
  each(fill_sequence_kernels) each(fill_set_kernels) each(fill_shape_kernels) each(fill_sparse_kernels) each(fill_sparse_row_kernels)    \
  each(fill_sparse_segment_kernels) each(fill_sparse_value_kernels) each(fill_special_kernels) each(fill_staging_kernels)                \
  each(fill_state_kernels) each(fill_suppression_kernels) each(fill_table_kernels) each(fill_tensor_array_kernels)                       \
  each(fill_tensor_list_kernels) each(fill_text_format_kernels) each(fill_text_kernels) each(fill_text_part_kernels)                     \
  each(fill_text_value_kernels) each(fill_truncated_normal_kernels) each(fill_unicode_kernels) each(fill_unigram_kernels)                \
  each(fill_unique_kernels) each(fill_update_kernels) each(fill_vector_kernels) each(fill_wide_resize_kernels)
// Those that enter kernels of higher layers, because a graph read from a file may contain such nodes.
#define LEAT_HIGHER_KERNEL_FILLS(each)                                                                                \
  each(fill_dataset_kernels) each(fill_example_kernels) each(fill_file_kernels) each(fill_image_file_kernels)         \
  each(fill_iterator_kernels) each(fill_saver_kernels) each(fill_sequence_example_kernels) each(fill_summary_kernels) \
  each(fill_tensor_message_kernels)
namespace runtime {
LEAT_KERNEL_FILLS(LEAT_DECLARE_LISTED_FILL)
}  // namespace runtime

namespace detail {
// Not in the namespaces of the higher layers, so that a program that does not include them may use the names `data` and `summary`.
LEAT_HIGHER_KERNEL_FILLS(LEAT_DECLARE_LISTED_FILL)

struct entered_kernel {
  operator_kernel run;
  std::string_view of_class{};  // the class whose kernel `run` calls (class_kernel.hpp)
};
struct kernel_entry {
  std::shared_ptr<const entered_kernel> kernel;
  std::shared_ptr<const operator_kernel> of_complex;  // for nodes of complex dtypes
};
inline operator_table<kernel_entry>& kernels_by_type() {
  using namespace runtime;
  static auto& table = *new operator_table<kernel_entry>;
  static constinit table_fills fills;
  fills.run({LEAT_KERNEL_FILLS(LEAT_LISTED_FILL) LEAT_HIGHER_KERNEL_FILLS(LEAT_LISTED_FILL)});
  return table;
}
}  // namespace detail
#undef LEAT_KERNEL_FILLS
#undef LEAT_HIGHER_KERNEL_FILLS

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

/// Registers the kernel that runs an operator's nodes whose inputs, results or attributes have complex dtypes, in place of its other kernel
/// or its definition. Thread-safe; the first one registered for a type stays.
void register_complex_kernel(std::string_view type, operator_kernel k);
/// The kernel for an operator's nodes of complex dtypes, or null.
const operator_kernel* find_complex_kernel(std::string_view type);

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
