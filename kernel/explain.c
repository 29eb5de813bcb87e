/* SPDX-License-Identifier: MIT */
#include "kernel/explain.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/failure.h"

enum { PTRACE = 19, ADMIN = 21, PERFMON = 38, BPF = 39 };

/* ---- probes ---- */

static uint64_t capabilities(void)
{
	struct {
		uint32_t version;
		int pid;
	} header = { 0x20080522, 0 };
	struct {
		uint32_t effective, permitted, inheritable;
	} data[2] = { 0 };

	if (syscall(SYS_capget, &header, data) < 0)
		return 0;
	return data[0].effective | (uint64_t)data[1].effective << 32;
}

bool explain_may_trace_others(void)
{
	uint64_t held = capabilities();

	return held >> PTRACE & 1 || held >> ADMIN & 1;
}

/* The first user namespace maps all ids to themselves. */
static bool is_in_user_namespace(void)
{
	cleanup_file FILE *f = fopen("/proc/self/uid_map", "re");
	unsigned inside, outside, n;

	return f && fscanf(f, "%u %u %u", &inside, &outside, &n) == 3 && !(inside == 0 && outside == 0 && n == UINT32_MAX);
}

/* The chosen word is in brackets: none [integrity] confidentiality */
static bool is_locked_down(void)
{
	cleanup_file FILE *f = fopen("/sys/kernel/security/lockdown", "re");
	char line[128];

	return f && fgets(line, sizeof(line), f) && strstr(line, "[confidentiality]");
}

void explain_probe(struct explain_facts *ret_facts)
{
	uint64_t held = capabilities();
	unsigned major, minor;
	struct utsname name;

	*ret_facts = (struct explain_facts){ .has_admin = held >> ADMIN & 1, .has_bpf = held >> BPF & 1,
		.has_perfmon = held >> PERFMON & 1, .in_user_namespace = is_in_user_namespace(),
		.has_btf = access("/sys/kernel/btf/vmlinux", R_OK) == 0, .is_confidential = is_locked_down() };
	if (uname(&name) < 0)
		return;
	snprintf(ret_facts->release_text, sizeof(ret_facts->release_text), "%s", name.release);
	if (sscanf(name.release, "%u.%u", &major, &minor) == 2)
		ret_facts->release = major << 8 | (minor & 0xff);
}

/* ---- words ---- */

static const char *missing_capability(const struct explain_facts *facts)
{
	if (facts->has_admin || (facts->has_bpf && facts->has_perfmon))
		return NULL;
	if (facts->has_bpf)
		return "CAP_PERFMON is missing";
	return facts->has_perfmon ? "CAP_BPF is missing" : "CAP_BPF and CAP_PERFMON are missing";
}

static int explain_refusal(const struct explain_facts *facts, int error, struct failure *failure)
{
	if (facts->is_confidential)
		return failure_set(failure, -EPERM,
			"cannot record in the kernel: lockdown=confidentiality forbids programs that read its memory; "
			"start Linux with lockdown=integrity");
	if (facts->in_user_namespace)
		return failure_set(failure, -EPERM,
			"cannot record in the kernel: capabilities of a user namespace do not suffice; run ftrac outside "
			"of it");
	return failure_set(failure, -EPERM,
		"cannot record in the kernel: it refuses the programs: %s; in a container, allow bpf(2) (seccomp) with "
		"'--security-opt seccomp=unconfined', or run ftrac outside of it", strerror(-error));
}

int explain(const struct explain_facts *facts, int error, struct failure *failure)
{
	const char *missing = missing_capability(facts);

	if (facts->release && facts->release < EXPLAIN_OLDEST)
		return failure_set(failure, -EOPNOTSUPP, "cannot record in the kernel: Linux %s is too old, 6.1 is needed",
			facts->release_text);
	if (facts->is_of_mount && facts->release && facts->release < EXPLAIN_OLDEST_MOUNT)
		return failure_set(failure, -EOPNOTSUPP,
			"cannot record the calls on a mount: Linux %s is too old, 6.9 is needed; use --files kernel or "
			"--fidelity cached", facts->release_text);
	if (missing)
		return failure_set(failure, -EPERM,
			"cannot record in the kernel: %s; run as root, or give them to the program by setcap "
			"cap_bpf,cap_perfmon=ep", missing);
	if (!facts->has_btf)
		return failure_set(failure, -EOPNOTSUPP,
			"cannot record in the kernel: this kernel has no BTF; it takes one with CONFIG_DEBUG_INFO_BTF, and "
			"/sys mounted");
	if (error == -EPERM || error == -EACCES)
		return explain_refusal(facts, error, failure);
	return failure_set(failure, error, "cannot record in the kernel: Linux %s does not load the programs: %s",
		facts->release_text, strerror(-error));
}
