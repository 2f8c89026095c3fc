#pragma once
// Graphs that TensorFlow built around tensor arrays and lists of tensors, with the nodes of their gradients, as support/graph_text.hpp reads
// them. The values that TensorFlow computed with them are in tensor_arrays.cpp and tensor_lists.cpp.

namespace tensor_array_graphs {

/// `dynamic_rnn` with a `BasicLSTMCell`, `sequence_length` and `swap_memory`: outputs, state, and the gradients of a loss by input, weights
/// and biases.
inline constexpr const char* lstm = R"graph(
x = Placeholder dtype=float32 shape=[?,?,2]
len = Placeholder dtype=int32 shape=[?]
const1 = Const float32[4,8]{-0.03125 0.125 0.09375 0.65625 -0.03125 0.78125 -0.15625 -0.25 0.0625 0.1875 0.125 0.65625 0.5625 0.25 -0.15625 -0.0625 0.71875 0.125 -0.65625 -0.34375 -0.28125 0.5625 -0.0625 1.125 0.34375 0.0625 -0.21875 0.5 -0.125 -0.40625 0.28125 0}
const2 = Const float32[8]{0.296875 -0.015625 -0.71875 0.203125 -0.46875 0.390625 0.453125 -0.109375}
const3 = Const int32[]{3}
const4 = Const int32[]{2}
const5 = Const int32[]{1}
range1 = Range(const4, const3, const5)
const6 = Const int32[2]{1 0}
const7 = Const int32[]{0}
concat1 = ConcatV2(const6, range1, const7)
transpose1 = Transpose(x, concat1)
identity1 = Identity(len)
shape1 = Shape(transpose1)
const8 = Const int32[1]{1}
const9 = Const int32[1]{2}
const10 = Const int32[1]{1}
stridedSlice1 = StridedSlice(shape1, const8, const9, const10) shrink_axis_mask=1
const11 = Const int32[]{0}
expandDims1 = ExpandDims(stridedSlice1, const11)
const12 = Const int32[1]{2}
const13 = Const int32[]{0}
concat2 = ConcatV2(expandDims1, const12, const13)
const14 = Const float32[]{0}
fill1 = Fill(concat2, const14)
const15 = Const int32[]{0}
expandDims2 = ExpandDims(stridedSlice1, const15)
const16 = Const int32[1]{2}
const17 = Const int32[]{0}
concat3 = ConcatV2(expandDims2, const16, const17)
const18 = Const float32[]{0}
fill2 = Fill(concat3, const18)
shape2 = Shape(identity1)
pack1 = Pack(stridedSlice1)
equal1 = Equal(shape2, pack1)
const19 = Const int32[1]{0}
all1 = All(equal1, const19)
const20 = Const string[]{"Expected shape for Tensor rnn/sequence_length:0 is "}
const21 = Const string[]{" but saw shape: "}
assert1 = Assert(all1, const20, pack1, const21, shape2)
identity2 = Identity(identity1, ^assert1)
shape3 = Shape(transpose1)
const22 = Const int32[1]{0}
const23 = Const int32[1]{1}
const24 = Const int32[1]{1}
stridedSlice2 = StridedSlice(shape3, const22, const23, const24) shrink_axis_mask=1
shape4 = Shape(transpose1)
const25 = Const int32[1]{1}
const26 = Const int32[1]{2}
const27 = Const int32[1]{1}
stridedSlice3 = StridedSlice(shape4, const25, const26, const27) shrink_axis_mask=1
const28 = Const int32[]{0}
expandDims3 = ExpandDims(stridedSlice3, const28)
const29 = Const int32[1]{2}
const30 = Const int32[]{0}
concat4 = ConcatV2(expandDims3, const29, const30)
const31 = Const float32[]{0}
fill3 = Fill(concat4, const31)
const32 = Const int32[1]{0}
max1 = Max(identity2, const32)
const33 = Const int32[]{0}
array1 = TensorArrayV3(stridedSlice2) dtype=float32 element_shape=[?,2] identical_element_shapes=true tensor_array_name="rnn/dynamic_rnn/output_0"
array2 = TensorArrayV3(stridedSlice2) dtype=float32 element_shape=[?,2] identical_element_shapes=true tensor_array_name="rnn/dynamic_rnn/input_0"
shape5 = Shape(transpose1)
const34 = Const int32[1]{0}
const35 = Const int32[1]{1}
const36 = Const int32[1]{1}
stridedSlice4 = StridedSlice(shape5, const34, const35, const36) shrink_axis_mask=1
const37 = Const int32[]{0}
const38 = Const int32[]{1}
range2 = Range(const37, stridedSlice4, const38)
arrayScatter1 = TensorArrayScatterV3(array2, range2, transpose1, array2:1)
const39 = Const int32[]{1}
maximum1 = Maximum(const39, max1)
minimum1 = Minimum(stridedSlice2, maximum1)
const40 = Const int32[]{0}
enter1 = Enter(const40) frame_name="rnn/while/while_context" parallel_iterations=32
enter2 = Enter(const33) frame_name="rnn/while/while_context" parallel_iterations=32
enter3 = Enter(array1:1) frame_name="rnn/while/while_context" parallel_iterations=32
enter4 = Enter(fill1) frame_name="rnn/while/while_context" parallel_iterations=32
enter5 = Enter(fill2) frame_name="rnn/while/while_context" parallel_iterations=32
merge1 = Merge(enter1, nextIteration1)
merge2 = Merge(enter2, nextIteration2)
merge3 = Merge(enter3, nextIteration3)
merge4 = Merge(enter4, nextIteration4)
merge5 = Merge(enter5, nextIteration5)
less1 = Less(merge1, enter6)
enter6 = Enter(stridedSlice2) frame_name="rnn/while/while_context" is_constant=true parallel_iterations=32
less2 = Less(merge2, enter7)
enter7 = Enter(minimum1) frame_name="rnn/while/while_context" is_constant=true parallel_iterations=32
logicalAnd1 = LogicalAnd(less1, less2)
loopCond1 = LoopCond(logicalAnd1)
switch1 = Switch(merge1, loopCond1)
switch2 = Switch(merge2, loopCond1)
switch3 = Switch(merge3, loopCond1)
switch4 = Switch(merge4, loopCond1)
switch5 = Switch(merge5, loopCond1)
identity3 = Identity(switch1:1)
identity4 = Identity(switch2:1)
identity5 = Identity(switch3:1)
identity6 = Identity(switch4:1)
identity7 = Identity(switch5:1)
const41 = Const(^identity3) int32[]{1}
add1 = AddV2(identity3, const41)
arrayRead1 = TensorArrayReadV3(enter8, identity4, enter9) dtype=float32
enter8 = Enter(array2) frame_name="rnn/while/while_context" is_constant=true parallel_iterations=32
enter9 = Enter(arrayScatter1) frame_name="rnn/while/while_context" is_constant=true parallel_iterations=32
greaterEqual1 = GreaterEqual(identity4, enter10)
enter10 = Enter(identity2) frame_name="rnn/while/while_context" is_constant=true parallel_iterations=32
const42 = Const(^identity3) int32[]{1}
const43 = Const(^identity3) int32[]{1}
concat5 = ConcatV2(arrayRead1, identity7, const43)
matMul1 = MatMul(concat5, enter11)
enter11 = Enter(const1) frame_name="rnn/while/while_context" is_constant=true parallel_iterations=32
biasAdd1 = BiasAdd(matMul1, enter12)
enter12 = Enter(const2) frame_name="rnn/while/while_context" is_constant=true parallel_iterations=32
split1 = Split(const42, biasAdd1) num_split=4
const44 = Const(^identity3) float32[]{1}
add2 = AddV2(split1:2, const44)
sigmoid1 = Sigmoid(add2)
mul1 = Mul(identity6, sigmoid1)
sigmoid2 = Sigmoid(split1)
tanh1 = Tanh(split1:1)
mul2 = Mul(sigmoid2, tanh1)
add3 = AddV2(mul1, mul2)
tanh2 = Tanh(add3)
sigmoid3 = Sigmoid(split1:3)
mul3 = Mul(tanh2, sigmoid3)
select1 = Select(greaterEqual1, enter13, mul3)
enter13 = Enter(fill3) frame_name="rnn/while/while_context" is_constant=true parallel_iterations=32
select2 = Select(greaterEqual1, identity6, add3)
select3 = Select(greaterEqual1, identity7, mul3)
arrayWrite1 = TensorArrayWriteV3(enter14, identity4, select1, identity5)
enter14 = Enter(array1) frame_name="rnn/while/while_context" is_constant=true parallel_iterations=32
const45 = Const(^identity3) int32[]{1}
add4 = AddV2(identity4, const45)
nextIteration1 = NextIteration(add1)
nextIteration2 = NextIteration(add4)
nextIteration3 = NextIteration(arrayWrite1)
nextIteration4 = NextIteration(select2)
nextIteration5 = NextIteration(select3)
exit1 = Exit(switch3)
exit2 = Exit(switch4)
exit3 = Exit(switch5)
const46 = Const int32[]{0}
const47 = Const int32[]{1}
range3 = Range(const46, stridedSlice2, const47)
arrayGather1 = TensorArrayGatherV3(array1, range3, exit1) dtype=float32 element_shape=[?,2]
const48 = Const int32[]{3}
const49 = Const int32[]{2}
const50 = Const int32[]{1}
range4 = Range(const49, const48, const50)
const51 = Const int32[2]{1 0}
const52 = Const int32[]{0}
concat6 = ConcatV2(const51, range4, const52)
transpose2 = Transpose(arrayGather1, concat6)
mul4 = Mul(transpose2, transpose2)
mul5 = Mul(exit3, exit2)
const53 = Const int32[0]{}
const54 = Const float32[]{1}
fill4 = Fill(const53, const54)
const55 = Const int32[]{0}
enter15 = Enter(const55) frame_name="rnn/while/while_context" parallel_iterations=32
merge6 = Merge(enter15, nextIteration6)
switch6 = Switch(merge6, loopCond1)
const56 = Const(^identity3) int32[]{1}
add5 = AddV2(switch6:1, const56)
nextIteration6 = NextIteration(add5, ^stackPush3, ^stackPush2, ^stackPush1, ^stackPush5, ^stackPush4, ^stackPush10, ^stackPush11, ^stackPush19, ^stackPush17, ^stackPush18, ^stackPush15, ^stackPush16, ^stackPush8, ^stackPush9, ^stackPush6, ^stackPush7, ^stackPush13, ^stackPush14, ^stackPush12, ^stackPush20)
exit4 = Exit(switch6)
const57 = Const int32[]{1}
enter16 = Enter(exit4) frame_name="gradients/rnn/while/while_context" parallel_iterations=32
merge7 = Merge(enter16, nextIteration7)
greaterEqual2 = GreaterEqual(merge7, enter17)
enter17 = Enter(const57) frame_name="gradients/rnn/while/while_context" is_constant=true parallel_iterations=32
loopCond2 = LoopCond(greaterEqual2)
switch7 = Switch(merge7, loopCond2)
sub1 = Sub(switch7:1, enter17)
nextIteration7 = NextIteration(sub1, ^controlTrigger1)
const58 = Const int32[3]{1 1 1}
reshape1 = Reshape(fill4, const58)
shape6 = Shape(mul4)
tile1 = Tile(reshape1, shape6)
const59 = Const int32[2]{1 1}
reshape2 = Reshape(fill4, const59)
shape7 = Shape(mul5)
tile2 = Tile(reshape2, shape7)
mul6 = Mul(tile1, transpose2)
mul7 = Mul(transpose2, tile1)
shape8 = Shape(transpose2)
shape9 = Shape(transpose2)
broadcastGradientArgs1 = BroadcastGradientArgs(shape8, shape9)
sum1 = Sum(mul6, broadcastGradientArgs1) keep_dims=true
reshape3 = Reshape(sum1, shape8)
sum2 = Sum(mul7, broadcastGradientArgs1:1) keep_dims=true
reshape4 = Reshape(sum2, shape9)
mul8 = Mul(tile2, exit2)
mul9 = Mul(exit3, tile2)
shape10 = Shape(exit3)
shape11 = Shape(exit2)
broadcastGradientArgs2 = BroadcastGradientArgs(shape10, shape11)
sum3 = Sum(mul8, broadcastGradientArgs2) keep_dims=true
reshape5 = Reshape(sum3, shape10)
sum4 = Sum(mul9, broadcastGradientArgs2:1) keep_dims=true
reshape6 = Reshape(sum4, shape11)
addN1 = AddN(reshape3, reshape4)
invertPermutation1 = InvertPermutation(concat6)
transpose3 = Transpose(addN1, invertPermutation1)
arrayGrad1 = TensorArrayGradV3(array1, exit1) source="gradients"
identity8 = Identity(exit1, ^arrayGrad1)
arrayScatter2 = TensorArrayScatterV3(arrayGrad1, range3, transpose3, identity8)
enter18 = Enter(reshape5) frame_name="gradients/rnn/while/while_context" parallel_iterations=32
enter19 = Enter(reshape6) frame_name="gradients/rnn/while/while_context" parallel_iterations=32
enter20 = Enter(arrayScatter2) frame_name="gradients/rnn/while/while_context" parallel_iterations=32
merge8 = Merge(enter18, nextIteration13)
merge9 = Merge(enter19, nextIteration9)
merge10 = Merge(enter20, nextIteration8)
switch8 = Switch(merge8, loopCond2)
switch9 = Switch(merge9, loopCond2)
switch10 = Switch(merge10, loopCond2)
zerosLike1 = ZerosLike(stackPop1)
const60 = Const int32[]{-1}
stack1 = StackV2(const60) elem_type=float32
enter21 = Enter(stack1) frame_name="rnn/while/while_context" is_constant=true parallel_iterations=32
stackPush1 = StackPushV2(enter21, identity7, ^add5) swap_memory=true
stackPop1 = StackPopV2(enter22, ^sub1) elem_type=float32
enter22 = Enter(stack1) frame_name="gradients/rnn/while/while_context" is_constant=true parallel_iterations=32
controlTrigger1 = ControlTrigger(^stackPop3, ^stackPop2, ^stackPop1, ^stackPop5, ^stackPop4, ^stackPop10, ^stackPop11, ^stackPop19, ^stackPop17, ^stackPop18, ^stackPop15, ^stackPop16, ^stackPop8, ^stackPop9, ^stackPop6, ^stackPop7, ^stackPop13, ^stackPop14, ^stackPop12, ^stackPop20)
select4 = Select(stackPop2, switch8:1, zerosLike1)
const61 = Const int32[]{-1}
stack2 = StackV2(const61) elem_type=bool
enter23 = Enter(stack2) frame_name="rnn/while/while_context" is_constant=true parallel_iterations=32
stackPush2 = StackPushV2(enter23, greaterEqual1, ^add5) swap_memory=true
stackPop2 = StackPopV2(enter24, ^sub1) elem_type=bool
enter24 = Enter(stack2) frame_name="gradients/rnn/while/while_context" is_constant=true parallel_iterations=32
select5 = Select(stackPop2, zerosLike1, switch8:1)
zerosLike2 = ZerosLike(stackPop3)
const62 = Const int32[]{-1}
stack3 = StackV2(const62) elem_type=float32
enter25 = Enter(stack3) frame_name="rnn/while/while_context" is_constant=true parallel_iterations=32
stackPush3 = StackPushV2(enter25, identity6, ^add5) swap_memory=true
stackPop3 = StackPopV2(enter26, ^sub1) elem_type=float32
enter26 = Enter(stack3) frame_name="gradients/rnn/while/while_context" is_constant=true parallel_iterations=32
select6 = Select(stackPop2, switch9:1, zerosLike2)
select7 = Select(stackPop2, zerosLike2, switch9:1)
identity9 = Identity(stackPop4)
const63 = Const int32[]{-1}
stack4 = StackV2(const63) elem_type=float32
enter27 = Enter(stack4) frame_name="rnn/while/while_context" is_constant=true parallel_iterations=32
stackPush4 = StackPushV2(enter27, arrayWrite1, ^add5) swap_memory=true
stackPop4 = StackPopV2(enter28, ^sub1) elem_type=float32
enter28 = Enter(stack4) frame_name="gradients/rnn/while/while_context" is_constant=true parallel_iterations=32
identity10 = Identity(switch10:1, ^identity9)
arrayGrad2 = TensorArrayGradV3(enter29, identity10) source="gradients"
enter29 = Enter(array1) frame_name="gradients/rnn/while/while_context" is_constant=true parallel_iterations=32
identity11 = Identity(identity10, ^arrayGrad2)
arrayRead2 = TensorArrayReadV3(arrayGrad2, stackPop5, identity11) dtype=float32
const64 = Const int32[]{-1}
stack5 = StackV2(const64) elem_type=int32
enter30 = Enter(stack5) frame_name="rnn/while/while_context" is_constant=true parallel_iterations=32
stackPush5 = StackPushV2(enter30, identity4, ^add5) swap_memory=true
stackPop5 = StackPopV2(enter31, ^sub1) elem_type=int32
enter31 = Enter(stack5) frame_name="gradients/rnn/while/while_context" is_constant=true parallel_iterations=32
zerosLike3 = ZerosLike(enter32, ^sub1)
enter32 = Enter(fill3) frame_name="gradients/rnn/while/while_context" is_constant=true parallel_iterations=32
select8 = Select(stackPop2, zerosLike3, arrayRead2)
addN2 = AddN(select5, select8)
mul10 = Mul(addN2, stackPop6)
const65 = Const int32[]{-1}
stack6 = StackV2(const65) elem_type=float32
enter33 = Enter(stack6) frame_name="rnn/while/while_context" is_constant=true parallel_iterations=32
stackPush6 = StackPushV2(enter33, sigmoid3, ^add5) swap_memory=true
stackPop6 = StackPopV2(enter34, ^sub1) elem_type=float32
enter34 = Enter(stack6) frame_name="gradients/rnn/while/while_context" is_constant=true parallel_iterations=32
mul11 = Mul(stackPop7, addN2)
const66 = Const int32[]{-1}
stack7 = StackV2(const66) elem_type=float32
enter35 = Enter(stack7) frame_name="rnn/while/while_context" is_constant=true parallel_iterations=32
stackPush7 = StackPushV2(enter35, tanh2, ^add5) swap_memory=true
stackPop7 = StackPopV2(enter36, ^sub1) elem_type=float32
enter36 = Enter(stack7) frame_name="gradients/rnn/while/while_context" is_constant=true parallel_iterations=32
shape12 = Shape(tanh2)
shape13 = Shape(sigmoid3)
broadcastGradientArgs3 = BroadcastGradientArgs(stackPop8, stackPop9)
const67 = Const int32[]{-1}
stack8 = StackV2(const67) elem_type=int32
enter37 = Enter(stack8) frame_name="rnn/while/while_context" is_constant=true parallel_iterations=32
stackPush8 = StackPushV2(enter37, shape12, ^add5) swap_memory=true
stackPop8 = StackPopV2(enter38, ^sub1) elem_type=int32
enter38 = Enter(stack8) frame_name="gradients/rnn/while/while_context" is_constant=true parallel_iterations=32
const68 = Const int32[]{-1}
stack9 = StackV2(const68) elem_type=int32
enter39 = Enter(stack9) frame_name="rnn/while/while_context" is_constant=true parallel_iterations=32
stackPush9 = StackPushV2(enter39, shape13, ^add5) swap_memory=true
stackPop9 = StackPopV2(enter40, ^sub1) elem_type=int32
enter40 = Enter(stack9) frame_name="gradients/rnn/while/while_context" is_constant=true parallel_iterations=32
sum5 = Sum(mul10, broadcastGradientArgs3) keep_dims=true
reshape7 = Reshape(sum5, stackPop8)
sum6 = Sum(mul11, broadcastGradientArgs3:1) keep_dims=true
reshape8 = Reshape(sum6, stackPop9)
nextIteration8 = NextIteration(identity10)
tanhGrad1 = TanhGrad(stackPop7, reshape7)
sigmoidGrad1 = SigmoidGrad(stackPop6, reshape8)
addN3 = AddN(select7, tanhGrad1)
shape14 = Shape(mul1)
shape15 = Shape(mul2)
broadcastGradientArgs4 = BroadcastGradientArgs(stackPop10, stackPop11)
const69 = Const int32[]{-1}
stack10 = StackV2(const69) elem_type=int32
enter41 = Enter(stack10) frame_name="rnn/while/while_context" is_constant=true parallel_iterations=32
stackPush10 = StackPushV2(enter41, shape14, ^add5) swap_memory=true
stackPop10 = StackPopV2(enter42, ^sub1) elem_type=int32
enter42 = Enter(stack10) frame_name="gradients/rnn/while/while_context" is_constant=true parallel_iterations=32
const70 = Const int32[]{-1}
stack11 = StackV2(const70) elem_type=int32
enter43 = Enter(stack11) frame_name="rnn/while/while_context" is_constant=true parallel_iterations=32
stackPush11 = StackPushV2(enter43, shape15, ^add5) swap_memory=true
stackPop11 = StackPopV2(enter44, ^sub1) elem_type=int32
enter44 = Enter(stack11) frame_name="gradients/rnn/while/while_context" is_constant=true parallel_iterations=32
sum7 = Sum(addN3, broadcastGradientArgs4) keep_dims=true
reshape9 = Reshape(sum7, stackPop10)
sum8 = Sum(addN3, broadcastGradientArgs4:1) keep_dims=true
reshape10 = Reshape(sum8, stackPop11)
mul12 = Mul(reshape9, stackPop12)
const71 = Const int32[]{-1}
stack12 = StackV2(const71) elem_type=float32
enter45 = Enter(stack12) frame_name="rnn/while/while_context" is_constant=true parallel_iterations=32
stackPush12 = StackPushV2(enter45, sigmoid1, ^add5) swap_memory=true
stackPop12 = StackPopV2(enter46, ^sub1) elem_type=float32
enter46 = Enter(stack12) frame_name="gradients/rnn/while/while_context" is_constant=true parallel_iterations=32
mul13 = Mul(stackPop3, reshape9)
shape16 = Shape(identity6)
shape17 = Shape(sigmoid1)
broadcastGradientArgs5 = BroadcastGradientArgs(stackPop13, stackPop14)
const72 = Const int32[]{-1}
stack13 = StackV2(const72) elem_type=int32
enter47 = Enter(stack13) frame_name="rnn/while/while_context" is_constant=true parallel_iterations=32
stackPush13 = StackPushV2(enter47, shape16, ^add5) swap_memory=true
stackPop13 = StackPopV2(enter48, ^sub1) elem_type=int32
enter48 = Enter(stack13) frame_name="gradients/rnn/while/while_context" is_constant=true parallel_iterations=32
const73 = Const int32[]{-1}
stack14 = StackV2(const73) elem_type=int32
enter49 = Enter(stack14) frame_name="rnn/while/while_context" is_constant=true parallel_iterations=32
stackPush14 = StackPushV2(enter49, shape17, ^add5) swap_memory=true
stackPop14 = StackPopV2(enter50, ^sub1) elem_type=int32
enter50 = Enter(stack14) frame_name="gradients/rnn/while/while_context" is_constant=true parallel_iterations=32
sum9 = Sum(mul12, broadcastGradientArgs5) keep_dims=true
reshape11 = Reshape(sum9, stackPop13)
sum10 = Sum(mul13, broadcastGradientArgs5:1) keep_dims=true
reshape12 = Reshape(sum10, stackPop14)
mul14 = Mul(reshape10, stackPop15)
const74 = Const int32[]{-1}
stack15 = StackV2(const74) elem_type=float32
enter51 = Enter(stack15) frame_name="rnn/while/while_context" is_constant=true parallel_iterations=32
stackPush15 = StackPushV2(enter51, tanh1, ^add5) swap_memory=true
stackPop15 = StackPopV2(enter52, ^sub1) elem_type=float32
enter52 = Enter(stack15) frame_name="gradients/rnn/while/while_context" is_constant=true parallel_iterations=32
mul15 = Mul(stackPop16, reshape10)
const75 = Const int32[]{-1}
stack16 = StackV2(const75) elem_type=float32
enter53 = Enter(stack16) frame_name="rnn/while/while_context" is_constant=true parallel_iterations=32
stackPush16 = StackPushV2(enter53, sigmoid2, ^add5) swap_memory=true
stackPop16 = StackPopV2(enter54, ^sub1) elem_type=float32
enter54 = Enter(stack16) frame_name="gradients/rnn/while/while_context" is_constant=true parallel_iterations=32
shape18 = Shape(sigmoid2)
shape19 = Shape(tanh1)
broadcastGradientArgs6 = BroadcastGradientArgs(stackPop17, stackPop18)
const76 = Const int32[]{-1}
stack17 = StackV2(const76) elem_type=int32
enter55 = Enter(stack17) frame_name="rnn/while/while_context" is_constant=true parallel_iterations=32
stackPush17 = StackPushV2(enter55, shape18, ^add5) swap_memory=true
stackPop17 = StackPopV2(enter56, ^sub1) elem_type=int32
enter56 = Enter(stack17) frame_name="gradients/rnn/while/while_context" is_constant=true parallel_iterations=32
const77 = Const int32[]{-1}
stack18 = StackV2(const77) elem_type=int32
enter57 = Enter(stack18) frame_name="rnn/while/while_context" is_constant=true parallel_iterations=32
stackPush18 = StackPushV2(enter57, shape19, ^add5) swap_memory=true
stackPop18 = StackPopV2(enter58, ^sub1) elem_type=int32
enter58 = Enter(stack18) frame_name="gradients/rnn/while/while_context" is_constant=true parallel_iterations=32
sum11 = Sum(mul14, broadcastGradientArgs6) keep_dims=true
reshape13 = Reshape(sum11, stackPop17)
sum12 = Sum(mul15, broadcastGradientArgs6:1) keep_dims=true
reshape14 = Reshape(sum12, stackPop18)
addN4 = AddN(select6, reshape11)
sigmoidGrad2 = SigmoidGrad(stackPop12, reshape12)
sigmoidGrad3 = SigmoidGrad(stackPop16, reshape13)
tanhGrad2 = TanhGrad(stackPop15, reshape14)
nextIteration9 = NextIteration(addN4)
concat7 = ConcatV2(sigmoidGrad3, tanhGrad2, sigmoidGrad2, sigmoidGrad1, const78)
const78 = Const(^sub1) int32[]{1}
biasAddGrad1 = BiasAddGrad(concat7)
matMul2 = MatMul(concat7, enter59) grad_a=true transpose_b=true
enter59 = Enter(const1) frame_name="gradients/rnn/while/while_context" is_constant=true parallel_iterations=32
matMul3 = MatMul(stackPop19, concat7) grad_b=true transpose_a=true
const79 = Const int32[]{-1}
stack19 = StackV2(const79) elem_type=float32
enter60 = Enter(stack19) frame_name="rnn/while/while_context" is_constant=true parallel_iterations=32
stackPush19 = StackPushV2(enter60, concat5, ^add5) swap_memory=true
stackPop19 = StackPopV2(enter61, ^sub1) elem_type=float32
enter61 = Enter(stack19) frame_name="gradients/rnn/while/while_context" is_constant=true parallel_iterations=32
const80 = Const float32[8]{0 0 0 0 0 0 0 0}
enter62 = Enter(const80) frame_name="gradients/rnn/while/while_context" parallel_iterations=32
merge11 = Merge(enter62, nextIteration10)
switch11 = Switch(merge11, loopCond2)
add6 = AddV2(switch11:1, biasAddGrad1)
nextIteration10 = NextIteration(add6)
exit5 = Exit(switch11)
const81 = Const(^sub1) int32[]{1}
const82 = Const(^sub1) int32[]{2}
floorMod1 = FloorMod(const81, const82)
shapeN1 = ShapeN(stackPop20, stackPop1)
const83 = Const int32[]{-1}
stack20 = StackV2(const83) elem_type=float32
enter63 = Enter(stack20) frame_name="rnn/while/while_context" is_constant=true parallel_iterations=32
stackPush20 = StackPushV2(enter63, arrayRead1, ^add5) swap_memory=true
stackPop20 = StackPopV2(enter64, ^sub1) elem_type=float32
enter64 = Enter(stack20) frame_name="gradients/rnn/while/while_context" is_constant=true parallel_iterations=32
concatOffset1 = ConcatOffset(floorMod1, shapeN1, shapeN1:1)
slice1 = Slice(matMul2, concatOffset1, shapeN1)
slice2 = Slice(matMul2, concatOffset1:1, shapeN1:1)
const84 = Const float32[4,8]{0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0}
enter65 = Enter(const84) frame_name="gradients/rnn/while/while_context" parallel_iterations=32
merge12 = Merge(enter65, nextIteration11)
switch12 = Switch(merge12, loopCond2)
add7 = AddV2(switch12:1, matMul3)
nextIteration11 = NextIteration(add7)
exit6 = Exit(switch12)
arrayGrad3 = TensorArrayGradV3(enter66, enter67, ^sub1) source="gradients"
enter66 = Enter(array2) frame_name="gradients/rnn/while/while_context" is_constant=true parallel_iterations=32
enter67 = Enter(arrayScatter1) frame_name="gradients/rnn/while/while_context" is_constant=true parallel_iterations=32
identity12 = Identity(enter67, ^arrayGrad3)
arrayWrite2 = TensorArrayWriteV3(arrayGrad3, stackPop5, slice1, identity12)
addN5 = AddN(select4, slice2)
const85 = Const float32[]{0}
enter68 = Enter(const85) frame_name="gradients/rnn/while/while_context" parallel_iterations=32
merge13 = Merge(enter68, nextIteration12)
switch13 = Switch(merge13, loopCond2)
add8 = AddV2(switch13:1, arrayWrite2)
nextIteration12 = NextIteration(add8)
exit7 = Exit(switch13)
nextIteration13 = NextIteration(addN5)
identity13 = Identity(arrayScatter1)
identity14 = Identity(exit7, ^identity13)
arrayGrad4 = TensorArrayGradV3(array2, identity14) source="gradients"
identity15 = Identity(identity14, ^arrayGrad4)
arrayGather2 = TensorArrayGatherV3(arrayGrad4, range2, identity15) dtype=float32
invertPermutation2 = InvertPermutation(concat1)
transpose4 = Transpose(arrayGather2, invertPermutation2)
out0 = Identity(transpose2)
out1 = Identity(exit2)
out2 = Identity(exit3)
out3 = Identity(transpose4)
out4 = Identity(exit6)
out5 = Identity(exit5)
)graph";

