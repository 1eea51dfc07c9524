/* test_base.c - bytes, maps, growing arrays, UTF-8, JSON text, numbers and output. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/behind.h"
#include "base/bytes.h"
#include "base/compress.h"
#include "base/digits.h"
#include "base/json.h"
#include "base/map.h"
#include "base/memory.h"
#include "base/order.h"
#include "base/output.h"
#include "base/parallel.h"
#include "base/scan.h"
#include "base/utf8.h"

/* ---- Bytes. ---- */

static void test_loads(void **state)
{
	(void)state;
	static const uint8_t bytes[] = {0, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88};
	const uint8_t *odd = bytes + 1;
	assert_int_equal(tw_load16(odd, false), 0x2211);
	assert_int_equal(tw_load16(odd, true), 0x1122);
	assert_int_equal(tw_load32(odd, false), 0x44332211);
	assert_int_equal(tw_load32(odd, true), 0x11223344);
	assert_true(tw_load64(odd, false) == UINT64_C(0x8877665544332211));
	assert_true(tw_load64(odd, true) == UINT64_C(0x1122334455667788));
}

static void test_stores(void **state)
{
	(void)state;
	uint8_t bytes[9] = {0};
	tw_store16(bytes + 1, 0x1122, true);
	assert_memory_equal(bytes, "\0\x11\x22\0", 4);
	tw_store16(bytes + 1, 0x1122, false);
	assert_memory_equal(bytes, "\0\x22\x11\0", 4);
	tw_store32(bytes + 1, 0x11223344, true);
	assert_memory_equal(bytes, "\0\x11\x22\x33\x44\0", 6);
	tw_store32(bytes + 1, 0x11223344, false);
	assert_memory_equal(bytes, "\0\x44\x33\x22\x11\0", 6);
	tw_store64(bytes + 1, UINT64_C(0x1122334455667788), true);
	assert_memory_equal(bytes, "\0\x11\x22\x33\x44\x55\x66\x77\x88", 9);
	tw_store64(bytes + 1, UINT64_C(0x1122334455667788), false);
	assert_memory_equal(bytes, "\0\x88\x77\x66\x55\x44\x33\x22\x11", 9);
}

static void test_bits(void **state)
{
	(void)state;
	uint64_t word = UINT64_C(0xfedcba9876543210);
	assert_int_equal(tw_bits(word, 0, 3), 0);
	assert_int_equal(tw_bits(word, 4, 15), 0x321);
	assert_int_equal(tw_bits(word, 63, 63), 1);
	assert_int_equal(tw_bits(word, 32, 63), 0xfedcba98);
	assert_true(tw_bits(word, 0, 63) == word);
	assert_false(tw_any_set((const uint8_t *)"\0\0\0", 3));
	assert_true(tw_any_set((const uint8_t *)"\0\0\1", 3));
	assert_false(tw_any_set((const uint8_t *)"\1", 0));
}

/* ---- Maps. ---- */

static void test_map(void **state)
{
	(void)state;
	struct tw_map map = {0};
	uint32_t value;
	assert_false(tw_map_find(&map, 0, &value));
	assert_null(tw_map_stored(&map, 0));
	for (uint32_t i = 0; i < 10000; i++)
		assert_true(tw_map_add(&map, (uint64_t)i << 20, i * 3));
	assert_int_equal(map.count, 10000);
	for (uint32_t i = 0; i < 10000; i++) {
		assert_true(tw_map_find(&map, (uint64_t)i << 20, &value));
		assert_int_equal(value, i * 3);
		assert_false(tw_map_find(&map, ((uint64_t)i << 20) + 1, &value));
	}
	*tw_map_stored(&map, 5 << 20) = 100;
	assert_true(tw_map_find(&map, 5 << 20, &value));
	assert_int_equal(value, 99);
	tw_map_free(&map);
	assert_false(tw_map_find(&map, 0, &value));
}

static void test_map_with_equal_keys(void **state)
{
	(void)state;
	struct tw_map map = {0};
	uint64_t sum = 0;
	for (uint32_t i = 1; i <= 100; i++)
		assert_true(tw_map_add(&map, i % 2, i));
	size_t slot = SIZE_MAX;
	uint32_t value, count = 0;
	for (; tw_map_next(&map, 1, &slot, &value); count++)
		sum += value;
	assert_int_equal(count, 50);
	assert_int_equal(sum, 2500); /* 1 + 3 + ... + 99 */
	slot = SIZE_MAX;
	assert_false(tw_map_next(&map, 7, &slot, &value));
	tw_map_free(&map);
}

