/* images.c - which files the program's code is of: a list beside the trace, in the form of /proc/PID/maps.
 *
 * The guest's memory is the host's, moved by one distance: so the host's list tells the guest's files, and the code
 * that runs, which of them are its. Libraries that are loaded late are seen when they run. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/images.h"

#include "collect/ranges.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE = PATH_MAX + 128 };

struct mapping {
	uint64_t start, end; /* the host's */
	char access[5], path[PATH_MAX];
	uint64_t offset;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct ranges seen, listed; /* code that was looked for; what is in the list. The guest's */
static bool is_full;               /* when there is no room for more nothing more is looked for */
static uint32_t program;           /* the number of this process's program, from 1: what is executed anew has another */

static char *next_field(char *at)
{
	at += strcspn(at, " ");
	return at + strspn(at, " ");
}

/* "7f0000000000-7f0000001000 r-xp 00000000 fe:01 123    /usr/bin/program" */
static bool next_mapping(FILE *list, struct mapping *mapping)
{
	char line[LINE], *at = line;
	if (!fgets(line, sizeof line, list))
		return false;
	line[strcspn(line, "\n")] = '\0';
	mapping->start = strtoull(at, &at, 16);
	mapping->end = *at == '-' ? strtoull(at + 1, &at, 16) : 0;
	at = next_field(at);
	snprintf(mapping->access, sizeof mapping->access, "%.4s", at);
	at = next_field(at);
	mapping->offset = strtoull(at, &at, 16);
	at = next_field(next_field(next_field(at))); /* behind device and inode */
	snprintf(mapping->path, sizeof mapping->path, "%s", at);
	return true;
}

/* Finds what is mapped at a place of the host. */
static bool find(FILE *list, uint64_t host, struct mapping *mapping)
{
	while (next_mapping(list, mapping))
		if (host >= mapping->start && host < mapping->end)
			return true;
	return false;
}

/* All that is mapped of the file and not yet in the list, where the guest has it, with the program's number for an
 * inode. The host may not execute what the guest may: so code is always put, as such. */
static void put_file(FILE *list, const struct mapping *code, uint64_t distance, FILE *out)
{
	struct mapping one;
	while (next_mapping(list, &one)) {
		bool is_code = one.start == code->start;
		if (one.start < distance || strcmp(one.path, code->path) != 0 ||
		    (!is_code && ranges_hold(&listed, one.start - distance)))
			continue;
		const char *access = is_code ? "r-xp" : one.access;
		is_full |= !ranges_add(&listed, one.start - distance, one.end - distance);
		fprintf(out, "%08" PRIx64 "-%08" PRIx64 " %s %08" PRIx64 " 00:00 %" PRIu32 " %s\n",
		        one.start - distance, one.end - distance, access, one.offset, program, one.path);
	}
}

/* NULL and errno where it cannot be opened. Files are open for a moment only: the guest sees the process's descriptors.
 * A line is written at once: other processes write theirs. */
static FILE *open_list(const struct collect_board *board)
{
	char path[PATH_MAX + TW_XTRACE_NAME_SIZE];
	snprintf(path, sizeof path, "%s/xtrace.%s.maps", board->directory, board->timestamp);
	FILE *out = fopen(path, "ae");
	if (out)
		setvbuf(out, NULL, _IOLBF, LINE);
	return out;
}

/* Returns 0 or errno. */
static int close_list(FILE *out)
{
	bool failed = ferror(out);
	return fclose(out) != 0 || failed ? errno : 0;
}

static void report_error(struct collect_board *board, int error)
{
	int32_t none = 0;
	if (error)
		atomic_compare_exchange_strong(&board->error, &none, error);
}

/* Returns 0 or errno. */
static int put(const struct collect_board *board, FILE *list, const struct mapping *code, uint64_t distance)
{
	FILE *out = open_list(board);
	if (!out)
		return errno;
	rewind(list);
	put_file(list, code, distance, out);
	return close_list(out);
}

static void look(struct collect_board *board, uint64_t pc, uint64_t host)
{
	struct mapping code;
	FILE *list = fopen("/proc/self/maps", "re");
	if (!list)
		return;
	if (find(list, host, &code)) {
		uint64_t distance = host - pc;
		is_full |= !ranges_add(&seen, code.start - distance, code.end - distance);
		report_error(board, code.path[0] == '/' ? put(board, list, &code, distance) : 0);
	}
	if (is_full)
		atomic_store(&board->unlisted, 1);
	fclose(list);
}

void images_see(struct collect_board *board, uint64_t pc, uintptr_t host)
{
	if (host < pc)
		return;
	pthread_mutex_lock(&lock);
	if (!is_full && !ranges_hold(&seen, pc))
		look(board, pc, host);
	pthread_mutex_unlock(&lock);
}

/* ---- Whose they are. ---- */

__attribute__((format(printf, 2, 3))) static void note(struct collect_board *board, const char *format, ...)
{
	va_list arguments;
	FILE *out = open_list(board);
	if (!out) {
		report_error(board, errno);
		return;
	}
	va_start(arguments, format);
	vfprintf(out, format, arguments); // NOLINT(clang-analyzer-valist.*)
	va_end(arguments);
	report_error(board, close_list(out));
}

void images_begin(struct collect_board *board)
{
	program = 1 + atomic_fetch_add(&board->programs, 1);
}

void images_fork(struct collect_board *board)
{
	uint32_t parent = program;
	images_begin(board);
	note(board, "# program %" PRIu32 ": as %" PRIu32 " so far\n", program, parent);
}

void images_thread(struct collect_board *board, uint64_t number)
{
	note(board, "# thread %" PRIu64 ": program %" PRIu32 "\n", number, program);
}
