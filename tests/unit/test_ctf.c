/* test_ctf.c - events to a Common Trace Format directory. The bytes expected are written by hand from the description
 * that goes with them; babeltrace2 reads both in the tests of the command line. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "export.h"
#include "suite.h"

#include <glob.h>
#include <sys/stat.h>

#include "base/bytes/bytes.h"

static const char *const files[] = {"stream", "metadata"};

static const char *file_of(struct fixture *f, unsigned i)
{
	static char path[96];
	snprintf(path, sizeof path, "%s/%s", f->path, files[i]);
	return path;
}

static int setup(void **state)
{
	return setup_for(state, "ctf");
}

static int teardown_directory(void **state)
{
	struct fixture *f = *state;
	unlink(file_of(f, 0));
	unlink(file_of(f, 1));
	rmdir(f->path);
	return teardown(state);
}

static size_t read_stream(struct fixture *f, unsigned i, char *bytes, size_t room)
{
	return read_file(file_of(f, i), bytes, room);
}

static void test_events(void **state)
{
	struct fixture *f = *state;
	char bytes[2048];
	uint32_t odd = tw_dictionary_intern(f->reader.dictionary, &(struct tw_name){.text = "a\0\xff", .length = 3});
	PUT(f, EVENT(5, TW_SLICE_COMPLETE, f->worker, f->fib, .value = 258, .cpu = 3),
	    EVENT(4, TW_INSTANT, f->main, odd, .category = f->cat, .id = 9));
	expect_loss(f, "time", 1, 0);
	assert_int_equal(tw_finish(f->writer), 0);
	/* Head: magic, stream 0, first and last time 1005, content and packet size in bits: 40 + 22 + 26 bytes. */
	static const char expected[] = "\xc1\x1f\xfc\xc1\0\0\0\0"
				       "\xed\x03\0\0\0\0\0\0\xed\x03\0\0\0\0\0\0"
				       "\xc0\x02\0\0\0\0\0\0\xc0\x02\0\0\0\0\0\0"
				       /* slice-complete with a name: time, process, thread, value, name */
				       "\x42\0\xed\x03\0\0\x07\0\0\0\x08\0\0\0\x02\x01\0\0"
				       "fib\0"
				       /* instant with a name and a category: not before the one before it */
				       "\xc3\0\xed\x03\0\0\x07\0\0\0\x07\0\0\0"
				       "a\xef\xbf\xbd\xef\xbf\xbd\0cat";
	size_t size = read_stream(f, 0, bytes, sizeof bytes);
	assert_int_equal(size, sizeof expected);
	assert_memory_equal(bytes, expected, sizeof expected);
	assert_true(read_stream(f, 1, bytes, sizeof bytes) > 0);
	assert_memory_equal(bytes, "/* CTF 1.8 */\n", 14);
}

/* The classes are kinds 4 and 11; with the name, bit 6; with what comes behind names, from bit 8: another thread (0), the
 * CPU (2), flags (3); the first with numbers of 64 bits, bit 15. */
static void test_fields(void **state)
{
	struct fixture *f = *state;
	char bytes[2048];
	f->reader.clock.has_cpu = true;
	PUT(f, EVENT(0, TW_COUNTER, f->main, f->cat, .id = UINT64_C(5) << 32, .cpu = 258));
	f->reader.clock.has_cpu = false;
	PUT(f, EVENT(1, TW_SWITCH, f->main, 0, .value = UINT32_MAX, .other = f->worker, .cpu = 3),
	    EVENT(2, TW_INSTANT, f->main, 0, .flags = TW_FLAG_GLOBAL));
	assert_int_equal(tw_finish(f->writer), 0);
	static const char expected[] = "\x44\x84\xe8\x03\0\0\x07\0\0\0\0\0\0\0\x07\0\0\0\0\0\0\0\x02\x01"
				       "\0\0\0\0\x05\0\0\0cat\0"
				       /* switch: the CPU is its own to tell, whatever the clock says */
				       "\x0b\x05\xe9\x03\0\0\x07\0\0\0\x07\0\0\0\x03\0\xff\xff\xff\xff"
				       "7/8\0"
				       "\x03\x08\xea\x03\0\0\x07\0\0\0\x07\0\0\0global";
	assert_int_equal(read_stream(f, 0, bytes, sizeof bytes), 40 + sizeof expected);
	assert_memory_equal(bytes + 40, expected, sizeof expected);
}

