/* walk.c - a track's instructions with their accesses, in batches, each place decoded once. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "study/walk.h"

#include <stdlib.h>

#include "base/bytes.h"
#include "xtrace/layout.h"

enum { WORD = 4, LEVEL_SHIFT = 6, LEVELS = 4, LONGEST = 9 + 256 };

/* ---- Places. ---- */

bool study_sites_init(struct study_sites *sites, struct tw_budget *budget, struct tw_dictionary *names)
{
	sites->budget = budget;
	sites->names = names;
	sites->count = 1;
	sites->items = calloc(1, sizeof *sites->items);
	sites->room = sites->items ? 1 : 0;
	if (sites->items)
		sites->items[0].pc = UINT64_MAX;
	return sites->items != NULL;
}

void study_sites_free(struct study_sites *sites)
{
	free(sites->items);
	tw_map_free(&sites->map);
}

static uint64_t key_of(uint64_t pc, uint32_t opcode)
{
	return tw_hash64(pc ^ (uint64_t)opcode << 32 ^ opcode);
}

static uint32_t add_site(struct study_sites *sites, uint64_t pc, uint32_t opcode, uint32_t function)
{
	uint32_t number = (uint32_t)sites->count;
	if (number == study_site ||
	    !tw_budget_grow(sites->budget, TW_FOR_ROWS, &sites->items, &sites->room, sites->count + 1,
	                    sizeof *sites->items) ||
	    !tw_budget_map_add(sites->budget, TW_FOR_ROWS, &sites->map, key_of(pc, opcode), number))
		return 0;
	sites->items[sites->count++] = (struct study_site){
	    .pc = pc,
	    .opcode = opcode,
	    .function = function,
	    .flow = xtrace_find_operation(&sites->operations, opcode)->flow,
	    .class = (uint8_t)study_class_of(opcode),
	};
	return number;
}

uint32_t study_sites_find(struct study_sites *sites, uint64_t pc, uint32_t opcode, uint32_t function)
{
	size_t slot = SIZE_MAX;
	uint32_t number;
	while (tw_map_next(&sites->map, key_of(pc, opcode), &slot, &number))
		if (sites->items[number].pc == pc && sites->items[number].opcode == opcode)
			return number;
	return add_site(sites, pc, opcode, function);
}

/* ---- Walking. ---- */

struct walk {
	struct study_batch batch; /* first: it is large */
	struct study_sites *sites;
	struct study_totals *totals;
	struct xtrace_files files;
	struct xtrace_cursor cursor;
	struct xtrace_calls calls;
	struct xtrace_stack frames;
	uint32_t *stack; /* names of the functions that are open */
	size_t depth, room;
	uint64_t pc;   /* of the last instruction */
	uint32_t last; /* its place */
	bool has_pc, lost;
	bool whole;      /* no token may continue the last access */
	uint8_t level;   /* of the last instruction */
	unsigned silent; /* flows that no call ends or begins behind: 1 << enum xtrace_flow */
	study_take_fn take;
	void *context;
};

enum { ACCESSES_MOST = 256, NOTES_MOST = 16 }; /* of an instruction */

/* Whether what the next instruction does has room, so that it is all in one batch. */
static inline bool takes_another(const struct study_batch *batch)
{
	return batch->step_count < STUDY_STEPS && batch->access_count <= STUDY_ACCESSES - ACCESSES_MOST &&
	       batch->note_count <= STUDY_NOTES - NOTES_MOST;
}

static int flush(struct walk *walk)
{
	struct study_batch *batch = &walk->batch;
	bool any = batch->step_count || batch->access_count || batch->note_count;
	int status = any ? walk->take(walk->context, batch) : 0;
	batch->first += batch->step_count;
	batch->step_count = batch->access_count = batch->turn_count = batch->note_count = 0;
	walk->whole = true;
	return status;
}

/* How the stack of calls is another behind a jump. */
static int turn(struct walk *walk, const struct tw_xtrace_token *token)
{
	struct study_batch *batch = &walk->batch;
	struct xtrace_turn found;
	walk->frames.flow = walk->sites->items[walk->last].flow;
	walk->frames.known = walk->last != 0;
	walk->frames.pc = walk->pc;
	int status = xtrace_calls_take(&walk->calls, &walk->frames, token, walk->cursor.offset, &found);
	walk->depth -= found.ends < walk->depth ? found.ends : walk->depth;
	if (status >= 0 && found.begins && !tw_grow(&walk->stack, &walk->room, walk->depth + 1, sizeof *walk->stack))
		status = TW_ERR_MEMORY;
	if (status < 0)
		return status;
	if (found.begins)
		walk->stack[walk->depth++] = found.name;
	if (found.begins || found.ends)
		batch->turns[batch->turn_count++] =
		    (struct study_turn){(uint16_t)batch->step_count, (uint16_t)found.ends, found.begins, found.name};
	return 0;
}

