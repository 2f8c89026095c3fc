#!/usr/bin/env bash
# Item 17.1: three processes that wait for work; SIGTERM ends each with 0. A second server at one port ends with an error.
# server.sh PROGRAM, PROGRAM being 17_server
set -euo pipefail
program=$1 item=17.1
. "$(dirname "$0")/support/processes.sh"

read -r a b c < <(free_ports 3)
hosts=(--ps_hosts="localhost:$a" --worker_hosts="localhost:$b,localhost:$c")
start ps "$program" "${hosts[@]}" --job_name=ps --task_index=0
ps=$pid
start worker0 "$program" "${hosts[@]}" --job_name=worker --task_index=0
worker0=$pid
start worker1 "$program" "${hosts[@]}" --job_name=worker --task_index=1
worker1=$pid
wait_for ps "started server with target tcp://localhost:$a"
wait_for worker0 "started server with target tcp://localhost:$b"
wait_for worker1 "started server with target tcp://localhost:$c"
wait_for ps "job worker: 0 -> localhost:$b 1 -> localhost:$c"

start again "$program" "${hosts[@]}" --job_name=ps --task_index=0
ends "$pid" 1 "a second server at one port"
wait_for again "another process listens there"
start other "$program" "${hosts[@]}" --job_name=chief
ends "$pid" 1 "a task that the cluster lacks"

for pid in "$worker1" "$ps" "$worker0"; do
  kill -TERM "$pid"
  ends "$pid" 0 "a server"
done
cat "$folder/worker0.log"
echo "three servers came and went"
