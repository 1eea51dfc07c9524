/* vector_files.c - the files of basic block vectors that an operand stands for. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/instructions/vector_files.h"

#include "base/memory/memory.h"
#include "base/text/scan.h"
#include "cli/output/message.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool ends_with(const char *name, const char *suffix)
{
	size_t length = strlen(name), own = strlen(suffix);
	return length > own && strcmp(name + length - own, suffix) == 0;
}

static int add(struct tw_vector_files *files, const char *folder, const char *name)
{
	char *path;
	if (!tw_grow(&files->paths, &files->room, files->count + 1, sizeof *files->paths) ||
	    asprintf(&path, "%s%s%s", folder, *folder ? "/" : "", name) < 0)
		return tw_say_error("out of memory");
	files->paths[files->count++] = path;
	return 0;
}

/* "....threadN.bb", "....coreN.bb" */
static uint64_t thread_of(const char *path)
{
	const char *at = strrchr(path, '.');
	uint64_t number = 0;
	while (at && at > path && at[-1] >= '0' && at[-1] <= '9')
		at--;
	return at && tw_scan_number(&at, 10, &number) ? number : UINT64_MAX;
}

static int compare(const void *one, const void *other)
{
	uint64_t a = thread_of(*(char *const *)one), b = thread_of(*(char *const *)other);
	return a < b ? -1 : a > b;
}

static int add_folder(struct tw_vector_files *files, const char *path, DIR *folder)
{
	int status = 0;
	bool is_trace = false;
	for (struct dirent *entry; status == 0 && (entry = readdir(folder));) {
		is_trace |= strstr(entry->d_name, ".xinsndata.bin") != NULL;
		if (strncmp(entry->d_name, "xtrace.", 7) == 0 && ends_with(entry->d_name, ".bb"))
			status = add(files, path, entry->d_name);
	}
	if (is_trace)
		tw_vector_files_free(files);
	else if (files->count)
		qsort((void *)files->paths, files->count, sizeof *files->paths, compare);
	return status;
}

int tw_vector_files_find(struct tw_vector_files *files, const char *operand)
{
	*files = (struct tw_vector_files){0};
	if (ends_with(operand, ".bb"))
		return add(files, "", operand);
	DIR *folder = opendir(operand);
	int status = folder ? add_folder(files, operand, folder) : 0;
	if (folder)
		closedir(folder);
	return status;
}

void tw_vector_files_free(struct tw_vector_files *files)
{
	for (size_t i = 0; i < files->count; i++)
		free(files->paths[i]);
	free((void *)files->paths);
	*files = (struct tw_vector_files){0};
}
