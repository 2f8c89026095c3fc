"""bench.py LEAT_PROGRAM TENSORFLOW_PROGRAM FIRST_RUN_PROGRAM FOLDER [--nodes N] [--repeat R]

What building, importing and first running a graph costs in leat and by TensorFlow's C API, the two programs in turns, and what a step of
TensorFlow costs. Prints a table and leaves bench.json in the folder. Both build the same graph: that is checked first.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")

import tensorflow as tf  # noqa: E402

v1 = tf.compat.v1


def ask(*words):
    done = subprocess.run([str(w) for w in words], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, words))}: {done.stderr.strip()[-2000:]}")
    return json.loads(done.stdout) if done.stdout.strip() else None


def with_defaults(path):
    """A graph's nodes by name, with the attributes that its operators have by default."""
    definition = v1.GraphDef.FromString(path.read_bytes())
    with tf.Graph().as_default() as graph:
        tf.import_graph_def(definition, name="")
    return {n.name: n.SerializeToString(deterministic=True) for n in graph.as_graph_def().node}


def config(single_threaded):
    c = v1.ConfigProto(intra_op_parallelism_threads=1, inter_op_parallelism_threads=1)
    c.graph_options.rewrite_options.disable_meta_optimizer = True  # or additions that only make a chain would be folded
    c.graph_options.optimizer_options.opt_level = v1.OptimizerOptions.L0
    if single_threaded:
        c.experimental.executor_type = "SINGLE_THREADED_EXECUTOR"
    return c.SerializeToString().hex()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("leat")
    parser.add_argument("tensorflow")
    parser.add_argument("first_run")
    parser.add_argument("folder")
    parser.add_argument("--nodes", type=int, default=100000)
    parser.add_argument("--repeat", type=int, default=5)
    options = parser.parse_args()
    folder = pathlib.Path(options.folder)
    folder.mkdir(parents=True, exist_ok=True)
    n = options.nodes

    small = [folder / "small_leat.pb", folder / "small_tensorflow.pb"]
    ask(options.leat, "--write", small[0], "--nodes", 1000)
    ask(options.tensorflow, "write", 1000, small[1])
    if with_defaults(small[0]) != with_defaults(small[1]):
        sys.exit("the two programs build different graphs")

    rows = []

    def row(case, ours, theirs, unit, asked):
        rows.append({"case": case, "leat": ours, "rival_value": theirs, "unit": unit, "ratio": ours / theirs if ours is not None else None,
                     "asked": asked})
        mine = f"{ours:12.0f}" if ours is not None else f"{'-':>12}"
        ratio = f"{ours / theirs:8.2f}" if ours is not None else f"{'-':>8}"
        print(f"{case:34} {mine} {theirs:12.0f} {unit:14} {ratio}   {asked}")

    print(f"{'case':34} {'leat':>12} {'TensorFlow':>12} {'':14} {'ratio':>8}   asked")

    def best(commands):
        """The best time, and the least memory, of several processes of each, in turns."""
        found = [None] * len(commands)
        for _ in range(options.repeat):
            for k, command in enumerate(commands):
                got = ask(*command)
                if found[k] is None:
                    found[k] = got
                for key in ("nanoseconds", "bytes"):
                    found[k][key] = min(found[k][key], got[key])
        return found

    ours, theirs = best([[options.leat, "--only", n, "--repeat", 3], [options.tensorflow, "build", n, 2]])
    row(f"build_{n}", ours["nanoseconds"], theirs["nanoseconds"], "ns a node", "at most 0.2")
    row(f"build_memory_{n}", ours["bytes"], theirs["bytes"], "bytes a node", "at most 0.2")
    file = folder / "layers.pb"
    ask(options.leat, "--write", file, "--nodes", n)
    ours, theirs = best([[options.leat, "--read", file, "--repeat", 3], [options.tensorflow, "import", file, 2]])
    row(f"import_pb_{n}", ours["nanoseconds"], theirs["nanoseconds"], "ns a node", "less than 1")
    row(f"import_pb_memory_{n}", ours["bytes"], theirs["bytes"], "bytes a node", "")
    file = folder / "tree.pb"
    first = [options.first_run, n, file]
    value = ask(*first)["value"]
    if abs(ask(options.tensorflow, "first", file)["value"] - value) > 1e-3 * abs(value):
        sys.exit("the first runs give different results")
    ours, theirs, bare = best([first, [options.tensorflow, "first", file], [options.tensorflow, "first", file, config(False)]])
    row(f"first_run_{n}", ours["nanoseconds"], theirs["nanoseconds"], "ns a node", "less than 1")
    row(f"first_run_{n}, no grappler", ours["nanoseconds"], bare["nanoseconds"], "ns a node", "")
    row(f"first_run_memory_{n}", ours["bytes"], theirs["bytes"], "bytes a node", "")
    for case in ("chain", "independent", "single"):
        plain, alone = best([[options.tensorflow, "run", case, 10, config(False)], [options.tensorflow, "run", case, 10, config(True)]])
        unit = "ns a run" if case == "single" else "ns a node"
        row(case, None, plain["nanoseconds"], unit, "one thread")
        row(case + ", one-thread executor", None, alone["nanoseconds"], unit, "executor_type SINGLE_THREADED_EXECUTOR")
    (folder / "bench.json").write_text(json.dumps({"tensorflow": tf.__version__, "rows": rows}, indent=1))


if __name__ == "__main__":
    v1.disable_eager_execution()
    main()
