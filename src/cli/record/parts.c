/* parts.c - the logs of programs while they are recorded, beside the output. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory/memory.h"
#include "cli/output/message.h"
#include "cli/record/record.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- Names. ---- */

/* The process of "NAME.PID.part" or "NAME.PID-1.part"; 0: it is no such name. */
static unsigned long process_of(const struct tw_parts *parts, const char *name)
{
	const size_t length = strlen(parts->name);
	char *end;
	if (strncmp(name, parts->name, length) != 0 || name[length] != '.')
		return 0;
	unsigned long pid = strtoul(name + length + 1, &end, 10);
	return strcmp(end + strspn(end, "-0123456789"), ".part") == 0 ? pid : 0;
}

void tw_parts_name(const struct tw_parts *parts, unsigned long pid, char path[TW_PART_ROOM])
{
	const char *dot = strrchr(parts->name, '.');
	const int stem = dot && dot > parts->name ? (int)(dot - parts->name) : (int)strlen(parts->name);
	const char *ending = parts->name + stem;
	if (pid == (unsigned long)parts->pid && parts->logs == 0) {
		snprintf(path, TW_PART_ROOM, "%s/%s", parts->folder, parts->name);
		return;
	}
	snprintf(path, TW_PART_ROOM, "%s/%.*s.%lu%s", parts->folder, stem, parts->name, pid, ending);
	for (unsigned i = 1; access(path, F_OK) == 0 && i < 1000; i++)
		snprintf(path, TW_PART_ROOM, "%s/%.*s.%lu-%u%s", parts->folder, stem, parts->name, pid, i, ending);
}

void tw_parts_pattern(const struct tw_parts *parts, char path[TW_PART_ROOM])
{
	snprintf(path, TW_PART_ROOM, "%s/%s.%%p.part", parts->folder, parts->name);
}

void tw_parts_snapshots(const struct tw_parts *parts, char path[TW_PART_ROOM])
{
	const char *dot = strrchr(parts->name, '.');
	const int stem = dot && dot > parts->name ? (int)(dot - parts->name) : (int)strlen(parts->name);
	snprintf(path, TW_PART_ROOM, "%s/%.*s.%%p-snapshot%s", parts->folder, stem, parts->name, parts->name + stem);
}

static bool take_output(struct tw_parts *parts, const char *output)
{
	const char *slash = strrchr(output, '/');
	snprintf(parts->name, sizeof parts->name, "%s", slash ? slash + 1 : output);
	char folder[PATH_MAX];
	snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - output) + 1 : 1, slash ? output : ".");
	return *parts->name && realpath(folder, parts->folder) != NULL;
}

/* ---- Lists. ---- */

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool list_logs(const struct tw_parts *parts, struct tw_part_names *logs)
{
	bool good = true;
	DIR *folder = opendir(parts->folder);
	for (struct dirent *entry; folder && good && (entry = readdir(folder));) {
		if (!process_of(parts, entry->d_name))
			continue;
		char *name = strdup(entry->d_name);
		good = name && tw_grow(&logs->names, &logs->room, logs->count + 1, sizeof *logs->names);
		if (good)
			logs->names[logs->count++] = name;
		else
			free(name);
	}
	if (folder)
		closedir(folder);
	if (logs->count)
		qsort(logs->names, logs->count, sizeof *logs->names, compare_names);
	return good;
}

static void free_logs(struct tw_part_names *logs)
{
	for (size_t i = 0; i < logs->count; i++)
		free(logs->names[i]);
	free(logs->names);
}

/* What a recorder left that was killed is not of this run: no recorder writes into a file that is there. */
static bool is_older(const struct tw_parts *parts, const char *name)
{
	const struct tw_part_names *older = &parts->older;
	return older->count && bsearch(&name, older->names, older->count, sizeof *older->names, compare_names);
}

/* ---- All. ---- */

/* Before a program runs for nothing. */
static bool can_be_made(const struct tw_parts *parts)
{
	char path[TW_PART_ROOM];
	snprintf(path, sizeof path, "%s/%s.%ld.part", parts->folder, parts->name, (long)getpid());
	const int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (file < 0)
		return errno == EEXIST;
	close(file);
	return unlink(path) == 0;
}

int tw_parts_begin(struct tw_parts *parts, const char *output)
{
	if (!take_output(parts, output))
		return tw_say_error("%s: %s", output, strerror(errno));
	if (!can_be_made(parts))
		return tw_say_error("%s: no log can be made beside it: %s", output, strerror(errno));
	return list_logs(parts, &parts->older) ? 0 : tw_say_error("out of memory");
}

/* The program may have put something else there, which would be waited for, or be another's. */
static bool is_log(const char *part)
{
	struct stat what;
	return lstat(part, &what) == 0 && S_ISREG(what.st_mode);
}

int tw_parts_finish(struct tw_parts *parts, pid_t program,
                    int (*finish)(void *context, const char *part, unsigned long pid), void *context)
{
	struct tw_part_names logs = {0};
	char part[TW_PART_ROOM];
	parts->pid = program;
	int status = list_logs(parts, &logs) ? 0 : tw_say_error("out of memory");
	for (int own = 1; own >= 0; own--)
		for (size_t i = 0; i < logs.count; i++) {
			const unsigned long pid = process_of(parts, logs.names[i]);
			if ((pid == (unsigned long)program) != own || is_older(parts, logs.names[i]))
				continue;
			snprintf(part, sizeof part, "%s/%s", parts->folder, logs.names[i]);
			status = tw_worse(status, is_log(part) ? finish(context, part, pid)
			                                       : tw_say_error("%s: is no file: left alone", part));
		}
	free_logs(&logs);
	return status;
}

void tw_parts_say_older(const struct tw_parts *parts)
{
	for (size_t i = 0; i < parts->older.count; i++)
		tw_say("%s/%s: of an earlier run that was not ended; every command reads it", parts->folder,
		       parts->older.names[i]);
}

void tw_parts_end(struct tw_parts *parts)
{
	free_logs(&parts->older);
}