static void test_hash(void **state)
{
	(void)state;
	static const char text[] = "abcdefghijklmnopqrstuvwxyz";
	struct tw_map seen = {0};
	uint32_t value;
	for (size_t size = 0; size < sizeof text; size++)
		for (uint64_t seed = 0; seed < 20; seed++) {
			uint64_t hash = tw_hash_bytes(text, size, seed);
			assert_true(hash == tw_hash_bytes(text, size, seed));
			assert_false(tw_map_find(&seen, hash, &value));
			assert_true(tw_map_add(&seen, hash, 0));
		}
	tw_map_free(&seen);
}

/* ---- Growing arrays. ---- */

static void test_grow(void **state)
{
	(void)state;
	uint32_t *array = NULL;
	size_t room = 0;
	for (uint32_t i = 0; i < 1000; i++) {
		assert_true(tw_grow(&array, &room, i + 1, sizeof *array));
		assert_true(room > i);
		assert_int_equal(array[i], 0);
		array[i] = i;
	}
	for (uint32_t i = 0; i < 1000; i++)
		assert_int_equal(array[i], i);
	size_t before = room;
	assert_false(tw_grow(&array, &room, SIZE_MAX / 2, sizeof *array));
	assert_int_equal(room, before);
	assert_int_equal(array[999], 999);
	free(array);
}

static void test_search(void **state)
{
	(void)state;
	struct item {
		char other;
		uint64_t number;
	};
	static const struct item items[] = {{'a', 0}, {'b', 3}, {'c', 3}, {'d', 9}, {'e', UINT64_MAX}};
	const struct tw_key key = TW_KEY(struct item, number);
	static const struct {
		uint64_t number;
		size_t below, up_to;
	} cases[] = {
	    {0, 0, 1},          {1, 1, 1},  {2, 1, 1},
	    {3, 1, 3},          {4, 3, 3},  {8, 3, 3},
	    {9, 3, 4},          {10, 4, 4}, {UINT64_MAX - 1, 4, 4},
	    {UINT64_MAX, 4, 5},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		assert_int_equal(tw_count_below(items, 5, key, cases[i].number), cases[i].below);
		assert_int_equal(tw_count_up_to(items, 5, key, cases[i].number), cases[i].up_to);
		assert_int_equal(tw_count_below(NULL, 0, key, cases[i].number), 0);
		assert_int_equal(tw_count_up_to(NULL, 0, key, cases[i].number), 0);
	}
}

static void test_text(void **state)
{
	(void)state;
	struct tw_text text = {0};
	assert_true(tw_text_add(&text, "", 0));
	assert_string_equal(text.bytes, "");
	assert_true(tw_text_add(&text, "ab", 2));
	assert_true(tw_text_add(&text, "\0c", 2));
	assert_int_equal(text.length, 4);
	assert_memory_equal(text.bytes, "ab\0c", 5);
	tw_text_free(&text);
	assert_null(text.bytes);
}

/* ---- UTF-8. Source: RFC 3629, section 4, and the Unicode Standard, table 3-7. ---- */

