/* replay.c - instructions executed again by unicorn, token by token beside the trace.
 *
 * All instructions of the part are put into memory first. Loads are fed: what was recorded is written where it is about
 * to be read. What unicorn cannot do as the traced processor did (system registers, whether an exclusive store
 * succeeds, system calls) is replaced by SVC, and done here from the trace. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/replay.h"

#include "base/bytes.h"
#include "collect/opcode.h"
#include "replay/memory.h"
#include "replay/signals.h"

#include <stdio.h>
#include <string.h>

enum { ZERO_REGISTER = 31, WORD = 4, PLACED = 1 << 12 };

static const uint32_t replacement = 0xd4000001; /* SVC #0 */

struct run {
	const struct replay_part *part;
	struct replay_result *result;
	uc_engine *engine;
	struct replay_memory memory;
	size_t at;                    /* the next token */
	struct tw_xtrace_token token; /* decoded at `at`; of unknown kind at the end */
	uint32_t used;                /* bytes of it, an access, that were compared */
	uint64_t pc, end;             /* of the block that the emulator is in: what is not yet compared */
	uint64_t last_pc;             /* of the instruction that was compared last, for INST */
	size_t inst_at;               /* its token */
	uint32_t opcode;
	uint64_t resume; /* where to go on when the emulator was stopped */
	unsigned extra;  /* reads that the emulator makes again in parts */
	uint64_t extra_address;
	bool stopped, must_resume, finished;
	bool returns;      /* from a signal's handler: */
	uint64_t frame_sp; /* its SP */
	struct replay_signals signals;
};

/* ---- Tokens. ---- */

/* Decodes a token. Most are INST of user mode: they are told apart first. `make bench` measures it (replay). */
static inline int decode(const uint8_t *bytes, size_t left, struct tw_xtrace_token *token)
{
	enum { INST = 0x01, INST_SIZE = 5 };
	if (left < INST_SIZE || bytes[0] != INST)
		return tw_xtrace_decode(bytes, left, token);
	*token =
	    (struct tw_xtrace_token){.kind = TW_XTRACE_INST, .opcode = tw_load32(bytes + 1, false), .size = INST_SIZE};
	return 1;
}

static void look(struct run *run)
{
	size_t left = run->part->size - run->at;
	int status = decode(run->part->tokens + run->at, left, &run->token);
	run->used = 0;
	if (status != 1)
		run->token.kind = TW_XTRACE_UNKNOWN;
}

static void step(struct run *run)
{
	run->at += run->token.size;
	look(run);
}

static void stop(struct run *run)
{
	run->stopped = true;
	replay_emulator.uc_emu_stop(run->engine);
}

/* The trace has no more: fine. */
static void end(struct run *run)
{
	run->finished = true;
	stop(run);
}

static void differ(struct run *run, const char *what, const char *expected, const char *found)
{
	struct replay_result *result = run->result;
	if (run->stopped)
		return;
	result->end = REPLAY_DIFFERENT;
	result->offset = run->part->offset + run->inst_at;
	result->pc = run->last_pc;
	result->opcode = run->opcode;
	snprintf(result->what, sizeof result->what, "%s", what);
	snprintf(result->expected, sizeof result->expected, "%s", expected);
	snprintf(result->found, sizeof result->found, "%s", found);
	for (int i = 0; i < 29; i++)
		replay_emulator.uc_reg_read(run->engine, UC_ARM64_REG_X0 + i, &result->x[i]);
	replay_emulator.uc_reg_read(run->engine, UC_ARM64_REG_X29, &result->x[29]);
	replay_emulator.uc_reg_read(run->engine, UC_ARM64_REG_X30, &result->x[30]);
	replay_emulator.uc_reg_read(run->engine, UC_ARM64_REG_SP, &result->x[31]);
	end(run);
}

static void differ_number(struct run *run, const char *what, uint64_t expected, uint64_t found)
{
	char left[32], right[32];
	snprintf(left, sizeof left, "0x%llx", (unsigned long long)expected);
	snprintf(right, sizeof right, "0x%llx", (unsigned long long)found);
	differ(run, what, left, right);
}

