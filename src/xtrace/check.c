/* check.c - whether tokens fit what the instructions before them do, and instructions fit each other. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "xtrace/check.h"

#include <inttypes.h>
#include <stdlib.h>

#include "xtrace/layout.h"

enum { WORD = 4, ARGUMENTS = 7, CLASS = 7, TRAILS_SHARE = 8 /* of the memory limit */ };

/* What was before the first instruction. */
static const struct xtrace_operation nothing = {0};

#define REPORT(checker, rule, at, ...) xtrace_report((checker)->files, false, rule, at, at, __VA_ARGS__)

/* ---- Where the PC goes. ---- */

/* Whether an instruction may come after another without something from outside; rule: which one says no. */
static bool follows(const struct xtrace_step *step, uint64_t pc, enum xtrace_rule *rule)
{
	const struct xtrace_operation *operation = step->operation;
	uint64_t next = step->pc + WORD;
	*rule = XTRACE_BRANCH_TARGET;
	switch ((enum xtrace_flow)operation->flow) {
	case XTRACE_JUMP:
	case XTRACE_CALL:
		return pc == xtrace_target(operation, step->pc);
	case XTRACE_BRANCH:
		return pc == next || pc == xtrace_target(operation, step->pc);
	case XTRACE_JUMP_TO:
	case XTRACE_CALL_TO:
	case XTRACE_RETURN:
	case XTRACE_EXCEPTION_RETURN:
		*rule = XTRACE_TARGET_DIFFERS;
		return pc == step->target || !(step->seen & 1 << TW_XTRACE_TARGET_B);
	case XTRACE_EXCEPTION:
		return true;
	case XTRACE_SYSTEM_CALL:
	case XTRACE_NEXT:
		break;
	}
	*rule = XTRACE_PC_JUMP;
	return pc == next;
}

static void tell_jump(const struct xtrace_checker *checker, enum xtrace_rule rule, uint64_t offset, uint64_t pc)
{
	const struct xtrace_step *step = &checker->step;
	uint64_t target = rule == XTRACE_BRANCH_TARGET ? xtrace_target(step->operation, step->pc) : step->pc + WORD;
	target = rule == XTRACE_TARGET_DIFFERS ? step->target : target;
	REPORT(checker, rule, offset,
	       "Expected 0x%" PRIx64 " after 0x%" PRIx64 " (opcode 0x%08" PRIx32 "), found 0x%" PRIx64 ".", target,
	       step->pc, step->operation->opcode, pc);
}

/* Calls that do not come back, or to somewhere else, on Linux. */
static bool is_without_return(uint64_t number)
{
	enum { EXIT = 93, EXIT_GROUP = 94, SIGRETURN = 139, EXECVE = 221, EXECVEAT = 281 };
	return number == EXIT || number == EXIT_GROUP || number == SIGRETURN || number == EXECVE || number == EXECVEAT;
}

/* Whether the instruction was interrupted: then it need not have done all. */
static bool judge_jump(const struct xtrace_checker *checker, uint64_t offset, uint64_t pc, uint8_t level)
{
	const struct xtrace_step *step = &checker->step;
	enum xtrace_rule rule;
	if (follows(step, pc, &rule))
		return false;
	bool enters = level != step->level; /* the kernel, or leaves it */
	bool returns = step->operation->flow == XTRACE_SYSTEM_CALL && is_without_return(step->number);
	if (checker->changed) /* a signal, or the target faulted */
		rule = XTRACE_PC_JUMP;
	if (!enters && !returns)
		tell_jump(checker, rule, offset, pc);
	return true;
}

static void judge_straight(const struct xtrace_checker *checker, uint64_t offset)
{
	const struct xtrace_step *step = &checker->step;
	enum xtrace_rule rule;
	bool always = step->operation->flow != XTRACE_SYSTEM_CALL && step->operation->flow != XTRACE_NEXT;
	if (always && !follows(step, step->pc + WORD, &rule))
		REPORT(checker, XTRACE_INST_AFTER_BRANCH, offset,
		       "Expected a PCINST after 0x%" PRIx64 " (opcode 0x%08" PRIx32 "), found an INST.", step->pc,
		       step->operation->opcode);
}

/* ---- What an instruction accessed. ---- */