static void test_utf8(void **state)
{
	(void)state;
	static const struct {
		const char *bytes;
		size_t length;
	} cases[] = {
	    {"a", 1},
	    {"\x7f", 1},
	    {"\x80", 0},
	    {"\xbf", 0},
	    {"\xc0\x80", 0},
	    {"\xc1\xbf", 0},
	    {"\xc2\x80", 2},
	    {"\xc2\x7f", 0},
	    {"\xc2", 0},
	    {"\xdf\xbf", 2},
	    {"\xdf\xc0", 0},
	    {"\xe0\x9f\xbf", 0}, /* could be shorter */
	    {"\xe0\xa0\x80", 3},
	    {"\xe2\x82\xac", 3}, /* the euro sign */
	    {"\xe2\x82", 0},
	    {"\xe2\x82\x41", 0},
	    {"\xed\x9f\xbf", 3},
	    {"\xed\xa0\x80", 0}, /* a surrogate */
	    {"\xef\xbf\xbf", 3},
	    {"\xf0\x8f\xbf\xbf", 0},
	    {"\xf0\x90\x80\x80", 4},
	    {"\xf0\x9f\x98\x80", 4},
	    {"\xf0\x9f\x98", 0},
	    {"\xf4\x8f\xbf\xbf", 4}, /* U+10FFFF */
	    {"\xf4\x90\x80\x80", 0},
	    {"\xf5\x80\x80\x80", 0},
	    {"\xff", 0},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		size_t size = strlen(cases[i].bytes);
		uint8_t text[8] = "a";
		memcpy(text + 1, cases[i].bytes, size);
		text[1 + size] = 'b';
		assert_int_equal(tw_utf8_length(cases[i].bytes, size), cases[i].length);
		assert_int_equal(tw_is_utf8(text, size + 2), cases[i].length == size);
	}
	assert_true(tw_is_utf8(NULL, 0));
	assert_int_equal(tw_utf8_length("", 0), 0);
	assert_int_equal(tw_utf8_code("a", 1), 'a');
	assert_int_equal(tw_utf8_code("\xc2\x85", 2), 0x85);
	assert_int_equal(tw_utf8_code("\xe2\x80\xae", 3), 0x202e);
	assert_int_equal(tw_utf8_code("\xf3\xa0\x81\xbf", 4), 0xe007f);
	assert_int_equal(tw_utf8_length("", 1), 1); /* NUL is a character */
}

/* ---- Work behind the caller. ---- */

enum { BEHIND_PIECES = 3, BEHIND_ROUNDS = 1000 };

struct behind_work {
	pthread_t caller;
	unsigned pieces[BEHIND_PIECES]; /* what the caller has put into each; 0: it is free */
	unsigned done, wrong;
};

static void work_behind(void *context, void *piece)
{
	struct behind_work *work = context;
	unsigned *number = piece;
	work->wrong += *number != ++work->done || pthread_equal(work->caller, pthread_self());
	*number = 0;
}

static struct tw_behind *new_behind(struct behind_work *work)
{
	*work = (struct behind_work){.caller = pthread_self()};
	void *list[BEHIND_PIECES];
	for (size_t i = 0; i < BEHIND_PIECES; i++)
		list[i] = &work->pieces[i];
	return tw_behind_new(work_behind, work, list, BEHIND_PIECES);
}

static void test_behind(void **state)
{
	(void)state;
	struct behind_work work;
	struct tw_behind *behind = new_behind(&work);
	assert_non_null(behind);
	for (unsigned i = 1; i <= BEHIND_ROUNDS; i++) {
		unsigned *piece = tw_behind_piece(behind);
		assert_ptr_equal(piece, &work.pieces[(i - 1) % BEHIND_PIECES]);
		assert_ptr_equal(tw_behind_piece(behind), piece);
		assert_int_equal(*piece, 0);
		*piece = i;
		tw_behind_put(behind);
	}
	tw_behind_end(behind);
	assert_int_equal(work.done, BEHIND_ROUNDS);
	assert_int_equal(work.wrong, 0);
	tw_behind_free(behind);
	tw_behind_free(NULL);
}

static void test_behind_given_up(void **state)
{
	(void)state;
	struct behind_work work;
	struct tw_behind *behind = new_behind(&work);
	assert_non_null(behind);
	*(unsigned *)tw_behind_piece(behind) = 1;
	tw_behind_put(behind);
	*(unsigned *)tw_behind_piece(behind) = 2; /* and not handed over */
	tw_behind_free(behind);
	assert_true(work.done <= 1);
	assert_int_equal(work.wrong, 0);
	assert_int_equal(work.pieces[1], 2);
}

/* ---- Output. ---- */

struct fixture {
	char directory[32], path[64];
	char *text; /* of the file that was read last */
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof *f);
	*state = f;
	strcpy(f->directory, "/tmp/test_base.XXXXXX");
	if (!mkdtemp(f->directory))
		return -1;
	snprintf(f->path, sizeof f->path, "%s/out", f->directory);
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;
	unlink(f->path);
	int left = rmdir(f->directory); /* fails when a temporary file was left behind */
	free(f->text);
	free(f);
	return left;
}

