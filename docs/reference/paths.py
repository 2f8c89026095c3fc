"""MkDocs calls this for its list of files: docs/index.md becomes the first page of the site, README.md the one behind it."""


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
