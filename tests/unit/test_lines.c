/* test_lines.c - lines in shared pages: written by threads, merged, collected from what is left of an image. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "coreprofiler/ids.h"
#include "coreprofiler/lines.h"
#include "coreprofiler/text.h"

#include "suite.h"

enum { IMAGE = 1 << 16 };

/* What lines_collect() gave. */
struct taken {
	char text[1 << 12];
	size_t length, most; /* most: lines, 0 for all */
	size_t lines;
};

static bool take(void *context, const char *text, size_t size)
{
	struct taken *taken = context;
	if (taken->most && taken->lines == taken->most)
		return false;
	taken->lines++;
	if (size < sizeof taken->text - taken->length) {
		memcpy(taken->text + taken->length, text, size);
		taken->length += size;
	}
	return true;
}

/* ---- Images, byte by byte as doc/dotnet.md has them. ---- */

static uint8_t image[IMAGE];

static void put64(size_t at, uint64_t value)
{
	for (size_t i = 0; i < 8; i++)
		image[at + i] = (uint8_t)(value >> (8 * i));
}

static size_t put_line(size_t at, uint64_t number, const char *text)
{
	put64(at, number);
	put64(at + 8, strlen(text));
	memcpy(image + at + 16, text, strlen(text));
	return at + 16 + (strlen(text) + 7) / 8 * 8;
}

static void put_chunk(size_t at, uint64_t size, uint64_t committed)
{
	memcpy(image + at, "TWCHUNK\n", 8);
	put64(at + 8, size);
	put64(at + 16, committed);
}

enum { FIRST = 4096, SECOND = 8192, HEAD = 40 };

/* Lines 0, 2 and 3 in the first chunk, 1 and 4 in the second. */
static void make_image(void)
{
	memset(image, 0, sizeof image);
	memcpy(image, "TWLINES\n", 8);
	put64(8, 1 | UINT64_C(77) << 32);
	put64(32, 8192);
	put64(40, 5);
	size_t at = put_line(FIRST + HEAD, 0, "zero\n");
	at = put_line(at, 2, "two, of more than eight bytes\n");
	put_chunk(FIRST, 4096, put_line(at, 3, "three\n") - FIRST - HEAD);
	at = put_line(SECOND + HEAD, 1, "one\n");
	put_chunk(SECOND, 4096, put_line(at, 4, "four\n") - SECOND - HEAD);
}

static bool read_image(void *context, uint64_t offset, void *bytes, size_t size)
{
	const size_t *end = context;
	if (offset > *end || size > *end - offset)
		return false;
	memcpy(bytes, image + offset, size);
	return true;
}

static int collect(size_t size, struct taken *taken, struct lines_summary *summary)
{
	const struct lines_source source = {read_image, &size, size};
	return lines_collect(&source, take, taken, summary);
}

static void expect_lines(const char *text)
{
	struct taken taken = {.length = 0};
	struct lines_summary summary;
	assert_int_equal(collect(12288, &taken, &summary), 0);
	taken.text[taken.length] = '\0';
	assert_string_equal(taken.text, text);
	assert_int_equal(summary.bytes, strlen(text));
	assert_int_equal(summary.process, 77);
}

static void lines_of_all_chunks_are_in_order(void **state)
{
	(void)state;
	make_image();
	expect_lines("zero\none\ntwo, of more than eight bytes\nthree\nfour\n");
}

static void no_more_lines_are_taken_than_wanted(void **state)
{
	struct taken taken = {.most = 2};
	struct lines_summary summary;
	(void)state;
	make_image();
	assert_int_equal(collect(12288, &taken, &summary), 0);
	assert_int_equal(summary.lines, 2);
}

