#!/usr/bin/env bash
# Item 22.1: monitored sessions of two workers at a parameter server. All stop once the counter is at 2,000; started again, they go on to
# 3,000, and with a parameter server that was started anew, from the last checkpoint, to 4,000.
# monitored.sh PROGRAM, PROGRAM being 22_monitored
set -euo pipefail
program=$1 item=22.1
. "$(dirname "$0")/support/processes.sh"

read -r a b c < <(free_ports 3)
hosts=(--ps_hosts="localhost:$a" --worker_hosts="localhost:$b,localhost:$c" --logdir="$folder/log")
start_ps() {
  start ps "$program" "${hosts[@]}" --job_name=ps --task_index=0
  ps=$pid
}
# train STEPS: both workers until the counter is there; they begin where the last ones ended.
began=0
train() {
  rm -f "$folder"/worker?.log
  start worker1 "$program" "${hosts[@]}" --job_name=worker --task_index=1 --steps="$1"
  local worker1=$pid
  start worker0 "$program" "${hosts[@]}" --job_name=worker --task_index=0 --steps="$1"
  ends "$pid" 0 "worker 0"
  ends "$worker1" 0 "worker 1"
  cat "$folder"/worker?.log
  local steps
  steps=$(sed -n 's/.*: steps \([0-9]*\),.*/\1/p' "$folder"/worker?.log | sort -n | tail -1)
  [ "$steps" -ge "$1" ] && [ "$steps" -le $(($1 + 1)) ] || fail "stopped at step $steps, not at $1"
  local begins
  # Where the server still has the model, the first worker that is there goes on at once.
  begins=$(sed -n 's/begins at step //p' "$folder"/worker?.log | sort -n | head -1)
  [ "$begins" -ge "$began" ] && [ "$begins" -le $((began + 20)) ] || fail "began at step $begins, not at $began"
  began=$1
}
start_ps
train 2000
train 3000
kill -TERM "$ps"
ends "$ps" 0 "the parameter server"
start_ps
train 4000
grep -q "restored from .*model.ckpt-300[01]" "$folder/worker0.log" || fail "the chief did not say from where it went on"
kill -TERM "$ps"
ends "$ps" 0 "the parameter server"
