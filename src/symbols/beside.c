/* beside.c - what a trace tells functions by, and the list of programs beside one of instructions. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "symbols/tool.h"

#include "xtrace/xtrace.h"

#include <trackway/reader.h>
#include <trackway/xtrace.h>

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_list(const char *name)
{
	size_t length = strlen(name);
	return strncmp(name, "xtrace.", 7) == 0 && length > 12 && strcmp(name + length - 5, ".maps") == 0;
}

static bool is_file(const char *path)
{
	struct stat what;
	return stat(path, &what) == 0 && S_ISREG(what.st_mode);
}

/* Of a directory with one trace. */
static bool find_inside(const char *folder, char found[PATH_MAX])
{
	unsigned count = 0;
	DIR *all = opendir(folder);
	for (struct dirent *entry; all && (entry = readdir(all));)
		if (is_list(entry->d_name))
			count += snprintf(found, PATH_MAX, "%s/%s", folder, entry->d_name) < PATH_MAX;
	if (all)
		closedir(all);
	return count == 1 && is_file(found);
}

/* Of a directory or a file of a trace. */
static bool find(const char *path, char found[PATH_MAX])
{
	struct tw_xtrace_name name;
	struct stat what;
	const char *slash = strrchr(path, '/'), *last = slash ? slash + 1 : path;
	if (stat(path, &what) == 0 && S_ISDIR(what.st_mode))
		return find_inside(path, found);
	if (!xtrace_name_of(last, &name))
		return false;
	int length = snprintf(found, PATH_MAX, "%.*sxtrace.%s.maps", (int)(last - path), path, name.timestamp);
	return length < PATH_MAX && is_file(found) && access(found, R_OK) == 0;
}

int tw_symbols_list_beside(const char *path, char **list)
{
	char found[PATH_MAX];
	*list = NULL;
	errno = 0;
	if (!find(path, found))
		return errno == ENOMEM ? TW_ERR_MEMORY : 0;
	*list = strdup(found);
	return *list ? 0 : TW_ERR_MEMORY;
}

int tw_symbols_by_address(const char *path, bool *sure)
{
	const struct tw_read_options look = {.order = TW_ORDER_FILE};
	struct tw_reader *reader;
	int status = tw_open(&reader, path, &look);
	bool is = status >= 0 && strcmp(tw_reader_format(reader), "xtrace") == 0;
	tw_close(reader);
	*sure = status >= 0;
	return status == TW_ERR_MEMORY ? status : is;
}
