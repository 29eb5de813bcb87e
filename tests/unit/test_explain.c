/* SPDX-License-Identifier: MIT */
#include "tests/unit/test.h"

#include <errno.h>

#include "base/failure.h"
#include "kernel/explain.h"

static const struct explain_facts fine = { .has_bpf = true, .has_perfmon = true, .has_btf = true,
	.release = 6 << 8 | 12, .release_text = "6.12.0" };

/* The code, and that the one line names reason and cure. */
static void expect(const struct explain_facts *facts, int error, int code, const char *reason, const char *cure)
{
	struct failure failure = { 0 };

	assert_int_equal(explain(facts, error, &failure), code);
	assert_int_equal(failure.code, code);
	assert_non_null(strstr(failure.text, reason));
	assert_non_null(strstr(failure.text, cure));
	assert_null(strchr(failure.text, '\n'));
}

static void a_missing_capability_is_named_with_setcap(void **state)
{
	struct explain_facts facts = fine;
	(void)state;

	facts.has_bpf = false;
	expect(&facts, -EPERM, -EPERM, "CAP_BPF is missing", "setcap cap_bpf,cap_perfmon=ep");
	facts.has_perfmon = false;
	expect(&facts, -EPERM, -EPERM, "CAP_BPF and CAP_PERFMON are missing", "run as root");
	facts.has_bpf = true;
	expect(&facts, -EPERM, -EPERM, "CAP_PERFMON is missing", "setcap");
	facts = (struct explain_facts){ .has_admin = true, .has_btf = true, .release = fine.release };
	expect(&facts, -EPERM, -EPERM, "refuses the programs", "outside");
}

static void a_kernel_that_cannot_is_named(void **state)
{
	struct explain_facts facts = fine;
	(void)state;

	facts.has_btf = false;
	expect(&facts, -ENOENT, -EOPNOTSUPP, "no BTF", "CONFIG_DEBUG_INFO_BTF");
	facts = fine;
	facts.release = 5 << 8 | 10;
	strcpy(facts.release_text, "5.10.0");
	expect(&facts, -EINVAL, -EOPNOTSUPP, "Linux 5.10.0 is too old", "6.1 is needed");
	facts.release = EXPLAIN_OLDEST;
	expect(&facts, -EINVAL, -EINVAL, "does not load the programs", "Invalid argument");
	facts.release = 0; /* not known: not too old */
	expect(&facts, -EINVAL, -EINVAL, "does not load the programs", "Invalid argument");
}

static void a_mount_needs_a_newer_kernel(void **state)
{
	struct explain_facts facts = fine;
	(void)state;

	facts.release = EXPLAIN_OLDEST;
	strcpy(facts.release_text, "6.1.0");
	expect(&facts, -EACCES, -EPERM, "refuses the programs", "seccomp");
	facts.is_of_mount = true;
	expect(&facts, -EACCES, -EOPNOTSUPP, "Linux 6.1.0 is too old, 6.9 is needed", "--files kernel");
	facts.release = EXPLAIN_OLDEST_MOUNT;
	expect(&facts, -EACCES, -EPERM, "refuses the programs", "seccomp");
}

static void a_refusal_is_explained(void **state)
{
	struct explain_facts facts = fine;
	(void)state;

	expect(&facts, -EACCES, -EPERM, "refuses the programs", "seccomp");
	facts.in_user_namespace = true;
	expect(&facts, -EPERM, -EPERM, "user namespace", "outside of it");
	facts.is_confidential = true;
	expect(&facts, -EPERM, -EPERM, "lockdown=confidentiality", "lockdown=integrity");
}

static void the_probe_knows_this_machine(void **state)
{
	struct explain_facts facts;
	(void)state;

	explain_probe(&facts);
	assert_true(facts.release > 2 << 8);
	assert_true(facts.release_text[0] != '\0');
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_missing_capability_is_named_with_setcap),
		cmocka_unit_test(a_kernel_that_cannot_is_named),
		cmocka_unit_test(a_mount_needs_a_newer_kernel),
		cmocka_unit_test(a_refusal_is_explained),
		cmocka_unit_test(the_probe_knows_this_machine),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