/// `map_fn` in `map_fn`, and the gradient by its input.
inline constexpr const char* nested_map = R"graph(
x = Placeholder dtype=float32 shape=[?,2,2]
shape1 = Shape(x)
const1 = Const int32[1]{0}
const2 = Const int32[1]{1}
const3 = Const int32[1]{1}
stridedSlice1 = StridedSlice(shape1, const1, const2, const3) shrink_axis_mask=1
array1 = TensorArrayV3(stridedSlice1) dtype=float32 identical_element_shapes=true
shape2 = Shape(x)
const4 = Const int32[1]{0}
const5 = Const int32[1]{1}
const6 = Const int32[1]{1}
stridedSlice2 = StridedSlice(shape2, const4, const5, const6) shrink_axis_mask=1
const7 = Const int32[]{0}
const8 = Const int32[]{1}
range1 = Range(const7, stridedSlice2, const8)
arrayScatter1 = TensorArrayScatterV3(array1, range1, x, array1:1)
const9 = Const int32[]{0}
array2 = TensorArrayV3(stridedSlice1) dtype=float32 identical_element_shapes=true
const10 = Const int32[]{0}
enter1 = Enter(const10) frame_name="map/while/while_context"
enter2 = Enter(const9) frame_name="map/while/while_context"
enter3 = Enter(array2:1) frame_name="map/while/while_context"
merge1 = Merge(enter1, nextIteration4)
merge2 = Merge(enter2, nextIteration5)
merge3 = Merge(enter3, nextIteration6)
less1 = Less(merge1, enter4)
enter4 = Enter(stridedSlice1) frame_name="map/while/while_context" is_constant=true
less2 = Less(merge2, enter4)
logicalAnd1 = LogicalAnd(less1, less2)
loopCond1 = LoopCond(logicalAnd1)
switch1 = Switch(merge1, loopCond1)
switch2 = Switch(merge2, loopCond1)
switch3 = Switch(merge3, loopCond1)
identity1 = Identity(switch1:1)
identity2 = Identity(switch2:1)
identity3 = Identity(switch3:1)
const11 = Const(^identity1) int32[]{1}
add1 = AddV2(identity1, const11)
arrayRead1 = TensorArrayReadV3(enter5, identity2, enter6) dtype=float32
enter5 = Enter(array1) frame_name="map/while/while_context" is_constant=true
enter6 = Enter(arrayScatter1) frame_name="map/while/while_context" is_constant=true
const12 = Const(^identity1) int32[]{2}
array3 = TensorArrayV3(const12) dtype=float32 identical_element_shapes=true
const13 = Const(^identity1) int32[2]{2 2}
const14 = Const(^identity1) int32[1]{0}
const15 = Const(^identity1) int32[1]{1}
const16 = Const(^identity1) int32[1]{1}
stridedSlice3 = StridedSlice(const13, const14, const15, const16) shrink_axis_mask=1
const17 = Const(^identity1) int32[]{0}
const18 = Const(^identity1) int32[]{1}
range2 = Range(const17, stridedSlice3, const18)
arrayScatter2 = TensorArrayScatterV3(array3, range2, arrayRead1, array3:1)
const19 = Const(^identity1) int32[]{0}
const20 = Const(^identity1) int32[]{2}
array4 = TensorArrayV3(const20) dtype=float32 identical_element_shapes=true
const21 = Const(^identity1) int32[]{2}
const22 = Const(^identity1) int32[]{0}
enter7 = Enter(const22) frame_name="map/while/map/while/while_context"
enter8 = Enter(const19) frame_name="map/while/map/while/while_context"
enter9 = Enter(array4:1) frame_name="map/while/map/while/while_context"
merge4 = Merge(enter7, nextIteration1)
merge5 = Merge(enter8, nextIteration2)
merge6 = Merge(enter9, nextIteration3)
less3 = Less(merge4, enter10)
enter10 = Enter(const21) frame_name="map/while/map/while/while_context" is_constant=true
const23 = Const(^merge4) int32[]{2}
less4 = Less(merge5, const23)
logicalAnd2 = LogicalAnd(less3, less4)
loopCond2 = LoopCond(logicalAnd2)
switch4 = Switch(merge4, loopCond2)
switch5 = Switch(merge5, loopCond2)
switch6 = Switch(merge6, loopCond2)
identity4 = Identity(switch4:1)
identity5 = Identity(switch5:1)
identity6 = Identity(switch6:1)
const24 = Const(^identity4) int32[]{1}
add2 = AddV2(identity4, const24)
arrayRead2 = TensorArrayReadV3(enter11, identity5, enter12) dtype=float32
enter11 = Enter(array3) frame_name="map/while/map/while/while_context" is_constant=true
enter12 = Enter(arrayScatter2) frame_name="map/while/map/while/while_context" is_constant=true
tanh1 = Tanh(arrayRead2)
const25 = Const(^identity4) int32[2]{0 1}
sum1 = Sum(enter13, const25)
enter13 = Enter(arrayRead1) frame_name="map/while/map/while/while_context" is_constant=true
mul1 = Mul(tanh1, sum1)
arrayWrite1 = TensorArrayWriteV3(enter14, identity5, mul1, identity6)
enter14 = Enter(array4) frame_name="map/while/map/while/while_context" is_constant=true
const26 = Const(^identity4) int32[]{1}
add3 = AddV2(identity5, const26)
nextIteration1 = NextIteration(add2)
nextIteration2 = NextIteration(add3)
nextIteration3 = NextIteration(arrayWrite1)
exit1 = Exit(switch6)
const27 = Const(^identity1) int32[]{2}
const28 = Const(^identity1) int32[]{0}
const29 = Const(^identity1) int32[]{1}
range3 = Range(const28, const27, const29)
arrayGather1 = TensorArrayGatherV3(array4, range3, exit1) dtype=float32 element_shape=[2]
arrayWrite2 = TensorArrayWriteV3(enter15, identity2, arrayGather1, identity3)
enter15 = Enter(array2) frame_name="map/while/while_context" is_constant=true
const30 = Const(^identity1) int32[]{1}
add4 = AddV2(identity2, const30)
nextIteration4 = NextIteration(add1)
nextIteration5 = NextIteration(add4)
nextIteration6 = NextIteration(arrayWrite2)
exit2 = Exit(switch3)
const31 = Const int32[]{0}
const32 = Const int32[]{1}
range4 = Range(const31, stridedSlice1, const32)
arrayGather2 = TensorArrayGatherV3(array2, range4, exit2) dtype=float32 element_shape=[2,2]
mul2 = Mul(arrayGather2, arrayGather2)
const33 = Const int32[0]{}
const34 = Const float32[]{1}
fill1 = Fill(const33, const34)
const35 = Const int32[]{0}
enter16 = Enter(const35) frame_name="map/while/while_context"
merge7 = Merge(enter16, nextIteration7)
switch7 = Switch(merge7, loopCond1)
const36 = Const(^identity1) int32[]{1}
add5 = AddV2(switch7:1, const36)
nextIteration7 = NextIteration(add5, ^stackPush1, ^stackPush3, ^stackPush2, ^stackPush4, ^stackPush5, ^stackPush6, ^stackPush16, ^stackPush15, ^stackPush14, ^stackPush12, ^stackPush13, ^stackPush8)
exit3 = Exit(switch7)
const37 = Const int32[]{1}
enter17 = Enter(exit3) frame_name="gradients/map/while/while_context"
merge8 = Merge(enter17, nextIteration8)
greaterEqual1 = GreaterEqual(merge8, enter18)
enter18 = Enter(const37) frame_name="gradients/map/while/while_context" is_constant=true
loopCond3 = LoopCond(greaterEqual1)
switch8 = Switch(merge8, loopCond3)
sub1 = Sub(switch8:1, enter18)
nextIteration8 = NextIteration(sub1, ^controlTrigger1)
const38 = Const(^add5, ^identity1) int32[]{0}
enter19 = Enter(const38) frame_name="map/while/map/while/while_context"
merge9 = Merge(enter19, nextIteration9)
switch9 = Switch(merge9, loopCond2)
const39 = Const(^identity4) int32[]{1}
add6 = AddV2(switch9:1, const39)
nextIteration9 = NextIteration(add6, ^stackPush9, ^stackPush7, ^stackPush10, ^stackPush11)
exit4 = Exit(switch9)
const40 = Const int32[]{-1}
stack1 = StackV2(const40) elem_type=int32
enter20 = Enter(stack1) frame_name="map/while/while_context" is_constant=true
stackPush1 = StackPushV2(enter20, exit4, ^add5)
stackPop1 = StackPopV2(enter21, ^sub1) elem_type=int32
enter21 = Enter(stack1) frame_name="gradients/map/while/while_context" is_constant=true
controlTrigger1 = ControlTrigger(^stackPop1, ^exit5, ^stackPop3, ^stackPop2, ^stackPop4, ^stackPop5, ^stackPop6, ^stackPop16, ^stackPop15, ^stackPop14, ^stackPop12, ^stackPop13, ^stackPop8)
const41 = Const(^sub1) int32[]{1}
enter22 = Enter(stackPop1) frame_name="gradients/map/while/map/while/while_context"
merge10 = Merge(enter22, nextIteration10)
greaterEqual2 = GreaterEqual(merge10, enter23)
enter23 = Enter(const41) frame_name="gradients/map/while/map/while/while_context" is_constant=true
loopCond4 = LoopCond(greaterEqual2)
switch10 = Switch(merge10, loopCond4)
sub2 = Sub(switch10:1, enter23)
nextIteration10 = NextIteration(sub2, ^controlTrigger2)
exit5 = Exit(switch10)
const42 = Const int32[3]{1 1 1}
reshape1 = Reshape(fill1, const42)
shape3 = Shape(mul2)
tile1 = Tile(reshape1, shape3)
mul3 = Mul(tile1, arrayGather2)
mul4 = Mul(arrayGather2, tile1)
shape4 = Shape(arrayGather2)
shape5 = Shape(arrayGather2)
broadcastGradientArgs1 = BroadcastGradientArgs(shape4, shape5)
sum2 = Sum(mul3, broadcastGradientArgs1) keep_dims=true
reshape2 = Reshape(sum2, shape4)
sum3 = Sum(mul4, broadcastGradientArgs1:1) keep_dims=true
reshape3 = Reshape(sum3, shape5)
addN1 = AddN(reshape2, reshape3)
arrayGrad1 = TensorArrayGradV3(array2, exit2) source="gradients"
identity7 = Identity(exit2, ^arrayGrad1)
arrayScatter3 = TensorArrayScatterV3(arrayGrad1, range4, addN1, identity7)
enter24 = Enter(arrayScatter3) frame_name="gradients/map/while/while_context"
merge11 = Merge(enter24, nextIteration11)
switch11 = Switch(merge11, loopCond3)
identity8 = Identity(stackPop2)
const43 = Const int32[]{-1}
stack2 = StackV2(const43) elem_type=float32
enter25 = Enter(stack2) frame_name="map/while/while_context" is_constant=true
stackPush2 = StackPushV2(enter25, arrayWrite2, ^add5)
stackPop2 = StackPopV2(enter26, ^sub1) elem_type=float32
enter26 = Enter(stack2) frame_name="gradients/map/while/while_context" is_constant=true
identity9 = Identity(switch11:1, ^identity8)
arrayGrad2 = TensorArrayGradV3(enter27, identity9) source="gradients"
enter27 = Enter(array2) frame_name="gradients/map/while/while_context" is_constant=true
identity10 = Identity(identity9, ^arrayGrad2)
arrayRead3 = TensorArrayReadV3(arrayGrad2, stackPop3, identity10) dtype=float32
const44 = Const int32[]{-1}
stack3 = StackV2(const44) elem_type=int32
enter28 = Enter(stack3) frame_name="map/while/while_context" is_constant=true
stackPush3 = StackPushV2(enter28, identity2, ^add5)
stackPop3 = StackPopV2(enter29, ^sub1) elem_type=int32
enter29 = Enter(stack3) frame_name="gradients/map/while/while_context" is_constant=true
arrayGrad3 = TensorArrayGradV3(stackPop4, stackPop5) source="gradients"
const45 = Const int32[]{-1}
stack4 = StackV2(const45) elem_type=resource
enter30 = Enter(stack4) frame_name="map/while/while_context" is_constant=true
stackPush4 = StackPushV2(enter30, array4, ^add5)
stackPop4 = StackPopV2(enter31, ^sub1) elem_type=resource
enter31 = Enter(stack4) frame_name="gradients/map/while/while_context" is_constant=true
const46 = Const int32[]{-1}
stack5 = StackV2(const46) elem_type=float32
enter32 = Enter(stack5) frame_name="map/while/while_context" is_constant=true
stackPush5 = StackPushV2(enter32, exit1, ^add5)
stackPop5 = StackPopV2(enter33, ^sub1) elem_type=float32
enter33 = Enter(stack5) frame_name="gradients/map/while/while_context" is_constant=true
identity11 = Identity(stackPop5, ^arrayGrad3)
arrayScatter4 = TensorArrayScatterV3(arrayGrad3, stackPop6, arrayRead3, identity11)
const47 = Const int32[]{-1}
stack6 = StackV2(const47) elem_type=int32
enter34 = Enter(stack6) frame_name="map/while/while_context" is_constant=true
stackPush6 = StackPushV2(enter34, range3, ^add5)
stackPop6 = StackPopV2(enter35, ^sub1) elem_type=int32
enter35 = Enter(stack6) frame_name="gradients/map/while/while_context" is_constant=true
enter36 = Enter(arrayScatter4) frame_name="gradients/map/while/map/while/while_context"
nextIteration11 = NextIteration(identity9)
merge12 = Merge(enter36, nextIteration12)
switch12 = Switch(merge12, loopCond4)
identity12 = Identity(stackPop7)
const48 = Const int32[]{-1}
stack7 = StackV2(const48) elem_type=float32
enter37 = Enter(stack7) frame_name="map/while/while_context" is_constant=true
enter38 = Enter(enter37) frame_name="map/while/map/while/while_context" is_constant=true
stackPush7 = StackPushV2(enter38, arrayWrite1, ^add6)
stackPop7 = StackPopV2(enter40, ^sub2) elem_type=float32
enter39 = Enter(stack7) frame_name="gradients/map/while/while_context" is_constant=true
enter40 = Enter(enter39) frame_name="gradients/map/while/map/while/while_context" is_constant=true
controlTrigger2 = ControlTrigger(^stackPop9, ^stackPop7, ^stackPop10, ^stackPop11)
identity13 = Identity(switch12:1, ^identity12)
arrayGrad4 = TensorArrayGradV3(enter43, identity13) source="gradients"
const49 = Const int32[]{-1}
stack8 = StackV2(const49) elem_type=resource
enter41 = Enter(stack8) frame_name="map/while/while_context" is_constant=true
stackPush8 = StackPushV2(enter41, array4, ^add5)
stackPop8 = StackPopV2(enter42, ^sub1) elem_type=resource
enter42 = Enter(stack8) frame_name="gradients/map/while/while_context" is_constant=true
enter43 = Enter(stackPop8) frame_name="gradients/map/while/map/while/while_context" is_constant=true
identity14 = Identity(identity13, ^arrayGrad4)
arrayRead4 = TensorArrayReadV3(arrayGrad4, stackPop9, identity14) dtype=float32
const50 = Const int32[]{-1}
stack9 = StackV2(const50) elem_type=int32
enter44 = Enter(stack9) frame_name="map/while/while_context" is_constant=true
enter45 = Enter(enter44) frame_name="map/while/map/while/while_context" is_constant=true
stackPush9 = StackPushV2(enter45, identity5, ^add6)
stackPop9 = StackPopV2(enter47, ^sub2) elem_type=int32
enter46 = Enter(stack9) frame_name="gradients/map/while/while_context" is_constant=true
enter47 = Enter(enter46) frame_name="gradients/map/while/map/while/while_context" is_constant=true
mul5 = Mul(arrayRead4, stackPop10)
const51 = Const int32[]{-1}
stack10 = StackV2(const51) elem_type=float32
enter48 = Enter(stack10) frame_name="map/while/while_context" is_constant=true
enter49 = Enter(enter48) frame_name="map/while/map/while/while_context" is_constant=true
stackPush10 = StackPushV2(enter49, sum1, ^add6)
stackPop10 = StackPopV2(enter51, ^sub2) elem_type=float32
enter50 = Enter(stack10) frame_name="gradients/map/while/while_context" is_constant=true
enter51 = Enter(enter50) frame_name="gradients/map/while/map/while/while_context" is_constant=true
mul6 = Mul(stackPop11, arrayRead4)
const52 = Const int32[]{-1}
stack11 = StackV2(const52) elem_type=float32
enter52 = Enter(stack11) frame_name="map/while/while_context" is_constant=true
enter53 = Enter(enter52) frame_name="map/while/map/while/while_context" is_constant=true
stackPush11 = StackPushV2(enter53, tanh1, ^add6)
stackPop11 = StackPopV2(enter55, ^sub2) elem_type=float32
enter54 = Enter(stack11) frame_name="gradients/map/while/while_context" is_constant=true
enter55 = Enter(enter54) frame_name="gradients/map/while/map/while/while_context" is_constant=true
const53 = Const(^sub2) int32[0]{}
const54 = Const(^sub2) int32[1]{0}
sum4 = Sum(mul6, const54) keep_dims=true
reshape4 = Reshape(sum4, const53)
tanhGrad1 = TanhGrad(stackPop11, mul5)
const55 = Const(^sub2) int32[2]{1 1}
reshape5 = Reshape(reshape4, const55)
const56 = Const(^sub2) int32[2]{2 2}
tile2 = Tile(reshape5, const56)
nextIteration12 = NextIteration(identity13)
arrayGrad5 = TensorArrayGradV3(enter58, enter61, ^sub2) source="gradients"
const57 = Const int32[]{-1}
stack12 = StackV2(const57) elem_type=resource
enter56 = Enter(stack12) frame_name="map/while/while_context" is_constant=true
stackPush12 = StackPushV2(enter56, array3, ^add5)
stackPop12 = StackPopV2(enter57, ^sub1) elem_type=resource
enter57 = Enter(stack12) frame_name="gradients/map/while/while_context" is_constant=true
enter58 = Enter(stackPop12) frame_name="gradients/map/while/map/while/while_context" is_constant=true
const58 = Const int32[]{-1}
stack13 = StackV2(const58) elem_type=float32
enter59 = Enter(stack13) frame_name="map/while/while_context" is_constant=true
stackPush13 = StackPushV2(enter59, arrayScatter2, ^add5)
stackPop13 = StackPopV2(enter60, ^sub1) elem_type=float32
enter60 = Enter(stack13) frame_name="gradients/map/while/while_context" is_constant=true
enter61 = Enter(stackPop13) frame_name="gradients/map/while/map/while/while_context" is_constant=true
identity15 = Identity(enter61, ^arrayGrad5)
arrayWrite3 = TensorArrayWriteV3(arrayGrad5, stackPop9, tanhGrad1, identity15)
const59 = Const(^sub1) float32[2,2]{0 0 0 0}
enter62 = Enter(const59) frame_name="gradients/map/while/map/while/while_context"
merge13 = Merge(enter62, nextIteration13)
switch13 = Switch(merge13, loopCond4)
add7 = AddV2(switch13:1, tile2)
nextIteration13 = NextIteration(add7)
exit6 = Exit(switch13)
const60 = Const(^sub1) float32[]{0}
enter63 = Enter(const60) frame_name="gradients/map/while/map/while/while_context"
merge14 = Merge(enter63, nextIteration14)
switch14 = Switch(merge14, loopCond4)
add8 = AddV2(switch14:1, arrayWrite3)
nextIteration14 = NextIteration(add8)
exit7 = Exit(switch14)
identity16 = Identity(stackPop14)
const61 = Const int32[]{-1}
stack14 = StackV2(const61) elem_type=float32
enter64 = Enter(stack14) frame_name="map/while/while_context" is_constant=true
stackPush14 = StackPushV2(enter64, arrayScatter2, ^add5)
stackPop14 = StackPopV2(enter65, ^sub1) elem_type=float32
enter65 = Enter(stack14) frame_name="gradients/map/while/while_context" is_constant=true
identity17 = Identity(exit7, ^identity16)
arrayGrad6 = TensorArrayGradV3(stackPop15, identity17) source="gradients"
const62 = Const int32[]{-1}
stack15 = StackV2(const62) elem_type=resource
enter66 = Enter(stack15) frame_name="map/while/while_context" is_constant=true
stackPush15 = StackPushV2(enter66, array3, ^add5)
stackPop15 = StackPopV2(enter67, ^sub1) elem_type=resource
enter67 = Enter(stack15) frame_name="gradients/map/while/while_context" is_constant=true
identity18 = Identity(identity17, ^arrayGrad6)
arrayGather3 = TensorArrayGatherV3(arrayGrad6, stackPop16, identity18) dtype=float32
const63 = Const int32[]{-1}
stack16 = StackV2(const63) elem_type=int32
enter68 = Enter(stack16) frame_name="map/while/while_context" is_constant=true
stackPush16 = StackPushV2(enter68, range2, ^add5)
stackPop16 = StackPopV2(enter69, ^sub1) elem_type=int32
enter69 = Enter(stack16) frame_name="gradients/map/while/while_context" is_constant=true
addN2 = AddN(exit6, arrayGather3)
arrayGrad7 = TensorArrayGradV3(enter70, enter71, ^sub1) source="gradients"
enter70 = Enter(array1) frame_name="gradients/map/while/while_context" is_constant=true
enter71 = Enter(arrayScatter1) frame_name="gradients/map/while/while_context" is_constant=true
identity19 = Identity(enter71, ^arrayGrad7)
arrayWrite4 = TensorArrayWriteV3(arrayGrad7, stackPop3, addN2, identity19)
const64 = Const float32[]{0}
enter72 = Enter(const64) frame_name="gradients/map/while/while_context"
merge15 = Merge(enter72, nextIteration15)
switch15 = Switch(merge15, loopCond3)
add9 = AddV2(switch15:1, arrayWrite4)
nextIteration15 = NextIteration(add9)
exit8 = Exit(switch15)
identity20 = Identity(arrayScatter1)
identity21 = Identity(exit8, ^identity20)
arrayGrad8 = TensorArrayGradV3(array1, identity21) source="gradients"
identity22 = Identity(identity21, ^arrayGrad8)
arrayGather4 = TensorArrayGatherV3(arrayGrad8, range1, identity22) dtype=float32
out0 = Identity(arrayGather2)
out1 = Identity(arrayGather4)
)graph";

