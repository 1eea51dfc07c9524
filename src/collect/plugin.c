/* plugin.c - the plugin that QEMU loads: translated blocks get the calls that their instructions want. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/alive.h"
#include "collect/follow.h"
#include "collect/images.h"
#include "collect/machine.h"
#include "collect/qemu/qemu.h"
#include "collect/scalable/registers.h"
#include "collect/stream.h"
#include "collect/system/system.h"
#include "collect/thread.h"
#include "collect/windows/detail.h"
#include "collect/windows/plan.h"
#include "collect/windows/vectors.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { BLOCK_MAX = 4096 };

static struct collect_board *board;

/* Of a block outside of all windows. */
static void want_few(struct qemu_plugin_tb *translated, struct translated_block *block)
{
	qemu_plugin_register_vcpu_tb_exec_cb(translated, thread_passed, QEMU_NO_REGISTERS, block);
	for (size_t i = 0; i < block->count; i++)
		if (thread_wants_notice(&block->insns[i]))
			qemu_plugin_register_vcpu_insn_exec_cb(qemu_plugin_tb_get_insn(translated, i), thread_before,
			                                       QEMU_READ_REGISTERS, &block->insns[i]);
}

/* The block behind one that ends with an instruction that thread_wants_noticed(). */
static _Atomic uint64_t behind_noticed;

/* Of a block before a mark: nothing, as a rule. */
static void want_none(struct qemu_plugin_tb *translated, struct translated_block *block)
{
	if (block->pc == behind_noticed)
		qemu_plugin_register_vcpu_tb_exec_cb(translated, thread_noticed, QEMU_READ_REGISTERS, NULL);
	for (size_t i = 0; i < block->count; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(translated, i);
		if (i && thread_wants_noticed(&block->insns[i - 1]))
			qemu_plugin_register_vcpu_insn_exec_cb(insn, thread_noticed, QEMU_READ_REGISTERS, NULL);
		if (thread_wants_notice(&block->insns[i]))
			qemu_plugin_register_vcpu_insn_exec_cb(insn, thread_notice, QEMU_READ_REGISTERS,
			                                       &block->insns[i]);
	}
	if (thread_wants_noticed(&block->insns[block->count - 1]))
		behind_noticed = block->pc + 4ull * block->count;
}

static bool has_mark(const struct translated_block *block)
{
	for (size_t i = 0; i < block->count; i++)
		if (block->insns[i].op.kind == OP_MARK)
			return true;
	return false;
}

static void want_all(struct qemu_plugin_tb *translated, struct translated_block *block)
{
	qemu_plugin_register_vcpu_tb_exec_cb(translated, thread_block, QEMU_READ_REGISTERS, block);
	for (size_t i = 0; i < block->count; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(translated, i);
		struct insn *own = &block->insns[i];
		own->after = thread_wants_after(own);
		if (i && (own - 1)->after)
			qemu_plugin_register_vcpu_insn_exec_cb(insn, thread_after, QEMU_READ_REGISTERS, own - 1);
		if (thread_wants_before(own))
			qemu_plugin_register_vcpu_insn_exec_cb(insn, thread_before, QEMU_READ_REGISTERS, own);
		if (thread_wants_accesses(own))
			qemu_plugin_register_vcpu_mem_cb(insn, thread_accessed, QEMU_READ_REGISTERS, QEMU_ACCESS, own);
	}
}

/* SMSTART and SMSTOP; loads and stores of SME. */
static bool is_of_matrix(uint32_t opcode)
{
	return (opcode & 0xfffff0ff) == 0xd503407f || (opcode & 0xfe000000) == 0xe0000000;
}

static void translated(uint64_t id, struct qemu_plugin_tb *tb)
{
	uint32_t opcodes[BLOCK_MAX];
	size_t count = qemu_plugin_tb_n_insns(tb);
	(void)id;
	if (count == 0 || count > BLOCK_MAX)
		return;
	for (size_t i = 0; i < count; i++) {
		opcodes[i] = machine_opcode(qemu_plugin_tb_get_insn(tb, i));
		if (is_of_matrix(opcodes[i]))
			board->matrix = 1;
	}
	images_see(board, qemu_plugin_tb_vaddr(tb), machine_code(qemu_plugin_tb_get_insn(tb, 0)));
	struct translated_block *block = block_make(qemu_plugin_tb_vaddr(tb), opcodes, count, board->options.from_hint);
	if (!block)
		return;
	block->full = detail_full() || (board->options.from_hint && has_mark(block));
	if (block->full)
		want_all(tb, block);
	else
		(board->options.from_hint ? want_none : want_few)(tb, block);
}

