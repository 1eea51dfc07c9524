/* walk.c - a track's instructions with their accesses, in batches, each place decoded once. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "study/walk.h"

#include "base/bytes/bytes.h"
#include "xtrace/layout.h"
#include "xtrace/walk/zeroes.h"

#include <stdlib.h>

enum { WORD = 4, LEVEL_SHIFT = 6, LEVELS = 4, LONGEST = 9 + 256 };

/* ---- Walking. ---- */

/* Flows behind which no call ends or begins, and those where only symbols can tell: 1 << enum xtrace_flow. */
static const unsigned silent_flows = 1u << XTRACE_NEXT | 1u << XTRACE_SYSTEM_CALL,
		      jumps = 1u << XTRACE_JUMP | 1u << XTRACE_BRANCH;

struct study_walk {
	struct study_batch batch; /* first: it is large */
	struct study_sites *sites;
	struct study_totals *totals;
	struct xtrace_files files;
	struct xtrace_cursor cursor;
	struct xtrace_zeroes zeroes;
	struct xtrace_calls calls;
	struct xtrace_stack frames;
	struct xtrace_trails trails;
	struct xtrace_trail *trail; /* that ends at the next token; NULL: none */
	struct {                    /* of the last instruction */
		uint64_t pc;
		uint32_t place;
		bool has_pc, lost;
		uint8_t level;
	} last;
	bool whole;      /* no token may continue the last access */
	bool paused;     /* the taker has enough for now */
	unsigned silent; /* flows that no call ends or begins behind, wherever they lead */
	struct study_wants wants;
	study_take_fn take;
	void *context;
};

/* Of an instruction. */
enum { ACCESSES_MOST = 256, NOTES_MOST = 16, CHANGES_MOST = 2 + XTRACE_TASK_FRAMES + 1 };

enum { TRAILS_SHARE = 8 }; /* of the memory limit */

/* Whether the batch has room for all that one more instruction may do, so that it stays in one batch. */
static inline bool takes_another(const struct study_batch *batch)
{
	return !batch->ends && batch->step_count < STUDY_STEPS &&
	       batch->access_count <= STUDY_ACCESSES - ACCESSES_MOST &&
	       batch->change_count <= STUDY_CHANGES - CHANGES_MOST && batch->note_count <= STUDY_NOTES - NOTES_MOST;
}

static size_t task_number(const struct study_walk *walk)
{
	const struct xtrace_tasks *tasks = &walk->frames.tasks;
	return tasks->count ? tasks->now + 1 : 0;
}

static void put_task(struct study_walk *walk)
{
	const struct xtrace_tasks *tasks = &walk->frames.tasks;
	walk->batch.task_number = task_number(walk);
	walk->batch.task = tasks->count ? tasks->items[tasks->now].task : (struct xtrace_task){0};
	walk->batch.ends = false;
}

static int flush(struct study_walk *walk)
{
	struct study_batch *batch = &walk->batch;
	bool any = batch->step_count || batch->access_count || batch->note_count || batch->change_count;
	int status = any ? walk->take(walk->context, batch) : 0;
	walk->paused |= status > 0;
	if (walk->wants.times)
		memset(batch->times, 0, batch->access_count * sizeof *batch->times);
	batch->first += batch->step_count;
	batch->step_count = batch->block_count = batch->access_count = batch->change_count = batch->note_count = 0;
	walk->whole = true;
	put_task(walk);
	return status < 0 ? status : 0;
}

/* How the stack of calls is another behind a jump: the last instruction goes to a PC. */
static int take_jump(struct study_walk *walk, uint64_t pc, unsigned level, size_t step, uint64_t offset)
{
	struct study_batch *batch = &walk->batch;
	struct xtrace_call_change found;
	int status = xtrace_calls_go(&walk->calls, &walk->frames, pc, (uint8_t)level, offset, &found);
	if (found.begins || found.ends)
		batch->changes[batch->change_count++] =
		    (struct study_call_change){(uint16_t)step, (uint16_t)found.ends, found.begins, false, found.name};
	if (found.enters)
		batch->changes[batch->change_count++] =
		    (struct study_call_change){(uint16_t)step, 0, true, false, found.entered};
	return status;
}