static void differ_bytes(struct run *run, const char *what, const uint8_t *expected, const uint8_t *found, size_t size)
{
	enum { SHOWN = 16 };
	char left[2 * SHOWN + 1] = "", right[2 * SHOWN + 1] = "";
	for (; size > SHOWN && memcmp(expected, found, SHOWN) == 0; size -= SHOWN, expected += SHOWN)
		found += SHOWN;
	for (size_t i = 0; i < size && i < SHOWN; i++) {
		snprintf(left + 2 * i, 3, "%02x", expected[i]);
		snprintf(right + 2 * i, 3, "%02x", found[i]);
	}
	differ(run, what, left, right);
}

/* ---- Registers. ---- */

static int register_of(unsigned number)
{
	return number < 29    ? UC_ARM64_REG_X0 + (int)number
	       : number == 29 ? UC_ARM64_REG_X29
	       : number == 30 ? UC_ARM64_REG_X30
	                      : UC_ARM64_REG_SP;
}

static uint64_t operand(const struct run *run, unsigned number)
{
	uint64_t value = 0;
	if (number != ZERO_REGISTER)
		replay_emulator.uc_reg_read(run->engine, register_of(number), &value);
	return value;
}

static void set_operand(const struct run *run, unsigned number, uint64_t value)
{
	if (number != ZERO_REGISTER)
		replay_emulator.uc_reg_write(run->engine, register_of(number), &value);
}

static void set_registers(const struct run *run, const uint64_t *x)
{
	for (unsigned i = 0; i < TW_XTRACE_REGISTERS; i++)
		replay_emulator.uc_reg_write(run->engine, register_of(i), &x[i]);
}

/* ---- Instructions, one after the other. ---- */

/* What belongs to the instruction before and is not of its accesses. */
static void skip_rest(struct run *run)
{
	while (!run->stopped && (run->token.kind == TW_XTRACE_MISC_FLAGS || run->token.kind == TW_XTRACE_TARGET_B ||
	                         run->token.kind == TW_XTRACE_MRS || run->token.kind == TW_XTRACE_TIME))
		step(run);
}

/* The next instruction of the trace must be where the emulator is. Returns whether it is. */
static bool take(struct run *run)
{
	skip_rest(run);
	switch (run->token.kind) {
	case TW_XTRACE_INST:
	case TW_XTRACE_PCINST:
		break;
	case TW_XTRACE_UNKNOWN:
		end(run);
		return false;
	case TW_XTRACE_ALLGPR: /* an exception came: the emulator goes no further here */
		run->must_resume = true;
		stop(run);
		return false;
	default:
		differ(run, "recorded but not executed", tw_xtrace_kind_name(run->token.kind), "nothing");
		return false;
	}
	uint64_t pc = run->token.kind == TW_XTRACE_PCINST ? run->token.pc : run->last_pc + WORD;
	if (pc != run->pc) {
		differ_number(run, "next PC", pc, run->pc);
		return false;
	}
	run->last_pc = pc;
	run->inst_at = run->at;
	run->opcode = run->token.opcode;
	run->pc += WORD;
	run->result->instructions++;
	step(run);
	return true;
}

/* Behind an indirect branch: the top byte of an address may be a tag. */
static void compare_target(struct run *run, uint64_t address)
{
	bool same = tw_bits(run->token.value, 0, 55) == tw_bits(address, 0, 55);
	if (run->token.kind == TW_XTRACE_TARGET_B && !same)
		differ_number(run, "branch target", run->token.value, address);
}

