#!/usr/bin/env python3
"""Writes typed leat programs that repeat what TensorFlow was recorded to do, one C++ file per family.

    generate.py --reference FOLDER --include INCLUDE --output FOLDER     write the sources
    generate.py --reference FOLDER --include INCLUDE --coverage          say what is covered, and what is not and why

The reference folder holds ops.json, losses.json and optimizers.json, in the format that their descriptions state. Each
case becomes expressions over placeholders of its inputs' static shapes; where TensorFlow recorded gradients, those of
sum(output * incoming gradient) are asked for as well. Several cases share a session, so that a program of some hundred
cases compiles in seconds. A case is left out with a reason: a function that it needs is not in the headers yet, the
operator does not take its dtype there, or it has no typed spelling. Files that would not change are not written again.
The environment variable LEAT_REFERENCE, where it is set, takes the place of --reference.
"""

import argparse
import collections
import json
import math
import os
import pathlib
import re
import sys

CASES_PER_SESSION = 6
def has_no_numbers(case):
    return any(isinstance(x, str) for i in case["inputs"] if i["dtype"].startswith("float") for x in i["data"])


# operators with which the library differs from TensorFlow on purpose: in which cases, and why
DIFFERENT = {
    "Prod": (has_no_numbers, "the gradient divides the product by each element; beside NaN and infinities that gives NaN"),
}
TYPES = {
    "float32": "float",
    "float64": "double",
    "int32": "std::int32_t",
    "int64": "std::int64_t",
    "uint8": "std::uint8_t",
    "bool": "bool",
}
TOLERANCES = {"float32": "1e-5", "float64": "1e-12"}


class Unsupported(Exception):
    """Why a case has no program."""


# --------------------------------------------------------------------------------------------------------- C++ literals


def literal(value, dtype):
    if dtype == "bool":
        return "true" if value else "false"
    if dtype not in ("float32", "float64"):
        if value in (-(2**31), -(2**63)):
            return f"std::numeric_limits<{TYPES[dtype]}>::min()"
        return f"{value}"
    if isinstance(value, str):
        limit = f"std::numeric_limits<{TYPES[dtype]}>::"
        return {
            "NaN": limit + "quiet_NaN()",
            "Infinity": limit + "infinity()",
            "-Infinity": "-" + limit + "infinity()",
        }[value]
    return repr(float(value)) + ("f" if dtype == "float32" else "")


def type_of(dtype):
    if dtype not in TYPES:
        raise Unsupported(f"dtype {dtype}")
    return TYPES[dtype]


def tensor(value):
    """An xtensor array, or a plain number for a scalar."""
    element, shape = type_of(value["dtype"]), value["shape"]
    data = ", ".join(literal(v, value["dtype"]) for v in value["data"])
    if not shape:
        return f"{element}{{{data}}}"
    return f"reference::tensor<{element}, {len(shape)}>({{{', '.join(map(str, shape))}}}, {{{data}}})"


def identifier(text):
    return re.sub(r"\W", "_", text).lower()


def numbers(values):
    return ", ".join(str(v) for v in values)


# ------------------------------------------------------------------------------- the spelling of TensorFlow's operators
#
# A spelling takes a case and gives the C++ expression of its first output, or a list of expressions, one for each
# output. `c.x("name")` is the operand that stands for an input and is fed; `c.value("name")` is the content of an input
# that the typed front end wants at compile time.

UNARY = {
    "Neg": "-{}",
    "Abs": "leat::abs({})",
    "Sign": "sign({})",
    "Square": "square({})",
    "Sqrt": "leat::sqrt({})",
    "Rsqrt": "rsqrt({})",
    "Exp": "leat::exp({})",
    "Expm1": "leat::expm1({})",
    "Log": "leat::log({})",
    "Log1p": "leat::log1p({})",
    "Sigmoid": "sigmoid({})",
    "Tanh": "leat::tanh({})",
    "Sin": "leat::sin({})",
    "Cos": "leat::cos({})",
    "Tan": "leat::tan({})",
    "Asin": "leat::asin({})",
    "Acos": "leat::acos({})",
    "Atan": "leat::atan({})",
    "Sinh": "leat::sinh({})",
    "Cosh": "leat::cosh({})",
    "Erf": "leat::erf({})",
    "Erfc": "leat::erfc({})",
    "Round": "leat::round({})",
    "Floor": "leat::floor({})",
    "Ceil": "leat::ceil({})",
    "Rint": "leat::round({})",
    "Reciprocal": "reciprocal({})",
    "Relu": "relu({})",
    "Relu6": "relu6({})",
    "Elu": "elu({})",
    "Selu": "selu({})",
    "Softplus": "softplus({})",
    "Softsign": "softsign({})",
    "IsNan": "is_nan({})",
    "IsInf": "is_inf({})",
    "IsFinite": "is_finite({})",
    "LogicalNot": "!{}",
    "Identity": "identity({})",
    "StopGradient": "stop_gradient({})",
    "ZerosLike": "zeros_like({})",
    "OnesLike": "ones_like({})",
    "L2Loss": "l2_loss({})",
}
BINARY = {
    "AddV2": "{} + {}",
    "Sub": "{} - {}",
    "Mul": "{} * {}",
    "RealDiv": "{} / {}",
    "Div": "{} / {}",
    "DivNoNan": "div_no_nan({}, {})",
    "FloorDiv": "floor_divide({}, {})",
    "FloorMod": "floor_mod({}, {})",
    "TruncateDiv": "truncate_divide({}, {})",
    "TruncateMod": "truncate_mod({}, {})",
    "Pow": "leat::pow({}, {})",
    "Maximum": "maximum({}, {})",
    "Minimum": "minimum({}, {})",
    "SquaredDifference": "squared_difference({}, {})",
    "Atan2": "leat::atan2({}, {})",
    "Equal": "equal({}, {})",
    "NotEqual": "not_equal({}, {})",
    "Less": "{} < {}",
    "LessEqual": "{} <= {}",
    "Greater": "{} > {}",
    "GreaterEqual": "{} >= {}",
    "LogicalAnd": "{} && {}",
    "LogicalOr": "{} || {}",
    "Xdivy": "xdivy({}, {})",
    "Xlogy": "xlogy({}, {})",
    "BiasAdd": "bias_add({}, {})",
}
REDUCTIONS = {
    "Sum": "reduce_sum",
    "Mean": "reduce_mean",
    "Prod": "reduce_prod",
    "Max": "reduce_max",
    "Min": "reduce_min",
    "All": "reduce_all",
    "Any": "reduce_any",
}


