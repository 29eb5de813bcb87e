-- SPDX-License-Identifier: MIT

--- values.latency of op by operation: latency of each operation
{with}SELECT {keys}, o.latency_ns AS value_ns FROM {op name latency_ns} {joins o}
{where o.start_ns | o.start_ns}

--- values.read-size of op by command: size of each read
{with}SELECT {keys}, o.bytes AS value_bytes
FROM {op name bytes | o.name = 'read' AND o.bytes IS NOT NULL} {joins o}
{where o.start_ns | o.start_ns}

--- values.write-size of op by command: size of each write
{with}SELECT {keys}, o.bytes AS value_bytes
FROM {op name bytes | o.name = 'write' AND o.bytes IS NOT NULL} {joins o}
{where o.start_ns | o.start_ns}

--- values.bytes-read of use by phase: bytes that each process read
{with}SELECT {keys}, CASE WHEN count(*) = count(u.bread) THEN sum(u.bread) END AS value_bytes
FROM access u {joins u}
{where u.first_ns | u.last_ns} GROUP BY {group}, u.process ORDER BY min(u.first_ns)

--- values.bytes-written of use by phase: bytes that each process wrote
{with}SELECT {keys}, CASE WHEN count(*) = count(u.bwrite) THEN sum(u.bwrite) END AS value_bytes
FROM access u {joins u}
{where u.first_ns | u.last_ns} GROUP BY {group}, u.process ORDER BY min(u.first_ns)

--- values.lifetime of process by phase: life of each process
{with end_ns}SELECT {keys}, p.end_ns - p.start_ns AS value_ns FROM proc p ORDER BY p.start_ns, p.id

--- values.rss of process by phase: peak resident memory of each process
{with rsspeak_bytes}SELECT {keys}, p.rsspeak_bytes AS value_bytes FROM proc p ORDER BY p.start_ns, p.id

--- values.file-size of use by all: size of each file
{with}SELECT {keys}, max(coalesce(f.size_last, f.size_first)) AS value_bytes
FROM access a {joins a f}
WHERE f.kind = 'file' {and a.first_ns | a.last_ns} GROUP BY {group}, a.file ORDER BY min(a.first_ns)
