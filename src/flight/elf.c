/* elf.c - maps the file of an object. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "flight/elf.h"

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
