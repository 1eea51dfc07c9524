/* elf.c - maps the file of an object. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "flight/functions/elf.h"

#include "flight/system.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

static bool is_elf(const Elf64_Ehdr *header, uint64_t size)
{
	return header->e_ident[0] == ELFMAG0 && header->e_ident[1] == 'E' && header->e_ident[2] == 'L' &&
	       header->e_ident[3] == 'F' && header->e_shoff < size && header->e_shoff % sizeof(uint64_t) == 0 &&
	       header->e_shentsize == sizeof(Elf64_Shdr) &&
	       header->e_shnum <= (size - header->e_shoff) / sizeof(Elf64_Shdr) && header->e_shstrndx < header->e_shnum;
}

struct flight_elf flight_elf_open(const char *path)
{
	struct flight_elf elf = {0};
	struct stat what;
	const long fd = flight_call(SYS_openat, AT_FDCWD, (long)path, O_RDONLY | O_CLOEXEC, 0);
	if (fd < 0)
		return elf;
	what.st_size = 0;
	if (flight_call(SYS_fstat, fd, (long)&what, 0, 0) == 0 && (size_t)what.st_size >= sizeof(Elf64_Ehdr)) {
		elf.size = (uint64_t)what.st_size;
		elf.file = flight_map(elf.size, PROT_READ, MAP_PRIVATE, fd);
	}
	flight_call(SYS_close, fd, 0, 0, 0);
	const Elf64_Ehdr *header = (const Elf64_Ehdr *)elf.file;
	if (header && is_elf(header, elf.size)) {
		elf.sections = (const Elf64_Shdr *)(elf.file + header->e_shoff);
		elf.names = &elf.sections[header->e_shstrndx];
		elf.count = header->e_shnum;
	} else {
		flight_elf_close(&elf);
	}
	return elf;
}

void flight_elf_close(struct flight_elf *elf)
{
	if (elf->file)
		flight_call(SYS_munmap, (long)elf->file, (long)elf->size, 0, 0);
	*elf = (struct flight_elf){0};
}

static bool is_name(const uint8_t *at, const char *name)
{
	while (*name && *at == (uint8_t)*name) {
		at++;
		name++;
	}
	return *at == (uint8_t)*name;
}

/* Whether a name begins there and ends in a table. */
static bool begins(const struct flight_elf *elf, const Elf64_Shdr *table, uint64_t at, const char *name)
{
	uint64_t size = 1;
	while (name[size - 1])
		size++;
	return at <= table->sh_size && size <= table->sh_size - at && is_name(elf->file + table->sh_offset + at, name);
}

static bool is_table(const struct flight_elf *elf, const Elf64_Shdr *section)
{
	return section->sh_type == SHT_STRTAB && flight_elf_has(elf, section->sh_offset, section->sh_size);
}

const Elf64_Shdr *flight_elf_section(const struct flight_elf *elf, const char *name)
{
	for (unsigned i = 0; i < elf->count && is_table(elf, elf->names); i++)
		if (begins(elf, elf->names, elf->sections[i].sh_name, name))
			return &elf->sections[i];
	return NULL;
}

static const Elf64_Sym *find_function(const struct flight_elf *elf, const Elf64_Shdr *section, const char *name)
{
	const Elf64_Sym *symbols = (const Elf64_Sym *)(elf->file + section->sh_offset);
	if (section->sh_link >= elf->count || !is_table(elf, &elf->sections[section->sh_link]) ||
	    section->sh_offset % sizeof(uint64_t) != 0 || !flight_elf_has(elf, section->sh_offset, section->sh_size))
		return NULL;
	for (uint64_t i = 0; i < section->sh_size / sizeof *symbols; i++)
		if (ELF64_ST_TYPE(symbols[i].st_info) == STT_FUNC && symbols[i].st_shndx != SHN_UNDEF &&
		    begins(elf, &elf->sections[section->sh_link], symbols[i].st_name, name))
			return &symbols[i];
	return NULL;
}

const Elf64_Sym *flight_elf_function(const struct flight_elf *elf, const char *name)
{
	const Elf64_Sym *found = NULL;
	for (unsigned i = 0; i < elf->count && !found; i++)
		if (elf->sections[i].sh_type == SHT_SYMTAB)
			found = find_function(elf, &elf->sections[i], name);
	return found;
}

static bool has_name(const struct flight_elf *elf, const char *name)
{
	for (unsigned i = 0; i < elf->count; i++) {
		const Elf64_Shdr *table = &elf->sections[i];
		for (uint64_t at = 0; is_table(elf, table) && at < table->sh_size; at++)
			if (elf->file[table->sh_offset + at] == (uint8_t)*name && begins(elf, table, at, name))
				return true;
	}
	return false;
}

bool flight_elf_has_exits(const struct flight_elf *elf)
{
	return has_name(elf, "__cyg_profile_func_exit") || has_name(elf, "__return__") || has_name(elf, "__return_loc");
}
