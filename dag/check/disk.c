/* SPDX-License-Identifier: MIT */
#include "dag/check/disk.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "dag/check/depfile.h"
#include "dag/check/trace.h"

#define DEPFILE_BYTES_MAX (64 << 20)

/* ---- dependency files ---- */

struct reading {
	struct check_trace *trace;
	int32_t target;
	const char *directory;
};

static int add_dependency(void *arg, const char *target, const char *prerequisite)
{
	struct reading *reading = arg;
	cleanup_free char *path =
		path_names_join(reading->directory, prerequisite, strlen(prerequisite));
	int32_t to;

	(void)target; /* whatever it is called there: this recipe has made it */
	if (!prerequisite[0])
		return 0;
	to = path ? build_node(reading->trace->build, path) : -ENOMEM;
	return to < 0 ? to
		      : build_declare(reading->trace->build, reading->target, to, BUILD_DEPFILE);
}

/* One that is not there any more says nothing. */
static int read_depfile(struct check_trace *t, const struct build_use *use)
{
	const struct actor *a = check_trace_actor(t, use->writer);
	struct reading reading = { t, t->build->recipes[use->recipe].node,
		a && a->cwd ? a->cwd : "/" };
	cleanup_fd int fd =
		open(build_path(t->build, use->node), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	cleanup_file FILE *f = NULL;
	struct stat st;
	cleanup_free char *text = NULL;

	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) ||
		st.st_size > DEPFILE_BYTES_MAX || !(f = fdopen(fd, "r")))
		return 0;
	steal_fd(&fd);
	text = malloc(st.st_size + 1);
	if (!text)
		return -ENOMEM;
	return depfile_parse(text, fread(text, 1, st.st_size, f), add_dependency, &reading);
}

int check_disk_depfiles(struct check_trace *t)
{
	int r = 0;

	for (int32_t i = 0; i < t->build->n_uses && r == 0; i++) {
		const struct build_use use = t->build->uses[i];

		if ((use.kinds & USE_WRITES) && depfile_is_name(build_path(t->build, use.node)))
			r = read_depfile(t, &use);
	}
	return r;
}

/* ---- links ---- */

/* The trace has files by the paths that they really have; what is declared may lead there by links. */
static int resolve(struct check_trace *t, int32_t n)
{
	cleanup_free char *real = NULL;
	struct stat st;
	int32_t to;

	if (t->build->nodes[n].flags & (BUILD_FILE | BUILD_DIRECTORY))
		return 0;
	real = realpath(build_path(t->build, n), NULL);
	if (!real || stat(real, &st) < 0)
		return 0;
	t->build->nodes[n].flags |=
		S_ISDIR(st.st_mode) ? BUILD_DIRECTORY : BUILD_FILE | BUILD_UNSEEN;
	if (S_ISDIR(st.st_mode) || strcmp(real, build_path(t->build, n)) == 0)
		return 0;
	to = build_node(t->build, real);
	return to < 0 ? to : build_declare(t->build, n, to, BUILD_ALIAS);
}

int check_disk_links(struct check_trace *t)
{
	int32_t n_nodes = t->build->n_nodes;
	int r = 0;

	for (int32_t n = 0; n < n_nodes && r == 0; n++) {
		int32_t n_edges = t->build->nodes[n].n_edges;

		for (int32_t i = 0; i < n_edges && r == 0; i++)
			r = resolve(t, t->build->nodes[n].edges[i].to);
		if (r == 0 && (t->build->nodes[n].flags & BUILD_TARGET))
			r = resolve(t, n);
	}
	return r;
}
