"""Graphs by chance, written by TensorFlow: the operators that leat knows (and some that it must carry unknown), variables of
both kinds, scopes, devices, control dependencies, gradients by TensorFlow's own registry, loops and conditions, optimizers'
steps, queues; and what is to be run of them."""

import random

import numpy as np
import tensorflow as tf

v1 = tf.compat.v1

UNARY = [
    tf.negative, tf.square, tf.abs, tf.sign, tf.floor, tf.math.ceil, tf.round, tf.exp, tf.math.expm1, tf.math.log, tf.math.log1p,
    tf.sqrt, tf.math.rsqrt, tf.math.reciprocal, tf.tanh, tf.sigmoid, tf.nn.softplus, tf.sin, tf.cos, tf.tan, tf.asin, tf.acos,
    tf.atan, tf.sinh, tf.cosh, tf.math.erf, tf.nn.relu, tf.nn.relu6, tf.nn.elu, tf.nn.leaky_relu, tf.identity, tf.stop_gradient, tf.zeros_like,
    tf.ones_like, tf.nn.selu, tf.nn.softsign, tf.math.is_nan, tf.math.is_finite,
]
BINARY = [
    tf.add, tf.subtract, tf.multiply, tf.divide, tf.math.floordiv, tf.math.floormod, tf.maximum, tf.minimum, tf.pow,
    tf.math.squared_difference, v1.truncatemod, lambda x, y: x + y, lambda x, y: x * y, lambda x, y: x - y,
    tf.math.divide_no_nan, tf.math.xlogy, tf.math.atan2,
]
COMPARE = [tf.equal, tf.not_equal, tf.less, tf.less_equal, tf.greater, tf.greater_equal]
REDUCE = [v1.reduce_sum, v1.reduce_mean, v1.reduce_max, v1.reduce_min, v1.reduce_prod]


def variable(value, name):
    """One whose initialization waits for nothing, whatever the scope: it would need other variables."""
    with tf.control_dependencies(None):
        return v1.Variable(tf.get_static_value(value) if tf.is_tensor(value) else value, name=name)


