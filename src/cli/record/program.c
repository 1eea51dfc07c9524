/* program.c - runs a program that is recorded, and finds what came with the tool. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/output/message.h"
#include "cli/record/record.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
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

bool tw_program_part(const char *name, char path[PATH_MAX])
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

/* ---- Running. ---- */

static volatile sig_atomic_t running; /* the program's process, 0 when it has ended */
static char children_path[64];        /* what tells which processes it left, which are ours then */

/* Only calls that a signal's handler may make. */
static void pass_to_children(int number)
{
	char text[4096];
	pid_t child = 0;
	int list = open(children_path, O_RDONLY | O_CLOEXEC);
	for (ssize_t size; list >= 0 && (size = read(list, text, sizeof text)) > 0;)
		for (ssize_t i = 0; i < size; i++) {
			if (text[i] >= '0' && text[i] <= '9') {
				child = child * 10 + (text[i] - '0');
				continue;
			}
			if (child > 0)
				kill(child, number);
			child = 0;
		}
	close(list);
}

/* An interrupt from the terminal reaches the program without us; what it left may have no terminal. */
static void pass_on(int number)
{
	const int error = errno;
	bool is_ours = number == SIGTERM || number == SIGHUP;
	if (running == 0)
		pass_to_children(number);
	else if (is_ours)
		kill((pid_t)running, number);
	errno = error;
}

static void take_signals(void)
{
	static const int passed[] = {SIGTERM, SIGHUP, SIGINT, SIGQUIT};
	struct sigaction pass = {.sa_handler = pass_on, .sa_flags = SA_RESTART};
	snprintf(children_path, sizeof children_path, "/proc/self/task/%ld/children", (long)getpid());
	for (size_t i = 0; i < sizeof passed / sizeof *passed; i++)
		sigaction(passed[i], &pass, NULL);
}

int tw_program_run(struct tw_program *program)
{
	int other;
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	fflush(NULL);
	pid_t child = fork();
	if (child < 0)
		return tw_say_error("cannot start %s: %s", program->name, strerror(errno));
	if (child == 0) {
		signal(SIGXFSZ, SIG_DFL); /* the program's own */
		program->become(program->context);
		_exit(127);
	}
	program->pid = child;
	running = child;
	take_signals();
	/* what the program leaves running is recorded too */
	for (pid_t ended; (ended = wait(&other)) > 0 || errno == EINTR;) {
		if (ended != child)
			continue;
		program->status = other;
		running = 0;
	}
	return 0;
}

int tw_status_of(int status)
{
	enum { SIGNALLED = 128 };
	return WIFSIGNALED(status) ? SIGNALLED + WTERMSIG(status) : WEXITSTATUS(status);
}
