/* test_view_keep.c - an index beside its file shows what reading the file does, and a bad one harms nobody. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "sql_archives.h"
#include "suite.h"

#include "base/memory/map.h"
#include "view/serve/view.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

/* A file, and beside it what an index of it is called. */
struct scene {
	char folder[40], path[60], kept[80];
	char *paths[1];
	uint8_t *index; /* as it was written first */
	size_t size;
	char said[200]; /* what was said last */
	const struct view *view;
	enum view_state state; /* of the view when that was said */
};

/* Microseconds. */
static const char calls[] = "[{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":1,\"args\":{\"name\":\"server\"}},"
			    "{\"ph\":\"X\",\"name\":\"one\",\"cat\":\"k\",\"pid\":1,\"tid\":1,\"ts\":0,\"dur\":50},"
			    "{\"ph\":\"X\",\"name\":\"one\",\"cat\":\"m\",\"pid\":1,\"tid\":1,\"ts\":5,\"dur\":5},"
			    "{\"ph\":\"i\",\"name\":\"here\",\"pid\":1,\"tid\":2,\"ts\":7},"
			    "{\"ph\":\"b\",\"name\":\"load\",\"cat\":\"a\",\"id\":1,\"pid\":1,\"tid\":1,\"ts\":8},"
			    "{\"ph\":\"C\",\"name\":\"memory\",\"pid\":1,\"ts\":9,\"args\":{\"used\":3,\"free\":4}},"
			    "{\"ph\":\"C\",\"name\":\"memory\",\"pid\":1,\"ts\":19,\"args\":{\"used\":5}},"
			    "{\"ph\":\"Z\",\"name\":\"unknown\",\"pid\":1,\"tid\":1,\"ts\":20},"
			    "{\"ph\":\"e\",\"name\":\"load\",\"cat\":\"a\",\"id\":1,\"pid\":1,\"tid\":1,\"ts\":30},";

static void say(void *context, const char *path, const char *what, const char *why)
{
	struct scene *scene = context;
	assert_string_equal(path, scene->path);
	snprintf(scene->said, sizeof scene->said, "%s: %s", what, why);
	scene->state = scene->view ? scene->view->reading.state : VIEW_FAILED;
}

static void write_file(const char *path, const void *bytes, size_t size)
{
	FILE *file = fopen(path, "wb");
	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, size, file), size);
	assert_int_equal(fclose(file), 0);
}

static uint8_t *read_file(const char *path, size_t *size)
{
	struct stat status;
	FILE *file = fopen(path, "rb");
	assert_non_null(file);
	assert_int_equal(fstat(fileno(file), &status), 0);
	*size = (size_t)status.st_size;
	uint8_t *bytes = malloc(*size + 1);
	assert_non_null(bytes);
	assert_int_equal(fread(bytes, 1, *size, file), *size);
	fclose(file);
	return bytes;
}

static struct view *begin(struct scene *scene, enum view_keeping what, uint64_t key)
{
	const struct view_options options = {.paths = scene->paths,
	                                     .count = 1,
	                                     .small = 1,
	                                     .keeping = {.what = what, .key = key, .refused = say, .context = scene}};
	scene->said[0] = '\0';
	struct view *view = view_new(&options);
	assert_non_null(view);
	assert_int_equal(view_begin(view), 0);
	return view;
}

static struct view *read_all(struct scene *scene, enum view_keeping what)
{
	struct view *view = begin(scene, what, 5);
	view_read_or_check(view);
	assert_int_equal(view->reading.state, VIEW_DONE);
	return view;
}

static void set_up(struct scene *scene, const void *trace, size_t size)
{
	*scene = (struct scene){.folder = "/tmp/trackway-keep-XXXXXX"};
	assert_non_null(mkdtemp(scene->folder));
	snprintf(scene->path, sizeof scene->path, "%s/trace", scene->folder);
	snprintf(scene->kept, sizeof scene->kept, "%s.twview", scene->path);
	scene->paths[0] = scene->path;
	write_file(scene->path, trace, size);
	view_free(read_all(scene, VIEW_KEEPS_INDEX));
	assert_string_equal(scene->said, "");
	scene->index = read_file(scene->kept, &scene->size);
}

