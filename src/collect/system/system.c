/* system.c - the plugin in the QEMU of whole machines: which instructions are told of what is translated.
 *
 * Before the mark these are HINT #9, and what stands behind it in its block: so a machine boots at its own speed. With
 * the mark QEMU forgets its translations, and all that is translated from there on is told. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/system/system.h"

#include "collect/machine.h"
#include "collect/qemu.h"
#include "collect/system/core.h"
#include "collect/windows/detail.h"

#include <pthread.h>
#include <stdlib.h>

/* Instructions of a block, in the list of all. */
struct told {
	struct told *older;
	struct system_insn insns[];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct told *young, *old; /* what one core may still be in when QEMU forgets is freed the next time */

static struct told *make_told(size_t count)
{
	struct told *told = calloc(1, sizeof *told + count * sizeof *told->insns);
	if (!told)
		return NULL;
	pthread_mutex_lock(&lock);
	told->older = young;
	young = told;
	pthread_mutex_unlock(&lock);
	return told;
}

static void flushed(uint64_t id)
{
	(void)id;
	pthread_mutex_lock(&lock);
	for (struct told *next; old; old = next) {
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

/* The first instruction that is wanted; else the count. */
static size_t find_first(const struct qemu_plugin_tb *block, size_t count)
{
	static const uint32_t mark = 0xd503213f;
	size_t i = 0;
	while (!detail_full() && i < count && machine_opcode(qemu_plugin_tb_get_insn(block, i)) != mark)
		i++;
	return i;
}

static void translated(uint64_t id, struct qemu_plugin_tb *block)
{
	size_t count = qemu_plugin_tb_n_insns(block), first = find_first(block, count);
	struct told *told = first < count ? make_told(count - first) : NULL;
	(void)id;
	for (size_t i = first; told && i < count; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(block, i);
		uint32_t opcode = machine_opcode(insn);
		told->insns[i - first] = (struct system_insn){.pc = qemu_plugin_tb_vaddr(block) + 4 * i,
		                                              .opcode = opcode,
		                                              .is_first = i == 0,
		                                              .op = opcode_of(opcode)};
		want_calls(insn, &told->insns[i - first]);
	}
}

static void want_translations(uint64_t id)
{
	qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
	qemu_plugin_register_flush_cb(id, flushed);
}

void system_setup(uint64_t id, struct collect_board *board)
{
	core_setup(board);
	detail_setup(id, want_translations, !board->from_hint);
	want_translations(id);
}
