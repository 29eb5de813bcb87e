/* SPDX-License-Identifier: MIT */
#include "ftrac/facts.h"

#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "db/store.h"
#include "ftrac/options.h"
#include "ftrac/version.h"

static void get_user(char *out, size_t size)
{
	const struct passwd *pw = getpwuid(geteuid());

	if (pw)
		snprintf(out, size, "%s", pw->pw_name);
	else
		snprintf(out, size, "%u", geteuid());
}

/* The first "model name" of /proc/cpuinfo; other machines than PCs have none. */
static bool get_cpu_model(char *out, size_t size)
{
	cleanup_file FILE *f = fopen("/proc/cpuinfo", "re");
	char line[256];

	while (f && fgets(line, sizeof(line), f)) {
		const char *colon = strchr(line, ':');

		if (!colon || strncmp(line, "model name", 10) != 0)
			continue;
		line[strcspn(line, "\n")] = '\0';
		snprintf(out, size, "%s", colon + 1 + strspn(colon + 1, " "));
		return true;
	}
	return false;
}

static struct value text_or_null(const char *text)
{
	return text ? V_STR(text) : V_NULL;
}

int facts_store(struct store *store, const struct facts *facts)
{
	const struct options *o = facts->options;
	struct utsname un;
	char user[64], model[128], kernel[256];
	int64_t memory = (int64_t)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE);
	int r = store_begin(store);

	uname(&un);
	get_user(user, sizeof(user));
	snprintf(kernel, sizeof(kernel), "%s %s", un.sysname, un.release);
	struct {
		const char *key;
		struct value value;
	} rows[] = {
		{ "format", V_INT(1) },
		{ "ftrac_version", V_STR(FTRAC_VERSION) },
		{ "host", V_STR(un.nodename) },
		{ "user", V_STR(user) },
		{ "kernel", V_STR(kernel) },
		{ "cpus", V_INT(sysconf(_SC_NPROCESSORS_ONLN)) },
		{ "cpu_model", get_cpu_model(model, sizeof(model)) ? V_STR(model) : V_NULL },
		{ "memory_bytes", V_INT(memory) },
		{ "source", V_STR(o->source) },
		{ "mountpoint", V_STR(o->mountpoint) },
		{ "command", V_NULL },
		{ "cwd", V_STR(facts->cwd) },
		{ "options", V_STR(o->text) },
		{ "job", text_or_null(o->job) },
		{ "xform", text_or_null(o->xform) },
		{ "exit_status", V_NULL },
		{ "start_ns", V_INT(facts->start_ns) },
		{ "end_ns", V_NULL },
		{ "complete", V_INT(0) },
		{ "fidelity", V_STR(facts->fidelity) },
		{ "process_tier", V_STR(facts->process_tier) },
		{ "ops_recorded", V_INT(0) },
		{ "ops_lost", V_INT(0) },
		{ "process_events_lost", V_INT(0) },
		{ "overhead_ns", V_INT(0) },
		{ "bytes_mount", V_INT(0) },
		{ "bytes_kernel", V_NULL },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]) && r == 0; i++)
		r = store_put_meta(store, rows[i].key, rows[i].value);
	if (r == 0)
		return store_commit(store);
	store_rollback(store);
	return r;
}
