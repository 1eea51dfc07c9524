/* test_sled_map.c - XRay maps in YAML, several objects, and programs that are not those of a log. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "symbols/tool.h"

#include <trackway/symbols.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "suite.h"

/* A file with a text, which stays until it is written anew. */
static const char *path_of(const char *text)
{
	static char path[32];
	static int file = -1;
	if (file < 0)
		file = memfd_create("map", MFD_CLOEXEC);
	assert_int_equal(ftruncate(file, 0), 0);
	assert_int_equal(pwrite(file, text, strlen(text), 0), strlen(text));
	snprintf(path, sizeof path, "/proc/self/fd/%d", file);
	return path;
}

static int open_text(struct tw_symbols **program, const char *text)
{
	return tw_symbols_open(program, path_of(text));
}

/* As `llvm-xray extract` writes it, and YAML that says the same otherwise. */
static const char *const same_map[] = {
    "---\n"
    "- { id: 7, address: 0x201210, function: 0x201200, kind: log-args-enter, always-instrument: true, "
    "function-name: 'it''s(int)', version: 2 }\n"
    "- { id: 7, address: 0x20121E, function: 0x201200, kind: tail-exit, always-instrument: true, "
    "function-name: 'it''s(int)', version: 2 }\n"
    "- { id: 2, address: 0x201230, function: 0x201230, kind: custom-event, always-instrument: false, "
    "function-name: '', version: 2 }\n"
    "...\n",
    "--- # a map\n"
    "-   {id: 7,function-name: \"it\\x27s(int)\" , address: 2101776, kind: log-args-enter,\n"
    "     always-instrument: true, version: 2, function: 2101760}\n"
    "- { id: 7, address: 0x20121E, function: 0x201200, kind: \"tail-exit\", always-instrument: true, "
    "function-name: it's(int), version: 2 }\r\n"
    "- { id: 2, address: 0x201230, function: 0x201230, kind: custom-event, always-instrument: false, version: 2 "
    "}",
    /* LLVM's reader takes these, too: block mappings, a sequence in brackets, a byte order mark, directives */
    "# a map\n%YAML 1.2\n---\n"
    "-   id:    7\n"
    "    address: 0o10011020 # octal\n"
    "    function: 0x201200\n"
    "    kind: \"log-args-enter\"\n"
    "    always-instrument: Yes\n"
    "    function-name: it's(int)\n"
    "    version: 2\r\n"
    "-\n"
    "    function-name:\n"
    "    version: 2\n"
    "    kind: tail-exit\n"
    "    id: 7\n\n"
    "    always-instrument: on\n"
    "    address: 0x20121E\n"
    "    function: 2101760\n"
    "- { id: 2, address: 0x201230, function: 0x201230, kind: custom-event, always-instrument: no, version: 2 }\n"
    "...\n",
    "- id: 7\n"
    "  function-name: | # as it stands\n"
    "    it's(int)\n"
    "\n"
    "  address: 0x201210\n"
    "  kind:\n"
    "    log-args-enter\n"
    "  function: 0x201200\n"
    "  always-instrument: true\n"
    "  version: 2\n"
    "- {\n"
    "  id:\n"
    "    7, address: 0x20121E\n"
    "  , function: 0x201200, kind: tail-exit, always-instrument: true # what is behind it\n"
    "  , version: 2 }\n"
    "- kind: >-\n"
    "        custom-event\n"
    "  id: 2\n"
    "  address: 0x201230\n"
    "  function: 0x201230\n"
    "  always-instrument: no\n"
    "  version: |+\n"
    "   2\n",
    "\xef\xbb\xbf[ {id: 7, address: 0x201210, function: 0x201200, kind: log-args-enter, always-instrument: true, "
    "function-name: \"it\\\n  's(int)\", version: 2},\r\n"
    "  {id: 7, address: 0x20121E, function: 0x201200, kind: tail-exit, always-instrument: true, version: 2}, "
    "{id: 2, address: 0x201230, function: 0x201230, kind: custom-event, always-instrument: off, version: 2} ]",
};

