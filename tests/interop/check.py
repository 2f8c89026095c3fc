"""Graphs that leat wrote, imported and run by TensorFlow, and graphs that TensorFlow writes, for leat to read.

check.py ours FOLDER [--reference FOLDER] [--leat COMMAND] [--verbose]
    every NAME.pb of the folder: equal to NAME.json, imported with equal nodes, types, inputs, attributes, devices, dtypes and
    shapes, and run as NAME.plan.json says (recorded graphs: as their transcript says). What was run and what came out goes to
    NAME.runs.json. With --leat, graphs with variables are also frozen by that command, imported and run, and must give the same
    results.
check.py theirs FOLDER --count N --seed S
    writes graphs by chance, each as .pb and .json, with the shapes that TensorFlow infers in NAME.expected.json, and runs them:
    NAME.runs.json
check.py compare FOLDER [--verbose]
    holds what leat made of them (NAME.pb.tensors.json, NAME.json.tensors.json) against that
check.py saved FOLDER --leat COMMAND
    a saved model: graph.json imported by `import_meta_graph`, its variables given the saved values, every signature run, and again
    by that command, with the same results
check.py results FOLDER [--verbose]
    holds what leat's sessions gave in the same runs (NAME.leat.json, of interop_run) against NAME.runs.json
check.py self-test FOLDER
    changes a graph of leat, and results of one, for the worse in several ways, each of which `ours` and `results` must find

One line for each graph with --verbose, a summary, and exit code 1 where anything failed.
"""

import argparse
import collections
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")

import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402
from google.protobuf import json_format  # noqa: E402
from tensorflow.core.framework import types_pb2  # noqa: E402

import runs  # noqa: E402, beside this file

v1 = tf.compat.v1
DTYPES = {
    "DT_FLOAT": np.float32, "DT_DOUBLE": np.float64, "DT_INT32": np.int32, "DT_INT64": np.int64,
    "DT_UINT8": np.uint8, "DT_BOOL": np.bool_,
    "float32": np.float32, "float64": np.float64, "int32": np.int32, "int64": np.int64, "uint8": np.uint8, "bool": np.bool_,
}

DATA_TYPES = {number: name for name, number in types_pb2.DataType.items()}


class Failure(Exception):
    """Something that ought to be equal is not."""


def same_message(a, b):
    """Equal, NaN counting as itself."""
    return a == b or a.SerializeToString(deterministic=True) == b.SerializeToString(deterministic=True)


def expect(condition, text):
    if not condition:
        raise Failure(text)


# ---- what a graph is ---------------------------------------------------------------------------------------------------


def canonical_device(text):
    return v1.DeviceSpec.from_string(text).to_string() if text else ""


def full_name(text):
    return text if text.startswith("^") or ":" in text else text + ":0"


def compare_nodes(ours, graph):
    """Every node of the file against the operation that TensorFlow made of it."""
    theirs = {node.name: node for node in graph.as_graph_def().node}
    devices = {node.name: node.device for node in ours.node}
    expect(len(theirs) == len(ours.node), f"{len(ours.node)} nodes became {len(theirs)}")
    for node in ours.node:
        op = graph.get_operation_by_name(node.name)
        expect(op.type == node.op, f"{node.name}: type {node.op} became {op.type}")
        inputs = [t.name for t in op.inputs] + sorted("^" + c.name for c in op.control_inputs)
        wanted = [full_name(i) for i in node.input if not i.startswith("^")]
        wanted += sorted({i for i in node.input if i.startswith("^")})
        expect(inputs == wanted, f"{node.name}: inputs {wanted} became {inputs}")
        # import_graph_def gives what is colocated the device of the first operation of its groups that has one, whatever its own
        with_it = [c.decode()[5:] for c in node.attr["_class"].list.s if c.startswith(b"loc:@")] if "_class" in node.attr else []
        places = {canonical_device(node.device)} | {canonical_device(devices.get(c, "")) for c in with_it if not node.device or len(with_it) > 1}
        expect(canonical_device(op.device) in places, f"{node.name}: device {node.device!r} became {op.device!r}")
        definition = op.op_def
        defaults = {a.name: a for a in definition.attr}
        for key, value in node.attr.items():
            expect(key in op.node_def.attr, f"{node.name}: the attribute {key} is gone")
            got = op.node_def.attr[key]
            expect(got == value or got.SerializeToString(deterministic=True) == value.SerializeToString(deterministic=True),
                   f"{node.name}: attribute {key} = {value} became {got}")
            expect(key.startswith("_") or key in defaults, f"{node.name}: {node.op} has no attribute {key}")
        for key in op.node_def.attr:
            if key not in node.attr:
                expect(key in defaults and defaults[key].HasField("default_value"), f"{node.name}: lacks the attribute {key}")


