/* elf.c - opening ELF files and finding their sections. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "symbols/elf.h"

#include <elfutils/libdwelf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Why a file of this type has no function ids. */
static const struct {
	uint16_t type;
	const char *text;
} refused_types[] = {
    {ET_NONE, "an ELF file of no type"},
    {ET_REL, "an object file: functions get their ids when it is linked; name the linked program"},
    {ET_CORE, "a core dump: name the program that wrote it"},
};

static int open_regular(struct tw_symbols *symbols, struct tw_elf *elf, const char *path)
{
	/* Not to wait for the writer of a named pipe. */
	elf->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat status;
	if (elf->fd < 0 || fstat(elf->fd, &status) != 0)
		return tw_symbols_fail(symbols, TW_ERR_SYSTEM, "cannot open: %s", strerror(errno));
	if (S_ISDIR(status.st_mode)) {
		errno = EISDIR;
		return tw_symbols_fail(symbols, TW_ERR_SYSTEM, "cannot read: %s", strerror(errno));
	}
	if (!S_ISREG(status.st_mode))
		return tw_symbols_fail(symbols, TW_ERR_FORMAT, "expected an ELF file, found no regular file");
	elf->size = (uint64_t)status.st_size;
	return 0;
}

static int check_type(struct tw_symbols *symbols, const GElf_Ehdr *header)
{
	for (size_t i = 0; i < sizeof refused_types / sizeof refused_types[0]; i++)
		if (refused_types[i].type == header->e_type)
			return tw_symbols_fail(symbols, TW_ERR_FORMAT,
			                       "expected a program or a shared library, found %s",
			                       refused_types[i].text);
	return 0;
}

static int read_header(struct tw_symbols *symbols, struct tw_elf *elf)
{
	if (elf_kind(elf->elf) == ELF_K_AR)
		return tw_symbols_fail(symbols, TW_ERR_FORMAT,
		                       "expected an ELF file, found an archive of object files");
	GElf_Ehdr header;
	if (elf_kind(elf->elf) != ELF_K_ELF || !gelf_getehdr(elf->elf, &header))
		return tw_symbols_fail(symbols, TW_ERR_FORMAT,
		                       "expected an ELF file: its header is missing or damaged");
	int status = check_type(symbols, &header);
	if (status < 0)
		return status;
	if (header.e_shoff >= elf->size && header.e_shoff)
		return tw_symbols_fail(
		    symbols, TW_ERR_FORMAT,
		    "the section headers should be at offset 0x%llx, the file ends at 0x%llx: cut short?",
		    (unsigned long long)header.e_shoff, (unsigned long long)elf->size);
	elf->wide = header.e_ident[EI_CLASS] == ELFCLASS64;
	elf->big = header.e_ident[EI_DATA] == ELFDATA2MSB;
	elf->type = header.e_type;
	elf->machine = header.e_machine;
	return 0;
}

/* Sections lie one behind the other. Where they lie over each other, a small file would be read without end. */
static int check_sections(struct tw_symbols *symbols, const struct tw_elf *elf)
{
	enum { MOST_TIMES = 4 };
	uint64_t left = MOST_TIMES * elf->size;
	GElf_Shdr header;
	for (Elf_Scn *section = elf_nextscn(elf->elf, NULL); section; section = elf_nextscn(elf->elf, section)) {
		if (!gelf_getshdr(section, &header) || header.sh_type == SHT_NOBITS || header.sh_offset > elf->size ||
		    header.sh_size > elf->size - header.sh_offset)
			continue;
		if (header.sh_size > left)
			return tw_symbols_fail(symbols, TW_ERR_FORMAT,
			                       "damaged ELF file: its sections have more than %d times its bytes",
			                       MOST_TIMES);
		left -= header.sh_size;
	}
	return 0;
}

static int open_elf(struct tw_symbols *symbols, struct tw_elf *elf, const char *path)
{
	int status = open_regular(symbols, elf, path);
	if (status < 0)
		return status;
	elf_version(EV_CURRENT);
	/* Read, not mapped: a file that is cut meanwhile gives an error, not a SIGBUS. */
	errno = 0;
	elf->elf = elf_begin(elf->fd, ELF_C_READ, NULL);
	if (!elf->elf && errno == ENOMEM)
		return tw_symbols_fail(symbols, TW_ERR_MEMORY, "%s", tw_status_text(TW_ERR_MEMORY));
	if (!elf->elf)
		return tw_symbols_fail(symbols, TW_ERR_FORMAT, "damaged ELF file: %s", elf_errmsg(-1));
	status = read_header(symbols, elf);
	return status < 0 ? status : check_sections(symbols, elf);
}

int tw_elf_open(struct tw_symbols *symbols, struct tw_elf *elf, const char *path)
{
	*elf = (struct tw_elf){.fd = -1};
	int status = open_elf(symbols, elf, path);
	if (status < 0) {
		int error = errno;
		tw_elf_close(elf);
		errno = error;
	}
	return status;
}

void tw_elf_close(struct tw_elf *elf)
{
	elf_end(elf->elf);
	tw_elf_free_unpacked(elf);
	if (elf->fd >= 0)
		close(elf->fd);
	*elf = (struct tw_elf){.fd = -1};
}

Elf_Scn *tw_elf_section(const struct tw_elf *elf, const char *name, GElf_Shdr *header)
{
	size_t names;
	if (elf_getshdrstrndx(elf->elf, &names) != 0)
		return NULL;
	for (Elf_Scn *section = elf_nextscn(elf->elf, NULL); section; section = elf_nextscn(elf->elf, section)) {
		if (!gelf_getshdr(section, header))
			continue;
		const char *text = elf_strptr(elf->elf, names, header->sh_name);
		if (text && strcmp(text, name) == 0)
			return section;
	}
	return NULL;
}

Elf_Data *tw_elf_table(Elf_Scn *section, const GElf_Shdr *header)
{
	static const uint64_t most = UINT64_C(1) << 29; /* ten million symbols and more */
	Elf_Data *data = header->sh_size <= most ? elf_getdata(section, NULL) : NULL;
	return data && data->d_buf ? data : NULL;
}

Elf_Scn *tw_elf_next(const struct tw_elf *elf, Elf_Scn *from, uint32_t type, GElf_Shdr *header)
{
	for (Elf_Scn *section = elf_nextscn(elf->elf, from); section; section = elf_nextscn(elf->elf, section))
		if (gelf_getshdr(section, header) && header->sh_type == type)
			return section;
	return NULL;
}

bool tw_symbols_has_id(const char *path, const char *id)
{
	struct tw_symbols symbols = {0};
	struct tw_elf program;
	const void *bytes;
	char text[2 * TW_BUILD_ID + 1] = "-";
	if (tw_elf_open(&symbols, &program, path) < 0)
		return true; /* that is told otherwise */
	ssize_t size = dwelf_elf_gnu_build_id(program.elf, &bytes);
	for (ssize_t i = 0; i < size && i < TW_BUILD_ID; i++)
		snprintf(text + 2 * i, 3, "%02x", ((const unsigned char *)bytes)[i]);
	tw_elf_close(&program);
	return strcmp(id, "-") == 0 || strcmp(id, text) == 0;
}
