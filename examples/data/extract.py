#!/usr/bin/env python3
"""Writes diabetes.csv and digits.csv beside this script from the copies inside the scikit-learn package.

    python3 -m pip install scikit-learn && python3 examples/data/extract.py

The measurements are written raw, not scaled, each number in its shortest decimal form, so that the files are the same
from every version of the package that carries the same data.
"""

import csv
import pathlib

from sklearn.datasets import load_diabetes, load_digits

FOLDER = pathlib.Path(__file__).resolve().parent


def write(name, header, rows):
    with open(FOLDER / name, "w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows([f"{value:.12g}" for value in row] for row in rows)
    print(f"{name}: {len(rows)} rows of {len(header)} columns")


def main():
    diabetes = load_diabetes(scaled=False)
    write(
        "diabetes.csv",
        [*diabetes.feature_names, "progression"],
        [[*measurements, target] for measurements, target in zip(diabetes.data, diabetes.target)],
    )

    digits = load_digits()
    write(
        "digits.csv",
        [f"pixel_{row}_{column}" for row in range(8) for column in range(8)] + ["digit"],
        [[*pixels, digit] for pixels, digit in zip(digits.data, digits.target)],
    )


if __name__ == "__main__":
    main()
