/* SPDX-License-Identifier: MIT */
#include "dag/redact/vocabulary.h"

#include <stdlib.h>
#include <string.h>

/* In byte order. */
static const char *const names[] = {
	"FTRAC_CALLS", "FTRAC_JOB", "FTRAC_TARGET", "GMfifo", "HOME", "HOSTNAME", "JOB_ID", "JOB_NAME", "LANG", "LC_ALL",
	"LD_LIBRARY_PATH", "LD_PRELOAD", "LOGNAME", "LSB_JOBID", "LSB_JOBINDEX", "LSB_JOBNAME", "LSB_QUEUE", "MAKEFLAGS",
	"MAKELEVEL", "MFLAGS", "OLDPWD", "OMPI_COMM_WORLD_RANK", "OMP_NUM_THREADS", "PATH", "PBS_JOBID", "PBS_JOBNAME",
	"PBS_QUEUE", "PBS_TASKNUM", "PEGASUS_DAG_JOB_ID", "PMIX_RANK", "PMI_RANK", "PWD", "PYTHONPATH", "R", "Rscript",
	"SGE_TASK_ID", "SHELL", "SHLVL", "SLURM_ARRAY_JOB_ID", "SLURM_ARRAY_TASK_ID", "SLURM_CLUSTER_NAME", "SLURM_JOBID",
	"SLURM_JOB_ID", "SLURM_JOB_NAME", "SLURM_LOCALID", "SLURM_NODEID", "SLURM_PROCID", "SLURM_STEP_ID", "TERM", "TMPDIR",
	"USER", "__pycache__", "aarch64", "amd64", "anon_hugepage", "anon_inode", "aprun", "ar", "as", "ash", "awk",
	"basename", "bash", "bfd", "bin", "build", "busybox", "bzip2", "cache", "cached", "call", "cat", "cc", "cc1",
	"cc1obj", "cc1plus", "cgroup", "chgrp", "chmod", "chown", "clang", "class", "cmp", "collect2", "command",
	"condor_dagman", "conf", "console", "cp", "cpp", "csh", "csv", "cu", "cut", "cxx", "dash", "date", "db", "dd",
	"deleted", "dev", "diff", "dirname", "echo", "egrep", "env", "etc", "eventfd", "eventpoll", "exact", "expr", "f951",
	"false", "fanotify", "fd", "fgrep", "fidelity", "files", "find", "fish", "ftrac", "full", "gawk", "gcc", "gfortran",
	"git", "gmake", "gnu", "gold", "grep", "gz", "gzip", "head", "hh", "home", "hostname", "hpp", "html", "hxx", "hydra",
	"i686", "ibrun", "id", "include", "inode", "inotify", "install", "io_uring", "ipynb_checkpoints", "jar", "java",
	"javac", "job", "json", "kernel", "ksh", "la", "ld", "ldd", "lib", "lib32", "lib64", "libc", "libx32", "linux", "lld",
	"ln", "local", "log", "ls", "lto", "lto1", "lua", "make", "makeflow", "maps", "mawk", "memfd", "mkdir", "mksh",
	"mktemp", "mount", "mounts", "mpiexec", "mpirun", "mv", "nextflow", "nice", "ninja", "nix", "nm", "node", "nodejs",
	"nohup", "null", "objcopy", "ompi", "open", "openmpi", "opt", "orterun", "output", "parallel", "perl", "php", "pipe",
	"pl", "preload", "printf", "proc", "processes", "procmon", "prte", "prterun", "ptmx", "pts", "pwd", "py", "pypy",
	"python", "random", "rank", "ranlib", "rb", "readlink", "realpath", "rm", "rmdir", "root", "rs", "ruby", "run",
	"rustc", "samu", "sbin", "scons", "sed", "self", "sem", "seq", "sessions", "sh", "share", "shm", "signalfd", "sleep",
	"slurmd", "slurmstepd", "sm_segment", "snakemake", "so", "socket", "sort", "srun", "ssh", "status", "stderr", "stdin", "stdout",
	"store", "strace", "strip", "sudo", "sys", "tail", "tar", "tclsh", "tcsh", "tee", "test", "time", "timeout",
	"timerfd", "tmp", "touch", "tr", "true", "tty", "txt", "uname", "uniq", "urandom", "usr", "vader_segment", "var", "wc", "which",
	"wrapper", "x86_64", "xargs", "xform", "xml", "xz", "yash", "zero", "zsh",
};

struct name {
	const char *bytes;
	size_t len;
};

static int compare(const void *key, const void *element)
{
	const struct name *name = key;
	const char *other = *(const char *const *)element;
	int r = strncmp(name->bytes, other, name->len);

	return r ? r : other[name->len] ? -1 : 0;
}

static bool has(const char *bytes, size_t len)
{
	const struct name name = { bytes, len };

	return bsearch(&name, names, sizeof(names) / sizeof(names[0]), sizeof(names[0]), compare) != NULL;
}

bool vocabulary_has(const char *name, size_t len)
{
	size_t digits = 0;

	while (digits < len && digits < 3 && name[len - digits - 1] >= '0' && name[len - digits - 1] <= '9')
		digits++;
	for (size_t i = 0; i <= digits; i++)
		if (len - i && has(name, len - i))
			return true;
	return false;
}
