/* syscalls.c - system calls: how many of each, what they were given, what they returned. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/bytes/bytes.h"
#include "base/memory/order.h"
#include "study/study.h"
#include "study/syscall.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct syscalls {
	struct study_syscall *items; /* in their order */
	size_t count, room;
	unsigned words; /* SVCARGs of the last one so far */
	bool open;      /* more may come */
	bool lost;      /* there was no room for it */
	uint32_t site;  /* of it */
	uint64_t at;
	struct study_task task;     /* that the core executes */
	uint64_t target_at, target; /* of the last TARGET_B: instructions before it, where its branch goes */
	bool held;                  /* a result came with an ERET, whose TARGET_B has not come: */
	uint64_t held_at, result;
	struct study_returns returns; /* of the kernel, which end calls when all tracks are read */
	struct study_moment now;
};

static struct syscalls *syscalls_of(const struct study_part *part)
{
	return part->state;
}

static int begin(struct study_part *part)
{
	struct syscalls *syscalls = part->state = calloc(1, sizeof *syscalls);
	if (!syscalls)
		return TW_ERR_MEMORY;
	syscalls->target_at = UINT64_MAX;
	part->wants.order = true;
	return 0;
}

static void free_syscalls(struct study_part *part)
{
	struct syscalls *syscalls = syscalls_of(part);
	if (!syscalls)
		return;
	free(syscalls->items);
	free(syscalls->returns.items);
	free(syscalls);
}

static bool add(struct study_part *part, const struct study_syscall *call)
{
	struct syscalls *syscalls = syscalls_of(part);
	if (!tw_budget_grow(&part->budget, TW_FOR_COUNTS, &syscalls->items, &syscalls->room, syscalls->count + 1,
	                    sizeof *syscalls->items)) {
		part->left_out++;
		return false;
	}
	syscalls->items[syscalls->count++] = *call;
	return true;
}

static void add_return(struct study_part *part, const struct study_return *one)
{
	struct study_returns *returns = &syscalls_of(part)->returns;
	if (tw_budget_grow(&part->budget, TW_FOR_COUNTS, &returns->items, &returns->room, returns->count + 1,
	                   sizeof *returns->items))
		returns->items[returns->count++] = *one;
	else
		part->left_out++;
}

static struct study_moment next_moment(struct syscalls *syscalls)
{
	syscalls->now.sequence++;
	return syscalls->now;
}

/* ---- Reading. ---- */

/* X8 begins one; the arguments follow it. */
static void take_argument(struct study_part *part, uint64_t value, uint32_t site, uint64_t at)
{
	struct syscalls *syscalls = syscalls_of(part);
	if (!syscalls->open || syscalls->site != site || syscalls->at != at || syscalls->words > STUDY_ARGUMENTS) {
		const struct study_syscall call = {
		    .number = value,
		    .thread = part->thread,
		    .at = at,
		    .pc = part->sites.items[site].pc,
		    .task = syscalls->task,
		    .moment = next_moment(syscalls),
		};
		syscalls->lost = !add(part, &call);
		syscalls->open = true;
		syscalls->words = 1;
		syscalls->site = site;
		syscalls->at = at;
		return;
	}
	syscalls->words++;
	if (syscalls->lost)
		return;
	struct study_syscall *call = &syscalls->items[syscalls->count - 1];
	call->arguments[call->known++] = value;
}

/* What returns is the last one that has not: handlers of signals make calls, too. */
static void take_result(struct syscalls *syscalls, uint64_t value)
{
	enum { NESTED = 16 };
	if (syscalls->lost)
		return;
	for (size_t i = 1; i <= syscalls->count && i <= NESTED; i++) {
		struct study_syscall *call = &syscalls->items[syscalls->count - i];
		if (call->returned || call->restarted)
			continue;
		call->returned = true;
		call->result = value;
		return;
	}
}

/* The kernel goes back to a program, with a result. */
static void take_return(struct study_part *part, bool has_target, uint64_t value)
{
	struct syscalls *syscalls = syscalls_of(part);
	add_return(part, &(struct study_return){
			     .moment = next_moment(syscalls),
			     .thread = part->thread,
			     .task = syscalls->task,
			     .has_target = has_target,
			     .target = syscalls->target,
			     .value = value,
			 });
}

/* A result that no TARGET_B came with. */
static void take_held(struct study_part *part)
{
	struct syscalls *syscalls = syscalls_of(part);
	if (syscalls->held)
		take_return(part, false, syscalls->result);
	syscalls->held = false;
}

/* SVCRET, with the SVC itself, or with the ERET that goes back to the program. */
static void take_end(struct study_part *part, const struct study_site *site, uint64_t value, uint64_t at)
{
	struct syscalls *syscalls = syscalls_of(part);
	if (site->flow != XTRACE_EXCEPTION_RETURN) {
		take_result(syscalls, value);
	} else if (syscalls->target_at == at) {
		take_return(part, true, value);
	} else {
		syscalls->held = true;
		syscalls->held_at = at;
		syscalls->result = value;
	}
}

static int end(struct study_part *part)
{
	take_held(part);
	return 0;
}

