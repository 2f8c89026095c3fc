#!/usr/bin/env bash
# command.bash LEAT: the command `leat` as people use it: what it prints, its exit codes, and that what it writes it reads.
# With LEAT_REFERENCE also on recorded graphs.
set -uo pipefail
export LC_ALL=C

leat=$1
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 2

failed=0
cases=0
# expect CODE TEXT ARGUMENT...: it exits with this code, and what it prints holds the text.
expect() {
  local code=$1 text=$2 output status
  shift 2
  cases=$((cases + 1))
  output=$("$leat" "$@" 2>&1)
  status=$?
  if [ "$status" -ne "$code" ] || [[ $output != *"$text"* ]]; then
    printf 'FAILED: leat %s\nexpected status %s and "%s", got status %s and\n%s\n' "$*" "$code" "$text" "$status" "$output"
    failed=1
  fi
}
# same FILE FILE: byte by byte
same() {
  cases=$((cases + 1))
  cmp -s "$1" "$2" || {
    printf 'FAILED: %s and %s differ\n' "$1" "$2"
    failed=1
  }
}

cat >good.json <<'END'
{"node": [
  {"name": "x", "op": "Placeholder", "attr": {"dtype": {"type": "DT_FLOAT"}, "shape": {"shape": {"dim": [{"size": "-1"}, {"size": "2"}]}}}},
  {"name": "w", "op": "VariableV2", "attr": {"dtype": {"type": "DT_FLOAT"}, "shape": {"shape": {"dim": [{"size": "2"}, {"size": "1"}]}}}},
  {"name": "w/read", "op": "Identity", "input": ["w"], "attr": {"T": {"type": "DT_FLOAT"}, "_class": {"list": {"s": ["bG9jOkB3"]}}}},
  {"name": "y", "op": "MatMul", "input": ["x", "w/read"], "attr": {"T": {"type": "DT_FLOAT"}}},
  {"name": "loss", "op": "Mean", "input": ["y", "axes", "^x"]},
  {"name": "axes", "op": "Const", "device": "/cpu:0", "attr": {"dtype": {"type": "DT_INT32"}, "value": {"tensor": {"dtype": "DT_INT32", "tensor_shape": {}, "int_val": [0]}}}}
], "versions": {"producer": 24}}
END
cat >meta.json <<END
{"meta_info_def": {"tags": ["serve"], "tensorflow_version": "1.15.0"}, "graph_def": $(cat good.json),
 "collection_def": {"trainable_variables": {"bytes_list": {"value": ["CgN3OjA="]}}, "ends": {"node_list": {"value": ["y:0", "loss"]}}},
 "signature_def": {"serving": {"inputs": {"x": {"name": "x:0", "dtype": "DT_FLOAT", "tensor_shape": {"dim": [{"size": "-1"}, {"size": "2"}]}}},
                               "outputs": {"y": {"name": "y:0", "dtype": "DT_FLOAT"}}, "method_name": "predict"},
                   "losses": {"outputs": {"loss": {"name": "loss:0"}}}}}
END
printf '%s' '{"node": [{"name": "a", "op": "Own\u001b[31m", "input": ["b"]}, {"name": "a", "op": "Other"}]}' >bad.json
printf 'not a graph' >broken.json
printf '\x0a\x05' >cut.pb
printf 'text' >graph.txt

# show
expect 0 "GraphDef, 6 nodes, graph version 24" show good.json
expect 0 "     1  MatMul" show good.json
expect 0 "  x  DT_FLOAT [?, 2]" show good.json
expect 0 $'variables\n  w  DT_FLOAT [2, 1]' show good.json
expect 0 "loss = Mean(y, axes, ^x)" show --nodes good.json
expect 0 "axes = Const() [] on /cpu:0" show --shapes good.json
expect 0 $'serving (predict)\n    input x: x:0 DT_FLOAT [?, 2]\n    output y: y:0 DT_FLOAT' show meta.json
expect 0 "ends: 2 nodes or tensors" show meta.json
expect 0 "MetaGraphDef, 6 nodes, graph version 24, TensorFlow 1.15.0" show meta.json
expect 0 "digraph {" show --dot good.json
expect 0 "Own?[31m" show bad.json

