/* SPDX-License-Identifier: MIT */
#ifndef DAG_OUTPUT_AQUERY_H
#define DAG_OUTPUT_AQUERY_H

/*
 * The action graph of Bazel, as `bazel aquery --output=jsonproto` prints it (its src/main/protobuf/analysis_v2.proto), also in the form of
 * versions before 4.1, in which artifacts have an execPath and ids are texts.  Paths are relative to the execution root.
 *
 * Inputs are sets of sets; a middleman, an action that makes no file, is one more set.  Of several outputs of an action, the first one
 * counts as an input of the others: what needs one of them comes after all.
 */

#include <stdio.h>

/* An output of an action, and an input; input "": it has none.  What it returns, if negative, ends the reading. */
typedef int aquery_edge(void *arg, const char *output, const char *input);

/* 0, -EPROTO: it is no action graph, -ENOMEM, or what edge() returned. */
int aquery_read(FILE *in, aquery_edge *edge, void *arg);

#endif