/* The emulator begins a block: all of the one before is done. */
static void on_block(uc_engine *engine, uint64_t address, uint32_t size, void *context)
{
	struct run *run = context;
	(void)engine;
	while (!run->stopped && run->pc < run->end)
		take(run);
	if (!run->stopped)
		compare_target(run, address);
	if (run->stopped)
		return;
	run->pc = address;
	run->end = address + size;
	run->extra = 0;
	skip_rest(run);
	if (run->token.kind == TW_XTRACE_UNKNOWN)
		end(run);
	if (run->token.kind == TW_XTRACE_ALLGPR) {
		run->must_resume = true;
		stop(run);
	}
}

/* Goes on to the instruction that has the next access. */
static bool seek_access(struct run *run, enum tw_xtrace_kind kind)
{
	while (!run->stopped && run->token.kind != TW_XTRACE_LOAD && run->token.kind != TW_XTRACE_STORE)
		if (run->pc >= run->end) {
			differ(run, "executed but not recorded", "nothing", tw_xtrace_kind_name(kind));
			return false;
		} else if (!take(run)) {
			return false;
		}
	if (!run->stopped && run->token.kind != kind)
		differ(run, "access", tw_xtrace_kind_name(run->token.kind), tw_xtrace_kind_name(kind));
	return !run->stopped;
}

/* Unicorn reads what goes over a border of its pages of 1 KiB again, as two that are aligned. */
static bool is_again(struct run *run, uint64_t address, unsigned size)
{
	if (!run->extra || address % size != 0 || address + 2ull * size <= run->extra_address ||
	    address >= run->extra_address + 2ull * size)
		return false;
	run->extra--;
	return true;
}

/* Compares an access with as many tokens as it goes over, and feeds loads. */
static void compare_access(struct run *run, enum tw_xtrace_kind kind, uint64_t address, unsigned size,
                           const uint8_t *value)
{
	for (unsigned done = 0, bytes; done < size && seek_access(run, kind); done += bytes) {
		uint32_t left = run->token.payload_size - run->used;
		const uint8_t *recorded = run->token.payload + run->used;
		bytes = size - done < left ? size - done : left;
		if (run->token.value + run->used != address + done) {
			differ_number(run, kind == TW_XTRACE_LOAD ? "address of a load" : "address of a store",
			              run->token.value + run->used, address + done);
			return;
		}
		if (kind == TW_XTRACE_LOAD) {
			replay_memory_write(&run->memory, address + done, recorded, bytes);
		} else if (memcmp(value + done, recorded, bytes) != 0) {
			differ_bytes(run, "value of a store", recorded, value + done, bytes);
			return;
		}
		run->used += bytes;
		if (run->used == run->token.payload_size)
			step(run);
	}
}

static void on_access(uc_engine *engine, uc_mem_type type, uint64_t address, int size, int64_t value, void *context)
{
	enum { BORDER = 1024 };
	struct run *run = context;
	uint8_t bytes[8];
	(void)engine;
	if (run->stopped || size <= 0 || size > 8)
		return;
	tw_store64(bytes, (uint64_t)value, false);
	if (type == UC_MEM_READ && is_again(run, address, (unsigned)size))
		return;
	compare_access(run, type == UC_MEM_READ ? TW_XTRACE_LOAD : TW_XTRACE_STORE, address, (unsigned)size, bytes);
	bool over = address / BORDER != (address + (unsigned)size - 1) / BORDER;
	run->extra = type == UC_MEM_READ && over ? 2 : 0;
	run->extra_address = address & ~(uint64_t)(size - 1);
}

/* ---- What is replaced. ---- */

static uint32_t hint_of(uint32_t opcode)
{
	return (opcode & 0xfffff01f) == 0xd503201f ? (opcode >> 5 & 0x7f) : UINT32_MAX;
}

static bool is_replaced(uint32_t word)
{
	struct opcode op = opcode_of(word);
	uint32_t hint = hint_of(word);
	return op.kind == OP_SVC || op.kind == OP_MRS || op.kind == OP_RANDOM || op.kind == OP_STXR ||
	       op.kind == OP_CAS || op.kind == OP_ZERO || (hint >= 1 && hint <= 5);
}

