/* clash.c - output that would go over what is read. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/clash.h"

#include "cli/message.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Looks at a regular file, or at what stands for "-". */
static bool look_at(const char *path, int standard, struct stat *status)
{
	int result = strcmp(path, "-") == 0 ? fstat(standard, status) : stat(path, status);
	return result == 0 && S_ISREG(status->st_mode);
}

static bool is_file(const char *path, const struct stat *file)
{
	struct stat status;
	return look_at(path, STDIN_FILENO, &status) && status.st_dev == file->st_dev && status.st_ino == file->st_ino;
}

static int refuse(const char *path)
{
	return tw_say_error("%s: is the output too, and would be lost", path);
}

int tw_refuse_clash(const struct tw_command *command, const struct tw_common *options, char **operands, size_t count)
{
	struct stat output;
	const struct tw_option *option;
	if (command->word || !look_at(options->output ? options->output : "-", STDOUT_FILENO, &output))
		return 0;
	for (size_t i = 0; i < count; i++)
		if (is_file(operands[i], &output))
			return refuse(operands[i]);
	for (size_t i = 0; (option = tw_option_at(command, i)); i++) {
		const char *const *member = (const void *)((const char *)options + option->offset);
		if (option->kind == TW_OPTION_FILE && *member && *member != options->output &&
		    is_file(*member, &output))
			return refuse(*member);
	}
	return 0;
}