/// `scan` backward, from a given value, of float64, and the gradients by its elements and that value.
inline constexpr const char* scan = R"graph(
x = Placeholder dtype=float64 shape=[?]
a = Placeholder dtype=float64 shape=[]
shape1 = Shape(x)
const1 = Const int32[1]{0}
const2 = Const int32[1]{1}
const3 = Const int32[1]{1}
stridedSlice1 = StridedSlice(shape1, const1, const2, const3) shrink_axis_mask=1
array1 = TensorArrayV3(stridedSlice1) dtype=float64 element_shape=[] identical_element_shapes=true
shape2 = Shape(x)
const4 = Const int32[1]{0}
const5 = Const int32[1]{1}
const6 = Const int32[1]{1}
stridedSlice2 = StridedSlice(shape2, const4, const5, const6) shrink_axis_mask=1
const7 = Const int32[]{0}
const8 = Const int32[]{1}
range1 = Range(const7, stridedSlice2, const8)
arrayScatter1 = TensorArrayScatterV3(array1, range1, x, array1:1)
array2 = TensorArrayV3(stridedSlice1) dtype=float64 element_shape=[] identical_element_shapes=true
const9 = Const int32[]{1}
sub1 = Sub(stridedSlice1, const9)
const10 = Const int32[]{0}
sub2 = Sub(sub1, const10)
const11 = Const int32[]{0}
enter1 = Enter(const11) frame_name="scan/while/while_context"
enter2 = Enter(sub2) frame_name="scan/while/while_context"
enter3 = Enter(a) frame_name="scan/while/while_context"
enter4 = Enter(array2:1) frame_name="scan/while/while_context"
merge1 = Merge(enter1, nextIteration1)
merge2 = Merge(enter2, nextIteration2)
merge3 = Merge(enter3, nextIteration3)
merge4 = Merge(enter4, nextIteration4)
less1 = Less(merge1, enter5)
enter5 = Enter(stridedSlice1) frame_name="scan/while/while_context" is_constant=true
const12 = Const(^merge1) int32[]{0}
greaterEqual1 = GreaterEqual(merge2, const12)
logicalAnd1 = LogicalAnd(less1, greaterEqual1)
loopCond1 = LoopCond(logicalAnd1)
switch1 = Switch(merge1, loopCond1)
switch2 = Switch(merge2, loopCond1)
switch3 = Switch(merge3, loopCond1)
switch4 = Switch(merge4, loopCond1)
identity1 = Identity(switch1:1)
identity2 = Identity(switch2:1)
identity3 = Identity(switch3:1)
identity4 = Identity(switch4:1)
const13 = Const(^identity1) int32[]{1}
add1 = AddV2(identity1, const13)
arrayRead1 = TensorArrayReadV3(enter6, identity2, enter7) dtype=float64
enter6 = Enter(array1) frame_name="scan/while/while_context" is_constant=true
enter7 = Enter(arrayScatter1) frame_name="scan/while/while_context" is_constant=true
mul1 = Mul(identity3, arrayRead1)
const14 = Const(^identity1) float64[]{1}
add2 = AddV2(mul1, const14)
arrayWrite1 = TensorArrayWriteV3(enter8, identity2, add2, identity4)
enter8 = Enter(array2) frame_name="scan/while/while_context" is_constant=true
const15 = Const(^identity1) int32[]{1}
sub3 = Sub(identity2, const15)
nextIteration1 = NextIteration(add1)
nextIteration2 = NextIteration(sub3)
nextIteration3 = NextIteration(add2)
nextIteration4 = NextIteration(arrayWrite1)
exit1 = Exit(switch4)
const16 = Const int32[]{0}
const17 = Const int32[]{1}
range2 = Range(const16, stridedSlice1, const17)
arrayGather1 = TensorArrayGatherV3(array2, range2, exit1) dtype=float64 element_shape=[]
mul2 = Mul(arrayGather1, arrayGather1)
const18 = Const int32[0]{}
const19 = Const float64[]{1}
fill1 = Fill(const18, const19)
const20 = Const int32[]{0}
enter9 = Enter(const20) frame_name="scan/while/while_context"
merge5 = Merge(enter9, nextIteration5)
switch5 = Switch(merge5, loopCond1)
const21 = Const(^identity1) int32[]{1}
add3 = AddV2(switch5:1, const21)
nextIteration5 = NextIteration(add3, ^stackPush2, ^stackPush1, ^stackPush3, ^stackPush4)
exit2 = Exit(switch5)
const22 = Const int32[]{1}
enter10 = Enter(exit2) frame_name="gradients/scan/while/while_context"
merge6 = Merge(enter10, nextIteration6)
greaterEqual2 = GreaterEqual(merge6, enter11)
enter11 = Enter(const22) frame_name="gradients/scan/while/while_context" is_constant=true
loopCond2 = LoopCond(greaterEqual2)
switch6 = Switch(merge6, loopCond2)
sub4 = Sub(switch6:1, enter11)
nextIteration6 = NextIteration(sub4, ^controlTrigger1)
const23 = Const int32[1]{1}
reshape1 = Reshape(fill1, const23)
shape3 = Shape(mul2)
tile1 = Tile(reshape1, shape3)
mul3 = Mul(tile1, arrayGather1)
mul4 = Mul(arrayGather1, tile1)
shape4 = Shape(arrayGather1)
shape5 = Shape(arrayGather1)
broadcastGradientArgs1 = BroadcastGradientArgs(shape4, shape5)
sum1 = Sum(mul3, broadcastGradientArgs1) keep_dims=true
reshape2 = Reshape(sum1, shape4)
sum2 = Sum(mul4, broadcastGradientArgs1:1) keep_dims=true
reshape3 = Reshape(sum2, shape5)
addN1 = AddN(reshape2, reshape3)
arrayGrad1 = TensorArrayGradV3(array2, exit1) source="gradients"
identity5 = Identity(exit1, ^arrayGrad1)
arrayScatter2 = TensorArrayScatterV3(arrayGrad1, range2, addN1, identity5)
const24 = Const float64[]{0}
enter12 = Enter(arrayScatter2) frame_name="gradients/scan/while/while_context"
enter13 = Enter(const24) frame_name="gradients/scan/while/while_context"
merge7 = Merge(enter12, nextIteration7)
merge8 = Merge(enter13, nextIteration8)
switch7 = Switch(merge7, loopCond2)
switch8 = Switch(merge8, loopCond2)
exit3 = Exit(switch8)
identity6 = Identity(stackPop1)
const25 = Const int32[]{-1}
stack1 = StackV2(const25) elem_type=float32
enter14 = Enter(stack1) frame_name="scan/while/while_context" is_constant=true
stackPush1 = StackPushV2(enter14, arrayWrite1, ^add3)
stackPop1 = StackPopV2(enter15, ^sub4) elem_type=float32
enter15 = Enter(stack1) frame_name="gradients/scan/while/while_context" is_constant=true
controlTrigger1 = ControlTrigger(^stackPop2, ^stackPop1, ^stackPop3, ^stackPop4)
identity7 = Identity(switch7:1, ^identity6)
arrayGrad2 = TensorArrayGradV3(enter16, identity7) source="gradients"
enter16 = Enter(array2) frame_name="gradients/scan/while/while_context" is_constant=true
identity8 = Identity(identity7, ^arrayGrad2)
arrayRead2 = TensorArrayReadV3(arrayGrad2, stackPop2, identity8) dtype=float64
const26 = Const int32[]{-1}
stack2 = StackV2(const26) elem_type=int32
enter17 = Enter(stack2) frame_name="scan/while/while_context" is_constant=true
stackPush2 = StackPushV2(enter17, identity2, ^add3)
stackPop2 = StackPopV2(enter18, ^sub4) elem_type=int32
enter18 = Enter(stack2) frame_name="gradients/scan/while/while_context" is_constant=true
addN2 = AddN(switch8:1, arrayRead2)
mul5 = Mul(addN2, stackPop3)
const27 = Const int32[]{-1}
stack3 = StackV2(const27) elem_type=float64
enter19 = Enter(stack3) frame_name="scan/while/while_context" is_constant=true
stackPush3 = StackPushV2(enter19, arrayRead1, ^add3)
stackPop3 = StackPopV2(enter20, ^sub4) elem_type=float64
enter20 = Enter(stack3) frame_name="gradients/scan/while/while_context" is_constant=true
mul6 = Mul(stackPop4, addN2)
const28 = Const int32[]{-1}
stack4 = StackV2(const28) elem_type=float64
enter21 = Enter(stack4) frame_name="scan/while/while_context" is_constant=true
stackPush4 = StackPushV2(enter21, identity3, ^add3)
stackPop4 = StackPopV2(enter22, ^sub4) elem_type=float64
enter22 = Enter(stack4) frame_name="gradients/scan/while/while_context" is_constant=true
nextIteration7 = NextIteration(identity7)
arrayGrad3 = TensorArrayGradV3(enter23, enter24, ^sub4) source="gradients"
enter23 = Enter(array1) frame_name="gradients/scan/while/while_context" is_constant=true
enter24 = Enter(arrayScatter1) frame_name="gradients/scan/while/while_context" is_constant=true
identity9 = Identity(enter24, ^arrayGrad3)
arrayWrite2 = TensorArrayWriteV3(arrayGrad3, stackPop2, mul6, identity9)
nextIteration8 = NextIteration(mul5)
const29 = Const float32[]{0}
enter25 = Enter(const29) frame_name="gradients/scan/while/while_context"
merge9 = Merge(enter25, nextIteration9)
switch9 = Switch(merge9, loopCond2)
add4 = AddV2(switch9:1, arrayWrite2)
nextIteration9 = NextIteration(add4)
exit4 = Exit(switch9)
identity10 = Identity(arrayScatter1)
identity11 = Identity(exit4, ^identity10)
arrayGrad4 = TensorArrayGradV3(array1, identity11) source="gradients"
identity12 = Identity(identity11, ^arrayGrad4)
arrayGather2 = TensorArrayGatherV3(arrayGrad4, range1, identity12) dtype=float64
out0 = Identity(arrayGather1)
out1 = Identity(arrayGather2)
out2 = Identity(exit3)
)graph";

