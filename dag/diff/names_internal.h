/* SPDX-License-Identifier: MIT */
#ifndef DAG_DIFF_NAMES_INTERNAL_H
#define DAG_DIFF_NAMES_INTERNAL_H

/* What diff_names.c and diff_words.c share. */

#include "dag/diff/names.h"
#include "dag/graph/workflow.h"

/* A set of labels, made once. */
struct labels {
	uint64_t *label;
	size_t n;
};

struct one {
	const struct workflow *workflow;
	char *prefix[2];      /* both are the root: at its own place, in the mount */
	const char *mount;    /* what begins so continues in the source */
	struct labels all;    /* parts of all names */
	struct labels inputs; /* of files that were there before */
	struct labels gone;   /* of files that were made and deleted */
	int64_t begin_s, end_s;
};

struct names {
	struct one one[2];
	char *word, *text; /* of the word that is looked at: as it is, made the same */
	size_t word_room, text_room;
};

/* A text that is made the same in both runs. */
struct part {
	const struct names *names;
	int run;
	int32_t process; /* whose name it is; GRAPH_NONE: of no process */
	bool loosely, wild;
	bool tmp;     /* it lies below a directory of that name */
	bool numbers; /* may be generated */
};

/* The length of the root in front of a text, 0 if it does not stand there. */
size_t names_root_length(const struct one *one, const char *text, size_t len);
/* The length of the text; out has room for as much as it had before. */
size_t names_put_text(struct part *part, const char *text, size_t len, char *out);
uint64_t names_label_of(const char *bytes, size_t len);

#endif
