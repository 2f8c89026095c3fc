#!/usr/bin/env bash
# whole.bash LEAT: what is asked of the command `leat` is done whole, or it says so: what a file has beside what is asked for refuses nothing,
# and nothing is lost in silence.
source "${BASH_SOURCE%/*}/expect.bash"

float() { printf '{"name": "%s", "op": "Const", "attr": {"dtype": {"type": "DT_FLOAT"}, "value": {"tensor": {"dtype": "DT_FLOAT", "tensor_shape": {}, "float_val": [%s]}}}}' "$1" "$2"; }
# graph NODE...: a file of these nodes
graph() {
  local nodes=$1
  shift
  for node in "$@"; do nodes="$nodes, $node"; done
  printf '{"node": [%s]}' "$nodes"
}

# every name has a file of its own
split='{"name": "s", "op": "Split", "input": ["axis", "x"], "attr": {"T": {"type": "DT_FLOAT"}, "num_split": {"i": "2"}}}'
axis='{"name": "axis", "op": "Const", "attr": {"dtype": {"type": "DT_INT32"}, "value": {"tensor": {"dtype": "DT_INT32", "tensor_shape": {}, "int_val": [0]}}}}'
pair='{"name": "x", "op": "Const", "attr": {"dtype": {"type": "DT_FLOAT"}, "value": {"tensor": {"dtype": "DT_FLOAT", "tensor_shape": {"dim": [{"size": "2"}]}, "float_val": [1, 2]}}}}'
graph "$axis" "$pair" "$split" "$(float s_1 3)" "$(float a/b 5)" "$(float a_b 6)" "$(float a.npy/b 7)" "$(float a 8)" \
  "$(float ... 9)" "$(float a//b 10)" "$(float a/ 11)" >names.json
