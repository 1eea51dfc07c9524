/* test_symbols.c - function ids, names and lines from ELF files, sound and damaged. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/bytes/bytes.h"
#include "symbols/elf.h"

#include "scratch.h"
#include "suite.h"

#include <trackway/symbols.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- A tiny writer of ELF files, by the ELF specification: one map, one symbol table, perhaps relocations. ---- */

enum { MAX_FILE = 8192, TEXT = 0x1000, MAP = 0x4000, HEADER_ROOM = 64, SECTION_ROOM = 64 };

enum section { NO_SECTION, S_TEXT, S_MAP, S_SYMBOLS, S_STRINGS, S_RELOCATIONS, S_NAMES, SECTIONS };

struct shape {
	bool wide, big;
	uint8_t version;  /* of the map's entries */
	uint8_t relocate; /* 0, SHT_RELA or SHT_REL */
	bool symbolic;    /* relocations name a symbol */
	bool dynamic;     /* the symbol table is .dynsym */
	uint16_t type, machine;
};

struct image {
	struct shape shape;
	uint8_t bytes[MAX_FILE];
	size_t size;
	struct {
		uint32_t name, type, link;
		uint64_t address, offset, size;
	} sections[SECTIONS];
};

/* Entries of the map: which function each sled belongs to. */
static const uint64_t sled_functions[] = {0x1000, 0x1000, 0x1040, 0x1080, 0x1080, 0x1080, 0x10c0, 0x1000, 0x1100};
enum { SLEDS = sizeof sled_functions / sizeof sled_functions[0] };

/* What the runtime makes of it: the id changes with the function, also back to one that was there. Written by hand. */
static const struct {
	uint32_t id;
	uint64_t address;
	const char *symbol, *name;
} expected[] = {
    {1, 0x1000, "main", "main"},
    {2, 0x1040, "_ZN3geo4areaEii", "geo::area(int, int)"},
    {3, 0x1080, "_ZN3BoxIiE3getEv", "Box<int>::get()"},
    {4, 0x10c0, "_Zbroken", "_Zbroken"},
    {5, 0x1000, "main", "main"},
    {6, 0x1100, NULL, "@0x1100"},
};
enum { FUNCTIONS = sizeof expected / sizeof expected[0] };

enum { NOTYPE = 0, OBJECT = 1, FUNC = 2, LOCAL = 0, GLOBAL = 1, WEAK = 2 };

/* Number 0 is the empty symbol. Worse ones stand before and after better ones. */
static const struct {
	const char *name;
	uint64_t value;
	uint8_t bind, type;
	uint16_t section;
} symbols[] = {
    {"", 0, 0, 0, 0},
    {"$x", 0x1000, LOCAL, NOTYPE, S_TEXT},
    {"local_main", 0x1000, LOCAL, FUNC, S_TEXT},
    {"weak_main", 0x1000, WEAK, FUNC, S_TEXT},
    {"main", 0x1000, GLOBAL, FUNC, S_TEXT},
    {"other_main", 0x1000, WEAK, FUNC, S_TEXT},
    {"_ZN3geo4areaEii", 0x1040, LOCAL, FUNC, S_TEXT},
    {"label", 0x1040, GLOBAL, NOTYPE, S_TEXT},
    {"_ZN3BoxIiE3getEv", 0x1080, WEAK, FUNC, S_TEXT},
    {"_Zbroken", 0x10c0, GLOBAL, NOTYPE, S_TEXT},
    {"object", 0x1100, GLOBAL, OBJECT, S_TEXT},
    {"elsewhere", 0x1100, GLOBAL, FUNC, 0},
};
enum { SYMBOLS = sizeof symbols / sizeof symbols[0] };

static void put(struct image *image, size_t at, uint64_t value, size_t size)
{
	uint8_t *p = image->bytes + at;
	bool big = image->shape.big;
	assert_true(at + size <= MAX_FILE);
	switch (size) {
	case 1:
		*p = (uint8_t)value;
		break;
	case 2:
		tw_store16(p, (uint16_t)value, big);
		break;
	case 4:
		tw_store32(p, (uint32_t)value, big);
		break;
	default:
		tw_store64(p, value, big);
		break;
	}
}

