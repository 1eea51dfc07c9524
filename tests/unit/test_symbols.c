/* test_symbols.c - function ids, names and lines from ELF files, sound and damaged. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/bytes/bytes.h"
#include "base/text/demangle.h"
#include "symbols/elf.h"

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
#include <sys/mman.h>
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

/* ---- A file in memory that holds such an image. ---- */

struct scratch {
	int fd;
	char path[64];
};

static int set_up(void **state)
{
	struct scratch *scratch = calloc(1, sizeof *scratch);
	*state = scratch;
	if (!scratch)
		return -1;
	scratch->fd = memfd_create("program", MFD_CLOEXEC);
	snprintf(scratch->path, sizeof scratch->path, "/proc/self/fd/%d", scratch->fd);
	return scratch->fd < 0 ? -1 : 0;
}

static int tear_down(void **state)
{
	struct scratch *scratch = *state;
	close(scratch->fd);
	free(scratch);
	return 0;
}

static void save(const struct scratch *scratch, const void *bytes, size_t size)
{
	assert_int_equal(ftruncate(scratch->fd, (off_t)size), 0);
	assert_int_equal(pwrite(scratch->fd, bytes, size, 0), size);
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

/* ---- Names. ---- */

static void demangles_like_the_abi(void **state)
{
	(void)state;
	/* Results: c++filt, GNU binutils. */
	static const struct {
		const char *symbol, *name;
	} cases[] = {
	    {"_Z1fv", "f()"},
	    {"_ZNSt6vectorIiSaIiEE9push_backERKi", "std::vector<int, std::allocator<int> >::push_back(int const&)"},
	    {"_ZZ4mainENK3$_1clEi", "main::$_1::operator()(int) const"},
	    {"_ZN12_GLOBAL__N_16hiddenEi", "(anonymous namespace)::hidden(int)"},
	    {"_Z3sumIJilcEEiDpT_", "int sum<int, long, char>(int, long, char)"},
	    {"_Z1fILm4294967296EEvv", "void f<4294967296ul>()"},
	    {"_ZSt8__invokeIPFvvEJEENSt15__invoke_resultIT_JDpT0_EE4typeEOS3_DpOS4_",
	     "std::__invoke_result<void (*)()>::type std::__invoke<void (*)()>(void (*&&)())"},
	    {"_ZSt11make_sharedI3FooJiEESt10shared_ptrINSt9enable_ifIXntsr8is_arrayIT_EE5valueES3_E4typeEEDpOT0_",
	     "std::shared_ptr<std::enable_if<!is_array<Foo>::value, Foo>::type> std::make_shared<Foo, int>(int&&)"},
	    {"main", NULL},
	    {"i", NULL}, /* a type to the demangler, a function here */
	    {"_Zbroken", NULL},
	    {"_Z", NULL},
	    {"", NULL},
	};
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		size_t budget = 1 << 20;
		char *name = tw_demangle(cases[i].symbol, &budget);
		if (cases[i].name)
			assert_string_equal(name, cases[i].name);
		else
			assert_null(name);
		free(name);
	}
}

/* Results: llvm-cxxfilt 14, which drops hashes of crates; of D, whose names it has not, "Name Mangling" of the language's
 * specification. */
