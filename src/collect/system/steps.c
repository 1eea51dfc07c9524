/* steps.c - what instructions of a core do: the tokens of each. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/system/steps.h"

#include "base/bytes/bytes.h"
#include "collect/calls.h"
#include "collect/system/calls.h"
#include "collect/system/registers.h"

enum { ZERO_REGISTER = 31, KERNEL = 55 /* bit of its addresses */ };

/* With register 0. */
static const uint32_t read_dczid = 0xd53b00e0, write_sp_el0 = 0xd5184100;
static const uint32_t exception_return = 0xd69f03e0;

/* BR, BLR and RET without authentication, which go where their register says; and what of them is the same. */
static const uint32_t plain_branches[] = {0xd61f0000, 0xd63f0000, 0xd65f0000}, plain_branch = 0xfffffc1f;

/* Where an exception to each level comes back to. */
const enum system_register core_links[] = {SYSTEM_ELR_EL1, SYSTEM_ELR_EL1, SYSTEM_ELR_EL2, SYSTEM_ELR_EL3};

struct collect_board *core_board;
_Atomic bool core_several;
static _Atomic unsigned zero_block = 64; /* bytes of DC ZVA: as DCZID_EL0 told when the guest read it */

/* ---- Registers and tokens. ---- */

/* As an operand: register 31 is zero. */
static uint64_t operand(const struct guest_core *core, unsigned number)
{
	return number == ZERO_REGISTER ? 0 : machine_register(&core->machine, number);
}

/* Without the tag that no access has. */
static uint64_t without_tag(uint64_t address)
{
	uint64_t rest = tw_bits(address, 0, KERNEL);
	return tw_bits(address, KERNEL, KERNEL) ? rest | ~UINT64_C(0) << KERNEL : rest;
}

static void put_value(struct guest_core *core, enum tw_xtrace_kind kind, uint64_t value)
{
	const struct tw_xtrace_token token = {.kind = kind, .value = value};
	stream_token(&core->stream, core_board, &token);
}

static void put_access(struct guest_core *core, bool is_load, uint64_t address, const uint8_t *bytes, size_t size)
{
	const struct tw_xtrace_token token = {.kind = is_load ? TW_XTRACE_LOAD : TW_XTRACE_STORE,
	                                      .value = address,
	                                      .payload = bytes,
	                                      .payload_size = (uint32_t)size};
	stream_token(&core->stream, core_board, &token);
}

/* Bytes that lie one behind the other, by powers of two of which `most` is the largest. */
static void put_pieces(struct guest_core *core, bool is_load, uint64_t address, const uint8_t *bytes, size_t total,
                       size_t most)
{
	size_t at = 0;
	for (size_t size = most; size && at < total; size /= 2)
		for (; total - at >= size; at += size)
			put_access(core, is_load, address + at, bytes + at, size);
}

/* By register, each a token; others by as large powers of two as there are. */
static void put_accesses(struct guest_core *core, bool is_load, const uint8_t *bytes)
{
	const struct opcode *op = &core->step.insn.op;
	put_pieces(core, is_load, core->step.address, bytes, op->total, op->size);
}

void core_put_registers(struct guest_core *core)
{
	uint8_t bytes[8 * TW_XTRACE_REGISTERS];
	for (unsigned i = 0; i < TW_XTRACE_REGISTERS; i++)
		tw_store64(bytes + 8 * i, machine_register(&core->machine, i), false);
	const struct tw_xtrace_token token = {.kind = TW_XTRACE_ALLGPR, .payload = bytes, .payload_size = sizeof bytes};
	stream_token(&core->stream, core_board, &token);
}

void core_put_insn(struct guest_core *core)
{
	const struct system_insn *insn = &core->step.insn;
	bool needs_pc = core->needs_pc || insn->pc != core->next_pc;
	const struct tw_xtrace_token token = {.kind = needs_pc ? TW_XTRACE_PCINST : TW_XTRACE_INST,
	                                      .pc = needs_pc ? insn->pc : 0,
	                                      .level = (uint8_t)core->level,
	                                      .opcode = insn->opcode};
	stream_token(&core->stream, core_board, &token);
	core->needs_pc = false;
	core->next_pc = insn->pc + 4;
	core->stream.count++;
	core->stream.kernel_count += core->level > 0;
}

/* ---- The order of accesses. ---- */

void core_take_order(struct core_step *step)
{
	if (step->has_order || !atomic_load_explicit(&core_several, memory_order_relaxed))
		return;
	step->order = atomic_fetch_add(&core_board->order, 1);
	step->has_order = true;
}

static void put_order(struct guest_core *core)
{
	core_take_order(&core->step);
	if (core->step.has_order)
		put_value(core, TW_XTRACE_TIME, core->step.order);
}