all=(s:0 s:1 s s_1 a/b a_b a.npy/b a a:0 ... a//b a/)
expect 0 "" run names.json --fetch "$(IFS=, && echo "${all[*]}")" --format npy --out names
holds "each of ${#all[@]} results has a file" [ "$(find names -name '*.npy' -type f | wc -l)" -eq ${#all[@]} ]
last_bytes() { tail -c 4 "$1" | od -An -tf4 | tr -d ' '; }
holds "s:1 is 2" [ "$(last_bytes names/s%3A1.npy)" = 2 ]
holds "s_1 is 3" [ "$(last_bytes names/s_1.npy)" = 3 ]
holds "a.npy/b is 7" [ "$(last_bytes names/a%2Enpy/b.npy)" = 7 ]
holds "a is 8" [ "$(last_bytes names/a.npy)" = 8 ]
holds "... is 9" [ "$(last_bytes names/..%2E.npy)" = 9 ]
holds "a//b is 10" [ "$(last_bytes names/a%2F%2Fb.npy)" = 10 ]
expect 2 "fetched twice, and would be one file" run names.json --fetch s:1 --fetch s:1 --format npy --out names
graph '{"name": "nothing", "op": "NoOp"}' >nothing.json
expect 2 "--format npy: no tensor is fetched" run nothing.json --fetch nothing --format npy --out names
expect 0 '{"a": {"dtype": "float32", "shape": [], "data": 8}}' run names.json --fetch a,a --format json
graph '{"name": "a", "op": "VariableV2", "attr": {"dtype": {"type": "DT_FLOAT"}, "shape": {"shape": {}}}}' >variable.json
mkdir encoded && cp names/a%3A0.npy encoded
expect 0 "8" run variable.json --variables encoded --fetch a
expect 2 "a: has two values" run variable.json --variables names --fetch a

# a dtype that leat does not compute with, beside what is asked for
cast='{"name": "c", "op": "Cast", "input": ["one"], "attr": {"SrcT": {"type": "DT_FLOAT"}, "DstT": {"type": "DT_INT4"}}}'
negative='{"name": "n", "op": "Neg", "input": ["c"], "attr": {"T": {"type": "DT_INT4"}}}'
less='{"name": "l", "op": "Less", "input": ["c", "n"], "attr": {"T": {"type": "DT_INT4"}}}'
both='{"name": "b", "op": "LogicalNot", "input": ["l"]}'
half='{"name": "h", "op": "Const", "attr": {"dtype": {"type": "DT_INT4"}, "value": {"tensor": {"dtype": "DT_INT4", "tensor_shape": {"dim": [{"size": "2"}]}, "int_val": [1]}}}}'
bias='{"name": "hb", "op": "BiasAdd", "input": ["hm", "h"], "attr": {"T": {"type": "DT_INT4"}, "data_format": {"s": "TkhXQw=="}}}'
matrix='{"name": "hm", "op": "Placeholder", "attr": {"dtype": {"type": "DT_INT4"}, "shape": {"shape": {"dim": [{"size": "3"}, {"size": "2"}]}}}}'
small='{"name": "z", "op": "Const", "attr": {"dtype": {"type": "DT_INT4"}, "value": {"tensor": {"dtype": "DT_INT4", "tensor_shape": {}, "int_val": [1]}}}}'
quantized='{"name": "q", "op": "VariableV2", "attr": {"dtype": {"type": "DT_FLOAT8_E5M2"}, "shape": {"shape": {"dim": [{"size": "2"}]}}}}'
text='{"name": "t", "op": "Const", "attr": {"dtype": {"type": "DT_STRING"}, "value": {"tensor": {"dtype": "DT_STRING", "tensor_shape": {}, "string_val": ["aGk="]}}}}'
several='{"name": "u", "op": "OwnSplit", "input": ["one"]}'
taken='{"name": "v", "op": "Own", "input": ["u:2"]}'
graph "$(float one 1)" "$cast" "$negative" "$less" "$both" "$half" "$matrix" "$bias" "$small" "$quantized" "$text" "$several" "$taken" >types.json
expect 0 "" convert types.json types.pb
printf '{"meta_info_def": {"tags": ["serve"]}, "graph_def": %s, "signature_def": {
  "serving_default": {"outputs": {"y": {"name": "one:0", "dtype": "DT_FLOAT"}}},
  "other": {"outputs": {"y": {"name": "one:0", "dtype": "DT_INT32"}, "c": {"name": "c:0", "dtype": "DT_INT4"}}}}}' "$(cat types.json)" >types.meta.json
expect 0 "" convert types.meta.json types.meta
for file in types.json types.pb types.meta types.meta.json; do
  expect 0 $'one  float32 []\n  1' run $file --fetch one
  expect 0 "hi" run $file --fetch t
  expect 1 "the node 'c' (Cast): no kernel for dtype int4: runs compute with" check $file
  expect 1 "the node 'hb' (BiasAdd): no kernel for dtype int4" check $file
  expect 1 "operators that leat does not know: Own (1), OwnSplit (1)" check $file
  expect 1 "no kernel for dtype float8_e5m2" check $file
  for node in c h z q; do expect 1 "[[node '$node'" run $file --fetch $node; done
  expect 1 "[[node 'c' (Cast)]]" run $file --fetch n
  expect 1 "[[node 'h' (Const)]]" run $file --fetch hb
  expect 1 "no kernel for dtype int4: runs compute with" run $file --fetch b
  expect 1 "No kernel for the operator 'OwnSplit'" run $file --fetch u:2
  expect 2 "the operator 'OwnSplit' is not known: of its outputs a file tells those that other nodes take" run $file --fetch u:3
  expect 0 "" convert $file again.json
  expect 0 "" convert again.json again.pb
  expect 0 "" convert types.pb plain.json
done
expect 0 "no kernel for dtype float8_e5m2" check --allow-unknown types.pb
expect 0 "" convert types.pb back.json
expect 0 "" convert types.json there.json
same back.json there.json
expect 1 "signature 'other', 'y': is DT_INT32, but the graph has float32" check types.meta
expect 2 "signature 'other', 'y': is DT_INT32, but the graph has float32" run types.meta --signature other
expect 0 $'y  float32 []\n  1' run types.meta
expect 0 "--init: q is float8_e5m2, a dtype that no array has: it has no value" run types.json --init --fetch one
expect 2 "variables without a value: 'q'" run types.json --fetch one --save never

# complex numbers are pairs in what is fed, and in JSON
conjugate='{"name": "y", "op": "Conj", "input": ["x"], "attr": {"T": {"type": "DT_COMPLEX64"}}}'
given='{"name": "x", "op": "Placeholder", "attr": {"dtype": {"type": "DT_COMPLEX64"}, "shape": {"shape": {"dim": [{"size": "2"}]}}}}'
graph "$given" "$conjugate" >complex.json
expect 0 '{"y": {"dtype": "complex64", "shape": [2], "data": [[1, -2], [3, 4]]}}' run complex.json --feed 'x=[[1, 2], [3, -4]]' --fetch y --format json
expect 0 "[(1,-2), (3,4)]" run complex.json --feed 'x=[[1, 2], [3, -4]]' --fetch y
expect 2 "is no complex number" run complex.json --feed 'x=[1, 2, 3]' --fetch y

# the same in a SavedModel, whose saved_model.pb has a MetaGraphDef behind its version
saved_model() {
  local size
  size=$(stat -c %s "$1")
  printf '\x08\x01\x12'
  while [ "$size" -ge 128 ]; do
    printf "\\x$(printf %02x $((size % 128 + 128)))"
    size=$((size / 128))
  done
  printf "\\x$(printf %02x "$size")"
  cat "$1"
}
mkdir saved && saved_model types.meta >saved/saved_model.pb
expect 0 $'y  float32 []\n  1' run saved
expect 0 $'y  float32 []\n  1' run saved --tags serve
expect 0 "hi" run saved --fetch t
expect 1 "no kernel for dtype int4" run saved --fetch c
expect 1 "signature 'other', 'y': is DT_INT32, but the graph has float32" check saved
expect 1 "left out: there is no value for the variable 'q'" check saved
expect 3 "no graph has exactly the tags" run saved --tags train
expect 2 "--tags: types.pb has no tags" run types.pb --tags serve --fetch one
expect 2 "--tags: types.meta has the tags serve" show types.meta --tags train

mkdir text && echo 'saved_model_schema_version: 1' >text/saved_model.pbtxt
expect 3 "text/saved_model.pbtxt: a SavedModel without a graph" show text
expect 3 "text/saved_model.pbtxt: a SavedModel without a graph" run text --fetch y

# as TensorFlow 2 saves models: what is computed stands in functions
printf '{"meta_info_def": {"tags": ["serve"]}, "graph_def": %s, "signature_def": {
  "__saved_model_init_op": {"outputs": {"__saved_model_init_op": {"name": "NoOp", "dtype": "DT_INVALID"}}},
  "serving_default": {"inputs": {"x": {"name": "x:0", "dtype": "DT_FLOAT"}}, "outputs": {"y": {"name": "call:0", "dtype": "DT_FLOAT"}}}}}' \
  "$(graph '{"name": "NoOp", "op": "NoOp"}' "$(float x 1)" '{"name": "v", "op": "VarHandleOp", "attr": {"dtype": {"type": "DT_FLOAT"}, "shape": {"shape": {}}}}' \
    '{"name": "call", "op": "StatefulPartitionedCall", "input": ["x"]}')" >functions.meta.json
