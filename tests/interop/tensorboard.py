"""What the real TensorBoard reads from the event files that examples/notes/09_summaries writes.

tensorboard.py LOGDIR [--pictures FOLDER]: starts TensorBoard on the folder, on a free port of the loopback interface alone, asks its HTTP
interface for runs, tags, steps, values, histograms, pictures, sounds, texts, graphs and run metadata, compares them, and ends it by its id.
1 if anything is not as written. With --pictures, takes PNG pictures of its pages with headless Chromium.
"""

import argparse
import contextlib
import json
import math
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse
import urllib.request
import zlib

DEADLINE = 90  # seconds for TensorBoard to start and to load
failures = 0


def check(what, holds, detail=""):
    global failures
    print(f"  {'ok' if holds else 'WRONG'}  {what}{'' if holds or not detail else ': ' + str(detail)[:400]}")
    failures += not holds


@contextlib.contextmanager
def tensorboard(logdir, *options, folder=None):
    """A running TensorBoard's address."""
    command = [sys.executable, "-m", "tensorboard.main", "--logdir", str(logdir), "--host", "127.0.0.1", "--port", "0"]
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(command + list(options), stdout=said, stderr=subprocess.STDOUT, cwd=folder)
        watch = threading.Timer(10 * DEADLINE, process.kill)
        watch.start()
        try:
            end = time.monotonic() + DEADLINE
            address = None
            while address is None:
                time.sleep(0.2)
                said.seek(0)
                text = said.read().decode(errors="replace")
                found = re.search(r"(http://127\.0\.0\.1:\d+)/?", text)
                address = found and found.group(1)
                if process.poll() is not None or time.monotonic() > end:
                    raise SystemExit("TensorBoard does not start:\n" + text)
            yield address
        finally:
            watch.cancel()
            process.terminate()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def get(address, path, **query):
    url = f"{address}/data/{path}" + ("?" + urllib.parse.urlencode(query) if query else "")
    with urllib.request.urlopen(url, timeout=30) as answer:
        return answer.read()


def ask(address, path, **query):
    return json.loads(get(address, path, **query))


def losses_of_notes():
    """Item 8.1, by hand: the loss of all samples after each pass of gradient descent on single ones."""
    xs = [-1 + 2 * i / 99 for i in range(100)]
    ys = [2 * x + 0.3 * math.sin(7 * i) for i, x in enumerate(xs)]
    w = b = 0.0
    losses = []
    for _ in range(20):
        for x, y in zip(xs, ys):
            error = w * x + b - y
            w, b = w - 0.01 * 2 * error * x, b - 0.01 * 2 * error
        losses.append(sum((w * x + b - y) ** 2 for x, y in zip(xs, ys)) / 100)
    return losses


def check_scalars(address):
    tags = {run: sorted(its) for run, its in ask(address, "plugin/scalars/tags").items()}
    expected = {f"models/{m}/{p}": ["loss"] for m in ("model1", "model2") for p in ("train", "validation")}
    expected |= {"regression": ["loss_function"], "regression_typed": ["loss_function"], "kinds": ["average"], "resumed": ["loss"]}
    check("scalars: runs and tags", {r: tags.get(r) for r in expected} == expected, tags)

    def curve(run, tag):
        return [(step, value) for _, step, value in ask(address, "plugin/scalars/scalars", run=run, tag=tag)]

    for run in ("regression", "regression_typed"):
        points = curve(run, "loss_function")
        wanted = losses_of_notes()
        check(f"scalars: {run} has steps 0 to 19", [s for s, _ in points] == list(range(20)), points)
        check(f"scalars: {run} has the losses", all(abs(v - w) < 1e-4 * w for (_, v), w in zip(points, wanted)), points)
    for model, rate in (("model1", 0.1), ("model2", 0.3)):
        for part, noise in (("train", 0.0), ("validation", 0.1)):
            points = curve(f"models/{model}/{part}", "loss")
            right = len(points) == 10 and all(abs(v - noise - math.exp(-rate * s)) < 1e-5 for s, v in points)
            check(f"scalars: {model}/{part} side by side with the others", right, points)
    points = curve("resumed", "loss")
    check("scalars: a run that was resumed is one curve", [s for s, _ in points] == list(range(50)), points)
    check("scalars: with the values of its second part", all(v == (1 if s < 20 else 2) for s, v in points), points)


def check_histograms(address):
    tags = ask(address, "plugin/histograms/tags")
    check("histograms: tags", "z" in tags.get("regression", {}) and "cells" in tags.get("kinds", {}), tags)
    for run in ("regression", "regression_typed"):
        points = ask(address, "plugin/histograms/histograms", run=run, tag="z")
        check(f"histograms: 20 of z in {run}", [p[1] for p in points] == list(range(20)), [p[1] for p in points])
        counts = [sum(bucket[2] for bucket in p[2]) for p in points]
        check(f"histograms: of 100 numbers each in {run}", all(abs(c - 100) < 1e-6 for c in counts), counts)
        edges = [(p[2][0][0], p[2][-1][1]) for p in points]
        # z after the last pass lies between W x + b at -1 and 1.
        low, high = edges[-1]
        check(f"histograms: from -2.2 to 2.2 in {run}", -2.3 < low < -1.9 and 1.9 < high < 2.3, edges[-1])