class Grower:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.values = []
        self.refused = 0
        self.feeds = {}  # of each placeholder by its name: an array
        self.updates = []  # operations, each to be run by itself, in this order
        self.watched = []  # what shows their effect

    def sizes(self, least=0, most=3):
        return [self.random.randint(1, 4) for _ in range(self.random.randint(least, most))]

    def keep(self, tensor):
        self.values.append(tensor)
        return tensor

    def leaf(self, dtype, sizes):
        n = 1
        for d in sizes:
            n *= d
        kind = self.random.randint(0, 4)
        floating = dtype.is_floating
        number = (lambda: self.random.uniform(-2, 2)) if floating else (lambda: self.random.randint(0, 5))
        if kind == 0:
            return self.keep(tf.constant([number() for _ in range(n)], dtype, sizes))
        if kind == 1:
            return self.keep(tf.constant(number(), dtype, sizes))
        if kind == 2 and floating:
            with v1.variable_scope(self.random.choice(["net", "layer"]), reuse=v1.AUTO_REUSE):
                name = "v" + dtype.name + "_".join(map(str, sizes))
                start = v1.constant_initializer(self.random.uniform(-2, 2)) if self.random.random() < 0.85 else None
                with tf.control_dependencies(None):  # or initializing would need other variables
                    v = v1.get_variable(name, sizes, dtype, initializer=start)
                return self.keep(v.value())
        if kind == 3:
            return self.keep(variable(tf.constant([number() for _ in range(n)], dtype, sizes), "w").value())
        known = [None if self.random.random() < 0.3 else d for d in sizes]
        return self.fed(dtype, sizes, None if self.random.random() < 0.1 else known, number)

    def fed(self, dtype, sizes, known, number):
        tensor = v1.placeholder(dtype, known, "anything" if known is None else "x")
        self.feeds[tensor.name] = np.array([number() for _ in range(int(np.prod(sizes)))], dtype.as_numpy_dtype).reshape(sizes)
        return self.keep(tensor)

    def indices(self, sizes, limit, dtype=None):
        """Whole numbers below a limit, sometimes fed."""
        dtype = dtype or self.random.choice([tf.int32, tf.int64])
        number = lambda: self.random.randrange(limit)  # noqa: E731
        if self.random.random() < 0.3:
            tensor = self.fed(dtype, sizes, sizes, number)
            self.values.pop()
            return tensor
        return tf.constant([number() for _ in range(int(np.prod(sizes)))], dtype, sizes)

    def any(self, dtype, least=0, most=4):
        found = [v for v in self.values
                 if v.dtype.base_dtype == dtype and v.shape.rank is not None and least <= v.shape.rank <= most]
        if found and self.random.random() < 0.9:
            return self.random.choice(found)
        tensor = self.leaf(dtype, self.sizes(least, min(3, most)))
        return tensor if tensor.shape.rank is not None else self.any(dtype, least, most)

    def beside(self, x):
        """Something that broadcasts with x."""
        if self.random.random() < 0.3:
            return tf.constant(2, x.dtype.base_dtype)
        for _ in range(5):
            y = self.any(x.dtype.base_dtype)
            try:
                tf.broadcast_static_shape(x.shape, y.shape)
                return y
            except ValueError:
                pass
        return x

    def float_type(self):
        return tf.float32 if self.random.random() < 0.85 else tf.float64

    def step(self):  # noqa: C901
        r = self.random
        kind = r.randint(0, 40)
        x = self.any(self.float_type())
        rank = x.shape.rank
        if kind <= 3:
            self.keep(r.choice(UNARY)(x))
        elif kind <= 7:
            self.keep(r.choice(BINARY)(x, self.beside(x)))
        elif kind == 8:
            condition = self.keep(r.choice(COMPARE)(x, self.beside(x)))
            y = self.beside(x)
            if r.random() < 0.6:
                try:
                    self.keep(tf.where(condition, x, y))
                except ValueError:
                    pass
        elif kind == 9:
            f = r.choice(REDUCE)
            if r.random() < 0.3:
                self.keep(f(x, keepdims=r.random() < 0.5))
            else:
                axes = [a for a in range(rank) if r.random() < 0.5]
                self.keep(f(x, axes, keepdims=r.random() < 0.5))
        elif kind == 10 and rank >= 1:
            self.keep(r.choice([tf.argmax, tf.argmin])(x, r.randrange(rank)))
        elif kind == 11:
            if r.random() < 0.5:
                self.keep(tf.reshape(x, [-1]))
            elif x.shape.is_fully_defined():
                self.keep(tf.reshape(x, [1] + x.shape.as_list()[::-1]))
        elif kind == 12 and rank >= 1:
            order = list(range(rank))
            r.shuffle(order)
            self.keep(tf.transpose(x, order))
        elif kind == 13:
            self.keep(tf.expand_dims(x, r.randint(0, rank)) if rank < 4 else tf.squeeze(tf.expand_dims(x, 0), [0]))
        elif kind == 14 and rank >= 1:
            begin = [0 if d is None or d == 1 else r.randrange(d) for d in x.shape.as_list()]
            self.keep(tf.slice(x, begin, [-1] * rank))
        elif kind == 15 and rank >= 1:
            self.keep(r.choice([
                lambda: tf.pad(x, [[r.randint(0, 2), 1] for _ in range(rank)]),
                lambda: tf.concat([x, x], r.randrange(rank)),
                lambda: tf.stack([x, x], r.randint(0, rank)),
                lambda: tf.tile(x, [r.randint(1, 2) for _ in range(rank)]),
                lambda: x[..., 0],
                lambda: tf.add_n([x, x, x]),
                lambda: tf.cumsum(x, r.randrange(rank)),
            ])())
        elif kind == 16:
            a = self.any(x.dtype.base_dtype, 2, 2)
            inner = a.shape.as_list()[1]
            b = self.leaf(x.dtype.base_dtype, [inner or 3, r.randint(1, 4)])
            if b.shape.rank == 2:
                self.keep(tf.matmul(a, b))
        elif kind == 17 and rank >= 1:
            at = tf.constant([0, 0], r.choice([tf.int32, tf.int64]))
            self.keep(tf.gather(x, at))
            self.keep(tf.one_hot(at, 3, on_value=2.0, off_value=-1.0))
        elif kind == 18 and rank == 2:
            self.keep(tf.nn.softmax(x))
            self.keep(tf.nn.log_softmax(x))
            self.keep(v1.nn.softmax_cross_entropy_with_logits_v2(labels=tf.nn.softmax(x), logits=x))
        elif kind == 19:
            self.keep(tf.cast(x, r.choice([tf.int32, tf.int64, tf.float32, tf.float64, tf.bool])))
            self.keep(tf.clip_by_value(x, tf.constant(-1, x.dtype.base_dtype), tf.constant(1, x.dtype.base_dtype)))
            self.keep(tf.nn.l2_loss(x))
        elif kind == 20:
            self.keep(tf.shape(x))
            self.keep(tf.size(x))
            self.keep(tf.fill([2, 3], tf.constant(0.5, x.dtype.base_dtype)))
            self.keep(tf.random.normal([2, 3], seed=r.randint(1, 9)))
        elif kind == 21:
            self.flow()
        elif kind == 22 and rank >= 1:
            self.keep(x[tuple(self.part(d) for d in x.shape.as_list())])
        elif kind == 23 and rank >= 1:
            self.keep(r.choice([lambda: x[..., tf.newaxis], lambda: x[tf.newaxis, ..., ::-1], lambda: x[-1], lambda: x[..., -1:],
                                lambda: x[:1, ..., tf.newaxis], lambda: tf.reverse(x, [r.randrange(rank)])])())
        elif kind == 24 and rank >= 1 and x.shape.as_list()[0]:
            n = x.shape.as_list()[0]
            if r.random() < 0.5:
                for part in tf.unstack(x, axis=0):
                    self.keep(part)
            elif n % 2 == 0:
                self.keep(tf.split(x, 2)[r.randrange(2)])
            else:
                self.keep(tf.split(x, [1, n - 1])[1] if n > 1 else tf.split(x, [1])[0])
        elif kind == 25:
            self.keep(tf.tile(x, [r.randint(1, 2) for _ in range(rank)]) if rank else tf.broadcast_to(x, [2, 1]))
        elif kind == 26 and rank >= 1 and x.shape.as_list()[0]:
            n = x.shape.as_list()[0]
            which = self.indices([n], 3, tf.int32)
            parts = tf.dynamic_partition(x, which, 3)
            for part in parts:
                self.keep(part)
            places = tf.dynamic_partition(tf.range(n), which, 3)
            self.keep(tf.dynamic_stitch(places, parts))
        elif kind == 27 and rank >= 1 and x.shape.as_list()[-1]:
            values, at = tf.nn.top_k(x, r.randint(1, x.shape.as_list()[-1]))
            self.keep(values)
            self.keep(at)
        elif kind == 28 and rank >= 2 and x.shape.as_list()[-1]:
            self.keep(tf.nn.bias_add(x, self.vector(x.dtype.base_dtype, x.shape.as_list()[-1])))
        elif kind == 29:
            a = tf.constant([[[r.uniform(-2, 2) for _ in range(3)] for _ in range(2)] for _ in range(2)], x.dtype.base_dtype)
            b = self.leaf(x.dtype.base_dtype, [2, 3, 2])
            if b.shape.rank == 3:
                self.keep(tf.matmul(a, b))
                self.keep(tf.matmul(a, b, transpose_a=True, transpose_b=True) if r.random() < 0.3 else tf.matmul(b, b, transpose_b=True))
        elif kind == 30 and rank >= 1 and x.shape.as_list()[0]:
            n = x.shape.as_list()[0]
            self.keep(r.choice([
                lambda: tf.math.unsorted_segment_sum(x, self.indices([n], 3), 3),
                lambda: tf.scatter_nd(tf.expand_dims(self.indices([n], 4, tf.int32), 1), x, [4] + x.shape.as_list()[1:])
                if x.shape.is_fully_defined() else x,
                lambda: tf.gather_nd(x, self.indices([2, 1], n)),
                lambda: tf.gather(x, self.indices([2, 2], n)),
                lambda: tf.boolean_mask(x, tf.constant([r.random() < 0.5 for _ in range(n)])),
                lambda: tf.where(x > 0),
                lambda: tf.unique(self.indices([n], 3))[1],
            ])())
        elif kind == 31 and rank == 2 and x.shape.is_fully_defined():
            n, classes = x.shape.as_list()
            labels = self.indices([n], classes)
            self.keep(v1.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=x))
            self.keep(tf.math.in_top_k(labels, x, 1) if x.dtype.base_dtype == tf.float32 else labels)
            self.keep(v1.nn.sigmoid_cross_entropy_with_logits(labels=tf.sigmoid(x), logits=x))
        elif kind == 32:
            y = self.beside(x)
            a, b = x > 0, y < 1
            self.keep(r.choice([tf.logical_and, tf.logical_or])(a, b))
            self.keep(tf.reduce_all(a) if r.random() < 0.5 else tf.reduce_any(tf.logical_not(b)))
        elif kind == 33:
            i = self.any(r.choice([tf.int32, tf.int64]))
            j = self.beside(i)
            self.keep(r.choice([tf.add, tf.subtract, tf.multiply, tf.math.floordiv, tf.math.floormod, tf.maximum, tf.minimum, tf.truncatediv,
                                tf.divide, v1.div, v1.truncatemod])(i, j))
            self.keep(r.choice([tf.abs, tf.negative, tf.sign, tf.square, v1.reduce_sum, v1.reduce_max, v1.reduce_mean, v1.reduce_prod])(i))
        elif kind == 34:
            self.keep(tf.range(r.randint(0, 3), r.randint(4, 9), r.randint(1, 2)))
            self.keep(tf.rank(x))
            self.keep(tf.math.invert_permutation(tf.constant(r.sample(range(4), 4))))
            self.keep(tf.reshape(x, tf.shape(x)[::-1]))
        elif kind == 35 and not self.resources:
            self.scatter(x)
        elif kind == 36 and not self.resources and r.random() < 0.5:
            self.queue()
        elif kind == 37 and not self.resources:
            self.counter()
        elif kind == 38:
            limits = v1.clip_by_norm(x, 1.5) if r.random() < 0.5 else tf.clip_by_global_norm([x, self.any(x.dtype.base_dtype)], 1.0)[0][0]
            self.keep(limits)
        elif kind == 39:
            self.keep(tf.where(tf.greater(x, 0), x, tf.zeros_like(x)))
            self.keep(v1.where(x > 0, x, -x))
        elif kind == 40:
            self.keep(v1.placeholder_with_default(tf.constant([[1.0, 2.0]], x.dtype.base_dtype), [None, 2]))
            self.keep(tf.math.reduce_logsumexp(x))
            self.keep(tf.norm(x))

    def vector(self, dtype, n):
        return tf.constant([self.random.uniform(-2, 2) for _ in range(n)], dtype)

    def part(self, d):
        r = self.random
        if d is None:
            return slice(None)
        kind = r.randint(0, 4)
        begin = r.randrange(d)
        if kind == 0:
            return begin
        if kind == 1:
            return slice(begin, None, r.randint(1, 2))
        if kind == 2:
            return slice(None, None, -1)
        if kind == 3:
            return slice(begin - d, r.randint(begin + 1, d))
        return slice(None)

    def flow(self):
        """A condition or a loop, of values from outside and inside."""
        r = self.random
        y = self.any(tf.float32)
        limit = tf.constant(r.uniform(-1, 1))
        kind = r.randint(0, 4)
        if kind == 0:
            self.keep(v1.cond(tf.reduce_sum(y) > limit, lambda: tf.square(y), lambda: tf.negative(y)))
        elif kind == 1:
            z = self.any(tf.float32)
            first, second = v1.cond(tf.reduce_mean(y) > limit, lambda: (tf.tanh(y), z * 2),
                                    lambda: (v1.cond(tf.reduce_sum(z) > 0, lambda: y + 1, lambda: y - 1), tf.sin(z)))
            self.keep(first)
            self.keep(second)
        elif kind == 2:
            times = tf.constant(r.randint(0, 4))
            self.keep(v1.while_loop(lambda i, a: i < times, lambda i, a: (i + 1, tf.tanh(a)), [tf.constant(0), y],
                                    shape_invariants=[tf.TensorShape([]), y.shape])[1])
        elif kind == 3:
            # stops by what it computes
            total = v1.while_loop(lambda i, s: tf.logical_and(s < 20.0, i < 9), lambda i, s: (i + 1, s * 1.5 + tf.reduce_mean(tf.abs(y))),
                                  [tf.constant(0), tf.reduce_sum(tf.abs(y))])
            self.keep(total[0])
            self.keep(total[1])
        else:
            # a condition in a loop, and a loop in a loop
            def body(i, a):
                b = v1.cond(tf.equal(i % 2, 0), lambda: tf.sin(a), lambda: a * 0.5)
                c = v1.while_loop(lambda j, s: j < i, lambda j, s: (j + 1, tf.cos(s)), [tf.constant(0), b],
                                  shape_invariants=[tf.TensorShape([]), y.shape])[1]
                return i + 1, c
            self.keep(v1.while_loop(lambda i, a: i < 3, body, [tf.constant(0), y], shape_invariants=[tf.TensorShape([]), y.shape])[1])

    def scatter(self, x):
        """Writes of rows of a variable."""
        r = self.random
        rows, width = r.randint(2, 4), r.randint(1, 3)
        v = variable(tf.constant([r.uniform(0.5, 2) for _ in range(rows * width)], tf.float32, [rows, width]), "rows")
        n = r.randint(1, 4)
        by = tf.constant([r.uniform(0.5, 2) for _ in range(n * width)], tf.float32, [n, width])
        f = r.choice([v1.scatter_add, v1.scatter_sub, v1.scatter_mul, v1.scatter_div, v1.scatter_min, v1.scatter_max, v1.scatter_update,
                      v1.scatter_nd_update])
        at = self.indices([n], rows + (1 if r.random() < 0.05 else 0))
        self.updates.append(f(v, tf.expand_dims(at, 1) if f is v1.scatter_nd_update else at, by))
        self.watched.append(v.value())
        del x

    def counter(self):
        """A variable that is read, written and read in a given order."""
        r = self.random
        dtype = r.choice([tf.float32, tf.int32, tf.int64, tf.float64])
        sizes = self.sizes(0, 2)
        v = variable(tf.ones(sizes, dtype), "counter")
        after = []
        for _ in range(r.randint(1, 3)):
            with tf.control_dependencies(after):
                write = r.choice([v1.assign, v1.assign_add, v1.assign_sub])(v, tf.fill(sizes, tf.constant(r.randint(1, 4), dtype)))
            with tf.control_dependencies([write]):
                seen = v.read_value() * 2
            after = [seen]
            self.updates.append(seen)
        self.watched.append(v.value())
        if dtype in (tf.int32, tf.int64) and not sizes:
            self.updates.append(v1.count_up_to(variable(tf.constant(0, dtype), "to_two"), 2))
            self.updates += [self.updates[-1]] * 2  # the third is out of range

    def queue(self):
        r = self.random
        kind = r.choice([tf.queue.FIFOQueue, tf.queue.PaddingFIFOQueue])
        q = kind(r.randint(3, 5), [tf.float32, tf.int32], shapes=[[2], []], name="queue")
        v = variable(1.0, "fed")
        put = q.enqueue([tf.fill([2], v1.assign_add(v, 1.0)), tf.constant(r.randint(0, 9))])
        many = q.enqueue_many([tf.constant([[1.0, 2], [3, 4]]), tf.constant([5, 6])])
        size = q.size()
        first = q.dequeue()
        two = q.dequeue_many(2)
        up_to = q.dequeue_up_to(3)
        close = q.close()
        steps = [put, size, many, first[0] * 2, size, two[0], size, put, put, two[1], size, put]
        steps += r.choice([[close, size, up_to[0], first[1], put], [first[1], size, put, close, first[0], first[0], put]])
        self.updates += steps
        self.watched.append(v.value())

    def block(self, depth=0):
        r = self.random
        kind = r.randint(0, 5)
        if kind == 0:
            scope = v1.name_scope(r.choice(["layer", "tower", "a/b"]))
        elif kind == 1:
            scope = v1.device(r.choice(["/cpu:0", "/job:ps/task:1", "/job:worker/device:GPU:0", None]))
        elif kind == 2:
            scope = v1.control_dependencies([self.any(tf.float32)])
        else:
            scope = v1.name_scope(None) if depth == 0 and r.random() < 0.2 else v1.variable_scope(v1.get_variable_scope())
        with scope:
            for _ in range(r.randint(1, 7)):
                if depth < 3 and r.random() < 0.15:
                    self.block(depth + 1)
                else:
                    try:
                        self.step()
                    except ValueError:  # TensorFlow refuses the shapes
                        self.refused += 1


