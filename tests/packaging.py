#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What the files for packages say agrees with the source: one version, libfuse's checksum, programs, and a licence for each
thing that is bundled."""
import json
import pathlib
import re
import sys

TOP = pathlib.Path(__file__).resolve().parent.parent
looked, wrong = 0, []


def text(name):
    return (TOP / name).read_text(encoding="utf-8")


def found(name, pattern):
    match = re.search(pattern, text(name), re.MULTILINE)
    return match.group(1) if match else None


def equal(what, got, wanted):
    global looked
    looked += 1
    if got != wanted or not wanted:
        wrong.append(f"{what}: {got!r}, not {wanted!r}")


def check_versions():
    version = found("meson.build", r"^\tversion: '([0-9.]+)',$")
    for name, pattern in {
            "debian/changelog": r"\Aftrac \((.*)\)",
            "NEWS": r"\Aftrac (\S+) \(",
            "packaging/ftrac.spec": r"^Version: *(\S+)$",
            "packaging/nix/package.nix": r'^  version = "(.*)";$',
            "packaging/spack/package.py": r'^    version\("([0-9.]+)", tag='}.items():
        equal(f"{name}: version", found(name, pattern), version)
    equal("packaging/spack/package.py: tag", found("packaging/spack/package.py", r'tag="(.*)"\)$'), f"v{version}")


def check_libfuse():
    wrap = dict(re.findall(r"^(\w+) *= *(.*)$", text("subprojects/fuse3.wrap"), re.MULTILINE))
    nix = text("packaging/nix/package.nix")
    equal("package.nix: libfuse's checksum", re.search(r'sha256 = "(.*)"', nix).group(1), wrap["source_hash"])
    equal("package.nix: libfuse's address", re.search(r'url = "(.*)"', nix).group(1), wrap["source_url"])
    equal("package.nix: libfuse's file", f"packagecache/{wrap['source_filename']}" in nix, True)
    spack = text("packaging/spack/package.py")
    equal("package.py: libfuse's checksum", re.search(r'sha256="(.*)"', spack).group(1), wrap["source_hash"])
    equal("package.py: libfuse's address", re.search(r'url="(.*)",$', spack, re.MULTILINE).group(1), wrap["source_url"])
    equal("ftrac.spec: libfuse", found("packaging/ftrac.spec", r"bundled\(fuse3\) = (\S+)"),
          wrap["directory"].removeprefix("fuse-"))


def check_copyright():
    """Each library of the page, with its licence; libfuse; the text of each licence that is named."""
    names = {"MIT": "Expat", "ISC": "ISC", "BSD-3-Clause": "BSD-3-clause", "Unlicense": "Unlicense"}
    legal = text("debian/copyright")
    packages = json.loads(text("report/package-lock.json"))["packages"]
    lists = {licence: re.split(r",\s+", words) for licence, words in
             re.findall(r"^ (\S+): ((?:[^:]|\n  )*)\.$", legal, re.MULTILINE)}
    bundled = 0
    for path, about in packages.items():
        if path and not about.get("dev"):
            bundled += 1
            name = path.removeprefix("node_modules/")
            equal(f"debian/copyright: {name}, {about['license']}", name in lists.get(names[about["license"]], []), True)
    equal("libraries of the page", bundled > 10, True)
    equal("debian/copyright: libfuse", "subprojects/packagecache/fuse-*.tar.gz" in legal, True)
    for words in set(re.findall(r"^License: (.*)$", legal, re.MULTILINE)):
        for licence in words.split(" and "):
            equal(f"debian/copyright: text of {licence}", bool(re.search(f"^License: {licence}\n .", legal, re.MULTILINE)), True)


def check_lists():
    """What setup installs to build is what the packages need to be built."""
    setup = re.search(r'^build_packages="(.*?)"$', text("setup"), re.MULTILINE | re.DOTALL).group(1).split()
    setup += found("setup", r'^kernel_packages="(.*)"$').split()
    # Of these, programs that the tests and examples use, and what Debian's own builds have always.
    setup = set(setup) - {"gcc", "libc6-dev", "fuse3", "sqlite3", "ca-certificates"}
    fields = re.search(r"^Build-Depends: (.*?)^\S", text("debian/control"), re.MULTILINE | re.DOTALL).group(1)
    needed = {re.split(r"[ (\[]", field.strip())[0] for field in fields.split(",")}
    for name in sorted(setup):
        equal(f"debian/control: Build-Depends: {name}", name in needed, True)


check_versions()
check_libfuse()
check_copyright()
check_lists()
for line in wrong:
    print(f"packaging.py: {line}")
print(f"packaging.py: {looked} facts looked at, {len(wrong)} not so")
sys.exit(1 if wrong or not looked else 0)
