-- SPDX-License-Identifier: MIT

--- sums.fit of none: the sums of operations in intervals: what they are of
SELECT sum(count) AS operations, (SELECT value FROM trace WHERE key = 'ops_recorded') AS recorded,
	min(interval_ns) AS least_ns, max(interval_ns) AS most_ns, max((t_ns - {t0}) % interval_ns <> 0) AS is_shifted,
	min(first_ns) - {t0} AS first_ns
FROM process_metric
