-- SPDX-License-Identifier: MIT
-- Made when the run has ended: while it goes on they would cost every batch.
CREATE INDEX samples_process ON samples (process, t);
CREATE INDEX names_file ON names (file);
CREATE INDEX handles_file ON handles (file);
CREATE INDEX uses_handle ON uses (handle);
CREATE INDEX ops_handle_handle ON ops_handle (handle);
CREATE INDEX ops_name_file ON ops_name (file);