static void judge_size(const struct xtrace_checker *checker, bool interrupted, const char *what, uint32_t bytes,
                       uint32_t most, bool all)
{
	const struct xtrace_step *step = &checker->step;
	if (bytes > most && most)
		REPORT(checker, XTRACE_ACCESS_SIZE, step->offset,
		       "Opcode 0x%08" PRIx32 " %s at most %" PRIu32 " bytes, not %" PRIu32 ".", step->operation->opcode,
		       what, most, bytes);
	else if (bytes < most && all && !interrupted)
		REPORT(checker, XTRACE_ACCESS_MISSING, step->offset,
		       "Opcode 0x%08" PRIx32 " %s %" PRIu32 " bytes, not %" PRIu32 ".", step->operation->opcode, what,
		       most, bytes);
}

/* In one direction. */
static uint64_t most_of(const struct xtrace_operation *operation)
{
	return operation->load > operation->store ? operation->load : operation->store;
}

/* Judges where an instruction accesses memory: within as many bytes as it accesses; a literal at the literal's
 * address. */
static void judge_base(const struct xtrace_checker *checker)
{
	const struct xtrace_step *step = &checker->step;
	uint32_t most = step->loaded > step->stored ? step->loaded : step->stored;
	if (!most || step->operation->traits & XTRACE_SCATTERED)
		return;
	if (step->high - step->low > most)
		REPORT(checker, XTRACE_ACCESS_BASE, step->offset,
		       "Opcode 0x%08" PRIx32 " accesses %" PRIu32 " bytes, from 0x%" PRIx64 " to 0x%" PRIx64 ".",
		       step->operation->opcode, most, step->low, step->high);
	uint64_t literal = xtrace_target(step->operation, step->pc);
	if (step->operation->traits & XTRACE_LITERAL && step->low != literal)
		REPORT(checker, XTRACE_ACCESS_BASE, step->offset, "Expected 0x%" PRIx64 ", found 0x%" PRIx64 ".",
		       literal, step->low);
}

static void judge_accesses(const struct xtrace_checker *checker, bool interrupted)
{
	const struct xtrace_step *step = &checker->step;
	const struct xtrace_operation *operation = step->operation;
	judge_size(checker, interrupted, "loads", step->loaded, operation->load, operation->traits & XTRACE_LOADS_ALL);
	judge_size(checker, interrupted, "stores", step->stored, operation->store,
	           operation->traits & XTRACE_STORES_ALL);
	judge_base(checker);
}

/* ---- Exclusive pairs. ---- */

static void judge_exclusive(struct xtrace_checker *checker)
{
	const struct xtrace_step *step = &checker->step;
	if (step->operation->traits & XTRACE_LOAD_EXCLUSIVE) {
		checker->armed = step->loaded > 0;
		checker->monitored = step->low;
		return;
	}
	bool armed = checker->armed && (!step->stored || step->low == checker->monitored);
	checker->armed = false;
	if (!(step->seen & 1 << TW_XTRACE_STXR))
		return;
	bool stored = step->stored == step->operation->store;
	if (checker->is_last && step->status == 0 && !step->stored)
		return;
	if (step->status > 1 || (step->status == 0) != stored)
		REPORT(checker, XTRACE_STXR_VALUE, step->offset,
		       "The status is %" PRIu64 ", and %" PRIu32 " bytes of %u are stored.", step->status, step->stored,
		       step->operation->store);
	else if (stored && !armed)
		REPORT(checker, XTRACE_EXCLUSIVE_ALONE, step->offset,
		       "The exclusive store to 0x%" PRIx64 " succeeds; there is no exclusive load of it before.",
		       step->low);
}

/* ---- System calls. ---- */

static void judge_call(struct xtrace_checker *checker)
{
	const struct xtrace_step *step = &checker->step;
	if (step->operation->flow != XTRACE_SYSTEM_CALL)
		return;
	bool is_cut = checker->is_last && step->arguments < ARGUMENTS;
	if (step->arguments && step->arguments != ARGUMENTS && !is_cut)
		REPORT(checker, XTRACE_SVC_ARGUMENTS, step->offset, "Expected %d SVCARG tokens, found %u.", ARGUMENTS,
		       step->arguments);
	checker->waits = !(step->seen & 1 << TW_XTRACE_SVCRET) && step->arguments && !is_without_return(step->number);
	checker->call = step->offset;
	checker->call_number = step->number;
}

