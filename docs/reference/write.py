#!/usr/bin/env python3
"""Pages of the reference, one for each section of groups.toml, from the XML that Doxygen makes of the headers' docstrings.

write.py XML FOLDER           writes the pages into FOLDER, and FOLDER/nav.yml, their part of the navigation
write.py XML FOLDER --gaps    also prints each public name, and each member of a class, without a docstring
Run in the repository's root. Exits with 1 if a header belongs to no section, a section's header is missing, or a public name has no docstring.
"""
import fnmatch
import html
import pathlib
import re
import sys
import textwrap
import xml.etree.ElementTree as xml
from collections import defaultdict
from dataclasses import dataclass, field

try:
    import tomllib
except ImportError:
    sys.exit("docs: the reference is made by Python 3.11 or later")

HEADERS = pathlib.Path("include/leat")
WIDTH = 100
WORDS = {"+": "plus", "-": "minus", "*": "times", "/": "over", "%": "modulo", "<": "less", ">": "greater", "=": "equal", "!": "not", "&": "and",
         "|": "or", "~": "inverse", "^": "xor", "[": "at", "(": "call"}


@dataclass
class Declaration:
    kind: str
    signature: str
    doc: str
    line: int
    file: str = ""
    name: str = ""


@dataclass
class Entry:
    """A public name of one header: all its overloads, or a class with its members."""
    name: str
    kind: str
    header: str
    line: int
    declarations: list = field(default_factory=list)
    members: list = field(default_factory=list)
    bases: list = field(default_factory=list)

    def documented(self):
        return any(d.doc for d in self.declarations)

    def anchor(self):
        space, _, last = self.name.lower().rpartition("::")
        last = re.sub(r"[^a-z0-9_]", lambda m: "-" + WORDS.get(m.group(), "x"), last)
        return (space.replace("::", "-") + "-" if space else "") + last


def escaped(text):
    return re.sub(r"([\\`*_\[\]#])", r"\\\1", text).replace("<", "&lt;").replace(">", "&gt;")


def prose(comment):
    """A comment as Markdown: its code stays."""
    return "".join(part if n % 2 else escaped(part) for n, part in enumerate(re.split(r"(`[^`]*`)", comment)))


def text_of(node):
    return re.sub(r"\s+", " ", "".join(node.itertext())).strip() if node is not None else ""


def markdown(node):
    """A description of Doxygen's as Markdown."""
    parts = []

    def code(text):
        ticks = "``" if "`" in text else "`"
        return f"{ticks}{text}{ticks}"

    def walk(n, out):
        tag = n.tag
        if tag in ("computeroutput", "programlisting", "verbatim"):
            out.append(code(re.sub(r"\s+", " ", "".join(n.itertext())).strip()))
        elif tag in ("itemizedlist", "orderedlist"):
            for item in n:
                inner = []
                for child in item:
                    walk(child, inner)
                out.append("\n\n- " + "".join(inner).strip().replace("\n", "\n  "))
            out.append("\n\n")
        else:
            if tag == "para":
                out.append("\n\n")
            mark = {"emphasis": "*", "bold": "**"}.get(tag, "")
            out.append(mark + escaped(n.text or ""))
            for child in n:
                walk(child, out)
                out.append(escaped(child.tail or ""))
            out.append(mark)

    if node is not None:
        walk(node, parts)
    return re.sub(r"\n{3,}", "\n\n", re.sub(r"[ \t]+", " ", "".join(parts))).strip()


def doc_of(node):
    both = (markdown(node.find("briefdescription")), markdown(node.find("detaileddescription")))
    return "\n\n".join(part for part in both if part)


def tidy(code):
    code = re.sub(r"\s*([<>])\s*", r"\1", code) if "operator" not in code else code
    code = re.sub(r">(?=[A-Za-z])", "> ", code)
    code = re.sub(r" ([&*]+(?:\.\.\.)?) ?", r"\1 ", code)
    code = re.sub(r"(?<=[\w>])([&*]+) (?=[,)>])", r"\1", code)
    code = re.sub(r"(?<=>)([&*]+)(?=\w)", r"\1 ", code)
    code = re.sub(r"(\w)=(?=[\w{\"(-])", r"\1 = ", code)
    code = re.sub(r"([&*])=(?=[\w{\"(-])", r"\1 = ", code)
    return re.sub(r"\s+", " ", code).replace("leat::", "").strip()


