#pragma once
// Small graphs that were made to break something, with what they must end in: an error, by its class and how its text begins, or a
// result. Tests run them, and fuzzing begins with them. Graphs are written as graph_text.hpp says.

#include "graph_text.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace leat_test {

struct hostile_graph {
  std::string name;
  std::vector<std::string> fetches;
  std::string expected;
  std::string text;
};

namespace detail {
// ## name | what is fetched | what comes of it
// Several texts, since a compiler need not take a literal of more than 65,536 characters.
inline constexpr std::string_view hostile_texts[] = {R"graphs(
## port of Const | y:0 | invalid_argument: the node 'y' (Identity): input 'c:5': 'c' (Const) has 1 output
c = Const float32[]{1}
y = Identity(c:5) T=float32
## output of NoOp | y:0 | invalid_argument: the node 'y' (Identity): input 'n': 'n' (NoOp) has no output
n = NoOp
y = Identity(n) T=float32
## output of trigger | y:0 | invalid_argument: the node 'y' (Identity): input 'n:0': 'n' (ControlTrigger) has no output
n = ControlTrigger
y = Identity(n:0) T=float32
## Add one input | y:0 | invalid_argument: the node 'y' (Add): has 1 inputs, which is not what the operator takes
a = Const float32[]{1}
y = Add(a) T=float32
## Div no input | y:0 | invalid_argument: the node 'y' (Div): has 0 inputs, which is not what the operator takes
y = Div T=float32
## Gather one | y:0 | invalid_argument: the node 'y' (Gather): Gather: 1 inputs, which is not what the operator takes
a = Const float32[2]{1,2}
y = Gather(a) Tparams=float32 Tindices=int32
## InTopK one | y:0 | invalid_argument: the node 'y' (InTopK): InTopK: 1 inputs, which is not what the operator takes
a = Const float32[2,2]{1,2}
y = InTopK(a) T=int32 k=1
## BroadcastTo 9 dims | y:0 | invalid_argument: the node 'y' (BroadcastTo): more than 8 dimensions
a = Const float32[]{1}
s = Const int32[9]{1}
y = BroadcastTo(a, s) T=float32 Tidx=int32
## BroadcastTo 9 computed | y:0 | invalid_argument: the node 'y' (BroadcastTo): more than 8 dimensions
a = Const float32[]{1}
s = Const int32[9]{1}
z = Add(s, s) T=int32
y = BroadcastTo(a, z) T=float32 Tidx=int32
## StridedSlice new axes | y:0 | invalid_argument: the node 'y' (StridedSlice): StridedSlice: new axes make more than 8 dimensions
a = Const float32[2]{1,2}
b = Const int32[12]{0}
e = Const int32[12]{1}
y = StridedSlice(a, b, e, e) T=float32 Index=int32 new_axis_mask=2047
## GatherNd deep | y:0 | unimplemented: the node 'y' (GatherNd): more than 8 dimensions
a = Const float32[1,1,1,1,1]{1}
i = Const int32[1,1,1,1,1,1]{0}
y = GatherNd(a, i) Tparams=float32 Tindices=int32
## Partition deep | y:0 | unimplemented: the node 'y' (DynamicPartition): more than 8 dimensions
a = Const float32[1,1,1,1,1,1,1,1]{1}
p = Const int32[]{0}
y = DynamicPartition(a, p) T=float32 num_partitions=1
## Stitch deep | y:0 | unimplemented: the node 'y' (DynamicStitch): more than 8 dimensions
i = Const int32[]{0}
a = Const float32[1,1,1,1,1,1,1,1]{1}
y = DynamicStitch(i, a) T=float32 N=1
## Segment deep | y:0 | invalid_argument: the node 'y' (UnsortedSegmentSum): more than 8 dimensions
a = Const float32[1,1,1,1,1,1,1,1]{1}
i = Const int32[]{0}
n = Const int32[]{1}
y = UnsortedSegmentSum(a, i, n) T=float32 Tindices=int32 Tnumsegments=int32
## ScatterNd wraps | y:0 | invalid_argument: the node 'y' (ScatterNd): ScatterNd: a result of more than 2^44 elements, which no memory
i = Const int64[1,1]{0}
u = Const float32[1,4]{1}
s = Const int64[2]{8589934592,2147483648}
y = ScatterNd(i, u, s) T=float32 Tindices=int64
## Reshape wraps | y:0 | invalid_argument: the node 'y' (Reshape): a result of more than 2^44 elements
a = Const float32[0]{}
s = Const int64[3]{8589934592,2147483648,2}
y = Reshape(a, s) T=float32 Tshape=int64
## Fill wraps | y:0 | invalid_argument: the node 'y' (Fill): Fill: a result of more than 2^44 elements, which no memory holds
s = Const int64[2]{8589934592,2147483648}
v = Const float32[]{1}
y = Fill(s, v) T=float32 index_type=int64
## Tile wraps | y:0 | invalid_argument: the node 'y' (Tile): Tile: a result of more than 2^44 elements, which no memory holds
a = Const float32[2,2]{1}
m = Const int64[2]{4294967296,4294967296}
y = Tile(a, m) T=float32 Tmultiples=int64
## BroadcastTo wraps | y:0 | invalid_argument: the node 'y' (BroadcastTo): a result of more than 2^44 elements, which no memory holds
a = Const float32[]{1}
m = Const int64[2]{4294967296,4294967296}
y = BroadcastTo(a, m) T=float32 Tidx=int64
## SliceGrad wraps | y:0 | invalid_argument: the node 'y' (StridedSliceGrad): StridedSliceGrad: a result of more than 2^44 elements,
s = Const int64[2]{8589934592,2147483648}
b = Const int64[2]{0}
e = Const int64[2]{1,1}
d = Const float32[1,1]{1}
y = StridedSliceGrad(s, b, e, e, d) T=float32 Index=int64
## Slice overflow | y:0 | invalid_argument: the node 'y' (Slice): out of range
a = Const float32[4]{1}
b = Const int64[1]{9223372036854775807}
s = Const int64[1]{2}
y = Slice(a, b, s) T=float32 Index=int64
## Range huge | y:0 | resource_exhausted: a range of more than 2^44 numbers, which no memory holds
a = Const int64[]{0}
b = Const int64[]{4611686018427387904}
d = Const int64[]{1}
y = Range(a, b, d) Tidx=int64
## Range min | y:0 | resource_exhausted: a range of more than 2^44 numbers, which no memory holds
a = Const int64[]{0}
b = Const int64[]{-9223372036854775808}
d = Const int64[]{-1}
y = Range(a, b, d) Tidx=int64
## ScatterDiv min | y:0 | ok int32[2][-2147483648 -2147483648]
v = VariableV2 dtype=int32 shape=[2]
c = Const int32[2]{-2147483648}
a = Assign(v, c) T=int32
i = Const int32[1]{0}
u = Const int32[1]{-1}
y = ScatterDiv(a, i, u) T=int32 Tindices=int32
## strided walk wraps | y:0 | ok float32[2][1 1]
s = Const int64[3]{1,2,3}
b = Const int64[1]{1}
e = Const int64[1]{9223372036854775807}
t = Const int64[1]{9223372036854775807}
w = StridedSlice(s, b, e, t) T=int64 Index=int64
v = Const float32[]{1}
y = Fill(w, v) T=float32 index_type=int64
## slice reads itself | y:0 | ok int64[1][1]
c0 = Const int64[1]{1}
c1 = StridedSlice(c0, c0, c0, c0) T=int64 Index=int64 begin_mask=1 end_mask=1
c2 = StridedSlice(c1, c1, c1, c1) T=int64 Index=int64 begin_mask=1 end_mask=1
c3 = StridedSlice(c2, c2, c2, c2) T=int64 Index=int64 begin_mask=1 end_mask=1
c4 = StridedSlice(c3, c3, c3, c3) T=int64 Index=int64 begin_mask=1 end_mask=1
c5 = StridedSlice(c4, c4, c4, c4) T=int64 Index=int64 begin_mask=1 end_mask=1
c6 = StridedSlice(c5, c5, c5, c5) T=int64 Index=int64 begin_mask=1 end_mask=1
c7 = StridedSlice(c6, c6, c6, c6) T=int64 Index=int64 begin_mask=1 end_mask=1
c8 = StridedSlice(c7, c7, c7, c7) T=int64 Index=int64 begin_mask=1 end_mask=1
c9 = StridedSlice(c8, c8, c8, c8) T=int64 Index=int64 begin_mask=1 end_mask=1
d0 = StridedSlice(c9, c9, c9, c9) T=int64 Index=int64 begin_mask=1 end_mask=1
d1 = StridedSlice(d0, d0, d0, d0) T=int64 Index=int64 begin_mask=1 end_mask=1
d2 = StridedSlice(d1, d1, d1, d1) T=int64 Index=int64 begin_mask=1 end_mask=1
d3 = StridedSlice(d2, d2, d2, d2) T=int64 Index=int64 begin_mask=1 end_mask=1
d4 = StridedSlice(d3, d3, d3, d3) T=int64 Index=int64 begin_mask=1 end_mask=1
d5 = StridedSlice(d4, d4, d4, d4) T=int64 Index=int64 begin_mask=1 end_mask=1
d6 = StridedSlice(d5, d5, d5, d5) T=int64 Index=int64 begin_mask=1 end_mask=1
y = StridedSlice(d6, d6, d6, d6) T=int64 Index=int64 begin_mask=1 end_mask=1
## strides placeholder 2^31 | y:0 | invalid_argument: the node 'b' (StridedSlice): StridedSlice: a slice of 2147483648 entries, more than any
p = Placeholder dtype=int32 shape=[2147483648]
a = Const float32[2]{1}
b = StridedSlice(a, p, p, p) T=float32 Index=int32
y = Identity(b) T=float32
## dequeue more | y:0 | invalid_argument: the queue 'q' has 1 components, the node takes 3
q = FIFOQueueV2 component_types=(float32)
v = Const float32[]{1}
e = QueueEnqueueV2(q, v) Tcomponents=(float32)
y = QueueDequeueV2(q, ^e) component_types=(float32,float32,float32)
## top k nan | y:0 y:1 | ok float32[4][nan 3 2 1] int32[4][1 2 4 0]
a = Const float32[5]{1,nan,3,-inf,2}
k = Const int32[]{4}
y = TopKV2(a, k) T=float32
## negative N | y:0 | invalid_argument: the node 'y' (Pack): Pack: the attribute N is -1, less than 0
a = Const float32[]{1}
y = Pack(a) T=float32 N=-1
## negative N ConcatV2 | y:0 | invalid_argument: the node 'y' (ConcatV2): attribute N is -2, and there are 2 such inputs
a = Const float32[1]{1}
i = Const int32[]{0}
y = ConcatV2(a, a, i) T=float32 N=-2 Tidx=int32
## Div min | y:0 | ok int32[]-2147483648
a = Const int32[]{-2147483648}
b = Const int32[]{-1}
y = Div(a, b) T=int32
## port 65535 of unknown | y:0 | unimplemented: No kernel for the operator 'Unknown'
u = Unknown
y = Identity(u:65535) T=float32
## port of Placeholder | y:0 | invalid_argument: the node 'y' (Identity): input 'p:1': 'p' (Placeholder) has 1 output
p = Placeholder dtype=float32
y = Identity(p:1) T=float32
## port of Assign | y:0 | invalid_argument: the node 'y' (Identity): input 'a:3': 'a' (Assign) has 1 output
v = VariableV2 dtype=float32 shape=[]
c = Const float32[]{1}
a = Assign(v, c) T=float32
y = Identity(a:3) T=float32
## Split beyond ports | y:0 | invalid_argument: the node 'y' (Identity): input 's:2': 's' (Split) has 2 outputs
a = Const int32[]{0}
v = Const float32[4]{1}
s = Split(a, v) T=float32 num_split=2
y = Identity(s:2) T=float32
## Assign to value | y:0 | invalid_argument: the node 'y' (Assign): input 'ref' must be a variable, and 'c' gives a value
c = Const float32[]{1}
y = Assign(c, c) T=float32
## ScatterAdd to value | y:0 | invalid_argument: the node 'y' (ScatterAdd): input 'ref' must be a variable, and 'c' gives a value
c = Const float32[2]{1}
i = Const int32[1]{0}
u = Const float32[1]{1}
y = ScatterAdd(c, i, u) T=float32 Tindices=int32
## NoOp with data | y:0 | invalid_argument: the node 'n' (NoOp): takes no inputs but control inputs
c = Const float32[]{1}
n = NoOp(c)
y = Identity(c, ^n) T=float32
## Merge wrong way back type | y:0 | invalid_argument: the node 'm' (Merge): input 'n' has type int32, the loop's variable float32
c = Const float32[]{0}
i = Const int32[]{0}
e = Enter(c) T=float32 frame_name="f"
m = Merge(e, n) T=float32 N=2
n = NextIteration(k) T=int32
k = Enter(i) T=int32 frame_name="f"
x = Exit(m) T=float32
y = Identity(x) T=float32
## Merge way back port | y:0 | invalid_argument: the node 'm' (Merge): input 'n:7': 'n' (NextIteration) has 1 output
c = Const float32[]{0}
e = Enter(c) T=float32 frame_name="f"
m = Merge(e, n:7) T=float32 N=2
n = NextIteration(m) T=float32
x = Exit(m) T=float32
y = Identity(x) T=float32
## Merge control way back | y:0 | invalid_argument: the graph has a cycle that is no loop, among or before the nodes 'm', 'n', 'y'
c = Const float32[]{0}
m = Merge(c, c, ^n) T=float32 N=2
n = NextIteration(m) T=float32
y = Identity(m) T=float32
## endless loop | y:0 | deadline_exceeded: Timed out after 200 ms
c = Const float32[]{0}
t = Const bool[]{true}
e = Enter(c) T=float32 frame_name="f"
te = Enter(t) T=bool frame_name="f" is_constant=true
m = Merge(e, n) T=float32 N=2
l = LoopCond(te)
s = Switch(m, l) T=float32
n = NextIteration(s:1) T=float32
x = Exit(s) T=float32
y = Identity(x) T=float32
## NextIteration outside of a frame | y:0 | ok float32[]0
c = Const float32[]{0}
n = NextIteration(c) T=float32
y = Identity(n) T=float32
## Exit outside of a frame | y:0 | invalid_argument: an Exit outside of any loop
c = Const float32[]{0}
x = Exit(c) T=float32
y = Identity(x) T=float32
## frames mixed | y:0 | invalid_argument: has inputs from different frames: one is in frame 'a', another in frame 'b'
c = Const float32[]{0}
a = Enter(c) T=float32 frame_name="a"
b = Enter(c) T=float32 frame_name="b"
m = AddV2(a, b) T=float32
x = Exit(m) T=float32
y = Identity(x) T=float32
## back edge of another frame | y:0 | invalid_argument: has inputs from different frames: one is in frame 'f', another in frame ''
c = Const float32[]{0}
e = Enter(c) T=float32 frame_name="f"
m = Merge(e, n) T=float32 N=2
x = Exit(m) T=float32
y = Identity(x) T=float32
n = NextIteration(y) T=float32
## merge of itself | y:0 | invalid_argument: an Exit outside of any loop
m = Merge(n, n) T=float32 N=2
n = NextIteration(m) T=float32
y = Exit(m) T=float32
## self cycle | y:0 | invalid_argument: the graph has a cycle that is no loop, among or before the nodes 'y'
y = Identity(y) T=float32
## two cycle | y:0 | invalid_argument: the graph has a cycle that is no loop, among or before the nodes 'a', 'y'
a = Identity(y) T=float32
y = Identity(a) T=float32
## missing control | y:0 | invalid_argument: the node 'y', input '^ghost': the graph has no node of this name
c = Const float32[]{1}
y = Identity(c, ^ghost) T=float32
## duplicate names | y:0 | invalid_argument: Node name 'y' already exists in the GraphDef
y = Const float32[]{1}
y = Const float32[]{2}
## Const lies about dtype | y:0 | invalid_argument: the node 'y' (Const): attribute value has another dtype than attribute dtype
y = Const dtype=float32 value=int32[]{1}
## Const without value | y:0 | invalid_argument: the node 'y' (Const): lacks the attribute value
y = Const dtype=float32
## Const 2^30 of one | y:0 | resource_exhausted: an array of 4294967296 bytes: of the limit of 67108864 bytes (memory_limit_in_bytes) 0
c = Const float32[1073741824]{1}
y = Identity(c) T=float32
## Const of resource | y:0 | invalid_argument: the node 'y' (Const): attribute value has another dtype than attribute dtype
y = Const dtype=resource value=float32[]{1}
## Const huge shape | y:0 | invalid_argument: the node 'c' (Const): attribute value: tensor_shape has more than 2^63 elements
c = Const float32[4611686018427387904,4]{1}
y = Identity(c) T=float32
## Const int4 | y:0 | unimplemented: no kernel for dtype int4
c = Const int4[2]{}
y = Identity(c) T=int4
## Const int4 add | y:0 | unimplemented: no kernel for dtype int4
c = Const int4[2]{}
y = AddV2(c, c) T=int4
## Const complex | y:0 | ok complex64[2][(1,2) (1,2)]
c = Const complex64[2]{1,2}
y = Identity(c) T=complex64
## complex numbers without an order | y:0 | unimplemented: no kernel of Less for dtype complex64
c = Const complex64[2]{}
y = Less(c, c) T=complex64
## complex and real | y:0 | invalid_argument: the node 'y' (AddV2): input 'd' has type float32, input 'c' complex64
c = Const complex64[2]{}
d = Const float32[2]{}
y = AddV2(c, d) T=complex64
## parts of another size | y:0 | invalid_argument: the node 'y' (Real): Real: T is complex64, and Tout is double
c = Const complex64[2]{}
y = Real(c) T=complex64 Tout=float64
## Const 2^30 of complex128 | y:0 | resource_exhausted: an array of 17179869184 bytes: of the limit of 67108864 bytes (memory_limit_in_bytes) 0
c = Const complex128[1073741824]{1,2}
y = AddV2(c, c) T=complex128
## FFT of a scalar | y:0 | invalid_argument: the node 'y' (FFT): FFT: Shape must be at least rank 1 but is rank 0
c = Const complex64[]{}
y = FFT(c) Tcomplex=complex64
## FFT without elements | y:0 | ok complex64[2,0][]
c = Const complex64[2,0]{}
y = FFT(c) Tcomplex=complex64
## FFT2D of a vector behind an unknown shape | y:0 | invalid_argument: Input must have rank of at least 2 but got: [2]
c = Const complex64[2]{}
n = Const int32[1]{2}
m = PlaceholderWithDefault(n) dtype=int32 shape=[?]
r = Reshape(c, m) T=complex64
y = FFT2D(r) Tcomplex=complex64
## RFFT of length -1 | y:0 | invalid_argument: fft_length[0] must >= 0, but got: -1
x = Const float32[4]{1}
n = Const int32[1]{-1}
y = RFFT(x, n) Treal=float32 Tcomplex=complex64
## RFFT of length 0 | y:0 | ok complex64[0][]
x = Const float32[4]{1}
n = Const int32[1]{0}
y = RFFT(x, n) Treal=float32 Tcomplex=complex64
## RFFT longer than its input | y:0 | invalid_argument: Input dimension 0 must have length of at least 8 but got: 4
x = Const float32[4]{1}
n = Const int32[1]{8}
y = RFFT(x, n) Treal=float32 Tcomplex=complex64
## IRFFT of 2^31 - 1 | y:0 | invalid_argument: Input dimension 0 must have length of at least 1073741824 but got: 4
x = Const complex64[4]{1,0}
n = Const int32[1]{2147483647}
y = IRFFT(x, n) Treal=float32 Tcomplex=complex64
## RFFT with two lengths | y:0 | invalid_argument: the node 'y' (RFFT): RFFT: Dimension must be 1 but is 2
x = Const float32[4]{1}
n = Const int32[2]{2}
y = RFFT(x, n) Treal=float32 Tcomplex=complex64
## FFTND along an axis twice | y:0 | invalid_argument: the axis -1 is named twice
x = Const complex64[2,2]{1,0}
n = Const int32[2]{2}
a = Const int32[2]{1,-1}
y = FFTND(x, n, a) Tcomplex=complex64
## Const half out of range | y:0 | invalid_argument: the node 'c' (Const): attribute value: half_val has 65536
c = Const half[2]{65536}
y = AddV2(c, c) T=half
## Const 2^30 of half | y:0 | resource_exhausted: an array of 2147483648 bytes: of the limit of 67108864 bytes (memory_limit_in_bytes) 0
c = Const half[1073741824]{1}
y = AddV2(c, c) T=half
## Fill of int8 | y:0 | resource_exhausted: 
n = Const int32[1]{1073741824}
v = Const int8[]{1}
y = Fill(n, v) T=int8
## AddV2 of types | y:0 | invalid_argument: the node 'y' (AddV2): input 'b' has type int32, input 'a' float32
a = Const float32[]{1}
b = Const int32[]{1}
y = AddV2(a, b) T=float32
## Concat computed axis types | y:0 | invalid_argument: the node 'y' (ConcatV2): input 'b' has type float64, input 'a' uint8
a = Const uint8[2]{1,2}
b = Const float64[2]{1,2}
i = Const int32[]{0}
k = AddV2(i, i) T=int32
y = ConcatV2(a, b, k) T=uint8 N=2 Tidx=int32
## Concat axis 2^32 | y:0 | invalid_argument: the node 'y' (ConcatV2): axis out of range
a = Const float32[2]{1,2}
i = Const int64[]{4294967296}
y = ConcatV2(a, a, i) T=float32 N=2 Tidx=int64
## Concat many | y:0 | invalid_argument: the node 'y' (ConcatV2): axis out of range
a = Const float32[2]{1,2}
i = Const int32[]{5}
y = ConcatV2(a, a, i) T=float32 N=2 Tidx=int32
## Transpose perm 2^32 | y:0 | invalid_argument: the node 'y' (Transpose): not a permutation of the axes
a = Const float32[2,2]{1,2,3,4}
p = Const int64[2]{4294967297,0}
y = Transpose(a, p) T=float32 Tperm=int64
## Transpose perm twice | y:0 | invalid_argument: the node 'y' (Transpose): not a permutation of the axes
a = Const float32[2,2]{1,2,3,4}
p = Const int32[2]{1,1}
y = Transpose(a, p) T=float32 Tperm=int32
## Transpose perm short | y:0 | invalid_argument: the node 'y' (Transpose): not a permutation of the axes
a = Const float32[2,2]{1,2,3,4}
p = Const int32[1]{0}
y = Transpose(a, p) T=float32 Tperm=int32
## ExpandDims axis min | y:0 | invalid_argument: the node 'y' (ExpandDims): axis out of range
a = Const float32[2,2]{1,2,3,4}
p = Const int64[]{-9223372036854775808}
y = ExpandDims(a, p) T=float32 Tdim=int64
## ExpandDims two axes | y:0 | invalid_argument: one number is wanted, not shape [2]
a = Const float32[2,2]{1,2,3,4}
p = Const int32[2]{0,1}
y = ExpandDims(a, p) T=float32 Tdim=int32
## Squeeze 2^32 | y:0 | invalid_argument: the node 'y' (Squeeze): axis out of range
a = Const float32[1,2]{1,2}
y = Squeeze(a) T=float32 squeeze_dims=(4294967296)
## Sum axis max | y:0 | invalid_argument: the node 'y' (Sum): axis out of range or named twice
a = Const float32[2,2]{1,2,3,4}
p = Const int64[1]{9223372036854775807}
y = Sum(a, p) T=float32 Tidx=int64
## Sum axis twice | y:0 | invalid_argument: the node 'y' (Sum): axis out of range or named twice
a = Const float32[2,2]{1,2,3,4}
p = Const int32[2]{0,-2}
y = Sum(a, p) T=float32 Tidx=int32
## Max of nothing | y:0 | ok float32[2][-inf -inf]
a = Const float32[0,2]{}
p = Const int32[1]{0}
y = Max(a, p) T=float32 Tidx=int32
## ArgMax of nothing | y:0 | invalid_argument: the node 'y' (ArgMax): nothing along the axis
a = Const float32[0,2]{}
p = Const int32[]{0}
y = ArgMax(a, p) T=float32 Tidx=int32 output_type=int64
## ArgMax to float | y:0 | invalid_argument: the node 'y' (ArgMax): positions are int32 or int64
a = Const float32[2]{1,2}
p = Const int32[]{0}
y = ArgMax(a, p) T=float32 Tidx=int32 output_type=float32
## ArgMin to uint8 | y:0 | invalid_argument: the node 'y' (ArgMin): positions are int32 or int64
a = Const float32[2]{1,2}
p = Const int32[]{0}
y = ArgMin(a, p) T=float32 Tidx=int32 output_type=uint8
## ArgMax axis 2^32 | y:0 | invalid_argument: the node 'y' (ArgMax): axis out of range
a = Const float32[2]{1,2}
p = Const int64[]{4294967296}
y = ArgMax(a, p) T=float32 Tidx=int64 output_type=int64
## OneHot depth 2^60 | y:0 | resource_exhausted: an array of 8589934588 bytes: of the limit of 67108864 bytes (memory_limit_in_bytes) 0
a = Const int64[1]{1}
d = Const int32[]{2147483647}
n = Const float32[]{1}
f = Const float32[]{0}
y = OneHot(a, d, n, f) T=float32 TI=int64 axis=-1
## OneHot depth negative | y:0 | invalid_argument: the node 'y' (OneHot): depth or rank out of range
a = Const int64[1]{1}
d = Const int32[]{-3}
n = Const float32[]{1}
f = Const float32[]{0}
y = OneHot(a, d, n, f) T=float32 TI=int64 axis=-1
## OneHot wide | y:0 | invalid_argument: the node 'y' (OneHot): a result of more than 2^44 elements, which no memory holds
a = Const int64[100000]{1}
d = Const int32[]{2147483647}
n = Const float32[]{1}
f = Const float32[]{0}
y = OneHot(a, d, n, f) T=float32 TI=int64 axis=-1
## OneHot values of other dtype | y:0 | unimplemented: a OneHot with these numbers
a = Const int64[1]{1}
d = Const int32[]{3}
n = Const int32[]{1}
f = Const int32[]{0}
y = OneHot(a, d, n, f) T=float32 TI=int64 axis=-1
## Cast to string | y:0 | invalid_argument: the node 'y' (Cast): converts numbers and bool only
a = Const float32[1]{1}
y = Cast(a) SrcT=float32 DstT=string
## Cast nan to int | y:0 | ok int32[4][-2147483648 -2147483648 -2147483648 -2147483648]
a = Const float32[4]{nan,inf,-inf,1e30}
y = Cast(a) SrcT=float32 DstT=int32
## Cast big to uint8 | y:0 | ok uint8[3][0 255 44]
a = Const float64[3]{1e300,-1,300}
y = Cast(a) SrcT=float64 DstT=uint8
## Pad negative | y:0 | invalid_argument: the node 'y' (Pad): paddings are not negative
a = Const float32[2]{1,2}
p = Const int32[1,2]{-1,0}
y = Pad(a, p) T=float32 Tpaddings=int32
## Pad huge | y:0 | invalid_argument: the node 'y' (Pad): a result of more than 2^44 elements
a = Const float32[2]{1,2}
p = Const int64[1,2]{9223372036854775807,9223372036854775807}
y = Pad(a, p) T=float32 Tpaddings=int64
## Pad 1 TB | y:0 | resource_exhausted: an array of 1099511627784 bytes: of the limit of 67108864 bytes (memory_limit_in_bytes) 0
a = Const float32[2]{1,2}
p = Const int64[1,2]{274877906944,0}
y = Pad(a, p) T=float32 Tpaddings=int64
## Pad flat | y:0 | invalid_argument: the node 'y' (Pad): paddings must be a matrix of two columns, not [4]
a = Const float32[2,2]{1,2}
p = Const int32[4]{1,1,1,1}
y = Pad(a, p) T=float32 Tpaddings=int32
## Slice sizes uneven | y:0 | invalid_argument: the node 'y' (Slice): size has 3 numbers, what stands before it 1
a = Const float32[2,2]{1,2,3,4}
b = Const int32[1]{0}
s = Const int32[3]{0,1,1}
y = Slice(a, b, s) T=float32 Index=int32
## Slice begin negative | y:0 | invalid_argument: the node 'y' (Slice): out of range
a = Const float32[4]{1}
b = Const int32[1]{-1}
s = Const int32[1]{1}
y = Slice(a, b, s) T=float32 Index=int32
## Slice size min | y:0 | invalid_argument: the node 'y' (Slice): out of range
a = Const float32[4]{1}
b = Const int64[1]{0}
s = Const int64[1]{-9223372036854775808}
y = Slice(a, b, s) T=float32 Index=int64
## Gather index out | y:0 | invalid_argument: indices[1] = 9223372036854775807 is not in [0, 4)
a = Const float32[4]{1}
i = Const int64[2]{0,9223372036854775807}
x = Const int32[]{0}
y = GatherV2(a, i, x) Tparams=float32 Tindices=int64 Taxis=int32
## Gather negative | y:0 | invalid_argument: indices[1] = -1 is not in [0, 4)
a = Const float32[4]{1}
i = Const int32[2]{0,-1}
x = Const int32[]{0}
y = GatherV2(a, i, x) Tparams=float32 Tindices=int32 Taxis=int32
## Gather from nothing | y:0 | invalid_argument: indices[0] = 0 is not in [0, 0)
a = Const float32[0,3]{}
i = Const int32[1]{0}
x = Const int32[]{0}
y = GatherV2(a, i, x) Tparams=float32 Tindices=int32 Taxis=int32
## Gather batch_dims huge | y:0 | invalid_argument: batch_dims 4294967297 does not fit params [2,2], indices [2] and axis 1
a = Const float32[2,2]{1,2,3,4}
i = Const int32[2]{0,1}
x = Const int32[]{1}
y = GatherV2(a, i, x) Tparams=float32 Tindices=int32 Taxis=int32 batch_dims=4294967297
## Gather batch_dims min | y:0 | invalid_argument: batch_dims -9223372036854775808 does not fit params [2,2], indices [2] and axis 1
a = Const float32[2,2]{1,2,3,4}
i = Const int32[2]{0,1}
x = Const int32[]{1}
y = GatherV2(a, i, x) Tparams=float32 Tindices=int32 Taxis=int32 batch_dims=-9223372036854775808
## Gather wide indices | y:0 | unimplemented: more than 8 dimensions
a = Const float32[1,1,1,1,1,1]{1}
i = Const int32[1,1,1,1,1,1]{0}
x = Const int32[]{1}
y = GatherV2(a, i, x) Tparams=float32 Tindices=int32 Taxis=int32
## GatherNd out | y:0 | invalid_argument: indices[0] = [0, 2] does not index into shape [2,2]
a = Const float32[2,2]{1,2,3,4}
i = Const int32[1,2]{0,2}
y = GatherNd(a, i) Tparams=float32 Tindices=int32
## GatherNd of nothing | y:0 | invalid_argument: indices[0] = [0] does not index into shape [0]
a = Const float32[0]{}
i = Const int32[1,1]{0}
y = GatherNd(a, i) Tparams=float32 Tindices=int32
## GatherNd many of nothing deep | y:0 | resource_exhausted: an array of 8796093022208 bytes: of the limit of 67108864 bytes (memory_limit_in_bytes) 0
a = Const float32[2]{1,2}
i = Const int32[1099511627776,0]{}
y = GatherNd(a, i) Tparams=float32 Tindices=int32
## ScatterNd index out | y:0 | invalid_argument: indices[0] = [7] does not index into shape [4]
i = Const int32[1,1]{7}
u = Const float32[1]{1}
s = Const int32[1]{4}
y = ScatterNd(i, u, s) T=float32 Tindices=int32
## ScatterNd negative size | y:0 | invalid_argument: Dimension -4 must be >= 0
i = Const int32[1,1]{0}
u = Const float32[1]{1}
s = Const int32[1]{-4}
y = ScatterNd(i, u, s) T=float32 Tindices=int32
## ScatterNd int overflow | y:0 | ok int32[2][-2 0]
i = Const int32[2,1]{0,0}
u = Const int32[2]{2147483647,2147483647}
s = Const int32[1]{2}
y = ScatterNd(i, u, s) T=int32 Tindices=int32
)graphs",
                                                     R"graphs(
## Fill negative | y:0 | invalid_argument: Dimension -1 must be >= 0
s = Const int32[2]{-1,2}
v = Const float32[]{1}
y = Fill(s, v) T=float32 index_type=int32
## Fill zero times max | y:0 | invalid_argument: the node 'y' (Fill): Fill: a result of more than 2^44 elements, which no memory holds
s = Const int64[3]{0,9223372036854775807,9223372036854775807}
v = Const float32[]{1}
y = Fill(s, v) T=float32 index_type=int64
## Fill 100 GB | y:0 | resource_exhausted: an array of 100000000000 bytes: of the limit of 67108864 bytes (memory_limit_in_bytes) 0
s = Const int64[1]{25000000000}
v = Const float32[]{1}
y = Fill(s, v) T=float32 index_type=int64
## Fill strings | y:0 | resource_exhausted: an array of 32000000000 bytes: of the limit of 67108864 bytes (memory_limit_in_bytes) 32
s = Const int64[1]{1000000000}
v = Const string[]{"x"}
y = Fill(s, v) T=string index_type=int64
## Fill matrix value | y:0 | invalid_argument: the node 'y' (Fill): Fill: Shape must be rank 0 but is rank 1 for input 1
s = Const int32[1]{2}
v = Const float32[2]{1}
y = Fill(s, v) T=float32 index_type=int32
## Fill nine | y:0 | unimplemented: more than 8 dimensions
s = Const int32[9]{1}
v = Const float32[]{1}
y = Fill(s, v) T=float32 index_type=int32
## Range zero | y:0 | invalid_argument: Requires delta != 0: 0
a = Const int32[]{0}
y = Range(a, a, a) Tidx=int32
## Range float nan | y:0 | invalid_argument: Requires ((limit - start) / delta) <= 1e12
a = Const float32[]{nan}
b = Const float32[]{1}
y = Range(a, b, b) Tidx=float32
## Range float tiny step | y:0 | invalid_argument: Requires ((limit - start) / delta) <= 1e12
a = Const float32[]{0}
b = Const float32[]{1e30}
c = Const float32[]{1e-30}
y = Range(a, b, c) Tidx=float32
## Range int32 over all | y:0 | ok int32[3][-2147483648 -1 2147483646]
a = Const int32[]{-2147483648}
b = Const int32[]{2147483647}
c = Const int32[]{2147483647}
y = Range(a, b, c) Tidx=int32
## Range int32 2^32 | y:0 | resource_exhausted: an array of 17179869180 bytes: of the limit of 67108864 bytes (memory_limit_in_bytes) 0
a = Const int32[]{-2147483648}
b = Const int32[]{2147483647}
c = Const int32[]{1}
y = Range(a, b, c) Tidx=int32
## Reshape two open | y:0 | invalid_argument: the node 'y' (Reshape): more than one dimension of -1
a = Const float32[4]{1}
s = Const int32[2]{-1,-1}
y = Reshape(a, s) T=float32 Tshape=int32
## Reshape -5 | y:0 | invalid_argument: the node 'y' (Reshape): the number of elements differs
a = Const float32[4]{1}
s = Const int32[1]{-5}
y = Reshape(a, s) T=float32 Tshape=int32
## Reshape open of 0 | y:0 | ok float32[1,0][]
a = Const float32[0]{}
s = Const int32[2]{-1,0}
y = Reshape(a, s) T=float32 Tshape=int32
## Reshape nine | y:0 | invalid_argument: the node 'y' (Reshape): more than 8 dimensions
a = Const float32[1]{1}
s = Const int32[9]{1}
y = Reshape(a, s) T=float32 Tshape=int32
## BroadcastTo -3 | y:0 | invalid_argument: the node 'y' (BroadcastTo): a size below 0
a = Const float32[1]{1}
s = Const int32[2]{-3,1}
y = BroadcastTo(a, s) T=float32 Tidx=int32
## BroadcastTo 1 TB | y:0 | resource_exhausted: an array of 4398046511104 bytes: of the limit of 67108864 bytes (memory_limit_in_bytes) 0
a = Const float32[1]{1}
s = Const int64[2]{1048576,1048576}
y = BroadcastTo(a, s) T=float32 Tidx=int64
## outer product 1 TB | y:0 | resource_exhausted: an array of 4398046511104 bytes: of the limit of 67108864 bytes (memory_limit_in_bytes)
a = Const float32[1048576,1]{1}
b = Const float32[1,1048576]{1}
y = Mul(a, b) T=float32
## outer product 1 TB summed | y:0 | resource_exhausted: an array of 17179869184 bytes: of the limit of 67108864 bytes (memory_limit_in_bytes)
a = Const float32[65536,1]{1}
b = Const float32[1,65536]{1}
m = Mul(a, b) T=float32
x = Const int32[]{0}
g = Cumsum(m, x) T=float32 Tidx=int32
y = Identity(g) T=float32
## broadcast 2^60 | y:0 | invalid_argument: the node 'y' (Mul): a result of more than 2^44 elements, which no memory holds
a = Placeholder dtype=float32 shape=[1073741824,1]
b = Placeholder dtype=float32 shape=[1,1073741824]
y = Mul(a, b) T=float32
## Tile negative | y:0 | invalid_argument: Expected multiples[0] >= 0, but got -1
a = Const float32[2]{1}
m = Const int32[1]{-1}
y = Tile(a, m) T=float32 Tmultiples=int32
## Tile 100 GB | y:0 | resource_exhausted: an array of 100000000000 bytes: of the limit of 67108864 bytes (memory_limit_in_bytes) 0
a = Const float32[2]{1}
m = Const int64[1]{12500000000}
y = Tile(a, m) T=float32 Tmultiples=int64
## Tile count | y:0 | invalid_argument: the node 'y' (Tile): Tile: Shape must be rank 2 but is rank 1
a = Const float32[2]{1}
m = Const int32[2]{1,1}
y = Tile(a, m) T=float32 Tmultiples=int32
## StridedSlice zero stride | y:0 | invalid_argument: the node 'y' (StridedSlice): StridedSlice: strides[0] must be non-zero
a = Const float32[2]{1,2}
b = Const int32[1]{0}
y = StridedSlice(a, b, b, b) T=float32 Index=int32
## StridedSlice shrink out | y:0 | invalid_argument: the node 'y' (StridedSlice): StridedSlice: slice index 9223372036854775807 of dimension 0
a = Const float32[2]{1,2}
b = Const int64[1]{9223372036854775807}
s = Const int64[1]{1}
y = StridedSlice(a, b, b, s) T=float32 Index=int64 shrink_axis_mask=1
## StridedSlice min stride | y:0 | ok float32[1][4]
a = Const float32[4]{1,2,3,4}
b = Const int64[1]{3}
e = Const int64[1]{-9223372036854775808}
s = Const int64[1]{-9223372036854775808}
y = StridedSlice(a, b, e, s) T=float32 Index=int64
## StridedSlice max stride | y:0 | ok float32[1][2]
a = Const float32[4]{1,2,3,4}
b = Const int64[1]{1}
e = Const int64[1]{9223372036854775807}
s = Const int64[1]{9223372036854775807}
y = StridedSlice(a, b, e, s) T=float32 Index=int64
## StridedSlice lengths | y:0 | invalid_argument: begin, end and strides must be of one length
a = Const float32[4,4]{1}
b = Const int32[1]{0}
e = Const int32[2]{1,1}
y = StridedSlice(a, b, e, e) T=float32 Index=int32
## StridedSlice two ellipses | y:0 | invalid_argument: the node 'y' (StridedSlice): StridedSlice: Multiple ellipses in slice spec not allowed
a = Const float32[2,2]{1}
b = Const int32[2]{0,0}
e = Const int32[2]{1,1}
y = StridedSlice(a, b, e, e) T=float32 Index=int32 ellipsis_mask=3
## StridedSlice matrix begin | y:0 | invalid_argument: the node 'y' (StridedSlice): StridedSlice: Shape must be rank 1 but is rank 2 for input 1
a = Const float32[2,2]{1}
b = Const int32[1,1]{0}
e = Const int32[1,1]{1}
y = StridedSlice(a, b, e, e) T=float32 Index=int32
## StridedSliceGrad dy | y:0 | invalid_argument: shape of dy was [9] instead of [4]
s = Const int32[1]{4}
b = Const int32[1]{0}
e = Const int32[1]{9}
t = Const int32[1]{1}
d = Const float32[9]{1}
y = StridedSliceGrad(s, b, e, t, d) T=float32 Index=int32
## Split uneven | y:0 | invalid_argument: the node 'y' (Split): Split: Dimension size must be evenly divisible by 2 but is 5
a = Const int32[]{0}
v = Const float32[5]{1}
y = Split(a, v) T=float32 num_split=2
## Split num 2^40 | y:0 | invalid_argument: the node 'y' (Split): Split: the attribute num_split is 1099511627776, beyond the results a
a = Const int32[]{0}
v = Const float32[5]{1}
y = Split(a, v) T=float32 num_split=1099511627776
## Split axis out | y:0 | invalid_argument: the node 'y' (Split): Split: axis -9 is not in the range [-1, 1)
a = Const int32[]{-9}
v = Const float32[4]{1}
y = Split(a, v) T=float32 num_split=2
## SplitV overflow | y:0 | invalid_argument: the node 'y' (SplitV): SplitV: a result of more than 2^44 elements, which no memory holds
v = Const float32[4]{1}
s = Const int64[3]{9223372036854775807,9223372036854775807,6}
a = Const int32[]{0}
y = SplitV(v, s, a) T=float32 Tlen=int64 num_split=3
## SplitV negative | y:0 | invalid_argument: Split size at index 1 must be >= 0 and at most 4. Got: -1
v = Const float32[4]{1}
s = Const int64[2]{-1,-1}
a = Const int32[]{0}
y = SplitV(v, s, a) T=float32 Tlen=int64 num_split=2
## SplitV count | y:0 | invalid_argument: Determined shape must either match input shape along split_dim exactly if fully specified,
v = Const float32[4]{1}
s = Const int64[2]{2,2}
a = Const int32[]{0}
y = SplitV(v, s, a) T=float32 Tlen=int64 num_split=3
## Unpack other | y:0 | invalid_argument: the node 'y' (Unpack): Unpack: Dimension must be 3 but is 4
v = Const float32[4]{1}
y = Unpack(v) T=float32 num=3
## Unpack axis max | y:0 | invalid_argument: the node 'y' (Unpack): Unpack: axis 9223372036854775807 is not in the range [-1, 1)
v = Const float32[4]{1}
y = Unpack(v) T=float32 num=4 axis=9223372036854775807
## Pack axis 2^32 | y:0 | invalid_argument: the node 'y' (Pack): Pack: axis 4294967296 is not in the range [-2, 2)
v = Const float32[4]{1}
y = Pack(v, v) T=float32 N=2 axis=4294967296
## Pack N 3 of 2 | y:0 | invalid_argument: the node 'y' (Pack): Pack: 2 inputs, which is not what the operator takes
v = Const float32[4]{1}
y = Pack(v, v) T=float32 N=3
## Pack N 2^63 | y:0 | invalid_argument: the node 'y' (Pack): Pack: 2 inputs, which is not what the operator takes
v = Const float32[4]{1}
y = Pack(v, v) T=float32 N=9223372036854775807
## Pack nine | y:0 | invalid_argument: the node 'y' (Pack): Pack: more than 8 dimensions
v = Const float32[1,1,1,1,1,1,1,1]{1}
y = Pack(v, v) T=float32 N=2
## ConcatOffset ragged | y:0 | invalid_argument: ConcatOffset: shapes of different lengths
a = Const int32[]{0}
s = Const int32[2]{1,2}
t = Const int32[3]{1,2,3}
y = ConcatOffset(a, s, t) N=2
## InvertPermutation out | y:0 | invalid_argument: 5 is not between 0 and 2
s = Const int32[2]{5,0}
y = InvertPermutation(s) T=int32
## InvertPermutation twice | y:0 | invalid_argument: 1 is duplicated in the input.
s = Const int64[2]{1,1}
y = InvertPermutation(s) T=int64
## ReverseV2 twice | y:0 | invalid_argument: axis 0 specified more than once.
s = Const float32[2,2]{1,2,3,4}
a = Const int32[2]{0,-2}
y = ReverseV2(s, a) T=float32 Tidx=int32
## Where scalar | y:0 | invalid_argument: WhereOp : Unhandled input dimensions: 0
s = Const bool[]{true}
y = Where(s) T=bool
## Select shapes | y:0 | invalid_argument: 'cond' must be a scalar, a vector of the first dimension, or of the shape of the branches:
c = Const bool[3]{true}
a = Const float32[2,2]{1}
y = Select(c, a, a) T=float32
## Select row of nothing | y:0 | ok float32[0,2][]
c = Const bool[0]{}
a = Const float32[0,2]{}
y = Select(c, a, a) T=float32
## Partition out | y:0 | invalid_argument: partitions[1] = 9 is not in [0, 2)
d = Const float32[2]{1,2}
p = Const int32[2]{0,9}
y = DynamicPartition(d, p) T=float32 num_partitions=2
## Partition negative count | y:0 | invalid_argument: the node 'y' (DynamicPartition): DynamicPartition: the attribute num_partitions is -2, less
d = Const float32[2]{1,2}
p = Const int32[2]{0,0}
y = DynamicPartition(d, p) T=float32 num_partitions=-2
## Partition shape | y:0 | invalid_argument: the node 'y' (DynamicPartition): DynamicPartition: data.shape must start with
d = Const float32[2]{1,2}
p = Const int32[2,2]{0,0}
y = DynamicPartition(d, p) T=float32 num_partitions=1
## Stitch max | y:0 | resource_exhausted: an array of 858993459200 bytes: of the limit of 67108864 bytes (memory_limit_in_bytes)
i = Const int32[1]{2147483647}
d = Const float32[1,100]{1}
y = DynamicStitch(i, d) T=float32 N=1
## Stitch negative | y:0 | invalid_argument: indices[0] = -1 is out of range
i = Const int32[1]{-1}
d = Const float32[1]{1}
y = DynamicStitch(i, d) T=float32 N=1
## Stitch rows differ | y:0 | invalid_argument: Need data[0].shape and data[1].shape to be the same behind the indices
i = Const int32[1]{0}
d = Const float32[1,2]{1}
f = Const float32[1,3]{1}
y = DynamicStitch(i, i, d, f) T=float32 N=2
## TopK negative | y:0 | invalid_argument: Need k >= 0, got -1
a = Const float32[2]{1,2}
k = Const int32[]{-1}
y = TopKV2(a, k) T=float32
## TopK more | y:0 | invalid_argument: input must have at least k columns. Had 2, needed 3
a = Const float32[2]{1,2}
k = Const int32[]{3}
y = TopKV2(a, k) T=float32
## TopK all nan | y:0 y:1 | ok float64[4][nan nan nan 1] int32[4][0 1 3 2]
a = Const float64[4]{nan,nan,1,nan}
k = Const int32[]{4}
y = TopKV2(a, k) T=float64
## TopK index string | y:0 | unimplemented: indices are int32 or int64, not string
a = Const float32[2]{1,2}
k = Const int32[]{1}
y = TopKV2(a, k) T=float32 index_type=string
## InTopK targets out | y:0 | ok bool[2][0 0]
p = Const float32[2,2]{1,2,3,4}
t = Const int32[2]{-7,9}
k = Const int32[]{1}
y = InTopKV2(p, t, k) T=int32
## Unique nan | y:0 y:1 | ok float32[4][nan 1 nan -0] int32[5][0 1 2 3 3]
a = Const float32[5]{nan,1,nan,-0,0}
y = Unique(a) T=float32
## Unique idx float | y:1 | unimplemented: indices are int32 or int64, not float32
a = Const float32[2]{1,2}
y = Unique(a) T=float32 out_idx=float32
## ListDiff types | y:0 | invalid_argument: the node 'y' (ListDiff): Input 'y' of 'ListDiff' Op has type float64 that does not match
a = Const float32[2]{1,2}
b = Const float64[2]{1,2}
y = ListDiff(a, b) T=float32
## Cumsum axis | y:0 | invalid_argument: the node 'y' (Cumsum): axis out of range
a = Const float32[2]{1,2}
x = Const int32[]{3}
y = Cumsum(a, x) T=float32 Tidx=int32
## Cumprod overflow | y:0 | ok int64[3][9223372036854775807 -2 -6]
a = Const int64[3]{9223372036854775807,2,3}
x = Const int32[]{0}
y = Cumprod(a, x) T=int64 Tidx=int32
## UnsortedSegmentSum out | y:0 | invalid_argument: index 5 at position 1 is out of range [0, 3)
d = Const float32[2]{1,2}
i = Const int32[2]{0,5}
n = Const int32[]{3}
y = UnsortedSegmentSum(d, i, n) T=float32 Tindices=int32 Tnumsegments=int32
## UnsortedSegmentSum negative count | y:0 | invalid_argument: the node 'y' (UnsortedSegmentSum): a size below 0
d = Const float32[2]{1,2}
i = Const int32[2]{0,0}
n = Const int32[]{-3}
y = UnsortedSegmentSum(d, i, n) T=float32 Tindices=int32 Tnumsegments=int32
## UnsortedSegmentSum count 2^31 | y:0 | resource_exhausted: an array of 8589934588 bytes: of the limit of 67108864 bytes (memory_limit_in_bytes) 0
d = Const float32[2]{1,2}
i = Const int32[2]{0,0}
n = Const int32[]{2147483647}
y = UnsortedSegmentSum(d, i, n) T=float32 Tindices=int32 Tnumsegments=int32
## MatMul inner | y:0 | invalid_argument: the node 'y' (MatMul): inner dimensions differ
a = Const float32[2,3]{1}
b = Const float32[4,2]{1}
y = MatMul(a, b) T=float32
## MatMul vector | y:0 | invalid_argument: the node 'y' (MatMul): takes matrices, rank 2
a = Const float32[2]{1}
y = MatMul(a, a) T=float32
## MatMul int overflow | y:0 | ok int32[1,1][[2]]
a = Const int32[1,2]{2147483647}
b = Const int32[2,1]{2147483647}
y = MatMul(a, b) T=int32
## MatMul huge result | y:0 | resource_exhausted: an array of 160000000000 bytes: of the limit of 67108864 bytes (memory_limit_in_bytes)
a = Const float32[200000,1]{1}
b = Const float32[1,200000]{1}
y = MatMul(a, b) T=float32
## BatchMatMul deep | y:0 | ok float32[1,1,1,1,1,1,1,1][[[[[[[[1]]]]]]]]
a = Const float32[1,1,1,1,1,1,1,1]{1}
y = BatchMatMulV2(a, a) T=float32
## BatchMatMul outer | y:0 | invalid_argument: the node 'y' (BatchMatMulV2): BatchMatMulV2: Incompatible shapes: (2, 1, 1) vs. (3, 1, 1)
a = Const float32[2,1,1]{1}
b = Const float32[3,1,1]{1}
y = BatchMatMulV2(a, b) T=float32
## FloorDiv zero | y:0 | invalid_argument: Integer division by zero
a = Const int32[2]{1,-2147483648}
b = Const int32[2]{0,-1}
y = FloorDiv(a, b) T=int32
## FloorDiv min | y:0 | ok int32[2][-1 -2147483648]
a = Const int32[2]{1,-2147483648}
b = Const int32[2]{-1,-1}
y = FloorDiv(a, b) T=int32
## FloorMod min | y:0 | ok int64[1][0]
a = Const int64[1]{-9223372036854775808}
b = Const int64[1]{-1}
y = FloorMod(a, b) T=int64
## Neg min | y:0 | ok int64[1][-9223372036854775808]
a = Const int64[1]{-9223372036854775808}
y = Neg(a) T=int64
## Abs min | y:0 | ok int32[1][-2147483648]
a = Const int32[1]{-2147483648}
y = Abs(a) T=int32
## Square overflow | y:0 | ok int32[1][0]
a = Const int32[1]{-2147483648}
y = Square(a) T=int32
## Pow negative | y:0 | unimplemented: the node 'y' (Pow): takes floating-point dtypes only
a = Const int32[2]{0,2}
b = Const int32[2]{-1,-2}
y = Pow(a, b) T=int32
## Pow big | y:0 | unimplemented: the node 'y' (Pow): takes floating-point dtypes only
a = Const int64[1]{3}
b = Const int64[1]{9223372036854775807}
y = Pow(a, b) T=int64
## SqrtGrad int | y:0 | invalid_argument: the node 'y' (SqrtGrad): takes floating-point dtypes only
a = Const int32[1]{0}
b = Const int32[1]{1}
y = SqrtGrad(a, b) T=int32
## SoftsignGrad int | y:0 | invalid_argument: the node 'y' (SoftsignGrad): takes floating-point dtypes only
a = Const int32[1]{1}
b = Const int32[1]{-2147483648}
y = SoftsignGrad(a, b) T=int32
## DivNoNan int | y:0 | invalid_argument: the node 'y' (DivNoNan): takes floating-point dtypes only
a = Const int32[1]{-2147483648}
b = Const int32[1]{-1}
y = DivNoNan(a, b) T=int32
## Mod zero | y:0 | invalid_argument: Integer division by zero
a = Const int32[1]{-2147483648}
b = Const int32[1]{0}
y = Mod(a, b) T=int32
## BiasAdd rank | y:0 | invalid_argument: the node 'y' (BiasAdd): BiasAdd: Shape must be at least rank 2 but is rank 1
a = Const float32[2]{1}
y = BiasAdd(a, a) T=float32
## BiasAdd scalar bias | y:0 | invalid_argument: the node 'y' (BiasAdd): BiasAdd: Shape must be rank 1 but is rank 0 for input 1
a = Const float32[2,2]{1}
b = Const float32[]{1}
y = BiasAdd(a, b) T=float32
## BiasAddGrad scalar | y:0 | invalid_argument: Input tensor must be at least 2D, not of rank 0
a = Const float32[]{1}
y = BiasAddGrad(a) T=float32
## xent shapes | y:0 | invalid_argument: the node 'y' (SoftmaxCrossEntropyWithLogits): logits and labels differ in shape
a = Const float32[2,2]{1}
b = Const float32[2,3]{1}
y = SoftmaxCrossEntropyWithLogits(a, b) T=float32
## sparse xent label | y:0 | invalid_argument: Received a label value of 2 which is outside the valid range of [0, 2).
a = Const float32[2,2]{1}
b = Const int64[2]{0,2}
y = SparseSoftmaxCrossEntropyWithLogits(a, b) T=float32 Tlabels=int64
## sparse xent no classes | y:0 | invalid_argument: the node 'y' (SparseSoftmaxCrossEntropyWithLogits): must have at least one class
a = Const float32[2,0]{}
b = Const int64[2]{0,0}
y = SparseSoftmaxCrossEntropyWithLogits(a, b) T=float32 Tlabels=int64
## RandomUniform negative | y:0 | invalid_argument: Dimension -2 must be >= 0
s = Const int32[1]{-2}
y = RandomUniform(s) dtype=float32 T=int32
## RandomUniform 100 GB | y:0 | resource_exhausted: an array of 100000000000 bytes: of the limit of 67108864 bytes (memory_limit_in_bytes) 0
s = Const int64[1]{25000000000}
y = RandomUniform(s) dtype=float32 T=int64
## RandomUniform int dtype | y:0 | invalid_argument: the node 'y' (RandomUniform): Value passed to parameter of 'RandomUniform' has DataType
s = Const int32[1]{2}
y = RandomUniform(s) dtype=int32 T=int32
## RandomUniformInt empty | y:0 | invalid_argument: Need minval < maxval, got 5 >= 5
s = Const int32[1]{2}
a = Const int32[]{5}
y = RandomUniformInt(s, a, a) Tout=int32 T=int32
## RandomUniformInt all | y:0 | ok int64[0][]
s = Const int32[1]{0}
a = Const int64[]{-9223372036854775808}
b = Const int64[]{9223372036854775807}
y = RandomUniformInt(s, a, b) Tout=int64 T=int32
## Multinomial nan | y:0 | ok int64[1,0][]
l = Const float32[1,2]{nan,nan}
n = Const int32[]{0}
y = Multinomial(l, n) T=float32 output_dtype=int64
## Multinomial many | y:0 | resource_exhausted: an array of 34359738352 bytes: of the limit of 67108864 bytes (memory_limit_in_bytes) 0
l = Const float32[2,2]{1}
n = Const int32[]{2147483647}
y = Multinomial(l, n) T=float32 output_dtype=int64
## stack pop empty | y:0 | invalid_argument: Stack[s] is empty when calling Pop().
m = Const int32[]{-1}
s = StackV2(m) elem_type=float32
y = StackPopV2(s) elem_type=float32
## stack pop other dtype | y:0 | invalid_argument: result 0 is int32, which the graph says is float64
m = Const int32[]{-1}
c = Const int32[]{7}
s = StackV2(m) elem_type=float32
p = StackPushV2(s, c) T=int32
y = StackPopV2(s, ^p) elem_type=float64
## stack pop other dtype concat | y:0 | invalid_argument: result 0 is uint8, which the graph says is float64
m = Const int32[]{-1}
c = Const uint8[1]{7}
d = Const float64[1]{7}
z = Const int32[]{0}
s = StackV2(m) elem_type=float64
p = StackPushV2(s, c) T=uint8
o = StackPopV2(s, ^p) elem_type=float64
y = Pack(o, d) T=float64 N=2
## stack of a queue | y:0 | invalid_argument: the handle is of a resource of another kind
q = FIFOQueueV2 component_types=(float32)
y = StackPopV2(q) elem_type=float32
## dequeue dtype | y:0 | invalid_argument: component 0 of the queue 'q' is float32, the node takes int64
q = FIFOQueueV2 component_types=(float32)
v = Const float32[]{1}
e = QueueEnqueueV2(q, v) Tcomponents=(float32)
y = QueueDequeueV2(q, ^e) component_types=(int64)
## dequeue fewer | y:0 | invalid_argument: the queue 'q' has 2 components, the node takes 1
q = FIFOQueueV2 component_types=(float32,float32)
v = Const float32[]{1}
e = QueueEnqueueV2(q, v, v) Tcomponents=(float32,float32)
y = QueueDequeueV2(q, ^e) component_types=(float32)
## dequeue many -1 | y:0 | invalid_argument: DequeueMany requested -1 < 0 elements
q = FIFOQueueV2 component_types=(float32) shapes=([2])
n = Const int32[]{-1}
y = QueueDequeueManyV2(q, n) component_types=(float32)
## dequeue 0 of closed with rank 8 | y:0 | unimplemented: more than 8 dimensions
q = FIFOQueueV2 component_types=(float32) shapes=([1,1,1,1,1,1,1,1])
n = Const int32[]{0}
y = QueueDequeueManyV2(q, n) component_types=(float32)
## dequeue rank unknown | y:0 | ok float32[0,0,0][]
q = PaddingFIFOQueueV2 component_types=(float32) shapes=([?,?])
n = Const int32[]{0}
y = QueueDequeueManyV2(q, n) component_types=(float32)
## enqueue many scalar | y:0 | invalid_argument: All input tensors must have the same size in the 0th dimension. Component 0 has shape []
q = FIFOQueueV2 component_types=(float32)
v = Const float32[]{1}
e = QueueEnqueueManyV2(q, v) Tcomponents=(float32)
y = QueueSizeV2(q, ^e)
## enqueue nothing | y:0 | invalid_argument: Wrong number of components in tuple. Expected 1, got 0
q = FIFOQueueV2 component_types=(float32)
e = QueueEnqueueV2(q) Tcomponents=()
y = QueueSizeV2(q, ^e)
## queue of none | y:0 | invalid_argument: the node 'q' (FIFOQueueV2): FIFOQueueV2: the list component_types has 0 values, fewer than 1
q = FIFOQueueV2 component_types=()
y = QueueSizeV2(q)
)graphs",
                                                     R"graphs(
