# For the scripts of this folder: processes of a cluster on loopback, at free ports, ended by their ids. Each one's output goes to a file
# of its own, shown if anything fails. To be sourced; `item` names what is shown.

folder=$(mktemp -d)
deadline=$((SECONDS + ${LEAT_NOTES_SECONDS:-60}))
pids=()
end_all() {
  for pid in "${pids[@]}"; do kill -9 "$pid" 2>/dev/null || true; done
  rm -rf "$folder"
}
trap end_all EXIT

fail() {
  echo "item $item: $1" >&2
  for log in "$folder"/*.log; do
    echo "--- ${log##*/}" >&2
    tail -n 20 "$log" >&2
  done
  exit 1
}

# free_ports N: numbers that nobody listened at a moment ago, of the range that is not handed out to clients.
free_ports() {
  local fields port found=()
  local -A used=()
  while read -r -a fields; do
    [[ ${fields[1]:-} == *:* ]] && used[$((16#${fields[1]##*:}))]=1
  done < <(cat /proc/net/tcp /proc/net/tcp6 2>/dev/null | grep -v local_address)
  while [ "${#found[@]}" -lt "$1" ]; do
    port=$((10000 + RANDOM % 20000))
    [ -z "${used[$port]:-}" ] || continue
    used[$port]=1
    found+=("$port")
  done
  echo "${found[@]}"
}

# start NAME COMMAND...: a process, its id in `pid`, its output in NAME.log.
start() {
  local name=$1
  shift
  "$@" >>"$folder/$name.log" 2>&1 &
  pid=$!
  pids+=("$pid")
}

# start_three FLAG...: tasks of $program at new ports, with these flags: a parameter server, then worker 1, then worker 0, the chief. Their
# ids are in `ps`, `worker1` and `worker0`; logs of an earlier start are removed.
start_three() {
  local a b c
  rm -f "$folder"/*.log
  read -r a b c < <(free_ports 3)
  local all=(--item="$item" --ps_hosts="localhost:$a" --worker_hosts="localhost:$b,localhost:$c" "$@")
  start ps "$program" "${all[@]}" --job_name=ps --task_index=0
  ps=$pid
  start worker1 "$program" "${all[@]}" --job_name=worker --task_index=1
  worker1=$pid
  start worker0 "$program" "${all[@]}" --job_name=worker --task_index=0
  worker0=$pid
}

# end_three [SIGNAL]: the workers end, by themselves or by a signal, the chief last, so that it saves what both have done; then the server.
end_three() {
  for task in worker1 worker0; do
    [ -z "${1:-}" ] || kill "-$1" "${!task}"
    ends "${!task}" 0 $task
  done
  kill -TERM "$ps"
  ends "$ps" 0 "the parameter server"
}

# wait_for NAME TEXT: until a process has printed a line with this text.
wait_for() {
  until grep -qF -- "$2" "$folder/$1.log" 2>/dev/null; do
    [ "$SECONDS" -lt "$deadline" ] || fail "$1 has not printed \"$2\""
    sleep 0.02
  done
}

# ends PID STATUS NAME: a process ends by itself, with this status.
ends() {
  local status=0
  while kill -0 "$1" 2>/dev/null; do
    [ "$SECONDS" -lt "$deadline" ] || fail "$3 does not end"
    sleep 0.02
  done
  wait "$1" || status=$?
  [ "$status" -eq "$2" ] || fail "$3 ended with $status, not $2"
}