static uint32_t function_of(const struct study_walk *walk)
{
	const struct xtrace_stack *frames = &walk->frames;
	return frames->count ? walk->calls.functions[frames->frames[frames->count - 1].function].name : 0;
}

/* The place of an opcode at the PC. */
static uint32_t find_site(const struct study_walk *walk, uint32_t opcode)
{
	const struct study_site place = {.pc = walk->last.pc,
	                                 .opcode = opcode,
	                                 .function = function_of(walk),
	                                 .program = walk->frames.names.program};
	return study_sites_find(walk->sites, &place);
}

static void add_step(struct study_walk *walk, uint32_t site, bool block, unsigned level)
{
	struct study_batch *batch = &walk->batch;
	if (block)
		batch->blocks[batch->block_count++] =
		    (struct study_block){site, walk->last.place, (uint16_t)batch->step_count};
	batch->sites[batch->step_count] = site;
	batch->levels[batch->step_count++] = (uint8_t)level;
	walk->sites->items[site].count++;
	walk->totals->levels[level]++;
	walk->last.level = (uint8_t)level;
	walk->last.place = site;
	walk->last.lost = false;
	walk->whole = true;
	walk->trail = NULL;
}

/* An instruction behind the last one. */
static void take_next(struct study_walk *walk, uint32_t opcode, unsigned level)
{
	struct study_site *last = &walk->sites->items[walk->last.place];
	bool block = last->flow != XTRACE_NEXT || walk->last.lost;
	uint32_t site = last->next;
	walk->last.pc += WORD;
	if (!site || walk->sites->items[site].opcode != opcode) {
		site = walk->last.has_pc ? find_site(walk, opcode) : 0;
		if (walk->last.place)
			walk->sites->items[walk->last.place].next = site;
	}
	add_step(walk, site, block, level);
}

static int take_pcinst(struct study_walk *walk, uint64_t pc, uint32_t opcode, unsigned level)
{
	const struct study_site *last = &walk->sites->items[walk->last.place];
	bool behind = walk->last.has_pc && pc == walk->last.pc + WORD, flows = last->flow == XTRACE_NEXT;
	bool block = !flows || !behind || walk->last.lost;
	bool excepted = level != walk->last.level || xtrace_is_vector(pc, level);
	if (!walk->last.place || excepted || !(walk->silent >> last->flow & 1)) {
		walk->frames.flow = last->flow;
		walk->frames.opcode = last->opcode;
		walk->frames.known = walk->last.place != 0;
		walk->frames.pc = walk->last.pc;
		int status = take_jump(walk, pc, level, walk->batch.step_count, walk->cursor.offset);
		if (status < 0)
			return status;
	}
	if (behind && !walk->last.lost) {
		take_next(walk, opcode, level);
		return 0;
	}
	walk->last.pc = pc;
	walk->last.has_pc = true;
	add_step(walk, find_site(walk, opcode), block, level);
	return 0;
}

static void take_note(struct study_walk *walk, const struct tw_xtrace_token *token)
{
	struct study_batch *batch = &walk->batch;
	struct study_note *note = &batch->notes[batch->note_count++];
	uint16_t step = (uint16_t)(batch->step_count ? batch->step_count - 1 : 0);
	*note = (struct study_note){.value = token->value,
	                            .site = walk->last.place,
	                            .step = step,
	                            .kind = (uint8_t)token->kind};
	for (size_t i = 0; token->kind == TW_XTRACE_SYSCALL_VEC && i < token->value && i < 2; i++) {
		note->part_base[i] = tw_xtrace_word(token->payload, 2 * i);
		note->part_length[i] = tw_xtrace_word(token->payload, 2 * i + 1);
	}
}

