#!/bin/sh
# Kills convnet while it trains, as soon as there is a checkpoint, and starts it again: it goes on from that checkpoint and reads the digits
# as well as without the interruption. Argument: the program.
set -eu
convnet=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

"$convnet" --epochs 100000 --checkpoints "$folder" > "$folder/first" 2>&1 &
worker=$!
waited=0
until [ -s "$folder/checkpoint" ]; do
  waited=$((waited + 1))
  if [ "$waited" -gt 600 ]; then
    kill -9 "$worker"
    echo "no checkpoint after a minute"
    exit 1
  fi
  sleep 0.1
done
kill -9 "$worker"
wait "$worker" 2> /dev/null || true

"$convnet" --checkpoints "$folder" | tee "$folder/second"
grep -q "goes on from $folder/model-" "$folder/second"
grep -q "held-out accuracy 9[89]" "$folder/second"
