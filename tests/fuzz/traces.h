/* SPDX-License-Identifier: MIT */
#ifndef TESTS_FUZZ_TRACES_H
#define TESTS_FUZZ_TRACES_H

/*
 * A small trace, to be damaged, and the commands that read it.  What reads is wfstat, wfdag and wfreport
 * themselves: their main() under other names.
 */

#include <fcntl.h>
#include <getopt.h>
#include <sys/stat.h>

#include "dag/analyse/analyse.h"
#include "dag/export/export.h"
#include "dag/stat/tables.h"
#include "tests/fuzz/fuzz.h"
#include "tests/unit/feed.h"

int wfstat_main(int argc, char **argv);
int wfdag_main(int argc, char **argv);
int wfreport_main(int argc, char **argv);

static uint8_t *trace_bytes;
static size_t trace_size;

/* A make with two jobs: one writes what the other reads, renames and removes. */
FUZZ_UNUSED static void trace_feed(struct feed *f)
{
	uint64_t source, out, h;

	feed_discover(f, 10, 1);
	feed_exec(f, 10, "/bin/make");
	source = feed_file(f, 10, NODE_ROOT, "source", 100);
	feed_lookup_fails(f, 10, NODE_ROOT, "missing.h");
	feed_fork(f, 20, 10);
	feed_exec(f, 20, "/bin/cc");
	feed_reads(f, 20, source);
	h = feed_create(f, 20, NODE_ROOT, "out.tmp", &out);
	feed_write(f, 20, h, 0, 4096);
	feed_write(f, 20, h, 4096, 100);
	feed_release(f, 20, h);
	feed_rename(f, 20, NODE_ROOT, "out.tmp", NODE_ROOT, "out", 0);
	feed_exit(f, 20, 0);
	feed_fork(f, 30, 10);
	feed_exec(f, 30, "/bin/ld");
	feed_reads(f, 30, out);
	h = feed_create(f, 30, NODE_ROOT, "program", NULL);
	feed_write(f, 30, h, 0, 10);
	feed_release(f, 30, h);
	feed_writes(f, 30, out);
	feed_unlink(f, 30, NODE_ROOT, "source");
	feed_exit(f, 30, 1 << 8);
	feed_exit(f, 10, 2 << 8);
}

static const struct {
	const char *key;
	int64_t value;
} trace_facts[] = { { "end_ns", EPOCH_NS + 1000000 }, { "complete", 1 }, { "ops_lost", 0 },
	{ "process_events_lost", 0 }, { "cpus", 2 }, { "memory_bytes", 1 << 30 } };

/* Into trace_bytes. */
FUZZ_UNUSED static void trace_make(void)
{
	struct feed *f = feed_begin(NULL);
	FILE *file;
	struct stat st;

	trace_feed(f);
	for (size_t i = 0; i < sizeof(trace_facts) / sizeof(trace_facts[0]); i++)
		FUZZ_ASSERT(store_put_meta(f->store, trace_facts[i].key,
				    V_INT(trace_facts[i].value)) == 0);
	FUZZ_ASSERT(store_put_meta(f->store, "fidelity", V_STR("exact")) == 0);
	FUZZ_ASSERT(store_put_meta(f->store, "cwd", V_STR("/")) == 0);
	FUZZ_ASSERT(record_finish(f->record) == 0 && record_flush(f->record, INT64_MAX) == 0);
	FUZZ_ASSERT(store_conclude(f->store) == 0 && store_commit(f->store) == 0);
	store_fold(f->store);
	FUZZ_ASSERT(stat(f->db, &st) == 0 && st.st_size > 4096);
	trace_size = st.st_size;
	trace_bytes = malloc(trace_size);
	file = fopen(f->db, "r");
	FUZZ_ASSERT(file && fread(trace_bytes, 1, trace_size, file) == trace_size);
	fclose(file);
	feed_end(f);
}

#define TRACE_WORDS 6

#define OF_TABLE(name) { "wfstat", #name },
#define OF_ANALYSIS(name, fill, help) { "wfdag", name },
#define OF_FORMAT(name, help) { "wfdag", "--" #name, "-" },
#define OF_DRAWING(name, picture, help) /* dot is another program */