static void tear_down(struct scene *scene)
{
	free(scene->index);
	unlink(scene->kept);
	unlink(scene->path);
	assert_int_equal(rmdir(scene->folder), 0);
}

static void set_up_archive(struct scene *scene)
{
	struct archive archive = {.random = 11};
	make_archive_of(&archive, put_nesting_turn, 60);
	set_up(scene, archive.bytes, archive.size);
	free(archive.bytes);
}

/* ---- Answers. ---- */

typedef void answer_fn(struct view *view, const struct view_request *request, struct view_answer *answer);

static void ask(struct view *view, answer_fn *fn, const char *address, struct view_answer *answer)
{
	struct view_request request = {.method = "GET", .address = address};
	*answer = (struct view_answer){.status = 200};
	assert_true(view_request_parse(&request));
	fn(view, &request, answer);
	view_request_free(&request);
}

/* From a place of the answer on: windows begin with how often the picture has changed. */
static void expect_same_from(struct view *one, struct view *other, answer_fn *fn, const char *address, const char *from)
{
	struct view_answer left, right;
	ask(one, fn, address, &left);
	ask(other, fn, address, &right);
	assert_int_equal(left.status, right.status);
	assert_int_equal(left.status, 200);
	const char *a = left.body.bytes + (*from ? 0 : 8), *b = right.body.bytes + (*from ? 0 : 8);
	if (*from) {
		assert_non_null(a = strstr(a, from));
		assert_non_null(b = strstr(b, from));
	}
	const size_t length = left.body.length - (size_t)(a - left.body.bytes);
	assert_int_equal(length, right.body.length - (size_t)(b - right.body.bytes));
	assert_memory_equal(a, b, length);
	view_answer_free(&left);
	view_answer_free(&right);
}

static const char *const slices[] = {
    "track=1&lane=0&depth=0&item=0",   "track=1&lane=0&depth=1&item=0",     "track=1&lane=0&depth=0&item=999",
    "track=2&lane=0&depth=1&item=600", "track=2&lane=65535&depth=0&item=0", "track=3&lane=0&depth=0&item=0",
};

static void expect_same(struct view *one, struct view *other)
{
	static const char *const windows[] = {"from=0&to=100000000&width=1", "from=0&to=100000000&width=1600",
	                                      "from=5000&to=9000&width=100", "from=1000000&to=1200000&width=16384"};
	char address[200];
	expect_same_from(one, other, view_answer_trace, "/api/trace", "\"state\"");
	for (size_t i = 0; i < sizeof windows / sizeof *windows; i++) {
		snprintf(address, sizeof address, "/api/window?names=0&tracks=0,1,2,3,4,5,6&exact=1&%s", windows[i]);
		expect_same_from(one, other, view_answer_window, address, "");
	}
	for (size_t i = 0; i < sizeof slices / sizeof *slices; i++) {
		snprintf(address, sizeof address, "/api/slice?%s", slices[i]);
		struct view_answer answer;
		ask(one, view_answer_slice, address, &answer);
		if (answer.status == 200)
			expect_same_from(one, other, view_answer_slice, address, "{");
		view_answer_free(&answer);
	}
	expect_same_from(one, other, view_answer_near, "/api/near?name=c&at=1000000&direction=previous", "{");
}

/* The second time nothing is read: the picture is whole before. */
static void expect_kept(struct scene *scene)
{
	struct view *one = read_all(scene, VIEW_KEEPS_NOTHING), *other = begin(scene, VIEW_USES_INDEX, 5);
	assert_int_equal(other->reading.state, VIEW_DONE);
	assert_null(other->reading.reader);
	expect_same(one, other);
	view_read_or_check(other);
	expect_same(one, other);
	assert_string_equal(scene->said, "");
	view_free(one);
	view_free(other);
}

static void test_same(void **state)
{
	(void)state;
	struct scene scene;
	set_up(&scene, calls, strlen(calls));
	expect_kept(&scene);
	tear_down(&scene);
	set_up_archive(&scene);
	struct view *view = begin(&scene, VIEW_USES_INDEX, 5);
	assert_non_null(view->index.store.spans); /* slices are read from the file again */
	view_free(view);
	expect_kept(&scene);
	tear_down(&scene);
}