static const char *read_back(struct fixture *f, size_t *size)
{
	struct stat status;
	int fd = open(f->path, O_RDONLY);
	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &status), 0);
	*size = (size_t)status.st_size;
	free(f->text);
	f->text = calloc(1, *size + 1);
	assert_int_equal(read(fd, f->text, *size), *size);
	close(fd);
	return f->text;
}

static void open_output(struct fixture *f, struct tw_output *out)
{
	assert_int_equal(tw_output_open(out, f->path), 0);
}

static void expect_text(struct fixture *f, struct tw_output *out, const char *expected)
{
	size_t size;
	assert_int_equal(tw_output_close(out), 0);
	assert_string_equal(read_back(f, &size), expected);
	assert_int_equal(size, strlen(expected));
}

static void test_output_appears_when_complete(void **state)
{
	struct fixture *f = *state;
	struct tw_output out;
	mode_t mask = umask(022);
	open_output(f, &out);
	tw_put_text(&out, "hello");
	tw_output_flush(&out);
	assert_int_equal(access(f->path, F_OK), -1);
	assert_int_equal(tw_output_position(&out), 5);
	expect_text(f, &out, "hello");
	struct stat status;
	assert_int_equal(stat(f->path, &status), 0);
	assert_int_equal(status.st_mode & 0777, 0644);
	umask(mask);
}

static size_t files_in(const char *directory)
{
	size_t count = 0;
	DIR *open = opendir(directory);
	assert_non_null(open);
	for (const struct dirent *entry; (entry = readdir(open));)
		count += entry->d_name[0] != '.';
	closedir(open);
	return count;
}

/* So that a program that is killed leaves nothing. */
static void test_output_has_no_name_until_complete(void **state)
{
	struct fixture *f = *state;
	struct tw_output out;
	open_output(f, &out);
	if (!out.file.temporary) /* a file system that has files without a name */
		assert_int_equal(files_in(f->directory), 0);
	expect_text(f, &out, "");
	open_output(f, &out);
	if (!out.file.temporary)
		assert_int_equal(files_in(f->directory), 1);
	tw_put_text(&out, "second");
	expect_text(f, &out, "second");
	assert_int_equal(files_in(f->directory), 1);
}

static mode_t mode_of(const char *path)
{
	struct stat status;
	assert_int_equal(stat(path, &status), 0);
	return status.st_mode & 07777;
}

static void test_output_keeps_permissions(void **state)
{
	struct fixture *f = *state;
	static const mode_t modes[] = {0600, 0666, 0755, 0200};
	struct tw_output out;
	mode_t mask = umask(027);
	open_output(f, &out);
	expect_text(f, &out, "");
	assert_int_equal(mode_of(f->path), 0640);
	for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
		assert_int_equal(chmod(f->path, modes[i]), 0);
		open_output(f, &out);
		assert_int_equal(tw_output_close(&out), 0);
		assert_int_equal(mode_of(f->path), modes[i]);
	}
	assert_int_equal(chmod(f->path, 0400), 0);
	if (geteuid()) /* root may write to anything */
		assert_int_equal(tw_output_open(&out, f->path), EACCES);
	umask(mask);
}

static void test_output_discarded(void **state)
{
	struct fixture *f = *state;
	struct tw_output out;
	open_output(f, &out);
	tw_put_text(&out, "old");
	expect_text(f, &out, "old");
	open_output(f, &out);
	tw_put_text(&out, "new");
	tw_output_flush(&out);
	tw_output_discard(&out);
	tw_output_discard(&out);
	size_t size;
	assert_string_equal(read_back(f, &size), "old");
}

static void test_output_through_a_link(void **state)
{
	struct fixture *f = *state;
	char link[64];
	snprintf(link, sizeof link, "%s/link", f->directory);
	struct tw_output out;
	open_output(f, &out);
	expect_text(f, &out, "");
	assert_int_equal(symlink("out", link), 0);
	assert_int_equal(tw_output_open(&out, link), 0);
	tw_put_text(&out, "linked");
	expect_text(f, &out, "linked");
	struct stat status;
	assert_int_equal(lstat(link, &status), 0);
	assert_true(S_ISLNK(status.st_mode));
	unlink(link);
}