# check
expect 0 "good.json: 6 nodes, nothing found" check good.json
expect 1 "bad.json: node \"a\": input[0]: there is no node \"b\"" check good.json bad.json
expect 1 "bad.json: node \"a\": name: node number 0 has it already" check bad.json
expect 1 "operators that leat does not know: Other (1), Own?[31m (1)" check bad.json
expect 1 "nothing found" check bad.json good.json
expect 3 "broken.json: not JSON at byte" check broken.json good.json
expect 3 "good.json: 6 nodes, nothing found" check broken.json good.json
sed 's/Mean/OwnMean/' good.json >own.json
expect 1 "operators that leat does not know: OwnMean (1)" check own.json
expect 0 "operators that leat does not know: OwnMean (1)" check --allow-unknown own.json
expect 1 "there is no node" check --allow-unknown bad.json

# what run runs, check knows; what run refuses, check finds
sed 's/"op": "Mean"/"op": "Cumsum"/' good.json >cumsum.json
expect 0 "cumsum.json: 6 nodes, nothing found" check cumsum.json
sed 's/"axes", "^x"/"axes:5", "^x"/' good.json >port.json
expect 1 "port.json: the node 'loss' (Mean): input 'axes:5': 'axes' (Const) has 1 output" check port.json
expect 3 "the node 'loss' (Mean): input 'axes:5'" run port.json --fetch loss
sed 's/"input": \["x", "w.read"\]/"input": ["x"]/' good.json >inputs.json
expect 1 "inputs.json: the node 'y' (MatMul): has 1 inputs" check inputs.json
sed 's|/cpu:0|/job:other/cpu:0|' good.json >elsewhere.json
expect 1 "Cannot assign a device for operation axes" check elsewhere.json
printf '\x08\x01\x12\x00' >saved_model.pb
expect 3 "saved_model.pb: a SavedModel of TensorFlow's" check saved_model.pb
mkdir exported && cp saved_model.pb exported
expect 0 "TensorFlow's SavedModel, 0 nodes" show exported
expect 2 "'y'" run exported --fetch y

# a checkpoint that TensorFlow wrote: a = [1, 2], b = 7
mkdir log
base64 -d >log/m-3.index <<'end'
AAAGCAEaAggBAAEPYQgBEgQSAggCKAg1WTzlNQABDWIICRIAIAgoCDW7158RAAAAAAEAAAAAOCtOqAAAAAABAAAAAMDyobAAAQJjADUAAAAAAQAAAAB+
LH0EOghHDgAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAFf7gIskdUfb
end
base64 -d >log/m-3.data-00000-of-00001 <<<AACAPwAAAEAHAAAAAAAAAA==
echo 'model_checkpoint_path: "m-3"' >log/checkpoint
for path in log log/m-3 log/m-3.index; do
  expect 0 "checkpoint of step 3 in TensorFlow's format, 2 tensors, no graph" show $path
  expect 0 "a  float32 [2]" show $path
  expect 0 "0 nodes, 2 tensors, nothing found" check $path
  expect 2 "has no graph to be run: log/m-3.meta is missing" run $path --fetch a
done
cat >with_a.json <<'end'
{"node": [{"name": "a", "op": "VariableV2", "attr": {"dtype": {"type": "DT_FLOAT"}, "shape": {"shape": {"dim": [{"size": "2"}]}}}},
          {"name": "y", "op": "Identity", "input": ["a"], "attr": {"T": {"type": "DT_FLOAT"}}}]}
