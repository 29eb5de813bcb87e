-- SPDX-License-Identifier: MIT

--- flow of process: data from process to process through pipes and sockets; one of both is chosen
{with program}SELECT l.writer, (SELECT program FROM process WHERE id = l.writer) AS writer_program,
	l.reader, (SELECT program FROM process WHERE id = l.reader) AS reader_program, coalesce(n.name, l.path) AS path, l.bytes,
	l.first_ns, l.last_ns, l.assumed
FROM flow l LEFT JOIN socket_name n ON n.file = l.via
WHERE (l.writer IN (SELECT id FROM proc) OR l.reader IN (SELECT id FROM proc)) {and_time l.first_ns | l.last_ns}
ORDER BY l.first_ns, l.writer, l.reader, l.via
