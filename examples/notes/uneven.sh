#!/usr/bin/env bash
# Item 21 with workers whose data end at different times: a worker that ends gives its share back, and the other goes on alone, whichever it is;
# one that is killed does not, and the error of the other's wait names it.
# uneven.sh PROGRAM, PROGRAM being 21_synchronous
set -euo pipefail
program=$1 item=21.uneven
. "$(dirname "$0")/support/processes.sh"

# three DATA0 DATA1 FLAG...: a server and two workers with data for so many steps.
three() {
  local a b c data0=$1 data1=$2
  shift 2
  rm -rf "$folder"/*.log "$folder/log"
  read -r a b c < <(free_ports 3)
  local all=(--ps_hosts="localhost:$a" --worker_hosts="localhost:$b,localhost:$c" --logdir="$folder/log" --updates=100000 "$@")
  start ps "$program" "${all[@]}" --job_name=ps --task_index=0
  ps=$pid
  start worker1 "$program" "${all[@]}" --job_name=worker --task_index=1 --data="$data1"
  worker1=$pid
  start worker0 "$program" "${all[@]}" --job_name=worker --task_index=0 --data="$data0"
  worker0=$pid
}

for data in "40 120" "120 40" "120 120"; do
  # shellcheck disable=SC2086
  three $data
  ends "$worker0" 0 "worker 0"
  ends "$worker1" 0 "worker 1"
  kill -TERM "$ps"
  ends "$ps" 0 "the parameter server"
  grep -qE "replica [01] .*has ended: 1 of 2 replicas remain|replica 0 .*has no more data" "$folder/worker0.log" || [ "$data" = "120 120" ] ||
    fail "the chief does not say who has ended"
  echo "--- $data"
  cat "$folder/worker0.log" "$folder/worker1.log"
done

three 0 0 --timeout_in_ms=3000
until ls "$folder"/log/model.ckpt-*.json >/dev/null 2>&1; do
  [ "$SECONDS" -lt "$deadline" ] || fail "the chief saves nothing"
  sleep 0.02
done
sleep 0.5
kill -9 "$worker1"
ends "$worker0" 1 "worker 0, without worker 1,"
kill -TERM "$ps"
ends "$ps" 0 "the parameter server"
grep -q "no gradients of replica 1 (/job:worker/task:1).*its last gradients came" "$folder/worker0.log" || fail "worker 0 does not say for whom it waited"
cat "$folder/worker0.log"