static void demangles_rust_and_d(void **state)
{
	static const struct {
		const char *symbol, *name;
	} cases[] = {
	    {"_RNvCs1234_7mycrate3foo", "mycrate::foo"},
	    {"_RNvXCs1234_7mycrateNtB2_3BarNtB2_3Qux3baz", "<mycrate::Bar as mycrate::Qux>::baz"},
	    {"_RINvCs1234_7mycrate3genhE", "mycrate::gen::<u8>"},
	    {"_RNvMCs4fqI2P2rA04_13const_genericINtB0_4TestKj4_E3new", NULL},
	    {"_RINvNtC3std3mem8align_ofjdE", "std::mem::align_of::<usize, f64>"},
	    {"_RNvNtNtC7mycrate3foo3bar3baz", "mycrate::foo::bar::baz"},
	    {"_RNCNvC7mycrate3foo0", "mycrate::foo::{closure#0}"},
	    {"_RNCNCNgCs6DXkGYLi8lr_2cc5spawn00B5_", "cc::spawn::{closure#0}::{closure#0}"},
	    {"_RNCINkXs25_NgCsbmNqQUJIY6D_4core5sliceINyB9_4IterhENuNgNoBb_4iter8iterator8Iterator9rpositionNCNgNpB9_6memchr7memrchrs_0E0Bb_",
	     "<core::slice::Iter<u8> as core::iter::iterator::Iterator>::rposition::<core::slice::memchr::memrchr::{closure#1}>::{closure#0}"},
	    {"_RNSC7mycrate4shim0", NULL},
	    {"_RINvC7mycrate3fooReE", "mycrate::foo::<&str>"},
	    {"_RINvC7mycrate3fooQTlhEE", "mycrate::foo::<&mut (i32, u8)>"},
	    {"_RINvC7mycrate3fooFUKCEuE", "mycrate::foo::<unsafe extern \"C\" fn()>"},
	    {"_RINvC7mycrate3fooFG_RL0_hEuE", "mycrate::foo::<for<'a> fn(&'a u8)>"},
	    {"_RINvC7mycrate3fooDNtC3std5TraitEL_E", "mycrate::foo::<dyn std::Trait>"},
	    {"_RINvC7mycrate3fooDINtC3std8IteratorlEp4ItemhEL_E", "mycrate::foo::<dyn std::Iterator<i32, Item = u8>>"},
	    {"_RINvC7mycrate3fooAhj4_E", "mycrate::foo::<[u8; 4]>"},
	    {"_RINvC7mycrate3fooKb1_E", "mycrate::foo::<true>"},
	    {"_RINvC7mycrate3fooKan80_Kc41_E", "mycrate::foo::<-128, 'A'>"},
	    {"_RINvC7mycrate3fooPOlE", "mycrate::foo::<*const *mut i32>"},
	    {"_RINvC7mycrate3fooTlEE", "mycrate::foo::<(i32,)>"},
	    {"_RINvC7mycrate3fooSeE", "mycrate::foo::<[str]>"},
	    {"_RYNtC1a1bNtC1c1d", "<a::b as c::d>"},
	    {"_RNvYlNtC1c1d1e", "<i32 as c::d>::e"},
	    {"_RNvC1a1b.llvm.123", "a::b"},
	    {"_R", NULL},
	    {"_RNvC1a", NULL},
	    {"_RB_", NULL},
	    {"_RNvB_1a", NULL},
	    {"_RNvC9999999999999999999a1b", NULL},
	    {"_RNvC1au3gcda", NULL},
	    {"_RIC1aB1_E", NULL},
	    {"_RINvC7mycrate3fooTTTTEEEEE", "mycrate::foo::<((((),),),)>"},
	    {"_RINvC7mycrate3fooKj7b_E", "mycrate::foo::<123>"},
	    {"_RNvNvMs_C1aNtB6_1b1c1d", "<a::b>::c::d"},
	    {"_D3app4mainFAAyaZi", "app.main"},
	    {"_D3std5stdio__T7writelnTAyaZQnFNfQjZv", "std.stdio.writeln!(immutable(char)[]).writeln"},
	    {"_D3std5stdio__T7writelnTAyaTiZQpFNfQliZv", "std.stdio.writeln!(immutable(char)[], int).writeln"},
	    {"_D4core6memory2GC6enableFNbZv", "core.memory.GC.enable"},
	    {"_Dmain", "D main"},
	    /* names by binutils' c++filt, without parameters but in arguments of templates */
	    {"_D3app5outerFZ5innerMFZv", "app.outer.inner"},
	    {"_D3foo3Bar6__ctorMFiZCQuQs", "foo.Bar.this"},
	    {"_D3foo3Bar6__dtorMFZv", "foo.Bar.~this"},
	    {"_D8demangle9__T4testZ1iFZv", "demangle.test!().i"},
	    {"_D4core8internal5array8equality__T8__equalsTxaTxaZQqFNaNbNiNeMxAaMxQeZb",
	     "core.internal.array.equality.__equals!(const(char), const(char)).__equals"},
	    {"_D8demangle__T4testVAyaa3_616263ZQtFZv", "demangle.test!(\"abc\").test"},
	    {"_D8demangle__T4testViN1ZQkFZv", "demangle.test!(-1).test"},
	    {"_D8demangle__T4testVbi1ZQkFZv", "demangle.test!(true).test"},
	    {"_D8demangle__T4testVmi7ZQkFZv", "demangle.test!(7uL).test"},
	    {"_D8demangle__T4testVai65ZQlFZv", "demangle.test!('A').test"},
	    {"_D8demangle__T4testVde0A8P6ZQoFZv", "demangle.test!(0x0.A8p6).test"},
	    {"_D8demangle__T4testVHiiA2i1i2i3i4ZQuFZv", "demangle.test!([1:2, 3:4]).test"},
	    {"_D8demangle__T4testVS3foo3BarS2i1nZQvFZv", "demangle.test!(foo.Bar(1, null)).test"},
	    {"_D8demangle__T4testTHiAyaZQmFZv", "demangle.test!(immutable(char)[][int]).test"},
	    {"_D8demangle__T4testTG5xiZQlFZv", "demangle.test!(const(int)[5]).test"},
	    {"_D8demangle__T4testSQs3fooZQnFZv", "demangle.test!(demangle.foo).test"},
	    {"_D8demangle__T4testTC3foo3BarZQqFZv", "demangle.test!(foo.Bar).test"},
	    /* as D writes these types, which c++filt has in another order */
	    {"_D8demangle__T4testTPUiZvZQmFZv", "demangle.test!(extern(C) void function(int)).test"},
	    {"_D8demangle__T4testTDFNaNbZaZQpFZv", "demangle.test!(char delegate() pure nothrow).test"},
	    /* variables, references to nowhere and to themselves, what is cut */
	    {"_D3app1xi", NULL},
	    {"_D1aQzFZv", NULL},
	    {"_D1aFQaZv", NULL},
	    {"_D1aFQbZv", NULL},
	    {"_D1aFPQbZv", NULL},
	    {"_D8demangle__T4testTPQbZQkFZv", NULL},
	    {"_D8demangle__T4testTi", NULL},
	    {"_D8demangle__T4testVAyaa9_61ZQtFZv", NULL},
	    {"_D8demangle4testFaZv", "demangle.test"},
	    {"_D3foo", NULL},
	    {"_D99foo", NULL},
	    {"_D1aMFZv", "a"},
	};
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		size_t budget = 1 << 20;
		char *name = tw_demangle(cases[i].symbol, &budget);
		if (cases[i].name)
			assert_string_equal(name, cases[i].name);
		else
			assert_null(name);
		free(name);
	}
}

