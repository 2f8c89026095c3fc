"""TensorFlow's side of the exchange of checkpoints and SavedModel folders; checkpoints.cpp is leat's.

checkpoints.py theirs FOLDER   trains a regression and writes what leat is to go on with
checkpoints.py compare FOLDER  compares what leat went on to with what TensorFlow went on to
checkpoints.py ours FOLDER     restores what leat wrote, goes on, compares
checkpoints.py bench FOLDER    what TensorFlow takes for what FOLDER/checkpoints.json, of bench_checkpoints, has of leat
"""

import json
import math
import os
import re
import sys
import time

import numpy as np
import tensorflow as tf

tf1 = tf.compat.v1
tf1.disable_resource_variables()  # as TensorFlow 1.x makes them
STEPS = 10
X = np.array([-1 + 2 * i / 99.0 for i in range(100)], np.float32)
Y = np.array([2 * float(X[i]) + 0.3 * math.sin(7.0 * i) for i in range(100)], np.float32)
failures = []


def check(holds, what):
    if not holds:
        failures.append(what)
        print("checkpoints:", what)


def train(session, count):
    for _ in range(count):
        session.run("train", {"x:0": X, "y:0": Y})


def values_in(session):
    found = {}
    for variable in tf1.global_variables():
        value = session.run(variable)
        found[variable.op.name] = {
            "dtype": variable.dtype.base_dtype.name,
            "shape": list(value.shape),
            "data": value.astype(np.float64 if value.dtype.kind == "f" else np.int64).reshape(-1).tolist(),
        }
    return found


def near(ours, theirs, what):
    """The same names, dtypes and shapes; floating point to within rounding, everything else exactly."""
    check(sorted(ours) == sorted(theirs), f"{what}: {sorted(ours)} and {sorted(theirs)}")
    for name in sorted(set(ours) & set(theirs)):
        a, b = ours[name], theirs[name]
        check(a["dtype"] == b["dtype"] and a["shape"] == b["shape"], f"{what}: {name}: {a} and {b}")
        check(np.allclose(a["data"], b["data"], rtol=1e-5, atol=1e-6), f"{what}: {name}: {a['data']} and {b['data']}")


def model():
    x = tf1.placeholder(tf.float32, [None], "x")
    y = tf1.placeholder(tf.float32, [None], "y")
    w = tf1.Variable(0.5, name="w")
    b = tf1.Variable(0.0, name="b")
    tf1.Variable(np.array([1.0 / 3, -2, 1e300], np.float64), name="others/double", trainable=False)
    tf1.Variable(np.array([1, -2, 3], np.int32), name="others/int", trainable=False)
    tf1.Variable(np.array([True, False, True]), name="others/bool", trainable=False)
    tf1.Variable(np.array([0, 7, 255], np.uint8), name="others/byte", trainable=False)
    tf1.Variable(np.arange(1, 7, dtype=np.float32).reshape(2, 3), name="others/matrix", trainable=False)
    step = tf1.train.get_or_create_global_step()
    prediction = tf.add(tf.multiply(w, x), b, name="prediction")
    loss = tf.reduce_mean(tf.square(prediction - y), name="loss")
    tf1.train.MomentumOptimizer(0.1, 0.9).minimize(loss, global_step=step, name="train")
    return x, prediction, step


def write_sharded(session, prefix):
    """Every variable in one of three shards, which one sharded saver on one device would not make."""
    variables = tf1.global_variables()
    parts = [prefix + f"_temp/part-{k:05d}-of-00003" for k in range(3)]
    with tf.Graph().as_default() as g:
        saves = []
        for k, part in enumerate(parts):
            mine = variables[k::3]
            saves.append(
                tf.raw_ops.SaveV2(prefix=part, tensor_names=[v.op.name for v in mine], shape_and_slices=[""] * len(mine),
                                  tensors=[tf.constant(session.run(v)) for v in mine]))
        with tf.control_dependencies(saves):
            merge = tf.raw_ops.MergeV2Checkpoints(checkpoint_prefixes=parts, destination_prefix=prefix)
        with tf1.Session(graph=g) as own:
            own.run(merge)


ROW = [[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]]


def write_sliced(folder):
    """A SavedModel whose one variable is in three slices; the row that it computes."""
    with tf.Graph().as_default(), tf1.Session() as session:
        x = tf1.placeholder(tf.float32, [None, 7], "x")
        table = tf1.get_variable("net/table", [7, 3], partitioner=tf1.fixed_size_partitioner(3), initializer=tf1.random_normal_initializer(seed=1))
        y = tf.matmul(x, tf.convert_to_tensor(table), name="y")
        session.run(tf1.global_variables_initializer())
        tf1.saved_model.simple_save(session, folder + "/sliced_model", {"x": x}, {"y": y})
        return [float(v) for v in session.run(y, {x: ROW})[0]]


TEXTS = ["", "one", "ümläut", "x" * 300]


