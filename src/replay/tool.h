/* tool.h - the instructions of a file executed again, by several threads, for the command line tool. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef REPLAY_TOOL_H
#define REPLAY_TOOL_H

#include "replay/replay.h"

enum { REPLAY_TEXT = 200 };

/* How files are laid out, and how much of them is executed. */
struct replay_request {
	const char *temporary_directory; /* for what is compressed; NULL: /tmp */
	struct tw_xtrace_layout layout;  /* as far as it is known: enum tw_xtrace_known */
	unsigned known;
	uint64_t snapshots; /* how many to begin at, spread evenly over a file; 0: all */
	unsigned jobs;      /* threads; 0: as many as there are processors */
};

/* What came of a file. */
struct replay_summary {
	uint64_t snapshots; /* that were begun at */
	uint64_t instructions, different;
	uint64_t returned;           /* how many parts end at the return of a signal that came before they began */
	uint64_t kernel;             /* how many end where the kernel goes to another task, or begin in it */
	uint64_t scalable;           /* how many end before an instruction of SVE */
	uint64_t left_out;           /* instructions of theirs from that one on */
	bool no_memory;              /* for some part: whether it differs is not known */
	size_t first;                /* the first part that did not end as recorded; SIZE_MAX: none */
	struct replay_result result; /* of the first */
};

/* Loads the emulator, and takes a layout as --xtrace-layout tells it (NULL: nothing is known). Each returns NULL, or
 * what is missing or wrong, in words. Call them before there are threads. */
const char *replay_load(void);
const char *replay_take_layout(struct replay_request *request, const char *text);

/* Whether parts are being executed: where the emulator gets no memory it ends the program. */
bool replay_is_running(void);

/* Lists the files of a directory that can be executed, in order. Returns how many, or -1 with errno. The caller frees
 * each, and the list. */
int replay_list(const char *directory, char ***files);

/* Executes a file. Returns NULL, or what is wrong with it. */
const char *replay_file_run(const char *path, const struct replay_request *request, struct replay_summary *summary);

/* Writes the instruction that differs as text. */
void replay_disassemble(const struct replay_result *result, char text[static REPLAY_TEXT + 1]);

#endif