class ShapeCount:
    """How the two inferences compare, tensor by tensor."""

    def __init__(self):
        self.equal = self.less = self.more = 0
        self.less_by_operator = collections.Counter()
        self.more_by_operator = collections.Counter()

    def add(self, other):
        self.equal += other.equal
        self.less += other.less
        self.more += other.more
        self.less_by_operator += other.less_by_operator
        self.more_by_operator += other.more_by_operator


def sizes_of(shape):
    return None if shape.rank is None else [-1 if d is None else d for d in shape.as_list()]


def compare_tensors(tensors, expected, count, operator_of):
    """Dtypes are equal, shapes do not contradict each other; both lists are name -> [dtype, sizes]."""
    for name, (dtype, sizes) in tensors.items():
        if name not in expected and dtype == "DT_INVALID":  # of an unknown operator, which may have no results
            continue
        expect(name in expected, f"{name}: TensorFlow has no such tensor")
        their_dtype, theirs = expected[name]
        if operator_of(name) == "VarHandleOp" and their_dtype == "DT_RESOURCE":
            continue  # the variable itself in leat, the handle, a scalar, in TensorFlow
        expect(dtype == their_dtype or dtype == "DT_INVALID", f"{name}: dtype {dtype}, TensorFlow's {their_dtype}")
        clash = f"{name} ({operator_of(name)}): shape {sizes}, TensorFlow's {theirs}"
        if sizes is not None and theirs is not None:
            expect(len(sizes) == len(theirs), clash)
            expect(all(a == b or a < 0 or b < 0 for a, b in zip(sizes, theirs)), clash)
        if sizes == theirs and dtype == their_dtype:
            count.equal += 1
        elif sizes is None or dtype == "DT_INVALID" or (theirs is not None and any(a < 0 <= b for a, b in zip(sizes, theirs))):
            count.less += 1
            count.less_by_operator[operator_of(name)] += 1
        else:
            count.more += 1
            count.more_by_operator[operator_of(name)] += 1


def named_tensors_in(graph):
    return {t.name: [DATA_TYPES[t.dtype.base_dtype.as_datatype_enum], sizes_of(t.shape)] for op in graph.get_operations() for t in op.outputs}


# ---- runs --------------------------------------------------------------------------------------------------------------


def to_array(tensor):
    dtype = DTYPES.get(tensor["dtype"])
    if dtype is None:  # texts
        return np.array([v.encode() if isinstance(v, str) else v for v in tensor["data"]], dtype=object).reshape(tensor["shape"])
    values = tensor["values"] if "values" in tensor else [float(v) if isinstance(v, str) else v for v in tensor["data"]]
    return np.array(values, dtype=dtype).reshape(tensor["shape"])


def on_this_machine(definition):
    """The same graph without devices, which this machine does not have."""
    copy = v1.GraphDef()
    copy.CopyFrom(definition)
    for node in copy.node:
        node.device = ""
    return copy


def import_def(definition):
    graph = tf.Graph()
    with graph.as_default():
        tf.import_graph_def(definition, name="")
    return graph


def session_of(graph):
    config = v1.ConfigProto(intra_op_parallelism_threads=1, inter_op_parallelism_threads=1)
    config.graph_options.rewrite_options.disable_meta_optimizer = True
    # or nodes of which only the shape is asked, and with them their errors, would be folded away
    config.graph_options.optimizer_options.opt_level = v1.OptimizerOptions.L0
    return v1.Session(graph=graph, config=config)


