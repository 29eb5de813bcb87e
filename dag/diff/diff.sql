-- SPDX-License-Identifier: MIT

--- graph.root of none: the directory in which the first program was started
SELECT i.cwd FROM image i, (SELECT value AS t0 FROM trace WHERE key = 'start_ns')
WHERE i.seq > 0 AND i.cwd IS NOT NULL AND i.start_ns >= t0 ORDER BY i.start_ns, i.id LIMIT 1
