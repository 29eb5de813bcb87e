/* SPDX-License-Identifier: MIT */

/*
 * options.h: the command line.  An error gives one line - what, why, what to do - and
 * by the status: 2 when it was asked for in a wrong way, 1 when it cannot be done.
 */

#include <errno.h>
#include <getopt.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "base/err.h"
#include "ftrac/options.h"
#include "test.h"

struct command_line {
	struct temp temp;
	struct options options;
	bool parsed;
	int status;
	char out[8192], err[1024];
};

static int setup(void **state)
{
	struct command_line *c = calloc(1, sizeof(*c));

	assert_non_null(c);
	temp_make(&c->temp);
	assert_int_equal(chdir(c->temp.dir), 0);
	assert_int_equal(mkdir("mnt", 0700), 0);
	assert_int_equal(mkdir("src", 0700), 0);
	fclose(fopen("file", "w"));
	*state = c;
	return 0;
}

static int teardown(void **state)
{
	struct command_line *c = *state;

	if (c->parsed)
		options_finish(&c->options);
	assert_int_equal(chdir("/"), 0);
	temp_take_away(&c->temp);
	free(c);
	return 0;
}

/* What is written to a descriptor from now on; its old place is the result. */
static int catch(int fd, int file)
{
	int saved = dup(fd);

	assert_true(saved >= 0 && dup2(file, fd) == fd);
	return saved;
}

static void caught(int fd, int file, int saved, char *text, size_t size)
{
	ssize_t n = pread(file, text, size - 1, 0);

	text[n < 0 ? 0 : n] = '\0';
	dup2(saved, fd);
	close(saved);
	close(file);
}

/* Parses "ftrac" and the words up to NULL; 0 or not as options_parse(). */
static int parse_words(struct command_line *c, char **argv)
{
	int out = memfd_create("out", 0), err = memfd_create("err", 0), saved_out, saved_err;
	int argc = 0, r;

	while (argv[argc])
		argc++;
	fflush(stdout);
	saved_out = catch(1, out);
	saved_err = catch(2, err);
	if (c->parsed)
		options_finish(&c->options);
	optind = 0; /* glibc: begin anew */
	r = options_parse(argc, argv, &c->options, &c->status);
	fflush(stdout);
	caught(1, out, saved_out, c->out, sizeof(c->out));
	caught(2, err, saved_err, c->err, sizeof(c->err));
	c->parsed = true;
	return r;
}

#define PARSE(c, ...) parse_words(c, (char **)(const char *[]){ "ftrac", __VA_ARGS__, NULL })

/* The command line is refused with that status, in one line that says all these words. */
#define REFUSED(c, wanted, w1, w2, ...)                                                        \
	do {                                                                                   \
		assert_int_not_equal(PARSE(c, __VA_ARGS__), 0);                                \
		assert_int_equal((c)->status, wanted);                                         \
		expect_line(c, w1);                                                            \
		expect_line(c, w2);                                                            \
	} while (0)

static void expect_line(const struct command_line *c, const char *words)
{
	const char *newline = strchr(c->err, '\n');

	if (!newline || newline[1])
		fail_msg("not one line: '%s'", c->err);
	if (!strstr(c->err, words))
		fail_msg("no \"%s\" in: %s", words, c->err);
	assert_string_equal(c->out, "");
}

/* ---- valid ---- */

static void mount_point_alone_is_enough(void **state)
{
	struct command_line *c = *state;
	char *mnt = realpath("mnt", NULL);

	assert_int_equal(PARSE(c, "mnt"), 0);
	assert_string_equal(c->options.mountpoint, mnt);
	assert_string_equal(c->options.source, "/");
	assert_string_equal(c->options.db, "trace.db");
	assert_int_equal(c->options.fidelity, FIDELITY_EXACT);
	assert_false(c->options.fidelity_given || c->options.force || c->options.foreground ||
		c->options.no_ops || c->options.no_record || c->options.drop);
	assert_int_equal(c->options.processes, MONITOR_AUTO);
	assert_int_equal(c->options.io_uring, TRANSPORT_AUTO);
	assert_null(c->options.include.word);
	assert_string_equal(c->err, "");
	free(mnt);
}

