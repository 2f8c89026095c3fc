"""with_tensorflow.py THREADS: the steps of models.cpp by TensorFlow 2, compiled by tf.function. Prints the least time of a step."""
import os
import pathlib
import sys

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from least_time import least_time  # noqa: E402

threads = int(sys.argv[1]) if len(sys.argv) > 1 else 1
tf.config.threading.set_intra_op_parallelism_threads(threads)
tf.config.threading.set_inter_op_parallelism_threads(1)
glorot = tf.initializers.GlorotUniform()


def numbers(*shape):
    places = np.arange(np.prod(shape), dtype=np.uint64)
    return tf.constant(((places * 2654435761) % 1000 / 1000).astype(np.float32).reshape(shape))


def variables(shapes):
    return [tf.Variable(glorot(s) if len(s) > 1 else tf.zeros(s)) for s in shapes]


class Adam:
    """One ResourceApplyAdam for each variable, as TensorFlow 1.x has it."""

    def __init__(self, over):
        self.over = over
        self.m = [tf.Variable(tf.zeros_like(v)) for v in over]
        self.v = [tf.Variable(tf.zeros_like(v)) for v in over]

    def step(self, gradients):
        for w, m, v, g in zip(self.over, self.m, self.v, gradients):
            tf.raw_ops.ResourceApplyAdam(var=w.handle, m=m.handle, v=v.handle, beta1_power=0.9, beta2_power=0.999, lr=0.001, beta1=0.9,
                                         beta2=0.999, epsilon=1e-8, grad=g)


lenet = variables([[5, 5, 1, 6], [6], [5, 5, 6, 16], [16], [400, 120], [120], [120, 84], [84], [84, 10], [10]])
lenet_adam = Adam(lenet)
images, labels = numbers(64, 28, 28, 1), tf.constant(np.arange(64) % 10)


@tf.function
def lenet_step():
    w = lenet
    with tf.GradientTape() as tape:
        maps = tf.nn.max_pool2d(tf.nn.relu(tf.nn.conv2d(images, w[0], 1, "SAME") + w[1]), 2, 2, "VALID")
        maps = tf.nn.max_pool2d(tf.nn.relu(tf.nn.conv2d(maps, w[2], 1, "VALID") + w[3]), 2, 2, "VALID")
        hidden = tf.nn.relu(tf.reshape(maps, [64, 400]) @ w[4] + w[5])
        logits = tf.nn.relu(hidden @ w[6] + w[7]) @ w[8] + w[9]
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits))
    lenet_adam.step(tape.gradient(loss, w))
    return loss


print(f"lenet  TensorFlow       threads {threads}  {1e3 * least_time(10, lenet_step):7.3f} ms")

lstm = variables([[256, 512], [256, 512], [512], [512]])
lstm_adam = Adam(lstm)
sequences = numbers(32, 64, 128)


def cell(layer, x, c, h):
    i, j, f, o = tf.split(tf.concat([x, h], 1) @ lstm[layer] + lstm[2 + layer], 4, 1)
    c = c * tf.sigmoid(f + 1.0) + tf.sigmoid(i) * tf.tanh(j)
    return c, tf.tanh(c) * tf.sigmoid(o)


@tf.function
def lstm_step():
    with tf.GradientTape() as tape:
        x, zero = tf.transpose(sequences, [1, 0, 2]), tf.zeros([32, 128])

        def body(k, c0, h0, c1, h1, out):
            c0, h0 = cell(0, x[k], c0, h0)
            c1, h1 = cell(1, h0, c1, h1)
            return k + 1, c0, h0, c1, h1, out.write(k, h1)

        out = tf.while_loop(lambda k, *_: k < 64, body, (0, zero, zero, zero, zero, tf.TensorArray(tf.float32, 64)))[-1]
        loss = tf.reduce_mean(tf.square(tf.transpose(out.stack(), [1, 0, 2]) - 0.5 * sequences))
    lstm_adam.step(tape.gradient(loss, lstm))
    return loss


print(f"lstm   TensorFlow       threads {threads}  {1e3 * least_time(1, lstm_step):7.2f} ms")
