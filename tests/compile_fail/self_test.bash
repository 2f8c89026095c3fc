#!/usr/bin/env bash
# self_test.bash COMPILER [ARGUMENT...]: check.bash accepts what it should and refuses what it should.
set -uo pipefail

check=$(dirname "$0")/check.bash
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
compiler=("$@")
failed=0

# expect STATUS TITLE TEXT, the program on standard input: check.bash ends with STATUS and prints TEXT.
expect() {
  cat >"$scratch/program.cpp"
  output=$("$check" "$scratch/program.cpp" "${compiler[@]}" 2>&1)
  status=$?
  if [ "$status" -ne "$1" ] || [[ $output != *"$3"* ]]; then
    printf 'FAILED: %s: status %d, expected %d with "%s"\n%s\n' "$2" "$status" "$1" "$3" "$output"
    failed=1
  fi
}

expect 0 'a good one' '' <<'END'
// expect: not_there
#ifndef LEAT_FIXED
int x = not_there;  // ERROR HERE
#endif
END

expect 0 'a good one by number' '' <<'END'
// expect: not_there
// line: 4
#ifndef LEAT_FIXED
int x = not_there;
#endif
END

expect 1 'it compiles' 'it compiles' <<'END'
// expect: x
int x = 1;  // ERROR HERE
END

expect 1 'another line' 'should be at line 4' <<'END'
// expect: not_there
#ifndef LEAT_FIXED
int x = not_there;
int y = 1;  // ERROR HERE
#endif
END

expect 1 'another file' 'should be at line 4' <<'END'
// expect: not_there
#ifndef LEAT_FIXED
#line 4 "elsewhere.hpp"
int x = not_there;  // ERROR HERE
#endif
END

expect 1 'fails for another reason' 'with LEAT_FIXED it should compile' <<'END'
// expect: not_there
int x = not_there;  // ERROR HERE
END

expect 1 'no mark' 'must mark one line' <<'END'
// expect: not_there
int x = not_there;
END

if grep -q 'Free Software Foundation' <<<"$("${compiler[0]}" --version)"; then
  expect 1 'another text' 'should contain: too few' <<'END'
// expect: not_there
// expect: too few
#ifndef LEAT_FIXED
int x = not_there;  // ERROR HERE
#endif
END

  expect 1 'nothing expected' 'must say what to' <<'END'
#ifndef LEAT_FIXED
int x = not_there;  // ERROR HERE
#endif
END

  long='// expect: none
#ifndef LEAT_FIXED
int a = none1;  // ERROR HERE
int b = none2;
int c = none3;
int d = none4;
int e = none5;
int f = none6;
#endif'
  expect 1 'too long' 'at most 15' <<<"$long"
  expect 0 'long, and allowed' '' <<<"// lines: 40
// bytes: 4000
$long"
  expect 1 'more bytes than it says' 'at most 20' <<<"// lines: 40
// bytes: 20
$long"

  expect 1 'begins elsewhere' 'first line should be about the file' <<'END'
// expect: boom
#ifndef LEAT_FIXED
# 1 "elsewhere.hpp" 1
template <class T> struct box { static_assert(sizeof(T) == 1, "boom"); };
# 5 "program.cpp" 2
box<int> b;  // ERROR HERE
#endif
END
fi

exit "$failed"