/* Another task goes on, with the calls that it had, or in another address space: a batch is of one. */
static int take_task(struct study_walk *walk, const struct tw_xtrace_token *token)
{
	struct study_batch *batch = &walk->batch;
	struct xtrace_stack *frames = &walk->frames;
	struct xtrace_task_change change;
	int status =
	    xtrace_stack_set(frames, walk->sites->items[walk->last.place].opcode, walk->last.level, token, &change);
	uint16_t step = (uint16_t)batch->step_count;
	if (change.ends)
		batch->changes[batch->change_count++] =
		    (struct study_call_change){.step = step, .ends = (uint16_t)change.ends};
	for (size_t i = 0; change.other && i < frames->count; i++)
		batch->changes[batch->change_count++] = (struct study_call_change){
		    .step = step,
		    .begins = true,
		    .resumed = true,
		    .name = walk->calls.functions[frames->frames[i].function].name,
		};
	if (status >= 0 && frames->tasks.set.tables != batch->tables)
		status = flush(walk);
	batch->tables = frames->tasks.set.tables;
	batch->ends = task_number(walk) != batch->task_number;
	if (!batch->ends)
		put_task(walk);
	return status;
}

/* What was executed is not known. */
static void take_gap(struct study_walk *walk)
{
	walk->last.has_pc = false;
	walk->last.place = 0;
	walk->last.lost = true;
}

/* ---- Trails: instructions that come as they did before. ---- */

/* Where symbols tell that a function begins, a jump to it is a call. */
static bool is_function(const struct tw_namer *namer, uint64_t pc)
{
	struct tw_name name = {.id = pc};
	struct tw_range range = {0};
	return namer && namer->address && namer->address(namer->context, pc, &name, &range) && range.end &&
	       range.start == pc;
}

/* Takes the steps of a draft that are known places, and sets its mark: the flows behind which no call ends or begins;
 * none where an exception may go. */
static size_t mark(void *context, struct xtrace_draft *draft)
{
	const struct study_walk *walk = context;
	const struct xtrace_names *names = &walk->frames.names;
	bool function = is_function(names->namer, draft->pc);
	bool vector = xtrace_is_vector(draft->pc, draft->want[0] >> LEVEL_SHIFT);
	draft->mark = vector ? 0 : function ? silent_flows : silent_flows | jumps;
	return study_sites_mark(walk->sites, names->program, draft);
}

/* What changes with each token, where the compiler can keep it in registers. */
struct fast {
	const uint8_t *p, *end, *held_end; /* tokens that are held whole begin before the end */
	size_t step_count;
	struct study_access *access, *access_end;
	struct study_access *open; /* that the next token may continue; NULL: none */
	struct xtrace_trail *trail;
	uint64_t pc;
	uint32_t last;
	uint8_t flow; /* of the last */
	uint8_t level;
};

static inline void enter(struct study_walk *walk, struct fast *fast)
{
	struct study_batch *batch = &walk->batch;
	const struct xtrace_cursor *cursor = &walk->cursor;
	*fast = (struct fast){
	    .p = cursor->bytes,
	    .end = cursor->left > LONGEST ? cursor->bytes + (cursor->left - LONGEST) : cursor->bytes,
	    .held_end = cursor->left ? cursor->bytes + cursor->left : cursor->bytes,
	    .step_count = batch->step_count,
	    .access = batch->accesses + batch->access_count,
	    .access_end = batch->accesses + STUDY_ACCESSES,
	    .open = walk->whole ? NULL : &batch->accesses[batch->access_count - 1],
	    .trail = walk->trail,
	    .pc = walk->last.pc,
	    .last = walk->last.place,
	    .flow = walk->sites->items[walk->last.place].flow,
	    .level = walk->last.level,
	};
}

static inline void leave(struct study_walk *walk, const struct fast *fast)
{
	struct study_batch *batch = &walk->batch;
	struct xtrace_cursor *cursor = &walk->cursor;
	size_t took = (size_t)(fast->p - cursor->bytes);
	cursor->bytes = fast->p;
	cursor->left -= took;
	cursor->next += took;
	cursor->offset = cursor->next;
	walk->totals->levels[fast->level] += fast->step_count - batch->step_count;
	batch->step_count = fast->step_count;
	batch->access_count = (size_t)(fast->access - batch->accesses);
	walk->whole = !fast->open;
	walk->trail = fast->trail;
	walk->last.pc = fast->pc;
	walk->last.place = fast->last;
}

