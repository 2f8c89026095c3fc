#!/usr/bin/env bash
# cluster.bash LEAT: `leat keys`, `leat serve` and `leat cluster` with real processes on loopback.
set -euo pipefail
export LC_ALL=C
unset TF_CONFIG

leat=$1 item="leat's cluster commands"
. "$(dirname "${BASH_SOURCE[0]}")/../../examples/notes/support/processes.sh"
cd "$folder"

cases=0
# expect CODE TEXT ARGUMENT...: the command exits with this code, and what it prints, which is also left in `output`, holds the text.
expect() {
  local code=$1 text=$2 status=0
  shift 2
  cases=$((cases + 1))
  output=$(timeout 30 "$leat" "$@" 2>&1) || status=$?
  if [ "$status" -ne "$code" ] || [[ $output != *"$text"* ]]; then
    fail "leat $*: expected status $code and \"$text\", got status $status and"$'\n'"$output"
  fi
}
# row DEVICE TEXT: `output` has a row that begins with the device and holds the text.
row() {
  cases=$((cases + 1))
  grep -q "^$1 .*$2" <<<"$output" || fail "no row of $1 with \"$2\" in"$'\n'"$output"
}

# keys
expect 0 "servers.public  its public key" keys servers
expect 0 "" keys client
expect 0 "" keys stranger
[ "$(stat -c %a servers client | tr '\n' ' ')" = "600 600 " ] || fail "others may read the keys"
expect 0 "" keys --show servers
[ "$output" = "$(sed 's/^public //' servers.public)" ] && [ ${#output} -eq 40 ] || fail "keys --show printed $output"
expect 0 "$output" keys --show servers.public
before=$(cat servers servers.public)
expect 3 "servers: exists already" keys servers
[ "$before" = "$(cat servers servers.public)" ] || fail "keys were overwritten"
echo mine >half.public
expect 3 "half.public: exists already" keys half
[ ! -e half ] || fail "half a pair was left"
expect 3 "nowhere/k: cannot be written" keys nowhere/k
expect 3 "none: cannot be opened" keys --show none
expect 3 "half.public:1: expected" keys --show half.public
expect 2 "file is required" keys

# a server alone: a free port, one line, and 0 for each of the two signals
for signal in TERM INT; do
  start "alone_$signal" "$leat" serve
  wait_for "alone_$signal" "/job:local/task:0 serves at tcp://127.0.0.1:"
  target=$(grep -o 'tcp://[^,]*' "alone_$signal.log")
  [ "$(cat "alone_$signal.log")" = "/job:local/task:0 serves at $target, process $pid" ] || fail "leat serve printed something else"
  expect 0 "process $pid, incarnation " cluster "$target"
  row /job:local/task:0 "${target#tcp://}  up  "
  row /job:local/task:0 ", 0 steps, sent [0-9]* messages ([0-9.]* [a-zA-Z]*), received [1-9][0-9]* messages ([0-9.]* [a-zA-Z]*), 0 sessions, 0 parts, [1-9][0-9.]* MB$"
  expect 0 "process $pid" cluster "${target#tcp://}"
  kill "-$signal" "$pid"
  ends "$pid" 0 "leat serve after $signal"
  expect 1 "no process listens there" cluster "$target" --timeout 20
done

# a cluster of three, by flags, from a file, from TF_CONFIG
read -r a b c < <(free_ports 3)
hosts=(--ps_hosts="localhost:$a" --worker_hosts "localhost:$b,localhost:$c")
echo "{\"ps\": [\"localhost:$a\"], \"worker\": [\"localhost:$b\", \"localhost:$c\"]}" >cluster.json
start ps "$leat" serve "${hosts[@]}" --job_name=ps
ps=$pid
wait_for ps "/job:ps/task:0 serves at tcp://localhost:$a, process $ps"
start worker0 "$leat" serve --cluster cluster.json --job_name worker --task_index 0
worker0=$pid
wait_for worker0 "/job:worker/task:0 serves at tcp://localhost:$b"
expect 1 "/job:worker/task:1" cluster "tcp://localhost:$a" --timeout 2
row /job:ps/task:0 "up    process $ps"
row /job:worker/task:0 "up    process $worker0"
row /job:worker/task:1 "down  not reached.*no process listens there"
# Nobody waits for a task that is not there.
before=$SECONDS
expect 1 "up    process $ps" cluster --cluster cluster.json --timeout 25
[ $((SECONDS - before)) -lt 5 ] || fail "leat cluster took $((SECONDS - before)) s"
# Whoever waits for all is told when they are there.
start wait "$leat" cluster --cluster cluster.json --timeout 30 --wait
waiting=$pid
sleep 0.2
export TF_CONFIG="{\"cluster\": $(cat cluster.json), \"task\": {\"type\": \"worker\", \"index\": 1}}"
start worker1 "$leat" serve --from tf_config
worker1=$pid
ends "$waiting" 0 "the one that waits"
for way in "tcp://localhost:$c" "${hosts[*]}" "--cluster cluster.json" "--from tf_config"; do
  # shellcheck disable=SC2086
  expect 0 "up    process $worker1" cluster $way
done
unset TF_CONFIG

# the same task twice; another cluster's
expect 1 "another process listens there" serve "${hosts[@]}" --job_name ps
expect 1 "belongs to another cluster" cluster --worker_hosts="localhost:$b,localhost:$c" --timeout 2
expect 1 "is not /job:worker/task:0" cluster --worker_hosts="localhost:$a" --timeout 2

# stopped, going on, killed, back
kill -STOP "$worker0"
expect 1 "up    process $ps" cluster --cluster cluster.json --timeout 2
row /job:worker/task:0 "down  "
kill -CONT "$worker0"
expect 0 "up    process $worker0" cluster --cluster cluster.json
first=$(grep "^/job:worker/task:0 " <<<"$output")
kill -KILL "$worker0"
ends "$worker0" 137 "worker 0"
expect 1 "up    process $worker1" cluster "tcp://localhost:$a" --timeout 2
row /job:worker/task:0 "down  .*no process listens there"
start again "$leat" serve --cluster cluster.json --job_name worker --task_index 0
again=$pid
expect 0 "up    process $again" cluster "tcp://localhost:$a"
incarnation_in() { sed -n 's/^.job:worker.task:0 .*incarnation \([0-9a-f]*\),.*/\1/p'; }
[ "$(incarnation_in <<<"$first")" != "$(incarnation_in <<<"$output")" ] || fail "two starts have one incarnation"
kill -TERM "$ps" "$again" "$worker1"
for p in "$ps" "$again" "$worker1"; do ends "$p" 0 "a server that is asked to end"; done

# one that ends when the workers have
read -r a b < <(free_ports 2)
hosts=(--ps_hosts="localhost:$a" --worker_hosts="localhost:$b")
start done_ps "$leat" serve "${hosts[@]}" --job_name ps --until-done
ps=$pid
start done_worker "$leat" serve "${hosts[@]}" --job_name worker
worker=$pid
wait_for done_worker "serves at"
expect 0 "up    process $worker" cluster "${hosts[@]}" --wait
kill -TERM "$ps"
ends "$ps" 0 "a server that waits for the workers, and is asked to end"
kill -TERM "$worker"
ends "$worker" 0 "a worker"
expect 2 "no job but local" serve --until-done

# with keys
read -r a b < <(free_ports 2)
hosts=(--ps_hosts="localhost:$a" --worker_hosts="localhost:$b")
own=(--keys servers --server_keys servers.public --allowed servers.public --allowed client.public)
keyed=()
for job in ps worker; do
  start "keyed_$job" "$leat" serve "${hosts[@]}" --job_name "$job" "${own[@]}" --run today
  wait_for "keyed_$job" "serves at"
  keyed+=("$pid")
done
worker=$pid
expect 0 "up    process $worker" cluster "tcp://localhost:$a" --keys client --server_keys servers.public
expect 1 "refused this process's key" cluster "tcp://localhost:$a" --keys stranger --server_keys servers.public
expect 1 "key" cluster "tcp://localhost:$a" --keys client --server_keys stranger.public
expect 1 "key" cluster "tcp://localhost:$a"
expect 1 "key" cluster "${hosts[@]}" --keys stranger --server_keys servers.public
row /job:ps/task:0 "down  .*key"
expect 0 "up    process $worker" cluster "${hosts[@]}" --keys client --server_keys servers.public
expect 3 "none: cannot be opened" cluster "tcp://localhost:$a" --keys none
expect 3 "client.public: expected one public and one secret key" serve --keys client.public
expect 3 "none: cannot be opened" serve --keys servers --allowed none
chmod 644 stranger
expect 3 "others than its owner may read" serve --keys stranger
expect 2 "need --keys" serve --allowed client.public

kill -TERM "${keyed[@]}"
for p in "${keyed[@]}"; do ends "$p" 0 "a server with keys"; done

# with a pair for each task
mkdir pairs
read -r a b < <(free_ports 2)
hosts=(--ps_hosts="localhost:$a" --worker_hosts="localhost:$b")
for name in ps.0 worker.0; do expect 0 "pairs/$name.public  its public key" keys "pairs/$name"; done
keyed=()
for job in ps worker; do
  start "pair_$job" "$leat" serve "${hosts[@]}" --job_name "$job" --keys "pairs/$job.0" --server_keys pairs \
    --allowed pairs --allowed client.public
  wait_for "pair_$job" "serves at"
  keyed+=("$pid")
done
expect 0 "up    process $pid" cluster "${hosts[@]}" --keys client --server_keys pairs
expect 1 "another key than expected" cluster "${hosts[@]}" --keys client --server_keys servers.public
row /job:ps/task:0 "down  .*key"
expect 2 "tell the cluster by" cluster "tcp://localhost:$a" --keys client --server_keys pairs
expect 2 "is not the pair of /job:ps/task:0, whose public key stands in pairs/ps.0.public" serve "${hosts[@]}" --job_name ps \
  --keys pairs/worker.0 --server_keys pairs --allowed pairs
kill -TERM "${keyed[@]}"
for p in "${keyed[@]}"; do ends "$p" 0 "a server with a pair of its own"; done

# an address that others reach
expect 2 "leat keys" serve --ps_hosts="0.0.0.0:$a"

# wrong use
expect 2 "the cluster is told twice" serve "${hosts[@]}" --cluster cluster.json --job_name ps
expect 2 "the cluster is told twice" cluster "tcp://localhost:$a" "${hosts[@]}"
expect 2 "which cluster?" cluster
expect 2 "Must specify an explicit" serve "${hosts[@]}"
expect 2 'Job "chief" was not defined' serve "${hosts[@]}" --job_name chief
expect 2 "Task 7 was not defined" serve "${hosts[@]}" --job_name ps --task_index 7
expect 2 "no cluster" serve --job_name ps
expect 2 "has no value" serve --ps_hosts --job_name ps
expect 2 "given twice" serve --ps_hosts=a:1 --ps_hosts=b:1
expect 2 "--ps_hosts" serve --ps_hosts=nonsense
expect 2 "--task_index" serve "${hosts[@]}" --job_name ps --task_index one
expect 2 "TF_CONFIG" serve --from tf_config
TF_CONFIG=nonsense expect 2 "TF_CONFIG is not JSON" serve --from tf_config
expect 2 "says which task this is" serve --from tf_config --job_name ps
expect 2 "needs --jobs" serve --from slurm
expect 2 "is not NAME=NUMBER" serve --from slurm --jobs ps
expect 2 "SLURM" serve --from slurm --jobs ps=1,worker=3
expect 2 "--jobs belongs to --from slurm" serve --jobs ps=1
expect 3 "none.json: cannot be opened" serve --cluster none.json
echo '{"ps": 7}' >wrong.json
expect 2 "wrong.json: " serve --cluster wrong.json
expect 2 "nonsense" cluster tcp://nonsense
expect 2 "grpc://a:1" cluster grpc://a:1
expect 2 "--timeout" cluster "tcp://localhost:$a" --timeout 0
expect 2 "" serve --no_such_flag
for command in keys serve cluster; do expect 0 "leat $command" "$command" --help; done

# Slurm's environment: the second of two processes on this host
read -r a < <(free_ports 1)
export SLURM_STEP_NODELIST=localhost SLURM_STEP_TASKS_PER_NODE=2 SLURM_PROCID=1
start slurm "$leat" serve --from slurm --jobs ps=1,worker=1 --first_port "$a"
wait_for slurm "/job:worker/task:0 serves at tcp://localhost:$((a + 1))"
expect 1 "/job:ps/task:0" cluster --from slurm --jobs ps=1,worker=1 --first_port "$a" --timeout 2
row /job:worker/task:0 "up    process $pid"
kill -TERM "$pid"
ends "$pid" 0 "Slurm's server"

echo "$cases cases"