def element(graph, name):
    return graph.as_graph_element(name)


def check_results(names, results, tensors):
    for name, result in zip(names, results):
        if result is None:
            continue
        array = np.asarray(result)
        if array.dtype.kind == "f":
            expect(np.all(np.isfinite(array)), f"{name}: is not finite: {array.ravel()[:8]}")
        if tensors and name in tensors:
            sizes = tensors[name][1]
            if sizes is not None:
                expect(len(sizes) == array.ndim and all(a in (-1, b) for a, b in zip(sizes, array.shape)),
                       f"{name}: has shape {list(array.shape)} when it runs, inferred was {sizes}")


def run_plan(definition, plan):
    """All runs in one session. Gives back their record, and the variables' values after the first run."""
    graph = import_def(on_this_machine(definition))
    variables = {}
    with session_of(graph) as session:
        recorder = runs.Recorder(graph, session)
        feeds = {name: to_array(f) for name, f in plan["feeds"].items()}
        for k, fetches in enumerate(plan["runs"]):
            check_results(fetches, recorder.run(fetches, feeds), plan["tensors"])
            if k == 0:
                for op in graph.get_operations():
                    if op.type == "VariableV2":
                        variables[op.name] = session.run(op.outputs[0])
    return recorder, variables


def run_transcript(definition, transcript):
    """The recorded runs over our copy of the recorded graph: the recorded results, and classes of error."""
    misplaced = any("assign a device" in run.get("error", {}).get("message", "") for run in transcript["runs"])
    graph = import_def(definition if misplaced else on_this_machine(definition))
    with session_of(graph) as session:
        recorder = runs.Recorder(graph, session, misplaced)
        for k, run in enumerate(transcript["runs"]):
            where = f"run {k} of {run['fetches']}"
            unordered = run.get("unordered", False)
            try:
                for _ in range(run.get("repeat", 1)):
                    results = recorder.run(run["fetches"], {n: to_array(f) for n, f in run["feeds"].items()}, not unordered)
            except Exception as e:  # noqa: BLE001
                expect("error" in run, f"{where}: {type(e).__name__}: {str(e)[:300]}")
                expect(type(e).__name__ == run["error"]["type"], f"{where}: {type(e).__name__} instead of {run['error']['type']}")
                continue
            expect("error" not in run, f"{where}: works, but was recorded to fail")
            if unordered:
                continue
            for name, result, recorded in zip(run["fetches"], results, run["results"]):
                if recorded is None or "summary" in recorded or result is None:
                    continue
                wanted = to_array(recorded)
                array = np.asarray(result)
                expect(list(array.shape) == list(wanted.shape), f"{where}, {name}: shape {array.shape}, recorded {wanted.shape}")
                if array.dtype.kind in "fiub":
                    expect(np.allclose(array, wanted, rtol=1e-4, atol=1e-5, equal_nan=True), f"{where}, {name}: {array.ravel()[:4]}, recorded {wanted.ravel()[:4]}")
    return recorder


def readers(definition, fetches):
    """Those fetches that need no node that writes a variable."""
    nodes = {n.name: n for n in definition.node}
    known = {}

    def writes(name):
        if name not in known:
            known[name] = False
            open_nodes = [name]
            seen = {name}
            while open_nodes:
                node = nodes[open_nodes.pop()]
                if node.op in ("Assign", "AssignAdd", "AssignSub"):
                    known[name] = True
                    break
                for i in node.input:
                    to = i.lstrip("^").split(":")[0]
                    if to not in seen:
                        seen.add(to)
                        open_nodes.append(to)
        return known[name]

    return [f for f in fetches if not writes(f.split(":")[0])]