expect 0 "" convert functions.meta.json functions.meta
mkdir functions && saved_model functions.meta >functions/saved_model.pb
expect 0 "TensorFlow's SavedModel, 4 nodes" show functions
expect 1 "what it computes stands in functions, as TensorFlow 2 saves models" run functions
expect 1 "Attempting to use uninitialized value v" run functions --fetch v
expect 0 "" run functions --signature __saved_model_init_op
expect 1 "operators that leat does not know: StatefulPartitionedCall (1)" check functions
expect 2 "--init: nothing gives these variables a first value: v" run functions --init --fetch x

# nodes that write files do so within the folder that is named, or not at all
text() { printf '{"name": "%s", "op": "Const", "attr": {"dtype": {"type": "DT_STRING"}, "value": {"tensor": {"dtype": "DT_STRING", "tensor_shape": %s, "string_val": ["%s"]}}}}' "$@"; }
graph "$(float x 1)" "$(text in '{}' bQ==)" "$(text out '{}' Li4vbQ==)" "$(text names '{"dim": [{"size": 1}]}' dw==)" "$(text slices '{"dim": [{"size": 1}]}' '')" \
  '{"name": "save", "op": "SaveV2", "input": ["in", "names", "slices", "x"], "attr": {"dtypes": {"list": {"type": ["DT_FLOAT"]}}}}' \
  '{"name": "leave", "op": "SaveV2", "input": ["out", "names", "slices", "x"], "attr": {"dtypes": {"list": {"type": ["DT_FLOAT"]}}}}' >saving.json
