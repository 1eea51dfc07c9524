/* fuzz_view.c - any request about any trace: nobody without the cookie sees it, and answers are whole. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/bytes/bytes.h"
#include "fuzz.h"
#include "view/serve/view.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

/* The bytes: a selector, "ADDRESS\nHOST\nORIGIN\nCOOKIE\n", and the trace. */
enum { LINES = 4 };

/* Of the selector: it is our page that asks; it asks twice; the trace is cut off before it asks again, or grows. */
enum { OURS = 1, TWICE = 2, CUT = 4, GROWN = 8 };

struct asked {
	char *lines[LINES];
	const uint8_t *trace;
	size_t size;
};

static void take_lines(struct asked *asked, const uint8_t *bytes, size_t size)
{
	for (size_t i = 0; i < LINES; i++) {
		const uint8_t *end = size ? memchr(bytes, '\n', size) : NULL;
		size_t length = end ? (size_t)(end - bytes) : size;
		asked->lines[i] = calloc(1, length + 1);
		if (asked->lines[i] && length)
			memcpy(asked->lines[i], bytes, length);
		length += end != NULL;
		bytes += length;
		size -= length;
	}
	asked->trace = bytes;
	asked->size = size;
}

/* Skips the arrays of a row. */
static size_t size_of_row(const uint8_t *row)
{
	size_t kind = tw_load32(row + 8, false), n = tw_load32(row + 12, false);
	fuzz_require(kind <= 3 && n > 0, "a row is of a kind, and not empty");
	return 16 + 32 * n + (kind == 1 ? 0 : 2 * ((4 * n + 7) & ~(size_t)7));
}

static double real_at(const uint8_t *bytes)
{
	uint64_t bits = tw_load64(bytes, false);
	double value;
	memcpy(&value, &bits, sizeof value);
	return value;
}

static void check_order(const uint8_t *row)
{
	size_t n = tw_load32(row + 12, false);
	if (tw_load32(row + 8, false) == 1)
		return;
	for (size_t i = 0; i < n; i++) {
		fuzz_require(real_at(row + 16 + 8 * i) <= real_at(row + 16 + 8 * (n + i)),
		             "an entry ends behind its begin");
		fuzz_require(i == 0 || real_at(row + 16 + 8 * (n + i - 1)) <= real_at(row + 16 + 8 * i),
		             "entries do not overlap");
	}
}

static void check_window(const struct tw_text *body)
{
	const uint8_t *bytes = (const uint8_t *)body->bytes;
	size_t at = 40, names = tw_load32(bytes + 32, false), text = tw_load32(bytes + 36, false);
	for (size_t rows = tw_load32(bytes + 24, false); rows > 0; rows--) {
		fuzz_require(body->length - at >= 16, "a row is whole");
		size_t size = size_of_row(bytes + at);
		fuzz_require(size <= body->length - at, "and so are its arrays");
		check_order(bytes + at);
		at += size;
	}
	at += (4 * names + 7) & ~(size_t)7;
	fuzz_require(at + ((text + 7) & ~(size_t)7) == body->length, "names are behind the rows, and nothing else is");
}

/* A statement may be one without an end. */
struct patience {
	struct view *view;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool over;
};

static void *wait(void *context)
{
	enum { SECONDS = 2 };
	struct patience *patience = context;
	struct timespec until;
	int result = 0;
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += SECONDS;
	pthread_mutex_lock(&patience->lock);
	while (!patience->over && result == 0)
		result = pthread_cond_timedwait(&patience->changed, &patience->lock, &until);
	if (!patience->over)
		view_questions_stop(&patience->view->questions);
	pthread_mutex_unlock(&patience->lock);
	return NULL;
}

static void answer_in_time(struct view *view, struct view_request *request, struct view_answer *answer)
{
	struct patience patience = {.view = view,
	                            .lock = PTHREAD_MUTEX_INITIALIZER,
	                            .changed = PTHREAD_COND_INITIALIZER};
	pthread_t thread;
	fuzz_require(pthread_create(&thread, NULL, wait, &patience) == 0, "a thread");
	view_answer(view, request, answer);
	pthread_mutex_lock(&patience.lock);
	patience.over = true;
	pthread_cond_signal(&patience.changed);
	pthread_mutex_unlock(&patience.lock);
	pthread_join(thread, NULL);
}

static void check(struct view *view, struct asked *asked, bool ours)
{
	char cookie[64];
	struct view_answer answer;
	snprintf(cookie, sizeof cookie, "trackway-0=%s", view->server.token);
	struct view_request request = {.method = "GET",
	                               .address = asked->lines[0],
	                               .host = ours ? "localhost" : asked->lines[1],
	                               .origin = ours || !*asked->lines[2] ? NULL : asked->lines[2],
	                               .cookie = ours ? cookie : asked->lines[3]};
	if (strncmp(asked->lines[0], "/api/sql", strlen("/api/sql")) == 0)
		answer_in_time(view, &request, &answer);
	else
		view_answer(view, &request, &answer);
	fuzz_require(ours || answer.status >= 400, "nobody else is answered");
	fuzz_touch((const uint8_t *)answer.body.bytes, answer.body.length);
	if (answer.status == 200 && request.path && strcmp(request.path, "/api/window") == 0)
		check_window(&answer.body);
	view_request_free(&request);
	view_answer_free(&answer);
}

FUZZ_TARGET(view, const uint8_t *bytes, size_t size)
{
	struct asked asked;
	struct view *view;
	char path[32], *paths[] = {path};
	if (size < 2)
		return 0;
	take_lines(&asked, bytes + 1, size - 1);
	int file = memfd_create("trace", MFD_CLOEXEC);
	snprintf(path, sizeof path, "/proc/self/fd/%d", file);
	fuzz_write(path, asked.trace, asked.size);
	const struct view_options options = {.paths = paths, .count = 1, .read.memory_limit = 1 << 20, .read.jobs = 1};
	int status = view_open(&view, &options);
	fuzz_require(view != NULL, "there is memory");
	fuzz_require(status == 0 || *view_error(view), "a failure is told");
	view_wait(view);
	check(view, &asked, bytes[0] & OURS);
	if (bytes[0] & TWICE) {
		if (bytes[0] & CUT)
			fuzz_require(ftruncate(file, (off_t)asked.size / 2) == 0, "it is cut");
		else if (bytes[0] & GROWN)
			fuzz_require(pwrite(file, "]\n", 2, (off_t)asked.size) == 2, "it grows");
		check(view, &asked, bytes[0] & OURS);
	}
	view_close(view);
	close(file);
	for (size_t i = 0; i < LINES; i++)
		free(asked.lines[i]);
	return 0;
}