def check_frozen(command, path, plan, results, variables, scratch):
    """Variables become constants: the second run, which writes none, gives the same."""
    fetches = readers(v1.GraphDef.FromString(path.read_bytes()), plan["runs"][1])
    if not fetches:
        return "nothing to freeze"
    folder = pathlib.Path(scratch) / "variables"
    for name, array in variables.items():
        to = folder / (name + ".npy")
        to.parent.mkdir(parents=True, exist_ok=True)
        np.save(to, array)
    frozen = pathlib.Path(scratch) / "frozen.pb"
    done = subprocess.run([command, "convert", str(path), str(frozen), "--freeze", str(folder)]
                          + [w for f in fetches for w in ("--fetch", f)], capture_output=True, text=True, check=False)
    expect(done.returncode == 0, f"leat convert --freeze: {done.stderr.strip()}")
    definition = v1.GraphDef.FromString(frozen.read_bytes())
    left = [n.op for n in definition.node if n.op in ("VariableV2", "Assign")]
    expect(not left, f"frozen, but {left} are left")
    graph = import_def(on_this_machine(definition))
    with session_of(graph) as session:
        feeds = {n: to_array(f) for n, f in plan["feeds"].items() if n.split(":")[0] in {o.name for o in graph.get_operations()}}
        again = session.run([element(graph, f) for f in fetches], feeds)
    if plan["repeatable"]:
        before = dict(zip(plan["runs"][1], results[1]))
        for name, a in zip(fetches, again):
            b = before[name]
            if b is not None:
                wanted = runs.from_plain(b)
                # not to the last bit: AddN sums in another order where it may write over an operand
                expect(np.allclose(np.asarray(a), wanted, rtol=1e-5, atol=1e-6), f"frozen, {name} is {np.ravel(a)[:4]}, not {wanted.ravel()[:4]}")
    return "frozen" if plan["repeatable"] else "frozen, random"


# ---- the three commands ------------------------------------------------------------------------------------------------


def check_graph(path, options, totals, shapes, operators):
    """Everything about one graph that leat wrote."""
    folder, name = path.parent, path.stem
    plan_path = folder / (name + ".plan.json")
    plan = json.loads(plan_path.read_text()) if plan_path.exists() else {"feeds": {}, "runs": [], "repeatable": False, "tensors": None}
    definition = v1.GraphDef.FromString(path.read_bytes())
    text = json_format.Parse((folder / (name + ".json")).read_text(), v1.GraphDef())
    expect(same_message(text, definition), "the .json is another graph than the .pb")
    for node in definition.node:
        operators[node.op] += 1
    totals["nodes"] += len(definition.node)
    graph = import_def(definition)
    compare_nodes(definition, graph)
    types = {n.name: n.op for n in definition.node}
    if plan["tensors"] is not None:
        expect(set(t.rsplit(":", 1)[0] for t in plan["tensors"]) <= set(types), "the plan speaks of other nodes")
        compare_tensors(plan["tensors"], named_tensors_in(graph), shapes, lambda t: types[t.rsplit(":", 1)[0]])
    if name.startswith("reference_") and options.reference:
        reference = pathlib.Path(options.reference)
        recorded = json.loads((reference / (name[len("reference_"):] + ".json")).read_text())
        original = v1.GraphDef.FromString((reference / recorded["pb"]).read_bytes())
        for node in original.node:  # what files of ours do not keep
            node.ClearField("experimental_type")
            node.ClearField("experimental_debug_info")
        expect(same_message(original, definition), "is not the recorded graph, node for node")
        recorder = run_transcript(definition, recorded)
        recorder.save(folder / (name + ".runs.json"))
        totals["runs"] += len(recorded["runs"])
    elif plan["runs"]:
        recorder, variables = run_plan(definition, plan)
        recorder.save(folder / (name + ".runs.json"))
        results = [run["results"] for run in recorder.document["runs"]]
        totals["runs"] += len(results)
        if options.leat and variables:
            with tempfile.TemporaryDirectory() as scratch:
                totals[check_frozen(options.leat, path, plan, results, variables, scratch)] += 1
    totals["graphs"] += 1
    totals[name.split("_")[0]] += 1


