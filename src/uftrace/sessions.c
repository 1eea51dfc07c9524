/* sessions.c - what processes executed, and which libraries they opened, by time. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory/memory.h"
#include "base/memory/order.h"
#include "uftrace/uftrace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LIBRARIES_MOST = 1 << 12 };

static bool note_last(struct uftrace_symbols *symbols, const char *id, uint32_t number)
{
	uint64_t key = strtoull(id, NULL, 16);
	uint32_t *stored = tw_map_stored(&symbols->last_sessions, key);
	if (stored)
		*stored = number + 1;
	return stored || tw_map_add(&symbols->last_sessions, key, number);
}

bool uftrace_add_session(struct uftrace_symbols *symbols, const char *id, uint64_t process, uint64_t time)
{
	if (!tw_grow(&symbols->sessions, &symbols->session_room, symbols->session_count + 1,
	             sizeof *symbols->sessions) ||
	    !note_last(symbols, id, (uint32_t)symbols->session_count)) {
		symbols->failed = true;
		return false;
	}
	struct uftrace_session *session = &symbols->sessions[symbols->session_count++];
	*session = (struct uftrace_session){.process = process, .time = time, .under = UINT32_MAX};
	(void)snprintf(session->id, sizeof session->id, "%s", id);
	return true;
}

/* What lies where a library is, the one that was opened last. */
static bool is_there(const struct uftrace_symbols *symbols, uint32_t number, uint64_t base, uint32_t module)
{
	const struct uftrace_session *session = &symbols->sessions[number];
	for (; session->under != UINT32_MAX; session = &symbols->sessions[session->under])
		if (session->base == base)
			return session->module == module;
	return false;
}

bool uftrace_add_library(struct tw_reader *reader, const char *id, uint64_t time, uint64_t base, const char *path)
{
	struct uftrace_symbols *symbols = &uftrace_of(reader)->symbols;
	uint32_t under;
	if (!tw_map_find(&symbols->last_sessions, strtoull(id, NULL, 16), &under) ||
	    symbols->sessions[under].libraries == LIBRARIES_MOST ||
	    !uftrace_fits(reader, sizeof *symbols->sessions + strlen(path)))
		return false;
	uint32_t module = uftrace_module_of(symbols, path);
	if (module == UINT32_MAX) {
		symbols->failed = true;
		return false;
	}
	if (is_there(symbols, under, base, module))
		return true;
	if (!uftrace_add_session(symbols, id, symbols->sessions[under].process, time))
		return false;
	struct uftrace_session *session = &symbols->sessions[symbols->session_count - 1];
	session->under = under;
	session->base = base;
	session->module = module;
	session->libraries = symbols->sessions[under].libraries + 1;
	return true;
}

/* ---- By time. ---- */

static bool same_group(const struct uftrace_begin *a, const struct uftrace_begin *b)
{
	return a->of_library == b->of_library && a->group == b->group;
}

static int by_group_and_time(const void *left, const void *right)
{
	const struct uftrace_begin *a = left, *b = right;
	int order = (a->of_library > b->of_library) - (a->of_library < b->of_library);
	order = order ? order : tw_compare(a->group, b->group);
	order = order ? order : tw_compare(a->time, b->time);
	return order ? order : tw_compare(a->session, b->session);
}

/* Lines of task.txt are written by several threads, a little out of order: of those that begin up to a time the last
 * line counts, under which the libraries of the others are. */
static void take_latest(const struct uftrace_symbols *symbols)
{
	for (size_t i = 1; i < symbols->session_count; i++) {
		const struct uftrace_begin *before = &symbols->begins[i - 1];
		struct uftrace_begin *begin = &symbols->begins[i];
		if (same_group(before, begin) && before->session > begin->session)
			begin->session = before->session;
	}
}