/* ---- Before an instruction. ---- */

static void before_operand(struct guest_core *core)
{
	core->step.operands[0] = operand(core, core->step.insn.op.rt);
}

static void before_zero(struct guest_core *core)
{
	before_operand(core);
	core_take_order(&core->step); /* QEMU tells nothing of it */
}

static void before_scalable(struct guest_core *core)
{
	if (scalable_keep(&core->step.scalable, &core->machine, core->step.insn.opcode))
		core_take_order(&core->step); /* nor of most of these */
}

static void before_select(struct guest_core *core)
{
	core->step.flags = machine_flags(&core->machine);
}

static void before_base(struct guest_core *core)
{
	core->step.address = without_tag(machine_register(&core->machine, core->step.insn.op.rn));
}

static void before_atomic(struct guest_core *core)
{
	struct core_step *step = &core->step;
	const struct opcode *op = &step->insn.op;
	before_base(core);
	for (unsigned i = 0; i < 2; i++) {
		step->operands[i] = operand(core, (op->rs + i) & 31u);
		step->operands[2 + i] = operand(core, (op->rt + i) & 31u);
	}
	if ((op->kind == OP_CAS ? op->rs : op->rt) == ZERO_REGISTER &&
	    !machine_read(&core->machine, step->address, step->old, op->total))
		memset(step->old, 0, sizeof step->old);
}

static bool returns(uint64_t number)
{
	return number != CALL_EXIT && number != CALL_EXIT_GROUP && number != CALL_SIGRETURN;
}

/* Written at once, while what the arguments point to can be read: the kernel may have forbidden it to itself. */
static void before_call(struct guest_core *core)
{
	uint64_t number = operand(core, 8);
	if (core->level > 0)
		return;
	core_put_insn(core);
	core->step.is_written = true;
	calls_enter(&core->machine, &core->stream, core_board);
	core->call = returns(number) ? core->step.insn.pc + 4 : 0;
	core->called = number;
}

static bool is_plain_branch(uint32_t opcode)
{
	for (size_t i = 0; i < sizeof plain_branches / sizeof *plain_branches; i++)
		if ((opcode & plain_branch) == plain_branches[i])
			return true;
	return false;
}

/* An interrupt may come behind it: then the instruction that comes next is not where it went. */
static void before_branch(struct guest_core *core)
{
	struct core_step *step = &core->step;
	step->returns_to_user = false;
	if (is_plain_branch(step->insn.opcode))
		step->target = operand(core, step->insn.op.rn);
	else if (step->insn.opcode == exception_return && core->level > 0) {
		step->target = system_register(&core->machine, core_links[core->level]);
		step->returns_to_user =
		    core->level == 1 && !tw_bits(system_register(&core->machine, SYSTEM_SPSR_EL1), 2, 3);
	}
}

/* ---- When it is done. ---- */

/* With QEMU 7.2 values are those of the registers: to read a device again would change it. What is loaded to no
 * register, and structures, are read from memory when they are accessed. */
bool core_takes_register(const struct opcode *op, unsigned i)
{
	return !op->is_structure && (!op->is_load || op->is_vector || (i ? op->rt2 : op->rt) != ZERO_REGISTER);
}

static void take_registers(struct guest_core *core)
{
	const struct opcode *op = &core->step.insn.op;
	for (unsigned i = 0; i < op->count; i++) {
		uint8_t bytes[MACHINE_VECTOR];
		unsigned number = i ? op->rt2 : op->rt;
		if (!core_takes_register(op, i))
			continue;
		if (op->is_vector)
			machine_vector(&core->machine, number, bytes);
		else
			tw_store64(bytes, operand(core, number), false);
		memcpy(core->step.value + (size_t)i * op->size, bytes, op->size);
	}
}

static void after_access(struct guest_core *core)
{
	if (!core->step.accessed) /* QEMU did not tell where */
		return;
	if (!machine_has_values())
		take_registers(core);
	put_accesses(core, core->step.insn.op.is_load, core->step.value);
	put_order(core);
}

static void after_exclusive(struct guest_core *core)
{
	uint64_t status = operand(core, core->step.insn.op.rs);
	take_registers(core);
	if (status == 0) {
		put_accesses(core, false, core->step.value);
		put_order(core);
	}
	put_value(core, TW_XTRACE_STXR, status);
}

static void after_atomic(struct guest_core *core)
{
	uint8_t bytes[8];
	const struct core_step *step = &core->step;
	const struct opcode *op = &step->insn.op;
	uint64_t old = op->rt == ZERO_REGISTER ? tw_load64(step->old, false) : operand(core, op->rt);
	tw_store64(bytes, old, false);
	put_accesses(core, true, bytes);
	tw_store64(bytes, opcode_atomic(op, old, step->operands[0]), false);
	put_accesses(core, false, bytes);
	put_order(core);
}

