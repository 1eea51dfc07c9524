/* flight_attach.c - asks the recorder that waits in a program that runs. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/threads/witness.h"
#include "cli/output/message.h"
#include "cli/record/record.h"
#include "flight/program/attach.h"
#include "manage/manage.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static void rest(long ms)
{
	nanosleep(&(struct timespec){.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000}, NULL);
}

/* ---- The thread that waits. ---- */

static bool is_waiter(pid_t process, pid_t thread)
{
	char path[64], name[sizeof FLIGHT_WAITER + 1] = {0};
	snprintf(path, sizeof path, "/proc/%ld/task/%ld/comm", (long)process, (long)thread);
	FILE *file = fopen(path, "re");
	const bool named = file && fgets(name, sizeof name, file) && strcmp(name, FLIGHT_WAITER "\n") == 0;
	if (file)
		fclose(file);
	/* The recorder's thread blocks all signals. The signal that it waits for is shown as not blocked meanwhile. */
	return named && tw_signal_listed(thread, "SigBlk:", SIGTERM);
}

/* 0: there is none. */
static pid_t find_waiter(pid_t process)
{
	char path[64];
	pid_t found = 0;
	snprintf(path, sizeof path, "/proc/%ld/task", (long)process);
	DIR *folder = opendir(path);
	for (struct dirent *entry; folder && !found && (entry = readdir(folder));) {
		const pid_t thread = (pid_t)strtol(entry->d_name, NULL, 10);
		found = thread > 0 && is_waiter(process, thread) ? thread : 0;
	}
	if (folder)
		closedir(folder);
	return found;
}

/* ---- Asking. ---- */

static bool send(pid_t process, pid_t thread, int file)
{
	siginfo_t info = {.si_code = SI_QUEUE};
	info.si_pid = getpid();
	info.si_uid = getuid();
	info.si_value.sival_int = file;
	return syscall(SYS_rt_tgsigqueueinfo, process, thread, SIGRTMIN + FLIGHT_ATTACH_SIGNAL, &info) == 0;
}

static int await(pid_t process, int file)
{
	enum { TRIES = 500, EACH_MS = 10 };
	char text[FLIGHT_ANSWER + 1] = {0};
	for (int i = 0; i < TRIES; i++) {
		if (pread(file, text, FLIGHT_ANSWER, 0) > 0 && strchr(text, '\n'))
			return (int)strtol(text, NULL, 10);
		if (!manage_is_running(process))
			return ESRCH;
		rest(EACH_MS);
	}
	return ETIMEDOUT;
}

int tw_flight_ask(pid_t process, const char *request)
{
	const size_t size = strlen(request);
	const pid_t thread = find_waiter(process);
	if (!thread)
		return kill(process, 0) < 0 ? errno : ENOPROTOOPT;
	if (size > FLIGHT_REQUEST_MOST)
		return E2BIG;
	const int file = memfd_create("trackway", MFD_CLOEXEC);
	int error = file < 0 || pwrite(file, request, size, FLIGHT_ANSWER) != (ssize_t)size ? errno : 0;
	if (!error)
		error = send(process, thread, file) ? await(process, file) : errno;
	if (file >= 0)
		close(file);
	return error;
}

int tw_flight_say_refused(pid_t process, int error)
{
	const char *why = error == ENOPROTOOPT
	                      ? "has no recorder in it that waits: link it with libtrackway_fdr, or start "
	                        "it with that in LD_PRELOAD"
	                  : error == EALREADY  ? "is recorded already"
	                  : error == EBUSY     ? "was recorded before, with other functions, which stay chosen"
	                  : error == ETIMEDOUT ? "does not answer"
	                                       : strerror(error);
	return tw_say_error("process %ld: %s", (long)process, why);
}

/* ---- Waiting. ---- */

static sigset_t ends(void)
{
	static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
	sigset_t set;
	sigemptyset(&set);
	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
		sigaddset(&set, numbers[i]);
	return set;
}

void tw_flight_block(void)
{
	const sigset_t asked = ends();
	sigprocmask(SIG_BLOCK, &asked, NULL);
}

void tw_flight_wait(pid_t process, uint64_t duration)
{
	enum { LOOK_MS = 100 };
	const uint64_t ms = 1000000;
	const sigset_t asked = ends();
	struct timespec begin, now;
	clock_gettime(CLOCK_MONOTONIC, &begin);
	uint64_t gone = 0;
	while (manage_is_running(process) && (!duration || gone < duration)) {
		const uint64_t left = duration && (duration - gone) / ms < LOOK_MS ? duration - gone : LOOK_MS * ms;
		if (sigtimedwait(&asked, NULL, &(struct timespec){.tv_nsec = (long)left}) > 0)
			return;
		clock_gettime(CLOCK_MONOTONIC, &now);
		gone = (uint64_t)((now.tv_sec - begin.tv_sec) * 1000000000 + now.tv_nsec - begin.tv_nsec);
	}
}
