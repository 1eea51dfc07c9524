/* program.c - a slice as a static AArch64 program.
 *
 * It maps the pages where the trace had them, sets the registers, and jumps to the first instruction. Where something
 * happens that its instructions do not do, a branch stands that leads to a stub close by: it counts, does what happens,
 * and goes back. The order of the bits is Arm's (DDI 0487), C6.2. */
/* SPDX-License-Identifier: Apache-2.0 */

#include "base/bytes.h"
#include "base/memory.h"
#include "slice/slice.h"
#include "xtrace/opcode.h"

enum {
	WORD = 4,
	HEADER = 4096, /* the ELF header's page */
	REGION = 16 * SLICE_PAGE,
	CODE_MOST = 128,
	LINK = 30,
	ZERO = 31,
	RECORD = 40, /* remaining, writes, where they are, value, flags */
	SKIPS = 1,
	STOPS = 2,
	MARKS = 4
};

static const uint32_t hint = 0xd503213f;         /* HINT #9: the beginning or the end, for collectors */
static const uint64_t near = UINT64_C(64) << 20; /* half of what a branch reaches */

/* Words at the place of a stub, behind its code. */
enum {
	SAVED_LINK = 0,
	THREAD = 8,
	SAVED_28 = 16,
	SAVED_26 = 32,
	NEXT_RECORD = 48,
	VALUE = 56,
	SAVED_25 = 64,
	LITERAL = 72
};

struct code {
	uint64_t address; /* of words[0] */
	uint32_t words[CODE_MOST];
	size_t count;
};

struct program {
	struct slice *slice;
	uint64_t base;         /* address of the file's first byte */
	uint64_t region, used; /* of stubs, and the bytes of it that are taken */
	struct tw_text file;
};

/* ---- Instructions. ---- */

static void put(struct code *code, uint32_t word)
{
	code->words[code->count++] = word;
}

static uint64_t here(const struct code *code)
{
	return code->address + WORD * code->count;
}

static uint32_t field(uint64_t value, unsigned bits, unsigned at)
{
	return (uint32_t)(value & ((UINT64_C(1) << bits) - 1)) << at;
}

static void load(struct code *code, unsigned to, unsigned base, unsigned offset)
{
	put(code, 0xf9400000 | field(offset / 8, 12, 10) | base << 5 | to);
}

static void store(struct code *code, unsigned from, unsigned base, unsigned offset)
{
	put(code, 0xf9000000 | field(offset / 8, 12, 10) | base << 5 | from);
}

static void load_pair(struct code *code, unsigned first, unsigned second, unsigned base, unsigned offset)
{
	put(code, 0xa9400000 | field(offset / 8, 7, 15) | second << 10 | base << 5 | first);
}

static void store_pair(struct code *code, unsigned first, unsigned second, unsigned base, unsigned offset)
{
	put(code, 0xa9000000 | field(offset / 8, 7, 15) | second << 10 | base << 5 | first);
}

static void go(struct code *code, uint64_t to)
{
	put(code, 0x14000000 | field((to - here(code)) / WORD, 26, 0));
}

static void address(struct code *code, unsigned to, uint64_t what)
{
	uint64_t offset = what - here(code);
	put(code, 0x10000000 | field(offset, 2, 29) | field(offset >> 2, 19, 5) | to);
}

static void load_literal(struct code *code, unsigned to, uint64_t what)
{
	put(code, 0x58000000 | field((what - here(code)) / WORD, 19, 5) | to);
}

/* A branch forward whose target is told by meet(). */
static size_t leave(struct code *code, uint32_t word)
{
	put(code, word);
	return code->count - 1;
}

static void meet(struct code *code, size_t branch)
{
	uint32_t bits = code->words[branch] >> 24 == 0x37 ? 14 : 19;
	code->words[branch] |= field(code->count - branch, bits, 5);
}

static void exit_program(struct code *code)
{
	put(code, hint);
	put(code, 0xd2800000 | 94 << 5 | 8);
	put(code, 0xd2800000);
	put(code, 0xd4000001);
}

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

static void poke_code(struct slice *slice, const struct code *code)
{
	for (size_t i = 0; i < code->count; i++) {
		uint8_t bytes[WORD];
		tw_store32(bytes, code->words[i], false);
		poke(slice, code->address + WORD * i, bytes, WORD);
	}
}

static bool is_free(struct slice *slice, uint64_t from, uint64_t size)
{
	for (size_t i = 0; i < slice->page_count; i++)
		if (slice->pages[i]->address + SLICE_PAGE > from && slice->pages[i]->address < from + size)
			return false;
	return true;
}