def template_of(node):
    parameters = node.find("templateparamlist")
    if parameters is None:
        return ""
    said = []
    for p in parameters.findall("param"):
        one = " ".join(part for part in (text_of(p.find("type")), text_of(p.find("declname"))) if part)
        default = text_of(p.find("defval"))
        one = re.sub(r"^detail::\w+(?:< ?.*?> ?)?(?=\.\.\.| )", "class", one)  # a concept of the library's own
        if "detail::" in one or "detail::" in default or "decltype" in default:
            continue
        said.append(tidy(one) + (" = " + tidy(default) if default else ""))
    return f"template <{', '.join(said)}>\n" if said else ""


def wrapped(declaration):
    """A declaration on several lines if it is long: one parameter on each."""
    if len(declaration) <= WIDTH or "(" not in declaration:
        return declaration
    start = declaration.index("(", declaration.find("operator()") + 10 if "operator()" in declaration else 0)
    depth, pieces, current, end = 0, [], "", len(declaration)
    for k in range(start, len(declaration)):
        c = declaration[k]
        if c in "([{<":
            depth += 1
            if depth == 1:
                continue
        if c in ")]}>":
            depth -= 1
            if depth == 0:
                end = k
                break
        if c == "," and depth == 1:
            pieces.append(current.strip())
            current = ""
            continue
        current += c
    pieces.append(current.strip())
    return declaration[:start] + "(\n    " + ",\n    ".join(pieces) + declaration[end:]


def function_signature(node):
    result = tidy(text_of(node.find("type")))
    result = re.sub(r"\b(constexpr|inline|friend|static|virtual|explicit|consteval) ?", "", result).strip()
    if "detail::" in result or result.startswith(("made<", "typename ")):
        result = "auto"
    arguments = text_of(node.find("argsstring"))
    arguments = re.sub(r",? ?const std::source_location ?& ?\w*(=std::source_location::current\(\))?", "", arguments)
    arguments = re.sub(r"(override|noexcept)(\([^)]*\))?", "", arguments)
    arguments = re.sub(r"-> ?(?:[^ ]*detail::.*)$", "-> auto", arguments)
    needs = tidy(text_of(node.find("requiresclause")))
    requires = f"  requires {needs}\n" if needs and "detail::" not in needs and not re.match(r"\(?(accepted|refused)", needs) else ""
    requires = requires if template_of(node) else ""
    prefix = "static " if node.get("static") == "yes" and node.get("prot") and node.get("id", "").startswith(("class", "struct")) else ""
    call = tidy(text_of(node.find("name")) + arguments) if "operator" not in text_of(node.find("name")) else text_of(node.find("name")) + tidy(arguments)
    return template_of(node) + requires + wrapped(f"{prefix}{result} {call}".strip())


def is_refusal(node):
    arguments = text_of(node.find("argsstring"))
    guide = not text_of(node.find("type")) and "->" in arguments  # of deduction
    return guide or "leat_refused" in text_of(node.find("type")) or arguments.endswith("=delete") or text_of(node.find("type")).startswith("why")


