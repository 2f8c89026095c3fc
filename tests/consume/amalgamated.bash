#!/usr/bin/env bash
# amalgamated.bash SOURCE FOLDER COMPILER @FLAGS: leat_typed.hpp compiles alone, to the same instructions as <leat/leat.hpp>, and the program
# prints what README.md says.
set -euo pipefail
source=$1 folder=$2 compiler=$3
shift 3
fail() {
  echo "FAILED: $1"
  exit 1
}
rm -rf "$folder"
mkdir -p "$folder/one" "$folder/many"
"$source/scripts/amalgamate" "$folder/one/leat_typed.hpp"
if grep -n '# *include *<leat/' "$folder/one/leat_typed.hpp"; then fail "it includes other headers"; fi
printf '#include <leat/leat.hpp>\n#include <leat/calculus.hpp>\n#include <leat/vmap.hpp>\n' >"$folder/many/leat_typed.hpp"
sed 's/<leat\/leat.hpp>/<leat_typed.hpp>/' "$source/tests/readme/linear_model.cpp" >"$folder/program.cpp"
cd "$folder"
# Without the names of the compiler's own labels, and the places of headers.
instructions() { sed -E 's/\.L[A-Za-z]*[0-9]+/.L/g; /^# [0-9]/d' "$1"; }
"$compiler" "$@" -std=c++20 -O1 -Ione -S program.cpp -o one.s
"$compiler" "$@" -std=c++20 -O1 -Imany -I"$source/include" -S program.cpp -o many.s
cmp <(instructions one.s) <(instructions many.s) || fail "it compiles to another program"
"$compiler" one.s -o program
./program | tee said
diff said <(sed -n '/printed by linear_model/,/^```$/p' "$source/README.md" | sed '1,2d;$d') || fail "it prints something else"
! "$source/scripts/amalgamate" "$folder/x.hpp" leat/no.hpp 2>said || fail "a header that does not exist"
grep -qx "amalgamate: there is no header leat/no.hpp in include/" said || fail "$(cat said)"
! "$source/scripts/amalgamate" /proc/no/x.hpp 2>said || fail "a file that cannot be written"
grep -qx "amalgamate: /proc/no/x.hpp cannot be written" said || fail "$(cat said)"