end
for path in log log/m-3; do expect 0 "[1, 2]" run with_a.json --variables $path --fetch y; done
expect 0 "" convert --freeze log/m-3 --fetch y with_a.json frozen_a.pb
expect 0 "[1, 2]" run frozen_a.pb --fetch y
printf x | dd of=log/m-3.data-00000-of-00001 bs=1 seek=9 conv=notrunc 2>/dev/null
expect 3 'm-3.data-00000-of-00001: tensor "b" at byte 8' check log
rm log/m-3.data-00000-of-00001
expect 3 "m-3.data-00000-of-00001: cannot be opened" show log
mkfifo pipe.json
expect 3 "pipe.json: is a pipe or socket" run pipe.json --timeout 1 --fetch y

# convert
expect 0 "" convert good.json good.pb
expect 0 "" convert good.pb again.json
expect 0 "" convert good.json text.json
same text.json again.json
expect 0 "" convert good.pb good.dot
expect 0 "" convert meta.json meta.meta
expect 0 "" convert meta.meta again.meta.json
expect 0 "" convert meta.json text.meta.json
same text.meta.json again.meta.json
expect 0 "" convert meta.meta from_meta.pb
same from_meta.pb good.pb
expect 0 "" convert --fetch y:0 good.json part.json
expect 0 "GraphDef, 4 nodes" show part.json
expect 0 "" convert --fetch loss --fetch w/read good.json part.json
expect 0 "GraphDef, 6 nodes" show part.json
expect 0 "" convert --fetch y meta.json part.json
expect 0 "ends: 1 nodes or tensors" show part.json
expect 0 "serving (predict)" show part.json
cases=$((cases + 1))
if grep -q losses <<<"$("$leat" show part.json)"; then
  echo "FAILED: a signature of what was pruned is left"
  failed=1
fi
expect 0 "" convert --prefix tower/a --fetch y meta.json tower.json
expect 0 "tower/a/w/read = Identity(tower/a/w)" show --nodes tower.json
expect 0 "input x: tower/a/x:0" show tower.json
cases=$((cases + 1))
grep -q bG9jOkB0b3dlci9hL3c= tower.json || {
  echo "FAILED: the colocation is not renamed to loc:@tower/a/w"
  failed=1
}
expect 1 "there is no node \"b\"" convert bad.json never.pb
expect 2 "there is no node \"nowhere\" to fetch" convert --fetch nowhere good.json never.pb
expect 2 "cannot begin a node's name" convert --prefix " x" good.json never.pb
expect 2 "end in .pb, .meta, .json, .pbtxt, .dot or .onnx" convert good.json never.txt
expect 3 "never/x.pb: cannot be written" convert good.json never/x.pb
cases=$((cases + 1))
if [ -e never.pb ] || [ -e never.pb.part ]; then
  echo "FAILED: a conversion that was refused left a file"
  failed=1
fi

# protobuf's text format, by ending and by content
expect 0 "" convert good.json good.pbtxt
expect 0 "" convert good.pbtxt back.json
expect 0 "" convert good.json again.json
same again.json back.json
cases=$((cases + 1))
[ "$(head -4 good.pbtxt)" = $'node {\n  name: "x"\n  op: "Placeholder"\n  attr {' ] || failed=1
cp good.pbtxt text.pb && cp good.pbtxt graph_text.txt
for path in good.pbtxt text.pb graph_text.txt; do
  expect 0 "GraphDef, 6 nodes, graph version 24" show $path
  expect 0 "$path: 6 nodes, nothing found" check $path
done
expect 0 "" convert meta.json meta.pbtxt
cp meta.pbtxt text.meta
for path in meta.pbtxt text.meta; do
  expect 0 "MetaGraphDef, 6 nodes, graph version 24, TensorFlow 1.15.0" show $path
  expect 0 $'serving (predict)\n    input x: x:0 DT_FLOAT [?, 2]\n    output y: y:0 DT_FLOAT' show $path
