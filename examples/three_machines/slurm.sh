#!/usr/bin/env bash
# slurm.sh LEAT PROGRAM CLUSTER.md: the lines for Slurm of docs/cluster.md, as they stand there. A stand-in for srun starts the tasks on this host
# with the variables that Slurm sets; the nodes are addresses of this host, in a network of their own where there is the right to make one.
set -euo pipefail
if [ "${LEAT_SLURM_NETWORK:-}" = "" ] && unshare --map-root-user --net true 2>/dev/null; then
  export LEAT_SLURM_NETWORK=own
  exec unshare --map-root-user --net bash "$0" "$@"
fi
if [ "${LEAT_SLURM_NETWORK:-}" = own ]; then ip link set lo up; fi
leat=$(realpath "$1") program=$(realpath "$2") document=$(realpath "$3") item="Slurm's lines"
. "$(dirname "$0")/../notes/support/processes.sh"
cd "$folder"

lines=$(awk '/^srun -N 3 --ntasks-per-node=1 bash/ { on = 1 } /^```/ { on = 0 } on' "$document")
[ "$lines" != "" ] || fail "there are no lines for Slurm in $document"

mkdir bin keys
ln -s "$leat" bin/leat
ln -s "$program" bin/three_machines
cat >bin/srun <<'END'
#!/usr/bin/env bash
# srun -N NODES --ntasks-per-node=N COMMAND...: nodes are 127.0.0.1, 127.0.0.2, ...
nodes=1 each=1
while [[ $1 == -* ]]; do
  case $1 in
    -N) nodes=$2 && shift ;;
    --ntasks-per-node=*) each=${1#*=} ;;
    *) echo "srun: $1 is not known here" >&2 && exit 2 ;;
  esac
  shift
done
export SLURM_STEP_NODELIST="127.0.0.[1-$nodes]" SLURM_STEP_TASKS_PER_NODE="$each(x$nodes)"
pids=()
for ((k = 0; k < nodes * each; ++k)); do
  SLURM_PROCID=$k "$@" &
  pids+=($!)
done
status=0
for pid in "${pids[@]}"; do wait "$pid" || status=$?; done
exit $status
END
chmod +x bin/srun
export PATH="$folder/bin:$PATH"
leat keys keys/servers >keys.log
leat keys keys/client >>keys.log

echo "$lines" >lines.sh
timeout 60 bash lines.sh >tasks.log 2>&1 || fail "the tasks have failed"
cat tasks.log
grep -q "^/job:ps/task:0 serves at tcp://127.0.0.1:8888" tasks.log || fail "there was no parameter server"
for k in 0 1; do
  grep -q "^/job:worker.*/task:$k.*: W [12]\.[0-9]*, b \(9\.9\|10\.0\)" tasks.log || fail "worker $k has not learned y = 2 x + 10"
done