/* The bytes of the registers that STXR, STXP, CAS and CASP store. */
static void stored_bytes(const struct run *run, const struct opcode *op, uint8_t bytes[16])
{
	for (unsigned i = 0; i < op->count; i++) {
		uint8_t word[8];
		unsigned second = op->kind == OP_CAS ? op->rt + 1u : op->rt2;
		tw_store64(word, operand(run, i ? second : op->rt), false);
		memcpy(bytes + (size_t)i * op->size, word, op->size);
	}
}

/* Compares STORE tokens with bytes. */
static void compare_stores(struct run *run, const struct opcode *op, uint64_t address, const uint8_t *bytes)
{
	for (unsigned done = 0; !run->stopped && run->token.kind == TW_XTRACE_STORE; step(run)) {
		if (run->token.payload_size > op->total - done)
			differ_number(run, "bytes of a store", op->total, done + run->token.payload_size);
		else if (run->token.value != address + done)
			differ_number(run, "address of a store", run->token.value, address + done);
		else if (memcmp(run->token.payload, bytes + done, run->token.payload_size) != 0)
			differ_bytes(run, "value of a store", run->token.payload, bytes + done,
			             run->token.payload_size);
		if (run->stopped)
			return;
		replay_memory_write(&run->memory, run->token.value, run->token.payload, run->token.payload_size);
		done += run->token.payload_size;
	}
}

static uint64_t base_of(const struct run *run, const struct opcode *op)
{
	uint64_t value = 0;
	replay_emulator.uc_reg_read(run->engine, register_of(op->rn), &value);
	return tw_bits(value, 0, 55);
}

static void skip_order(struct run *run)
{
	while (run->token.kind == TW_XTRACE_TIME)
		step(run);
}

static void do_exclusive(struct run *run, const struct opcode *op)
{
	uint8_t bytes[16] = {0};
	stored_bytes(run, op, bytes);
	compare_stores(run, op, base_of(run, op), bytes);
	skip_order(run);
	if (run->stopped || run->token.kind != TW_XTRACE_STXR)
		return;
	set_operand(run, op->rs, run->token.value);
	step(run);
}

static void do_compare(struct run *run, const struct opcode *op)
{
	uint8_t bytes[16] = {0}, old[16] = {0};
	uint64_t address = base_of(run, op);
	size_t done = 0;
	stored_bytes(run, op, bytes);
	for (; run->token.kind == TW_XTRACE_LOAD && run->token.payload_size <= op->total - done; step(run)) {
		if (run->token.value != address + done)
			differ_number(run, "address of a load", run->token.value, address + done);
		memcpy(old + done, run->token.payload, run->token.payload_size);
		done += run->token.payload_size;
	}
	compare_stores(run, op, address, bytes);
	for (unsigned i = 0; i < op->count; i++) {
		uint8_t word[8] = {0};
		memcpy(word, old + (size_t)i * op->size, op->size);
		set_operand(run, op->rs + i, tw_load64(word, false));
	}
}

static void compare_zeros(struct run *run, uint64_t address)
{
	static const uint8_t zeros[2048];
	const struct tw_xtrace_token *token = &run->token;
	if (token->value != address)
		differ_number(run, "address of a store", token->value, address);
	else if (token->payload_size > sizeof zeros || memcmp(token->payload, zeros, token->payload_size) != 0)
		differ_bytes(run, "value of a store", token->payload, zeros, token->payload_size);
	if (!run->stopped)
		replay_memory_write(&run->memory, token->value, token->payload, token->payload_size);
}

/* DC ZVA: how large its blocks are is what it stores. */
static void do_zero(struct run *run, const struct opcode *op)
{
	uint64_t address = operand(run, op->rt), first = 0, size = 0;
	if (run->token.kind == TW_XTRACE_DC && run->token.value != address)
		differ_number(run, "address of DC ZVA", run->token.value, address);
	if (run->token.kind == TW_XTRACE_DC)
		step(run);
	for (; !run->stopped && run->token.kind == TW_XTRACE_STORE; step(run)) {
		first = size ? first : run->token.value;
		compare_zeros(run, first + size);
		size += run->token.payload_size;
	}
	uint64_t block = size ? tw_bits(address, 0, 55) & ~(size - 1) : 0;
	bool is_block = size && (size & (size - 1)) == 0;
	if (is_block && block != first)
		differ_number(run, "address of a store", first, block);
}

