# SPDX-License-Identifier: MIT
"""Workflows and their traces: a command in a directory, under ftrac run.

Ready ones: randomflows.py (random steps), dagtraces.py (actors that do one thing after another), stattraces.py (traces
for wfstat, made from rows).
"""
import subprocess

from ftractest import FTRAC


def traced(db, command, cwd, *options, status=0, **more):
    """The command as it ended, traced into db, which may be there already; it must end with this status (None: any).  Only the
    directory is traced, unless options say more: systems that run workflows keep files of their own in /tmp."""
    scope = [] if "--scope" in options else ["--scope", "dir"]
    more = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True,
            "errors": "replace", "timeout": 300, **more}
    done = subprocess.run([FTRAC, "run", "-q", "--force", "--db", str(db), *scope, *options, "--", *map(str, command)],
                          cwd=cwd, check=False, **more)
    if status is not None and done.returncode != status:
        raise AssertionError(f"{command}: status {done.returncode}\n{done.stdout[-1000:]}\n{done.stderr}")
    return done