class Reader:
    def __init__(self, folder, table):
        self.folder = pathlib.Path(folder)
        self.table = table
        self.lines = {}
        self.entries = defaultdict(list)  # header: entries

    def source(self, file):
        if file not in self.lines:
            self.lines[file] = pathlib.Path(file).read_text(encoding="utf-8").split("\n")
        return self.lines[file]

    def hidden(self, name):
        *spaces, last = name.split("::")
        return ("@" in name or "<" in last and not last.startswith("operator") or last.endswith("_") or
                any(s in self.table["hidden_namespaces"] for s in [*spaces, last]) or
                any(fnmatch.fnmatchcase(s, pattern) for s in [*spaces, last] for pattern in self.table["hidden_names"]))

    def hidden_class(self, name):
        return any(fnmatch.fnmatchcase(part, pattern) for part in name.split("::") for pattern in self.table["hidden_classes"])

    def inherited(self, declarations, of_class=False):
        """A function's docstring covers the functions below it as far as no empty line comes between them; in a class, those of its name."""
        last = None
        for d in sorted(declarations, key=lambda d: (d.file, d.line)):
            if d.kind != "function" and d.kind != "typedef":
                last = d if d.kind in ("class", "struct") and d.doc else None
            elif d.doc:
                last = d
            elif (last is not None and last.file == d.file and (d.kind == "typedef") == (last.kind != "function") and self.in_one_piece(last, d) and
                  (not of_class or last.name == d.name)):
                d.doc = last.doc

    def in_one_piece(self, first, second):
        return all(line.strip() for line in self.source(first.file)[first.line - 1 : second.line])

    def trailing_comment(self, file, line):
        source = self.source(file)[line - 1]
        m = re.search(r";\s*// (.*)$", source)
        if not m:
            return ""
        text = m.group(1)
        return text[0].upper() + text[1:] + ("" if text.endswith(".") else ".")

    def comment_of_value(self, place, name):
        """The comment behind a value of an enumeration."""
        for line in self.source(place.get("file"))[int(place.get("bodystart")) - 1 : int(place.get("bodyend"))]:
            if m := re.match(rf"\s*{name}\b[^/]*// (.*)$", line):
                return prose(m.group(1))
        return ""

    def declaration(self, node):
        place = node.find("location")
        # A function's own declaration, not its body elsewhere.
        file, line = place.get("declfile") or place.get("file"), int(place.get("declline") or place.get("line"))
        kind = node.get("kind")
        if kind == "function":
            signature = function_signature(node)
        elif kind == "enum":
            values = [text_of(v.find("name")) for v in node.findall("enumvalue")]
            signature = f"enum class {text_of(node.find('name'))} {{ {', '.join(values)} }}"
            if len(signature) > WIDTH:
                signature = textwrap.fill(signature, WIDTH, subsequent_indent="    ")
        elif kind == "typedef":
            signature = template_of(node) + f"using {text_of(node.find('name'))} = {tidy(text_of(node.find('type')))}"
            if "detail::" in signature:
                signature = signature.split(" = ")[0]
        else:
            value = text_of(node.find("initializer"))
            type_name = re.sub(r"\b(constexpr|inline|static) ?", "", tidy(text_of(node.find("type"))))
            value = re.sub(r"^= ?", "= ", value)
            signature = template_of(node) + f"{type_name} {text_of(node.find('name'))}" + (f" {value}" if value and len(value) < 60 and "detail::" not in value else "")
        doc = doc_of(node)
        if kind == "enum":
            said = [(text_of(v.find("name")), doc_of(v) or self.comment_of_value(place, text_of(v.find("name")))) for v in node.findall("enumvalue")]
            doc += "".join(f"\n\n- `{name}`: {text}" for name, text in said if text)
        if not doc and kind == "variable":
            doc = prose(self.trailing_comment(file, line))
        return Declaration(kind, signature, doc, line, file, text_of(node.find("name")))

    def read(self):
        nested_private = set()
        compounds = []
        for path in sorted(self.folder.glob("*.xml")):
            if not path.name.startswith(("namespace", "class", "struct", "concept")):
                continue
            for compound in xml.parse(path).getroot().findall("compounddef"):
                compounds.append(compound)
                for inner in compound.findall("innerclass"):
                    if inner.get("prot") != "public":
                        nested_private.add(text_of(inner))
        loose = []
        for compound in compounds:
            name, kind = text_of(compound.find("compoundname")), compound.get("kind")
            if not name.startswith("leat") or self.hidden(name) or kind in ("class", "struct") and self.hidden_class(name):
                continue
            if any(name == p or name.startswith(p + "::") for p in nested_private):
                continue
            short = name.removeprefix("leat::")
            if kind == "namespace":
                for member in compound.iter("memberdef"):
                    own = text_of(member.find("name"))
                    if self.hidden(f"{name}::{own}") or member.get("kind") == "typedef" and self.hidden_class(own) or member.get("kind") not in ("function", "variable", "typedef", "enum") or is_refusal(member):
                        continue
                    qualified = f"{name}::{own}".removeprefix("leat::")
                    loose.append((qualified, self.declaration(member)))
                continue
            place = compound.find("location")
            file, line = place.get("file"), int(place.get("line"))
            word = {"class": "class", "struct": "struct", "concept": "concept"}[kind]
            if kind == "concept":
                initializer = text_of(compound.find("initializer"))
                signature = template_of(compound) + f"concept {short.split('::')[-1]}" if "detail::" in initializer or len(initializer) > 300 else initializer.replace("leat::", "").replace("> concept", ">\nconcept")
            else:
                signature = template_of(compound) + f"{word} {short}"
            entry = Entry(short, word, file, line, [Declaration(word, signature, doc_of(compound), line, file, short)])
            for base in compound.findall("basecompoundref"):
                if base.get("prot") == "public" and "detail" not in text_of(base):
                    entry.bases.append(tidy(text_of(base)))
            for member in compound.iter("memberdef"):
                own = text_of(member.find("name"))
                if (member.get("prot") != "public" or member.get("kind") not in ("function", "variable", "typedef", "enum") or is_refusal(member) or
                        own.endswith("_") or own.startswith(("~", "LEAT_")) or member.find("location") is None):
                    continue
                arguments = text_of(member.find("argsstring"))
                plain = short.split("::")[-1]
                if arguments.endswith("=default") or own in (plain, "operator=") and (f"const {plain}" in arguments or f"{plain} &&" in arguments):
                    continue  # copies, moves and comparisons
                entry.members.append(self.declaration(member))
            self.inherited(entry.members, of_class=True)
            self.entries[file].append(entry)
        self.inherited([d for _, d in loose] + [e.declarations[0] for found in self.entries.values() for e in found])
        by_name = {}
        for qualified, d in sorted(loose, key=lambda pair: (pair[1].file, pair[1].line)):
            key = (d.file, qualified)
            if key not in by_name:
                by_name[key] = Entry(qualified, d.kind, d.file, d.line)
                self.entries[d.file].append(by_name[key])
            if all(other.signature != d.signature for other in by_name[key].declarations):
                by_name[key].declarations.append(d)
        for found in self.entries.values():
            found.sort(key=lambda e: e.line)


