/* SPDX-License-Identifier: MIT */

/* What the trace does not have, what was lost, and where its records came from. */

#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/units.h"
#include "base/wrap.h"
#include "dag/answer/answer_internal.h"
#include "dag/trace/compose.h"
#include "dag/trace/traces.h"

static const char *bytes_fact(const struct answer *a, const char *key, char ret_text[static 32])
{
	int64_t n = query_fact(a->db, key, -1);

	if (n < 0)
		return "-";
	units_bytes((double)n, ret_text, 32);
	return ret_text;
}

/* A trace without a mount has all calls; what is not seen is what mapped pages moved. */
static void say_calls(const struct answer *a)
{
	char pages[32];

	if (query_fact(a->db, "bytes_mapped", 0) > 0)
		answer_say(a, "not seen", "what was read and stored in %s of mapped files", bytes_fact(a, "bytes_mapped", pages));
}

static int64_t ask_number(const struct answer *a, const char *query_name, const char *column)
{
	const struct choice all = { 0 };
	struct query *row = NULL;
	int64_t number = -1;

	if (traces_query(a->db, query_name, column, &all, &row, NULL, a->failure) == 0 && traces_next(a->db, row, a->failure) > 0)
		number = query_int(row, 0);
	query_end(row);
	return number;
}

/* Data that did not go through the mount: pipes, files elsewhere, reads from the page cache. */
static void say_share(const struct answer *a)
{
	int64_t all = query_fact(a->db, "bytes_kernel", -1), mount = traces_mount_bytes(a->db);
	int64_t unknown = ask_number(a, "answer.unknown", "processes");
	char mount_text[32], all_text[32];

	if (!answer_has_files(a)) {
		answer_say(a, "not seen", "what the processes did with files;");
		answer_say(a, NULL, "procmon --files kernel or ftrac run records it");
		return;
	}
	if (query_fact(a->db, "ops_recorded", 0) == 0) {
		answer_say(a, "not seen", "any file: the run used none of those that were traced;");
		answer_say(a, NULL, "--scope full or --files kernel sees the others");
	} else if (all < 0) {
		answer_say(a, "not seen", "how much the processes moved in pipes and files elsewhere");
	} else if (all > mount) {
		units_bytes((double)all, all_text, sizeof(all_text));
		units_bytes((double)(all - mount), mount_text, sizeof(mount_text));
		answer_say(a, "not seen", "%s of %s moved: in pipes, and in files elsewhere;", mount_text, all_text);
		answer_say(a, NULL, "--scope full or --files kernel sees more");
	}
	if (all >= 0 && unknown > 0)
		answer_say(a, NULL, "(unknown of %lld process%s)", (long long)unknown, unknown == 1 ? "" : "es");
}

#define UNSEEN_NAMES 3

/* Operations are those of the programs that the preloaded object saw. */
static bool is_preload(const struct answer *a)
{
	const char *files = query_fact_text(a->db, "files");

	return files && strcmp(files, "preload") == 0;
}

/* Programs that the preloaded object saw nothing of. */
static void say_layers(const struct answer *a)
{
	const struct choice all = { 0 };
	char names[ANSWER_TEXT] = "", text[ANSWER_TEXT];
	struct query *row = NULL;
	long long images = 0;
	int n = 0;

	if ((!query_fact_text(a->db, "layers") && !is_preload(a)) ||
		traces_query(a->db, "answer.unseen", "program images", &all, &row, NULL, a->failure) < 0)
		return;
	for (; traces_next(a->db, row, a->failure) > 0; n++) {
		size_t len = 0, used = strlen(names);
		const char *name = query_bytes(row, 0, &len);

		images += query_int(row, 1);
		if (n < UNSEEN_NAMES)
			snprintf(names + used, sizeof(names) - used, "%s%.*s", n ? ", " : "", name ? (int)(len < 40 ? len : 40) : 1,
				name ? name : "?");
	}
	query_end(row);
	if (images)
		answer_say(a, "not seen", "%s of %lld program%s (static, setuid, or without the loader): %s%s",
			is_preload(a) ? "files and library calls" : "library calls", images,
			images == 1 ? "" : "s", answer_text(names, 60, text), n > UNSEEN_NAMES ? ", ..." : "");
}

