/* dependencies.c - which lines of a log the lines behind them depend on.
 *
 * Lines that are needed in any case tell what there is: settings, threads, names, compilations, collections. The rest
 * is samples, usages, allocations and tables of the heap, most of a log, which depend on few of those before them:
 * - The stack of a thread is made by the samples whose frames are still in it.
 * - The time that a sample stands for counts from the thread's last one.
 * - A usage counts from the last one, and is shared over all samples since, each with its stack; and a negative usage
 *   holds until it is taken back.
 * - Classes that are gone from the heap are those of the last table. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tracelog/jobs/dependencies.h"

#include "base/memory/memory.h"
#include "base/memory/order.h"

#include <stdlib.h>

#define HALF_A_DAY (UINT64_C(12) * 3600 * 1000000000) /* times that are further apart are read by those between */

enum { SINCE_MOST = 1024 /* samples that share a usage: beyond, the oldest give way */ };

struct needed_line {
	uint64_t offset, size;
	size_t low; /* of a sample: the lowest frame that it makes */
	bool moved; /* the sample moves that frame to another instruction, and changes no other */
};

struct line_list {
	struct needed_line *items;
	size_t count, room;
};

/* What there is of a thread. */
struct thread_lines {
	struct line_list stack;     /* samples that the stack was made of at the last usage */
	struct line_list since;     /* all samples since */
	struct line_list usages;    /* the last, and those before it since there was no debt */
	struct needed_line sampled; /* the last sample that had a count, size 0: none */
	bool destroyed;
};

enum what { NEEDED, SAMPLE, USAGE, HEAP, PASSING };

struct tracelog_dependencies {
	struct tw_state_outline *to;
	struct thread_lines *owners; /* by the thread's place */
	size_t owner_count, owner_room;
	struct needed_line heap;
	uint64_t place; /* offset of the last */
	struct tw_piece *pieces;
	size_t piece_count, piece_room;
	size_t objects;                       /* before the line */
	bool stopped, unsupported, no_memory; /* stopped: by who takes it */
	/* The line. */
	enum what what;
	size_t owner;
	struct needed_line line;
	bool counts, waits, in_debt;
};

struct tracelog_dependencies *tracelog_dependencies_new(struct tw_state_outline *to)
{
	struct tracelog_dependencies *deps = calloc(1, sizeof *deps);
	if (deps)
		deps->to = to;
	return deps;
}

void tracelog_dependencies_free(struct tracelog_dependencies *deps)
{
	if (!deps)
		return;
	for (size_t i = 0; i < deps->owner_count; i++) {
		free(deps->owners[i].stack.items);
		free(deps->owners[i].since.items);
		free(deps->owners[i].usages.items);
	}
	free(deps->owners);
	free(deps->pieces);
	free(deps);
}

/* ---- What the line is. ---- */

static void set(struct tracelog_log *log, const struct tracelog_thread *thread, enum what what)
{
	struct tracelog_dependencies *deps = log->dependencies;
	size_t place = (size_t)(thread - log->threads.items);
	deps->what = what;
	deps->owner = place;
	if (!tw_grow(&deps->owners, &deps->owner_room, place + 1, sizeof *deps->owners)) {
		deps->no_memory = true;
		deps->what = NEEDED;
		return;
	}
	deps->owner_count = place >= deps->owner_count ? place + 1 : deps->owner_count;
	deps->unsupported |= thread->other || deps->owners[place].destroyed;
}

void tracelog_depend_sample(struct tracelog_log *log, const struct tracelog_thread *thread,
                            const struct tracelog_sample *sample, size_t low)
{
	struct tracelog_dependencies *deps = log->dependencies;
	const struct tracelog_setting_value *usages = &log->settings[TRACELOG_CPU_OF_THREADS];
	const struct tracelog_setting_value *method = &log->settings[TRACELOG_METHOD];
	set(log, thread, SAMPLE);
	deps->line.moved = sample->has_ip && low > 0;
	deps->line.low = low - deps->line.moved;
	deps->counts = !sample->has_count || sample->count;
	deps->waits = !usages->is_set || usages->value;
	/* Such a sample is of the stack that was there before. */
	deps->unsupported |= method->is_set && method->value == TRACELOG_INSTRUMENTATION;
}

void tracelog_depend_usage(struct tracelog_log *log, const struct tracelog_thread *thread)
{
	const struct tracelog_setting_value *usages = &log->settings[TRACELOG_CPU_OF_THREADS];
	bool process = thread == tracelog_process_thread(log);
	set(log, thread, USAGE);
	log->dependencies->in_debt = thread->cpu.debt_us > 0;
	log->dependencies->unsupported |= !process && usages->is_set && !usages->value;
}

void tracelog_depend_heap(struct tracelog_log *log)
{
	log->dependencies->what = HEAP;
}

void tracelog_depend_passing(struct tracelog_log *log, const struct tracelog_thread *thread)
{
	set(log, thread, PASSING);
}

static void forget(struct thread_lines *owner)
{
	owner->stack.count = owner->since.count = owner->usages.count = 0;
	owner->sampled = (struct needed_line){0};
}

void tracelog_depend_destroyed(struct tracelog_log *log, const struct tracelog_thread *thread)
{
	struct tracelog_dependencies *deps = log->dependencies;
	set(log, thread, NEEDED);
	if (deps->no_memory)
		return;
	forget(&deps->owners[deps->owner]);
	deps->owners[deps->owner].destroyed = true;
}