/* Appends fields of the sizes that `layout` tells ('1', '2', '4', '8', 'w': a word of the class). */
static void append(struct image *image, const char *layout, ...)
{
	va_list values;
	va_start(values, layout);
	for (; *layout; layout++) {
		size_t word = image->shape.wide ? 8 : 4;
		size_t size = *layout == 'w' ? word : (size_t)(*layout - '0');
		put(image, image->size, va_arg(values, uint64_t), size);
		image->size += size;
	}
	va_end(values);
}

static uint64_t u(uint64_t value)
{
	return value;
}

static void begin(struct image *image, enum section section, uint32_t type, uint64_t address)
{
	image->size = (image->size + 7) & ~(size_t)7;
	image->sections[section].type = type;
	image->sections[section].address = address;
	image->sections[section].offset = image->size;
}

static void end(struct image *image, enum section section)
{
	image->sections[section].size = image->size - image->sections[section].offset;
}

static void write_map(struct image *image)
{
	const struct shape *shape = &image->shape;
	size_t word = shape->wide ? 8 : 4, entry = 4 * word;
	begin(image, S_MAP, SHT_PROGBITS, MAP);
	for (size_t i = 0; i < SLEDS; i++) {
		uint64_t here = MAP + i * entry, sled = sled_functions[i] + 4 * i, function = sled_functions[i];
		if (shape->version >= 2) {
			sled -= here;
			function -= here + word;
		} else if (shape->relocate == SHT_RELA) {
			sled = function = 0;
		} else if (shape->symbolic) {
			function -= 0x1000;
		}
		size_t start = image->size;
		append(image, "ww111", sled, function, u(i % 3), u(1), u(shape->version));
		image->size = start + entry;
	}
	end(image, S_MAP);
}

static void write_relocations(struct image *image)
{
	const struct shape *shape = &image->shape;
	size_t word = shape->wide ? 8 : 4;
	/* x86-64: R_X86_64_64 is 1, R_X86_64_RELATIVE 8; i386: R_386_32 is 1, R_386_RELATIVE 8. Symbol 4 is main,
	 * 0x1000. */
	uint64_t symbol = shape->symbolic ? 4 : 0, type = shape->symbolic ? 1 : 8;
	uint64_t info = shape->wide ? symbol << 32 | type : symbol << 8 | type;
	begin(image, S_RELOCATIONS, shape->relocate, 0);
	for (size_t i = 0; shape->relocate && i < SLEDS; i++) {
		uint64_t where = MAP + i * 4 * word + word;
		append(image, "ww", where, info);
		if (shape->relocate == SHT_RELA)
			append(image, "w", sled_functions[i] - (shape->symbolic ? 0x1000 : 0));
	}
	end(image, S_RELOCATIONS);
	image->sections[S_RELOCATIONS].link = S_SYMBOLS;
}

static void write_symbols(struct image *image)
{
	begin(image, S_SYMBOLS, image->shape.dynamic ? SHT_DYNSYM : SHT_SYMTAB, 0);
	uint64_t name = 0;
	for (size_t i = 0; i < SYMBOLS; i++) {
		uint64_t info = u(symbols[i].bind) << 4 | symbols[i].type;
		if (image->shape.wide)
			append(image, "411288", name, info, u(0), u(symbols[i].section), symbols[i].value, u(0));
		else
			append(image, "444112", name, symbols[i].value, u(0), info, u(0), u(symbols[i].section));
		name += strlen(symbols[i].name) + 1;
	}
	end(image, S_SYMBOLS);
	image->sections[S_SYMBOLS].link = S_STRINGS;
	begin(image, S_STRINGS, SHT_STRTAB, 0);
	for (size_t i = 0; i < SYMBOLS; i++)
		for (const char *p = symbols[i].name; p == symbols[i].name || p[-1]; p++)
			append(image, "1", u((uint8_t)*p));
	end(image, S_STRINGS);
}

