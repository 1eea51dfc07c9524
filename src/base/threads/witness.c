/* witness.c - whether a signal came to the whole group of processes, or to this process alone. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/threads/witness.h"

#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static const int ending[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};

/* ---- The other process. ---- */

/* The words that this process was started with: who looks for them by `pkill -f` means this one alone. */
static void find_words(char **words, size_t *size)
{
	enum { FIRST_WORD = 48 - 3 }; /* arg_start of proc(5), behind the state, which is field 3 */
	char text[1024];
	char *behind = NULL;
	FILE *file = fopen("/proc/self/stat", "re");
	const size_t length = file ? fread(text, 1, sizeof text - 1, file) : 0;
	if (file)
		fclose(file);
	text[length] = 0;
	const char *at = strrchr(text, ')');
	for (int i = 0; at && i <= FIRST_WORD; i++)
		at = strchr(at + 1, ' ');
	const uintptr_t start = at ? strtoul(at, &behind, 10) : 0, end = start ? strtoul(behind, NULL, 10) : 0;
	*words = end > start ? (char *)start : NULL; /* NOLINT(performance-no-int-to-ptr): as the kernel tells it */
	*size = end > start ? end - start : 0;
}

/* Signals are blocked, and stay where they are. Its parent's end ends it. */
static void stand_by(char *words, size_t size, pid_t parent)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_NAME, "tw-witness");
	if (words)
		memset(words, 0, size);
	while (getppid() == parent)
		pause();
	_exit(0);
}

/* Without a signal at its end: wait() does not tell of it. It has no descriptors of its own, to keep files open. */
static pid_t make_process(void)
{
	char *words;
	size_t size;
	const pid_t parent = getpid();
	find_words(&words, &size);
	const long process = syscall(SYS_clone, CLONE_FILES, 0, 0, 0, 0);
	if (process == 0)
		stand_by(words, size, parent);
	return process < 0 ? 0 : (pid_t)process;
}

static void end_process(pid_t process)
{
	if (!process)
		return;
	kill(process, SIGKILL);
	waitpid(process, NULL, (int)__WCLONE);
}

bool tw_signal_listed(pid_t process, const char *field, int signal)
{
	char path[64], line[256];
	unsigned long long signals = 0;
	snprintf(path, sizeof path, "/proc/%ld/status", (long)process);
	FILE *file = fopen(path, "re");
	while (file && fgets(line, sizeof line, file))
		if (strncmp(line, field, strlen(field)) == 0)
			signals = strtoull(line + strlen(field), NULL, 16);
	if (file)
		fclose(file);
	return signals >> (signal - 1) & 1;
}

/* ---- For who passes signals on. ---- */

int tw_witness_begin(struct tw_witness *witness, sigset_t *before)
{
	sigset_t taken;
	struct sigaction action;
	sigemptyset(&taken);
	sigaddset(&taken, SIGCHLD);
	for (size_t i = 0; i < sizeof ending / sizeof *ending; i++)
		sigaddset(&taken, ending[i]);
	if (sigaction(SIGHUP, NULL, &action) == 0 && action.sa_handler == SIG_IGN)
		sigdelset(&taken, SIGHUP);
	signal(SIGCHLD, SIG_DFL);
	sigprocmask(SIG_BLOCK, &taken, before);
	witness->process = make_process();
	return signalfd(-1, &taken, SFD_CLOEXEC | SFD_NONBLOCK);
}

bool tw_witness_saw(struct tw_witness *witness, int signal)
{
	/* Changes nothing, and waits until whoever goes through the list of processes is at its end. */
	setpgid(0, getpgrp());
	if (!witness->process || !tw_signal_listed(witness->process, "ShdPnd:", signal))
		return false;
	const pid_t old = witness->process;
	witness->process = make_process();
	end_process(old);
	return true;
}

void tw_witness_pass(bool saw, pid_t process, int signal)
{
	if (!saw || getpgid(process) != getpgrp())
		kill(process, signal);
}

void tw_witness_end(struct tw_witness *witness)
{
	end_process(witness->process);
	witness->process = 0;
}
