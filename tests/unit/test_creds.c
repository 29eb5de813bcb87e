/* SPDX-License-Identifier: MIT */

/*
 * creds.h: what a handler creates belongs to the requester and is cut by his umask; writing
 * takes suid and sgid away.  Without root there is only the umask.
 */

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/rights.h"
#include "ftrac/creds.h"
#include "test.h"

enum { NOBODY = 65534 };

static int setup(void **state)
{
	struct temp *temp = calloc(1, sizeof(*temp));

	assert_non_null(temp);
	temp_make(temp);
	*state = temp;
	return 0;
}

static int teardown(void **state)
{
	temp_take_away(*state);
	free(*state);
	return 0;
}

static struct creds own(mode_t mask)
{
	return (struct creds){ .uid = geteuid(), .gid = getegid(), .umask = mask };
}

static struct stat create(const char *path, const struct creds *creds, mode_t mode)
{
	struct stat st;
	int fd;

	creds_enter(creds);
	fd = open(path, O_CREAT | O_EXCL | O_WRONLY, mode);
	creds_leave(creds);
	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &st), 0);
	close(fd);
	return st;
}

static void skip_unless_privileged(void)
{
	if (creds_privileged())
		return;
	print_message("# needs root\n");
	skip();
}

static void umask_is_that_of_the_requester(void **state)
{
	struct creds a = own(022), b = own(077);

	assert_int_equal(create(temp_path(*state, "a"), &a, 0666).st_mode & 07777, 0644);
	assert_int_equal(create(temp_path(*state, "b"), &b, 0666).st_mode & 07777, 0600);
	assert_int_equal(create(temp_path(*state, "c"), &a, 0666).st_mode & 07777, 0644);
}

static void created_file_belongs_to_the_requester(void **state)
{
	struct creds creds = { .uid = NOBODY, .gid = NOBODY, .umask = 022 };
	struct stat st;

	skip_unless_privileged();
	st = create(temp_path(*state, "a"), &creds, 0666);
	assert_int_equal(st.st_uid, NOBODY);
	assert_int_equal(st.st_gid, NOBODY);
}

static void next_file_belongs_to_its_own_requester(void **state)
{
	struct creds other = { .uid = NOBODY, .gid = NOBODY, .umask = 022 }, self = own(022);

	skip_unless_privileged();
	create(temp_path(*state, "a"), &other, 0666);
	assert_int_equal(create(temp_path(*state, "b"), &self, 0666).st_uid, 0);
}

static void rights_stay_in_the_name_of_another(void **state)
{
	struct creds creds = { .uid = NOBODY, .gid = NOBODY, .umask = 022 };

	skip_unless_privileged(); /* the directory is ours alone, the kernel has judged before */
	assert_int_equal(create(temp_path(*state, "a"), &creds, 0600).st_uid, NOBODY);
}

static void suid_that_is_asked_for_is_set(void **state)
{
	struct creds creds = own(0);

	creds.mode = S_ISGID | 0755;
	assert_int_equal(create(temp_path(*state, "a"), &creds, S_ISGID | 0755).st_mode & 07777,
		S_ISGID | 0755);
}

static void writing_takes_suid_and_sgid_away(void **state)
{
	const char *path = temp_path(*state, "a");
	struct creds creds = own(0);
	struct stat st;
	int fd;

	skip_unless_privileged();
	create(path, &creds, 0666);
	creds_raise_fsetid(06777);
	assert_int_equal(chmod(path, 06777), 0);
	creds_drop_fsetid(06777);
	fd = open(path, O_WRONLY);
	assert_int_equal(write(fd, "x", 1), 1);
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0777);
	close(fd);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(umask_is_that_of_the_requester),
		TEST(created_file_belongs_to_the_requester),
		TEST(next_file_belongs_to_its_own_requester),
		TEST(rights_stay_in_the_name_of_another),
		TEST(suid_that_is_asked_for_is_set),
		TEST(writing_takes_suid_and_sgid_away),
	};

	if (creds_init(RIGHTS_ALL, false) < 0)
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
