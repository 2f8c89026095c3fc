"""Runs of TensorFlow, written down with what came out, so that leat can run the same (interop_run), and how the two are compared.

NAME.runs.json: {"devices": whether nodes keep theirs, "runs": [{"fetches", "feeds", "results" or "error"}]}, one session; NAME.leat.json:
what leat made of it, "fused" and "plain" (node by node), and "nudged", some times with the last bits of all that goes in changed.
"""

import collections
import json
import re

import numpy as np
import tensorflow as tf
from tensorflow.core.framework import types_pb2

v1 = tf.compat.v1

# Operators whose results are drawn: values that follow from them are compared in dtype and shape alone.
DRAWING = {"RandomUniform", "RandomStandardNormal", "TruncatedNormal", "RandomUniformInt", "RandomShuffle", "Multinomial", "RandomPoissonV2",
           "UniformCandidateSampler", "LogUniformCandidateSampler", "LearnedUnigramCandidateSampler",
           "ThreadUnsafeUnigramCandidateSampler", "FixedUnigramCandidateSampler",
           "RandomShuffleQueueV2", "RandomShuffleQueue", "ParameterizedTruncatedNormal", "RandomGamma", "StatelessRandomUniform"}
# Operators that leat carries in graphs but has no kernel for: what needs one is not asked for, or counted as left out.
NO_KERNEL = set()
# The client's own exceptions, which have no class in the runtime.
CLASSES = {"ValueError": "InvalidArgumentError", "TypeError": "InvalidArgumentError", "RuntimeError": "FailedPreconditionError"}
# relative, and absolute for the largest element of the tensor (at least 1)
TOLERANCE = {"float32": (1e-4, 1e-5), "float64": (1e-9, 1e-10)}


def plain_number(x):
    if isinstance(x, float):
        if x != x:
            return "NaN"
        if x in (float("inf"), float("-inf")):
            return "Infinity" if x > 0 else "-Infinity"
    if isinstance(x, bytes):
        return x.decode("latin-1")  # each byte a character, since not all are text
    return x


def to_plain(result):
    """A result as JSON has it; None for an operation."""
    if result is None:
        return None
    array = np.asarray(result, dtype=object if isinstance(result, bytes) else None)  # arrays of bytes lose zeros at their end
    dtype = "string" if array.dtype.kind in "OSU" else str(array.dtype)
    return {"dtype": dtype, "shape": list(array.shape), "data": [plain_number(x) for x in array.ravel().tolist()]}


def from_plain(plain):
    if plain["dtype"] == "string":
        return np.array(plain["data"], dtype=object).reshape(plain["shape"])
    data = [float(x.replace("Infinity", "inf")) if isinstance(x, str) else x for x in plain["data"]]
    return np.array(data, dtype=plain["dtype"]).reshape(plain["shape"])


# They look for the largest of their input's elements,
RANKING = {"TopKV2", "Softmax", "LogSoftmax", "ArgMax", "ArgMin"}
# or say which it is: that rounding decides where two are all but equal,
CHOOSING = {"TopKV2", "ArgMax", "ArgMin"}
# and where they are equal, if they came near a limit of one of these.
SATURATING = {"Tanh", "Sigmoid", "Erf", "Softmax"}
# Rounding decides, too, what these say of two numbers that are all but equal.
COMPARING = {"Less", "LessEqual", "Greater", "GreaterEqual", "Equal", "NotEqual"}