static void every_option_arrives(void **state)
{
	struct command_line *c = *state;
	struct options *o = &c->options;

	assert_int_equal(PARSE(c, "-f", "--db", "x.db", "--force", "--fidelity", "cached", "--stat",
		"--no-ops", "--drop", "--job", "7", "--xform=mAdd", "--processes", "inband", "--io-uring", "off",
		"mnt"), 0);
	assert_true(o->foreground && o->force && o->stat && o->no_ops && o->drop);
	assert_int_equal(o->processes, MONITOR_INBAND);
	assert_int_equal(o->io_uring, TRANSPORT_DEVICE);
	assert_false(o->debug || o->no_record);
	assert_int_equal(o->fidelity, FIDELITY_CACHED);
	assert_true(o->fidelity_given);
	assert_string_equal(o->db, "x.db");
	assert_string_equal(o->job, "7");
	assert_string_equal(o->xform, "mAdd");
}

static void repeated_options_add_up(void **state)
{
	struct command_line *c = *state;
	struct options *o = &c->options;

	assert_int_equal(PARSE(c, "--include", "/a/*", "--include=/b", "--exclude", "*.o", "--env",
		"SLURM_*", "mnt"), 0);
	assert_int_equal(o->include.n, 2);
	assert_string_equal(o->include.word[0], "/a/*");
	assert_string_equal(o->include.word[1], "/b");
	assert_null(o->include.word[2]);
	assert_string_equal(o->exclude.word[0], "*.o");
	assert_string_equal(o->env.word[0], "SLURM_*");
}

static void options_may_follow_the_mount_point(void **state)
{
	struct command_line *c = *state;

	assert_int_equal(PARSE(c, "mnt", "--force", "-o", "source=src"), 0);
	assert_true(c->options.force);
	assert_non_null(strstr(c->options.source, "/src"));
}

static void source_is_absolute_and_without_links(void **state)
{
	struct command_line *c = *state;
	char *src = realpath("src", NULL);

	assert_int_equal(symlink("src", "link"), 0);
	assert_int_equal(PARSE(c, "-o", "allow_other,source=link/,ro", "mnt"), 0);
	assert_string_equal(c->options.source, src);
	free(src);
}

static int has_fuse_option(const struct options *o, const char *name)
{
	for (int i = 0; i < o->fuse.argc; i++)
		if (strstr(o->fuse.argv[i], name))
			return 1;
	return 0;
}

static void mount_options_are_left_for_libfuse_without_ours(void **state)
{
	struct command_line *c = *state;

	assert_int_equal(PARSE(c, "-o", "source=src,allow_other,db=y.db", "-oro", "mnt"), 0);
	assert_true(has_fuse_option(&c->options, "allow_other"));
	assert_true(has_fuse_option(&c->options, "ro"));
	assert_false(has_fuse_option(&c->options, "source="));
	assert_false(has_fuse_option(&c->options, "db="));
	assert_string_equal(c->options.db, "y.db");
}

static void options_of_fstab_for_mount_itself_are_not_handed_on(void **state)
{
	struct command_line *c = *state;

	assert_int_equal(PARSE(c, "-o", "user,x-gvfs-hide,ro", "mnt"), 0);
	assert_false(has_fuse_option(&c->options, "user"));
	assert_true(has_fuse_option(&c->options, "ro"));
}

static void command_line_is_kept_as_text(void **state)
{
	struct command_line *c = *state;

	assert_int_equal(PARSE(c, "--force", "-o", "source=src", "mnt"), 0);
	assert_string_equal(c->options.text, "--force -o source=src mnt");
}

static void help_is_printed_on_the_standard_output(void **state)
{
	struct command_line *c = *state;

	assert_int_not_equal(PARSE(c, "--help"), 0);
	assert_int_equal(c->status, 0);
	assert_non_null(strstr(c->out, "Usage: ftrac"));
	assert_string_equal(c->err, "");
}

static void version_is_printed_with_that_of_libfuse(void **state)
{
	struct command_line *c = *state;

	assert_int_not_equal(PARSE(c, "-V"), 0);
	assert_int_equal(c->status, 0);
	assert_memory_equal(c->out, "ftrac ", 6);
	assert_non_null(strstr(c->out, "\nlibfuse: 3."));
}

/* ---- asked for in a wrong way ---- */

static void no_mount_point_is_a_usage_error(void **state)
{
	REFUSED((struct command_line *)*state, EXIT_USAGE, "no mount point", "ftrac --help",
		"--force");
}

static void two_mount_points_are_a_usage_error(void **state)
{
	REFUSED((struct command_line *)*state, EXIT_USAGE, "'b'", "one mount point", "/", "mnt", "b");
	REFUSED((struct command_line *)*state, EXIT_USAGE, "'mnt'", "one mount point", "-osource=/",
		"/", "mnt");
}

static void unknown_long_option_is_named(void **state)
{
	REFUSED((struct command_line *)*state, EXIT_USAGE, "unknown option '--frobnicate'",
		"ftrac --help", "--frobnicate", "mnt");
}

