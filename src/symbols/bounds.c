/* bounds.c - whether libdw's time and memory for lines are in proportion to the program.
 *
 * It reads whole tables of lines for the files of functions, and goes through all attributes of an entry to find one.
 * Source: DWARF 5, 6.2.4, "The Line Number Program Header", and 7.5.3, "Abbreviations Tables". */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/bytes/bytes.h"
#include "base/memory/memory.h"
#include "base/memory/order.h"
#include "symbols/elf.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_WITH_FORMS = 5 };

/* Where the tables begin that units name, and the section that they are in. */
struct unit_tables {
	const uint8_t *bytes;
	uint64_t size;
	bool big;
	uint64_t *offsets;
	size_t count, room;
};

/* The bytes of a table behind its length, cut at the end of the section. *word: of an offset. */
static uint64_t length_at(const struct unit_tables *tables, uint64_t *at, unsigned *word)
{
	const uint64_t left = tables->size - *at;
	*word = 4;
	if (left < 4)
		return 0;
	uint64_t length = tw_load32(tables->bytes + *at, tables->big), head = 4;
	if (length == UINT32_MAX && left >= 12) {
		length = tw_load64(tables->bytes + *at + 4, tables->big);
		head = 12;
		*word = 8;
	}
	*at += head;
	return length < left - head ? length : left - head;
}

/* Whether bytes hold a text that is longer than a path. */
static bool has_long_text(const uint8_t *bytes, uint64_t size)
{
	while (size >= TW_LONGEST_PATH) {
		const uint8_t *end = memchr(bytes, 0, TW_LONGEST_PATH);
		if (!end)
			return true;
		size -= (uint64_t)(end + 1 - bytes);
		bytes = end + 1;
	}
	return false;
}

/* Of a table behind its length: directories, and files that texts beside it do not name, stand in its header. */
static bool has_paths(const struct unit_tables *tables, const uint8_t *bytes, uint64_t size, unsigned word)
{
	enum { VERSION = 2, SIZES = 2 };
	const uint16_t version = size >= VERSION ? tw_load16(bytes, tables->big) : 0;
	const uint64_t before = (version >= FIRST_WITH_FORMS ? VERSION + SIZES : VERSION) + (uint64_t)word;
	if (size < before)
		return true; /* libdw tells */
	const uint8_t *length = bytes + before - word;
	const uint64_t header = word == 8 ? tw_load64(length, tables->big) : tw_load32(length, tables->big);
	return !has_long_text(bytes + before, header < size - before ? header : size - before);
}

static int by_offset(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;
	return tw_compare(*x, *y);
}

/* Units may have one table together; otherwise tables do not lie over each other. */
static bool are_apart(struct unit_tables *tables)
{
	enum { MOST_TIMES = 4 };
	uint64_t left = MOST_TIMES * tables->size;
	if (tables->count)
		qsort(tables->offsets, tables->count, sizeof *tables->offsets, by_offset);
	for (size_t i = 0; i < tables->count; i++) {
		uint64_t at = tables->offsets[i];
		unsigned word;
		if (at >= tables->size || (i && at == tables->offsets[i - 1]))
			continue;
		const uint64_t length = length_at(tables, &at, &word);
		if (length > left || !has_paths(tables, tables->bytes + at, length, word))
			return false;
		left -= length;
	}
	return true;
}

/* Returns whether the unit's own directory is a path, and there is memory. */
static bool take_unit(struct unit_tables *tables, Dwarf_Die *unit)
{
	Dwarf_Attribute attribute;
	Dwarf_Word offset;
	const char *directory = dwarf_attr(unit, DW_AT_comp_dir, &attribute) ? dwarf_formstring(&attribute) : NULL;
	if (directory && strnlen(directory, TW_LONGEST_PATH) == TW_LONGEST_PATH)
		return false;
	if (!dwarf_attr(unit, DW_AT_stmt_list, &attribute) || dwarf_formudata(&attribute, &offset) != 0)
		return true;
	if (!tw_grow(&tables->offsets, &tables->room, tables->count + 1, sizeof *tables->offsets))
		return false;
	tables->offsets[tables->count++] = offset;
	return true;
}

static bool fit_lines(Dwarf *dwarf, const Elf_Data *lines, bool big)
{
	struct unit_tables tables = {.bytes = lines->d_buf, .size = lines->d_size, .big = big};
	Dwarf_CU *unit = NULL;
	Dwarf_Die top;
	bool fit = true;
	while (fit && dwarf_get_units(dwarf, unit, &unit, NULL, NULL, &top, NULL) == 0)
		fit = take_unit(&tables, &top);
	fit = fit && are_apart(&tables);
	free(tables.offsets);
	return fit;
}