/* Pages that the interval does not use, close to an address. */
static bool find_region(struct program *program, uint64_t to)
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
				return false;
		return true;
	}
	return false;
}

static int reserve(struct program *program, uint64_t to, uint64_t *at)
{
	enum { STUB_MOST = WORD * CODE_MOST + 512 };
	bool close = program->region && program->region - to + near < 2 * near;
	if (!close || program->used + STUB_MOST > REGION)
		if (!find_region(program, to))
			return tw_fail(program->slice->reader, TW_ERR_ROOM, "no room for a stub near 0x%llx (--memory)",
			               (unsigned long long)to);
	*at = program->region + program->used;
	program->used += STUB_MOST;
	return 0;
}

/* ---- Stubs. ---- */

/* What an instruction would do if it still stood in its place. Returns false where it cannot be moved. */
static bool move(struct code *code, const struct slice_place *place, uint64_t literal, uint64_t *constant)
{
	struct xtrace_operation operation;
	xtrace_operation(place->opcode, &operation);
	uint64_t target = xtrace_target(&operation, place->pc);
	unsigned rn = place->opcode >> 5 & 0x1f;
	*constant = place->pc + WORD;
	if (operation.flow == XTRACE_JUMP) {
		go(code, target);
	} else if (operation.flow == XTRACE_CALL) {
		load_literal(code, LINK, literal);
		go(code, target);
	} else if (operation.flow == XTRACE_CALL_TO) {
		load_literal(code, LINK, literal);
		put(code, 0xd61f0000 | rn << 5);
		return place->opcode >> 10 == 0xd63f0000 >> 10 && rn != LINK;
	} else if (operation.flow == XTRACE_BRANCH) {
		bool tests = (place->opcode & 0x7e000000) == 0x36000000;
		uint32_t bits = tests ? 14 : 19;
		put(code, (place->opcode & ~field(UINT64_MAX, bits, 5)) | field(2, bits, 5));
		go(code, place->pc + WORD);
		go(code, target);
	} else if ((place->opcode & 0x1f000000) == 0x10000000) {
		*constant = target;
		load_literal(code, place->opcode & 0x1f, literal);
	} else {
		put(code, place->opcode);
		return !(operation.traits & XTRACE_RELATIVE);
	}
	return true;
}

/* The register that an instruction which is left out sets. */
static unsigned result_of(uint32_t opcode)
{
	if ((opcode & 0xffe0001f) == 0xd4000001)
		return 0; /* SVC */
	return (opcode & 0x3f000000) == 0x08000000 ? opcode >> 16 & 0x1f : opcode & 0x1f;
}

static void put_back(struct code *code)
{
	load(code, 25, LINK, SAVED_25);
	load_pair(code, 26, 27, LINK, SAVED_26);
	load_pair(code, 28, 29, LINK, SAVED_28);
}

/* The beginning: registers are saved, with TPIDR_EL0 as the place for the first; the next event is one execution
 * nearer. */
static size_t put_head(struct code *code, uint64_t area)
{
	put(code, 0xd51bd040 | LINK);
	address(code, LINK, area);
	store_pair(code, 28, 29, LINK, SAVED_28);
	store_pair(code, 26, 27, LINK, SAVED_26);
	store(code, 25, LINK, SAVED_25);
	put(code, 0xd53bd040 | 28);
	store(code, 28, LINK, SAVED_LINK);
	load(code, 28, LINK, THREAD);
	put(code, 0xd51bd040 | 28);
	load(code, 28, LINK, NEXT_RECORD);
	load(code, 29, 28, 0);
	put(code, 0xd1000400 | 29 << 5 | 29); /* sub x29, x29, #1 */
	store(code, 29, 28, 0);
	return leave(code, 0xb5000000 | 29); /* cbnz x29, pass */
}

/* The bytes that something else writes. */
static void put_writes(struct code *code)
{
	load(code, 29, 28, 8);
	load(code, 26, 28, 16);
	size_t loop = code->count, done = leave(code, 0xb4000000 | 29); /* cbz x29, done */
	put(code, 0xa8c10000 | 25 << 10 | 26 << 5 | 27);                /* ldp x27, x25, [x26], #16 */
	put(code, 0x39000000 | 27 << 5 | 25);                           /* strb w25, [x27] */
	put(code, 0xd1000400 | 29 << 5 | 29);
	go(code, code->address + WORD * loop);
	meet(code, done);
	load(code, 29, 28, 24);
	store(code, 29, LINK, VALUE);
	load(code, 27, 28, 32);
	put(code, 0x91000000 | field(RECORD, 12, 10) | 28 << 5 | 28);
	store(code, 28, LINK, NEXT_RECORD);
}