def first_sentence(doc):
    doc = re.sub(r"\s+", " ", doc.split("\n\n")[0])
    doc = re.sub(r"(^| )(Shapes?|Dtypes?|Errors|Source)\b[^:]{0,20}:.*", "", doc)
    m = re.search(r"\.(?= [A-Z`\\]|$)|[.:]$", doc)
    return (doc[: m.start()] if m else doc).strip()


def in_parts(doc):
    """Shapes, dtypes, errors and the source as a list below the text."""
    paragraphs = []
    for paragraph in doc.split("\n\n"):
        pieces = re.split(r"(?:(?<=[.)])|^) ?(?=(?:Shapes?|Dtypes|Errors|Source)(?: \([^)]*\)| in a run| of a run|,? at compile time)?: )", paragraph)
        text = "\n\n".join(re.sub(r"^(Shapes?|Dtypes|Errors|Source)([^:]*): ", r"- **\1\2**: ", piece.strip()) for piece in pieces if piece.strip())
        paragraphs.append(re.sub(r"\n\n(?=- \*\*)", "\n", text))
    text = "\n\n".join(paragraphs)
    return re.sub(r"(?<!\n)\n(- \*\*(?:Shapes?|Dtypes|Errors|Source))", r"\n\n\1", text, count=1) if not text.startswith("- **") else text