static void write_names(struct image *image)
{
	static const char *const names[SECTIONS] = {"",        ".text", "xray_instr_map", ".symtab",
	                                            ".strtab", ".rel",  ".shstrtab"};
	begin(image, S_NAMES, SHT_STRTAB, 0);
	for (size_t i = 0; i < SECTIONS; i++) {
		image->sections[i].name = (uint32_t)(image->size - image->sections[S_NAMES].offset);
		memcpy(image->bytes + image->size, names[i], strlen(names[i]) + 1);
		image->size += strlen(names[i]) + 1;
	}
	end(image, S_NAMES);
}

static void write_section_headers(struct image *image)
{
	for (size_t i = 0; i < SECTIONS; i++) {
		bool table = image->sections[i].type == SHT_SYMTAB || image->sections[i].type == SHT_DYNSYM;
		uint64_t entry = !table ? 0 : image->shape.wide ? 24 : 16;
		append(image, "44wwww44ww", u(image->sections[i].name), u(image->sections[i].type), u(0),
		       image->sections[i].address, image->sections[i].offset, image->sections[i].size,
		       u(image->sections[i].link), u(0), u(1), entry);
	}
}

static void write_header(struct image *image, uint64_t sections)
{
	const struct shape *shape = &image->shape;
	size_t size = image->size;
	memcpy(image->bytes, "\177ELF", 4);
	image->size = 4;
	append(image, "11188", u(shape->wide ? 2 : 1), u(shape->big ? 2 : 1), u(1), u(0), u(0));
	image->size = 16;
	append(image, "224www4222222", u(shape->type), u(shape->machine), u(1), u(0), u(0), sections, u(0),
	       u(shape->wide ? 64 : 52), u(0), u(0), u(shape->wide ? 64 : 40), u(SECTIONS), u(S_NAMES));
	image->size = size;
}

static void write_image(struct image *image, const struct shape *shape)
{
	memset(image, 0, sizeof *image);
	image->shape = *shape;
	image->size = HEADER_ROOM;
	begin(image, S_TEXT, SHT_PROGBITS, TEXT);
	end(image, S_TEXT);
	image->sections[S_TEXT].size = 0;
	write_map(image);
	write_symbols(image);
	write_relocations(image);
	write_names(image);
	image->size = (image->size + 7) & ~(size_t)7;
	uint64_t sections = image->size;
	write_section_headers(image);
	write_header(image, sections);
}

static void check_functions(struct tw_symbols *program)
{
	assert_int_equal(tw_symbols_functions(program), FUNCTIONS);
	for (uint32_t i = 0; i < FUNCTIONS; i++) {
		const struct tw_symbols_function *function = tw_symbols_function(program, i + 1);
		assert_non_null(function);
		assert_int_equal(function->id, expected[i].id);
		assert_int_equal(function->address, expected[i].address);
		assert_string_equal(function->name, expected[i].name);
		if (expected[i].symbol)
			assert_string_equal(function->symbol, expected[i].symbol);
		else
			assert_null(function->symbol);
		assert_null(function->file);
		assert_int_equal(function->line, 0);
	}
	assert_null(tw_symbols_function(program, 0));
	assert_null(tw_symbols_function(program, FUNCTIONS + 1));
	const struct tw_symbols_sled *sleds;
	assert_int_equal(tw_symbols_sleds(program, &sleds), SLEDS);
	for (size_t i = 0; i < SLEDS; i++) {
		assert_int_equal(sleds[i].function, sled_functions[i]);
		assert_int_equal(sleds[i].function, expected[sleds[i].id - 1].address);
	}
}

/* ---- Sound files. ---- */

