/* walk.h - a command's way through its files: open, read, tell what was found, show. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_FILES_WALK_H
#define CLI_FILES_WALK_H

#include "cli/command.h"
#include "cli/files/findings.h"
#include "cli/files/who.h"

#include <trackway/reader.h>

/* What a command does with each of its files. */
struct tw_walk {
	const struct tw_common *common;
	struct tw_read_options options; /* set before tw_walk(): what the command wants beside the common options */
	bool filter_slices;             /* --function and --min-duration are the reader's work, not the command's */
	bool all_threads;               /* --thread is the command's work: the reader gives all, `chosen` tells which */
	bool all_times;                 /* the same of --from-time and --to-time */
	bool nameless;         /* functions are not shown: a list of names beside the trace is not opened unasked */
	bool in_part;          /* nameless, and a part is written: functions of several logs have their names in it */
	bool together;         /* the files are summed: calls that a forked process has written again count once */
	bool quiet;            /* no progress line: the command writes while it reads */
	bool allocations;      /* it tells of allocations, whatever the weight: where they are estimates it is said */
	bool own_findings;     /* the command lists the findings itself, in show */
	bool filters_findings; /* and it filters them itself (tw_findings_filter), which also decides the exit status */
	struct tw_findings findings;   /* of the file that is open */
	struct tw_read_options chosen; /* which threads --thread and --process choose in it: nothing else of these */
	struct tw_who who;             /* and what that points to; with all_threads the command's to free */
	void *context;                 /* the command's */
	size_t readable;               /* afterwards: how many of the files could be opened and read */

	/* Uses up the reader. Returns enum tw_exit, or a negative status, which the reader explains. */
	int (*read)(struct tw_walk *walk, struct tw_reader *reader, const char *path);

	/* Shows the file after the progress line is gone, unless reading failed; the reader is still open. NULL:
	 * nothing to show. Returns enum tw_exit. */
	int (*show)(struct tw_walk *walk, struct tw_reader *reader, const char *path);
};

enum { TW_FINDINGS_SHOWN = 10 }; /* of each rule, on standard error */

/* The parts of tw_walk(), for commands that read in another way. Fills in what the common options ask for, but the
 * names and what to do with findings. */
void tw_take_options(const struct tw_common *common, bool filter_slices, struct tw_read_options *options);

/* Tells findings on standard error. Returns 0, or TW_EXIT_FAILED where there was no memory for all of them. */
int tw_say_findings(const struct tw_findings *findings, const char *path);

/* A time of the trace, since its start. */
uint64_t tw_since_start(const struct tw_reader *reader, uint64_t time);

/* Goes through the files; a bad one is reported and left out. Returns the worst exit status. */
int tw_walk(struct tw_walk *walk, char **paths, size_t count);

#endif