mkdir allowed
expect 1 "name the folder that it may use" run saving.json --fetch save
expect 1 "is not within" run saving.json --files allowed --fetch leave
expect 0 "" run saving.json --files allowed --fetch save
[ -f allowed/m.index ] && [ ! -e m.index ] || { echo "--files: allowed/m.index was not written"; failed=1; }

# TensorFlow's first format of checkpoints: a float32 [1, 2], b int64 7; TensorFlow 2.21 wrote it (SaverDef.V1)
mkdir first
base64 -d >first/m-3 <<'end'
AAAiCiAKDwoBYRIEEgIIAhgBIgIKAAoJCgFiEgAYCSIAEgIIAQAIFQBhAAEBAYB/EhMKAWESAgoAGgoqCAAAgD8AAABAAQQMYgABABIKCgFiEgAaA1IBBwAAAAABAAAAAA
9XAJ4AAAAAAQAAAADA8qGwAAECAQBgAAAAAAEAAAAAYoM57WUIcg4AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAABX+4CLJHVH2w==
end
echo 'model_checkpoint_path: "m-3"' >first/checkpoint
graph '{"name": "a", "op": "VariableV2", "attr": {"dtype": {"type": "DT_FLOAT"}, "shape": {"shape": {"dim": [{"size": "2"}]}}}}' \
  '{"name": "k", "op": "VariableV2", "attr": {"dtype": {"type": "DT_FLOAT"}, "shape": {"shape": {}}}}' \
  '{"name": "h", "op": "VariableV2", "attr": {"dtype": {"type": "DT_HALF"}, "shape": {"shape": {}}}}' \
  '{"name": "y", "op": "Neg", "input": ["a"], "attr": {"T": {"type": "DT_FLOAT"}}}' >first.json
for path in first first/m-3; do
  expect 0 "checkpoint of step 3 in TensorFlow's first format (V1), 2 tensors, no graph" show $path
  expect 0 "b  int64 []" show $path
  expect 0 "0 nodes, 2 tensors, nothing found" check $path
  expect 2 "has no graph to be run: first/m-3.meta is missing" run $path --fetch a
  expect 0 "[-1, -2]" run first.json --variables $path --fetch y
done
sed 's/^/{"graph_def": /; s/$/}/' first.json >first.meta.json
expect 0 "" convert first.meta.json first/m-3.meta
for path in first first/m-3; do
  expect 0 "[-1, -2]" run $path --fetch y
  expect 1 "left out: the checkpoint has no tensor 'k'" run $path --fetch k
  expect 1 "left out: the checkpoint has no tensor 'k'" check $path
done
expect 0 "" convert --freeze first --fetch y first.json frozen.pb
expect 0 "[-1, -2]" run frozen.pb --fetch y
head -c 100 first/m-3 >cut && cp cut first/m-3
expect 3 "first/checkpoint: names first/m-3, of which there is m-3, m-3.meta: no checkpoint that is read" show first
rm first/m-3*
expect 3 "first/checkpoint: names first/m-3, of which there is no file" show first

