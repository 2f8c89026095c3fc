#include <leat/graphs.hpp>
#include <leat/named/recurrent/recurrent.hpp>

#include "support/messages.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <vector>

using namespace leat;
using leat_test::message_of;
using leat_test::says;

namespace {

std::vector<std::string> tensor_names(const std::vector<output>& tensors) {
  std::vector<std::string> names;
  for (const output& t : tensors) names.push_back(t.operation().name());
  return names;
}
using texts = std::vector<std::string>;

std::string nodes_text(graph& g) {
  std::string all;
  for (const auto& op : get_operations(g))
    if (op.name().find("/Initializer/") == std::string::npos) all += (all.empty() ? "" : " ") + op.name() + ":" + std::string(op.type());
  return all;
}

// The nodes that TensorFlow 2.21 (tf.compat.v1) makes for a GRUCell of 5 units with lengths of sequences, but for the initial values.
const std::string gru_nodes =
    "x:Placeholder n:Placeholder rnn/Rank:Const rnn/range/start:Const rnn/range/delta:Const rnn/range:Range rnn/concat/values_0:Const "
    "rnn/concat/axis:Const rnn/concat:ConcatV2 rnn/transpose:Transpose rnn/Cast:Cast rnn/sequence_length:Identity rnn/Shape:Shape "
    "rnn/strided_slice/stack:Const rnn/strided_slice/stack_1:Const rnn/strided_slice/stack_2:Const rnn/strided_slice:StridedSlice "
    "rnn/GRUCellZeroState/ExpandDims/dim:Const rnn/GRUCellZeroState/ExpandDims:ExpandDims rnn/GRUCellZeroState/Const:Const "
    "rnn/GRUCellZeroState/concat/axis:Const rnn/GRUCellZeroState/concat:ConcatV2 rnn/GRUCellZeroState/zeros/Const:Const "
    "rnn/GRUCellZeroState/zeros:Fill rnn/GRUCellZeroState/ExpandDims_1/dim:Const rnn/GRUCellZeroState/ExpandDims_1:ExpandDims "
    "rnn/GRUCellZeroState/Const_1:Const rnn/Shape_1:Shape rnn/stack:Pack rnn/Equal:Equal rnn/Const:Const rnn/All:All "
    "rnn/Assert/Const:Const rnn/Assert/Const_1:Const rnn/Assert/Assert/data_0:Const rnn/Assert/Assert/data_2:Const "
    "rnn/Assert/Assert:Assert rnn/CheckSeqLen:Identity rnn/Shape_2:Shape rnn/strided_slice_1/stack:Const "
    "rnn/strided_slice_1/stack_1:Const rnn/strided_slice_1/stack_2:Const rnn/strided_slice_1:StridedSlice rnn/Shape_3:Shape "
    "rnn/strided_slice_2/stack:Const rnn/strided_slice_2/stack_1:Const rnn/strided_slice_2/stack_2:Const rnn/strided_slice_2:StridedSlice "
    "rnn/ExpandDims/dim:Const rnn/ExpandDims:ExpandDims rnn/Const_1:Const rnn/concat_1/axis:Const rnn/concat_1:ConcatV2 "
    "rnn/zeros/Const:Const rnn/zeros:Fill rnn/Const_2:Const rnn/Min:Min rnn/Const_3:Const rnn/Max:Max rnn/time:Const "
    "rnn/TensorArray:TensorArrayV3 rnn/TensorArray_1:TensorArrayV3 rnn/TensorArrayUnstack/Shape:Shape "
    "rnn/TensorArrayUnstack/strided_slice/stack:Const rnn/TensorArrayUnstack/strided_slice/stack_1:Const "
    "rnn/TensorArrayUnstack/strided_slice/stack_2:Const rnn/TensorArrayUnstack/strided_slice:StridedSlice "
    "rnn/TensorArrayUnstack/range/start:Const rnn/TensorArrayUnstack/range/delta:Const rnn/TensorArrayUnstack/range:Range "
    "rnn/TensorArrayUnstack/TensorArrayScatter/TensorArrayScatterV3:TensorArrayScatterV3 rnn/Maximum/x:Const rnn/Maximum:Maximum "
    "rnn/Minimum:Minimum rnn/while/iteration_counter:Const rnn/while/Enter:Enter rnn/while/Enter_1:Enter rnn/while/Enter_2:Enter "
    "rnn/while/Enter_3:Enter rnn/while/Merge:Merge rnn/while/Merge_1:Merge rnn/while/Merge_2:Merge rnn/while/Merge_3:Merge "
    "rnn/while/Less:Less rnn/while/Less/Enter:Enter rnn/while/Less_1:Less rnn/while/Less_1/Enter:Enter rnn/while/LogicalAnd:LogicalAnd "
    "rnn/while/LoopCond:LoopCond rnn/while/Switch:Switch rnn/while/Switch_1:Switch rnn/while/Switch_2:Switch rnn/while/Switch_3:Switch "
    "rnn/while/Identity:Identity rnn/while/Identity_1:Identity rnn/while/Identity_2:Identity rnn/while/Identity_3:Identity "
    "rnn/while/add/y:Const rnn/while/add:AddV2 rnn/while/TensorArrayReadV3:TensorArrayReadV3 rnn/while/TensorArrayReadV3/Enter:Enter "
    "rnn/while/TensorArrayReadV3/Enter_1:Enter rnn/while/GreaterEqual:GreaterEqual rnn/while/GreaterEqual/Enter:Enter "
    "rnn/gru_cell/gates/kernel:VariableV2 rnn/gru_cell/gates/kernel/Assign:Assign rnn/gru_cell/gates/kernel/read:Identity "
    "rnn/gru_cell/gates/bias:VariableV2 rnn/gru_cell/gates/bias/Assign:Assign rnn/gru_cell/gates/bias/read:Identity "
    "rnn/gru_cell/candidate/kernel:VariableV2 rnn/gru_cell/candidate/kernel/Assign:Assign rnn/gru_cell/candidate/kernel/read:Identity "
    "rnn/gru_cell/candidate/bias:VariableV2 rnn/gru_cell/candidate/bias/Assign:Assign rnn/gru_cell/candidate/bias/read:Identity "
    "rnn/while/gru_cell/concat/axis:Const rnn/while/gru_cell/concat:ConcatV2 rnn/while/gru_cell/MatMul:MatMul "
    "rnn/while/gru_cell/MatMul/Enter:Enter rnn/while/gru_cell/BiasAdd:BiasAdd rnn/while/gru_cell/BiasAdd/Enter:Enter "
    "rnn/while/gru_cell/Sigmoid:Sigmoid rnn/while/gru_cell/split/split_dim:Const rnn/while/gru_cell/split:Split "
    "rnn/while/gru_cell/mul:Mul rnn/while/gru_cell/concat_1/axis:Const rnn/while/gru_cell/concat_1:ConcatV2 "
    "rnn/while/gru_cell/MatMul_1:MatMul rnn/while/gru_cell/MatMul_1/Enter:Enter rnn/while/gru_cell/BiasAdd_1:BiasAdd "
    "rnn/while/gru_cell/BiasAdd_1/Enter:Enter rnn/while/gru_cell/Tanh:Tanh rnn/while/gru_cell/mul_1:Mul rnn/while/gru_cell/sub/x:Const "
    "rnn/while/gru_cell/sub:Sub rnn/while/gru_cell/mul_2:Mul rnn/while/gru_cell/add:AddV2 rnn/while/Select:Select "
    "rnn/while/Select/Enter:Enter rnn/while/Select_1:Select rnn/while/TensorArrayWrite/TensorArrayWriteV3:TensorArrayWriteV3 "
    "rnn/while/TensorArrayWrite/TensorArrayWriteV3/Enter:Enter rnn/while/add_1/y:Const rnn/while/add_1:AddV2 "
    "rnn/while/NextIteration:NextIteration rnn/while/NextIteration_1:NextIteration rnn/while/NextIteration_2:NextIteration "
    "rnn/while/NextIteration_3:NextIteration rnn/while/Exit:Exit rnn/while/Exit_1:Exit rnn/while/Exit_2:Exit rnn/while/Exit_3:Exit "
    "rnn/TensorArrayStack/range/start:Const rnn/TensorArrayStack/range/delta:Const rnn/TensorArrayStack/range:Range "
    "rnn/TensorArrayStack/TensorArrayGatherV3:TensorArrayGatherV3 rnn/Const_4:Const rnn/Rank_1:Const rnn/range_1/start:Const "
    "rnn/range_1/delta:Const rnn/range_1:Range rnn/concat_2/values_0:Const rnn/concat_2/axis:Const rnn/concat_2:ConcatV2 "
    "rnn/transpose_1:Transpose";

}  // namespace

