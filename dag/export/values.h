/* SPDX-License-Identifier: MIT */
#ifndef DAG_EXPORT_VALUES_H
#define DAG_EXPORT_VALUES_H

/* Values of attributes as JSON. */

#include <jansson.h>

#include "dag/shape/attributes.h"

/* A new reference; NULL: out of memory. */
json_t *export_value(enum attribute_type type, const struct attribute_value *value);

#endif
