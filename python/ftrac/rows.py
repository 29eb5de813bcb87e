# SPDX-License-Identifier: MIT
"""A class for the rows of each view of a trace: its columns, in their order, with their types (kinds.py). What the
columns mean is in ftrac-db(5). trace is the file that a row is from; None if only one trace was opened.
"""
import keyword
from typing import Dict, NamedTuple, Optional, Tuple, Type

from .kinds import Bytes, Duration, Flag, Int, Name, Point, Real, Text, Value


class Fact(NamedTuple):
    """A fact of the run: see ftrac-db(5)."""
    key: Text
    value: Value
    trace: Optional[str] = None


class Process(NamedTuple):
    """A process, from its fork to its exit. Sizes are bytes."""
    id: Int
    host: Name
    pid: Int
    ppid: Int
    parent: Int
    job: Name
    xform: Name
    phase: Name
    command: Text
    exe: Name
    comm: Name
    cwd: Name
    uid: Int
    gid: Int
    start_ns: Point
    end_ns: Point
    lstart: Int
    lstop: Int
    exit_code: Int
    exit_signal: Int
    cpu_ns: Duration
    utime_ns: Duration
    stime_ns: Duration
    vmpeak_bytes: Int
    rsspeak_bytes: Int
    read_char: Int
    write_char: Int
    read_bytes: Int
    write_bytes: Int
    nvcsw: Int
    nivcsw: Int
    minflt: Int
    majflt: Int
    cpu_delay_ns: Duration
    blkio_delay_ns: Duration
    swapin_delay_ns: Duration
    reclaim_delay_ns: Duration
    cgroup: Name
    tier: Name
    state: Name
    program: Name
    image: Int
    ops: Int
    ops_ns: Duration
    step: Name
    task: Text
    part: Int
    label: Text
    trace: Optional[str] = None


class ProcessJob(NamedTuple):
    """The job, the kind of job (xform) and the phase of a process."""
    process: Int
    job: Name
    xform: Name
    phase: Name
    lstart: Int
    lstop: Int
    trace: Optional[str] = None


class ProcessStep(NamedTuple):
    """Readable names of a process: what it is part of."""
    process: Int
    step: Name
    task: Text
    part: Int
    label: Text
    trace: Optional[str] = None


class ProcessTime(NamedTuple):
    """Where the time of all threads of a process went, in a trace of system calls."""
    process: Int
    threads_ns: Duration
    running_ns: Duration
    queue_ns: Duration
    file_ns: Duration
    pipe_ns: Duration
    socket_ns: Duration
    lock_ns: Duration
    child_ns: Duration
    sleep_ns: Duration
    event_ns: Duration
    memory_ns: Duration
    stopped_ns: Duration
    other_ns: Duration
    trace: Optional[str] = None


class Run(NamedTuple):
    """A run; a trace has several if it was merged."""
    first_process: Int
    last_process: Int
    host: Name
    job: Name
    xform: Name
    fidelity: Name
    trace: Optional[str] = None


class Program(NamedTuple):
    """The name of an image, and what kind of program it is."""
    image: Int
    process: Int
    seq: Int
    name: Name
    shell: Flag
    script: Flag
    driver: Flag
    title: Text
    own: Flag
    helper: Flag
    trace: Optional[str] = None


class Image(NamedTuple):
    """A program that a process ran, from an exec or the fork to the next exec or the end."""
    id: Int
    process: Int
    seq: Int
    exe: Name
    command: Text
    argv: Text
    argv_raw: Bytes
    cwd: Name
    start_ns: Point
    end_ns: Point
    stdin: Text
    stdout: Text
    stderr: Text
    comm: Name
    program: Name
    trace: Optional[str] = None


class ImageFigures(NamedTuple):
    """What an image used. Sizes are bytes."""
    image: Int
    process: Int
    seq: Int
    cpu_ns: Duration
    utime_ns: Duration
    stime_ns: Duration
    read_char: Int
    write_char: Int
    read_bytes: Int
    write_bytes: Int
    minflt: Int
    majflt: Int
    trace: Optional[str] = None


class Variable(NamedTuple):
    """A stored variable of the environment of an image."""
    image: Int
    name: Name
    value: Text
    trace: Optional[str] = None


