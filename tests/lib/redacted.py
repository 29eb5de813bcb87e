# SPDX-License-Identifier: MIT
"""What ftrac redact makes of texts, worked out a second time from its list of words; and all that the programs say of two traces,
one of which was made of the other."""
import collections
import contextlib
import json
import re
import sqlite3
import subprocess

# Bytes are read as latin-1, so that a letter above 0x7f is one of them.
NAME = re.compile(r"(?<=\[)[0-9A-Fa-f:.]*:[0-9A-Fa-f.]*:[0-9A-Fa-f:.]*(?=\])"
                  r"|(?<![A-Za-z0-9_.\x80-\xff])[0-9]{1,3}(?:\.[0-9]{1,3}){3}(?![A-Za-z0-9_\x80-\xff]|\.[0-9])"
                  r"|[A-Za-z0-9_\x80-\xff]+")
BEGINS = re.compile(r"(?:^|[ \t\n\0'\"(;,=])-$")
# Columns with words of ftrac alone, which a file may have as its name, too.
OURS = {"fidelity", "tier", "state", "kind", "fstype", "operation", "via", "layer", "class", "flags", "type", "owner", "protection", "domain",
        "reason", "mode", "latencies", "sizes"}
OF_VIEWS = {view: {"name"} for view in ("op", "handle_op", "other_op", "open_op", "close_op", "stat_op", "data_op", "name_op", "call", "mapping", "range_op", "device_io",
                                        "file_lock")} | {"trace": {"key"}, "merged": {"key"}}
# Of traces that are no longer mounted, and what is cut off.
LEFT_OUT = {"mount_namespace", "mount_connection"}
FACTS = {"format", "ftrac_version", "kernel", "cpu_model", "fidelity", "files", "layers", "transport", "process_tier"}


class Words:
    def __init__(self, path):
        lines = path.read_bytes().decode("latin-1").split("\n")
        assert lines.pop() == ""
        self.word = {name: word for word, name in (line.split("\t") for line in lines)}
        self.n = len(lines)
        assert len(set(self.word.values())) == len(self.word) == self.n, "two names are one"

    def of(self, text):
        """The same as a text or, if it is no UTF-8, as bytes."""
        raw = text.encode(errors="surrogateescape") if isinstance(text, str) else text
        said = self.of_latin(raw.decode("latin-1")).encode("latin-1")
        try:
            return said.decode() if b"\0" not in said else said
        except UnicodeDecodeError:
            return said

    def of_latin(self, text):
        def put(found):
            name = found[0]
            if name not in self.word and name[1:] in self.word and BEGINS.search(text[max(0, found.start() - 2):found.start()]):
                return name[0] + self.word[name[1:]]
            return self.word.get(name, name)
        return NAME.sub(put, text)

    def of_json(self, value):
        if isinstance(value, dict):
            return {self.of(key) if "/" in key else key: self.of_json(item) for key, item in value.items()}
        if isinstance(value, list):
            return [self.of_json(item) for item in value]
        return self.of(value) if isinstance(value, str) else value


def read(path, sql, *values):
    with contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as db:
        db.text_factory = lambda raw: raw.decode(errors="surrogateescape")
        cursor = db.execute(sql, values)
        return [column[0] for column in cursor.description], cursor.fetchall()


def views(path):
    return [name for name, in read(path, "SELECT name FROM sqlite_schema WHERE type = 'view' ORDER BY name")[1]]


def as_text(value):
    """A BLOB that is a text is one."""
    try:
        return value.decode() if isinstance(value, bytes) and b"\0" not in value else value
    except UnicodeDecodeError:
        return value


def cell(words, view, column, value, row):
    if not isinstance(value, (str, bytes)) or column in OURS | OF_VIEWS.get(view, set()):
        return value
    if view in ("trace", "merged") and row["key"] in FACTS:
        return value
    if column == "argv":
        return words.of_json(json.loads(value)) if value.startswith("[") else words.of(value)
    return as_text(words.of(value))


def without_quotes(value):
    """A letter that a shell must have in quotes may have become one that needs none."""
    return value.replace("'", "").replace("\\", "") if isinstance(value, str) else value


def rows(path, view, words=None):
    """All rows, in any order; with words: as they are to be after it.  The name that the kernel cut off is left out."""
    columns, found = read(path, f'SELECT * FROM "{view}"')
    said = []
    for row in found:
        named = dict(zip(columns, row))
        if named.get("key") in LEFT_OUT:
            continue
        named.pop("comm", None)
        if words:
            cells = {column: cell(words, view, column, value, named) for column, value in named.items()}
        else:
            cells = {column: json.loads(value) if column == "argv" and value and value.startswith("[") else as_text(value)
                     for column, value in named.items()}
        said.append([without_quotes(value) if column == "command" else value for column, value in cells.items()])
    return sorted(said, key=repr)


def differing_views(old, new, words):
    """Names of views that differ, and how many rows were compared."""
    differ, n = [], 0
    for view in views(old):
        one, other = rows(old, view, words), rows(new, view)
        n += len(one)
        if one != other:
            differ.append((view, [(a, b) for a, b in zip(one, other) if a != b][:1] or (len(one), len(other))))
    return differ, n


WORD = re.compile(r"(?:[bdfghjklmnprstvz][aiou]){6}|[0-9]{12}|10\.[0-9]+\.[0-9]+\.[0-9]+|fd00::[0-9a-f:]+")


def tokens(text, words=None):
    """How often there is each line of what a program printed, or cell of a legend, in any order, because that may be the one of names; with
    words: with the names that they stand for."""
    text = text.decode("latin-1")
    if words:
        name = {word: name for name, word in words.word.items()}
        text = WORD.sub(lambda found: name.get(found[0], found[0]), text)
    text = re.sub(r'label=".*?\\n', 'label="', text)  # of --dot, which cuts labels off
    return collections.Counter(piece.rstrip(",]}") for piece in re.split(r"\r?\n|</?T[A-Z]+[^<>]*>", text))


def sorted_words(lines):
    """The same lines, each with its words in order."""
    sums = collections.Counter()
    for line, n in lines.items():
        sums[" ".join(sorted(re.split(r"[ ()]+", line)))] += n
    return sums


def differing_output(old, new, words, command, by_name=False):
    """What a program says of one trace only; and how many lines it said.  None: nothing differs.  by_name: words of lines are in the order of names,
    which is another one."""
    said = [subprocess.run([*map(str, command), str(trace)], stdin=subprocess.DEVNULL, capture_output=True, timeout=120, check=False)
            for trace in (old, new)]
    if said[0].returncode != said[1].returncode:
        return [one.stderr for one in said], 0
    one, other = tokens(said[0].stdout), tokens(said[1].stdout, words)
    if by_name:
        one, other = sorted_words(one), sorted_words(other)
    return (list((one - other))[:2], list((other - one))[:2]) if one != other else None, sum(one.values())
