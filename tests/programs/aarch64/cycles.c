/* cycles.c - a plugin that streams a program through a simple processor: its instructions and cycles, nothing stored.
 *
 * An instruction takes a cycle. A line that is not in the first cache takes 10 more, not in the second 80 more; a block that goes
 * elsewhere than the last time takes 12. Both caches have one place for a line. With hint=on only what is between the first HINT #9
 * and the second counts; the caches know what was before. What is within stub=FROM-TO is passed over. At the end a line is written
 * to out=FILE: instructions, cycles, blocks that were translated. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/qemu/qemu.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE = 6, FIRST = 512, SECOND = 8192, FIRST_MISS = 10, SECOND_MISS = 80, WRONG = 12, STUBS = 64 };

static const uint32_t hint = 0xd503213f;

struct block {
	uint64_t instructions;
	const struct block *next; /* the last time */
};

static uint64_t instructions, cycles, translated;
static uint64_t first[FIRST], second[SECOND]; /* lines */
static struct block *last;
static bool counts = true;
static char path[4096];
static uint64_t stubs[STUBS][2];
static int stub_count;

static void execute(unsigned cpu, void *data)
{
	struct block *block = data;
	(void)cpu;
	if (last && last->next != block) {
		last->next = block;
		cycles += counts ? WRONG : 0;
	}
	last = block;
	instructions += counts ? block->instructions : 0;
	cycles += counts ? block->instructions : 0;
}

static void touch(unsigned cpu, uint32_t info, uint64_t address, void *data)
{
	uint64_t line = address >> LINE, took = 0;
	(void)cpu;
	(void)info;
	(void)data;
	if (first[line % FIRST] == line)
		return;
	first[line % FIRST] = line;
	took = FIRST_MISS;
	if (second[line % SECOND] != line)
		took += SECOND_MISS;
	second[line % SECOND] = line;
	cycles += counts ? took : 0;
}

static void mark(unsigned cpu, void *data)
{
	(void)cpu;
	(void)data;
	counts = !counts && !instructions;
}

static int is_stub(uint64_t pc)
{
	for (int i = 0; i < stub_count; i++)
		if (pc >= stubs[i][0] && pc < stubs[i][1])
			return 1;
	return 0;
}

static void translate(uint64_t id, struct qemu_plugin_tb *tb)
{
	struct block *block = calloc(1, sizeof *block);
	qemu_insn_bytes bytes;
	*(void **)&bytes = dlsym(RTLD_DEFAULT, "qemu_plugin_insn_data");
	(void)id;
	const int passes = is_stub(qemu_plugin_tb_vaddr(tb));
	block->instructions = qemu_plugin_tb_n_insns(tb);
	translated++;
	if (!passes)
		qemu_plugin_register_vcpu_tb_exec_cb(tb, execute, QEMU_NO_REGISTERS, block);
	for (size_t i = 0; i < block->instructions; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
		uint32_t opcode;
		memcpy(&opcode, bytes(insn), sizeof opcode);
		if (!passes)
			qemu_plugin_register_vcpu_mem_cb(insn, touch, QEMU_NO_REGISTERS, QEMU_ACCESS, NULL);
		if (opcode == hint)
			qemu_plugin_register_vcpu_insn_exec_cb(insn, mark, QEMU_NO_REGISTERS, NULL);
	}
}

static void report(uint64_t id, void *data)
{
	FILE *out = fopen(path, "w");
	(void)id;
	(void)data;
	if (!out || fprintf(out, "%" PRIu64 " %" PRIu64 " %" PRIu64 "\n", instructions, cycles, translated) < 0 ||
	    fclose(out) != 0)
		perror(path);
}

int qemu_plugin_version = 1;

__attribute__((visibility("default"))) int qemu_plugin_install(uint64_t id, const struct qemu_info *info, int argc,
                                                               char **argv)
{
	(void)info;
	for (int i = 0; i < argc; i++) {
		counts = counts && strcmp(argv[i], "hint=on") != 0;
		if (strncmp(argv[i], "out=", 4) == 0)
			snprintf(path, sizeof path, "%s", argv[i] + 4);
		if (stub_count < STUBS &&
		    sscanf(argv[i], "stub=%" SCNx64 "-%" SCNx64, &stubs[stub_count][0], &stubs[stub_count][1]) == 2)
			stub_count++;
	}
	qemu_plugin_register_vcpu_tb_trans_cb(id, translate);
	qemu_plugin_register_atexit_cb(id, report, NULL);
	return 0;
}