/* Each abbreviation ends with two zeros: what has no two for long has more attributes than any entry. An entry may be a
 * byte, if none of them has bytes there. */
static bool fit_abbreviations(const Elf_Data *abbreviations)
{
	enum { LONGEST = 512 };
	const uint8_t *bytes = abbreviations->d_buf;
	size_t since = 0;
	for (size_t i = 1; i < abbreviations->d_size && since < LONGEST; i++)
		since = bytes[i] == 0 && bytes[i - 1] == 0 ? 0 : since + 1;
	return since < LONGEST;
}

/* ---- Abbreviations that units have together: libdw keeps them for each. ---- */

static bool take_number(const uint8_t **at, const uint8_t *end, uint64_t *number)
{
	*number = 0;
	for (unsigned shift = 0; *at < end; shift += 7) {
		const uint8_t byte = *(*at)++;
		*number |= shift < 64 ? (uint64_t)(byte & 0x7f) << shift : 0;
		if (byte < 0x80)
			return true;
	}
	return false;
}

/* The attributes of an abbreviation, to the two zeros behind them. */
static bool pass_attributes(const uint8_t **at, const uint8_t *end)
{
	uint64_t attribute, form, value;
	do {
		if (!take_number(at, end, &attribute) || !take_number(at, end, &form) ||
		    (form == DW_FORM_implicit_const && !take_number(at, end, &value)))
			return false;
	} while (attribute || form);
	return true;
}

/* The bytes of the table at an offset, to the end of the section where it does not end. */
static uint64_t table_size(const Elf_Data *abbreviations, uint64_t offset)
{
	const uint8_t *bytes = abbreviations->d_buf, *end = bytes + abbreviations->d_size;
	if (offset >= abbreviations->d_size)
		return 0;
	const uint8_t *start = bytes + offset, *at = start;
	uint64_t code, tag;
	while (take_number(&at, end, &code) && code && take_number(&at, end, &tag) && at++ < end)
		if (!pass_attributes(&at, end))
			break;
	return (uint64_t)((at < end ? at : end) - start);
}

/* Where the abbreviations of each unit of a section are. Source: DWARF 5, 7.5.1, "Unit Headers". */
static bool take_units(struct unit_tables *tables, const Elf_Data *units)
{
	enum { VERSION = 2, TYPE_AND_SIZE = 2 };
	const struct unit_tables section = {.bytes = units->d_buf, .size = units->d_size, .big = tables->big};
	for (uint64_t at = 0, length; at < section.size; at += length) {
		unsigned word;
		length = length_at(&section, &at, &word);
		if (length < VERSION + TYPE_AND_SIZE + word)
			break;
		const uint8_t *unit = section.bytes + at, *offset = unit + VERSION;
		offset += tw_load16(unit, section.big) >= FIRST_WITH_FORMS ? TYPE_AND_SIZE : 0;
		if (!tw_grow(&tables->offsets, &tables->room, tables->count + 1, sizeof *tables->offsets))
			return false;
		tables->offsets[tables->count++] =
		    word == 8 ? tw_load64(offset, section.big) : tw_load32(offset, section.big);
	}
	return true;
}

static bool are_few(struct unit_tables *tables, const Elf_Data *abbreviations, uint64_t left)
{
	uint64_t size = 0;
	if (tables->count)
		qsort(tables->offsets, tables->count, sizeof *tables->offsets, by_offset);
	for (size_t i = 0; i < tables->count; i++) {
		if (i == 0 || tables->offsets[i] != tables->offsets[i - 1])
			size = table_size(abbreviations, tables->offsets[i]);
		if (size > left)
			return false;
		left -= size;
	}
	return true;
}

bool tw_abbreviations_fit(const Elf_Data *units, const Elf_Data *abbreviations, bool big)
{
	enum { MOST_TIMES = 16, FEW = 32 << 20 };
	struct unit_tables tables = {.big = big};
	bool fit = !units || !abbreviations ||
	           (take_units(&tables, units) && are_few(&tables, abbreviations, FEW + MOST_TIMES * units->d_size));
	free(tables.offsets);
	return fit;
}

bool tw_dwarf_fits(struct Dwarf *dwarf, const Elf_Data *lines, const Elf_Data *abbreviations, bool big)
{
	return (!abbreviations || fit_abbreviations(abbreviations)) && (!lines || fit_lines(dwarf, lines, big));
}
