// Options of cells and recurrent networks: states that are one tensor, lengths of sequences without elements and beyond the inputs, cells
// around cells, steps that a program controls. Names of nodes and values are TensorFlow's.

#include "support/messages.hpp"
#include "support/node_results.hpp"

using namespace leat;
using namespace node_results;

namespace recurrent_options_test {

std::string nodes_text(graph& g) {
  std::string all;
  for (const auto& op : get_operations(g))
    if (op.name().find("/Initializer/") == std::string::npos) all += (all.empty() ? "" : " ") + op.name() + ":" + std::string(op.type());
  return all;
}
/// The nodes of one step of a cell, with its first state.
std::string nodes_of_step(const rnn_cell& cell, graph& g) {
  const auto x = placeholder(dtype::float32, {2, 4}, "x");
  cell(x, cell.zero_state(2));
  return nodes_text(g);
}
/// Sets all variables to 0.1.
void set_variables(graph_session& s) {
  std::vector<graph_operation> all;
  for (const output& v : global_variables()) all.push_back(assign(v, zeros_like(v) + 0.1f).operation());
  for (const auto& one : all) s.run(one);
}
tensor_value inputs() {
  number_list list;
  for (int k = 0; k < 24; ++k) list.push_back(k / 24.0);
  return tensor_of(dtype::float32, {3, 2, 4}, list);
}

}  // namespace recurrent_options_test
using namespace recurrent_options_test;