done
expect 0 "" convert meta.pbtxt back.json
expect 0 "" convert meta.json again.json
same again.json back.json
printf 'node { name: "a"\n  op: 1 }' >wrong.pbtxt
expect 3 'wrong.pbtxt: line 2, column 7: node "a": op: should be a text in quotes, and is "1"' check wrong.pbtxt
printf 'versions { } meta_info_def { }' >both.pbtxt
expect 3 "both those of a GraphDef and those of a MetaGraphDef" show both.pbtxt
printf 'saved_model_schema_version: 1 meta_graphs { %s }' "$(cat meta.pbtxt)" >saved_model.pbtxt
expect 3 "saved_model.pbtxt: a SavedModel of TensorFlow's" show saved_model.pbtxt
mkdir exported_text && cp saved_model.pbtxt exported_text
expect 0 "TensorFlow's SavedModel, 6 nodes" show exported_text
expect 0 "" convert exported_text back.json
same again.json back.json

# freezing
mkdir -p values/layer
printf "\\x93NUMPY\\x01\\x00\\x48\\x00{'descr': '<f4', 'fortran_order': False, 'shape': (2, 1), }            \\n\\x00\\x00\\x80\\x3f\\x00\\x00\\x00\\x40" >values/w.npy
printf 'no array' >values/layer/other.npy
expect 0 "" convert --fetch loss --freeze values good.json frozen.json
expect 0 $'     2  Const\n     1  Identity' show frozen.json
expect 0 "w = Const() [2, 1]" show --shapes frozen.json
expect 0 "w/read = Identity(w)" show --nodes frozen.json
expect 0 "" convert --freeze 'w=[[1], [2]]' good.json again.json
same frozen.json again.json
expect 0 "" convert --freeze w=values/w.npy good.json again.json
same frozen.json again.json
expect 0 "" convert --freeze values meta.json frozen.meta
cases=$((cases + 1))
if grep -q trainable_variables <<<"$("$leat" show frozen.meta)"; then
  echo "FAILED: a frozen graph has a collection of variables left"
  failed=1
fi
expect 0 "" convert --fetch axes --freeze 'w=[[1], [2]]' good.json part.json
expect 2 "no values for the variables 'w'" convert --freeze values/layer good.json never.pb
expect 2 "the variable 'w' is DT_FLOAT [2, 1], its value DT_FLOAT [2]" convert --freeze 'w=[1, 2]' good.json never.pb
expect 2 "v: the graph has no such variable" convert --freeze v=1 good.json never.pb
expect 2 "w: has two values" convert --freeze 'w=[[1], [2]]' --freeze values good.json never.pb
expect 2 "w: lists of different lengths" convert --freeze 'w=[[1], [2, 3]]' good.json never.pb
expect 2 "w: true is no DT_FLOAT" convert --freeze 'w=[[1], [true]]' good.json never.pb
expect 0 "" convert --fetch y --freeze 'w=[[1], [2]]' good.json layer.onnx
expect 0 "" convert --signature serving --freeze values --prefix tower --opset 21 meta.json layer.onnx
expect 2 "name the outputs with --fetch" convert good.json never.onnx
expect 2 "name them with --signature (losses, serving) or --fetch" convert meta.json never.onnx
expect 3 "'w' is a variable, and the graph is not frozen" convert --fetch y good.json never.onnx
expect 2 "no values for the variables 'w'" convert --fetch y --freeze values/layer good.json never.onnx
expect 2 "neither a number, nor a list of numbers" convert --freeze 'w=one' good.json never.pb
expect 2 "is neither NAME=VALUE, nor a folder, nor a .safetensors file" convert --freeze nowhere good.json never.pb
expect 3 "nothing.npy: cannot be opened" convert --freeze w=nothing.npy good.json never.pb
expect 3 "values/layer/other.npy: not a NPY file" convert --freeze w=values/layer/other.npy good.json never.pb
sed 's/"op": "Identity"/"op": "AssignSub"/' good.json >writes.json
expect 2 "the node 'w/read' (AssignSub) takes the variable 'w' itself" convert --freeze values writes.json never.pb
[ ! -e never.pb ] || failed=1

