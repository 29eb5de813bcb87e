-- SPDX-License-Identifier: MIT
--
-- Made when the run has ended: while it goes on it would cost every batch.  What is worked out here is
-- what the views would work out anew each time they are asked.

INSERT INTO jobs SELECT process, job, xform, phase, lstart, lstop FROM process_job;
DROP VIEW process_job;
CREATE VIEW process_job AS SELECT * FROM jobs;

INSERT INTO accesses SELECT * FROM access_rows ORDER BY file, process, version;
DROP VIEW access_rows;
CREATE VIEW access_rows AS SELECT * FROM accesses;
DELETE FROM touches;

CREATE INDEX samples_process ON samples (process, t);
CREATE INDEX names_file ON names (file);
CREATE INDEX handles_file ON handles (file);
CREATE INDEX uses_handle ON uses (handle);
CREATE INDEX ops_handle_handle ON ops_handle (handle);
CREATE INDEX ops_name_file ON ops_name (file);