def template_of(pattern):
    return lambda c: pattern.format(*(c.x(i) for i in range(len(c.inputs))))


def reduction(name):
    def spell(c):
        axes, rank = c.value("reduction_indices"), len(c.inputs[0]["shape"])
        if not axes and rank > 0:
            raise Unsupported("an empty list of axes; without axes the typed function reduces over all")
        keep = "_keep" if c.attrs["keep_dims"] else ""
        return f"{name}{keep}{'<' + numbers(axes) + '>' if axes else ''}({c.x(0)})"

    return spell


def matmul(c):
    flags = [c.attrs["transpose_a"], c.attrs["transpose_b"]]
    arguments = "<" + ", ".join("true" if flag else "false" for flag in flags) + ">" if any(flags) else ""
    return f"matmul{arguments}({c.x('a')}, {c.x('b')})"


def reshape(c):
    return f"reshape<{numbers(c.outputs[0]['shape'])}>({c.x('tensor')})"


def squeeze(c):
    dims = c.attrs["squeeze_dims"]
    return f"squeeze{'<' + numbers(dims) + '>' if dims else ''}({c.x(0)})"


def segment_sum(c):
    return f"unsorted_segment_sum<{numbers(c.value('num_segments'))}>({c.x('data')}, {c.x('segment_ids')})"


def concat(c):
    return f"concat<{numbers(c.value('axis'))}>({', '.join(c.x(i) for i in range(len(c.inputs) - 1))})"


def slice_of(c):
    begin, size = c.value("begin"), c.value("size")
    return f"slice<begins<{numbers(begin)}>, sizes<{numbers(size)}>>({c.x('input')})"


def pad(c):
    paddings = c.value("paddings")
    return f"pad<before<{numbers(paddings[0::2])}>, behind<{numbers(paddings[1::2])}>>({c.x('input')})"


def cast(c):
    return f"cast<{type_of(c.attrs['DstT'])}>({c.x('x')})"


def select(c):
    condition, chosen = c.inputs[0]["shape"], c.inputs[1]["shape"]
    if c.op == "Select" and condition != chosen and condition != []:
        raise Unsupported("a vector condition that picks rows; the typed function broadcasts as SelectV2 does")
    return f"select({c.x(0)}, {c.x(1)}, {c.x(2)})"


def index_of_extreme(name):
    def spell(c):
        return f"{name}<{numbers(c.value('dimension'))}, {type_of(c.attrs['output_type'])}>({c.x('input')})"

    return spell


def one_hot(c):
    if c.attrs["axis"] != -1:
        raise Unsupported("an axis other than the last")
    dtype = c.attrs["T"]
    values = ", ".join(literal(c.value(name)[0], dtype) for name in ("on_value", "off_value"))
    return f"one_hot<{numbers(c.value('depth'))}, {type_of(dtype)}, {values}>({c.x('indices')})"


def gather(c):
    if c.attrs.get("batch_dims", 0) != 0:
        raise Unsupported("batch dimensions")
    if c.op == "GatherV2" and c.value("axis")[0] != 0:
        raise Unsupported("an axis other than the first")
    return f"gather({c.x('params')}, {c.x('indices')})"


def cross_entropy(c):
    prefix = "sparse_" if c.op.startswith("Sparse") else ""
    return f"{prefix}softmax_cross_entropy_with_logits({c.x('labels')}, {c.x('features')})"


