/* check.c - whether tokens fit what the instructions before them do, and instructions fit each other. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "xtrace/check_step.h"
#include "xtrace/layout.h"
#include "xtrace/walk/calls.h"

#include <inttypes.h>
#include <stdlib.h>

enum { ARGUMENTS = 7, TRAILS_SHARE = 8 /* of the memory limit */ };

/* Stands for the instruction before the first one. */
static const struct xtrace_operation nothing = {0};

#define REPORT(checker, rule, at, ...) xtrace_report((checker)->files, false, rule, at, at, __VA_ARGS__)
#define NOTE(checker, rule, at, ...) xtrace_check_note(checker, false, rule, at, __VA_ARGS__)

/* ---- Where the PC goes. ---- */

/* Whether a system call of Linux does not come back, or somewhere else. */
static bool is_without_return(uint64_t number)
{
	enum { EXIT = 93, EXIT_GROUP = 94, SIGRETURN = 139, EXECVE = 221, EXECVEAT = 281 };
	return number == EXIT || number == EXIT_GROUP || number == SIGRETURN || number == EXECVE || number == EXECVEAT;
}

/* Whether a recording begins once more at an instruction, which does not come behind the one before: a snapshot is just
 * there, and all registers were told. */
static bool begins_anew(const struct xtrace_checker *checker)
{
	return checker->changed && checker->snapshot.any && checker->snapshot.counted == checker->count;
}

/* Nothing of what was open can be known to have ended. */
static void leave_out(struct xtrace_checker *checker, uint64_t offset, uint64_t pc)
{
	NOTE(checker, XTRACE_LEFT_OUT, offset, "The PC goes from 0x%" PRIx64 " to 0x%" PRIx64 ".", checker->step.pc,
	     pc);
	checker->monitor.unknown = true;
	checker->call_count = checker->interrupted_count = 0;
}

/* Judges where the PC goes. Returns whether the instruction before was interrupted, so that it may have done only a
 * part. */
static bool judge_jump(struct xtrace_checker *checker, uint64_t offset, uint64_t pc, uint8_t level)
{
	const struct xtrace_step *step = &checker->step;
	enum xtrace_rule rule;
	if (xtrace_step_leads(step, pc, &rule))
		return false;
	bool enters = level != step->level; /* enters or leaves the kernel */
	bool returns = step->operation->flow == XTRACE_SYSTEM_CALL && is_without_return(step->number);
	if (checker->changed) /* a signal, or the target faulted */
		rule = XTRACE_PC_JUMP;
	bool falls = step->operation->flow == XTRACE_EXCEPTION_RETURN && xtrace_is_lower_vector(pc, level);
	if (falls && !enters)
		xtrace_check_returned(checker);
	if (!enters && (falls || xtrace_is_vector(pc, level)))
		xtrace_check_interrupt(checker, rule, offset, pc);
	else if (!enters && begins_anew(checker))
		leave_out(checker, offset, pc);
	else if (!enters && !returns)
		xtrace_check_report_jump(checker, step, rule, offset, pc);
	return true;
}

static void judge_straight(const struct xtrace_checker *checker, uint64_t offset)
{
	const struct xtrace_step *step = &checker->step;
	enum xtrace_rule rule;
	bool always = step->operation->flow != XTRACE_SYSTEM_CALL && step->operation->flow != XTRACE_NEXT;
	if (always && !xtrace_step_leads(step, step->pc + XTRACE_WORD, &rule))
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
		checker->monitor.armed = step->loaded > 0;
		checker->monitor.unknown = false;
		checker->monitor.address = step->low;
		return;
	}
	bool armed = checker->monitor.armed && (!step->stored || step->low == checker->monitor.address);
	armed |= checker->monitor.unknown;
	checker->monitor.armed = checker->monitor.unknown = false;
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
	if (!(step->seen & 1 << TW_XTRACE_SVCRET) && step->arguments && !is_without_return(step->number))
		xtrace_check_call(checker);
}

/* ---- A whole instruction. ---- */

static void report_missing(const struct xtrace_checker *checker)
{
	const struct xtrace_step *step = &checker->step;
	unsigned missing = step->operation->needs & ~(unsigned)step->seen;
	REPORT(checker, XTRACE_VALUE_MISSING, step->offset, "Expected a token %s after opcode 0x%08" PRIx32 ".",
	       tw_xtrace_kind_name((unsigned)__builtin_ctz(missing)), step->operation->opcode);
}

