#!/usr/bin/env bash
# browser.bash SOURCE: the built site in Chromium, read by browser.py. 77 without Chromium, or where scripts/docs has not built the site.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
cd "$1"
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome) || exit 77
[ -s build/site/html/index.html ] || exit 77
exec python3 "$here/browser.py" "$browser" build/site/html
