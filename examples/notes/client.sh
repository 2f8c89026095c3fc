#!/usr/bin/env bash
# Items 18.1 and 18.2 as processes: a server, and one client after the other, of which the second does not initialize.
# client.sh SERVER CLIENT, being 17_server and 18_client
set -euo pipefail
server=$1 client=$2 item=18.1
. "$(dirname "$0")/support/processes.sh"

port=$(free_ports 1)
start server "$server" --worker_hosts="localhost:$port" --job_name=worker --task_index=0
served=$pid
wait_for server "started server"
# finds CLIENT A B: what a client prints, within a millionth.
finds() {
  local found
  found=$("$client" --client "tcp://localhost:$port#$1") || fail "the $1 client"
  echo "the $1 client: $found"
  awk -v a="$2" -v b="$3" '{ exit !(($1 / a - 1) ^ 2 < 1e-12 && ($2 / b - 1) ^ 2 < 1e-12) }' <<<"$found" || fail "the $1 client: $found"
}
finds first 4.875 126.45
item=18.2
finds second 11.430288 4552.4847
kill -TERM "$served"
ends "$served" 0 "the server"
echo "the second client found what the first had left"