class Writer:
    def __init__(self, pages, folder):
        self.pages, self.folder = pages, folder
        self.say_more(pages)
        self.places = defaultdict(list)  # name: (page, anchor)
        for page in pages:
            for entry in page["entries"]:
                for name in {entry.name, entry.name.split("::")[-1]}:
                    self.places[name].append((page["file"], page["group"], entry.anchor()))
                for m in entry.members:
                    if m.kind == "function" and m.name != name and not m.name.startswith("operator"):
                        place = (page["file"], page["group"], f"{entry.anchor()}.{m.name.lower()}")
                        if place not in self.places[f"{entry.name}::{m.name}"]:
                            self.places[f"{entry.name}::{m.name}"].append(place)

    def say_more(self, pages):
        """In a section that is `as_typed`, names that share a docstring have that of the typed functions of the same names."""
        typed = {e.name: e for page in pages if page["group"] == "Typed expressions" for e in page["entries"]}
        for page in pages:
            if not page["as_typed"]:
                continue
            shared = defaultdict(set)
            for entry in page["entries"]:
                for d in entry.declarations:
                    shared[d.doc].add(entry.name)
            for entry in page["entries"]:
                for d in entry.declarations:
                    if len(shared[d.doc]) > 2 and entry.name in typed:
                        own = next(t.doc for t in typed[entry.name].declarations if t.doc)
                        d.doc = re.sub(r" ?Errors \(at compile time\): .*?(?= Source:|$)", "", own, flags=re.S)

    def link(self, code, page, own):
        """`code` with a link if it is a public name; of several, the one of the same page, or of the same group."""
        name = re.sub(r"\(\)$|^leat::|<.*$", "", code)
        for e in page["entries"]:
            if e.anchor() == own and any(m.name == name for m in e.members):  # a member of the class itself
                name = f"{e.name}::{name}"
        found = self.places.get(name, [])
        for choice in ([p for p in found if p[0] == page["file"]], [p for p in found if p[1] == page["group"]], found):
            if choice:
                if len({(p[0], p[2]) for p in choice}) > 1 or (choice[0][0] == page["file"] and choice[0][2] == own):
                    return f"`{code}`"
                place = choice[0]
                return f"[`{code}`]({'' if place[0] == page['file'] else place[0]}#{place[2]})"
        return f"`{code}`"

    def linked(self, doc, page, own=""):
        return re.sub(r"(?<![`\[])`([^`\n]+)`(?!`)", lambda m: self.link(m.group(1), page, own), doc)

    def members(self, members, page, entry):
        """Members of a class; neighbours with the same docstring, or none, share a block."""
        groups, out = [], []
        for m in members:
            if groups and m.doc == groups[-1][0].doc:
                groups[-1].append(m)
            else:
                groups.append([m])
        for group in groups:
            out += ["```cpp", ";\n".join(m.signature for m in group) + ";", "```", ""]
            if group[0].doc:
                out += [self.linked(in_parts(group[0].doc), page, entry.anchor()), ""]
        return out

    def page(self, page):
        out = [f"# {page['title']}", "", page["text"], "", f"Include: `<{page['include']}>`.", ""]
        out += ["| name | what it is |", "|---|---|"]
        for entry in page["entries"]:
            docs = [d.doc for d in entry.declarations if d.doc]
            doc = next((d for d in docs if not d.startswith(("The same", "Like "))), docs[0] if docs else "")
            sentence = re.sub(r"\[(`[^`]*`)\]\([^)]*\)", r"\1", first_sentence(doc)).replace("\\|", "|").replace("|", "\\|")
            out.append(f"| [`{entry.name}`](#{entry.anchor()}) | {sentence} |".replace("`operator||`", "`operator\\|\\|`"))
        for entry in page["entries"]:
            out += ["", f"## `{entry.name}` {{ #{entry.anchor()} }}", ""]
            shown = set()
            for d in entry.declarations:
                alike = [other.signature for other in entry.declarations if other.doc == d.doc]
                if d.doc in shown:
                    continue
                shown.add(d.doc)
                out += ["```cpp", ";\n\n".join(alike) + ";" if any("\n" in s for s in alike) else ";\n".join(alike) + ";", "```", ""]
                if d.doc:
                    out += [self.linked(in_parts(d.doc), page, entry.anchor()), ""]
            if entry.bases:
                out += ["Derived from " + ", ".join(self.link(b, page, "") for b in entry.bases) + ".", ""]
            plain, functions = [], defaultdict(list)
            for m in entry.members:
                if m.kind == "function" and m.name != entry.name.split("::")[-1] and not m.name.startswith("operator"):
                    functions[m.name].append(m)
                else:
                    plain.append(m)
            out += self.members(plain, page, entry)
            for name, overloads in functions.items():
                out += [f"### `{entry.name}::{name}` {{ #{entry.anchor()}.{name.lower()} }}", "", *self.members(overloads, page, entry)]
            out += [f"Declared in [{entry.header.removeprefix('include/')}](../{entry.header}#L-{entry.line}).", ""]
        (self.folder / page["file"]).write_text("\n".join(out), encoding="utf-8")


def is_of(header, pattern):
    """Whether a pattern names a header: "room/*" is everything in the room, another star stands for a part of a name."""
    if pattern.endswith("/*"):
        return header.startswith(pattern[:-1])
    return header.count("/") == pattern.count("/") and fnmatch.fnmatchcase(header, pattern)


