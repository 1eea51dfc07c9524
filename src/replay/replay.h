/* replay.h - instructions executed again, from a snapshot on, and compared with what was recorded. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef REPLAY_REPLAY_H
#define REPLAY_REPLAY_H

#include <trackway/xtrace.h>

/* What is executed again: tokens from a snapshot up to the next. */
struct replay_part {
	const uint8_t *tokens;
	size_t size;
	uint64_t offset; /* of the tokens in their file */
	const struct tw_xtrace_snapshot *start;
	bool has_before; /* the first token is an INST, and the PC of the instruction before it is known: */
	uint64_t before;
};

enum replay_end {
	REPLAY_SAME,       /* to the end */
	REPLAY_DIFFERENT,  /* see the difference */
	REPLAY_DAMAGED,    /* there is no token at the offset, or too few follow; up to there it was the same */
	REPLAY_RETURNED,   /* a signal that came before the snapshot returns: what it interrupted is not known */
	REPLAY_KERNEL,     /* it begins in the kernel; or another task than its own goes on behind it */
	REPLAY_SCALABLE,   /* up to an instruction of SVE, which the emulator does not know */
	REPLAY_IMPOSSIBLE, /* it could not begin: `what` tells why */
	REPLAY_NO_MEMORY   /* the same: there was no memory for it */
};

struct replay_result {
	enum replay_end end;
	uint64_t instructions; /* that were the same */
	uint64_t left_out;     /* of user mode, from the first of SVE on */
	uint64_t offset;       /* in the file: of the instruction that differs, or where it ended */
	uint64_t pc;
	uint32_t opcode;
	char what[64], expected[64], found[64];
	uint64_t x[TW_XTRACE_REGISTERS]; /* before the block in which they differ ends */
};

/* Executes a part. */
void replay_run(const struct replay_part *part, struct replay_result *result);

#endif
