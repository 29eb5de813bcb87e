/* SPDX-License-Identifier: MIT */
#include "db/facts.h"

#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "base/place.h"
#include "base/version.h"
#include "db/origin.h"
#include "db/store.h"

static void get_user(char *out, size_t size)
{
	const struct passwd *pw = getpwuid(geteuid());

	if (pw)
		snprintf(out, size, "%s", pw->pw_name);
	else
		snprintf(out, size, "%u", geteuid());
}

/* The first "model name" of /proc/cpuinfo; only PCs have one. */
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

struct fact {
	const char *key;
	struct value value;
};

static int put_facts(struct store *store, const struct fact *facts, size_t n)
{
	int r = 0;

	for (size_t i = 0; i < n && r == 0; i++)
		r = store_put_meta(store, facts[i].key, facts[i].value);
	return r;
}

#define PUT_FACTS(store, facts) put_facts(store, facts, sizeof(facts) / sizeof(*(facts)))

static int put_host(struct store *store)
{
	struct utsname un;
	char user[64], model[128], kernel[256];

	uname(&un);
	get_user(user, sizeof(user));
	snprintf(kernel, sizeof(kernel), "%s %s", un.sysname, un.release);
	const struct fact host[] = {
		{ "host", V_STR(un.nodename) },
		{ "user", V_STR(user) },
		{ "kernel", V_STR(kernel) },
		{ "cpus", V_INT(sysconf(_SC_NPROCESSORS_ONLN)) },
		{ "cpu_model", get_cpu_model(model, sizeof(model)) ? V_STR(model) : V_NULL },
		{ "memory_bytes", V_INT((int64_t)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE)) },
	};

	return PUT_FACTS(store, host);
}

/* Which clocks they are.  Host names may change, and be the same on several machines. */
static int put_clocks(struct store *store)
{
	cleanup_file FILE *f = fopen("/proc/sys/kernel/random/boot_id", "re");
	char boot_id[64];
	bool has_boot_id = f && fscanf(f, "%63s", boot_id) == 1;
	struct stat st = { 0 };
	bool has_namespace = stat("/proc/self/ns/time", &st) == 0;
	const struct fact clocks[] = {
		{ "boot_id", has_boot_id ? V_STR(boot_id) : V_NULL },
		{ "time_namespace", V_OPT(has_namespace, (int64_t)st.st_ino) },
	};

	return PUT_FACTS(store, clocks);
}

static int put_run(struct store *store, const struct facts *facts)
{
	const struct fact run[] = {
		{ "format", V_INT(1) },
		{ "ftrac_version", V_STR(FTRAC_VERSION) },
		{ "source", V_STR(facts->source) },
		{ "mountpoint", V_STR(facts->mountpoint) },
		{ "command", V_STR(facts->command) },
		{ "cwd", V_STR(facts->cwd) },
		{ "options", V_STR(facts->options) },
		{ "job", V_STR(facts->job) },
		{ "xform", V_STR(facts->xform) },
		{ "exit_status", V_NULL },
		{ "start_ns", V_INT(facts->start_ns) },
		{ "end_ns", V_NULL },
		{ "complete", V_INT(0) },
		{ "ending", V_INT(0) },
		{ "fidelity", V_STR(facts->fidelity) },
		{ "files", V_STR(facts->files) },
		{ "layers", V_STR(facts->layers) },
		{ "transport", V_STR(facts->transport) },
		{ "process_tier", V_STR(facts->process_tier) },
	};

	return PUT_FACTS(store, run);
}

static int put_mount(struct store *store, const struct facts *facts)
{
	const struct fact mount[] = {
		{ "mount_namespace", V_INT((int64_t)facts->mount_namespace) },
		{ "mount_connection", V_INT((int64_t)facts->mount_connection) },
	};

	return facts->mount_namespace ? PUT_FACTS(store, mount) : 0;
}

/* What the run itself changes later. */
static int put_counts(struct store *store, bool is_past)
{
	const struct fact counts[] = {
		{ "ops_recorded", V_INT(0) },
		{ "ops_lost", V_INT(0) },
		{ "process_events_lost", V_INT(0) },
		/* The overhead of tracing cannot be known from one run. */
		{ "overhead_ns", V_NULL },
		{ "overhead_wall_ns", V_NULL },
		{ "waited_ns", is_past ? V_NULL : V_INT(0) },
		{ "tracer_cpu_ns", V_NULL },
		{ "bytes_recorded", V_INT(0) },
		{ "bytes_mount", V_INT(0) },
		{ "bytes_paged", V_INT(0) },
		{ "bytes_mapped", V_INT(0) },
		{ "bytes_kernel", V_NULL },
	};

	return PUT_FACTS(store, counts);
}

int facts_store(struct store *store, const struct facts *facts)
{
	int r = store_begin(store);

	if (r == 0 && !facts->is_past)
		r = put_host(store);
	if (r == 0 && !facts->is_past)
		r = put_clocks(store);
	if (r == 0)
		r = put_run(store, facts);
	if (r == 0)
		r = put_mount(store, facts);
	if (r == 0 && facts->imported)
		r = store_put_meta(store, "imported", V_STR(facts->imported));
	if (r == 0 && !facts->is_past)
		r = origin_store(store, facts->origin);
	if (r == 0)
		r = put_counts(store, facts->is_past);
	if (r == 0)
		return store_commit(store);
	store_rollback(store);
	return r;
}

int facts_complain(const char *db, const char *option, int error)
{
	switch (error) {
	case -EEXIST:
		return err_status(EXIT_OWN,
			"'%s' is there already: keep it with %s OTHER, or replace it with --force", db, option);
	case -EINVAL:
		return err_status(EXIT_OWN,
			"'%s' is there and is no trace of ftrac: name another file with %s", db, option);
	case -EBUSY:
		return err_status(EXIT_OWN,
			"'%s' is being written by another ftrac: name another file with %s", db, option);
	case -EREMOTE:
		return err_status(EXIT_OWN, "cannot keep '%s' on a network or FUSE file system, where "
			"it cannot be read while it is written: name a local file with %s", db, option);
	default:
		return err_status(EXIT_OWN, "cannot create '%s': %s; name another file with %s", db,
			place_explain(error), option);
	}
}
