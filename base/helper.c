/* SPDX-License-Identifier: MIT */
#include "base/helper.h"

#include <errno.h>
#include <spawn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "base/cleanup.h"

/* Variables that name places of programs, files and fonts, the language, and the terminal.  '*' stands for any rest of the name. */
static const char *const handed_on[] = { "PATH", "HOME", "TERM", "TERMINFO", "COLUMNS", "LINES", "LESS", "LESSCHARSET", "TMPDIR", "TZ", "LANG", "LANGUAGE", "LC_*",
	"XDG_CACHE_HOME", "XDG_CONFIG_HOME", "FONTCONFIG_FILE", "FONTCONFIG_PATH", "GDFONTPATH", "DOTFONTPATH",
	"GNUPLOT_FONTPATH", "GNUPLOT_DEFAULT_GDFONT", NULL };

static bool is_handed_on(const char *variable)
{
	for (int i = 0; handed_on[i]; i++) {
		size_t len = strlen(handed_on[i]);

		if (handed_on[i][len - 1] == '*' ? strncmp(variable, handed_on[i], len - 1) == 0
						 : strncmp(variable, handed_on[i], len) == 0 && variable[len] == '=')
			return true;
	}
	return false;
}

/* The caller frees the array; the strings belong to the environment. */
static char **surroundings(void)
{
	size_t n = 0;
	char **kept;

	while (environ && environ[n])
		n++;
	kept = calloc(n + 1, sizeof(*kept));
	for (size_t i = 0, to = 0; kept && i < n; i++)
		if (is_handed_on(environ[i]))
			kept[to++] = environ[i];
	return kept;
}

/* The strings that the kernel gave us; the loader has changed the array, not these. */
static bool original_environment(const char **ret_start, const char **ret_end)
{
	cleanup_file FILE *f = fopen("/proc/self/stat", "re");
	char line[2048], *field;
	unsigned long addresses[2] = { 0 };

	if (!f || !fgets(line, sizeof(line), f) || !(field = strrchr(line, ')')))
		return false;
	for (int i = 2; i < 50 && field; i++) /* env_start is the 50th, the program's name the second */
		field = strchr(field + 1, ' ');
	if (!field || sscanf(field, "%lu %lu", &addresses[0], &addresses[1]) != 2)
		return false;
	*ret_start = (const char *)addresses[0]; // NOLINT(performance-no-int-to-ptr)
	*ret_end = (const char *)addresses[1];	 // NOLINT(performance-no-int-to-ptr)
	return addresses[0] && addresses[0] < addresses[1];
}

static char *value_of(const char *variable, const char *name)
{
	size_t len = strlen(name);

	return strncmp(variable, name, len) == 0 && variable[len] == '=' ? strdup(variable + len + 1) : NULL;
}

char *helper_original_variable(const char *name)
{
	const char *at, *end;
	char *value = NULL;

	if (!getauxval(AT_SECURE)) {
		for (size_t i = 0; environ && environ[i] && !value; i++)
			value = value_of(environ[i], name);
		return value;
	}
	if (original_environment(&at, &end))
		for (; at < end && !value; at += strlen(at) + 1)
			value = value_of(at, name);
	return value;
}

void helper_restore_environment(void)
{
	const char *at, *end, *sign;
	char name[256];

	if (!getauxval(AT_SECURE) || !original_environment(&at, &end))
		return;
	for (; at < end; at += strlen(at) + 1) {
		sign = strchr(at, '=');
		if (!sign || sign == at || sign - at >= (ptrdiff_t)sizeof(name))
			continue;
		snprintf(name, sizeof(name), "%.*s", (int)(sign - at), at);
		setenv(name, sign + 1, 0);
	}
}

int helper_spawn(char *const *argv, int input, int output, pid_t *ret_pid)
{
	cleanup_free char **variables = surroundings();
	posix_spawn_file_actions_t actions;
	int r = variables ? posix_spawn_file_actions_init(&actions) : ENOMEM;

	if (r)
		return -r;
	if (input >= 0)
		r = posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
	if (r == 0 && output >= 0)
		r = posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
	if (r == 0)
		r = posix_spawnp(ret_pid, argv[0], &actions, NULL, argv, variables);
	posix_spawn_file_actions_destroy(&actions);
	return -r;
}

/* All variables in an array of our own: one that setenv() has made ends when a library calls setenv() in between. */
static char **own_environment(void)
{
	static char **own; /* never freed: another thread may read it */
	size_t n = 0;

	if (own && environ == own)
		return own;
	while (environ && environ[n])
		n++;
	own = calloc(n + 1, sizeof(*own));
	for (size_t i = 0; own && i < n; i++)
		own[i] = environ[i];
	return own;
}

char **helper_hide_environment(void)
{
	static char **kept; /* as above */
	char **all = own_environment();

	if (!all || (!kept && !(kept = surroundings())))
		return NULL;
	environ = kept;
	return all;
}

void helper_show_environment(char **all)
{
	if (all)
		environ = all;
}
