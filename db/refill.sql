-- SPDX-License-Identifier: MIT
--
-- Runs at the end of the run, before the last sum.sql: stores tables again whose pages are half empty, because their rows came in no
-- order.  The rows of accesses wait in a table of that name in the temporary database, which sum.sql then finds first; finish.sql puts
-- them back.
--
-- SQLite leaves an eighth of each page of a table WITHOUT ROWID empty, even if rows come in their order.  It fills the pages
-- if it copies a whole table with the same columns.

CREATE TEMP TABLE named LIKE names;
INSERT INTO named SELECT * FROM names;
DELETE FROM names;
INSERT INTO names SELECT * FROM named;
DROP TABLE named;

CREATE TEMP TABLE filed LIKE files;
INSERT INTO filed SELECT * FROM files;
DELETE FROM files;
INSERT INTO files SELECT * FROM filed;
DROP TABLE filed;

CREATE TEMP TABLE missing LIKE missing_names;
INSERT INTO missing SELECT * FROM missing_names;
DELETE FROM missing_names;
INSERT INTO missing_names SELECT * FROM missing;
DROP TABLE missing;

CREATE TEMP TABLE accesses LIKE accesses;
INSERT INTO temp.accesses SELECT * FROM main.accesses;
DELETE FROM main.accesses;
