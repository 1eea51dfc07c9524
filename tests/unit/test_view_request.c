/* test_view_request.c - addresses, numbers in them, and who may ask. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "view/serve/request.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "suite.h"

static void test_addresses(void **state)
{
	(void)state;
	static const struct {
		const char *address;
		bool fine;
		const char *path, *value; /* of the parameter a */
	} examples[] = {
	    {"/", true, "/", NULL},
	    {"/x?a=1&b=2", true, "/x", "1"},
	    {"/x?b=2&a=%41%2f+c", true, "/x", "A/ c"},
	    {"/x?a", true, "/x", ""},
	    {"/x?&&a=1&", true, "/x", "1"},
	    {"/%2e%2e/x?a=1", true, "/%2e%2e/x", "1"},
	    {"/x?a=1&a=2", false, NULL, NULL},
	    {"/x?a=%4", false, NULL, NULL},
	    {"/x?a=%zz", false, NULL, NULL},
	    {"/x?a=%00", false, NULL, NULL},
	    {"", false, NULL, NULL},
	    {"http://127.0.0.1/", false, NULL, NULL},
	    {"/?1&2&3&4&5&6&7&8&9&10&11&12&13&14&15&16&17", false, NULL, NULL},
	};
	for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) {
		struct view_request request = {.method = "GET", .address = examples[i].address};
		assert_int_equal(view_request_parse(&request), examples[i].fine);
		if (examples[i].fine) {
			const char *value = view_request_text(&request, "a");
			assert_string_equal(request.path, examples[i].path);
			assert_int_equal(value != NULL, examples[i].value != NULL);
			if (value && examples[i].value)
				assert_string_equal(value, examples[i].value);
		}
		view_request_free(&request);
	}
}

static void test_numbers(void **state)
{
	(void)state;
	static const struct {
		const char *address;
		bool fine;
		uint64_t value;
	} examples[] = {
	    {"/?a=0", true, 0},     {"/?a=18446744073709551615", true, UINT64_MAX},
	    {"/?a=", false, 0},     {"/?a=18446744073709551616", false, 0},
	    {"/?a=-1", false, 0},   {"/?a=1.5", false, 0},
	    {"/?a=0x10", false, 0}, {"/?a=%201", false, 0},
	    {"/?a=007", true, 7},   {"/?b=1", false, 0},
	};
	for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) {
		struct view_request request = {.method = "GET", .address = examples[i].address};
		uint64_t value = 0;
		assert_true(view_request_parse(&request));
		assert_int_equal(view_request_number(&request, "a", UINT64_MAX, &value), examples[i].fine);
		if (examples[i].fine)
			assert_int_equal(value, examples[i].value);
		view_request_free(&request);
	}
}

#define TOKEN "0123456789abcdef0123456789abcdef"

/* A page elsewhere, a name that leads here, and who does not have the cookie of this port are nobody. */
static void test_who_asks(void **state)
{
	(void)state;
	static const struct {
		const char *host, *origin, *cookie, *site;
		bool ours;
	} examples[] = {
	    {"127.0.0.1:80", NULL, "trackway-80=" TOKEN, NULL, true},
	    {"localhost:9000", "http://localhost:9000", "a=b; trackway-80=" TOKEN "; c=d", "same-origin", true},
	    {"localhost", NULL, "trackway-80=" TOKEN, "none", true},
	    {NULL, NULL, "trackway-80=" TOKEN, NULL, false},
	    {"evil.example", NULL, "trackway-80=" TOKEN, NULL, false},
	    {"127.0.0.1.evil.example:80", NULL, "trackway-80=" TOKEN, NULL, false},
	    {"localhost.evil.example", NULL, "trackway-80=" TOKEN, NULL, false},
	    {"localhost:80x", NULL, "trackway-80=" TOKEN, NULL, false},
	    {"localhost:", NULL, "trackway-80=" TOKEN, NULL, false},
	    {"127.0.0.1:80", "http://evil.example", "trackway-80=" TOKEN, NULL, false},
	    {"127.0.0.1:80", "null", "trackway-80=" TOKEN, NULL, false},
	    {"127.0.0.1:80", "https://127.0.0.1:80", "trackway-80=" TOKEN, NULL, false},
	    {"127.0.0.1:80", "http://127.0.0.1:81", "trackway-80=" TOKEN, NULL, false},
	    {"127.0.0.1:80", NULL, "trackway-80=" TOKEN, "cross-site", false},
	    {"127.0.0.1:80", NULL, "trackway-80=" TOKEN, "same-site", false},
	    {"127.0.0.1:80", NULL, NULL, NULL, false},
	    {"127.0.0.1:80", NULL, "trackway-81=" TOKEN, NULL, false},
	    {"127.0.0.1:80", NULL, "trackway-80=0123456789abcdef0123456789abcdee", NULL, false},
	    {"127.0.0.1:80", NULL, "trackway-80=" TOKEN "0", NULL, false},
	    {"127.0.0.1:80", NULL, "trackway-80=", NULL, false},
	    {"127.0.0.1:80", NULL, "xtrackway-80=" TOKEN, NULL, false},
	};
	for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) {
		const struct view_request request = {.host = examples[i].host,
		                                     .origin = examples[i].origin,
		                                     .cookie = examples[i].cookie,
		                                     .fetch_site = examples[i].site};
		assert_int_equal(view_request_is_ours(&request, 80, TOKEN), examples[i].ours);
	}
}

SUITE(view_request)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_addresses),
	    cmocka_unit_test(test_numbers),
	    cmocka_unit_test(test_who_asks),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