def check_ours(options):
    totals = collections.Counter()
    shapes = ShapeCount()
    operators = collections.Counter()
    failed = 0
    for path in sorted(pathlib.Path(options.folder).glob("*.pb")):
        count = ShapeCount()
        note = ""
        try:
            check_graph(path, options, totals, count, operators)
        except Exception as e:  # noqa: BLE001
            failed += 1
            note = f"FAILED {type(e).__name__}: {str(e)[:700]}"
        shapes.add(count)
        if options.verbose or note:
            print(f"{path.stem:40} {note or 'ok'}  {count.equal} shapes equal, {count.less} less known, {count.more} more", flush=True)
    kinds = ", ".join(f"{n} {k}" for k, n in sorted(totals.items()) if k in ("typed", "random", "reference", "example"))
    print(f"{totals['graphs']} graphs of leat ({kinds}), {totals['nodes']} nodes of {len(operators)} operators: imported by TensorFlow {tf.__version__}"
          f" with equal nodes, {totals['runs']} runs; {failed} failed")
    print_shapes(shapes)
    if options.leat:
        print(f"{totals['frozen']} graphs frozen by leat convert, imported and run with the results of before; "
              f"{totals['frozen, random']} more that hold random numbers, imported and run")
    return 1 if failed or totals["graphs"] == 0 else 0


def read_safetensors(path):
    data = path.read_bytes()
    length = int.from_bytes(data[:8], "little")
    header = json.loads(data[8:8 + length])
    dtypes = {"F32": np.float32, "F64": np.float64, "I32": np.int32, "I64": np.int64, "U8": np.uint8, "BOOL": np.bool_}
    arrays = {}
    for name, entry in header.items():
        if name != "__metadata__":
            begin, end = (8 + length + o for o in entry["data_offsets"])
            arrays[name] = np.frombuffer(data[begin:end], dtypes[entry["dtype"]]).reshape(entry["shape"])
    return arrays


def check_saved(options):
    folder = pathlib.Path(options.folder)
    meta = json_format.Parse((folder / "graph.json").read_text(), v1.MetaGraphDef())
    arrays = read_safetensors(folder / "variables.safetensors")
    runs = 0
    with tf.Graph().as_default() as graph:
        v1.train.import_meta_graph(meta)
        variables = {v.op.name: v for v in v1.global_variables()}
        expect(set(variables) == set(arrays), f"variables {sorted(variables)}, arrays {sorted(arrays)}")
        with session_of(graph) as session, tempfile.TemporaryDirectory() as scratch:
            for name, array in arrays.items():
                variables[name].load(array, session)
            for name, signature in meta.signature_def.items():
                random = np.random.default_rng(1)
                feeds = {k: random.uniform(0, 2, [3 if d.size < 0 else d.size for d in t.tensor_shape.dim]).astype(DTYPES[DATA_TYPES[t.dtype]])
                         for k, t in signature.inputs.items()}
                words = []
                for k, array in feeds.items():
                    file = pathlib.Path(scratch) / (k + ".npy")
                    np.save(file, array)
                    words += ["--feed", f"{k}={file}"]
                wanted = session.run({k: t.name for k, t in signature.outputs.items()}, {signature.inputs[k].name: a for k, a in feeds.items()})
                ran = subprocess.run([options.leat, "run", folder, "--signature", name, "--format", "json", *words], capture_output=True, text=True)
                expect(ran.returncode == 0, f"leat run: {ran.stderr}")
                got = json.loads(ran.stdout)
                expect(set(got) == set(wanted), f"{name}: outputs {sorted(got)}")
                for k, array in wanted.items():
                    ours = np.array(got[k]["data"], dtype=got[k]["dtype"])
                    expect(ours.shape == array.shape and np.allclose(ours, array, rtol=1e-5, atol=1e-4), f"{name}, {k}: {ours} is not {array}")
                runs += 1
    print(f"a saved model of {len(meta.graph_def.node)} nodes and {len(arrays)} variables: {runs} signatures run by both with equal results")
    return 0


