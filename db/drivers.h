/* SPDX-License-Identifier: MIT */
#ifndef DB_DRIVERS_H
#define DB_DRIVERS_H

/*
 * Drivers: programs that start the jobs of a workflow.  embed.py puts their names into the view 'program' of
 * views.sql.
 */

#include <stdbool.h>
#include <stddef.h>

struct driver {
	const char *name;
	bool jobserver; /* instances below one another share one limit of jobs */
	bool lists;	/* starts what its command line or its input names, not what rules say */
	/* Options that limit the number of jobs; NULL ends the long ones. */
	const char *letters;
	const char *options[4];
};

/* The driver with that base name of a program, of len bytes; NULL: the program is no driver. */
const struct driver *driver_find(const char *name, size_t len);

#endif