/* DC ZVA as it was where the trace was made; it stands before the registers of the stub are put back. */
static void put_zeros(struct code *code, const struct slice_place *place)
{
	static const unsigned saved[] = {[25] = SAVED_25, [26] = SAVED_26,     [27] = SAVED_26 + 8,
	                                 [28] = SAVED_28, [29] = SAVED_28 + 8, [30] = SAVED_LINK};
	unsigned base = place->opcode & 0x1f, shift = 0;
	while (1u << shift < place->zeros)
		shift++;
	if (base >= 25 && base <= LINK)
		load(code, 27, LINK, saved[base]);
	else
		put(code, 0xaa0003e0 | base << 16 | 27);                                /* mov x27, base */
	put(code, 0xd340fc00 | shift << 16 | 27 << 5 | 27);                             /* lsr x27, x27, #shift */
	put(code, 0xd3400000 | (64 - shift) << 16 | (63 - shift) << 10 | 27 << 5 | 27); /* lsl x27, x27, #shift */
	put(code, 0xd2800000 | field(place->zeros / WORD, 16, 5) | 26);                 /* mov x26, #words */
	put(code, 0xb8000400 | WORD << 12 | 27 << 5 | ZERO);                            /* str wzr, [x27], #4 */
	put(code, 0xd1000400 | 26 << 5 | 26);                                           /* sub x26, x26, #1 */
	put(code, 0xb5000000 | field(UINT64_MAX - 1, 19, 5) | 26);                      /* cbnz x26, two back */
}

static bool put_stub(struct code *code, const struct slice_place *place, uint64_t area, uint64_t *constant)
{
	unsigned result = result_of(place->opcode);
	size_t passes = put_head(code, area);
	put_writes(code);
	size_t marks = leave(code, 0x37000000 | 2 << 19 | 27);
	size_t stops = leave(code, 0x37000000 | 1 << 19 | 27), skips = leave(code, 0x37000000 | 27);
	meet(code, passes);
	if (place->zeros)
		put_zeros(code, place);
	put_back(code);
	load(code, LINK, LINK, SAVED_LINK);
	*constant = 0;
	bool movable = place->zeros || move(code, place, area + LITERAL, constant);
	go(code, place->pc + WORD);
	meet(code, skips);
	put_back(code);
	if (result < LINK)
		load(code, result, LINK, VALUE);
	load(code, LINK, LINK, result == LINK ? VALUE : SAVED_LINK);
	go(code, place->pc + WORD);
	meet(code, stops);
	exit_program(code);
	meet(code, marks);
	put(code, hint);
	put_back(code);
	load(code, LINK, LINK, SAVED_LINK);
	go(code, place->pc); /* where this stub begins again */
	return movable;
}

/* ---- The file. ---- */

static bool add(struct program *program, const void *bytes, size_t size)
{
	return tw_text_add(&program->file, bytes, size);
}

static bool add_word(struct program *program, uint64_t value)
{
	char bytes[8];
	tw_store64((uint8_t *)bytes, value, false);
	return add(program, bytes, sizeof bytes);
}

static uint64_t end_of(const struct program *program)
{
	return program->base + program->file.length;
}

/* The bytes that an event writes; returns how many. */
static bool add_writes(struct program *program, const struct slice_event *event, uint64_t *count)
{
	bool fine = true;
	*count = 0;
	for (uint32_t i = event->writes; fine && i; i = program->slice->writes[i - 1].next, ++*count)
		fine = add_word(program, program->slice->writes[i - 1].address) &&
		       add_word(program, program->slice->writes[i - 1].byte);
	return fine;
}

static uint64_t area_of(const struct slice_place *place)
{
	return place->stub + WORD * CODE_MOST;
}

/* TPIDR_EL0, for all stubs. */
static bool add_thread_writes(struct program *program, uint64_t value, uint64_t *count)
{
	const struct slice *slice = program->slice;
	bool fine = true;
	for (size_t i = 0; i < slice->place_count; i++)
		for (unsigned k = 0; fine && slice_has_stub(&slice->places[i]) && k < 8; k++, ++*count)
			fine = add_word(program, area_of(&slice->places[i]) + THREAD + k) &&
			       add_word(program, value >> 8 * k & 0xff);
	return fine;
}