class Sample(NamedTuple):
    """A look at a living process; resident memory in bytes, and the time of processors so far."""
    process: Int
    t_ns: Point
    rss_bytes: Int
    cpu_ns: Duration
    trace: Optional[str] = None


class File(NamedTuple):
    """A file, whatever its names. Sizes are bytes."""
    id: Int
    path: Text
    dev: Int
    ino: Int
    kind: Name
    fstype: Name
    mount: Name
    size_first: Int
    size_last: Int
    created: Flag
    deleted: Flag
    birth_ns: Point
    mount_id: Int
    trace: Optional[str] = None


class FileName(NamedTuple):
    """A name that a file had."""
    file: Int
    path: Text
    from_ns: Point
    to_ns: Point
    trace: Optional[str] = None


class Operation(NamedTuple):
    """An operation on a file. offset, length and bytes are bytes; result is 0 or more, or -errno."""
    id: Int
    process: Int
    image: Int
    tid: Int
    name: Name
    file: Int
    version: Int
    path: Name
    path2: Name
    file2: Int
    start_ns: Point
    latency_ns: Duration
    result: Int
    offset: Int
    length: Int
    bytes: Int
    via: Name
    handle: Int
    pieces: Int
    layer: Name
    trace: Optional[str] = None


class Call(NamedTuple):
    """A call of a library, or an operation below one. offset, length and bytes are bytes; result is 0 or more, or -errno. rank to
    mpi_call_id are of MPI-IO. calls is more than 1 if they were added up."""
    id: Int
    process: Int
    image: Int
    tid: Int
    layer: Name
    name: Name
    class_: Name
    parent: Int
    fd: Int
    handle: Int
    file: Int
    path: Text
    offset: Int
    length: Int
    bytes: Int
    result: Int
    start_ns: Point
    latency_ns: Duration
    rank: Int
    size: Int
    collective: Int
    mpi_call_id: Int
    calls: Int
    end_ns: Point
    latency_min_ns: Duration
    latency_max_ns: Duration
    trace: Optional[str] = None


class UnseenImage(NamedTuple):
    """A program whose calls of libraries are not seen."""
    image: Int
    process: Int
    program: Name
    trace: Optional[str] = None


class Mapping(NamedTuple):
    """A call that maps a file or changes a mapping; offset and length in bytes."""
    op: Int
    process: Int
    image: Int
    name: Name
    file: Int
    path: Text
    handle: Int
    start_ns: Point
    result: Int
    offset: Int
    length: Int
    protection: Name
    shared: Flag
    trace: Optional[str] = None


class Lock(NamedTuple):
    """A call that locks a file, or asks for its locks; offset and length in bytes."""
    op: Int
    process: Int
    image: Int
    file: Int
    path: Text
    handle: Int
    start_ns: Point
    latency_ns: Duration
    result: Int
    type: Name
    owner: Name
    waits: Flag
    asks: Flag
    offset: Int
    length: Int
    trace: Optional[str] = None


class Handle(NamedTuple):
    """An open of a file; bread and bwrite are bytes."""
    id: Int
    process: Int
    image: Int
    file: Int
    path: Name
    flags: Name
    mode: Name
    fidelity: Name
    open_ns: Point
    close_ns: Point
    nread: Int
    bread: Int
    nwrite: Int
    bwrite: Int
    nseek: Int
    read_ns: Duration
    write_ns: Duration
    sequential_reads: Int
    sequential_writes: Int
    consecutive_reads: Int
    consecutive_writes: Int
    mapped: Flag
    exec: Flag
    trace: Optional[str] = None


class Use(NamedTuple):
    """What an image did through a handle to a version of a file; bread and bwrite are bytes."""
    handle: Int
    process: Int
    image: Int
    file: Int
    version: Int
    nread: Int
    bread: Int
    nwrite: Int
    bwrite: Int
    nseek: Int
    first_read_ns: Point
    last_read_ns: Point
    first_write_ns: Point
    last_write_ns: Point
    read_ns: Duration
    write_ns: Duration
    first_ns: Point
    last_ns: Point
    exec: Flag
    trace: Optional[str] = None