static void test_output_through_links_to_nothing(void **state)
{
	struct fixture *f = *state;
	char first[64], second[64], loop[64];
	snprintf(first, sizeof first, "%s/first", f->directory);
	snprintf(second, sizeof second, "%s/second", f->directory);
	snprintf(loop, sizeof loop, "%s/loop", f->directory);
	struct tw_output out;
	assert_int_equal(symlink(second, first), 0); /* to the whole path, and that to a name beside it */
	assert_int_equal(symlink("out", second), 0);
	assert_int_equal(tw_output_open(&out, first), 0);
	tw_put_text(&out, "linked");
	expect_text(f, &out, "linked");
	char target[64] = "";
	assert_true(readlink(first, target, sizeof target) > 0);
	assert_string_equal(target, second);
	assert_int_equal(symlink("loop", loop), 0);
	assert_int_equal(tw_output_open(&out, loop), ELOOP);
	unlink(first);
	unlink(second);
	unlink(loop);
}

static void test_output_of_many_sizes(void **state)
{
	struct fixture *f = *state;
	static const size_t sizes[] = {0,
	                               1,
	                               100,
	                               TW_OUTPUT_BUFFER - 101,
	                               1,
	                               TW_OUTPUT_BUFFER - 1,
	                               2,
	                               TW_OUTPUT_BUFFER,
	                               TW_OUTPUT_BUFFER + 1,
	                               3 * TW_OUTPUT_BUFFER,
	                               7};
	char *bytes = malloc(4 * TW_OUTPUT_BUFFER), *expected = malloc(16 * TW_OUTPUT_BUFFER);
	struct tw_output out;
	open_output(f, &out);
	size_t total = 0, size;
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		memset(bytes, 'a' + (int)i, sizes[i]);
		memcpy(expected + total, bytes, sizes[i]);
		total += sizes[i];
		tw_put(&out, bytes, sizes[i]);
		assert_int_equal(tw_output_position(&out), total);
	}
	assert_int_equal(tw_output_close(&out), 0);
	const char *text = read_back(f, &size);
	assert_int_equal(size, total);
	assert_memory_equal(text, expected, total);
	free(bytes);
	free(expected);
}

/* As gzip and zstd read it. */
static void test_output_compressed(void **state)
{
	struct fixture *f = *state;
	static const char *const tools[][2] = {{"out.gz", "gzip -cd"}, {"out.zst", "zstd -cdq"}};
	static const size_t sizes[] = {0, 1, TW_OUTPUT_BUFFER, 1000000};
	for (size_t i = 0; i < 2 * sizeof sizes / sizeof *sizes; i++) {
		char path[80], command[160];
		uint32_t expected = 1, found = 1;
		struct tw_output out;
		snprintf(path, sizeof path, "%s/%s", f->directory, tools[i % 2][0]);
		assert_int_equal(tw_output_open(&out, path), 0);
		for (size_t k = 0; k < sizes[i / 2]; k++)
			tw_put_char(&out, (char)((expected = expected * 1664525 + 1013904223) >> 27));
		assert_int_equal(tw_output_position(&out), sizes[i / 2]);
		assert_int_equal(tw_output_close(&out), 0);
		snprintf(command, sizeof command, "%s %s", tools[i % 2][1], path);
		FILE *pipe = popen(command, "r");
		size_t size = 0;
		for (int c; (c = getc(pipe)) != EOF; size++)
			assert_int_equal(c, (found = found * 1664525 + 1013904223) >> 27);
		assert_int_equal(pclose(pipe), 0);
		assert_int_equal(size, sizes[i / 2]);
		unlink(path);
	}
}

static void test_output_compressed_to_a_full_disk(void **state)
{
	struct fixture *f = *state;
	static const char *const names[] = {"full.gz", "full.zst"};
	for (size_t i = 0; i < 2; i++) {
		char path[80];
		struct tw_output out;
		snprintf(path, sizeof path, "%s/%s", f->directory, names[i]);
		assert_int_equal(symlink("/dev/full", path), 0);
		assert_int_equal(tw_output_open(&out, path), 0);
		tw_put_char(&out, 'x');
		assert_int_equal(tw_output_close(&out), ENOSPC);
		unlink(path);
	}
}

