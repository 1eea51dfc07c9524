/* calls.h - calls and returns out of where instructions go. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XTRACE_WALK_CALLS_H
#define XTRACE_WALK_CALLS_H

#include "base/memory/map.h"
#include "xtrace/format/opcode.h"
#include "xtrace/xtrace.h"

struct xtrace_frame {
	uint64_t back; /* address that it returns to */
	uint32_t function;
	uint8_t level;  /* exception level that it is executed at */
	bool exception; /* an exception began it, no call; ERET ends it */
};

struct xtrace_function {
	uint64_t address; /* that was gone to */
	uint32_t program; /* that it is of: of struct xtrace_names */
	uint32_t name;
	struct tw_range range; /* empty: not known */
};

enum { XTRACE_NEAR = 256, XTRACE_BACKS = 64 };

/* What all tracks share. All zero but the reader to begin. */
struct xtrace_calls {
	struct tw_reader *reader;
	struct xtrace_operations operations;
	bool reported;       /* the limit */
	size_t frames;       /* frames of all stacks together */
	struct xtrace_near { /* functions that were looked up lately, by address */
		uint64_t address;
		uint32_t program;
		uint32_t function; /* number of the function, plus 1 */
	} near[XTRACE_NEAR];
	uint64_t backs[XTRACE_BACKS]; /* a bit for each place that calls return to, by its address; several share one */
	struct tw_map known;          /* addresses that were gone to, with programs: their functions */
	struct xtrace_function *functions;
	size_t function_count, function_room;
};

/* What tells the tasks of a core apart, as the kernel set it last; 0: it has not. */
struct xtrace_task {
	uint64_t tables;  /* TTBR0_EL1, without the number of the address space */
	uint64_t thread;  /* TPIDR_EL0 */
	uint64_t pointer; /* SP_EL0 where it is an address of the kernel's, as Linux has its task there */
};

/* The stacks of the tasks of a core. That of the one that is executed is with the stack itself. */
struct xtrace_tasks {
	struct xtrace_waiting {
		struct xtrace_task task;
		struct xtrace_frame *frames;
		size_t count, room;
	} * items;
	size_t count, room;
	size_t now; /* the one that is executed */
	struct xtrace_task set;
};

/* The calls of a track that are going on. All zero but the names to begin. */
struct xtrace_stack {
	struct xtrace_names names; /* of the track */
	struct xtrace_tasks tasks;
	struct xtrace_frame *frames;
	size_t count, room;
	uint64_t pc;                /* of the last instruction */
	uint32_t opcode;            /* of it; where the flow is of a direct branch */
	uint8_t flow;               /* of it: enum xtrace_flow */
	uint8_t level;              /* of it: exception level */
	bool known;                 /* the last instruction is known: there is one, and no gap behind it */
	bool has_target;            /* there was a TARGET_B */
	uint64_t target_at, target; /* of the last TARGET_B: the PC of its branch, and where the branch leads */
};

/* What an instruction changes: `ends` calls end before it, one may begin with it, and so may an exception, which comes
 * behind that. */
struct xtrace_call_change {
	unsigned ends;
	bool begins, tail; /* tail: the ending call jumped to the beginning one */
	bool enters;       /* an exception begins: */
	uint32_t name, entered;
};

/* Whether a PC may be where an exception goes that does not change the level: a table of vectors is at a multiple of
 * 2 KiB, and its first eight, of 128 bytes, are for those. Source: Arm's DDI 0487, "Exception vectors". */
static inline bool xtrace_is_vector(uint64_t pc, unsigned level)
{
	enum { VECTOR = 0x80, OWN_LEVEL = 0x400, TABLE = 0x800 };
	return level > 0 && pc % VECTOR == 0 && pc % TABLE < OWN_LEVEL;
}

/* The same of one that comes from a lower level: the other eight. */
static inline bool xtrace_is_lower_vector(uint64_t pc, unsigned level)
{
	enum { VECTOR = 0x80, OWN_LEVEL = 0x400, TABLE = 0x800 };
	return level > 0 && pc % VECTOR == 0 && pc % TABLE >= OWN_LEVEL;
}

/* Takes each instruction of a track. Returns 0 or TW_ERR_MEMORY. */
int xtrace_calls_take(struct xtrace_calls *calls, struct xtrace_stack *stack, const struct tw_xtrace_token *token,
                      uint64_t offset, struct xtrace_call_change *change);

/* The same of a PCINST only, by what the stack says of the instruction before. Its own flow is the caller's to put
 * there. */
int xtrace_calls_go(struct xtrace_calls *calls, struct xtrace_stack *stack, uint64_t pc, uint8_t level, uint64_t offset,
                    struct xtrace_call_change *change);

/* Takes a TARGET_B of the branch at a PC. */
static inline void xtrace_stack_set_target(struct xtrace_stack *stack, uint64_t pc, uint64_t target)
{
	stack->has_target = true;
	stack->target_at = pc;
	stack->target = target;
}

/* Whether a branch that TARGET_B tells to lead to a target leads to a PC. Tags and signatures of pointers are above
 * the lower 32 bits. */
static inline bool xtrace_leads_to(uint64_t target, uint64_t pc)
{
	return (uint32_t)target == (uint32_t)pc;
}

/* Takes a gap: what the last instruction was is not known behind it. */
static inline void xtrace_stack_lose(struct xtrace_stack *stack)
{
	stack->known = false;
}

/* ---- tasks.c: the tasks of a core, each with a stack of its own. ---- */

/* Calls of one task end, and as many as the stack has then go on, of another. */
struct xtrace_task_change {
	bool other; /* otherwise the task is the same */
	unsigned ends;
};

/* The most calls of a task that is parted from others: of one with more, and where there are too many tasks, calls stay
 * on the stack of the task before. */
enum { XTRACE_TASK_FRAMES = 256 };

/* Whether what is known of two tasks tells them apart. */
bool xtrace_tasks_differ(const struct xtrace_task *a, const struct xtrace_task *b);

/* Takes the value of an MSR of the kernel; opcode: of the instruction that the token is of. Returns whether it tells
 * the task by its pointer, which is the task from here on. */
bool xtrace_task_set(struct xtrace_task *task, uint32_t opcode, const struct tw_xtrace_token *token);

/* Takes the value of an MSR of the kernel, or the TARGET_B of its ERET: what follows may be another task's. opcode: of
 * the instruction that the token is of. Returns 0 or TW_ERR_MEMORY. */
int xtrace_stack_set(struct xtrace_stack *stack, uint32_t opcode, uint8_t level, const struct tw_xtrace_token *token,
                     struct xtrace_task_change *change);

/* How many frames there are, of all tasks. */
size_t xtrace_stack_frames(const struct xtrace_stack *stack);

void xtrace_stack_free(struct xtrace_stack *stack);
void xtrace_calls_free(struct xtrace_calls *calls);

#endif