static const struct shape shapes[] = {
    {.wide = true, .version = 2, .type = ET_DYN, .machine = EM_X86_64},
    {.wide = true, .version = 2, .type = ET_EXEC, .machine = EM_X86_64},
    {.wide = true, .version = 3, .type = ET_DYN, .machine = EM_AARCH64, .dynamic = true},
    {.wide = true, .big = true, .version = 2, .type = ET_DYN, .machine = EM_PPC64},
    {.wide = false, .version = 2, .type = ET_DYN, .machine = EM_ARM},
    {.wide = false, .big = true, .version = 2, .type = ET_EXEC, .machine = EM_MIPS},
    {.wide = true, .version = 0, .type = ET_EXEC, .machine = EM_X86_64},
    {.wide = true, .big = true, .version = 1, .type = ET_EXEC, .machine = EM_PPC64},
    {.wide = false, .version = 1, .type = ET_EXEC, .machine = EM_ARM, .dynamic = true},
    {.wide = false, .big = true, .version = 0, .type = ET_EXEC, .machine = EM_MIPS},
    {.wide = true, .version = 0, .relocate = SHT_RELA, .type = ET_DYN, .machine = EM_X86_64},
    {.wide = true, .version = 1, .relocate = SHT_RELA, .symbolic = true, .type = ET_DYN, .machine = EM_X86_64},
    {.wide = false, .version = 1, .relocate = SHT_REL, .type = ET_DYN, .machine = EM_386},
    {.wide = false, .version = 1, .relocate = SHT_REL, .symbolic = true, .type = ET_DYN, .machine = EM_386},
    /* Relocations do not touch entries that need none. */
    {.wide = true, .version = 2, .relocate = SHT_RELA, .type = ET_DYN, .machine = EM_X86_64},
};

static void reads_every_class_order_and_version(void **state)
{
	for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
		struct image image;
		write_image(&image, &shapes[i]);
		save(*state, image.bytes, image.size);
		struct tw_symbols *program;
		int status = tw_symbols_open(&program, ((struct scratch *)*state)->path);
		if (status != 0)
			fail_msg("shape %zu: %d: %s", i, status, tw_symbols_error(program));
		check_functions(program);
		tw_symbols_close(program);
	}
}

static void namer_tells_the_same(void **state)
{
	struct image image;
	write_image(&image, &shapes[0]);
	save(*state, image.bytes, image.size);
	struct tw_symbols *program;
	assert_int_equal(tw_symbols_open(&program, ((struct scratch *)*state)->path), 0);
	const struct tw_namer *namer = tw_symbols_namer(program);
	struct tw_name name;
	assert_int_equal(namer->name(namer->context, 2, &name), 1);
	assert_string_equal(name.text, "geo::area(int, int)");
	assert_int_equal(name.length, strlen("geo::area(int, int)"));
	assert_int_equal(name.id, 2);
	assert_null(name.file);
	assert_int_equal(namer->name(namer->context, 0, &name), 0);
	assert_int_equal(namer->name(namer->context, FUNCTIONS + 1, &name), 0);
	assert_int_equal(namer->name(namer->context, UINT64_C(0x100000002), &name), 0);
	tw_symbols_close(program);
}

static void closing_nothing_is_fine(void **state)
{
	(void)state;
	tw_symbols_close(NULL);
}

/* ---- Files that are no use. ---- */

/* One line, with the path in front. */
static void expect_refusal(const char *path, int status, const char *text)
{
	struct tw_symbols *program;
	int got = tw_symbols_open(&program, path);
	const char *error = tw_symbols_error(program);
	if (got != status || !strstr(error, text) || strchr(error, '\n') || strncmp(error, path, strlen(path)) != 0)
		fail_msg("%s: expected %d and \"%s\", got %d and \"%s\"", path, status, text, got, error);
	assert_int_equal(tw_symbols_functions(program), 0);
	tw_symbols_close(program);
}

enum field {
	FIELD_HEADER_TYPE,
	FIELD_HEADER_SECTIONS,
	FIELD_MAP_NAME,
	FIELD_MAP_TYPE,
	FIELD_MAP_OFFSET,
	FIELD_MAP_SIZE
};

/* Where a field is, in 64 bit files. Source: ELF-64 object file format. */
static size_t where(const struct image *image, enum field field)
{
	size_t table = (size_t)tw_load64(image->bytes + 40, image->shape.big), map = table + S_MAP * SECTION_ROOM;
	switch (field) {
	case FIELD_HEADER_TYPE:
		return 16;
	case FIELD_HEADER_SECTIONS:
		return 40;
	case FIELD_MAP_NAME:
		return map;
	case FIELD_MAP_TYPE:
		return map + 4;
	case FIELD_MAP_OFFSET:
		return map + 24;
	case FIELD_MAP_SIZE:
		return map + 32;
	}
	return 0;
}