TEST_CASE("states of one tensor: nodes are TensorFlow's") {
  {
    graph g;
    const auto here = g.as_default();
    CHECK(nodes_of_step(basic_lstm_cell(5, {.state_is_tuple = false}), g) ==
          "x:Placeholder BasicLSTMCellZeroState/Const:Const BasicLSTMCellZeroState/Const_1:Const "
          "BasicLSTMCellZeroState/concat/axis:Const BasicLSTMCellZeroState/concat:ConcatV2 "
          "BasicLSTMCellZeroState/zeros/Const:Const BasicLSTMCellZeroState/zeros:Fill BasicLSTMCellZeroState/Const_2:Const "
          "BasicLSTMCellZeroState/Const_3:Const basic_lstm_cell/kernel:VariableV2 basic_lstm_cell/kernel/Assign:Assign "
          "basic_lstm_cell/kernel/read:Identity basic_lstm_cell/bias:VariableV2 basic_lstm_cell/bias/Assign:Assign "
          "basic_lstm_cell/bias/read:Identity basic_lstm_cell/Const:Const basic_lstm_cell/split:Split "
          "basic_lstm_cell/concat/axis:Const basic_lstm_cell/concat:ConcatV2 basic_lstm_cell/MatMul:MatMul "
          "basic_lstm_cell/BiasAdd:BiasAdd basic_lstm_cell/split_1:Split basic_lstm_cell/Const_1:Const basic_lstm_cell/Add:AddV2 "
          "basic_lstm_cell/Sigmoid:Sigmoid basic_lstm_cell/Mul:Mul basic_lstm_cell/Sigmoid_1:Sigmoid basic_lstm_cell/Tanh:Tanh "
          "basic_lstm_cell/Mul_1:Mul basic_lstm_cell/Add_1:AddV2 basic_lstm_cell/Tanh_1:Tanh basic_lstm_cell/Sigmoid_2:Sigmoid "
          "basic_lstm_cell/Mul_2:Mul basic_lstm_cell/concat_1/axis:Const basic_lstm_cell/concat_1:ConcatV2");
  }
  {
    graph g;
    const auto here = g.as_default();
    CHECK(nodes_of_step(lstm_cell(5, {.num_proj = 3, .state_is_tuple = false}), g) ==
          "x:Placeholder LSTMCellZeroState/Const:Const LSTMCellZeroState/Const_1:Const LSTMCellZeroState/concat/axis:Const "
          "LSTMCellZeroState/concat:ConcatV2 LSTMCellZeroState/zeros/Const:Const LSTMCellZeroState/zeros:Fill "
          "LSTMCellZeroState/Const_2:Const LSTMCellZeroState/Const_3:Const lstm_cell/kernel:VariableV2 "
          "lstm_cell/kernel/Assign:Assign lstm_cell/kernel/read:Identity lstm_cell/bias:VariableV2 lstm_cell/bias/Assign:Assign "
          "lstm_cell/bias/read:Identity lstm_cell/projection/kernel:VariableV2 lstm_cell/projection/kernel/Assign:Assign "
          "lstm_cell/projection/kernel/read:Identity lstm_cell/Slice/begin:Const lstm_cell/Slice/size:Const lstm_cell/Slice:Slice "
          "lstm_cell/Slice_1/begin:Const lstm_cell/Slice_1/size:Const lstm_cell/Slice_1:Slice lstm_cell/concat/axis:Const "
          "lstm_cell/concat:ConcatV2 lstm_cell/MatMul:MatMul lstm_cell/BiasAdd:BiasAdd lstm_cell/split/split_dim:Const "
          "lstm_cell/split:Split lstm_cell/add/y:Const lstm_cell/add:AddV2 lstm_cell/Sigmoid:Sigmoid lstm_cell/mul:Mul "
          "lstm_cell/Sigmoid_1:Sigmoid lstm_cell/Tanh:Tanh lstm_cell/mul_1:Mul lstm_cell/add_1:AddV2 lstm_cell/Sigmoid_2:Sigmoid "
          "lstm_cell/Tanh_1:Tanh lstm_cell/mul_2:Mul lstm_cell/MatMul_1:MatMul lstm_cell/concat_1/axis:Const "
          "lstm_cell/concat_1:ConcatV2");
  }
  {
    graph g;
    const auto here = g.as_default();
    CHECK(nodes_of_step(multi_cell({gru_cell(5), gru_cell(3)}, {.state_is_tuple = false}), g) ==
          "x:Placeholder MultiRNNCellZeroState/MultiRNNCellZeroState/Const:Const "
          "MultiRNNCellZeroState/MultiRNNCellZeroState/Const_1:Const "
          "MultiRNNCellZeroState/MultiRNNCellZeroState/concat/axis:Const "
          "MultiRNNCellZeroState/MultiRNNCellZeroState/concat:ConcatV2 "
          "MultiRNNCellZeroState/MultiRNNCellZeroState/zeros/Const:Const MultiRNNCellZeroState/MultiRNNCellZeroState/zeros:Fill "
          "MultiRNNCellZeroState/MultiRNNCellZeroState/Const_2:Const MultiRNNCellZeroState/MultiRNNCellZeroState/Const_3:Const "
          "multi_rnn_cell/cell_0/Slice/begin:Const multi_rnn_cell/cell_0/Slice/size:Const multi_rnn_cell/cell_0/Slice:Slice "
          "multi_rnn_cell/cell_0/gru_cell/gates/kernel:VariableV2 multi_rnn_cell/cell_0/gru_cell/gates/kernel/Assign:Assign "
          "multi_rnn_cell/cell_0/gru_cell/gates/kernel/read:Identity multi_rnn_cell/cell_0/gru_cell/gates/bias:VariableV2 "
          "multi_rnn_cell/cell_0/gru_cell/gates/bias/Assign:Assign multi_rnn_cell/cell_0/gru_cell/gates/bias/read:Identity "
          "multi_rnn_cell/cell_0/gru_cell/candidate/kernel:VariableV2 "
          "multi_rnn_cell/cell_0/gru_cell/candidate/kernel/Assign:Assign "
          "multi_rnn_cell/cell_0/gru_cell/candidate/kernel/read:Identity multi_rnn_cell/cell_0/gru_cell/candidate/bias:VariableV2 "
          "multi_rnn_cell/cell_0/gru_cell/candidate/bias/Assign:Assign "
          "multi_rnn_cell/cell_0/gru_cell/candidate/bias/read:Identity multi_rnn_cell/cell_0/gru_cell/concat/axis:Const "
          "multi_rnn_cell/cell_0/gru_cell/concat:ConcatV2 multi_rnn_cell/cell_0/gru_cell/MatMul:MatMul "
          "multi_rnn_cell/cell_0/gru_cell/BiasAdd:BiasAdd multi_rnn_cell/cell_0/gru_cell/Sigmoid:Sigmoid "
          "multi_rnn_cell/cell_0/gru_cell/split/split_dim:Const multi_rnn_cell/cell_0/gru_cell/split:Split "
          "multi_rnn_cell/cell_0/gru_cell/mul:Mul multi_rnn_cell/cell_0/gru_cell/concat_1/axis:Const "
          "multi_rnn_cell/cell_0/gru_cell/concat_1:ConcatV2 multi_rnn_cell/cell_0/gru_cell/MatMul_1:MatMul "
          "multi_rnn_cell/cell_0/gru_cell/BiasAdd_1:BiasAdd multi_rnn_cell/cell_0/gru_cell/Tanh:Tanh "
          "multi_rnn_cell/cell_0/gru_cell/mul_1:Mul multi_rnn_cell/cell_0/gru_cell/sub/x:Const "
          "multi_rnn_cell/cell_0/gru_cell/sub:Sub multi_rnn_cell/cell_0/gru_cell/mul_2:Mul "
          "multi_rnn_cell/cell_0/gru_cell/add:AddV2 multi_rnn_cell/cell_1/Slice/begin:Const "
          "multi_rnn_cell/cell_1/Slice/size:Const multi_rnn_cell/cell_1/Slice:Slice "
          "multi_rnn_cell/cell_1/gru_cell/gates/kernel:VariableV2 multi_rnn_cell/cell_1/gru_cell/gates/kernel/Assign:Assign "
          "multi_rnn_cell/cell_1/gru_cell/gates/kernel/read:Identity multi_rnn_cell/cell_1/gru_cell/gates/bias:VariableV2 "
          "multi_rnn_cell/cell_1/gru_cell/gates/bias/Assign:Assign multi_rnn_cell/cell_1/gru_cell/gates/bias/read:Identity "
          "multi_rnn_cell/cell_1/gru_cell/candidate/kernel:VariableV2 "
          "multi_rnn_cell/cell_1/gru_cell/candidate/kernel/Assign:Assign "
          "multi_rnn_cell/cell_1/gru_cell/candidate/kernel/read:Identity multi_rnn_cell/cell_1/gru_cell/candidate/bias:VariableV2 "
          "multi_rnn_cell/cell_1/gru_cell/candidate/bias/Assign:Assign "
          "multi_rnn_cell/cell_1/gru_cell/candidate/bias/read:Identity multi_rnn_cell/cell_1/gru_cell/concat/axis:Const "
          "multi_rnn_cell/cell_1/gru_cell/concat:ConcatV2 multi_rnn_cell/cell_1/gru_cell/MatMul:MatMul "
          "multi_rnn_cell/cell_1/gru_cell/BiasAdd:BiasAdd multi_rnn_cell/cell_1/gru_cell/Sigmoid:Sigmoid "
          "multi_rnn_cell/cell_1/gru_cell/split/split_dim:Const multi_rnn_cell/cell_1/gru_cell/split:Split "
          "multi_rnn_cell/cell_1/gru_cell/mul:Mul multi_rnn_cell/cell_1/gru_cell/concat_1/axis:Const "
          "multi_rnn_cell/cell_1/gru_cell/concat_1:ConcatV2 multi_rnn_cell/cell_1/gru_cell/MatMul_1:MatMul "
          "multi_rnn_cell/cell_1/gru_cell/BiasAdd_1:BiasAdd multi_rnn_cell/cell_1/gru_cell/Tanh:Tanh "
          "multi_rnn_cell/cell_1/gru_cell/mul_1:Mul multi_rnn_cell/cell_1/gru_cell/sub/x:Const "
          "multi_rnn_cell/cell_1/gru_cell/sub:Sub multi_rnn_cell/cell_1/gru_cell/mul_2:Mul "
          "multi_rnn_cell/cell_1/gru_cell/add:AddV2 multi_rnn_cell/concat/axis:Const multi_rnn_cell/concat:ConcatV2");
  }
}

