/* progress.c - a line on standard error for work over a second, on a terminal only. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/output/progress.h"

#include "cli/output/message.h"
#include "cli/output/show.h"
#include "core/tool.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

enum { FIRST_MS = 1000, EVERY_MS = 200 };

/* Some work reads a file twice, or goes on when all has been read: then there is no telling how much is left. */
static void put_line(const struct tw_progress *progress)
{
	uint64_t done = 0, all = 0;
	char left[64] = " read, still at work";
	tw_reader_progress(progress->reader, &done, &all);
	if (done < all)
		snprintf(left, sizeof left, " of %s, %u %%", tw_show_size(all).text,
		         (unsigned)(100.0 * (double)done / (double)all));
	tw_say_progress("%.60s: %s%s", progress->path, tw_show_size(done).text, left);
}

static struct timespec in_ms(long ms)
{
	struct timespec at;
	clock_gettime(CLOCK_MONOTONIC, &at);
	at.tv_nsec += ms % 1000 * 1000000;
	at.tv_sec += ms / 1000 + at.tv_nsec / 1000000000;
	at.tv_nsec %= 1000000000;
	return at;
}

static void *run(void *context)
{
	struct tw_progress *progress = context;
	struct timespec next = in_ms(FIRST_MS);
	pthread_mutex_lock(&progress->lock);
	while (!progress->stopped) {
		if (pthread_cond_timedwait(&progress->stop, &progress->lock, &next) == 0)
			continue;
		put_line(progress);
		next = in_ms(EVERY_MS);
	}
	pthread_mutex_unlock(&progress->lock);
	tw_end_progress();
	return NULL;
}

void tw_progress_start(struct tw_progress *progress, const struct tw_reader *reader, const char *path)
{
	*progress = (struct tw_progress){.reader = reader, .path = path};
	if (!isatty(STDERR_FILENO))
		return;
	pthread_condattr_t monotonic;
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_mutex_init(&progress->lock, NULL);
	pthread_cond_init(&progress->stop, &monotonic);
	pthread_condattr_destroy(&monotonic);
	progress->running = pthread_create(&progress->thread, NULL, run, progress) == 0;
}

void tw_progress_stop(struct tw_progress *progress)
{
	if (!progress->running)
		return;
	pthread_mutex_lock(&progress->lock);
	progress->stopped = true;
	pthread_cond_signal(&progress->stop);
	pthread_mutex_unlock(&progress->lock);
	pthread_join(progress->thread, NULL);
	progress->running = false;
}