static void test_name_endings(void **state)
{
	(void)state;
	assert_true(tw_name_ends_with("x.json", ".json"));
	assert_true(tw_name_ends_with("a/x.json.gz", ".json"));
	assert_true(tw_name_ends_with("x.JSON.zst", ".json"));
	assert_false(tw_name_ends_with("x.json.xz", ".json"));
	assert_false(tw_name_ends_with("x.json.gz.gz", ".json"));
	assert_false(tw_name_ends_with(".gz", ".json"));
	assert_false(tw_name_ends_with("", ".json"));
	assert_null(tw_packer_of("gz"));
	assert_null(tw_packer_of(".gz"));
	assert_non_null(tw_packer_of("a.zst"));
}

static void test_output_errors(void **state)
{
	(void)state;
	struct tw_output out;
	assert_int_equal(tw_output_open(&out, "/nowhere/file"), ENOENT);
	assert_int_equal(tw_output_open(&out, "/tmp"), EISDIR);
	assert_int_equal(tw_output_open(&out, "/dev/full"), 0);
	for (size_t i = 0; i < 3 * TW_OUTPUT_BUFFER; i++)
		tw_put_char(&out, 'x');
	assert_int_equal(out.error, ENOSPC);
	assert_int_equal(tw_output_close(&out), ENOSPC);
	assert_int_equal(tw_output_open(&out, "/dev/full"), 0);
	tw_put_char(&out, 'x');
	assert_int_equal(tw_output_close(&out), ENOSPC); /* told by the last flush */
	assert_int_equal(access("/dev/full", F_OK), 0);
}

/* ---- Digits: as printf has them. ---- */

static void test_digits(void **state)
{
	(void)state;
	char ours[24], theirs[24];
	for (int shift = 0; shift < 64; shift++)
		for (int add = -1; add <= 1; add++) {
			uint64_t values[] = {(UINT64_C(1) << shift) + (uint64_t)add,
			                     tw_powers_of_ten[shift % 20] + (uint64_t)add};
			for (size_t i = 0; i < 2; i++) {
				*tw_digits(ours, values[i]) = '\0';
				snprintf(theirs, sizeof theirs, "%llu", (unsigned long long)values[i]);
				assert_string_equal(ours, theirs);
			}
		}
}

static void test_decimals(void **state)
{
	(void)state;
	static const struct {
		uint64_t value;
		unsigned decimals;
		const char *text;
	} cases[] = {
	    {0, 3, "0.000"},
	    {7, 3, "0.007"},
	    {1234, 3, "1.234"},
	    {999999, 6, "0.999999"},
	    {1000000, 6, "1.000000"},
	    {UINT64_MAX, 3, "18446744073709551.615"},
	    {UINT64_MAX, 6, "18446744073709.551615"},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char text[TW_DIGITS_MAX + 2];
		*tw_decimal(text, cases[i].value, cases[i].decimals) = '\0';
		assert_string_equal(text, cases[i].text);
	}
}

static void test_microseconds(void **state)
{
	static const uint64_t more[] = {999999, 1000000, 1000001, 123456789012, UINT64_MAX};
	(void)state;
	for (uint64_t i = 0; i < 20000 + sizeof more / sizeof *more; i++) {
		uint64_t ns = i < 10000 ? i : i < 20000 ? 990000 + i % 10000 : more[i - 20000];
		char ours[TW_DIGITS_MAX + 3], theirs[TW_DIGITS_MAX + 3];
		snprintf(theirs, sizeof theirs, "%llu.%03llu", (unsigned long long)ns / 1000,
		         (unsigned long long)ns % 1000);
		*tw_microseconds(ours, ns) = '\0';
		assert_string_equal(ours, theirs);
	}
}

static void test_scan(void **state)
{
	static const struct {
		const char *text;
		int base;
		bool found;
		uint64_t value;
		size_t taken;
	} cases[] = {
	    {"0", 10, true, 0, 1},
	    {"12:", 10, true, 12, 2},
	    {"18446744073709551615x", 10, true, UINT64_MAX, 20},
	    {"18446744073709551616", 10, false, 0, 0},
	    {"ffffffffffffffff-", 16, true, UINT64_MAX, 16},
	    {"10000000000000000", 16, false, 0, 0},
	    {"a", 10, false, 0, 0},
	    {"", 10, false, 0, 0},
	    {" 1", 10, false, 0, 0},
	    {"-1", 10, false, 0, 0},
	};
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const char *text = cases[i].text;
		uint64_t value = 0;
		assert_int_equal(tw_scan_number(&text, cases[i].base, &value), cases[i].found);
		assert_int_equal(value, cases[i].value);
		assert_int_equal(text - cases[i].text, cases[i].taken);
	}
}

