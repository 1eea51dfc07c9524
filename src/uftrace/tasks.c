/* tasks.c - who ran: task.txt, the threads that there are records of, and the files of perf. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/bytes/bytes.h"
#include "base/memory/memory.h"
#include "base/memory/order.h"
#include "base/text/scan.h"
#include "uftrace/uftrace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TASKS_MOST = 1 << 20, SESSIONS_MOST = 1 << 16, NS_A_SECOND = 1000000000 };

/* Of a thread, also behind the reader: its track and what a target makes of it. */
enum { TASK_BYTES = 1024 };

/* Tells that there is no room, once. */
static void report_limit(struct tw_reader *reader, enum uftrace_rule rule, bool *reported)
{
	if (!*reported)
		tw_report(reader, &uftrace_rules[rule], 0, 0, 0, "%s", uftrace_rules[rule].text);
	*reported = true;
}

/* The task of a thread; NULL when there is no room (then `left_out` is set) or no memory. */
static struct uftrace_task *task_of(struct tw_reader *reader, uint64_t thread)
{
	struct uftrace_reader *uftrace = uftrace_of(reader);
	uint32_t number;
	if (tw_map_find(&uftrace->tasks.numbers, thread, &number))
		return &uftrace->tasks.items[number];
	if (uftrace->tasks.count == TASKS_MOST || !uftrace_fits(reader, TASK_BYTES)) {
		report_limit(reader, UFTRACE_THREAD_LIMIT, &uftrace->tasks.left_out);
		return NULL;
	}
	if (!tw_grow(&uftrace->tasks.items, &uftrace->tasks.room, uftrace->tasks.count + 1,
	             sizeof *uftrace->tasks.items) ||
	    !tw_map_add(&uftrace->tasks.numbers, thread, (uint32_t)uftrace->tasks.count)) {
		uftrace->tasks.failed = true;
		return NULL;
	}
	struct uftrace_task *task = &uftrace->tasks.items[uftrace->tasks.count++];
	*task = (struct uftrace_task){.thread = thread, .inherited = UINT32_MAX, .inherited_until = UINT64_MAX};
	return task;
}

/* ---- task.txt: "TASK timestamp=39138.712072702 tid=12150 pid=12150". ---- */

/* Returns what stands behind a word in a line; NULL: the word is not there. */
static const char *after(const char *line, const char *word)
{
	const char *at = strstr(line, word);
	return at ? at + strlen(word) : NULL;
}

static bool read_time(const char *line, uint64_t *time)
{
	uint64_t seconds, ns;
	const char *at = after(line, "timestamp=");
	if (!at || !tw_scan_number(&at, 10, &seconds) || *at++ != '.' || !tw_scan_number(&at, 10, &ns) ||
	    seconds > UINT32_MAX || ns >= NS_A_SECOND)
		return false;
	*time = seconds * NS_A_SECOND + ns;
	return true;
}

static bool read_number(const char *line, const char *word, uint64_t *number)
{
	const char *at = after(line, word);
	return at && tw_scan_number(&at, 10, number);
}

static bool read_id(const char *line, char id[17])
{
	const char *at = after(line, " sid=");
	size_t length = at ? strspn(at, "0123456789abcdef") : 0;
	if (length == 0 || length > 16)
		return false;
	memcpy(id, at, length);
	id[length] = '\0';
	return true;
}

/* 'DLOP timestamp=39138.712 tid=12150 sid=0011 base=7f0000000000 libname="./plugin.so"' */
static bool take_library(struct tw_reader *reader, const char *line, uint64_t time)
{
	char id[17];
	uint64_t base;
	const char *at = after(line, " base="), *path = after(line, " libname=\"");
	const char *end = path ? strrchr(path, '"') : NULL;
	if (!at || !tw_scan_number(&at, 16, &base) || !end || !read_id(line, id) ||
	    uftrace_of(reader)->symbols.session_count == SESSIONS_MOST)
		return false;
	char *copy = strndup(path, (size_t)(end - path));
	uftrace_of(reader)->tasks.failed |= !copy;
	bool fine = copy && uftrace_add_library(reader, id, time, base, copy);
	free(copy);
	return fine;
}

/* 'SESS timestamp=39138.712 pid=12150 sid=0011 exename="/usr/bin/ls"' */
static bool take_session(struct tw_reader *reader, const char *line, uint64_t process, uint64_t time)
{
	enum { NAME_MOST = 15 }; /* of a thread, as the kernel and uftrace keep it */
	struct uftrace_symbols *symbols = &uftrace_of(reader)->symbols;
	char id[17], name[NAME_MOST + 1];
	if (!read_id(line, id) || symbols->session_count == SESSIONS_MOST ||
	    !uftrace_add_session(symbols, id, process, time))
		return false;
	const char *path = after(line, " exename=\""), *end = path ? strrchr(path, '"') : NULL;
	if (!end || end == path)
		return true;
	const char *slash = memrchr(path, '/', (size_t)(end - path));
	path = slash ? slash + 1 : path;
	(void)snprintf(name, sizeof name, "%.*s", (int)(end - path < NAME_MOST ? end - path : NAME_MOST), path);
	uint32_t number = uftrace_fits(reader, sizeof name) ? tw_dictionary_text(reader->dictionary, name) : 0;
	uftrace_of(reader)->tasks.failed |= number == UINT32_MAX;
	symbols->sessions[symbols->session_count - 1].program = number == UINT32_MAX ? 0 : number;
	return true;
}