static void compare_flags(struct run *run)
{
	const uint64_t nzcv = 0xf0000000;
	uint64_t flags = 0;
	replay_emulator.uc_reg_read(run->engine, UC_ARM64_REG_NZCV, &flags);
	if ((flags & nzcv) != (run->token.value & nzcv))
		differ_number(run, "NZCV", run->token.value, flags & nzcv);
}

static void do_read(struct run *run, const struct opcode *op)
{
	const uint32_t read_nzcv = 0xd53b4200;
	if (run->token.kind != TW_XTRACE_MRS)
		return;
	if ((run->opcode & ~0x1fu) == read_nzcv)
		compare_flags(run);
	set_operand(run, op->rt, run->token.value);
	step(run);
	if (op->kind == OP_RANDOM && run->token.kind == TW_XTRACE_MISC_FLAGS)
		replay_emulator.uc_reg_write(run->engine, UC_ARM64_REG_NZCV, &run->token.value);
}

/* Arguments are compared; what the kernel did comes with ALLGPR. */
static void do_call(struct run *run)
{
	enum { SIGRETURN = 139 };
	static const uint8_t registers[] = {8, 0, 1, 2, 3, 4, 5};
	run->returns = operand(run, 8) == SIGRETURN;
	replay_emulator.uc_reg_read(run->engine, UC_ARM64_REG_SP, &run->frame_sp);
	for (size_t i = 0; run->token.kind == TW_XTRACE_SVCARG && i < sizeof registers; i++) {
		uint64_t value = operand(run, registers[i]);
		if (run->token.value != value)
			differ_number(run, "argument of a system call", run->token.value, value);
		if (run->stopped)
			return;
		step(run);
	}
	while (run->token.kind == TW_XTRACE_SYSCALL_VEC || run->token.kind == TW_XTRACE_SVCRET ||
	       run->token.kind == TW_XTRACE_TIME)
		step(run);
	if (run->token.kind == TW_XTRACE_ALLGPR) {
		run->must_resume = true;
		stop(run);
	}
}

static void on_replaced(uc_engine *engine, uint32_t number, void *context)
{
	struct run *run = context;
	(void)engine;
	(void)number;
	do
		if (run->stopped || !take(run))
			return;
	while (!is_replaced(run->opcode));
	struct opcode op = opcode_of(run->opcode);
	switch ((enum op_kind)op.kind) {
	case OP_STXR:
		do_exclusive(run, &op);
		return;
	case OP_CAS:
		do_compare(run, &op);
		return;
	case OP_ZERO:
		do_zero(run, &op);
		return;
	case OP_MRS:
	case OP_RANDOM:
		do_read(run, &op);
		return;
	case OP_SVC:
		do_call(run);
		return;
	default: /* a hint */
		return;
	}
}

/* A conditional select, about to be executed. */
static void on_select(uc_engine *engine, uint64_t address, uint32_t size, void *context)
{
	struct run *run = context;
	(void)engine;
	(void)size;
	while (!run->stopped && run->pc <= address)
		take(run);
	if (!run->stopped && run->token.kind == TW_XTRACE_MISC_FLAGS)
		compare_flags(run);
}

/* ---- Signals. ---- */

/* What a signal interrupted in the middle of a block is about to be executed: it must not be. */
static void on_edge(uc_engine *engine, uint64_t address, uint32_t size, void *context)
{
	struct run *run = context;
	(void)engine;
	(void)size;
	while (!run->stopped && run->pc < address && run->pc < run->end)
		take(run);
	if (!run->stopped)
		skip_rest(run);
	if (run->stopped || run->pc != address || run->token.kind != TW_XTRACE_ALLGPR)
		return;
	run->must_resume = true;
	stop(run);
}