static void one_more_line_tells_of_the_lost(void **state)
{
	struct taken taken = {.length = 0};
	struct lines_summary summary;
	(void)state;
	make_image();
	put64(48, 7);
	assert_int_equal(collect(12288, &taken, &summary), 0);
	taken.text[taken.length] = '\0';
	assert_string_equal(taken.text,
	                    "zero\none\ntwo, of more than eight bytes\nthree\nfour\nprf cfg LostRecords 7\n");
	assert_int_equal(summary.lines, 5);
	assert_int_equal(summary.lost, 7);
	taken = (struct taken){.most = 5};
	assert_int_equal(collect(12288, &taken, &summary), 0);
	assert_int_equal(taken.lines, 5);
}

static void what_is_not_committed_is_not_there(void **state)
{
	(void)state;
	make_image();
	put_chunk(SECOND, 4096, 24);
	expect_lines("zero\none\ntwo, of more than eight bytes\nthree\n");
	put_chunk(SECOND, 4096, 0);
	expect_lines("zero\ntwo, of more than eight bytes\nthree\n");
}

static void damage_hides_no_other_chunk(void **state)
{
	static const uint64_t sizes[] = {0, 1, 4095, 8192, UINT64_MAX, UINT64_MAX - 4095};
	(void)state;
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		make_image();
		put64(SECOND + 8, sizes[i]);
		expect_lines("zero\ntwo, of more than eight bytes\nthree\n");
	}
	make_image();
	put64(FIRST, 1);
	expect_lines("one\nfour\n");
	make_image();
	put64(FIRST + 16, 4097);
	expect_lines("one\nfour\n");
	make_image();
	put64(FIRST + HEAD + 8, UINT64_MAX);
	expect_lines("one\nfour\n");
	make_image();
	put64(FIRST + HEAD + 24 + 8, 5000);
	expect_lines("zero\none\nfour\n");
}

static void other_files_are_no_images(void **state)
{
	struct taken taken = {.length = 0};
	struct lines_summary summary;
	(void)state;
	make_image();
	assert_true(collect(4095, &taken, &summary) != 0);
	put64(8, 2);
	assert_true(collect(12288, &taken, &summary) != 0);
	make_image();
	image[0] = 'X';
	assert_true(collect(12288, &taken, &summary) != 0);
	assert_int_equal(taken.lines, 0);
}

/* ---- What is written. ---- */

static bool read_file(void *context, uint64_t offset, void *bytes, size_t size)
{
	return pread(*(int *)context, bytes, size, (off_t)offset) == (ssize_t)size;
}

enum { THREADS = 24, EACH = 3000 };

static struct line_image lines;

static void *write_many(void *context)
{
	char text[64];
	for (int i = 0; i < EACH; i++) {
		const int size = snprintf(text, sizeof text, "%d %d %.*s\n", *(int *)context, i, i % 40,
		                          "........................................");
		lines_put(&lines, text, (size_t)size);
	}
	return NULL;
}

