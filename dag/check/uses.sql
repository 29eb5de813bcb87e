-- SPDX-License-Identifier: MIT

--- check.files of none: files, and all names that they had; memory files have none
SELECT f.id, n.path, f.kind, f.size_last
FROM file f JOIN (SELECT id AS file, path FROM file UNION SELECT file, path FROM name) n ON n.file = f.id
WHERE substr(n.path, 1, 1) IN ('/', x'2f') ORDER BY f.id, n.path

--- check.ghosts of none: names that were looked for and not there
SELECT process, path, first_ns FROM ghost WHERE process IS NOT NULL AND path IS NOT NULL
