/* SPDX-License-Identifier: MIT */
#include "dag/trace/choice.h"

#include <errno.h>
#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"

const char choice_help[] =
"      --include GLOB     only files, or processes, that GLOB matches:\n"
"                         'path:GLOB' files by path, 'command:GLOB' processes by\n"
"                         program or command line, GLOB alone either\n"
"      --exclude GLOB     not these; both may be repeated\n"
"      --job JOB, --process ID   only this one\n"
"      --phase NAME       only this phase\n"
"      --phase NAME=GLOB  makes jobs whose program or command line GLOB matches\n"
"                         the phase NAME\n"
"      --from SECONDS, --to SECONDS   only this part of the run\n";

int choice_parse_seconds(const char *what, const char *text, int64_t *ret_ns)
{
	char *end;
	double seconds = strtod(text, &end);

	if (end == text || *end || !isfinite(seconds) || seconds < 0 || seconds > 4e9)
		return err_status(EXIT_USAGE, "cannot use '%s' for %s: it must be a number of seconds",
			text, what);
	*ret_ns = llround(seconds * 1e9);
	return 0;
}

int choice_parse_count(const char *what, const char *text, int64_t *ret)
{
	char *end;

	errno = 0;
	*ret = strtoll(text, &end, 10);
	if (end == text || *end || errno || *ret < 0)
		return err_status(EXIT_USAGE, "cannot use '%s' for %s: it must be a number from 0 on", text,
			what);
	return 0;
}

const char *choice_list_names(const char *const *names, char *out, size_t size)
{
	size_t used = 0;

	out[0] = '\0';
	for (int i = 0; names[i] && used < size; i++)
		used += snprintf(out + used, size - used, "%s%s", i == 0 ? "" : names[i + 1] ? ", " : " or ", names[i]);
	return out;
}

int choice_parse_name(const char *what, const char *text, const char *const *names, int *ret)
{
	char all[1024];

	for (int i = 0; names[i]; i++)
		if (strcmp(names[i], text) == 0) {
			*ret = i;
			return 0;
		}
	return err_status(EXIT_USAGE, "unknown %s '%s': it must be %s", what, text, choice_list_names(names, all, sizeof(all)));
}

static int parse_process(struct choice *choice, const char *text)
{
	int status = choice_parse_count("--process", text, &choice->process);

	if (status == 0 && choice->process == 0)
		return err_status(EXIT_USAGE, "there is no process 0: ids are those of 'wfstat proc', from 1 on");
	return status;
}

static int parse_to(struct choice *choice, const char *text)
{
	int status = choice_parse_seconds("--to", text, &choice->to_ns);

	if (status == 0 && choice->to_ns == 0)
		return err_status(EXIT_USAGE, "cannot use '%s' for --to: it must be later than 0 s, the begin of the run", text);
	return status;
}

static int parse_phase(struct choice *choice, const char *text)
{
	const char *equals = strchr(text, '=');

	if (!equals) {
		choice->phase = text;
		return 0;
	}
	if (equals == text || !equals[1])
		return err_status(EXIT_USAGE, "cannot use '%s' for --phase: it must be NAME, or NAME=GLOB "
			"with a glob for commands", text);
	return words_add(&choice->phases, text);
}

static int parse_glob(struct words *globs, const char *text)
{
	if (*text)
		return words_add(globs, text);
	return err_status(EXIT_USAGE, "an empty glob matches nothing; leave it out, or use '*'");
}

int choice_apply(struct choice *choice, int option, const char *value)
{
	switch (option) {
	case CHOICE_EXCLUDE: return parse_glob(&choice->exclude, value);
	case CHOICE_FROM: return choice_parse_seconds("--from", value, &choice->from_ns);
	case CHOICE_INCLUDE: return parse_glob(&choice->include, value);
	case CHOICE_JOB: choice->job = value; return 0;
	case CHOICE_PHASE: return parse_phase(choice, value);
	case CHOICE_PROCESS: return parse_process(choice, value);
	case CHOICE_TO: return parse_to(choice, value);
	default: return -1;
	}
}