static const char *const trace_commands[][TRACE_WORDS] = {
	STAT_TABLES(OF_TABLE)
	ANALYSES(OF_ANALYSIS)
	EXPORTS(OF_FORMAT, OF_FORMAT, OF_FORMAT, OF_DRAWING)
	{ "wfstat", "mem", "--by", "job" },
	{ "wfstat", "run", "--by", "env:X" },
	{ "wfstat", "sys", "--by", "phase,operation" },
	{ "wfstat", "file", "--json" },
	{ "wfstat", "proc", "--csv" },
	{ "wfstat", "handle", "--raw" },
	{ "wfstat", "pattern", "--sizes", "powers" },
	{ "wfstat", "time", "--files" },
	{ "wfstat", "hist", "--of", "latency" },
	{ "wfstat", "cdf", "--of", "bytes-read" },
	{ "wfstat", "hist", "--of", "lifetime" },
	{ "wfstat", "hist", "--of", "file-size" },
	{ "wfdag", "--dot", "--all", "--ghosts", "--metadata" },
	{ "wfdag", "--tree", "--json" },
	{ "wfdag", "--fold", "--graphml", "--width", "rate" },
	{ "wfdag", "--reduce", "--csv" },
	{ "wfdag", "--group-by", "command", "--gml" },
	{ "wfdag", "--precedence", "--cyjs", "--all" },
	{ "wfdag", "--collapsed", "--stacks", "directory-read", "--all" },
	{ "wfdag", "--speedscope" },
	{ "wfdag", "--yed", "--all" },
	{ "wfdag", "--rocrate", "--all", "--metadata" },
	{ "wfdag", "--prov", "--all", "--metadata" },
	{ "wfdag", "--dot", "--max-nodes", "2", "--all" },
	{ "wfdag", "degree", "--all" },
	{ "wfdag", "weight", "--by", "time" },
	{ "wfdag", "clusters", "--all" },
	{ "wfdag", "lifecycle", "--all" },
	{ "wfdag", "whatif", "--cores", "2" },
	{ "wfdag", "whatif", "--faster", "*=2x" },
	{ "wfdag", "generate", "--make" },
	{ "wfdag", "generate", "--snakemake" },
	{ "wfdag", "generate", "--wfformat" },
	{ "wfdag", "generate", "--dax", "--dax-version", "2.1" },
	{ "wfdag", "generate", "--cwl" },
	{ "wfdag", "generate", "--dask" },
	{ "wfdag", "generate", "--ninja" },
	{ "wfdag", "generate", "--dagman" },
	{ "wfdag", "generate", "--pegasus" },
	{ "wfdag", "generate", "--dax", "--level", "process" },
	{ "wfdag", "check", "--all" },
	{ "wfdag", "check", "--kinds", "ghost" },
	{ "wfdag", "diff", "--all", "whole.db" },
	{ "wfdag", "diff", "--data", "--format=json", "whole.db" },
	{ "wfstat", "overview", "whole.db" },
	{ "wfreport", "-o", "-" },
	{ "wfreport", "--perfetto" },
};
enum { TRACE_COMMANDS = sizeof(trace_commands) / sizeof(trace_commands[0]) };

/* Has a command read these files, or, if other is NULL, the first. */
FUZZ_UNUSED static void trace_run(const char *const words[TRACE_WORDS], const char *first,
	const char *other)
{
	int (*const main)(int, char **) = strcmp(words[0], "wfstat") == 0  ? wfstat_main
					  : strcmp(words[0], "wfdag") == 0 ? wfdag_main
									   : wfreport_main;
	char *argv[TRACE_WORDS + 3] = { NULL }, *of[TRACE_WORDS + 3];
	int argc = 0, status;

	FUZZ_ASSERT(chdir(fuzz_directory) == 0);
	while (argc < TRACE_WORDS && words[argc]) {
		argv[argc] = strdup(words[argc]);
		argc++;
	}
	argv[argc++] = strdup(first);
	if (other)
		argv[argc++] = strdup(other);
	memcpy(of, argv, sizeof(of)); /* getopt() changes the order */
	optind = 0;
	status = main(argc, argv);
	FUZZ_ASSERT(status >= 0 && status <= 3);
	for (int i = 0; i < argc; i++)
		free(of[i]);
}

/* Has a command read trace.db, beside which whole.db is as it should be. */
FUZZ_UNUSED static void trace_read(unsigned command)
{
	trace_run(trace_commands[command % TRACE_COMMANDS], "trace.db", NULL);
}

/* No program draws: a picture takes longer than all else. */
FUZZ_UNUSED static void trace_prepare(void)
{
	fuzz_make_directory();
	setenv("PATH", fuzz_directory, 1);
	setenv("TMPDIR", fuzz_directory, 1);
	trace_make();
	fuzz_write("whole.db", trace_bytes, trace_size);
}

#endif