static bool take_task_line(void *context, char *line)
{
	struct tw_reader *reader = context;
	uint64_t time, thread, process;
	if (!read_time(line, &time))
		return false;
	if (strncmp(line, "DLOP ", 5) == 0)
		return take_library(reader, line, time);
	if (!read_number(line, " pid=", &process))
		return false;
	if (strncmp(line, "SESS ", 5) == 0)
		return take_session(reader, line, process, time);
	if (strncmp(line, "FORK ", 5) == 0)
		thread = process;
	else if (strncmp(line, "TASK ", 5) != 0 || !read_number(line, " tid=", &thread))
		return false;
	struct uftrace_task *task = task_of(reader, thread);
	if (!task)
		return uftrace_of(reader)->tasks.left_out;
	task->process = process;
	task->born = task->born && task->born < time ? task->born : time;
	return strncmp(line, "FORK ", 5) != 0 || read_number(line, " ppid=", &task->parent);
}

/* ---- events.txt: "EVENT: 1000001 provider:name". ---- */

static bool take_event_line(void *context, char *line)
{
	struct tw_reader *reader = context;
	uint64_t number;
	uint32_t there;
	const char *at = strncmp(line, "EVENT: ", 7) == 0 ? line + 7 : "";
	if (!tw_scan_number(&at, 10, &number) || *at++ != ' ' || !*at)
		return false;
	if (!uftrace_fits(reader, UFTRACE_NAME_BYTES + strlen(at))) {
		report_limit(reader, UFTRACE_NAME_LIMIT, &uftrace_of(reader)->tasks.reported_events);
		return true;
	}
	uint32_t name = tw_dictionary_text(reader->dictionary, at);
	if (name == UINT32_MAX || (!tw_map_find(&uftrace_of(reader)->tasks.event_names, number, &there) &&
	                           !tw_map_add(&uftrace_of(reader)->tasks.event_names, number, name)))
		uftrace_of(reader)->tasks.failed = true;
	return true;
}

/* ---- The directory. ---- */

/* "12150.dat" */
static int take_data_file(struct tw_reader *reader, const char *name)
{
	char *end;
	if (name[0] < '0' || name[0] > '9')
		return 0;
	uint64_t thread = strtoull(name, &end, 10);
	const int readable = strcmp(end, ".dat") == 0 ? uftrace_can_read(reader, name) : 0;
	if (readable <= 0)
		return readable;
	struct uftrace_task *task = task_of(reader, thread);
	if (!task)
		return uftrace_of(reader)->tasks.left_out ? 0 : tw_fail_memory(reader);
	free(task->file);
	task->file = uftrace_path(reader->path, name);
	return task->file ? 0 : tw_fail_memory(reader);
}

/* "perf-cpu0.dat" */
static int take_cpu_file(struct tw_reader *reader, const char *name, const char *beginning)
{
	const bool is = strncmp(name, beginning, strlen(beginning)) == 0;
	const int readable = is ? uftrace_can_read(reader, name) : 0;
	return readable > 0 ? uftrace_add_cpu(reader, name) : readable;
}

static int take_perf_file(struct tw_reader *reader, const char *name)
{
	return take_cpu_file(reader, name, "perf-cpu");
}

static int take_kernel_file(struct tw_reader *reader, const char *name)
{
	return take_cpu_file(reader, name, "kernel-cpu");
}

/* What the kernel did for a thread stands in the files of all CPUs: only together are they in order. */
static int read_kernel(struct tw_reader *reader)
{
	struct uftrace_reader *uftrace = uftrace_of(reader);
	size_t before = uftrace->cpus.count;
	int status = uftrace_read_kernel_header(reader);
	if (status < 0)
		return status;
	status = uftrace_list(reader, take_kernel_file);
	if (status < 0 || uftrace->cpus.count == before)
		return status;
	reader->options.order = TW_ORDER_TIME;
	uftrace->kernel.category = tw_dictionary_text(reader->dictionary, "kernel");
	if (uftrace->kernel.category == UINT32_MAX)
		return tw_fail_memory(reader);
	if (uftrace->kernel.known)
		return 0;
	tw_report(
	    reader, &uftrace_rules[UFTRACE_NOT_READ], 0, 0, 0, "%s",
	    "The file kernel_header is missing, or does not tell how 64-bit little endian pages are laid out: what "
	    "was recorded of the kernel is left out.");
	for (; uftrace->cpus.count > before; uftrace->cpus.count--)
		free(uftrace->cpus.items[uftrace->cpus.count - 1].file);
	return 0;
}

static int by_birth(const void *a, const void *b)
{
	const struct uftrace_task *first = a, *second = b;
	int order = tw_compare(first->born, second->born);
	return order ? order : tw_compare(first->thread, second->thread);
}

