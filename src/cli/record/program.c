/* program.c - runs a program that is recorded, and finds what came with the tool. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/threads/witness.h"
#include "cli/output/message.h"
#include "cli/record/record.h"

#include <errno.h>
#include <libgen.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* ---- Finding. ---- */

/* As execvp() looks for a program. */
bool tw_program_find(const char *name, char path[PATH_MAX])
{
	const char *list = getenv("PATH");
	for (const char *p = list ? list : "/usr/bin:/bin", *end; p; p = *end ? end + 1 : NULL) {
		end = p + strcspn(p, ":");
		int length = snprintf(path, PATH_MAX, "%.*s/%s", (int)(end - p), end > p ? p : ".", name);
		if (length < PATH_MAX && access(path, X_OK) == 0)
			return true;
	}
	return false;
}

static bool find_part(const char *name, char path[PATH_MAX])
{
	static const char *const places[] = {"", "/../" TW_PLUGIN_DIRECTORY};
	char tool[PATH_MAX];
	ssize_t length = readlink("/proc/self/exe", tool, sizeof tool - 1);
	tool[length < 0 ? 0 : length] = '\0';
	const char *folder = dirname(tool);
	for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
		int size = snprintf(path, PATH_MAX, "%s%s/%s", folder, places[i], name);
		if (size < PATH_MAX && access(path, R_OK) == 0)
			return true;
	}
	return false;
}

int tw_program_part(const struct tw_program_part *part, const char *given, char path[PATH_MAX])
{
	struct stat what;
	if (given ? realpath(given, path) && stat(path, &what) == 0 && S_ISREG(what.st_mode)
	          : find_part(part->name, path))
		return TW_EXIT_FINE;
	if (given)
		return tw_say_error("%s: %s", given, access(given, F_OK) == 0 ? "no regular file" : "not found");
	return tw_say_error("%s: not found; Debian's package %s has it, or %s names it", part->name, part->package,
	                    part->option);
}

/* ---- Running. ---- */

/* Processes that the program has left, which are ours then. */
static void pass_to_left(const struct tw_witness *witness, bool saw, int number)
{
	char path[64], *list = NULL;
	size_t room = 0;
	snprintf(path, sizeof path, "/proc/self/task/%ld/children", (long)getpid());
	FILE *file = fopen(path, "re");
	char *at = file && getline(&list, &room, file) > 0 ? list : NULL;
	for (long child; at && (child = strtol(at, &at, 10)) > 0;)
		if (child != witness->process)
			tw_witness_pass(saw, (pid_t)child, number);
	if (file)
		fclose(file);
	free(list);
}

static void take_signal(struct tw_program *program, struct tw_witness *witness, int signals, pid_t running)
{
	struct signalfd_siginfo info;
	struct pollfd polled[] = {{.fd = signals, .events = POLLIN},
	                          {.fd = program->wake ? program->wake_fd : -1, .events = POLLIN}};
	poll(polled, sizeof polled / sizeof *polled, -1);
	if (program->wake && polled[1].revents && !program->wake(program->wake_context))
		program->wake = NULL;
	if (read(signals, &info, sizeof info) != sizeof info || info.ssi_signo == SIGCHLD)
		return;
	const int number = (int)info.ssi_signo;
	sigaddset(&program->signals, number);
	const bool saw = tw_witness_saw(witness, number);
	if (running)
		tw_witness_pass(saw, running, number);
	else
		pass_to_left(witness, saw, number);
}

/* What the program leaves running is waited for, too. Signals stay blocked: what was recorded is still to be put in
 * order. */
static void wait_for_all(struct tw_program *program, struct tw_witness *witness, int signals)
{
	pid_t running = program->pid, ended;
	int status;
	while ((ended = waitpid(-1, &status, WNOHANG)) >= 0 || errno == EINTR) {
		if (ended == 0)
			take_signal(program, witness, signals, running);
		if (ended <= 0 || ended != program->pid)
			continue;
		program->status = status;
		running = 0;
	}
}

int tw_program_run(struct tw_program *program)
{
	struct tw_witness witness;
	sigset_t before;
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	fflush(NULL);
	sigemptyset(&program->signals);
	const int signals = tw_witness_begin(&witness, &before);
	program->pid = signals < 0 ? -1 : fork();
	if (program->pid == 0) {
		sigprocmask(SIG_SETMASK, &before, NULL);
		signal(SIGXFSZ, SIG_DFL); /* the program's own */
		program->become(program->context);
		_exit(127);
	}
	const int error = program->pid < 0 ? errno : 0;
	if (!error)
		wait_for_all(program, &witness, signals);
	tw_witness_end(&witness);
	if (signals >= 0)
		close(signals);
	return error ? tw_say_error("cannot start %s: %s", program->name, strerror(error)) : 0;
}

static const int ending[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};

/* Once: then its default is what it does. */
static void pass_over(int number)
{
	(void)number;
}

void tw_program_unblock(const struct tw_program *program)
{
	const struct sigaction once = {.sa_handler = pass_over, .sa_flags = (int)SA_RESETHAND | SA_RESTART};
	sigset_t set, came = program->signals;
	sigemptyset(&set);
	for (size_t i = 0; i < sizeof ending / sizeof *ending; i++)
		sigaddset(&set, ending[i]);
	/* What waits came before the end of the program, and was for it. */
	for (int number; (number = sigtimedwait(&set, NULL, &(struct timespec){0})) > 0;)
		sigaddset(&came, number);
	for (size_t i = 0; i < sizeof ending / sizeof *ending; i++)
		if (sigismember(&came, ending[i]))
			sigaction(ending[i], &once, NULL);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
}

int tw_status_of(int status)
{
	enum { SIGNALLED = 128 };
	return WIFSIGNALED(status) ? SIGNALLED + WTERMSIG(status) : WEXITSTATUS(status);
}

/* Whether a process has a handler for a signal: without one it would end. */
static bool has_handler(uint64_t pid, int number)
{
	return tw_signal_listed((pid_t)pid, "SigCgt:", number);
}

int tw_program_signal(uint64_t pid, int behind_first)
{
	const int number = SIGRTMIN + behind_first;
	if (!pid)
		return 0;
	if (kill((pid_t)pid, 0) < 0)
		return tw_say_error("process %llu: %s", (unsigned long long)pid, strerror(errno));
	if (!has_handler(pid, number))
		return tw_say_error("process %llu is not recorded by this", (unsigned long long)pid);
	return kill((pid_t)pid, number) < 0 ? tw_say_error("process %llu: %s", (unsigned long long)pid, strerror(errno))
	                                    : 0;
}