# running
expect 0 $'y  float32 [2, 1]\n  [[8],\n   [4]]' run good.json --variables values --feed 'x=[[2, 3], [4, 0]]' --fetch y
expect 0 $'loss  float32 [1]\n  [6]' run good.json --variables 'w=[[1], [2]]' --feed 'x=[[2, 3], [4, 0]]' --fetch loss
expect 0 '{"y:0": {"dtype": "float32", "shape": [1, 1], "data": [[0.5]]}}' run good.json --variables values --feed 'x=[[0.5, 0]]' --fetch y:0 --format json
printf '[[2, 3],\n [4, 0]]' >rows.json
expect 0 '{"y": {"dtype": "float32", "shape": [2, 1], "data": [[8], [4]]}, "axes": {"dtype": "int32", "shape": [], "data": 0}}' \
  run good.json --variables values --feed x=@rows.json --fetch y,axes --format json
expect 0 "" run good.json --variables values --feed x=@rows.json --fetch y,w --format npy --out results
expect 0 $'y  float32 [1, 1]\n  [[20]]' run good.json --variables values --feed x=[[8,6]] --fetch y
cases=$((cases + 1))
[ "$(tail -c 8 results/w.npy | od -An -tx1)" = "$(tail -c 8 values/w.npy | od -An -tx1)" ] || failed=1
expect 0 "" run good.json --variables w=results/w.npy --feed x=@rows.json --fetch y --format npy --out again
same results/y.npy again/y.npy
expect 0 "" run good.json --variables values --feed x=[[8,6]] --fetch y --format npy --out only.npy
expect 0 '"data": [[20], [20]]' run good.json --variables values --feed 'x=[[8, 6], [8, 6]]' --fetch y --format json
expect 0 "" run good.json --variables values --feed x=@rows.json --fetch y --out y.txt
cases=$((cases + 1))
[ "$(cat y.txt)" = $'y  float32 [2, 1]\n  [[8],\n   [4]]' ] || failed=1
expect 0 $'y  float32 [2, 1]\n  [[8],\n   [4]]' run good.pbtxt --variables values --feed x=@rows.json --fetch y
expect 0 $'w  float32 [2, 1]\n  [[inf],\n   [-inf]]' run good.json --variables 'w=[[inf], [-Infinity]]' --fetch w
expect 0 $'  [[-inf],\n   [nan]]' run good.json --variables values --feed 'x=[[-INF, 1], [NaN, 1]]' --fetch y
expect 0 $'  [[8],\n   [inf]]' run good.json --variables values --feed 'x=[[2, 3], [+infinity, 2.5e-1]]' --fetch y
expect 2 "neither a number, nor a list of numbers" run good.json --feed 'x=[[1inf, 2]]' --fetch y
expect 2 'w: a list of numbers is wanted, and has "inf"' convert --freeze 'w=[["inf"], [1]]' good.json never.pb
# big endian, columns first, half precision, sizes as Python 2 writes them: [[2, 3], [4, 0]]
printf "\\x93NUMPY\\x01\\x00\\x40\\x00{'descr': '>f2', 'fortran_order': True, 'shape': (2L, 2L), }   \\n\\x40\\x00\\x44\\x00\\x42\\x00\\x00\\x00" >half.npy
expect 0 $'  [[8],\n   [4]]' run good.json --variables values --feed x=half.npy --fetch y
# w as bfloat16 beside an array of a dtype that is not read
printf '\x88\x00\x00\x00\x00\x00\x00\x00%-136s\x80\x3f\x00\x40\x01' \
  '{"w":{"dtype":"BF16","shape":[2,1],"data_offsets":[0,4],"x":1},"z":{"dtype":"F8_E4M3","shape":[1],"data_offsets":[4,5]}}' >bf.safetensors
