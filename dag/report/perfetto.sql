-- SPDX-License-Identifier: MIT

--- report.operations of op: operations with a latency of at least the given one, for the time line
{with}SELECT o.process, o.tid, o.name, o.path, o.start_ns, o.latency_ns, o.result, o.bytes
FROM {op id process tid name path start_ns latency_ns result bytes | o.latency_ns >= {step}} {joins o}
{where o.start_ns | o.start_ns} ORDER BY o.start_ns, o.id
