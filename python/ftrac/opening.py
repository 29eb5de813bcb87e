# SPDX-License-Identifier: MIT
"""Opens traces as the programs of ftrac do (db/query_open.c): which ones may be read, and how.

A trace is opened for reading only. All that is read through one connection is the same snapshot, also while ftrac writes
the trace. A trace of another user is refused unless foreign is given, and so is a log beside it whose owner is not that
of the trace. A trace is not trusted: its views may call only functions without side effects, it has no virtual tables,
and no other database can be attached.
"""
import os
import sqlite3
import stat
import time
import urllib.parse
from typing import Any, Callable, Dict, Optional

from . import kinds
from .errors import FtracError

APPLICATION_ID = 1718907491  # "ftrc"
VIEWS_VERSION = 1
BUSY_S = 10
BESIDE = "-wal", "-shm", "-journal"
SQLITE_WANTED = 3, 35
# The limits of the programs; those that Python's sqlite3 can set (3.11).
LIMITS = {"LENGTH": 256 << 20, "SQL_LENGTH": 1 << 20, "COLUMN": 200, "EXPR_DEPTH": 200, "COMPOUND_SELECT": 50,
          "FUNCTION_ARG": 100, "ATTACHED": 0, "LIKE_PATTERN_LENGTH": 4096, "TRIGGER_DEPTH": 0, "WORKER_THREADS": 0}
# Settings that Python's sqlite3 can make (3.12): on or off.
SETTINGS = {"DEFENSIVE": True, "ENABLE_TRIGGER": False, "ENABLE_LOAD_EXTENSION": False}
INNOCUOUS = 0x200000  # SQLITE_INNOCUOUS, a flag of functions that have no side effects
VIRTUAL = "SELECT count(*) FROM sqlite_schema WHERE sql LIKE 'CREATE VIRTUAL%' OR type = 'table' AND rootpage = 0"
IS_TRACE = ("SELECT (SELECT count(*) FROM (SELECT 1 FROM trace LIMIT 1)) + (SELECT count(*) FROM (SELECT 1 FROM image "
            "LIMIT 1)) + (SELECT count(*) FROM (SELECT 1 FROM handle LIMIT 1))")
HAS_STEPS = "SELECT count(*) FROM sqlite_schema WHERE name = 'process_step'"
# Of a trace of an earlier release: before this view of ours its own one is hidden.
STEPS_OF_OLD = ("CREATE TEMP VIEW process AS SELECT *, coalesce(xform, program) AS step, NULL AS task, NULL AS part, "
                "program AS label FROM main.process")


def is_us(user: int) -> bool:
    """Whether the user is that of this process. Under sudo, the invoking user counts, too."""
    me = os.geteuid()
    behind = os.environ.get("SUDO_UID", "") if me == 0 else ""
    return user == me or (behind.isdecimal() and int(behind) == user)


def status(path: str) -> Optional[os.stat_result]:
    try:
        return os.lstat(path)
    except FileNotFoundError:
        return None


def same_file(one: Optional[os.stat_result], other: Optional[os.stat_result]) -> bool:
    return one is not None and other is not None and (one.st_dev, one.st_ino) == (other.st_dev, other.st_ino)


