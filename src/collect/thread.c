/* thread.c - a thread's way through its blocks: tokens are written when it is known that their instruction is done. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/thread.h"

#include "base/bytes/bytes.h"
#include "collect/alive.h"
#include "collect/calls.h"
#include "collect/execs.h"
#include "collect/machine.h"
#include "collect/qemu.h"
#include "collect/recording.h"
#include "collect/stream.h"
#include "collect/windows/detail.h"
#include "collect/windows/windows.h"

#include <pthread.h>
#include <stdlib.h>

enum { ZERO_REGISTER = 31 };

static const uint8_t time_token = 0x07;

/* -ENOEXEC of AArch64 Linux, as a system call returns it. */
#define NO_EXEC ((uint64_t)-8)

/* With register 0. */
static const uint32_t read_dczid = 0xd53b00e0, write_tpidr = 0xd51bd040;

static _Thread_local struct guest_thread *self __attribute__((tls_model("initial-exec")));
static struct collect_board *board;
static _Atomic bool several;
static _Atomic unsigned zero_block = 64; /* bytes of DC ZVA: as DCZID_EL0 told when the guest read it */

/* Whether several threads run: then memory may change between an access and our look at it, and registers tell what it
 * was. Set before the first is made: QEMU forgets its translations then, and what it translates anew asks for more
 * calls. */
static inline bool has_several(void)
{
	return atomic_load_explicit(&several, memory_order_relaxed);
}

/* ---- Registers, memory, tokens. ---- */

/* As an operand: register 31 is zero. */
static uint64_t operand(const struct guest_thread *thread, unsigned number)
{
	if (number == ZERO_REGISTER)
		return 0;
	return thread->is_interrupted ? thread->where.x[number] : machine_register(&thread->machine, number);
}

/* As a base: register 31 is SP. The top byte is a tag that no access has. */
static uint64_t base(const struct guest_thread *thread, unsigned number)
{
	uint64_t address =
	    thread->is_interrupted ? thread->where.x[number] : machine_register(&thread->machine, number);
	return tw_bits(address, 0, 55);
}

static void put_value(struct guest_thread *thread, uint8_t kind, uint64_t value)
{
	static const uint8_t bytes[] = {
#define X(name, token, payload, text) [name] = (token),
	    TW_XTRACE_TOKEN_LIST(X)
#undef X
	};
	uint8_t *to = stream_room(&thread->stream, board, 9);
	if (to)
		stream_add(&thread->stream, stream_value(to, bytes[kind], value));
}

/* A load or store of 1, 2, 4, ... bytes. */
static void put_access(struct guest_thread *thread, bool is_load, uint64_t address, const uint8_t *bytes, size_t size)
{
	const struct tw_xtrace_token token = {.kind = is_load ? TW_XTRACE_LOAD : TW_XTRACE_STORE,
	                                      .value = address,
	                                      .payload = bytes,
	                                      .payload_size = (uint32_t)size};
	stream_token(&thread->stream, board, &token);
}

/* ---- The order of accesses. ---- */

/* One thread alone has the order of its file. */
static inline bool is_ordered(const struct guest_thread *thread)
{
	return has_several() || thread->owes_order;
}

/* The access that was written was made: it comes after all that have a smaller number. */
static uint64_t take_order(struct guest_thread *thread)
{
	stream_order(&thread->stream, board);
	thread->owes_order = false;
	return atomic_fetch_add(&board->order, 1);
}

static void put_order(struct guest_thread *thread)
{
	if (is_ordered(thread))
		put_value(thread, TW_XTRACE_TIME, take_order(thread));
}

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
	stream_token(&thread->stream, board, &token);
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
	uint8_t *to = stream_room(&thread->stream, board, size);
	if (to)
		stream_add(&thread->stream, stream_copy(to, thread->block->tokens + from, size));
	thread->stream.count += end - thread->cursor;
	thread->cursor = (uint16_t)end;
}

