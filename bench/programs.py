# SPDX-License-Identifier: MIT
"""Programs that are compiled for the measurements, and sources that they work on."""
import os
import sys
import tarfile

from machine import BUILD, TOP, run

HERE = TOP / "bench"


def libfuse():
    """Its source, and what Meson made of it."""
    for build in sorted(BUILD.glob("subprojects/fuse-3.*"), reverse=True):
        source = TOP / "subprojects" / build.name
        if (source / "example/passthrough_ll.c").exists():
            return source, build
    sys.exit("bench: no source of libfuse in subprojects/: run ./setup bench first")


def passthrough_ll(directory):
    """libfuse's example, with the library that ftrac has."""
    source, build = libfuse()
    library = build / "lib/libfuse3.a"
    uring = ["-luring", "-lnuma"] if b"io_uring_queue_init" in library.read_bytes() else []
    program = directory / "passthrough_ll"
    run(["gcc", "-O2", "-D_GNU_SOURCE", "-D_FILE_OFFSET_BITS=64", "-DHAVE_POSIX_FALLOCATE",
         "-I", source / "include", "-I", source, "-I", build, source / "example/passthrough_ll.c",
         library, "-lpthread", "-ldl", *uring, "-o", program])
    return program


def own(name, directory):
    """One of bench/*.c."""
    program = directory / name
    run(["gcc", "-O2", "-Wall", "-Wextra", HERE / f"{name}.c", "-o", program])
    return program


def unpack(name, directory):
    """The source of a program, without the directory that it has in its archive."""
    found = sorted(TOP.glob(f"subprojects/packagecache/{name}-*.tar.gz"))
    if not found:
        sys.exit(f"bench: no source of {name} in subprojects/packagecache/: run ./setup bench first")
    directory.mkdir(exist_ok=True)
    with tarfile.open(found[-1]) as tar:
        tar.extractall(directory)
    top = directory / os.listdir(directory)[0]
    for name in os.listdir(top):
        (top / name).rename(directory / name)
    top.rmdir()
