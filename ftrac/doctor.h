/* SPDX-License-Identifier: MIT */
#ifndef FTRAC_DOCTOR_H
#define FTRAC_DOCTOR_H

/* ftrac doctor: what can be traced here, and the one command that would give what cannot.  argv[0] is
 * "doctor".  0 if `ftrac run` can work here, else EXIT_OWN. */
int doctor_main(int argc, char **argv);

/* ftrac umount: takes a mount away, also one whose daemon is gone.  argv[0] is "umount". */
int umount_main(int argc, char **argv);

#endif
