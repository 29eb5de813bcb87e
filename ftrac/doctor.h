/* SPDX-License-Identifier: MIT */
#ifndef FTRAC_DOCTOR_H
#define FTRAC_DOCTOR_H

/*
 * ftrac doctor: prints what can be traced here and, for everything else, the command that enables
 * it. argv[0] is "doctor". Returns 0 if `ftrac run` works here, else EXIT_OWN.
 */
int doctor_main(int argc, char **argv);

#endif
