/* levels.c - a plugin that counts the instructions of each level that are begun between marks, by their addresses.
 *
 * Linux has its own code in the upper half. The log gets a line at each mark, among those of exceptions. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <dlfcn.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

struct block;
struct insn;
void qemu_plugin_register_vcpu_tb_trans_cb(uint64_t id, void (*call)(uint64_t, struct block *));
void qemu_plugin_register_vcpu_insn_exec_cb(struct insn *insn, void (*call)(unsigned, void *), int flags, void *data);
size_t qemu_plugin_tb_n_insns(const struct block *block);
struct insn *qemu_plugin_tb_get_insn(const struct block *block, size_t i);
uint64_t qemu_plugin_insn_vaddr(const struct insn *insn);
void qemu_plugin_outs(const char *text);

EXPORT int qemu_plugin_version;
EXPORT int qemu_plugin_install(uint64_t id, const void *info, int argc, char **argv);

static uint64_t begun[2];
static bool counts;
static void *bytes_of;

static void count(unsigned cpu, void *level)
{
	(void)cpu;
	begun[(uintptr_t)level] += counts;
}

static void mark(unsigned cpu, void *data)
{
	char line[80];
	(void)cpu;
	(void)data;
	counts = !counts;
	snprintf(line, sizeof line, "MARK %d EL0 %" PRIu64 " EL1 %" PRIu64 "\n", counts, begun[0], begun[1]);
	qemu_plugin_outs(line);
}

static uint32_t opcode_of(const struct insn *insn)
{
	uint32_t opcode = 0;
	const void *(*bytes)(const struct insn *insn);
	size_t (*copy)(const struct insn *insn, void *to, size_t size);
	*(void **)&bytes = *(void **)&copy = bytes_of;
	if (qemu_plugin_version == 4)
		copy(insn, &opcode, sizeof opcode);
	else
		memcpy(&opcode, bytes(insn), sizeof opcode);
	return opcode;
}

static void translated(uint64_t id, struct block *block)
{
	(void)id;
	bool behind = counts;
	for (size_t i = 0; i < qemu_plugin_tb_n_insns(block); i++) {
		struct insn *insn = qemu_plugin_tb_get_insn(block, i);
		bool is_mark = opcode_of(insn) == 0xd503213f;
		if (is_mark)
			qemu_plugin_register_vcpu_insn_exec_cb(insn, mark, 0, NULL);
		else if (behind)
			qemu_plugin_register_vcpu_insn_exec_cb(insn, count, 0,
			                                       (void *)(uintptr_t)(qemu_plugin_insn_vaddr(insn) >> 63));
		behind = behind || is_mark;
	}
}

__attribute__((constructor)) static void choose_version(void)
{
	qemu_plugin_version = dlsym(RTLD_DEFAULT, "qemu_plugin_mem_get_value") ? 4 : 1;
	bytes_of = dlsym(RTLD_DEFAULT, "qemu_plugin_insn_data");
}

int qemu_plugin_version;

int qemu_plugin_install(uint64_t id, const void *info, int argc, char **argv)
{
	(void)info;
	(void)argc;
	(void)argv;
	qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
	return 0;
}