static bool is_call(uint32_t opcode)
{
	return opcode_of(opcode).kind == OP_SVC;
}

static void translated_for_vectors(uint64_t id, struct qemu_plugin_tb *tb)
{
	uint32_t opcodes[BLOCK_MAX];
	size_t count = qemu_plugin_tb_n_insns(tb);
	(void)id;
	if (count == 0 || count > BLOCK_MAX)
		return;
	for (size_t i = 0; i < count; i++)
		opcodes[i] = machine_opcode(qemu_plugin_tb_get_insn(tb, i));
	struct vector_block *block = vectors_make(qemu_plugin_tb_vaddr(tb), opcodes, count);
	if (block)
		qemu_plugin_register_vcpu_tb_exec_cb(tb, vectors_take, QEMU_NO_REGISTERS, block);
	if (is_call(opcodes[count - 1])) /* which ends a block of QEMU's */
		qemu_plugin_register_vcpu_insn_exec_cb(qemu_plugin_tb_get_insn(tb, count - 1), vectors_call,
		                                       QEMU_READ_REGISTERS, NULL);
}

static void flushed(uint64_t id)
{
	(void)id;
	block_forget();
	detail_flushed();
}

static void left(uint64_t id, unsigned cpu)
{
	(void)id;
	(void)cpu;
	detail_leave();
}

static void ended(uint64_t id, void *data)
{
	(void)id;
	(void)data;
	if (board->options.vectors)
		vectors_end();
	else
		thread_end();
}

static void register_calls(uint64_t id)
{
	qemu_plugin_register_vcpu_tb_trans_cb(id, board->options.vectors ? translated_for_vectors : translated);
	qemu_plugin_register_flush_cb(id, flushed);
	qemu_plugin_register_vcpu_exit_cb(id, left);
	qemu_plugin_register_atexit_cb(id, ended, NULL);
}

/* "NAME=N" */
static bool take_number(const char *word, const char *name, int *number)
{
	size_t length = strlen(name);
	char *end;
	if (strncmp(word, name, length) != 0 || !word[length])
		return false;
	*number = (int)strtol(word + length, &end, 10);
	return !*end;
}

/* "fd=N": the board. It is closed at once: the guest would see it. "slot=N", that of a thread which has become this
 * program, or -1: see follow.h. */
static struct collect_board *take_board(int argc, char **argv, int *slot)
{
	int fd;
	if (argc < 1 || argc > 2 || !take_number(argv[0], "fd=", &fd))
		return NULL;
	if (argc == 2 && (!take_number(argv[1], "slot=", slot) || *slot >= COLLECT_SLOTS))
		return NULL;
	void *shared =
	    mmap(NULL, sizeof(struct collect_board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
	close(fd);
	return shared == MAP_FAILED ? NULL : shared;
}

__attribute__((visibility("default"))) int qemu_plugin_install(uint64_t id, const struct qemu_info *info, int argc,
                                                               char **argv)
{
	const bool follows = argc == 2;
	int slot = -1;
	(void)info;
	board = take_board(argc, argv, &slot);
	if (!board)
		return -1;
	int refusal = machine_setup();
	if (!refusal && board->options.scalable && !scalable_setup())
		refusal = COLLECT_NO_REGISTERS;
	if (refusal) {
		board->refused = (uint32_t)refusal;
		return -1;
	}
	alive_begin(board);
	if (slot >= 0)
		stream_release(&board->slots[slot]);
	if (!board->options.of_machine)
		follow_setup();
	if (board->options.from_hint) /* a program without a mark calls nothing */
		board->refused = COLLECT_BEGAN;
	if (board->options.vectors && !vectors_setup(board))
		return -1;
	if (board->options.of_machine) {
		system_setup(id, board);
		return 0;
	}
	if (!board->options.vectors) {
		images_begin(board);
		thread_setup(board, follows);
	}
	detail_setup(id, register_calls, !board->options.from_hint && plan_begins_at_once(&board->windows, 0));
	register_calls(id);
	return 0;
}