/* With 15 digits where they are enough, else 17: found out the long way. */
static void expect_double(double value)
{
	char ours[TW_DOUBLE_MAX + 1], theirs[64];
	snprintf(theirs, sizeof theirs, "%.15g", value);
	if (strtod(theirs, NULL) != value)
		snprintf(theirs, sizeof theirs, "%.17g", value);
	*tw_double_digits(ours, value) = '\0';
	assert_string_equal(ours, theirs);
}

static void test_doubles(void **state)
{
	(void)state;
	static const double cases[] = {
	    0,
	    -0.0,
	    1,
	    -1,
	    0.1,
	    -0.1,
	    0.001,
	    0.0001,
	    0.00012,
	    0.000099999,
	    1e-5,
	    0.3,
	    2.0 / 3,
	    1e14,
	    1e15 - 1,
	    1e15,
	    1e16,
	    1e22,
	    1e300,
	    5e-324,
	    0x1p53,
	    0x1p-1074,
	    123.4567,
	    3.141593,
	    3.1415927,
	    0.5,
	    100000,
	    1.25e10,
	    999999999999999.9,
	    0.1 + 0.2,
	    4503599627370497.5,
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		expect_double(cases[i]);
	for (uint64_t i = 1; i < 200000; i++) {
		uint64_t bits = tw_hash64(i);
		double any, few = (double)(bits >> (i % 60)) / (double)tw_powers_of_ten[i % 10];
		memcpy(&any, &bits, sizeof any);
		expect_double(i % 2 ? few : -few);
		if (isfinite(any))
			expect_double(any);
	}
}

static void test_numbers(void **state)
{
	struct fixture *f = *state;
	struct tw_output out;
	open_output(f, &out);
	static const uint64_t numbers[] = {0, 9, 10, 99, 100, 1234567890, UINT64_MAX};
	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
		tw_put_u64(&out, numbers[i]);
		tw_put_char(&out, ' ');
	}
	tw_put_i64(&out, -1);
	tw_put_char(&out, ' ');
	tw_put_i64(&out, INT64_MIN);
	tw_put_char(&out, ' ');
	tw_put_i64(&out, INT64_MAX);
	static const uint64_t words[] = {0, 0xf, 0x10, 0xabcdef, UINT64_MAX};
	for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
		tw_put_char(&out, ' ');
		tw_put_hex(&out, words[i]);
	}
	tw_putf(&out, " %s=%5.2f", "pi", 3.14159);
	expect_text(f, &out,
	            "0 9 10 99 100 1234567890 18446744073709551615 -1 -9223372036854775808 9223372036854775807 "
	            "0x0 0xf 0x10 0xabcdef 0xffffffffffffffff pi= 3.14");
}

static void test_long_format(void **state)
{
	struct fixture *f = *state;
	static const int widths[] = {1022, 1023, 1024, 5000};
	for (size_t i = 0; i < sizeof widths / sizeof *widths; i++) {
		struct tw_output out;
		size_t size;
		open_output(f, &out);
		tw_putf(&out, "%*d", widths[i], 7);
		assert_int_equal(tw_output_close(&out), 0);
		const char *text = read_back(f, &size);
		assert_int_equal(size, widths[i]);
		assert_int_equal(text[0], ' ');
		assert_int_equal(text[size - 1], '7');
	}
}

/* ---- JSON. Source: RFC 8259, section 7. ---- */