expect 0 $'  [[8],\n   [4]]' run good.json --variables bf.safetensors --feed x=@rows.json --fetch y
expect 1 "Attempting to use uninitialized value w" run good.json --feed x=@rows.json --fetch y
expect 1 "'x'" run good.json --variables values --fetch y
expect 1 "Cannot feed value of shape (1, 3) for Tensor x:0" run good.json --variables values --feed x=[[1,2,3]] --fetch y
expect 1 "there is no node \"b\"" run bad.json --fetch a
expect 1 $'uninitialized value w\n     [[node' run good.json --feed x=@rows.json --fetch y
cat >large.json <<'END'
{"node": [
  {"name": "n", "op": "Placeholder", "attr": {"dtype": {"type": "DT_INT32"}, "shape": {"shape": {"dim": [{"size": "1"}]}}}},
  {"name": "one", "op": "Const", "attr": {"dtype": {"type": "DT_FLOAT"}, "value": {"tensor": {"dtype": "DT_FLOAT", "tensor_shape": {}, "float_val": [1]}}}},
  {"name": "y", "op": "Fill", "input": ["n", "one"], "attr": {"T": {"type": "DT_FLOAT"}}}
]}
END
expect 2 "n: nan is no DT_INT32" run large.json --feed n=[nan] --fetch y
expect 2 "n: -inf is no DT_INT32" run large.json --feed n=[-inf] --fetch y
expect 0 $'y  float32 [3]\n  [1, 1, 1]' run large.json --memory 1 --feed n=[3] --fetch y
expect 1 "node 'y' (Fill)" run large.json --memory 1 --feed n=[1000000] --fetch y
expect 2 "--fetch: The name 'q' refers to an Operation not in the graph" run good.json --fetch q
expect 2 "has an empty name" run good.json --fetch y,,w
expect 2 "--feed: \"x\" is not NAME=VALUE" run good.json --feed x --fetch y
expect 2 "--feed: x:0: has two values" run good.json --feed x=[[1,2]] --feed x:0=[[1,2]] --fetch y
expect 2 "--feed: x: lists of different depths" run good.json --feed 'x=[[[1]], 2]' --fetch y
expect 2 "--feed: x: lists of different lengths" run good.json --feed 'x=[[1], [2, 3]]' --fetch y
expect 2 "nothing is to be run" run good.json
expect 2 "--times stands behind the --fetch" run good.json --times 3 --fetch y
expect 2 "--times" run good.json --fetch y --times 0
expect 2 "--format npy needs --out" run good.json --fetch axes --format npy
expect 2 "would be one file" run good.json --fetch axes --fetch axes --format npy --out results
expect 2 "--init: nothing gives these variables a first value: w" run good.json --init --fetch w
expect 2 "--signature: there is no \"q\" among losses, serving" run meta.json --signature q
expect 3 "nothing.npy: cannot be opened" run good.json --feed x=nothing.npy --fetch y
expect 3 "nothing.pb: cannot be opened" run nothing.pb --fetch y