class Access(NamedTuple):
    """What a process did to a version of a file; bread and bwrite are bytes."""
    process: Int
    file: Int
    version: Int
    path: Name
    opens: Int
    nread: Int
    bread: Int
    nwrite: Int
    bwrite: Int
    created: Flag
    truncated: Flag
    renamed: Flag
    unlinked: Flag
    executed: Flag
    mapped: Flag
    assumed: Flag
    assumed_read: Flag
    assumed_write: Flag
    nmeta: Int
    reads: Flag
    writes: Flag
    first_ns: Point
    last_ns: Point
    io_ns: Duration
    first_in_ns: Point
    first_out_ns: Point
    last_out_ns: Point
    emptied: Flag
    trace: Optional[str] = None


class ChannelAccess(NamedTuple):
    """An access; what a process writes to a socket is one to the socket where it arrives."""
    process: Int
    file: Int
    version: Int
    path: Text
    opens: Int
    nread: Int
    bread: Int
    nwrite: Int
    bwrite: Int
    created: Flag
    truncated: Flag
    renamed: Flag
    unlinked: Flag
    executed: Flag
    mapped: Flag
    assumed: Flag
    assumed_read: Flag
    assumed_write: Flag
    nmeta: Int
    reads: Flag
    writes: Flag
    first_ns: Point
    last_ns: Point
    io_ns: Duration
    first_in_ns: Point
    first_out_ns: Point
    last_out_ns: Point
    emptied: Flag
    trace: Optional[str] = None


class Flow(NamedTuple):
    """Data that went through a pipe or a socket from one process to another; bytes are bytes."""
    writer: Int
    reader: Int
    via: Int
    bytes: Int
    first_ns: Point
    last_ns: Point
    assumed: Flag
    path: Text
    trace: Optional[str] = None


class PipeEnd(NamedTuple):
    """What a process wrote to a pipe or socket and read from it, in bytes."""
    file: Int
    version: Int
    process: Int
    bread: Int
    bwrite: Int
    nread: Int
    nwrite: Int
    first_write_ns: Point
    last_read_ns: Point
    divided: Flag
    token: Flag
    trace: Optional[str] = None


class Socket(NamedTuple):
    """The ends of a socket, each time when more of them is known."""
    file: Int
    domain: Name
    type: Name
    local: Text
    remote: Text
    received: Flag
    peer: Int
    time_ns: Point
    trace: Optional[str] = None


class MergedFact(NamedTuple):
    """A fact of one of the traces that were merged, which are numbered in the order of their start."""
    part: Int
    key: Text
    value: Value
    trace: Optional[str] = None


class Clock(NamedTuple):
    """What the clocks of a machine showed at one moment: t_ns by the trace, realtime_ns by the wall clock."""
    part: Int
    t_ns: Point
    realtime_ns: Point
    boot_ns: Point
    synchronized: Flag
    error_ns: Duration
    trace: Optional[str] = None


class Host(NamedTuple):
    """A machine, from one boot to the next; offset_ns was added to the times of its traces."""
    name: Name
    boot_id: Name
    offset_ns: Duration
    uncertainty_ns: Duration
    drift: Real
    synchronized: Flag
    error_ns: Duration
    contradiction_ns: Duration
    traces: Int
    trace: Optional[str] = None


class Doubt(NamedTuple):
    """Two files of merged traces that may be one."""
    reason: Name
    path: Text
    file: Int
    other: Int
    trace: Optional[str] = None


class Start(NamedTuple):
    """A process that one of another merged trace has started, or may have: parent is NULL if that is not known."""
    process: Int
    parent: Int
    part: Int
    reason: Name
    candidates: Int
    trace: Optional[str] = None


class Mount(NamedTuple):
    """A mount of which processes used files; fsid identifies its file system on all machines."""
    id: Int
    fstype: Name
    path: Text
    root: Text
    source: Text
    fsid: Name
    trace: Optional[str] = None


class FileIdentity(NamedTuple):
    """What tells that a file is one that another trace has."""
    file: Int
    host: Name
    boot_id: Name
    system: Name
    place: Text
    dev: Int
    ino: Int
    birth_ns: Point
    fstype: Name
    trace: Optional[str] = None


class MissingName(NamedTuple):
    """A name that a process looked up and that did not exist."""
    process: Int
    path: Text
    count: Int
    first_ns: Point
    trace: Optional[str] = None


class DeviceIo(NamedTuple):
    """What block devices read and wrote of a file, in bytes, and how long that took."""
    file: Int
    path: Text
    process: Int
    name: Name
    operations: Int
    bytes: Int
    completed: Int
    latency_ns: Duration
    first_ns: Point
    last_ns: Point
    trace: Optional[str] = None


