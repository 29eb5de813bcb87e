/* SPDX-License-Identifier: MIT */
#include "base/complete_script.h"

#include <stdio.h>
#include <string.h>

/* Of complete.bash, complete.zsh and complete.fish, by embed.py.  PROGRAM stands for the name of the program. */
extern const char script_bash[], script_zsh[], script_fish[];

static const struct {
	const char *shell, *script;
} scripts[] = { { "bash", script_bash }, { "zsh", script_zsh }, { "fish", script_fish } };

bool complete_script(const char *shell, const char *program)
{
	static const char mark[] = "PROGRAM";
	const char *at = NULL, *next;

	for (size_t i = 0; i < sizeof(scripts) / sizeof(scripts[0]); i++)
		if (strcmp(scripts[i].shell, shell) == 0)
			at = scripts[i].script;
	if (!at)
		return false;
	for (; (next = strstr(at, mark)); at = next + strlen(mark))
		printf("%.*s%s", (int)(next - at), at, program);
	fputs(at, stdout);
	return true;
}
