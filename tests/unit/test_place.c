/* SPDX-License-Identifier: MIT */

/*
 * place.h, output.h, rights.h: what others have put in the way is not used; files are made exclusively; rights
 * that are given up are gone.  Others are there only for root.
 */

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/output.h"
#include "base/place.h"
#include "base/rights.h"
#include "test.h"

enum { OTHER_USER = 65530 };

struct world {
	struct temp temp;
	char top[64 + 256]; /* for all, with a sticky bit; "elsewhere" beside it */
};

static int setup(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	assert_non_null(w);
	temp_make(&w->temp);
	assert_int_equal(mkdir(temp_path(&w->temp, "elsewhere"), 0755), 0);
	snprintf(w->top, sizeof(w->top), "%s", temp_path(&w->temp, "top"));
	assert_int_equal(mkdir(w->top, 0700), 0);
	assert_int_equal(chmod(w->top, 01777), 0);
	*state = w;
	return 0;
}

static int teardown(void **state)
{
	struct world *w = *state;

	temp_take_away(&w->temp);
	free(w);
	return 0;
}

static const char *at(struct world *w, const char *name)
{
	static char path[2][64 + 256 + 256];
	static int next;

	next = !next;
	snprintf(path[next], sizeof(path[next]), "%s/%s", w->top, name);
	return path[next];
}

/* What place_open() says; the name it ends at, and whether that is below elsewhere, are checked. */
static int opened(const char *path, bool follow, const char *name)
{
	char *found = NULL;
	int fd = place_open(path, follow, &found);

	if (fd >= 0) {
		assert_string_equal(found, name);
		close(fd);
	}
	free(found);
	return fd < 0 ? fd : 0;
}

static void link_to(struct world *w, const char *target, const char *name, uid_t owner)
{
	assert_int_equal(symlink(target, at(w, name)), 0);
	if (geteuid() == 0)
		assert_int_equal(lchown(at(w, name), owner, owner), 0);
}

static void skip_unless_root(void)
{
	if (geteuid() == 0)
		return;
	print_message("# needs root, to become another user\n");
	skip();
}

static void links_of_ours_are_followed(void **state)
{
	struct world *w = *state;

	link_to(w, "../elsewhere", "way", geteuid());
	link_to(w, "way/../elsewhere/x", "end", geteuid());
	assert_int_equal(opened(at(w, "way/x"), false, "x"), 0);
	assert_int_equal(opened(at(w, "end"), true, "x"), 0);
	assert_int_equal(opened(at(w, "end"), false, "end"), 0);
}

static void links_of_others_are_not(void **state)
{
	struct world *w = *state;

	skip_unless_root();
	link_to(w, "../elsewhere", "theirs", OTHER_USER);
	link_to(w, "theirs", "ours", 0);
	assert_int_equal(opened(at(w, "theirs/x"), false, "x"), -ELOOP);
	assert_int_equal(opened(at(w, "ours/x"), false, "x"), -ELOOP);
	assert_int_equal(opened(at(w, "theirs"), true, ""), -ELOOP);
	assert_int_equal(chmod(w->top, 0755), 0); /* no other user could have made one here */
	assert_int_equal(opened(at(w, "theirs/x"), false, "x"), 0);
	assert_int_equal(chmod(w->top, 0775), 0); /* its group could */
	assert_int_equal(opened(at(w, "theirs/x"), false, "x"), -ELOOP);
}

static void links_in_directories_of_others_are_theirs(void **state)
{
	struct world *w = *state;

	skip_unless_root();
	assert_int_equal(chmod(w->top, 0755), 0);
	assert_int_equal(chown(w->top, OTHER_USER, OTHER_USER), 0);
	link_to(w, "../elsewhere", "theirs", OTHER_USER);
	link_to(w, "../elsewhere", "ours", 0);
	assert_int_equal(opened(at(w, "theirs/x"), false, "x"), -ELOOP);
	assert_int_equal(opened(at(w, "ours/x"), false, "x"), 0);
	setenv("SUDO_UID", "65530", 1); /* they have called us */
	assert_int_equal(opened(at(w, "theirs/x"), false, "x"), 0);
	unsetenv("SUDO_UID");
}

/* A user that may rename there exchanges a link of ours and another one while we look. */
static void what_is_judged_is_what_is_followed(void **state)
{
	struct world *w = *state;
	char a[512], b[512], *found;
	int followed = 0, fd;
	pid_t other;

	skip_unless_root();
	link_to(w, "ours", "a", 0);
	link_to(w, "theirs", "b", OTHER_USER);
	snprintf(a, sizeof(a), "%s", at(w, "a"));
	snprintf(b, sizeof(b), "%s", at(w, "b"));
	other = fork();
	if (other == 0)
		prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (other == 0)
		renameat2(AT_FDCWD, a, AT_FDCWD, b, RENAME_EXCHANGE);
	for (int i = 0; i < 20000; i++) {
		found = NULL;
		fd = place_open(a, true, &found);
		if (fd >= 0) {
			assert_string_equal(found, "ours");
			close(fd);
			followed++;
		} else {
			assert_int_equal(fd, -ELOOP);
		}
		free(found);
	}
	kill(other, SIGKILL);
	waitpid(other, NULL, 0);
	print_message("# followed %d times of 20000\n", followed);
}

