/* SPDX-License-Identifier: MIT */
#ifndef DAG_OUTPUT_STATEMENT_H
#define DAG_OUTPUT_STATEMENT_H

/*
 * A statement of what a run made, and of what: in-toto Statement v1 with the predicate "SLSA provenance v1", as JSON without a
 * signature.  https://github.com/in-toto/attestation/tree/main/spec/v1, https://slsa.dev/spec/v1.0/provenance
 */

#include <stdint.h>
#include <stdio.h>

struct artifact {
	const char *name; /* relative to the directory of the run where it is below it */
	const char *path; /* absolute */
	const char *sha256; /* NULL: not known */
	const char *reason; /* then: why */
};

struct artifacts {
	struct artifact *list;
	int32_t n_list;
};

struct statement {
	const char *command, *directory, *host, *version; /* NULL: not known */
	const char *builder; /* a URI */
	int64_t start_ns, end_ns; /* since the epoch; 0: not known */
	struct artifacts products, materials;
};

/* Products without a hash are no subjects, but by-products with the reason.  0, -ENOMEM, or -errno of out. */
int statement_write(const struct statement *statement, FILE *out);

#endif
