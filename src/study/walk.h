/* walk.h - a track's instructions with their accesses, in batches, each place decoded once. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef STUDY_WALK_H
#define STUDY_WALK_H

#include "core/budget.h"
#include "study/class.h"
#include "xtrace/walk/calls.h"
#include "xtrace/walk/trail.h"

/* A place: an opcode at an address. Number 0 is all that there was no room for, or whose address is not known. */
struct study_site {
	uint64_t pc;
	uint32_t opcode;
	uint32_t next; /* the place behind it, where that was met; 0 otherwise */
	uint32_t function;
	uint32_t program; /* of struct xtrace_names */
	uint8_t flow;     /* enum xtrace_flow */
	uint8_t class;    /* enum study_class */
	uint64_t count;
};

/* Places by program, address and opcode, and the names of functions. */
struct study_sites {
	struct tw_budget *budget;
	struct study_site *items;
	size_t count, room;
	struct tw_map map;
	struct tw_dictionary *names; /* borrowed */
	struct xtrace_operations operations;
};

/* The begin of a basic block. */
struct study_block {
	uint32_t site;
	uint32_t before; /* the place of the instruction before; 0 where that is not known */
	uint16_t step;
};

struct study_access {
	uint64_t address;
	uint32_t site;
	uint16_t step; /* index of its instruction in the batch; of one in the batch before: 0 */
	uint16_t size; /* bytes: tokens of an instruction that continue each other are one access */
};

enum { STUDY_STORE = 1 << 15, STUDY_SIZE = STUDY_STORE - 1 }; /* of study_access.size */

/* A change of the stack at a step: so many calls end before it, and one may begin with it. */
struct study_call_change {
	uint16_t step, ends;
	bool begins;
	bool resumed; /* the call that begins has begun before: the kernel goes back to its task */
	uint32_t name;
};

/* Any other token. */
struct study_note {
	uint64_t value;
	uint32_t site;
	uint16_t step;
	uint8_t kind;                          /* enum tw_xtrace_kind */
	uint64_t part_base[2], part_length[2]; /* the first parts of a SYSCALL_VEC */
};

/* So few that they stay in the cache nearest to the processor. */
enum {
	STUDY_STEPS = 1024, /* instructions */
	STUDY_ACCESSES = 2048,
	STUDY_BLOCKS = STUDY_STEPS,
	STUDY_CHANGES = 2 * STUDY_STEPS + XTRACE_TASK_FRAMES + 3,
	STUDY_NOTES = 64
};

struct study_batch {
	uint64_t first; /* instructions before it */
	/* Of the user's addresses: TTBR0_EL1 as the kernel set it last, without the number of the space; 0: unknown. */
	uint64_t tables;
	/* The task that is executed, and its number on the core; 0: the kernel has told none. */
	struct xtrace_task task;
	size_t task_number;
	bool ends; /* another task comes behind it */
	struct study_block blocks[STUDY_BLOCKS];
	struct study_access accesses[STUDY_ACCESSES];
	struct study_call_change changes[STUDY_CHANGES];
	struct study_note notes[STUDY_NOTES];
	size_t step_count, block_count, access_count, change_count, note_count;

	/* Where they are wanted: the place and the exception level of each step; the TIME of each access, 0: none. */
	uint32_t sites[STUDY_STEPS];
	uint8_t levels[STUDY_STEPS];
	uint64_t times[STUDY_ACCESSES];
};

/* What of a batch is filled at a cost. */
struct study_wants {
	bool steps; /* sites, levels */
	bool times;
	bool order; /* times, where cores are read that are several */
};

/* What takes batches. Returns 0, 1 where study_walk_go() shall return, or TW_ERR_MEMORY. */
typedef int (*study_take_fn)(void *context, const struct study_batch *batch);

struct study_totals {
	uint64_t instructions;
	uint64_t levels[4]; /* by exception level */
	uint64_t lost_bytes;
};

/* Begins a table with place 0. Returns false without memory. */
bool study_sites_init(struct study_sites *sites, struct tw_budget *budget, struct tw_dictionary *names);
void study_sites_free(struct study_sites *sites);

/* The number of a place, of which the PC, the opcode and the program are told; 0 where it is not known. */
uint32_t study_sites_known(const struct study_sites *sites, const struct study_site *place);

/* The number of a place, whose function is told, too, new or known; 0 when there is no room. */
uint32_t study_sites_find(struct study_sites *sites, const struct study_site *place);

/* Makes places of the steps of a draft, from its first on, as far as they are known, one behind the other. Returns how
 * many they are. */
size_t study_sites_mark(const struct study_sites *sites, uint32_t program, struct xtrace_draft *draft);

/* Counts the places of trails, and links each with the one behind it. */
void study_sites_add_up(struct study_sites *sites, const struct xtrace_trails *trails);

/* Who takes the batches of a track, and what is counted meanwhile. */
struct study_taker {
	struct study_sites *sites;
	struct study_totals *totals;
	study_take_fn take;
	void *context;
	struct study_wants wants;
};

struct study_walk;

/* Opens a track; close it in any case. Returns 0 or a negative status. */
int study_walk_open(struct study_walk **walk, struct tw_reader *reader, const struct xtrace_track *track,
                    const struct study_taker *taker);

/* Reads until the taker says so. Returns 1, 0 at the end of the track, or a negative status. */
int study_walk_go(struct study_walk *walk);

/* The counts of places and totals are complete then. NULL is fine. */
void study_walk_close(struct study_walk *walk);

/* The files of the track, until the walk is closed. */
struct xtrace_files *study_walk_files(struct study_walk *walk);

/* Reads a track to its end. Returns 0 or a negative status. */
int study_walk(struct tw_reader *reader, const struct xtrace_track *track, const struct study_taker *taker);

/* The number in `to` of a name of `from`; UINT32_MAX without memory. */
uint32_t study_name_in(struct study_sites *to, const struct study_sites *from, uint32_t name);

#endif