class Recorder:
    """Runs of one session, as they go."""

    def __init__(self, graph, session, devices=False):
        self.graph = graph
        self.session = session
        self.document = {"devices": devices, "runs": []}

    def run(self, fetches, feeds, compared=True):
        """Results of one run; the error is raised when it is written down."""
        written = {"fetches": list(fetches), "feeds": {n: to_plain(a) for n, a in feeds.items()}, "compared": compared}
        self.document["runs"].append(written)
        deciding = self.deciding_behind(fetches, set(feeds))
        try:
            results, decided = self.session.run([[self.graph.as_graph_element(f) for f in fetches],
                                                 [list(op.inputs) if op.type in COMPARING else [op.inputs[0]] for op in deciding]], feeds)
        except Exception as e:
            written["error"] = {"type": type(e).__name__, "message": str(e)[:400]}
            raise
        written["without_order"] = [op.name for op, x in zip(deciding, decided) if self.is_undecided(op, x)]
        written["results"] = [to_plain(r) for r in results]
        return results

    @staticmethod
    def behind(operations, fed=()):
        """All operations that a run of these executes, itself included, but what a fed tensor stands for, and what a fed placeholder
        waits for: TensorFlow replaces these, edges of control included."""
        seen = set(operations)
        open_nodes = list(seen)
        while open_nodes:
            op = open_nodes.pop()
            waits_for = [c for c in op.control_inputs if not (c.type.startswith("Placeholder") and c.name + ":0" in fed)]
            for before in [x.op for x in op.inputs if x.name not in fed] + waits_for:
                if before not in seen:
                    seen.add(before)
                    open_nodes.append(before)
        return seen

    def is_undecided(self, op, inputs):
        """Whether it is not the numbers that decide what an operation gives."""
        if op.type in RANKING and np.isnan(inputs[0]).any():
            return True  # the largest of numbers of which some are none depends in TensorFlow on how its loops are cut
        if op.type in COMPARING:
            try:
                np.broadcast_shapes(*(x.shape for x in inputs))
            except ValueError:
                return False  # shapes that do not fit: not equal, whatever the numbers are
            apart = np.abs(np.subtract(*(x.astype(np.float64) for x in inputs)))
            largest = np.abs(inputs[1])
        elif op.type in CHOOSING:
            x = np.sort(inputs[0][np.isfinite(inputs[0])].astype(np.float64).ravel())
            apart, largest = np.diff(x), np.abs(x[1:])
        else:
            return False
        near = apart <= TOLERANCE["float32"][1] * np.maximum(1, largest)  # by rounding alone
        if op.type in COMPARING or not any(before.type in SATURATING for before in self.behind([op])):
            near &= apart > 0
        return bool(near.any())

    def deciding_behind(self, fetches, fed):
        """The nodes that choose or compare by numbers of floating point, and whose inputs can be fetched with the rest: not those of a
        branch that may not be taken."""
        elements = [self.graph.as_graph_element(f) for f in fetches if f not in fed]
        seen = self.behind((e if isinstance(e, tf.Operation) else e.op for e in elements), fed)
        found = [op for op in seen if op.type in RANKING | COMPARING and op.inputs[0].dtype.is_floating and op._get_control_flow_context() is None]
        return sorted((op for op in found if all(self.graph.is_fetchable(x) for x in op.inputs)
                       and not any(before.type in ("Switch", "RefSwitch") for before in self.behind([op]))), key=lambda op: op.name)

    def save(self, path):
        path.write_text(json.dumps(self.document))