/// A `TensorArray` of split rows, another that grows in a loop, `concat` of it, and the gradient by the rows.
inline constexpr const char* pieces = R"graph(
x = Placeholder dtype=float32 shape=[?,2]
n = Placeholder dtype=int32 shape=[?]
const1 = Const int32[]{3}
array1 = TensorArrayV3(const1) dtype=float32
cast1 = Cast(n) DstT=int64
arraySplit1 = TensorArraySplitV3(array1, x, cast1, array1:1)
const2 = Const int32[]{0}
array2 = TensorArrayV3(const2) clear_after_read=false dtype=float32 dynamic_size=true
const3 = Const int32[]{0}
enter1 = Enter(const3) frame_name="while/while_context"
enter2 = Enter(array2:1) frame_name="while/while_context"
merge1 = Merge(enter1, nextIteration1)
merge2 = Merge(enter2, nextIteration2)
const4 = Const(^merge1) int32[]{3}
less1 = Less(merge1, const4)
loopCond1 = LoopCond(less1)
switch1 = Switch(merge1, loopCond1)
switch2 = Switch(merge2, loopCond1)
identity1 = Identity(switch1:1)
identity2 = Identity(switch2:1)
const5 = Const(^identity1) int32[]{1}
add1 = AddV2(identity1, const5)
arrayRead1 = TensorArrayReadV3(enter3, identity1, enter4) dtype=float32
enter3 = Enter(array1) frame_name="while/while_context" is_constant=true
enter4 = Enter(arraySplit1) frame_name="while/while_context" is_constant=true
tanh1 = Tanh(arrayRead1)
const6 = Const(^identity1) int32[]{1}
add2 = AddV2(identity1, const6)
cast2 = Cast(add2) DstT=float32
mul1 = Mul(tanh1, cast2)
arrayWrite1 = TensorArrayWriteV3(enter5, identity1, mul1, identity2)
enter5 = Enter(array2) frame_name="while/while_context" is_constant=true
nextIteration1 = NextIteration(add1)
nextIteration2 = NextIteration(arrayWrite1)
exit1 = Exit(switch2)
arrayConcat1 = TensorArrayConcatV3(array2, exit1) dtype=float32
mul2 = Mul(arrayConcat1, arrayConcat1)
rank1 = Rank(mul2)
const7 = Const int32[]{0}
const8 = Const int32[]{1}
range1 = Range(const7, rank1, const8)
const9 = Const int32[0]{}
const10 = Const float32[]{1}
fill1 = Fill(const9, const10)
const11 = Const int32[]{0}
enter6 = Enter(const11) frame_name="while/while_context"
merge3 = Merge(enter6, nextIteration3)
switch3 = Switch(merge3, loopCond1)
const12 = Const(^identity1) int32[]{1}
add3 = AddV2(switch3:1, const12)
nextIteration3 = NextIteration(add3, ^stackPush2, ^stackPush1, ^stackPush5, ^stackPush3, ^stackPush4)
exit2 = Exit(switch3)
const13 = Const int32[]{1}
enter7 = Enter(exit2) frame_name="gradients/while/while_context"
merge4 = Merge(enter7, nextIteration4)
greaterEqual1 = GreaterEqual(merge4, enter8)
enter8 = Enter(const13) frame_name="gradients/while/while_context" is_constant=true
loopCond2 = LoopCond(greaterEqual1)
switch4 = Switch(merge4, loopCond2)
sub1 = Sub(switch4:1, enter8)
nextIteration4 = NextIteration(sub1, ^controlTrigger1)
shape1 = Shape(mul2)
size1 = Size(shape1)
add4 = AddV2(range1, size1)
floorMod1 = FloorMod(add4, size1)
shape2 = Shape(floorMod1)
const14 = Const int32[]{0}
const15 = Const int32[]{1}
range2 = Range(const14, size1, const15)
const16 = Const int32[]{1}
fill2 = Fill(shape2, const16)
dynamicStitch1 = DynamicStitch(range2, floorMod1, shape1, fill2)
reshape1 = Reshape(fill1, dynamicStitch1)
broadcastTo1 = BroadcastTo(reshape1, shape1)
mul3 = Mul(broadcastTo1, arrayConcat1)
mul4 = Mul(arrayConcat1, broadcastTo1)
shape3 = Shape(arrayConcat1)
shape4 = Shape(arrayConcat1)
broadcastGradientArgs1 = BroadcastGradientArgs(shape3, shape4)
sum1 = Sum(mul3, broadcastGradientArgs1) keep_dims=true
reshape2 = Reshape(sum1, shape3)
sum2 = Sum(mul4, broadcastGradientArgs1:1) keep_dims=true
reshape3 = Reshape(sum2, shape4)
addN1 = AddN(reshape2, reshape3)
arrayGrad1 = TensorArrayGradV3(array2, exit1) source="gradients"
identity3 = Identity(exit1, ^arrayGrad1)
arraySplit2 = TensorArraySplitV3(arrayGrad1, addN1, arrayConcat1:1, identity3)
enter9 = Enter(arraySplit2) frame_name="gradients/while/while_context"
merge5 = Merge(enter9, nextIteration5)
switch5 = Switch(merge5, loopCond2)
identity4 = Identity(stackPop1)
const17 = Const int32[]{-1}
stack1 = StackV2(const17) elem_type=float32
enter10 = Enter(stack1) frame_name="while/while_context" is_constant=true
stackPush1 = StackPushV2(enter10, arrayWrite1, ^add3)
stackPop1 = StackPopV2(enter11, ^sub1) elem_type=float32
enter11 = Enter(stack1) frame_name="gradients/while/while_context" is_constant=true
controlTrigger1 = ControlTrigger(^stackPop2, ^stackPop1, ^stackPop5, ^stackPop3, ^stackPop4)
identity5 = Identity(switch5:1, ^identity4)
arrayGrad2 = TensorArrayGradV3(enter12, identity5) source="gradients"
enter12 = Enter(array2) frame_name="gradients/while/while_context" is_constant=true
identity6 = Identity(identity5, ^arrayGrad2)
arrayRead2 = TensorArrayReadV3(arrayGrad2, stackPop2, identity6) dtype=float32
const18 = Const int32[]{-1}
stack2 = StackV2(const18) elem_type=int32
enter13 = Enter(stack2) frame_name="while/while_context" is_constant=true
stackPush2 = StackPushV2(enter13, identity1, ^add3)
stackPop2 = StackPopV2(enter14, ^sub1) elem_type=int32
enter14 = Enter(stack2) frame_name="gradients/while/while_context" is_constant=true
mul5 = Mul(arrayRead2, stackPop3)
const19 = Const int32[]{-1}
stack3 = StackV2(const19) elem_type=float32
enter15 = Enter(stack3) frame_name="while/while_context" is_constant=true
stackPush3 = StackPushV2(enter15, cast2, ^add3)
stackPop3 = StackPopV2(enter16, ^sub1) elem_type=float32
enter16 = Enter(stack3) frame_name="gradients/while/while_context" is_constant=true
const20 = Const int32[]{-1}
stack4 = StackV2(const20) elem_type=float32
enter17 = Enter(stack4) frame_name="while/while_context" is_constant=true
stackPush4 = StackPushV2(enter17, tanh1, ^add3)
stackPop4 = StackPopV2(enter18, ^sub1) elem_type=float32
enter18 = Enter(stack4) frame_name="gradients/while/while_context" is_constant=true
shape5 = Shape(tanh1)
const21 = Const(^sub1) int32[0]{}
broadcastGradientArgs2 = BroadcastGradientArgs(stackPop5, const21)
const22 = Const int32[]{-1}
stack5 = StackV2(const22) elem_type=int32
enter19 = Enter(stack5) frame_name="while/while_context" is_constant=true
stackPush5 = StackPushV2(enter19, shape5, ^add3)
stackPop5 = StackPopV2(enter20, ^sub1) elem_type=int32
enter20 = Enter(stack5) frame_name="gradients/while/while_context" is_constant=true
sum3 = Sum(mul5, broadcastGradientArgs2) keep_dims=true
reshape4 = Reshape(sum3, stackPop5)
tanhGrad1 = TanhGrad(stackPop4, reshape4)
nextIteration5 = NextIteration(identity5)
arrayGrad3 = TensorArrayGradV3(enter21, enter22, ^sub1) source="gradients"
enter21 = Enter(array1) frame_name="gradients/while/while_context" is_constant=true
enter22 = Enter(arraySplit1) frame_name="gradients/while/while_context" is_constant=true
identity7 = Identity(enter22, ^arrayGrad3)
arrayWrite2 = TensorArrayWriteV3(arrayGrad3, stackPop2, tanhGrad1, identity7)
const23 = Const float32[]{0}
enter23 = Enter(const23) frame_name="gradients/while/while_context"
merge6 = Merge(enter23, nextIteration6)
switch6 = Switch(merge6, loopCond2)
add5 = AddV2(switch6:1, arrayWrite2)
nextIteration6 = NextIteration(add5)
exit3 = Exit(switch6)
identity8 = Identity(arraySplit1)
identity9 = Identity(exit3, ^identity8)
arrayGrad4 = TensorArrayGradV3(array1, identity9) source="gradients"
identity10 = Identity(identity9, ^arrayGrad4)
arrayConcat2 = TensorArrayConcatV3(arrayGrad4, identity10) dtype=float32
out0 = Identity(arrayConcat1)
out1 = Identity(arrayConcat2)
)graph";