class Opened:
    """A trace that is open: connection is that of sqlite3. close() it; also by 'with'."""

    def __init__(self, path: str, foreign: bool = False, errors: str = kinds.IN_ROWS) -> None:
        if sqlite3.sqlite_version_info < SQLITE_WANTED:
            raise FtracError(f"SQLite is {sqlite3.sqlite_version}, traces need 3.35: take a newer Python")
        self.path, self.errors = path, errors
        self.connection: Any = None
        self._index: Optional[os.stat_result] = None
        until = time.monotonic() + BUSY_S
        while not self._open_once(foreign):
            self.close()
            if time.monotonic() > until:
                raise FtracError(f"cannot read '{path}': its writer holds it; try again")
            time.sleep(0.02)

    def __enter__(self) -> "Opened":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def close(self) -> None:
        """Removes also the index that SQLite made beside a log that was left behind, but no other."""
        if self.connection is not None:
            self.connection.close()
            self.connection = None
        if self._index and same_file(status(self.real + "-shm"), self._index):
            os.unlink(self.real + "-shm")
        self._index = None

    def _open_once(self, foreign: bool) -> bool:
        """False if the writer removed its log meanwhile."""
        self.file = self._check(foreign)
        self.real = os.path.realpath(self.path)
        self.has_log = os.path.exists(self.real + "-wal")
        had_index = os.path.lexists(self.real + "-shm")
        busy: Optional[Exception] = None
        try:
            self._connect()
            self._check_trace()
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) and os.path.exists(self.real + "-wal") == self.has_log:
                self._finish_failed(had_index)
                raise self._unreadable(error) from None
            busy = error
        except sqlite3.DatabaseError as error:
            self._finish_failed(had_index)
            raise FtracError(f"'{self.path}' is damaged, or no trace: {error}; give the file that ftrac or procmon "
                             "wrote; SQLite's '.recover' may save what is left of a trace") from None
        except FtracError:
            self._finish_failed(had_index)
            raise
        self._note_index(had_index)
        if busy:
            return False
        if not same_file(os.stat(self.real), self.file):
            self.close()
            raise FtracError(f"'{self.path}' was replaced by another file while it was opened; try again")
        self._check_beside()
        return True

    def _finish_failed(self, had_index: bool) -> None:
        self._note_index(had_index)
        self.close()

    def _note_index(self, had_index: bool) -> None:
        index = None if had_index else status(self.real + "-shm")
        self._index = index if index and index.st_uid in (os.geteuid(), self.file.st_uid) else None

    def _unreadable(self, error: Exception) -> FtracError:
        if self.has_log:
            return FtracError(f"cannot read '{self.path}': {error}; it still has its log beside it, which takes the right "
                              "to write there: copy all files of this name to a place of your own")
        return FtracError(f"'{self.path}' is damaged, or no trace: {error}; give the file that ftrac or procmon wrote")

    def _check(self, foreign: bool) -> os.stat_result:
        """What must be so before the trace is opened."""
        try:
            found = os.stat(self.path)
            if not stat.S_ISREG(found.st_mode):
                raise FtracError(f"cannot open '{self.path}': it is no file; give the trace itself")
            os.close(os.open(self.path, os.O_RDONLY | os.O_CLOEXEC))
        except OSError as error:
            raise FtracError(f"cannot open '{self.path}': {error.strerror}; give a trace that ftrac or procmon wrote, "
                             "and that you may read") from None
        if not foreign and not is_us(found.st_uid):
            raise FtracError(f"'{self.path}' belongs to another user, so its contents are not trusted; foreign=True reads "
                             "it all the same")
        self.file = found
        self.real = os.path.realpath(self.path)
        self._check_beside()
        return found

    def _check_beside(self) -> None:
        """A log is a part of the trace, so it must have the same owner."""
        for suffix in BESIDE:
            beside = status(self.real + suffix)
            if beside and beside.st_uid != self.file.st_uid and not same_file(beside, self._index):
                raise FtracError(f"'{self.path}{suffix}' belongs to another user than the trace; copy the trace alone to a "
                                 "place of your own")

    def _connect(self) -> None:
        """A trace without a log is immutable; else SQLite would make files beside it."""
        uri = f"file:{urllib.parse.quote(os.fsencode(self.real))}?mode=ro{'' if self.has_log else '&immutable=1'}"
        self.connection = sqlite3.connect(uri, uri=True, isolation_level=None, timeout=BUSY_S)
        self.connection.text_factory = lambda found: found.decode("utf-8", self.errors)
        self._harden()
        self.connection.execute("BEGIN")

    def _harden(self) -> None:
        for setting, value in SETTINGS.items():
            code = getattr(sqlite3, f"SQLITE_DBCONFIG_{setting}", None)
            if code is not None:
                self.connection.setconfig(code, value)
        for limit, most in LIMITS.items():
            code = getattr(sqlite3, f"SQLITE_LIMIT_{limit}", None)
            if code is not None:
                self.connection.setlimit(code, most)
        self.connection.executescript("PRAGMA cell_size_check = ON; PRAGMA mmap_size = 0; PRAGMA temp_store = FILE; "
                                      "PRAGMA cache_size = -65536")
        self.connection.set_authorizer(self._allowed())

    def _allowed(self) -> Callable[..., int]:
        """PRAGMA trusted_schema = OFF would refuse json_valid(), which views call and some releases of SQLite do not mark
        as without side effects. So functions are looked at here."""
        listed = self.connection.execute("PRAGMA function_list").fetchall()
        safe = {row[0] for row in listed if row[5] & INNOCUOUS or row[0].startswith(("json", "->"))}

        def allow(action: int, _: Any, name: Any, *__: Any) -> int:
            refused = action == sqlite3.SQLITE_ATTACH or action == sqlite3.SQLITE_FUNCTION and name.lower() not in safe
            return sqlite3.SQLITE_DENY if refused else sqlite3.SQLITE_OK
        return allow

    def _check_trace(self) -> None:
        number: Callable[[str], int] = lambda sql: self.connection.execute(sql).fetchone()[0]
        ours = number("PRAGMA application_id") == APPLICATION_ID
        if ours and number("PRAGMA user_version") > VIEWS_VERSION:
            raise FtracError(f"'{self.path}' is a trace of a newer format; use the package of the ftrac that wrote it")
        if number(VIRTUAL):
            raise FtracError(f"'{self.path}' has virtual tables, which no trace of ftrac has; it is not read")
        try:
            number(IS_TRACE)
        except sqlite3.OperationalError as error:
            if ours or "no such" not in str(error):
                raise
            raise FtracError(f"'{self.path}' is no trace; give the file that ftrac or procmon wrote, trace.db unless --db "
                             "named another file") from None
        if not number(HAS_STEPS):
            self.connection.execute(STEPS_OF_OLD)

    # ---- reading ----

    def facts(self) -> Dict[str, Any]:
        """The rows of the view trace."""
        return dict(self.query("SELECT key, value FROM trace WHERE key NOTNULL"))

    def columns(self, view: str) -> list:
        """The names of the columns of a view; [] if there is none of that name."""
        return [row[0] for row in self.query("SELECT name FROM pragma_table_info(?)", (view,))]

    def views(self) -> list:
        return [row[0] for row in self.query("SELECT name FROM sqlite_schema WHERE type = 'view' ORDER BY name")]

    def query(self, sql: str, values: Any = ()) -> Any:
        """A cursor."""
        try:
            return self.connection.execute(sql, values)
        except (sqlite3.Error, sqlite3.Warning, OverflowError, ValueError) as error:
            raise FtracError(f"cannot read '{self.path}': {error}") from None