# nothing is less than asked and says 0
if [ -e /dev/full ]; then
  full() {
    "$leat" "$@" >/dev/full 2>error
    [ $? -eq 3 ] && grep -q 'the standard output cannot be written' error
  }
  for arguments in "show names.json" "check names.json" "run names.json --fetch a" "run names.json --fetch a --format json" "--help" "run --help" \
    "completion bash" --version; do
    # shellcheck disable=SC2086
    holds "a full disk: leat $arguments" full $arguments
  done
fi
# What is no regular file is written to, never replaced; devices of the test's own, since a fault would replace the system's.
if mknod full.device c 1 7 2>/dev/null && mknod null.device c 1 3 2>/dev/null && (true >null.device) 2>/dev/null; then
  expect 3 "full.device: cannot be written: No space left on device" run names.json --fetch a --out full.device
  expect 0 "" run names.json --fetch a --out null.device
  holds "devices stay" [ -c full.device -a -c null.device ]
fi
mkfifo results
timeout 10 cat results >got &
expect 0 "" run names.json --fetch a --out results
wait $!
holds "a pipe stays, and has the results" grep -q 8 got
holds "a pipe stays" [ -p results ]
closed() {
  "$leat" "$@" >&- 2>error
  [ $? -eq 3 ] && grep -q 'the standard output cannot be written' error
}
holds "a closed output" closed run names.json --fetch a
holds "a closed output is not another file" closed show names.json
expect 2 "--out: y.npy is written with --format npy, not with --format text" run names.json --fetch a --out y.npy
expect 2 "--save: m.pb would be a folder" run variable.json --variables a=1 --save m.pb
expect 2 "excludes --dot" show names.json --dot --nodes
expect 2 "--opset: is for .onnx alone" convert --opset 18 names.json names.pb
expect 2 "--signature: is for .onnx alone" convert --signature s types.meta names.pb
expect 2 "--signature: the outputs are those of --fetch" convert --signature other --fetch one types.meta names.onnx
expect 0 "stay.pb: does not hold 2 signatures of the model" convert types.meta stay.pb
printf '{"name": "n", "op": "Neg", "input": ["x"], "attr": {"T": {"type": "DT_FLOAT"}}}' >neg
graph '{"name": "x", "op": "Placeholder", "attr": {"dtype": {"type": "DT_FLOAT"}, "shape": {"shape": {}}}}' "$(cat neg)" "$(float c 1)" >fed.json
expect 0 "--feed: x:0: no fetch needs it" run fed.json --feed x=2 --fetch c
expect 0 "--init: the graph has no variables" run fed.json --init --fetch c
mkdir other && cp names/a.npy other/elsewhere.npy
expect 2 "--variables: other: there are no values for the variables 'a'" run variable.json --variables other --fetch a
expect 2 "--variables: other: the graph has no variables" run fed.json --variables other --fetch c
expect 0 "" run variable.json --variables a=1 --save kept
expect 0 "kept.json: does not hold the values of 1 variable (--freeze makes them constants) of the model" convert kept kept.json
printf '{"graph_def": %s, "asset_file_def": [{"filename": "words"}], "collection_def": {"gone": {"node_list": {"value": ["gone:0"]}}}}' "$(cat variable.json)" >assets.json
expect 0 "--save: left out: the names of 1 asset files" run assets.json --variables a=1 --save kept
expect 0 "--save: left out: collection 'gone'" run assets.json --variables a=1 --save kept

# an option that is given empty, as a shell gives a variable that is not set
for option in --save --out --trace --signature --files --feed --variables --fetch; do
  expect 2 "$option: is given, and empty" run nothing.json "$option" "" --fetch nothing
done
for option in --prefix --freeze; do expect 2 "$option: is given, and empty" convert nothing.json never.pb "$option" ""; done
expect 2 "--times stands twice behind one --fetch" run nothing.json --fetch nothing --times 2 --times 3

