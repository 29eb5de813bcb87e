#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The clock of the machine is set back and forth during a run: what is done goes on, all is recorded,
and times in the trace are of another clock, which only goes forward.

The clock of the daemon alone, by a preloaded library: that of the machine is of others, too.  What waits
in the kernel until a time of that clock waits by the machine's."""
import os
import time

from faults import Faults
from ftractest import FTRAC, Checks, Mount, need_fuse

STEP_NS = 3600 * 10**9


def main():
    need_fuse()
    checks, faults = Checks(), Faults()
    preload = [f"{key}={value}" for key, value in faults.environment(FTRAC).items()
               if key == "LD_PRELOAD" or key.startswith("FAIL_")]
    faults.set_clock(-STEP_NS)  # a clock that is wrong from the beginning
    asked, began = [0], time.time_ns()
    with Mount(prefix=["env", *preload]) as mount:
        top, before = mount(mount.base), time.monotonic_ns()
        asked.append(faults.shifted())
        for i, step in enumerate([STEP_NS, -STEP_NS, 2 * STEP_NS, STEP_NS, -STEP_NS]):
            faults.set_clock(step)
            for k in range(20):
                (top / f"f{i}.{k}").write_text("x")
            time.sleep(0.3)  # a batch
            asked.append(faults.shifted())
        checks.check("the library was there", faults.count("alloc"))
        took = time.monotonic_ns() - before
        mount.unmount()
        asked.append(faults.shifted())
        counts = [b - a for a, b in zip(asked, asked[1:])]
        print(f"the daemon was given a shifted time {asked[-1]} times: {counts[0]} at its start, "
              f"{counts[1:-1]} in the steps, {counts[-1]} at its end")
        checks.check("the clock was shifted", asked[-1] > 0 and counts[0] > 0, counts)
        # All dates of the trace come from that one look at the clock; nothing else of it does.
        wrong_ns = mount.fact("start_ns") - began
        checks.check("the date of the run is by the clock of its beginning",
                     -STEP_NS < wrong_ns < -STEP_NS + 60e9, wrong_ns)
        checks.equal("complete, lost", (mount.fact("complete"), mount.fact("ops_lost")), (1, 0))
        rows = mount.sql("SELECT path, start_ns FROM op WHERE name = 'create' AND path LIKE '%/f_.%' "
                         "ORDER BY id")
        names = [os.path.basename(path) for path, _ in rows]
        checks.equal("all, in order", names, [f"f{i}.{k}" for i in range(5) for k in range(20)])
        times = [ns for _, ns in rows]
        checks.equal("times only go forward", times, sorted(times))
        checks.check("and as far as time went", 5 * 0.2e9 < times[-1] - times[0] < took,
                     (times[-1] - times[0], took))
        checks.check("the run is as long as it was",
                     0 < mount.fact("end_ns") - mount.fact("start_ns") < took + 10e9)
        checks.equal("durations", mount.sql("SELECT count(*) FROM op WHERE latency_ns < 0 OR "
                                            "latency_ns > 600e9"), [(0,)])
        checks.equal("processes", mount.sql(
            "SELECT count(*) FROM process WHERE end_ns < start_ns"), [(0,)])
        print(f"{len(rows)} operations over {took / 1e9:.1f} s, with 5 steps of an hour or more")
    checks.end()


if __name__ == "__main__":
    main()