SPELLINGS = {
    **{op: template_of(pattern) for op, pattern in UNARY.items()},
    **{op: template_of(pattern) for op, pattern in BINARY.items()},
    **{op: reduction(name) for op, name in REDUCTIONS.items()},
    "Add": template_of("{} + {}"),
    "Inv": template_of("reciprocal({})"),
    "LeakyRelu": lambda c: f"leaky_relu({c.x(0)}, {float(c.attrs['alpha'])!r}_c)",
    "Cast": cast,
    "Select": select,
    "SelectV2": select,
    "ClipByValue": lambda c: f"clip_by_value({c.x(0)}, {c.x(1)}, {c.x(2)})",
    "AddN": lambda c: f"add_n({', '.join(c.x(i) for i in range(len(c.inputs)))})",
    "MatMul": matmul,
    "Reshape": reshape,
    "Squeeze": squeeze,
    "ExpandDims": lambda c: f"expand_dims<{numbers(c.value('dim'))}>({c.x('input')})",
    "Transpose": lambda c: f"transpose<{numbers(c.value('perm'))}>({c.x('x')})",
    "ConcatV2": concat,
    "Slice": slice_of,
    "Pad": pad,
    "UnsortedSegmentSum": segment_sum,
    "BroadcastTo": lambda c: f"broadcast_to<{numbers(c.value('shape'))}>({c.x('input')})",
    "ArgMax": index_of_extreme("argmax"),
    "ArgMin": index_of_extreme("argmin"),
    "OneHot": one_hot,
    "GatherV2": gather,
    "Gather": gather,
    "Softmax": lambda c: f"softmax<-1>({c.x(0)})",
    "LogSoftmax": lambda c: f"log_softmax<-1>({c.x(0)})",
    "SoftmaxCrossEntropyWithLogits": cross_entropy,
    "SparseSoftmaxCrossEntropyWithLogits": cross_entropy,
}
FAMILIES = {
    "functions": [*UNARY, "Inv", "LeakyRelu"],
    "arithmetic": [
        *(
            op
            for op in BINARY
            if op
            not in ("Equal", "NotEqual", "Less", "LessEqual", "Greater", "GreaterEqual", "LogicalAnd", "LogicalOr")
        ),
        "Add",
        "AddN",
        "ClipByValue",
    ],
    "selection": [
        "Equal",
        "NotEqual",
        "Less",
        "LessEqual",
        "Greater",
        "GreaterEqual",
        "LogicalAnd",
        "LogicalOr",
        "Select",
        "SelectV2",
        "Cast",
    ],
    "reductions": [*REDUCTIONS],
    "arrays": [
        "Reshape",
        "Squeeze",
        "ExpandDims",
        "Transpose",
        "ConcatV2",
        "Slice",
        "Pad",
        "BroadcastTo",
        "ArgMax",
        "ArgMin",
        "OneHot",
        "GatherV2",
        "Gather",
        "UnsortedSegmentSum",
    ],
    "networks": [
        "MatMul",
        "Softmax",
        "LogSoftmax",
        "SoftmaxCrossEntropyWithLogits",
        "SparseSoftmaxCrossEntropyWithLogits",
    ],
}


# ---------------------------------------------------------------- the spelling of functions that make several operators


def softmax_cross_entropy(c):
    if c.attrs.get("axis", c.attrs.get("dim", -1)) != -1:
        raise Unsupported("an axis other than the last")
    labels = c.x("labels")
    if c.op == "nn.softmax_cross_entropy_with_logits":
        labels = f"stop_gradient({labels})"
    return f"softmax_cross_entropy_with_logits({labels}, {c.x('logits')})"


def of_labels_and_logits(kind):
    return lambda c: f"{kind}_cross_entropy_with_logits({c.x('labels')}, {c.x('logits')})"


def reduce_variance(c):
    axis = c.attrs["axis"]
    return f"reduce_mean<{axis}>(square({c.x(0)} - reduce_mean_keep<{axis}>({c.x(0)})))"


def composite_reduction(name):
    def spell(c):
        axis = c.attrs["axis"]
        keep = "_keep" if c.attrs.get("keepdims") else ""
        return f"{name}{keep}{'' if axis is None else f'<{axis}>'}({c.x(0)})"

    return spell


def moments(c):
    if c.attrs["keep_dims"]:
        raise Unsupported("kept dimensions")
    return [f"std::get<{i}>(moments<{numbers(c.attrs['axes'])}>({c.x(0)}))" for i in (0, 1)]


def concat_of_expand_dims(c):
    """Along the axis that the recorded result shows: `c.inputs` stand one beside the other there."""
    sizes, data, n = c.inputs[0]["shape"], [i["data"] for i in c.inputs], len(c.inputs)
    for axis in range(len(sizes) + 1):
        inner = math.prod(sizes[axis:])
        joined = [x for o in range(math.prod(sizes[:axis])) for d in data for x in d[o * inner : (o + 1) * inner]]
        if [*sizes[:axis], n, *sizes[axis:]] == c.outputs[0]["shape"] and joined == c.outputs[0]["data"]:
            return f"concat<{axis}>(" + ", ".join(f"expand_dims<{axis}>({c.x(i)})" for i in range(n)) + ")"
    raise Unsupported("no axis along which the result is joined")


