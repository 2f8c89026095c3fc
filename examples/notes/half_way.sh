#!/usr/bin/env bash
# Item 20.3: the chief alone saves, into one checkpoint, and writes, into one event file. Both workers and the server are asked to end
# half-way; started again, the workers go on from the saved counter, and nobody gives first values.
# half_way.sh PROGRAM, PROGRAM being 20_chief
set -euo pipefail
program=$1 item=20.3
. "$(dirname "$0")/support/processes.sh"

# files GLOB: how many.
files() {
  compgen -G "$folder/log/$1" | wc -l
}

start_three --logdir="$folder/log"
wait_for worker0 " is at step"
wait_for worker1 " is at step"
end_three TERM
echo "--- stopped half-way"
cat "$folder"/worker?.log
grep -q "worker/task:0 gives first values" "$folder/worker0.log" || fail "the chief gives no first values"
grep -q "gives first values" "$folder/worker1.log" && fail "worker 1 gives first values, too"
for refused in "a summary" "a checkpoint of" "its services"; do
  grep -q "$refused.*: refused:" "$folder/worker1.log" || fail "worker 1 may do what the chief does: $refused"
done
saved=$(compgen -G "$folder/log/model.ckpt-*.json" | sed 's/.*ckpt-\([0-9]*\).*/\1/')
ended=$(sed -n 's/.* ends at step //p' "$folder/worker0.log")
[ "$(files 'model.ckpt-*.json')" = 1 ] && [ "$saved" = "$ended" ] || fail "saved is $saved; the chief has ended at $ended"
[ "$(files 'events.out.tfevents.*')" = 1 ] || fail "there are $(files 'events.out.tfevents.*') event files"

start_three --logdir="$folder/log" "--steps=$((saved + 500))"
end_three
echo "--- started again"
cat "$folder"/worker?.log
grep -q "gives first values" "$folder"/worker?.log && fail "somebody gives first values"
grep -q "restored from .*, at step $saved$" "$folder/worker0.log" || fail "the chief does not say from where it goes on"
for worker in worker0 worker1; do
  begun=$(sed -n 's/.* begins at step //p' "$folder/$worker.log")
  [ "$begun" -ge "$saved" ] || fail "$worker begins at $begun, not at $saved"
  ended=$(sed -n 's/.* ends at step //p' "$folder/$worker.log")
  [ "$ended" -ge $((saved + 500)) ] && [ "$ended" -le $((saved + 501)) ] || fail "$worker ends at $ended"
done
[ "$(files 'model.ckpt-*.json')" = 1 ] || fail "there are $(files 'model.ckpt-*.json') checkpoints"
[ "$(files 'events.out.tfevents.*')" = 2 ] || fail "the chief has not one event file for each of its starts"