static void judge_return(struct xtrace_checker *checker, uint64_t offset, uint8_t level)
{
	if (!checker->waits || level != 0)
		return;
	checker->waits = false;
	REPORT(checker, XTRACE_SVC_RETURN, checker->call,
	       "System call %" PRIu64 " has no SVCRET before the program goes on at offset 0x%" PRIx64 ".",
	       checker->call_number, offset);
}

/* ---- A whole instruction. ---- */

static void tell_missing(const struct xtrace_checker *checker)
{
	const struct xtrace_step *step = &checker->step;
	unsigned missing = step->operation->needs & ~(unsigned)step->seen;
	REPORT(checker, XTRACE_VALUE_MISSING, step->offset, "Expected a token %s after opcode 0x%08" PRIx32 ".",
	       tw_xtrace_kind_name((unsigned)__builtin_ctz(missing)), step->operation->opcode);
}

/* What only a few instructions have. */
static void judge_rare(struct xtrace_checker *checker, bool interrupted)
{
	const struct xtrace_step *step = &checker->step;
	const struct xtrace_operation *operation = step->operation;
	if (step->loaded != operation->load || step->stored != operation->store ||
	    step->high - step->low > most_of(operation) || operation->traits & XTRACE_LITERAL)
		judge_accesses(checker, interrupted);
	if (operation->needs & ~step->seen && !interrupted)
		tell_missing(checker);
	if (operation->traits & (XTRACE_LOAD_EXCLUSIVE | XTRACE_STORE_EXCLUSIVE))
		judge_exclusive(checker);
	judge_call(checker);
}

/* Whether nothing more is to be looked at of the instruction whose tokens have been taken. Most are judged by this
 * alone. */
static inline bool is_done(const struct xtrace_step *step)
{
	const struct xtrace_operation *operation = step->operation;
	return !((step->loaded ^ operation->load) | (step->stored ^ operation->store)) && operation->simple &&
	       step->high - step->low <= most_of(operation);
}

static void finish(struct xtrace_checker *checker, bool interrupted)
{
	if (checker->step.has_pc && !is_done(&checker->step))
		judge_rare(checker, interrupted);
}

static void judge_level(struct xtrace_checker *checker, uint64_t offset, uint8_t level)
{
	const struct xtrace_step *step = &checker->step;
	if (step->has_pc && level != step->level && !checker->changed)
		REPORT(checker, XTRACE_LEVEL_REGISTERS, offset, "Expected ALLGPR between EL%u and EL%u.", step->level,
		       level);
	checker->changed = false;
}

/* The PC of what comes now, and whether it comes by itself. */
static void take_pc(struct xtrace_checker *checker, const struct tw_xtrace_token *token, uint64_t offset)
{
	struct xtrace_step *step = &checker->step;
	bool told = token->kind == TW_XTRACE_PCINST;
	bool interrupted = false;
	if (told && token->pc % WORD)
		REPORT(checker, XTRACE_PC_UNALIGNED, offset, "The PC is 0x%" PRIx64 ".", token->pc);
	if (step->has_pc && told)
		interrupted = judge_jump(checker, offset, token->pc, token->level);
	else if (step->has_pc)
		judge_straight(checker, offset);
	else if (!told && !checker->count)
		REPORT(checker, XTRACE_PC_UNKNOWN, offset, "Expected a PCINST, found an INST.");
	finish(checker, interrupted);
	step->pc = told ? token->pc : step->pc + WORD;
	step->has_pc |= told;
}

/* Begins the next instruction, whose PC has been taken. */
static inline void begin_step(struct xtrace_checker *checker, uint32_t opcode, uint8_t level, uint64_t offset)
{
	struct xtrace_step *step = &checker->step;
	step->operation = xtrace_find_operation(&checker->operations, opcode);
	step->offset = offset;
	step->level = level;
	step->seen = 0;
	step->arguments = 0;
	step->loaded = step->stored = 0;
	step->low = step->high = 0;
	checker->count++;
	checker->user += level == 0;
}

static void take_instruction(struct xtrace_checker *checker, const struct tw_xtrace_token *token, uint64_t offset)
{
	take_pc(checker, token, offset);
	judge_level(checker, offset, token->level);
	judge_return(checker, offset, token->level);
	begin_step(checker, token->opcode, token->level, offset);
}

/* ---- What follows it. ---- */

