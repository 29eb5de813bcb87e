-- SPDX-License-Identifier: MIT

--- any-op of none: are there single operations?
SELECT EXISTS (SELECT 1 FROM op) AS has_ops
