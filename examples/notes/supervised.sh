#!/usr/bin/env bash
# Item 11.2: a supervised program is killed with signal 9 at five random moments and started again. Its parameters at steps 1,000,
# 2,000, ... are, to the bit, those of a run that was never killed.
# supervised.sh PROGRAM [STEPS], PROGRAM being 11_supervised
set -euo pipefail
program=$1
steps=${2:-15000}
deadline=$((SECONDS + 60))
folder=$(mktemp -d)
pid=
trap '[ -z "$pid" ] || kill -9 "$pid" 2>/dev/null || true; rm -rf "$folder"' EXIT

fail() {
  echo "item 11.2: $1" >&2
  for log in "$folder"/*.log; do echo "--- ${log##*/}" >&2; tail -n 5 "$log" >&2; done
  exit 1
}

timeout 60 "$program" --train "$folder/whole" "$steps" "$folder/whole.txt" >"$folder/whole.log" 2>&1 || fail "the run that is not killed failed"

for run in 1 2 3 4 5; do
  "$program" --train "$folder/parts" "$steps" "$folder/parts.txt" slowly >"$folder/part$run.log" 2>&1 &
  pid=$!
  sleep "0.$(printf %03d $((150 + RANDOM % 350)))"
  kill -9 "$pid" 2>/dev/null || fail "run $run had ended before it was killed"
  wait "$pid" 2>/dev/null && fail "run $run had ended before it was killed"
  pid=
  echo "run $run was killed; $(cat "$folder/part$run.log")"
done
left=$((deadline - SECONDS))
[ "$left" -gt 0 ] || fail "there is no time left"
timeout "$left" "$program" --train "$folder/parts" "$steps" "$folder/parts.txt" >"$folder/rest.log" 2>&1 ||
  fail "the last run failed"
echo "the last run: $(cat "$folder/rest.log")"

# A step that was reached again after a kill has the same parameters again.
sort -un -k1,1 "$folder/parts.txt" >"$folder/once.txt"
sort -u "$folder/parts.txt" | sort -n >"$folder/all.txt"
cmp -s "$folder/once.txt" "$folder/all.txt" || fail "a step that was repeated gave other parameters"
cmp -s "$folder/once.txt" "$folder/whole.txt" || fail "$(diff "$folder/whole.txt" "$folder/once.txt" | head -n 4)"
echo "$(wc -l <"$folder/whole.txt") lines of parameters are equal to the bit"
