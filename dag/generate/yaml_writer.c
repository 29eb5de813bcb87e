/* SPDX-License-Identifier: MIT */
#include "dag/generate/yaml_writer.h"

#include <errno.h>
#include <string.h>

static int write_bytes(void *out, unsigned char *bytes, size_t len)
{
	return fwrite(bytes, 1, len, out) == len;
}

/* The emitter takes the event, whether it succeeds or not. */
static void emit(struct yaml *yaml, yaml_event_t *event, int made)
{
	if (yaml->failed || !made || !yaml_emitter_emit(&yaml->emitter, event))
		yaml->failed = true;
}

static void put(struct yaml *yaml, const char *text, yaml_scalar_style_t style)
{
	yaml_event_t event;

	emit(yaml, &event,
		yaml_scalar_event_initialize(&event, NULL, NULL, (const yaml_char_t *)text, (int)strlen(text), 1, 1, style));
}

void yaml_key(struct yaml *yaml, const char *name)
{
	put(yaml, name, YAML_PLAIN_SCALAR_STYLE);
}

void yaml_value(struct yaml *yaml, const char *text)
{
	put(yaml, text, YAML_DOUBLE_QUOTED_SCALAR_STYLE);
}

void yaml_pair(struct yaml *yaml, const char *name, const char *text)
{
	yaml_key(yaml, name);
	yaml_value(yaml, text);
}

void yaml_flag(struct yaml *yaml, const char *name, bool is)
{
	yaml_key(yaml, name);
	yaml_key(yaml, is ? "true" : "false");
}

void yaml_number(struct yaml *yaml, const char *name, long long number)
{
	char text[24];

	snprintf(text, sizeof(text), "%lld", number);
	yaml_key(yaml, name);
	yaml_key(yaml, text);
}

void yaml_begin_map(struct yaml *yaml, bool flow)
{
	yaml_event_t event;

	emit(yaml, &event,
		yaml_mapping_start_event_initialize(&event, NULL, NULL, 1,
			flow ? YAML_FLOW_MAPPING_STYLE : YAML_BLOCK_MAPPING_STYLE));
}

void yaml_end_map(struct yaml *yaml)
{
	yaml_event_t event;

	emit(yaml, &event, yaml_mapping_end_event_initialize(&event));
}

void yaml_begin_list(struct yaml *yaml, bool flow)
{
	yaml_event_t event;

	emit(yaml, &event,
		yaml_sequence_start_event_initialize(&event, NULL, NULL, 1,
			flow ? YAML_FLOW_SEQUENCE_STYLE : YAML_BLOCK_SEQUENCE_STYLE));
}

void yaml_end_list(struct yaml *yaml)
{
	yaml_event_t event;

	emit(yaml, &event, yaml_sequence_end_event_initialize(&event));
}

int yaml_open(struct yaml *yaml, FILE *out)
{
	yaml_event_t event;

	*yaml = (struct yaml){ .out = out };
	if (!yaml_emitter_initialize(&yaml->emitter))
		return -ENOMEM;
	yaml_emitter_set_output(&yaml->emitter, write_bytes, out);
	yaml_emitter_set_unicode(&yaml->emitter, 1);
	yaml_emitter_set_width(&yaml->emitter, -1);
	emit(yaml, &event, yaml_stream_start_event_initialize(&event, YAML_UTF8_ENCODING));
	emit(yaml, &event, yaml_document_start_event_initialize(&event, NULL, NULL, NULL, 1));
	return 0;
}

int yaml_close(struct yaml *yaml)
{
	yaml_event_t event;

	emit(yaml, &event, yaml_document_end_event_initialize(&event, 1));
	emit(yaml, &event, yaml_stream_end_event_initialize(&event));
	yaml_emitter_delete(&yaml->emitter);
	return yaml->failed ? ferror(yaml->out) ? -EIO : -ENOMEM : 0;
}
