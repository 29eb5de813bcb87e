-- SPDX-License-Identifier: MIT

--- scan of op by all: each operation, for all tables of operations; writes: 0 or 1 for reads and writes that did not fail
{with}SELECT {keys}, o.name, o.latency_ns, o.result < 0 AS failed,
	CASE WHEN o.result >= 0 THEN CASE o.name WHEN 'read' THEN 0 WHEN 'write' THEN 1 END END AS writes,
	o.handle, o.offset, o.bytes, (o.start_ns - {t0}) / {step} AS n, {order_of o.id} AS place
FROM {op id name latency_ns result handle offset bytes start_ns} {joins o}
{where o.start_ns | o.start_ns}