int choice_check(const struct choice *choice)
{
	if (choice->to_ns && choice->to_ns <= choice->from_ns)
		return err_status(EXIT_USAGE, "--from %.3f leaves nothing before --to %.3f: give a later --to",
			(double)choice->from_ns / 1e9, (double)choice->to_ns / 1e9);
	return 0;
}

bool choice_fits_path(const char *glob, const char *path)
{
	const char *slash = strrchr(path, '/');

	return fnmatch(glob, slash && slash[1] && !strchr(glob, '/') ? slash + 1 : path, 0) == 0;
}

/* Does one of the globs for files match?  *ret_any: there is such a glob.  compose.h has the kinds of globs. */
static bool fits(const struct words *globs, const char *path, bool *ret_any)
{
	bool fit = false;

	*ret_any = false;
	for (int i = 0; i < globs->n; i++) {
		const char *glob = globs->word[i];

		if (strncmp(glob, "command:", 8) == 0)
			continue;
		*ret_any = true;
		fit |= choice_fits_path(glob + (strncmp(glob, "path:", 5) == 0 ? 5 : 0), path);
	}
	return fit;
}

bool choice_takes_path(const struct choice *choice, const char *path)
{
	bool any, fit = fits(&choice->include, path, &any);

	return (fit || !any) && !fits(&choice->exclude, path, &any);
}

bool choice_is_any(const struct choice *c)
{
	return c->include.n || c->exclude.n || c->phases.n || c->phase || c->job || c->process || c->from_ns ||
	       c->to_ns;
}

/* Of /dev all but /dev/shm, where workflows have files, too.  The last one: the job slots of make -j, from GNU Make 4.4 on. */
static const char *const system_files[] = { "path:/bin/*", "path:/dev/[^s]*", "path:/dev/s[^h]*", "path:/dev/sh[^m]*", "path:/etc/*", "path:/gnu/store/*",
	"path:/lib/*", "path:/lib32/*", "path:/lib64/*", "path:/libx32/*", "path:/nix/store/*", "path:/opt/*",
	"path:/proc/*", "path:/run/*", "path:/sbin/*", "path:/sys/*", "path:/usr/*", "path:/var/cache/*",
	"path:/var/lib/*", "path:*/GMfifo[0-9]*", NULL };

/* Six characters, as mkdtemp(3) chooses them. */
#define CHOSEN_3 "[0-9A-Za-z][0-9A-Za-z][0-9A-Za-z]"
#define CHOSEN CHOSEN_3 CHOSEN_3

/* Directories of caches, of the state of workflow managers, and of what ranks of MPI and R keep while they run; with all below them.  And
 * semaphores and segments of MPI in shared memory. */
static const char *const private_files[] = { "path:*/.cache", "path:*/.cache/*", "path:*/__pycache__", "path:*/__pycache__/*",
	"path:*/.snakemake", "path:*/.snakemake/*", "path:*/.nextflow", "path:*/.nextflow/*", "path:*/.ipynb_checkpoints",
	"path:*/.ipynb_checkpoints/*", "path:*/ompi.*.[0-9]*", "path:*/prte.*.[0-9]*", "path:*/openmpi-sessions-*",
	"path:*/Rtmp" CHOSEN, "path:*/Rtmp" CHOSEN "/*", "path:/dev/shm/sem.*", "path:/dev/shm/vader_segment.*", "path:/dev/shm/sm_segment.*", NULL };

static int hide(struct choice *choice, const char *const *files)
{
	int status = 0;

	for (int i = 0; files[i] && status == 0; i++)
		status = words_add(&choice->exclude, files[i]);
	return status;
}

int choice_hide_system(struct choice *choice)
{
	return hide(choice, system_files);
}

int choice_hide_private(struct choice *choice)
{
	return hide(choice, private_files);
}

void choice_finish(struct choice *choice)
{
	words_free(&choice->include);
	words_free(&choice->exclude);
	words_free(&choice->operations);
	words_free(&choice->phases);
}
