/* replay.c - instructions executed again by unicorn, token by token beside the trace.
 *
 * All instructions of the part are put into memory first. Loads are fed: what was recorded is written where it is about
 * to be read. Where code changes, the instruction at hand is taken from the trace. What unicorn cannot do as the traced
 * processor did (system registers, whether an exclusive store succeeds, system calls) is replaced by SVC, and done from
 * the trace (replaced.c). */
/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/replay.h"

#include "base/bytes/bytes.h"
#include "collect/opcode.h"
#include "replay/hooked.h"
#include "replay/state.h"
#include "xtrace/format/opcode.h"

#include <stdio.h>
#include <string.h>

enum { WORD = 4, PLACED = 1 << 12 };

static const uint32_t replacement = 0xd4000001; /* SVC #0 */

/* ---- Instructions, one after the other. ---- */

/* Behind an indirect branch: the top byte of an address may be a tag. */
static void compare_target(struct replay_state *run, uint64_t address)
{
	bool same = tw_bits(run->token.value, 0, 55) == tw_bits(address, 0, 55);
	if (run->token.kind == TW_XTRACE_TARGET_B && !same)
		replay_differ_number(run, "branch target", run->token.value, address);
}

/* The emulator begins a block: all of the one before is done. */
static void on_block(uc_engine *engine, uint64_t address, uint32_t size, void *context)
{
	struct replay_state *run = context;
	(void)engine;
	while (!run->resume.stopped && run->pc < run->end)
		replay_take(run);
	if (!run->resume.stopped)
		compare_target(run, address);
	if (run->resume.stopped)
		return;
	run->pc = address;
	run->end = address + size;
	run->extra.reads = 0;
	replay_skip_rest(run);
	if (run->token.kind == TW_XTRACE_UNKNOWN)
		replay_end(run);
	if (run->token.kind == TW_XTRACE_ALLGPR) {
		replay_interrupt(run);
	}
}

/* Goes on to the instruction that has the next access. */
static bool seek_access(struct replay_state *run, enum tw_xtrace_kind kind)
{
	while (!run->resume.stopped && run->token.kind != TW_XTRACE_LOAD && run->token.kind != TW_XTRACE_STORE)
		if (run->pc >= run->end) {
			replay_differ(run, "executed but not recorded", "nothing", tw_xtrace_kind_name(kind));
			return false;
		} else if (!replay_take(run)) {
			return false;
		}
	if (!run->resume.stopped && run->token.kind != kind)
		replay_differ(run, "access", tw_xtrace_kind_name(run->token.kind), tw_xtrace_kind_name(kind));
	return !run->resume.stopped;
}

/* Unicorn reads what goes over a border of its pages of 1 KiB again, as two that are aligned. */
static bool is_again(struct replay_state *run, uint64_t address, unsigned size)
{
	if (!run->extra.reads || address % size != 0 || address + 2ull * size <= run->extra.address ||
	    address >= run->extra.address + 2ull * size)
		return false;
	run->extra.reads--;
	return true;
}

/* Compares an access with as many tokens as it goes over, and feeds loads. */
static void compare_access(struct replay_state *run, enum tw_xtrace_kind kind, uint64_t address, unsigned size,
                           const uint8_t *value)
{
	for (unsigned done = 0, bytes; done < size && seek_access(run, kind); done += bytes) {
		uint32_t left = run->token.payload_size - run->used;
		const uint8_t *recorded = run->token.payload + run->used;
		bytes = size - done < left ? size - done : left;
		if (run->token.value + run->used != address + done) {
			replay_differ_number(run, kind == TW_XTRACE_LOAD ? "address of a load" : "address of a store",
			                     run->token.value + run->used, address + done);
			return;
		}
		if (kind == TW_XTRACE_LOAD) {
			replay_memory_write(&run->memory, address + done, recorded, bytes);
		} else if (memcmp(value + done, recorded, bytes) != 0) {
			replay_differ_bytes(run, "value of a store", recorded, value + done, bytes);
			return;
		}
		run->used += bytes;
		if (run->used == run->token.payload_size)
			replay_step(run);
	}
}

static void on_access(uc_engine *engine, uc_mem_type type, uint64_t address, int size, int64_t value, void *context)
{
	enum { BORDER = 1024 };
	struct replay_state *run = context;
	uint8_t bytes[8];
	(void)engine;
	if (run->resume.stopped || size <= 0 || size > 8)
		return;
	tw_store64(bytes, (uint64_t)value, false);
	if (type == UC_MEM_READ && is_again(run, address, (unsigned)size))
		return;
	compare_access(run, type == UC_MEM_READ ? TW_XTRACE_LOAD : TW_XTRACE_STORE, address, (unsigned)size, bytes);
	bool over = address / BORDER != (address + (unsigned)size - 1) / BORDER;
	run->extra.reads = type == UC_MEM_READ && over ? 2 : 0;
	run->extra.address = address & ~(uint64_t)(size - 1);
}