TEST_CASE("steps that a program controls: nodes are TensorFlow's") {
  const auto build = [](std::int64_t batch, bool emits) {
    graph g;
    const auto here = g.as_default();
    const auto x = placeholder(dtype::float32, {batch, 4}, "x"), n = placeholder(dtype::int32, {batch}, "n");
    const auto cell = gru_cell(5);
    const rnn_state zero = batch < 0 ? cell.zero_state(index(shape_of(x), {0})) : cell.zero_state(batch);
    raw_rnn(cell, [&](const output& time, const raw_rnn_before& before) {
      raw_rnn_step step{.finished = greater_equal(time, n), .next_input = x, .next_state = before.is_first() ? zero : before.state};
      if (before.is_first()) {
        if (emits) step.emit = constant(std::vector<float>{0, 0, 0}, "zeros");
        if (emits) step.loop_state = {constant(1.0f, "ls")};
        return step;
      }
      step.emit = emits ? index(before.outputs, {along::all(), along::until(3)}) : before.outputs;
      if (emits) step.loop_state = {before.loop_state[0] + 1.0f};
      return step;
    });
    return nodes_text(g);
  };
  CHECK(build(2, false) ==
        "x:Placeholder n:Placeholder GRUCellZeroState/Const:Const GRUCellZeroState/Const_1:Const "
        "GRUCellZeroState/concat/axis:Const GRUCellZeroState/concat:ConcatV2 GRUCellZeroState/zeros/Const:Const "
        "GRUCellZeroState/zeros:Fill GRUCellZeroState/Const_2:Const GRUCellZeroState/Const_3:Const rnn/Const:Const "
        "rnn/GreaterEqual:GreaterEqual rnn/Const_1:Const rnn/rnn_output_0/size:Const rnn/rnn_output_0:TensorArrayV3 "
        "rnn/Const_2:Const rnn/Const_3:Const rnn/concat/axis:Const rnn/concat:ConcatV2 rnn/zeros/Const:Const rnn/zeros:Fill "
        "rnn/while/Enter:Enter rnn/while/Enter_1:Enter rnn/while/Enter_2:Enter rnn/while/Enter_3:Enter rnn/while/Enter_4:Enter "
        "rnn/while/Enter_5:Enter rnn/while/Merge:Merge rnn/while/Merge_1:Merge rnn/while/Merge_2:Merge rnn/while/Merge_3:Merge "
        "rnn/while/Merge_4:Merge rnn/while/Merge_5:Merge rnn/while/Const:Const rnn/while/All:All "
        "rnn/while/LogicalNot:LogicalNot rnn/while/LoopCond:LoopCond rnn/while/Switch:Switch rnn/while/Switch_1:Switch "
        "rnn/while/Switch_2:Switch rnn/while/Switch_3:Switch rnn/while/Switch_4:Switch rnn/while/Switch_5:Switch "
        "rnn/while/Identity:Identity rnn/while/Identity_1:Identity rnn/while/Identity_2:Identity rnn/while/Identity_3:Identity "
        "rnn/while/Identity_4:Identity rnn/while/Identity_5:Identity rnn/gru_cell/gates/kernel:VariableV2 "
        "rnn/gru_cell/gates/kernel/Assign:Assign rnn/gru_cell/gates/kernel/read:Identity rnn/gru_cell/gates/bias:VariableV2 "
        "rnn/gru_cell/gates/bias/Assign:Assign rnn/gru_cell/gates/bias/read:Identity rnn/gru_cell/candidate/kernel:VariableV2 "
        "rnn/gru_cell/candidate/kernel/Assign:Assign rnn/gru_cell/candidate/kernel/read:Identity "
        "rnn/gru_cell/candidate/bias:VariableV2 rnn/gru_cell/candidate/bias/Assign:Assign "
        "rnn/gru_cell/candidate/bias/read:Identity rnn/while/gru_cell/concat/axis:Const rnn/while/gru_cell/concat:ConcatV2 "
        "rnn/while/gru_cell/MatMul:MatMul rnn/while/gru_cell/MatMul/Enter:Enter rnn/while/gru_cell/BiasAdd:BiasAdd "
        "rnn/while/gru_cell/BiasAdd/Enter:Enter rnn/while/gru_cell/Sigmoid:Sigmoid rnn/while/gru_cell/split/split_dim:Const "
        "rnn/while/gru_cell/split:Split rnn/while/gru_cell/mul:Mul rnn/while/gru_cell/concat_1/axis:Const "
        "rnn/while/gru_cell/concat_1:ConcatV2 rnn/while/gru_cell/MatMul_1:MatMul rnn/while/gru_cell/MatMul_1/Enter:Enter "
        "rnn/while/gru_cell/BiasAdd_1:BiasAdd rnn/while/gru_cell/BiasAdd_1/Enter:Enter rnn/while/gru_cell/Tanh:Tanh "
        "rnn/while/gru_cell/mul_1:Mul rnn/while/gru_cell/sub/x:Const rnn/while/gru_cell/sub:Sub rnn/while/gru_cell/mul_2:Mul "
        "rnn/while/gru_cell/add:AddV2 rnn/while/add/y:Const rnn/while/add:AddV2 rnn/while/GreaterEqual:GreaterEqual "
        "rnn/while/GreaterEqual/Enter:Enter rnn/while/Select:Select rnn/while/Select/Enter:Enter rnn/while/Select_1:Select "
        "rnn/while/TensorArrayWrite/TensorArrayWriteV3:TensorArrayWriteV3 "
        "rnn/while/TensorArrayWrite/TensorArrayWriteV3/Enter:Enter rnn/while/LogicalOr:LogicalOr "
        "rnn/while/NextIteration:NextIteration rnn/while/NextIteration_1:NextIteration rnn/while/NextIteration_2:NextIteration "
        "rnn/while/NextIteration_2/Enter:Enter rnn/while/NextIteration_3:NextIteration rnn/while/NextIteration_4:NextIteration "
        "rnn/while/NextIteration_5:NextIteration rnn/while/Exit:Exit rnn/while/Exit_1:Exit rnn/while/Exit_2:Exit "
        "rnn/while/Exit_3:Exit rnn/while/Exit_4:Exit rnn/while/Exit_5:Exit");
  CHECK(build(2, true) ==
        "x:Placeholder n:Placeholder GRUCellZeroState/Const:Const GRUCellZeroState/Const_1:Const "
        "GRUCellZeroState/concat/axis:Const GRUCellZeroState/concat:ConcatV2 GRUCellZeroState/zeros/Const:Const "
        "GRUCellZeroState/zeros:Fill GRUCellZeroState/Const_2:Const GRUCellZeroState/Const_3:Const rnn/Const:Const "
        "rnn/GreaterEqual:GreaterEqual rnn/zeros:Const rnn/ls:Const rnn/rnn_output_0/size:Const rnn/rnn_output_0:TensorArrayV3 "
        "rnn/Const_1:Const rnn/Const_2:Const rnn/concat/axis:Const rnn/concat:ConcatV2 rnn/zeros_1/Const:Const rnn/zeros_1:Fill "
        "rnn/while/Enter:Enter rnn/while/Enter_1:Enter rnn/while/Enter_2:Enter rnn/while/Enter_3:Enter rnn/while/Enter_4:Enter "
        "rnn/while/Enter_5:Enter rnn/while/Merge:Merge rnn/while/Merge_1:Merge rnn/while/Merge_2:Merge rnn/while/Merge_3:Merge "
        "rnn/while/Merge_4:Merge rnn/while/Merge_5:Merge rnn/while/Const:Const rnn/while/All:All "
        "rnn/while/LogicalNot:LogicalNot rnn/while/LoopCond:LoopCond rnn/while/Switch:Switch rnn/while/Switch_1:Switch "
        "rnn/while/Switch_2:Switch rnn/while/Switch_3:Switch rnn/while/Switch_4:Switch rnn/while/Switch_5:Switch "
        "rnn/while/Identity:Identity rnn/while/Identity_1:Identity rnn/while/Identity_2:Identity rnn/while/Identity_3:Identity "
        "rnn/while/Identity_4:Identity rnn/while/Identity_5:Identity rnn/gru_cell/gates/kernel:VariableV2 "
        "rnn/gru_cell/gates/kernel/Assign:Assign rnn/gru_cell/gates/kernel/read:Identity rnn/gru_cell/gates/bias:VariableV2 "
        "rnn/gru_cell/gates/bias/Assign:Assign rnn/gru_cell/gates/bias/read:Identity rnn/gru_cell/candidate/kernel:VariableV2 "
        "rnn/gru_cell/candidate/kernel/Assign:Assign rnn/gru_cell/candidate/kernel/read:Identity "
        "rnn/gru_cell/candidate/bias:VariableV2 rnn/gru_cell/candidate/bias/Assign:Assign "
        "rnn/gru_cell/candidate/bias/read:Identity rnn/while/gru_cell/concat/axis:Const rnn/while/gru_cell/concat:ConcatV2 "
        "rnn/while/gru_cell/MatMul:MatMul rnn/while/gru_cell/MatMul/Enter:Enter rnn/while/gru_cell/BiasAdd:BiasAdd "
        "rnn/while/gru_cell/BiasAdd/Enter:Enter rnn/while/gru_cell/Sigmoid:Sigmoid rnn/while/gru_cell/split/split_dim:Const "
        "rnn/while/gru_cell/split:Split rnn/while/gru_cell/mul:Mul rnn/while/gru_cell/concat_1/axis:Const "
        "rnn/while/gru_cell/concat_1:ConcatV2 rnn/while/gru_cell/MatMul_1:MatMul rnn/while/gru_cell/MatMul_1/Enter:Enter "
        "rnn/while/gru_cell/BiasAdd_1:BiasAdd rnn/while/gru_cell/BiasAdd_1/Enter:Enter rnn/while/gru_cell/Tanh:Tanh "
        "rnn/while/gru_cell/mul_1:Mul rnn/while/gru_cell/sub/x:Const rnn/while/gru_cell/sub:Sub rnn/while/gru_cell/mul_2:Mul "
        "rnn/while/gru_cell/add:AddV2 rnn/while/add/y:Const rnn/while/add:AddV2 rnn/while/GreaterEqual:GreaterEqual "
        "rnn/while/GreaterEqual/Enter:Enter rnn/while/strided_slice/stack:Const rnn/while/strided_slice/stack_1:Const "
        "rnn/while/strided_slice/stack_2:Const rnn/while/strided_slice:StridedSlice rnn/while/add_1/y:Const "
        "rnn/while/add_1:AddV2 rnn/while/Select:Select rnn/while/Select/Enter:Enter rnn/while/Select_1:Select "
        "rnn/while/TensorArrayWrite/TensorArrayWriteV3:TensorArrayWriteV3 "
        "rnn/while/TensorArrayWrite/TensorArrayWriteV3/Enter:Enter rnn/while/LogicalOr:LogicalOr "
        "rnn/while/NextIteration:NextIteration rnn/while/NextIteration_1:NextIteration rnn/while/NextIteration_2:NextIteration "
        "rnn/while/NextIteration_2/Enter:Enter rnn/while/NextIteration_3:NextIteration rnn/while/NextIteration_4:NextIteration "
        "rnn/while/NextIteration_5:NextIteration rnn/while/Exit:Exit rnn/while/Exit_1:Exit rnn/while/Exit_2:Exit "
        "rnn/while/Exit_3:Exit rnn/while/Exit_4:Exit rnn/while/Exit_5:Exit");
  CHECK(build(-1, false) ==
        "x:Placeholder n:Placeholder Shape:Shape strided_slice/stack:Const strided_slice/stack_1:Const "
        "strided_slice/stack_2:Const strided_slice:StridedSlice GRUCellZeroState/ExpandDims/dim:Const "
        "GRUCellZeroState/ExpandDims:ExpandDims GRUCellZeroState/Const:Const GRUCellZeroState/concat/axis:Const "
        "GRUCellZeroState/concat:ConcatV2 GRUCellZeroState/zeros/Const:Const GRUCellZeroState/zeros:Fill "
        "GRUCellZeroState/ExpandDims_1/dim:Const GRUCellZeroState/ExpandDims_1:ExpandDims GRUCellZeroState/Const_1:Const "
        "rnn/Const:Const rnn/GreaterEqual:GreaterEqual rnn/Const_1:Const rnn/Shape:Shape rnn/strided_slice/stack:Const "
        "rnn/strided_slice/stack_1:Const rnn/strided_slice/stack_2:Const rnn/strided_slice:StridedSlice "
        "rnn/rnn_output_0/size:Const rnn/rnn_output_0:TensorArrayV3 rnn/ExpandDims/dim:Const rnn/ExpandDims:ExpandDims "
        "rnn/Const_2:Const rnn/concat/axis:Const rnn/concat:ConcatV2 rnn/zeros/Const:Const rnn/zeros:Fill rnn/while/Enter:Enter "
        "rnn/while/Enter_1:Enter rnn/while/Enter_2:Enter rnn/while/Enter_3:Enter rnn/while/Enter_4:Enter "
        "rnn/while/Enter_5:Enter rnn/while/Merge:Merge rnn/while/Merge_1:Merge rnn/while/Merge_2:Merge rnn/while/Merge_3:Merge "
        "rnn/while/Merge_4:Merge rnn/while/Merge_5:Merge rnn/while/Const:Const rnn/while/All:All "
        "rnn/while/LogicalNot:LogicalNot rnn/while/LoopCond:LoopCond rnn/while/Switch:Switch rnn/while/Switch_1:Switch "
        "rnn/while/Switch_2:Switch rnn/while/Switch_3:Switch rnn/while/Switch_4:Switch rnn/while/Switch_5:Switch "
        "rnn/while/Identity:Identity rnn/while/Identity_1:Identity rnn/while/Identity_2:Identity rnn/while/Identity_3:Identity "
        "rnn/while/Identity_4:Identity rnn/while/Identity_5:Identity rnn/gru_cell/gates/kernel:VariableV2 "
        "rnn/gru_cell/gates/kernel/Assign:Assign rnn/gru_cell/gates/kernel/read:Identity rnn/gru_cell/gates/bias:VariableV2 "
        "rnn/gru_cell/gates/bias/Assign:Assign rnn/gru_cell/gates/bias/read:Identity rnn/gru_cell/candidate/kernel:VariableV2 "
        "rnn/gru_cell/candidate/kernel/Assign:Assign rnn/gru_cell/candidate/kernel/read:Identity "
        "rnn/gru_cell/candidate/bias:VariableV2 rnn/gru_cell/candidate/bias/Assign:Assign "
        "rnn/gru_cell/candidate/bias/read:Identity rnn/while/gru_cell/concat/axis:Const rnn/while/gru_cell/concat:ConcatV2 "
        "rnn/while/gru_cell/MatMul:MatMul rnn/while/gru_cell/MatMul/Enter:Enter rnn/while/gru_cell/BiasAdd:BiasAdd "
        "rnn/while/gru_cell/BiasAdd/Enter:Enter rnn/while/gru_cell/Sigmoid:Sigmoid rnn/while/gru_cell/split/split_dim:Const "
        "rnn/while/gru_cell/split:Split rnn/while/gru_cell/mul:Mul rnn/while/gru_cell/concat_1/axis:Const "
        "rnn/while/gru_cell/concat_1:ConcatV2 rnn/while/gru_cell/MatMul_1:MatMul rnn/while/gru_cell/MatMul_1/Enter:Enter "
        "rnn/while/gru_cell/BiasAdd_1:BiasAdd rnn/while/gru_cell/BiasAdd_1/Enter:Enter rnn/while/gru_cell/Tanh:Tanh "
        "rnn/while/gru_cell/mul_1:Mul rnn/while/gru_cell/sub/x:Const rnn/while/gru_cell/sub:Sub rnn/while/gru_cell/mul_2:Mul "
        "rnn/while/gru_cell/add:AddV2 rnn/while/add/y:Const rnn/while/add:AddV2 rnn/while/GreaterEqual:GreaterEqual "
        "rnn/while/GreaterEqual/Enter:Enter rnn/while/Select:Select rnn/while/Select/Enter:Enter rnn/while/Select_1:Select "
        "rnn/while/TensorArrayWrite/TensorArrayWriteV3:TensorArrayWriteV3 "
        "rnn/while/TensorArrayWrite/TensorArrayWriteV3/Enter:Enter rnn/while/LogicalOr:LogicalOr "
        "rnn/while/NextIteration:NextIteration rnn/while/NextIteration_1:NextIteration rnn/while/NextIteration_2:NextIteration "
        "rnn/while/NextIteration_2/Enter:Enter rnn/while/NextIteration_3:NextIteration rnn/while/NextIteration_4:NextIteration "
        "rnn/while/NextIteration_5:NextIteration rnn/while/Exit:Exit rnn/while/Exit_1:Exit rnn/while/Exit_2:Exit "
        "rnn/while/Exit_3:Exit rnn/while/Exit_4:Exit rnn/while/Exit_5:Exit");
}