/* Each argument of a template refers to the one before, twice: each is more than double that. */
static void d_does_not_expand_without_bound(void **state)
{
	(void)state;
	char symbol[2048] = "_D1a__T1bTHiiTHQfQh";
	size_t budget = SIZE_MAX;
	strcat(symbol, "Z1cFZv");
	char *name = tw_demangle(symbol, &budget);
	assert_string_equal(name, "a.b!(int[int], int[int][int[int]]).c");
	free(name);
	symbol[strlen("_D1a__T1bTHiiTHQfQh")] = '\0';
	for (size_t i = 0; i < 60; i++)
		strcat(symbol, "THQhQj");
	strcat(symbol, "Z1cFZv");
	budget = SIZE_MAX;
	assert_null(tw_demangle(symbol, &budget));
	assert_true(budget == SIZE_MAX);
}

/* pair<pair<..>, pair<..>>, each level twice the one before: 16 levels give 4 MB, 30 would give 64 GB. */
static void does_not_expand_without_bound(void **state)
{
	(void)state;
	static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	char symbol[1024] = "_Z1fSt4pairIiiE";
	for (size_t i = 0; i < 30; i++) {
		size_t number = 2 * i;
		const char reference[] = {'S', number < 36 ? '0' : '1', digits[number % 36], '_', '\0'};
		char level[32];
		snprintf(level, sizeof level, "St4pairI%s%sE", reference, reference);
		strcat(symbol, level);
	}
	size_t budget = SIZE_MAX;
	assert_null(tw_demangle(symbol, &budget));
	assert_true(budget == SIZE_MAX);
	symbol[strlen("_Z1fSt4pairIiiESt4pairIS00_S00_E")] = '\0';
	char *name = tw_demangle(symbol, &budget);
	assert_string_equal(name, "f(std::pair<int, int>, std::pair<std::pair<int, int>, std::pair<int, int> >)");
	free(name);
}

