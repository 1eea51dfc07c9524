/* test_output.c - files that appear when they are complete, and what is written into them: numbers and JSON. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <math.h>
#include <setjmp.h>
#include <spawn.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/bytes/output.h"
#include "base/text/json.h"

#include "suite.h"

/* ---- Output. ---- */

struct fixture {
	char directory[32], path[64];
	char *text; /* of the file that was read last */
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof *f);
	*state = f;
	strcpy(f->directory, "/tmp/test_output.XXXXXX");
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

/* ---- Numbers. ---- */

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
	tw_json_system(&json, "path", "\xff\"\xc3\xa4\xc3");
	tw_json_system(&json, "word", "\xc3\xa4");
	tw_json_system(&json, "no word", NULL);
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
	expect_text(
	    f, &out,
	    "{\"max\":18446744073709551615,\"min\":-9223372036854775808,\"yes\":true,\"none\":null,"
	    "\"nul\":\"\\u0000\",\"path\":\"\\udcff\\\"\xc3\xa4\\udcc3\",\"word\":\"\xc3\xa4\",\"no word\":null,"
	    "\"hex\":\"00ff1a\",\"list\":[0.50,null,{},[]],\"k\\\"\":\"v\"}\n[]\n");
}

/* ---- A program's own locale. ---- */

static bool run(char *const *words)
{
	pid_t child;
	int status;
	return posix_spawnp(&child, words[0], NULL, NULL, words, environ) == 0 && waitpid(child, &status, 0) == child &&
	       status == 0;
}

/* A locale whose decimal point is a comma: Debian has it as a source, which localedef compiles. */
static bool take_comma(char *directory)
{
	char source[] = "de_DE", name[] = "de_DE.UTF-8", path[64];
	snprintf(path, sizeof path, "%s/%s", directory, name);
	bool made = run((char *[]){"localedef", "-i", source, "-f", "UTF-8", path, NULL});
	made = made && setenv("LOCPATH", directory, 1) == 0 && setlocale(LC_ALL, name);
	run((char *[]){"rm", "-rf", path, NULL});
	return made && strcmp(localeconv()->decimal_point, ",") == 0;
}

static void test_locale(void **state)
{
	struct fixture *f = *state;
	struct tw_output out;
	char own[8];
	bool has_comma = take_comma(f->directory);
	if (!has_comma)
		print_message("# no locale with a comma\n");
	assert_int_equal(tw_output_open(&out, f->path), 0);
	tw_putf(&out, "%.2f %s %.1f%%\n", 1.5, "a,b", 99.96);
	tw_putf(&out, "%2000.3f\n", -0.125);
	struct tw_json json = {.out = &out};
	tw_json_array(&json, NULL);
	tw_json_fixed(&json, NULL, 0.25, 2);
	tw_json_double(&json, NULL, 1e-7);
	tw_json_array_end(&json);
	int length = snprintf(own, sizeof own, "%.1f", 0.5);
	setlocale(LC_ALL, "C");
	unsetenv("LOCPATH");
	assert_int_equal(length, 3);
	assert_int_equal(own[1], has_comma ? ',' : '.'); /* what is the program's stays so */
	assert_int_equal(tw_output_close(&out), 0);
	size_t size;
	const char *text = read_back(f, &size);
	assert_int_equal(strncmp(text, "1.50 a,b 100.0%\n", 16), 0);
	assert_string_equal(text + 16 + 1994, "-0.125\n[0.25,1e-07]");
}

SUITE(output)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(test_output_appears_when_complete, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_output_discarded, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_output_has_no_name_until_complete, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_output_keeps_permissions, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_output_through_a_link, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_output_through_links_to_nothing, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_output_of_many_sizes, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_output_compressed, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_output_compressed_to_a_full_disk, setup, teardown),
	    cmocka_unit_test(test_name_endings),
	    cmocka_unit_test(test_output_errors),
	    cmocka_unit_test_setup_teardown(test_numbers, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_long_format, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_json_strings, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_json_values, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_locale, setup, teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
