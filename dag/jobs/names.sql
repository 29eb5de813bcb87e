-- SPDX-License-Identifier: MIT

--- generate.names of none: what was done to names, in that order: 0 looked at, 2 dated, 3 changed, 4 made, 5 removed
-- A name that was looked for and not found has no file.
SELECT process, path, file, version, did, end_ns
FROM (SELECT id, process, path, iif(result = -2, NULL, file) AS file, version, start_ns + latency_ns AS end_ns,
		CASE WHEN result < 0 OR name = 'link' THEN 0 WHEN name IN ('mkdir', 'mknod', 'symlink') THEN 4
			WHEN name IN ('unlink', 'rmdir', 'rename') THEN 5
			WHEN name = 'utimens' THEN 2
			WHEN name IN ('chmod', 'chown', 'setxattr', 'removexattr') THEN 3 ELSE 0 END AS did
	FROM name_op
	UNION ALL SELECT id, process, path2, file, version, start_ns + latency_ns, 4 FROM name_op
	WHERE name IN ('rename', 'link') AND result >= 0)
WHERE process IS NOT NULL AND path IS NOT NULL ORDER BY id, did DESC

--- generate.handles of none: what was opened
SELECT h.id, h.process, h.path, h.file, h.flags, h.mode IS NOT NULL AS created, h.open_ns, f.kind = 'dir' AS directory
FROM handle h LEFT JOIN file f ON f.id = h.file WHERE h.process IS NOT NULL AND h.path IS NOT NULL ORDER BY h.id

--- generate.uses of none: which process read and wrote through which handle
SELECT handle, process, first_read_ns, first_write_ns FROM use WHERE process IS NOT NULL ORDER BY handle
