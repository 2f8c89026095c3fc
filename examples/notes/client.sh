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
[ "$("$client" --client "tcp://localhost:$port#first")" = "4.875 126.45" ] || fail "the first client"
item=18.2
[ "$("$client" --client "tcp://localhost:$port#second")" = "11.4303 4552.4847" ] || fail "the second client"
kill -TERM "$served"
ends "$served" 0 "the server"
echo "the second client found what the first had left"
