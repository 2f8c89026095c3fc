#!/usr/bin/env bash
# Item 20.6: steps a second, of all workers together, and the bytes of tensors that a step moves between tasks: with 1, 2 and 4 workers and
# 1 and 2 parameter servers, for a line of two parameters and for a dense network 784-256-128-10. A table; nothing is asserted of speed.
# scaling.sh PROGRAM, PROGRAM being 20_servers
set -euo pipefail
program=$1 item=20.6
. "$(dirname "$0")/support/processes.sh"

echo "model  servers  workers  steps a second  bytes a step"
for model in line dense; do
  for servers in 1 2; do
    for workers in 1 2 4; do
      rm -f "$folder"/*.log
      read -r -a ports < <(free_ports $((servers + workers)))
      hosts=("${ports[@]/#/localhost:}")
      all=(--item=20.6 "--model=$model" --ps_hosts="$(IFS=,; echo "${hosts[*]:0:$servers}")"
        --worker_hosts="$(IFS=,; echo "${hosts[*]:$servers}")")
      started=()
      for ((k = 0; k < servers; ++k)); do
        start "ps$k" "$program" "${all[@]}" --job_name=ps "--task_index=$k"
        started+=("$pid")
      done
      for ((k = 0; k < workers; ++k)); do
        start "worker$k" "$program" "${all[@]}" --job_name=worker "--task_index=$k"
        started+=("$pid")
      done
      for pid in "${started[@]}"; do ends "$pid" 0 "a task"; done
      [ "$(grep -l "^steps a second" "$folder"/worker*.log | wc -l)" = "$workers" ] || fail "a worker has measured nothing"
      sed -n 's/^steps a second \(.*\), bytes a step \(.*\)/\1 \2/p' "$folder"/worker*.log |
        awk -v model="$model" -v servers="$servers" -v workers="$workers" \
          '{ steps += $1; bytes = $2 } END { printf "%-5s  %7d  %7d  %14.0f  %12d\n", model, servers, workers, steps, bytes }'
    done
  done
done
