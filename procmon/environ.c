/* SPDX-License-Identifier: MIT */
#include "procmon/environ.h"

#include <fnmatch.h>
#include <string.h>

/*
 * Single names instead of a pattern where a family includes secrets: SLURM_JWT, the storage
 * passwords among SNAKEMAKE_*, the credential paths among _CONDOR_*.
 */
static const char *const allowed[] = {
	/* Pegasus */
	"PEGASUS_*",
	/* HTCondor */
	"CONDOR_JOB*", "_CONDOR_JOB_*", "_CONDOR_SCRATCH_DIR", "_CONDOR_SLOT*",
	/* Slurm */
	"SLURM_ARRAY_*", "SLURM_CLUSTER_NAME", "SLURM_JOBID", "SLURM_JOB_*", "SLURM_LOCALID",
	"SLURM_NODEID", "SLURM_PROCID", "SLURM_STEP*",
	/* PBS */
	"PBS_ARRAY*", "PBS_JOBID", "PBS_JOBNAME", "PBS_QUEUE", "PBS_TASKNUM",
	/* Grid Engine */
	"JOB_ID", "JOB_NAME", "SGE_TASK_*",
	/* LSF */
	"LSB_JOBID", "LSB_JOBINDEX", "LSB_JOBNAME", "LSB_QUEUE",
	/* Snakemake, Nextflow, Makeflow, make */
	"SNAKEMAKE_JOB*", "SNAKEMAKE_RULE*", "NXF_BOXID", "NXF_CHDIR", "NXF_TASK_*",
	"MAKEFLOW_*", "MAKELEVEL",
	/* the ranks of MPI: Open MPI; PMIx; MPICH and Intel MPI */
	"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK",
	/* our own */
	"FTRAC_*",
	NULL
};

/* Whether a pattern that begins with c may match names that begin with another character. */
static bool is_wild(char c)
{
	return c == '*' || c == '?' || c == '[' || c == '\\';
}

static bool matches(const char *pattern, const char *name)
{
	/* Most names differ in the first letter: this is thirty times cheaper than fnmatch. */
	if (pattern[0] != name[0] && !is_wild(pattern[0]))
		return false;
	return fnmatch(pattern, name, 0) == 0;
}

static bool any_matches(const char *const *patterns, const char *name)
{
	for (; patterns && *patterns; patterns++)
		if (matches(*patterns, name))
			return true;
	return false;
}

bool environ_allowed(const char *name, const char *const *more)
{
	/* Each process has this one, which names the run. */
	return (any_matches(allowed, name) && strcmp(name, "FTRAC_RUN") != 0) || any_matches(more, name);
}

/* variable ends with NUL; it is changed and restored. */
static bool variable_allowed(char *variable, const char *const *more)
{
	char *equals = strchr(variable, '=');
	bool yes;

	if (!equals)
		return false;
	*equals = '\0';
	yes = environ_allowed(variable, more);
	*equals = '=';
	return yes;
}

size_t environ_filter(char *vars, size_t len, const char *const *more)
{
	size_t kept = 0;

	for (size_t at = 0, size; at < len; at += size) {
		char *end = memchr(vars + at, '\0', len - at);

		if (!end)
			break;
		size = end + 1 - (vars + at);
		if (!variable_allowed(vars + at, more))
			continue;
		memmove(vars + kept, vars + at, size);
		kept += size;
	}
	return kept;
}