static inline void take_access(struct xtrace_step *step, bool stores, uint64_t address, uint32_t size)
{
	uint64_t end = address + size;
	bool first = !step->loaded && !step->stored;
	step->low = first || address < step->low ? address : step->low;
	step->high = first || end > step->high ? end : step->high;
	step->loaded += stores ? 0 : size;
	step->stored += stores ? size : 0;
}

static void take_time(struct xtrace_checker *checker, const struct tw_xtrace_token *token, uint64_t offset)
{
	static const unsigned accesses = 1 << TW_XTRACE_LOAD | 1 << TW_XTRACE_STORE | 1 << TW_XTRACE_SVCARG |
	                                 1 << TW_XTRACE_SYSCALL_VEC | 1 << TW_XTRACE_SVCRET;
	if (!(accesses >> checker->last & 1))
		REPORT(checker, XTRACE_TIME_ALONE, offset, "TIME %" PRIu64 " follows a token %s.", token->value,
		       tw_xtrace_kind_name(checker->last));
	if (checker->ordered && token->value <= checker->order)
		REPORT(checker, XTRACE_TIME_ORDER, offset, "TIME %" PRIu64 " comes after %" PRIu64 ".", token->value,
		       checker->order);
	checker->ordered_tracks += !checker->ordered;
	checker->ordered = true;
	checker->order = token->value;
}

static void take_value(struct xtrace_checker *checker, const struct tw_xtrace_token *token, uint64_t offset)
{
	struct xtrace_step *step = &checker->step;
	const uint64_t flags = UINT64_C(0xf) << 28;
	switch ((unsigned)token->kind) {
	case TW_XTRACE_TARGET_B:
		step->target = token->value;
		break;
	case TW_XTRACE_STXR:
		step->status = token->value;
		break;
	case TW_XTRACE_SVCARG:
		step->number = step->arguments ? step->number : token->value;
		step->arguments = (uint8_t)(step->arguments < UINT8_MAX ? step->arguments + 1 : UINT8_MAX);
		break;
	case TW_XTRACE_SVCRET:
		checker->waits = false;
		break;
	case TW_XTRACE_ALLGPR:
		checker->changed = true;
		break;
	case TW_XTRACE_MISC_FLAGS:
		if (token->value & ~flags)
			REPORT(checker, XTRACE_FLAGS_RESERVED, offset, "The flags are 0x%" PRIx64 ".", token->value);
		break;
	case TW_XTRACE_TIME:
		take_time(checker, token, offset);
		break;
	}
}

/* Before the first instruction, and behind a gap, tokens may belong to one that is not there. */
static void judge_kind(const struct xtrace_checker *checker, const struct tw_xtrace_token *token, uint64_t offset)
{
	const struct xtrace_step *step = &checker->step;
	bool access = token->kind == TW_XTRACE_LOAD || token->kind == TW_XTRACE_STORE;
	bool returned = token->kind == TW_XTRACE_SVCRET && checker->waits;
	if (!step->has_pc || step->operation->may >> token->kind & 1 || returned || token->kind == TW_XTRACE_TIME)
		return;
	REPORT(checker, access ? XTRACE_ACCESS_UNEXPECTED : XTRACE_VALUE_UNEXPECTED, offset,
	       "A token %s follows opcode 0x%08" PRIx32 " at 0x%" PRIx64 ".", tw_xtrace_kind_name(token->kind),
	       step->operation->opcode, step->pc);
}

/* Behind the last instruction before a gap or the end. */
static void finish_last(struct xtrace_checker *checker)
{
	checker->is_last = true;
	finish(checker, true);
	checker->is_last = false;
}

static void take_gap(struct xtrace_checker *checker)
{
	finish_last(checker);
	checker->step = (struct xtrace_step){.operation = &nothing};
	checker->waits = checker->armed = false;
	checker->changed = checker->torn = true;
}

void xtrace_check_token(struct xtrace_checker *checker, const struct xtrace_cursor *cursor,
                        const struct tw_xtrace_token *token)
{
	struct xtrace_step *step = &checker->step;
	if (token->kind == TW_XTRACE_INST || token->kind == TW_XTRACE_PCINST) {
		take_instruction(checker, token, cursor->offset);
	} else if (token->kind == TW_XTRACE_UNKNOWN) {
		take_gap(checker);
	} else {
		judge_kind(checker, token, cursor->offset);
		if (token->kind == TW_XTRACE_LOAD || token->kind == TW_XTRACE_STORE)
			take_access(step, token->kind == TW_XTRACE_STORE, token->value, token->payload_size);
		else
			take_value(checker, token, cursor->offset);
		step->seen |= (uint16_t)(1 << token->kind);
	}
	checker->last = token->kind;
}