TEST_CASE("nodes of a recurrent network are TensorFlow's") {
  graph g;
  const auto here = g.as_default();
  const auto x = placeholder(dtype::float32, {-1, -1, 4}, "x");
  const auto n = placeholder(dtype::int64, {-1}, "n");
  const auto [outputs, state] = dynamic_rnn(gru_cell(5), x, {.sequence_length = n});
  CHECK(nodes_text(g) == gru_nodes);
  CHECK(outputs.extent() == shape_value({-1, -1, 5}));
  CHECK(state[0].extent() == shape_value({-1, 5}));
}

TEST_CASE("variables of cells") {
  const auto variables = [](const rnn_cell& cell) {
    graph g;
    const auto here = g.as_default();
    dynamic_rnn(cell, placeholder(dtype::float32, {2, 3, 4}));
    CHECK(cell.variables().size() == trainable_variables().size());
    texts all;
    for (const output& v : trainable_variables()) all.push_back(v.operation().name() + " " + leat::shape_text(v.extent()));
    return all;
  };
  CHECK(variables(basic_rnn_cell(5)) == texts{"rnn/basic_rnn_cell/kernel (9, 5)", "rnn/basic_rnn_cell/bias (5,)"});
  CHECK(variables(basic_lstm_cell(5)) == texts{"rnn/basic_lstm_cell/kernel (9, 20)", "rnn/basic_lstm_cell/bias (20,)"});
  CHECK(variables(gru_cell(5)) == texts{"rnn/gru_cell/gates/kernel (9, 10)", "rnn/gru_cell/gates/bias (10,)",
                                        "rnn/gru_cell/candidate/kernel (9, 5)", "rnn/gru_cell/candidate/bias (5,)"});
  CHECK(variables(lstm_cell(5, {.use_peepholes = true, .num_proj = 2})) ==
        texts{"rnn/lstm_cell/kernel (6, 20)", "rnn/lstm_cell/bias (20,)", "rnn/lstm_cell/w_f_diag (5,)", "rnn/lstm_cell/w_i_diag (5,)",
              "rnn/lstm_cell/w_o_diag (5,)", "rnn/lstm_cell/projection/kernel (5, 2)"});
  CHECK(variables(multi_cell({basic_lstm_cell(5), gru_cell(2)})) ==
        texts{"rnn/multi_rnn_cell/cell_0/basic_lstm_cell/kernel (9, 20)", "rnn/multi_rnn_cell/cell_0/basic_lstm_cell/bias (20,)",
              "rnn/multi_rnn_cell/cell_1/gru_cell/gates/kernel (7, 4)", "rnn/multi_rnn_cell/cell_1/gru_cell/gates/bias (4,)",
              "rnn/multi_rnn_cell/cell_1/gru_cell/candidate/kernel (7, 2)", "rnn/multi_rnn_cell/cell_1/gru_cell/candidate/bias (2,)"});
  CHECK(variables(dropout_cell(basic_rnn_cell(1, {.name = "mine"}), {.input_keep_prob = 0.5})) ==
        texts{"rnn/mine/kernel (5, 1)", "rnn/mine/bias (1,)"});
}

