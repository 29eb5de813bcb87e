/* SPDX-License-Identifier: MIT */

/*
 * What is found in a build, and what is not, on made-up builds; names and paths; dependency files.
 *
 * A build is written down in short: recipe() runs from a time to a time, declares() says what it waits for,
 * does() what it did with a file.  Targets are files unless they begin with '@'.
 */

#include "tests/unit/test.h"

#include <sys/stat.h>

#include "base/failure.h"
#include "dag/check/build.h"
#include "dag/check/check.h"
#include "dag/check/depfile.h"
#include "dag/check/ninja.h"
#include "dag/check/print.h"
#include "dag/check/rulefile.h"
#include "dag/container/path_names.h"

#define ROOT "/p"

struct bed {
	struct build *build;
	struct check check;
	char text[2048]; /* what was found: "missing a b; " */
};

static int setup(void **state)
{
	struct bed *bed = calloc(1, sizeof(*bed));

	bed->build = build_create();
	*state = bed;
	return bed->build ? 0 : -1;
}

static int teardown(void **state)
{
	struct bed *bed = *state;

	if (bed->check.build)
		check_finish(&bed->check);
	build_destroy(bed->build);
	free(bed);
	return 0;
}

static int32_t node(struct bed *bed, const char *name)
{
	char *path = path_names_join(ROOT, name, strlen(name));
	int32_t n = build_node(bed->build, path);

	free(path);
	if (name[0] != '@')
		bed->build->nodes[n].flags |= BUILD_FILE;
	return n;
}

/* Below a driver, which may run in another recipe. */
static int32_t recipe_of(struct bed *bed, const char *target, int64_t driver, int32_t outer, int64_t from,
	int64_t to)
{
	int32_t n = node(bed, target), r = build_recipe(bed->build, n, driver);

	build_call(bed->build, n, ROOT, target);
	bed->build->recipes[r].start_ns = from;
	bed->build->recipes[r].end_ns = to;
	bed->build->recipes[r].outer = outer;
	return r;
}

static int32_t recipe(struct bed *bed, const char *target, int64_t from, int64_t to)
{
	return recipe_of(bed, target, 1, BUILD_NONE, from, to);
}

static void declares(struct bed *bed, const char *target, const char *prerequisite,
	enum build_declared kind)
{
	build_declare(bed->build, node(bed, target), node(bed, prerequisite), kind);
}

static void does(struct bed *bed, int32_t r, unsigned kinds, const char *file)
{
	int64_t at = bed->build->recipes[r].start_ns + 1;

	build_use(bed->build, &(struct build_use){ .recipe = r, .node = node(bed, file), .kinds = kinds,
		.in_ns = kinds & USE_READS ? at : INT64_MAX, .out_ns = kinds & USE_WRITES ? at : INT64_MAX });
}

/* What is found, in its order. */
static const char *found(struct bed *bed)
{
	const struct check_options options = { ROOT, ~0u };
	const size_t skip = strlen(ROOT) + 1;

	assert_int_equal(build_finish(bed->build), 0);
	assert_int_equal(check_run(bed->build, &options, &bed->check), 0);
	for (int32_t i = 0; i < bed->check.n; i++) {
		const struct check_finding *f = &bed->check.findings[i];
		size_t len = strlen(bed->text);

		snprintf(bed->text + len, sizeof(bed->text) - len, "%s %s %s; ", check_kinds[f->kind],
			build_path(bed->build, bed->build->recipes[f->recipe].node) + skip,
			build_path(bed->build, f->file) + skip);
	}
	return bed->text;
}

/* ---- missing ---- */

static void undeclared_source_is_missing(void **state)
{
	struct bed *bed = *state;
	int32_t a = recipe(bed, "a.o", 0, 10);

	declares(bed, "a.o", "a.c", BUILD_NORMAL);
	does(bed, a, USE_READ, "a.c");
	does(bed, a, USE_READ, "a.h");
	does(bed, a, USE_WRITE, "a.o");
	assert_string_equal(found(bed), "missing a.o a.h; ");
}

