-- SPDX-License-Identifier: MIT

--- slowest of call by process: the 100 calls of libraries that took longest, and what they became
{with},
{part fragments}
SELECT o.latency_ns, o.layer, o.name AS call, o.rank, {keys}, coalesce((SELECT path FROM file WHERE id = o.file), o.path) AS path, o.offset,
	o.length AS asked_bytes, o.bytes AS moved_bytes, p_.lib_calls, p_.lib_bytes AS lib_moved_bytes, p_.lib_latency_ns, p_.operations,
	p_.operation_bytes AS operations_moved_bytes, p_.operation_latency_ns, o.start_ns, o.mpi_call_id
FROM made o JOIN pieces p_ ON p_.id = o.id AND o.calls = 1 AND o.latency_ns NOTNULL {joins o}
{where o.start_ns | o.start_ns}
ORDER BY o.latency_ns DESC, o.start_ns, o.id LIMIT 100