# results that cannot be written are the file's fault; an operator that is not known is the graph's
expect 3 "a: never.txt/a.npy: cannot be written" run names.json --fetch a --format npy --out "$(touch never.txt && echo never.txt)"
expect 3 "a: /dev/null/a.npy: cannot be written" run names.json --fetch a --format npy --out /dev/null
graph '{"name": "own", "op": "OwnOperator"}' >own.json
expect 1 "No kernel for the operator 'OwnOperator'" run own.json --fetch own --format npy --out names

# bytes that are no text come out of JSON and go into it as they are
graph '{"name": "bytes", "op": "Const", "attr": {"dtype": {"type": "DT_STRING"}, "value": {"tensor": {"dtype": "DT_STRING", "tensor_shape": {"dim": [{"size": "2"}]}, "string_val": ["/wA=", "aGk="]}}}}' \
  '{"name": "text", "op": "Placeholder", "attr": {"dtype": {"type": "DT_STRING"}, "shape": {"shape": {"unknown_rank": true}}}}' \
  '{"name": "same", "op": "Identity", "input": ["text"], "attr": {"T": {"type": "DT_STRING"}}}' >bytes.json
expect 0 '"data": [{"b64": "/wA="}, "hi"]}}' run bytes.json --fetch bytes --format json
expect 0 '"data": [{"b64": "/wA="}, "hi"]}}' run bytes.json --feed 'text=[{"b64": "/wA="}, "hi"]' --fetch same --format json
expect 0 '"data": {"b64": "/w=="}}}' run bytes.json --feed 'text={"b64": "/w=="}' --fetch same --format json
expect 2 "a text or a list of texts is wanted" run bytes.json --feed 'text={"b64": 1}' --fetch same

# names in the messages of collections: those of variables, branches, loops and queues
entry() { printf '%b' "$1" | base64 -w 0; }
variable='{"name": "w", "op": "VariableV2", "attr": {"dtype": {"type": "DT_FLOAT"}, "shape": {"shape": {}}}}'
assign='{"name": "w/Assign", "op": "Assign", "input": ["w", "a"], "attr": {"T": {"type": "DT_FLOAT"}}}'
read='{"name": "w/read", "op": "Identity", "input": ["w"], "attr": {"T": {"type": "DT_FLOAT"}}}'
printf '{"graph_def": %s, "collection_def": {"variables": {"bytes_list": {"value": ["%s"]}},
  "while_context": {"bytes_list": {"value": ["%s"]}}, "own": {"bytes_list": {"value": ["%s"]}}}}' \
  "$(graph "$variable" "$(float a 1)" "$(float b 2)" "$assign" "$read")" "$(entry '\n\3w:0\022\010w/Assign\032\010w/read:0')" \
  "$(entry '\n\004loop\020\012\052\001a\112\011\n\001b\022\004\n\002w:')" "$(entry '\n\3w:0')" >entries.json
expect 0 "" convert --prefix t entries.json renamed.json
holds "a variable's names are renamed" grep -qF "$(entry '\n\5t/w:0\022\012t/w/Assign\032\012t/w/read:0')" renamed.json
holds "a loop's names are renamed" grep -qF "$(entry '\n\006t/loop\020\012\052\003t/a\112\015\n\003t/b\022\006\n\004t/w:')" renamed.json
holds "bytes of other kinds stay" grep -qF "$(entry '\n\3w:0')" renamed.json
expect 0 "" convert renamed.json renamed.meta
expect 0 "nothing found" check renamed.meta
expect 0 $'t/w  float32 []\n  1' run renamed.meta --init --fetch t/w
expect 0 "" convert --fetch w/read entries.json part.meta
expect 0 "part.meta: 2 nodes, nothing found" check part.meta