static void file_that_is_declared_by_way_of_others_is_not_missing(void **state)
{
	struct bed *bed = *state;
	int32_t gen = recipe(bed, "gen.h", 0, 10), b = recipe(bed, "b", 20, 30), a = recipe(bed, "a", 40, 50);

	declares(bed, "b", "gen.h", BUILD_ORDER);
	declares(bed, "a", "b", BUILD_NORMAL);
	does(bed, gen, USE_CREATE, "gen.h");
	does(bed, b, USE_WRITE, "b");
	does(bed, a, USE_READ, "b");
	does(bed, a, USE_READ, "gen.h");
	assert_string_equal(found(bed), "");
}

static void dependency_file_declares_sources_but_no_order(void **state)
{
	struct bed *bed = *state;
	int32_t gen = recipe(bed, "gen.h", 0, 10), a = recipe(bed, "a.o", 20, 30);

	declares(bed, "a.o", "gen.h", BUILD_DEPFILE);
	declares(bed, "a.o", "own.h", BUILD_DEPFILE);
	does(bed, gen, USE_CREATE, "gen.h");
	does(bed, a, USE_READ, "gen.h");
	does(bed, a, USE_READ, "own.h");
	assert_string_equal(found(bed), "missing a.o gen.h; ");
	assert_true(bed->check.findings[0].order_only);
}

static void grouped_targets_go_by_the_name_of_one(void **state)
{
	struct bed *bed = *state;
	int32_t g = recipe(bed, "g1", 0, 10), a = recipe(bed, "a", 20, 30);

	declares(bed, "a", "g2", BUILD_NORMAL);
	does(bed, g, USE_CREATE, "g1");
	does(bed, g, USE_CREATE, "g2");
	does(bed, a, USE_READ, "g2");
	assert_string_equal(found(bed), "");
}

static void side_effect_that_had_not_ended_is_no_prerequisite(void **state)
{
	struct bed *bed = *state;
	int32_t g = recipe(bed, "g1", 0, 30), a = recipe(bed, "a", 20, 40);

	declares(bed, "a", "g2", BUILD_NORMAL);
	does(bed, g, USE_CREATE, "g2");
	does(bed, a, USE_READ, "g2");
	assert_string_equal(found(bed), "missing a g2; ");
	assert_int_equal(bed->check.findings[0].need, node(bed, "g1"));
}

static void what_lies_behind_an_alias_is_not_known(void **state)
{
	struct bed *bed = *state;
	int32_t part = recipe(bed, "part", 0, 10), late = recipe(bed, "late", 15, 25);
	int32_t a = recipe(bed, "a", 20, 30);

	declares(bed, "a", "@parts", BUILD_ORDER);
	does(bed, part, USE_CREATE, "part");
	does(bed, late, USE_CREATE, "late");
	does(bed, a, USE_READ, "part");
	does(bed, a, USE_READ, "late");
	assert_string_equal(found(bed), "missing a late; ");
	assert_int_equal(bed->check.unsure, 1);
}

static void force_has_nothing_behind_it(void **state)
{
	struct bed *bed = *state;
	int32_t part = recipe(bed, "part", 0, 10), a = recipe(bed, "a", 20, 30);

	build_declare(bed->build, node(bed, "a"), build_node(bed->build, ROOT "/FORCE"), BUILD_NORMAL);
	does(bed, part, USE_CREATE, "part");
	does(bed, a, USE_READ, "part");
	does(bed, a, USE_READ, "source");
	assert_string_equal(found(bed), "missing a part; ");
}

static void target_that_is_no_file_misses_no_source(void **state)
{
	struct bed *bed = *state;
	int32_t prog = recipe(bed, "prog", 0, 10), test = recipe(bed, "@test", 20, 30);

	does(bed, prog, USE_CREATE, "prog");
	does(bed, test, USE_EXECUTE, "prog");
	does(bed, test, USE_READ, "data");
	assert_string_equal(found(bed), "missing @test prog; ");
}

