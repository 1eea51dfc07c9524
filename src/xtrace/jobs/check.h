/* check.h - the rules that need more than one token. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XTRACE_JOBS_CHECK_H
#define XTRACE_JOBS_CHECK_H

#include "xtrace/walk/trail.h"
#include "xtrace/xtrace.h"

/* An instruction, and what its tokens have told so far. */
struct xtrace_step {
	const struct xtrace_operation *operation; /* what the opcode does */
	uint64_t offset, pc;
	bool has_pc; /* the PC is known; otherwise there is no instruction yet */
	uint8_t level;
	uint16_t seen;           /* kinds: 1 << enum tw_xtrace_kind */
	uint8_t arguments;       /* SVCARG */
	uint32_t loaded, stored; /* bytes */
	uint64_t low, high;      /* of all accesses: from, to */
	uint64_t target, status; /* TARGET_B, STXR */
	uint64_t number;         /* of the system call */
};

/* A system call that has not returned. */
struct xtrace_open_call {
	uint64_t back; /* where it returns to */
	uint64_t offset, number;
};

/* An instruction behind which an exception came that left the level as it is. Where it leads is judged by where an
 * ERET goes. */
struct xtrace_interrupted {
	struct xtrace_step step;
	struct xtrace_operation operation; /* the step's */
	enum xtrace_rule rule;             /* that is broken if no ERET comes back */
	uint64_t offset, pc;               /* of the exception */
};

enum { XTRACE_NOTE_TEXT = 160 };

/* Notes of a rule in a track. */
struct xtrace_notes {
	uint64_t count;
	uint64_t offset;             /* of the first, */
	bool snapshots;              /* which is in the snapshot file, */
	char text[XTRACE_NOTE_TEXT]; /* and its text */
};

enum { XTRACE_OPEN_CALLS = 64, XTRACE_INTERRUPTED = 16 };

struct xtrace_checker {
	struct xtrace_files *files;
	struct xtrace_operations operations;
	struct xtrace_operations drafted; /* for drafts of trails, so that the step's stays valid */
	struct xtrace_trails trails; /* trails in which nothing is wrong; what comes behind them is judged each time */
	struct xtrace_trail *trail;  /* the last one that was met; NULL: none since an instruction alone */
	struct xtrace_step step;
	bool is_last;                                     /* what follows the instruction may have been cut off */
	bool changed;                                     /* ALLGPR was met since the last instruction */
	struct xtrace_open_call calls[XTRACE_OPEN_CALLS]; /* of all tasks, the newest last */
	size_t call_count;
	struct xtrace_interrupted interrupted[XTRACE_INTERRUPTED];
	size_t interrupted_count;
	struct {
		bool armed;       /* an exclusive load has no store yet: */
		uint64_t address; /* of it */
		bool unknown;     /* it may have been left out */
	} monitor;
	struct {
		bool any; /* a TIME was met: */
		uint64_t last;
		bool accessed; /* there was an access, or a token of a system call, that could have one */
		size_t tracks; /* that have TIMEs */
	} order;
	unsigned last;        /* kind of the token before */
	uint64_t count, user; /* instructions so far */
	struct {
		bool any, torn;                 /* torn: a gap was met behind it */
		uint64_t met;                   /* how many came */
		uint64_t count, user;           /* its counters */
		uint64_t counted, counted_user; /* instructions before it, as counted here */
	} snapshot;                             /* the last */
	struct xtrace_notes notes[XTRACE_RULES];
};

/* Begins a track. The checker is all zero before the first. */
void xtrace_check_begin(struct xtrace_checker *checker, struct xtrace_files *files);

/* Takes tokens as long as they are instructions and accesses with nothing wrong, which most are. until: offset to stop
 * at. */
void xtrace_check_run(struct xtrace_checker *checker, struct xtrace_cursor *cursor, uint64_t until);

/* Takes a token of any kind. */
void xtrace_check_token(struct xtrace_checker *checker, const struct xtrace_cursor *cursor,
                        const struct tw_xtrace_token *token);

/* Takes a snapshot whose index was reached; the instructions before it have been taken. lands: an instruction begins
 * there. */
void xtrace_check_snapshot(struct xtrace_checker *checker, const struct xtrace_snapshots *snapshots, bool lands);

/* ---- check_flow.c: where the PC goes. ---- */

/* Whether an instruction at `pc` may come after a step without an interrupt in between. *rule: the rule that is broken
 * if not. */
bool xtrace_step_leads(const struct xtrace_step *step, uint64_t pc, enum xtrace_rule *rule);

/* Reports that a step led to a PC that it does not lead to. */
void xtrace_check_report_jump(struct xtrace_checker *checker, const struct xtrace_step *step, enum xtrace_rule rule,
                              uint64_t offset, uint64_t pc);

/* ---- check_notes.c: notes, of which one of a kind is reported. ---- */

/* Takes a note at an offset of the data file, or of the snapshot file. */
void xtrace_check_note(struct xtrace_checker *checker, bool snapshots, enum xtrace_rule rule, uint64_t offset,
                       const char *format, ...) __attribute__((format(printf, 5, 6)));

/* Tells, at the end of a track, the first of each kind and how many there are. */
void xtrace_check_report_notes(struct xtrace_checker *checker);

/* ---- check_kernel.c: what the kernel interrupts, and what it returns to. ---- */

/* Takes a system call whose tokens have no result. */
void xtrace_check_call(struct xtrace_checker *checker);

/* Takes an SVCRET: of the last call, or, behind an ERET, of that where it goes, which the next instruction shows. */
void xtrace_check_result(struct xtrace_checker *checker);

/* Behind the step, an ERET, an exception comes before the program could go on. */
void xtrace_check_returned(struct xtrace_checker *checker);

/* An instruction of the program comes, at the step's new PC: tells the call that it shows to be without a result. */
void xtrace_check_resumed(struct xtrace_checker *checker, uint64_t offset);

/* The step was interrupted by an exception at `pc` that left the level as it is. */
void xtrace_check_interrupt(struct xtrace_checker *checker, enum xtrace_rule rule, uint64_t offset, uint64_t pc);

/* The step, an ERET, goes to a PC: what was interrupted and leads there has been continued. */
void xtrace_check_continued(struct xtrace_checker *checker, uint64_t pc);

/* Tells what was interrupted and never continued. */
void xtrace_check_left(struct xtrace_checker *checker);

/* Ends the track. */
void xtrace_check_end(struct xtrace_checker *checker);

void xtrace_check_free(struct xtrace_checker *checker);

/* Checks the TIMEs of all tracks against each other. Returns 0 or a negative status. */
int xtrace_check_order(struct tw_reader *reader);

/* Compares the headers of all tracks. Returns 0 or a negative status. */
int xtrace_check_headers(struct tw_reader *reader);

#endif
