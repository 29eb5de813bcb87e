-- SPDX-License-Identifier: MIT

--- pattern of op by command: reads and writes, in their order on each handle
{with}SELECT {keys}, o.name = 'write' AS writes, o.handle, o.offset, o.bytes
FROM {op id name handle offset bytes | o.name IN ('read', 'write') AND o.result >= 0} {joins o}
{where o.start_ns | o.start_ns} {order o.id}

--- pattern.handles of image by command: the counts of reads and writes of the handles
{with}SELECT {keys}, sum(h.nread) AS reads, sum(h.bread) AS read_bytes,
	sum(h.consecutive_reads) AS consecutive_reads, sum(h.sequential_reads) AS sequential_reads,
	sum(h.nwrite) AS writes, sum(h.bwrite) AS written_bytes,
	sum(h.consecutive_writes) AS consecutive_writes, sum(h.sequential_writes) AS sequential_writes
FROM handle h {joins h}
{where h.open_ns | coalesce(h.close_ns, h.open_ns)} GROUP BY {group} ORDER BY min(h.open_ns)
