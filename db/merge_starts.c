/* SPDX-License-Identifier: MIT */
#include "db/merge_starts.h"

#include <stddef.h>

#include "db/sql.h"

/* Programs as their comm has them, which is the name by which they were called.  A fact that both runs share is from before the first one. */
const char merge_starts_wanted_sql[] =
	"CREATE TEMP TABLE launcher (key, program);"
	"INSERT INTO temp.launcher VALUES ('slurm_step_id', 'srun'), ('slurm_job_id', 'srun'), ('slurm_job_id', 'sbatch'), ('slurm_job_id', 'salloc'),"
	"  ('ssh_client', 'ssh'), ('ssh_client', 'pdsh'), ('pmix_namespace', 'mpirun*'), ('pmix_namespace', 'mpiexec*'), ('pmix_namespace', 'orterun'),"
	"  ('pmix_namespace', 'prterun'), ('pmix_namespace', 'prun'), ('pmix_namespace', 'srun'), ('pmi_rank', 'mpirun*'), ('pmi_rank', 'mpiexec*'),"
	"  ('pmi_rank', 'srun');"
	"CREATE TEMP TABLE wanted AS WITH pair AS (SELECT s.part AS x, n.part AS r FROM part_facts s JOIN part_facts n ON n.value = s.value"
	"    WHERE s.key = 'started_in' AND n.key = 'run' AND n.part <> s.part)"
	"  SELECT x, r, NULL AS program FROM pair UNION SELECT x, r, l.program FROM pair JOIN part_facts v ON v.part = x JOIN temp.launcher l ON l.key = v.key"
	"    WHERE v.value NOTNULL AND v.value IS NOT (SELECT value FROM part_facts w WHERE w.part = r AND w.key = l.key);";

int merge_starts(sqlite3 *sqlite)
{
	int r = sqlite3_exec(sqlite, merge_starts_wanted_sql, NULL, NULL, NULL);

	return r == SQLITE_OK ? sqlite3_exec(sqlite, sql_starts, NULL, NULL, NULL) : r;
}