class Dependence:
    """What a graph's tensors follow from."""

    def __init__(self, definition):
        self.nodes = {n.name: n for n in definition.node}
        self.inputs = {n.name: [i.lstrip("^").split(":")[0] for i in n.input if not i.startswith("^")] for n in definition.node}
        self.everything = {n.name: [i.lstrip("^").split(":")[0] for i in n.input] for n in definition.node}
        # what is written into a variable or queue, is what it follows from
        kept = {"Variable", "VariableV2", "FIFOQueueV2", "RandomShuffleQueueV2", "PaddingFIFOQueueV2", "StackV2", "VarHandleOp"}
        for n in definition.node:
            for source in self.sources(n.name, kept):
                if n.op not in kept and n.op not in ("Identity", "RefIdentity", "ReadVariableOp", "Enter", "RefEnter"):
                    self.inputs[source] = self.inputs[source] + [n.name]
        self.known = {}

    def sources(self, name, kept):
        """Variables and queues that a node's inputs refer to, through references."""
        found = set()
        for i in self.inputs[name]:
            for _ in range(20):
                node = self.nodes[i]
                if node.op in kept:
                    found.add(i)
                if node.op not in ("RefIdentity", "Enter", "RefEnter", "Switch", "RefSwitch", "Assign", "AssignAdd", "AssignSub"):
                    break
                i = self.everything[i][0]
        return found

    def behind(self, tensor, everything=False):
        """Names of all nodes that a tensor follows from, by data alone or by control edges, too."""
        name = tensor.lstrip("^").split(":")[0]
        key = (name, everything)
        if key not in self.known:
            inputs = self.everything if everything else self.inputs
            seen = {name}
            open_nodes = [name]
            while open_nodes:
                for i in inputs[open_nodes.pop()]:
                    if i not in seen:
                        seen.add(i)
                        open_nodes.append(i)
            self.known[key] = seen
        return self.known[key]

    def operators(self, tensor, everything=False):
        return {self.nodes[n].op for n in self.behind(tensor, everything)}

    def written_by(self, tensor):
        """Variables and queues that a run of it may write."""
        kept = {"Variable", "VariableV2", "FIFOQueueV2", "PaddingFIFOQueueV2"}
        writes = ("Assign", "Scatter", "Apply", "SparseApply", "Queue", "CountUpTo")
        nodes = [n for n in self.behind(tensor, True) if self.nodes[n].op.startswith(writes)]
        return {source for n in nodes for source in self.sources(n, kept)}

    def is_drawn(self, tensor):
        return bool(self.operators(tensor) & DRAWING)

    def is_scaled(self, tensor):
        return any(op.startswith(SCALING) for op in self.operators(tensor))

    def is_single(self, tensor):
        """Whether numbers of single precision are part of it."""
        return any(self.nodes[n].attr[key].type == types_pb2.DT_FLOAT for n in self.behind(tensor) for key in ("T", "dtype", "SrcT", "DstT"))


class Counts:
    def __init__(self):
        self.graphs = self.runs = self.fused = self.values = self.elements = self.errors = self.drawn = self.unordered = 0
        self.exact = self.left_out = self.after_errors = self.rounded = 0
        self.operators = collections.Counter()

    def add(self, other):
        for key, value in vars(other).items():
            if key == "operators":
                self.operators += value
            else:
                setattr(self, key, getattr(self, key) + value)


# Steps that divide a gradient by its own size: where that is small beside what it was summed from, its rounding becomes a part of the
# rate. Numbers that follow from them may be apart by so many times more.
SCALING = ("ApplyAdam", "ApplyAdagrad", "ApplyRMSProp", "ApplyCenteredRMSProp", "ApplyAdadelta", "ApplyFtrl", "SparseApply")
SCALED = 20


# So many times as far as changing the last bits of what goes in moves an element, two libraries may be apart.
NUDGED = 4


def follows_from_rounding(k, ours, theirs, nudged):
    """Whether changing the last bits of what goes in moves element k as far as it differs."""
    if ours["dtype"] == "string":
        return False
    others = [n for n in nudged if n is not None and n["shape"] == ours["shape"] and n["dtype"] == ours["dtype"]]
    a, b, *moved = (float(from_plain(x).ravel()[k]) for x in [ours, theirs] + others)
    if any(m == b or (m != m and b != b) for m in moved):
        return True
    spread = max((abs(m - a) for m in moved if m == m), default=0.0)
    return abs(a - b) <= NUDGED * spread  # false where one of them is no number


# Slots of steps that divide a gradient by its own size: VARIABLE/Adam/read:0.
SLOT = re.compile(r"(.*)/(?:Adam|RMSProp|Adadelta)(?:_\d+)?(?:/read)?:0")