/* Tokens of one instruction that continue each other are one access: collectors part them differently. */
static inline bool continues(const struct study_access *open, uint64_t address, unsigned size, unsigned kind)
{
	unsigned had = open->size & STUDY_SIZE;
	return (open->size & STUDY_STORE) == kind && open->address + had == address && had + size < STUDY_SIZE;
}

static inline void add_access(struct fast *fast, uint64_t address, unsigned size, unsigned kind)
{
	if (fast->open && continues(fast->open, address, size, kind)) {
		fast->open->size = (uint16_t)(fast->open->size + size);
		return;
	}
	uint16_t step = (uint16_t)(fast->step_count ? fast->step_count - 1 : 0);
	*fast->access = (struct study_access){address, fast->last, step, (uint16_t)(size | kind)};
	fast->open = fast->access++;
}

static void take_access(struct study_walk *walk, uint64_t address, unsigned size, bool stores)
{
	struct fast fast;
	enter(walk, &fast);
	add_access(&fast, address, size, stores ? STUDY_STORE : 0);
	leave(walk, &fast);
}

static inline void add_accesses(struct fast *fast, const struct xtrace_trail *trail)
{
	const struct xtrace_trail_access *from = trail->accesses, *end = from + trail->access_count;
	struct study_access *to = fast->access;
	for (; from < end; from++) {
		uint64_t address = tw_load64(fast->p + from->at, false);
		unsigned kind = from->stores ? STUDY_STORE : 0;
		if (from->more && continues(to - 1, address, from->size, kind))
			to[-1].size = (uint16_t)(to[-1].size + from->size);
		else
			*to++ = (struct study_access){address, from->mark, (uint16_t)(fast->step_count + from->step),
			                              (uint16_t)(from->size | kind)};
	}
	bool open = trail->access_count && end[-1].step == trail->step_count - 1;
	fast->open = open ? to - 1 : NULL;
	fast->access = to;
}

static inline void add_trail(struct study_walk *walk, struct fast *fast, struct xtrace_trail *trail, bool behind)
{
	struct study_batch *batch = &walk->batch;
	if (fast->flow != XTRACE_NEXT || !behind)
		batch->blocks[batch->block_count++] =
		    (struct study_block){trail->first, fast->last, (uint16_t)fast->step_count};
	else
		walk->sites->items[fast->last].next = trail->first;
	add_accesses(fast, trail);
	if (walk->wants.steps) {
		const size_t size = trail->step_count * sizeof *batch->sites;
		memcpy(batch->sites + fast->step_count, xtrace_trail_steps(trail), size);
		memset(batch->levels + fast->step_count, fast->level, trail->step_count);
	}
	trail->count++;
	fast->trail = trail;
	fast->p += trail->size;
	fast->step_count += trail->step_count;
	fast->pc = trail->pc + (uint64_t)(trail->step_count - 1) * WORD;
	fast->last = trail->last;
	fast->flow = trail->flow;
}

/* For a trail, and what may come behind it. */
static inline bool has_room(const struct study_walk *walk, const struct fast *fast, const struct xtrace_trail *trail)
{
	return !walk->batch.ends && fast->step_count + trail->step_count <= STUDY_STEPS &&
	       (size_t)(fast->access_end - fast->access) >= trail->access_count + (size_t)ACCESSES_MOST &&
	       walk->batch.change_count <= STUDY_CHANGES - CHANGES_MOST &&
	       walk->batch.note_count <= STUDY_NOTES - NOTES_MOST;
}

static int make_room(struct study_walk *walk, struct fast *fast)
{
	leave(walk, fast);
	int status = flush(walk);
	enter(walk, fast);
	return status;
}

static inline int jump_fast(struct study_walk *walk, const struct fast *fast, uint64_t pc)
{
	const struct xtrace_cursor *cursor = &walk->cursor;
	walk->frames.flow = fast->flow;
	walk->frames.opcode = walk->sites->items[fast->last].opcode;
	walk->frames.known = true;
	walk->frames.pc = fast->pc;
	return take_jump(walk, pc, fast->level, fast->step_count, cursor->next + (uint64_t)(fast->p - cursor->bytes));
}

/* Takes the trail that comes now. Returns 1, 0 when there is none, or a negative status. Behind a gap, and where there
 * is no room for places, the last is 0, which nothing follows. */