static uint32_t function_of(const struct walk *walk)
{
	return walk->depth ? walk->stack[walk->depth - 1] : 0;
}

static void add_step(struct walk *walk, uint32_t site, bool block, unsigned level)
{
	struct study_batch *batch = &walk->batch;
	uint32_t flags = (block ? study_block : 0) | (walk->lost ? study_gap : 0);
	batch->steps[batch->step_count++] = site | flags;
	walk->sites->items[site].count++;
	walk->totals->levels[level]++;
	walk->level = (uint8_t)level;
	walk->last = site;
	walk->lost = false;
	walk->whole = true;
}

/* An instruction behind the last one. */
static void take_next(struct walk *walk, uint32_t opcode, unsigned level)
{
	bool block = walk->sites->items[walk->last].flow != XTRACE_NEXT || walk->lost;
	walk->pc += WORD;
	uint32_t site = walk->has_pc ? study_sites_find(walk->sites, walk->pc, opcode, function_of(walk)) : 0;
	if (walk->last)
		walk->sites->items[walk->last].next = site;
	add_step(walk, site, block, level);
}

static int take_told(struct walk *walk, const struct tw_xtrace_token *token)
{
	struct study_site *last = &walk->sites->items[walk->last];
	bool behind = walk->has_pc && token->pc == walk->pc + WORD, flows = last->flow == XTRACE_NEXT;
	bool block = !flows || !behind || walk->lost;
	int status = walk->last && walk->silent >> last->flow & 1 ? 0 : turn(walk, token);
	if (status < 0)
		return status;
	if (behind && !walk->lost) {
		take_next(walk, token->opcode, token->level);
		return 0;
	}
	walk->pc = token->pc;
	walk->has_pc = true;
	uint32_t site = last->jump;
	if (!site || walk->sites->items[site].pc != token->pc || walk->sites->items[site].opcode != token->opcode) {
		site = study_sites_find(walk->sites, token->pc, token->opcode, function_of(walk));
		if (walk->last)
			walk->sites->items[walk->last].jump = site;
	}
	add_step(walk, site, block, token->level);
	return 0;
}

static void take_note(struct walk *walk, const struct tw_xtrace_token *token)
{
	struct study_batch *batch = &walk->batch;
	struct study_note *note = &batch->notes[batch->note_count++];
	uint16_t step = (uint16_t)(batch->step_count ? batch->step_count - 1 : 0);
	*note =
	    (struct study_note){.value = token->value, .site = walk->last, .step = step, .kind = (uint8_t)token->kind};
	for (size_t i = 0; token->kind == TW_XTRACE_SYSCALL_VEC && i < token->value && i < 2; i++) {
		note->part_base[i] = tw_xtrace_word(token->payload, 2 * i);
		note->part_length[i] = tw_xtrace_word(token->payload, 2 * i + 1);
	}
}

/* What was executed is not known. */
static void take_gap(struct walk *walk)
{
	walk->has_pc = false;
	walk->last = 0;
	walk->lost = true;
}

/* ---- The fast path: instructions that come as they did the last time, and accesses. `make bench` measures it (insns).
 * ---- */

/* What changes with each token, where the compiler can keep it in registers. */
struct fast {
	const uint8_t *p, *end; /* tokens that are held whole begin before the end */
	struct study_site *sites;
	uint32_t *step, *step_end;
	struct study_access *access, *access_end;
	struct study_access *open; /* that the next token may continue; NULL: none */
	uint64_t pc;
	uint32_t last;
	unsigned silent;
	uint8_t level;
};