## old queue | y:0 | ok float32[]3
q = FIFOQueue component_types=(float32)
v = Const float32[]{3}
e = QueueEnqueue(q, v) Tcomponents=(float32)
y = QueueDequeue(q, ^e) component_types=(float32)
## handle as text | y:0 | unimplemented: no kernel for dtype resource
q = FIFOQueue component_types=(float32)
y = Equal(q, q) T=string
## shared variable dtypes | y:0 | invalid_argument: the variable 's' is float64, and this node shares it as float32
v = VariableV2 dtype=float64 shape=[2] shared_name="s"
c = Const float64[2]{1}
a = Assign(v, c) T=float64
w = VariableV2(^a) dtype=float32 shape=[2] shared_name="s"
y = Identity(w) T=float32
## shared variable shapes | y:0 | invalid_argument: the variable 's' has shape [2], and this node shares it with shape [200]
v = VariableV2 dtype=float32 shape=[2] shared_name="s"
c = Const float32[2]{1}
a = Assign(v, c) T=float32
w = VariableV2(^a) dtype=float32 shape=[200] shared_name="s"
y = Neg(w) T=float32
## variable is a queue | y:0 | invalid_argument: the resource 'queue s' is of another kind
q = FIFOQueueV2 component_types=(float32) shared_name="s"
v = VariableV2(^q) dtype=float32 shape=[] shared_name="queue s"
y = Identity(v) T=float32
## Variable of old | y:0 | ok float32[2][3 3]
v = Variable dtype=float32 shape=[2]
c = Const float32[2]{3}
y = Assign(v, c) T=float32
## assign shape without validating | y:0 | invalid_argument: the node 'a' (Assign): the value's shape is not the variable's
v = VariableV2 dtype=float32 shape=[2]
c = Const float32[3]{3}
a = Assign(v, c) T=float32 validate_shape=false
i = Const int32[1]{2}
u = Const float32[1]{5}
y = ScatterAdd(a, i, u) T=float32 Tindices=int32
## ScatterUpdate out | y:0 | invalid_argument: indices[0] = 4611686018427387904 is not in [0, 2)
v = VariableV2 dtype=float32 shape=[2]
c = Const float32[2]{3}
a = Assign(v, c) T=float32
i = Const int64[1]{4611686018427387904}
u = Const float32[1]{5}
y = ScatterUpdate(a, i, u) T=float32 Tindices=int64
## ScatterMul overflow | y:0 | ok int32[1][1]
v = VariableV2 dtype=int32 shape=[1]
c = Const int32[1]{2147483647}
a = Assign(v, c) T=int32
i = Const int32[1]{0}
y = ScatterMul(a, i, c) T=int32 Tindices=int32
## ScatterNdUpdate deep | y:0 | invalid_argument: The inner dimension of indices must be <= the rank of the variable
v = VariableV2 dtype=float32 shape=[2]
c = Const float32[2]{3}
a = Assign(v, c) T=float32
i = Const int32[1,2]{0,0}
u = Const float32[1]{5}
y = ScatterNdUpdate(a, i, u) T=float32 Tindices=int32
## ApplyAdam shapes | y:0 | invalid_argument: the node 'y' (ApplyMomentum): ApplyMomentum: var and input 1 do not have the same shape:
v = VariableV2 dtype=float32 shape=[2]
m = VariableV2 dtype=float32 shape=[3]
c = Const float32[2]{3}
d = Const float32[3]{3}
f = Const float32[]{1}
a = Assign(v, c) T=float32
b = Assign(m, d) T=float32
y = ApplyMomentum(v, m, f, c, f, ^a, ^b) T=float32
## ApplyMomentum one twice | y:0 | invalid_argument: one variable twice: 'v'
v = VariableV2 dtype=float32 shape=[2]
c = Const float32[2]{3}
f = Const float32[]{1}
a = Assign(v, c) T=float32
y = ApplyMomentum(v, v, f, c, f, ^a) T=float32
## SparseApplyMomentum out | y:0 | invalid_argument: Index [0] = 2 is not in [0, 2)
v = VariableV2 dtype=float32 shape=[2]
m = VariableV2 dtype=float32 shape=[2]
c = Const float32[2]{3}
g = Const float32[1]{3}
i = Const int32[1]{2}
f = Const float32[]{1}
a = Assign(v, c) T=float32
b = Assign(m, c) T=float32
y = SparseApplyMomentum(v, m, f, g, i, f, ^a, ^b) T=float32 Tindices=int32
## CountUpTo max | y:0 | out_of_range: Reached limit of 9223372036854775807
v = VariableV2 dtype=int32 shape=[]
c = Const int32[]{2147483647}
a = Assign(v, c) T=int32
y = CountUpTo(a) T=int32 limit=9223372036854775807
## CountUpTo vector | y:0 | invalid_argument: the node 'y' (CountUpTo): CountUpTo: Shape must be rank 0 but is rank 1
v = VariableV2 dtype=int32 shape=[2]
c = Const int32[2]{1}
a = Assign(v, c) T=int32
y = CountUpTo(a) T=int32 limit=5
## TemporaryVariable 1 TB | y:0 | resource_exhausted: an array of 1099511627776 bytes: of the limit of 67108864 bytes (memory_limit_in_bytes) 0
v = TemporaryVariable dtype=float32 shape=[274877906944]
y = DestroyTemporaryVariable(v) T=float32 var_name="v"
## TemporaryVariable of a dtype without elements | v:0 | unimplemented: no kernel for dtype int4
v = TemporaryVariable dtype=int4 shape=[2147483648]
## TemporaryVariable that nothing was assigned to | y:0 | ok float32[3][0 0 0]
v = TemporaryVariable dtype=float32 shape=[3]
y = DestroyTemporaryVariable(v) T=float32 var_name="v"
## Conv2D dilation beyond all sizes | y:0 | invalid_argument: the node 'y' (Conv2D): Conv2D: dilation 9223372036854775807 of a filter of 2
a = Const float32[2,2,2,2]{1}
y = Conv2D(a, a) T=float32 strides=(1,1,1,1) padding="VALID" dilations=(1,9223372036854775807,1,1)
## Fill of a product beyond all numbers | y:0 | invalid_argument:
s = Const int64[5]{-9223372036854775808 9223372036854775807 9223372036854775807 9223372036854775807 9223372036854775807}
v = Const float32[]{1}
y = Fill(s, v) T=float32 index_type=int64
## queue in itself | y:0 | unimplemented: a queue of handles
q = FIFOQueueV2 component_types=(resource)
e = QueueEnqueueV2(q, q) Tcomponents=(resource)
y = Const(^e) float32[]{1}
## stack in itself | y:0 | unimplemented: Stack[s] is to hold a handle
n = Const int32[]{3}
s = StackV2(n) elem_type=resource
p = StackPushV2(s, s) T=resource
y = Const(^p) float32[]{1}
## tensor array longer than any | y:0 | resource_exhausted: TensorArray a: a size of 2147483647, and an array has at most 16777216 elements
n = Const int32[]{2147483647}
a = TensorArrayV3(n) dtype=float32
y = Identity(a:1) T=float32
## tensor array of a negative size | y:0 | invalid_argument: Size should be >= 0, not -1
n = Const int32[]{-1}
a = TensorArrayV3(n) dtype=float32
y = Identity(a:1) T=float32
## tensor array of several sizes | y:0 | invalid_argument: 
n = Const int32[2]{1 2}
a = TensorArrayV3(n) dtype=float32
y = Identity(a:1) T=float32
## tensor array written far behind its end | y:0 | resource_exhausted: TensorArray a: a size of 2147483648, and an array has at most 16777216 elements
n = Const int32[]{0}
a = TensorArrayV3(n) dtype=float32 dynamic_size=true
i = Const int32[]{2147483647}
v = Const float32[]{1}
y = TensorArrayWriteV3(a, i, v, a:1) T=float32
## tensor array written before its beginning | y:0 | invalid_argument: TensorArray a: Tried to write to index -2147483648 but array is not resizeable and size is: 0
n = Const int32[]{0}
a = TensorArrayV3(n) dtype=float32 dynamic_size=true
i = Const int32[]{-2147483648}
v = Const float32[]{1}
y = TensorArrayWriteV3(a, i, v, a:1) T=float32
## gradients of a tensor array read far behind their end | y:0 | resource_exhausted: TensorArray a@s: a size of 2147483648
n = Const int32[]{2}
a = TensorArrayV3(n) dtype=float32 element_shape=[3]
g = TensorArrayGradV3(a, a:1) source="s"
i = Const int32[]{2147483647}
y = TensorArrayReadV3(g, i, g:1) dtype=float32
## tensor array of zeros that no memory holds | y:0 | resource_exhausted: 
n = Const int32[]{2}
a = TensorArrayV3(n) dtype=float32 element_shape=[1099511627776]
i = Const int32[]{0}
y = TensorArrayReadV3(a, i, a:1) dtype=float32
## tensor array of zeros of more elements than numbers count | y:0 | resource_exhausted: 
n = Const int32[]{2}
a = TensorArrayV3(n) dtype=float32 element_shape=[4611686018427387904,4611686018427387904]
i = Const int32[]{0}
y = TensorArrayReadV3(a, i, a:1) dtype=float32
## zeros stacked to more dimensions than an array has | y:0 | unimplemented: elements of 8 dimensions
n = Const int32[]{2}
a = TensorArrayV3(n) dtype=float32 element_shape=[1,1,1,1,1,1,1,1]
i = Const int32[2]{0 1}
y = TensorArrayGatherV3(a, i, a:1) dtype=float32
## tensor array in itself | y:0 | unimplemented: TensorArray a is to hold a handle
n = Const int32[]{1}
a = TensorArrayV3(n) dtype=resource
i = Const int32[]{0}
y = TensorArrayWriteV3(a, i, a, a:1) T=resource
## tensor array whose handle is no array | y:0 | invalid_argument: the handle is of a resource of another kind
n = Const int32[]{3}
s = StackV2(n) elem_type=float32
v = Const float32[]{1}
i = Const int32[]{0}
y = TensorArrayWriteV3(s, i, v, v) T=float32
## tensor array of a dtype without elements | y:0 | unimplemented: no kernel for dtype int4
n = Const int32[]{1}
a = TensorArrayV3(n) dtype=int4 element_shape=[2]
i = Const int32[]{0}
y = TensorArrayReadV3(a, i, a:1) dtype=int4
## lengths of a tensor array that add up to no number | y:0 | invalid_argument: Expected lengths whose sum fits in 64 bits
n = Const int32[]{3}
a = TensorArrayV3(n) dtype=float32
v = Const float32[2]{1}
l = Const int64[3]{9223372036854775807 9223372036854775807 4}
y = TensorArraySplitV3(a, v, l, a:1) T=float32
## lengths of a tensor array below zero | y:0 | invalid_argument: Expected lengths to be at least 0, got -1
n = Const int32[]{2}
a = TensorArrayV3(n) dtype=float32
v = Const float32[2]{1}
l = Const int64[2]{3 -1}
y = TensorArraySplitV3(a, v, l, a:1) T=float32
## gradients of gradients of a tensor array | y:0 | invalid_argument: TensorArray a@s is itself an array of gradients
n = Const int32[]{2}
a = TensorArrayV3(n) dtype=float32
g = TensorArrayGradV3(a, a:1) source="s"
h = TensorArrayGradV3(g, g:1) source="s"
y = Identity(h:1) T=float32
## gradients of a tensor array with dimensions that no array has | y:0 | invalid_argument: 
n = Const int32[]{2}
a = TensorArrayV3(n) dtype=float32
o = Const int32[2]{-1 3}
g = TensorArrayGradWithShape(a, a:1, o) source="s"
y = Identity(g:1) T=float32
## sums of strings in gradients of a tensor array | y:0 | invalid_argument: tensor_array::AddToTensor type not supported: string
n = Const int32[]{1}
a = TensorArrayV3(n) dtype=string
g = TensorArrayGradV3(a, a:1) source="s"
v = Const string[]{"a"}
i = Const int32[]{0}
w = TensorArrayWriteV3(g, i, v, g:1) T=string
y = TensorArrayWriteV3(g, i, v, w) T=string
## zero strings of a tensor array | y:0 | invalid_argument: tensor_array::TensorSetZero type not supported: string
n = Const int32[]{1}
a = TensorArrayV3(n) dtype=string element_shape=[]
i = Const int32[]{0}
y = TensorArrayReadV3(a, i, a:1) dtype=string
## list longer than any | y:0 | resource_exhausted: a list of 2147483647 elements, and lists have at most 16777216
n = Const int32[]{2147483647}
s = Const int32[]{-1}
l = TensorListReserve(s, n) element_dtype=float32
y = TensorListLength(l)
## list resized to more than any | y:0 | resource_exhausted: a list of 2147483647 elements
n = Const int32[]{2}
s = Const int32[]{-1}
l = TensorListReserve(s, n) element_dtype=float32
k = Const int32[]{2147483647}
r = TensorListResize(l, k)
y = TensorListLength(r)
## list set far behind its end | y:0 | resource_exhausted: a list of 2147483648 elements
n = Const int32[]{2}
s = Const int32[]{-1}
l = TensorListReserve(s, n) element_dtype=float32
k = Const int32[]{2147483647}
v = Const float32[]{1}
r = TensorListSetItem(l, k, v) element_dtype=float32 resize_if_index_out_of_bounds=true
y = TensorListLength(r)
## list set before its beginning | y:0 | invalid_argument: Trying to modify element -1 in a list with 2 elements.
n = Const int32[]{2}
s = Const int32[]{-1}
l = TensorListReserve(s, n) element_dtype=float32
k = Const int32[]{-1}
v = Const float32[]{1}
r = TensorListSetItem(l, k, v) element_dtype=float32 resize_if_index_out_of_bounds=true
y = TensorListLength(r)
## list scattered far behind its end | y:0 | resource_exhausted: a list of 2147483648 elements
n = Const int32[]{2}
s = Const int32[]{-1}
l = TensorListReserve(s, n) element_dtype=float32
k = Const int32[1]{2147483647}
v = Const float32[1]{1}
r = TensorListScatterIntoExistingList(l, v, k) element_dtype=float32
y = TensorListLength(r)
## list of elements of a negative size | y:0 | invalid_argument: Dimension -5 must be >= -1
n = Const int32[]{1}
s = Const int32[1]{-5}
l = TensorListReserve(s, n) element_dtype=float32
y = TensorListLength(l)
## list of elements of nine dimensions | y:0 | 
n = Const int32[]{1}
s = Const int32[9]{1}
l = TensorListReserve(s, n) element_dtype=float32
y = TensorListLength(l)
## list of zeros that no memory holds | y:0 | resource_exhausted: 
n = Const int32[]{3}
s = Const int64[2]{4611686018427387904 4611686018427387904}
l = TensorListReserve(s, n) element_dtype=float32
i = Const int32[]{0}
k = Const int32[]{-1}
y = TensorListGetItem(l, i, k) element_dtype=float32
## list that holds a stack | y:0 | unimplemented: a list of dtype resource is to hold a handle
n = Const int32[]{3}
t = StackV2(n) elem_type=float32
s = Const int32[]{-1}
l = EmptyTensorList(s, s) element_dtype=resource
p = TensorListPushBack(l, t) element_dtype=resource
y = TensorListLength(p)
## list whose rows have lengths of no number | y:0 | invalid_argument: Attempting to slice [1, 9223372036854775808] from tensor with length 2
v = Const float32[2]{1}
s = Const int32[]{-1}
n = Const int64[2]{1 9223372036854775807}
l = TensorListSplit(v, s, n) element_dtype=float32
y = TensorListLength(l)
## list joined with as many rows as numbers count | y:0 | 
n = Const int32[]{2}
s = Const int32[2]{-1 0}
l = TensorListReserve(s, n) element_dtype=float32
d = Const int64[2]{9223372036854775807 4}
y = TensorListConcatV2(l, s, d) element_dtype=float32
## list joined with a negative number of rows | y:0 | invalid_argument: leading_dims has -3, which is no number of rows
n = Const int32[]{2}
s = Const int32[2]{-1 1}
l = TensorListReserve(s, n) element_dtype=float32
d = Const int64[2]{-3 4}
y = TensorListConcatV2(l, s, d) element_dtype=float32
## sum of lists of several lengths | y:0 | invalid_argument: Trying to add two lists of tensors with different lengths. One is 2 and the other is 3
n = Const int32[]{2}
s = Const int32[]{-1}
l = TensorListReserve(s, n) element_dtype=float32
m = Const int32[]{3}
k = TensorListReserve(s, m) element_dtype=float32
a = AddN(l, k) T=variant
y = TensorListLength(a)
## Assert text | y:0 | invalid_argument: assertion failed: [a]
c = Const bool[]{false}
t = Const string[1]{"a"}
a = Assert(c, t) T=(string)
y = Const(^a) float32[]{1}
## PyFunc unknown | y:0 | failed_precondition: the host function 't' is not known to this session: it belongs to the program that built
c = Const float32[]{1}
y = PyFunc(c) token="t" Tin=(float32) Tout=(float32)
## Switch pred vector | y:0 | invalid_argument: the node 'y' (Switch): Switch: Shape must be rank 0 but is rank 1 for input 1
c = Const float32[]{1}
p = Const bool[2]{true}
y = Switch(c, p) T=float32
## dead fetch | y:0 | invalid_argument: Retval[0] does not have value: the branch of the node was not taken
c = Const float32[]{1}
p = Const bool[]{true}
y = Switch(c, p) T=float32
## Merge of nothing | y:0 | invalid_argument: the node 'y' (Merge): Merge: the attribute N is 0, less than 1
y = Merge T=float32 N=0
## LoopCond int | y:0 | invalid_argument: the node 'y' (LoopCond): Input 'input' of 'LoopCond' Op has type int32 that does not match
c = Const int32[]{1}
y = LoopCond(c)
## ShapeN none | y:0 | invalid_argument: the node 'y' (ShapeN): ShapeN: the attribute N is 0, less than 1
y = ShapeN T=float32 N=0
## AddN other shapes | y:0 | invalid_argument: the node 'y' (AddN): shapes differ
a = Const float32[2]{1}
b = Const float32[3]{1}
y = AddN(a, b) T=float32 N=2
## AddN N 5 | y:0 | invalid_argument: the node 'y' (AddN): attribute N is 5, and there are 2 such inputs
a = Const float32[2]{1}
y = AddN(a, a) T=float32 N=5
## Const as BroadcastGradientArgs | y:0 y:1 | ok int32[9][0 1 2 3 4 5 6 7...] int32[8][0 1 2 3 4 5 6 8]
a = Const int32[9]{1}
b = Const int32[2]{-5,1}
y = BroadcastGradientArgs(a, b) T=int32
## Equal of strings shapes | y:0 | invalid_argument: Incompatible shapes: [2] vs. [3]
a = Const string[2]{"a","b"}
b = Const string[3]{"a"}
y = Equal(a, b) T=string
## string in math | y:0 | unimplemented: no kernel for dtype string
a = Const string[2]{"a","b"}
y = AddV2(a, a) T=string
## ClipByValue bounds | y:0 | invalid_argument: the node 'y' (ClipByValue): the limits do not broadcast to the operand's shape
a = Const float32[2]{1}
b = Const float32[3]{1}
y = ClipByValue(a, b, b) T=float32
## Print to | y:0 | ok float32[2][1 1]
a = Const float32[2]{1}
y = Print(a, a) T=float32 U=(int32) message="m"
## Conv2D none | y:0 | invalid_argument: the node 'y' (Conv2D): Conv2D: Depth of input (1) is not a multiple of input depth of
a = Const float32[1,2,2,1]{1}
y = Conv2D(a, a) T=float32 strides=(0,0,0,0) padding="VALID" dilations=(9223372036854775807,9223372036854775807,9223372036854775807,9223372036854775807)
## Abort | y:0 | aborted: stop
a = Abort error_msg="stop"
y = Const(^a) float32[]{1}
## attribute of other kind | y:0 | invalid_argument: the node 'y' (Pack): Pack: the attribute N is of another kind than the operator takes
a = Const float32[2]{1}
y = Pack(a, a) T=float32 N="two"
## T lies | y:0 | invalid_argument: the node 'y' (Pack): Input 'values' of 'Pack' Op has type float32 that does not match type
a = Const float32[2]{1}
y = Pack(a, a) T=float64 N=2
## T missing | y:0 | ok float32[2][-1 -1]
a = Const float32[2]{1}
y = Neg(a)
## data after control | y:0 | invalid_argument: the node 'y', input 'a': stands behind control inputs
a = Const float32[2]{1}
y = AddV2(^a, a, a) T=float32
## PlaceholderWithDefault shape | y:0 | invalid_argument: the node 'p' (PlaceholderWithDefault): PlaceholderWithDefault: the input has shape (2,),
a = Const float32[2]{1}
p = PlaceholderWithDefault(a) dtype=float32 shape=[2000000000]
b = Const float32[2000]{1}
y = Neg(p) T=float32
## size of an input that lies | y:0 | invalid_argument: the node 'p' (PlaceholderWithDefault): PlaceholderWithDefault: the input has shape (2,),
a = Const float32[2]{1}
p = PlaceholderWithDefault(a) dtype=float32 shape=[500]
b = Const float32[500]{1}
y = AddV2(p, b) T=float32
## GatherNd of nothing wide | y:0 | ok float32[1099511627776,2,0][]
a = Const float32[2,0]{}
i = Const int32[1099511627776,0]{}
y = GatherNd(a, i) Tparams=float32 Tindices=int32
## ScatterNd of nothing wide | y:0 | ok float32[0][]
i = Const int32[1099511627776,0]{}
u = Const float32[1099511627776,0]{}
s = Const int32[1]{0}
y = ScatterNd(i, u, s) T=float32 Tindices=int32
## Split of nothing wide | y:0 | ok float32[1099511627776,0][]
a = Const int32[]{1}
v = Const float32[1099511627776,0]{}
y = Split(a, v) T=float32 num_split=2
## Pack of nothing wide | y:0 | ok float32[1099511627776,2,0][]
v = Const float32[1099511627776,0]{}
y = Pack(v, v) T=float32 N=2 axis=1
## Cumsum of nothing wide | y:0 | ok float32[1099511627776,0][]
v = Const float32[1099511627776,0]{}
x = Const int32[]{1}
y = Cumsum(v, x) T=float32 Tidx=int32
## TopK of nothing wide | y:0 | ok float32[1099511627776,0][]
v = Const float32[1099511627776,0]{}
x = Const int32[]{0}
y = TopKV2(v, x) T=float32
## Shuffle of nothing wide | y:0 | ok float32[1099511627776,0][]
v = Const float32[1099511627776,0]{}
y = RandomShuffle(v) T=float32
## enqueue rows of nothing | y:0 | resource_exhausted: an array of 281474976710656 bytes: of the limit of 67108864 bytes (memory_limit_in_bytes)
q = FIFOQueueV2 component_types=(float32)
v = Const float32[1099511627776,0]{}
e = QueueEnqueueManyV2(q, v) Tcomponents=(float32)
y = QueueSizeV2(q, ^e)
## Neg of nothing wide | y:0 | ok float32[1099511627776,0][]
v = Const float32[1099511627776,0]{}
y = Neg(v) T=float32
## Add of nothing wide | y:0 | ok int32[]0
v = Const float32[1099511627776,0]{}
w = Const float32[1,0]{}
a = AddV2(v, w) T=float32
y = Size(a) T=float32
## Transpose of nothing wide | y:0 | ok float32[1048576,0,1048576][]
v = Const float32[1048576,0,1048576]{}
p = Const int32[3]{2,1,0}
a = Transpose(v, p) T=float32 Tperm=int32
y = Neg(a) T=float32
## Sum of nothing wide | y:0 | resource_exhausted: an array of 4398046511104 bytes: of the limit of 67108864 bytes (memory_limit_in_bytes) 0
v = Const float32[1099511627776,0]{}
x = Const int32[1]{1}
y = Sum(v, x) T=float32 Tidx=int32
## Where of nothing wide | y:0 | ok int64[0,2][]
v = Const bool[1099511627776,0]{}
y = Where(v) T=bool
## GatherV2 of nothing wide | y:0 | ok float32[8,0][]
v = Const float32[4,0]{}
i = Const int32[8]{1}
x = Const int32[]{0}
y = GatherV2(v, i, x) Tparams=float32 Tindices=int32 Taxis=int32
## Select of nothing | y:0 | ok float32[4,0][]
c = Const bool[4]{true}
v = Const float32[4,0]{}
y = Select(c, v, v) T=float32
## cross entropy of nothing | y:0 | ok float32[0][]
v = Const float32[0,3]{}
y = SoftmaxCrossEntropyWithLogits(v, v) T=float32
## reshape of nothing to wide | y:0 | ok int64[2][1099511627776 0]
v = Const float32[0]{}
s = Const int64[2]{1099511627776,0}
a = Reshape(v, s) T=float32 Tshape=int64
b = Neg(a) T=float32
y = Shape(b) T=float32 out_type=int64
## Shape int32 of large | y:0 | invalid_argument: 1099511627776 does not fit int32
v = Const float32[1099511627776,0]{}
y = Shape(v) T=float32 out_type=int32
## Size int32 of large | y:0 | invalid_argument: You must feed a value for placeholder tensor 'v' with dtype float and shape
v = Placeholder dtype=float32 shape=[1099511627776,4]
y = Size(v) T=float32 out_type=int32
## MatMul of nothing | y:0 | ok float32[2,2][[0 0][0 0]]
a = Const float32[2,0]{}
b = Const float32[0,2]{}
y = MatMul(a, b) T=float32
## Mean of nothing | y:0 | ok float32[]-nan
a = Const float32[0]{}
x = Const int32[1]{0}
y = Mean(a, x) T=float32 Tidx=int32
## Softmax of nothing | y:0 | ok float32[2,0][]
a = Const float32[2,0]{}
y = Softmax(a) T=float32
## InTopK int | y:0 | invalid_argument: the node 'y' (InTopK): Input 'predictions' of 'InTopK' Op has type float64 that does not
p = Const float64[2,2]{1,2,3,4}
t = Const int32[2]{0,1}
y = InTopK(p, t) T=int32 k=1
## argmax in the middle of nothing | y:0 | invalid_argument: the node 'y' (ArgMin): nothing along the axis
a = Const float32[2,0,3]{}
p = Const int32[]{1}
y = ArgMin(a, p) T=float32 Tidx=int32 output_type=int32
## references around | y:0 | invalid_argument
m = RefMerge(n, n) T=float32 N=2
n = RefNextIteration(m) T=float32
c = Const float32[]{1}
y = Assign(m, c) T=float32
)graphs"};
}  // namespace detail

