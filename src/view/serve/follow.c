/* follow.c - files that grow are read anew, and the picture becomes one of all that there is.
 *
 * All is read once more, into an index of its own: so the picture is the same as of a file that ends there, in every
 * format, and the one before it stays until then. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "view/index/renew.h"
#include "view/serve/view.h"

#include <poll.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* A look at the files every half second, and at most a fifth of the time for reading. */
enum { LOOK_MS = 500, SHARE = 4 };

/* Whether there is more than what was read, and nothing else has happened to the files. *size: bytes of all. */
static bool has_grown(struct view *view, uint64_t *size)
{
	bool grown = false, alike = true;
	*size = 0;
	view_lock(view);
	for (size_t i = 0; i < view->options.count; i++) {
		struct stat now;
		const char *change = view_file_change(view, i);
		*size += stat(view->options.paths[i], &now) == 0 ? (uint64_t)now.st_size : 0;
		grown |= change != NULL;
		alike &= !change || strcmp(change, "grown") == 0;
	}
	const bool ready = view->reading.state != VIEW_READING && !view->keeper.busy;
	view_unlock(view);
	return ready && grown && alike;
}

static void take_files(struct view *view, const struct view *again)
{
	for (size_t i = 0; i < view->options.count; i++)
		view->files[i] = again->files[i];
}

/* What is known of the reading and the findings change places, so that each view frees what it has. */
static void swap_reading(struct view *view, struct view *again)
{
	const struct view_reading reading = view->reading;
	const struct view_findings findings = view->findings;
	view->reading = again->reading;
	view->reading.generation = reading.generation + 1;
	view->findings = again->findings;
	again->reading = reading;
	again->findings = findings;
}

/* Shows what has been read anew. What could not be read to its end does not take the place of what could. */
static void adopt(struct view *view, struct view *again)
{
	view_lock(view);
	const bool better = again->reading.state == VIEW_DONE || view->reading.state == VIEW_FAILED;
	if (better && view_index_replace(&view->index, &again->index) == 0) {
		swap_reading(view, again);
		take_files(view, again);
	}
	view_unlock(view);
}

void view_read_anew(struct view *view, enum view_keeping keeping)
{
	struct view_options options = view->options;
	options.read.stop = &view->stop;
	options.keeping.what = keeping;
	if (keeping == VIEW_KEEPS_NOTHING) /* of a file that has grown: what has been read before stays */
		options.failed = NULL;
	struct view *again = view_new(&options);
	if (again && view_begin(again) == 0 && view_index_number_as(&again->index, &view->index) == 0) {
		view_read(again);
		if (!__atomic_load_n(&view->stop, __ATOMIC_RELAXED))
			adopt(view, again);
	}
	view_free(again);
}

void view_read_or_check(struct view *view)
{
	if (view->keeper.fd < 0) {
		view_read(view);
		return;
	}
	if (!view_keep_check(view))
		view_read_anew(view, VIEW_KEEPS_INDEX);
	view_keep_end(view);
}

static void *follow(void *context)
{
	struct view *view = context;
	struct pollfd wake = {.fd = view->follower.wake, .events = POLLIN};
	uint64_t tried = 0, size;
	for (int64_t pause = LOOK_MS; poll(&wake, 1, (int)pause) <= 0;) {
		const int64_t begun = view_now();
		pause = LOOK_MS;
		if (!has_grown(view, &size) || size == tried)
			continue;
		tried = size;
		view_read_anew(view, VIEW_KEEPS_NOTHING);
		pause += (view_now() - begun) / 1000000 * SHARE;
		pause = pause < INT32_MAX ? pause : INT32_MAX;
	}
	return NULL;
}

void view_follow(struct view *view)
{
	for (size_t i = 0; i < view->options.count; i++)
		if (!view->files[i].regular)
			return;
	view->follower.wake = eventfd(0, EFD_CLOEXEC);
	if (view->follower.wake < 0)
		return;
	view_lock(view);
	const bool begun = pthread_create(&view->follower.thread, NULL, follow, view) == 0;
	view->follower.running = begun;
	view_unlock(view);
	if (!begun)
		close(view->follower.wake);
}

void view_follow_end(struct view *view)
{
	if (!view->follower.running)
		return;
	eventfd_write(view->follower.wake, 1);
	pthread_join(view->follower.thread, NULL);
	close(view->follower.wake);
	view->follower.running = false;
}