COMPOSITES = {
    "nn.sigmoid_cross_entropy_with_logits": of_labels_and_logits("sigmoid"),
    "nn.softmax_cross_entropy_with_logits_v2": softmax_cross_entropy,
    "nn.softmax_cross_entropy_with_logits": softmax_cross_entropy,
    "nn.sparse_softmax_cross_entropy_with_logits": of_labels_and_logits("sparse_softmax"),
    "nn.l2_loss": template_of("l2_loss({})"),
    "nn.moments": moments,
    "reduce_sum": composite_reduction("reduce_sum"),
    "reduce_mean": composite_reduction("reduce_mean"),
    "add": template_of("{} + {}"),
    "subtract": template_of("{} - {}"),
    "multiply": template_of("{} * {}"),
    "divide": template_of("{} / {}"),
    "operator_truediv_int32": template_of("cast<double>({}) / cast<double>({})"),
    "operator_floordiv_int32": template_of("floor_divide({}, {})"),
    "operator_mod_int32": template_of("floor_mod({}, {})"),
    "div_int32": template_of("floor_divide({}, {})"),
    "nn.xw_plus_b": template_of("matmul({}, {}) + {}"),
    "nn.relu_layer": template_of("relu(matmul({}, {}) + {})"),
    "nn.log_poisson_loss": lambda c: f"leat::exp({c.x(1)}) - {c.x(1)} * {c.x(0)}",
    "global_norm": lambda c: f"global_norm({', '.join(c.x(i) for i in range(len(c.inputs)))})",
    "hessian_diag": template_of(
        "std::get<0>(gradients(reduce_sum(std::get<0>(gradients(reduce_sum({0} * {0} * {0}), {0}))), {0}))"
    ),
    "gradients_two_paths": template_of("std::get<0>(gradients(reduce_sum(square({0})) + reduce_sum(3_c * {0}), {0}))"),
    "gradients_stop": template_of("std::get<0>(gradients(reduce_sum(square({0}) + stop_gradient({0}) * {0}), {0}))"),
    "reduce_variance": reduce_variance,
    "concat_of_expand_dims": concat_of_expand_dims,
}


def clip_by_norm(c):
    if "axes" in c.attrs:
        raise Unsupported("axes of its own")
    return f"clip_by_norm({c.x(0)}, {c.attrs['clip_norm']}f)"


def clip_by_global_norm(c):
    tensors = ", ".join(c.x(i) for i in range(len(c.inputs)))
    clipped = f"clip_by_global_norm({c.attrs['clip_norm']}f, {tensors})"
    norm = [f"global_norm({tensors})"] if len(c.outputs) > len(c.inputs) else []
    return [f"std::get<{i}>({clipped})" for i in range(len(c.inputs))] + norm


COMPOSITES["clip_by_norm"] = clip_by_norm
COMPOSITES["clip_by_global_norm"] = clip_by_global_norm


# ------------------------------------------------------------------------------------------------------------- one case


class Case:
    """One recorded case, and the C++ lines that repeat it."""

    def __init__(self, case, headers):
        self.id = case["id"]
        self.op = case.get("op") or case["api"]
        self.attrs = case.get("attrs") or case.get("args") or {}
        self.exact = case.get("exact", False)
        self.note = case.get("note")
        inputs = case["inputs"]
        if isinstance(inputs, dict):
            inputs = [{"arg": name, **value} for name, value in inputs.items()]
        self.inputs = inputs
        self.outputs = case["outputs"] if "outputs" in case else [case["output"]]
        self.fed = []
        self.prefix = identifier(self.id)
        spellings = SPELLINGS if "op" in case else COMPOSITES
        if self.op not in spellings:
            raise Unsupported("no typed spelling")
        differs, reason = DIFFERENT.get(self.op, (None, ""))
        if differs is not None and differs(case):
            raise Unsupported(reason)
        if self.note == "incompatible shapes allowed by the attribute":
            raise Unsupported("shapes that do not broadcast")
        expressions = spellings[self.op](self)
        self.expressions = [expressions] if isinstance(expressions, str) else expressions
        self.outputs = self.outputs[: len(self.expressions)]
        for expression in self.expressions:
            headers.require(expression, self.op, [inputs[i]["dtype"] for i in self.fed])
        for value in (*(inputs[i] for i in self.fed), *self.outputs):
            type_of(value["dtype"])

        # What each output's gradient comes in as: an array, "ones" (a loss: the sum of its elements), or nothing.
        if "grads" in case:
            self.incoming = ["ones"]
            expected = [(case["grads"] or {}).get(value["arg"]) for value in inputs]
        else:
            self.incoming = case.get("grad_outputs") or []
            expected = case.get("grad_inputs") or []
        given = [g is not None for g in self.incoming]
        if not any(given) or any(given[len(self.outputs) :]):
            expected = []
        self.incoming = self.incoming[: len(self.outputs)]
        self.expected = {i: expected[i] for i in sorted(self.fed) if i < len(expected) and expected[i] is not None}

    def index(self, argument):
        if isinstance(argument, int):
            return argument
        return next(i for i, value in enumerate(self.inputs) if value.get("arg") == argument)

    def x(self, argument):
        i = self.index(argument)
        if i not in self.fed:
            self.fed.append(i)
        return f"{self.prefix}_{i}"

    def value(self, argument):
        return self.inputs[self.index(argument)]["data"]

    def placeholder(self, name, value):
        arguments = [f'"{name}"', type_of(value["dtype"]), *map(str, value["shape"])]
        return f"auto {name} = placeholder<{', '.join(arguments)}>();"

    def names(self):
        return [self.prefix, *(f"{self.prefix}_o{i}" for i in range(1, len(self.expressions)))]

    def declarations(self):
        lines = [self.placeholder(f"{self.prefix}_{i}", self.inputs[i]) for i in sorted(self.fed)]
        lines += [f"auto {name} = {expression};" for name, expression in zip(self.names(), self.expressions)]
        if self.expected:
            terms = []
            for place, (name, incoming) in enumerate(zip(self.names(), self.incoming)):
                if incoming is None:
                    continue
                if incoming != "ones":
                    lines.append(self.placeholder(f"{self.prefix}_g{place}", incoming))
                    name = f"{name} * {self.prefix}_g{place}"
                terms.append(f"reduce_sum({name})" if self.outputs[place]["shape"] else name)
            names = ", ".join(f"{self.prefix}_d{i}" for i in self.expected)
            sources = ", ".join(f"{self.prefix}_{i}" for i in self.expected)
            lines.append(f"auto [{names}] = gradients({' + '.join(terms)}, {sources});")
        return lines

    def fetches(self):
        return [*self.names(), *(f"{self.prefix}_d{i}" for i in self.expected)]

    def feeds(self):
        feeds = [(f"{self.prefix}_{i}", self.inputs[i]) for i in sorted(self.fed)]
        if self.expected:
            feeds += [
                (f"{self.prefix}_g{place}", incoming)
                for place, incoming in enumerate(self.incoming)
                if isinstance(incoming, dict)
            ]
        return feeds

    def checks(self, first):
        """(place in the tuple, what it is, expected value, tolerance)"""
        expected = [(f"output {i}", value) for i, value in enumerate(self.outputs)]
        expected += [(f"gradient of input {i}", value) for i, value in self.expected.items()]
        for place, (what, value) in enumerate(expected, first):
            tolerance = "0" if self.exact else TOLERANCES.get(value["dtype"], "0")
            yield place, f"{self.id}, {what}", value, tolerance


