/* tool_file.c - --tool: a user's own analysis, in a shared object. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/instructions/tool_file.h"

#include "cli/output/message.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* dlopen() would look for a name without a slash where libraries are. Its words begin with the path, or are of a
 * library that is missing. */
static void *open_object(const char *path)
{
	char here[PATH_MAX + 2];
	snprintf(here, sizeof here, "%s%s", strchr(path, '/') ? "" : "./", path);
	if (access(here, R_OK) != 0) {
		tw_say_error("%s: %s", path, strerror(errno));
		return NULL;
	}
	void *object = dlopen(here, RTLD_NOW | RTLD_LOCAL);
	if (!object) {
		const char *why = dlerror();
		size_t length = strlen(here);
		bool named = strncmp(why, here, length) == 0 && why[length] == ':';
		tw_say_error("%s: %s", path, named ? why + length + 2 : why);
	}
	return object;
}

static bool is_complete(const struct tw_study_tool *tool)
{
	return tool->name && tool->title && tool->columns && tool->column_count && tool->begin && tool->take &&
	       tool->merge && tool->rows && tool->free;
}

static int check(const struct tw_study_tool *tool, const char *path)
{
	enum { COLUMNS_MOST = 32 };
	if (!tool)
		return tw_say_error(
		    "%s: has no symbol tw_study_tool: expected a tool, as trackway/study.h describes it", path);
	if (tool->version != TW_STUDY_TOOL_VERSION)
		return tw_say_error("%s: was built for version %u of the interface of tools: this is %d", path,
		                    tool->version, TW_STUDY_TOOL_VERSION);
	if (!is_complete(tool))
		return tw_say_error("%s: its tw_study_tool lacks a name, a title, columns or a function", path);
	if (tool->column_count > COLUMNS_MOST)
		return tw_say_error("%s: has %zu columns: at most %d", path, tool->column_count, COLUMNS_MOST);
	return 0;
}

int tw_tool_open(struct tw_tool_file *file, const char *path)
{
	file->object = open_object(path);
	if (!file->object)
		return TW_EXIT_FAILED;
	file->tool = dlsym(file->object, "tw_study_tool");
	return check(file->tool, path);
}

void tw_tool_close(struct tw_tool_file *file)
{
	if (file->object)
		dlclose(file->object);
}
