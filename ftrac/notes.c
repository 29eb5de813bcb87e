/* SPDX-License-Identifier: MIT */
#include "ftrac/notes.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/failure.h"
#include "db/declared.h"

#define MAKEFILE ".ftrac.mk" /* not a note: the names of notes have no dot */

/*
 * %1$s: the directory of the notes. Outside of recipes (from make 4.4 on $(shell) exports
 * variables) there is no $@; then the target that this make itself was started for is passed on.
 * The empty rule keeps match-anything rules from making this file. The file must not be the first
 * in $(MAKEFILE_LIST), from which many a Makefile derives its own directory. Only the one variable
 * is exported, even if a Makefile exports all variables.
 */
static const char makefile[] =
	"# What ftrac run --make adds to each make: see ftrac(1).\n"
	"ifeq (,$(filter 3.%% 4.0%% 4.1%%,$(MAKE_VERSION)))\n"
	"define FTRAC_NEWLINE\n"
	"\n"
	"\n"
	"endef\n"
	"FTRAC_STARTED_FOR := $(value FTRAC_TARGET)\n"
	"FTRAC_NOTES := %1$s/$(firstword $(file </proc/self/stat))\n"
	"FTRAC_NOTE = $(file >>$(FTRAC_NOTES)," DECLARED_MARK
	"$(CURDIR)$(FTRAC_NEWLINE)$@$(FTRAC_NEWLINE)$*$(FTRAC_NEWLINE)$^$(FTRAC_NEWLINE)| $|)\n"
	"unexport FTRAC_NEWLINE FTRAC_STARTED_FOR FTRAC_NOTES FTRAC_NOTE\n"
	"override export FTRAC_TARGET = $(if $(value "
	"@),$(FTRAC_NOTE)$(CURDIR)/$@,$(FTRAC_STARTED_FOR))\n"
	"endif\n"
	"%1$s/" MAKEFILE ": ;\n"
	"MAKEFILE_LIST :=\n";

/* A path with blanks, commas or dollars would have a special meaning in make. */
static const char *find_place(void)
{
	const char *place = secure_getenv("TMPDIR");
	static const char plain[] = "/._-0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

	if (!place || place[0] != '/' || place[strspn(place, plain)] || strlen(place) > 200)
		return "/tmp";
	return place;
}

/*
 * The command may run as another user, and recipes may change their user. So every process that
 * knows the directory's name may write there. The name is in the command's environment only: other
 * users can neither list nor guess it.
 */
static int make_places(struct notes *notes)
{
	uint64_t name;

	snprintf(notes->dir, sizeof(notes->dir), "%s/ftrac-make-XXXXXX", find_place());
	if (!mkdtemp(notes->dir)) {
		notes->dir[0] = '\0';
		return -errno;
	}
	if (getrandom(&name, sizeof(name), 0) != sizeof(name))
		return -EIO;
	snprintf(notes->sub, sizeof(notes->sub), "%s/%016" PRIx64, notes->dir, name);
	if (mkdir(notes->sub, 0700) < 0 || chmod(notes->sub, 01733) < 0 ||
		chmod(notes->dir, 0711) < 0)
		return -errno;
	return 0;
}

static int write_makefile(const struct notes *notes, const char *file)
{
	FILE *f = fopen(file, "we");

	if (!f)
		return -errno;
	fprintf(f, makefile, notes->sub);
	fchmod(fileno(f), 0644);
	return fclose(f) < 0 ? -errno : 0;
}

static int set_environment(const char *file)
{
	const char *before = secure_getenv("MAKEFILES");
	cleanup_free char *all = NULL;

	if (asprintf(&all, "%s%s%s", file, before && *before ? " " : "", before ? before : "") < 0)
		return -ENOMEM;
	return setenv("MAKEFILES", all, 1) < 0 ? -errno : 0;
}

int notes_prepare(struct notes *notes, struct failure *failure)
{
	cleanup_free char *file = NULL;
	int r = make_places(notes);

	if (r == 0 && asprintf(&file, "%s/" MAKEFILE, notes->sub) < 0)
		r = -ENOMEM;
	if (r == 0)
		r = write_makefile(notes, file);
	if (r == 0)
		r = set_environment(file);
	if (r < 0)
		failure_set(failure, r, "cannot write notes for make in '%s': %s; set TMPDIR to a directory that can be written",
			find_place(), strerror(-r));
	return r;
}

/* Other processes may still write there: so this enters no subdirectory and resolves no path
 * twice. */
static void clear(const char *path)
{
	DIR *dir = opendir(path);
	struct dirent *entry;

	while (dir && (entry = readdir(dir)))
		if (unlinkat(dirfd(dir), entry->d_name, 0) < 0)
			unlinkat(dirfd(dir), entry->d_name, AT_REMOVEDIR);
	if (dir)
		closedir(dir);
	rmdir(path);
}

void notes_finish(struct notes *notes)
{
	if (!notes->dir[0])
		return;
	clear(notes->sub);
	rmdir(notes->dir);
	notes->dir[0] = '\0';
}
