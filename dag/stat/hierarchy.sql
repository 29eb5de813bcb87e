-- SPDX-License-Identifier: MIT

--- hierarchy of call by command: calls of libraries, and what they became on the layers below
{with},
{part fragments},
-- A collective call takes as long as the longest of its parts, and is as fast as all of them together.
row AS (SELECT o.layer, o.name AS call, {keys}, coalesce(o.mpi_call_id, o.id) AS whole, o.collective, o.length, o.bytes, o.latency_ns,
		o.start_ns, o.calls, o.latency_max_ns, p_.lib_calls, p_.lib_bytes, p_.lib_latency_ns, p_.operations, p_.operation_bytes, p_.operation_latency_ns
	FROM made o JOIN pieces p_ ON p_.id = o.id {joins o}
	{where o.start_ns | o.start_ns}),
one AS (SELECT layer, call, {names}, sum(calls) AS calls, max(collective) AS collective,
		-- In two parts: a program may ask for as much as a number can be.
		sum(length >> 20) AS length, sum(length & 1048575) AS length_rest, sum(bytes) AS bytes,
		sum(lib_calls) AS lib_calls, sum(lib_bytes) AS lib_bytes, sum(operations) AS operations, sum(operation_bytes) AS operation_bytes,
		max(latency_max_ns) AS latency_ns, iif(max(collective), max(latency_ns), sum(latency_ns)) AS spent_ns, max(lib_latency_ns) AS lib_latency_ns,
		max(operation_latency_ns) AS operation_latency_ns, sum(1e9 * bytes / nullif(latency_ns, 0)) AS rate, min(start_ns) AS start_ns
	FROM row GROUP BY layer, call, {names}, whole)
SELECT layer, call, {names}, sum(calls) AS calls, iif(max(collective), count(*), NULL) AS collective_calls, iif(sum(length) > (1 << 41), 1 << 61,
	(sum(length) << 20) + sum(length_rest)) AS asked_bytes,
	sum(bytes) AS moved_bytes, sum(lib_calls) AS lib_calls, sum(lib_bytes) AS lib_moved_bytes, sum(operations) AS operations,
	sum(operation_bytes) AS operations_moved_bytes, max(latency_ns) AS latency_ns, max(lib_latency_ns) AS lib_latency_ns,
	max(operation_latency_ns) AS operation_latency_ns, CAST(round(sum(rate * iif(collective, 1, calls)) /
		nullif(sum(iif(rate IS NULL, 0, iif(collective, 1, calls))), 0)) AS INTEGER) AS moved_rate
FROM one GROUP BY layer, call, {names} ORDER BY layer DESC, sum(spent_ns) DESC, min(start_ns)
