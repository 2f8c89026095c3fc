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
if "$leat" show part.json | grep -q losses; then
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
expect 2 "end in .pb, .meta, .json or .dot" convert good.json never.txt
expect 3 "never/x.pb: cannot be written" convert good.json never/x.pb
cases=$((cases + 1))
if [ -e never.pb ] || [ -e never.pb.part ]; then
  echo "FAILED: a conversion that was refused left a file"
  failed=1
fi

# wrong use, unreadable files, help
expect 2 "subcommand is required" ""
expect 2 "" shwo good.json
expect 2 "file is required" show
expect 2 "can be read end in" show graph.txt
expect 3 "nothing.pb: cannot be opened" show nothing.pb
expect 3 "cut.pb: GraphDef is cut off" show cut.pb
expect 0 "Examples:" --help
for command in show check convert completion; do expect 0 "leat $command" $command --help; done
expect 0 "leat " --version
for shell in bash zsh fish; do expect 0 "convert" completion $shell; done
expect 2 "csh" completion csh
cases=$((cases + 1))
"$leat" completion bash | bash -n || failed=1
words=$(bash -c "source <('$leat' completion bash); COMP_WORDS=(leat c); COMP_CWORD=1; _leat; echo \${COMPREPLY[*]}")
cases=$((cases + 1))
[ "$words" = "check convert completion" ] || {
  echo "FAILED: bash completes to '$words'"
  failed=1
}

# recorded graphs
graphs=${LEAT_REFERENCE:-}/graphs
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
