/* returns.c - what the kernel returns, and to which call: of the task that goes on, on whichever core that is. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory/order.h"
#include "study/syscall.h"

#include <stdlib.h>

enum { SEARCHED = 4096, WORD = 4, SURE = 2 };

/* The calls before one that returns. */
struct calls_before {
	struct study_syscall **calls;
	size_t count;
	const struct study_return *now;
};

/* How well two tasks agree: 0 where they differ. The stack of a task moves, so that it only decides between others. */
static unsigned agreement(const struct study_task *a, const struct study_task *b)
{
	bool tables = a->tables && b->tables, thread = a->thread && b->thread, pointer = a->pointer && b->pointer;
	if ((tables && a->tables != b->tables) || (thread && a->thread != b->thread) ||
	    (pointer && a->pointer != b->pointer))
		return 0;
	return 1u + (tables ? SURE : 0) + (thread ? SURE : 0) + (pointer ? SURE : 0) +
	       (a->stack && a->stack == b->stack);
}

/* The same of a call and the task that goes on. On another core it is one only where something tells so. */
static unsigned agrees(const struct calls_before *made, const struct study_syscall *call)
{
	unsigned agreed = agreement(&call->task, &made->now->task);
	return call->thread == made->now->thread || agreed > SURE ? agreed : 0;
}

static bool is_open(const struct study_syscall *call)
{
	return !call->returned && !call->restarted;
}

/* The call number `back` before the end of those that are searched; NULL: there is none. */
static struct study_syscall *call_before(const struct calls_before *made, size_t back, size_t most)
{
	return back < made->count && back < most ? made->calls[made->count - 1 - back] : NULL;
}

/* The call of the task that goes on at a PC: the one that is before it, or, to be made again, at it. NULL: none. */
static struct study_syscall *find_call(const struct calls_before *made, bool again)
{
	struct study_syscall *found = NULL, *call;
	unsigned best = 0;
	for (size_t i = 0; (call = call_before(made, i, SEARCHED)); i++) {
		bool leads = is_open(call) && call->pc + (again ? 0 : WORD) == made->now->target;
		unsigned agreed = leads ? agrees(made, call) : 0;
		found = agreed > best ? call : found;
		best = agreed > best ? agreed : best;
	}
	return found;
}

/* Whether it may be left for elsewhere: exit, exit_group and rt_sigreturn are not what a signal is taken in. */
static bool may_go_elsewhere(const struct study_syscall *call)
{
	enum { EXIT = 93, EXIT_GROUP = 94, SIGRETURN = 139 };
	return is_open(call) && call->number != EXIT && call->number != EXIT_GROUP && call->number != SIGRETURN;
}

/* execve, with which a task gets other tables; nothing else tells then that it is the same than where Linux has it. */
static bool loads_program(const struct study_syscall *call)
{
	enum { EXECVE = 221, EXECVEAT = 281 };
	return call->number == EXECVE || call->number == EXECVEAT;
}

static bool is_of_task(const struct calls_before *made, const struct study_syscall *call)
{
	uint64_t pointer = made->now->task.pointer;
	return (loads_program(call) && pointer && call->task.pointer == pointer) || agrees(made, call);
}

/* The last call of the task that has not returned; NULL: none. */
static struct study_syscall *find_open(const struct calls_before *made)
{
	struct study_syscall *call;
	for (size_t i = 0; (call = call_before(made, i, SEARCHED)); i++)
		if (may_go_elsewhere(call) && is_of_task(made, call))
			return call;
	return NULL;
}

/* The call that made the task which goes on behind it, with 0 as its result; NULL: none. */
static struct study_syscall *find_parent(const struct calls_before *made)
{
	enum { CLONE = 220, CLONE3 = 435 };
	struct study_syscall *call;
	for (size_t i = 0; (call = call_before(made, i, SEARCHED)); i++) {
		bool makes = call->number == CLONE || call->number == CLONE3;
		if (makes && !call->child && call->pc + WORD == made->now->target &&
		    !agreement(&call->task, &made->now->task))
			return call;
	}
	return NULL;
}

static void end_call(const struct calls_before *made, struct study_syscall *call)
{
	call->returned = true;
	call->result = made->now->value;
}

/* The kernel goes elsewhere than behind a call of the task: to a program that is new, to the task that a call made, or
 * to the handler of a signal. */
static void go_elsewhere(const struct calls_before *made)
{
	struct study_syscall *call = find_open(made), *parent = made->now->value ? NULL : find_parent(made);
	if (parent) {
		parent->child = true;
	} else if (call && loads_program(call)) {
		end_call(made, call);
		call->program = made->now->target;
	} else if (call) {
		call->handler = made->now->target;
	}
}

/* Where it goes was not told: the last call of the core that has not returned does. */
static void end_last(const struct calls_before *made)
{
	enum { NESTED = 16 };
	struct study_syscall *call;
	for (size_t i = 0; (call = call_before(made, i, NESTED)); i++)
		if (is_open(call) && call->thread == made->now->thread) {
			end_call(made, call);
			return;
		}
}

/* The kernel goes back to a program: with the result of the call behind which it goes on; to one that is to be made
 * again; or elsewhere. */
static void go_back(const struct calls_before *made)
{
	struct study_syscall *call = find_call(made, false), *again = call ? NULL : find_call(made, true);
	if (call)
		end_call(made, call);
	else if (again)
		again->restarted = true;
	else
		go_elsewhere(made);
}

/* ---- In their order. ---- */

/* A call, or a return. */
struct happening {
	struct study_moment moment;
	struct study_syscall *call; /* NULL: */
	const struct study_return *end;
};

static int compare(const void *a, const void *b)
{
	const struct study_moment *x = &((const struct happening *)a)->moment,
				  *y = &((const struct happening *)b)->moment;
	int order = tw_compare(x->time, y->time);
	return order ? order : tw_compare(x->sequence, y->sequence);
}

static void take(struct calls_before *made, const struct happening *one)
{
	made->now = one->end;
	if (one->call)
		made->calls[made->count++] = one->call;
	else if (one->end->has_target)
		go_back(made);
	else
		end_last(made);
}

bool study_return_calls(struct study_syscall *calls, size_t count, const struct study_returns *returns)
{
	size_t all = count + returns->count;
	struct happening *happenings = calloc(all + 1, sizeof *happenings);
	struct calls_before made = {.calls = calloc(count + 1, sizeof *made.calls)};
	bool fine = happenings && made.calls;
	for (size_t i = 0; fine && i < count; i++)
		happenings[i] = (struct happening){calls[i].moment, &calls[i], NULL};
	for (size_t i = 0; fine && i < returns->count; i++)
		happenings[count + i] = (struct happening){returns->items[i].moment, NULL, &returns->items[i]};
	if (fine && returns->count)
		qsort(happenings, all, sizeof *happenings, compare);
	for (size_t i = 0; fine && returns->count && i < all; i++)
		take(&made, &happenings[i]);
	free(happenings);
	free(made.calls);
	return fine;
}