def self_test(options):
    """Whether wrong graphs are found out: each change of a graph that is right must fail."""
    folder = pathlib.Path(options.folder)

    def feeds_of(plan):
        return [n for n, f in plan["feeds"].items() if f["dtype"] == "DT_FLOAT" and f["values"]]

    # One that has what the changes below change.
    name = next(p.stem for p in sorted(folder.glob("random_*.pb"))
                if any(n.op == "AddV2" for n in v1.GraphDef.FromString(p.read_bytes()).node)
                and feeds_of(json.loads(p.with_suffix(".plan.json").read_text())))

    def in_both(change):
        def apply(definition, plan):
            change(definition)
            return definition, plan, definition
        return apply

    def adds(definition):
        return next(n for n in definition.node if n.op == "AddV2")

    def strange_attribute(definition):
        adds(definition).attr["surprise"].b = True

    def wrong_type(definition):
        adds(definition).attr["T"].type = types_pb2.DT_INT8

    def no_type(definition):
        del adds(definition).attr["T"]

    def strange_operator(definition):
        adds(definition).op = "AddV77"

    def no_input(definition):
        del adds(definition).input[1:]

    def only_json(definition, plan):
        other = v1.GraphDef()
        other.CopyFrom(definition)
        adds(other).device = "/cpu:0"
        return definition, plan, other

    def in_plan(change):
        def apply(definition, plan):
            change(definition, plan)
            return definition, plan, definition
        return apply

    def wrong_shape(definition, plan):
        plan["tensors"][adds(definition).name + ":0"][1] = [7, 7, 7, 7, 7]

    def wrong_dtype(definition, plan):
        plan["tensors"][adds(definition).name + ":0"][0] = "DT_UINT8"

    def infinite(definition, plan):
        feed = feeds_of(plan)[0]
        plan["feeds"][feed]["values"][0] = float("inf")
        plan["runs"] = [plan["runs"][0], [feed]]

    changes = {
        "an attribute that the operator does not have": in_both(strange_attribute),
        "another dtype": in_both(wrong_type),
        "no dtype": in_both(no_type),
        "an operator that does not exist": in_both(strange_operator),
        "an input less": in_both(no_input),
        "JSON that is another graph": only_json,
        "a shape that is not TensorFlow's": in_plan(wrong_shape),
        "a dtype that is not TensorFlow's": in_plan(wrong_dtype),
        "a result that is infinite": in_plan(infinite),
        None: lambda definition, plan: (definition, plan, definition),
    }
    failed = 0
    for what, change in changes.items():
        definition = v1.GraphDef.FromString((folder / (name + ".pb")).read_bytes())
        plan = json.loads((folder / (name + ".plan.json")).read_text())
        with tempfile.TemporaryDirectory() as scratch:
            to = pathlib.Path(scratch)
            definition, plan, other = change(definition, plan)
            (to / (name + ".pb")).write_bytes(definition.SerializeToString())
            (to / (name + ".json")).write_text(json_format.MessageToJson(other, preserving_proto_field_name=True))
            (to / (name + ".plan.json")).write_text(json.dumps(plan))
            found = None
            try:
                check_graph(to / (name + ".pb"), options, collections.Counter(), ShapeCount(), collections.Counter())
            except Exception as e:  # noqa: BLE001
                found = e
        if (found is None) != (what is None):
            failed += 1
            print(f"self-test: {what or 'nothing wrong'}: {found or 'was not found out'}")
    wrong, missed = self_test_results(folder)
    print(f"self-test: {len(changes) - 1} graphs and {wrong} results made wrong, {failed + missed} checks failed")
    return 1 if failed + missed else 0