/* Others could change what is mapped: it is copied. */
static void test_copied(void **state)
{
	(void)state;
	struct scene scene;
	set_up(&scene, calls, strlen(calls));
	assert_int_equal(chmod(scene.kept, 0666), 0);
	expect_kept(&scene);
	tear_down(&scene);
}

/* Pages keep their tracks: those of counters, too, which have no number of their own. */
static void test_grown(void **state)
{
	(void)state;
	struct scene scene;
	set_up(&scene, calls, strlen(calls));
	struct view *view = begin(&scene, VIEW_USES_INDEX, 5);
	const size_t tracks = view->index.tracks.count;
	const uint64_t events = view->index.events;
	FILE *file = fopen(scene.path, "ab");
	fputs("{\"ph\":\"C\",\"name\":\"memory\",\"pid\":1,\"ts\":60,\"args\":{\"used\":7}},", file);
	fclose(file);
	view_read_anew(view, VIEW_KEEPS_NOTHING);
	assert_int_equal(view->index.events, events + 1);
	assert_int_equal(view->index.tracks.count, tracks);
	view_free(view);
	/* What was kept is of what the file was before. */
	view_free(read_all(&scene, VIEW_USES_INDEX));
	assert_string_equal(scene.said, "not used: it is of another file, or of what the file was before");
	expect_kept(&scene);
	tear_down(&scene);
}

/* ---- Bad ones. ---- */

/* It is told, and another one is made. */
static void expect_refused(struct scene *scene, const void *bytes, size_t size, const char *why)
{
	size_t length;
	write_file(scene->kept, bytes, size);
	view_free(read_all(scene, VIEW_USES_INDEX));
	assert_string_equal(scene->said, why);
	uint8_t *anew = read_file(scene->kept, &length);
	assert_int_equal(length, scene->size);
	assert_memory_equal(anew, scene->index, length);
	free(anew);
}

static void test_refused(void **state)
{
	(void)state;
	struct scene scene;
	set_up_archive(&scene);
	uint8_t *bytes = malloc(scene.size);
	assert_non_null(bytes);
	memcpy(bytes, scene.index, scene.size);
	for (size_t size = 80; size < scene.size; size += scene.size / 8)
		expect_refused(&scene, bytes, size, "not used: it is damaged");
	bytes[8]++;
	expect_refused(&scene, bytes, scene.size, "not used: it is of another version");
	bytes[8]--;
	bytes[48] ^= 1;
	expect_refused(&scene, bytes, scene.size, "not used: it is of another version");
	bytes[48] ^= 1;
	bytes[16] ^= 1;
	expect_refused(&scene, bytes, scene.size, "not used: it is of another file, or of what the file was before");
	bytes[16] ^= 1;
	bytes[56]++;
	expect_refused(&scene, bytes, scene.size, "not used: it was made with other options");
	bytes[56]--;
	bytes[scene.size - 100] ^= 1;
	expect_refused(&scene, bytes, scene.size, "not used: it is damaged");
	free(bytes);
	view_free(begin(&scene, VIEW_USES_INDEX, 6));
	assert_string_equal(scene.said, "not used: it was made with other options");
	tear_down(&scene);
}

/* Found once all of it has been looked at, while it is served. */
static void test_damaged_store(void **state)
{
	(void)state;
	struct scene scene;
	set_up_archive(&scene);
	uint8_t *bytes = malloc(scene.size);
	assert_non_null(bytes);
	memcpy(bytes, scene.index, scene.size);
	bytes[(1 << 16) + 5000] ^= 1;
	expect_refused(&scene, bytes, scene.size, "not used: it is damaged");
	free(bytes);
	tear_down(&scene);
}

/* ---- Hostile ones, whose hashes are right. ---- */

enum { STORE = 1 << 16, BEHIND = 1 << 13, HEAD_STORE = 64, HEAD_LISTS = 72 };
enum { PARTS_AT = 48, PARTS = 4 }; /* words of the head that the hash is of, too */