# -------------------------------------------------------------------------------------------------------------- sources

HEAD = """// Written by generate.py from TensorFlow's recorded behavior; not to be edited.

#include <leat/leat.hpp>

#include "compare.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <tuple>
#include <vector>

using namespace leat;
using namespace leat::literals;

TEST_SUITE("reference.{family}") {{
"""


def session_of(name, cases):
    lines = [f'TEST_CASE("{name}") {{']
    for case in cases:
        lines += [f"  {line}" for line in case.declarations()]
    fetches = [fetch for case in cases for fetch in case.fetches()]
    feeds = [feed for case in cases for feed in case.feeds()]
    lines += [f"  const auto {feed}_fed = {tensor(value)};" for feed, value in feeds]
    lines.append(f"  session s{{{', '.join(fetches)}}};")
    run = [f"fetch({', '.join(fetches)})", *(f"{feed} = {feed}_fed" for feed, _ in feeds)]
    lines.append(f"  const auto got = s.run({', '.join(run)});")
    place = 0
    for case in cases:
        for index, what, value, tolerance in case.checks(place):
            lines.append(f'  reference::compare("{what}", std::get<{index}>(got), {tensor(value)}, {tolerance});')
            place = index + 1
    return lines + ["}", ""]


# Families whose cases repeat the same dtypes and shapes for operator after operator, which all take the same loops.
REPETITIVE = ("functions", "arithmetic", "selection", "reductions")


def thinned(cases):
    """Of each operator the cases that were recorded for a reason of their own, and one of each kind of dtype; which one
    changes from operator to operator, so that together they see every shape."""
    by_kind = collections.defaultdict(list)
    for case in cases:
        first = case.inputs[0]["dtype"]
        kind = case.id if case.note or case.op == "Cast" else "integer" if first.startswith("int") else first
        by_kind[case.op, kind].append(case)
    operators = list(dict.fromkeys(case.op for case in cases))
    kept = {members[operators.index(op) % len(members)].id for (op, _), members in by_kind.items()}
    return [case for case in cases if case.id in kept]


def grouped(cases):
    """Cases of one operator in sessions of at most CASES_PER_SESSION."""
    by_operator = collections.defaultdict(list)
    for case in cases:
        by_operator[case.op].append(case)
    for operator, members in by_operator.items():
        for first in range(0, len(members), CASES_PER_SESSION):
            part = members[first : first + CASES_PER_SESSION]
            yield f"{part[0].id} to {part[-1].id}" if len(part) > 1 else part[0].id, part


def called(function, *arguments, **options):
    """A call with arguments and, in braces, options that are not None."""
    given = [f".{k} = {float(v)!r}f" for k, v in options.items() if v is not None]
    return f"{function}({', '.join([*arguments, *(['{' + ', '.join(given) + '}'] if given else [])])})"


def adaptive(name, *arguments):
    """An optimizer whose arguments have these names and defaults."""
    return lambda a, rate, number: called(name, rate, *(number(a.get(key, usual)) for key, usual in arguments))


def proximal(name, *more):
    return lambda a, rate, number: called(
        name,
        rate,
        *more,
        l1=a.get("l1_regularization_strength"),
        l2=a.get("l2_regularization_strength"),
        start=a.get("initial_accumulator_value", a.get("initial_gradient_squared_accumulator_value")),
    )


