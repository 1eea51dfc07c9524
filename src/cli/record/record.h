/* record.h - what `record` and the recorders behind it share. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_RECORD_RECORD_H
#define CLI_RECORD_RECORD_H

#include "cli/command.h"
#include "cli/options/options.h"

#include <limits.h>
#include <sys/types.h>

/* All options. Each recorder takes its own; `record` refuses those of the others. */
struct tw_record_options {
	struct tw_common common;
	const char *to, *output;
	/* xtrace */
	const char *cpu, *sysroot, *qemu, *plugin;
	uint64_t interval;
	bool from_hint, force;
	/* xray-fdr */
	const char *library, *clock;
	uint64_t max_size, ring; /* max_size: fxt, too */
	uint64_t min_duration, max_depth;
	struct tw_list only, never; /* functions */
	/* fxt */
	const char *mode, *stop_on;
	struct tw_list categories;
	uint64_t buffer_size, duration, after, attach;
	bool in_memory, sched;
};

/* One format that programs are recorded to. */
struct tw_recorder {
	const char *format;                                                              /* as --to has it */
	const struct tw_option_group *group;                                             /* its options */
	bool finds_programs;                                                             /* it may be given none */
	int (*run)(const struct tw_record_options *options, char **words, size_t count); /* returns enum tw_exit */
};
extern const struct tw_recorder tw_record_xtrace, tw_record_flight, tw_record_fxt;
extern const struct tw_option_group tw_record_xtrace_options, tw_record_flight_options, tw_record_fxt_options;

#define TW_RECORD_MEMBER(name) .offset = offsetof(struct tw_record_options, name)

/* ---- program.c ---- */

/* A program that is recorded. */
struct tw_program {
	/* Becomes the program, in the new process; returns only where that fails. */
	void (*become)(const void *context);
	const void *context;
	const char *name;
	pid_t pid;
	int status; /* as of wait() */
};

/* Runs a program to its end, and what it leaves running. Signals for us end the program. Returns 0, or TW_EXIT_FAILED
 * after saying why it could not be run. */
int tw_program_run(struct tw_program *program);

/* As execvp() looks for a program. */
bool tw_program_find(const char *name, char path[PATH_MAX]);

/* Finds a file that came with the tool, which recorders give to programs: beside the tool, as it is built, or where
 * it is installed to, seen from the tool. */
bool tw_program_part(const char *name, char path[PATH_MAX]);

#endif