/* The places behind what signals interrupted in a part. */
struct edges {
	uint64_t known[PLACED];
};

static void place_edge(struct run *run, struct edges *edges, uint64_t pc)
{
	uint64_t *known = &edges->known[pc / WORD % PLACED];
	uc_hook hook;
	if (*known != pc)
		replay_emulator.uc_hook_add(run->engine, &hook, UC_HOOK_CODE, (void *)(uintptr_t)on_edge, run, pc, pc);
	*known = pc;
}

/* ---- Before. ---- */

/* Puts an instruction into memory. Returns false when another is there. */
static bool place(struct run *run, uint64_t pc, uint32_t opcode)
{
	uint8_t bytes[WORD];
	uc_hook hook;
	replay_memory_read(&run->memory, pc, bytes, sizeof bytes);
	uint32_t there = tw_load32(bytes, false);
	if (there == opcode)
		return true;
	if (there != 0)
		return there == replacement && is_replaced(opcode);
	tw_store32(bytes, is_replaced(opcode) ? replacement : opcode, false);
	replay_memory_write(&run->memory, pc, bytes, sizeof bytes);
	if (opcode_of(opcode).kind == OP_SELECT)
		replay_emulator.uc_hook_add(run->engine, &hook, UC_HOOK_CODE, (void *)(uintptr_t)on_select, run, pc,
		                            pc);
	return true;
}

/* Instructions that are in their places. */
struct placed {
	uint64_t pc;
	uint32_t opcode;
	bool known;
};

/* The same, for one that may have been put there before: most have. */
static inline bool place_again(struct run *run, struct placed *all, uint64_t pc, uint32_t opcode, bool *no_memory)
{
	struct placed *one = &all[pc / WORD % PLACED];
	if (one->known && one->pc == pc && one->opcode == opcode)
		return true;
	*no_memory = !replay_memory_need(&run->memory, pc, WORD);
	one->known = !*no_memory && place(run, pc, opcode);
	one->pc = pc;
	one->opcode = opcode;
	return one->known;
}

/* All code and memory of the part. Returns its size, less where it is damaged or the program changes its own code; 0
 * without memory. */
static size_t prepare(struct run *run)
{
	struct placed placed[PLACED] = {0};
	struct edges edges = {0};
	uint32_t opcode = 0;
	struct tw_xtrace_token token;
	uint64_t pc = 0;
	size_t at = 0;
	while (decode(run->part->tokens + at, run->part->size - at, &token) == 1) {
		bool is_access = token.kind == TW_XTRACE_LOAD || token.kind == TW_XTRACE_STORE, no_memory = false;
		bool is_inst = token.kind == TW_XTRACE_INST || token.kind == TW_XTRACE_PCINST;
		if (is_inst)
			pc = token.kind == TW_XTRACE_PCINST ? token.pc : pc + WORD;
		opcode = is_inst ? token.opcode : opcode;
		if (token.kind == TW_XTRACE_ALLGPR && opcode_of(opcode).kind != OP_SVC)
			place_edge(run, &edges, pc + WORD);
		if (is_inst && !place_again(run, placed, pc, token.opcode, &no_memory) && !no_memory) {
			run->result->end = REPLAY_CHANGED;
			break;
		}
		if (no_memory || (is_access && !replay_memory_need(&run->memory, token.value, token.payload_size)))
			return 0;
		at += token.size;
	}
	if (at < run->part->size && run->result->end == REPLAY_SAME)
		run->result->end = REPLAY_DAMAGED;
	return at;
}