/* ---- What instructions do. ---- */

/* Loads and stores by register, each a token; others by as large powers of two as there are. */
static void put_accesses(struct guest_thread *thread, const struct insn *insn, bool is_load, const uint8_t *bytes)
{
	size_t total = insn->op.total, at = 0;
	for (size_t size = insn->op.size; size && at < total; size /= 2)
		for (; total - at >= size; at += size)
			put_access(thread, is_load, thread->address + at, bytes + at, size);
	thread->accessed = 0;
}

/* The bytes of a register that is loaded or stored. */
static void copy_register(const struct guest_thread *thread, const struct opcode *op, unsigned i, uint8_t *to)
{
	unsigned number = i ? op->rt2 : op->rt;
	uint8_t bytes[MACHINE_VECTOR];
	if (op->is_vector)
		machine_vector(&thread->machine, number, bytes);
	else
		tw_store64(bytes, operand(thread, number), false);
	memcpy(to, bytes, op->size);
}

/* With several threads the registers are right where memory may have changed. What is loaded to register 31 cannot be
 * known. */
static void take_registers(struct guest_thread *thread, const struct opcode *op)
{
	if (op->is_structure)
		return;
	for (unsigned i = 0; i < op->count; i++)
		if (!op->is_load || op->is_vector || (i ? op->rt2 : op->rt) != ZERO_REGISTER)
			copy_register(thread, op, i, thread->value + (size_t)i * op->size);
}

static void after_load(struct guest_thread *thread, const struct insn *insn)
{
	if (!thread->is_interrupted || !insn->op.is_vector)
		take_registers(thread, &insn->op);
	put_accesses(thread, insn, true, thread->value);
	put_order(thread);
}

static void after_exclusive(struct guest_thread *thread, const struct insn *insn)
{
	uint64_t status = operand(thread, insn->op.rs);
	thread->address = base(thread, insn->op.rn);
	take_registers(thread, &insn->op);
	if (status == 0) {
		put_accesses(thread, insn, false, thread->value);
		put_order(thread);
	}
	put_value(thread, TW_XTRACE_STXR, status);
}

static void after_atomic(struct guest_thread *thread, const struct insn *insn)
{
	uint8_t bytes[8];
	uint64_t old = insn->op.rt == ZERO_REGISTER ? tw_load64(thread->old, false) : operand(thread, insn->op.rt);
	tw_store64(bytes, old, false);
	put_accesses(thread, insn, true, bytes);
	tw_store64(bytes, opcode_atomic(&insn->op, old, thread->operands[0]), false);
	put_accesses(thread, insn, false, bytes);
	put_order(thread);
}

/* Operands: one or two that are expected, one or two to be stored. */
static void after_compare(struct guest_thread *thread, const struct insn *insn)
{
	uint8_t expected[16], wanted[16], old[16];
	const struct opcode *op = &insn->op;
	for (unsigned i = 0; i < op->count; i++) {
		uint8_t word[8];
		tw_store64(word, thread->operands[i], false);
		memcpy(expected + (size_t)i * op->size, word, op->size);
		tw_store64(word, thread->operands[2 + i], false);
		memcpy(wanted + (size_t)i * op->size, word, op->size);
		tw_store64(word, operand(thread, op->rs + i), false);
		memcpy(old + (size_t)i * op->size, op->rs + i == ZERO_REGISTER ? thread->old : word, op->size);
	}
	put_accesses(thread, insn, true, old);
	if (memcmp(old, expected, op->total) == 0)
		put_accesses(thread, insn, false, wanted);
	put_order(thread);
}

static void after_zero(struct guest_thread *thread, const struct insn *insn)
{
	static const uint8_t zeros[2048];
	unsigned size = atomic_load(&zero_block);
	uint64_t value = operand(thread, insn->op.rt);
	put_value(thread, TW_XTRACE_DC, value);
	put_access(thread, false, tw_bits(value, 0, 55) & ~(uint64_t)(size - 1), zeros, size);
	put_order(thread);
}

