/* SPDX-License-Identifier: MIT */
#ifndef FTRAC_RECORD_RUNNING_H
#define FTRAC_RECORD_RUNNING_H

/* ftrac record: traces processes that run already.  argv[0] is "record".  Returns the exit status. */
int record_running_command(int argc, char **argv);

#endif