def theirs(folder):
    os.makedirs(folder, exist_ok=True)
    with tf.Graph().as_default(), tf1.Session() as session:
        x, prediction, step = model()
        session.run(tf1.global_variables_initializer())
        train(session, STEPS)
        saver = tf1.train.Saver()
        saver.save(session, folder + "/model.ckpt", step)
        written = {"values": values_in(session), "texts": TEXTS,
                   "prediction": float(session.run(prediction, {x: [0.2]})[0])}
        write_sharded(session, folder + "/sharded")
        with tf.Graph().as_default() as g:
            save = tf.raw_ops.SaveV2(prefix=folder + "/strings", tensor_names=["texts"], shape_and_slices=[""], tensors=[tf.constant(TEXTS)])
            with tf1.Session(graph=g) as own:
                own.run(save)
        tf1.saved_model.simple_save(session, folder + "/saved_model", {"x": x}, {"prediction": prediction})
        train(session, STEPS)
        written["went_on"] = values_in(session)
    written["sliced"] = write_sliced(folder)
    with open(folder + "/values.json", "w") as out:
        json.dump(written, out)


def compare(folder):
    with open(folder + "/values.json") as a, open(folder + "/went_on.json") as b:
        wanted, went_on = json.load(a)["went_on"], json.load(b)
    near(went_on, wanted, "trained on by leat")
    # and back again: what leat saved after going on
    with tf.Graph().as_default(), tf1.Session() as session:
        tf1.train.import_meta_graph(folder + "/from_leat-20.meta")
        tf1.train.Saver().restore(session, folder + "/from_leat-20")
        check(values_in(session) == went_on, "what leat saved after it went on is restored with other values")


def ours(folder):
    with open(folder + "/values.json") as file:
        wanted = json.load(file)
    latest = tf1.train.latest_checkpoint(folder)
    check(latest is not None and latest.endswith("model.ckpt-10"), f"latest_checkpoint: {latest}")
    check(sorted(name for name, _ in tf.train.list_variables(latest)) == sorted(wanted["values"]), "list_variables")
    with tf.Graph().as_default(), tf1.Session() as session:
        saver = tf1.train.import_meta_graph(latest + ".meta")
        (saver or tf1.train.Saver()).restore(session, latest)
        check(values_in(session) == wanted["values"], "restored with other values")
        train(session, STEPS)
        near(wanted["went_on"], values_in(session), "trained on by TensorFlow")
    with tf.Graph().as_default(), tf1.Session() as session:
        meta = tf1.saved_model.load(session, ["serve"], folder + "/saved_model")
        check(values_in(session) == wanted["values"], "saved_model: other values")
        signature = meta.signature_def["serving_default"]
        result = session.run(signature.outputs["prediction"].name, {signature.inputs["x"].name: [0.2]})
        values = wanted["values"]
        check(abs(result[0] - (0.2 * values["w"]["data"][0] + values["b"]["data"][0])) < 1e-6, f"saved_model predicts {result}")
    with tf.Graph().as_default(), tf1.Session() as session:
        signature = tf1.saved_model.load(session, ["serve"], folder + "/sliced_model").signature_def["serving_default"]
        row = session.run(signature.outputs["y"].name, {signature.inputs["x"].name: ROW})[0]
        check(list(row) == [336, 364, 392], f"sliced_model computes {row}")
    loaded = tf.saved_model.load(folder + "/saved_model")  # TensorFlow 2's loader
    result = loaded.signatures["serving_default"](x=tf.constant([0.2]))["prediction"].numpy()
    check(abs(result[0] - (0.2 * wanted["values"]["w"]["data"][0] + wanted["values"]["b"]["data"][0])) < 1e-6, f"predicts {result}")


def bench(folder):
    """Saving and restoring, of as many bytes and variables as bench_checkpoints saves. TensorFlow does not sync what it saves."""
    with open(folder + "/checkpoints.json") as file:
        ours = json.load(file)
    megabytes = int(re.search(r"saving (\d+) MB", ours[0]["case"]).group(1))
    prefix = folder + "/tensorflow/model"
    os.makedirs(folder + "/tensorflow", exist_ok=True)
    elements = megabytes * (1 << 20) // 4 // 16
    with tf.Graph().as_default(), tf1.Session() as session:
        for k in range(16):
            tf1.Variable(tf.zeros([elements]), name=f"part_{k}")
        session.run(tf1.global_variables_initializer())
        saver = tf1.train.Saver(max_to_keep=1)
        took = {"saving": [], "restoring": []}
        for k in range(5):
            for what, action in [("saving", lambda: saver.save(session, prefix, k)), ("restoring", lambda: saver.restore(session, f"{prefix}-{k}"))]:
                begin = time.perf_counter()
                action()
                took[what].append(time.perf_counter() - begin)
    for what, times in took.items():
        for row in ours:
            if row["case"].startswith(f"{what} {megabytes} MB") and "mapping" not in row["case"]:
                theirs = sorted(times)[len(times) // 2]
                print(f"{row['case']:46s} leat {row['seconds']:8.3f} s  TensorFlow {theirs:8.3f} s  {row['seconds'] / theirs:6.2f}")


if __name__ == "__main__":
    {"theirs": theirs, "compare": compare, "ours": ours, "bench": bench}[sys.argv[1]](sys.argv[2])
    print(f"checkpoints, {sys.argv[1]}: " + ("all is well" if not failures else f"{len(failures)} failures"))
    sys.exit(1 if failures else 0)