inline std::vector<hostile_graph> hostile_graphs() {
  std::vector<hostile_graph> all;
  const auto trimmed = [](std::string_view t) {
    while (t.starts_with(' ')) t.remove_prefix(1);
    while (t.ends_with(' ')) t.remove_suffix(1);
    return std::string(t);
  };
  for (const std::string_view text : detail::hostile_texts) {
    for (std::size_t at = text.find("## "); at != text.npos;) {
      const std::size_t line = text.find('\n', at), next = text.find("\n## ", line);
      const std::string_view head = text.substr(at + 3, line - at - 3);
      const std::size_t first = head.find('|'), second = head.find('|', first + 1);
      hostile_graph g{trimmed(head.substr(0, first)), {}, trimmed(head.substr(second + 1)),
                      std::string(text.substr(line + 1, next == text.npos ? next : next - line))};
      std::string fetches = trimmed(head.substr(first + 1, second - first - 1));
      for (std::size_t k = 0; k < fetches.size();) {
        const std::size_t end = std::min(fetches.find(' ', k), fetches.size());
        g.fetches.push_back(fetches.substr(k, end - k));
        k = end + 1;
      }
      all.push_back(std::move(g));
      at = next == text.npos ? next : next + 1;
    }
  }
  return all;
}

}  // namespace leat_test
