/* check_run.c - checks instructions and accesses as long as nothing is wrong: one after the other, and in trails, which
 * are instructions that come as they did before and were judged then. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "xtrace/check_step.h"
#include "xtrace/layout.h"

enum { CLASS = 7 };

/* ---- One after the other. ---- */

/* Whether an instruction may come at a PC next, and there is nothing to judge of the one before. */
static inline bool comes(const struct xtrace_checker *checker, uint64_t pc, bool states_pc)
{
	const struct xtrace_step *step = &checker->step;
	const struct xtrace_operation *operation = step->operation;
	uint64_t next = step->pc + XTRACE_WORD, target = xtrace_target(operation, step->pc);
	bool ahead = pc == next && (operation->flow == XTRACE_NEXT || operation->flow == XTRACE_BRANCH);
	bool away = states_pc && pc == target && operation->flow >= XTRACE_JUMP && operation->flow <= XTRACE_BRANCH;
	return (ahead || away) && step->has_pc && step->level == 0 && xtrace_step_is_done(step);
}

/* Takes an access. Returns the size of its token; 0 where the instruction may not make it. */
static inline size_t run_access(struct xtrace_checker *checker, const uint8_t *p)
{
	enum { STORES = 8, HEAD = 9, POWER_MOST = 8 };
	struct xtrace_step *step = &checker->step;
	bool stores = *p & STORES;
	unsigned power = *p >> 4;
	unsigned kind = stores ? TW_XTRACE_STORE : TW_XTRACE_LOAD;
	if (power > POWER_MOST || !(step->operation->may >> kind & 1))
		return 0;
	checker->order.accessed = true;
	xtrace_take_access(step, stores, tw_load64(p + 1, false), 1u << power);
	step->seen |= (uint16_t)(1 << kind);
	checker->last = kind;
	return HEAD + ((size_t)1 << power);
}

static inline size_t run_instruction(struct xtrace_checker *checker, const uint8_t *p, uint64_t offset)
{
	enum { INST_SIZE = 5, PCINST_SIZE = 13 };
	struct xtrace_step *step = &checker->step;
	bool states_pc = *p == XTRACE_PCINST;
	uint64_t pc = states_pc ? tw_load64(p + 1, false) : step->pc + XTRACE_WORD;
	size_t size = states_pc ? PCINST_SIZE : INST_SIZE;
	if (!comes(checker, pc, states_pc) || !xtrace_is_instruction(p, size))
		return 0;
	step->pc = pc;
	xtrace_begin_step(checker, tw_load32(p + size - XTRACE_WORD, false), 0, offset);
	checker->trail = NULL;
	checker->changed = false;
	checker->last = states_pc ? TW_XTRACE_PCINST : TW_XTRACE_INST;
	return size;
}

/* ---- Trails. ---- */

/* Takes the accesses of a step of a draft, from number `access` on. Returns whether it may make them. */
static bool take_draft(struct xtrace_step *step, const struct xtrace_draft *draft, size_t number, size_t *access)
{
	bool may = true;
	for (; *access < draft->access_count && draft->accesses[*access].step == number; ++*access) {
		const struct xtrace_trail_access *one = &draft->accesses[*access];
		may &= step->operation->may >> (one->stores ? TW_XTRACE_STORE : TW_XTRACE_LOAD) & 1;
		step->loaded += one->stores ? 0 : one->size;
		step->stored += one->stores ? one->size : 0;
	}
	return may;
}

/* Takes the accesses out of a draft that need not be looked at each time: where a step has only one, nothing depends on
 * its address. Those of the last step stay, because what comes behind the trail may belong to it. */
static void drop_accesses(struct xtrace_draft *draft, size_t count)
{
	size_t kept = 0;
	for (size_t i = 0; i < draft->access_count; i++) {
		const struct xtrace_trail_access *one = &draft->accesses[i];
		bool several = one->more || (i + 1 < draft->access_count && one[1].more);
		if (one->step < count && (several || one->step == count - 1))
			draft->accesses[kept++] = *one;
	}
	draft->access_count = kept;
}

