#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""python-package.py: the package in python/ fits the rest of the tree: its version is Meson's, Meson installs each of its
files, rows.py has each view of the manual with the columns that the view has, and what it offers is described."""
import ast
import pathlib
import re
import sqlite3
import sys

TOP = pathlib.Path(__file__).resolve().parent.parent
PACKAGE = TOP / "python" / "ftrac"
sys.dont_write_bytecode = True
sys.path[:0] = [str(TOP / "python"), str(TOP / "db")]
import embed
import ftrac
from ftrac.rows import ROWS, columns_of

errors = []


def check(holds, text):
    if not holds:
        errors.append(text)


def views():
    """Columns of each view."""
    db = sqlite3.connect(":memory:")
    for name in "schema.sql", "views.sql", "steps.sql":
        db.executescript(embed.text(TOP / "db" / name))
    names = [row[0] for row in db.execute("SELECT name FROM sqlite_schema WHERE type = 'view'")]
    return {name: tuple(row[1] for row in db.execute(f'PRAGMA table_info("{name}")')) for name in names}


def check_rows():
    there = views()
    manual = (TOP / "man" / "ftrac-db.5.scd").read_text(encoding="utf-8").replace("\\_", "_")
    described = set(re.findall(r"^## (\w+)$", manual, re.MULTILINE)) & set(there)
    check(len(described) > 20, "the views of man/ftrac-db.5.scd are not found")
    for view in sorted(described | set(ROWS)):
        if view not in ROWS:
            check(False, f"python/ftrac/rows.py has no class for the view '{view}'")
            continue
        wanted = (*there.get(view, ()), "trace")
        check(columns_of(ROWS[view]) == wanted, f"rows.py: '{view}' has {columns_of(ROWS[view])}, the view has {wanted}")
    return len(described | set(ROWS))


def check_files():
    files = sorted(path.name for path in PACKAGE.iterdir() if path.is_file())
    installed = re.findall(r"'ftrac/([\w.]+)'", (TOP / "python" / "meson.build").read_text(encoding="utf-8"))
    check(sorted(installed) == files, f"python/meson.build installs {installed}, there are {files}")
    check("py.typed" in files, "there is no py.typed")
    return len(files)


def described(node):
    return ast.get_docstring(node) is not None


def check_texts():
    """Each module, each class, and each public function of the classes that users have."""
    looked = 0
    for path in sorted(PACKAGE.glob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        check(described(tree), f"{path.name} has no docstring")
        for node in tree.body:
            if isinstance(node, ast.ClassDef):
                looked += 1
                check(described(node), f"{path.name}: class {node.name} has no docstring")
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef):
                looked += 1
                given = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
                typed = node.returns is not None and all(one.annotation for one in given if one.arg not in ("self",))
                check(typed, f"{path.name}: {node.name}() has an argument or a result without a type")
    for name in dir(ftrac.Trace):
        if not name.startswith("_"):
            looked += 1
            check(getattr(ftrac.Trace, name).__doc__, f"Trace.{name} has no docstring")
    return looked


def main():
    version = re.search(r"^\tversion: '([^']+)'", (TOP / "meson.build").read_text(encoding="utf-8"), re.MULTILINE)[1]
    check(ftrac.__version__ == version, f"the version of python/ftrac is {ftrac.__version__}, that of meson.build {version}")
    counts = check_rows(), check_files(), check_texts()
    for error in errors:
        print("python-package.py:", error)
    print("python-package.py: {} views, {} files and {} functions and classes looked at, {} errors".format(*counts, len(errors)))
    sys.exit(1 if errors or not all(counts) else 0)


main()