static bool add_records(struct program *program, const struct slice_place *place, uint64_t *at)
{
	const struct slice_event *events = program->slice->events;
	struct tw_text records = {0};
	uint64_t before = 0;
	bool fine = true;
	for (uint32_t i = place->first; fine && i; i = events[i - 1].next) {
		const struct slice_event *event = &events[i - 1];
		uint64_t writes = end_of(program), count;
		fine = add_writes(program, event, &count) &&
		       (!event->sets_thread || add_thread_writes(program, event->value, &count));
		const uint64_t words[] = {event->after - before, count, writes, event->value,
		                          (event->skips ? SKIPS : 0) | (event->stops ? STOPS : 0) |
		                              (event->marks ? MARKS : 0)};
		for (size_t k = 0; fine && k < sizeof words / sizeof *words; k++) {
			char bytes[8];
			tw_store64((uint8_t *)bytes, words[k], false);
			fine = tw_text_add(&records, bytes, sizeof bytes);
		}
		before = event->after - event->marks; /* that execution comes again */
	}
	*at = end_of(program);
	fine = fine && add(program, records.bytes, records.length) && add_word(program, UINT64_MAX); /* never */
	tw_text_free(&records);
	return fine;
}

static int add_stub(struct program *program, const struct slice_place *place)
{
	struct slice *slice = program->slice;
	struct code code = {.address = place->stub};
	uint64_t records, constant, area = area_of(place);
	bool movable = put_stub(&code, place, area, &constant);
	bool passes = false;
	uint64_t taken = 0;
	for (uint32_t i = place->first; i; i = slice->events[i - 1].next) {
		const struct slice_event *event = &slice->events[i - 1];
		passes |= !event->skips && !event->stops && !event->marks;
		taken += !event->marks;
	}
	if (!movable && (passes || taken < place->count))
		return tw_fail(slice->reader, TW_ERR_UNSUPPORTED,
		               "the instruction at 0x%llx cannot be moved for what happens there",
		               (unsigned long long)place->pc);
	if (!add_records(program, place, &records))
		return tw_fail(slice->reader, TW_ERR_MEMORY, "out of memory");
	poke_code(slice, &code);
	poke_word(slice, area + THREAD, slice->snapshot.tpidr_el0);
	poke_word(slice, area + NEXT_RECORD, records);
	poke_word(slice, area + LITERAL, constant);
	struct code branch = {.address = place->pc};
	go(&branch, code.address);
	poke_code(slice, &branch);
	return 0;
}

/* The end of the way there: all registers, and a branch to the first instruction. */
static int add_entry(struct program *program, uint64_t *entry, uint64_t *area)
{
	struct slice *slice = program->slice;
	struct code code = {0};
	int status = reserve(program, slice->start_pc, &code.address);
	if (status < 0)
		return status;
	*entry = code.address;
	*area = code.address + WORD * CODE_MOST;
	if (!slice->before)
		put(&code, hint);
	load(&code, 0, LINK, 8 * 31);
	put(&code, 0x9100001f); /* mov sp, x0 */
	for (unsigned i = 0; i < LINK; i += 2)
		load_pair(&code, i, i + 1, LINK, 8 * i);
	load(&code, LINK, LINK, 8 * LINK);
	go(&code, slice->start_pc);
	poke_code(slice, &code);
	for (unsigned i = 0; i < TW_XTRACE_REGISTERS; i++)
		poke_word(slice, *area + 8 * i, slice->snapshot.x[i]);
	return 0;
}

/* Maps each page and copies it, lets code be seen as code, and sets what is not set by the entry. literals: the table
 * of pages, how many, four registers with the vectors behind them, and for the entry its registers and itself. */
