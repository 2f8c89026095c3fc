#!/usr/bin/env bash
# three_machines.sh LEAT PROGRAM: training on three machines by hand, as docs/cluster.md tells it. The machines are network namespaces of this
# host with addresses of their own; each has its own copy of the keys. Status 77, for "skipped", without the right to make namespaces.
set -euo pipefail
leat=$1 program=$2 item="three machines"
. "$(dirname "$0")/../notes/support/processes.sh"

net=lt$$
remove() {
  end_all
  for machine in a b c; do
    ip link del "$net$machine" 2>/dev/null || true
    ip netns del "$net$machine" 2>/dev/null || true
  done
  ip link del "$net" 2>/dev/null || true
}
{ ip link add "$net" type bridge && ip link set "$net" up; } 2>/dev/null || {
  echo "no right to make network namespaces" >&2
  exit 77
}
trap remove EXIT
k=0
for machine in a b c; do
  k=$((k + 1))
  ip netns add "$net$machine" 2>/dev/null || {
    echo "no right to make network namespaces" >&2
    exit 77
  }
  ip link add "$net$machine" type veth peer name eth0 netns "$net$machine"
  ip link set "$net$machine" master "$net" up
  ip -n "$net$machine" addr add "10.77.0.$k/24" dev eth0
  ip -n "$net$machine" link set eth0 up
  ip -n "$net$machine" link set lo up
  mkdir "$folder/$machine"
done
# Before a command: runs it on a machine, in the machine's folder.
on_a=(ip netns exec "${net}a" env -C "$folder/a")
on_b=(ip netns exec "${net}b" env -C "$folder/b")
on_c=(ip netns exec "${net}c" env -C "$folder/c")
a=10.77.0.1 b=10.77.0.2 c=10.77.0.3

# Keys are made on one machine and copied to the others; the client's, with which somebody looks at the cluster, stay where they are.
"${on_a[@]}" "$leat" keys servers >/dev/null
"${on_a[@]}" "$leat" keys client >/dev/null
for machine in b c; do cp "$folder"/a/{servers,servers.public,client.public} "$folder/$machine"; done

hosts=(--ps_hosts="$a:2222" --worker_hosts="$b:2222,$c:2222")
start ps "${on_a[@]}" "$leat" serve "${hosts[@]}" --job_name=ps --keys servers --server_keys servers.public --allowed servers.public --allowed client.public
ps=$pid
start worker0 "${on_b[@]}" "$program" "${hosts[@]}" --task_index=0 --keys=. --logdir=log
worker0=$pid
start worker1 "${on_c[@]}" "$program" "${hosts[@]}" --task_index=1 --keys=.
worker1=$pid

# Whether all is well can be asked from anywhere with the client's keys; without keys there is no answer.
wait_for ps "/job:ps/task:0 serves at tcp://$a:2222"
"${on_a[@]}" "$leat" cluster "tcp://$a:2222" --keys client --server_keys servers.public --timeout 5 --wait >"$folder/status.log" 2>&1 || true
grep -q "/job:ps/task:0 .* up " "$folder/status.log" || fail "the server does not answer the client"
if kill -0 "$worker0" "$worker1" 2>"$folder/ended"; then  # else they were quicker than this script
  for k in 0 1; do grep -q "/job:worker/task:$k .* up " "$folder/status.log" || fail "worker $k does not answer the client"; done
fi
if "${on_c[@]}" "$leat" cluster "tcp://$a:2222" --timeout 2 >"$folder/stranger.log" 2>&1; then fail "a stranger has been answered"; fi

ends "$worker0" 0 "worker 0"
ends "$worker1" 0 "worker 1"
kill -TERM "$ps"
ends "$ps" 0 "the parameter server"
for log in worker0 worker1; do
  cat "$folder/$log.log"
  grep -q "W [12]\.[0-9]*, b \(9\.9\|10\.0\)" "$folder/$log.log" || fail "$log has not learned y = 2 x + 10"
done
compgen -G "$folder/b/log/model.ckpt-*" >"$folder/saved" || fail "the chief saved nothing"
