"""Models that today's TensorFlow makes, run and trained further by the command `leat`, and its results held against TensorFlow's.

models.py FOLDER --leat COMMAND --seed S [--verbose]
    saved      SavedModels with functions, branches, loops and variables by handle: every signature, and a training step three times
    keras      a convolutional classifier and an LSTM, as Keras exports them (left out where Keras is not installed)
    graphs     graphs of TensorFlow 1.x with savers of their own, reference and resource variables, loops over tensor arrays of both
               kinds of control flow: restored by `save/restore_all`, trained, saved by the graph's nodes, restored by TensorFlow

One line for each model with --verbose, a summary, and exit code 1 where anything differs. The same seed makes the same models.
"""

import argparse
import os
import pathlib
import shutil
import subprocess
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")

import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402

v1 = tf.compat.v1


class Runs:
    """Runs of the command, and what did not agree."""

    def __init__(self, leat, folder, verbose):
        self.leat, self.folder, self.verbose = leat, folder, verbose
        self.compared, self.failures = 0, []

    def run(self, model, words, feeds, fetches):
        """The results of the last run, by name; None where the command failed."""
        scratch = self.folder / "run"
        shutil.rmtree(scratch, ignore_errors=True)
        scratch.mkdir(parents=True)
        command = [self.leat, "run", str(model), "--format", "npy", "--out", str(scratch / "out"), *words]
        for k, (name, value) in enumerate(feeds.items()):
            if isinstance(value, str):
                command += ["--feed", f'{name}="{value}"']
            else:
                np.save(scratch / f"feed{k}.npy", value)
                command += ["--feed", f"{name}={scratch}/feed{k}.npy"]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            self.fail(model, f"{' '.join(command[1:])}: {done.stderr.strip()[:600]}")
            return None
        return {name: np.load(scratch / "out" / f"{name}.npy") for name in fetches}

    def fail(self, model, text):
        self.failures.append(f"{model.name}: {text}")

    def compare(self, model, ours, theirs, tolerance=1e-4):
        if ours is None:
            return
        for name, expected in theirs.items():
            expected, got = np.asarray(expected), ours[name]
            self.compared += 1
            if got.dtype != expected.dtype or got.shape != expected.shape:
                self.fail(model, f"{name}: {got.dtype} {got.shape} for {expected.dtype} {expected.shape}")
            elif not np.allclose(got, expected, rtol=tolerance, atol=tolerance * max(1.0, float(np.max(np.abs(expected), initial=0)))):
                self.fail(model, f"{name}: {got.ravel()[:6]} for {expected.ravel()[:6]}")
        if self.verbose:
            print("models:", model.name, "compared", len(theirs))