static void refuses_what_has_no_map(void **state)
{
	static const struct {
		enum field field;
		size_t size;
		uint64_t value;
		int status;
		const char *text;
	} cases[] = {
	    {FIELD_HEADER_TYPE, 2, ET_CORE, TW_ERR_FORMAT, "core dump"},
	    {FIELD_HEADER_TYPE, 2, ET_REL, TW_ERR_FORMAT, "object file"},
	    {FIELD_HEADER_TYPE, 2, ET_NONE, TW_ERR_FORMAT, "no type"},
	    {FIELD_HEADER_SECTIONS, 8, 1 << 20, TW_ERR_FORMAT, ""},
	    {FIELD_HEADER_SECTIONS, 8, UINT64_MAX - 8, TW_ERR_FORMAT, ""},
	    {FIELD_MAP_NAME, 4, 0, TW_ERR_UNSUPPORTED,
	     "no xray_instr_map section: was it built with -fxray-instrument?"},
	    {FIELD_MAP_NAME, 4, UINT32_MAX, TW_ERR_UNSUPPORTED, "no xray_instr_map section"},
	    {FIELD_MAP_TYPE, 4, SHT_NOBITS, TW_ERR_UNSUPPORTED, "no bytes"},
	    {FIELD_MAP_OFFSET, 8, MAX_FILE, TW_ERR_FORMAT, "past the end of the file"},
	    {FIELD_MAP_OFFSET, 8, UINT64_MAX - 16, TW_ERR_FORMAT, "past the end of the file"},
	    {FIELD_MAP_SIZE, 8, 0, TW_ERR_UNSUPPORTED, "empty"},
	    {FIELD_MAP_SIZE, 8, 33, TW_ERR_FORMAT, "33 bytes, expected a multiple of 32"},
	    {FIELD_MAP_SIZE, 8, MAX_FILE * 32, TW_ERR_FORMAT, "past the end of the file"},
	    {FIELD_MAP_SIZE, 8, UINT64_MAX - 31, TW_ERR_FORMAT, "past the end of the file"},
	};
	struct scratch *scratch = *state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct image image;
		write_image(&image, &shapes[0]);
		put(&image, where(&image, cases[i].field), cases[i].value, cases[i].size);
		save(scratch, image.bytes, image.size);
		expect_refusal(scratch->path, cases[i].status, cases[i].text);
	}
}

static void refuses_what_is_no_program(void **state)
{
	struct scratch *scratch = *state;
	expect_refusal("/", TW_ERR_SYSTEM, "directory");
	expect_refusal("/nowhere/at/all", TW_ERR_SYSTEM, "No such file");
	expect_refusal("/dev/null", TW_ERR_FORMAT, "no regular file");
	save(scratch, "", 0);
	expect_refusal(scratch->path, TW_ERR_FORMAT, "expected an ELF file");
	save(scratch, "#!/bin/sh\nexit 0\n", 17);
	expect_refusal(scratch->path, TW_ERR_FORMAT, "expected an ELF file");
	save(scratch, "!<arch>\n", 8);
	expect_refusal(scratch->path, TW_ERR_FORMAT, "archive");
	save(scratch, "\177ELF", 4);
	expect_refusal(scratch->path, TW_ERR_FORMAT, "ELF");
}

/* Each more section is the whole file: with four of them, and its own, it is more than 4 times its bytes. */
static void refuses_sections_over_each_other(void **state)
{
	enum { SECTION_COUNT_AT = 60, MORE = 4 };
	struct scratch *scratch = *state;
	for (size_t more = 1; more <= MORE; more++) {
		struct image image;
		write_image(&image, &shapes[0]);
		const size_t size = image.size + more * SECTION_ROOM;
		for (size_t i = 0; i < more; i++)
			append(&image, "4488884488", u(0), u(SHT_STRTAB), u(0), u(0), u(0), u(size), u(0), u(0), u(1),
			       u(0));
		put(&image, SECTION_COUNT_AT, SECTIONS + more, 2);
		save(scratch, image.bytes, image.size);
		struct tw_symbols *program;
		assert_int_equal(tw_symbols_open(&program, scratch->path), more < MORE ? 0 : TW_ERR_FORMAT);
		assert_int_equal(strstr(tw_symbols_error(program), "more than 4 times its bytes") != NULL,
		                 more == MORE);
		tw_symbols_close(program);
	}
}

