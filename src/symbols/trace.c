/* trace.c - the programs that a trace tells of itself. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory/memory.h"
#include "core/text/function_name.h"
#include "symbols/program.h"
#include "symbols/tool.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_standard_input(const char *path)
{
	return strcmp(path, "-") == 0;
}

/* A pipe would lose its first bytes. */
static bool is_regular(const char *path)
{
	struct stat what;
	const int failed = is_standard_input(path) ? fstat(STDIN_FILENO, &what) : stat(path, &what);
	return failed == 0 && S_ISREG(what.st_mode);
}

/* As tw_recorded_list(); standard input is read again from where it was. */
static int list_recorded(const char *path, uint64_t offset, char **list)
{
	const off_t at = is_standard_input(path) ? lseek(STDIN_FILENO, 0, SEEK_CUR) : -1;
	const int status = tw_recorded_list(path, offset, list);
	if (at >= 0)
		lseek(STDIN_FILENO, at, SEEK_SET);
	return status;
}

/* ---- Logs: the functions of each have numbers, which mean others in the log of another program. ---- */

struct symbol_log {
	char *path;
	uint64_t offset;
	char *list;                 /* what it says; NULL: nothing */
	struct tw_symbols *symbols; /* of its own; NULL: those of the handle, or of an earlier log */
	struct tw_namer namer;
};

struct logs {
	struct tw_log_programs programs;
	struct tw_symbols *symbols; /* the handle */
	struct tw_namers namers;    /* in place of its namer */
	struct tw_namer plain;      /* that, without what logs tell, */
	struct tw_namer first;      /* and with what the first that tells does */
	bool some, several;         /* logs tell of programs, and of other ones */
	bool later;                 /* each has symbols of its own, once it is met as one of several in a file */
	struct symbol_log **items;
	size_t count, room, namer_room;
	pthread_mutex_t lock; /* around all but the first four, and `later` */
	void (*missing)(int count, const char *error);
};

static void free_log(struct symbol_log *log)
{
	tw_symbols_close(log->symbols);
	free(log->path);
	free(log->list);
	free(log);
}

static void close_logs(struct tw_log_programs *programs)
{
	struct logs *logs = (struct logs *)programs;
	for (size_t i = 0; i < logs->count; i++)
		free_log(logs->items[i]);
	pthread_mutex_destroy(&logs->lock);
	free(logs->items);
	free(logs->namers.items);
	free(logs);
}

static struct symbol_log *find_log(const struct logs *logs, const char *path, uint64_t offset)
{
	for (size_t i = 0; i < logs->count; i++)
		if (logs->items[i]->offset == offset && strcmp(logs->items[i]->path, path) == 0)
			return logs->items[i];
	return NULL;
}

static const struct symbol_log *find_list(const struct logs *logs, const char *list)
{
	for (size_t i = 0; list && i < logs->count; i++)
		if (logs->items[i]->list && strcmp(logs->items[i]->list, list) == 0)
			return logs->items[i];
	return NULL;
}

/* The functions of the programs that a log tells of. Returns how many could not be read, or a negative status. */
static int name_log(struct logs *logs, struct symbol_log *log)
{
	const struct symbol_log *same = find_list(logs, log->list);
	log->namer = same ? same->namer : logs->plain;
	if (same || !log->list)
		return 0;
	if (!logs->some && !log->offset && !logs->later) {
		/* adding them gives the handle their namer */
		logs->symbols->namer = logs->plain;
		const int missing = tw_symbols_add_recorded(logs->symbols, log->list);
		logs->first = log->namer = logs->symbols->namer;
		logs->some = true;
		return missing;
	}
	logs->several |= !log->offset;
	if (tw_symbols_new(&log->symbols) < 0)
		return TW_ERR_MEMORY;
	log->symbols->mangled = logs->symbols->mangled;
	const int missing = tw_symbols_add_recorded(log->symbols, log->list);
	log->namer = log->symbols->namer;
	if (missing)
		snprintf(logs->symbols->error, sizeof logs->symbols->error, "%s", tw_symbols_error(log->symbols));
	return missing;
}

