#!/usr/bin/env bash
# Items 19.1 to 19.3 with three servers as processes (17_server); the client has none.
# in_graph.sh SERVER CLIENT, being 17_server and 19_in_graph
set -euo pipefail
server=$1 client=$2 item=19.1
. "$(dirname "$0")/support/processes.sh"

read -r a b c < <(free_ports 3)
hosts=(--ps_hosts="localhost:$a" --worker_hosts="localhost:$b,localhost:$c")
served=()
for task in ps:0 worker:0 worker:1; do
  start "${task/:/}" "$server" "${hosts[@]}" --job_name="${task%:*}" --task_index="${task#*:}"
  served+=("$pid")
done
start client "$client" --targets="tcp://localhost:$b,tcp://localhost:$c,tcp://localhost:$a"
ends "$pid" 0 "the client"
cat "$folder/client.log"
for pid in "${served[@]}"; do
  kill -TERM "$pid"
  ends "$pid" 0 "a server"
done
