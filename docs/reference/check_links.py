#!/usr/bin/env python3
"""check_links.py FOLDER: each link of the site's pages leads to a file of the site, and its anchor to an element of the page; scripts, styles,
fonts and pictures come from the site itself, so that it works without a network. Prints what does not, and exits with 1 if there is any."""
import html.parser
import pathlib
import re
import sys
import urllib.parse

LOADED = {("script", "src"), ("img", "src"), ("iframe", "src"), ("link", "href"), ("source", "src"), ("video", "src")}


class Page(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.links, self.anchors = [], set()
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        if values.get("id"):
            self.anchors.add(values["id"])
        if tag == "a" and values.get("name"):
            self.anchors.add(values["name"])
        for key in ("href", "src"):
            if values.get(key) is not None and not (tag == "link" and values.get("rel") in ("canonical", "next", "prev", "alternate")):
                self.links.append((tag, key, values[key], self.getpos()[0]))


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    pages = {path: Page(path.read_text(encoding="utf-8")) for path in sorted(root.rglob("*.html"))}
    count, problems = 0, set()
    for path, page in pages.items():
        name = path.relative_to(root)
        if path.name == "404.html":  # its links begin at the root of a server
            continue
        for tag, key, link, line in page.links:
            count += 1
            parts = urllib.parse.urlsplit(link)
            if parts.scheme or parts.netloc:
                if (tag, key) in LOADED and parts.scheme != "data":
                    problems.add(f"{name}: loads {link} from elsewhere")
                continue
            target = (path.parent / urllib.parse.unquote(parts.path)).resolve() if parts.path else path
            if target.is_dir():
                target = target / "index.html"
            if not target.is_relative_to(root):
                problems.add(f"{name}: {link} leads out of the site")
            elif not target.is_file():
                problems.add(f"{name}: there is no {link}")
            elif parts.fragment and target in pages and parts.fragment not in ("", "__top") and urllib.parse.unquote(parts.fragment) not in pages[target].anchors:
                problems.add(f"{name}: {link} has no such anchor")
    for path in root.rglob("*.css"):
        for link in re.findall(r"url\(\s*['\"]?(https?:[^'\")]+)", path.read_text(encoding="utf-8")):
            problems.add(f"{path.relative_to(root)}: loads {link} from elsewhere")
    for problem in sorted(problems):
        print(problem, file=sys.stderr)
    print(f"{count} links in {len(pages)} pages")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
