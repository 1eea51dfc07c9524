/* progress.h - a line on standard error for work over a second, on a terminal only. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_OUTPUT_PROGRESS_H
#define CLI_OUTPUT_PROGRESS_H

#include <pthread.h>
#include <stdbool.h>

struct tw_reader;

struct tw_progress {
	const struct tw_reader *reader;
	const char *path;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t stop;
	bool running, stopped;
};

/* Starts the line, where standard error is a terminal. The reader must stay open until tw_progress_stop(). */
void tw_progress_start(struct tw_progress *progress, const struct tw_reader *reader, const char *path);

/* Takes the line away. */
void tw_progress_stop(struct tw_progress *progress);

#endif