class Declared(NamedTuple):
    """A prerequisite that a build declares."""
    key: Text
    directory: Text
    target: Text
    prerequisite: Text
    order_only: Flag
    trace: Optional[str] = None


class Ioprof(NamedTuple):
    """A row of wfprof's ioprof."""
    xform: Name
    pid: Int
    exe: Name
    file: Text
    bread: Int
    nread: Int
    bwrite: Int
    nwrite: Int
    nseek: Int
    mode: Name
    flags: Name
    nlseek: Int
    trace: Optional[str] = None


class Pprof(NamedTuple):
    """A row of wfprof's pprof; tstart, tstop, utime, stime, wtime in seconds, vmpeak, rsspeak in kB."""
    xform: Name
    pid: Int
    ppid: Int
    exe: Name
    lstart: Int
    lstop: Int
    tstart: Real
    tstop: Real
    vmpeak: Int
    rsspeak: Int
    utime: Real
    stime: Real
    wtime: Real
    trace: Optional[str] = None


# By the name of the view.
class Metric(NamedTuple):
    """Operations of a kind that began in an interval; bytes: None if none moved data; latencies: JSON, the least latency of each
    class (ns) to how many are of it."""
    t_ns: Point
    interval_ns: Duration
    fstype: Name
    mount: Name
    operation: Name
    phase: Name
    count: Int
    errors: Int
    bytes: Int
    latency_ns: Duration
    latencies: Text
    trace: Optional[str] = None


class MetricLatency(NamedTuple):
    """How many of them took from bucket_ns to below twice that."""
    t_ns: Point
    interval_ns: Duration
    fstype: Name
    mount: Name
    operation: Name
    phase: Name
    bucket_ns: Duration
    count: Int
    trace: Optional[str] = None


class MetricSize(NamedTuple):
    """How many of them moved from bucket_bytes to below twice that."""
    t_ns: Point
    interval_ns: Duration
    fstype: Name
    mount: Name
    operation: Name
    phase: Name
    bucket_bytes: Int
    count: Int
    trace: Optional[str] = None


class ProcessMetric(NamedTuple):
    """The same for each process. There may be several rows of one kind, which are to be added up. latencies, sizes: JSON, a class of
    powers of two and how many are of it and of each that follows."""
    t_ns: Point
    interval_ns: Duration
    process: Int
    fstype: Name
    mount: Name
    operation: Name
    count: Int
    errors: Int
    bytes: Int
    latency_ns: Duration
    first_ns: Point
    latencies: Text
    sizes: Text
    trace: Optional[str] = None


ROWS: Dict[str, Type[tuple]] = {
    "trace": Fact,
    "process": Process,
    "process_job": ProcessJob,
    "process_step": ProcessStep,
    "process_time": ProcessTime,
    "run": Run,
    "program": Program,
    "image": Image,
    "image_figures": ImageFigures,
    "environ": Variable,
    "sample": Sample,
    "file": File,
    "name": FileName,
    "op": Operation,
    "call": Call,
    "unseen_image": UnseenImage,
    "mapping": Mapping,
    "file_lock": Lock,
    "handle": Handle,
    "use": Use,
    "access": Access,
    "channel_access": ChannelAccess,
    "flow": Flow,
    "pipe_end": PipeEnd,
    "socket": Socket,
    "ghost": MissingName,
    "merged": MergedFact,
    "doubt": Doubt,
    "start": Start,
    "mount": Mount,
    "file_identity": FileIdentity,
    "clock": Clock,
    "host": Host,
    "device_io": DeviceIo,
    "metric": Metric,
    "metric_latency": MetricLatency,
    "metric_size": MetricSize,
    "process_metric": ProcessMetric,
    "declared": Declared,
    "ioprof": Ioprof,
    "pprof": Pprof,
}


def column_of(field: str) -> str:
    """The column of a field: a field cannot have the name of a keyword, and has an underscore behind it."""
    return field[:-1] if field.endswith("_") and keyword.iskeyword(field[:-1]) else field


def columns_of(row: Type[tuple]) -> Tuple[str, ...]:
    """The columns of a class, and trace."""
    return tuple(column_of(field) for field in row._fields)  # type: ignore[attr-defined]