EPSILON_AND_SO_ON = (("decay", 0.9), ("momentum", 0.0), ("epsilon", 1e-10))
OPTIMIZERS = {
    "train.GradientDescentOptimizer": adaptive("gradient_descent"),
    "train.MomentumOptimizer": lambda a, rate, number: called(
        "nesterov_momentum" if a.get("use_nesterov") else "momentum", rate, number(a["momentum"])
    ),
    "train.AdamOptimizer": adaptive("adam", ("beta1", 0.9), ("beta2", 0.999), ("epsilon", 1e-8)),
    "train.AdagradOptimizer": lambda a, rate, number: called(
        "adagrad", rate, repr(float(a.get("initial_accumulator_value", 0.1)))
    ),
    "train.AdadeltaOptimizer": adaptive("adadelta", ("rho", 0.95), ("epsilon", 1e-8)),
    "train.RMSPropOptimizer": lambda a, rate, number: adaptive(
        "centered_rms_prop" if a.get("centered") else "rms_prop", *EPSILON_AND_SO_ON
    )(a, rate, number),
    "train.FtrlOptimizer": lambda a, rate, number: called(
        "ftrl",
        rate,
        learning_rate_power=a.get("learning_rate_power"),
        start=a.get("initial_accumulator_value"),
        l1=a.get("l1_regularization_strength"),
        l2=a.get("l2_regularization_strength"),
        beta=a.get("beta"),
        l2_shrinkage=a.get("l2_shrinkage_regularization_strength"),
    ),
    "train.ProximalGradientDescentOptimizer": proximal("proximal_gradient_descent"),
    "train.ProximalAdagradOptimizer": proximal("proximal_adagrad"),
    "train.AdagradDAOptimizer": proximal("adagrad_da", "count"),
}


def scheduled(api, args, step):
    """The typed spelling of a schedule."""
    number = lambda name: f"{args[name]}" if isinstance(args[name], int) else f"{float(args[name])!r}"
    name = api.removeprefix("train.")
    stairs = "<staircase::yes>" if args.get("staircase") else ""
    if name in ("exponential_decay", "natural_exp_decay", "inverse_time_decay"):
        keys = ("decay_steps", "decay_rate")
    elif name == "polynomial_decay":
        stairs = "<cycle::yes>" if args.get("cycle") else ""
        keys = ("decay_steps", "end_learning_rate", "power")
    elif name == "cosine_decay":
        keys = ("decay_steps", "alpha")
    elif name == "cosine_decay_restarts":
        keys = ("first_decay_steps", "t_mul", "m_mul", "alpha")
    elif name == "linear_cosine_decay":
        keys = ("decay_steps", "num_periods", "alpha", "beta")
    elif name == "piecewise_constant":
        boundaries = ", ".join(str(b) for b in args["boundaries"])
        values = ", ".join(f"{float(v)!r}f" for v in args["values"])
        return f"piecewise_constant<{boundaries}>({step}, {values})"
    else:
        raise Unsupported("a schedule without a typed spelling")
    return f"{name}{stairs}({float(args['learning_rate'])!r}f, {step}, {', '.join(number(k) for k in keys)})"


def schedule(case):
    """A learning rate at the recorded steps."""
    element = TYPES[case["step_dtype"]]
    # The rate of steps without end is the largest power of the rate: numbers far below the first one differ more.
    return [
        f'TEST_CASE("{case["id"]}") {{',
        f'  auto step = placeholder<"step", {element}>();',
        f"  auto rate = {scheduled(case['api'], case['args'], 'step')};",
        "  session s{rate};",
        f"  const std::vector<{element}> steps{{{', '.join(str(n) for n in case['steps'])}}};",
        f"  const std::vector<float> rates{{{', '.join(literal(v, 'float32') for v in case['values'])}}};",
        "  for (std::size_t k = 0; k < steps.size(); ++k) {",
        "    const auto [got] = s.run(fetch(rate), step = steps[k]);",
        '    reference::compare("the rate at step " + std::to_string(steps[k]), got, rates[k], 1e-6);',
        "  }",
        "}",
        "",
    ]


def history(name, values):
    """One value for each step."""
    return [f"  const std::vector {name}{{", *(f"      {tensor(value)}," for value in values), "  };"]


