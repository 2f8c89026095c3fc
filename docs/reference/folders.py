#!/usr/bin/env python3
"""folders.py SOURCE: gives each folder that a text links, and that has no page, a page that lists its files."""
import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1]).resolve()
for text in sorted(root.rglob("*.md")):
    for link in re.findall(r"\]\(([^):# ]+)[)#]", re.sub(r"`[^`\n]*`", "", text.read_text(encoding="utf-8"))):
        folder = (text.parent / link).resolve()
        if not folder.is_dir() or not folder.is_relative_to(root) or any((folder / name).exists() for name in ("README.md", "index.md")):
            continue
        files = sorted(path.name + ("/" if path.is_dir() else "") for path in folder.iterdir())
        (folder / "index.md").write_text(f"# {folder.relative_to(root)}\n\n" + "\n".join(f"- [{name}]({name})" for name in files) + "\n", encoding="utf-8")