def self_test_results(folder):
    """Whether wrong results of leat are found out: how many were tried, and how many checks failed."""
    for path in sorted(folder.glob("random_*.leat.json")):
        name = path.name[: -len(".leat.json")]
        leat = json.loads(path.read_text())
        definition = v1.GraphDef.FromString((folder / (name + ".pb")).read_bytes())
        document = json.loads((folder / (name + ".runs.json")).read_text())
        depends = runs.Dependence(definition)
        at = next(((k, i) for k, run in enumerate(document["runs"]) for i, (f, r) in enumerate(zip(run["fetches"], run["results"]))
                   if r and r["dtype"] == "float32" and r["shape"] and r["data"] and not depends.is_drawn(f)), None)
        if at:
            break
    else:
        return 0, 1

    def to_result(change):  # what is wrong, is so whatever the last bits of what goes in
        def apply(document):
            for played in [document["plain"]] + document["nudged"]:
                if at[0] < len(played["runs"]) and "results" in played["runs"][at[0]]:
                    change(played["runs"][at[0]]["results"][at[1]])
        return apply

    def number(r):
        last = r["data"][-1]
        r["data"][-1] = last + math.copysign(0.001 * abs(last) + 0.001, last)

    def strange(r):
        r["data"][0] = "NaN"

    def shape(r):
        r["shape"] = r["shape"] + [1]

    def dtype(r):
        r["dtype"] = "float64"

    changes = [to_result(number), to_result(strange), to_result(shape), to_result(dtype),
               lambda d: d["fused"]["runs"][at[0]].update(error={"type": "InvalidArgumentError", "message": ""}),
               lambda d: d["plain"]["runs"].pop()]
    missed = bool(runs.compare(definition, document, leat, runs.Counts()))
    for k, change in enumerate(changes):
        copy = json.loads(json.dumps(leat))
        change(copy)
        if not runs.compare(definition, document, copy, runs.Counts()):
            missed += 1
            print(f"self-test: the wrong result {k} was not found out")
    return len(changes), missed


def check_results_of_leat(options):
    """What leat's sessions gave, against what TensorFlow's did."""
    folder = pathlib.Path(options.folder)
    counts = runs.Counts()
    failed = 0
    for path in sorted(folder.glob("*.runs.json")):
        name = path.name[: -len(".runs.json")]
        definition = v1.GraphDef.FromString((folder / (name + ".pb")).read_bytes())
        document = json.loads(path.read_text())
        made = folder / (name + ".leat.json")
        found = [("", 0, "", "was not run")]
        if made.exists():
            found = runs.compare(definition, document, json.loads(made.read_text()), counts)
        failed += bool(found)
        if options.verbose or found:
            print(f"{name:40} {'FAILED' if found else 'ok'}  {len(document['runs'])} runs")
        for way, k, fetch, text in found[: None if options.verbose else 6]:
            print(f"    run {k}, {way}: {fetch}: {text}")
    print(f"{counts.graphs} graphs of {len(counts.operators)} operators run by both: {counts.runs} runs of leat ({counts.fused} of them fused programs), "
          f"{counts.values} results of {counts.elements} elements compared, {counts.exact} of them equal to the last bit; {counts.errors} errors of the "
          f"same class; {counts.drawn} results that follow from random numbers compared in dtype and shape, {counts.unordered} runs without an order "
          f"and {counts.left_out} without a kernel left out, and {counts.after_errors} results of variables that a refused run may have written, "
          f"and {counts.rounded} elements that follow from rounding; "
          f"{failed} graphs failed")
    return 1 if failed or counts.graphs == 0 else 0


def print_shapes(shapes):
    print(f"shapes: {shapes.equal} equal, {shapes.less} less known to leat, {shapes.more} better known; one that contradicts is a failure")
    for title, counter in (("less known", shapes.less_by_operator), ("better known", shapes.more_by_operator)):
        if counter:
            print(f"  {title}, by operator: " + ", ".join(f"{op} {n}" for op, n in counter.most_common(40)))


