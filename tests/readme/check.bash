#!/usr/bin/env bash
# check.bash PROGRAMS_DIR COMPILER [ARGUMENT...] -- TEXT.md...: what the texts quote is what this folder's programs say.
#
#   ```cpp      is cut from a program of this folder or of examples: verbatim between  // [listing NAME]  and  // [end] , indentation aside;
#               the text names what of leat the program includes, so that the listing compiles with the headers that a reader is told of;
#   <!-- printed by NAME -->       above a block: it is what the program NAME prints to its standard output;
#   <!-- leat ARGUMENT... -->      above a block: it is what the command prints, on the files that the programs above wrote;
#   <!-- g++ says of FILE -->      above a block: it is what g++ 12 prints about FILE (unchecked with other compilers).
#
# Where the last line of such a block is  ...  the rest is left out.
set -uo pipefail
export LC_ALL=C

here=$(cd "$(dirname "$0")" && pwd)
programs=$(cd "$1" && pwd) || exit 2
shift
compiler=()
while [ $# -gt 0 ] && [ "$1" != -- ]; do
  compiler+=("$1")
  shift
done
shift

scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/files"

# Every listing as a file of its own, without the indentation of its first line.
awk -v out="$scratch" '
  /^ *\/\/ \[end\]/     { name = ""; next }
  /^ *\/\/ \[listing /  { name = $0; sub(/^.*\[listing /, "", name); sub(/\].*$/, "", name); margin = -1; next }
  name != "" {
    if (margin < 0) { match($0, /^ */); margin = RLENGTH }
    line = $0
    if (substr(line, 1, margin) ~ /^ *$/) line = substr(line, margin + 1)
    print line > (out "/listing." name)
    print FILENAME > (out "/source." name)
  }' "$here"/*.cpp "$here"/../../examples/*.cpp "$here"/../../examples/three_machines/*.cpp || exit 2

family=other
case $("${compiler[0]}" --version) in
  *"Free Software Foundation"*) [ "$("${compiler[0]}" -dumpversion | cut -d. -f1)" = 12 ] && family=gcc12 ;;
esac

failed=0
blocks=0
complain() {
  printf 'FAILED: %s\n' "$1"
  failed=1
}

# Whether file $1 is file $2, or where its last line is "..." the beginning of it.
matches() {
  if [ "$(tail -n 1 "$1")" = ... ]; then
    local lines=$(($(wc -l <"$1") - 1))
    cmp -s <(head -n "$lines" "$1") <(head -n "$lines" "$2")
  else
    cmp -s "$1" "$2"
  fi
}

check_block() {
  local text=$1 line=$2 language=$3 about=$4 block=$5 expected=$scratch/expected
  blocks=$((blocks + 1))
  if [ "$language" = cpp ]; then
    local listing
    for listing in "$scratch"/listing.*; do
      cmp -s "$block" "$listing" || continue
      local source include
      source=$(head -n 1 "$scratch/source.${listing##*/listing.}")
      while read -r include; do
        grep -qF "$include" "$text" || complain "$text:$line: the program of this listing includes $include, which the text does not name"
      done < <(sed -n 's/^#include <\(leat\/[^>]*\)>.*/\1/p' "$source")
      return
    done
    complain "$text:$line: no program of tests/readme or examples has this listing"
    return
  fi
  case $about in
    "printed by "*)
      (cd "$scratch/files" && "$programs/readme_${about#printed by }") >"$expected" 2>/dev/null || complain "$text:$line: ${about#printed by } fails"
      ;;
    "leat "*)
      read -ra words <<<"${about#leat }"
      (cd "$scratch/files" && "${LEAT_COMMAND:?}" "${words[@]}") >"$expected" 2>&1
      ;;
    "g++ says of "*)
      [ "$family" = gcc12 ] || return
      (cd "$here" && "${compiler[0]}" -I../../include "${compiler[@]:1}" -fsyntax-only -fdiagnostics-color=never \
        "${about#g++ says of }") >"$expected" 2>&1
      ;;
    *)
      blocks=$((blocks - 1))
      return
      ;;
  esac
  matches "$block" "$expected" || {
    complain "$text:$line: this is not $about, which is"
    cat "$expected"
  }
}

for text in "$@"; do
  language='' about='' number=0
  while IFS= read -r row || [ -n "$row" ]; do
    number=$((number + 1))
    if [ -n "$language" ]; then
      if [ "$row" = '```' ]; then
        check_block "$text" "$start" "$language" "$about" "$scratch/block"
        language='' about=''
      else
        printf '%s\n' "$row" >>"$scratch/block"
      fi
    elif [[ $row == '```'* ]]; then
      language=${row#'```'}
      language=${language:-text}
      start=$number
      : >"$scratch/block"
    elif [[ $row =~ ^'<!-- '(.*)' -->'$ ]]; then
      about=${BASH_REMATCH[1]}
    elif [ -n "$row" ]; then
      about=''
    fi
  done <"$text"
  [ -z "$language" ] || complain "$text:$start: a block without an end"
done

[ "$blocks" -gt 0 ] || complain "nothing was checked"
[ "$failed" -ne 0 ] || echo "$blocks blocks"
exit "$failed"