/* Symbols that no compiler writes, at which libstdc++'s demangler stays for ever. Binutils' c++filt refuses them. */
static void does_not_stay_for_ever(void **state)
{
	(void)state;
	static const char *const endless[] = {
	    "_Z1fIXsr1aDE",   "_Z1fIXsr1aCxE",  "_Z1fIXsr1aUxE",    "_Z1fIXsrUxE",       "_Z1fDTsr1aDxE",
	    "_Z1fIXsr1a1bDE", "_Z1fIXgssr1aDE", "_Z1fIXsr1aIiEDxE", "_Z1fIXsr1aIXEEDxE", "_Z1fIXsr9aDxE1bEDx",
	};
	for (size_t i = 0; i < sizeof endless / sizeof *endless; i++) {
		size_t budget = SIZE_MAX;
		assert_null(tw_demangle(endless[i], &budget));
	}
}

static void stops_when_the_budget_is_spent(void **state)
{
	(void)state;
	size_t budget = 5;
	char *name = tw_demangle("_Z5helloi", &budget);
	assert_string_equal(name, "hello(int)");
	free(name);
	assert_int_equal(budget, 0);
	assert_null(tw_demangle("_Z5helloi", &budget));
	static char longest[8192] = "_Z8000";
	memset(longest + 6, 'a', 8000);
	budget = SIZE_MAX;
	assert_null(tw_demangle(longest, &budget));
}

/* ---- Lists of what is loaded where. ---- */

/* How far apart the places of the lists are. */
static const uint64_t distance = UINT64_C(1) << 40;

/* What of the test program itself is loaded where, as the system tells it. */
struct own_lines {
	char path[PATH_MAX];
	struct {
		uint64_t start, end, offset;
		char access[5];
	} lines[32];
	size_t count;
};

static void read_own_lines(struct own_lines *own)
{
	char line[PATH_MAX + 128];
	ssize_t length = readlink("/proc/self/exe", own->path, sizeof own->path - 1);
	assert_true(length > 0);
	own->path[length] = '\0';
	own->count = 0;
	FILE *maps = fopen("/proc/self/maps", "r");
	assert_non_null(maps);
	while (fgets(line, sizeof line, maps) && own->count < 32) {
		char *path = strchr(line, '/'), *at;
		line[strcspn(line, "\n")] = '\0';
		if (!path || strcmp(path, own->path) != 0)
			continue;
		own->lines[own->count].start = strtoull(line, &at, 16);
		own->lines[own->count].end = strtoull(at + 1, &at, 16);
		memcpy(own->lines[own->count].access, at + 1, 4);
		own->lines[own->count++].offset = strtoull(at + 5, NULL, 16);
	}
	fclose(maps);
	assert_true(own->count > 1);
}

/* Appends the lines of a place, the last first where `reversed`. */
static void put_own_lines(FILE *list, const struct own_lines *own, uint64_t place, bool reversed, const char *path)
{
	for (size_t n = 0; n < own->count; n++) {
		size_t i = reversed ? own->count - 1 - n : n;
		unsigned long long start = own->lines[i].start + place * distance;
		unsigned long long end = own->lines[i].end + place * distance, offset = own->lines[i].offset;
		fprintf(list, "%llx-%llx %s %08llx 00:00 0 %s\n", start, end, own->lines[i].access, offset, path);
	}
}

/* Whether a function of this file has its name at a place. */
static bool is_named(struct tw_symbols *program, uint64_t place)
{
	const struct tw_namer *namer = tw_symbols_namer(program);
	uint64_t address = (uint64_t)(uintptr_t)read_own_lines + place * distance;
	struct tw_name name;
	struct tw_range range;
	if (!namer->address(namer->context, address, &name, &range))
		return false;
	assert_string_equal(name.text, "read_own_lines");
	assert_int_equal(range.start, address);
	return true;
}

