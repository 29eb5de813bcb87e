#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Turns SQL files into a C file.

embed.py FILE...              schema.sql becomes the string sql_schema (db/sql.h)
embed.py --queries FILE...    all become the string sql_queries (dag/trace/queries.h), each from its first query on

@DRIVERS@ in a file stands for the names of the drivers in drivers.c, @DATA@ for the condition that the operation n.name
moves data, @BY_CALL@ for the condition that programs in the kernel reported it, of a file of a mount, @OPENER@ for
the thread that opened the handle h of the way w, @PROGRAMS@ for the query of the
view program, made for all fresh images, @ADD_TIMES@ for what an upsert does with the times of accesses.  Tests that make a trace take its SQL from
text(), FRESH and ends().
"""
import pathlib
import re
import sys

# Of a trace that was made in another way than by the writer: what sum.sql is to take.
FRESH = "INSERT INTO fresh_handles SELECT handle, 1 FROM moved; INSERT INTO fresh_images SELECT id FROM images WHERE base IS NULL;"

# (For IN with so many names SQLite would build an index and search it for each operation.)
DATA = " OR ".join(f"n.name = '{name}'" for name in
                   ["read", "write", "copy", "sendfile", "splice", "send", "recv"])

# What enter_mount.bpf.h of kernel/ takes; the mount is asked the rest.
CALLS = ["read", "write", "copy", "sendfile", "splice", "lseek", "close", "dup", "mmap", "munmap", "msync", "mprotect"]
BY_CALL = ("w.fidelity = (SELECT code FROM fidelity_name WHERE name = 'call') AND n.name IN (" +
           ", ".join(f"'{name}'" for name in CALLS) + ")")


OPENER = "coalesce((SELECT tid FROM threads WHERE id = w.thread), (SELECT pid FROM processes WHERE id = i.process))"


def either(which, one, other):
    """The first or last of two times that may be NULL."""
    return f"coalesce({which}({one}, {other}), {one}, {other})"


def of_both(which, *columns):
    """Of the row and of the new one, where each column counts from the one before it."""
    return either(which, " + ".join(columns), " + ".join(f"excluded.{name}" for name in columns))


def add_times():
    first, first_out = of_both("min", "first_t"), of_both("min", "first_t", "first_out")
    return ", ".join([f"first_t = {first}", f"last_t = {of_both('max', 'first_t', 'last_t')} - {first}",
                      f"first_in = {of_both('min', 'first_t', 'first_in')} - {first}", f"first_out = {first_out} - {first}",
                      f"last_out = {of_both('max', 'first_t', 'first_out', 'last_out')} - {first_out}"])


def drivers():
    source = (pathlib.Path(__file__).parent / "drivers.c").read_text()
    names = re.findall(r'^\t\{ "([\w-]+)", ', source, re.MULTILINE)
    assert names, "drivers.c: there is no driver in it"
    return ", ".join(f"'{name}'" for name in names)


def programs():
    """For one image SQLite is to put the parts of the query together; for many of them, to compute each part once."""
    views = (pathlib.Path(__file__).parent / "views.sql").read_text()
    query = re.search("^CREATE VIEW program AS\n(.*?);$", views, re.MULTILINE | re.DOTALL).group(1)
    for old, new in (("NOT MATERIALIZED", "MATERIALIZED"), ("e ON e.id = b.exe)", "e ON e.id = b.exe WHERE b.id IN (SELECT image FROM fresh_images))"),
                     ("FROM images i JOIN called b ON b.id = coalesce(i.base, i.id)", "FROM called b JOIN images i ON i.id = b.id")):
        assert old in query, f"views.sql: '{old}' is not in the view program"
        query = query.replace(old, new)
    return query


def like(match):
    """A temporary table with the columns of another one."""
    schema = (pathlib.Path(__file__).parent / "schema.sql").read_text()
    return f"CREATE TEMP TABLE {match[1]} " + re.search(rf"^CREATE TABLE {match[2]} (.*?;)$", schema, re.M | re.S)[1]


def text(path):
    sql = re.sub(r"^CREATE TEMP TABLE (\w+) LIKE (\w+);$", like, path.read_text(), flags=re.M)
    if "@PROGRAMS@" in sql:
        sql = sql.replace("@PROGRAMS@", programs())
    return sql.replace("@ADD_TIMES@", add_times()).replace("@DRIVERS@", drivers()).replace("@DATA@", DATA).replace("@BY_CALL@", BY_CALL).replace("@OPENER@", OPENER)


def ends():
    """What the writer runs at the end of a run."""
    here = pathlib.Path(__file__).parent
    return text(here / "refill.sql") + text(here / "sum.sql") + text(here / "finish.sql")


def put(name, sql):
    # Bytes, not a string literal: compilers bound the length of literals.
    data = ", ".join(str(b) for b in sql.encode() + b"\0")
    print(f"const char sql_{name}[] = {{ {data} }};")


def queries(path):
    sql = text(path)
    first = re.search("^--[-+] ", sql, re.MULTILINE)
    assert first, f"{path}: there is no query in it"
    return "\n" + sql[first.start():]


def main(names):
    if names[0].name == "--queries":
        print('#include "dag/trace/queries.h"')
        put("queries", "".join(map(queries, names[1:])))
    else:
        print('#include "db/sql.h"')
        for path in names:
            put(path.stem, text(path))


if __name__ == "__main__":
    main([pathlib.Path(name) for name in sys.argv[1:]])
