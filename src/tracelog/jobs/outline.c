/* outline.c - which lines of a log the lines behind them depend on.
 *
 * Lines that are needed in any case tell what there is: settings, threads, names, compilations, collections. The rest
 * is samples, usages, allocations and tables of the heap, most of a log, which depend on few of those before them:
 * - The stack of a thread is made by the samples whose frames are still in it.
 * - The time that a sample stands for counts from the thread's last one.
 * - A usage counts from the last one, and is shared over all samples since, each with its stack; and a negative usage
 *   holds until it is taken back.
 * - Classes that are gone from the heap are those of the last table. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tracelog/jobs/outline.h"

#include "base/memory/memory.h"
#include "base/memory/order.h"

#include <stdlib.h>

#define HALF_A_DAY (UINT64_C(12) * 3600 * 1000000000) /* times that are further apart are read by those between */

enum { SINCE_MOST = 1024 /* samples that share a usage: beyond, the oldest give way */ };

struct line {
	uint64_t offset, size;
	size_t low; /* of a sample: the lowest frame that it makes */
	bool moved; /* and it only moves that to another instruction */
};

struct lines {
	struct line *items;
	size_t count, room;
};

/* What there is of a thread. */
struct owner {
	struct lines stack;  /* samples that the stack was made of at the last usage */
	struct lines since;  /* all samples since */
	struct lines usages; /* the last, and those before it since there was no debt */
	struct line sampled; /* the last sample that had a count, size 0: none */
	bool destroyed;
};

enum what { NEEDED, SAMPLE, USAGE, HEAP, PASSING };

struct tracelog_outline {
	struct tw_state_outline *to;
	struct owner *owners; /* by the thread's place */
	size_t owner_count, owner_room;
	struct line heap;
	uint64_t place; /* offset of the last */
	struct tw_piece *pieces;
	size_t piece_count, piece_room;
	size_t things;                        /* before the line */
	bool stopped, unsupported, no_memory; /* stopped: by who takes it */
	/* The line. */
	enum what what;
	size_t owner;
	struct line line;
	bool counts, waits, in_debt;
};

struct tracelog_outline *tracelog_outline_new(struct tw_state_outline *to)
{
	struct tracelog_outline *outline = calloc(1, sizeof *outline);
	if (outline)
		outline->to = to;
	return outline;
}

void tracelog_outline_free(struct tracelog_outline *outline)
{
	if (!outline)
		return;
	for (size_t i = 0; i < outline->owner_count; i++) {
		free(outline->owners[i].stack.items);
		free(outline->owners[i].since.items);
		free(outline->owners[i].usages.items);
	}
	free(outline->owners);
	free(outline->pieces);
	free(outline);
}

/* ---- What the line is. ---- */

static void set(struct tracelog_log *log, const struct tracelog_thread *thread, enum what what)
{
	struct tracelog_outline *outline = log->outline;
	size_t place = (size_t)(thread - log->threads.threads);
	outline->what = what;
	outline->owner = place;
	if (!tw_grow(&outline->owners, &outline->owner_room, place + 1, sizeof *outline->owners)) {
		outline->no_memory = true;
		outline->what = NEEDED;
		return;
	}
	outline->owner_count = place >= outline->owner_count ? place + 1 : outline->owner_count;
	outline->unsupported |= thread->other || outline->owners[place].destroyed;
}

void tracelog_outline_sample(struct tracelog_log *log, const struct tracelog_thread *thread,
                             const struct tracelog_sample *sample, size_t low)
{
	struct tracelog_outline *outline = log->outline;
	const struct tracelog_setting_value *usages = &log->settings[TRACELOG_CPU_OF_THREADS];
	const struct tracelog_setting_value *method = &log->settings[TRACELOG_METHOD];
	set(log, thread, SAMPLE);
	outline->line.moved = sample->has_ip && low > 0;
	outline->line.low = low - outline->line.moved;
	outline->counts = !sample->has_count || sample->count;
	outline->waits = !usages->told || usages->value;
	/* Such a sample is of the stack that was there before. */
	outline->unsupported |= method->told && method->value == TRACELOG_INSTRUMENTATION;
}

void tracelog_outline_usage(struct tracelog_log *log, const struct tracelog_thread *thread)
{
	const struct tracelog_setting_value *usages = &log->settings[TRACELOG_CPU_OF_THREADS];
	bool process = thread == tracelog_process_thread(log);
	set(log, thread, USAGE);
	log->outline->in_debt = thread->debt_us > 0;
	log->outline->unsupported |= !process && usages->told && !usages->value;
}

void tracelog_outline_heap(struct tracelog_log *log)
{
	log->outline->what = HEAP;
}

void tracelog_outline_passing(struct tracelog_log *log, const struct tracelog_thread *thread)
{
	set(log, thread, PASSING);
}

static void forget(struct owner *owner)
{
	owner->stack.count = owner->since.count = owner->usages.count = 0;
	owner->sampled = (struct line){0};
}

void tracelog_outline_destroyed(struct tracelog_log *log, const struct tracelog_thread *thread)
{
	struct tracelog_outline *outline = log->outline;
	set(log, thread, NEEDED);
	if (outline->no_memory)
		return;
	forget(&outline->owners[outline->owner]);
	outline->owners[outline->owner].destroyed = true;
}