# what TensorFlow's loader runs when it loads a model: here, what fills a table
keys='{"name": "keys", "op": "Const", "attr": {"dtype": {"type": "DT_STRING"}, "value": {"tensor": {"dtype": "DT_STRING", "tensor_shape": {"dim": [{"size": "1"}]}, "string_val": ["aw=="]}}}}'
values='{"name": "values", "op": "Const", "attr": {"dtype": {"type": "DT_INT64"}, "value": {"tensor": {"dtype": "DT_INT64", "tensor_shape": {"dim": [{"size": "1"}]}, "int64_val": ["7"]}}}}'
other='{"name": "other", "op": "Const", "attr": {"dtype": {"type": "DT_INT64"}, "value": {"tensor": {"dtype": "DT_INT64", "tensor_shape": {}, "int64_val": ["-1"]}}}}'
table='{"name": "table", "op": "HashTableV2", "attr": {"key_dtype": {"type": "DT_STRING"}, "value_dtype": {"type": "DT_INT64"}}}'
fill='{"name": "fill", "op": "InitializeTableV2", "input": ["table", "keys", "values"], "attr": {"Tkey": {"type": "DT_STRING"}, "Tval": {"type": "DT_INT64"}}}'
find='{"name": "found", "op": "LookupTableFindV2", "input": ["table", "keys", "other"], "attr": {"Tin": {"type": "DT_STRING"}, "Tout": {"type": "DT_INT64"}}}'
first='"__saved_model_init_op": {"outputs": {"__saved_model_init_op": {"name": "fill", "dtype": "DT_INVALID"}}}'
outputs='"serving_default": {"outputs": {"y": {"name": "found:0", "dtype": "DT_INT64"}}}'
whole=$(graph "$keys" "$values" "$other" "$table" "$fill" "$find")
printf '{"meta_info_def": {"tags": ["serve"]}, "graph_def": %s, "signature_def": {%s, %s}}' "$whole" "$first" "$outputs" >table.meta.json
expect 0 "" convert table.meta.json table.meta
mkdir table && saved_model table.meta >table/saved_model.pb
expect 0 $'y  int64 [1]\n  [7]' run table
printf '{"meta_info_def": {"tags": ["serve"]}, "graph_def": %s, "collection_def": {"saved_model_main_op": {"node_list": {"value": ["fill"]}}}, "signature_def": {%s}}' \
  "$whole" "$outputs" >table.meta.json
expect 0 "" convert table.meta.json table.meta
saved_model table.meta >table/saved_model.pb
expect 0 $'y  int64 [1]\n  [7]' run table

# a variable that a function reads, as models of TensorFlow 2 have it, becomes a constant in the place of its call
cat >function.pbtxt <<'END'
node { name: "w" op: "VarHandleOp" attr { key: "dtype" value { type: DT_FLOAT } } attr { key: "shape" value { shape { } } }
  attr { key: "shared_name" value { s: "w" } } attr { key: "container" value { s: "" } } }
node { name: "x" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } } attr { key: "shape" value { shape { } } } }
node { name: "call" op: "StatefulPartitionedCall" input: "x" input: "w" attr { key: "f" value { func { name: "scale" } } }
  attr { key: "Tin" value { list { type: [DT_FLOAT, DT_RESOURCE] } } } attr { key: "Tout" value { list { type: DT_FLOAT } } } }
library { function {
  signature { name: "scale" input_arg { name: "x" type: DT_FLOAT } input_arg { name: "w" type: DT_RESOURCE }
    output_arg { name: "y" type: DT_FLOAT } is_stateful: true }
  node_def { name: "read" op: "ReadVariableOp" input: "w" attr { key: "dtype" value { type: DT_FLOAT } } }
  node_def { name: "product" op: "Mul" input: "x" input: "read:value:0" attr { key: "T" value { type: DT_FLOAT } } }
  ret { key: "y" value: "product:z:0" } } }
END
expect 0 "" convert function.pbtxt frozen.pb --freeze w=3 --fetch call
expect 0 $'call  float32 []\n  6' run frozen.pb --feed x=2 --fetch call

finish
