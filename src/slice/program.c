/* program.c - a slice as a static AArch64 program.
 *
 * It maps the pages where the trace had them, sets the registers, and jumps to the first instruction. Where something
 * happens that its instructions do not do, a branch stands that leads to a stub close by. */
/* SPDX-License-Identifier: Apache-2.0 */

#include "base/bytes/bytes.h"
#include "base/memory/memory.h"
#include "slice/stub.h"

enum {
	HEADER = 4096, /* the ELF header's page */
	REGION = 16 * SLICE_PAGE,
	AREAS =
	    REGION / 2, /* the words of a stub are so far behind it: an emulator translates anew what it writes to */
	STATE = 32      /* bytes of four system registers */
};

static const uint64_t near = UINT64_C(64) << 20; /* half of what a branch reaches */

struct stub_program {
	struct slice *slice;
	uint64_t base;         /* address of the file's first byte */
	uint64_t region, used; /* pages for stubs: their address, and how many bytes of them are taken */
	struct tw_text file;
};

/* ---- Memory. ---- */

static void poke(struct slice *slice, uint64_t at, const void *bytes, size_t size)
{
	const uint8_t *from = bytes;
	for (size_t i = 0; i < size; i++)
		slice_page_at(slice, at + i, true)->first[(at + i) % SLICE_PAGE] = from[i];
}

static void poke_word(struct slice *slice, uint64_t at, uint64_t value)
{
	uint8_t bytes[8];
	tw_store64(bytes, value, false);
	poke(slice, at, bytes, sizeof bytes);
}

static void poke_code(struct slice *slice, const struct a64_code *code)
{
	for (size_t i = 0; i < code->count; i++) {
		uint8_t bytes[A64_WORD];
		tw_store32(bytes, code->words[i], false);
		poke(slice, code->address + A64_WORD * i, bytes, A64_WORD);
	}
}

static bool is_free(struct slice *slice, uint64_t from, uint64_t size)
{
	for (size_t i = 0; i < slice->pages.count; i++)
		if (slice->pages.items[i]->address + SLICE_PAGE > from && slice->pages.items[i]->address < from + size)
			return false;
	return true;
}

/* Notes that stubs are there. Returns false when there is no memory. */
static bool note_stubs(struct slice *slice, uint64_t from, uint64_t to)
{
	struct slice_stubs *stubs = &slice->stubs;
	if (stubs->count && stubs->items[stubs->count - 1].to == from) {
		stubs->items[stubs->count - 1].to = to;
		return true;
	}
	if (!tw_grow(&stubs->items, &stubs->room, stubs->count + 1, sizeof *stubs->items))
		return false;
	stubs->items[stubs->count++] = (struct slice_range){from, to};
	return true;
}

/* Finds pages for stubs, which the interval does not use, in a branch's reach of an address. Returns 0 or a
 * negative status. */
static int find_region(struct stub_program *program, uint64_t to)
{
	struct slice *slice = program->slice;
	uint64_t start = (to & ~(uint64_t)(REGION - 1)) + REGION;
	for (uint64_t at = start; at < start + near; at += REGION) {
		if (!is_free(slice, at, REGION))
			continue;
		program->region = at;
		program->used = 0;
		for (unsigned i = 0; i < REGION / SLICE_PAGE; i++)
			if (!slice_page_at(slice, at + i * SLICE_PAGE, true))
				return slice_no_room(slice);
		return note_stubs(slice, at, at + REGION) ? 0 : tw_fail_memory(slice->reader);
	}
	return tw_fail(slice->reader, TW_ERR_ROOM, "no room for a stub near 0x%llx", (unsigned long long)to);
}

static int reserve(struct stub_program *program, uint64_t to, uint64_t *at)
{
	enum { STUB_MOST = A64_WORD * A64_MOST }; /* as much as its words may have */
	bool close = program->region && program->region - to + near < 2 * near;
	int status = close && program->used + STUB_MOST <= AREAS ? 0 : find_region(program, to);
	if (status < 0)
		return status;
	*at = program->region + program->used;
	program->used += STUB_MOST;
	return 0;
}

/* ---- The file. ---- */

static bool add(struct stub_program *program, const void *bytes, size_t size)
{
	return tw_text_add(&program->file, bytes, size);
}

