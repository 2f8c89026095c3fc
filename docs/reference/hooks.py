"""What MkDocs calls while it builds the site. docs/index.md becomes the first page, README.md the one behind it. Sources that a page links become
pages of their own, with colors and lines that links name (#L-12), because a browser would offer a file of C++ for download."""
import pathlib
import re

import pygments.formatters
import pygments.lexers
import pygments.util

SOURCES = {".bash", ".cmake", ".cpp", ".cu", ".hpp", ".ld", ".py", ".sh", ".toml", ".yml", ".yaml"}
linked = {}  # a source in the folder of the site: its text


def on_files(files, config):
    for file in files:
        if file.src_uri == "README.md":
            move(file, "introduction.html")
        elif file.src_uri == "docs/index.md":
            move(file, "index.html")
    return files


def move(file, uri):
    file.dest_uri = uri
    for cached in ("url", "abs_dest_path"):
        file.__dict__.pop(cached, None)


def on_page_content(html, page, config, files):
    def to_page(m):
        address, anchor = m.group(1), m.group(2)
        path = (pathlib.Path(config.docs_dir) / pathlib.Path(page.url).parent / address).resolve()
        if ":" in address or not path.is_file() or (path.suffix not in SOURCES and path.name not in ("CMakeLists.txt", "LICENSE", "Containerfile")):
            return m.group()
        linked[path.relative_to(pathlib.Path(config.docs_dir).resolve())] = path
        return f'href="{address}.html{anchor}"'

    return re.sub(r'href="([^"#?]+)(#[^"]*)?"', lambda m: to_page(m) if m.group(2) else to_page(re.match(r'href="([^"#?]+)()"', m.group())), html)


def on_post_build(config):
    site = pathlib.Path(config.site_dir)
    formatter = pygments.formatters.HtmlFormatter(lineanchors="L", linenos="inline", anchorlinenos=True)
    night = pygments.formatters.HtmlFormatter(style="github-dark")
    style = formatter.get_style_defs(".highlight") + "@media (prefers-color-scheme: dark) {" + night.get_style_defs(".highlight") + "}"
    for name, path in linked.items():
        text = path.read_text(encoding="utf-8")
        try:
            lexer = pygments.lexers.get_lexer_for_filename(path.name)
        except pygments.util.ClassNotFound:
            lexer = pygments.lexers.get_lexer_by_name("text")
        up = "../" * (len(name.parts) - 1)
        target = site / f"{name}.html"
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{name} - leat</title>
<link rel="icon" href="{up}assets/images/favicon.png"><style>{style}
body {{ font-family: sans-serif; color-scheme: light dark; }} a {{ text-decoration: none; }} :target {{ background: #8884; }}</style></head>
<body><p><a href="{up}index.html">leat</a> / {name}</p>{pygments.highlight(text, lexer, formatter)}</body></html>
""", encoding="utf-8")
    for path in list(site.rglob("*")):  # the sources themselves
        if path.is_file() and path.suffix in SOURCES:
            path.unlink()
    for folder in sorted((f for f in site.rglob("*") if f.is_dir()), key=lambda f: -len(f.parts)):
        if not any(folder.iterdir()):
            folder.rmdir()