TEST_CASE("values of recurrent networks with these options are TensorFlow's") {
  graph g;
  const auto here = g.as_default();
  const auto x = placeholder(dtype::float32, {3, 2, 4}, "x");
  const auto one = dynamic_rnn(basic_lstm_cell(2, {.state_is_tuple = false}), x);
  const auto several =
      dynamic_rnn(multi_cell({lstm_cell(2, {.state_is_tuple = false}), gru_cell(3)}, {.state_is_tuple = false}), x, {.scope = "m"});
  const auto n = constant(std::vector<std::int32_t>{1, 3, 2});
  const auto cell = gru_cell(2);
  const auto raw = raw_rnn(cell,
                           [&](const output& time, const raw_rnn_before& before) {
                             raw_rnn_step step{.finished = greater_equal(time, n)};
                             if (before.is_first()) {
                               step.next_input = index(x, {along::all(), 0});
                               step.next_state = cell.zero_state(3);
                               step.emit = constant(std::vector<float>{0, 0, 0});
                               step.loop_state = {constant(1.0f)};
                             } else {
                               step.next_input = concat({before.outputs, before.outputs}, 1);
                               step.next_state = before.state;
                               step.emit = concat({before.outputs, index(before.state[0], {along::all(), along::until(1)})}, 1);
                               step.loop_state = {before.loop_state[0] * 2.0f};
                             }
                             return step;
                           },
                           {.scope = "raw"});
  const output emitted = raw.outputs.stack();
  const output dx = gradients({reduce_sum(square(emitted)) + reduce_sum(raw.state[0])}, {x})[0];
  graph_session s(g);
  set_variables(s);
  const auto got = s.run({fetch_item(one.outputs), fetch_item(one.state[0]), fetch_item(several.outputs), fetch_item(several.state[0]),
                          fetch_item(emitted), fetch_item(raw.state[0]), fetch_item(raw.loop_state[0]), fetch_item(dx)},
                         {{x, inputs()}});
  const std::vector<number_list> wanted{
      {0.0350394, 0.0350394, 0.08637994, 0.08637994, 0.07991793, 0.07991793, 0.1728861, 0.1728861, 0.1305806, 0.1305806, 0.2659735,
       0.2659735},
      {0.15851, 0.15851, 0.08637994, 0.08637994, 0.3049329, 0.3049329, 0.1728861, 0.1728861, 0.4596793, 0.4596793, 0.2659735, 0.2659735},
      {0.05045157, 0.05045157, 0.05045157, 0.08511765, 0.08511765, 0.08511765, 0.05438885, 0.05438885, 0.05438885, 0.09506953, 0.09506953,
       0.09506953, 0.05877572, 0.05877572, 0.05877572, 0.1056883, 0.1056883, 0.1056883},
      {0.15851,    0.15851,    0.08637994, 0.08637994, 0.08511765, 0.08511765, 0.08511765, 0.3049329, 0.3049329, 0.1728861, 0.1728861,
       0.09506953, 0.09506953, 0.09506953, 0.4596793,  0.4596793,  0.2659735,  0.2659735,  0.1056883, 0.1056883, 0.1056883},
      {0.05829552, 0.05829552, 0.05829552, 0.1101356, 0.1101356, 0.1101356, 0.1503547, 0.1503547, 0.1503547,
       0,          0,          0,          0.1305843, 0.1305843, 0.1305843, 0.1614137, 0.1614137, 0.1614137,
       0,          0,          0,          0.1462312, 0.1462312, 0.1462312, 0,         0,         0},
      {0.05829552, 0.05829552, 0.1462312, 0.1462312, 0.1614137, 0.1614137},
      {8},
      {0.1011752, 0.1011752, 0.1011752, 0.1011752,  0,          0,          0,          0, 0.1017992, 0.1017992, 0.1017992, 0.1017992, 0,
       0,         0,         0,         0.08204843, 0.08204843, 0.08204843, 0.08204843, 0, 0,         0,         0}};
  for (std::size_t k = 0; k < wanted.size(); ++k) check_near(list_of(got[k]), wanted[k], 1e-5);
}