static FILE *begin_list(const struct scratch *scratch)
{
	FILE *list = fopen(scratch->path, "w");
	assert_non_null(list);
	return list;
}

static void names_a_library_wherever_it_was_loaded(void **state)
{
	const struct scratch *scratch = *state;
	static const uint64_t places[] = {3, 1, 2, 7};
	struct own_lines own = {0};
	struct tw_symbols *program;
	read_own_lines(&own);
	FILE *list = begin_list(scratch);
	for (size_t i = 0; i < 4; i++)
		put_own_lines(list, &own, places[i], false, own.path);
	put_own_lines(list, &own, 1, false, own.path);
	fclose(list);
	assert_int_equal(tw_symbols_new(&program), 0);
	assert_int_equal(tw_symbols_add_maps(program, scratch->path), 0);
	for (size_t i = 0; i < 4; i++)
		assert_true(is_named(program, places[i]));
	assert_false(is_named(program, 0));
	assert_false(is_named(program, 4));
	tw_symbols_close(program);
}

static void names_a_library_whose_lines_stand_in_any_order(void **state)
{
	const struct scratch *scratch = *state;
	struct own_lines own = {0};
	struct tw_symbols *program;
	read_own_lines(&own);
	FILE *list = begin_list(scratch);
	put_own_lines(list, &own, 0, true, own.path);
	unsigned long long start = own.lines[0].start + 5 * distance;
	fprintf(list, "%llx %s\n", start, own.path);
	fclose(list);
	assert_int_equal(tw_symbols_new(&program), 0);
	assert_int_equal(tw_symbols_add_maps(program, scratch->path), 0);
	assert_true(is_named(program, 0) && is_named(program, 5));
	tw_symbols_close(program);
}

static void names_nothing_where_two_files_are_at_one_place(void **state)
{
	const struct scratch *scratch = *state;
	struct own_lines own = {0};
	struct tw_symbols *program;
	read_own_lines(&own);
	FILE *list = begin_list(scratch);
	for (uint64_t place = 1; place < 4; place++)
		put_own_lines(list, &own, place, false, own.path);
	put_own_lines(list, &own, 2, false, "/proc/self/exe");
	put_own_lines(list, &own, 4, false, "/proc/self/exe");
	fclose(list);
	assert_int_equal(tw_symbols_new(&program), 0);
	assert_int_equal(tw_symbols_add_maps(program, scratch->path), 2);
	assert_non_null(strstr(tw_symbols_error(program), "/proc/self/exe: "));
	assert_true(is_named(program, 1) && is_named(program, 3) && is_named(program, 4));
	assert_false(is_named(program, 2));
	tw_symbols_close(program);
}

/* ---- Programs at the same addresses. ---- */

enum { SHIFT = 1 << 12 };

/* The lines of a program that has this file at an address. */
static void put_program_lines(FILE *list, const struct own_lines *own, uint64_t at, const char *program,
                              const char *path)
{
	for (size_t i = 0; i < own->count; i++) {
		unsigned long long start = own->lines[i].start + at, end = own->lines[i].end + at;
		unsigned long long offset = own->lines[i].offset;
		fprintf(list, "%llx-%llx %s %08llx 00:00 %s %s\n", start, end, own->lines[i].access, offset, program,
		        path);
	}
}

/* Whether a function of this file has its name there for a thread. */
static bool is_named_for(struct tw_symbols *program, uint64_t thread, uint64_t at)
{
	const struct tw_thread_namers *namers = tw_symbols_thread_namers(program);
	uint32_t number = 0;
	const struct tw_namer *namer = namers ? namers->find(namers->context, thread, &number) : NULL;
	uint64_t address = (uint64_t)(uintptr_t)read_own_lines + at;
	struct tw_name name;
	struct tw_range range;
	assert_int_equal(namer != NULL, number != 0);
	if (!namer || !namer->address(namer->context, address, &name, &range) || range.start != address)
		return false;
	assert_string_equal(name.text, "read_own_lines");
	assert_true(name.id == address || name.id == (address | (uint64_t)number << 56));
	return true;
}