def write_theirs(options):
    import random_graphs  # beside this file

    folder = pathlib.Path(options.folder)
    folder.mkdir(parents=True, exist_ok=True)
    used = collections.Counter()
    left_out = collections.Counter()
    count = refused = 0
    for seed in range(options.seed, options.seed + options.count):
        made = random_graphs.make(seed)
        graph = made.graph
        definition = graph.as_graph_def()
        for node in definition.node:
            used[node.op] += 1
        name = f"theirs_{seed:04d}"
        (folder / (name + ".pb")).write_bytes(definition.SerializeToString())
        (folder / (name + ".json")).write_text(json_format.MessageToJson(definition, preserving_proto_field_name=True))
        (folder / (name + ".expected.json")).write_text(json.dumps(
            {"tensors": named_tensors_in(graph), "operators": {n.name: n.op for n in definition.node}}))
        recorder, left = record_theirs(definition, made)
        left_out += left
        recorder.save(folder / (name + ".runs.json"))
        count += len(recorder.document["runs"])
        refused += sum("error" in run for run in recorder.document["runs"])
    print(f"{options.count} graphs of TensorFlow, {sum(used.values())} nodes of {len(used)} operators; {count} runs of them, of which TensorFlow refused "
          f"{refused}; not run, as leat has no kernel: " + (", ".join(f"{op} {n}" for op, n in left_out.most_common()) or "nothing"))
    return 0


def record_theirs(definition, made):
    """Initializes; fetches everything that can be fetched at once, and by itself what is refused; then each update by itself, after
    which all that shows it is fetched again."""
    graph = import_def(on_this_machine(definition))
    depends = runs.Dependence(definition)
    left_out = collections.Counter()

    def can(name):
        missing = depends.operators(name, True) & runs.NO_KERNEL
        left_out.update(missing)
        return not missing

    with session_of(graph) as session:
        recorder = runs.Recorder(graph, session)

        def attempt(fetches):
            try:
                recorder.run(fetches, made.feeds)
            except Exception:  # noqa: BLE001
                if "error" not in recorder.document["runs"][-1]:  # not TensorFlow's: this check's own
                    raise

        if can(made.init):
            attempt([made.init])
        good, bad = [], []
        for f in filter(can, made.fetches):
            try:
                session.run(graph.as_graph_element(f), made.feeds)
                good.append(f)
            except Exception:  # noqa: BLE001
                bad.append(f)
        if good:
            attempt(good)
        for f in bad:
            attempt([f])
        watched = [f for f in made.watched if can(f)]
        for k, u in enumerate(u for u in made.updates if can(u)):
            attempt([u])
            if watched:
                attempt(watched)
            if k % 4 == 3 and good:
                attempt(good)
    return recorder, left_out


def compare_theirs(options):
    folder = pathlib.Path(options.folder)
    shapes = ShapeCount()
    failed = graphs = 0
    for path in sorted(folder.glob("*.expected.json")):
        name = path.name[: -len(".expected.json")]
        expected = json.loads(path.read_text())
        for ending in (".pb", ".json"):
            count = ShapeCount()
            note = ""
            try:
                made = folder / (name + ending + ".tensors.json")
                expect(made.exists(), "was not read")
                tensors = json.loads(made.read_text())
                expect({t for t in expected["tensors"] if t.endswith(":0")} <= set(tensors), "tensors are missing")
                compare_tensors(tensors, expected["tensors"], count, lambda t: expected["operators"][t.rsplit(":", 1)[0]])
            except Exception as e:  # noqa: BLE001
                failed += 1
                note = f"FAILED {str(e)[:500]}"
            graphs += 1
            if ending == ".pb":
                shapes.add(count)
            if options.verbose or note:
                print(f"{name + ending:40} {note or 'ok'}  {count.equal} shapes equal, {count.less} less known, {count.more} more")
    print(f"{graphs} files of TensorFlow read by leat, {failed} failed")
    print_shapes(shapes)
    return 1 if failed else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=["ours", "theirs", "compare", "saved", "results", "self-test"])
    parser.add_argument("folder")
    parser.add_argument("--reference")
    parser.add_argument("--leat")
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    return {"ours": check_ours, "theirs": write_theirs, "compare": compare_theirs, "saved": check_saved, "results": check_results_of_leat,
            "self-test": self_test}[options.command](options)


if __name__ == "__main__":
    v1.disable_eager_execution()
    v1.disable_control_flow_v2()  # TensorFlow 1's: no functions
    tf.get_logger().setLevel("ERROR")
    sys.exit(main())
