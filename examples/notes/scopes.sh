#!/usr/bin/env bash
# Item 20.4: in a worker that is not the chief, a variable without a device is an error that names it; with all variables in the scope both
# train, whether the supervisor is made inside of it or outside.
# scopes.sh PROGRAM, PROGRAM being 20_chief
set -euo pipefail
program=$1 item=20.4
. "$(dirname "$0")/support/processes.sh"

for supervisor in inside outside; do
  rm -f "$folder"/*.log
  read -r a b c < <(free_ports 3)
  all=(--item=20.4 --supervisor="$supervisor" --ps_hosts="localhost:$a" --worker_hosts="localhost:$b,localhost:$c")
  start ps "$program" "${all[@]}" --job_name=ps --task_index=0
  ps=$pid
  start worker1 "$program" "${all[@]}" --job_name=worker --task_index=1
  worker1=$pid
  start worker0 "$program" "${all[@]}" --job_name=worker --task_index=0
  ends "$pid" 0 "worker 0"
  ends "$worker1" 0 "worker 1"
  kill -TERM "$ps"
  ends "$ps" 0 "the parameter server"

  echo "--- the supervisor is made $supervisor of the scope"
  cat "$folder"/worker?.log
  grep -q 'refused: When using replicas, all Variables must have their device set: name: "lost"' "$folder/worker1.log" ||
    fail "worker 1 does not name the variable"
  for worker in worker0 worker1; do
    grep -q "ends at step 200$" "$folder/$worker.log" || fail "$worker does not end at step 200"
  done
done
