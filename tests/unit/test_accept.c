/* SPDX-License-Identifier: MIT */

/* serve/accept.h: which form of the metrics a request wants. */

#include "serve/accept.h"
#include "test.h"

static void prometheus_gets_openmetrics(void **state)
{
	(void)state;
	assert_true(accept_openmetrics("application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,"
				       "text/plain;version=0.0.4;q=0.5,*/*;q=0.1"));
	assert_true(accept_openmetrics("application/openmetrics-text"));
	assert_true(accept_openmetrics("text/html , APPLICATION/OpenMetrics-Text ; version=1.0.0"));
}

static void others_get_plain_text(void **state)
{
	static const char *const others[] = { "", "*/*", "text/plain", "text/html,application/xhtml+xml,*/*;q=0.8", "application/*",
		"application/openmetrics-textual", "xapplication/openmetrics-text", ",,;;", ";q=1", "application/openmetrics" };

	(void)state;
	assert_false(accept_openmetrics(NULL));
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		assert_false(accept_openmetrics(others[i]));
}

static void weights_decide(void **state)
{
	(void)state;
	assert_false(accept_openmetrics("application/openmetrics-text;q=0"));
	assert_false(accept_openmetrics("application/openmetrics-text; q=0.000, */*"));
	assert_false(accept_openmetrics("application/openmetrics-text;q=0.5,text/plain"));
	assert_false(accept_openmetrics("text/plain;q=0.51,application/openmetrics-text;q=0.509"));
	assert_true(accept_openmetrics("text/plain;q=0.5,application/openmetrics-text;q=0.5"));
	assert_true(accept_openmetrics("text/plain;q=0.999,application/openmetrics-text;q=1.000"));
	assert_true(accept_openmetrics("application/openmetrics-text;q=99999999999999999999"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(prometheus_gets_openmetrics),
		cmocka_unit_test(others_get_plain_text),
		cmocka_unit_test(weights_decide),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
