/* read.c - an interval of a trace: the memory that it reads, and what happens to it from outside. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory/memory.h"
#include "slice/passage.h"
#include "slice/slice.h"
#include "xtrace/format/opcode.h"
#include "xtrace/layout.h"
#include "xtrace/walk/zeroes.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORD = 4 };

/* System registers that the slice's processor has and that the program alone changes: they are read as they are, not
 * from the trace. */
static const uint32_t own_registers[] = {
    0xd53bd040, /* TPIDR_EL0 */
    0xd53b4200, /* NZCV */
    0xd53b4400, /* FPCR */
    0xd53b4420, /* FPSR */
};

struct interval_reader {
	struct slice *slice;
	struct xtrace_files files;
	struct xtrace_cursor cursor;
	struct xtrace_zeroes zeroes;
	struct slice_passage passage;
	bool alone; /* no other core executes the program's task */
	struct xtrace_snapshots snapshots;
	struct xtrace_operations operations;
	const struct slice_interval *interval;
	bool began;      /* the interval has begun; the snapshot may be before it */
	uint64_t number; /* number of the instruction behind the snapshot, from 1 */
	uint64_t passed; /* of a window of a core: what else it executed since the interval began */
	bool over;       /* such a window has ended beside the program */
	uint64_t pc;
	bool has_pc;             /* the PC of the instruction before is known */
	uint64_t last;           /* index of the snapshot before; 0: none */
	uint32_t place;          /* of the instruction */
	struct {                 /* the last system call */
		uint64_t number; /* 0: none */
		uint32_t event;
	} call;
	uint32_t loaded, stored; /* bytes that the instruction accessed so far */
};

static int no_room(const struct interval_reader *work)
{
	return slice_no_room(work->slice);
}

/* Tells why the interval cannot be had, and where the next one to be had may begin. */
static int refuse(struct interval_reader *work, const char *what)
{
	enum { NEXT_ROOM = 48 };
	char next[NEXT_ROOM] = "no later snapshot is of a program";
	struct tw_reader *reader = work->slice->reader;
	const struct xtrace_track *track = work->files.track;
	bool quiet = reader->reports.quiet;
	reader->reports.quiet = true;
	uint64_t start = slice_next_start(&work->cursor, work->interval->snapshot, !work->passage.in_kernel);
	reader->reports.quiet = quiet;
	if (start)
		snprintf(next, sizeof next, "snapshot %" PRIu64 " is the next", start - 1);
	return tw_fail(reader, TW_ERR_UNSUPPORTED,
	               "%s %" PRIu64 ", instruction %" PRIu64 " behind snapshot %" PRIu64 ", at 0x%" PRIx64 ": %s (%s)",
	               track->core ? "core" : "thread", track->name.number, work->number - 1, work->interval->snapshot,
	               work->pc, what, next);
}

static bool is_core_window(const struct interval_reader *work)
{
	return work->interval->shorter && work->files.track->core;
}

/* ---- Events. ---- */

/* Returns the number, plus 1, of the event at this execution of the place, a new one where it has none; 0 when there is
 * no memory. */
static uint32_t event_of(struct interval_reader *work)
{
	struct slice *slice = work->slice;
	struct slice_place *place = &slice->places.items[work->place];
	const struct slice_event *last = place->last ? &slice->events.items[place->last - 1] : NULL;
	if (last && last->after == place->count && !last->marks)
		return place->last;
	if (!tw_grow(&slice->events.items, &slice->events.room, slice->events.count + 1, sizeof *slice->events.items))
		return 0;
	slice->events.items[slice->events.count++] = (struct slice_event){.after = place->count};
	uint32_t number = (uint32_t)slice->events.count;
	if (place->last)
		slice->events.items[place->last - 1].next = number;
	else
		place->first = number;
	place->last = number;
	return number;
}

static bool add_write(struct slice *slice, uint32_t event, uint64_t address, uint8_t byte)
{
	if (!event || slice->writes.count >= slice_writes_most(slice) ||
	    !tw_grow(&slice->writes.items, &slice->writes.room, slice->writes.count + 1, sizeof *slice->writes.items))
		return false;
	slice->writes.items[slice->writes.count++] =
	    (struct slice_write){address, byte, slice->events.items[event - 1].writes};
	slice->events.items[event - 1].writes = (uint32_t)slice->writes.count;
	return true;
}

/* Has the slice leave out the instruction at this execution, because it would not do the same there, and set its
 * register to the value. */
static int skip(struct interval_reader *work, uint64_t value)
{
	uint32_t event = event_of(work);
	if (!event)
		return no_room(work);
	work->slice->events.items[event - 1].skips = true;
	work->slice->events.items[event - 1].value = value;
	return 0;
}