/* ---- Before a single instruction. ---- */

/* How an instruction stands in memory. */
static uint32_t placed_word(uint32_t opcode)
{
	return replay_is_replaced(opcode) ? replacement : opcode;
}

/* Whether another instruction is in memory than that of the trace, which comes next. */
static bool is_stale(struct replay_state *run)
{
	uint8_t bytes[WORD];
	bool is_inst = run->token.kind == TW_XTRACE_INST || run->token.kind == TW_XTRACE_PCINST;
	replay_memory_read(&run->memory, run->pc, bytes, sizeof bytes);
	return is_inst && tw_load32(bytes, false) != placed_word(run->token.opcode);
}

/* Takes what the trace has before an address. Returns whether the address comes next. */
static bool take_up_to(struct replay_state *run, uint64_t address)
{
	while (!run->resume.stopped && run->pc < address && run->pc < run->end)
		replay_take(run);
	if (!run->resume.stopped)
		replay_skip_rest(run);
	return !run->resume.stopped && run->pc == address;
}

/* A conditional select, or code that changes, about to be executed. */
static void on_place(uc_engine *engine, uint64_t address, uint32_t size, void *context)
{
	struct replay_state *run = context;
	(void)engine;
	(void)size;
	if (!take_up_to(run, address))
		return;
	if (is_stale(run)) {
		replay_renew(run);
		return;
	}
	if (opcode_of(run->token.opcode).kind != OP_SELECT || !replay_take(run))
		return;
	if (run->token.kind == TW_XTRACE_MISC_FLAGS)
		replay_compare_flags(run);
}

/* What a signal interrupted in the middle of a block is about to be executed: it must not be. */
static void on_edge(uc_engine *engine, uint64_t address, uint32_t size, void *context)
{
	struct replay_state *run = context;
	(void)engine;
	(void)size;
	if (take_up_to(run, address) && run->token.kind == TW_XTRACE_ALLGPR)
		replay_interrupt(run);
}

/* ---- Setting up. ---- */

enum { PAGE_BITS = 12, PAGES = 1 << 16 };

/* What is known of a part while it is set up. */
struct preparation {
	struct placed {
		uint64_t pc;
		uint32_t opcode;
		bool known;
	} placed[PLACED];             /* instructions that are in their places */
	struct replay_hooked *edges;  /* behind what signals interrupted */
	struct replay_hooked *places; /* of conditional selects, and of code that changes */
	uint8_t stored[PAGES];        /* pages that the program stores to, perhaps */
};

static uint8_t *stored_page(struct preparation *preparation, uint64_t address)
{
	return &preparation->stored[(address >> PAGE_BITS) * UINT64_C(0x9e3779b97f4a7c15) >> 48];
}

/* What the program stores over an instruction is not what stands for it here. */
static void note_store(struct preparation *preparation, const struct tw_xtrace_token *token)
{
	for (uint64_t at = token->value & ~(uint64_t)(WORD - 1); at < token->value + token->payload_size; at += WORD) {
		struct placed *one = &preparation->placed[at / WORD % PLACED];
		one->known &= one->pc != at;
		*stored_page(preparation, at) = 1;
	}
}

/* Puts an instruction into memory, where there is none. Where it changes, it is looked at each time. */
static void place(struct replay_state *run, struct preparation *preparation, uint64_t pc, uint32_t opcode)
{
	uint8_t bytes[WORD];
	uint32_t word = placed_word(opcode);
	replay_memory_read(&run->memory, pc, bytes, sizeof bytes);
	uint32_t there = tw_load32(bytes, false);
	bool changes = (there != 0 && there != word) || (word == replacement && *stored_page(preparation, pc));
	if (changes || opcode_of(opcode).kind == OP_SELECT)
		replay_hooked_add(preparation->places, pc);
	if (there != 0)
		return;
	tw_store32(bytes, word, false);
	replay_memory_write(&run->memory, pc, bytes, sizeof bytes);
}

/* The same, for one that may have been put there before: most have. Returns false without memory. */
static inline bool place_again(struct replay_state *run, struct preparation *preparation, uint64_t pc, uint32_t opcode)
{
	struct placed *one = &preparation->placed[pc / WORD % PLACED];
	if (one->known && one->pc == pc && one->opcode == opcode)
		return true;
	if (!replay_memory_need(&run->memory, pc, WORD))
		return false;
	place(run, preparation, pc, opcode);
	*one = (struct placed){pc, opcode, true};
	return true;
}

