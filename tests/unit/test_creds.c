/* SPDX-License-Identifier: MIT */

/*
 * creds.h: a thread acts with the ids, groups and capabilities of a requester, which is a process of its own here,
 * and with no more.  Without root there is only the umask.
 */

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <signal.h>
#include <sys/capability.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "base/cleanup.h"
#include "base/rights.h"
#include "ftrac/creds.h"
#include "test.h"

enum { USER = 65530, GROUP = 65531, EXTRA = 65532 };

/* A process that waits until it is told to change what it is, step by step. */
struct other {
	pid_t pid;
	int steps, done; /* pipes: a byte for each step; a byte for each that was made */
};

static int setup(void **state)
{
	struct temp *temp = calloc(1, sizeof(*temp));

	assert_non_null(temp);
	temp_make(temp);
	chmod(temp_path(temp, "."), 0755);
	*state = temp;
	return 0;
}

static int teardown(void **state)
{
	creds_become_daemon();
	temp_take_away(*state);
	free(*state);
	return 0;
}

static void skip_unless_privileged(void)
{
	if (creds_privileged())
		return;
	print_message("# needs root\n");
	skip();
}

/* steps[0] is made before this returns. */
static struct other start(void (*const *steps)(void))
{
	int go[2], made[2];
	struct other other;

	assert_int_equal(pipe(go), 0);
	assert_int_equal(pipe(made), 0);
	other = (struct other){ .pid = fork(), .steps = go[1], .done = made[0] };
	if (other.pid == 0) {
		char byte;

		prctl(PR_SET_SECUREBITS, 0); /* ids and capabilities change together, as usual */
		close(go[1]);
		for (; *steps; steps++) {
			(*steps)();
			if (write(made[1], "", 1) != 1 || read(go[0], &byte, 1) != 1)
				_exit(0);
		}
		_exit(read(go[0], &byte, 1) != 0);
	}
	close(go[0]);
	close(made[1]);
	assert_int_equal(read(other.done, &(char){ 0 }, 1), 1);
	return other;
}

static void next_step(const struct other *other)
{
	assert_int_equal(write(other->steps, "", 1), 1);
	assert_int_equal(read(other->done, &(char){ 0 }, 1), 1);
}

static void end(const struct other *other)
{
	close(other->steps);
	close(other->done);
	creds_become_daemon();
	kill(other->pid, SIGKILL); /* the others have its pipes, too */
	waitpid(other->pid, NULL, 0);
}

static void be_user(void)
{
	const gid_t groups[] = { GROUP, EXTRA };

	if (setgroups(2, groups) < 0 || setresgid(USER, USER, USER) < 0 || setresuid(USER, USER, USER) < 0)
		_exit(1);
}

static void be_user_without_groups(void)
{
	if (setgroups(0, NULL) < 0 || setresgid(USER, USER, USER) < 0 || setresuid(USER, USER, USER) < 0)
		_exit(1);
}

static void be_user_of_many_groups(void)
{
	gid_t groups[100];

	for (int i = 0; i < 100; i++)
		groups[i] = 70000 + i;
	groups[99] = EXTRA;
	if (setgroups(100, groups) < 0 || setresuid(USER, USER, USER) < 0)
		_exit(1);
}

static void stay(void)
{
}

static void drop_fowner(void)
{
	cap_t caps = cap_get_proc();
	const cap_value_t fowner = CAP_FOWNER;

	if (cap_set_flag(caps, CAP_EFFECTIVE, 1, &fowner, CAP_CLEAR) < 0 || cap_set_proc(caps) < 0)
		_exit(1);
}

static void enter_namespace(void)
{
	if (unshare(CLONE_NEWUSER) < 0)
		_exit(1);
}

static struct requester user(const struct other *other)
{
	return (struct requester){ .tid = other->pid, .uid = USER, .gid = USER };
}

static const struct creds_object nothing = { .fd = -1, .other = -1 };

static uint64_t effective(void)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct caps[2] = { 0 };

	assert_int_equal(capget(&head, caps), 0);
	return caps[0].effective | (uint64_t)caps[1].effective << 32;
}

static int make_file(const char *path, uid_t uid, gid_t gid, mode_t mode)
{
	int fd;

	creds_become_daemon();
	fd = open(path, O_CREAT | O_RDWR, 0600);
	assert_true(fd >= 0);
	assert_int_equal(fchown(fd, uid, gid), 0);
	assert_int_equal(fchmod(fd, mode), 0);
	return fd;
}