/* ---- Accesses. ---- */

/* A byte that is not what the program left there was changed by the last system call, if there was one since then;
 * otherwise just before it is read, by another thread. */
static bool change(struct interval_reader *work, const struct slice_page *page, uint64_t address, uint8_t byte)
{
	uint32_t before = page->touched[address % SLICE_PAGE];
	bool by_call = work->call.number && before <= work->call.number;
	return add_write(work->slice, by_call ? work->call.event : event_of(work), address, byte);
}

static bool load_byte(struct interval_reader *work, struct slice_page *page, uint64_t address, uint8_t byte)
{
	size_t at = address % SLICE_PAGE;
	bool known = page->known[at / 8] >> at % 8 & 1;
	if (known && page->now[at] != byte && !change(work, page, address, byte))
		return false;
	if (!known)
		page->first[at] = byte;
	page->known[at / 8] |= (uint8_t)(1u << at % 8);
	page->now[at] = byte;
	page->touched[at] = (uint32_t)work->number;
	return true;
}

static void store_byte(struct interval_reader *work, struct slice_page *page, uint64_t address, uint8_t byte)
{
	size_t at = address % SLICE_PAGE;
	page->known[at / 8] |= (uint8_t)(1u << at % 8);
	page->now[at] = byte;
	page->touched[at] = (uint32_t)work->number;
}

static int take_access(struct interval_reader *work, const struct tw_xtrace_token *token)
{
	*(token->kind == TW_XTRACE_STORE ? &work->stored : &work->loaded) += token->payload_size;
	work->slice->accesses += work->began;
	for (uint32_t i = 0; i < token->payload_size; i++) {
		uint64_t address = token->value + i;
		struct slice_page *page = slice_page_at(work->slice, address, true);
		if (!page)
			return no_room(work);
		if (token->kind == TW_XTRACE_STORE)
			store_byte(work, page, address, token->payload[i]);
		else if (!load_byte(work, page, address, token->payload[i]))
			return no_room(work);
	}
	return 0;
}

/* ---- Instructions. ---- */

static int find_place(struct interval_reader *work, uint32_t opcode)
{
	struct slice *slice = work->slice;
	uint32_t number;
	if (!tw_map_find(&slice->places.map, work->pc, &number)) {
		number = (uint32_t)slice->places.count;
		if (slice->places.count >= slice_places_most(slice) ||
		    !tw_grow(&slice->places.items, &slice->places.room, slice->places.count + 1,
		             sizeof *slice->places.items) ||
		    !tw_map_add(&slice->places.map, work->pc, number))
			return no_room(work);
		slice->places.items[slice->places.count++] = (struct slice_place){.pc = work->pc, .opcode = opcode};
	}
	work->place = number;
	if (slice->places.items[number].opcode != opcode)
		return refuse(work, "the program changes its own code");
	slice->places.items[number].count++;
	return 0;
}

/* The bytes of an instruction are memory, too: puts them there. */
static int load_code(struct interval_reader *work, uint32_t opcode)
{
	struct slice_page *page = slice_page_at(work->slice, work->pc, true);
	if (!page)
		return no_room(work);
	for (unsigned i = 0; i < WORD; i++) {
		size_t at = work->pc % SLICE_PAGE + i;
		uint8_t byte = (uint8_t)(opcode >> 8 * i);
		if (!(page->known[at / 8] >> at % 8 & 1))
			page->first[at] = page->now[at] = byte;
		page->known[at / 8] |= (uint8_t)(1u << at % 8);
		if (page->now[at] != byte)
			return refuse(work, "the program changes its own code");
	}
	return 0;
}

static bool may_go(const struct xtrace_operation *operation, uint64_t from, uint64_t to)
{
	switch (operation->flow) {
	case XTRACE_NEXT:
	case XTRACE_SYSTEM_CALL:
		return to == from + WORD;
	case XTRACE_JUMP:
	case XTRACE_CALL:
		return to == xtrace_target(operation, from);
	case XTRACE_BRANCH:
		return to == from + WORD || to == xtrace_target(operation, from);
	default:
		return true;
	}
}

/* A size that DC ZVA may have. Source: Arm's DDI 0487, DCZID_EL0. */
static bool is_block(uint64_t size)
{
	return size >= WORD && size <= 2048 && (size & (size - 1)) == 0;
}

/* Refuses an instruction whose accesses the trace does not have: the slice could not make them. All tokens of the
 * instruction have been taken. */