/* Readers add what 32 bits say to the time before, so that a longer time without events is between two packets. */
static void test_gaps(void **state)
{
	struct fixture *f = *state;
	enum { PACKET = 40, EVENT_BYTES = 14 };
	const uint64_t second = UINT32_MAX, third = second + UINT32_MAX + UINT64_C(1);
	uint8_t bytes[2048];
	PUT(f, EVENT(0, TW_INSTANT, f->main, 0), EVENT(second, TW_INSTANT, f->main, 0),
	    EVENT(third, TW_INSTANT, f->main, 0));
	assert_int_equal(tw_finish(f->writer), 0);
	size_t first_size = PACKET + 2 * (size_t)EVENT_BYTES;
	assert_int_equal(read_stream(f, 0, (char *)bytes, sizeof bytes), first_size + PACKET + EVENT_BYTES);
	assert_int_equal(tw_load64(bytes + 8, false), START);
	assert_int_equal(tw_load64(bytes + 16, false), START + second);
	assert_int_equal(tw_load64(bytes + 32, false), first_size * 8);
	assert_int_equal(tw_load64(bytes + first_size + 8, false), START + third);
	assert_int_equal(tw_load64(bytes + first_size + 16, false), START + third);
	assert_int_equal(tw_load32(bytes + PACKET + EVENT_BYTES + 2, false), (uint32_t)(START + second));
}

/* How many directories have names that are those of the output, or begin with it. */
static size_t directories_of(const struct fixture *f)
{
	char pattern[sizeof f->path + 2];
	glob_t found;
	snprintf(pattern, sizeof pattern, "%s*", f->path);
	size_t count = glob(pattern, 0, NULL, &found) == 0 ? found.gl_pathc : 0;
	globfree(&found);
	return count;
}

static void test_discarded_leaves_no_directory(void **state)
{
	struct fixture *f = *state;
	struct stat status;
	assert_int_equal(stat(f->path, &status), -1); /* until it is complete it has another name */
	assert_int_equal(directories_of(f), 1);
	tw_discard(f->writer);
	f->writer = NULL;
	assert_int_equal(directories_of(f), 0);
}

static void test_packets(void **state)
{
	struct fixture *f = *state;
	enum { EVENTS = 20000 };
	for (unsigned i = 0; i < EVENTS; i++)
		PUT(f, EVENT(i, TW_INSTANT, f->main, f->fib));
	assert_int_equal(tw_finish(f->writer), 0);
	static char bytes[4 << 20];
	size_t size = read_stream(f, 0, bytes, sizeof bytes), packets = 0, at = 0;
	for (; at < size; packets++) {
		assert_true(size - at >= 40);
		assert_memory_equal(bytes + at, "\xc1\x1f\xfc\xc1", 4);
		at += (size_t)(tw_load64((const uint8_t *)bytes + at + 32, false) / 8);
	}
	assert_int_equal(at, size);
	assert_true(packets > 1);
	assert_int_equal(size, packets * 40 + EVENTS * (size_t)18);
}

SUITE(ctf)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(test_events, setup, teardown_directory),
	    cmocka_unit_test_setup_teardown(test_fields, setup, teardown_directory),
	    cmocka_unit_test_setup_teardown(test_gaps, setup, teardown_directory),
	    cmocka_unit_test_setup_teardown(test_discarded_leaves_no_directory, setup, teardown_directory),
	    cmocka_unit_test_setup_teardown(test_packets, setup, teardown_directory),
	};
	return cmocka_run_group_tests_name("ctf", tests, NULL, NULL);
}