/* Judges instructions that xtrace_step_is_done() is not enough for: with accesses that differ from their opcode, with
 * other tokens, or of system calls. */
static void judge_rare(struct xtrace_checker *checker, bool interrupted)
{
	const struct xtrace_step *step = &checker->step;
	const struct xtrace_operation *operation = step->operation;
	if (step->loaded != operation->load || step->stored != operation->store ||
	    step->high - step->low > xtrace_step_most(operation) || operation->traits & XTRACE_LITERAL)
		judge_accesses(checker, interrupted);
	if (operation->needs & ~step->seen && !interrupted)
		report_missing(checker);
	if (operation->traits & XTRACE_STATES_FLAGS && !(step->seen & 1 << TW_XTRACE_MISC_FLAGS) && !interrupted)
		NOTE(checker, XTRACE_FLAGS_MISSING, step->offset, "Opcode 0x%08" PRIx32 " has no MISC_FLAGS.",
		     operation->opcode);
	if (operation->traits & (XTRACE_LOAD_EXCLUSIVE | XTRACE_STORE_EXCLUSIVE))
		judge_exclusive(checker);
	judge_call(checker);
}

static void finish(struct xtrace_checker *checker, bool interrupted)
{
	if (checker->step.has_pc && !xtrace_step_is_done(&checker->step))
		judge_rare(checker, interrupted);
}

static void judge_level(struct xtrace_checker *checker, uint64_t offset, uint8_t level)
{
	const struct xtrace_step *step = &checker->step;
	if (step->has_pc && level != step->level && !checker->changed)
		NOTE(checker, XTRACE_LEVEL_REGISTERS, offset, "Expected ALLGPR between EL%u and EL%u.", step->level,
		     level);
	checker->changed = false;
}

/* Finds the PC of the next instruction, judges the way there, and ends the instruction before. */
static void take_pc(struct xtrace_checker *checker, const struct tw_xtrace_token *token, uint64_t offset)
{
	struct xtrace_step *step = &checker->step;
	bool states_pc = token->kind == TW_XTRACE_PCINST;
	bool interrupted = false;
	if (states_pc && step->operation->flow == XTRACE_EXCEPTION_RETURN)
		xtrace_check_continued(checker, token->pc);
	if (states_pc && token->pc % XTRACE_WORD)
		REPORT(checker, XTRACE_PC_UNALIGNED, offset, "The PC is 0x%" PRIx64 ".", token->pc);
	if (step->has_pc && states_pc)
		interrupted = judge_jump(checker, offset, token->pc, token->level);
	else if (step->has_pc)
		judge_straight(checker, offset);
	else if (!states_pc && !checker->count)
		REPORT(checker, XTRACE_PC_UNKNOWN, offset, "Expected a PCINST, found an INST.");
	finish(checker, interrupted);
	step->pc = states_pc ? token->pc : step->pc + XTRACE_WORD;
	step->has_pc |= states_pc;
}

static void take_instruction(struct xtrace_checker *checker, const struct tw_xtrace_token *token, uint64_t offset)
{
	take_pc(checker, token, offset);
	judge_level(checker, offset, token->level);
	if (token->level == 0 && checker->call_count)
		xtrace_check_resumed(checker, offset);
	xtrace_begin_step(checker, token->opcode, token->level, offset);
}

/* ---- What follows it. ---- */

/* Tokens that a TIME may follow. */
static const unsigned accesses = 1 << TW_XTRACE_LOAD | 1 << TW_XTRACE_STORE | 1 << TW_XTRACE_SVCARG |
                                 1 << TW_XTRACE_SYSCALL_VEC | 1 << TW_XTRACE_SVCRET;

static void take_time(struct xtrace_checker *checker, const struct tw_xtrace_token *token, uint64_t offset)
{
	if (!(accesses >> checker->last & 1))
		REPORT(checker, XTRACE_TIME_ALONE, offset, "TIME %" PRIu64 " follows a token %s.", token->value,
		       tw_xtrace_kind_name(checker->last));
	if (checker->order.any && token->value <= checker->order.last)
		REPORT(checker, XTRACE_TIME_ORDER, offset, "TIME %" PRIu64 " comes after %" PRIu64 ".", token->value,
		       checker->order.last);
	checker->order.tracks += !checker->order.any;
	checker->order.any = true;
	checker->order.last = token->value;
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
		xtrace_check_result(checker);
		break;
	case TW_XTRACE_ALLGPR:
		checker->changed = true;
		break;
	case TW_XTRACE_MISC_FLAGS:
		if (token->value & ~flags)
			NOTE(checker, XTRACE_FLAGS_RESERVED, offset, "The flags are 0x%" PRIx64 ".", token->value);
		break;
	case TW_XTRACE_TIME:
		take_time(checker, token, offset);
		break;
	}
}