bool uftrace_sort_sessions(struct uftrace_symbols *symbols)
{
	symbols->begins = calloc(symbols->session_count + 1, sizeof *symbols->begins);
	if (!symbols->begins)
		return false;
	for (uint32_t i = 0; i < symbols->session_count; i++) {
		const struct uftrace_session *session = &symbols->sessions[i];
		uint32_t started = i;
		while (symbols->sessions[started].under != UINT32_MAX)
			started = symbols->sessions[started].under;
		bool of_library = started != i;
		symbols->begins[i] = (struct uftrace_begin){.of_library = of_library,
		                                            .group = of_library ? started : session->process,
		                                            .time = session->time,
		                                            .session = i};
	}
	if (symbols->session_count)
		qsort(symbols->begins, symbols->session_count, sizeof *symbols->begins, by_group_and_time);
	take_latest(symbols);
	return true;
}

/* The last of a group that begins at a time or before it; UINT32_MAX where none does. The next one bounds how long that
 * holds. */
static uint32_t last_begun(const struct uftrace_symbols *symbols, const struct uftrace_begin *wanted, uint64_t *until)
{
	size_t count =
	    tw_count_before(symbols->begins, symbols->session_count, sizeof *wanted, wanted, by_group_and_time);
	const struct uftrace_begin *next = symbols->begins + count;
	if (count < symbols->session_count && same_group(next, wanted) && next->time < *until)
		*until = next->time;
	return count && same_group(next - 1, wanted) ? next[-1].session : UINT32_MAX;
}

uint32_t uftrace_session_at(const struct uftrace_symbols *symbols, uint64_t process, uint64_t time, uint64_t *until)
{
	const struct uftrace_begin wanted = {.group = process, .time = time, .session = UINT32_MAX};
	return last_begun(symbols, &wanted, until);
}

uint32_t uftrace_libraries_at(const struct uftrace_symbols *symbols, uint32_t number, uint64_t time, uint64_t *until)
{
	const struct uftrace_begin wanted = {.of_library = true, .group = number, .time = time, .session = UINT32_MAX};
	uint32_t found = last_begun(symbols, &wanted, until);
	return found == UINT32_MAX ? number : found;
}

/* ---- Sessions of tasks. ---- */

static uint64_t earlier(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Parents stand before their children: tasks are sorted by birth. */
void uftrace_inherit_sessions(struct uftrace_reader *uftrace)
{
	for (size_t i = 0; i < uftrace->tasks.count; i++) {
		struct uftrace_task *task = &uftrace->tasks.items[i];
		uint32_t parent;
		if (!task->parent)
			continue;
		task->inherited =
		    uftrace_session_at(&uftrace->symbols, task->parent, task->born, &task->inherited_until);
		if (task->inherited != UINT32_MAX || !tw_map_find(&uftrace->tasks.numbers, task->parent, &parent) ||
		    parent >= i)
			continue;
		const struct uftrace_task *from = &uftrace->tasks.items[parent];
		task->inherited = from->inherited;
		task->inherited_until = earlier(task->inherited_until, from->inherited_until);
	}
}

/* A forked process goes on with what its parent was then, until it executes something else. */
static uint32_t program_of(const struct uftrace_reader *uftrace, const struct uftrace_task *task, uint64_t time,
                           uint64_t *until)
{
	uint32_t found = uftrace_session_at(&uftrace->symbols, task->process, time, until), number;
	if (found != UINT32_MAX || !tw_map_find(&uftrace->tasks.numbers, task->process, &number))
		return found;
	const struct uftrace_task *process = &uftrace->tasks.items[number];
	*until = earlier(*until, process->inherited_until);
	return process->inherited;
}

uint32_t uftrace_session_of(const struct uftrace_reader *uftrace, struct uftrace_task *task, uint64_t time)
{
	const struct uftrace_symbols *symbols = &uftrace->symbols;
	if (time < task->until)
		return task->session;
	task->until = UINT64_MAX;
	task->session = program_of(uftrace, task, time, &task->until);
	if (task->session == UINT32_MAX && task->until < UINT64_MAX) /* the clock of task.txt is a little late */
		task->session = program_of(uftrace, task, task->until, &(uint64_t){UINT64_MAX});
	if (task->session != UINT32_MAX)
		task->session = uftrace_libraries_at(symbols, task->session, time, &task->until);
	return task->session;
}
