#!/usr/bin/env bash
# Item 21.1: a parameter server and two workers, as processes: all wait for all. Both read the parameters of one process at the end.
# sync.sh PROGRAM, PROGRAM being 21_synchronous
set -euo pipefail
program=$1 item=21.1
. "$(dirname "$0")/support/processes.sh"

read -r a b c < <(free_ports 3)
hosts=(--ps_hosts="localhost:$a" --worker_hosts="localhost:$b,localhost:$c" --logdir="$folder/log")
start ps "$program" "${hosts[@]}" --job_name=ps --task_index=0
ps=$pid
start worker1 "$program" "${hosts[@]}" --job_name=worker --task_index=1
worker1=$pid
start worker0 "$program" "${hosts[@]}" --job_name=worker --task_index=0
worker0=$pid
ends "$worker0" 0 "worker 0"
ends "$worker1" 0 "worker 1"
kill -TERM "$ps"
ends "$ps" 0 "the parameter server"

for log in ps worker0 worker1; do
  echo "--- $log"
  cat "$folder/$log.log"
done
one=$(sed -n 's/.*: \(steps .*\)/\1/p' "$folder/worker0.log")
two=$(sed -n 's/.*: \(steps .*\)/\1/p' "$folder/worker1.log")
[ -n "$one" ] && [ "$one" = "$two" ] || fail "the workers read other parameters: $one and $two"
awk -F'[ ,]+' '{ exit !($2 == 200 && $4 > 1.99604 && $4 < 1.99606 && $6 > 0.00654 && $6 < 0.00656 && $8 > 0.045052 && $8 < 0.045056) }' \
  <<<"$one" || fail "$one"
