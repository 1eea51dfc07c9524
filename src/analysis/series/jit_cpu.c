/* jit_cpu.c - an estimate of the processor time of compilations, from what their threads used meanwhile. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/series/jit_cpu.h"

#include "base/memory/order.h"
#include "base/memory/sum.h"

#include <stdlib.h>

__extension__ typedef unsigned __int128 u128;

static uint64_t lesser(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t greater(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

bool tw_compiling_add(struct tw_compiling_thread *thread, struct tw_budget *budget, const struct tw_compiling *it)
{
	if (!tw_budget_grow(budget, TW_FOR_STACKS, &thread->parts, &thread->room, thread->count + 1,
	                    sizeof *thread->parts))
		return false;
	thread->parts[thread->count++] = (struct tw_compiling_part){.compiling = *it};
	return true;
}

/* The outermost first. */
static int compare(const void *left, const void *right)
{
	const struct tw_compiling_part *a = left, *b = right;
	int order = tw_compare(a->compiling.begin, b->compiling.begin);
	order = order ? order : tw_compare(b->compiling.end, a->compiling.end);
	return order ? order : tw_compare(a->compiling.offset, b->compiling.offset);
}

static bool holds(const struct tw_compiling *around, const struct tw_compiling *it)
{
	return it->end <= around->end && it->begin < around->end;
}

/* How much of the interval each compilation took itself: together no more than the interval. */
static void divide(struct tw_compiling_thread *thread, uint64_t from, uint64_t to)
{
	uint64_t left = to - from;
	size_t around = 0; /* the part that is open, plus 1 */
	for (size_t i = 0; i < thread->count; i++) {
		struct tw_compiling_part *part = &thread->parts[i];
		const struct tw_compiling *it = &part->compiling;
		const uint64_t begin = greater(it->begin, from), end = lesser(it->end, to);
		part->own_ns = end > begin ? end - begin : 0;
		while (around && !holds(&thread->parts[around - 1].compiling, it))
			around = thread->parts[around - 1].outer;
		part->outer = around;
		if (around)
			thread->parts[around - 1].own_ns -= lesser(thread->parts[around - 1].own_ns, part->own_ns);
		around = i + 1;
	}
	for (size_t i = 0; i < thread->count; i++) {
		thread->parts[i].own_ns = lesser(thread->parts[i].own_ns, left);
		left -= thread->parts[i].own_ns;
	}
}

/* A negative usage takes back what was told before. */
static uint64_t without_debt(struct tw_compiling_thread *thread, int64_t ns)
{
	if (ns < 0) {
		thread->debt_ns = tw_sum(thread->debt_ns, -(uint64_t)ns);
		return 0;
	}
	uint64_t taken = lesser(thread->debt_ns, (uint64_t)ns);
	thread->debt_ns -= taken;
	return (uint64_t)ns - taken;
}

/* What has ended is in no interval to come. Of what goes on the outermost are kept. */
static void forget(struct tw_compiling_thread *thread, uint64_t time)
{
	enum { GOING_ON_MOST = 64 };
	size_t kept = 0, going_on = 0;
	for (size_t i = 0; i < thread->count; i++) {
		const struct tw_compiling *it = &thread->parts[i].compiling;
		const bool comes = it->begin >= time, goes_on = !comes && it->end > time;
		if (comes || (goes_on && going_on < GOING_ON_MOST))
			thread->parts[kept++] = thread->parts[i];
		going_on += goes_on;
	}
	thread->count = kept;
}

void tw_compiling_use(struct tw_compiling_thread *thread, const struct tw_compiling_usage *usage,
                      void (*give)(void *context, const struct tw_compiling *it, uint64_t ns), void *context)
{
	const uint64_t since = usage->time - lesser(usage->interval_ns, usage->time);
	const uint64_t from = usage->interval_ns || !thread->used ? since : lesser(thread->last_ns, usage->time);
	const uint64_t interval = usage->time - from, ns = without_debt(thread, usage->ns);
	thread->used = true;
	thread->last_ns = usage->time;
	if (thread->count)
		qsort(thread->parts, thread->count, sizeof *thread->parts, compare);
	divide(thread, from, usage->time);
	for (size_t i = 0; i < thread->count && interval; i++) {
		const struct tw_compiling *it = &thread->parts[i].compiling;
		if (it->begin < usage->time && (it->end > from || it->begin >= from))
			give(context, it, (uint64_t)((u128)ns * thread->parts[i].own_ns / interval));
	}
	forget(thread, usage->time);
}

void tw_compiling_free(struct tw_compiling_thread *thread)
{
	free(thread->parts);
}