/* Ten functions have one name of 1,000 bytes in a file that is no longer. */
static void bounds_texts_over_each_other(void **state)
{
	enum { COUNT = 10, LENGTH = 1000, PATH = 4096 };
	static char name[LENGTH + 1], path[PATH + 1];
	struct tw_place items[COUNT] = {0};
	const struct tw_places places = {items, COUNT};
	(void)state;
	memset(name, 'n', LENGTH);
	memset(path, 'p', PATH);
	for (size_t i = 0; i < COUNT; i++)
		items[i] = (struct tw_place){.symbol = i == 1 ? NULL : name, .file = path + i % 2, .line = 7};
	tw_places_bound(&places, LENGTH);
	for (size_t i = 0; i < COUNT; i++) {
		assert_ptr_equal(items[i].symbol, i == 0 || i == 2 || i == 3 ? name : NULL);
		assert_ptr_equal(items[i].file, i % 2 ? path + 1 : NULL);
		assert_int_equal(items[i].line, i % 2 ? 7 : 0);
	}
}

static void refuses_what_may_not_be_read(void **state)
{
	struct scratch *scratch = *state;
	if (geteuid() == 0) {
		print_message("# skipped: root may read everything\n");
		return;
	}
	assert_int_equal(fchmod(scratch->fd, 0), 0);
	expect_refusal(scratch->path, TW_ERR_SYSTEM, "Permission denied");
}

/* A page is a page: nothing is loaded in the middle of one. */
static void refuses_an_odd_load_address(void **state)
{
	static const uint64_t odd = 0x5500000008, even = 0x5500000000;
	struct tw_symbols *program;
	(void)state;
	assert_int_equal(tw_symbols_new(&program), 0);
	assert_int_equal(tw_symbols_add(program, "/proc/self/exe", &odd), TW_ERR_VALUE);
	assert_non_null(strstr(tw_symbols_error(program), "cannot be loaded at 0x5500000008: expected a multiple of"));
	assert_int_equal(tw_symbols_add(program, "/proc/self/exe", &even), 0);
	tw_symbols_close(program);
}

/* ---- Damage: whatever the bytes are, the answer is a status, and what was read is whole. ---- */

/* The same by addresses, and every function is found by its first and its last. */
static void add_and_walk(const char *path)
{
	static const uint64_t somewhere = 0x10000;
	struct tw_symbols *program;
	struct tw_name name;
	struct tw_range range;
	assert_int_equal(tw_symbols_new(&program), 0);
	int status = tw_symbols_add(program, path, &somewhere);
	if (status == TW_ERR_VALUE) /* it is always loaded where it is linked to */
		status = tw_symbols_add(program, path, NULL);
	if (status < 0)
		assert_true(tw_symbols_error(program)[0] != '\0');
	const struct tw_namer *namer = tw_symbols_namer(program);
	for (size_t i = 0; i < program->placed_count; i++) {
		const struct tw_placed *placed = &program->placed[i];
		assert_true(i == 0 || placed[-1].start <= placed->start);
		assert_true(!placed->line == !placed->file);
		if (placed->start >= placed->end || (i + 1 < program->placed_count && placed[1].start == placed->start))
			continue; /* addresses go around */
		assert_int_equal(namer->address(namer->context, placed->start, &name, &range), 1);
		assert_int_equal(range.start, placed->start);
		assert_int_equal(name.id, placed->start);
		assert_int_equal(strlen(name.text), name.length);
	}
	tw_symbols_close(program);
}

static void open_and_walk(const char *path)
{
	struct tw_symbols *program;
	int status = tw_symbols_open(&program, path);
	if (status < 0)
		assert_true(tw_symbols_error(program)[0] != '\0');
	for (uint32_t id = 1; id <= tw_symbols_functions(program); id++) {
		const struct tw_symbols_function *function = tw_symbols_function(program, id);
		assert_int_equal(function->id, id);
		assert_non_null(function->name);
		assert_true(!function->line == !function->file);
	}
	tw_symbols_close(program);
	add_and_walk(path);
}