static void reads_maps_in_yaml(void **state)
{
	(void)state;
	static const struct tw_symbols_sled wanted[] = {
	    {0x201210, 0x201200, 7, TW_SLED_ARGS_ENTRY, 1, 2},
	    {0x20121e, 0x201200, 7, TW_SLED_TAIL_EXIT, 1, 2},
	    {0x201230, 0x201230, 2, TW_SLED_CUSTOM_EVENT, 0, 2},
	};
	for (size_t i = 0; i < sizeof same_map / sizeof *same_map; i++) {
		struct tw_symbols *program;
		const struct tw_symbols_sled *sleds;
		if (open_text(&program, same_map[i]) != 0)
			fail_msg("text %zu: %s", i, tw_symbols_error(program));
		assert_int_equal(tw_symbols_sleds(program, &sleds), 3);
		for (size_t k = 0; k < 3; k++) {
			assert_int_equal(sleds[k].address, wanted[k].address);
			assert_int_equal(sleds[k].function, wanted[k].function);
			assert_int_equal(sleds[k].id, wanted[k].id);
			assert_int_equal(sleds[k].kind, wanted[k].kind);
			assert_int_equal(sleds[k].always, wanted[k].always);
			assert_int_equal(sleds[k].version, wanted[k].version);
		}
		assert_int_equal(tw_symbols_functions(program), 2);
		assert_string_equal(tw_symbols_function(program, 7)->name, "it's(int)");
		assert_string_equal(tw_symbols_function(program, 2)->name, "@0x201230");
		assert_null(tw_symbols_function(program, 1));
		tw_symbols_close(program);
	}
}

/* What stands over two lines is one text. */
static void folds_lines(void **state)
{
	(void)state;
	static const char *const texts[] = {"'operator()(int, \r\n      long)'",
	                                    "\"operator()(int,\n\tlong)\"",
	                                    "\"operator()(int, \\\n  long)\"",
	                                    "\"operator()(int,\\x20long)\"",
	                                    "operator()(int, \r\n\n      long) # and on",
	                                    "\n   operator()(int,\n   long)",
	                                    ">\n   operator()(int,\n   long)",
	                                    "|-\n   operator()(int, long)\n # a comment"};
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		char map[256];
		struct tw_symbols *program;
		snprintf(map, sizeof map,
		         "- id: 1\n  function-name: %s\n  address: 1\n  function: 1\n  kind: function-exit\n"
		         "  always-instrument: false\n",
		         texts[i]);
		if (open_text(&program, map) != 0)
			fail_msg("text %zu: %s", i, tw_symbols_error(program));
		assert_string_equal(tw_symbols_function(program, 1)->name, "operator()(int, long)");
		tw_symbols_close(program);
	}
}

static void refuses_what_is_no_map_in_yaml(void **state)
{
	(void)state;
	static const struct {
		const char *text, *expected;
	} wrong[] = {
	    {"---\n...\n", "no sled"},
	    {"---\nfunctions: 3\n", "line 2: expected - { id: ... }"},
	    {"---\n- { id: 1 }\n", "line 2: expected id, address"},
	    {"---\n- { id: 0, address: 0 }\n", "an id from 1 on"},
	    {"---\n- { id: -3, address: 0 }\n", "a number that fits"},
	    {"---\n- { id: 1, kind: enter }\n", "a kind of sled"},
	    {"---\n- { id: 1, always-instrument: maybe }\n", "true or false"},
	    {"---\n- { id: 1, function-name: 'open", "the end of a quoted text"},
	    {"---\n- { id: 1, function-name: \"a\\q\" }", "two digits"},
	    {"---\n- { color: red }", "id, address, function"},
	    {"---\n- { id: 1 address: 0 }", "a number that fits"},
	    {"---\n- { id: 1", "a comma or }"},
	    {"- id: 1\n  address: 2\n", "line 3: expected id, address"},
	    {"- id: 1\n  color: red\n", "id, address, function"},
	    {"- id: 1, address: 2\n", "a number that fits"},
	    {"[]", "no sled"},
	    {"# a note, and no map\n", "no sled"},
	    {"\xcf\xfa\xed\xfe and more", "Mach-O"},
	    {"\xca\xfe\xba\xbe and more", "Mach-O"},
	};
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		struct tw_symbols *program;
		assert_true(open_text(&program, wrong[i].text) < 0);
		if (!strstr(tw_symbols_error(program), wrong[i].expected))
			fail_msg("text %zu: %s", i, tw_symbols_error(program));
		tw_symbols_close(program);
	}
}