static void put_hashes(uint8_t *bytes)
{
	const uint64_t store = tw_load64(bytes + HEAD_STORE, false), lists = tw_load64(bytes + HEAD_LISTS, false);
	uint8_t *at = bytes + STORE + store + BEHIND;
	uint64_t hash = 0, parts[PARTS];
	for (uint64_t done = 0; done < store; done += 1 << 20)
		hash = tw_mix_bytes(bytes + STORE + done, store - done < 1 << 20 ? store - done : 1 << 20, hash);
	tw_store64(at + lists, hash, false);
	hash = tw_mix_bytes(at, lists, hash);
	for (size_t i = 0; i < PARTS; i++)
		parts[i] = tw_load64(bytes + PARTS_AT + 8 * i, false);
	tw_store64(at + lists + 8, tw_mix_bytes(parts, sizeof parts, hash), false);
}

/* Whatever it says, answers are of memory that is there. Returns whether it was used. */
static bool try(struct scene *scene, uint8_t *bytes)
{
	char address[200];
	struct view_answer answer;
	put_hashes(bytes);
	write_file(scene->kept, bytes, scene->size);
	struct view *view = begin(scene, VIEW_USES_INDEX, 5);
	const bool used = view->reading.state == VIEW_DONE;
	assert_true(used || strncmp(scene->said, "not used: ", 10) == 0);
	if (used) {
		ask(view, view_answer_trace, "/api/trace", &answer);
		view_answer_free(&answer);
		ask(view, view_answer_window, "/api/window?names=0&tracks=0,1,2,3,4,5&from=0&to=10000000&width=900",
		    &answer);
		view_answer_free(&answer);
		for (size_t i = 0; i < sizeof slices / sizeof *slices; i++) {
			snprintf(address, sizeof address, "/api/slice?%s", slices[i]);
			ask(view, view_answer_slice, address, &answer);
			view_answer_free(&answer);
		}
	}
	view_free(view);
	return used;
}

/* Words of some bytes, one after the other, have values that no index has there. Returns how many of them are used. */
static unsigned try_words(struct scene *scene, size_t from, size_t to, unsigned tries)
{
	static const uint64_t values[] = {UINT64_MAX, 1, UINT64_C(1) << 40, UINT64_C(1) << 63, 0x10008};
	uint8_t *bytes = malloc(scene->size);
	unsigned used = 0;
	assert_non_null(bytes);
	memcpy(bytes, scene->index, scene->size);
	const size_t step = ((to - from) / 8 / tries + 1) * 8;
	for (size_t at = from, i = 0; at < to; at += step, i++) {
		const uint64_t was = tw_load64(bytes + at, false);
		tw_store64(bytes + at, values[i % (sizeof values / sizeof *values)], false);
		used += try(scene, bytes);
		tw_store64(bytes + at, was, false);
	}
	assert_true(try(scene, bytes));
	free(bytes);
	return used;
}

static void test_hostile(void **state)
{
	(void)state;
	struct scene scene;
	set_up(&scene, calls, strlen(calls));
	const size_t lists = STORE + tw_load64(scene.index + HEAD_STORE, false) + BEHIND;
	assert_true(try_words(&scene, STORE, lists - BEHIND, 60) > 0); /* times and values may be any */
	(void)try_words(&scene, lists, scene.size - 16, 120);
	tear_down(&scene);
	set_up_archive(&scene);
	const size_t others = STORE + tw_load64(scene.index + HEAD_STORE, false) + BEHIND;
	(void)try_words(&scene, STORE, others - BEHIND, 60);
	(void)try_words(&scene, others, scene.size - 16, 120);
	tear_down(&scene);
}

/* Whatever becomes of the index beside the file, it has become of it before all is told to be read. */
static void test_before_done(void **state)
{
	(void)state;
	struct scene scene;
	set_up(&scene, calls, strlen(calls));
	write_file(scene.kept, "precious", 8);
	struct view *view = begin(&scene, VIEW_KEEPS_INDEX, 5);
	scene.view = view;
	view_read_or_check(view);
	assert_string_equal(scene.said, "not kept: what has that name is no index, and stays");
	assert_int_equal(scene.state, VIEW_READING);
	assert_int_equal(view->reading.state, VIEW_DONE);
	view_free(view);
	tear_down(&scene);
}

SUITE(view_keep)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_same),        cmocka_unit_test(test_copied),        cmocka_unit_test(test_grown),
	    cmocka_unit_test(test_refused),     cmocka_unit_test(test_damaged_store), cmocka_unit_test(test_hostile),
	    cmocka_unit_test(test_before_done),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