def rounded_gradients(fetches, ours, theirs):
    """The elements of variables, by the variables' fetches, whose gradient is nothing but rounding: their slots are as small as the two
    may be apart, and differ by more than rounding, so that the step has made a difference as large as the rate of it."""
    found = {}
    for fetch, a, b in zip(fetches, ours, theirs):
        slot = SLOT.fullmatch(fetch)
        if not slot or a is None or b is None or a["shape"] != b["shape"] or a["dtype"] != "float32" or b["dtype"] != "float32":
            continue
        a, b = from_plain(a), from_plain(b)
        relative, absolute = TOLERANCE["float32"]
        with np.errstate(invalid="ignore"):
            tiny = (np.abs(a - b) > relative * np.maximum(np.abs(a), np.abs(b))) & (np.maximum(np.abs(a), np.abs(b)) < absolute)
        for name in (slot[1] + "/read:0", slot[1] + ":0"):
            found[name] = found.get(name, False) | tiny
    return found


def difference(ours, theirs, drawn, single, scaled, nudged=(), counts=None, exempt=None):
    """What is wrong with a result, or nothing. `nudged`: the same result when the last bits of what goes in were changed. `exempt`: the
    elements that need not be equal."""
    if theirs is None or ours is None:
        return None if ours is theirs else f"{ours} for {theirs}"
    if ours["dtype"] != theirs["dtype"]:
        return f"dtype {ours['dtype']} for {theirs['dtype']}"
    if ours["shape"] != theirs["shape"] and not drawn:
        return f"shape {ours['shape']} for {theirs['shape']}"
    if drawn:
        return None if len(ours["shape"]) == len(theirs["shape"]) else f"rank {len(ours['shape'])} for {len(theirs['shape'])}"
    a, b = from_plain(ours), from_plain(theirs)
    if a.size == 0:
        return None
    if a.dtype.kind != "f":
        return first_wrong(a == b, a, b, ours, theirs, nudged if a.dtype.kind in "iub" else (), counts)
    relative, absolute = (t * (SCALED if scaled else 1) for t in TOLERANCE["float32" if single else str(a.dtype)])
    finite = np.abs(b[np.isfinite(b)])
    scale = max(1.0, float(finite.max())) if finite.size else 1.0
    close = np.isclose(a, b, rtol=relative, atol=absolute * scale, equal_nan=True)
    if exempt is not None:
        if counts is not None:
            counts.rounded += int((exempt & ~close).sum())
        close |= exempt
    return first_wrong(close, a, b, ours, theirs, nudged, counts)


def first_wrong(close, a, b, ours, theirs, nudged, counts):
    """The first element that differs, and not because of rounding; or nothing."""
    rounded = 0
    for k in np.flatnonzero(~np.asarray(close).ravel()).tolist():
        if not follows_from_rounding(k, ours, theirs, nudged):
            return f"element {k} of {list(a.shape)} is {a.ravel()[k]!r} for {b.ravel()[k]!r}"
        rounded += 1
    if counts is not None:
        counts.rounded += rounded
    return None


def tied(depends, fetches, ours, theirs):
    """Nodes that pick the least or largest element along an axis, and pick another one that is as good but for rounding."""
    results = {f: (from_plain(a), from_plain(b)) for f, a, b in zip(fetches, ours, theirs) if a and b and a["dtype"] != "string" and a["shape"] == b["shape"]}
    found = set()
    for fetch, (a, b) in results.items():
        node = depends.nodes.get(fetch.split(":")[0])
        if node is None or node.op not in ("ArgMin", "ArgMax") or np.array_equal(a, b):
            continue
        source = results.get(node.input[0] if ":" in node.input[0] else node.input[0] + ":0")
        axis = depends.nodes.get(node.input[1].split(":")[0])
        if source is None or source[1].dtype.kind != "f" or axis is None or axis.op != "Const":
            continue
        axis, values = int(tf.make_ndarray(axis.attr["value"].tensor)), source[1]
        at_ours, at_theirs = (np.take_along_axis(values, np.expand_dims(x, axis), axis) for x in (a, b))
        relative, absolute = TOLERANCE["float32" if depends.is_single(node.input[0]) else str(values.dtype)]
        if np.allclose(at_ours, at_theirs, rtol=relative, atol=absolute, equal_nan=True):
            found.add(node.name)
    return found