static void circles_and_dead_ends_are_errors(void **state)
{
	struct world *w = *state;

	link_to(w, "b", "a", geteuid());
	link_to(w, "a", "b", geteuid());
	assert_int_equal(opened(at(w, "a/x"), false, ""), -ELOOP);
	assert_int_equal(opened(at(w, "nothing/x"), false, ""), -ENOENT);
	assert_int_equal(opened(at(w, "nothing"), false, "nothing"), 0);
	assert_int_equal(opened("", false, ""), -ENOENT);
	assert_int_equal(opened("/", false, ""), -EISDIR);
}

static void new_file_is_made_once_and_cleared_if_it_is_ours(void **state)
{
	struct world *w = *state;
	int dir = open(w->top, O_PATH), fd = place_create(dir, "f", 0600);
	struct stat st;

	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(st.st_mode, S_IFREG | 0600);
	assert_int_equal(place_create(dir, "f", 0600), -EEXIST);
	assert_int_equal(place_clear(dir, "f"), 0);
	assert_int_equal(place_clear(dir, "f"), 0);
	assert_int_equal(mkfifo(at(w, "p"), 0600), 0);
	assert_int_equal(place_clear(dir, "p"), -EPERM);
	if (geteuid() == 0) {
		close(place_create(dir, "g", 0600));
		assert_int_equal(chown(at(w, "g"), OTHER_USER, OTHER_USER), 0);
		assert_int_equal(place_clear(dir, "g"), -EPERM);
	}
	close(fd);
	close(dir);
}

static void output_takes_the_place_of_a_file_when_it_is_whole(void **state)
{
	struct world *w = *state;
	struct output o;
	char byte = 0;
	int fd;

	assert_int_equal(output_open(at(w, "out"), &o), 0);
	assert_int_equal(write(o.fd, "1", 1), 1);
	assert_int_equal(access(at(w, "out"), F_OK), -1);
	assert_int_equal(output_close(&o, 0), 0);
	assert_int_equal(output_open(at(w, "out"), &o), 0);
	assert_int_equal(output_close(&o, -EIO), -EIO);
	fd = open(at(w, "out"), O_RDONLY);
	assert_int_equal(read(fd, &byte, 1), 1);
	assert_int_equal(byte, '1');
	close(fd);
	assert_int_equal(access(at(w, "out.part"), F_OK), -1);
	assert_int_equal(output_open("/dev/null", &o), 0);
	assert_int_equal(output_close(&o, 0), 0);
}

static void output_keeps_the_mode_of_what_was_there(void **state)
{
	struct world *w = *state;
	const mode_t modes[] = { 0600, 0664, 0444 }, umask_before = umask(022);
	struct output o;
	struct stat st;

	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
		assert_int_equal(output_open(at(w, "out"), &o), 0);
		assert_int_equal(fstat(o.fd, &st), 0);
		assert_int_equal(st.st_mode & 0777, i ? modes[i - 1] : 0644);
		assert_int_equal(output_close(&o, 0), 0);
		assert_int_equal(chmod(at(w, "out"), modes[i]), 0);
	}
	if (geteuid() == 0) { /* one of others does not say what ours may be */
		assert_int_equal(chown(at(w, "out"), OTHER_USER, OTHER_USER), 0);
		assert_int_equal(output_open(at(w, "out"), &o), 0);
		assert_int_equal(fstat(o.fd, &st), 0);
		assert_int_equal(st.st_mode & 0777, 0644);
		assert_int_equal(output_close(&o, 0), 0);
	}
	umask(umask_before);
}

static uint64_t permitted(void)
{
	FILE *f = fopen("/proc/self/status", "re");
	unsigned long long caps = 0;
	char line[256];

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "CapPrm: %llx", &caps) == 1)
			break;
	fclose(f);
	return caps;
}

static void rights_that_are_not_kept_are_gone(void **state)
{
	uint64_t before = permitted();
	int status;
	pid_t pid = fork();

	(void)state;
	if (pid == 0) {
		uint64_t keep = RIGHT(CAP_KILL) | RIGHT(CAP_SYS_PTRACE);
		bool right = rights_keep(keep, false) == 0 && permitted() == (before & keep) &&
			rights_keep(0, true) == 0 && permitted() == 0 && rights_keep(RIGHTS_ALL, true) == 0;

		_exit(right ? 0 : 1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(links_of_ours_are_followed, setup, teardown),
		cmocka_unit_test_setup_teardown(links_of_others_are_not, setup, teardown),
		cmocka_unit_test_setup_teardown(links_in_directories_of_others_are_theirs, setup, teardown),
		cmocka_unit_test_setup_teardown(what_is_judged_is_what_is_followed, setup, teardown),
		cmocka_unit_test_setup_teardown(circles_and_dead_ends_are_errors, setup, teardown),
		cmocka_unit_test_setup_teardown(new_file_is_made_once_and_cleared_if_it_is_ours, setup, teardown),
		cmocka_unit_test_setup_teardown(output_takes_the_place_of_a_file_when_it_is_whole, setup, teardown),
		cmocka_unit_test_setup_teardown(output_keeps_the_mode_of_what_was_there, setup, teardown),
		cmocka_unit_test(rights_that_are_not_kept_are_gone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
