/* SPDX-License-Identifier: MIT */

/* Which sources work here, and why not: see monitor.h. */

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "procmon/connector.h"
#include "procmon/monitor.h"
#include "procmon/taskstats.h"
#include "procmon/tracer.h"

int monitor_parse_processes(const char *text, enum monitor_processes *ret_processes)
{
	static const char *const names[] = { [MONITOR_AUTO] = "auto",
		[MONITOR_CONNECTOR] = "connector", [MONITOR_PTRACE] = "ptrace",
		[MONITOR_INBAND] = "inband" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(text, names[i]) == 0) {
			*ret_processes = (enum monitor_processes)i;
			return 0;
		}
	return -EINVAL;
}

static int connector_error(void)
{
	struct connector *connector;
	int r = connector_create(&connector);

	if (r == 0)
		connector_destroy(connector);
	return r;
}

static int taskstats_error(void)
{
	struct taskstats_listener *listener;
	int r = taskstats_create(&listener);

	if (r == 0)
		taskstats_destroy(listener);
	return r;
}

int monitor_source_error(enum monitor_source source)
{
	bool zombies;

	switch (source) {
	case MONITOR_SOURCE_PTRACE: return tracer_check(&zombies);
	case MONITOR_SOURCE_CONNECTOR: return connector_error();
	case MONITOR_SOURCE_TASKSTATS: return taskstats_error();
	}
	return -EINVAL;
}

bool monitor_has_delays(void)
{
	return taskstats_counts_delays();
}

static const char *explain_ptrace(int error)
{
	if (error == -EPERM || error == -EACCES)
		return "ptrace(2) is forbidden here; allow it with 'sysctl kernel.yama.ptrace_scope=1', "
		       "or start the container with '--cap-add=SYS_PTRACE'";
	return strerror(-error);
}

static const char *explain_connector(int error)
{
	switch (error) {
	case -EPERM:
	case -EACCES:
		return "before Linux 6.6 it needs CAP_NET_ADMIN; run as root, or give the program the right "
		       "with 'setcap cap_net_admin+ep'";
	case -ETIMEDOUT:
	case -ECONNREFUSED:
		return "the kernel sends no process events to a container; run outside, or start it "
		       "with '--pid=host --net=host'";
	case -EPROTONOSUPPORT:
		return "this kernel has no process connector; use one built with CONFIG_PROC_EVENTS=y";
	default: return strerror(-error);
	}
}

static const char *explain_taskstats(int error)
{
	switch (error) {
	case -EPERM:
	case -EACCES:
		return "CAP_NET_ADMIN is missing; run as root, or give the program the right with "
		       "'setcap cap_net_admin+ep'";
	case -EINVAL:
	case -ENONET:
		return "the kernel sends no exit records to a container; run outside, or start it "
		       "with '--pid=host --net=host'";
	case -ENOENT:
		return "there are no taskstats here; use a kernel built with CONFIG_TASKSTATS=y, outside of "
		       "containers";
	default: return strerror(-error);
	}
}

const char *monitor_explain(enum monitor_source source, int error)
{
	switch (source) {
	case MONITOR_SOURCE_PTRACE: return explain_ptrace(error);
	case MONITOR_SOURCE_CONNECTOR: return explain_connector(error);
	case MONITOR_SOURCE_TASKSTATS: return explain_taskstats(error);
	}
	return "";
}