/* Of a thread that perf does not name: that of the program which it began in, as uftrace calls it. */
static uint32_t name_of_program(const struct uftrace_reader *uftrace, const struct uftrace_task *task)
{
	const struct uftrace_session *sessions = uftrace->symbols.sessions;
	struct uftrace_task looked_up = *task; /* what is looked up is kept, and times only grow */
	uint32_t number = task->born ? uftrace_session_of(uftrace, &looked_up, task->born) : UINT32_MAX;
	while (number != UINT32_MAX && sessions[number].under != UINT32_MAX)
		number = sessions[number].under;
	return number == UINT32_MAX ? 0 : sessions[number].program;
}

static int add_tracks(struct tw_reader *reader)
{
	struct uftrace_reader *uftrace = uftrace_of(reader);
	uftrace_inherit_sessions(uftrace);
	for (size_t i = 0; i < uftrace->tasks.count; i++) {
		struct uftrace_task *task = &uftrace->tasks.items[i];
		const struct tw_track track = {.process = task->process,
		                               .thread = task->thread,
		                               .kind = TW_TRACK_THREAD};
		task->shown = tw_track_wanted(&reader->options, &track);
		task->track = tw_dictionary_add_track(reader->dictionary, &track);
		if (task->track == UINT32_MAX)
			return tw_fail_memory(reader);
		task->name = task->name ? task->name : name_of_program(uftrace, task);
		if (task->name)
			tw_dictionary_name_track(reader->dictionary, task->track, task->name);
	}
	if (uftrace->cpus.count && !uftrace->cpus.items[0].kernel)
		uftrace->cpus.nobody =
		    tw_dictionary_add_track(reader->dictionary, &(struct tw_track){.kind = TW_TRACK_THREAD});
	return uftrace->cpus.nobody == UINT32_MAX ? tw_fail_memory(reader) : 0;
}

static int by_number(const void *a, const void *b)
{
	const struct uftrace_cpu *first = a, *second = b;
	if (first->kernel != second->kernel)
		return first->kernel - second->kernel;
	return tw_compare(first->number, second->number);
}

/* Sorts the files of CPUs by their numbers: a directory has no order. */
static void sort_cpus(struct uftrace_reader *uftrace)
{
	if (uftrace->cpus.count)
		qsort(uftrace->cpus.items, uftrace->cpus.count, sizeof *uftrace->cpus.items, by_number);
}

static void sort_tasks(struct uftrace_reader *uftrace)
{
	if (uftrace->tasks.count)
		qsort(uftrace->tasks.items, uftrace->tasks.count, sizeof *uftrace->tasks.items, by_birth);
	for (size_t i = 0; i < uftrace->tasks.count; i++)
		*tw_map_stored(&uftrace->tasks.numbers, uftrace->tasks.items[i].thread) = (uint32_t)i + 1;
}

/* The clock begins with the earliest record of all threads, of those that are left out, too. */
static int find_start(struct tw_reader *reader)
{
	struct uftrace_reader *uftrace = uftrace_of(reader);
	bool quiet = reader->reports.quiet;
	int status = 0;
	reader->reports.quiet = true;
	reader->clock.start_ns = UINT64_MAX;
	for (size_t i = 0; i < uftrace->tasks.count && status >= 0; i++) {
		struct uftrace_cursor cursor;
		struct uftrace_record record;
		if (!uftrace->tasks.items[i].file)
			continue;
		status = uftrace_cursor_open(&cursor, reader, uftrace->tasks.items[i].file);
		do
			status = status < 0 ? status : uftrace_cursor_next(&cursor, &record);
		while (status > 0 && (record.type == UFTRACE_GAP || record.type == UFTRACE_LOSS));
		if (status > 0 && record.time < reader->clock.start_ns)
			reader->clock.start_ns = record.time;
		uftrace_cursor_close(&cursor);
	}
	reader->reports.quiet = quiet;
	reader->clock.start_ns = reader->clock.start_ns == UINT64_MAX ? 0 : reader->clock.start_ns;
	return status;
}

int uftrace_read_tasks(struct tw_reader *reader)
{
	bool tasks, events;
	int status = uftrace_read_lines(reader, "task.txt", take_task_line, reader, &tasks);
	if (status >= 0 && !uftrace_sort_sessions(&uftrace_of(reader)->symbols))
		return tw_fail_memory(reader);
	if (status >= 0)
		status = uftrace_list(reader, take_data_file);
	if (status >= 0)
		status = uftrace_read_lines(reader, "events.txt", take_event_line, reader, &events);
	if (status >= 0)
		status = uftrace_list(reader, take_perf_file);
	if (status >= 0)
		status = read_kernel(reader);
	sort_cpus(uftrace_of(reader));
	if (status >= 0)
		status = uftrace_read_names(reader);
	if (status < 0)
		return status;
	if (!tasks || !uftrace_of(reader)->symbols.session_count)
		tw_report(reader, &uftrace_rules[UFTRACE_NO_TASKS], 0, 0, 0, "%s",
		          uftrace_rules[UFTRACE_NO_TASKS].text);
	sort_tasks(uftrace_of(reader));
	status = add_tracks(reader);
	return status < 0 ? status : find_start(reader);
}
