#!/usr/bin/env python3
"""curves.py LABEL... < OUTPUT > PICTURE.svg: the numbers with these labels, in what an example printed, as curves over its steps.

An example prints lines as `epoch   1   loss 1.9161   held out: loss 1.0298, accuracy  69.17 %`: their labels are `loss`, `held out: loss` and
`accuracy`. The axis is logarithmic where the numbers differ by more than a factor of 50.
"""
import html
import math
import re
import sys

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 460, 170, 58, 130, 12, 26
COLORS, TEXT = ("#4878b0", "#b06030", "#3f8f5f"), "#7a7a7a"


def curves_in(lines):
    """The name of the steps, and for each label its points (step, value)."""
    unit, curves = "step", {}
    for line in lines:
        head = re.match(r"(epoch|step|pass)\s+(\d+)\s+(.*)", line)
        if not head:
            continue
        unit = head.group(1)
        # A label stands before its number, or behind the first one.
        for before, value, behind in re.findall(r"([^\d.+-]*)(-?\d+\.?\d*(?:e[+-]?\d+)?)((?: ?[a-z]+)*)", head.group(3)):
            label = re.sub(r"\s+", " ", before).strip(" :,%") or behind.strip()
            curves.setdefault(label, []).append((int(head.group(2)), float(value)))
    return unit, curves


def short(value):
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:.3g}"


def main():
    unit, curves = curves_in(sys.stdin)
    wanted = sys.argv[1:]
    if not wanted or any(label not in curves for label in wanted):
        sys.exit(f"curves: choose among these labels: {', '.join(curves) or 'there are none'}")
    chosen = {label: curves[label] for label in wanted}
    values = [v for points in chosen.values() for _, v in points]
    logarithmic = min(values) > 0 and max(values) / min(values) > 50
    measure = math.log if logarithmic else float
    low, high = (measure(min(values)), measure(max(values))) if logarithmic else (min(0.0, min(values)), max(values))
    first, last = (f(s for points in chosen.values() for s, _ in points) for f in (min, max))

    def x(step):
        return LEFT + (step - first) / max(1, last - first) * (WIDTH - LEFT - RIGHT)

    def y(value):
        return HEIGHT - BOTTOM - (measure(value) - low) / max(1e-30, high - low) * (HEIGHT - TOP - BOTTOM)

    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" font-family="sans-serif" '
           f'font-size="11" fill="{TEXT}">',
           f'<path d="M{LEFT} {TOP}V{HEIGHT - BOTTOM}H{WIDTH - RIGHT}" fill="none" stroke="{TEXT}"/>']
    for mark in (math.exp(low), math.exp((low + high) / 2), math.exp(high)) if logarithmic else (low, (low + high) / 2, high):
        out.append(f'<text x="{LEFT - 5}" y="{y(mark) + 4:.0f}" text-anchor="end">{short(mark)}</text>')
    out += [f'<text x="{LEFT}" y="{HEIGHT - 9}">{unit} {first}</text>', f'<text x="{WIDTH - RIGHT}" y="{HEIGHT - 9}" text-anchor="end">{last}</text>']
    heights = []
    for n, (label, points) in enumerate(chosen.items()):
        color = COLORS[n % len(COLORS)]
        out.append(f'<polyline points="{" ".join(f"{x(s):.0f},{y(v):.1f}" for s, v in points)}" fill="none" stroke="{color}" stroke-width="1.8"/>')
        at = y(points[-1][1])
        while any(abs(at - other) < 13 for other in heights):
            at -= 13 if n % 2 else -13
        heights.append(at)
        out.append(f'<text x="{x(points[-1][0]) + 6:.0f}" y="{at + 4:.0f}" fill="{color}">{html.escape(label)}</text>')
    print("\n".join([*out, "</svg>"]))


if __name__ == "__main__":
    main()
