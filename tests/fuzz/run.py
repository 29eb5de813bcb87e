#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""run.py [--seconds N] [--jobs N] [--keep DIRECTORY] BUILD [TARGET...]: runs the targets of libFuzzer in
BUILD (-Dfuzz=true), prints how often each was executed, and what was found.

What a target learns is kept in DIRECTORY, if that is given, and is what the next run begins with. Fails when
something was found, or when a target was not executed at all.
"""
import argparse
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
TIMEOUT = 60  # seconds that one input may take, also without optimization
MEMORY_MB = 2048


def run(args, corpus, name):
    """(executions, what was found)"""
    learned, found = args.keep / "learned" / name, args.keep / "found"
    learned.mkdir(parents=True, exist_ok=True)
    found.mkdir(exist_ok=True)
    dictionary = corpus / f"{name}.dict"
    command = [args.build / "tests/fuzz" / f"fuzz_{name}", f"-max_total_time={args.seconds}",
               f"-seed={args.seed}",
               f"-timeout={TIMEOUT}", f"-rss_limit_mb={MEMORY_MB}", "-close_fd_mask=3",
               "-print_final_stats=1", f"-artifact_prefix={found}/{name}-",
               *([f"-dict={dictionary}"] if dictionary.exists() else []), learned, corpus / name]
    environment = os.environ | {
        "ASAN_OPTIONS": "detect_leaks=1:allocator_may_return_null=1",
        "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1"}
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, errors="replace",
                          env=environment, stdin=subprocess.DEVNULL, timeout=args.seconds * 2 + 300)
    stat = re.search(r"stat::number_of_executed_units: *(\d+)", done.stderr)
    return int(stat[1]) if stat else 0, done.stderr[-6000:] if done.returncode else ""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=int, default=20)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seed", type=int, default=0, help="0: another one each time")
    parser.add_argument("--keep", type=pathlib.Path)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("targets", nargs="*")
    args = parser.parse_args()
    if args.targets == []:
        args.targets = sorted(path.stem.removeprefix("fuzz_") for path in HERE.glob("fuzz_*.c"))
    bad = executions = 0
    with tempfile.TemporaryDirectory(prefix="ftrac-fuzz-") as scratch:
        corpus = pathlib.Path(scratch) / "corpus"
        args.keep = args.keep or pathlib.Path(scratch)
        subprocess.run([sys.executable, HERE / "corpus.py", corpus], check=True)
        with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
            for name, (n, found) in zip(args.targets, pool.map(lambda t: run(args, corpus, t), args.targets)):
                print(f"{name:14} {n:9} executions{', FAILED' if found else ''}", flush=True)
                bad += n == 0 or bool(found)
                executions += n
                if found:
                    print(found, flush=True)
        for path in sorted(args.keep.glob("found/*")):
            print(f"{path.name}: {path.read_bytes()[:2000].hex()}")
    print(f"{len(args.targets)} targets, {bad} failed, {args.seconds} s each, {executions} executions")
    sys.exit(1 if bad or not args.targets else 0)


main()
