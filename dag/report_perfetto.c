/* SPDX-License-Identifier: MIT */
#include "dag/report.h"

int report_perfetto(struct report *report)
{
	(void)report;
	return 0;
}
