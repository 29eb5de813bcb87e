#include "dag/generate.h"
#include <errno.h>
int generate_wfformat(const struct jobs *j, const struct generate_facts *f, FILE *out, const char **ret_name) { (void)j; (void)f; (void)out; (void)ret_name; return -ENOSYS; }