/* The first task that the kernel tells of is the caller of the system call. */
static void take_pointer(struct syscalls *syscalls, uint64_t value)
{
	if (!syscalls->task.pointer && syscalls->count)
		syscalls->items[syscalls->count - 1].task.pointer = value;
	syscalls->task.pointer = value;
}

/* MSR of what the kernel sets when it changes the task. */
static void take_register(struct syscalls *syscalls, uint32_t opcode, uint64_t value)
{
	enum { TABLES = 0xd5182000u >> 5, STACK = 0xd5184100u >> 5, THREAD = 0xd51bd040u >> 5 };
	enum { ADDRESS_BITS = 47, KERNEL = 55 };
	switch (opcode >> 5) {
	case TABLES: /* without the number of the address space */
		syscalls->task.tables = tw_bits(value, 0, ADDRESS_BITS);
		break;
	case THREAD:
		syscalls->task.thread = value;
		break;
	case STACK:
		if (tw_bits(value, KERNEL, KERNEL))
			take_pointer(syscalls, value);
		else
			syscalls->task.stack = value;
		break;
	}
}

static void take_parts(struct syscalls *syscalls, const struct study_note *note)
{
	if (syscalls->lost || !syscalls->open)
		return;
	struct study_syscall *call = &syscalls->items[syscalls->count - 1];
	call->parts = note->value;
	memcpy(call->base, note->part_base, sizeof call->base);
	memcpy(call->length, note->part_length, sizeof call->length);
}

static void take_note(struct study_part *part, const struct study_note *note, uint64_t at)
{
	struct syscalls *syscalls = syscalls_of(part);
	const struct study_site *site = &part->sites.items[note->site];
	if (syscalls->held && (note->kind != TW_XTRACE_TARGET_B || at != syscalls->held_at))
		take_held(part);
	switch (note->kind) {
	case TW_XTRACE_SVCARG:
		take_argument(part, note->value, note->site, at);
		break;
	case TW_XTRACE_SVCRET:
		take_end(part, site, note->value, at);
		break;
	case TW_XTRACE_SYSCALL_VEC:
		take_parts(syscalls, note);
		break;
	case TW_XTRACE_MRS:
		take_register(syscalls, site->opcode, note->value);
		break;
	case TW_XTRACE_TARGET_B:
		syscalls->target_at = at;
		syscalls->target = note->value;
		if (syscalls->held)
			take_return(part, true, syscalls->result);
		syscalls->held = false;
		break;
	}
}

/* Goes to a step: the TIME of what is there is the last one before it. Returns the first access behind it. */
static size_t pass_times(struct syscalls *syscalls, const struct study_batch *batch, size_t access, size_t step)
{
	for (; access < batch->access_count && batch->accesses[access].step <= step; access++)
		if (batch->times[access] > syscalls->now.time)
			syscalls->now.time = batch->times[access];
	return access;
}

static int take(struct study_part *part, const struct study_batch *batch)
{
	struct syscalls *syscalls = syscalls_of(part);
	size_t access = part->wants.times ? 0 : batch->access_count;
	for (size_t i = 0; i < batch->note_count; i++) {
		access = pass_times(syscalls, batch, access, batch->notes[i].step);
		take_note(part, &batch->notes[i], batch->first + batch->notes[i].step);
	}
	pass_times(syscalls, batch, access, STUDY_STEPS);
	return 0;
}

static int merge(struct study_part *all, struct study_part *part, const uint32_t *map)
{
	const struct syscalls *from = syscalls_of(part);
	struct study_moment *now = &syscalls_of(all)->now;
	(void)map;
	for (size_t i = 0; i < from->count; i++) {
		from->items[i].moment.sequence += now->sequence;
		add(all, &from->items[i]);
	}
	for (size_t i = 0; i < from->returns.count; i++) {
		from->returns.items[i].moment.sequence += now->sequence;
		add_return(all, &from->returns.items[i]);
	}
	now->sequence += from->now.sequence;
	return 0;
}

/* ---- Tables. ---- */

static const struct tw_study_column call_columns[] = {
    {"calls", "CALLS", TW_STUDY_COUNT},
    {"errors", "ERRORS", TW_STUDY_COUNT},
    {"unreturned", "NOT RETURNED", TW_STUDY_COUNT},
    {"number", "NUMBER", TW_STUDY_ID},
    {"name", "NAME", TW_STUDY_TEXT},
    {"error_names", "WHICH ERRORS", TW_STUDY_TEXT},
};

/* A row is of those with one number, a run of which begins here: in the order of numbers, then errors. */
static int compare(const void *a, const void *b)
{
	const struct study_syscall *const *x = a, *const *y = b;
	uint64_t first = study_syscall_failed(*x) ? -(*x)->result : 0,
		 second = study_syscall_failed(*y) ? -(*y)->result : 0;
	int order = tw_compare((*x)->number, (*y)->number);
	return order ? order : tw_compare(first, second);
}

static size_t run_of(const struct study_syscall *const *calls, size_t count)
{
	size_t length = 1;
	while (length < count && calls[length]->number == calls[0]->number)
		length++;
	return length;
}

