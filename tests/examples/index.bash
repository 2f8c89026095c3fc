#!/usr/bin/env bash
# index.bash EXAMPLES PROGRAMS: examples/README.md has every program of the folder, and what it says that they print (under
# <!-- printed by NAME ARGUMENT... -->) they print, line after line, but for the digits; "..." stands for any lines. Curves can be drawn of
# what they print.
set -euo pipefail
examples=$1 programs=$2 text=$1/README.md
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
status=0
complain() {
  echo "FAILED: $1"
  status=1
}
for source in "$examples"/*.cpp; do
  name=$(basename "$source" .cpp)
  grep -q "^| \[$name\](#$name) |" "$text" || complain "README.md's table has no line for $name"
  grep -q "build/release/examples/$name" "$text" || complain "README.md has no command for $name"
done
for folder in "$examples"/*/README.md; do
  name=$(basename "$(dirname "$folder")")
  [ "$name" = data ] || grep -q "($name" "$text" || complain "README.md does not name the folder $name"
done
while IFS= read -r command; do
  read -ra words <<<"$command"
  [ -x "$programs/${words[0]}" ] || continue
  "$programs/${words[0]}" "${words[@]:1}" 2>&1 | tr 0-9 0 >"$scratch/said"
  # Lines are looked for below the one that was found last.
  awk -v about="<!-- printed by $command -->" -v said="$scratch/said" '
    BEGIN { while ((getline line < said) > 0) lines[++count] = line }
    $0 == about { here = 1; next }
    here && /^```text/ { in_block = 1; next }
    here && in_block && /^```/ { exit }
    here && in_block && $0 != "..." {
      shown = $0
      gsub(/[0-9]/, "0", shown)
      for (++at; at <= count && lines[at] != shown; ++at) {}
      if (at > count) { print "not printed: " $0; exit }
    }' "$text" >"$scratch/missing"
  [ ! -s "$scratch/missing" ] || complain "$command: $(cat "$scratch/missing")"
done < <(sed -n 's/^<!-- printed by \(.*\) -->$/\1/p' "$text")
if command -v python3 >/dev/null && [ -x "$programs/digits" ]; then
  "$programs/digits" | python3 "$examples/curves.py" loss "held out: loss" >"$scratch/curves.svg" && grep -q "<polyline" "$scratch/curves.svg" ||
    complain "curves.py draws nothing of what digits prints"
fi
exit "$status"