size_t xtrace_check_admit(void *context, struct xtrace_draft *draft)
{
	struct xtrace_checker *checker = context;
	size_t count = 0, access = 0;
	for (; count < draft->step_count; count++) {
		struct xtrace_step step = {
		    .operation = xtrace_find_operation(&checker->drafted, draft->steps[count]),
		};
		size_t first = access;
		bool last = count + 1 == draft->step_count;
		if (!take_draft(&step, draft, count, &access) || !(last || xtrace_step_is_done(&step)))
			break;
		for (size_t i = first; i < access; i++)
			draft->accesses[i].mark = (uint32_t)xtrace_step_most(step.operation);
	}
	drop_accesses(draft, count);
	return count;
}

/* Whether the accesses of each step with several are within as many bytes as it accesses. */
static inline bool are_together(const struct xtrace_trail *trail, const uint8_t *p)
{
	const struct xtrace_trail_access *access = trail->accesses, *end = access + trail->access_count;
	uint64_t low = 0, high = 0;
	for (; access < end && access->step != trail->step_count - 1; access++) {
		uint64_t from = tw_load64(p + access->at, false), to = from + access->size;
		low = !access->more || from < low ? from : low;
		high = !access->more || to > high ? to : high;
		if (high - low > access->mark)
			return false;
	}
	return true;
}

static void take_trail(struct xtrace_checker *checker, struct xtrace_trail *trail, const uint8_t *p, uint64_t offset)
{
	struct xtrace_step *step = &checker->step;
	const struct xtrace_trail_access *access = trail->accesses, *end = access + trail->access_count;
	unsigned steps = trail->step_count;
	xtrace_begin_step(checker, trail->last, 0, offset + trail->last_at);
	checker->count += steps - 1;
	checker->user += steps - 1;
	checker->changed = false;
	checker->last = steps == 1 && *p == XTRACE_PCINST ? TW_XTRACE_PCINST : TW_XTRACE_INST;
	step->pc = trail->pc + (uint64_t)(steps - 1) * XTRACE_WORD;
	for (; access < end; access++) {
		if (access->step != steps - 1)
			continue;
		xtrace_take_access(step, access->stores, tw_load64(p + access->at, false), access->size);
		checker->last = access->stores ? TW_XTRACE_STORE : TW_XTRACE_LOAD;
		step->seen |= (uint16_t)(1 << checker->last);
	}
	trail->count++;
	checker->trail = trail;
}

/* Takes a trail that begins at `p`, and must end before `end`. Returns its size; 0 where there is none. */
static inline size_t run_trail(struct xtrace_checker *checker, const uint8_t *p, const uint8_t *held_end,
                               const uint8_t *end, uint64_t offset)
{
	const struct xtrace_step *step = &checker->step;
	bool states_pc = *p == XTRACE_PCINST;
	uint64_t next = step->pc + XTRACE_WORD, pc = states_pc ? tw_load64(p + 1, false) : next;
	if (!states_pc && !checker->trail && step->operation->flow == XTRACE_NEXT)
		return 0;
	struct xtrace_trail *trail =
	    xtrace_trails_find(&checker->trails, checker->trail, p, (size_t)(held_end - p), pc, pc == next);
	if (!trail || trail->size > end - p || !comes(checker, pc, states_pc) || !are_together(trail, p))
		return 0;
	take_trail(checker, trail, p, offset);
	return trail->size;
}

/* `make bench` measures it (check). */
void xtrace_check_run(struct xtrace_checker *checker, struct xtrace_cursor *cursor, uint64_t until)
{
	enum { INST = 0x01, LONGEST = 265 };
	if (cursor->left <= LONGEST)
		return;
	const uint8_t *p = cursor->bytes, *held_end = p + cursor->left, *limit = held_end;
	uint64_t base = cursor->next;
	if (until - base < cursor->left)
		limit = p + (until - base);
	const uint8_t *end = held_end - LONGEST < limit ? held_end - LONGEST : limit;
	while (p < end) {
		size_t size = 0;
		uint64_t offset = base + (uint64_t)(p - cursor->bytes);
		if (*p == INST || *p == XTRACE_PCINST) {
			size = run_trail(checker, p, held_end, limit, offset);
			size = size ? size : run_instruction(checker, p, offset);
		} else if ((*p & CLASS) == XTRACE_CLASS_MEM) {
			size = run_access(checker, p);
		}
		if (!size)
			break;
		p += size;
	}
	size_t took = (size_t)(p - cursor->bytes);
	cursor->bytes = p;
	cursor->left -= took;
	cursor->next += took;
}