TEST_CASE("sequences without elements, and lengths beyond the inputs") {
  for (const bool time_major : {false, true}) {
    graph g;
    const auto here = g.as_default();
    const auto x = placeholder(dtype::float32, time_major ? shape_value{2, 3, 4} : shape_value{3, 2, 4}, "x");
    const auto first = constant(std::vector<float>(6, 1.0f), {3, 2});
    const auto made = dynamic_rnn(basic_rnn_cell(2), x,
                                  {.sequence_length = tensor_literal({0, 7, 1}), .initial_state = {first}, .time_major = time_major});
    graph_session s(g);
    set_variables(s);
    tensor_value fed = inputs();
    if (time_major) {
      number_list turned;
      const auto list = list_of(fed);
      for (std::size_t t = 0; t < 2; ++t)
        for (std::size_t b = 0; b < 3; ++b)
          for (std::size_t k = 0; k < 4; ++k) turned.push_back(list[(b * 2 + t) * 4 + k]);
      fed = tensor_of(dtype::float32, {2, 3, 4}, turned);
    }
    const auto got = s.run({fetch_item(time_major ? transpose(made.outputs, constant(std::vector<std::int32_t>{1, 0, 2})) : made.outputs),
                            fetch_item(made.state[0])},
                           {{x, fed}});
    check_near(list_of(got[0]), {0, 0, 0, 0, 0.4287249, 0.4287249, 0.3891051, 0.3891051, 0.5310932, 0.5310932, 0, 0}, 1e-5);
    check_near(list_of(got[1]), {1, 1, 0.3891051, 0.3891051, 0.5310932, 0.5310932}, 1e-5);
  }
}

