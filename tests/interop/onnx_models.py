"""Runs what interop_onnx wrote with onnxruntime, and compares it with what leat's session gave.

onnx_models.py FOLDER [--verbose]   for each NAME.onnx in it: onnx.checker with its inference of shapes, onnxruntime with the inputs of
NAME.json, and the outputs compared. Where onnxruntime lacks a kernel for a dtype, ONNX's own reference evaluator runs the model.
"""

import collections
import json
import pathlib
import sys

import numpy as np
import onnx
import onnx.numpy_helper
import onnx.reference
import onnxruntime

onnxruntime.set_default_logger_severity(4)
TOLERANCE = {"float32": 2e-4, "float64": 2e-6}  # relative to the largest element; ONNX's float functions are no more exact


def array(said):
    return np.array([float(v) if isinstance(v, str) else v for v in said["values"]], said["dtype"]).reshape(said["shape"])


def run(model, inputs, outputs):
    try:
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 4
        # This pass takes away a Not that is also an operand of the Where whose condition it is; what is left is refused as invalid.
        session = onnxruntime.InferenceSession(
            model.SerializeToString(), options, providers=["CPUExecutionProvider"], disabled_optimizers=["NotWhereFusion"]
        )
        return dict(zip(outputs, session.run(outputs, inputs))), "onnxruntime"
    except Exception as e:
        if "NOT_IMPLEMENTED" not in str(e) and "Could not find an implementation" not in str(e):
            raise
    return dict(zip(outputs, onnx.reference.ReferenceEvaluator(model).run(outputs, inputs))), "reference"


def agree(a, b):
    if a.dtype != b.dtype or a.shape != b.shape:
        return False
    if a.dtype.kind != "f":
        return bool(np.array_equal(a, b))
    if not a.size:
        return True
    finite = a[np.isfinite(a)]
    scale = max(1.0, float(np.abs(finite).max()) if finite.size else 1.0)
    return bool(np.allclose(a, b, rtol=0, atol=TOLERANCE[str(a.dtype)] * scale, equal_nan=True))


def nudged(model, inputs, sign):
    """The same with floating-point numbers changed by some of their last bits."""

    def nudge(x):
        x = np.asarray(x)
        if x.dtype.kind != "f":
            return x
        # The product of an array without dimensions is a NumPy scalar, which onnxruntime does not take.
        return np.asarray(x * x.dtype.type(1 + sign * 4 * np.finfo(x.dtype).eps), x.dtype)

    other = onnx.ModelProto()
    other.CopyFrom(model)
    for tensor in other.graph.initializer:
        if tensor.data_type in (onnx.TensorProto.FLOAT, onnx.TensorProto.DOUBLE):
            tensor.CopyFrom(onnx.numpy_helper.from_array(nudge(onnx.numpy_helper.to_array(tensor)), tensor.name))
    return other, {k: nudge(v) for k, v in inputs.items()}


def main():
    folder, verbose = pathlib.Path(sys.argv[1]), "--verbose" in sys.argv
    failures, compared, rounding = [], 0, 0
    by, operators = collections.Counter(), collections.Counter()
    paths = sorted(folder.glob("*.onnx"))
    for path in paths:
        said = json.loads(path.with_suffix(".json").read_text())
        inputs = {k: array(v) for k, v in said["inputs"].items()}
        outputs = sorted(said["outputs"])
        try:
            model = onnx.load(path)
            onnx.checker.check_model(model, full_check=True)
            operators.update(node.op_type for node in model.graph.node)
            results, who = run(model, inputs, outputs)
        except Exception as e:
            failures.append(f"{path.name}: {type(e).__name__}: {str(e)[:600]}")
            continue
        by[who] += 1
        wrong = [k for k in outputs if not agree(np.asarray(results[k]), array(said["outputs"][k]))]
        compared += len(outputs)
        if wrong:
            # What rounding alone changes is no difference between the two.
            try:
                others = [run(*nudged(model, inputs, sign), outputs)[0] for sign in (1, -1)]
            except Exception as e:
                failures.append(f"{path.name}, with other last bits: {type(e).__name__}: {str(e)[:600]}")
                continue
            for k in wrong:
                if all(agree(np.asarray(results[k]), np.asarray(o[k])) for o in others):
                    ours = array(said["outputs"][k])
                    theirs = np.asarray(results[k])
                    failures.append(f"{path.name}: {k}: leat {ours.dtype} {ours.shape} {ours.ravel()[:6]}, {who} {theirs.dtype} {theirs.shape} {theirs.ravel()[:6]}")
                else:
                    rounding += 1
    for f in failures:
        print("onnx:", f)
    if verbose:
        print("operators:", ", ".join(f"{k} {n}" for k, n in sorted(operators.items())))
    print(
        f"{len(paths)} models ({', '.join(f'{n} by {k}' for k, n in by.items())}), {len(operators)} of ONNX's operators, {compared} outputs "
        f"compared, {rounding} that follow from rounding, {len(failures)} failures"
    )
    return 1 if failures or not paths else 0


sys.exit(main())
