/* unpack.c - sections that zstd has compressed, which elfutils knows from 0.189 on, where it is built so. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "symbols/elf.h"

#include <stdlib.h>
#include <zstd.h>

/* Source: the gABI, "Compression Header", ELFCOMPRESS_ZSTD. */
enum { ZSTD = 2 };

struct tw_unpacked {
	struct tw_unpacked *next;
	uint8_t bytes[];
};

void tw_elf_free_unpacked(struct tw_elf *elf)
{
	while (elf->unpacked) {
		struct tw_unpacked *first = elf->unpacked;
		elf->unpacked = first->next;
		free(first);
	}
}

/* NULL: damaged, or no memory. */
static struct tw_unpacked *unpack(const struct tw_elf *elf, Elf_Scn *section, const GElf_Chdr *packed)
{
	const size_t head = elf->wide ? sizeof(Elf64_Chdr) : sizeof(Elf32_Chdr);
	const Elf_Data *data = elf_rawdata(section, NULL);
	if (!data || !data->d_buf || data->d_size < head || packed->ch_size > SIZE_MAX / 2)
		return NULL;
	struct tw_unpacked *unpacked = malloc(sizeof *unpacked + packed->ch_size);
	if (unpacked && ZSTD_decompress(unpacked->bytes, packed->ch_size, (const uint8_t *)data->d_buf + head,
	                                data->d_size - head) != packed->ch_size) {
		free(unpacked);
		return NULL;
	}
	return unpacked;
}

bool tw_elf_unpack(struct tw_elf *elf, Elf_Scn *section, GElf_Shdr *header)
{
	GElf_Chdr packed;
	if (!(header->sh_flags & SHF_COMPRESSED) || !gelf_getchdr(section, &packed) || packed.ch_type != ZSTD)
		return true;
	Elf_Data *data = elf_getdata(section, NULL);
	struct tw_unpacked *unpacked = data ? unpack(elf, section, &packed) : NULL;
	if (!unpacked)
		return false;
	unpacked->next = elf->unpacked;
	elf->unpacked = unpacked;
	data->d_buf = unpacked->bytes;
	data->d_size = packed.ch_size;
	data->d_type = ELF_T_BYTE;
	header->sh_flags &= ~(GElf_Xword)SHF_COMPRESSED;
	header->sh_size = packed.ch_size;
	header->sh_addralign = packed.ch_addralign;
	return gelf_update_shdr(section, header) != 0;
}