/* Judges whether a token may follow the instruction. Before the first instruction, and behind a gap, any may: it can
 * belong to one that is lost. */
static void judge_kind(struct xtrace_checker *checker, const struct tw_xtrace_token *token, uint64_t offset)
{
	const struct xtrace_step *step = &checker->step;
	bool access = token->kind == TW_XTRACE_LOAD || token->kind == TW_XTRACE_STORE;
	bool returned = token->kind == TW_XTRACE_SVCRET && checker->call_count;
	if (!step->has_pc || step->operation->may >> token->kind & 1 || returned || token->kind == TW_XTRACE_TIME)
		return;
	if (token->kind == TW_XTRACE_STXR && step->operation->traits & XTRACE_LOAD_EXCLUSIVE)
		NOTE(checker, XTRACE_STXR_LOAD, offset, "A token stxr follows opcode 0x%08" PRIx32 " at 0x%" PRIx64 ".",
		     step->operation->opcode, step->pc);
	else
		REPORT(checker, access ? XTRACE_ACCESS_UNEXPECTED : XTRACE_VALUE_UNEXPECTED, offset,
		       "A token %s follows opcode 0x%08" PRIx32 " at 0x%" PRIx64 ".", tw_xtrace_kind_name(token->kind),
		       step->operation->opcode, step->pc);
}

/* Ends the last instruction before a gap or the end, whose tokens may be cut off. */
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
	xtrace_check_left(checker);
	checker->monitor.armed = false;
	checker->call_count = 0;
	checker->changed = checker->snapshot.torn = true;
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
		checker->order.accessed |= accesses >> token->kind & 1;
		if (token->kind == TW_XTRACE_LOAD || token->kind == TW_XTRACE_STORE)
			xtrace_take_access(step, token->kind == TW_XTRACE_STORE, token->value, token->payload_size);
		else
			take_value(checker, token, cursor->offset);
		step->seen |= (uint16_t)(1 << token->kind);
	}
	checker->last = token->kind;
}

/* ---- Snapshots. ---- */

static void judge_counters(const struct xtrace_checker *checker, const struct xtrace_snapshots *snapshots)
{
	const struct tw_xtrace_snapshot *snapshot = &snapshots->last;
	uint64_t count = checker->count - checker->snapshot.counted,
		 user = checker->user - checker->snapshot.counted_user;
	uint64_t says = snapshot->count - checker->snapshot.count,
		 says_user = snapshot->user_count - checker->snapshot.user;
	if (count != says || user != says_user)
		xtrace_report(checker->files, true, XTRACE_SNAPSHOT_COUNT, snapshots->offset, snapshots->offset + 16,
		              "Since the snapshot before there are %" PRIu64 " instructions (%" PRIu64
		              " of user mode), and the counters grow by %" PRIu64 " (%" PRIu64 ").",
		              count, user, says, says_user);
}

/* Judges how many instructions have come since the last snapshot, or since the beginning. offset: where it is told. */
static void judge_spacing(struct xtrace_checker *checker, uint64_t offset)
{
	enum { SPACING = 1000000, SLACK = SPACING / 100 /* until a block begins */ };
	bool of_user = checker->files->header.division == 0;
	uint64_t distance =
	    of_user ? checker->user - checker->snapshot.counted_user : checker->count - checker->snapshot.counted;
	if (distance > SPACING + SLACK && !checker->snapshot.torn)
		xtrace_check_note(checker, true, XTRACE_SNAPSHOT_SPACING, offset,
		                  "Up to here %" PRIu64 " instructions%s have no snapshot: expected at most %d.",
		                  distance, of_user ? " of user mode" : "", SPACING);
}