static inline int take_trail(struct study_walk *walk, struct fast *fast)
{
	bool states_pc = (*fast->p & XTRACE_INST_BITS) == XTRACE_PCINST;
	uint64_t next = fast->pc + WORD, pc = states_pc ? tw_load64(fast->p + 1, false) : next;
	bool behind = pc == next;
	if (!fast->last || *fast->p >> LEVEL_SHIFT != fast->level ||
	    !(states_pc || fast->trail || fast->flow != XTRACE_NEXT))
		return 0;
	struct xtrace_trail *trail =
	    xtrace_trails_find(&walk->trails, fast->trail, fast->p, (size_t)(fast->held_end - fast->p), pc, behind);
	if (!trail)
		return 0;
	int status = has_room(walk, fast, trail) ? 0 : make_room(walk, fast);
	if (status >= 0 && states_pc && !(trail->mark >> fast->flow & 1))
		status = jump_fast(walk, fast, pc);
	if (status < 0)
		return status;
	add_trail(walk, fast, trail, behind);
	return 1;
}

/* An instruction that comes for the first time, or as it did not come before. */
static int take_slowly(struct study_walk *walk)
{
	struct xtrace_cursor *cursor = &walk->cursor;
	const uint8_t *p = cursor->bytes;
	bool states_pc = (*p & XTRACE_INST_BITS) == XTRACE_PCINST;
	size_t size = states_pc ? 13 : 5;
	uint32_t opcode = tw_load32(p + size - WORD, false);
	cursor->next += size;
	cursor->bytes += size;
	cursor->left -= size;
	if (states_pc)
		return take_pcinst(walk, tw_load64(p + 1, false), opcode, *p >> LEVEL_SHIFT);
	take_next(walk, opcode, *p >> LEVEL_SHIFT);
	return 0;
}

/* Takes instructions and accesses as long as they are known as trails. `make bench` measures it (insns). */
static int take_trails(struct study_walk *walk)
{
	struct fast fast;
	int status = 0;
	enter(walk, &fast);
	while (fast.p < fast.end && status >= 0 && !walk->paused) {
		unsigned byte = *fast.p, fixed = byte & XTRACE_MEM_BITS, kind = byte & XTRACE_INST_BITS;
		if (kind == 0x01 || kind == XTRACE_PCINST) {
			status = take_trail(walk, &fast);
			if (status)
				continue;
			if (!xtrace_is_instruction(fast.p, kind == XTRACE_PCINST ? 13 : 5))
				break;
			leave(walk, &fast);
			status = takes_another(&walk->batch) ? 0 : flush(walk);
			if (status >= 0)
				status = take_slowly(walk);
			enter(walk, &fast);
		} else if ((fixed == 0x02 || fixed == 0x0a) && byte >> 4 <= 8 && fast.access < fast.access_end) {
			add_access(&fast, tw_load64(fast.p + 1, false), 1u << (byte >> 4),
			           fixed == 0x0a ? STUDY_STORE : 0);
			fast.p += 9 + (1u << (byte >> 4));
		} else {
			break;
		}
	}
	leave(walk, &fast);
	return status;
}

static int take_token(struct study_walk *walk, const struct tw_xtrace_token *token)
{
	bool instruction = token->kind == TW_XTRACE_INST || token->kind == TW_XTRACE_PCINST;
	int status = instruction && !takes_another(&walk->batch) ? flush(walk) : 0;
	if (status < 0)
		return status;
	switch (token->kind) {
	case TW_XTRACE_INST:
		take_next(walk, token->opcode, token->level);
		return 0;
	case TW_XTRACE_PCINST:
		return take_pcinst(walk, token->pc, token->opcode, token->level);
	case TW_XTRACE_LOAD:
	case TW_XTRACE_STORE:
		take_access(walk, token->value, token->payload_size, token->kind == TW_XTRACE_STORE);
		return 0;
	case TW_XTRACE_UNKNOWN:
		take_gap(walk);
		return 0;
	case TW_XTRACE_TIME:
		if (!walk->whole)
			walk->batch.times[walk->batch.access_count - 1] = token->value;
		return 0;
	case TW_XTRACE_ALLGPR:
	case TW_XTRACE_MISC_FLAGS:
		return 0;
	case TW_XTRACE_TARGET_B:
		xtrace_stack_set_target(&walk->frames, walk->last.pc, token->value);
		take_note(walk, token);
		return take_task(walk, token);
	case TW_XTRACE_MRS:
		take_note(walk, token);
		return take_task(walk, token);
	default:
		take_note(walk, token);
		return 0;
	}
}

