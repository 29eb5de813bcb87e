-- SPDX-License-Identifier: MIT

--- layers.calls of op by phase: what programs asked, and what the file system was asked
{with}
SELECT {keys}, count(*) FILTER (WHERE is_call) AS calls,
	coalesce(sum(o.bytes) FILTER (WHERE is_call AND o.name IN ('read', 'recv', 'copy', 'sendfile', 'splice')), 0) AS calls_read_bytes,
	coalesce(sum(o.bytes) FILTER (WHERE is_call AND o.name IN ('write', 'send', 'copy', 'sendfile', 'splice')), 0)
		AS calls_written_bytes,
	coalesce(sum(o.latency_ns) FILTER (WHERE is_call), 0) AS calls_ns,
	sum(iif(o.via = 'direct', coalesce(o.pieces, 1), 1)) FILTER (WHERE o.layer = 'request') AS requests,
	coalesce(sum(o.bytes) FILTER (WHERE o.layer = 'request' AND o.name IN ('read', 'copy')), 0) AS requests_read_bytes,
	coalesce(sum(o.bytes) FILTER (WHERE o.layer = 'request' AND o.name IN ('write', 'copy')), 0) AS requests_written_bytes,
	coalesce(sum(o.latency_ns) FILTER (WHERE o.layer = 'request'), 0) AS requests_ns
FROM (SELECT *, layer = 'call' OR coalesce(via IN ('direct', 'copy'), 0) AS is_call
	FROM {op name start_ns bytes via latency_ns pieces layer}) o {joins o}
{where o.start_ns | o.start_ns} GROUP BY {group} ORDER BY min(o.start_ns)

--- layers.device of process by phase: what processes had devices read and write, and what the page cache kept from these
{with read_bytes write_bytes blkio_delay_ns},
source AS (SELECT coalesce((SELECT value FROM trace WHERE key = 'files') = 'kernel', 0) AS sees_calls,
	(SELECT value FROM trace WHERE key = 'command') IS NULL AS may_be_older),
{part asked},
moved AS MATERIALIZED (SELECT process, sum(read_bytes) AS read_bytes, sum(write_bytes) AS write_bytes FROM asked GROUP BY 1),
-- Of a process that is older than the record, more is counted than the record has.
did AS MATERIALIZED (SELECT p.id, iif(may_be_older AND p.start_ns < {t0}, NULL, p.read_bytes) AS read_bytes,
	iif(may_be_older AND p.start_ns < {t0}, NULL, p.write_bytes) AS write_bytes,
	iif(may_be_older AND p.start_ns < {t0}, NULL, p.blkio_delay_ns) AS wait_ns,
	iif(sees_calls, coalesce(m.read_bytes, 0), NULL) AS asked_read, iif(sees_calls, coalesce(m.write_bytes, 0), NULL) AS asked_written
	FROM source CROSS JOIN proc p LEFT JOIN moved m ON m.process = p.id)
SELECT {keys}, NULL AS operations, iif(count(*) = count(d.read_bytes), sum(d.read_bytes), NULL) AS read_bytes,
	iif(count(*) = count(d.write_bytes), sum(d.write_bytes), NULL) AS written_bytes,
	iif(count(*) = count(d.wait_ns), sum(d.wait_ns), NULL) AS wait_ns,
	iif(count(*) = count(d.read_bytes), sum(max(0, d.asked_read - d.read_bytes)), NULL) AS cached_read_bytes,
	iif(count(*) = count(d.write_bytes), sum(max(0, d.asked_written - d.write_bytes)), NULL) AS cached_written_bytes,
	iif(count(*) = count(d.read_bytes), sum(max(0, d.read_bytes - d.asked_read)), NULL) AS ahead_bytes
FROM proc p JOIN did d ON d.id = p.id GROUP BY {group} ORDER BY min(p.start_ns), min(p.id)

--- layers.disk of use by all: what devices read and wrote of files
{with}
SELECT {keys}, sum(d.operations) AS operations, coalesce(sum(d.bytes) FILTER (WHERE d.name = 'read'), 0) AS read_bytes,
	coalesce(sum(d.bytes) FILTER (WHERE d.name = 'write'), 0) AS written_bytes, sum(d.latency_ns) AS wait_ns,
	NULL AS cached_read_bytes, NULL AS cached_written_bytes, NULL AS ahead_bytes
FROM device_io d {joins d} {where d.first_ns | d.last_ns} GROUP BY {group} ORDER BY min(d.first_ns)

--- layers.kept of use by all: what the page cache kept from devices, of files
{with},
{part asked},
moved AS MATERIALIZED (SELECT file, sum(read_bytes) AS read_bytes, sum(write_bytes) AS write_bytes FROM asked GROUP BY 1),
done AS MATERIALIZED (SELECT file, coalesce(sum(bytes) FILTER (WHERE name = 'read'), 0) AS read_bytes,
	coalesce(sum(bytes) FILTER (WHERE name = 'write'), 0) AS write_bytes FROM device_io GROUP BY 1),
kept AS (SELECT f.id AS file, NULL AS process, max(0, coalesce(a.read_bytes, 0) - coalesce(d.read_bytes, 0)) AS cached_read,
	max(0, coalesce(a.write_bytes, 0) - coalesce(d.write_bytes, 0)) AS cached_written,
	max(0, coalesce(d.read_bytes, 0) - coalesce(a.read_bytes, 0)) AS ahead
	FROM file f LEFT JOIN moved a ON a.file = f.id LEFT JOIN done d ON d.file = f.id
	WHERE f.kind = 'file' AND (a.file NOTNULL OR d.file NOTNULL))
SELECT {keys}, NULL AS operations, NULL AS read_bytes, NULL AS written_bytes, NULL AS wait_ns, sum(k.cached_read) AS cached_read_bytes,
	sum(k.cached_written) AS cached_written_bytes, sum(k.ahead) AS ahead_bytes
FROM kept k {joins k} {where 0 | 0} GROUP BY {group} ORDER BY min(k.file)

--- layers.knows of none: does the record have what devices did for files?
SELECT value AS knows FROM trace WHERE key = 'device_io' AND value
