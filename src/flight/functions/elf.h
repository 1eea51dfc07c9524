/* elf.h - the file of a loaded object, for its sections. From any place: system calls alone. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FLIGHT_ELF_H
#define FLIGHT_ELF_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct flight_elf {
	const uint8_t *file; /* NULL: it cannot be read, or is none */
	uint64_t size;
	const Elf64_Shdr *sections, *names;
	unsigned count;
};

struct flight_elf flight_elf_open(const char *path);
void flight_elf_close(struct flight_elf *elf);

/* NULL: there is none of this name. */
const Elf64_Shdr *flight_elf_section(const struct flight_elf *elf, const char *name);

/* The function of this name that the object has, hidden ones too, where it is not stripped; NULL. */
const Elf64_Sym *flight_elf_function(const struct flight_elf *elf, const char *name);

/* Whether a file tells where its functions end: otherwise those that call __fentry__ call nothing else. */
bool flight_elf_has_exits(const struct flight_elf *elf);

/* Whether the bytes of a section, or a part of it, are in the file. */
static inline bool flight_elf_has(const struct flight_elf *elf, uint64_t offset, uint64_t size)
{
	return offset <= elf->size && size <= elf->size - offset;
}

#endif