static void what_one_writes_itself_is_not_missing(void **state)
{
	struct bed *bed = *state;
	int32_t a = recipe(bed, "a", 0, 10);

	does(bed, a, USE_CREATE | USE_READ | USE_DELETE, "tmp");
	does(bed, a, USE_READ, ".git/HEAD");
	does(bed, a, USE_READ, "x/__pycache__/y.pyc");
	does(bed, a, USE_READ, "../elsewhere");
	assert_string_equal(found(bed), "");
}

/* ---- order ---- */

static void two_writers_without_order_are_found(void **state)
{
	struct bed *bed = *state;
	int32_t a = recipe(bed, "a", 0, 10), b = recipe(bed, "b", 20, 30), c = recipe(bed, "c", 40, 50);

	declares(bed, "c", "b", BUILD_ORDER);
	does(bed, a, USE_CREATE, "tmp");
	does(bed, b, USE_CREATE, "tmp");
	does(bed, c, USE_CREATE, "tmp");
	assert_string_equal(found(bed), "unordered b tmp; unordered c tmp; ");
}

static void two_that_append_do_no_harm(void **state)
{
	struct bed *bed = *state;
	int32_t a = recipe(bed, "a", 0, 10), b = recipe(bed, "b", 20, 30);

	does(bed, a, USE_CREATE | USE_APPEND, "log");
	does(bed, b, USE_APPEND, "log");
	assert_string_equal(found(bed), "");
}

static void recipes_of_other_drivers_are_ordered_where_both_are_driven(void **state)
{
	struct bed *bed = *state;
	int32_t lib = recipe(bed, "@lib", 0, 10), prog = recipe(bed, "@prog", 0, 20);
	int32_t inner = recipe_of(bed, "lib.a", 2, lib, 1, 9);
	int32_t other = recipe_of(bed, "main", 3, prog, 11, 19);

	declares(bed, "main", "lib.a", BUILD_NORMAL);
	does(bed, inner, USE_CREATE, "lib.a");
	does(bed, other, USE_READ, "lib.a");
	assert_string_equal(found(bed), "unordered @prog lib.a; ");
}

static void recipes_in_one_recipe_are_in_its_order(void **state)
{
	struct bed *bed = *state;
	int32_t all = recipe(bed, "@all", 0, 50);
	int32_t a = recipe_of(bed, "a", 2, all, 1, 9), b = recipe_of(bed, "b", 3, all, 11, 19);

	does(bed, a, USE_CREATE, "x");
	does(bed, b, USE_WRITE, "x");
	does(bed, all, USE_READ, "x");
	assert_string_equal(found(bed), "");
}

/* ---- redundant ---- */

static void prerequisite_that_is_not_used_is_redundant(void **state)
{
	struct bed *bed = *state;
	int32_t a = recipe(bed, "a", 0, 10);

	declares(bed, "a", "used", BUILD_NORMAL);
	declares(bed, "a", "unused", BUILD_NORMAL);
	declares(bed, "a", "order", BUILD_ORDER);
	declares(bed, "a", "@phony", BUILD_NORMAL);
	does(bed, a, USE_READ, "used");
	assert_string_equal(found(bed), "redundant a unused; ");
}

static void prerequisite_whose_makings_are_used_is_not_redundant(void **state)
{
	struct bed *bed = *state;
	int32_t stamp = recipe(bed, "stamp", 0, 10), a = recipe(bed, "a", 20, 30);

	declares(bed, "a", "used", BUILD_NORMAL);
	declares(bed, "a", "stamp", BUILD_NORMAL);
	does(bed, stamp, USE_WRITE, "stamp");
	does(bed, stamp, USE_WRITE, "by-the-way");
	does(bed, a, USE_READ, "used");
	does(bed, a, USE_READ, "by-the-way");
	assert_string_equal(found(bed), "");
}

static void recipe_that_reads_none_of_them_says_nothing(void **state)
{
	struct bed *bed = *state;
	int32_t stamp = recipe(bed, "stamp", 0, 10), failed = recipe(bed, "failed", 0, 10);

	declares(bed, "stamp", "x", BUILD_NORMAL);
	declares(bed, "failed", "x", BUILD_NORMAL);
	declares(bed, "failed", "y", BUILD_NORMAL);
	bed->build->recipes[failed].failed = true;
	does(bed, stamp, USE_CREATE, "stamp");
	does(bed, failed, USE_READ, "x");
	assert_string_equal(found(bed), "");
}

