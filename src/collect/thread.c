/* thread.c - a thread's way through its blocks: tokens are written when it is known that their instruction is done. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/thread.h"

#include "base/bytes/bytes.h"
#include "collect/alive.h"
#include "collect/calls.h"
#include "collect/execs.h"
#include "collect/follow.h"
#include "collect/images.h"
#include "collect/machine.h"
#include "collect/qemu/qemu.h"
#include "collect/recording.h"
#include "collect/scalable/registers.h"
#include "collect/steps.h"
#include "collect/stream.h"
#include "collect/tokens.h"
#include "collect/windows/detail.h"
#include "collect/windows/windows.h"

#include <pthread.h>
#include <stdlib.h>

static const uint8_t time_token = 0x07;

static _Thread_local struct guest_thread *self __attribute__((tls_model("initial-exec")));

/* ---- Instructions. ---- */

/* Behind a mark the trace begins in the middle of a block. */
static void put_pc(struct guest_thread *thread)
{
	const struct translated_block *block = thread->block;
	const struct tw_xtrace_token token = {
	    .kind = TW_XTRACE_PCINST,
	    .pc = block->pc + 4ull * thread->cursor,
	    .opcode = tw_load32(block->tokens + block_offset(thread->cursor + 1u) - 4, false),
	};
	stream_token(&thread->stream, tokens_board, &token);
	thread->needs_pc = false;
	thread->stream.count++;
	thread->cursor++;
}

/* Writes the instructions before number `end` that are not yet written. */
static inline void advance(struct guest_thread *thread, size_t end)
{
	if (thread->cursor >= end)
		return;
	if (thread->needs_pc)
		put_pc(thread);
	size_t from = block_offset(thread->cursor), size = block_offset(end) - from;
	uint8_t *to = stream_room(&thread->stream, tokens_board, size);
	if (to)
		stream_add(&thread->stream, stream_copy(to, thread->block->tokens + from, size));
	thread->stream.count += end - thread->cursor;
	thread->cursor = (uint16_t)end;
}

/* ---- Which calls an instruction wants. ---- */

bool thread_wants_before(const struct insn *insn)
{
	return steps[insn->op.kind].before && (insn->op.kind != OP_MARK || tokens_board->options.from_hint);
}

/* One thread alone finds in memory what it loaded, at once. */
bool thread_wants_after(const struct insn *insn)
{
	if (insn->op.kind == OP_ACCESS)
		return insn->op.is_load && tokens_has_several();
	return steps[insn->op.kind].after != NULL;
}

bool thread_wants_notice(const struct insn *insn)
{
	return insn->op.kind == OP_SVC || insn->op.kind == OP_MSR;
}

bool thread_wants_noticed(const struct insn *insn)
{
	return insn->op.kind == OP_MSR;
}

bool thread_wants_accesses(const struct insn *insn)
{
	return steps[insn->op.kind].accesses;
}

/* ---- From block to block. ---- */

/* The instruction at the cursor is done. */
static void complete(struct guest_thread *thread, const struct insn *insn)
{
	advance(thread, insn->index + 1u);
	steps[insn->op.kind].after(thread, insn);
}

/* The block before has ended, and `pc` is where it went on. Instructions that were not seen to be done were not: an
 * exception came. */
static void finish(struct guest_thread *thread, uint64_t pc)
{
	const struct translated_block *block = thread->block;
	size_t cursor = thread->cursor;
	advance(thread, cursor ? block->insns[cursor - 1].next : block->first);
	cursor = thread->cursor;
	if (cursor + 1 == block->count && block->insns[cursor].after && pc == block->pc + 4ull * block->count)
		complete(thread, &block->insns[cursor]);
	if (thread->cursor == block->count && block->by_register)
		tokens_value(thread, TW_XTRACE_TARGET_B, pc);
}

/* Nothing but the jump to the next block is left of most: the block is written, and no signal can have come. */
static inline bool leave(struct guest_thread *thread, uint64_t pc)
{
	const struct translated_block *block = thread->block;
	if (thread->pending || !block || thread->cursor != block->count || calls_any_handler(pc))
		return false;
	if (block->by_register)
		tokens_value(thread, TW_XTRACE_TARGET_B, pc);
	return true;
}

static void follow_tpidr(struct guest_thread *thread)
{
	if (thread->pending & AFTER_TPIDR)
		machine_after_tpidr(&thread->machine, thread->tpidr);
	thread->pending &= (uint8_t)~AFTER_TPIDR;
}