TEST_CASE("a cell with its inputs added") {
  graph g;
  const auto here = g.as_default();
  const auto x = placeholder(dtype::float32, {3, 2, 4}, "x");
  const auto plain = gru_cell(4), around = residual_cell(plain);
  const auto made = dynamic_rnn(around, x),
             twice = dynamic_rnn(residual_cell(plain, {.combine = [](const output&i, const output&o) { return i * o; }}), x,
                                 {.scope = "twice"});
  const auto without = dynamic_rnn(plain, x, {.scope = "without"});
  CHECK(g.named().names.unique_name("rnn/while/add_9") == "rnn/while/add_9");
  bool has_sum = false;
  for (const auto& op : get_operations(g)) has_sum = has_sum || (op.name().starts_with("rnn/ResidualWrapperZeroState/"));
  CHECK(has_sum);
  graph_session s(g);
  set_variables(s);
  const auto got = s.run({fetch_item(made.outputs), fetch_item(without.outputs), fetch_item(twice.outputs)}, {{x, inputs()}});
  const auto in = list_of(inputs()), sum = list_of(got[0]), alone = list_of(got[1]), times = list_of(got[2]);
  for (std::size_t k = 0; k < in.size(); ++k) {
    CHECK(sum[k] == doctest::Approx(in[k] + alone[k]));
    CHECK(times[k] == doctest::Approx(in[k] * alone[k]));
  }
}