static void unknown_short_option_is_named(void **state)
{
	REFUSED((struct command_line *)*state, EXIT_USAGE, "'-x'", "ftrac --help", "-fx", "mnt");
}

static void missing_value_is_reported(void **state)
{
	REFUSED((struct command_line *)*state, EXIT_USAGE, "'--db' needs a value", "ftrac --help",
		"mnt", "--db");
}

static void missing_value_of_a_short_option_is_reported(void **state)
{
	REFUSED((struct command_line *)*state, EXIT_USAGE, "'-o' needs a value", "ftrac --help",
		"mnt", "-o");
}

static void value_where_there_is_none_is_not_an_unknown_option(void **state)
{
	REFUSED((struct command_line *)*state, EXIT_USAGE, "--force", "takes no value", "--force=yes",
		"mnt");
}

static void abbreviation_of_several_options_is_not_guessed(void **state)
{
	REFUSED((struct command_line *)*state, EXIT_USAGE, "'--no'", "ftrac --help", "--no", "mnt");
}

static void unknown_use_of_io_uring_is_reported_with_the_known_ones(void **state)
{
	REFUSED((struct command_line *)*state, EXIT_USAGE, "'yes' for --io-uring", "auto, on or off",
		"--io-uring", "yes", "mnt");
}

static void io_uring_is_no_mount_option(void **state)
{
	REFUSED((struct command_line *)*state, EXIT_USAGE, "'io_uring'", "not supported", "-o",
		"io_uring", "mnt");
}

static void unknown_fidelity_is_reported_with_the_known_ones(void **state)
{
	REFUSED((struct command_line *)*state, EXIT_USAGE, "'fast' for --fidelity", "cached, open or call",
		"--fidelity", "fast", "mnt");
}

static void unknown_source_of_processes_is_reported_with_the_known_ones(void **state)
{
	REFUSED((struct command_line *)*state, EXIT_USAGE, "'x' for --processes", "inband",
		"--processes=x", "mnt");
	REFUSED((struct command_line *)*state, EXIT_USAGE, "'ftrac run' only", "auto",
		"--processes=ptrace", "mnt");
}

/* ---- cannot be done ---- */

static void mount_point_that_is_not_there_is_to_be_made(void **state)
{
	REFUSED((struct command_line *)*state, EXIT_OWN, "mount point 'nowhere'",
		"No such file or directory; make the directory first", "nowhere");
}

static void mount_point_that_is_a_file_is_refused(void **state)
{
	REFUSED((struct command_line *)*state, EXIT_OWN, "mount point 'file'", "not a directory",
		"file");
}

static void source_that_is_not_there_is_refused(void **state)
{
	REFUSED((struct command_line *)*state, EXIT_OWN, "source 'nowhere'",
		"No such file or directory", "-o", "source=nowhere", "mnt");
}

static void source_that_is_a_file_is_refused(void **state)
{
	REFUSED((struct command_line *)*state, EXIT_OWN, "source 'file'", "not a directory", "-o",
		"source=file", "mnt");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(mount_point_alone_is_enough),
		TEST(every_option_arrives),
		TEST(repeated_options_add_up),
		TEST(options_may_follow_the_mount_point),
		TEST(source_is_absolute_and_without_links),
		TEST(mount_options_are_left_for_libfuse_without_ours),
		TEST(options_of_fstab_for_mount_itself_are_not_handed_on),
		TEST(command_line_is_kept_as_text),
		TEST(help_is_printed_on_the_standard_output),
		TEST(version_is_printed_with_that_of_libfuse),
		TEST(no_mount_point_is_a_usage_error),
		TEST(two_mount_points_are_a_usage_error),
		TEST(unknown_long_option_is_named),
		TEST(unknown_short_option_is_named),
		TEST(missing_value_is_reported),
		TEST(missing_value_of_a_short_option_is_reported),
		TEST(value_where_there_is_none_is_not_an_unknown_option),
		TEST(abbreviation_of_several_options_is_not_guessed),
		TEST(unknown_use_of_io_uring_is_reported_with_the_known_ones),
		TEST(io_uring_is_no_mount_option),
		TEST(unknown_fidelity_is_reported_with_the_known_ones),
		TEST(unknown_source_of_processes_is_reported_with_the_known_ones),
		TEST(mount_point_that_is_not_there_is_to_be_made),
		TEST(mount_point_that_is_a_file_is_refused),
		TEST(source_that_is_not_there_is_refused),
		TEST(source_that_is_a_file_is_refused),
	};

	program_invocation_short_name = (char *)"ftrac"; /* whose words they are */
	return cmocka_run_group_tests(tests, NULL, NULL);
}
