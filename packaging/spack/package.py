# SPDX-License-Identifier: MIT
"""Recipe for Spack 1.0; `spack repo create` makes a repository for it, in which it is packages/ftrac/package.py."""
from spack_repo.builtin.build_systems.meson import MesonPackage

from spack.package import *


class Ftrac(MesonPackage):
    """Traces the files and processes of a workflow into an SQLite database, and prints statistics, graphs and
    reports of it."""

    homepage = "https://example.org/ftrac"
    git = "https://example.org/ftrac.git"

    license("MIT")

    version("main", branch="main")
    version("0.1.0", tag="v0.1.0")

    # Linked statically: Spack's own libfuse is older than the 3.18.2 that ftrac needs.
    resource(name="libfuse", url="https://github.com/libfuse/libfuse/releases/download/fuse-3.18.3/fuse-3.18.3.tar.gz",
             sha256="bcd19582c5e30f7fe45dd86a5540e998590aa01903afc7ebcbeea6c8ac5421ee", expand=False,
             placement="subprojects/packagecache")

    variant("kernel", default=False, description="record system calls by programs in the kernel (the system's bpftool)")

    depends_on("c", type="build")
    depends_on("meson@1.0.0:", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("python@3.9:", type="build")
    depends_on("llvm+clang", type="build", when="+kernel")
    depends_on("libbpf@1.1:", when="+kernel")
    depends_on("ck")
    depends_on("graphviz")
    depends_on("jansson")
    depends_on("libcap")
    depends_on("libmicrohttpd@0.9.71:")
    depends_on("libnl")
    depends_on("libxml2")
    depends_on("libyaml")
    depends_on("ncurses")
    depends_on("nettle")
    depends_on("sqlite@3.35:")
    depends_on("util-linux@2.36:")
    depends_on("uthash", type="build")
    depends_on("zlib-api")

    conflicts("platform=darwin", msg="ftrac needs Linux and FUSE")

    def meson_args(self):
        def feature(name, on):
            return f"-D{name}={'enabled' if on else 'disabled'}"

        # wfreport takes the libraries of npm, which Spack does not download.
        # Of scdoc and bpftool it has no packages.
        return [feature("kernel", self.spec.satisfies("+kernel")), "-Dman=disabled", "-Dpython=disabled", "-Dreport=disabled",
                "-Dtests=disabled"]
