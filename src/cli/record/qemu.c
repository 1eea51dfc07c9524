/* qemu.c - finds QEMU and its plugin, and runs a program with them. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/record/qemu.h"

#include "base/text/scan.h"
#include "cli/output/message.h"
#include "cli/record/record.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static const struct tw_program_part plugin_part = {"trackway_qemu.so", "trackway-qemu", "--plugin"};

/* ---- Finding. ---- */

/* Its name and Debian's package. */
static const char *const names[][2] = {{"qemu-aarch64", "qemu-user"}, {"qemu-system-aarch64", "qemu-system-arm"}};

static bool find_program(struct tw_qemu *qemu, const char *program)
{
	if (program && strchr(program, '/')) {
		snprintf(qemu->program, sizeof qemu->program, "%s", program);
		return access(program, X_OK) == 0;
	}
	return tw_program_find(program ? program : names[qemu->of_machine][0], qemu->program);
}

/* "qemu-aarch64 version 7.2.22 (Debian ...)" */
static bool has_version(const char *text)
{
	uint64_t major;
	const char *version = strstr(text, "version ");
	version = version ? version + strlen("version ") : NULL;
	return version && tw_scan_number(&version, 10, &major) && *version == '.';
}

static bool prints_version(const struct tw_qemu *qemu)
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
	return has_version(text);
}

int tw_qemu_find(struct tw_qemu *qemu, const char *program, const char *plugin)
{
	if (!find_program(qemu, program))
		return tw_say_error("%s: not found; it is in Debian's package %s",
		                    program ? program : names[qemu->of_machine][0], names[qemu->of_machine][1]);
	if (!prints_version(qemu))
		return tw_say_error("%s: does not tell its version", qemu->program);
	int status = tw_program_part(&plugin_part, plugin, qemu->plugin);
	if (status)
		return status;
	if (strchr(qemu->plugin, ','))
		return tw_say_error("%s: QEMU takes no plugin with a comma in its name", qemu->plugin);
	return 0;
}

/* ---- Running. ---- */

struct qemu_command {
	const struct tw_qemu *qemu;
	int board;
	char **words;
	size_t count;
	pid_t parent;
};

static void become(const void *context)
{
	static char cpu_option[] = "-cpu", sysroot_option[] = "-L", plugin_option[] = "-plugin";
	const struct qemu_command *call = context;
	const struct tw_qemu *qemu = call->qemu;
	char plugin[PATH_MAX + 32];
	char **all = calloc(call->count + 8, sizeof *all), **next = all;
	if (!all)
		return;
	snprintf(plugin, sizeof plugin, "%s,fd=%d", qemu->plugin, call->board);
	*next++ = (char *)(uintptr_t)qemu->program;
	*next++ = cpu_option;
	*next++ = (char *)(uintptr_t)qemu->cpu;
	if (qemu->sysroot) {
		*next++ = sysroot_option;
		*next++ = (char *)(uintptr_t)qemu->sysroot;
	}
	*next++ = plugin_option;
	*next++ = plugin;
	memcpy(next, call->words, call->count * sizeof *call->words);
	prctl(PR_SET_PDEATHSIG, SIGKILL); /* it ends with us; what it forks looks for itself (alive.h) */
	if (getppid() == call->parent)
		execv(qemu->program, all);
	free((void *)all);
}

int tw_qemu_run(const struct tw_qemu *qemu, int board, char **words, size_t count, int *status)
{
	const struct qemu_command call = {qemu, board, words, count, getpid()};
	struct tw_program program = {.become = become, .context = &call, .name = qemu->program};
	int failed = tw_program_run(&program);
	*status = program.status;
	return failed;
}
