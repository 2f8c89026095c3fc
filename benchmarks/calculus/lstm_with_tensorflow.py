"""The steps of calculus_lstm_1 and calculus_lstm_32 (loops.cpp) by TensorFlow 2 on one thread, compiled by tf.function: the cell in a
while_loop, and TensorFlow's fused operator BlockLSTMV2. Prints the least time of a step."""
import os
import pathlib
import sys

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import tensorflow as tf  # noqa: E402

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from least_time import least_time  # noqa: E402

tf.config.threading.set_intra_op_parallelism_threads(1)
tf.config.threading.set_inter_op_parallelism_threads(1)
STEPS, UNITS = 100, 64


def by_loop(x, kernel, bias):
    zero = tf.zeros([x.shape[1], UNITS])

    def body(k, c, h, out):
        i, j, f, o = tf.split(tf.concat([x[k], h], 1) @ kernel + bias, 4, 1)
        c = c * tf.sigmoid(f + 1.0) + tf.sigmoid(i) * tf.tanh(j)
        h = tf.tanh(c) * tf.sigmoid(o)
        return k + 1, c, h, out.write(k, h)

    return tf.while_loop(lambda k, *_: k < STEPS, body, (0, zero, zero, tf.TensorArray(tf.float32, STEPS)))[-1].stack()


def by_operator(x, kernel, bias):
    zero, none = tf.zeros([x.shape[1], UNITS]), tf.zeros([UNITS])
    return tf.raw_ops.BlockLSTMV2(seq_len_max=STEPS, x=x, cs_prev=zero, h_prev=zero, w=kernel, wci=none, wcf=none, wco=none, b=bias).h


for batch, calls in ((1, 10), (32, 2)):
    x = tf.random.uniform([STEPS, batch, UNITS], -1, 1, seed=5)
    for name, layer in (("while_loop", by_loop), ("BlockLSTMV2", by_operator)):
        kernel = tf.Variable(tf.random.uniform([2 * UNITS, 4 * UNITS], -0.12, 0.12, seed=6))
        bias = tf.Variable(tf.zeros([4 * UNITS]))

        @tf.function
        def step():
            with tf.GradientTape() as tape:
                loss = 0.5 * tf.reduce_sum(tf.square(layer(x, kernel, bias)))
            for variable, gradient in zip((kernel, bias), tape.gradient(loss, (kernel, bias))):
                variable.assign_sub(1e-4 * gradient)
            return loss

        print(f"calculus_lstm_{batch:<3d} TensorFlow {name:<14s} {1e6 * least_time(calls, step):9.1f} us")