/* ---- The fast path. ---- */

/* Whether an instruction comes by itself at a PC, and nothing else is to be said. */
static inline bool comes(const struct xtrace_checker *checker, uint64_t pc, bool told)
{
	const struct xtrace_step *step = &checker->step;
	const struct xtrace_operation *operation = step->operation;
	uint64_t next = step->pc + WORD, target = xtrace_target(operation, step->pc);
	bool ahead = pc == next && (operation->flow == XTRACE_NEXT || operation->flow == XTRACE_BRANCH);
	bool away = told && pc == target && operation->flow >= XTRACE_JUMP && operation->flow <= XTRACE_BRANCH;
	return (ahead || away) && step->has_pc && step->level == 0 && !checker->waits && is_done(step);
}

/* An access that the instruction may make; its size, 0 where it may not. */
static inline size_t run_access(struct xtrace_checker *checker, const uint8_t *p)
{
	enum { STORES = 8, HEAD = 9, POWER_MOST = 8 };
	struct xtrace_step *step = &checker->step;
	bool stores = *p & STORES;
	unsigned power = *p >> 4;
	unsigned kind = stores ? TW_XTRACE_STORE : TW_XTRACE_LOAD;
	if (power > POWER_MOST || !(step->operation->may >> kind & 1))
		return 0;
	take_access(step, stores, tw_load64(p + 1, false), 1u << power);
	step->seen |= (uint16_t)(1 << kind);
	checker->last = kind;
	return HEAD + ((size_t)1 << power);
}

static inline size_t run_instruction(struct xtrace_checker *checker, const uint8_t *p, uint64_t offset)
{
	enum { INST_SIZE = 5, PCINST_SIZE = 13 };
	struct xtrace_step *step = &checker->step;
	bool told = *p == XTRACE_PCINST;
	uint64_t pc = told ? tw_load64(p + 1, false) : step->pc + WORD;
	if (!comes(checker, pc, told))
		return 0;
	size_t size = told ? PCINST_SIZE : INST_SIZE;
	step->pc = pc;
	begin_step(checker, tw_load32(p + size - WORD, false), 0, offset);
	checker->trail = NULL;
	checker->changed = false;
	checker->last = told ? TW_XTRACE_PCINST : TW_XTRACE_INST;
	return size;
}

/* ---- Trails: instructions that come as they did before, and were judged then. ---- */

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

/* What does not depend on addresses is judged once: an access that is alone in its step is not looked at again, but in
 * the last, which ends with what comes behind it. */
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

static size_t admit(void *context, struct xtrace_draft *draft)
{
	struct xtrace_checker *checker = context;
	size_t count = 0, access = 0;
	for (; count < draft->step_count; count++) {
		struct xtrace_step step = {
		    .operation = xtrace_find_operation(&checker->drafted, draft->steps[count]),
		};
		size_t first = access;
		bool last = count + 1 == draft->step_count;
		if (!take_draft(&step, draft, count, &access) || !(last || is_done(&step)))
			break;
		for (size_t i = first; i < access; i++)
			draft->accesses[i].mark = (uint32_t)most_of(step.operation);
	}
	drop_accesses(draft, count);
	return count;
}

/* Whether several accesses of a step are together. */
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
	begin_step(checker, trail->last, 0, offset + trail->last_at);
	checker->count += steps - 1;
	checker->user += steps - 1;
	checker->changed = false;
	checker->last = steps == 1 && *p == XTRACE_PCINST ? TW_XTRACE_PCINST : TW_XTRACE_INST;
	step->pc = trail->pc + (uint64_t)(steps - 1) * WORD;
	for (; access < end; access++) {
		if (access->step != steps - 1)
			continue;
		take_access(step, access->stores, tw_load64(p + access->at, false), access->size);
		checker->last = access->stores ? TW_XTRACE_STORE : TW_XTRACE_LOAD;
		step->seen |= (uint16_t)(1 << checker->last);
	}
	trail->count++;
	checker->trail = trail;
}