def compare(definition, document, leat, counts):
    """All differences between two records of the same runs, as (way, run, fetch, text)."""
    found = []
    depends = Dependence(definition)
    counts.graphs += 1
    for n in {m for r in document["runs"] for f in r["fetches"] for m in depends.behind(f, True)}:
        counts.operators[depends.nodes[n].op] += 1
    for way in ("fused", "plain"):
        counts.fused += leat[way]["fused_runs"]
        without_order = set()  # nodes that have ranked numbers of which some are none, or equal but for rounding
        rounded = {}  # elements of variables that were changed by steps on gradients that are nothing but rounding
        broken = set()  # what a refused run may have written: TensorFlow's kernels stop in the middle (rows before a wrong index), leat's before
        for k, (theirs, ours) in enumerate(zip(document["runs"], leat[way]["runs"])):
            counts.runs += 1
            if "error" in theirs or "error" in ours:
                if any(f"No kernel for the operator '{op}'" in ours.get("error", {}).get("message", "") for op in NO_KERNEL):
                    counts.left_out += 1
                    break  # what it would have written, later runs lack
                wanted = theirs.get("error", {}).get("type", "no error")
                if wanted == "InternalError" and "error" in ours:
                    counts.errors += 1  # of which TensorFlow says that it should not be; ours only has to be an error
                    continue
                wanted = CLASSES.get(wanted, wanted)
                got = ours.get("error", {}).get("type", "no error")
                message = ours.get("error", theirs.get("error"))["message"]
                node = re.search(r"\[\[node '([^']+)'|\{\{node ([^}]+)\}\}", message)
                name = node and (node[1] or node[2])
                if got != wanted and name in depends.nodes and depends.is_drawn(name):
                    counts.drawn += 1  # whether it is refused, random numbers decide
                    broken = broken.union(*(depends.written_by(f) for f in theirs["fetches"]))
                elif got != wanted and any(broken & depends.behind(f, True) for f in theirs["fetches"]):
                    counts.after_errors += 1  # whether a variable has a value, a refused run has decided
                elif got != wanted:
                    found.append((way, k, " ".join(theirs["fetches"])[:60], f"{got} for {wanted}: {message[:400]}"))
                else:
                    counts.errors += 1
                    broken = broken.union(*(depends.written_by(f) for f in theirs["fetches"]))
                continue
            if not theirs["compared"]:
                counts.unordered += 1
                continue
            without_order |= set(theirs.get("without_order", []))
            without_order |= tied(depends, theirs["fetches"], ours["results"], theirs["results"])
            for fetch, elements in rounded_gradients(theirs["fetches"], ours["results"], theirs["results"]).items():
                rounded[fetch] = rounded.get(fetch, False) | elements
            for at, (fetch, a, b) in enumerate(zip(theirs["fetches"], ours["results"], theirs["results"])):
                if broken & depends.behind(fetch):
                    counts.after_errors += 1
                    continue
                drawn = depends.is_drawn(fetch) or bool(without_order & depends.behind(fetch))
                nudged = [n["runs"][k]["results"][at] for n in leat.get("nudged", []) if k < len(n["runs"]) and "results" in n["runs"][k]]
                text = difference(a, b, drawn, depends.is_single(fetch), depends.is_scaled(fetch), nudged, counts, rounded.get(fetch))
                if text:
                    found.append((way, k, fetch, text))
                elif b is not None:
                    if drawn:
                        counts.drawn += 1
                    else:
                        counts.values += 1
                        counts.elements += len(b["data"])
                        counts.exact += a == b
        if len(leat[way]["runs"]) < len(document["runs"]) and not found and not any("error" in r for r in leat[way]["runs"][-1:]):
            found.append((way, len(leat[way]["runs"]), "", "runs are missing"))
    return found