void xtrace_check_snapshot(struct xtrace_checker *checker, const struct xtrace_snapshots *snapshots, bool lands)
{
	const struct tw_xtrace_snapshot *snapshot = &snapshots->last;
	checker->snapshot.met++;
	if (!lands) {
		xtrace_snapshots_report_index(snapshots);
		return;
	}
	if (checker->snapshot.any && !checker->snapshot.torn)
		judge_counters(checker, snapshots);
	judge_spacing(checker, snapshots->offset);
	checker->snapshot.any = true;
	checker->snapshot.torn = false;
	checker->snapshot.count = snapshot->count;
	checker->snapshot.user = snapshot->user_count;
	checker->snapshot.counted = checker->count;
	checker->snapshot.counted_user = checker->user;
}

/* ---- A track. ---- */

/* Fields of the header, as the document lists them. */
enum { AT_GLOBAL = 4, AT_DIVISION = 16, AT_STREAM = 17, AT_ORDER = 18 };

/* Judges what the header says. */
static void judge_fields(const struct xtrace_files *files)
{
	const struct tw_xtrace_header *header = &files->header;
	const struct {
		const char *name;
		unsigned at, value;
	} fields[] = {
	    {"division", AT_DIVISION, header->division},
	    {"stream", AT_STREAM, header->stream},
	    {"order", AT_ORDER, header->has_order},
	};
	if (!files->has_header)
		return;
	for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
		if (fields[i].value > 1)
			xtrace_report(files, true, XTRACE_HEADER_VALUE, 0, fields[i].at,
			              "The %s is %u: expected 0 or 1.", fields[i].name, fields[i].value);
	if (!header->stream && files->track->core)
		xtrace_report(files, true, XTRACE_HEADER_STREAM, 0, AT_STREAM,
		              "The header tells of a thread, and the set is of cores.");
}

/* Judges, at the end of a track, whether the header is right about TIMEs. */
static void judge_order(const struct xtrace_checker *checker)
{
	const struct xtrace_files *files = checker->files;
	bool says = files->header.has_order;
	if (!files->has_header || says == checker->order.any || (says && !checker->order.accessed))
		return;
	xtrace_report(files, true, XTRACE_HEADER_ORDER, 0, AT_ORDER, "The header says that there are %s; there are %s.",
	              says ? "TIMEs" : "none", says ? "none" : "TIMEs");
}

/* Judges, at the end of a track, whether the header's global snapshot point is one of the snapshots. */
static void judge_global(const struct xtrace_checker *checker)
{
	const struct xtrace_files *files = checker->files;
	uint64_t met = checker->snapshot.met;
	if (files->has_header && met && files->header.global_snapshot >= met)
		xtrace_report(files, true, XTRACE_HEADER_GLOBAL, 0, AT_GLOBAL,
		              "The global snapshot point is %" PRIu32 "; snapshots are 0 to %" PRIu64 ".",
		              files->header.global_snapshot, met - 1);
}

/* Judges the padding of the header, which the window holds. */
static void judge_padding(const struct xtrace_files *files)
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
	checker->trails.admit = xtrace_check_admit;
	checker->trails.context = checker;
	checker->trails.limit = tw_memory_limit(files->reader) / TRAILS_SHARE;
	checker->step = (struct xtrace_step){.operation = &nothing};
	checker->monitor.armed = checker->monitor.unknown = checker->order.any = false;
	checker->call_count = checker->interrupted_count = 0;
	checker->changed = true;
	checker->is_last = false;
	checker->last = TW_XTRACE_UNKNOWN;
	checker->count = checker->user = 0;
	checker->snapshot.any = checker->snapshot.torn = false;
	checker->snapshot.met = 0;
	checker->snapshot.counted = checker->snapshot.counted_user = 0;
	checker->order.accessed = false;
	judge_padding(files);
	judge_fields(files);
	if (files->track->shares_number && files->track->name.hint != 9)
		xtrace_report(files, false, XTRACE_NUMBER_TWICE, 0, 0,
		              "Hint 9 has a stream of number %" PRIu64 ", too.", files->track->name.number);
	if (files->track->data && !files->track->snapshots)
		xtrace_report(files, false, XTRACE_SNAPSHOTS_MISSING, 0, 0, "There is no snapshot file beside it.");
	if (files->track->snapshots && !files->track->data)
		xtrace_report(files, true, XTRACE_DATA_MISSING, 0, 0, "There is no data file beside it.");
}

void xtrace_check_end(struct xtrace_checker *checker)
{
	finish_last(checker);
	xtrace_check_left(checker);
	judge_order(checker);
	judge_global(checker);
	if (checker->files->has_layout && checker->files->data)
		judge_spacing(checker, tw_input_size(checker->files->snapshots));
	xtrace_check_report_notes(checker);
}