def saved_models(runs, random):
    class Line(tf.Module):
        """A classifier with a training step, a branch, a loop and a case."""

        def __init__(self, inputs, classes):
            self.w = tf.Variable(random.standard_normal((inputs, classes)).astype("f"), name="w")
            self.b = tf.Variable(np.zeros(classes, "f"), name="b")
            self.slots = [tf.Variable(tf.zeros_like(v)) for v in (self.w, self.b)]
            self.step = tf.Variable(0, dtype=tf.int64, trainable=False)

        def predict(self, x):
            return {"y": tf.nn.softmax(tf.matmul(x, self.w) + self.b)}

        def train(self, x, t):
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=t, logits=tf.matmul(x, self.w) + self.b))
            for v, slot, g in zip((self.w, self.b), self.slots, tape.gradient(loss, [self.w, self.b])):
                tf.raw_ops.ResourceApplyMomentum(var=v.handle, accum=slot.handle, lr=0.1, grad=g, momentum=0.9)
            self.step.assign_add(1)
            return {"loss": loss}

        def control(self, x, n):
            inner = tf.function(lambda z: (tf.nn.relu(z) * 2.0, tf.reduce_sum(z)))
            a, total = inner(x)
            y = tf.cond(total > 0.0, lambda: a + 1.0, lambda: a - tf.reduce_mean(x))
            _, z = tf.while_loop(lambda i, z: i < n, lambda i, z: (i + 1, z * 0.5 + tf.cond(tf.equal(i % 2, 0), lambda: y, lambda: -y)),
                                 [tf.constant(0), y])
            w = tf.switch_case(n, [lambda: z * 1.0, lambda: z * 10.0, lambda: z * 100.0])
            self.step.assign_add(10)
            return {"z": z, "w": w, "steps": self.step.read_value()}

    inputs, classes = int(random.integers(1, 6)), int(random.integers(2, 5))
    model = Line(inputs, classes)
    matrix, labels = tf.TensorSpec([None, inputs], tf.float32), tf.TensorSpec([None], tf.int32)
    signatures = {"predict": tf.function(model.predict, input_signature=[matrix]),
                  "train": tf.function(model.train, input_signature=[matrix, labels]),
                  "control": tf.function(model.control, input_signature=[matrix, tf.TensorSpec([], tf.int32)])}
    place = runs.folder / "saved"
    tf.saved_model.save(model, str(place), signatures=signatures)
    rows = int(random.integers(1, 7))
    x = random.standard_normal((rows, inputs)).astype("f")
    t = random.integers(0, classes, rows).astype("i")
    expected = {k: v.numpy() for k, v in signatures["predict"](x).items()}
    runs.compare(place, runs.run(place, ["--signature", "predict"], {"x": x}, ["y"]), expected)
    for n in (0, 1, 2, 7, -1):
        before = model.step.numpy()
        expected = {k: v.numpy() for k, v in signatures["control"](x, n).items()}
        model.step.assign(before)
        runs.compare(place, runs.run(place, ["--signature", "control"], {"x": x, "n": np.int32(n)}, ["z", "w", "steps"]), expected)
    for _ in range(3):
        expected = {k: v.numpy() for k, v in signatures["train"](x, t).items()}
    words = ["--signature", "train", "--fetch", "loss", "--times", "3", "--save", str(runs.folder / "trained")]
    shutil.rmtree(runs.folder / "trained", ignore_errors=True)
    runs.compare(place, runs.run(place, words, {"x": x, "t": t}, ["loss"]), expected)
    # What was trained here, and saved as leat saves, predicts what TensorFlow predicts after the same steps.
    expected = {k: v.numpy() for k, v in signatures["predict"](x).items()}
    runs.compare(place, runs.run(runs.folder / "trained", ["--signature", "predict"], {"x": x}, ["y"]), expected)


def keras_models(runs, random, seed):
    try:
        from tensorflow import keras
    except ImportError:
        print("models: left out, because Keras is not installed: a convolutional classifier, an LSTM")
        return
    tf.random.set_seed(seed)
    size, channels = int(random.integers(6, 12)), int(random.integers(1, 4))
    layers = keras.layers
    images = keras.Sequential([keras.Input((size, size, channels)), layers.Conv2D(4, 3, padding="same", activation="relu"),
                               layers.BatchNormalization(), layers.MaxPool2D(), layers.DepthwiseConv2D(2), layers.AveragePooling2D(2),
                               layers.Flatten(), layers.Dropout(0.5), layers.Dense(3, activation="softmax")])
    images.compile("adam", "sparse_categorical_crossentropy")
    x = random.random((8, size, size, channels)).astype("f")
    images.fit(x, np.arange(8) % 3, epochs=2, verbose=0)
    sequences = keras.Sequential([keras.Input((5, 3)), layers.LSTM(4, return_sequences=True), layers.GRU(3), layers.Dense(2)])
    y = random.random((2, 5, 3)).astype("f")
    for name, model, feed in (("images", images, x), ("sequences", sequences, y)):
        place = runs.folder / name
        model.export(str(place), verbose=False)
        key = model.inputs[0].name
        runs.compare(place, runs.run(place, ["--signature", "serving_default"], {key: feed}, ["output_0"]), {"output_0": model(feed).numpy()})


