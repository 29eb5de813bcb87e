# SPDX-License-Identifier: MIT
# seconds: 10
"""By Dask, where each trace is a partition, the Python package gives what it gives without Dask, and what SQLite gives."""
import os
import warnings

import stattraces
from ftractest import skip
from pythonpackage import cells_of, ftrac, opened, raw, refused
from stattraces import base, checks, make, odd, synthetic, units

try:
    import dask
    import distributed
except ImportError as error:
    skip(f"no {error.name} here (python3-dask, python3-distributed)")


def values(frame, name):
    kind = {"timedelta64[ns]": "duration", "datetime64[ns, UTC]": "point"}.get(str(frame[name].dtype), "value")
    return cells_of(frame[name], kind)


def same_frames(traces, alone):
    """Each column of some views."""
    for view in "process", "op", "file", "handle", "access", "ghost", "trace", "sample":
        lazy = traces.frame(view)
        checks.equal(f"{view}: partitions", lazy.npartitions, len(alone))
        got, wanted = lazy.compute(), alone.frame(view)
        checks.equal(f"{view}: columns", list(got.columns), list(wanted.columns))
        for name in wanted.columns:
            if view != "trace" or name != "value":
                checks.equal(f"{view}.{name}", values(got, name), values(wanted, name))
                checks.check(f"{view}.{name}: dtype", got[name].dtype == wanted[name].dtype or str(got[name].dtype) == "category",
                             f"{got[name].dtype} {wanted[name].dtype}")


def reads_little(traces):
    """A computation reads the columns that it uses, and no other."""
    from ftrac import cluster
    asked, frame = [], cluster.work.frame
    lazy = traces.operations
    cluster.work.frame = lambda source, chosen: (asked.append(chosen.columns), frame(source, chosen))[1]
    try:
        count = lazy.groupby("name", observed=True).latency_ns.count().compute(scheduler="synchronous")
    finally:
        cluster.work.frame = frame
    wanted = {}
    for path in traces.paths:
        for name, n in raw(path, "SELECT name, count(*) FROM op GROUP BY name"):
            wanted[name] = wanted.get(name, 0) + n
    checks.equal("counts by name", count.to_dict(), wanted)
    checks.equal("columns that were read", {tuple(sorted(columns)) for columns in asked}, {("latency_ns", "name")})


def same_answers(what, traces, alone):
    checks.check(f"{what}: quantiles", traces.quantiles(q=[0.1, 0.5, 0.999]).equals(alone.quantiles(q=[0.1, 0.5, 0.999])))
    sizes = traces.quantiles("bytes", by=["name", "file"], q=[1])
    checks.check(f"{what}: quantiles of bytes", len(sizes) > 5 and sizes.equals(alone.quantiles("bytes", by=["name", "file"], q=[1])))
    latencies = sorted(value for path in alone.paths for value, in raw(path, "SELECT latency_ns FROM op WHERE name = 'read'"))
    checks.equal(f"{what}: the median by SQLite", traces.quantiles(q=[0.5]).loc["read", "p50"].value,
                 latencies[(len(latencies) + 1) // 2 - 1])
    query = "SELECT name, count(*) AS n, sum(latency_ns) AS latency_ns FROM op GROUP BY name"
    checks.check(f"{what}: sql", traces.sql(query).astype({"trace": str}).equals(alone.sql(query).astype({"trace": str})))
    checks.equal(f"{what}: rows", list(map(tuple, traces.rows("process"))), list(map(tuple, alone.rows("process"))))
    checks.equal(f"{what}: warnings", traces.warnings, alone.warnings)
    checks.check(f"{what}: graph", len(traces.graph()) == len(alone.graph()) > 10)


def main():
    warnings.simplefilter("ignore", ftrac.FtracWarning)
    paths = [synthetic("synthetic.db"), make("odd.db", odd, finish=False, complete=0), make("units.db", units), make("empty.db")]
    for scheduler in "synchronous", "threads":
        with dask.config.set({"temporary-directory": str(base)}):
            traces, alone = opened(base, engine="dask", scheduler=scheduler), opened(base)
            checks.equal("the same traces", traces.paths, sorted(paths))
            same_answers(scheduler, traces, alone)
    same_frames(traces, alone)
    reads_little(traces)
    refused(checks, "a trace that is no trace", ["no trace"], ftrac.open, paths[0], __file__, engine="dask", scheduler="synchronous")
    os.environ["DASK_DISTRIBUTED__WORKER__PROFILE__ENABLED"] = "False"
    # By TCP, since Dask 2022 cannot unpack DataFrames that stay within a process.
    with distributed.Client(processes=False, n_workers=1, threads_per_worker=1, dashboard_address=":0", protocol="tcp://",
                            host="127.0.0.1", local_directory=str(base)) as client:
        by_client = opened(base, engine="dask", scheduler=client)
        same_answers("a client", by_client, alone)
        checks.equal("a frame by the client", len(by_client.operations), len(alone.operations))
    print(f"dask {dask.__version__}, {len(paths)} traces")


stattraces.run_case(main)
