"""Writes rosenbrock_tensorflow.pb, a graph of TensorFlow 1.x for examples/from_tensorflow.cpp.

    python3 -m pip install tensorflow-cpu==2.21.0
    python3 examples/data/make_tensorflow_model.py

Adam walks down Rosenbrock's valley, (1 - p)^2 + 100 (q - p^2)^2; a while_loop counts the steps of Newton's method for a root.
"""

import os
import pathlib

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")

import tensorflow as tf  # noqa: E402

v1 = tf.compat.v1
v1.disable_eager_execution()
v1.disable_control_flow_v2()

graph = tf.Graph()
with graph.as_default():
    rate = v1.placeholder_with_default(tf.constant(0.01), [], name="rate")
    with v1.variable_scope("point", use_resource=False):
        p = v1.get_variable("p", initializer=-1.5)
        q = v1.get_variable("q", initializer=2.0)
    valley = tf.add(tf.square(1 - p), 100 * tf.square(q - tf.square(p)), name="valley")
    v1.train.AdamOptimizer(rate).minimize(valley, name="train")

    number = v1.placeholder(tf.float32, [], name="number")
    root, steps = tf.while_loop(
        lambda x, n: tf.logical_and(tf.abs(x * x - number) > 1e-5 * number, n < 50),
        lambda x, n: (0.5 * (x + number / x), n + 1),
        (number, tf.constant(0)), name="newton")
    tf.identity(root, name="root")
    tf.identity(steps, name="steps")
    v1.global_variables_initializer()

path = pathlib.Path(__file__).parent / "rosenbrock_tensorflow.pb"
path.write_bytes(graph.as_graph_def().SerializeToString())
print(path.name, len(graph.as_graph_def().node), "nodes,", path.stat().st_size, "bytes")
