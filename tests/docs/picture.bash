#!/usr/bin/env bash
# picture.bash SOURCE: the picture of the benchmarks shows the table of README.md, and benchmarks/picture.py draws results in JSON, too. 77
# without Python.
set -euo pipefail
cd "$1"
command -v python3 >/dev/null || exit 77
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
python3 benchmarks/picture.py README.md >"$scratch/measured.svg"
cmp "$scratch/measured.svg" docs/pictures/measured.svg || {
  echo "FAILED: draw it anew: python3 benchmarks/picture.py README.md >docs/pictures/measured.svg"
  exit 1
}
cat >"$scratch/results.json" <<'END'
[{"case": "one", "leat": 2.0, "ratio": 0.5, "rival": "slow", "rival_value": 4.0, "unit": "us"},
 {"case": "one", "leat": 2.0, "ratio": 0.8, "rival": "<quick>", "rival_value": 2.5, "unit": "us"},
 {"case": "one", "leat": 2.0, "ratio": 1.5, "rival": "memory", "rival_value": 1.3, "unit": "us"}]
END
python3 benchmarks/picture.py "$scratch/results.json" >"$scratch/results.svg"
grep -q "0.80  &lt;quick&gt;, 2.5 us" "$scratch/results.svg" || {
  echo "FAILED: the best rival is not the one that was drawn"
  exit 1
}
python3 -c 'import sys, xml.dom.minidom; xml.dom.minidom.parse(sys.argv[1])' "$scratch/results.svg"