static void after_read(struct guest_thread *thread, const struct insn *insn)
{
	uint64_t value = operand(thread, insn->op.rt);
	const uint8_t *opcode = thread->block->tokens + block_offset(insn->index + 1u) - 4;
	if ((tw_load32(opcode, false) & ~0x1fu) == read_dczid && tw_bits(value, 0, 3) <= 9)
		atomic_store(&zero_block, 4u << tw_bits(value, 0, 3));
	put_value(thread, TW_XTRACE_MRS, value);
	if (insn->op.kind == OP_RANDOM)
		put_value(thread, TW_XTRACE_MISC_FLAGS, machine_flags(&thread->machine));
}

static bool ends(uint64_t call)
{
	return call == CALL_EXIT || call == CALL_EXIT_GROUP;
}

static void release_calls(struct guest_thread *thread)
{
	if (thread->plan.wants)
		detail_release();
	thread->plan.wants = false;
}

static void close_thread(struct guest_thread *thread)
{
	stream_close(&thread->stream, board);
	release_calls(thread);
}

/* What must be known later, be it recorded or not. */
static void notice(struct guest_thread *thread, const struct insn *insn)
{
	const uint8_t *opcode = thread->block->tokens + block_offset(insn->index + 1u) - 4;
	if (insn->op.kind == OP_SVC) {
		execs_end(thread->exec, false);
		thread->exec = execs_begin(&thread->machine, board);
	}
	if (insn->op.kind == OP_SVC && calls_notice(&thread->machine))
		atomic_store(&several, true);
	if (insn->op.kind == OP_SVC && !thread->recording && ends(operand(thread, 8)))
		close_thread(thread);
	if (insn->op.kind != OP_MSR || (tw_load32(opcode, false) & ~0x1fu) != write_tpidr || has_several())
		return;
	machine_before_tpidr(&thread->machine);
	thread->tpidr = operand(thread, insn->op.rt);
	thread->pending |= AFTER_TPIDR;
}

static void before_write(struct guest_thread *thread, const struct insn *insn)
{
	put_value(thread, TW_XTRACE_MRS, operand(thread, insn->op.rt));
}

static void before_select(struct guest_thread *thread, const struct insn *insn)
{
	(void)insn;
	put_value(thread, TW_XTRACE_MISC_FLAGS, machine_flags(&thread->machine));
}

static void before_atomic(struct guest_thread *thread, const struct insn *insn)
{
	const struct opcode *op = &insn->op;
	bool is_compare = op->kind == OP_CAS;
	thread->address = base(thread, op->rn);
	for (unsigned i = 0; i < 2; i++) {
		thread->operands[i] = operand(thread, (op->rs + i) & 31u);
		thread->operands[2 + i] = operand(thread, (op->rt + i) & 31u);
	}
	if ((is_compare ? op->rs : op->rt) == ZERO_REGISTER &&
	    !machine_read(&thread->machine, thread->address, thread->old, op->total))
		memset(thread->old, 0, sizeof thread->old);
}

static void before_call(struct guest_thread *thread, const struct insn *insn)
{
	(void)insn;
	uint64_t number = operand(thread, 8);
	calls_enter(&thread->machine, &thread->stream, board);
	if (number == CALL_CLONE || number == CALL_CLONE3) /* what begins comes after this */
		put_value(thread, TW_XTRACE_TIME, take_order(thread));
	thread->block = NULL;
	thread->pending |= AFTER_CALL;
	if (ends(number))
		close_thread(thread);
}

