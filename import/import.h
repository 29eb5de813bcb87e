/* SPDX-License-Identifier: MIT */
#ifndef IMPORT_IMPORT_H
#define IMPORT_IMPORT_H

/* ftrac import: a trace of what other programs have recorded.  argv[0] is "import".  Prints errors; returns the exit status.  The only
 * header of import/ that other folders may include. */
int import_main(int argc, char **argv);

#endif