TEST_CASE("a cell shares its variables among its calls; another cell has its own, or finds them") {
  graph g;
  const auto here = g.as_default();
  const auto x = placeholder(dtype::float32, {2, 4}, "x");
  const auto cell = basic_rnn_cell(3);
  CHECK(cell.name().empty());
  const auto [y, next] = cell(x, cell.zero_state(2));
  const auto [z, last] = cell(x, next);
  CHECK(y.name() == "basic_rnn_cell/Tanh:0");
  CHECK(z.name() == "basic_rnn_cell/Tanh_1:0");
  CHECK(cell.name() == "basic_rnn_cell");
  CHECK(trainable_variables().size() == 2);
  CHECK(tensor_names(cell.variables()) == tensor_names(trainable_variables()));
  const auto other = basic_rnn_cell(3);
  other(x, next);
  CHECK(other.name() == "basic_rnn_cell_1");
  const auto same = basic_rnn_cell(3, {.name = "basic_rnn_cell", .reuse = true});
  same(x, next);
  CHECK(tensor_names(same.variables()) == tensor_names(cell.variables()));
  CHECK(trainable_variables().size() == 4);
  {
    const auto twice = [&] { dynamic_rnn(gru_cell(3), placeholder(dtype::float32, {2, 5, 4})); };
    twice();
    CHECK(says(message_of<invalid_argument>(twice), "Variable rnn/gru_cell/gates/kernel already exists"));
    const auto scope = variable_scope(get_variable_scope(), {.reuse = true});
    twice();
  }
}