static uint32_t number_for(struct tw_symbols *program, uint64_t thread)
{
	const struct tw_thread_namers *namers = tw_symbols_thread_namers(program);
	uint32_t number = 0;
	assert_non_null(namers);
	namers->find(namers->context, thread, &number);
	return number;
}

static void names_each_programs_own_at_one_place(void **state)
{
	const struct scratch *scratch = *state;
	const uint64_t place = 2 * distance;
	struct own_lines own = {0};
	struct tw_symbols *program;
	read_own_lines(&own);
	FILE *list = begin_list(scratch);
	put_program_lines(list, &own, place, "1", own.path);
	fprintf(list, "# thread 11: program 1\n# program 4: as 1 so far\n# thread 14: program 4\n");
	put_program_lines(list, &own, place + SHIFT, "2", "/proc/self/exe");
	put_program_lines(list, &own, place + SHIFT, "3", "/proc/self/exe");
	put_program_lines(list, &own, 5 * distance, "3", own.path);
	fprintf(list, "# thread 12: program 2\n# thread 13: program 3\n# thread 15: program 9\n"
	              "# thread 18446744073709551615: program 2\n");
	fclose(list);
	assert_int_equal(tw_symbols_new(&program), 0);
	assert_int_equal(tw_symbols_add_maps(program, scratch->path), 0);
	assert_false(is_named(program, 2));
	static const struct {
		uint64_t thread;
		uint32_t number;
		bool first, second;
	} cases[] = {{11, 1, true, false},  {12, 2, false, true}, {13, 2, false, true},        {14, 1, true, false},
	             {15, 0, false, false}, {7, 0, false, false}, {UINT64_MAX, 2, false, true}};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const uint64_t thread = cases[i].thread;
		assert_int_equal(number_for(program, thread), cases[i].number);
		assert_int_equal(is_named_for(program, thread, place), cases[i].first);
		assert_int_equal(is_named_for(program, thread, place + SHIFT), cases[i].second);
		assert_int_equal(is_named_for(program, thread, 5 * distance), cases[i].number != 0);
	}
	assert_true(is_named(program, 5)); /* where there is one only, it is all programs' */
	tw_symbols_close(program);
}

static void gives_a_child_what_its_parent_had(void **state)
{
	const struct scratch *scratch = *state;
	struct own_lines own = {0};
	struct tw_symbols *program;
	read_own_lines(&own);
	FILE *list = begin_list(scratch);
	put_program_lines(list, &own, 2 * distance, "1", own.path);
	fprintf(list, "# program 2: as 1 so far\n# program 3: as 2 so far\n");
	put_program_lines(list, &own, 4 * distance, "1", own.path);
	put_program_lines(list, &own, 4 * distance + SHIFT, "3", "/proc/self/exe");
	put_program_lines(list, &own, 2 * distance + SHIFT, "4", "/proc/self/exe");
	fprintf(list,
	        "# thread 11: program 1\n# thread 12: program 2\n# thread 13: program 3\n# thread 14: program 4\n");
	fclose(list);
	assert_int_equal(tw_symbols_new(&program), 0);
	assert_int_equal(tw_symbols_add_maps(program, scratch->path), 0);
	static const bool cases[4][4] = {{true, false, true, false},
	                                 {true, false, true, false},
	                                 {true, false, false, true},
	                                 {false, true, false, false}};
	for (uint64_t i = 0; i < 4; i++)
		for (uint64_t at = 0; at < 4; at++)
			assert_int_equal(is_named_for(program, 11 + i, (2 + at / 2 * 2) * distance + at % 2 * SHIFT),
			                 cases[i][at]);
	tw_symbols_close(program);
}

