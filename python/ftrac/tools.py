# SPDX-License-Identifier: MIT
"""Runs wfdag and wfstat, whose results are not computed a second time here."""
import json
import os
import pathlib
import shutil
import subprocess
import warnings
from typing import Any, Dict, List, Sequence

from .errors import FtracError, FtracWarning

TREE = pathlib.Path(__file__).resolve().parent.parent.parent


def program(name: str) -> str:
    """$WFDAG or $WFSTAT; else that of the source tree of this package, if it is compiled there; else that of $PATH."""
    built = TREE / "build" / "dag" / name
    for found in os.environ.get(name.upper()), str(built) if (TREE / "meson.build").exists() else None, shutil.which(name):
        if found and os.access(found, os.X_OK):
            return found
    raise FtracError(f"no '{name}' here: install ftrac, or let ${name.upper()} be the place of the program")


def option(name: str, value: Any) -> List[str]:
    """operation=["read", "write"] is --operation read --operation write; long=True is --long."""
    flag = "--" + name.rstrip("_").replace("_", "-")
    if value is None or value is False:
        return []
    if value is True:
        return [flag]
    several = value if isinstance(value, (list, tuple)) else [value]
    # As one word, so that a value that begins with '-' is none of the options.
    return [f"{flag}={one}" for one in several]


def by_option(by: Any) -> Any:
    return by if by is None or isinstance(by, str) else ",".join(by)


def run(name: str, words: Sequence[str], options: Dict[str, Any], paths: Sequence[str], foreign: bool) -> Dict[str, Any]:
    """The JSON that the program prints. Its warnings are warnings here."""
    command = [program(name), *words, "--json", *(["--foreign"] if foreign else [])]
    for key, value in options.items():
        command += option(key, value)
    done = subprocess.run([*command, "--", *paths], stdin=subprocess.DEVNULL, capture_output=True, check=False)
    said = done.stderr.decode("utf-8", "replace").strip().split("\n")
    if done.returncode:
        raise FtracError(said[-1] or f"{name} ended with status {done.returncode}")
    for line in filter(None, said):
        warnings.warn(line, FtracWarning, stacklevel=4)
    return json.loads(done.stdout.decode("utf-8", "replace"))