/* What SVE leaves in registers is in no token: the part ends before its first instruction. */
static void end_before_scalable(struct replay_state *run, size_t at)
{
	struct tw_xtrace_token token;
	run->result->end = REPLAY_SCALABLE;
	for (; replay_decode(run->part->tokens + at, run->part->size - at, &token) == 1; at += token.size)
		run->result->left_out +=
		    (token.kind == TW_XTRACE_INST || token.kind == TW_XTRACE_PCINST) && token.level == 0;
}

/* All code and memory of the part. *size: its bytes, fewer where it is damaged or has SVE. Returns false without
 * memory. */
static bool prepare(struct replay_state *run, struct replay_hooked *edges, struct replay_hooked *places, size_t *size)
{
	struct preparation preparation = {.edges = edges, .places = places};
	uint32_t opcode = 0;
	struct tw_xtrace_token token;
	uint64_t pc = run->part->before;
	size_t at = 0;
	bool in_kernel = false;
	while (replay_decode(run->part->tokens + at, run->part->size - at, &token) == 1) {
		bool is_access = token.kind == TW_XTRACE_LOAD || token.kind == TW_XTRACE_STORE;
		bool is_inst = token.kind == TW_XTRACE_INST || token.kind == TW_XTRACE_PCINST;
		if (is_inst)
			pc = token.kind == TW_XTRACE_PCINST ? token.pc : pc + WORD;
		opcode = is_inst ? token.opcode : opcode;
		in_kernel = is_inst ? token.level > 0 : in_kernel;
		if (in_kernel) {
			at += token.size;
			continue;
		}
		if (is_inst && xtrace_is_scalable(opcode)) {
			end_before_scalable(run, at);
			*size = at;
			return true;
		}
		if (token.kind == TW_XTRACE_ALLGPR && opcode_of(opcode).kind != OP_SVC)
			replay_hooked_add(preparation.edges, pc + WORD);
		if (is_inst && !place_again(run, &preparation, pc, token.opcode))
			return false;
		if (is_access && !replay_memory_need(&run->memory, token.value, token.payload_size))
			return false;
		if (token.kind == TW_XTRACE_STORE)
			note_store(&preparation, &token);
		at += token.size;
	}
	if (at < run->part->size && run->result->end == REPLAY_SAME)
		run->result->end = REPLAY_DAMAGED;
	*size = at;
	return true;
}

static void set_state(struct replay_state *run)
{
	const struct tw_xtrace_snapshot *start = run->part->start;
	uint64_t nzcv = start->nzcv;
	size_t size = (size_t)(start->vector_bits / 8);
	replay_set_registers(run, start->x);
	for (int i = 0; start->z && i < 32; i++)
		replay_emulator.uc_reg_write(run->engine, UC_ARM64_REG_V0 + i, start->z + (size_t)i * size);
	replay_emulator.uc_reg_write(run->engine, UC_ARM64_REG_NZCV, &nzcv);
	replay_emulator.uc_reg_write(run->engine, UC_ARM64_REG_FPCR, &start->fpcr);
	replay_emulator.uc_reg_write(run->engine, UC_ARM64_REG_FPSR, &start->fpsr);
	replay_emulator.uc_reg_write(run->engine, UC_ARM64_REG_TPIDR_EL0, &start->tpidr_el0);
}

static uc_err open_engine(struct replay_state *run)
{
	uc_hook hook;
	uc_err error = replay_emulator.uc_open(UC_ARCH_ARM64, UC_MODE_ARM, &run->engine);
	if (error != UC_ERR_OK)
		return error;
	error = replay_emulator.uc_ctl(run->engine, UC_CTL_WRITE(UC_CTL_CPU_MODEL, 1), UC_CPU_ARM64_MAX);
	const struct {
		int type;
		void *call;
	} hooks[] = {
	    {UC_HOOK_BLOCK, (void *)(uintptr_t)on_block},
	    {UC_HOOK_MEM_READ | UC_HOOK_MEM_WRITE, (void *)(uintptr_t)on_access},
	    {UC_HOOK_INTR, (void *)(uintptr_t)replay_on_replaced},
	};
	for (size_t i = 0; error == UC_ERR_OK && i < sizeof hooks / sizeof *hooks; i++)
		error = replay_emulator.uc_hook_add(run->engine, &hook, hooks[i].type, hooks[i].call, run, (uint64_t)1,
		                                    (uint64_t)0);
	return error;
}

/* ---- Running. ---- */

/* A signal's handler begins where nothing led, and when it returns everything is as it was, though perhaps for the next
 * handler only. Returns false where that is not known. */
