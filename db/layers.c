/* SPDX-License-Identifier: MIT */
#include "db/layers.h"

const char *const layer_names[LAYER_MAX] = { [LAYER_LIB] = "lib", [LAYER_MPI] = "mpi" };

const char *const layer_class_names[CLASS_MAX] = { [CLASS_READ] = "read", [CLASS_WRITE] = "write", [CLASS_POSITION] = "position",
	[CLASS_ADMIN] = "administration", [CLASS_OTHER] = "other" };

const struct layer_call_kind layer_calls[CALL_MAX] = {
#define X(code, name, layer, class, moves, collective) \
	[CALL_##code] = { #name, LAYER_##layer, CLASS_##class, moves, collective },
	LAYER_CALLS(X)
#undef X
};