/* In the middle of an instruction that has more than any has. */
static bool is_full(const struct study_batch *batch)
{
	return batch->access_count == STUDY_ACCESSES || batch->note_count == STUDY_NOTES;
}

/* Gives the token that comes next, and tells what DC ZVA stores. */
static int next_token(struct study_walk *walk, struct tw_xtrace_token *token)
{
	const struct study_batch *batch = &walk->batch;
	walk->zeroes.opcode = walk->last.place ? walk->sites->items[walk->last.place].opcode : 0;
	walk->zeroes.stored = !walk->whole && batch->accesses[batch->access_count - 1].size & STUDY_STORE;
	return xtrace_zeroes_next(&walk->zeroes, &walk->cursor, token);
}

int study_walk_go(struct study_walk *walk)
{
	struct tw_xtrace_token token;
	for (;;) {
		int status = walk->zeroes.pending ? 0 : take_trails(walk);
		if (status >= 0 && walk->paused) {
			walk->paused = false;
			return 1;
		}
		if (status >= 0 && is_full(&walk->batch))
			status = flush(walk);
		if (status >= 0)
			status = next_token(walk, &token);
		if (status <= 0)
			return status < 0 ? status : flush(walk);
		status = take_token(walk, &token);
		if (status >= 0 && is_full(&walk->batch))
			status = flush(walk);
		if (status < 0)
			return status;
	}
}

static void add_totals(const struct study_walk *walk)
{
	struct study_totals *totals = walk->totals;
	totals->instructions = 0;
	for (unsigned level = 0; level < LEVELS; level++)
		totals->instructions += totals->levels[level];
	totals->lost_bytes += walk->cursor.lost_bytes;
}

int study_walk_open(struct study_walk **made, struct tw_reader *reader, const struct xtrace_track *track,
                    const struct study_taker *taker)
{
	const struct xtrace_names names = xtrace_names_of(reader, track);
	const unsigned time = taker->wants.times ? 0 : 1u << TW_XTRACE_TIME;
	struct study_walk *walk = *made = calloc(1, sizeof *walk);
	if (!walk)
		return TW_ERR_MEMORY;
	walk->sites = taker->sites;
	walk->totals = taker->totals;
	walk->take = taker->take;
	walk->context = taker->context;
	walk->wants = taker->wants;
	walk->whole = true;
	walk->calls.reader = reader;
	walk->trails = (struct xtrace_trails){
	    .operations = &walk->sites->operations,
	    .admit = mark,
	    .context = walk,
	    .passed = 1u << TW_XTRACE_MISC_FLAGS | time,
	    .limit = walk->sites->budget->limit / TRAILS_SHARE,
	};
	walk->frames.names = names;
	walk->silent = names.namer && names.namer->address ? silent_flows : silent_flows | jumps;
	int status = xtrace_files_open(&walk->files, reader, track);
	xtrace_cursor_init(&walk->cursor, &walk->files);
	return status;
}

void study_walk_close(struct study_walk *walk)
{
	if (!walk)
		return;
	study_sites_add_up(walk->sites, &walk->trails);
	add_totals(walk);
	xtrace_trails_free(&walk->trails);
	xtrace_files_close(&walk->files);
	xtrace_stack_free(&walk->frames);
	xtrace_calls_free(&walk->calls);
	free(walk);
}

struct xtrace_files *study_walk_files(struct study_walk *walk)
{
	return &walk->files;
}

int study_walk(struct tw_reader *reader, const struct xtrace_track *track, const struct study_taker *taker)
{
	struct study_walk *walk;
	int status = study_walk_open(&walk, reader, track, taker);
	while (status >= 0 && (status = study_walk_go(walk)) > 0)
		;
	study_walk_close(walk);
	return status;
}
