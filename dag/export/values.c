/* SPDX-License-Identifier: MIT */
#include "dag/export/values.h"

json_t *export_value(enum attribute_type type, const struct attribute_value *value)
{
	switch (type) {
	case ATTRIBUTE_INT:
		return json_integer(value->number);
	case ATTRIBUTE_REAL:
		return json_real(value->real);
	case ATTRIBUTE_BOOL:
		return json_boolean(value->number);
	default:
		return json_string(value->text);
	}
}
