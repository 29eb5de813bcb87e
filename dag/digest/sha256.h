/* SPDX-License-Identifier: MIT */
#ifndef DAG_DIGEST_SHA256_H
#define DAG_DIGEST_SHA256_H

/* The SHA-256 of files, by Nettle. */

#define SHA256_TEXT 65 /* 64 hexadecimal digits and NUL */

/* Of what read(2) gives, up to the end.  0 or -errno. */
int sha256_of(int fd, char ret_text[SHA256_TEXT]);

#endif
