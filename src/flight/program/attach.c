/* attach.c - a thread that waits until somebody asks for a recording, or for its end. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "flight/program/attach.h"

#include "flight/program/start.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

/* A line of a request; what is behind it begins at *rest. */
static char *next_line(char **rest)
{
	char *line = *rest, *end = strchr(line, '\n');
	if (!end)
		return NULL;
	*end = '\0';
	*rest = end + 1;
	return line;
}

/* "start", the log, its options, the name of snapshots; then lines of functions. Or "stop". */
static int answer(char *request)
{
	char *word = next_line(&request);
	if (word && strcmp(word, "stop") == 0)
		return flight_stop();
	char *path = word && strcmp(word, "start") == 0 ? next_line(&request) : NULL;
	char *list = path ? next_line(&request) : NULL, *snapshots = list ? next_line(&request) : NULL;
	return snapshots ? flight_start(path, list, snapshots, request) : EINVAL;
}

/* The request stands in a file that the sender has open. */
static void take_request(const siginfo_t *info)
{
	static char text[FLIGHT_REQUEST_MOST + 1];
	char path[64], line[FLIGHT_ANSWER];
	snprintf(path, sizeof path, "/proc/%ld/fd/%d", (long)info->si_pid, info->si_value.sival_int);
	const int file = open(path, O_RDWR | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (file < 0)
		return;
	const ssize_t size = pread(file, text, sizeof text - 1, FLIGHT_ANSWER);
	text[size < 0 ? 0 : size] = '\0';
	const int length = snprintf(line, sizeof line, "%d\n", answer(text));
	if (pwrite(file, line, (size_t)length, 0) < 0)
		errno = 0; /* nobody waits for it any more */
	close(file);
}

static void *wait_for_requests(void *none)
{
	siginfo_t info;
	sigset_t asked;
	sigemptyset(&asked);
	sigaddset(&asked, SIGRTMIN + FLIGHT_ATTACH_SIGNAL);
	prctl(PR_SET_NAME, FLIGHT_WAITER);
	for (;;)
		if (sigwaitinfo(&asked, &info) > 0 && info.si_code == SI_QUEUE)
			take_request(&info);
	return none;
}

/* With all signals blocked, which are for the program's own threads. */
static void make_thread(void)
{
	enum { STACK = 1 << 18 };
	sigset_t all, before;
	pthread_t thread;
	pthread_attr_t how;
	sigfillset(&all);
	pthread_attr_init(&how);
	pthread_attr_setstacksize(&how, STACK);
	pthread_attr_setdetachstate(&how, PTHREAD_CREATE_DETACHED);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	if (pthread_create(&thread, &how, wait_for_requests, NULL) == 0)
		pthread_setname_np(thread, FLIGHT_WAITER); /* it may not run for a while, and is asked already */
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&how);
}

void flight_wait_for_requests(void)
{
	make_thread();
	pthread_atfork(NULL, NULL, make_thread);
}
