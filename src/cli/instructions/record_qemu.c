/* record_qemu.c - finds QEMU and its plugin, and runs a program with them. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/instructions/record_qemu.h"

#include "base/text/scan.h"
#include "cli/command.h"
#include "cli/output/message.h"

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

static const char plugin_name[] = "trackway_qemu.so";

/* ---- Finding. ---- */

/* As execvp() looks for a program. */
static bool find_in_path(const char *name, char path[PATH_MAX])
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

static bool find_program(struct tw_qemu *qemu, const char *program)
{
	if (program && strchr(program, '/')) {
		snprintf(qemu->program, sizeof qemu->program, "%s", program);
		return access(program, X_OK) == 0;
	}
	return find_in_path(program ? program : "qemu-aarch64", qemu->program);
}

/* Beside the tool, as it is built; or where it is installed to, seen from the tool. */
static bool find_plugin(struct tw_qemu *qemu, const char *plugin)
{
	static const char *const places[] = {"", "/../" TW_PLUGIN_DIRECTORY};
	char tool[PATH_MAX], *own = qemu->plugin;
	if (plugin)
		return realpath(plugin, own) != NULL;
	ssize_t length = readlink("/proc/self/exe", tool, sizeof tool - 1);
	tool[length < 0 ? 0 : length] = '\0';
	const char *folder = dirname(tool);
	for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
		int size = snprintf(own, PATH_MAX, "%s%s/%s", folder, places[i], plugin_name);
		if (size < PATH_MAX && access(own, R_OK) == 0)
			return true;
	}
	return false;
}

static bool scan_version(struct tw_qemu *qemu, const char *text)
{
	uint64_t major, minor;
	if (!tw_scan_number(&text, 10, &major) || *text++ != '.' || !tw_scan_number(&text, 10, &minor))
		return false;
	qemu->major = (unsigned)major;
	qemu->minor = (unsigned)minor;
	return true;
}

/* "qemu-aarch64 version 7.2.22 (Debian ...)" */
static bool ask_version(struct tw_qemu *qemu)
{
	int ends[2], status;
	char text[256] = "";
	if (pipe(ends) < 0)
		return false;
	pid_t child = fork();
	if (child == 0) {
		dup2(ends[1], STDOUT_FILENO);
		execl(qemu->program, qemu->program, "--version", (char *)NULL);
		_exit(127);
	}
	close(ends[1]);
	ssize_t length = child > 0 ? read(ends[0], text, sizeof text - 1) : -1;
	close(ends[0]);
	if (child < 0 || waitpid(child, &status, 0) < 0 || length <= 0)
		return false;
	const char *version = strstr(text, "version ");
	return version && scan_version(qemu, version + strlen("version "));
}

int tw_qemu_find(struct tw_qemu *qemu, const char *program, const char *plugin)
{
	if (!find_program(qemu, program))
		return tw_say_error("%s: not found; it is in Debian's package qemu-user",
		                    program ? program : "qemu-aarch64");
	if (!ask_version(qemu))
		return tw_say_error("%s: does not tell its version", qemu->program);
	if (!find_plugin(qemu, plugin))
		return tw_say_error("%s: not found; --plugin names it", plugin ? plugin : plugin_name);
	if (strchr(qemu->plugin, ','))
		return tw_say_error("%s: QEMU takes no plugin with a comma in its name", qemu->plugin);
	return 0;
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

static void become(const struct tw_qemu *qemu, int board, char **words, size_t count)
{
	static char cpu_option[] = "-cpu", sysroot_option[] = "-L", plugin_option[] = "-plugin";
	char plugin[PATH_MAX + 32];
	char **all = calloc(count + 8, sizeof *all), **next = all;
	if (!all)
		_exit(127);
	signal(SIGXFSZ, SIG_DFL); /* the program's own */
	snprintf(plugin, sizeof plugin, "%s,fd=%d", qemu->plugin, board);
	*next++ = (char *)(uintptr_t)qemu->program;
	*next++ = cpu_option;
	*next++ = (char *)(uintptr_t)qemu->cpu;
	if (qemu->sysroot) {
		*next++ = sysroot_option;
		*next++ = (char *)(uintptr_t)qemu->sysroot;
	}
	*next++ = plugin_option;
	*next++ = plugin;
	memcpy(next, words, count * sizeof *words);
	execv(qemu->program, all);
	_exit(127);
}

int tw_qemu_run(const struct tw_qemu *qemu, int board, char **words, size_t count, int *status)
{
	int other;
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	fflush(NULL);
	pid_t child = fork();
	if (child < 0)
		return tw_say_error("cannot start %s: %s", qemu->program, strerror(errno));
	if (child == 0)
		become(qemu, board, words, count);
	running = child;
	take_signals();
	*status = 0;
	/* what the program leaves running is recorded too */
	for (pid_t ended; (ended = wait(&other)) > 0 || errno == EINTR;) {
		if (ended != child)
			continue;
		*status = other;
		running = 0;
	}
	return 0;
}
