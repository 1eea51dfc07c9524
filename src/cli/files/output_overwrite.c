/* output_overwrite.c - output that would go over what is read. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/files/output_overwrite.h"

#include "base/memory/memory.h"
#include "cli/options/names.h"
#include "cli/options/options.h"
#include "cli/output/message.h"
#include "core/tool.h"

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

/* The path of a list that leads to the file; NULL: none does. */
static const char *find_in_list(const struct tw_list *list, const struct stat *file)
{
	uint64_t number;
	for (size_t i = 0; i < list->count; i++) {
		const char *path = tw_binary_path(list->items[i], &number);
		if (is_file(path, file) || is_file(list->items[i], file))
			return list->items[i];
	}
	return NULL;
}

static int refuse_member(void *output, const char *path)
{
	return is_file(path, output) ? refuse(path) : 0;
}

/* Refuses an operand that is the output, or whose trace has several files, one of which is. */
static int refuse_operand(const char *path, const struct stat *output)
{
	if (is_file(path, output))
		return refuse(path);
	int status = tw_trace_files(path, refuse_member, (void *)(uintptr_t)output);
	return status < 0 ? tw_say_error("out of memory") : status;
}

/* Looks for a file among those that are read. */
static int refuse_file(const struct tw_command *command, const struct tw_common *options, char **operands, size_t count,
                       const struct stat *file)
{
	const struct tw_option *option;
	for (size_t i = 0; i < count; i++) {
		int status = refuse_operand(operands[i], file);
		if (status)
			return status;
	}
	for (size_t i = 0; (option = tw_option_at(command, i)); i++) {
		const void *member = (const char *)options + option->offset;
		const char *path = option->kind == TW_OPTION_FILE    ? *(const char *const *)member
		                   : option->kind == TW_OPTION_FILES ? find_in_list(member, file)
		                                                     : NULL;
		bool listed = option->kind == TW_OPTION_FILES;
		if (path && path != options->output && (listed || is_file(path, file)))
			return refuse(path);
	}
	return 0;
}

int tw_refuse_overwrite(const struct tw_command *command, const struct tw_common *options, char **operands,
                        size_t count)
{
	struct stat output;
	if (command->word || !look_at(options->output ? options->output : "-", STDOUT_FILENO, &output))
		return 0;
	return refuse_file(command, options, operands, count, &output);
}

int tw_refuse_overwrite_beside(const struct tw_command *command, const struct tw_common *options, char **operands,
                               size_t count, const char *const *endings)
{
	int status = 0;
	for (size_t i = 0; endings && endings[i] && options->output && status == 0; i++) {
		struct tw_text path = {0};
		struct stat file;
		if (!tw_text_add(&path, options->output, strlen(options->output)) ||
		    !tw_text_add(&path, endings[i], strlen(endings[i])))
			status = tw_say_error("out of memory");
		else if (stat(path.bytes, &file) == 0 && S_ISREG(file.st_mode))
			status = refuse_file(command, options, operands, count, &file);
		tw_text_free(&path);
	}
	return status;
}
