#!/usr/bin/env bash
# Item 20.2: two workers train with Adagrad, each until the loss of the last sample is at most 70. Started again in the same folder, by a
# parameter server that knows nothing, they begin at the counter that the chief has saved, and end after one pass each.
# until.sh PROGRAM, PROGRAM being 20_chief
set -euo pipefail
program=$1 item=20.2
. "$(dirname "$0")/support/processes.sh"

counter=0
for time in first second; do
  start_three --logdir="$folder/log"
  end_three

  echo "--- the $time time"
  cat "$folder"/worker?.log
  for worker in worker0 worker1; do
    log="$folder/$worker.log"
    begin=$(sed -n 's/.* begins at step //p' "$log") end=$(sed -n 's/.* ends at step //p' "$log")
    passes=$(sed -n 's/.*: passes \([0-9]*\),.*/\1/p' "$log")
    sed -n 's/.*, loss //p' "$log" | awk '{ exit !($1 <= 70) }' || fail "the loss of $worker is not small"
    if [ $time = first ]; then
      [ "$end" -gt 36000 ] && [ "$end" -lt 39000 ] || fail "the counter of $worker is at $end"
    else
      # The other worker may have made its pass already.
      [ "$begin" -ge "$counter" ] && [ "$begin" -le $((counter + 100)) ] || fail "$worker begins at $begin, not at $counter"
      [ "$passes" = 1 ] && [ "$end" = $((counter + 200)) ] || fail "$worker ends after $passes passes, at $end"
    fi
  done
  counter=$end
done
grep -q "restored from .*, at step $((counter - 200))$" "$folder/worker0.log" || fail "the chief does not say from where it goes on"