/* HINT #9 begins and ends: neither is recorded. What is left of the block is. */
static void before_mark(struct guest_thread *thread, const struct insn *insn)
{
	enum { MOST = 100 }; /* beyond, to translate all again would take more time than to pass over it */
	if (thread->recording) {
		thread->recording = false;
		if (++thread->marks < MOST)
			release_calls(thread);
		return;
	}
	if (!thread->plan.wants)
		detail_want();
	thread->plan.wants = true;
	recording_begin(thread, board, is_ordered(thread));
	thread->cursor = (uint16_t)(insn->index + 1);
	thread->needs_pc = true;
	stream_snapshot(&thread->stream, board, &thread->machine);
}

typedef void (*step)(struct guest_thread *thread, const struct insn *insn);

/* For each kind, what it takes. `before` of a kind without `after` follows its INST at once. */
static const struct {
	step before, after;
	bool accesses;
} steps[] = {
    [OP_PLAIN] = {NULL, NULL, false},
    [OP_ACCESS] = {NULL, after_load, true},
    [OP_STXR] = {NULL, after_exclusive, false},
    [OP_ATOMIC] = {before_atomic, after_atomic, false},
    [OP_CAS] = {before_atomic, after_compare, false},
    [OP_ZERO] = {NULL, after_zero, false},
    [OP_MRS] = {NULL, after_read, false},
    [OP_RANDOM] = {NULL, after_read, false},
    [OP_MSR] = {before_write, NULL, false},
    [OP_SELECT] = {before_select, NULL, false},
    [OP_SVC] = {before_call, NULL, false},
    [OP_MARK] = {before_mark, NULL, false},
    [OP_BRANCH_REGISTER] = {NULL, NULL, false},
    [OP_TRAP] = {NULL, NULL, false},
};

bool thread_wants_before(const struct insn *insn)
{
	return steps[insn->op.kind].before && (insn->op.kind != OP_MARK || board->from_hint);
}

/* One thread alone finds in memory what it loaded, at once. */
bool thread_wants_after(const struct insn *insn)
{
	if (insn->op.kind == OP_ACCESS)
		return insn->op.is_load && has_several();
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
		put_value(thread, TW_XTRACE_TARGET_B, pc);
}

/* Nothing but the jump to the next block is left of most: the block is written, and no signal can have come. */
static inline bool leave(struct guest_thread *thread, uint64_t pc)
{
	const struct translated_block *block = thread->block;
	if (thread->pending || !block || thread->cursor != block->count || calls_any_handler(pc))
		return false;
	if (block->by_register)
		put_value(thread, TW_XTRACE_TARGET_B, pc);
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
		put_value(thread, TW_XTRACE_SVCRET, operand(thread, 0));
		execs_end(thread->exec, operand(thread, 0) == NO_EXEC);
		thread->exec = NULL;
	}
	if (thread->pending & AFTER_CALL || thread->is_interrupted)
		recording_put_registers(thread, board);
	if (thread->stream.last_count == thread->stream.count) /* the instruction behind the last snapshot never came */
		thread->stream.next_snapshot = thread->stream.count;
	thread->is_interrupted = false;
	thread->pending = 0;
}

static bool records_at_once(void)
{
	return !board->from_hint && !board->windows.count;
}

static struct guest_thread *thread_open(void)
{
	struct guest_thread *thread = calloc(1, sizeof *thread);
	if (!thread || !machine_open(&thread->machine)) {
		atomic_store(&board->refused, COLLECT_NO_REGISTERS);
		free(thread);
		return NULL;
	}
	atomic_store(&board->refused, COLLECT_BEGAN);
	thread->plan = plan_begin(&board->windows);
	if (records_at_once())
		recording_begin(thread, board, is_ordered(thread));
	self = thread;
	return thread;
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
	if (windows_have_step(thread))
		windows_follow(thread, board, true, is_ordered(thread));
	thread->block = block;
	thread->cursor = 0;
	thread->accessed = 0;
	if (!thread->recording) {
		thread->passed += block->count;
		return;
	}
	if (thread->stream.count >= thread->stream.next_snapshot)
		stream_snapshot(&thread->stream, board, &thread->machine);
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
	if (windows_have_step(thread))
		windows_follow(thread, board, false, is_ordered(thread));
	thread->block = block;
	thread->passed += block->count;
}

