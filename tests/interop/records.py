"""records.py FOLDER

What record files and scalar events cost TensorFlow, beside what bench_data and bench_summaries measured (data.json and summaries.json in the
folder). Record files are read as tf.data reads them, in batches that keep Python out of it; events are written through Python, by the
writer of tf.compat.v1.summary.FileWriter, as programs write them. Processor time of the process, the least of several rounds.
"""

import json
import os
import sys
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")

import tensorflow as tf  # noqa: E402

v1 = tf.compat.v1


def least(rounds, action):
    times = []
    for _ in range(rounds):
        begin = time.process_time()
        action()
        times.append(time.process_time() - begin)
    return min(times)


def show(case, ours, theirs, unit):
    print(f"{case:46s} leat {ours:10.3f} {unit}  TensorFlow {theirs:10.3f} {unit}  {ours / theirs:6.3f}")
    return ours < theirs


def records(folder, rows):
    ahead = True
    for size in (256, 4096, 65536):
        case = f"records of {size} bytes, as a dataset"
        ours = next(row["leat"] for row in rows if row["case"] == case)
        path = f"{folder}/{size}.tfrecord"
        with tf.io.TFRecordWriter(path) as writer:
            for _ in range((1 << 27) // size):
                writer.write(b"x" * size)

        def read():
            count = 0
            for batch in tf.data.TFRecordDataset(path, buffer_size=1 << 18).batch(1 << 20 if size < 4096 else 64):
                count += int(batch.shape[0])
            assert count == (1 << 27) // size

        ahead = show(case, ours, 1e3 * least(5, read), "ms") and ahead
        os.remove(path)
    return ahead


def events(folder, rows):
    row = next(row for row in rows if row["case"].startswith("a scalar event"))
    count = 5000
    with tf.Graph().as_default():
        writer = v1.summary.FileWriter(folder + "/events")
        value = v1.Summary(value=[v1.Summary.Value(tag="loss", simple_value=0.5)])

        def write():
            for step in range(count):
                writer.add_summary(value, 1000 + step)
            writer.flush()

        theirs = least(9, write) / count * 1e9
        writer.close()
    return show("a scalar event", row["ours_ns"], theirs, "ns")


def main():
    folder = sys.argv[1]
    with open(folder + "/data.json") as file:
        data = json.load(file)
    with open(folder + "/summaries.json") as file:
        summaries = json.load(file)
    scratch = folder + "/tensorflow"
    os.makedirs(scratch, exist_ok=True)
    tf.config.threading.set_intra_op_parallelism_threads(1)
    ahead = [records(scratch, data), events(scratch, summaries)]
    sys.exit(0 if all(ahead) else 1)


if __name__ == "__main__":
    main()
