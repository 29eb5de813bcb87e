-- SPDX-License-Identifier: MIT

--- layers.calls of op by phase: what programs asked, and what the file system was asked
{with},
source AS (SELECT coalesce((SELECT value FROM trace WHERE key = 'files') = 'kernel', 0) AS sees_calls)
SELECT {keys}, count(*) FILTER (WHERE sees_calls OR o.via IN ('direct', 'copy')) AS calls,
	coalesce(sum(o.bytes) FILTER (WHERE o.name IN ('read', 'recv', 'copy', 'sendfile', 'splice')
		AND (sees_calls OR o.via IN ('direct', 'copy'))), 0) AS calls_read_bytes,
	coalesce(sum(o.bytes) FILTER (WHERE o.name IN ('write', 'send', 'copy', 'sendfile', 'splice')
		AND (sees_calls OR o.via IN ('direct', 'copy'))), 0) AS calls_written_bytes,
	coalesce(sum(o.latency_ns) FILTER (WHERE sees_calls OR o.via IN ('direct', 'copy')), 0) AS calls_ns,
	sum(iif(o.via = 'direct', coalesce(o.pieces, 1), 1)) FILTER (WHERE NOT sees_calls) AS requests,
	coalesce(sum(o.bytes) FILTER (WHERE o.name IN ('read', 'copy') AND NOT sees_calls), 0) AS requests_read_bytes,
	coalesce(sum(o.bytes) FILTER (WHERE o.name IN ('write', 'copy') AND NOT sees_calls), 0) AS requests_written_bytes,
	coalesce(sum(o.latency_ns) FILTER (WHERE NOT sees_calls), 0) AS requests_ns,
	coalesce(sum(o.bytes) FILTER (WHERE o.name IN ('read', 'copy', 'sendfile') AND sees_calls AND f.kind = 'file'), 0) AS file_read_bytes,
	coalesce(sum(o.bytes) FILTER (WHERE o.name IN ('write', 'copy') AND sees_calls AND f.kind = 'file'), 0) AS file_written_bytes
FROM source CROSS JOIN {op name start_ns bytes via latency_ns pieces file} {joins o f}
{where o.start_ns | o.start_ns} GROUP BY {group} ORDER BY min(o.start_ns)

--- layers.device of process by phase: what processes had devices read and write
{with read_bytes write_bytes blkio_delay_ns}
SELECT {keys}, iif(count(*) = count(p.read_bytes), sum(p.read_bytes), NULL) AS read_bytes,
	iif(count(*) = count(p.write_bytes), sum(p.write_bytes), NULL) AS written_bytes,
	iif(count(*) = count(p.blkio_delay_ns), sum(p.blkio_delay_ns), NULL) AS wait_ns
FROM proc p GROUP BY {group} ORDER BY min(p.start_ns), min(p.id)
