/* SPDX-License-Identifier: MIT */
#ifndef FTRAC_NOTES_H
#define FTRAC_NOTES_H

/*
 * ftrac run --make: has each GNU make below the command record the prerequisites of the targets
 * whose recipes it runs (db/declared.h), and give the processes of a recipe its target.
 *
 * This parses no Makefile and replaces no shell. $MAKEFILES names an additional makefile, which
 * every make reads first, including makes started by make. It exports one variable, FTRAC_TARGET.
 * make expands it anew for each recipe, just before the recipe starts; then $@, $^ and $| are
 * final, whatever rules set them, and the expansion also writes the note. If make runs nothing (-n,
 * -q, -t), it expands nothing and writes no note. Each make writes to its own file, named after its
 * pid, so that lines never mix.
 *
 * Visible to a Makefile: $(MAKEFILES), and FTRAC_TARGET in environments. $(MAKEFILE_LIST) is
 * unchanged. Needs GNU make 4.2 or newer; older ones write no notes.
 */

struct failure;

struct notes {
	char dir[256]; /* our directory; "": none */
	char sub[288]; /* the directory of the notes in it; only the command knows its name */
};

/* Makes the directory and sets the environment of the command.  0 or -errno, with the failure set. */
int notes_prepare(struct notes *notes, struct failure *failure);
/* Removes the directory, if it was made. */
void notes_finish(struct notes *notes);

#endif