/* ---- What stays of it. ---- */

static void append(struct tracelog_outline *outline, struct lines *lines, const struct line *line)
{
	if (tw_grow(&lines->items, &lines->room, lines->count + 1, sizeof *line))
		lines->items[lines->count++] = *line;
	else
		outline->no_memory = true;
}

/* Takes a sample onto the stack: those before it go whose frames are all gone. */
static void push(struct tracelog_outline *outline, struct lines *stack, const struct line *line)
{
	size_t stay = line->low + line->moved;
	while (stack->count) {
		const struct line *top = &stack->items[stack->count - 1];
		bool moved_again = top->moved && line->moved && top->low == line->low;
		if (top->low < stay && !moved_again)
			break;
		stack->count--;
	}
	append(outline, stack, line);
}

static void push_all(struct tracelog_outline *outline, struct owner *owner)
{
	for (size_t i = 0; i < owner->since.count; i++)
		push(outline, &owner->stack, &owner->since.items[i]);
	owner->since.count = 0;
}

static void keep(struct tracelog_outline *outline)
{
	if (outline->what == HEAP) {
		outline->heap = outline->line;
		return;
	}
	struct owner *owner = &outline->owners[outline->owner];
	if (outline->what == SAMPLE && outline->counts)
		owner->sampled = outline->line;
	if (outline->what == SAMPLE)
		append(outline, &owner->since, &outline->line);
	if ((outline->what == SAMPLE && !outline->waits) || outline->what == USAGE)
		push_all(outline, owner);
	outline->unsupported |= outline->what == SAMPLE && owner->since.count > SINCE_MOST;
	if (outline->what == USAGE && (!outline->in_debt || owner->usages.count == 0))
		owner->usages.count = 0;
	if (outline->what == USAGE)
		append(outline, &owner->usages, &outline->line);
}

/* ---- Places. ---- */

static void add_line(struct tracelog_outline *outline, const struct line *line)
{
	if (!line->size)
		return;
	if (tw_grow(&outline->pieces, &outline->piece_room, outline->piece_count + 1, sizeof *outline->pieces))
		outline->pieces[outline->piece_count++] = (struct tw_piece){.offset = line->offset, .size = line->size};
	else
		outline->no_memory = true;
}

static void add_lines(struct tracelog_outline *outline, const struct lines *lines)
{
	for (size_t i = 0; i < lines->count; i++)
		add_line(outline, &lines->items[i]);
}

static int compare(const void *left, const void *right)
{
	const struct tw_piece *a = left, *b = right;
	return tw_compare(a->offset, b->offset);
}

/* Puts the lines in order, each once, and joins those side by side. */
static void put_in_order(struct tracelog_outline *outline)
{
	size_t kept = 0;
	if (outline->piece_count)
		qsort(outline->pieces, outline->piece_count, sizeof *outline->pieces, compare);
	for (size_t i = 0; i < outline->piece_count; i++) {
		struct tw_piece *last = kept ? &outline->pieces[kept - 1] : NULL, *piece = &outline->pieces[i];
		if (last && piece->offset == last->offset)
			continue;
		if (last && piece->offset == last->offset + last->size)
			last->size += piece->size;
		else
			outline->pieces[kept++] = *piece;
	}
	outline->piece_count = kept;
}

static void put_place(struct tracelog_outline *outline, uint64_t offset)
{
	outline->place = offset;
	outline->piece_count = 0;
	for (size_t i = 0; i < outline->owner_count; i++) {
		add_lines(outline, &outline->owners[i].stack);
		add_lines(outline, &outline->owners[i].since);
		add_lines(outline, &outline->owners[i].usages);
		add_line(outline, &outline->owners[i].sampled);
	}
	add_line(outline, &outline->heap);
	put_in_order(outline);
	if (!outline->to->place(outline->to->context, offset, outline->pieces, outline->piece_count))
		outline->stopped = true;
}

/* How many things the log has spoken of. A line that is the first to do so is needed: it gives them their numbers. */
static size_t count_things(const struct tracelog_log *log)
{
	size_t count = 0;
	for (unsigned kind = 0; kind < TRACELOG_THING_KINDS; kind++)
		count += log->things[kind].count;
	return count;
}

void tracelog_outline_line(struct tracelog_log *log, uint64_t size)
{
	struct tracelog_outline *outline = log->outline;
	size_t things = count_things(log);
	bool needed = outline->what == NEEDED || things != outline->things;
	outline->line.offset = log->at.offset;
	outline->line.size = size;
	if (outline->what != NEEDED)
		keep(outline);
	outline->things = things;
	outline->what = NEEDED;
	if (outline->stopped || outline->unsupported || outline->no_memory)
		return;
	if (!outline->to->put(outline->to->context, log->at.offset, size, needed))
		outline->stopped = true;
	else if (log->at.offset + size - outline->place >= outline->to->interval)
		put_place(outline, log->at.offset + size);
}

void tracelog_outline_end(struct tracelog_log *log)
{
	const struct tracelog_outline *outline = log->outline;
	bool beyond = log->told_tables || log->told_stacks || log->times.latest > HALF_A_DAY;
	outline->to->complete = !outline->stopped && !outline->no_memory && !outline->unsupported && !beyond;
}