OPTIMIZERS = [
    lambda: v1.train.GradientDescentOptimizer(0.1), lambda: v1.train.MomentumOptimizer(0.1, 0.9),
    lambda: v1.train.MomentumOptimizer(0.1, 0.9, use_nesterov=True), lambda: v1.train.AdamOptimizer(0.05),
    lambda: v1.train.AdagradOptimizer(0.1), lambda: v1.train.RMSPropOptimizer(0.05), lambda: v1.train.RMSPropOptimizer(0.05, momentum=0.5, centered=True),
    lambda: v1.train.AdadeltaOptimizer(0.5), lambda: v1.train.FtrlOptimizer(0.1, l1_regularization_strength=0.01, l2_regularization_strength=0.02),
    lambda: v1.train.ProximalGradientDescentOptimizer(0.1, 0.01, 0.01), lambda: v1.train.ProximalAdagradOptimizer(0.1, l1_regularization_strength=0.01),
]


# What TensorFlow says where it has no gradient: TruncateMod, rows that are gathered in a loop, no variable that is asked for.
NO_GRADIENT = (LookupError, ValueError, tf.errors.InvalidArgumentError)


def train(grower, loss, of, seed):
    """A step of an optimizer; all gradients are computed before the first variable is written."""
    r = grower.random
    optimizer = OPTIMIZERS[seed % len(OPTIMIZERS)]()
    table = variable(tf.constant([r.uniform(-1, 1) for _ in range(8)], tf.float32, [4, 2]), "table")
    rows = tf.nn.embedding_lookup(table, grower.indices([3], 4)) if r.random() < 0.5 and not grower.resources else None
    if rows is not None:
        loss = loss + tf.reduce_sum(tf.square(rows))
        of = of + [table]
    try:
        step = v1.train.create_global_step() if r.random() < 0.3 and v1.train.get_global_step() is None else None
        grower.updates += [optimizer.minimize(loss, step, of, gate_gradients=v1.train.Optimizer.GATE_GRAPH)] * 3
    except NO_GRADIENT:
        pass