static bool add_word(struct stub_program *program, uint64_t value)
{
	char bytes[8];
	tw_store64((uint8_t *)bytes, value, false);
	return add(program, bytes, sizeof bytes);
}

static uint64_t end_of(const struct stub_program *program)
{
	return program->base + program->file.length;
}

/* Adds the bytes that an event writes, as pairs of address and byte. *count: how many. Returns false when there is no
 * memory. */
static bool add_writes(struct stub_program *program, const struct slice_event *event, uint64_t *count)
{
	bool fine = true;
	*count = 0;
	for (uint32_t i = event->writes; fine && i; i = program->slice->writes.items[i - 1].next, ++*count)
		fine = add_word(program, program->slice->writes.items[i - 1].address) &&
		       add_word(program, program->slice->writes.items[i - 1].byte);
	return fine;
}

static uint64_t area_of(const struct slice_place *place)
{
	return place->stub + AREAS;
}

/* Adds writes that set TPIDR_EL0, whose value is a word in the area of each stub. As above. */
static bool add_thread_writes(struct stub_program *program, uint64_t value, uint64_t *count)
{
	const struct slice *slice = program->slice;
	bool fine = true;
	for (size_t i = 0; i < slice->places.count; i++)
		for (unsigned k = 0; fine && slice_has_stub(&slice->places.items[i]) && k < 8; k++, ++*count)
			fine = add_word(program, area_of(&slice->places.items[i]) + STUB_THREAD + k) &&
			       add_word(program, value >> 8 * k & 0xff);
	return fine;
}

static bool add_records(struct stub_program *program, const struct slice_place *place, uint64_t *at)
{
	const struct slice_event *events = program->slice->events.items;
	struct tw_text records = {0};
	uint64_t before = 0;
	bool fine = true;
	for (uint32_t i = place->first; fine && i; i = events[i - 1].next) {
		const struct slice_event *event = &events[i - 1];
		uint64_t writes = end_of(program), count;
		fine = add_writes(program, event, &count) &&
		       (!event->sets_thread || add_thread_writes(program, event->value, &count));
		const uint64_t words[] = {event->after - before, count, writes, event->value,
		                          (uint64_t)event->skips << STUB_SKIPS | (uint64_t)event->stops << STUB_STOPS |
		                              (uint64_t)event->marks << STUB_MARKS};
		for (size_t k = 0; fine && k < sizeof words / sizeof *words; k++) {
			char bytes[8];
			tw_store64((uint8_t *)bytes, words[k], false);
			fine = tw_text_add(&records, bytes, sizeof bytes);
		}
		before = event->after - event->marks; /* the marked execution is repeated: it counts twice */
	}
	*at = end_of(program);
	fine = fine && add(program, records.bytes, records.length) &&
	       add_word(program, UINT64_MAX); /* an execution that never comes */
	tw_text_free(&records);
	return fine;
}

static int add_stub(struct stub_program *program, const struct slice_place *place)
{
	struct slice *slice = program->slice;
	struct a64_code code = {.address = place->stub};
	uint64_t records, constant, area = area_of(place);
	bool movable = slice_put_stub(&code, place, area, &constant);
	bool passes = false;
	uint64_t taken = 0;
	for (uint32_t i = place->first; i; i = slice->events.items[i - 1].next) {
		const struct slice_event *event = &slice->events.items[i - 1];
		passes |= !event->skips && !event->stops && !event->marks;
		taken += !event->marks;
	}
	if (!movable && (passes || taken < place->count))
		return tw_fail(slice->reader, TW_ERR_UNSUPPORTED,
		               "the instruction at 0x%llx cannot be moved for what happens there",
		               (unsigned long long)place->pc);
	if (!add_records(program, place, &records))
		return tw_fail_memory(slice->reader);
	poke_code(slice, &code);
	poke_word(slice, area + STUB_THREAD, slice->snapshot.tpidr_el0);
	poke_word(slice, area + STUB_NEXT_RECORD, records);
	poke_word(slice, area + STUB_LITERAL, constant);
	struct a64_code branch = {.address = place->pc};
	a64_b(&branch, code.address);
	poke_code(slice, &branch);
	return 0;
}