/* ---- missing names ---- */

static void missing_name_that_another_recipe_makes_is_a_race(void **state)
{
	struct bed *bed = *state;
	int32_t gen = recipe(bed, "gen", 20, 30), a = recipe(bed, "a", 0, 10);

	does(bed, gen, USE_CREATE, "build/x.h");
	build_missing_name(bed->build, &(struct build_missing_name){ .recipe = a, .node = node(bed, "build/x.h"),
		.found = node(bed, "src/x.h") });
	assert_string_equal(found(bed), "unordered a build/x.h; ");
}

static void look_that_came_before_the_file(struct bed *bed, int32_t looker, int32_t maker, int64_t time_ns)
{
	does(bed, maker, USE_CREATE, "prog");
	build_missing_name(bed->build, &(struct build_missing_name){ .recipe = looker, .node = node(bed, "prog"),
		.found = BUILD_NONE, .time_ns = time_ns });
}

static void look_that_lost_the_race_is_unordered(void **state)
{
	struct bed *bed = *state;
	int32_t rep = recipe(bed, "rep", 0, 10), prog = recipe(bed, "prog", 20, 30);

	look_that_came_before_the_file(bed, rep, prog, 5);
	assert_string_equal(found(bed), "unordered rep prog; ");
}

static void look_that_is_declared_to_be_first_is_in_order(void **state)
{
	struct bed *bed = *state;
	int32_t rep = recipe(bed, "rep", 0, 10), prog = recipe(bed, "prog", 20, 30);

	declares(bed, "prog", "rep", BUILD_ORDER);
	look_that_came_before_the_file(bed, rep, prog, 5);
	assert_string_equal(found(bed), "");
}

static void look_for_what_had_been_made_and_is_gone_is_no_race(void **state)
{
	struct bed *bed = *state;
	int32_t prog = recipe(bed, "prog", 0, 10), rep = recipe(bed, "rep", 20, 30);

	look_that_came_before_the_file(bed, rep, prog, 25);
	assert_string_equal(found(bed), "");
}

/* ---- makefiles ---- */

/* make clean, where make first makes what it includes, and clean removes it. */
static void makefiles_are_made_before_all_else(void **state)
{
	struct bed *bed = *state;
	int32_t dep = recipe(bed, "Makefile.dep", 0, 10), clean = recipe(bed, "@clean", 20, 30);

	does(bed, dep, USE_WRITE, "Makefile.dep");
	does(bed, clean, USE_DELETE, "Makefile.dep");
	assert_int_equal(build_read_by_driver(bed->build, 1, node(bed, "Makefile.dep")), 0);
	assert_string_equal(found(bed), "");
}

static void two_makefiles_are_not_in_order_by_that(void **state)
{
	struct bed *bed = *state;
	int32_t a = recipe(bed, "a.mk", 0, 10), b = recipe(bed, "b.mk", 0, 12);

	does(bed, a, USE_WRITE, "common");
	does(bed, b, USE_WRITE, "common");
	assert_int_equal(build_read_by_driver(bed->build, 1, node(bed, "a.mk")), 0);
	assert_int_equal(build_read_by_driver(bed->build, 1, node(bed, "b.mk")), 0);
	assert_string_equal(found(bed), "unordered b.mk common; ");
}

/* ---- names ---- */

static void check_path(char *got, const char *wanted)
{
	assert_string_equal(got, wanted);
	free(got);
}

static void paths_are_joined_and_taken_apart(void **state)
{
	(void)state;
	check_path(path_names_join("/a/b", "c", 1), "/a/b/c");
	check_path(path_names_join("/a/b", "./../c//d/.", 11), "/a/c/d");
	check_path(path_names_join("/a", "/x/../y", 7), "/y");
	check_path(path_names_join("/a", "../../..", 8), "/");
	check_path(path_names_relative("/a/b", "/a/b/c"), "c");
	check_path(path_names_relative("/a/b", "/a/bc/d"), "../bc/d");
	check_path(path_names_relative("/a/b/c", "/a/x"), "../../x");
	check_path(path_names_relative("/a/b", "/a/b"), ".");
	check_path(path_names_relative("/a/b", "/x/y"), "/x/y");
	assert_true(path_names_is_below("/a", "/a/b"));
	assert_false(path_names_is_below("/a", "/ab"));
	assert_true(path_names_is_below("/", "/ab"));
}