/* Ends what was before: the block, or a system call; a signal may have come between. */
static void settle(struct guest_thread *thread, uint64_t pc)
{
	thread->is_interrupted = calls_interrupted(&thread->machine, pc, &thread->where);
	if (thread->block)
		finish(thread, thread->is_interrupted ? thread->where.pc : pc);
	follow_tpidr(thread);
	if (thread->pending & AFTER_CALL) {
		tokens_value(thread, TW_XTRACE_SVCRET, tokens_operand(thread, 0));
		execs_end(thread->exec);
		thread->exec = NULL;
	}
	if (thread->pending & AFTER_CALL || thread->is_interrupted)
		recording_put_registers(thread, tokens_board);
	if (thread->stream.last_count == thread->stream.count) /* the instruction behind the last snapshot never came */
		thread->stream.next_snapshot = thread->stream.count;
	thread->is_interrupted = false;
	thread->pending = 0;
}

static bool records_at_once(void)
{
	return !tokens_board->options.from_hint && !tokens_board->windows.count;
}

static struct guest_thread *thread_open(void)
{
	struct guest_thread *thread = calloc(1, sizeof *thread);
	if (!thread || !machine_open(&thread->machine) || !scalable_open(&thread->machine)) {
		atomic_store(&tokens_board->refused, COLLECT_NO_REGISTERS);
		free(thread);
		return NULL;
	}
	atomic_store(&tokens_board->refused, COLLECT_BEGAN);
	thread->owes_order = tokens_follows;
	thread->part.plan = plan_begin(&tokens_board->windows);
	if (records_at_once())
		recording_begin(thread, tokens_board, tokens_are_ordered(thread));
	self = thread;
	return thread;
}

static void begin_recording(void *thread)
{
	recording_begin(thread, tokens_board, tokens_are_ordered(thread));
}

static void end_recording(void *thread)
{
	((struct guest_thread *)thread)->recording = false;
}

static void take_snapshot(void *whose)
{
	struct guest_thread *thread = whose;
	stream_snapshot(&thread->stream, tokens_board, &thread->machine);
}

static void follow_windows(struct guest_thread *thread, bool full)
{
	const struct windowed windowed = {.part = &thread->part,
	                                  .stream = &thread->stream,
	                                  .begin = begin_recording,
	                                  .end = end_recording,
	                                  .snapshot = take_snapshot,
	                                  .whose = thread};
	windows_follow(&windowed, tokens_board, full);
}

void thread_block(unsigned cpu, void *data)
{
	const struct translated_block *block = data;
	struct guest_thread *thread = self;
	(void)cpu;
	if (!thread && !(thread = thread_open()))
		return;
	if (thread->recording && !leave(thread, block->pc))
		settle(thread, block->pc);
	else if (!thread->recording)
		follow_tpidr(thread);
	if (windows_have_step(&thread->part, &thread->stream))
		follow_windows(thread, true);
	thread->block = block;
	thread->cursor = 0;
	thread->access.size = 0;
	if (!thread->recording) {
		thread->part.passed += block->count;
		return;
	}
	if (thread->stream.count >= thread->stream.next_snapshot)
		stream_snapshot(&thread->stream, tokens_board, &thread->machine);
	advance(thread, block->first);
}

void thread_passed(unsigned cpu, void *data)
{
	const struct translated_block *block = data;
	struct guest_thread *thread = self;
	(void)cpu;
	if (!thread && !(thread = thread_open()))
		return;
	if (thread->pending)
		follow_tpidr(thread);
	if (windows_have_step(&thread->part, &thread->stream))
		follow_windows(thread, false);
	thread->block = block;
	thread->part.passed += block->count;
}

/* An SVC that is written executes another program, perhaps: then nothing comes behind it. */
static void follow(struct guest_thread *thread, const struct insn *insn)
{
	struct followed_program *next = insn->op.kind == OP_SVC ? follow_begin(&thread->machine) : NULL;
	if (!next)
		return;
	stream_flush(&thread->stream, tokens_board);
	execs_end(thread->exec);
	follow_go(next, tokens_board, thread->stream.slot);
	thread->exec = execs_begin(&thread->machine, tokens_board);
}

void thread_notice(unsigned cpu, void *data)
{
	const struct insn *insn = data;
	struct guest_thread *thread = self;
	(void)cpu;
	if (!thread && !(thread = thread_open()))
		return;
	thread->block = block_of(insn);
	steps_notice(thread, insn);
	follow(thread, insn);
}

void thread_noticed(unsigned cpu, void *data)
{
	(void)cpu;
	(void)data;
	if (self)
		follow_tpidr(self);
}

