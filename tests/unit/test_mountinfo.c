/* SPDX-License-Identifier: MIT */

/* mountinfo.h: what lines of /proc/PID/mountinfo say, and what is no such line. */

#include "tests/unit/test.h"

#include "base/mountinfo.h"

static struct mountinfo parse(const char *line)
{
	struct mountinfo mount;

	assert_true(mountinfo_parse(line, &mount));
	return mount;
}

static void a_line_has_its_fields(TEST_UNUSED void **state)
{
	struct mountinfo m = parse("36 35 98:0 /root /mnt/a ro,noatime master:1 shared:2 - ext3 /dev/r rw\n");

	assert_int_equal(m.id, 36);
	assert_int_equal(m.major, 98);
	assert_int_equal(m.minor, 0);
	assert_string_equal(m.path, "/mnt/a");
	assert_string_equal(m.options, "ro,noatime");
	assert_string_equal(m.fstype, "ext3");
	assert_string_equal(m.root, "/root");
	assert_string_equal(m.source, "/dev/r");
	assert_string_equal(parse("1 0 0:1 / / rw - rootfs none rw").fstype, "rootfs");
}

static void escapes_are_three_octal_digits(TEST_UNUSED void **state)
{
	assert_string_equal(parse("1 0 0:1 / /a\\040b\\011c\\134\\377 rw - x y z").path,
		"/a b\tc\\\377");
	assert_string_equal(parse("1 0 0:1 / /a\\1!!\\08z\\4x\\ rw - x y z").path, "/a\\1!!\\08z\\4x\\");
}

static void options_are_whole_words(TEST_UNUSED void **state)
{
	struct mountinfo m = parse("1 0 0:1 / / rw,nosuid,noatime - x y ro");

	assert_true(mountinfo_has(&m, "rw"));
	assert_true(mountinfo_has(&m, "nosuid"));
	assert_true(mountinfo_has(&m, "noatime"));
	assert_false(mountinfo_has(&m, "ro"));
	assert_false(mountinfo_has(&m, "suid"));
	assert_false(mountinfo_has(&m, "noa"));
}

static void a_mount_of_fuse_has_a_user_and_a_group(TEST_UNUSED void **state)
{
	struct mountinfo m = parse("1 0 0:1 / / rw - fuse.ftrac / rw,xuser_id=7,user_id=1000,group_id=5,allow_other\n");

	assert_int_equal(mountinfo_id(&m, "user_id", -1), 1000);
	assert_int_equal(mountinfo_id(&m, "group_id", -1), 5);
	assert_int_equal(mountinfo_id(&m, "id", -1), -1);
	m = parse("1 0 0:1 / / rw - x y");
	assert_int_equal(mountinfo_id(&m, "user_id", -1), -1);
}

static void what_is_too_long_is_cut(TEST_UNUSED void **state)
{
	struct mountinfo m;
	char line[9000];

	snprintf(line, sizeof(line), "1 0 0:1 / /%0*d rw - x y z", 5000, 0);
	if (mountinfo_parse(line, &m))
		assert_int_equal(strlen(m.path), sizeof(m.path) - 1);
	snprintf(line, sizeof(line), "1 0 0:1 / / %0*d - %0*d y z", 5000, 0, 100, 0);
	m = parse(line);
	assert_int_equal(strlen(m.options), sizeof(m.options) - 1);
	assert_int_equal(strlen(m.fstype), sizeof(m.fstype) - 1);
}

static void a_file_system_of_nfs_has_the_number_of_its_server(TEST_UNUSED void **state)
{
	struct mountinfo m = parse("36 35 0:45 / /mnt/a rw - nfs4 server:/srv rw\n");
	char fsid[MOUNTINFO_FSID], text[MOUNTINFO_TEXT];

	assert_false(mountinfo_nfs_fsid(&m, "NV SERVER   PORT DEV          FSID                              FSC\n", fsid));
	assert_false(mountinfo_nfs_fsid(&m, "v4 0a000001  801 0:46         5e9a12bc:0                        no \n", fsid));
	assert_true(mountinfo_nfs_fsid(&m, "v4 0a000001  801 0:45         5e9a12bc:0                        no \n", fsid));
	assert_string_equal(fsid, "0a000001/5e9a12bc:0");
	assert_int_equal(mountinfo_text(&m, fsid, text), sizeof("nfs4\0/mnt/a\0/\0server:/srv\0" "0a000001/5e9a12bc:0"));
	assert_memory_equal(text, "nfs4\0/mnt/a\0/\0server:/srv\0" "0a000001/5e9a12bc:0", sizeof("nfs4\0/mnt/a\0/\0server:/srv\0" "0a000001/5e9a12bc:0"));
	assert_int_equal(mountinfo_text(&m, NULL, text), sizeof("nfs4\0/mnt/a\0/\0server:/srv\0"));
}

static void a_local_file_system_has_no_number_for_all_machines(TEST_UNUSED void **state)
{
	struct mountinfo m = parse("36 35 8:1 / / rw - ext4 /dev/sda1 rw\n");
	char fsid[MOUNTINFO_FSID];

	assert_false(mountinfo_fsid(&m, -1, fsid));
}

static void other_lines_are_none(TEST_UNUSED void **state)
{
	static const char *const lines[] = { "", "\n", " - ", "x y - z", "1 0 0:1 / / rw ext3",
		"1 0 0:1 / - x y z", "1 0 0:1 / / rw - " };
	struct mountinfo m;

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		assert_false(mountinfo_parse(lines[i], &m));
}

static bool count(void *arg, const struct mountinfo *mount)
{
	assert_int_equal(mount->path[0], '/');
	return ++*(int *)arg < 2;
}

static void each_ends_when_its_callback_stops_it(TEST_UNUSED void **state)
{
	int n = 0;

	mountinfo_each(count, &n);
	assert_in_range(n, 1, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_line_has_its_fields),
		cmocka_unit_test(escapes_are_three_octal_digits),
		cmocka_unit_test(options_are_whole_words),
		cmocka_unit_test(a_mount_of_fuse_has_a_user_and_a_group),
		cmocka_unit_test(what_is_too_long_is_cut),
		cmocka_unit_test(a_file_system_of_nfs_has_the_number_of_its_server),
		cmocka_unit_test(a_local_file_system_has_no_number_for_all_machines),
		cmocka_unit_test(other_lines_are_none),
		cmocka_unit_test(each_ends_when_its_callback_stops_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
