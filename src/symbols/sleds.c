/* sleds.c - the XRay instrumentation map: sleds to function ids. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/bytes/bytes.h"
#include "base/text/plural.h"
#include "symbols/program.h"

#include <assert.h>
#include <stdlib.h>

static const char map_name[] = "xray_instr_map";

/* Source: LLVM, AsmPrinter.cpp, emitXRayTable. */
static const struct tw_sled_layout layouts[] = {
    {.entry = 16, .word = 4, .version = 10},
    {.entry = 32, .word = 8, .version = 18},
};

/* Bytes of a map: four million sleds. Programs of hundreds of megabytes have a tenth of that; what is larger is a hole
 * in a file that was made to take memory. */
enum { MOST_BYTES = 1 << 27 };

static int check_section(struct tw_symbols *symbols, const struct tw_elf *elf, const GElf_Shdr *header)
{
	unsigned long long size = header->sh_size, offset = header->sh_offset;
	if (header->sh_type == SHT_NOBITS)
		return tw_symbols_fail(symbols, TW_ERR_UNSUPPORTED,
		                       "section %s has no bytes: a file with debug information only?", map_name);
	if (size == 0)
		return tw_symbols_fail(symbols, TW_ERR_UNSUPPORTED, "section %s is empty: no function is instrumented",
		                       map_name);
	if (offset > elf->size || size > elf->size - offset)
		return tw_symbols_fail(
		    symbols, TW_ERR_FORMAT,
		    "section %s: 0x%llx bytes at offset 0x%llx reach past the end of the file, 0x%llx", map_name, size,
		    offset, (unsigned long long)elf->size);
	if (size > MOST_BYTES)
		return tw_symbols_fail(symbols, TW_ERR_UNSUPPORTED,
		                       "section %s at offset 0x%llx: %llu bytes, expected at most %d", map_name, offset,
		                       size, MOST_BYTES);
	size_t entry = layouts[elf->wide].entry;
	if (size % entry)
		return tw_symbols_fail(symbols, TW_ERR_FORMAT,
		                       "section %s at offset 0x%llx: %llu byte%s, expected a multiple of %zu", map_name,
		                       offset, size, tw_plural(size), entry);
	if (size / entry >= UINT32_MAX || header->sh_flags & SHF_COMPRESSED)
		return tw_symbols_fail(symbols, TW_ERR_FORMAT, "section %s at offset 0x%llx: %s", map_name, offset,
		                       size / entry >= UINT32_MAX ? "too many entries"
		                                                  : "compressed, which it never is");
	return 0;
}

static int load(struct tw_symbols *symbols, const struct tw_elf *elf, struct tw_sleds *sleds)
{
	GElf_Shdr header;
	Elf_Scn *section = tw_elf_section(elf, map_name, &header);
	if (!section)
		return tw_symbols_fail(symbols, TW_ERR_UNSUPPORTED,
		                       "no %s section: was it built with -fxray-instrument?", map_name);
	int status = check_section(symbols, elf, &header);
	if (status < 0)
		return status;
	const Elf_Data *data = elf_rawdata(section, NULL);
	if (!data || !data->d_buf || data->d_size == 0 || data->d_size != header.sh_size)
		return tw_symbols_fail(symbols, TW_ERR_FORMAT, "section %s at offset 0x%llx cannot be read: %s",
		                       map_name, (unsigned long long)header.sh_offset, elf_errmsg(-1));
	sleds->layout = &layouts[elf->wide];
	sleds->size = data->d_size;
	sleds->address = header.sh_addr;
	sleds->bytes = malloc(sleds->size);
	if (!sleds->bytes)
		return tw_symbols_fail(symbols, TW_ERR_MEMORY, "%s", tw_status_text(TW_ERR_MEMORY));
	memcpy(sleds->bytes, data->d_buf, sleds->size);
	return 0;
}

static uint64_t function_of(const struct tw_elf *elf, const struct tw_sleds *sleds, size_t offset)
{
	const struct tw_sled_layout *layout = sleds->layout;
	const uint8_t *word = sleds->bytes + offset + layout->word;
	uint64_t value = elf->wide ? tw_load64(word, elf->big) : tw_load32(word, elf->big);
	if (sleds->bytes[offset + layout->version] >= TW_SLED_RELATIVE)
		value += sleds->address + offset + layout->word;
	return elf->wide ? value : (uint32_t)value;
}

/* Ids as the runtime gives them: a new one wherever the function is not that of the entry before. Returns how many. */
static uint32_t number(const struct tw_elf *elf, const struct tw_sleds *sleds, struct tw_place *places)
{
	uint32_t count = 0;
	uint64_t last = 0;
	for (size_t offset = 0; offset < sleds->size; offset += sleds->layout->entry) {
		uint64_t function = function_of(elf, sleds, offset);
		if (count && function == last)
			continue;
		if (places)
			places[count] = (struct tw_place){.address = function, .id = count + 1};
		count++;
		last = function;
	}
	return count;
}

int tw_sleds_read(struct tw_symbols *symbols, const struct tw_elf *elf, struct tw_places *places)
{
	struct tw_sleds sleds = {0};
	int status = load(symbols, elf, &sleds);
	if (status < 0)
		return status;
	tw_sleds_relocate(elf, &sleds);
	places->count = number(elf, &sleds, NULL);
	assert(places->count > 0);
	places->items = calloc(places->count, sizeof *places->items);
	if (places->items)
		number(elf, &sleds, places->items);
	else
		status = tw_symbols_fail(symbols, TW_ERR_MEMORY, "%s", tw_status_text(TW_ERR_MEMORY));
	free(sleds.bytes);
	return status;
}