TEST_CASE("scopes of recurrent networks") {
  graph g;
  const auto here = g.as_default();
  const auto x = placeholder(dtype::float32, {2, 3, 4}, "x");
  const auto first = dynamic_rnn(basic_rnn_cell(1), x, {.scope = "encoder"});
  CHECK(first.outputs.name() == "encoder/transpose_1:0");
  const auto both = bidirectional_dynamic_rnn(basic_rnn_cell(1), gru_cell(2), x);
  CHECK(both.forward.outputs.name() == "bidirectional_rnn/fw/fw/transpose_1:0");
  CHECK(both.backward.outputs.name() == "ReverseV2:0");
  CHECK(both.backward.outputs.extent() == shape_value({2, 3, 2}));
  CHECK(trainable_variables("bidirectional_rnn/bw/gru_cell/").size() == 4);
  const auto given = bidirectional_dynamic_rnn(basic_rnn_cell(1), basic_rnn_cell(1), x,
                                               {.sequence_length = std::vector<std::int32_t>{3, 1}, .scope = "given"});
  CHECK(given.backward.outputs.name() == "ReverseSequence:0");
  CHECK(get_operation_by_name(g, "given/fw/fw/sequence_length").inputs()[0].name() == "given/fw/fw/Cast/x:0");
  const auto steps = static_rnn(basic_lstm_cell(2), unstack(x, 1), {.scope = ""});
  CHECK(steps.outputs.size() == 3);
  CHECK(steps.outputs[2].name() == "rnn/basic_lstm_cell/Mul_8:0");
  CHECK(steps.state[0].name() == "rnn/basic_lstm_cell/Add_5:0");
}

TEST_CASE("a cell of a program's own") {
  graph g;
  const auto here = g.as_default();
  const rnn_cell sums({.kind = "sums",
                       .class_name = "Sums",
                       .output_size = 4,
                       .state_parts = {{.name = "sum", .size = 4}},
                       .step = [](const output& x, const rnn_state& before) -> rnn_result {
                         const auto weight = get_variable("weight", {4}, {.initializer = constant_initializer(1)});
                         const auto sum = before[0] + x * weight;
                         return {sum, {sum}};
                       }});
  const auto [outputs, state] = dynamic_rnn(sums, placeholder(dtype::float32, {-1, 3, 4}));
  CHECK(outputs.extent() == shape_value({-1, 3, 4}));
  CHECK(tensor_names(sums.variables()) == texts{"rnn/sums/weight"});
}