static inline void enter(struct walk *walk, struct fast *fast)
{
	struct study_batch *batch = &walk->batch;
	const struct xtrace_cursor *cursor = &walk->cursor;
	*fast = (struct fast){
	    .p = cursor->bytes,
	    .end = cursor->left > LONGEST ? cursor->bytes + (cursor->left - LONGEST) : cursor->bytes,
	    .sites = walk->sites->items,
	    .step = batch->steps + batch->step_count,
	    .step_end = batch->steps + (takes_another(batch) ? STUDY_STEPS : batch->step_count),
	    .access = batch->accesses + batch->access_count,
	    .access_end = batch->accesses + STUDY_ACCESSES,
	    .open = walk->whole ? NULL : &batch->accesses[batch->access_count - 1],
	    .pc = walk->pc,
	    .last = walk->last,
	    .silent = walk->silent,
	    .level = walk->level,
	};
}

static inline void leave(struct walk *walk, const struct fast *fast)
{
	struct study_batch *batch = &walk->batch;
	struct xtrace_cursor *cursor = &walk->cursor;
	size_t took = (size_t)(fast->p - cursor->bytes), steps = (size_t)(fast->step - batch->steps);
	cursor->bytes = fast->p;
	cursor->left -= took;
	cursor->next += took;
	walk->totals->levels[fast->level] += steps - batch->step_count;
	batch->step_count = steps;
	batch->access_count = (size_t)(fast->access - batch->accesses);
	walk->whole = !fast->open;
	walk->pc = fast->pc;
	walk->last = fast->last;
}

static inline bool has_room(const struct fast *fast)
{
	return fast->step < fast->step_end && fast->access_end - fast->access >= ACCESSES_MOST;
}

/* Behind a gap, and where there is no room for places, the last is 0, which nothing follows. */
static inline bool add_fast(struct fast *fast, uint32_t site, uint32_t flags, uint64_t pc, uint32_t opcode)
{
	struct study_site *same = &fast->sites[site];
	if (!site || same->opcode != opcode || same->pc != pc || !has_room(fast))
		return false;
	same->count++;
	*fast->step++ = site | flags;
	fast->last = site;
	fast->pc = pc;
	fast->open = NULL;
	return true;
}

static inline bool next_fast(struct fast *fast)
{
	const struct study_site *last = &fast->sites[fast->last];
	bool taken = *fast->p >> LEVEL_SHIFT == fast->level &&
	             add_fast(fast, last->next, last->flow == XTRACE_NEXT ? 0 : study_block, fast->pc + WORD,
	                      tw_load32(fast->p + 1, false));
	fast->p += taken ? 5 : 0;
	return taken;
}

static inline bool told_fast(struct fast *fast)
{
	const struct study_site *last = &fast->sites[fast->last];
	uint64_t pc = tw_load64(fast->p + 1, false);
	bool taken = *fast->p >> LEVEL_SHIFT == fast->level && last->flow != XTRACE_NEXT &&
	             fast->silent >> last->flow & 1 &&
	             add_fast(fast, pc == fast->pc + WORD ? last->next : last->jump, study_block, pc,
	                      tw_load32(fast->p + 9, false));
	fast->p += taken ? 13 : 0;
	return taken;
}

/* Tokens of one instruction that continue each other are one access: collectors part them differently. */
static inline void access_fast(struct fast *fast, const uint32_t *steps, uint64_t address, unsigned size, unsigned kind)
{
	struct study_access *open = fast->open;
	unsigned had = open ? open->size & STUDY_SIZE : 0;
	if (open && (open->size & STUDY_STORE) == kind && open->address + had == address && had + size < STUDY_SIZE) {
		open->size = (uint16_t)(open->size + size);
		return;
	}
	uint16_t step = (uint16_t)(fast->step > steps ? fast->step - steps - 1 : 0);
	*fast->access = (struct study_access){address, fast->last, step, (uint16_t)(size | kind)};
	fast->open = fast->access++;
}

static void take_access(struct walk *walk, uint64_t address, unsigned size, bool stores)
{
	struct fast fast;
	enter(walk, &fast);
	access_fast(&fast, walk->batch.steps, address, size, stores ? STUDY_STORE : 0);
	leave(walk, &fast);
}

/* An instruction that comes for the first time, or with a call or a return. */
static int take_slowly(struct walk *walk)
{
	struct xtrace_cursor *cursor = &walk->cursor;
	const uint8_t *p = cursor->bytes;
	bool told = (*p & XTRACE_INST_BITS) == XTRACE_PCINST;
	size_t size = told ? 13 : 5;
	const struct tw_xtrace_token token = {.kind = told ? TW_XTRACE_PCINST : TW_XTRACE_INST,
	                                      .level = (uint8_t)(*p >> LEVEL_SHIFT),
	                                      .pc = told ? tw_load64(p + 1, false) : 0,
	                                      .opcode = tw_load32(p + size - WORD, false)};
	cursor->offset = cursor->next;
	cursor->next += size;
	cursor->bytes += size;
	cursor->left -= size;
	if (told)
		return take_told(walk, &token);
	take_next(walk, token.opcode, token.level);
	return 0;
}