static bool can_read(const char *path)
{
	int fd = open(path, O_RDONLY);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static void umask_is_that_of_the_requester(void **state)
{
	const mode_t masks[] = { 022, 077, 022 };
	struct stat st;

	for (int i = 0; i < 3; i++) {
		const char *path = temp_path(*state, (const char *[]){ "a", "b", "c" }[i]);

		creds_umask(masks[i]);
		close(open(path, O_CREAT | O_EXCL | O_WRONLY, 0666));
		assert_int_equal(stat(path, &st), 0);
		assert_int_equal(st.st_mode & 07777, 0666 & ~masks[i]);
	}
}

static void a_user_has_no_capability(TEST_UNUSED void **state)
{
	struct other other;
	struct requester requester;

	skip_unless_privileged();
	other = start((void (*const[])(void)){ be_user, NULL });
	requester = user(&other);
	assert_int_equal(creds_become(&requester, &nothing), 0);
	assert_int_equal(effective(), 0);
	creds_become_daemon();
	assert_true(effective() & RIGHT(CAP_CHOWN));
	end(&other);
}

static void what_is_made_belongs_to_the_requester(void **state)
{
	const char *dir = temp_path(*state, "dir");
	struct other other;
	struct requester requester;
	struct stat st;
	int fd;

	skip_unless_privileged();
	other = start((void (*const[])(void)){ be_user, NULL });
	requester = user(&other);
	assert_int_equal(mkdir(dir, 0755), 0);
	assert_int_equal(chown(dir, USER, USER), 0);
	assert_int_equal(creds_become(&requester, &nothing), 0);
	fd = open(temp_path(*state, "dir/a"), O_CREAT | O_EXCL | O_WRONLY, 0644);
	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(st.st_uid, USER);
	assert_int_equal(st.st_gid, USER);
	close(fd);
	end(&other);
}

static void groups_allow_and_deny(void **state)
{
	cleanup_free char *allows = strdup(temp_path(*state, "allows"));
	cleanup_free char *denies = strdup(temp_path(*state, "denies"));
	struct other in, out, many;
	struct requester requester;

	skip_unless_privileged();
	in = start((void (*const[])(void)){ be_user, NULL });
	out = start((void (*const[])(void)){ be_user_without_groups, NULL });
	many = start((void (*const[])(void)){ be_user_of_many_groups, NULL });
	close(make_file(allows, 0, EXTRA, 0040));
	close(make_file(denies, 0, EXTRA, 0004));
	requester = user(&in);
	assert_int_equal(creds_become(&requester, &nothing), 0);
	assert_true(can_read(allows));
	assert_false(can_read(denies));
	requester = user(&out);
	assert_int_equal(creds_become(&requester, &nothing), 0);
	assert_false(can_read(allows));
	assert_true(can_read(denies));
	for (int i = 0; i < 2; i++) {
		requester = (struct requester){ .tid = many.pid, .uid = USER };
		assert_int_equal(creds_become(&requester, &nothing), 0);
		assert_true(can_read(allows));
		assert_false(can_read(denies));
	}
	end(&in);
	end(&out);
	end(&many);
}

static void an_owner_that_has_changed_is_seen(void **state)
{
	struct other other;
	struct requester requester;
	int fd;

	skip_unless_privileged();
	other = start((void (*const[])(void)){ be_user, NULL });
	requester = user(&other);
	fd = make_file(temp_path(*state, "a"), USER, USER, 0755);
	assert_int_equal(creds_become(&requester, &nothing), 0);
	assert_int_equal(fchmod(fd, 0700), 0);
	creds_become_daemon();
	assert_int_equal(fchown(fd, 0, 0), 0);
	assert_int_equal(creds_become(&requester, &nothing), 0);
	assert_int_equal(fchmod(fd, 04755), -1);
	assert_int_equal(errno, EPERM);
	close(fd);
	end(&other);
}

static void a_capability_that_was_given_up_counts_no_more(void **state)
{
	struct other other;
	struct requester requester;
	int fd;

	skip_unless_privileged();
	other = start((void (*const[])(void)){ stay, drop_fowner, NULL });
	requester = (struct requester){ .tid = other.pid };
	fd = make_file(temp_path(*state, "a"), USER, USER, 0644);
	assert_int_equal(creds_become(&requester, &nothing), 0);
	assert_int_equal(fchmod(fd, 0600), 0);
	next_step(&other);
	assert_int_equal(creds_become(&requester, &nothing), 0);
	assert_int_equal(fchmod(fd, 0644), -1);
	assert_int_equal(errno, EPERM);
	close(fd);
	end(&other);
}

static void what_was_remembered_is_read_again(TEST_UNUSED void **state)
{
	struct other other;
	struct requester requester;

	skip_unless_privileged();
	other = start((void (*const[])(void)){ be_user_without_groups, stay, NULL });
	requester = user(&other);
	assert_int_equal(creds_become(&requester, &nothing), 0);
	assert_false(creds_again(&requester, &nothing)); /* was read just now */
	assert_int_equal(creds_become(&requester, &nothing), 0);
	assert_false(creds_again(&requester, &nothing)); /* nothing new */
	end(&other);
}

static void capabilities_of_a_namespace_count_for_its_own_ids(void **state)
{
	struct other other;
	struct requester requester;
	struct creds_object object;
	char path[64];
	int map, own, foreign;

	skip_unless_privileged();
	other = start((void (*const[])(void)){ enter_namespace, stay, NULL });
	for (int i = 0; i < 2; i++) {
		snprintf(path, sizeof(path), "/proc/%d/%s", other.pid, i ? "gid_map" : "uid_map");
		map = open(path, O_WRONLY);
		assert_true(map >= 0);
		assert_true(write(map, "0 0 1\n1 100000 1000\n", 20) == 20);
		close(map);
	}
	own = make_file(temp_path(*state, "own"), 100005, 100007, 0600);
	foreign = make_file(temp_path(*state, "foreign"), USER, USER, 0600);
	requester = (struct requester){ .tid = other.pid };
	object = (struct creds_object){ .fd = own, .other = -1 };
	assert_int_equal(creds_become(&requester, &object), 0);
	assert_int_equal(fchmod(own, 0644), 0);
	object.fd = foreign;
	assert_int_equal(creds_become(&requester, &object), 0);
	assert_int_equal(effective(), 0);
	assert_int_equal(fchmod(foreign, 0644), -1);
	object = (struct creds_object){ .fd = own, .other = foreign };
	assert_int_equal(creds_become(&requester, &object), 0);
	assert_int_equal(effective(), 0);
	object = (struct creds_object){ .fd = own, .other = -1, .names = true };
	assert_int_equal(creds_become(&requester, &object), 0);
	assert_true(effective() & RIGHT(CAP_DAC_OVERRIDE));
	assert_false(effective() & RIGHT(CAP_FOWNER));
	close(own);
	close(foreign);
	end(&other);
}

static void an_unknown_requester_has_what_its_uid_has(TEST_UNUSED void **state)
{
	const struct requester root = { .tid = 0 }, other = { .uid = USER, .gid = USER };

	skip_unless_privileged();
	assert_int_equal(creds_become(&other, &nothing), 0);
	assert_int_equal(effective(), 0);
	assert_int_equal(creds_become(&root, &nothing), 0);
	assert_true(effective() & RIGHT(CAP_DAC_OVERRIDE));
	assert_false(effective() & RIGHT(CAP_SYS_RESOURCE));
}

static void what_is_raised_is_dropped(TEST_UNUSED void **state)
{
	const struct requester other = { .uid = USER, .gid = USER };
	uint64_t before;

	skip_unless_privileged();
	assert_int_equal(creds_become(&other, &nothing), 0);
	before = creds_raise(RIGHT(CAP_DAC_READ_SEARCH));
	assert_int_equal(effective(), RIGHT(CAP_DAC_READ_SEARCH));
	creds_drop(before);
	assert_int_equal(effective(), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(umask_is_that_of_the_requester),
		TEST(a_user_has_no_capability),
		TEST(what_is_made_belongs_to_the_requester),
		TEST(groups_allow_and_deny),
		TEST(an_owner_that_has_changed_is_seen),
		TEST(a_capability_that_was_given_up_counts_no_more),
		TEST(what_was_remembered_is_read_again),
		TEST(capabilities_of_a_namespace_count_for_its_own_ids),
		TEST(an_unknown_requester_has_what_its_uid_has),
		TEST(what_is_raised_is_dropped),
	};

	if (creds_init(RIGHTS_ALL, false) < 0)
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