static void set_state(struct run *run)
{
	const struct tw_xtrace_snapshot *start = run->part->start;
	uint64_t nzcv = start->nzcv;
	size_t size = (size_t)(start->vector_bits / 8);
	set_registers(run, start->x);
	for (int i = 0; start->z && i < 32; i++)
		replay_emulator.uc_reg_write(run->engine, UC_ARM64_REG_V0 + i, start->z + (size_t)i * size);
	replay_emulator.uc_reg_write(run->engine, UC_ARM64_REG_NZCV, &nzcv);
	replay_emulator.uc_reg_write(run->engine, UC_ARM64_REG_FPCR, &start->fpcr);
	replay_emulator.uc_reg_write(run->engine, UC_ARM64_REG_FPSR, &start->fpsr);
	replay_emulator.uc_reg_write(run->engine, UC_ARM64_REG_TPIDR_EL0, &start->tpidr_el0);
}

static uc_err open_engine(struct run *run)
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
	    {UC_HOOK_INTR, (void *)(uintptr_t)on_replaced},
	};
	for (size_t i = 0; error == UC_ERR_OK && i < sizeof hooks / sizeof *hooks; i++)
		error = replay_emulator.uc_hook_add(run->engine, &hook, hooks[i].type, hooks[i].call, run, (uint64_t)1,
		                                    (uint64_t)0);
	return error;
}

/* ---- Running. ---- */

/* A signal's handler begins where nothing led, and when it returns everything is as it was, though perhaps for the next
 * handler only. Returns false where that is not known. */
static bool follow_signal(struct run *run, uint64_t sp)
{
	uint64_t pc = run->pc;
	if (run->returns && !replay_signals_return(&run->signals, run->engine, run->frame_sp, &pc))
		return false;
	run->returns = false;
	if (run->token.pc != pc)
		replay_signals_begin(&run->signals, run->engine, sp, pc);
	return true;
}

/* Behind an exception: ALLGPR, and the PC that comes next. */
static bool resume(struct run *run)
{
	uint64_t x[TW_XTRACE_REGISTERS];
	for (size_t i = 0; i < TW_XTRACE_REGISTERS; i++)
		x[i] = tw_xtrace_word(run->token.payload, i);
	set_registers(run, x);
	step(run);
	run->resume = run->token.pc;
	if (run->token.kind != TW_XTRACE_PCINST)
		return false;
	if (follow_signal(run, x[TW_XTRACE_REGISTERS - 1]))
		return true;
	run->result->end = REPLAY_RETURNED;
	return false;
}

static void run_all(struct run *run)
{
	look(run);
	run->resume = run->token.pc;
	if (run->token.kind != TW_XTRACE_PCINST) {
		run->result->end = REPLAY_IMPOSSIBLE;
		snprintf(run->result->what, sizeof run->result->what, "no PCINST tells where the snapshot goes on");
		return;
	}
	for (bool going = true; going;) {
		run->pc = run->end = run->resume;
		run->stopped = run->must_resume = false;
		uc_err error = replay_emulator.uc_emu_start(run->engine, run->resume, UINT64_MAX, 0, 0);
		if (run->must_resume) {
			going = resume(run);
			continue;
		}
		while (!run->stopped && run->pc < run->end)
			take(run);
		skip_rest(run);
		if (!run->finished && run->token.kind != TW_XTRACE_UNKNOWN) /* a jump to what is of the next part */
			differ(run, "execution", "to go on", replay_emulator.uc_strerror(error));
		return;
	}
}

void replay_run(const struct replay_part *part, struct replay_result *result)
{
	struct replay_part own = *part;
	struct run run = {.part = &own, .result = result};
	*result = (struct replay_result){.end = REPLAY_SAME};
	uc_err error = open_engine(&run);
	if (error == UC_ERR_OK && replay_memory_open(&run.memory, run.engine) && (own.size = prepare(&run)) > 0) {
		set_state(&run);
		run_all(&run);
	} else if (part->size) {
		result->end = REPLAY_IMPOSSIBLE;
		snprintf(result->what, sizeof result->what, "%s",
		         error ? replay_emulator.uc_strerror(error) : "out of memory");
	}
	if (result->end != REPLAY_DIFFERENT)
		result->offset = part->offset + run.at;
	if (run.engine)
		replay_emulator.uc_close(run.engine);
	replay_memory_close(&run.memory);
}