static int judge_accesses(struct interval_reader *work)
{
	const struct xtrace_operation *last =
	    xtrace_find_operation(&work->operations, work->slice->places.items[work->place].opcode);
	struct slice_place *place = &work->slice->places.items[work->place];
	const char *what = NULL;
	if (last->traits & XTRACE_LOADS_ALL && work->loaded < last->load)
		what = "the trace does not have the memory that it loads";
	else if ((last->traits & XTRACE_STORES_ALL && work->stored < last->store) ||
	         (last->traits & XTRACE_ZERO && !is_block(work->stored)))
		what = "the trace does not have the memory that it stores to";
	else if (last->traits & XTRACE_ZERO && place->zeros && place->zeros != work->stored)
		what = "it makes other blocks zero than before";
	else if (last->traits & XTRACE_ZERO)
		place->zeros = (uint32_t)work->stored;
	work->loaded = work->stored = 0;
	return what ? refuse(work, what) : 0;
}

/* Where another task was executed meanwhile, this one may have been, on another core. */
static int judge_cores(struct interval_reader *work)
{
	bool left = work->passage.left;
	work->passage.left = false;
	if (!left || work->alone)
		return 0;
	int status = slice_runs_elsewhere(&work->passage, work->slice->reader, work->files.track);
	work->alone = status == 0;
	return status > 0 ? refuse(work, "another task came behind it, and this one may have gone on elsewhere")
	                  : status;
}

/* Whether the instruction before can have led to this one, by what is known of it. */
static int judge_last(struct interval_reader *work, uint64_t to)
{
	if (!work->number)
		return 0;
	uint32_t opcode = work->slice->places.items[work->place].opcode;
	if (work->passage.gap)
		return refuse(work, "recording was off behind it");
	if (!may_go(xtrace_find_operation(&work->operations, opcode), work->pc, to))
		return refuse(work, "a signal came behind it, or another program");
	int status = judge_cores(work);
	return status < 0 ? status : judge_accesses(work);
}

/* Whether the kernel restarts the last system call: the instruction is the same SVC again. */
static bool is_made_again(struct interval_reader *work, uint64_t to)
{
	if (!work->number || work->call.number != work->number || to != work->pc)
		return false;
	uint32_t opcode = work->slice->places.items[work->place].opcode;
	return !work->passage.gap && xtrace_find_operation(&work->operations, opcode)->flow == XTRACE_SYSTEM_CALL;
}

/* Begins the interval at this instruction. Where the slice starts at a snapshot before it, the place is marked, so that
 * tools can tell. */
static int begin_here(struct interval_reader *work)
{
	work->began = true;
	work->passed = 0;
	work->slice->before = work->number - 1;
	if (work->number == 1)
		return 0;
	uint32_t event = event_of(work);
	if (!event)
		return no_room(work);
	work->slice->events.items[event - 1].marks = true;
	return 0;
}

static int stop_here(struct interval_reader *work)
{
	uint32_t event = event_of(work);
	if (!event)
		return no_room(work);
	work->slice->events.items[event - 1].stops = true;
	return 0;
}

/* Whether what was read last is behind the interval. A window of a core has all that it executes. */
static bool is_behind_end(const struct interval_reader *work)
{
	return work->began && work->number - work->slice->before + work->passed > work->interval->instructions;
}

/* Takes the next instruction. The one behind the interval is where the slice stops. Returns 1, or 0 at the end. */
static int take_instruction(struct interval_reader *work, const struct tw_xtrace_token *token)
{
	bool states_pc = token->kind == TW_XTRACE_PCINST;
	uint64_t pc = states_pc ? token->pc : work->pc + WORD;
	if (is_made_again(work, pc))
		return 1;
	work->over = work->number && work->passage.gap && is_core_window(work);
	int status = work->over ? 0 : judge_last(work, pc);
	if (status < 0 || work->over)
		return status;
	work->pc = pc;
	work->number++;
	if (!states_pc && !work->has_pc)
		return refuse(work, "its address is not known");
	work->has_pc = true;
	if (work->number == UINT32_MAX)
		return refuse(work, "it is too far behind the snapshot");
	if (work->number == 1)
		work->slice->start_pc = work->pc;
	if (xtrace_is_scalable(token->opcode))
		return refuse(work, "it is of SVE, whose registers a slice has not");
	status = load_code(work, token->opcode);
	if (status == 0)
		status = find_place(work, token->opcode);
	if (status == 0 && !work->began && work->cursor.offset >= work->interval->begin)
		status = begin_here(work);
	if (status < 0)
		return status;
	if (!is_behind_end(work))
		return 1;
	work->slice->instructions = work->number - work->slice->before - 1;
	return stop_here(work);
}