TEST_CASE("a state of several dtypes") {
  graph g;
  const auto here = g.as_default();
  const auto x = placeholder(dtype::float32, {3, 2, 4}, "x");
  // A cell that counts its steps.
  const rnn_cell counting({.kind = "counting",
                           .class_name = "Counting",
                           .output_size = 4,
                           .state_parts = {{.name = "sum", .size = 4}, {.name = "steps", .size = 1, .type = dtype::int32}},
                           .step = [](const output& in, const rnn_state& s) {
                             return rnn_result{s[0] + in, {s[0] + in, s[1] + 1}};
                           }});
  CHECK(leat_test::says(leat_test::message_of<invalid_argument>([&] { dynamic_rnn(counting, x); }),
                        "State has tensors of different inferred_dtypes"));
  const auto made = dynamic_rnn(counting, x, {.sequence_length = tensor_literal({2, 0, 1}), .type = dtype::float32});
  const output dx = gradients({reduce_sum(square(made.state[0]))}, {x})[0];
  graph_session s(g);
  const auto got = s.run({fetch_item(made.state[0]), fetch_item(made.state[1]), fetch_item(dx)}, {{x, inputs()}});
  CHECK(list_of(got[1]) == number_list{2, 0, 1});
  check_near(list_of(got[0]), {4 / 24.0, 6 / 24.0, 8 / 24.0, 10 / 24.0, 0, 0, 0, 0, 16 / 24.0, 17 / 24.0, 18 / 24.0, 19 / 24.0});
  check_near(number_list{list_of(got[2])[0], list_of(got[2])[1], list_of(got[2])[2], list_of(got[2])[3]},
             {8 / 24.0, 12 / 24.0, 16 / 24.0, 20 / 24.0});
  CHECK(leat_test::says(leat_test::message_of<invalid_argument>([&] {
                          dynamic_rnn(counting, x, {.initial_state = counting.zero_state(3, dtype::float64), .type = dtype::float32});
                        }),
                        "a state of another dtype than float32"));
}