def trajectory(case):
    """Steps of an optimizer whose gradients are fed: those of sum(variable * gradient)."""
    if case["api"] not in OPTIMIZERS:
        raise Unsupported("an optimizer that is not built yet")
    if case["sparse"]:
        raise Unsupported("sparse gradients")
    variables = [{**v, "cpp": identifier(v["name"])} for v in case["variables"]]
    if any(g is None for step in case["steps"] for g in step["grads"]):
        raise Unsupported("a variable without gradient")
    lines = [f'TEST_CASE("{case["id"]}") {{']
    for v in variables:
        shape = "".join(f", {d}" for d in v["initial"]["shape"])
        element = type_of(v["initial"]["dtype"])
        lines.append(f'  auto {v["cpp"]} = variable<"{v["name"]}", {element}{shape}>(zeros);')
        lines.append(f'  auto {v["cpp"]}_gradient = placeholder<"{v["name"]}_gradient", {element}{shape}>();')
    loss = " + ".join(f"reduce_sum({v['cpp']} * {v['cpp']}_gradient)" for v in variables)
    dtype = variables[0]["initial"]["dtype"]
    number = lambda value: literal(value, dtype)
    rate = case["args"]["learning_rate"]
    rate = scheduled(rate["api"], rate, "count") if isinstance(rate, dict) else number(rate)
    optimizer = OPTIMIZERS[case["api"]](case["args"], rate, number)
    lines += [
        f"  auto loss = {loss};",
        "  auto count = global_step();",
        f"  auto train = {optimizer}.minimize(loss, count);",
        "  session s{loss, train};",
        "  s.initialize();",
    ]
    lines += [f"  s.assign({v['cpp']}, {tensor(v['initial'])});" for v in variables]
    for place, v in enumerate(variables):
        lines += history(f"{v['cpp']}_gradients", [step["grads"][place] for step in case["steps"]])
        lines += history(f"{v['cpp']}_values", [step["values"][place] for step in case["steps"]])
    feeds = ", ".join(f"{v['cpp']}_gradient = {v['cpp']}_gradients[step]" for v in variables)
    lines += [
        f"  for (std::size_t step = 0; step < {len(case['steps'])}; ++step) {{",
        f"    s.run(fetch(train), {feeds});",
    ]
    lines += [
        f'    reference::compare("{v["name"]} after step " + std::to_string(step), s.value({v["cpp"]}), '
        f"{v['cpp']}_values[step], 1e-5);"
        for v in variables
    ]
    lines.append("  }")
    lines.append(f"  CHECK(s.value(count) == {case['global_step'][-1]});")
    return lines + ["}", ""]


CLIPS = {
    "none": lambda arg: ["auto clipped_x = gradient_x;", "auto clipped_y = gradient_y;"],
    "clip_by_value": lambda arg: [
        f"auto clipped_{v} = clip_by_value(gradient_{v}, {arg[0]}f, {arg[1]}f);" for v in "xy"
    ],
    "clip_by_norm": lambda arg: [f"auto clipped_{v} = clip_by_norm(gradient_{v}, {arg}f);" for v in "xy"],
    "clip_by_global_norm": lambda arg: [
        f"auto [clipped_x, clipped_y] = clip_by_global_norm({arg}f, gradient_x, gradient_y);"
    ],
}


def clipping(case):
    """A quadratic minimized with gradients that are changed before they are applied."""
    kind = case["clip"]["kind"]
    if kind not in CLIPS:
        raise Unsupported("no typed spelling")
    number = lambda value: literal(value, "float32")
    optimizer = OPTIMIZERS[case["optimizer"]](case, number(case["learning_rate"]), number)
    lines = [
        f'TEST_CASE("{case["id"]}, {kind}") {{',
        '  auto a = placeholder<"a", float, 2, 2>();',
        '  auto x = variable<"x", float, 2>(zeros);',
        '  auto y = variable<"y", float, 2>(zeros);',
        "  auto residual = squeeze<1>(matmul(a, expand_dims<1>(x))) - y;",
        "  auto loss = reduce_sum(square(residual)) + 0.5_c * reduce_sum(square(y));",
        "  auto [gradient_x, gradient_y] = gradients(loss, x, y);",
        *(f"  {l}" for l in CLIPS[kind](case["clip"]["arg"])),
        f"  auto descent = {optimizer};",
        "  auto train = descent.apply_gradients(with_variable(clipped_x, x), with_variable(clipped_y, y));",
        "  session s{loss, gradient_x, gradient_y, clipped_x, clipped_y, train};",
        "  s.initialize();",
        f"  const auto a_fed = {tensor(case['A'])};",
    ]
    lines += [f"  s.assign({v}, {tensor(case['initial'][v])});" for v in "xy"]
    before = [{"dtype": "float32", "shape": [], "data": [step["loss_before"]]} for step in case["steps"]]
    fetched = [("loss", before)]
    fetched += [
        (f"{kind}_{v}", [step[key][place] for step in case["steps"]])
        for kind, key in (("gradient", "gradients"), ("clipped", "clipped"))
        for place, v in enumerate("xy")
    ]
    for name, values in [*fetched, *((v, [step[v] for step in case["steps"]]) for v in "xy")]:
        lines += history(f"expected_{name}", values)
    lines.append(f"  for (std::size_t step = 0; step < {len(case['steps'])}; ++step) {{")
    lines.append(f"    const auto got = s.run(fetch({', '.join(name for name, _ in fetched)}, train), a = a_fed);")
    checked = [
        *((name, f"std::get<{place}>(got)") for place, (name, _) in enumerate(fetched)),
        *((v, f"s.value({v})") for v in "xy"),
    ]
    lines += [
        f'    reference::compare("{name} at step " + std::to_string(step), {value}, expected_{name}[step], 1e-5);'
        for name, value in checked
    ]
    return lines + ["  }", "}", ""]