def check_png(bytes_, width, height):
    """Whether it is a PNG file of this size whose checksums and data are right."""
    if bytes_[:8] != b"\x89PNG\r\n\x1a\n":
        return False
    at, data = 8, b""
    while at < len(bytes_):
        (length,) = struct.unpack(">I", bytes_[at : at + 4])
        kind, body = bytes_[at + 4 : at + 8], bytes_[at + 8 : at + 8 + length]
        if struct.unpack(">I", bytes_[at + 8 + length : at + 12 + length])[0] != zlib.crc32(kind + body):
            return False
        if kind == b"IHDR" and struct.unpack(">II", body[:8]) != (width, height):
            return False
        data += body if kind == b"IDAT" else b""
        at += 12 + length
    return len(zlib.decompress(data)) == height * (width + 1)


def check_media(address):
    tags = ask(address, "plugin/images/tags")
    names = sorted(tags.get("kinds", {}))
    check("images: tags", names == ["pictures/image/0", "pictures/image/1"], tags)
    for tag in names:
        for sample in ask(address, "plugin/images/images", run="kinds", tag=tag, sample=0):
            picture = get(address, "plugin/images/individualImage?" + sample["query"])
            check(f"images: {tag} is a picture of 16 x 16", sample["step"] == 1 and check_png(picture, 16, 16))
    tags = ask(address, "plugin/audio/tags")
    check("audio: tags", sorted(tags.get("kinds", {})) == ["sounds/audio"], tags)
    for sample in ask(address, "plugin/audio/audio", run="kinds", tag="sounds/audio", sample=0):
        sound = get(address, "plugin/audio/individualAudio?" + sample["query"])
        right = sound[:4] == b"RIFF" and struct.unpack("<I", sound[24:28]) == (8000,) and len(sound) == 44 + 2 * 256
        # TensorBoard's fast loader drops the kind of file from events of this form.
        known = sample["contentType"] in ("audio/wav", "application/octet-stream")
        check("audio: 256 frames at 8,000 a second", known and right, (sample, len(sound)))
    tags = ask(address, "plugin/text/tags")
    check("text: tags", tags.get("kinds") == ["notes"], tags)
    texts = ask(address, "plugin/text/text", run="kinds", tag="notes")
    check("text: shown as Markdown", len(texts) == 1 and "<em>waves</em>" in texts[0]["text"], texts)


def check_graphs(address):
    info = ask(address, "plugin/graphs/info")
    for run in ("graph", "graph_of_saved_model", "regression", "kinds"):
        check(f"graphs: {run} has one", info.get(run, {}).get("run_graph"), info.get(run))
    for run in ("graph", "graph_of_saved_model"):
        text = get(address, "plugin/graphs/graph", run=run, limit_attr_size=1024, large_attrs_key="_too_large_attrs").decode()
        names = re.findall(r'^  name: "([^"]+)"', text, re.MULTILINE)
        wanted = "a b/initial_value b b/Assign b/read mul truediv add mul_1 Assign".split()
        check(f"graphs: nodes of {run}", names == wanted, names)
        check(f"graphs: {run} with the shapes of results", text.count("_output_shapes") == len(wanted), text[:200])
    metadata = info.get("kinds", {}).get("tags", {}).get("step 1", {})
    check("graphs: what ran how long", metadata.get("profile"), info.get("kinds"))
    text = get(address, "plugin/graphs/run_metadata", run="kinds", tag="step 1").decode()
    check("graphs: times of the nodes", 'node_name: "average"' in text and "all_end_rel_micros" in text, text[:300])


def take_pictures(logdir, folder):
    """The pages of scalars, histograms and graphs, as PNG files."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        print("  no pictures: chromium is not installed")
        return
    folder.mkdir(parents=True, exist_ok=True)
    # Each page shows the folder that TensorBoard was started on.
    for name, logs, page in (("scalars", "models", "/#scalars"), ("histograms", "regression", "/#histograms"), ("graph", "regression", "/#graphs")):
        picture = folder / f"tensorboard_{name}.png"
        picture.unlink(missing_ok=True)
        with tensorboard(logs, folder=logdir) as address, tempfile.TemporaryDirectory() as profile:
            while not ask(address, "runs"):
                time.sleep(0.5)
            command = [chromium, "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--window-size=1000,560",
                       f"--user-data-dir={profile}", "--virtual-time-budget=20000", f"--screenshot={picture.absolute()}", address + page]
            subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=120, check=False)
        check(f"pictures: {picture.name}", picture.exists() and picture.stat().st_size > 5000)


def check_all(logdir, options):
    expected = {"graph", "graph_of_saved_model", "regression", "regression_typed", "kinds", "resumed",
                "models/model1/train", "models/model1/validation", "models/model2/train", "models/model2/validation"}
    with tensorboard(logdir, *options) as address:
        end = time.monotonic() + DEADLINE
        while not expected <= set(ask(address, "runs")) and time.monotonic() < end:
            time.sleep(0.5)
        runs = ask(address, "runs")
        check("ten runs by the names of their folders", set(runs) == expected, runs)
        for step in (check_scalars, check_histograms, check_media, check_graphs):
            try:
                step(address)
            except (OSError, ValueError, KeyError, IndexError) as problem:
                check(step.__name__, False, repr(problem))


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("logdir", type=pathlib.Path)
    arguments.add_argument("--pictures", type=pathlib.Path, help="folder for pictures of the pages")
    given = arguments.parse_args()
    print("TensorBoard with its fast loader of data")
    check_all(given.logdir, [])
    print("TensorBoard with its loader in Python")
    check_all(given.logdir, ["--load_fast=false"])
    if given.pictures:
        take_pictures(given.logdir, given.pictures)
    print("TensorBoard reads what was written" if failures == 0 else f"TensorBoard: {failures} FAILED")
    return 1 if failures else 0


sys.exit(main())
