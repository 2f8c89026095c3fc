#!/usr/bin/env bash
# Two parameter servers and two workers, as processes. Both workers read the same variables at the end, and no step is lost.
# compiled_worker.sh PROGRAM [--staleness N | --synchronous]
set -euo pipefail
program=$1 item=compiled_worker
shift
. "$(dirname "$0")/notes/support/processes.sh"

read -r a b c d < <(free_ports 4)
hosts=(--ps_hosts="localhost:$a,localhost:$b" --worker_hosts="localhost:$c,localhost:$d" "$@")
servers=()
for k in 0 1; do
  start "ps$k" "$program" "${hosts[@]}" --job_name=ps "--task_index=$k"
  servers+=("$pid")
done
workers=()
for k in 1 0; do
  start "worker$k" "$program" "${hosts[@]}" --job_name=worker "--task_index=$k"
  workers+=("$pid")
done
for pid in "${workers[@]}"; do ends "$pid" 0 "a worker"; done
for pid in "${servers[@]}"; do kill -TERM "$pid"; done
for pid in "${servers[@]}"; do ends "$pid" 0 "a parameter server"; done

for k in 0 1; do
  echo "--- worker $k"
  cat "$folder/worker$k.log"
done
one=$(sed -n 's/.*: \(steps .*\)/\1/p' "$folder/worker0.log")
two=$(sed -n 's/.*: \(steps .*\)/\1/p' "$folder/worker1.log")
[ -n "$one" ] && [ "$one" = "$two" ] || fail "the workers read other variables: $one and $two"
steps=1000  # 500 of each; synchronous, the second has data for 100 more than the first
case "$*" in *--synchronous*) steps=600 ;; esac
[[ $one == "steps $steps,"* ]] || fail "steps were lost: $one"