static bool is_own(uint32_t opcode)
{
	for (size_t i = 0; i < sizeof own_registers / sizeof *own_registers; i++)
		if ((opcode & ~0x1fu) == own_registers[i])
			return true;
	return false;
}

static int take_register(struct interval_reader *work, uint64_t value)
{
	uint32_t opcode = work->slice->places.items[work->place].opcode;
	bool reads = (opcode & 0xfff00000) == 0xd5300000;
	if ((opcode & ~0x1fu) == 0xd51bd040) { /* MSR TPIDR_EL0, which stubs put back */
		uint32_t event = event_of(work);
		if (!event)
			return no_room(work);
		work->slice->events.items[event - 1].sets_thread = true;
		work->slice->events.items[event - 1].value = value;
		return 0;
	}
	return reads && !is_own(opcode) ? skip(work, value) : 0;
}

/* Takes a system call: the slice does not make it, but writes what the call changed. Its result comes with a later
 * token. */
static int take_call(struct interval_reader *work)
{
	if (work->call.number == work->number)
		return 0;
	int status = skip(work, 0);
	work->call.number = work->number;
	work->call.event = event_of(work);
	return status;
}

/* Passes over an instruction of the kernel, or of another task. Memory that it changes is found when the program loads
 * it. */
static int pass_over(struct interval_reader *work, const struct tw_xtrace_token *token)
{
	bool states_pc = token->kind == TW_XTRACE_PCINST;
	if (!states_pc && token->kind != TW_XTRACE_INST)
		return 1;
	work->has_pc = false;
	if (is_core_window(work)) {
		work->passed++;
		work->over = is_behind_end(work);
	}
	if (work->number)
		return !work->over;
	work->pc = states_pc ? token->pc : work->pc + WORD;
	work->number++;
	return refuse(work, "a slice is of user mode only");
}

static int take_token(struct interval_reader *work, const struct tw_xtrace_token *token)
{
	if (token->kind != TW_XTRACE_UNKNOWN && !slice_passage_take(&work->passage, token))
		return pass_over(work, token);
	switch (token->kind) {
	case TW_XTRACE_INST:
	case TW_XTRACE_PCINST:
		return take_instruction(work, token);
	case TW_XTRACE_UNKNOWN:
		return refuse(work, "the trace is damaged here");
	default:
		break;
	}
	if (work->number == 0)
		return 1;
	int status = 0;
	if (token->kind == TW_XTRACE_LOAD || token->kind == TW_XTRACE_STORE)
		status = take_access(work, token);
	else if (token->kind == TW_XTRACE_MRS)
		status = take_register(work, token->value);
	else if (token->kind == TW_XTRACE_STXR && token->value)
		status = skip(work, token->value);
	else if (token->kind == TW_XTRACE_SVCARG)
		status = take_call(work);
	else if (token->kind == TW_XTRACE_SVCRET && work->call.number)
		work->slice->events.items[work->call.event - 1].value = token->value;
	return status < 0 ? status : 1;
}

/* ---- The interval. ---- */

int slice_find_snapshot(struct xtrace_files *files, struct xtrace_snapshots *snapshots, uint64_t number)
{
	uint64_t thread = files->track->name.number;
	int status = 1;
	if (!files->snapshots)
		return tw_fail(files->reader, TW_ERR_VALUE, "thread %" PRIu64 " has no snapshots", thread);
	if (!files->data)
		return tw_fail(files->reader, TW_ERR_VALUE, "thread %" PRIu64 " has no instructions", thread);
	xtrace_snapshots_init(snapshots, files);
	for (uint64_t i = 0; status > 0 && i <= number; i++)
		status = xtrace_snapshots_next(snapshots);
	if (status == 0)
		return tw_fail(files->reader, TW_ERR_VALUE,
		               "thread %" PRIu64 " has %" PRIu64 " snapshot%s, from 0 on: there is no %" PRIu64, thread,
		               snapshots->number, snapshots->number == 1 ? "" : "s", number);
	return status < 0 ? status : 0;
}

/* V0 to V31: no instruction of a slice has more of Z0 to Z31. */
static void take_vectors(struct slice *slice, const struct tw_xtrace_snapshot *snapshot)
{
	const size_t size = sizeof slice->vectors / 32;
	for (size_t i = 0; i < 32; i++)
		memcpy(slice->vectors + i * size, snapshot->z + i * (size_t)(snapshot->vector_bits / 8), size);
}

