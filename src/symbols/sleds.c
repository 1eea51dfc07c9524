/* sleds.c - the XRay instrumentation map: sleds to function ids. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/bytes/bytes.h"
#include "base/text/plural.h"
#include "symbols/elf.h"

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
	sleds->size = data->d_size;
	sleds->address = header.sh_addr;
	sleds->bytes = malloc(sleds->size);
	if (!sleds->bytes)
		return tw_symbols_fail(symbols, TW_ERR_MEMORY, "%s", tw_status_text(TW_ERR_MEMORY));
	memcpy(sleds->bytes, data->d_buf, sleds->size);
	return 0;
}

/* An address of an entry, word 0 or 1. */
static uint64_t address_of(const struct tw_elf *elf, const struct tw_sleds *sleds, size_t entry, size_t word)
{
	const struct tw_sled_layout *layout = sleds->layout;
	size_t offset = entry + word * layout->word;
	uint64_t value =
	    elf->wide ? tw_load64(sleds->bytes + offset, elf->big) : tw_load32(sleds->bytes + offset, elf->big);
	if (sleds->bytes[entry + layout->version] >= TW_SLED_RELATIVE)
		value += sleds->address + offset;
	return elf->wide ? value : (uint32_t)value;
}

/* Source: LLVM, AsmPrinter.h, XRayFunctionEntry: two addresses, then kind, whether always, version. */
static struct tw_symbols_sled sled_of(const struct tw_elf *elf, const struct tw_sleds *sleds, size_t entry)
{
	const uint8_t *bytes = sleds->bytes + entry + 2 * sleds->layout->word;
	return (struct tw_symbols_sled){.address = address_of(elf, sleds, entry, 0),
	                                .function = address_of(elf, sleds, entry, 1),
	                                .kind = bytes[0],
	                                .always = bytes[1],
	                                .version = bytes[2]};
}

/* Ids as the runtime gives them: a new one wherever the function is not that of the entry before. Returns how many. */
static uint32_t number(struct tw_symbols *symbols, const struct tw_elf *elf, const struct tw_sleds *sleds)
{
	uint32_t id = 0;
	for (size_t i = 0; i < symbols->sled_count; i++) {
		struct tw_symbols_sled *sled = &symbols->sleds[i];
		*sled = sled_of(elf, sleds, i * sleds->layout->entry);
		id += i == 0 || sled->function != sled[-1].function;
		sled->id = id;
	}
	return id;
}

static bool keep(struct tw_symbols *symbols, const struct tw_elf *elf, const struct tw_sleds *sleds,
                 struct tw_places *places)
{
	symbols->sled_count = sleds->size / sleds->layout->entry;
	symbols->sleds = symbols->sled_count ? calloc(symbols->sled_count, sizeof *symbols->sleds) : NULL;
	places->count = symbols->sleds ? number(symbols, elf, sleds) : 0;
	places->items = places->count ? calloc(places->count, sizeof *places->items) : NULL;
	for (size_t i = 0; places->items && i < symbols->sled_count; i++) {
		const struct tw_symbols_sled *sled = &symbols->sleds[i];
		places->items[sled->id - 1] = (struct tw_place){.address = sled->function, .id = sled->id};
	}
	return places->items != NULL;
}

int tw_sleds_read(struct tw_symbols *symbols, const struct tw_elf *elf, struct tw_places *places)
{
	struct tw_sleds sleds = {.layout = &layouts[elf->wide]};
	int status = load(symbols, elf, &sleds);
	if (status < 0)
		return status;
	tw_sleds_relocate(elf, &sleds);
	if (!keep(symbols, elf, &sleds, places))
		status = tw_symbols_fail(symbols, TW_ERR_MEMORY, "%s", tw_status_text(TW_ERR_MEMORY));
	free(sleds.bytes);
	return status;
}