class Report:
    """What became a program, and what did not."""

    def __init__(self):
        self.count = collections.Counter()
        self.can_be = collections.Counter()
        self.written = collections.Counter()
        self.reasons = collections.defaultdict(collections.Counter)

    def attempt(self, kind, build):
        self.count[kind] += 1
        try:
            result = build()
        except Unsupported as reason:
            self.reasons[kind][str(reason)] += 1
            return None
        self.can_be[kind] += 1
        self.written[kind] += 1
        return result

    def thin(self, cases):
        kept = collections.Counter(case.op for case in cases)
        self.written.update({op: kept[op] - self.can_be[op] for op in kept})

    def text(self):
        total = lambda counter: sum(counter.values())
        lines = [f"{total(self.written)} cases written, {total(self.can_be)} can be, of {total(self.count)}", ""]
        for kind, count in self.count.items():
            reasons = self.reasons[kind]
            why = "; ".join(f"{text} ({n})" if n < count else text for text, n in reasons.items())
            lines.append(
                f"{kind:45} {self.written[kind]:3} written, {self.can_be[kind]:3} can be, of {count:3}"
                + (f"   without: {why}" if why else "")
            )
        return "\n".join(lines)


class Headers:
    """What the library offers, read from its headers."""

    CALL = re.compile(r"(?:leat::|(?<![\w:]))([a-z]\w*)(?:<[^()]*>)?\(")
    TAKES = {
        "floating": ("float32", "float64"),
        "integer": ("int32", "int64", "uint8"),
        "boolean": ("bool",),
        "number": ("float32", "float64", "int32", "int64", "uint8"),
    }

    def __init__(self, include):
        text = "\n".join(path.read_text() for path in sorted((include / "leat").glob("**/*.hpp")))
        self.functions = set(re.findall(r"^constexpr [^(\n]*?\b(\w+)\(", text, re.MULTILINE))
        # and those that a macro declares: LEAT_FUNCTION_OF_ONE(tanh, tanh_op)
        self.functions |= set(re.findall(r"^LEAT_(?:FUNCTION_(?:OF_ONE|OF_TWO|BY_SEGMENT|ALONG_AXIS)|QUOTIENT_OF_TWO|REDUCTION)\((\w+),", text, re.MULTILINE))
        rule = r"struct \w+ : rule::\w+<rule::takes::(\w+)> \{\s*static constexpr std::string_view type = \"(\w+)\""
        self.takes = {operator: dtypes for dtypes, operator in re.findall(rule, text)}

    def require(self, expression, operator, dtypes):
        missing = sorted(set(self.CALL.findall(expression)) - self.functions)
        if missing:
            raise Unsupported(f"no function {', '.join(missing)} in the headers")
        taken = self.TAKES.get(self.takes.get(operator))
        for dtype in dtypes:
            if taken and dtype not in taken:
                raise Unsupported(f"{self.takes[operator]} dtypes only in the headers")


def sources_of(reference, headers, report, every_case):
    """The lines of each family's file."""
    read = lambda name: json.loads((reference / name).read_text())
    ops, losses, optimizers = read("ops.json"), read("losses.json"), read("optimizers.json")
    bodies = {}

    family_of = {op: family for family, members in FAMILIES.items() for op in members}
    cases = collections.defaultdict(list)
    for case in ops["cases"]:
        built = report.attempt(case["op"], lambda: Case(case, headers))
        if built:
            cases[family_of[case["op"]]].append(built)
    for case in losses["cases"] + ops["composites"]:
        built = report.attempt(case["api"], lambda: Case(case, headers))
        if built:
            cases["composites"].append(built)
    for family in (*FAMILIES, "composites"):
        if family in REPETITIVE and not every_case:
            cases[family] = thinned(cases[family])
            report.thin(cases[family])
        bodies[family] = [line for name, members in grouped(cases[family]) for line in session_of(name, members)]

    bodies["optimizers"] = []
    for case in optimizers["trajectories"]:
        bodies["optimizers"] += report.attempt(case["api"], lambda: trajectory(case)) or []
    for case in optimizers["schedules"]:
        bodies["optimizers"] += report.attempt("schedules", lambda: schedule(case)) or []
    for case in optimizers["clipping"]:
        bodies["optimizers"] += report.attempt("clipping", lambda: clipping(case)) or []
    return bodies


def write_if_changed(path, text):
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--reference", type=pathlib.Path, required=True, help="folder of ops.json and its kin")
    parser.add_argument("--include", type=pathlib.Path, required=True, help="folder that holds leat/")
    parser.add_argument("--output", type=pathlib.Path, help="folder for the sources")
    parser.add_argument("--coverage", action="store_true", help="print what is covered, and what is not and why")
    parser.add_argument("--every-case", action="store_true", help="do not thin out cases that are alike")
    given = parser.parse_args()
    if os.environ.get("LEAT_REFERENCE"):
        given.reference = pathlib.Path(__file__).resolve().parents[2] / os.environ["LEAT_REFERENCE"]

    families = [*FAMILIES, "composites", "optimizers"]
    report, missing = Report(), ""
    if (given.reference / "ops.json").exists():
        bodies = sources_of(given.reference, Headers(given.include), report, given.every_case)
    else:
        bodies, missing = {}, f"there is no reference data in {given.reference}"
    if given.coverage:
        print(missing or report.text())
    if given.output:
        given.output.mkdir(parents=True, exist_ok=True)
        for family in families:
            text = (
                HEAD.format(family=family) + "\n".join(["", *bodies.get(family, [])]) + f"}}  // reference.{family}\n"
            )
            write_if_changed(
                given.output / f"{family}.cpp",
                text if bodies else "// Without reference data there is nothing to test.\n",
            )
        write_if_changed(
            given.output / "missing.hpp", f"inline constexpr const char* missing = {json.dumps(missing)};\n"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