def pages_of(table, entries, headers):
    problems, pages, claimed = [], [], set()
    for group in table["group"]:
        for section in group["section"]:
            found = []
            for claim in section["headers"]:
                header, _, names = claim.partition(": ")
                names = names.split(" ") if names else ["*"]
                if header not in headers:
                    problems.append(f"{section['title']}: there is no header {header}")
                claimed.add(header)
                found += [e for e in entries[f"{HEADERS}/{header}"] if any(fnmatch.fnmatchcase(e.name, n) for n in names)]
            file = re.sub(r"[^a-z]+", "_", section["title"].lower()) + ".md"
            seen, once = set(), []
            for e in found:  # a name in two headers of a section: one entry
                other = next((o for o in once if o.anchor() == e.anchor()), None)
                if other is None:
                    once.append(e)
                else:
                    other.declarations += e.declarations
                    other.members += e.members
            pages.append({"title": section["title"], "group": group["title"], "file": file, "include": section.get("include", group["include"]), "as_typed": section.get("as_typed", False),
                          "text": f"Part of [{group['title']}]({group_file(group)}).", "entries": once})
    for header in sorted(headers):
        if header not in claimed and not any(is_of(header, pattern) for pattern in table["internal"]):
            problems.append(f"{header} is in no section of docs/reference/groups.toml, and not internal")
    return pages, problems


def group_file(group):
    return "group_" + re.sub(r"[^a-z]+", "_", group["title"].lower()) + ".md"


def main():
    source, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    table = tomllib.loads(pathlib.Path("docs/reference/groups.toml").read_text(encoding="utf-8"))
    headers = {str(p.relative_to(HEADERS)) for p in HEADERS.rglob("*.hpp") if "/impl/" not in str(p)}
    reader = Reader(source, table)
    reader.read()
    pages, problems = pages_of(table, reader.entries, headers)
    folder.mkdir(parents=True, exist_ok=True)
    writer = Writer(pages, folder)
    nav = ["  - Reference:", "      - reference/index.md"]
    index = ["# Reference", "", "Every public name, by task: what it does, shapes, dtypes, errors and TensorFlow's name for it. The pages are made from the",
             "docstrings in `include/leat`; what is not here is internal ([promises](../docs/promises.md)).", ""]
    for group in table["group"]:
        nav += [f"      - {group['title']}:", f"          - reference/{group_file(group)}"]
        of_group = [p for p in pages if p["group"] == group["title"]]
        rows = ["| section | names |", "|---|---|"]
        for page in of_group:
            writer.page(page)
            nav.append(f"          - {page['title']}: reference/{page['file']}")
            names = ", ".join(f"[`{e.name}`]({page['file']}#{e.anchor()})".replace("||", "\\|\\|") for e in page["entries"])
            rows.append(f"| [{page['title']}]({page['file']}) | {names} |")
        text = [f"# {group['title']}", "", group["text"], "", *rows, ""]
        (folder / group_file(group)).write_text("\n".join(text), encoding="utf-8")
        index += [f"## [{group['title']}]({group_file(group)})", "", group["text"], "", " · ".join(f"[{p['title']}]({p['file']})" for p in of_group), ""]
    (folder / "index.md").write_text("\n".join(index), encoding="utf-8")
    (folder / "nav.yml").write_text("\n".join(nav) + "\n", encoding="utf-8")

    entries = [e for p in pages for e in p["entries"]]
    bare = [e for e in entries if not e.documented()]
    members = [(e, m) for e in entries for m in e.members]
    bare_members = [(e, m) for e, m in members if not m.doc]
    if "--gaps" in sys.argv:
        for e in bare:
            print(f"{e.header}:{e.line}: {e.name}")
        for e, m in bare_members:
            print(f"{m.file}:{m.line}: {e.name}::{m.name} (member)")
    problems += [f"{e.header}:{e.line}: {e.name} has no docstring" for e in bare]
    functions = sum(e.kind == "function" for e in entries)
    classes = sum(e.kind in ("class", "struct") for e in entries)
    print(f"{len(entries)} public names ({functions} functions, {classes} classes) on {len(pages)} pages, {len(entries) - len(bare)} with a docstring; "
          f"{len(members)} members of classes, {len(members) - len(bare_members)} with one")
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
