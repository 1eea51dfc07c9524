/* programs.c - which AArch64 program a path is executed by: itself, or the interpreter of a script. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/programs.h"

#include "base/bytes/bytes.h"
#include "base/memory/memory.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SCRIPTS_MOST = 5, HEAD = 256 /* of a script: Linux, BINPRM_BUF_SIZE */ };

/* ---- Words. ---- */

bool program_words_add(struct program_words *words, size_t at, const char *word)
{
	char *copy = strdup(word);
	if (!copy || !tw_grow(&words->items, &words->room, words->count + 1, sizeof *words->items)) {
		free(copy);
		return false;
	}
	memmove(&words->items[at + 1], &words->items[at], (words->count - at) * sizeof *words->items);
	words->items[at] = copy;
	words->count++;
	return true;
}

void program_words_free(struct program_words *words)
{
	for (size_t i = 0; i < words->count; i++)
		free(words->items[i]);
	free((void *)words->items);
	*words = (struct program_words){0};
}

/* ---- Files. ---- */

/* Where a file is. */
static void place(const char *sysroot, const char *name, char path[PATH_MAX])
{
	if (sysroot && name[0] == '/' && snprintf(path, PATH_MAX, "%s%s", sysroot, name) < PATH_MAX &&
	    access(path, F_OK) == 0)
		return;
	snprintf(path, PATH_MAX, "%s", name);
}

/* Returns how many bytes there are, or an errno, negative. */
static int read_head(const char *path, char head[HEAD])
{
	int fd = access(path, X_OK) < 0 ? -1 : open(path, O_RDONLY | O_CLOEXEC);
	ssize_t size = fd < 0 ? -1 : pread(fd, head, HEAD - 1, 0);
	int error = errno;
	if (fd >= 0)
		close(fd);
	if (size < 0)
		return -error;
	head[size] = '\0';
	return (int)size;
}

static bool is_program(const char *head, int size)
{
	const uint8_t *bytes = (const uint8_t *)head;
	return size >= (int)sizeof(Elf64_Ehdr) && memcmp(head, ELFMAG, SELFMAG) == 0 && head[EI_CLASS] == ELFCLASS64 &&
	       head[EI_DATA] == ELFDATA2LSB && tw_load16(bytes + offsetof(Elf64_Ehdr, e_machine), false) == EM_AARCH64;
}

/* "#! INTERPRETER [ARGUMENT]": the argument is all that follows, but for spaces around it. name: of the script, then of
 * the interpreter. Returns 0; 1: it is none; or an errno, negative. */
static int take_script(char head[HEAD], struct program_words *words, char name[PATH_MAX])
{
	if (strncmp(head, "#!", 2) != 0)
		return 1;
	char *line = head + 2 + strspn(head + 2, " \t");
	line[strcspn(line, "\n")] = '\0';
	size_t length = strcspn(line, " \t"), end = strlen(line);
	while (end && strchr(" \t", line[end - 1]))
		line[--end] = '\0';
	const char *argument = length < end ? line + length + strspn(line + length, " \t") : NULL;
	if (!length)
		return 1;
	if (!words->count && !program_words_add(words, 0, ""))
		return -ENOMEM;
	free(words->items[0]);
	words->items[0] = strdup(name); /* of the script */
	snprintf(name, PATH_MAX, "%.*s", (int)length, line);
	bool fine = words->items[0] && (!argument || program_words_add(words, 0, argument)) &&
	            program_words_add(words, 0, name);
	return fine ? 0 : -ENOMEM;
}

int program_find(const char *sysroot, const char *name, struct program_words *words, char path[PATH_MAX])
{
	char head[HEAD] = {0}, next[PATH_MAX];
	snprintf(next, sizeof next, "%s", name);
	for (int i = 0; i < SCRIPTS_MOST; i++) {
		place(sysroot, next, path);
		int size = read_head(path, head);
		if (size < 0)
			return size;
		if (is_program(head, size))
			return 0;
		int status = take_script(head, words, next);
		if (status)
			return status;
	}
	return -ELOOP;
}