static void write_from_threads(void)
{
	static int numbers[THREADS];
	pthread_t threads[THREADS];
	for (int i = 0; i < THREADS; i++) {
		numbers[i] = i;
		assert_int_equal(pthread_create(&threads[i], NULL, write_many, &numbers[i]), 0);
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
}

/* Each thread's lines must come whole and in its own order. */
struct threads {
	int next[THREADS];
};

static bool take_of_threads(void *context, const char *text, size_t size)
{
	struct threads *threads = context;
	char copy[64];
	char *end;
	int dots = 0;
	assert_true(size < sizeof copy);
	memcpy(copy, text, size);
	copy[size] = '\0';
	const long thread = strtol(copy, &end, 10), number = strtol(end, &end, 10);
	assert_int_equal(*end, ' ');
	assert_in_range(thread, 0, THREADS - 1);
	assert_int_equal(number, threads->next[thread]++);
	for (const char *at = copy; *at; at++)
		dots += *at == '.';
	assert_int_equal(dots, number % 40);
	assert_int_equal(copy[size - 1], '\n');
	return true;
}

static void temporary_name(char path[64])
{
	snprintf(path, 64, "/tmp/trackway-lines-%d", (int)getpid());
	unlink(path);
}

static void all_threads_write_into_a_file(void **state)
{
	char path[64];
	struct threads threads = {{0}};
	struct lines_summary summary;
	(void)state;
	temporary_name(path);
	assert_int_equal(lines_open(&lines, path, 1 << 24), 0);
	write_from_threads();
	struct lines_source source = {read_file, &lines.file.fd, 1 << 24};
	source.size = (uint64_t)lseek(lines.file.fd, 0, SEEK_END);
	assert_int_equal(lines_collect(&source, take_of_threads, &threads, &summary), 0);
	assert_int_equal(summary.lines, THREADS * EACH);
	assert_int_equal(summary.lost, 0);
	assert_false(summary.ended);
	lines_end(&lines);
	assert_int_equal(lines_collect(&source, take_of_threads, &(struct threads){{0}}, &summary), 0);
	assert_true(summary.ended);
	assert_true(lines_open(&(struct line_image){0}, path, 1 << 20) != 0); /* it is there */
	munmap(lines.header, LINES_PAGE + (1 << 24));
	lines_file_close(&lines.file);
	unlink(path);
}

static void put_until(uint64_t end)
{
	static char text[1 << 12];
	memset(text, 'x', sizeof text);
	text[sizeof text - 1] = '\n';
	while (lines.used < end)
		lines_put(&lines, text, sizeof text);
}

/* As daemons do. */
static void a_program_closes_the_file_and_has_another_there(void **state)
{
	enum { ROOM = 8 * LINES_CHUNK };
	char path[64], moved[80], other[] = "/tmp/trackway-lines-XXXXXX";
	struct stat status;
	(void)state;
	temporary_name(path);
	snprintf(moved, sizeof moved, "%s-moved", path);
	assert_int_equal(lines_open(&lines, path, ROOM), 0);
	put_until(LINES_CHUNK);
	const int number = lines.file.fd;
	close(number);
	const int own = mkstemp(other);
	assert_int_equal(own, number);
	put_until((uint64_t)3 * LINES_CHUNK);
	assert_int_equal(fstat(own, &status), 0);
	assert_int_equal(status.st_size, 0);
	assert_int_equal(stat(path, &status), 0);
	assert_int_equal(status.st_size, LINES_PAGE + 3 * LINES_CHUNK);
	assert_int_equal(lines.header->lost, 0);
	/* One that stands in its place is none of it. */
	assert_int_equal(rename(path, moved), 0);
	assert_int_equal(rename(other, path), 0);
	static const char text[LINES_CHUNK] = {'y'};
	lines_put(&lines, text, sizeof text);
	assert_int_equal(lines.header->lost, 1);
	assert_int_equal(fstat(own, &status), 0);
	assert_int_equal(status.st_size, 0);
	lines_file_close(&lines.file);
	assert_true(fcntl(own, F_GETFD) >= 0);
	munmap(lines.header, LINES_PAGE + ROOM);
	close(own);
	unlink(path);
	unlink(moved);
}

static void what_has_no_room_is_counted(void **state)
{
	char path[64];
	struct taken taken = {.length = 0};
	struct lines_summary summary;
	(void)state;
	temporary_name(path);
	assert_int_equal(lines_open(&lines, path, 2 * LINES_CHUNK), 0);
	static char text[1000];
	memset(text, 'x', sizeof text);
	for (int i = 0; i < 1000; i++)
		lines_put(&lines, text, sizeof text);
	const struct lines_source source = {read_file, &lines.file.fd, (uint64_t)lseek(lines.file.fd, 0, SEEK_END)};
	assert_int_equal(lines_collect(&source, take, &taken, &summary), 0);
	assert_int_equal(summary.lines + summary.lost, 1000);
	/* A line takes 1,016 bytes, a chunk's header 40: 64 in each chunk of 64 KiB. */
	assert_int_equal(summary.lines, 128);
	munmap(lines.header, LINES_PAGE + 2 * LINES_CHUNK);
	lines_file_close(&lines.file);
	unlink(path);
}

/* Memory that is written out is used again, also by lines longer than a chunk. */
static void memory_is_written_out_in_order(void **state)
{
	enum { ROUNDS = 100, LONG = 3 * LINES_CHUNK };
	(void)state;
	int fd = memfd_create("log", 0);
	assert_int_equal(lines_open(&lines, NULL, 16 * LINES_CHUNK), 0);
	char *text = malloc(LONG);
	assert_non_null(text);
	memset(text, 'y', LONG);
	text[LONG - 1] = '\n';
	for (int i = 0; i < ROUNDS; i++) {
		lines_put(&lines, "first\n", 6);
		lines_put(&lines, text, LONG);
		lines_put(&lines, "last\n", 5);
		assert_int_equal(lines_drain(&lines, fd), 0);
	}
	assert_int_equal(lines.header->lost, 0);
	assert_int_equal(lseek(fd, 0, SEEK_END), ROUNDS * (6 + LONG + 5));
	char begin[8] = "", end[8] = "";
	for (off_t at = 0; at < ROUNDS * (off_t)(6 + LONG + 5); at += 6 + LONG + 5) {
		assert_int_equal(pread(fd, begin, 7, at), 7);
		assert_string_equal(begin, "first\ny");
		assert_int_equal(pread(fd, end, 7, at + 6 + LONG - 2), 7);
		assert_string_equal(end, "y\nlast\n");
	}
	free(text);
	close(fd);
	munmap(lines.header, LINES_PAGE + 16 * LINES_CHUNK);
}

/* ---- Text. Source: the table of items in the format's document; pointers as the runtime prints them. ---- */

static void numbers_are_as_in_the_document(void **state)
{
	struct text text;
	(void)state;
	text_begin(&text, "jit cms ");
	text_decimal(&text, 0);
	text_char(&text, ' ');
	text_decimal(&text, UINT64_MAX);
	text_char(&text, ' ');
	text_hex(&text, 0);
	text_char(&text, ' ');
	text_hex(&text, 0xfffffffd);
	text_char(&text, ' ');
	text_hex8(&text, 0x6000a1f);
	text_char(&text, ' ');
	text_pointer(&text, 0x7fab12cd);
	text_char(&text, ' ');
	text_id(&text, 31);
	text_id(&text, TEXT_NO_ID);
	text_short_id(&text, 31);
	text_short_id(&text, TEXT_NO_ID);
	text_char(&text, '\0');
	assert_string_equal(text.bytes, "jit cms 0 18446744073709551615 0x0 0xfffffffd 0x06000a1f 0x000000007FAB12CD "
	                                "0x0000001f?0x1f?");
	text_end(&text);
}

static void names_become_utf8(void **state)
{
	static const uint16_t name[] = {'a', 0xe9, 0x20ac, 0xd83d, 0xde00, '\n', 0xd800, 'b', 0xdc00, 0, 'c'};
	struct text text;
	(void)state;
	text_begin(&text, "");
	text_utf16(&text, name, sizeof name / sizeof *name);
	text_utf16(&text, name + 3, 1);
	text_char(&text, '\0');
	assert_string_equal(text.bytes, "a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80 \xef\xbf\xbd"
	                                "b\xef\xbf\xbd\xef\xbf\xbd");
	text_end(&text);
}

static void lines_have_no_limit(void **state)
{
	struct text text;
	(void)state;
	text_begin(&text, "sam str");
	for (int i = 0; i < 100000; i++)
		text_string(&text, " 0x1234");
	assert_false(text.failed);
	assert_int_equal(text.length, 7 + 700000);
	assert_memory_equal(text.bytes, "sam str 0x1234 0x1234", 21);
	assert_memory_equal(text.bytes + text.length - 14, " 0x1234 0x1234", 14);
	text_end(&text);
}

/* Also where no handler of pthread_atfork() runs: SYS_clone with no more than the signal is a fork. */
static void forked_children_write_nothing(void **state)
{
	char path[64];
	int status = -1;
	(void)state;
	temporary_name(path);
	assert_int_equal(lines_open(&lines, path, 1 << 20), 0);
	lines_put(&lines, "parent\n", 7);
	const pid_t child = (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
	if (child == 0) {
		lines_put(&lines, "child\n", 6);
		lines_end(&lines);
		_exit(lines_are_own(&lines));
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	assert_true(lines_are_own(&lines));
	assert_int_equal(lines.header->next, 1);
	assert_int_equal(lines.header->state, LINES_OPEN);
	munmap(lines.header, LINES_PAGE + (1 << 20));
	lines_file_close(&lines.file);
	unlink(path);
}

/* ---- Ids. ---- */

static void ids_are_given_once_and_never_again(void **state)
{
	enum { MANY = 20000 };
	struct ids ids = IDS_BEGIN(2);
	bool logged;
	(void)state;
	for (uint64_t i = 0; i < MANY; i++)
		assert_int_equal(ids_of(&ids, 0x7f0000000000 + 8 * i), 2 + i);
	assert_int_equal(ids_look(&ids, 0x7f0000000000, &logged), 2);
	assert_false(logged);
	assert_true(ids_write(&ids, 0x7f0000000000, NULL, NULL));
	assert_int_equal(ids_look(&ids, 0x7f0000000000, &logged), 2);
	assert_true(logged);
	for (uint64_t i = 0; i < MANY; i += 2)
		ids_forget(&ids, 0x7f0000000000 + 8 * i);
	for (uint64_t i = 1; i < MANY; i += 2)
		assert_int_equal(ids_of(&ids, 0x7f0000000000 + 8 * i), 2 + i);
	assert_int_equal(ids_look(&ids, 0x7f0000000000, &logged), 2 + MANY);
	assert_false(logged);
	free(ids.table);
}

struct record {
	struct ids *ids;
	unsigned put;
	bool held; /* nobody could look meanwhile */
};

static void put_record(void *context)
{
	struct record *record = context;
	record->put++;
	record->held = pthread_mutex_trylock(&record->ids->mutex) != 0;
}

/* An id counts as told of when its record is in the log, and not before: another thread would write its number. */
static void ids_are_logged_by_who_has_the_record(void **state)
{
	struct ids ids = IDS_BEGIN(0);
	struct record record = {.ids = &ids};
	bool logged;
	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		ids_look(&ids, 8, &logged);
		assert_false(logged);
	}
	assert_true(ids_write(&ids, 8, put_record, &record));
	assert_false(ids_write(&ids, 8, put_record, &record));
	assert_int_equal(record.put, 1);
	assert_true(record.held);
	free(ids.table);
}

SUITE(lines)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(lines_of_all_chunks_are_in_order),
	    cmocka_unit_test(no_more_lines_are_taken_than_wanted),
	    cmocka_unit_test(one_more_line_tells_of_the_lost),
	    cmocka_unit_test(what_is_not_committed_is_not_there),
	    cmocka_unit_test(damage_hides_no_other_chunk),
	    cmocka_unit_test(other_files_are_no_images),
	    cmocka_unit_test(all_threads_write_into_a_file),
	    cmocka_unit_test(a_program_closes_the_file_and_has_another_there),
	    cmocka_unit_test(what_has_no_room_is_counted),
	    cmocka_unit_test(memory_is_written_out_in_order),
	    cmocka_unit_test(numbers_are_as_in_the_document),
	    cmocka_unit_test(names_become_utf8),
	    cmocka_unit_test(lines_have_no_limit),
	    cmocka_unit_test(forked_children_write_nothing),
	    cmocka_unit_test(ids_are_given_once_and_never_again),
	    cmocka_unit_test(ids_are_logged_by_who_has_the_record),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
