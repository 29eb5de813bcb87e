# SPDX-License-Identifier: MIT
"""What can go wrong. Each message is one line: what failed, on what, why, and what to do."""
import importlib
import types


class FtracError(Exception):
    """A trace cannot be read, a program failed, or an argument is wrong."""


class MissingPackage(FtracError, ImportError):
    """A package that is not needed for all, but for this."""


class FtracWarning(UserWarning):
    """A trace does not have all of its run."""


# What is not called in pip as in Python is not among these; Debian has no pyarrow.
DEBIAN = {"pandas", "numpy", "networkx", "matplotlib", "dask", "distributed"}


def package(name: str, purpose: str) -> types.ModuleType:
    """The module of this name, which purpose needs; else the error that says what to install."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        top = (error.name or name).split(".")[0]
        apt = f"'apt install python3-{top}' or " if top in DEBIAN else ""
        raise MissingPackage(f"no {top} here, which {purpose} needs: install it by {apt}'pip install {top}'") from None
