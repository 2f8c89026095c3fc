#!/usr/bin/env bash
# repository.bash SOURCE FOLDER: a repository with one commit of the checkout's files as they are now, for those who clone it. 77 where the
# checkout is no repository.
set -euo pipefail
source=$1 folder=$2
command -v git >/dev/null && git -C "$source" rev-parse --git-dir >/dev/null 2>&1 || exit 77
rm -rf "$folder"
mkdir -p "$folder"
git -C "$source" ls-files -z --cached --others --exclude-standard |
  (cd "$source" && xargs -0 ls -d 2>/dev/null | tar -cf - -T -) | tar -xf - -C "$folder"
cd "$folder"
git init -q -b main
git add -A
git -c user.name=test -c user.email=test@localhost commit -q -m "The working tree"