static void test_json_strings(void **state)
{
	struct fixture *f = *state;
	static const struct {
		const char *bytes;
		size_t size;
		const char *text;
	} cases[] = {
	    {"", 0, "\"\""},
	    {"plain text", 10, "\"plain text\""},
	    {"a\"b\\c/d", 7, "\"a\\\"b\\\\c/d\""},
	    {"\b\f\n\r\t", 5, "\"\\b\\f\\n\\r\\t\""},
	    {"\0\x01\x1f\x7f", 4, "\"\\u0000\\u0001\\u001f\\u007f\""},
	    {"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", 9, "\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\""},
	    {"a\xff"
	     "b",
	     3,
	     "\"a\xef\xbf\xbd"
	     "b\""},
	    {"\xe2\x82", 2, "\"\xef\xbf\xbd\xef\xbf\xbd\""},
	    {"\xed\xa0\x80", 3, "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""},
	    {"\xc0\x80", 2, "\"\xef\xbf\xbd\xef\xbf\xbd\""},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct tw_output out;
		open_output(f, &out);
		tw_json_put_string(&out, cases[i].bytes, cases[i].size);
		expect_text(f, &out, cases[i].text);
	}
}

static void test_json_values(void **state)
{
	struct fixture *f = *state;
	struct tw_output out;
	open_output(f, &out);
	struct tw_json json = {.out = &out};
	tw_json_object(&json, NULL);
	tw_json_u64(&json, "max", UINT64_MAX);
	tw_json_i64(&json, "min", INT64_MIN);
	tw_json_bool(&json, "yes", true);
	tw_json_text(&json, "none", NULL);
	tw_json_bytes(&json, "nul", "\0", 1);
	tw_json_hex(&json, "hex", "\x00\xff\x1a", 3);
	tw_json_array(&json, "list");
	tw_json_fixed(&json, NULL, 0.5, 2);
	tw_json_fixed(&json, NULL, NAN, 2);
	tw_json_object(&json, NULL);
	tw_json_object_end(&json);
	tw_json_array(&json, NULL);
	tw_json_array_end(&json);
	tw_json_array_end(&json);
	tw_json_text(&json, "k\"", "v");
	tw_json_object_end(&json);
	tw_json_line_end(&json);
	tw_json_array(&json, NULL);
	tw_json_array_end(&json);
	tw_json_line_end(&json);
	expect_text(f, &out,
	            "{\"max\":18446744073709551615,\"min\":-9223372036854775808,\"yes\":true,\"none\":null,"
	            "\"nul\":\"\\u0000\",\"hex\":\"00ff1a\",\"list\":[0.50,null,{},[]],\"k\\\"\":\"v\"}\n[]\n");
}

/* ---- Threads. ---- */

static void mark(void *context, unsigned i)
{
	unsigned *marks = context;
	marks[i]++;
}

static void test_parallel(void **state)
{
	(void)state;
	unsigned marks[301] = {0};
	tw_parallel(0, mark, marks);
	assert_int_equal(marks[0], 0);
	tw_parallel(300, mark, marks);
	for (size_t i = 0; i < 300; i++)
		assert_int_equal(marks[i], 1);
	assert_int_equal(marks[300], 0);
	assert_true(tw_processors() >= 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_loads),
	    cmocka_unit_test(test_stores),
	    cmocka_unit_test(test_bits),
	    cmocka_unit_test(test_map),
	    cmocka_unit_test(test_map_with_equal_keys),
	    cmocka_unit_test(test_hash),
	    cmocka_unit_test(test_grow),
	    cmocka_unit_test(test_search),
	    cmocka_unit_test(test_text),
	    cmocka_unit_test(test_utf8),
	    cmocka_unit_test_setup_teardown(test_output_appears_when_complete, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_output_discarded, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_output_has_no_name_until_complete, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_output_keeps_permissions, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_output_through_a_link, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_output_through_links_to_nothing, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_output_of_many_sizes, setup, teardown),
	    cmocka_unit_test(test_behind),
	    cmocka_unit_test(test_behind_given_up),
	    cmocka_unit_test_setup_teardown(test_output_compressed, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_output_compressed_to_a_full_disk, setup, teardown),
	    cmocka_unit_test(test_name_endings),
	    cmocka_unit_test(test_output_errors),
	    cmocka_unit_test(test_digits),
	    cmocka_unit_test(test_microseconds),
	    cmocka_unit_test(test_scan),
	    cmocka_unit_test(test_decimals),
	    cmocka_unit_test(test_doubles),
	    cmocka_unit_test_setup_teardown(test_numbers, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_long_format, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_json_strings, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_json_values, setup, teardown),
	    cmocka_unit_test(test_parallel),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
