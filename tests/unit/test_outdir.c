/* test_outdir.c - files and directories that are begun beside their place, and what killed programs left of such. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/bytes/begun.h"
#include "base/bytes/outdir.h"
#include "base/bytes/outfile.h"

#include "suite.h"

struct fixture {
	char folder[32], path[64];
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof *f);
	*state = f;
	strcpy(f->folder, "/tmp/test_outdir.XXXXXX");
	if (!mkdtemp(f->folder))
		return -1;
	snprintf(f->path, sizeof f->path, "%s/out", f->folder);
	return 0;
}

/* Fails where a test has left something. */
static int teardown(void **state)
{
	struct fixture *f = *state;
	int left = rmdir(f->folder);
	free(f);
	return left;
}

static size_t files_in(const char *folder)
{
	size_t count = 0;
	DIR *open = opendir(folder);
	assert_non_null(open);
	for (const struct dirent *entry; (entry = readdir(open));)
		count += entry->d_name[0] != '.';
	closedir(open);
	return count;
}

static void put(const char *folder, const char *name, const char *text)
{
	char path[256];
	snprintf(path, sizeof path, "%s/%s", folder, name);
	FILE *file = fopen(path, "w");
	assert_non_null(file);
	fputs(text, file);
	assert_int_equal(fclose(file), 0);
}

/* Whether a file has this text; removes it. */
static bool took(const char *folder, const char *name, const char *text)
{
	char path[256], found[64] = "";
	snprintf(path, sizeof path, "%s/%s", folder, name);
	FILE *file = fopen(path, "r");
	bool same = file && fread(found, 1, sizeof found - 1, file) == strlen(text) && strcmp(found, text) == 0;
	if (file)
		fclose(file);
	unlink(path);
	return same;
}

static void test_names(void **state)
{
	static const struct {
		const char *name;
		size_t place;
	} names[] = {
	    {"out.trackway-01ab2f", 3},
	    {"a.trackway-b.trackway-000000", 12},
	    {".trackway-01ab2f", 0},
	    {"out.trackway-01ab2", 0},
	    {"out.trackway-01ab2g", 0},
	    {"out.trackway-01AB2F", 0},
	    {"out.01ab2f", 0},
	    {"out", 0},
	    {"", 0},
	};
	(void)state;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		assert_int_equal(tw_begun_place(names[i].name, strlen(names[i].name)), names[i].place);
	assert_true(tw_begun_for("out.trackway-01ab2f", 19, "out", 3));
	assert_false(tw_begun_for("out.trackway-01ab2f", 19, "ou", 2));
	assert_false(tw_begun_for("out.trackway-01ab2f", 19, "oud", 3));
}

static void begin_file(const char *path)
{
	struct tw_outfile file;
	if (tw_outfile_open_named(&file, path) != 0)
		_exit(1);
	if (write(file.fd, "half", 4) != 4)
		_exit(1);
}

static void begin_directory(const char *path)
{
	struct tw_outdir directory;
	if (tw_outdir_open(&directory, path) != 0)
		_exit(1);
	put(directory.temporary, "stream", "half");
}