TEST_CASE("what cells and recurrent networks refuse") {
  graph g;
  const auto here = g.as_default();
  const auto x = placeholder(dtype::float32, {2, 3, 4}, "x");
  const auto refused = [](auto f) { return message_of<invalid_argument>(f); };
  const auto cell = basic_lstm_cell(5);
  CHECK(says(refused([&] { dynamic_rnn(cell, placeholder(dtype::float32, {2, 3})); }), "Shape (2, 3) must have rank at least 3"));
  CHECK(says(refused([&] { dynamic_rnn(cell, placeholder(dtype::float32)); }), "Input size (depth of inputs) must be accessible"));
  CHECK(says(refused([&] { dynamic_rnn(cell, placeholder(dtype::float32, {2, 3, -1})); }), "must be accessible via shape inference"));
  CHECK(says(refused([&] { dynamic_rnn(cell, placeholder(dtype::float32, {2, 3, 4, 5})); }), "inputs are [batch, time, n]"));
  CHECK(says(refused([&] { dynamic_rnn(cell, placeholder(dtype::int32, {2, 3, 4})); }), "only supports floating point inputs", "int32"));
  CHECK(says(refused([&] { dynamic_rnn(cell, output{}); }), "an empty output"));
  CHECK(says(refused([&] {
               dynamic_rnn(cell, x, {.sequence_length = placeholder(dtype::int32, {2, 1})});
             }),
             "sequence_length must be a vector of length batch_size", "(2, 1)"));
  CHECK(says(refused([&] { dynamic_rnn(cell, x, {.sequence_length = 3}); }), "sequence_length must be a vector of length batch_size"));
  CHECK(says(refused([&] {
               dynamic_rnn(cell, x, {.initial_state = {zeros_of({2, 5})}});
             }),
             "basic_lstm_cell: a state of 1 tensors, and that of this cell has 2: c [batch, 5], h [batch, 5]"));
  CHECK(says(refused([&] {
               dynamic_rnn(cell, x, {.initial_state = {zeros_of({2, 5}), zeros_of({2, 4})}});
             }),
             "basic_lstm_cell: the state is h [batch, 5], and this is"));
  CHECK(says(refused([&] { dynamic_rnn(cell, x, {.initial_state = cell.zero_state(2, dtype::float64)}); }),
             "a state of another dtype than float32"));
  CHECK(says(refused([&] { dynamic_rnn(cell, x, {.initial_state = cell.zero_state(3)}); }), "3"));
  CHECK(says(refused([&] { dynamic_rnn(cell, x, {.parallel_iterations = 0}); }), "`parallel_iterations` must be a positive integer"));
  CHECK(says(refused([&] {
               cell(placeholder(dtype::float32, {2, 3, 4}), cell.zero_state(2));
             }),
             "expected ndim=2, found ndim=3", "(2, 3, 4)"));
  CHECK(says(refused([&] { cell(placeholder(dtype::float32, {2, -1}), cell.zero_state(2)); }), "Expected inputs.shape[-1] to be known"));
  CHECK(says(refused([&] { static_rnn(cell, {}); }), "inputs must not be empty"));
  CHECK(says(refused([&] { static_rnn(cell, {x}); }), "the inputs of a step are [batch, n]"));
  CHECK(says(refused([&] {
               static_rnn(cell, {placeholder(dtype::float32, {2, 4}), placeholder(dtype::float32, {3, 4})});
             }),
             "the batch differs"));
  CHECK(says(refused([&] { cell.zero_state(-1); }), "a batch is one whole number, 0 or more"));
  CHECK(says(refused([&] { cell.zero_state(1.5f); }), "a batch is one whole number, 0 or more"));
  CHECK(says(refused([&] { cell.zero_state({1, 2}); }), "a batch is one whole number, 0 or more"));
  CHECK(says(refused([&] { cell.zero_state(zeros_of({2, 2})); }), "must be either a scalar or vector"));
  CHECK(says(refused([&] { cell.zero_state(2, dtype::int32); }), "only supports floating point"));
  CHECK(says(refused([] { basic_rnn_cell(0); }), "basic_rnn_cell: units is 0, not 1 or more"));
  CHECK(says(refused([] { gru_cell(-3); }), "gru_cell: units is -3"));
  CHECK(says(refused([] { basic_lstm_cell(std::int64_t{1} << 62); }), "basic_lstm_cell: units is"));
  CHECK(says(refused([] { lstm_cell(2, {.num_proj = -1}); }), "num_proj is -1"));
  CHECK(says(refused([] { multi_cell({}); }), "Must specify at least one cell"));
  CHECK(says(refused([&] { dropout_cell(cell, {.state_keep_prob = 0}); }), "Parameter state_keep_prob must be between 0 and 1"));
  CHECK(says(refused([&] { dropout_cell(cell, {.input_keep_prob = std::nan("")}); }), "Parameter input_keep_prob"));
  CHECK(
      says(refused([] { rnn_cell({.kind = "mine", .class_name = "Mine", .output_size = 1, .step = {}}); }), "mine: a cell without a step"));
}
