/* test_ctf.c - events to a Common Trace Format directory. The bytes expected are written by hand from the description
 * that goes with them; babeltrace2 reads both in the tests of the command line. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "export.h"

#include <sys/stat.h>

#include "base/bytes.h"

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
	/* Head: magic, stream 0, first and last time 1005, content and packet size in bits: 40 + 68 + 75 bytes. */
	static const char expected[] = "\xc1\x1f\xfc\xc1\0\0\0\0"
				       "\xed\x03\0\0\0\0\0\0\xed\x03\0\0\0\0\0\0"
				       "\xb8\x05\0\0\0\0\0\0\xb8\x05\0\0\0\0\0\0"
				       /* slice-complete: time, process, thread, cpu, value, id, eight texts, line */
				       "\x02\xed\x03\0\0\0\0\0\0\x07\0\0\0\0\0\0\0\x08\0\0\0\0\0\0\0\x03\0\0\0\0\0\0\0"
				       "\x02\x01\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
				       "\0fib\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
				       /* instant: not before the one before it */
				       "\x03\xed\x03\0\0\0\0\0\0\x07\0\0\0\0\0\0\0\x07\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
				       "\0\0\0\0\0\0\0\0\x09\0\0\0\0\0\0\0"
				       "\0a\xef\xbf\xbd\xef\xbf\xbd\0cat\0\0\0\0\0\0\0\0\0\0\0\0\0";
	size_t size = read_stream(f, 0, bytes, sizeof bytes);
	assert_int_equal(size, sizeof expected);
	assert_memory_equal(bytes, expected, sizeof expected);
	assert_true(read_stream(f, 1, bytes, sizeof bytes) > 0);
	assert_memory_equal(bytes, "/* CTF 1.8 */\n", 14);
}

static void test_given_up(void **state)
{
	struct fixture *f = *state;
	struct stat status;
	assert_int_equal(stat(f->path, &status), 0);
	tw_discard(f->writer);
	f->writer = NULL;
	assert_int_equal(stat(f->path, &status), -1);
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
	assert_int_equal(size, packets * 40 + EVENTS * (size_t)68);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(test_events, setup, teardown_directory),
	    cmocka_unit_test_setup_teardown(test_given_up, setup, teardown_directory),
	    cmocka_unit_test_setup_teardown(test_packets, setup, teardown_directory),
	};
	return cmocka_run_group_tests_name("ctf", tests, NULL, NULL);
}