class Made:
    """A graph, and what is to be run of it."""

    def __init__(self, graph, grower, init):
        self.graph = graph
        self.feeds = grower.feeds
        self.init = init.name
        seen = {}
        for v in grower.values + grower.watched:
            if v.dtype.base_dtype in (tf.float32, tf.float64, tf.int32, tf.int64, tf.bool):
                seen[v.name] = None
        self.fetches = list(seen)
        self.watched = [v.value().name for v in v1.global_variables()]
        self.updates = [u.name for u in grower.updates]


def make(seed):
    """A graph of TensorFlow from a seed, and its runs."""
    graph = tf.Graph()
    if seed % 4:
        v1.disable_resource_variables()
    else:
        v1.enable_resource_variables()
    with graph.as_default():
        v1.set_random_seed(seed)
        grower = Grower(seed)
        grower.resources = seed % 4 == 0
        for _ in range(3):
            grower.leaf(tf.float32, grower.sizes(1, 2))
        for _ in range(grower.random.randint(3, 8)):
            grower.block()
        variables = [v for v in v1.trainable_variables() if v.dtype.base_dtype.is_floating]
        floats = [v for v in grower.values if v.dtype.base_dtype == tf.float32]
        of = [v for v in variables if v.dtype.base_dtype == tf.float32]
        fed = [v for v in floats if v.op.type == "Placeholder"]
        for _ in range(2):  # gradients that are looked at
            xs = grower.random.sample(of + fed, min(3, len(of + fed)))
            if xs and floats:
                try:
                    slopes = v1.gradients(grower.random.sample(floats, min(6, len(floats))), xs)
                except NO_GRADIENT:
                    continue
                for slope in slopes:
                    if slope is not None and not isinstance(slope, tf.IndexedSlices):
                        grower.keep(slope)
        if of and floats:
            loss = tf.add_n([tf.reduce_mean(tf.tanh(f)) for f in grower.random.sample(floats, min(6, len(floats)))], name="loss")
            try:
                slopes = v1.gradients(loss, of)
            except NO_GRADIENT:
                slopes = [None] * len(of)
            for slope, v in zip(slopes, of):
                if slope is not None and not isinstance(slope, tf.IndexedSlices) and grower.random.random() < 0.7:
                    grower.updates.append(v1.assign_sub(v, 0.1 * slope))
            if grower.random.random() < 0.7:
                train(grower, loss, of, seed)
        made = Made(graph, grower, v1.global_variables_initializer())
    return made
