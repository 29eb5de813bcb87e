-- SPDX-License-Identifier: MIT

--- report.clocks of none: what the clocks of machines showed, by the times of merged traces, which have been corrected
WITH part AS MATERIALIZED (SELECT part, max(iif(key = 'host', value, NULL)) AS host, max(iif(key = 'boot_id', value, NULL)) AS boot_id
	FROM merged WHERE key IN ('host', 'boot_id') GROUP BY part)
SELECT p.host, c.t_ns + h.offset_ns AS t_ns, c.realtime_ns, c.boot_ns, h.offset_ns, h.uncertainty_ns
FROM clock c JOIN part p ON p.part = c.part JOIN host h ON h.name IS p.host AND h.boot_id IS p.boot_id ORDER BY 2, 1

--- report.operations of op: operations with a latency of at least the given one, for the time line
{with}SELECT o.process, o.tid, o.name, o.path, o.start_ns, o.latency_ns, o.result, o.bytes
FROM {op id process tid name path start_ns latency_ns result bytes | o.latency_ns >= {step}} {joins o}
{where o.start_ns | o.start_ns} ORDER BY o.start_ns, o.id
