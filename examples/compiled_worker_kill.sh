#!/usr/bin/env bash
# Synchronous compiled workers, one of which is ended by signal 9: the other says who is missing, and goes on when it has been started again.
# compiled_worker_kill.sh PROGRAM
set -euo pipefail
program=$1 item=compiled_worker_kill
. "$(dirname "$0")/notes/support/processes.sh"

read -r a b c < <(free_ports 3)
all=(--ps_hosts="localhost:$a" --worker_hosts="localhost:$b,localhost:$c" --synchronous --steps=5000 --timeout_ms=1500)
start ps "$program" "${all[@]}" --job_name=ps --task_index=0
server=$pid
start worker0 "$program" "${all[@]}" --job_name=worker --task_index=0
chief=$pid
start worker1 "$program" "${all[@]}" --job_name=worker --task_index=1
other=$pid
wait_for worker1 "trains"
kill -9 "$other"
wait "$other" 2>/dev/null || true
wait_for worker0 "a synchronous update was not made"
# It was giving gradients, or it was the one that applies the update.
grep -qE "no gradients of worker 1 \(its last gradients came|worker 1, which applies it" "$folder/worker0.log" || fail "who is missing is not named"
start worker1 "$program" "${all[@]}" --job_name=worker --task_index=1
other=$pid
ends "$chief" 0 "worker 0"
ends "$other" 0 "worker 1"
kill -TERM "$server"
ends "$server" 0 "the parameter server"
for k in 0 1; do
  echo "--- worker $k"
  cat "$folder/worker$k.log"
done