/* Adds the entry: sets all registers, and branches to the interval's first instruction. */
static int add_entry(struct stub_program *program, uint64_t *entry, uint64_t *area)
{
	struct slice *slice = program->slice;
	struct a64_code code = {0};
	int status = reserve(program, slice->start_pc, &code.address);
	if (status < 0)
		return status;
	*entry = code.address;
	*area = code.address + AREAS;
	if (!slice->before)
		a64_hint(&code);
	a64_ldr(&code, 0, A64_LINK, 8 * 31);
	a64_add(&code, A64_SP, 0, 0);
	for (unsigned i = 0; i < A64_LINK; i += 2)
		a64_ldp(&code, i, i + 1, A64_LINK, 8 * i);
	a64_ldr(&code, A64_LINK, A64_LINK, 8 * A64_LINK);
	a64_b(&code, slice->start_pc);
	poke_code(slice, &code);
	for (unsigned i = 0; i < TW_XTRACE_REGISTERS; i++)
		poke_word(slice, *area + 8 * i, slice->snapshot.x[i]);
	return 0;
}

/* The words that the loader needs, one behind the other. */
enum { LOADER_TABLE = 0, LOADER_PAGES = 8, LOADER_STATE = 16, LOADER_AREA = 24, LOADER_ENTRY = 32 };

/* Maps each page of the table where it was, copies it there, and lets what it holds be seen as code. X20: the table,
 * pairs of address and bytes; X21: pages that are left; X22, X23: where to and where from. */
static void put_pages(struct a64_code *code, uint64_t literals)
{
	enum { LINE = 64, MMAP = 222, READ_WRITE_EXECUTE = 7, PRIVATE_ANONYMOUS_FIXED = 0x32 }; /* Linux's */
	a64_ldr_literal(code, 20, literals + LOADER_TABLE);
	a64_ldr_literal(code, 21, literals + LOADER_PAGES);
	size_t loop = code->count, done = a64_cbz(code, 21);
	a64_ldp_post(code, 22, 23, 20);
	a64_mov(code, 0, 22);
	a64_movz(code, 1, SLICE_PAGE);
	a64_movz(code, 2, READ_WRITE_EXECUTE);
	a64_movz(code, 3, PRIVATE_ANONYMOUS_FIXED);
	a64_movn(code, 4, 0); /* -1: no file */
	a64_movz(code, 5, 0);
	a64_movz(code, 8, MMAP);
	a64_svc(code);
	a64_movz(code, 1, SLICE_PAGE / LINE);
	size_t lines = code->count;
	for (unsigned i = 0; i < LINE / 16; i++) {
		a64_ldp_post(code, 2, 3, 23);
		a64_stp(code, 2, 3, 22, 16 * i);
	}
	a64_clean_code(code, 22);
	a64_add(code, 22, 22, LINE);
	a64_sub(code, 1, 1, 1);
	a64_cbnz_back(code, 1, lines);
	a64_sub(code, 21, 21, 1);
	a64_b(code, code->address + A64_WORD * loop);
	a64_land(code, done);
	a64_synchronize(code);
}

/* Sets what the entry does not set, as add_state() has it with the vectors behind it, and goes to the entry. */
static void put_state(struct a64_code *code, uint64_t literals)
{
	static const enum a64_register registers[] = {A64_FPCR, A64_FPSR, A64_NZCV, A64_TPIDR_EL0};
	a64_ldr_literal(code, 20, literals + LOADER_STATE);
	for (unsigned i = 0; i < STATE / 8; i++) {
		a64_ldr(code, 0, 20, 8 * i);
		a64_msr(code, registers[i], 0);
	}
	for (unsigned i = 0; i < 32; i++)
		a64_ldr_vector(code, i, 20, STATE + 16 * i);
	a64_ldr_literal(code, A64_LINK, literals + LOADER_AREA);
	a64_ldr_literal(code, 0, literals + LOADER_ENTRY);
	a64_br(code, 0);
}

static bool add_state(struct stub_program *program)
{
	const struct tw_xtrace_snapshot *snapshot = &program->slice->snapshot;
	while (program->file.length % 16)
		if (!add(program, "", 1))
			return false;
	return add_word(program, snapshot->fpcr) && add_word(program, snapshot->fpsr) &&
	       add_word(program, snapshot->nzcv) && add_word(program, snapshot->tpidr_el0);
}