static int run(struct walk *walk)
{
	struct fast fast;
	int status = 0;
	enter(walk, &fast);
	while (fast.p < fast.end && status >= 0) {
		unsigned byte = *fast.p, fixed = byte & 0x0f;
		bool inst = (byte & XTRACE_INST_BITS) == 0x01, told = (byte & XTRACE_INST_BITS) == XTRACE_PCINST;
		if ((inst && next_fast(&fast)) || (told && told_fast(&fast)))
			continue;
		if (inst || told) {
			if (!has_room(&fast))
				break;
			leave(walk, &fast);
			status = take_slowly(walk);
			enter(walk, &fast);
		} else if ((fixed == 0x02 || fixed == 0x0a) && byte >> 4 <= 8 && fast.access < fast.access_end) {
			access_fast(&fast, walk->batch.steps, tw_load64(fast.p + 1, false), 1u << (byte >> 4),
			            fixed == 0x0a ? STUDY_STORE : 0);
			fast.p += 9 + (1u << (byte >> 4));
		} else {
			break;
		}
	}
	leave(walk, &fast);
	return status;
}

static int take_token(struct walk *walk, const struct tw_xtrace_token *token)
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
		return take_told(walk, token);
	case TW_XTRACE_LOAD:
	case TW_XTRACE_STORE:
		take_access(walk, token->value, token->payload_size, token->kind == TW_XTRACE_STORE);
		return 0;
	case TW_XTRACE_UNKNOWN:
		take_gap(walk);
		return 0;
	case TW_XTRACE_TIME:
	case TW_XTRACE_ALLGPR:
	case TW_XTRACE_MISC_FLAGS:
		return 0;
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

static int walk_tokens(struct walk *walk)
{
	struct tw_xtrace_token token;
	for (;;) {
		int status = run(walk);
		if (status >= 0 && is_full(&walk->batch))
			status = flush(walk);
		if (status >= 0)
			status = xtrace_cursor_next(&walk->cursor, &token);
		if (status <= 0)
			return status < 0 ? status : flush(walk);
		status = take_token(walk, &token);
		if (status >= 0 && is_full(&walk->batch))
			status = flush(walk);
		if (status < 0)
			return status;
	}
}

static void add_totals(const struct walk *walk)
{
	struct study_totals *totals = walk->totals;
	totals->placeless = walk->sites->items[0].count;
	totals->instructions = 0;
	for (unsigned level = 0; level < LEVELS; level++)
		totals->instructions += totals->levels[level];
	totals->lost_bytes += walk->cursor.lost_bytes;
}

/* Where symbols tell the beginnings of functions, jumps may lead to one. */
static unsigned silent_flows(const struct tw_reader *reader)
{
	const struct tw_namer *namer = reader->options.namer;
	unsigned jumps = 1u << XTRACE_JUMP | 1u << XTRACE_BRANCH, others = 1u << XTRACE_NEXT | 1u << XTRACE_SYSTEM_CALL;
	return namer && namer->address ? others : others | jumps;
}

int study_walk(struct tw_reader *reader, const struct xtrace_track *track, struct study_sites *sites,
               struct study_totals *totals, study_take_fn take, void *context)
{
	struct walk *walk = calloc(1, sizeof *walk);
	if (!walk)
		return TW_ERR_MEMORY;
	walk->batch.sites = walk->sites = sites;
	walk->totals = totals;
	walk->take = take;
	walk->context = context;
	walk->whole = true;
	walk->calls.reader = reader;
	walk->silent = silent_flows(reader);
	int status = xtrace_files_open(&walk->files, reader, track);
	xtrace_cursor_init(&walk->cursor, &walk->files);
	if (status >= 0)
		status = walk_tokens(walk);
	add_totals(walk);
	xtrace_files_close(&walk->files);
	xtrace_stack_free(&walk->frames);
	xtrace_calls_free(&walk->calls);
	free(walk->stack);
	free(walk);
	return status;
}
