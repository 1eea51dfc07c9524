/* helpers.c - makes QEMU 7.2 write the guest's registers to memory before it calls a plugin.
 *
 * QEMU has a table of the functions that its generated code calls, with what each does to the guest's registers. Those
 * that call plugins are said to read none, so that a register may be in the host's at that moment. Saying that they
 * read them is all that is needed. The other way is blocks of one instruction, at half the speed. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/helpers.h"

#include <link.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* TCG's description of such a function, and its flags, as in 7.2. */
struct helper {
	void *function;
	const char *name;
	unsigned flags, types;
};
enum { READS_NO_REGISTERS = 1, WRITES_NO_REGISTERS = 2 };

static const char *const names[] = {"plugin_vcpu_udata_cb", "plugin_vcpu_mem_cb"};
enum { NAMES = sizeof names / sizeof *names };

struct helper_search {
	uintptr_t low, high; /* the program in memory */
	struct helper *found[NAMES];
};

static bool is_named(const struct helper_search *search, uintptr_t text, const char *name)
{
	size_t size = strlen(name) + 1;
	return text >= search->low && text < search->high && search->high - text >= size &&
	       memcmp((const void *)text, name, size) == 0;
}

static void look_at(struct helper_search *search, struct helper *helper)
{
	if (helper->flags != READS_NO_REGISTERS)
		return;
	for (unsigned i = 0; i < NAMES; i++)
		if (is_named(search, (uintptr_t)helper->name, names[i]))
			search->found[i] = helper;
}

/* The program is the first object; its table of helpers is in a segment that is written when it is loaded. */
static int search_program(struct dl_phdr_info *info, size_t size, void *context)
{
	struct helper_search *search = context;
	(void)size;
	search->low = UINTPTR_MAX;
	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *part = &info->dlpi_phdr[i];
		uintptr_t start = info->dlpi_addr + part->p_vaddr;
		if (part->p_type != PT_LOAD)
			continue;
		search->low = start < search->low ? start : search->low;
		search->high = start + part->p_memsz;
	}
	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *part = &info->dlpi_phdr[i];
		uintptr_t start = (info->dlpi_addr + part->p_vaddr + 7) / 8 * 8;
		uintptr_t end = info->dlpi_addr + part->p_vaddr + part->p_filesz;
		if (part->p_type != PT_LOAD || !(part->p_flags & PF_W))
			continue;
		for (; start && end > start && end - start >= sizeof(struct helper); start += 8)
			look_at(search, (struct helper *)start);
	}
	return 1;
}

static bool mark(struct helper *helper)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), start = (uintptr_t)helper / page * page;
	size_t size = (size_t)((uintptr_t)(helper + 1) - start);
	if (mprotect((void *)start, size, PROT_READ | PROT_WRITE) != 0)
		return false;
	helper->flags = WRITES_NO_REGISTERS;
	return mprotect((void *)start, size, PROT_READ) == 0;
}

bool helpers_write_back(void)
{
	struct helper_search search = {0};
	dl_iterate_phdr(search_program, &search);
	for (unsigned i = 0; i < NAMES; i++)
		if (!search.found[i])
			return false;
	for (unsigned i = 0; i < NAMES; i++)
		if (!mark(search.found[i]))
			return false;
	return true;
}