static uint32_t next_random(uint32_t *seed)
{
	*seed = *seed * 1664525 + 1013904223;
	return *seed >> 8;
}

/* Cuts at `cuts` places, then `flips` times changes some bytes; half of the changes are in the first and last 4096
 * bytes, where headers are. */
static void damage(const struct scratch *scratch, uint8_t *bytes, size_t size, unsigned cuts, unsigned flips)
{
	for (unsigned i = 0; i < cuts; i++) {
		save(scratch, bytes, size * i / cuts);
		open_and_walk(scratch->path);
	}
	uint32_t seed = 1;
	for (unsigned i = 0; i < flips; i++) {
		size_t at[4];
		uint8_t old[4];
		size_t edge = size < 4096 ? size : 4096;
		for (size_t k = 0; k < 4; k++) {
			uint32_t random = next_random(&seed);
			at[k] = random % 4 == 0 ? next_random(&seed) % edge : size - 1 - next_random(&seed) % edge;
			if (random & 4)
				at[k] = next_random(&seed) % size;
			old[k] = bytes[at[k]];
			bytes[at[k]] = (uint8_t)next_random(&seed);
		}
		save(scratch, bytes, size);
		open_and_walk(scratch->path);
		for (size_t k = 4; k-- > 0;)
			bytes[at[k]] = old[k];
	}
}

static void survives_damage(void **state)
{
	for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
		struct image image;
		write_image(&image, &shapes[i]);
		damage(*state, image.bytes, image.size, 200, 400);
	}
}

/* Programs that clang built, where the environment names a directory of them: cut and changed like the small ones. */
static void damage_program(const struct scratch *scratch, const char *path)
{
	FILE *file = fopen(path, "rb");
	struct stat status;
	if (!file || fstat(fileno(file), &status) != 0 || !S_ISREG(status.st_mode) || status.st_size == 0) {
		if (file)
			fclose(file);
		return;
	}
	size_t size = (size_t)status.st_size;
	uint8_t *bytes = malloc(size);
	assert_non_null(bytes);
	assert_int_equal(fread(bytes, 1, size, file), size);
	fclose(file);
	open_and_walk(path);
	damage(scratch, bytes, size, 50, 200);
	free(bytes);
}

static void survives_damage_of_real_programs(void **state)
{
	const char *directory = getenv("TW_TEST_PROGRAMS");
	DIR *entries = directory ? opendir(directory) : NULL;
	if (!entries) {
		print_message("# skipped: TW_TEST_PROGRAMS names no directory of programs\n");
		return;
	}
	for (struct dirent *entry; (entry = readdir(entries));) {
		char path[4096];
		snprintf(path, sizeof path, "%s/%s", directory, entry->d_name);
		damage_program(*state, path);
	}
	closedir(entries);
}

SUITE(symbols)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(reads_every_class_order_and_version, scratch_set_up, scratch_tear_down),
	    cmocka_unit_test_setup_teardown(namer_tells_the_same, scratch_set_up, scratch_tear_down),
	    cmocka_unit_test(closing_nothing_is_fine),
	    cmocka_unit_test_setup_teardown(refuses_what_has_no_map, scratch_set_up, scratch_tear_down),
	    cmocka_unit_test_setup_teardown(refuses_what_is_no_program, scratch_set_up, scratch_tear_down),
	    cmocka_unit_test_setup_teardown(refuses_sections_over_each_other, scratch_set_up, scratch_tear_down),
	    cmocka_unit_test(bounds_texts_over_each_other),
	    cmocka_unit_test_setup_teardown(refuses_what_may_not_be_read, scratch_set_up, scratch_tear_down),
	    cmocka_unit_test(refuses_an_odd_load_address),
	    cmocka_unit_test_setup_teardown(survives_damage, scratch_set_up, scratch_tear_down),
	    cmocka_unit_test_setup_teardown(survives_damage_of_real_programs, scratch_set_up, scratch_tear_down),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
