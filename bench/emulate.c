/* emulate.c - runs a static AArch64 program without a library in unicorn, without hooks, up to its first system
 * call. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <elf.h>
#include <stdio.h>

#include <unicorn/unicorn.h>

enum { PAGE = 4096, STACK = 1 << 20, MOST = 1 << 24 };

static uint8_t program[MOST];

static int load(uc_engine *engine, const Elf64_Ehdr *header)
{
	const Elf64_Phdr *segments = (const void *)(program + header->e_phoff);
	for (unsigned i = 0; i < header->e_phnum; i++) {
		const Elf64_Phdr *one = &segments[i];
		uint64_t from = one->p_vaddr & ~(uint64_t)(PAGE - 1), to = one->p_vaddr + one->p_memsz;
		if (one->p_type != PT_LOAD)
			continue;
		if (uc_mem_map(engine, from, (to - from + PAGE - 1) & ~(uint64_t)(PAGE - 1), UC_PROT_ALL) !=
		        UC_ERR_OK ||
		    uc_mem_write(engine, one->p_vaddr, program + one->p_offset, one->p_filesz) != UC_ERR_OK)
			return -1;
	}
	return 0;
}

int main(int count, char **words)
{
	const uint64_t stack = 0x7f0000000000;
	uc_engine *engine;
	FILE *file = count == 2 ? fopen(words[1], "rb") : NULL;
	if (!file || fread(program, 1, sizeof program, file) < sizeof(Elf64_Ehdr))
		return 2;
	const Elf64_Ehdr *header = (const void *)program;
	uint64_t sp = stack + STACK;
	if (uc_open(UC_ARCH_ARM64, UC_MODE_ARM, &engine) != UC_ERR_OK || load(engine, header) < 0 ||
	    uc_mem_map(engine, stack, STACK, UC_PROT_ALL) != UC_ERR_OK)
		return 2;
	uc_reg_write(engine, UC_ARM64_REG_SP, &sp);
	uc_err error = uc_emu_start(engine, header->e_entry, 0, 0, 0);
	uc_close(engine);
	return error == UC_ERR_EXCEPTION || error == UC_ERR_OK ? 0 : 2; /* the system call */
}