TEST_CASE("what these options refuse, and sequences that never end") {
  graph g;
  const auto here = g.as_default();
  const auto x = placeholder(dtype::float32, {2, 4}, "x");
  const auto cell = gru_cell(3);
  const auto refused = [](auto f) { return leat_test::message_of<invalid_argument>(f); };
  const output never = constant(std::vector<bool>{false, false}), always = constant(std::vector<bool>{true, true});
  const raw_rnn_step good{.finished = never, .next_input = x, .next_state = cell.zero_state(2)};
  const auto with = [&](auto change_first, auto change_next) {
    return refused([&] {
      raw_rnn(cell, [&](const output&, const raw_rnn_before& before) {
        raw_rnn_step step = good;
        if (before.is_first()) return change_first(step), step;
        step.next_state = before.state;
        step.emit = before.outputs;
        return change_next(step), step;
      });
    });
  };
  const auto nothing = [](raw_rnn_step&) {};
  CHECK(leat_test::says(with([](raw_rnn_step& s) { s.finished = {}; }, nothing), "the function gives no `finished`"));
  CHECK(leat_test::says(with([&](raw_rnn_step& s) { s.finished = x; }, nothing), "`finished` is bool [batch]"));
  CHECK(leat_test::says(with([](raw_rnn_step& s) { s.next_input = {}; }, nothing), "the function gives no `next_input`"));
  CHECK(leat_test::says(with([](raw_rnn_step& s) { s.next_state = {}; }, nothing), "a state of 0 tensors"));
  CHECK(leat_test::says(with(nothing, [](raw_rnn_step& s) { s.emit = {}; }), "no `emit` in the loop"));
  CHECK(leat_test::says(with(nothing, [](raw_rnn_step& s) { s.emit = cast(s.emit, dtype::int32); }), "`emit` is float32"));
  CHECK(leat_test::says(with(nothing, [](raw_rnn_step& s) { s.loop_state = {s.emit, s.emit}; }), "2 tensors as `loop_state`"));
  CHECK(!with(nothing, [](raw_rnn_step& s) { s.next_input = concat({s.next_input, s.next_input}, 0); }).empty());
  CHECK(!with(nothing, [](raw_rnn_step& s) { s.emit = concat({s.emit, s.emit}, 1); }).empty());
  CHECK(leat_test::says(refused([&] { raw_rnn(cell, {}); }), "must be a callable"));
  CHECK(
      leat_test::says(refused([&] { multi_cell({basic_lstm_cell(2)}, {.state_is_tuple = false}); }), "Some cells return tuples of states"));
  CHECK(leat_test::says(refused([&] { residual_cell(gru_cell(3))(x, gru_cell(3).zero_state(2)); }), "are of two shapes"));
  CHECK(leat_test::says(refused([&] {
                          residual_cell(gru_cell(3), {.combine = [](const output&, const output&) { return output{}; }})(
                              x, cell.zero_state(2));
                        }),
                        "`combine` gives no tensor"));
  const auto run = [&](const output& finished, const std::string& name) {
    return raw_rnn(cell,
                   [&](const output&, const raw_rnn_before& before) {
                     raw_rnn_step step = good;
                     step.finished = finished;
                     if (!before.is_first()) {
                       step.next_state = before.state;
                       step.emit = before.outputs;
                     }
                     return step;
                   },
                   {.scope = name});
  };
  const auto endless = run(never, "endless"), none = run(always, "none");
  const output slope = gradients({endless.state[0]}, {x})[0];
  graph_session s(g);
  set_variables(s);
  const tensor_value fed = tensor_of(dtype::float32, {2, 4}, number_list(8, 0.5));
  CHECK_THROWS_AS(s.run({fetch_item(slope)}, {{x, fed}}, {.timeout_in_ms = 200}), error);
  CHECK(list_of(s.run({fetch_item(none.state[0])}, {{x, fed}})[0]) == number_list(6));
  CHECK(s.run({fetch_item(none.outputs.stack())}, {{x, fed}})[0].extent() == shape{3, {0, 2, 3}});
}