/* Each has what all before it had, and its number is not asked of all of them: that took minutes. */
static void gives_children_of_children_what_all_had(void **state)
{
	enum { CHILDREN = 60, FAR = 1 << 30, MORE = 4000 };
	const struct scratch *scratch = *state;
	struct own_lines own = {0};
	struct tw_symbols *program;
	read_own_lines(&own);
	FILE *list = begin_list(scratch);
	put_program_lines(list, &own, 2 * distance + SHIFT, "9999", "/proc/self/exe");
	put_program_lines(list, &own, 2 * distance, "1", own.path);
	for (unsigned i = 1; i < MORE; i++) {
		fprintf(list, "# program %u: as %u so far\n# thread %u: program %u\n", i + 1, i, 10 + i, i);
		fprintf(list, "%x-%x r-xp 00000000 00:00 %u /nowhere\n", FAR + (i << 12), FAR + ((i + 1) << 12), i + 1);
	}
	fclose(list);
	assert_int_equal(tw_symbols_new(&program), 0);
	assert_true(tw_symbols_add_maps(program, scratch->path) >= 0);
	for (uint64_t i = 1; i < CHILDREN; i++) {
		assert_true(is_named_for(program, 10 + i, 2 * distance));
		assert_false(is_named_for(program, 10 + i, 2 * distance + SHIFT));
	}
	tw_symbols_close(program);
}

/* What is no number, and what tells nothing new, is for people. */
static void takes_no_programs_from_bad_lines(void **state)
{
	static const struct {
		const char *program, *lines;
		int missing;
	} cases[] = {
	    {"2", "", 2},
	    {"2", "# thread\n# thread x: program 1\n# thread 1: program\n# thread 1: program 0\n#thread 1: program 1\n",
	     2},
	    {"2", "# thread 18446744073709551616: program 1\n# thread 1: program 4294967296\n# thread 1: program 1x\n",
	     2},
	    {"2", "# thread -1: program 1\n# thread 1: program -1\n# program 1: as 1 so far\n# program\n", 2},
	    {"0", "# thread 1: program 1\n", 1},
	    {"4294967296", "# thread 1: program 1\n", 1},
	    {"1", "# thread 1: program 1\n", 2},
	    {"2", "# thread 1: program 1\n# thread 1: program 2\n# thread 1: program 1\n", 0},
	    {"2",
	     "# program 2: as 1 so far\n# program 1: as 2 so far\n# program 2: as 2 so far\n# thread 1: program 3\n",
	     2},
	    {"2", "# program 0: as 1 so far\n# program 7: as 0 so far\n# program 7: as 2\n# thread 1: program 7\n", 0},
	};
	const struct scratch *scratch = *state;
	struct own_lines own = {0};
	struct tw_symbols *program;
	read_own_lines(&own);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		FILE *list = begin_list(scratch);
		put_program_lines(list, &own, 2 * distance, "1", own.path);
		fputs(cases[i].lines, list);
		put_program_lines(list, &own, 2 * distance, cases[i].program, "/proc/self/exe");
		put_program_lines(list, &own, 3 * distance, cases[i].program, own.path);
		fclose(list);
		assert_int_equal(tw_symbols_new(&program), 0);
		assert_int_equal(tw_symbols_add_maps(program, scratch->path), cases[i].missing);
		assert_true(is_named(program, 3));
		assert_false(is_named(program, 2));
		assert_false(is_named_for(program, 1, 2 * distance) && cases[i].missing != 1);
		tw_symbols_close(program);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(reads_every_class_order_and_version, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(namer_tells_the_same, set_up, tear_down),
	    cmocka_unit_test(closing_nothing_is_fine),
	    cmocka_unit_test_setup_teardown(refuses_what_has_no_map, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(refuses_what_is_no_program, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(refuses_what_may_not_be_read, set_up, tear_down),
	    cmocka_unit_test(refuses_an_odd_load_address),
	    cmocka_unit_test_setup_teardown(survives_damage, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(survives_damage_of_real_programs, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(names_a_library_wherever_it_was_loaded, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(names_a_library_whose_lines_stand_in_any_order, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(names_nothing_where_two_files_are_at_one_place, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(names_each_programs_own_at_one_place, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(gives_a_child_what_its_parent_had, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(gives_children_of_children_what_all_had, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(takes_no_programs_from_bad_lines, set_up, tear_down),
	    cmocka_unit_test(demangles_like_the_abi),
	    cmocka_unit_test(demangles_rust_and_d),
	    cmocka_unit_test(d_does_not_expand_without_bound),
	    cmocka_unit_test(does_not_expand_without_bound),
	    cmocka_unit_test(does_not_stay_for_ever),
	    cmocka_unit_test(stops_when_the_budget_is_spent),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
