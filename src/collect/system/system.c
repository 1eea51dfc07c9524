/* system.c - the plugin in the QEMU of whole machines: which instructions are told of what is translated.
 *
 * Before the mark these are HINT #9, and what stands behind it in its block: so a machine boots at its own speed. With
 * the mark QEMU forgets its translations, and all that is translated from there on is told. Before a window it is only
 * how many instructions a block has. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/system/system.h"

#include "collect/machine.h"
#include "collect/qemu/qemu.h"
#include "collect/system/calling.h"
#include "collect/system/core.h"
#include "collect/system/parts.h"
#include "collect/windows/detail.h"
#include "collect/windows/plan.h"
#include "collect/windows/vectors.h"

#include <pthread.h>
#include <stdlib.h>

/* Instructions of a block, in the list of all. */
struct block_insns {
	struct block_insns *older;
	struct system_passed passed; /* before them */
	struct system_insn insns[];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct block_insns *young, *old; /* what one core may still be in when QEMU forgets is freed the next time */

static struct block_insns *add_insns(size_t count)
{
	struct block_insns *added = calloc(1, sizeof *added + count * sizeof *added->insns);
	if (!added)
		return NULL;
	pthread_mutex_lock(&lock);
	added->older = young;
	young = added;
	pthread_mutex_unlock(&lock);
	return added;
}

static void flushed(uint64_t id)
{
	(void)id;
	pthread_mutex_lock(&lock);
	for (struct block_insns *next; old; old = next) {
		next = old->older;
		free(old);
	}
	old = young;
	young = NULL;
	pthread_mutex_unlock(&lock);
	detail_flushed();
}

static void want_calls(struct qemu_plugin_insn *translated, struct system_insn *insn)
{
	qemu_plugin_register_vcpu_insn_exec_cb(translated, core_executed, QEMU_READ_REGISTERS, insn);
	if (core_wants_accesses(insn))
		qemu_plugin_register_vcpu_mem_cb(translated, core_accessed, QEMU_READ_REGISTERS, QEMU_ACCESS, insn);
}

static bool is_mark(const struct qemu_plugin_insn *insn)
{
	return parts.has_marks && machine_opcode(insn) == 0xd503213f;
}

/* The first instruction that is wanted; else the count. */
static size_t find_first(const struct qemu_plugin_tb *block, size_t count)
{
	size_t i = 0;
	while (!detail_full() && i < count && !is_mark(qemu_plugin_tb_get_insn(block, i)))
		i++;
	return i;
}

static void translated(uint64_t id, struct qemu_plugin_tb *block)
{
	size_t count = qemu_plugin_tb_n_insns(block), first = find_first(block, count);
	bool passes = first > 0 && parts.has_windows && parts_count();
	struct block_insns *added = passes || first < count ? add_insns(count - first) : NULL;
	(void)id;
	if (added && passes) {
		added->passed = (struct system_passed){qemu_plugin_tb_vaddr(block), (unsigned)first};
		qemu_plugin_register_vcpu_tb_exec_cb(block, core_passed, QEMU_READ_REGISTERS, &added->passed);
	}
	for (size_t i = first; added && i < count; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(block, i);
		uint32_t opcode = machine_opcode(insn);
		added->insns[i - first] = (struct system_insn){.pc = qemu_plugin_tb_vaddr(block) + 4 * i,
		                                               .opcode = opcode,
		                                               .is_first = i == 0,
		                                               .op = opcode_of(opcode)};
		want_calls(insn, &added->insns[i - first]);
	}
}

/* ---- Basic block vectors. ---- */

static void take_block(unsigned vcpu, void *block)
{
	unsigned core = calling_core(vcpu);
	if (parts_count() && core < CORES_MOST)
		vectors_take_core(core, block);
}

/* Blocks have calls from the first mark on. */
static void take_mark(unsigned vcpu, void *data)
{
	(void)data;
	if (parts_mark(calling_core(vcpu)))
		detail_renew();
}

static void translated_for_vectors(uint64_t id, struct qemu_plugin_tb *tb)
{
	enum { BLOCK_MAX = 4096 };
	uint32_t opcodes[BLOCK_MAX];
	size_t count = qemu_plugin_tb_n_insns(tb);
	(void)id;
	if (count == 0 || count > BLOCK_MAX)
		return;
	for (size_t i = 0; i < count; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
		opcodes[i] = machine_opcode(insn);
		if (is_mark(insn))
			qemu_plugin_register_vcpu_insn_exec_cb(insn, take_mark, QEMU_NO_REGISTERS, NULL);
	}
	struct vector_block *block = parts_count() ? vectors_make(qemu_plugin_tb_vaddr(tb), opcodes, count) : NULL;
	if (block)
		qemu_plugin_register_vcpu_tb_exec_cb(tb, take_block, QEMU_NO_REGISTERS, block);
}

static void ended(uint64_t id, void *data)
{
	(void)id;
	(void)data;
	vectors_end();
}

/* ---- What is told. ---- */

static bool vectors_wanted;

static void want_translations(uint64_t id)
{
	qemu_plugin_register_vcpu_tb_trans_cb(id, vectors_wanted ? translated_for_vectors : translated);
	qemu_plugin_register_flush_cb(id, flushed);
	if (vectors_wanted)
		qemu_plugin_register_atexit_cb(id, ended, NULL);
}

void system_setup(uint64_t id, struct collect_board *board)
{
	vectors_wanted = board->options.vectors;
	core_setup(board);
	detail_setup(id, want_translations, !board->options.from_hint && plan_begins_at_once(&board->windows, 0));
	want_translations(id);
}
