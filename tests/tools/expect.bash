# What tests of the command share; sourced with LEAT as the first argument: a folder of their own, in which they are, `expect` and `same`, and
# at their end `finish`.
set -uo pipefail
export LC_ALL=C

leat=$1
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 2

failed=0
cases=0
# expect CODE TEXT ARGUMENT...: it exits with this code, and what it prints holds the text.
expect() {
  local code=$1 text=$2 output status
  shift 2
  cases=$((cases + 1))
  output=$("$leat" "$@" 2>&1)
  status=$?
  if [ "$status" -ne "$code" ] || [[ $output != *"$text"* ]]; then
    printf 'FAILED: leat %s\nexpected status %s and "%s", got status %s and\n%s\n' "$*" "$code" "$text" "$status" "$output"
    failed=1
  fi
}
# same FILE FILE: byte by byte
same() {
  cases=$((cases + 1))
  cmp -s "$1" "$2" || {
    printf 'FAILED: %s and %s differ\n' "$1" "$2"
    failed=1
  }
}
# holds TEXT COMMAND...: a command of the shell's that succeeds.
holds() {
  local text=$1
  shift
  cases=$((cases + 1))
  "$@" || {
    echo "FAILED: $text"
    failed=1
  }
}
finish() {
  [ "$failed" -ne 0 ] || echo "$cases cases"
  exit "$failed"
}