/* The kernel may have overwritten data of the run with old pages. */
static void say_mixed(const struct answer *a)
{
	const struct choice all = { 0 };
	long long n = query_fact(a->db, "mixed_writes", 0);
	char path[ANSWER_TEXT] = "", text[ANSWER_TEXT];
	struct query *row = NULL;
	const char *bytes;
	size_t len = 0;

	if (n <= 0)
		return;
	if (traces_query(a->db, "answer.mixed", "path", &all, &row, NULL, a->failure) == 0 && traces_next(a->db, row, a->failure) > 0) {
		bytes = query_bytes(row, 0, &len);
		memcpy(path, bytes ? bytes : "", len < sizeof(path) ? len : sizeof(path) - 1);
	}
	query_end(row);
	answer_say(a, "data may be wrong", "%lld file%s written by write(2) and by many mapped pages at once, "
		"first %s; see Mappings in ftrac(1), or use --fidelity open or cached", n, n == 1 ? " was" : "s were", answer_text(path, 60, text));
}

static void say_lost(const struct answer *a)
{
	long long dropped = query_fact(a->db, "kernel_dropped", 0), spared = query_fact(a->db, "kernel_spared", 0);
	long long cpu_ns = query_fact(a->db, "tracer_cpu_ns", -1); /* not known of a run that others recorded */
	char cpu[32] = "-";

	if (dropped > 0)
		fprintf(a->out, "ftrac: the kernel dropped %lld of %lld records, because its buffer was full: what they "
			"said is missing in the trace\n", dropped, (long long)query_fact(a->db, "kernel_submitted", 0));
	if (spared > 0)
		fprintf(a->out, "ftrac: not recorded: what %lld setuid or similar program%s did; root, or CAP_SYS_PTRACE, "
			"records it\n", spared, spared == 1 ? "" : "s");
	if (cpu_ns >= 0)
		units_time((double)cpu_ns, cpu, sizeof(cpu));
	answer_say(a, "lost", "%lld operations, %lld process events; tracing took %s of CPU", (long long)query_fact(a->db, "ops_lost", 0),
		(long long)query_fact(a->db, "process_events_lost", 0), cpu);
}

static const char *source_of(const char *files)
{
	if (!files || strcmp(files, "mount") == 0)
		return "the mount";
	if (strcmp(files, "both") == 0)
		return "the mount and the kernel";
	return strcmp(files, "preload") == 0 ? "preloaded libc calls" : "the kernel";
}

static void say_sources(const struct answer *a)
{
	const char *files = query_fact_text(a->db, "files"), *fidelity = query_fact_text(a->db, "fidelity");
	const char *tier = query_fact_text(a->db, "process_tier");
	cleanup_free char *text = NULL;
	int r;

	if (fidelity)
		r = asprintf(&text, "files by %s (%s), processes by %s; the trace is %s", source_of(files), fidelity, tier ? tier : "-", a->path);
	else
		r = asprintf(&text, "processes by %s; the trace is %s", tier ? tier : "-", a->path);
	if (r >= 0)
		wrap_print(a->out, "ftrac: ", "ftrac: ", text);
}

#define PATH_SHORT 11 /* two of them fit into a line; the last line has the whole path */

void answer_end(const struct answer *a)
{
	const char *path = strlen(a->path) <= PATH_SHORT ? a->path : "TRACE";

	answer_say(a, "next", "wfdag critical-path %s; wfreport -o page.html %s", path, path);
	say_sources(a);
}

int answer_cover(struct answer *a)
{
	const char *files = query_fact_text(a->db, "files");

	(is_preload(a) || (files && strcmp(files, "kernel") == 0) ? say_calls : say_share)(a);
	say_layers(a);
	say_mixed(a);
	say_lost(a);
	return a->failure->code;
}
