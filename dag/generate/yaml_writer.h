/* SPDX-License-Identifier: MIT */
#ifndef DAG_GENERATE_YAML_WRITER_H
#define DAG_GENERATE_YAML_WRITER_H

/*
 * YAML, written to a stream by libyaml.  Texts are UTF-8, and quoted: what looks like a number stays a text.  A call that fails sets
 * .failed, which yaml_close() reports.
 */

#include <stdbool.h>
#include <stdio.h>
#include <yaml.h>

struct yaml {
	yaml_emitter_t emitter;
	FILE *out;
	bool failed;
};

/* 0: yaml_close() has to follow, and the struct must not move until then.  Or -ENOMEM. */
int yaml_open(struct yaml *yaml, FILE *out);
void yaml_key(struct yaml *yaml, const char *name);
void yaml_value(struct yaml *yaml, const char *text);
void yaml_pair(struct yaml *yaml, const char *name, const char *text);
void yaml_flag(struct yaml *yaml, const char *name, bool is);
void yaml_number(struct yaml *yaml, const char *name, long long number);
/* flow: in one line. */
void yaml_begin_map(struct yaml *yaml, bool flow);
void yaml_end_map(struct yaml *yaml);
void yaml_begin_list(struct yaml *yaml, bool flow);
void yaml_end_list(struct yaml *yaml);
/* 0, -ENOMEM if a call failed, or -EIO if out has an error. */
int yaml_close(struct yaml *yaml);

#endif