static void names_are_escaped_for_make(void **state)
{
	(void)state;
	check_path(check_escape("plain.o"), "plain.o");
	check_path(check_escape("a b#c:d$e%f"), "a\\ b\\#c\\:d$$e\\%f");
}

/* ---- lines of rules ---- */

static int32_t line_of(enum rulefile_kind kind, const char *content, const char *target, const char *need)
{
	struct rulefile rulefile = { 0 };
	const struct rulefile_rule *rule = NULL;
	char *text = strdup(content);
	int32_t line;

	assert_non_null(text);
	assert_int_equal(rulefile_parse(&rulefile, text, kind, 3), 0);
	assert_int_equal(rulefile_find(&rulefile, "/top", target, need, &rule), 0);
	line = rule ? rule->line : 0;
	rulefile_finish(&rulefile);
	free(text);
	return line;
}

static void rules_are_found_in_lines_of_makefiles(void **state)
{
	static const char make[] = "A := a.c \\\n b.c\n"
				   "$(A:.c=.o): x.h\n"
				   "c.o: c.h\n"
				   "%.o: %.c\n\tcc $<\n"
				   "c.o: d.h ; cc\n"
				   "sub/e\\ f&: | g\n"
				   "$(addsuffix h,h):\n"
				   "c.o: B = $(B)\n"
				   "B = $(B:.c=.o)$(B)$(C)\nC = $(B)$(B)\n$(B): k\n";

	(void)state;
	assert_int_equal(line_of(RULEFILE_MAKE, make, "/top/b.o", NULL), 3);
	assert_int_equal(line_of(RULEFILE_MAKE, make, "/top/b.o", "/top/x.h"), 3);
	assert_int_equal(line_of(RULEFILE_MAKE, make, "/top/c.o", NULL), 7);
	assert_int_equal(line_of(RULEFILE_MAKE, make, "/top/c.o", "/top/c.h"), 4);
	assert_int_equal(line_of(RULEFILE_MAKE, make, "/top/sub/d.o", NULL), 5);
	assert_int_equal(line_of(RULEFILE_MAKE, make, "/top/sub/e f", NULL), 8);
	assert_int_equal(line_of(RULEFILE_MAKE, make, "/top/hh", NULL), 9);
	assert_int_equal(line_of(RULEFILE_MAKE, "a: b\n", "/top/c", NULL), 0);
	assert_int_equal(line_of(RULEFILE_NINJA, "x = b\nbuild a: cat c\nbuild $\n ${x}$ 1 | d: cat\n", "/top/b 1", NULL), 3);
	assert_int_equal(line_of(RULEFILE_CSV, "target,prerequisite\n\"a,\"\"b\",c\n", "/top/a,\"b", NULL), 2);
}

/* ---- dependency files ---- */

static int append(void *arg, const char *target, const char *prerequisite)
{
	char *text = arg;

	sprintf(text + strlen(text), "%s<%s|", target, prerequisite);
	return 0;
}

static void check_depfile(const char *content, const char *wanted)
{
	char text[512] = "";

	assert_int_equal(depfile_parse(content, strlen(content), append, text), 0);
	assert_string_equal(text, wanted);
}