#define SLED(id, kind, name)                                                                                           \
	"- { id: " #id ", address: 0x" #id "00, function: 0x" #id "00, kind: " kind                                    \
	", always-instrument: true, function-name: " name ", version: 2 }\n"

/* Source of the numbers: LLVM 20, object << 24 | function. */
static void names_functions_of_several_objects(void **state)
{
	(void)state;
	struct tw_symbols *symbols;
	struct tw_name name;
	const char *path = path_of("---\n" SLED(1, "function-enter", "one") SLED(2, "function-enter", "two"));
	assert_int_equal(tw_symbols_new(&symbols), 0);
	assert_int_equal(tw_symbols_add_object(symbols, 1, path), 0);
	assert_int_equal(tw_symbols_add_object(symbols, 15, path), 0);
	assert_int_equal(tw_symbols_add_object(symbols, 256, path), TW_ERR_VALUE);
	assert_int_equal(tw_symbols_add_object(symbols, 2, "/nowhere/at/all"), TW_ERR_SYSTEM);
	const struct tw_namer *namer = tw_symbols_namer(symbols);
	static const struct {
		uint64_t id;
		const char *name;
	} wanted[] = {{0x1000002, "two"}, {0xf000001, "one"}, {1, NULL},
	              {0x2000001, NULL},  {0x1000003, NULL},  {0, NULL}};
	for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
		assert_int_equal(namer->name(namer->context, wanted[i].id, &name), wanted[i].name != NULL);
		if (wanted[i].name)
			assert_string_equal(name.text, wanted[i].name);
	}
	tw_symbols_close(symbols);
}

/* basic-v3.xray, doc/formats/xray-fdr.md's basic mode, by its records: enters and exits of 1, 2 (with an argument) and 4,
 * a tail exit of 3. */
static void reports_what_does_not_fit(void **state)
{
	(void)state;
	static const struct {
		const char *map, *why; /* NULL: it fits */
		unsigned nameless;
	} cases[] = {
	    {"---\n" SLED(1, "function-enter", "a") SLED(2, "log-args-enter", "b") SLED(3, "tail-exit", "c")
	         SLED(4, "function-exit", "d"),
	     NULL, 0},
	    {"---\n" SLED(1, "function-enter", "a") SLED(2, "log-args-enter", "b") SLED(3, "tail-exit", "c"),
	     "the log has #4, which it has not", 4},
	    {"---\n" SLED(1, "function-enter", "a") SLED(2, "function-enter", "b") SLED(3, "tail-exit", "c")
	         SLED(4, "function-exit", "d"),
	     "the log has arguments of b, which has no sled that takes them", 2},
	    {"---\n" SLED(1, "function-enter", "a") SLED(2, "log-args-enter", "b") SLED(3, "function-exit", "c")
	         SLED(4, "function-exit", "d"),
	     "the log has a tail exit of c, which has no such sled", 3},
	};
	char log[PATH_MAX];
	snprintf(log, sizeof log, "%s/xray/basic-v3.xray", getenv("TW_TEST_DATA"));
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char why[TW_MISFIT_TEXT];
		struct tw_symbols *symbols;
		struct tw_name name;
		assert_int_equal(tw_symbols_new(&symbols), 0);
		assert_int_equal(tw_symbols_add_object(symbols, 0, path_of(cases[i].map)), 0);
		assert_int_equal(tw_symbols_fit(symbols, log, true, why), 0);
		if (cases[i].why ? !strstr(why, cases[i].why) : *why)
			fail_msg("case %zu: %s", i, why);
		const struct tw_namer *namer = tw_symbols_namer(symbols);
		for (unsigned id = 1; id <= 4; id++)
			assert_int_equal(namer->name(namer->context, id, &name), id != cases[i].nameless);
		tw_symbols_close(symbols);
	}
}

SUITE(sled_map)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(reads_maps_in_yaml),
	    cmocka_unit_test(folds_lines),
	    cmocka_unit_test(refuses_what_is_no_map_in_yaml),
	    cmocka_unit_test(names_functions_of_several_objects),
	    cmocka_unit_test(reports_what_does_not_fit),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
