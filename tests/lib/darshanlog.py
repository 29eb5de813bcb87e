# SPDX-License-Identifier: MIT
"""A reader of Darshan's logs, format 3.41, by struct and zlib alone, and one of what darshan-parser prints of them."""
import collections
import struct
import zlib

MODULES = {1: "POSIX", 2: "MPI-IO", 9: "STDIO", 10: "DXT_POSIX", 11: "DXT_MPIIO"}
VERSIONS = {"POSIX": 4, "MPI-IO": 3, "STDIO": 2, "DXT_POSIX": 1, "DXT_MPIIO": 2}
CLASSES = "0_100 100_1K 1K_10K 10K_100K 100K_1M 1M_4M 4M_10M 10M_100M 100M_1G 1G_PLUS".split()
RANKS = ["FASTEST_RANK", "FASTEST_RANK_BYTES", "SLOWEST_RANK", "SLOWEST_RANK_BYTES"]
F_RANKS = ["F_FASTEST_RANK_TIME", "F_SLOWEST_RANK_TIME", "F_VARIANCE_RANK_TIME", "F_VARIANCE_RANK_BYTES"]


def classes(kind):
    return [f"SIZE_{kind}_{size}" for size in CLASSES]


def frequent(kind, value):
    return [f"{kind}{n}_{value}" for n in (1, 2, 3, 4)] + [f"{kind}{n}_COUNT" for n in (1, 2, 3, 4)]


def stamps(kinds, end):
    return [f"F_{kind}_{end}_TIMESTAMP" for kind in kinds.split()]


# Of each module: the counters, then those that are real numbers.
COUNTERS = {
    "POSIX": (["OPENS", "FILENOS", "DUPS", "READS", "WRITES", "SEEKS", "STATS", "MMAPS", "FSYNCS", "FDSYNCS", "RENAME_SOURCES",
               "RENAME_TARGETS", "RENAMED_FROM", "MODE", "BYTES_READ", "BYTES_WRITTEN", "MAX_BYTE_READ", "MAX_BYTE_WRITTEN",
               "CONSEC_READS", "CONSEC_WRITES", "SEQ_READS", "SEQ_WRITES", "RW_SWITCHES", "MEM_NOT_ALIGNED", "MEM_ALIGNMENT",
               "FILE_NOT_ALIGNED", "FILE_ALIGNMENT", "MAX_READ_TIME_SIZE", "MAX_WRITE_TIME_SIZE", *classes("READ"), *classes("WRITE"),
               *frequent("STRIDE", "STRIDE"), *frequent("ACCESS", "ACCESS"), *RANKS],
              [*stamps("OPEN READ WRITE CLOSE", "START"), *stamps("OPEN READ WRITE CLOSE", "END"), "F_READ_TIME", "F_WRITE_TIME",
               "F_META_TIME", "F_MAX_READ_TIME", "F_MAX_WRITE_TIME", *F_RANKS]),
    "MPI-IO": (["INDEP_OPENS", "COLL_OPENS", "INDEP_READS", "INDEP_WRITES", "COLL_READS", "COLL_WRITES", "SPLIT_READS", "SPLIT_WRITES",
                "NB_READS", "NB_WRITES", "SYNCS", "HINTS", "VIEWS", "MODE", "BYTES_READ", "BYTES_WRITTEN", "RW_SWITCHES",
                "MAX_READ_TIME_SIZE", "MAX_WRITE_TIME_SIZE", *classes("READ_AGG"), *classes("WRITE_AGG"), *frequent("ACCESS", "ACCESS"),
                *RANKS],
               [*stamps("OPEN READ WRITE CLOSE", "START"), *stamps("OPEN READ WRITE CLOSE", "END"), "F_READ_TIME", "F_WRITE_TIME",
                "F_META_TIME", "F_MAX_READ_TIME", "F_MAX_WRITE_TIME", *F_RANKS]),
    "STDIO": (["OPENS", "FDOPENS", "READS", "WRITES", "SEEKS", "FLUSHES", "BYTES_WRITTEN", "BYTES_READ", "MAX_BYTE_READ",
               "MAX_BYTE_WRITTEN", *RANKS],
              ["F_META_TIME", "F_WRITE_TIME", "F_READ_TIME", *stamps("OPEN CLOSE WRITE READ", "START"),
               *stamps("OPEN CLOSE WRITE READ", "END"), *F_RANKS]),
}