/* A line that gives numbers to objects may be of a session that was not read. */
void tracelog_depend_session(struct tracelog_log *log)
{
	log->dependencies->unsupported = true;
}

/* ---- What stays of it. ---- */

static void append(struct tracelog_dependencies *deps, struct line_list *lines, const struct needed_line *line)
{
	if (tw_grow(&lines->items, &lines->room, lines->count + 1, sizeof *line))
		lines->items[lines->count++] = *line;
	else
		deps->no_memory = true;
}

/* Takes a sample onto the stack: those before it go whose frames are all gone. */
static void push(struct tracelog_dependencies *deps, struct line_list *stack, const struct needed_line *line)
{
	size_t stay = line->low + line->moved;
	while (stack->count) {
		const struct needed_line *top = &stack->items[stack->count - 1];
		bool moved_again = top->moved && line->moved && top->low == line->low;
		if (top->low < stay && !moved_again)
			break;
		stack->count--;
	}
	append(deps, stack, line);
}

static void push_all(struct tracelog_dependencies *deps, struct thread_lines *owner)
{
	for (size_t i = 0; i < owner->since.count; i++)
		push(deps, &owner->stack, &owner->since.items[i]);
	owner->since.count = 0;
}

static void keep(struct tracelog_dependencies *deps)
{
	if (deps->what == HEAP) {
		deps->heap = deps->line;
		return;
	}
	struct thread_lines *owner = &deps->owners[deps->owner];
	if (deps->what == SAMPLE && deps->counts)
		owner->sampled = deps->line;
	if (deps->what == SAMPLE)
		append(deps, &owner->since, &deps->line);
	if ((deps->what == SAMPLE && !deps->waits) || deps->what == USAGE)
		push_all(deps, owner);
	deps->unsupported |= deps->what == SAMPLE && owner->since.count > SINCE_MOST;
	if (deps->what == USAGE && (!deps->in_debt || owner->usages.count == 0))
		owner->usages.count = 0;
	if (deps->what == USAGE)
		append(deps, &owner->usages, &deps->line);
}

/* ---- Places. ---- */

static void add_line(struct tracelog_dependencies *deps, const struct needed_line *line)
{
	if (!line->size)
		return;
	if (tw_grow(&deps->pieces, &deps->piece_room, deps->piece_count + 1, sizeof *deps->pieces))
		deps->pieces[deps->piece_count++] = (struct tw_piece){.offset = line->offset, .size = line->size};
	else
		deps->no_memory = true;
}

static void add_lines(struct tracelog_dependencies *deps, const struct line_list *lines)
{
	for (size_t i = 0; i < lines->count; i++)
		add_line(deps, &lines->items[i]);
}

static int compare(const void *left, const void *right)
{
	const struct tw_piece *a = left, *b = right;
	return tw_compare(a->offset, b->offset);
}

/* Puts the lines in order, each once, and joins those side by side. */
static void put_in_order(struct tracelog_dependencies *deps)
{
	size_t kept = 0;
	if (deps->piece_count)
		qsort(deps->pieces, deps->piece_count, sizeof *deps->pieces, compare);
	for (size_t i = 0; i < deps->piece_count; i++) {
		struct tw_piece *last = kept ? &deps->pieces[kept - 1] : NULL, *piece = &deps->pieces[i];
		if (last && piece->offset == last->offset)
			continue;
		if (last && piece->offset == last->offset + last->size)
			last->size += piece->size;
		else
			deps->pieces[kept++] = *piece;
	}
	deps->piece_count = kept;
}

static void put_place(struct tracelog_dependencies *deps, uint64_t offset)
{
	deps->place = offset;
	deps->piece_count = 0;
	for (size_t i = 0; i < deps->owner_count; i++) {
		add_lines(deps, &deps->owners[i].stack);
		add_lines(deps, &deps->owners[i].since);
		add_lines(deps, &deps->owners[i].usages);
		add_line(deps, &deps->owners[i].sampled);
	}
	add_line(deps, &deps->heap);
	put_in_order(deps);
	if (!deps->to->place(deps->to->context, offset, deps->pieces, deps->piece_count))
		deps->stopped = true;
}

/* How many objects the log has spoken of. A line that is the first to do so is needed: it gives them their numbers. */
static size_t count_objects(const struct tracelog_log *log)
{
	size_t count = 0;
	for (unsigned kind = 0; kind < TRACELOG_OBJECT_KINDS; kind++)
		count += log->objects[kind].count;
	return count;
}

void tracelog_depend_line(struct tracelog_log *log, uint64_t size)
{
	struct tracelog_dependencies *deps = log->dependencies;
	size_t objects = count_objects(log);
	bool needed = deps->what == NEEDED || objects != deps->objects;
	deps->line.offset = log->line.at.offset;
	deps->line.size = size;
	if (deps->what != NEEDED)
		keep(deps);
	deps->objects = objects;
	deps->what = NEEDED;
	if (deps->stopped || deps->unsupported || deps->no_memory)
		return;
	if (!deps->to->put(deps->to->context, log->line.at.offset, size, needed))
		deps->stopped = true;
	else if (log->line.at.offset + size - deps->place >= deps->to->interval)
		put_place(deps, log->line.at.offset + size);
}

void tracelog_depend_end(struct tracelog_log *log)
{
	const struct tracelog_dependencies *deps = log->dependencies;
	bool beyond = log->memory.reported || log->stacks.reported || log->times.latest > HALF_A_DAY;
	deps->to->complete = !deps->stopped && !deps->no_memory && !deps->unsupported && !beyond;
}