static void put_loader(struct code *code, uint64_t literals)
{
	load_literal(code, 20, literals);     /* table */
	load_literal(code, 21, literals + 8); /* pages */
	size_t loop = code->count, done = leave(code, 0xb4000000 | 21);
	put(code, 0xa8c10000 | 23 << 10 | 20 << 5 | 22); /* ldp x22, x23, [x20], #16 */
	put(code, 0xaa1603e0);                           /* mov x0, x22 */
	put(code, 0xd2820001);                           /* mov x1, #4096 */
	put(code, 0xd28000e2);                           /* mov x2, #7 */
	put(code, 0xd2800643);                           /* mov x3, #0x32: private, anonymous, fixed */
	put(code, 0x92800004);                           /* mov x4, #-1 */
	put(code, 0xd2800005);                           /* mov x5, #0 */
	put(code, 0xd2801bc8);                           /* mov x8, #222: mmap */
	put(code, 0xd4000001);
	put(code, 0xd2800801); /* mov x1, #64: lines */
	size_t lines = code->count;
	for (unsigned i = 0; i < 4; i++) {
		put(code, 0xa8c10000 | 3 << 10 | 23 << 5 | 2); /* ldp x2, x3, [x23], #16 */
		store_pair(code, 2, 3, 22, 16 * i);
	}
	put(code, 0xd50b7b20 | 22); /* dc cvau, x22 */
	put(code, 0xd50b7520 | 22); /* ic ivau, x22 */
	put(code, 0x91000000 | field(64, 12, 10) | 22 << 5 | 22);
	put(code, 0xd1000400 | 1 << 5 | 1);
	put(code, 0xb5000000 | field(lines - code->count, 19, 5) | 1);
	put(code, 0xd1000400 | 21 << 5 | 21);
	go(code, code->address + WORD * loop);
	meet(code, done);
	put(code, 0xd5033b9f);                 /* dsb ish */
	put(code, 0xd5033fdf);                 /* isb */
	load_literal(code, 20, literals + 16); /* state */
	static const uint32_t registers[] = {0xd51b4400, 0xd51b4420, 0xd51b4200, 0xd51bd040};
	for (unsigned i = 0; i < 4; i++) {
		load(code, 0, 20, 8 * i);
		put(code, registers[i]);
	}
	for (unsigned i = 0; i < 32; i++)
		put(code, 0x3dc00000 | field(2 + i, 12, 10) | 20 << 5 | i);
	load_literal(code, LINK, literals + 24);
	load_literal(code, 0, literals + 32);
	put(code, 0xd61f0000);
}

static bool add_state(struct program *program)
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

/* Where the file itself is in memory: away from all that the interval uses. */
static bool choose_base(struct program *program)
{
	static const uint64_t room = UINT64_C(1) << 32;
	for (program->base = room * 16; program->base < room * 256; program->base += room)
		if (is_free(program->slice, program->base - room, 3 * room))
			return true;
	return false;
}

static bool add_pages(struct program *program, uint64_t *table)
{
	struct slice *slice = program->slice;
	uint64_t first = end_of(program);
	bool fine = true;
	for (size_t i = 0; fine && i < slice->page_count; i++)
		fine = add(program, (const char *)slice->pages[i]->first, SLICE_PAGE);
	*table = end_of(program);
	for (size_t i = 0; fine && i < slice->page_count; i++)
		fine = add_word(program, slice->pages[i]->address) && add_word(program, first + i * SLICE_PAGE);
	return fine;
}

static int no_memory(const struct slice *slice)
{
	return tw_fail(slice->reader, TW_ERR_MEMORY, "out of memory");
}

static int build(struct program *program, uint8_t header[HEADER])
{
	struct slice *slice = program->slice;
	uint64_t entry, area, table, places = slice->place_count;
	memset(header, 0, HEADER);
	if (!add(program, header, HEADER))
		return no_memory(slice);
	int status = add_entry(program, &entry, &area);
	for (uint64_t i = 0; status == 0 && i < places; i++)
		if (slice_has_stub(&slice->places[i]))
			status = reserve(program, slice->places[i].pc, &slice->places[i].stub);
	for (uint64_t i = 0; status == 0 && i < places; i++)
		if (slice_has_stub(&slice->places[i]))
			status = add_stub(program, &slice->places[i]);
	if (status < 0)
		return status;
	if (!add_state(program))
		return no_memory(slice);
	uint64_t state = end_of(program) - 32;
	if (!add(program, slice->vectors, sizeof slice->vectors) || !add_pages(program, &table))
		return no_memory(slice);
	const uint64_t literals[] = {table, slice->page_count, state, area, entry};
	uint64_t at = end_of(program);
	for (size_t i = 0; i < sizeof literals / sizeof *literals; i++)
		if (!add_word(program, literals[i]))
			return no_memory(slice);
	struct code code = {.address = end_of(program)};
	put_loader(&code, at);
	for (size_t i = 0; i < code.count; i++) {
		uint8_t bytes[WORD];
		tw_store32(bytes, code.words[i], false);
		if (!add(program, bytes, WORD))
			return no_memory(slice);
	}
	fill_header(header, program->base, code.address, program->file.length);
	return 0;
}

int slice_write_program(struct slice *slice, struct tw_output *out)
{
	uint8_t header[HEADER];
	struct program program = {.slice = slice};
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