/* Adds the log at an offset of a file. Returns how many programs could not be read, or a negative status. */
static int add_log(struct logs *logs, const char *path, uint64_t offset)
{
	struct symbol_log *log = calloc(1, sizeof *log);
	int status =
	    log && tw_grow(&logs->items, &logs->room, logs->count + 1, sizeof(struct symbol_log *)) ? 0 : TW_ERR_MEMORY;
	if (status == 0)
		status = (log->path = strdup(path)) ? list_recorded(path, offset, &log->list) : TW_ERR_MEMORY;
	if (log)
		log->offset = offset;
	if (status == 0)
		status = name_log(logs, log);
	if (status < 0) {
		if (log)
			free_log(log);
		return status;
	}
	logs->items[logs->count++] = log;
	return status;
}

/* That of a log which is met as a file is read. */
static const struct tw_namer *name_met(void *context, const char *path, uint64_t offset)
{
	struct logs *logs = context;
	if (!is_regular(path))
		return &logs->plain;
	pthread_mutex_lock(&logs->lock);
	int missing = find_log(logs, path, offset) ? 0 : add_log(logs, path, offset);
	if (missing && logs->missing)
		logs->missing(missing, missing < 0 ? tw_status_text(missing) : tw_symbols_error(logs->symbols));
	const struct symbol_log *log = find_log(logs, path, offset);
	pthread_mutex_unlock(&logs->lock);
	return log ? &log->namer : NULL;
}

/* Gives the handle the namers of all logs. Traces that were not added have the names of the one program there is. */
static bool give_namers(struct logs *logs)
{
	struct tw_namers *namers = &logs->namers;
	if (!tw_grow(&namers->items, &logs->namer_room, logs->count, sizeof *namers->items))
		return false;
	namers->count = 0;
	for (size_t i = 0; i < logs->count; i++)
		if (!logs->items[i]->offset)
			namers->items[namers->count++] =
			    (struct tw_own_namer){.path = logs->items[i]->path, .namer = &logs->items[i]->namer};
	namers->others = logs->several || !logs->some ? &logs->plain : &logs->first;
	namers->log = name_met;
	namers->context = logs;
	tw_namers_ready(namers);
	logs->symbols->namer = namers->namer;
	return true;
}

static struct logs *logs_of(struct tw_symbols *symbols)
{
	struct logs *logs = symbols->log_programs ? (struct logs *)symbols->log_programs : calloc(1, sizeof *logs);
	if (!logs || symbols->log_programs)
		return logs;
	logs->programs.close = close_logs;
	logs->symbols = symbols;
	logs->plain = symbols->namer;
	pthread_mutex_init(&logs->lock, NULL);
	symbols->log_programs = &logs->programs;
	return logs;
}

void tw_symbols_on_missing(struct tw_symbols *symbols, void (*missing)(int count, const char *error))
{
	struct logs *logs = logs_of(symbols);
	if (logs)
		logs->missing = missing;
}

/* The status, with its error where memory ran out. */
static int with_error(struct tw_symbols *symbols, int status)
{
	return status == TW_ERR_MEMORY ? tw_symbols_fail(symbols, status, "%s", tw_status_text(status)) : status;
}

int tw_symbols_add_log(struct tw_symbols *symbols, const char *path)
{
	struct logs *logs = logs_of(symbols);
	if (!logs)
		return with_error(symbols, TW_ERR_MEMORY);
	int status = !is_regular(path) || find_log(logs, path, 0) ? 0 : add_log(logs, path, 0);
	return with_error(symbols, give_namers(logs) ? status : TW_ERR_MEMORY);
}

int tw_symbols_add_later(struct tw_symbols *symbols)
{
	struct logs *logs = logs_of(symbols);
	if (logs)
		logs->later = true;
	return with_error(symbols, logs && give_namers(logs) ? 0 : TW_ERR_MEMORY);
}

int tw_symbols_add_trace(struct tw_symbols *symbols, const char *path)
{
	char *maps = NULL;
	int status = tw_symbols_add_log(symbols, path);
	if (status == 0)
		status = tw_symbols_list_beside(path, &maps);
	if (status == 0 && maps)
		status = tw_symbols_add_maps(symbols, maps);
	free(maps);
	return with_error(symbols, status);
}
