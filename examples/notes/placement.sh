#!/usr/bin/env bash
# Item 20.5: two parameter servers share a dense network's variables in turn, three workers train it. Each worker looks at the tensors of a
# step: gradients go to the server that holds the variable, and it makes the update. The servers print what
# they hold, and end when the workers are done; the chief asks them what they have received.
# placement.sh PROGRAM, PROGRAM being 20_servers
set -euo pipefail
program=$1 item=20.5
. "$(dirname "$0")/support/processes.sh"

read -r a b c d e < <(free_ports 5)
all=(--item=20.5 --ps_hosts="localhost:$a,localhost:$b" --worker_hosts="localhost:$c,localhost:$d,localhost:$e")
servers=() workers=()
for k in 0 1; do
  start "ps$k" "$program" "${all[@]}" --job_name=ps "--task_index=$k"
  servers+=("$pid")
done
for k in 2 1 0; do
  start "worker$k" "$program" "${all[@]}" --job_name=worker "--task_index=$k"
  workers+=("$pid")
done
for pid in "${workers[@]}"; do ends "$pid" 0 "a worker"; done
for pid in "${servers[@]}"; do ends "$pid" 0 "a parameter server"; done

for log in ps0 ps1 worker0; do
  echo "--- $log"
  cat "$folder/$log.log"
done
grep -q "holds dense/kernel dense_1/kernel dense_2/kernel, bytes 939008$" "$folder/ps0.log" || fail "ps 0 holds other variables"
grep -q "holds dense/bias dense_1/bias dense_2/bias, bytes 1576$" "$folder/ps1.log" || fail "ps 1 holds other variables"
# Three workers send ten gradients each; what a message has besides, and other messages, is little beside those of the kernels.
for k in 0 1; do
  held=$(sed -n 's/.*, bytes //p' "$folder/ps$k.log") received=$(sed -n "s|.*ps/task:$k has received bytes ||p" "$folder/worker0.log")
  [ "${received:-0}" -ge $((30 * held)) ] || fail "ps $k has received ${received:-no} bytes, not 30 times $held"
  [ "$k" = 1 ] || [ "$received" -lt $((33 * held)) ] || fail "ps 0 has received $received bytes"
done
