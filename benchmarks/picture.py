#!/usr/bin/env python3
"""picture.py FILE > PICTURE.svg: the benchmarks' results as bars, one for each case: the time of one call of leat, the best rival's being 1.

FILE is what `scripts/bench` writes (build/bench/results.json), or a text with its table between the lines <!-- bench:begin --> and
<!-- bench:end -->, as README.md. The picture of the documents, docs/pictures/measured.svg, is drawn from README.md's table.
"""
import html
import json
import re
import sys

ROW, LEFT, BAR, RIGHT, TOP = 17, 130, 300, 230, 34
LIMITS = ("memory", "reading", "memcpy")  # of the machine: they compute no comparable result
TEXT, FASTER, SLOWER, LINE = "#7a7a7a", "#3f8f5f", "#4878b0", "#b06030"


def rows_of(path):
    """(case, rival, leat's time, the rival's time, ratio) of each case, the rival being the best one."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    if path.endswith(".json"):
        best = {}
        for entry in json.loads(text):
            if entry["rival"] not in LIMITS and (entry["case"] not in best or entry["ratio"] > best[entry["case"]]["ratio"]):
                best[entry["case"]] = entry
        return [(e["case"], e["rival"], f"{e['leat']:.3g} {e['unit']}", f"{e['rival_value']:.3g} {e['unit']}", e["ratio"]) for e in best.values()]
    table = re.search(r"<!-- bench:begin -->(.*?)<!-- bench:end -->", text, re.S)
    if not table:
        sys.exit(f"picture: {path} has no table between bench:begin and bench:end")
    found = re.findall(r"^\| (\w+) \| (.*?) \| (.*?) \| (.*?) \| ([0-9.]+) \|$", table.group(1), re.M)
    return [(case, rival, ours, theirs, float(ratio)) for case, rival, ours, theirs, ratio in found]


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    rows = rows_of(sys.argv[1])
    if not rows:
        sys.exit(f"picture: {sys.argv[1]} has no results")
    widest = max(1.5, max(ratio for *_, ratio in rows))
    scale = BAR / widest
    one = LEFT + scale
    height = TOP + ROW * len(rows) + 8
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {LEFT + BAR + RIGHT} {height}" width="{LEFT + BAR + RIGHT}" height="{height}" '
           f'font-family="sans-serif" font-size="11" fill="{TEXT}">',
           "<title>Time of one call of leat, relative to the fastest rival</title>",
           f'<text x="{one:.1f}" y="12" text-anchor="middle">fastest rival = 1</text>',
           f'<text x="{LEFT}" y="26">shorter is faster</text>']
    for n, (case, rival, ours, theirs, ratio) in enumerate(rows):
        y = TOP + ROW * n
        out += [f'<text x="{LEFT - 6}" y="{y + 11}" text-anchor="end">{html.escape(case)}</text>',
                f'<rect x="{LEFT}" y="{y + 2}" width="{ratio * scale:.1f}" height="{ROW - 5}" fill="{FASTER if ratio <= 1 else SLOWER}"/>',
                f'<text x="{LEFT + BAR + 8}" y="{y + 11}">{ratio:.2f}  {html.escape(rival)}, {html.escape(theirs)}</text>']
    out += [f'<line x1="{one:.1f}" y1="{TOP - 6}" x2="{one:.1f}" y2="{height - 6}" stroke="{LINE}" stroke-dasharray="4 3"/>', "</svg>"]
    print("\n".join(out))


if __name__ == "__main__":
    main()
