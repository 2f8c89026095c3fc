#!/usr/bin/env bash
# check.bash FILE COMPILER [ARGUMENT...]: FILE must not compile, and say why at the right place.
#
# FILE marks with the comment  // ERROR HERE  the line at which the first error must point (or names it: // line: N), and
# for each text that g++'s output must contain has a comment line  // expect: TEXT  (clang's: // expect-clang: TEXT).
# g++'s output has at most 15 lines and 2,000 bytes, unless  // lines: N  or  // bytes: N  says otherwise, and its first
# line is about FILE; the path of the checkout does not count. With LEAT_FIXED defined FILE must compile, so that it fails for the
# reason that is meant; LEAT_FIXED_ELSEWHERE=1 in the environment says that another test looks after this.
set -uo pipefail
export LC_ALL=C

file=$1
shift
compiler=("$@" -fsyntax-only -fdiagnostics-color=never)

failed=0
complain() {
  printf 'FAILED: %s\n' "$1"
  failed=1
}

# The values of all comment lines `// KEY: VALUE` of FILE.
values() { sed -n "s|^ *// $1: \(.*\)\$|\1|p" "$file"; }

line=$(values line)
[ -n "$line" ] || line=$(grep -n '// ERROR HERE' "$file" | cut -d: -f1)
if ! [[ $line =~ ^[0-9]+$ ]]; then
  complain "the file must mark one line with // ERROR HERE"
  exit 1
fi

family=clang
if grep -q 'Free Software Foundation' <<<"$("${compiler[0]}" --version)"; then family=gcc; fi

output=$("${compiler[@]}" "$file" 2>&1)
status=$?
lines=$(printf '%s\n' "$output" | wc -l)
root=$(cd "$(dirname "$0")/../.." && pwd)
bytes=$(printf '%s\n' "${output//"$root/"/}" | wc -c)
printf '%s\n(%d lines, %d bytes)\n' "$output" "$lines" "$bytes"

if [ "$status" -eq 0 ]; then complain "it compiles"; fi
if [ "$status" -gt 1 ]; then complain "the compiler ended with status $status"; fi

first_error=$(printf '%s\n' "$output" | grep -m 1 'error: ' || true)
case $first_error in
  "$file:$line:"*) ;;
  *) complain "the first error should be at line $line, it is: $first_error" ;;
esac

expected=expect
[ "$family" = clang ] && expected=expect-clang
if [ "$family" = gcc ] && [ -z "$(values expect)" ]; then complain "the file must say what to // expect:"; fi
while IFS= read -r text; do
  case $output in
    *"$text"*) ;;
    *) complain "the output should contain: $text" ;;
  esac
done < <(values "$expected")

if [ "$family" = gcc ]; then
  most_lines=$(values lines)
  most_bytes=$(values bytes)
  if [ "$lines" -gt "${most_lines:-15}" ]; then complain "$lines lines, at most ${most_lines:-15}"; fi
  if [ "$bytes" -gt "${most_bytes:-2000}" ]; then complain "$bytes bytes, at most ${most_bytes:-2000}"; fi
  case $output in
    "$file:"*) ;;
    *) complain "the first line should be about the file" ;;
  esac
fi

if [ -z "${LEAT_FIXED_ELSEWHERE:-}" ] && ! fixed=$("${compiler[@]}" -DLEAT_FIXED "$file" 2>&1); then
  printf '%s\n' "$fixed" | head -n 20
  complain "with LEAT_FIXED it should compile"
fi

exit "$failed"