/* Takes a trail, which is held up to `end`, or gives 0. */
static inline size_t run_trail(struct xtrace_checker *checker, const uint8_t *p, const uint8_t *held_end,
                               const uint8_t *end, uint64_t offset)
{
	const struct xtrace_step *step = &checker->step;
	bool told = *p == XTRACE_PCINST;
	uint64_t next = step->pc + WORD, pc = told ? tw_load64(p + 1, false) : next;
	if (!told && !checker->trail && step->operation->flow == XTRACE_NEXT)
		return 0;
	struct xtrace_trail *trail =
	    xtrace_trails_find(&checker->trails, checker->trail, p, (size_t)(held_end - p), pc, pc == next);
	if (!trail || trail->size > end - p || !comes(checker, pc, told) || !are_together(trail, p))
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

/* ---- Snapshots. ---- */

static void judge_counters(const struct xtrace_checker *checker, const struct xtrace_snapshots *snapshots)
{
	const struct tw_xtrace_snapshot *snapshot = &snapshots->last;
	uint64_t count = checker->count - checker->counted, user = checker->user - checker->counted_user;
	uint64_t says = snapshot->count - checker->snapshot_count,
		 says_user = snapshot->user_count - checker->snapshot_user;
	if (count != says || user != says_user)
		xtrace_report(checker->files, true, XTRACE_SNAPSHOT_COUNT, snapshots->offset, snapshots->offset + 16,
		              "Since the snapshot before there are %" PRIu64 " instructions (%" PRIu64
		              " of user mode), and the counters grow by %" PRIu64 " (%" PRIu64 ").",
		              count, user, says, says_user);
}

void xtrace_check_snapshot(struct xtrace_checker *checker, const struct xtrace_snapshots *snapshots, bool lands)
{
	const struct tw_xtrace_snapshot *snapshot = &snapshots->last;
	if (!lands) {
		xtrace_report(checker->files, true, XTRACE_SNAPSHOT_INDEX, snapshots->offset, snapshots->offset + 8,
		              "No instruction begins at %s %" PRIu64 " of the data file.",
		              checker->files->layout.counts_index ? "number" : "offset", snapshot->index);
		return;
	}
	if (checker->has_snapshot && !checker->torn)
		judge_counters(checker, snapshots);
	checker->has_snapshot = true;
	checker->torn = false;
	checker->snapshot_count = snapshot->count;
	checker->snapshot_user = snapshot->user_count;
	checker->counted = checker->count;
	checker->counted_user = checker->user;
}

/* ---- A track. ---- */

/* The window stands at its beginning. */
static void judge_header(const struct xtrace_files *files)
{
	enum { FIELDS_END = 19 };
	const struct tw_window *window = &files->snapshot_window;
	uint8_t size = files->layout.header_size;
	if (!files->has_layout || size <= FIELDS_END || window->used < size ||
	    !tw_any_set(window->bytes + FIELDS_END, size - (size_t)FIELDS_END))
		return;
	xtrace_report(files, true, XTRACE_HEADER_RESERVED, 0, FIELDS_END,
	              "The %d bytes behind the header's fields are not all 0.", size - FIELDS_END);
}

void xtrace_check_free(struct xtrace_checker *checker)
{
	if (checker)
		xtrace_trails_free(&checker->trails);
	free(checker);
}

void xtrace_check_begin(struct xtrace_checker *checker, struct xtrace_files *files)
{
	checker->files = files;
	checker->trails.operations = &checker->drafted;
	checker->trails.admit = admit;
	checker->trails.context = checker;
	checker->trails.limit = tw_memory_limit(files->reader) / TRAILS_SHARE;
	checker->step = (struct xtrace_step){.operation = &nothing};
	checker->waits = checker->armed = checker->ordered = false;
	checker->changed = true;
	checker->is_last = false;
	checker->last = TW_XTRACE_UNKNOWN;
	checker->count = checker->user = 0;
	checker->has_snapshot = checker->torn = false;
	judge_header(files);
	if (files->track->data && !files->track->snapshots)
		xtrace_report(files, false, XTRACE_SNAPSHOTS_MISSING, 0, 0, "There is no snapshot file beside it.");
	if (files->track->snapshots && !files->track->data)
		xtrace_report(files, true, XTRACE_DATA_MISSING, 0, 0, "There is no data file beside it.");
}

void xtrace_check_end(struct xtrace_checker *checker)
{
	finish_last(checker);
}
