#!/usr/bin/env bash
# site.bash SOURCE: the site is built without a warning and without a link that leads nowhere, each public name has a docstring, and search knows
# a word of each part. 77 without Doxygen, or where scripts/docs has not been run before.
set -euo pipefail
cd "$1"
[ -x build/site/venv/bin/mkdocs ] && command -v doxygen >/dev/null || exit 77
scripts/docs
for word in minimize cholesky replica_device_setter amalgamate scatter_update checkpoint_saver; do
  grep -q "$word" build/site/html/search/search_index.json || {
    echo "FAILED: search does not know $word"
    exit 1
  }
done
