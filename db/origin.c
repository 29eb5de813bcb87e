/* SPDX-License-Identifier: MIT */
#include "db/origin.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/utsname.h>

#include "db/store.h"

/* What is longer, or not printable ASCII, is none of what we know. */
static bool is_word(const char *text)
{
	size_t n = strlen(text);

	for (size_t i = 0; i < n; i++)
		if (text[i] <= ' ' || text[i] > '~')
			return false;
	return n > 0 && n < sizeof(((struct origin *)0)->run);
}

int origin_begin(struct origin *ret_origin)
{
	const char *outer = secure_getenv("FTRAC_RUN"); /* ORIGIN_VARIABLE */
	struct utsname un;
	uint64_t number[2];

	*ret_origin = (struct origin){ .run = "" };
	if (outer && is_word(outer))
		snprintf(ret_origin->started_in, sizeof(ret_origin->started_in), "%s", outer);
	if (getrandom(number, sizeof(number), 0) != sizeof(number))
		return -EIO;
	uname(&un);
	snprintf(ret_origin->run, sizeof(ret_origin->run), "%s:%016" PRIx64 "%016" PRIx64, un.nodename, number[0], number[1]);
	return setenv(ORIGIN_VARIABLE, ret_origin->run, 1) < 0 ? -errno : 0;
}

static int put_word(struct store *store, const char *key, const char *value)
{
	return value && is_word(value) ? store_put_meta(store, key, V_STR(value)) : 0;
}

/* As the view socket has it. */
static int put_end(struct store *store, const char *key, const char *address, const char *port)
{
	char text[128];

	snprintf(text, sizeof(text), strchr(address, ':') ? "[%s]:%s" : "%s:%s", address, port);
	return put_word(store, key, text);
}

static int put_connection(struct store *store)
{
	const char *connection = secure_getenv("SSH_CONNECTION");
	char client[48], client_port[8], server[48], server_port[8];
	int r;

	if (!connection || sscanf(connection, "%47s %7s %47s %7s", client, client_port, server, server_port) != 4)
		return 0;
	r = put_end(store, "ssh_client", client, client_port);
	return r == 0 ? put_end(store, "ssh_server", server, server_port) : r;
}

static int put_variables(struct store *store)
{
	const struct {
		const char *key, *value;
	} variables[] = {
		{ "slurm_job_id", secure_getenv("SLURM_JOB_ID") },
		{ "slurm_step_id", secure_getenv("SLURM_STEP_ID") },
		{ "slurm_procid", secure_getenv("SLURM_PROCID") },
		{ "slurm_nodeid", secure_getenv("SLURM_NODEID") },
		{ "slurmd_nodename", secure_getenv("SLURMD_NODENAME") },
		{ "pmix_namespace", secure_getenv("PMIX_NAMESPACE") },
		{ "pmix_rank", secure_getenv("PMIX_RANK") },
		{ "pmi_rank", secure_getenv("PMI_RANK") },
	};
	int r = 0;

	for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]) && r == 0; i++)
		r = put_word(store, variables[i].key, variables[i].value);
	return r;
}

/* In which pids are what they are. */
static int put_namespace(struct store *store)
{
	struct stat st;

	return stat("/proc/self/ns/pid", &st) == 0 ? store_put_meta(store, "pid_namespace", V_INT((int64_t)st.st_ino)) : 0;
}

int origin_store(struct store *store, const struct origin *origin)
{
	int r = put_namespace(store);

	if (r == 0 && origin)
		r = put_word(store, "run", origin->run);
	if (r == 0 && origin)
		r = put_word(store, "started_in", origin->started_in);
	if (r == 0 && origin)
		r = put_connection(store);
	return r == 0 && origin ? put_variables(store) : r;
}