static bool follow_signal(struct replay_state *run, uint64_t sp)
{
	uint64_t pc = run->pc;
	if (run->returns.pending && !replay_signals_return(&run->signals, run->engine, run->returns.sp, &pc))
		return false;
	run->returns.pending = false;
	if (run->token.pc != pc)
		replay_signals_begin(&run->signals, run->engine, sp, pc);
	return true;
}

/* Behind an exception: ALLGPR, and the PC that comes next. */
static bool resume(struct replay_state *run)
{
	uint64_t x[TW_XTRACE_REGISTERS];
	for (size_t i = 0; i < TW_XTRACE_REGISTERS; i++)
		x[i] = tw_xtrace_word(run->token.payload, i);
	replay_set_registers(run, x);
	replay_step(run);
	run->resume.at = run->token.pc;
	if (run->token.kind != TW_XTRACE_PCINST)
		return false;
	if (follow_signal(run, x[TW_XTRACE_REGISTERS - 1]))
		return true;
	run->result->end = REPLAY_RETURNED;
	return false;
}

/* Puts the instruction of the trace where another is. */
static bool renew(struct replay_state *run)
{
	uint8_t bytes[WORD];
	tw_store32(bytes, placed_word(run->token.opcode), false);
	replay_memory_write(&run->memory, run->resume.at, bytes, sizeof bytes);
	return replay_emulator.uc_ctl(run->engine, UC_CTL_WRITE(UC_CTL_TB_REMOVE_CACHE, 2), run->resume.at,
	                              run->resume.at + WORD) == UC_ERR_OK;
}

static bool begins_in_kernel(const struct replay_part *part)
{
	struct tw_xtrace_token token;
	return replay_decode(part->tokens, part->size, &token) == 1 && token.level > 0;
}

static void run_all(struct replay_state *run)
{
	if (begins_in_kernel(run->part)) {
		run->result->end = REPLAY_KERNEL;
		return;
	}
	replay_look(run);
	run->last_pc = run->part->before;
	run->resume.at = run->token.kind == TW_XTRACE_PCINST ? run->token.pc : run->last_pc + WORD;
	if (run->token.kind != TW_XTRACE_PCINST && !(run->token.kind == TW_XTRACE_INST && run->part->has_before)) {
		run->result->end = REPLAY_IMPOSSIBLE;
		snprintf(run->result->what, sizeof run->result->what, "no PCINST tells where the snapshot goes on");
		return;
	}
	for (bool going = true; going;) {
		run->pc = run->end = run->resume.at;
		run->resume.stopped = run->resume.needed = run->resume.renews = false;
		uc_err error = replay_emulator.uc_emu_start(run->engine, run->resume.at, UINT64_MAX, 0, 0);
		if (run->resume.needed) {
			going = resume(run);
			continue;
		}
		if (run->resume.renews) {
			going = renew(run);
			continue;
		}
		while (!run->resume.stopped && run->pc < run->end)
			replay_take(run);
		replay_skip_rest(run);
		if (!run->finished && run->token.kind != TW_XTRACE_UNKNOWN) /* a jump to what is of the next part */
			replay_differ(run, "execution", "to go on", replay_emulator.uc_strerror(error));
		return;
	}
}

/* Returns false where memory is too crowded for chunks of that size. */
static bool run_in_chunks(const struct replay_part *part, unsigned chunk_bits, struct replay_result *result)
{
	struct replay_part own = *part;
	struct replay_state run = {.part = &own, .result = result};
	struct replay_hooked edges = {.call = on_edge, .run = &run}, places = {.call = on_place, .run = &run};
	*result = (struct replay_result){.end = REPLAY_SAME};
	uc_err error = open_engine(&run);
	bool ready = error == UC_ERR_OK && replay_memory_open(&run.memory, run.engine, chunk_bits) &&
	             prepare(&run, &edges, &places, &own.size);
	if (ready && own.size) {
		replay_hooked_set(&edges);
		replay_hooked_set(&places);
		set_state(&run);
		run_all(&run);
	} else if (!ready && part->size) {
		result->end = error || run.memory.crowded ? REPLAY_IMPOSSIBLE : REPLAY_NO_MEMORY;
		snprintf(result->what, sizeof result->what, "%s",
		         error ? replay_emulator.uc_strerror(error) : "its memory is at too many places");
	}
	if (result->end != REPLAY_DIFFERENT)
		result->offset = part->offset + run.at;
	bool crowded = run.memory.crowded;
	if (run.engine)
		replay_emulator.uc_close(run.engine);
	replay_memory_close(&run.memory);
	return !crowded;
}

void replay_run(const struct replay_part *part, struct replay_result *result)
{
	enum { FINEST = 22, STEP = 5, COARSEST = 32 };
	unsigned chunk_bits = FINEST;
	while (!run_in_chunks(part, chunk_bits, result) && chunk_bits < COARSEST)
		chunk_bits += STEP;
}