static void copy_word(uint8_t *to, uint64_t value, size_t size)
{
	uint8_t word[8];
	tw_store64(word, value, false);
	memcpy(to, word, size);
}

/* Operands: one or two that are expected, one or two to be stored. */
static void after_compare(struct guest_core *core)
{
	uint8_t expected[16], wanted[16], old[16];
	const struct core_step *step = &core->step;
	const struct opcode *op = &step->insn.op;
	for (unsigned i = 0; i < op->count; i++) {
		size_t at = (size_t)i * op->size;
		copy_word(expected + at, step->operands[i], op->size);
		copy_word(wanted + at, step->operands[2 + i], op->size);
		copy_word(old + at, operand(core, op->rs + i), op->size);
		if (op->rs + i == ZERO_REGISTER)
			memcpy(old + at, step->old + at, op->size);
	}
	put_accesses(core, true, old);
	if (memcmp(old, expected, op->total) == 0)
		put_accesses(core, false, wanted);
	put_order(core);
}

static void put_run(void *context, uint64_t address, const uint8_t *bytes, size_t size)
{
	struct guest_core *core = context;
	put_pieces(core, !core->step.scalable.op.is_store, address, bytes, size, MACHINE_VECTOR);
}

static void after_scalable(struct guest_core *core)
{
	if (scalable_give(&core->step.scalable, &core->machine, put_run, core))
		put_order(core);
}

static void after_zero(struct guest_core *core)
{
	static const uint8_t zeros[2048];
	unsigned size = atomic_load(&zero_block);
	uint64_t value = core->step.operands[0];
	put_value(core, TW_XTRACE_DC, value);
	put_access(core, false, without_tag(value) & ~(uint64_t)(size - 1), zeros, size);
	put_order(core);
}

static void after_read(struct guest_core *core)
{
	const struct system_insn *insn = &core->step.insn;
	uint64_t value = operand(core, insn->op.rt);
	if ((insn->opcode & ~0x1fu) == read_dczid && tw_bits(value, 0, 3) <= 9)
		atomic_store(&zero_block, 4u << tw_bits(value, 0, 3));
	put_value(core, TW_XTRACE_MRS, value);
	if (insn->op.kind == OP_RANDOM)
		put_value(core, TW_XTRACE_MISC_FLAGS, machine_flags(&core->machine));
}

/* Linux tells in SP_EL0 which task the kernel works for. */
static void after_write(struct guest_core *core)
{
	uint64_t value = core->step.operands[0];
	put_value(core, TW_XTRACE_MRS, value);
	if ((core->step.insn.opcode & ~0x1fu) != write_sp_el0 || !tw_bits(value, KERNEL, KERNEL))
		return;
	core->task = value;
	if (core->call)
		system_calls_enter(core->task, core->called, core->call);
	core->call = 0;
}

/* Where an ERET to user mode is what a system call leads to, what X0 is there. */
static void after_branch(struct guest_core *core)
{
	const struct core_step *step = &core->step;
	uint64_t x0 = operand(core, 0);
	put_value(core, TW_XTRACE_TARGET_B, step->target);
	if (!step->returns_to_user)
		return;
	if (core->call ? core->call == step->target : system_calls_leave(core->task, step->target, x0))
		put_value(core, TW_XTRACE_SVCRET, x0);
	core->call = 0;
}

static void after_select(struct guest_core *core)
{
	put_value(core, TW_XTRACE_MISC_FLAGS, core->step.flags);
}

const struct core_kind core_kinds[] = {
    [OP_PLAIN] = {NULL, NULL, false},
    [OP_ACCESS] = {NULL, after_access, true},
    [OP_STXR] = {before_base, after_exclusive, true},
    [OP_ATOMIC] = {before_atomic, after_atomic, true},
    [OP_CAS] = {before_atomic, after_compare, true},
    [OP_SCALABLE] = {before_scalable, after_scalable, false},
    [OP_ZERO] = {before_zero, after_zero, false},
    [OP_MRS] = {NULL, after_read, false},
    [OP_RANDOM] = {NULL, after_read, false},
    [OP_MSR] = {before_operand, after_write, false},
    [OP_SELECT] = {before_select, after_select, false},
    [OP_SVC] = {before_call, NULL, false},
    [OP_MARK] = {NULL, NULL, false},
    [OP_BRANCH_REGISTER] = {before_branch, after_branch, false},
    [OP_TRAP] = {NULL, NULL, false},
};
