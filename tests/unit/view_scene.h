/* view_scene.h - a view of traces that are texts, and requests of it. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef UNIT_VIEW_SCENE_H
#define UNIT_VIEW_SCENE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/bytes/bytes.h"
#include "view/serve/view.h"

enum { FILES = 257 };

struct scene {
	size_t count;
	int files[FILES];
	char names[FILES][64], cookie[128];
	char *paths[FILES];
	struct view *view;
	struct tw_read_options read; /* of show_read() */
};

/* What is asked, and a part of the answer. */
struct example {
	const char *address;
	unsigned status;
	const char *text;
};

static inline void show_read(struct scene *scene, const char *const *traces, const int64_t *offsets, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		size_t size = strlen(traces[i]);
		scene->files[i] = memfd_create("trace", MFD_CLOEXEC);
		assert_int_equal(write(scene->files[i], traces[i], size), size);
		snprintf(scene->names[i], sizeof scene->names[i], "/proc/self/fd/%d", scene->files[i]);
		scene->paths[i] = scene->names[i];
	}
	const struct view_options options = {.paths = scene->paths,
	                                     .count = count,
	                                     .offsets = offsets,
	                                     .read = scene->read};
	scene->count = count;
	assert_int_equal(view_open(&scene->view, &options), 0);
	view_wait(scene->view);
	snprintf(scene->cookie, sizeof scene->cookie, "trackway-0=%s", scene->view->server.token);
}

static inline void show_all(struct scene *scene, const char *const *traces, const int64_t *offsets, size_t count)
{
	scene->read = (struct tw_read_options){0};
	show_read(scene, traces, offsets, count);
}

static inline void show(struct scene *scene, const char *trace)
{
	show_all(scene, &trace, NULL, 1);
}

static inline void hide(struct scene *scene)
{
	view_close(scene->view);
	for (size_t i = 0; i < scene->count; i++)
		close(scene->files[i]);
}

static inline void ask(const struct scene *scene, const char *address, struct view_answer *answer)
{
	struct view_request request = {.method = "GET",
	                               .address = address,
	                               .host = "127.0.0.1:1",
	                               .cookie = scene->cookie};
	view_answer(scene->view, &request, answer);
	view_request_free(&request);
}

static inline void expect_text(const struct scene *scene, const char *address, unsigned status, const char *text)
{
	struct view_answer answer;
	ask(scene, address, &answer);
	assert_non_null(answer.body.bytes);
	if (answer.status != status || !strstr(answer.body.bytes, text))
		fail_msg("%s: %s is not in %s", address, text, answer.body.bytes);
	view_answer_free(&answer);
}

static inline void expect_texts(const struct scene *scene, const struct example *examples, size_t count)
{
	for (size_t i = 0; i < count; i++)
		expect_text(scene, examples[i].address, examples[i].status, examples[i].text);
}

static inline double real_at(const uint8_t *bytes)
{
	uint64_t bits = tw_load64(bytes, false);
	double value;
	memcpy(&value, &bits, sizeof value);
	return value;
}

/* Microseconds: outer 0 to 100, with two short ones inside, and much later another. */
__attribute__((unused)) static const char trace[] =
    "[{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":1,\"tid\":2,\"args\":{\"name\":\"</script>\"}},"
    "{\"ph\":\"X\",\"name\":\"outer\",\"cat\":\"c\",\"pid\":1,\"tid\":2,\"ts\":0,\"dur\":100},"
    "{\"ph\":\"X\",\"name\":\"a\",\"pid\":1,\"tid\":2,\"ts\":10,\"dur\":2},"
    "{\"ph\":\"X\",\"name\":\"b\",\"pid\":1,\"tid\":2,\"ts\":13,\"dur\":3,"
    "\"args\":{\"n\":18446744073709551615,\"text\":\"<b>\",\"yes\":true}},"
    "{\"ph\":\"s\",\"name\":\"f\",\"cat\":\"c\",\"id\":7,\"pid\":1,\"tid\":2,\"ts\":11},"
    "{\"ph\":\"f\",\"bp\":\"e\",\"name\":\"f\",\"cat\":\"c\",\"id\":7,\"pid\":1,\"tid\":2,\"ts\":14},"
    "{\"ph\":\"X\",\"name\":\"outer\",\"pid\":1,\"tid\":2,\"ts\":1000,\"dur\":24},"
    "{\"ph\":\"C\",\"name\":\"memory\",\"pid\":1,\"ts\":5,\"args\":{\"used\":7}},"
    "{\"ph\":\"C\",\"name\":\"memory\",\"pid\":1,\"ts\":6,\"args\":{\"used\":3}},"
    "{\"ph\":\"i\",\"name\":\"tick\",\"pid\":1,\"tid\":2,\"ts\":50}]";

#endif
