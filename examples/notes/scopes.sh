#!/usr/bin/env bash
# Item 20.4: in a worker that is not the chief, a variable without a device is an error that names it; with all variables in the scope both
# train, whether the supervisor is made inside of it or outside.
# scopes.sh PROGRAM, PROGRAM being 20_chief
set -euo pipefail
program=$1 item=20.4
. "$(dirname "$0")/support/processes.sh"

for supervisor in inside outside; do
  start_three --supervisor="$supervisor"
  end_three

  echo "--- the supervisor is made $supervisor of the scope"
  cat "$folder"/worker?.log
  grep -q 'refused: When using replicas, all Variables must have their device set: name: "lost"' "$folder/worker1.log" ||
    fail "worker 1 does not name the variable"
  for worker in worker0 worker1; do
    grep -q "ends at step 200$" "$folder/$worker.log" || fail "$worker does not end at step 200"
  done
done