/* ELF, "Object Files": one segment that holds everything. */
static void fill_header(uint8_t *header, uint64_t base, uint64_t entry, uint64_t size)
{
	enum { EHDR = 64, PHDR = 56, EXEC = 2, AARCH64 = 183, LOAD = 1, RWX = 7 };
	static const uint8_t magic[] = {0x7f, 'E', 'L', 'F', 2, 1, 1};
	memset(header, 0, HEADER);
	memcpy(header, magic, sizeof magic);
	tw_store16(header + 16, EXEC, false);
	tw_store16(header + 18, AARCH64, false);
	tw_store32(header + 20, 1, false);
	tw_store64(header + 24, entry, false);
	tw_store64(header + 32, EHDR, false);
	tw_store16(header + 52, EHDR, false);
	tw_store16(header + 54, PHDR, false);
	tw_store16(header + 56, 1, false);
	uint8_t *segment = header + EHDR;
	tw_store32(segment, LOAD, false);
	tw_store32(segment + 4, RWX, false);
	tw_store64(segment + 16, base, false);
	tw_store64(segment + 24, base, false);
	tw_store64(segment + 32, size, false);
	tw_store64(segment + 40, size, false);
	tw_store64(segment + 48, SLICE_PAGE, false);
}

/* Chooses where the file itself lies in memory: away from all that the interval uses. Returns false where there is no
 * place. */
static bool choose_base(struct stub_program *program)
{
	static const uint64_t room = UINT64_C(1) << 32;
	for (program->base = room * 16; program->base < room * 256; program->base += room)
		if (is_free(program->slice, program->base - room, 3 * room))
			return true;
	return false;
}

static bool add_pages(struct stub_program *program, uint64_t *table)
{
	struct slice *slice = program->slice;
	uint64_t first = end_of(program);
	bool fine = true;
	for (size_t i = 0; fine && i < slice->pages.count; i++)
		fine = add(program, (const char *)slice->pages.items[i]->first, SLICE_PAGE);
	*table = end_of(program);
	for (size_t i = 0; fine && i < slice->pages.count; i++)
		fine = add_word(program, slice->pages.items[i]->address) && add_word(program, first + i * SLICE_PAGE);
	return fine;
}

static int build(struct stub_program *program, uint8_t header[HEADER])
{
	struct slice *slice = program->slice;
	uint64_t entry, area, table, places = slice->places.count;
	memset(header, 0, HEADER);
	if (!add(program, header, HEADER))
		return tw_fail_memory(slice->reader);
	int status = add_entry(program, &entry, &area);
	for (uint64_t i = 0; status == 0 && i < places; i++)
		if (slice_has_stub(&slice->places.items[i]))
			status = reserve(program, slice->places.items[i].pc, &slice->places.items[i].stub);
	for (uint64_t i = 0; status == 0 && i < places; i++)
		if (slice_has_stub(&slice->places.items[i]))
			status = add_stub(program, &slice->places.items[i]);
	if (status < 0)
		return status;
	if (!add_state(program))
		return tw_fail_memory(slice->reader);
	uint64_t state = end_of(program) - STATE;
	if (!add(program, slice->vectors, sizeof slice->vectors) || !add_pages(program, &table))
		return tw_fail_memory(slice->reader);
	const uint64_t literals[] = {table, slice->pages.count, state, area, entry}; /* LOADER_TABLE and so on */
	uint64_t at = end_of(program);
	for (size_t i = 0; i < sizeof literals / sizeof *literals; i++)
		if (!add_word(program, literals[i]))
			return tw_fail_memory(slice->reader);
	struct a64_code code = {.address = end_of(program)};
	put_pages(&code, at);
	put_state(&code, at);
	for (size_t i = 0; i < code.count; i++) {
		uint8_t bytes[A64_WORD];
		tw_store32(bytes, code.words[i], false);
		if (!add(program, bytes, A64_WORD))
			return tw_fail_memory(slice->reader);
	}
	fill_header(header, program->base, code.address, program->file.length);
	return 0;
}

int slice_write_program(struct slice *slice, struct tw_output *out)
{
	uint8_t header[HEADER];
	struct stub_program program = {.slice = slice};
	if (!choose_base(&program))
		return tw_fail(slice->reader, TW_ERR_ROOM, "no addresses are left for the slice's own code");
	int status = build(&program, header);
	if (status == 0) {
		tw_put(out, header, sizeof header);
		tw_put(out, program.file.bytes + HEADER, program.file.length - HEADER);
	}
	tw_text_free(&program.file);
	return status;
}