void thread_before(unsigned cpu, void *data)
{
	const struct insn *insn = data;
	struct guest_thread *thread = self;
	(void)cpu;
	if (!thread || !thread->block)
		return;
	steps_notice(thread, insn);
	if (!thread->recording)
		follow(thread, insn);
	if (!thread->recording && insn->op.kind != OP_MARK)
		return;
	bool is_whole = !steps[insn->op.kind].after && insn->op.kind != OP_MARK;
	if (is_whole)
		advance(thread, insn->index + 1u);
	steps[insn->op.kind].before(thread, insn);
	if (thread->block && thread->recording && !steps[insn->op.kind].after)
		advance(thread, insn->next);
	if (thread->recording)
		follow(thread, insn);
}

void thread_after(unsigned cpu, void *data)
{
	const struct insn *insn = data;
	struct guest_thread *thread = self;
	(void)cpu;
	if (!thread || !thread->recording || !thread->block)
		return;
	complete(thread, insn);
	advance(thread, insn->next);
}

/* An access with its instruction and those up to the next that stops: most of what is written comes from here. */
static void put_accessed(struct guest_thread *thread, const struct insn *insn)
{
	const uint8_t *tokens = thread->block->tokens, *value = thread->access.value;
	size_t from = block_offset(insn->index), own = block_offset(insn->index + 1u), next = block_offset(insn->next);
	uint8_t *to = stream_room(&thread->stream, tokens_board, next - from + 2ul * (9 + MACHINE_VECTOR) + 9);
	uint8_t token = (uint8_t)((insn->op.is_load ? 0x02 : 0x0a) | __builtin_ctz(insn->op.size) << 4);
	if (!to)
		return;
	to = stream_copy(to, tokens + from, own - from);
	for (unsigned i = 0; i < insn->op.count; i++, value += insn->op.size) {
		to = stream_value(to, token, thread->access.address + (uint64_t)i * insn->op.size);
		memcpy(to, value, MACHINE_VECTOR);
		to += insn->op.size;
	}
	if (tokens_are_ordered(thread))
		to = stream_value(to, time_token, tokens_take_order(thread));
	stream_add(&thread->stream, stream_copy(to, tokens + own, next - own));
	thread->stream.count += (uint64_t)insn->next - insn->index;
	thread->cursor = insn->next;
	thread->access.size = 0;
}

void thread_accessed(unsigned cpu, uint32_t info, uint64_t address, void *data)
{
	const struct insn *insn = data;
	struct guest_thread *thread = self;
	unsigned size = 1u << qemu_plugin_mem_size_shift(info);
	(void)cpu;
	if (!thread || !thread->recording || !thread->block || size > (unsigned)ACCESS_MAX - thread->access.size)
		return;
	if (thread->access.size == 0)
		thread->access.address = address;
	machine_accessed(info, address, thread->access.value + thread->access.size, size);
	thread->access.size = (uint8_t)(thread->access.size + size);
	if (thread->access.size < insn->op.total || insn->after)
		return;
	if (tokens_has_several() && !insn->op.is_load)
		steps_take_registers(thread, &insn->op);
	if (thread->cursor == insn->index && !thread->needs_pc && !insn->op.is_structure) {
		put_accessed(thread, insn);
		return;
	}
	advance(thread, insn->index + 1u);
	steps_put_accesses(thread, insn, insn->op.is_load, thread->access.value);
	tokens_order(thread);
	advance(thread, insn->next);
}

/* ---- Threads and processes. ---- */

/* A child process is a trace of its own. */
static void begin_child(void)
{
	struct guest_thread *thread = self;
	alive_begin(tokens_board);
	images_fork(tokens_board);
	if (!thread)
		return;
	stream_abandon(&thread->stream);
	thread->pending = 0;
	thread->part.passed = 0;
	thread->exec = NULL;
	thread->owes_order = true;
	if (tokens_board->windows.count) {
		thread->recording = thread->began = false;
		thread->stream.count = 0;
		thread->part.plan = plan_begin(&tokens_board->windows);
		detail_begin_child(false);
	} else if (tokens_board->options.from_hint) {
		detail_begin_child(thread->part.plan.wants);
	}
	if (thread->recording)
		stream_open(&thread->stream, tokens_board, true);
}

void thread_setup(struct collect_board *shared, bool follows)
{
	tokens_board = shared;
	tokens_follows = follows;
	pthread_atfork(NULL, NULL, begin_child);
}

void thread_end(void)
{
	if (self)
		stream_close(&self->stream, tokens_board);
}
