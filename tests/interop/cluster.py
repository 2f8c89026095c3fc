"""cluster.py PROGRAM FOLDER [--seconds S] [--rounds N]

What steps of a small cluster cost TensorFlow, beside leat: one parameter server and one or two workers, each a process on this machine, that
train a linear regression or push and pull an array. PROGRAM is interop_cluster (cluster.cpp); what is measured and how stands there, and
is done here with tf.compat.v1 in the same way, by prepared calls (make_callable). The two take turns; FOLDER gets cluster.json.
"""

import argparse
import json
import os
import socket
import statistics
import subprocess
import sys
import time

samples = 100
rate = 0.01


def go_on(measures, seconds, step, count):
    def run_for(wanted):
        end = time.monotonic() + wanted
        while True:
            for _ in range(10):
                step()
            if time.monotonic() >= end:
                return

    run_for(1)
    if measures:
        first, begin = count(), time.monotonic()
        run_for(seconds)
        steps = count() - first
        print(f"{steps / (time.monotonic() - begin):.1f}", flush=True)
    while True:
        step()


def task(program, seconds, job, index, ps, workers):
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    os.environ["CUDA_VISIBLE_DEVICES"] = ""
    import tensorflow as tf

    v1 = tf.compat.v1
    v1.disable_eager_execution()
    v1.disable_resource_variables()
    v1.logging.set_verbosity(v1.logging.ERROR)
    cluster = v1.train.ClusterSpec({"ps": ps, "worker": workers})
    server = v1.train.Server(cluster, job_name=job, task_index=index)
    if job == "ps":
        server.join()
    here = f"/job:worker/task:{index}"
    options = v1.ConfigProto(device_filters=["/job:ps", here])
    chief = index == 0
    if program.isdigit():
        with v1.device("/job:ps/task:0"):
            v = v1.Variable(tf.zeros([int(program) // 4]))
        with v1.device(here):
            given = v1.Variable(tf.zeros([int(program) // 4]))
        added = v1.assign_add(v, given)
        with v1.device(here):
            pulled = tf.identity(added)
        session = v1.Session(server.target, config=options)
        session.run(v1.global_variables_initializer())
        steps = [0]
        run = session.make_callable(pulled.op)

        def step():
            run()
            steps[0] += 1

        go_on(True, seconds, step, lambda: steps[0])
    xs = [-1 + 2 * k / (samples - 1) for k in range(samples)]
    ys = [2 * x + 10 for x in xs]
    hooks = []
    with v1.device(v1.train.replica_device_setter(worker_device=here, cluster=cluster)):
        x = v1.placeholder(tf.float32, [samples], "x")
        y = v1.placeholder(tf.float32, [samples], "y")
        w = v1.Variable(0.0, name="w")
        b = v1.Variable(0.0, name="b")
        loss = tf.reduce_mean(tf.square(x * w + b - y))
        steps = v1.train.get_or_create_global_step()
        optimizer = v1.train.GradientDescentOptimizer(rate)
        if program == "synchronous":
            optimizer = v1.train.SyncReplicasOptimizer(optimizer, replicas_to_aggregate=2, total_num_replicas=2)
            hooks = [optimizer.make_session_run_hook(chief)]
        train = optimizer.minimize(loss, global_step=steps)
    session = v1.train.MonitoredTrainingSession(
        server.target, is_chief=chief, hooks=hooks, config=options, save_summaries_steps=None, log_step_count_steps=None
    )
    import numpy as np

    its = np.array(xs, np.float32), np.array(ys, np.float32)
    plain = session._tf_sess()  # the session within, whose calls are prepared
    run = plain.make_callable(train, [x, y])
    go_on(chief, seconds, lambda: run(*its), lambda: plain.run(steps))


def free_addresses(count):
    sockets = [socket.socket() for _ in range(count)]
    for s in sockets:
        s.bind(("127.0.0.1", 0))
    addresses = [f"127.0.0.1:{s.getsockname()[1]}" for s in sockets]
    for s in sockets:
        s.close()
    return addresses


def measured(command, program, workers, seconds):
    addresses = free_addresses(1 + workers)
    flags = ["--ps_hosts=" + addresses[0], "--worker_hosts=" + ",".join(addresses[1:])]
    tasks = []
    try:
        for job, index in [("ps", 0)] + [("worker", k) for k in range(workers)]:
            answers = subprocess.PIPE if (job, index) == ("worker", 0) else None
            tasks.append(
                subprocess.Popen(command + [f"--job_name={job}", f"--task_index={index}"] + flags, stdout=answers, stderr=subprocess.DEVNULL, text=True)
            )
        os.set_blocking(tasks[1].stdout.fileno(), False)
        end = time.monotonic() + seconds + 90
        while time.monotonic() < end and tasks[1].poll() is None:
            line = tasks[1].stdout.readline()
            if line:
                return float(line)
            time.sleep(0.05)
        raise SystemExit(f"{' '.join(command)}: no answer")
    finally:
        for one in tasks:
            one.kill()
        for one in tasks:
            one.wait()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("folder")
    parser.add_argument("--seconds", type=float, default=3)
    parser.add_argument("--rounds", type=int, default=3)
    asked = parser.parse_args()
    theirs = [sys.executable, os.path.abspath(__file__), "task"]
    report, ahead = [], True
    print("| 1 parameter server; steps a second, median | leat TCP | leat shared memory | TensorFlow gRPC | TCP / TensorFlow |\n|---|--:|--:|--:|--:|")
    for program, title, workers in [
        ("asynchronous", "linear regression, 2 workers, asynchronous", 2),
        ("synchronous", "the same, synchronous", 2),
        ("compiled", "compiled workers, asynchronous", 2),
        ("compiled_synchronous", "compiled workers, synchronous", 2),
        ("4096", "push and pull of 4 KiB", 1),
        ("262144", "push and pull of 256 KiB", 1),
        ("16777216", "push and pull of 16 MiB", 1),
    ]:
        # TensorFlow's workers have no compiled step with variables elsewhere: its own placed graph is what there is.
        rival = program.removeprefix("compiled_").replace("compiled", "asynchronous")
        rates = {"tcp": [], "shared": [], "TensorFlow": []}
        for _ in range(asked.rounds):
            for transport in ("tcp", "shared"):
                rates[transport].append(measured([asked.program, program, transport, str(asked.seconds)], program, workers, asked.seconds))
            known = next((row for row in report if row["program"] == rival), None)
            rates["TensorFlow"].append(known["TensorFlow"] if known else measured(theirs + [rival, str(asked.seconds)], rival, workers, asked.seconds))
        row = {"program": program} | {name: statistics.median(of) for name, of in rates.items()}
        report.append(row)
        ahead = ahead and row["tcp"] > row["TensorFlow"]
        print(f"| {title} | {row['tcp']:.0f} | {row['shared']:.0f} | {row['TensorFlow']:.0f} | {row['tcp'] / row['TensorFlow']:.1f} |", flush=True)
    os.makedirs(asked.folder, exist_ok=True)
    with open(os.path.join(asked.folder, "cluster.json"), "w") as out:
        json.dump(report, out, indent=1)
    return 0 if ahead else 1


if __name__ == "__main__":
    if len(sys.argv) > 1 and sys.argv[1] == "task":
        flags = argparse.ArgumentParser()
        for name in ("job_name", "ps_hosts", "worker_hosts"):
            flags.add_argument("--" + name)
        flags.add_argument("--task_index", type=int)
        its = flags.parse_args(sys.argv[4:])
        task(sys.argv[2], float(sys.argv[3]), its.job_name, its.task_index, its.ps_hosts.split(","), its.worker_hosts.split(","))
    sys.exit(main())