# a graph with a counter: several runs in one session, saving, loading
cat >count.json <<'END'
{"node": [
  {"name": "n", "op": "VariableV2", "attr": {"dtype": {"type": "DT_INT32"}, "shape": {"shape": {}}}},
  {"name": "zero", "op": "Const", "attr": {"dtype": {"type": "DT_INT32"}, "value": {"tensor": {"dtype": "DT_INT32", "tensor_shape": {}, "int_val": [0]}}}},
  {"name": "one", "op": "Const", "attr": {"dtype": {"type": "DT_INT32"}, "value": {"tensor": {"dtype": "DT_INT32", "tensor_shape": {}, "int_val": [1]}}}},
  {"name": "n/Assign", "op": "Assign", "input": ["n", "zero"], "attr": {"T": {"type": "DT_INT32"}}},
  {"name": "add", "op": "AssignAdd", "input": ["n", "one"], "attr": {"T": {"type": "DT_INT32"}}},
  {"name": "step", "op": "NoOp", "input": ["^add"]}
]}
END
expect 0 $'n  int32 []\n  0\nn  int32 []\n  7\nadd  int32 []\n  8' run count.json --init --fetch n --fetch step --times 7 --fetch n --fetch add
expect 0 $'{"n": {"dtype": "int32", "shape": [], "data": 0}}\n{}\n{"n":' run count.json --init --fetch n --fetch step --fetch n --format json
expect 0 "step: 30 of 30" run count.json --init --fetch step --times 30 --progress
expect 0 "" run count.json --init --fetch step --times 5 --save counted --trace trace.json
cases=$((cases + 1))
grep -q traceEvents trace.json || failed=1
expect 0 $'saved model, 6 nodes' show counted
expect 0 $'saved values\n  n  int32 []' show counted
expect 0 "counted: 6 nodes, nothing found" check counted
expect 0 $'n  int32 []\n  5' run counted --fetch n
expect 0 $'n  int32 []\n  5' run counted --init --fetch n
expect 0 "" run counted --fetch step --times 2 --save counted
expect 0 $'n  int32 []\n  7' run counted --fetch n
expect 0 $'n  int32 []\n  7' run count.json --variables counted --fetch n
expect 0 "" run counted --fetch step --save count.safetensors
expect 0 $'n  int32 []\n  8' run count.json --variables count.safetensors --fetch n
expect 0 "" convert --fetch n --freeze counted counted frozen.pb
expect 0 $'n  int32 []\n  7' run frozen.pb --fetch n
expect 2 "--save: " run count.json --init --fetch n --save values
expect 2 "variables without a value: 'n'" run count.json --fetch one --save never
[ ! -e never ] || failed=1
head -c -1 counted/variables.safetensors >cut && cp cut counted/variables.safetensors
expect 3 "counted/variables.safetensors: array \"n\"" run counted --fetch n
expect 3 "counted/variables.safetensors" show counted
rm counted/variables.safetensors
expect 3 "counted/variables.safetensors: cannot be opened" run counted --fetch n

# a signature
expect 0 $'y  float32 [1, 1]\n  [[20]]' run meta.json --signature serving --variables values --feed x=[[8,6]]
expect 0 $'y  float32 [1, 1]\n  [[20]]' run meta.json --signature serving --variables values --feed x=[[8,6]] --fetch y

# wrong use, unreadable files, help
expect 2 "subcommand is required" ""
expect 2 "" shwo good.json
expect 2 "file is required" show
expect 2 "can be read end in" show graph.txt
expect 3 "nothing.pb: cannot be opened" show nothing.pb
expect 3 "cut.pb: GraphDef is cut off" show cut.pb
expect 0 "Examples:" --help
for command in show check convert run completion; do expect 0 "leat $command" $command --help; done
expect 0 "leat " --version
for shell in bash zsh fish; do expect 0 "convert" completion $shell; done
expect 2 "csh" completion csh
cases=$((cases + 1))
"$leat" completion bash | bash -n || failed=1
words=$(bash -c "source <('$leat' completion bash); COMP_WORDS=(leat c); COMP_CWORD=1; _leat; echo \${COMPREPLY[*]}")
cases=$((cases + 1))
[ "$words" = "check convert cluster completion" ] || {
  echo "FAILED: bash completes to '$words'"
  failed=1
}

# recorded graphs
graphs=${LEAT_REFERENCE:-${LEAT_CONFIGURED_REFERENCE:-}}/graphs
if [ -d "$graphs" ]; then
  for file in "$graphs"/*.pb; do
    expect 0 "" check --allow-unknown "$file"
    expect 0 "" convert "$file" reference.json
    expect 0 "" convert reference.json reference.pb
    expect 0 "" convert reference.pb again.json
    same reference.json again.json
  done
else
  echo "no recorded graphs: LEAT_REFERENCE/graphs is missing"
fi

[ "$failed" -ne 0 ] || echo "$cases cases"
exit "$failed"