static void dependency_files_are_read(void **state)
{
	char text[64];

	(void)state;
	check_depfile("a.o: a.c a.h\n", "a.o<a.c|a.o<a.h|");
	check_depfile("a.o: a.c \\\n  a.h \\\r\n b.h\r\n\na.h:\n", "a.o<a.c|a.o<a.h|a.o<b.h|a.h<|");
	check_depfile("a.o b.d : my\\ file.c x\\#y $$z", "a.o<my file.c|a.o<x#y|a.o<$z|b.d<my file.c|b.d<x#y|b.d<$z|");
	check_depfile("a.o: c:/x.h\n", "a.o<c:/x.h|");
	check_depfile("a.o:a.c\nc:\\x.o: b\n", "a.o<a.c|c:\\x.o<b|");
	check_depfile("X = a: b\nY := a\n# c: d\na: b # c\n\tgcc a: b\nc: d ; echo e: f\n", "a<b|c<d|");
	check_depfile("a::b\na:: b\n", "a<b|a<b|");
	check_depfile("", "");
	check_depfile(": a\n:", "");
	text[0] = '\0';
	assert_int_equal(depfile_parse("a: b\0\0c\n", 9, append, text), 0);
	assert_string_equal(text, "a<b|a<|a<c|");
	check_depfile("a: \\", "a<\\|");
}

static void dependency_files_are_known_by_their_names(void **state)
{
	(void)state;
	assert_true(depfile_is_name("/p/a.d"));
	assert_true(depfile_is_name("/p/.deps/a.Po"));
	assert_false(depfile_is_name("/p/a.o"));
	assert_false(depfile_is_name(".d"));
}

/* Its answers are those of a program that says what it likes. */
static void what_ninja_says_without_a_target_is_passed_over(void **state)
{
	static const char script[] = "#!/bin/sh\nPATH=/usr/bin:/bin\ncase \"$*\" in\n"
		"*query*) printf '  input: cc\\n    b\\na:\\n  input: cc\\n    c\\n' ;;\n"
		"*targets*) echo 'a: cc' ;;\n"
		"*deps*) printf '    x.h\\na: #deps 1\\n    y.h\\n' ;;\n"
		"*compdb*) echo '[]' ;;\nesac\n";
	struct bed *bed = *state;
	struct failure failure = { 0 };
	struct ninja *ninja;
	struct temp temp;
	FILE *f;

	temp_make(&temp);
	f = fopen(temp_path(&temp, "ninja"), "w");
	fputs(script, f);
	fclose(f);
	chmod(temp.path, 0755);
	setenv("PATH", temp.dir, 1);
	assert_int_equal(ninja_load(temp.dir, bed->build, &ninja, &failure), 0);
	ninja_destroy(ninja);
	temp_take_away(&temp);
	assert_int_equal(bed->build->nodes[0].n_edges, 2); /* c and y.h */
}

#define FACT(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		FACT(undeclared_source_is_missing),
		FACT(file_that_is_declared_by_way_of_others_is_not_missing),
		FACT(dependency_file_declares_sources_but_no_order),
		FACT(grouped_targets_go_by_the_name_of_one),
		FACT(side_effect_that_had_not_ended_is_no_prerequisite),
		FACT(what_lies_behind_an_alias_is_not_known),
		FACT(force_has_nothing_behind_it),
		FACT(target_that_is_no_file_misses_no_source),
		FACT(what_one_writes_itself_is_not_missing),
		FACT(two_writers_without_order_are_found),
		FACT(two_that_append_do_no_harm),
		FACT(recipes_of_other_drivers_are_ordered_where_both_are_driven),
		FACT(recipes_in_one_recipe_are_in_its_order),
		FACT(prerequisite_that_is_not_used_is_redundant),
		FACT(prerequisite_whose_makings_are_used_is_not_redundant),
		FACT(recipe_that_reads_none_of_them_says_nothing),
		FACT(missing_name_that_another_recipe_makes_is_a_race),
		FACT(look_that_lost_the_race_is_unordered),
		FACT(look_that_is_declared_to_be_first_is_in_order),
		FACT(look_for_what_had_been_made_and_is_gone_is_no_race),
		FACT(makefiles_are_made_before_all_else),
		FACT(two_makefiles_are_not_in_order_by_that),
		FACT(what_ninja_says_without_a_target_is_passed_over),
		cmocka_unit_test(paths_are_joined_and_taken_apart),
		cmocka_unit_test(names_are_escaped_for_make),
		cmocka_unit_test(rules_are_found_in_lines_of_makefiles),
		cmocka_unit_test(dependency_files_are_read),
		cmocka_unit_test(dependency_files_are_known_by_their_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
