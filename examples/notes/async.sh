#!/usr/bin/env bash
# Items 20.1 and 20.7: a parameter server, worker 1, then worker 0, as processes. Worker 1 waits for the chief; no step is lost between
# them; both read the same parameters at the end; the server says nothing but that it waits.
# async.sh PROGRAM, PROGRAM being 20_between_graph or 20_compiled
set -euo pipefail
program=$1 item=20.1
case $program in *20_compiled*) item=20.7 ;; esac
. "$(dirname "$0")/support/processes.sh"

read -r a b c < <(free_ports 3)
hosts=(--ps_hosts="localhost:$a" --worker_hosts="localhost:$b,localhost:$c" --logdir="$folder/log")
start ps "$program" "${hosts[@]}" --job_name=ps --task_index=0
ps=$pid
wait_for ps "started server"
start worker1 "$program" "${hosts[@]}" --job_name=worker --task_index=1
worker1=$pid
wait_for worker1 "Waiting for the chief to make the model ready"
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
awk -F'[ ,]+' '{ exit !($2 == 4000 && $4 > 1.946 && $4 < 2.046 && $6 > -0.0435 && $6 < 0.0565 && $8 < 0.047) }' <<<"$one" || fail "$one"
compgen -G "$folder/log/model.ckpt-*" >"$folder/saved" || fail "the chief saved nothing"