def graphs(runs, random):
    for resource in (False, True):
        for second in (False, True):
            (v1.enable_resource_variables if resource else v1.disable_resource_variables)()
            (v1.enable_control_flow_v2 if second else v1.disable_control_flow_v2)()
            name = ("resource" if resource else "reference") + ("_v2" if second else "_v1")
            place = runs.folder / name
            place.mkdir(parents=True)
            steps, width = int(random.integers(2, 6)), int(random.integers(2, 5))
            x = random.standard_normal((2, steps, 3)).astype("f")
            t = random.standard_normal((2, width)).astype("f")
            with tf.Graph().as_default():
                fed = v1.placeholder(tf.float32, x.shape, name="x")
                goal = v1.placeholder(tf.float32, t.shape, name="t")
                kernel = v1.get_variable("kernel", initializer=tf.constant(random.standard_normal((3 + width, 4 * width)).astype("f") * 0.3))
                bias = v1.get_variable("bias", [4 * width], initializer=v1.zeros_initializer())
                given = tf.TensorArray(tf.float32, size=steps, element_shape=[2, 3]).unstack(tf.transpose(fed, [1, 0, 2]))
                out = tf.TensorArray(tf.float32, size=steps, element_shape=[2, width])

                def body(i, c, h, out):
                    z = tf.matmul(tf.concat([given.read(i), h], 1), kernel) + bias
                    a, b, f, o = tf.split(z, 4, 1)
                    c = tf.sigmoid(f) * c + tf.sigmoid(a) * tf.tanh(b)
                    h = tf.sigmoid(o) * tf.tanh(c)
                    return i + 1, c, h, out.write(i, h)

                _, _, h, out = tf.while_loop(lambda i, *_: i < steps, body, [0, tf.zeros([2, width]), tf.zeros([2, width]), out])
                loss = tf.identity(tf.reduce_mean(tf.square(h - goal)) + tf.reduce_mean(tf.abs(out.stack())), name="loss")
                step = v1.train.get_or_create_global_step()
                train = v1.train.AdamOptimizer(0.05).minimize(loss, global_step=step, name="train")
                saver = v1.train.Saver(sharded=True)
                with v1.Session() as session:
                    session.run(v1.global_variables_initializer())
                    feeds = {fed: x, goal: t}
                    session.run(train, feeds)
                    saver.save(session, str(place / "model"))
                    for _ in range(4):
                        expected = session.run([loss, train], feeds)[0]
                    words = ["--files", str(place), "--fetch", "save/restore_all", "--fetch", "loss,train", "--times", "4", "--fetch",
                             "save/MergeV2Checkpoints"]
                    ours = runs.run(place / "model.meta", words, {"save/Const": "model", "x:0": x, "t:0": t}, ["loss"])
                    runs.compare(place, ours, {"loss": expected})
                    if ours is None:
                        continue
                    # What the graph's own nodes saved here, TensorFlow restores: the variables after the same steps.
                    wanted = session.run(v1.global_variables())
                    saver.restore(session, str(place / "model"))
                    got = session.run(v1.global_variables())
                    names = [v.op.name for v in v1.global_variables()]
                    runs.compare(place, dict(zip(names, got)), dict(zip(names, wanted)))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--leat", required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--verbose", action="store_true")
    words = parser.parse_args()
    shutil.rmtree(words.folder, ignore_errors=True)
    words.folder.mkdir(parents=True)
    runs = Runs(words.leat, words.folder.resolve(), words.verbose)
    random = np.random.default_rng(words.seed)
    saved_models(runs, random)
    keras_models(runs, random, words.seed)
    v1.disable_eager_execution()
    graphs(runs, random)
    for failure in runs.failures:
        print("models:", failure)
    print(f"models: {runs.compared} results compared, {len(runs.failures)} failures")
    return 1 if runs.failures else 0


if __name__ == "__main__":
    sys.exit(main())
