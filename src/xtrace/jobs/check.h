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

struct xtrace_checker {
	struct xtrace_files *files;
	struct xtrace_operations operations;
	struct xtrace_operations drafted; /* for drafts of trails, so that the step's stays valid */
	struct xtrace_trails trails; /* trails in which nothing is wrong; what comes behind them is judged each time */
	struct xtrace_trail *trail;  /* the last one that was met; NULL: none since an instruction alone */
	struct xtrace_step step;
	bool is_last; /* what follows the instruction may have been cut off */
	bool changed; /* ALLGPR was met since the last instruction */
	struct {
		bool waits; /* a system call has not returned: */
		uint64_t pc, number;
	} call;
	struct {
		bool armed;       /* an exclusive load has no store yet: */
		uint64_t address; /* of it */
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
		uint64_t count, user;           /* its counters */
		uint64_t counted, counted_user; /* instructions before it, as counted here */
	} snapshot;                             /* the last */
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

/* Ends the track. */
void xtrace_check_end(struct xtrace_checker *checker);

void xtrace_check_free(struct xtrace_checker *checker);

/* Checks the TIMEs of all tracks against each other. Returns 0 or a negative status. */
int xtrace_check_order(struct tw_reader *reader);

/* Compares the headers of all tracks. Returns 0 or a negative status. */
int xtrace_check_headers(struct tw_reader *reader);

#endif