/* "ENOENT (2), EAGAIN (1)" */
static void put_errors(struct study_tables *tables, const struct study_syscall *const *calls, size_t count)
{
	struct tw_text text = {0};
	for (size_t i = 0, same; i < count && !tables->failed; i += same) {
		char name[32], one[64];
		for (same = 1; i + same < count && compare(&calls[i], &calls[i + same]) == 0; same++)
			;
		if (!study_syscall_failed(calls[i]))
			continue;
		int length = snprintf(one, sizeof one, "%s%s (%zu)", text.length ? ", " : "",
		                      study_error_name((unsigned)-calls[i]->result, name), same);
		tables->failed = !tw_text_add(&text, one, (size_t)length);
	}
	study_put_text(tables, text.bytes ? text.bytes : "");
	tw_text_free(&text);
}

static void put_row(struct study_tables *tables, const struct study_syscall *const *calls, size_t count)
{
	uint64_t errors = 0, unreturned = 0;
	char name[32];
	for (size_t i = 0; i < count; i++) {
		errors += study_syscall_failed(calls[i]);
		unreturned += !calls[i]->returned;
	}
	study_put_count(tables, count);
	study_put_count(tables, errors);
	study_put_count(tables, unreturned);
	study_put_count(tables, calls[0]->number);
	study_put_text(tables, study_syscall_name(calls[0]->number, name));
	put_errors(tables, calls, count);
}

static int put_calls(const struct syscalls *syscalls, struct study_tables *tables)
{
	const struct study_syscall **sorted = calloc(syscalls->count + 1, sizeof(struct study_syscall *));
	struct study_ranks ranks = {0};
	bool fine = sorted != NULL;
	study_table_begin(tables, "call", "System calls", call_columns, sizeof call_columns / sizeof *call_columns,
	                  true);
	for (size_t i = 0; fine && i < syscalls->count; i++)
		sorted[i] = &syscalls->items[i];
	if (fine && syscalls->count)
		qsort(sorted, syscalls->count, sizeof(struct study_syscall *), compare);
	for (size_t i = 0, count; fine && i < syscalls->count; i += count) {
		count = run_of(sorted + i, syscalls->count - i);
		fine = study_rank_add(&ranks, count, (uint32_t)i);
	}
	study_rank_sort(&ranks);
	for (size_t i = 0; fine && i < ranks.count; i++)
		put_row(tables, sorted + ranks.items[i].number, (size_t)ranks.items[i].weight);
	free(ranks.items);
	free(sorted);
	return fine ? 0 : TW_ERR_MEMORY;
}

static const struct tw_study_column event_columns[] = {
    {"thread", "THREAD", TW_STUDY_ID}, {"at", "AFTER INSTRUCTIONS", TW_STUDY_COUNT}, {"number", NULL, TW_STUDY_ID},
    {"name", NULL, TW_STUDY_TEXT},     {"arguments", NULL, TW_STUDY_LINES},          {"result", NULL, TW_STUDY_TEXT},
    {"text", "CALL", TW_STUDY_TEXT},
};

/* What came of a call besides its result. */
static void put_notes(const struct study_syscall *call, char *text, size_t room)
{
	if (call->program)
		snprintf(text, room, ", a new program at 0x%" PRIx64, call->program);
	else if (call->handler)
		snprintf(text, room, ", the handler of a signal at 0x%" PRIx64 " before it returns", call->handler);
	else if (call->child)
		snprintf(text, room, ", where a child begins, too");
}

static void put_event(struct study_tables *tables, const struct study_syscall *call)
{
	enum { TEXT = 512, WORD = 24 };
	char text[TEXT], name[32];
	size_t length = 0;
	study_put_count(tables, call->thread);
	study_put_count(tables, call->at);
	study_put_count(tables, call->number);
	study_put_text(tables, study_syscall_name(call->number, name));
	text[0] = '\0';
	for (unsigned i = 0; i < call->known; i++)
		length += (size_t)snprintf(text + length, WORD, "%s0x%" PRIx64, i ? "\n" : "", call->arguments[i]);
	study_put_text(tables, text);
	snprintf(text, TEXT, "%" PRId64, (int64_t)call->result);
	study_put_text(tables, call->returned ? text : NULL);
	length = study_syscall_text(call, text, TEXT);
	put_notes(call, text + length, TEXT - length);
	study_put_text(tables, text);
}

static int make_tables(struct study_part *all, struct study_tables *tables)
{
	const struct syscalls *syscalls = syscalls_of(all);
	if (!study_return_calls(syscalls->items, syscalls->count, &syscalls->returns))
		return TW_ERR_MEMORY;
	int status = put_calls(syscalls, tables);
	study_table_begin(tables, "event", "In their order", event_columns,
	                  sizeof event_columns / sizeof *event_columns, true);
	for (size_t i = 0; i < syscalls->count; i++)
		put_event(tables, &syscalls->items[i]);
	return status;
}

const struct study_job study_syscalls = {
    .begin = begin,
    .take = take,
    .end = end,
    .merge = merge,
    .tables = make_tables,
    .free = free_syscalls,
};