/* A program that has begun something and is killed, as by kill -9. */
static void killed(void (*begin)(const char *path), const char *path)
{
	int status;
	pid_t child = fork();
	if (child == 0) {
		begin(path);
		raise(SIGKILL);
	}
	assert_true(child > 0);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

static void test_left_file_is_removed(void **state)
{
	struct fixture *f = *state;
	struct tw_outfile file;
	killed(begin_file, f->path);
	killed(begin_file, f->path); /* which removes the first */
	assert_int_equal(files_in(f->folder), 1);
	put(f->folder, "out.01ab2f", "mine");
	put(f->folder, "outer.trackway-01ab2f", "of another place");
	assert_int_equal(tw_outfile_open_named(&file, f->path), 0);
	assert_int_equal(files_in(f->folder), 3);
	assert_int_equal(tw_outfile_keep(&file), 0);
	assert_true(took(f->folder, "out", ""));
	assert_true(took(f->folder, "out.01ab2f", "mine"));
	assert_true(took(f->folder, "outer.trackway-01ab2f", "of another place"));
}

static void test_what_is_being_written_stays(void **state)
{
	struct fixture *f = *state;
	struct tw_outfile first, second;
	struct tw_outdir directory;
	assert_int_equal(tw_outfile_open_named(&first, f->path), 0);
	assert_int_equal(tw_outfile_open_named(&second, f->path), 0);
	assert_int_equal(tw_outdir_open(&directory, f->path), 0);
	assert_int_equal(files_in(f->folder), 3);
	assert_int_equal(write(first.fd, "1", 1), 1);
	assert_int_equal(write(second.fd, "2", 1), 1);
	assert_int_equal(tw_outfile_keep(&first), 0);
	assert_true(took(f->folder, "out", "1"));
	assert_int_equal(tw_outfile_keep(&second), 0);
	assert_true(took(f->folder, "out", "2"));
	tw_outdir_drop(&directory);
}

/* A link with the name of something begun leads to what is not ours. */
static void test_links_are_no_leftovers(void **state)
{
	struct fixture *f = *state;
	struct tw_outfile file;
	char link[96];
	put(f->folder, "mine", "mine");
	snprintf(link, sizeof link, "%s.trackway-000000", f->path);
	assert_int_equal(symlink("mine", link), 0);
	assert_int_equal(tw_outfile_open_named(&file, f->path), 0);
	tw_outfile_drop(&file);
	assert_true(took(f->folder, "mine", "mine"));
	assert_int_equal(unlink(link), 0);
}

static void test_a_name_as_long_as_can_be(void **state)
{
	struct fixture *f = *state;
	struct tw_outfile file;
	char name[256], path[320];
	memset(name, 'n', sizeof name - 1);
	name[sizeof name - 1] = '\0';
	snprintf(path, sizeof path, "%s/%s", f->folder, name);
	killed(begin_file, path);
	assert_int_equal(tw_outfile_open_named(&file, path), 0);
	assert_int_equal(files_in(f->folder), 1);
	assert_int_equal(tw_outfile_keep(&file), 0);
	assert_int_equal(files_in(f->folder), 1);
	assert_int_equal(unlink(path), 0);
}

static void test_directory_appears_whole(void **state)
{
	struct fixture *f = *state;
	struct tw_outdir directory;
	killed(begin_directory, f->path);
	assert_int_equal(tw_outdir_open(&directory, f->path), 0);
	assert_int_equal(files_in(f->folder), 1);
	put(directory.temporary, "stream", "s");
	put(directory.temporary, "metadata", "m");
	assert_int_equal(access(f->path, F_OK), -1);
	assert_int_equal(tw_outdir_keep(&directory, "metadata"), 0);
	assert_int_equal(files_in(f->folder), 1);
	assert_int_equal(files_in(f->path), 2);
	assert_true(took(f->path, "stream", "s"));
	assert_true(took(f->path, "metadata", "m"));
	assert_int_equal(rmdir(f->path), 0);
}

static void test_directory_that_was_there(void **state)
{
	struct fixture *f = *state;
	struct tw_outdir directory;
	assert_int_equal(mkdir(f->path, 0700), 0);
	put(f->path, "notes", "mine");
	put(f->path, "metadata", "old");
	killed(begin_directory, f->path);
	assert_int_equal(tw_outdir_open(&directory, f->path), 0);
	assert_int_equal(files_in(f->path), 3);
	put(directory.temporary, "stream", "s");
	put(directory.temporary, "metadata", "m");
	assert_int_equal(tw_outdir_keep(&directory, "metadata"), 0);
	assert_true(took(f->path, "metadata", "m"));
	assert_true(took(f->path, "stream", "s"));
	/* One that is given up leaves all as it was. */
	assert_int_equal(tw_outdir_open(&directory, f->path), 0);
	put(directory.temporary, "notes", "other");
	tw_outdir_drop(&directory);
	tw_outdir_drop(&directory);
	assert_true(took(f->path, "notes", "mine"));
	assert_int_equal(rmdir(f->path), 0);
}

/* Leaves no descriptor to be had; returns the limit that was there. */
static rlim_t take_descriptors(void)
{
	struct rlimit limit;
	int next = open("/dev/null", O_RDONLY | O_CLOEXEC);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	rlim_t before = limit.rlim_cur;
	limit.rlim_cur = (rlim_t)next;
	assert_int_equal(close(next), 0);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	return before;
}

static void allow_descriptors(rlim_t most)
{
	struct rlimit limit;
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	limit.rlim_cur = most;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

static void test_no_descriptor_is_left(void **state)
{
	struct fixture *f = *state;
	struct tw_outdir directory;
	rlim_t most = take_descriptors();
	int error = tw_outdir_open(&directory, f->path);
	allow_descriptors(most);
	assert_int_equal(error, EMFILE);
	assert_int_equal(files_in(f->folder), 0);
	assert_int_equal(tw_outdir_open(&directory, f->path), 0);
	put(directory.temporary, "stream", "s");
	most = take_descriptors();
	tw_outdir_drop(&directory);
	allow_descriptors(most);
	assert_int_equal(files_in(f->folder), 0);
}

static void test_directory_that_cannot_be(void **state)
{
	struct fixture *f = *state;
	struct tw_outdir directory;
	char path[96];
	put(f->folder, "out", "a file");
	assert_int_equal(tw_outdir_open(&directory, f->path), EEXIST);
	snprintf(path, sizeof path, "%s/none/out", f->folder);
	assert_int_equal(tw_outdir_open(&directory, path), ENOENT);
	assert_true(took(f->folder, "out", "a file"));
}

SUITE(outdir)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_names),
	    cmocka_unit_test_setup_teardown(test_left_file_is_removed, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_what_is_being_written_stays, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_links_are_no_leftovers, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_a_name_as_long_as_can_be, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_directory_appears_whole, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_directory_that_was_there, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_no_descriptor_is_left, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_directory_that_cannot_be, setup, teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