static int take_snapshot(struct interval_reader *work)
{
	uint64_t number = work->interval->snapshot;
	int status = slice_find_snapshot(&work->files, &work->snapshots, number);
	if (status >= 0 && number) {
		status = slice_find_snapshot(&work->files, &work->snapshots, number - 1);
		work->last = work->snapshots.place;
	}
	if (status >= 0 && number)
		status = slice_find_snapshot(&work->files, &work->snapshots, number);
	if (status < 0)
		return status;
	work->slice->snapshot = work->snapshots.last;
	work->slice->snapshot.index = work->snapshots.place;
	slice_passage_begin(&work->passage, &work->slice->snapshot, work->files.track->core);
	take_vectors(work->slice, &work->snapshots.last);
	return 0;
}

static void go_to(struct interval_reader *work, uint64_t offset)
{
	xtrace_cursor_init(&work->cursor, &work->files);
	work->cursor.next = offset > work->cursor.next ? offset : work->cursor.next;
	work->has_pc = false;
}

/* Reads up to where the snapshot was made, for the PC of the instruction before it. */
static int pass_by(struct interval_reader *work)
{
	struct tw_xtrace_token token;
	bool counts = work->files.layout.counts_index;
	uint64_t index = work->slice->snapshot.index, count = 0;
	int status = 1;
	while ((counts ? count < index : work->cursor.next < index) &&
	       (status = xtrace_cursor_next(&work->cursor, &token)) > 0) {
		bool states_pc = token.kind == TW_XTRACE_PCINST, begins = states_pc || token.kind == TW_XTRACE_INST;
		if (begins)
			work->pc = states_pc ? token.pc : work->pc + WORD;
		work->has_pc = (work->has_pc || states_pc) && token.kind != TW_XTRACE_UNKNOWN;
		count += begins;
	}
	if (status >= 0 && !counts && work->cursor.next != index)
		return tw_fail(work->slice->reader, TW_ERR_FORMAT,
		               "no instruction begins where the index of snapshot %" PRIu64 " of thread %" PRIu64
		               " says: 0x%" PRIx64,
		               work->interval->snapshot, work->files.track->name.number, index);
	return status < 0 ? status : 0;
}

/* Goes to where the snapshot was made. In the middle of a block the PC is told by a token before it, behind the
 * snapshot before as a rule. */
static int seek(struct interval_reader *work)
{
	bool seekable =
	    tw_input_seekable(work->files.data) && !work->files.parts.count && !work->files.layout.counts_index;
	go_to(work, seekable ? work->slice->snapshot.index : 0);
	int next = seekable ? xtrace_cursor_peek(&work->cursor) : -1;
	bool states_pc = next >= 0 && (next & XTRACE_INST_BITS) == XTRACE_PCINST;
	int status = 0;
	if (seekable && !states_pc) {
		go_to(work, work->last);
		status = pass_by(work);
	}
	if (status >= 0 && !states_pc && !work->has_pc) {
		go_to(work, 0);
		status = pass_by(work);
	}
	return status;
}

static int read_interval(struct interval_reader *work)
{
	struct tw_xtrace_token token;
	int status;
	while ((status = xtrace_zeroes_next(&work->zeroes, &work->cursor, &token)) > 0) {
		status = take_token(work, &token);
		if (work->over)
			break;
		if (status <= 0)
			return status;
	}
	if (status < 0)
		return status;
	bool core = work->files.track->core;
	uint64_t read = work->began ? work->number - work->slice->before - work->over : 0;
	work->slice->instructions = read;
	if (read < work->interval->instructions && !(work->interval->shorter && read))
		return tw_fail(work->slice->reader, TW_ERR_VALUE,
		               "only %" PRIu64 " instructions%s follow snapshot %" PRIu64 " of %s %" PRIu64
		               ": there are no %" PRIu64,
		               read, core ? " of the program" : "", work->interval->snapshot, core ? "core" : "thread",
		               work->files.track->name.number, work->interval->instructions);
	status = judge_accesses(work);
	return status < 0 ? status : stop_here(work); /* a system call that does not return, as a rule */
}

int slice_read(struct slice *slice, struct tw_reader *reader, const struct xtrace_track *track,
               const struct slice_interval *interval)
{
	struct interval_reader *work = calloc(1, sizeof *work);
	*slice = (struct slice){.reader = reader, .track = track};
	slice->instructions = interval->instructions;
	slice->pages.most = tw_memory_limit(reader) / sizeof(struct slice_page);
	if (!work)
		return tw_fail_memory(reader);
	work->slice = slice;
	work->interval = interval;
	int status = xtrace_files_open(&work->files, reader, track);
	if (status >= 0)
		status = take_snapshot(work);
	if (status >= 0)
		status = seek(work);
	if (status >= 0)
		status = read_interval(work);
	xtrace_files_close(&work->files);
	free(work);
	return status;
}
