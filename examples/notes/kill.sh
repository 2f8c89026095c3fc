#!/usr/bin/env bash
# Items 20.1, 21.1 and 22.1 with a worker, the chief, and the parameter server ended by signal 9 while they train, each started again after a
# second. Training goes on: the counter falls only to a checkpoint's, where the server was ended, and the chief then says so.
# kill.sh PROGRAM STEPS, PROGRAM being 20_between_graph, 21_synchronous or 22_monitored; it takes --steps, or --updates.
set -euo pipefail
program=$1 steps=$2 item=kill
. "$(dirname "$0")/support/processes.sh"

flag=--steps
case $program in *21_synchronous*) flag=--updates ;; esac
for victim in worker1 worker0 ps; do
  read -r a b c < <(free_ports 3)
  rm -rf "$folder"/*.log "$folder/log"
  all=(--ps_hosts="localhost:$a" --worker_hosts="localhost:$b,localhost:$c" --logdir="$folder/log" "$flag=$steps")
  declare -A role=([ps]="--job_name=ps --task_index=0" [worker0]="--job_name=worker --task_index=0"
    [worker1]="--job_name=worker --task_index=1") id=()
  for task in ps worker1 worker0; do
    # shellcheck disable=SC2086
    start $task "$program" "${all[@]}" ${role[$task]}
    id[$task]=$pid
  done
  # Until they train: the chief saves at once.
  until ls "$folder"/log/model.ckpt-*.json >/dev/null 2>&1; do
    [ "$SECONDS" -lt "$deadline" ] || fail "the chief saves nothing"
    sleep 0.02
  done
  sleep 1
  for task in worker0 worker1; do
    kill -0 "${id[$task]}" 2>/dev/null || fail "$task has ended too early"
  done
  kill -9 "${id[$victim]}"
  wait "${id[$victim]}" 2>/dev/null || true
  sleep 1
  # shellcheck disable=SC2086
  start $victim "$program" "${all[@]}" ${role[$victim]}
  id[$victim]=$pid
  ends "${id[worker0]}" 0 "the chief, after $victim was killed,"
  ends "${id[worker1]}" 0 "worker 1, after $victim was killed,"
  kill -TERM "${id[ps]}"
  ends "${id[ps]}" 0 "the parameter server"

  echo "--- $victim was killed"
  cat "$folder/worker0.log" "$folder/worker1.log"
  last=$(sed -n 's/.*: \(steps .*\)/\1/p' "$folder/worker0.log" | tail -1)
  awk -F'[ ,]+' -v steps="$steps" '{ exit !($2 >= steps - 1) }' <<<"$last" || fail "it ended at $last"
  case $program in
  *22_monitored*) awk -F'[ ,]+' '{ exit !($4 > 0.999 && $4 < 1.001) }' <<<"$last" || fail "$last" ;;
  *) awk -F'[ ,]+' '{ exit !($4 > 1.946 && $4 < 2.046 && $6 > -0.0435 && $6 < 0.0565 && $8 < 0.047) }' <<<"$last" || fail "$last" ;;
  esac
  if [ "$victim" = ps ]; then
    grep -q "restored from .*, at step" "$folder/worker0.log" || fail "the chief did not say from where it went on"
  elif grep -q "restored from" "$folder/worker0.log"; then
    fail "the counter fell though the server was there"
  fi
done
