-- SPDX-License-Identifier: MIT

--- any-op of none: are there single operations?
SELECT EXISTS (SELECT 1 FROM op) AS has_ops

--- images of image by command: the keys of each image, for operations that have its id in their place
{with}SELECT {keys}, m.image FROM (SELECT id AS image, process, NULL AS file FROM image) m {joins m}