void thread_notice(unsigned cpu, void *data)
{
	const struct insn *insn = data;
	struct guest_thread *thread = self;
	(void)cpu;
	if (!thread && !(thread = thread_open()))
		return;
	thread->block = block_of(insn);
	notice(thread, insn);
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
	notice(thread, insn);
	if (!thread->recording && insn->op.kind != OP_MARK)
		return;
	bool is_whole = !steps[insn->op.kind].after && insn->op.kind != OP_MARK;
	if (is_whole)
		advance(thread, insn->index + 1u);
	steps[insn->op.kind].before(thread, insn);
	if (thread->block && thread->recording && !steps[insn->op.kind].after)
		advance(thread, insn->next);
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
	const uint8_t *tokens = thread->block->tokens, *value = thread->value;
	size_t from = block_offset(insn->index), own = block_offset(insn->index + 1u), next = block_offset(insn->next);
	uint8_t *to = stream_room(&thread->stream, board, next - from + 2ul * (9 + MACHINE_VECTOR) + 9);
	uint8_t token = (uint8_t)((insn->op.is_load ? 0x02 : 0x0a) | __builtin_ctz(insn->op.size) << 4);
	if (!to)
		return;
	to = stream_copy(to, tokens + from, own - from);
	for (unsigned i = 0; i < insn->op.count; i++, value += insn->op.size) {
		to = stream_value(to, token, thread->address + (uint64_t)i * insn->op.size);
		memcpy(to, value, MACHINE_VECTOR);
		to += insn->op.size;
	}
	if (is_ordered(thread))
		to = stream_value(to, time_token, take_order(thread));
	stream_add(&thread->stream, stream_copy(to, tokens + own, next - own));
	thread->stream.count += (uint64_t)insn->next - insn->index;
	thread->cursor = insn->next;
	thread->accessed = 0;
}

void thread_accessed(unsigned cpu, uint32_t info, uint64_t address, void *data)
{
	const struct insn *insn = data;
	struct guest_thread *thread = self;
	unsigned size = 1u << qemu_plugin_mem_size_shift(info);
	(void)cpu;
	if (!thread || !thread->recording || !thread->block || size > (unsigned)ACCESS_MAX - thread->accessed)
		return;
	if (thread->accessed == 0)
		thread->address = address;
	machine_accessed(info, address, thread->value + thread->accessed, size);
	thread->accessed = (uint8_t)(thread->accessed + size);
	if (thread->accessed < insn->op.total || insn->after)
		return;
	if (has_several() && !insn->op.is_load)
		take_registers(thread, &insn->op);
	if (thread->cursor == insn->index && !thread->needs_pc && !insn->op.is_structure) {
		put_accessed(thread, insn);
		return;
	}
	advance(thread, insn->index + 1u);
	put_accesses(thread, insn, insn->op.is_load, thread->value);
	put_order(thread);
	advance(thread, insn->next);
}

/* ---- Threads and processes. ---- */

/* A child process is a trace of its own. */
static void begin_child(void)
{
	struct guest_thread *thread = self;
	alive_begin(board);
	if (!thread)
		return;
	stream_abandon(&thread->stream);
	thread->pending = 0;
	thread->passed = 0;
	thread->exec = NULL;
	thread->owes_order = true;
	if (board->windows.count) {
		thread->recording = thread->began = false;
		thread->stream.count = 0;
		thread->plan = plan_begin(&board->windows);
		detail_begin_child(false);
	} else if (board->from_hint) {
		detail_begin_child(thread->plan.wants);
	}
	if (thread->recording)
		stream_open(&thread->stream, board, true);
}

void thread_setup(struct collect_board *shared)
{
	board = shared;
	pthread_atfork(NULL, NULL, begin_child);
}

void thread_end(void)
{
	if (self)
		stream_close(&self->stream, board);
}
