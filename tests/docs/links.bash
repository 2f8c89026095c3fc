#!/usr/bin/env bash
# links.bash SOURCE: each relative link of the texts leads to a file or folder that is there, and its anchor to a heading.
set -euo pipefail
cd "$1"
texts=(*.md docs/*.md examples/*.md examples/*/*.md benchmarks/*.md)
awk '
  # The anchor of a heading, as hosts of repositories make it.
  function anchor(heading) {
    gsub(/\[|\]\([^)]*\)/, "", heading)
    heading = tolower(heading)
    gsub(/[^a-z0-9 _-]/, "", heading)
    gsub(/ /, "-", heading)
    return heading
  }
  FNR == 1 { code = 0 }
  /^ *```/ { code = !code; next }
  code { next }
  /^#+ / {
    heading = $0
    sub(/^#+ +/, "", heading)
    heading = anchor(heading)
    anchors[FILENAME, heading]
    if (seen[FILENAME, heading]++) anchors[FILENAME, heading "-" (seen[FILENAME, heading] - 1)]
  }
  match($0, /<a id="[^"]*">/) { anchors[FILENAME, substr($0, RSTART + 7, RLENGTH - 9)] }
  {
    rest = $0
    gsub(/`[^`]*`/, "", rest)
    while (match(rest, /\]\([^) ]+\)/)) {
      target = substr(rest, RSTART + 2, RLENGTH - 3)
      rest = substr(rest, RSTART + RLENGTH)
      if (target !~ /^[a-z]+:/) links[++count] = FILENAME "\t" FNR "\t" target
    }
  }
  END {
    for (i = 1; i <= count; ++i) {
      split(links[i], part, "\t")
      path = part[3]
      name = ""
      if (at = index(path, "#")) {
        name = substr(path, at + 1)
        path = substr(path, 1, at - 1)
      }
      folder = part[1]
      if (!sub(/\/[^\/]*$/, "/", folder)) folder = ""
      path = path == "" ? part[1] : folder path
      while (sub(/[^\/.]+\/\.\.\//, "", path)) {}
      if (system("test -e \"" path "\"")) print part[1] ":" part[2] ": there is no " path
      else if (name != "" && path ~ /\.md$/ && !((path, name) in anchors)) print part[1] ":" part[2] ": " path " has no heading #" name
    }
    print count " links" >"/dev/stderr"
  }' "${texts[@]}" | { ! grep .; }