class Log:
    """.job, .metadata, .exe, .mounts; .names: ids -> names; .records: module -> {(name, rank): {counter: value}}, or of the DXT modules
    (host, writes, reads), each a list of (offset, length, start, end)."""

    def __init__(self, data):
        version, magic, compression, self.partial, *names = struct.unpack_from("<8sqB7xQ2Q", data)
        if version.rstrip(b"\0") != b"3.41" or magic != 6567223 or compression != 0:
            raise ValueError(f"no log: {version} {magic} {compression}")
        regions = [struct.unpack_from("<2Q", data, 48 + 16 * n) for n in range(64)]
        self.versions = struct.unpack_from("<64I", data, 48 + 16 * 64)
        # A reader takes what lies before the names, or before the first module, for the job.
        places = sorted((offset, length) for offset, length in [tuple(names), *regions] if length)
        end = places[0][0]
        if any(a + n != b for (a, n), (b, _) in zip(places, places[1:])) or sum(places[-1]) != len(data):
            raise ValueError("regions do not lie one behind the other")
        self._job(self._region(data, 1328, end - 1328))
        self.names = dict(self._names(self._region(data, *names)))
        self.records = {}
        for n, (offset, length) in enumerate(regions):
            if not length:
                continue
            name = MODULES[n]
            if self.versions[n] != VERSIONS[name]:
                raise ValueError(f"{name} of version {self.versions[n]}")
            read = self._traces if name.startswith("DXT") else self._counters
            self.records[name] = dict(read(name, self._region(data, offset, length)))

    @staticmethod
    def _region(data, offset, length):
        stream = zlib.decompressobj()
        text = stream.decompress(data[offset:offset + length])
        if not stream.eof or stream.unused_data:
            raise ValueError("a region is no single stream")
        return text

    def _job(self, data):
        keys = "uid start_s start_ns end_s end_ns nprocs jobid".split()
        self.job = dict(zip(keys, struct.unpack_from("<7q", data)))
        lines = data[56:1080].split(b"\0")[0].decode().splitlines()
        self.metadata = dict(line.split("=", 1) for line in lines)
        if not 1080 < len(data) < 4096 or not data.endswith(b"\0"):
            raise ValueError(f"{len(data)} bytes of the job")
        self.exe, *mounts = data[1080:].split(b"\0")[0].split(b"\n")
        self.mounts = [tuple(line.split(b"\t")) for line in mounts]

    @staticmethod
    def _names(data):
        at = 0
        while at < len(data):
            end = data.index(b"\0", at + 8)
            yield struct.unpack_from("<Q", data, at)[0], data[at + 8:end]
            at = end + 1

    def _counters(self, module, data):
        integers, reals = COUNTERS[module]
        layout = struct.Struct(f"<Qq{len(integers)}q{len(reals)}d")
        for record, rank, *values in layout.iter_unpack(data):
            yield (self.names[record], rank), dict(zip(integers + reals, values))

    def _traces(self, _, data):
        at = 0
        while at < len(data):
            record, rank, shared, host, writes, reads = struct.unpack_from("<Qqq64sqq", data, at)
            if shared:
                raise ValueError("a shared record")
            at += 104
            segments = list(struct.iter_unpack("<qqdd", data[at:at + 32 * (writes + reads)]))
            at += 32 * (writes + reads)
            yield (self.names[record], rank), (host.rstrip(b"\0"), segments[:writes], segments[writes:])


def of_parser(text):
    """What darshan-parser prints: {module: {(name, rank): {counter: text}}}."""
    records = collections.defaultdict(lambda: collections.defaultdict(dict))
    for line in text.splitlines():
        if line and not line.startswith("#"):
            module, rank, _, counter, value, name, *_ = line.split("\t")
            records[module][name.encode(), int(rank)][counter.split("_", 1)[1]] = value
    return records