/// `map_fn` of TensorFlow 2, whose loop was lowered to nodes, and the gradient by its input, which a `GradientTape` gave.
inline constexpr const char* list_gradient = R"graph(
x = Placeholder dtype=float32 shape=[?,3]
const1 = Const int32[1]{3}
const2 = Const int32[1]{3}
const3 = Const int32[0]{}
const4 = Const int32[1]{0}
const5 = Const int32[1]{1}
const6 = Const int32[1]{1}
const7 = Const int32[0]{}
const8 = Const float32[]{1}
const9 = Const int32[2]{1 1}
const10 = Const int32[1]{3}
const11 = Const int32[]{-1}
const12 = Const int32[1]{3}
const13 = Const int32[]{0}
const14 = Const int32[1]{3}
const15 = Const int32[]{0}
const16 = Const int32[]{0}
const17 = Const int32[0]{}
const18 = Const int32[1]{1}
const19 = Const int32[1]{1}
const20 = Const int32[1]{-1}
shape1 = Shape(x)
stridedSlice1 = StridedSlice(shape1, const4, const5, const6) shrink_axis_mask=1
emptyTensorList1 = EmptyTensorList(const1, stridedSlice1) element_dtype=float32
enter1 = Enter(emptyTensorList1) frame_name="map/while"
merge1 = Merge(enter1, nextIteration8)
emptyTensorList2 = EmptyTensorList(const2, stridedSlice1) element_dtype=float32
enter2 = Enter(emptyTensorList2) frame_name="map/while"
merge2 = Merge(enter2, nextIteration6)
emptyTensorList3 = EmptyTensorList(const3, stridedSlice1) element_dtype=float32
enter3 = Enter(emptyTensorList3) frame_name="map/while"
merge3 = Merge(enter3, nextIteration7)
emptyTensorList4 = EmptyTensorList(const7, stridedSlice1) element_dtype=int32
enter4 = Enter(emptyTensorList4) frame_name="map/while"
merge4 = Merge(enter4, nextIteration5)
reshape1 = Reshape(const8, const9)
tensorListReserve1 = TensorListReserve(const11, stridedSlice1) element_dtype=float32
enter5 = Enter(tensorListReserve1) frame_name="map/while"
merge5 = Merge(enter5, nextIteration9)
enter6 = Enter(const13) frame_name="gradient_tape/map/while/map/while_grad"
merge6 = Merge(enter6, nextIteration15)
enter7 = Enter(stridedSlice1) frame_name="map/while"
merge7 = Merge(enter7, nextIteration1)
tensorListFromTensor1 = TensorListFromTensor(x, const14)
enter8 = Enter(tensorListFromTensor1) frame_name="map/while"
merge8 = Merge(enter8, nextIteration2)
enter9 = Enter(const15) frame_name="map/while"
merge9 = Merge(enter9, nextIteration3)
enter10 = Enter(stridedSlice1) frame_name="map/while"
merge10 = Merge(enter10, nextIteration4)
enter11 = Enter(const16) frame_name="map/while"
merge11 = Merge(enter11, nextIteration10)
emptyTensorList5 = EmptyTensorList(const17, stridedSlice1) element_dtype=int32
enter12 = Enter(emptyTensorList5) frame_name="map/while"
merge12 = Merge(enter12, nextIteration11)
noOp1 = NoOp(^merge9)
identity1 = Identity(merge9, ^noOp1)
identity2 = Identity(merge10, ^noOp1)
less1 = Less(identity1, identity2)
identity3 = Identity(merge11, ^noOp1)
identity4 = Identity(merge7, ^noOp1)
less2 = Less(identity3, identity4)
logicalAnd1 = LogicalAnd(less1, less2)
identity5 = Identity(logicalAnd1)
identity6 = Identity(identity5)
loopCond1 = LoopCond(identity6)
switch1 = Switch(merge1, loopCond1)
switch2 = Switch(merge2, loopCond1)
exit1 = Exit(switch2)
enter13 = Enter(exit1) frame_name="gradient_tape/map/while/map/while_grad"
merge13 = Merge(enter13, nextIteration17)
switch3 = Switch(merge3, loopCond1)
switch4 = Switch(merge4, loopCond1)
switch5 = Switch(merge5, loopCond1)
exit2 = Exit(switch3)
enter14 = Enter(exit2) frame_name="gradient_tape/map/while/map/while_grad"
merge14 = Merge(enter14, nextIteration14)
exit3 = Exit(switch5)
tensorListStack1 = TensorListStack(exit3, const12) element_dtype=float32
mul1 = Mul(tensorListStack1, tensorListStack1)
shape2 = Shape(mul1)
tile1 = Tile(reshape1, shape2)
mul2 = Mul(tile1, tensorListStack1)
shape3 = Shape(tensorListStack1)
shape4 = Shape(tensorListStack1)
broadcastGradientArgs1 = BroadcastGradientArgs(shape3, shape4)
sum1 = Sum(mul2, broadcastGradientArgs1) keep_dims=true
reshape2 = Reshape(sum1, shape3)
mul3 = Mul(tensorListStack1, tile1)
sum2 = Sum(mul3, broadcastGradientArgs1:1) keep_dims=true
reshape3 = Reshape(sum2, shape4)
addN1 = AddN(reshape2, reshape3)
tensorListFromTensor2 = TensorListFromTensor(addN1, const10)
enter15 = Enter(tensorListFromTensor2) frame_name="gradient_tape/map/while/map/while_grad"
merge15 = Merge(enter15, nextIteration16)
switch6 = Switch(merge9, loopCond1)
exit4 = Exit(switch6)
enter16 = Enter(exit4) frame_name="gradient_tape/map/while/map/while_grad"
merge16 = Merge(enter16, nextIteration13)
identity7 = Identity(switch6:1)
noOp2 = NoOp(^identity7)
identity8 = Identity(switch1:1, ^noOp2)
identity9 = Identity(switch2:1, ^noOp2)
identity10 = Identity(switch3:1, ^noOp2)
identity11 = Identity(switch4:1, ^noOp2)
const21 = Const(^noOp2) int32[1]{0}
const22 = Const(^noOp2) int32[1]{3}
identity12 = Identity(switch5:1, ^noOp2)
noOp3 = NoOp(^noOp2)
switch7 = Switch(merge7, loopCond1)
identity13 = Identity(switch7:1, ^noOp2)
identity14 = Identity(identity13)
nextIteration1 = NextIteration(identity14, ^noOp3)
switch8 = Switch(merge8, loopCond1)
identity15 = Identity(switch8:1, ^noOp2)
identity16 = Identity(identity15)
nextIteration2 = NextIteration(identity16, ^noOp3)
identity17 = Identity(switch6:1, ^noOp2)
const23 = Const(^noOp2) int32[]{1}
add1 = AddV2(identity17, const23)
identity18 = Identity(add1)
identity19 = Identity(identity18)
nextIteration3 = NextIteration(identity19, ^noOp3)
switch9 = Switch(merge10, loopCond1)
identity20 = Identity(switch9:1, ^noOp2)
identity21 = Identity(identity20)
identity22 = Identity(identity21)
nextIteration4 = NextIteration(identity22, ^noOp3)
switch10 = Switch(merge11, loopCond1)
identity23 = Identity(switch10:1, ^noOp2)
tensorListPushBack1 = TensorListPushBack(identity11, identity23)
identity24 = Identity(tensorListPushBack1)
nextIteration5 = NextIteration(identity24, ^noOp3)
tensorListGetItem1 = TensorListGetItem(identity15, identity23, const22) element_dtype=float32
tensorListPushBack2 = TensorListPushBack(identity9, tensorListGetItem1)
identity25 = Identity(tensorListPushBack2)
nextIteration6 = NextIteration(identity25, ^noOp3)
sum3 = Sum(tensorListGetItem1, const21)
tensorListPushBack3 = TensorListPushBack(identity10, sum3)
identity26 = Identity(tensorListPushBack3)
nextIteration7 = NextIteration(identity26, ^noOp3)
sin1 = Sin(tensorListGetItem1)
tensorListPushBack4 = TensorListPushBack(identity8, sin1)
identity27 = Identity(tensorListPushBack4)
nextIteration8 = NextIteration(identity27, ^noOp3)
mul4 = Mul(sin1, sum3)
tensorListSetItem1 = TensorListSetItem(identity12, identity23, mul4)
identity28 = Identity(tensorListSetItem1)
identity29 = Identity(identity28)
nextIteration9 = NextIteration(identity29, ^noOp3)
const24 = Const(^noOp2) int32[]{1}
add2 = AddV2(identity23, const24)
identity30 = Identity(add2)
identity31 = Identity(identity30)
nextIteration10 = NextIteration(identity31, ^noOp3)
tensorListLength1 = TensorListLength(identity15)
switch11 = Switch(merge12, loopCond1)
identity32 = Identity(switch11:1, ^noOp2)
tensorListPushBack5 = TensorListPushBack(identity32, tensorListLength1)
identity33 = Identity(tensorListPushBack5)
nextIteration11 = NextIteration(identity33, ^noOp3)
emptyTensorList6 = EmptyTensorList(const18, stridedSlice1) element_dtype=int32
enter17 = Enter(emptyTensorList6) frame_name="map/while"
tensorListElementShape1 = TensorListElementShape(identity15) shape_type=int32
merge17 = Merge(enter17, nextIteration12)
switch12 = Switch(merge17, loopCond1)
identity34 = Identity(switch12:1, ^noOp2)
tensorListPushBack6 = TensorListPushBack(identity34, tensorListElementShape1)
identity35 = Identity(tensorListPushBack6)
nextIteration12 = NextIteration(identity35, ^noOp3)
exit5 = Exit(switch4)
enter18 = Enter(exit5) frame_name="gradient_tape/map/while/map/while_grad"
merge18 = Merge(enter18, nextIteration18)
noOp4 = NoOp(^merge6)
identity36 = Identity(merge6, ^noOp4)
identity37 = Identity(merge16, ^noOp4)
less3 = Less(identity36, identity37)
identity38 = Identity(less3)
identity39 = Identity(identity38)
loopCond2 = LoopCond(identity39)
switch13 = Switch(merge13, loopCond2)
switch14 = Switch(merge15, loopCond2)
switch15 = Switch(merge16, loopCond2)
switch16 = Switch(merge14, loopCond2)
switch17 = Switch(merge6, loopCond2)
switch18 = Switch(merge18, loopCond2)
exit6 = Exit(switch1)
enter19 = Enter(exit6) frame_name="gradient_tape/map/while/map/while_grad"
merge19 = Merge(enter19, nextIteration19)
switch19 = Switch(merge19, loopCond2)
exit7 = Exit(switch12)
enter20 = Enter(exit7) frame_name="gradient_tape/map/while/map/while_grad"
merge20 = Merge(enter20, nextIteration20)
switch20 = Switch(merge20, loopCond2)
exit8 = Exit(switch11)
enter21 = Enter(exit8) frame_name="gradient_tape/map/while/map/while_grad"
merge21 = Merge(enter21, nextIteration21)
switch21 = Switch(merge21, loopCond2)
identity40 = Identity(switch17:1)
noOp5 = NoOp(^identity40)
identity41 = Identity(switch13:1, ^noOp5)
const25 = Const(^noOp5) float32[3]{0 0 0}
identity42 = Identity(switch14:1, ^noOp5)
identity43 = Identity(identity42)
identity44 = Identity(switch15:1, ^noOp5)
identity45 = Identity(identity44)
identity46 = Identity(identity45)
identity47 = Identity(switch16:1, ^noOp5)
const26 = Const(^noOp5) int32[]{-1}
tensorListPopBack1 = TensorListPopBack(identity47, const26) element_dtype=float32
identity48 = Identity(tensorListPopBack1)
const27 = Const(^noOp5) int32[1]{3}
identity49 = Identity(switch17:1, ^noOp5)
const28 = Const(^noOp5) int32[]{1}
add3 = AddV2(identity49, const28)
identity50 = Identity(add3)
identity51 = Identity(identity50)
noOp6 = NoOp(^noOp5)
nextIteration13 = NextIteration(identity46, ^noOp6)
nextIteration14 = NextIteration(identity48, ^noOp6)
nextIteration15 = NextIteration(identity51, ^noOp6)
identity52 = Identity(switch18:1, ^noOp5)
const29 = Const(^noOp5) int32[]{-1}
tensorListPopBack2 = TensorListPopBack(identity52, const29) element_dtype=int32
tensorListSetItem2 = TensorListSetItem(identity43, tensorListPopBack2:1, const25)
identity53 = Identity(tensorListSetItem2)
identity54 = Identity(identity53)
nextIteration16 = NextIteration(identity54, ^noOp6)
tensorListGetItem2 = TensorListGetItem(identity43, tensorListPopBack2:1, const27) element_dtype=float32
mul5 = Mul(tensorListGetItem2, tensorListPopBack1:1)
const30 = Const(^mul5) int32[]{-1}
tensorListPopBack3 = TensorListPopBack(identity41, const30) element_dtype=float32
identity55 = Identity(tensorListPopBack3)
nextIteration17 = NextIteration(identity55, ^noOp6)
identity56 = Identity(tensorListPopBack2)
nextIteration18 = NextIteration(identity56, ^noOp6)
identity57 = Identity(switch19:1, ^noOp5)
const31 = Const(^noOp5) int32[]{-1}
tensorListPopBack4 = TensorListPopBack(identity57, const31) element_dtype=float32
identity58 = Identity(tensorListPopBack4)
nextIteration19 = NextIteration(identity58, ^noOp6)
identity59 = Identity(switch20:1, ^noOp5)
const32 = Const(^noOp5) int32[]{-1}
tensorListPopBack5 = TensorListPopBack(identity59, const32) element_dtype=int32
identity60 = Identity(tensorListPopBack5)
nextIteration20 = NextIteration(identity60, ^noOp6)
identity61 = Identity(switch21:1, ^noOp5)
const33 = Const(^noOp5) int32[]{-1}
tensorListPopBack6 = TensorListPopBack(identity61, const33) element_dtype=int32
identity62 = Identity(tensorListPopBack6)
nextIteration21 = NextIteration(identity62, ^noOp6)
exit9 = Exit(switch8)
zerosLike1 = ZerosLike(exit9)
enter22 = Enter(zerosLike1) frame_name="gradient_tape/map/while/map/while_grad"
tensorListReserve2 = TensorListReserve(tensorListPopBack5:1, tensorListPopBack6:1) element_dtype=float32
cos1 = Cos(tensorListPopBack3:1)
mul6 = Mul(mul5, cos1)
mul7 = Mul(tensorListPopBack4:1, tensorListGetItem2)
const34 = Const(^noOp5) int32[1]{0}
sum4 = Sum(mul7, const34) keep_dims=true
const35 = Const(^noOp5) int32[0]{}
reshape4 = Reshape(sum4, const35)
const36 = Const(^noOp5) int32[1]{1}
reshape5 = Reshape(reshape4, const36)
const37 = Const(^noOp5) int32[1]{3}
tile2 = Tile(reshape5, const37)
addN2 = AddN(mul6, tile2)
tensorListSetItem3 = TensorListSetItem(tensorListReserve2, tensorListPopBack2:1, addN2)
merge22 = Merge(enter22, nextIteration22)
switch22 = Switch(merge22, loopCond2)
identity63 = Identity(switch22:1, ^noOp5)
identity64 = Identity(identity63)
addN3 = AddN(identity64, tensorListSetItem3)
identity65 = Identity(addN3)
identity66 = Identity(identity65)
nextIteration22 = NextIteration(identity66, ^noOp6)
identity67 = Identity(tensorListStack1)
exit10 = Exit(switch22)
identity68 = Identity(exit10)
shape5 = Shape(x)
slice1 = Slice(shape5, const19, const20)
tensorListStack2 = TensorListStack(identity68, slice1) element_dtype=float32
identity69 = Identity(tensorListStack2)
out0 = Identity(identity67)
out1 = Identity(identity69)
)graph";

}  // namespace tensor_array_graphs
