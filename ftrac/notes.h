/* SPDX-License-Identifier: MIT */
#ifndef FTRAC_NOTES_H
#define FTRAC_NOTES_H

/*
 * ftrac run --make: has each GNU make below the command note the prerequisites of the targets whose
 * recipes it runs (db/declared.h), and tell the processes of a recipe which target they are for.
 *
 * No Makefile is parsed, and no shell is put in front of another.  $MAKEFILES names one more makefile,
 * which every make reads first, those that make starts as well.  It exports one variable, FTRAC_TARGET,
 * which make expands anew for each recipe, just before that starts: then $@, $^ and $| are what make has
 * found them to be, by whatever rules, and the note is written by the way.  Nothing is expanded, and
 * nothing noted, where nothing runs (-n, -q, -t).  Each make writes to a file of its own, named after its
 * number as a process, so lines are never torn.
 *
 * What a Makefile sees of it: $(MAKEFILES), and FTRAC_TARGET in environments.  $(MAKEFILE_LIST) is as it
 * was.  GNU make 4.2 and newer; older ones note nothing.
 */

struct notes {
	char dir[256]; /* ours; "": there is none */
	char sub[288]; /* that of the notes, in it, by a name that only the command knows */
};

/* Makes the directory, and sets the environment for what will be started.  Prints; 0 or the exit status. */
int notes_prepare(struct notes *notes);
/* Takes the directory away; it may never have been made. */
void notes_finish(struct notes *notes);

#endif
