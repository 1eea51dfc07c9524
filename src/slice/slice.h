/* slice.h - an interval of a trace as a program of its own. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SLICE_SLICE_H
#define SLICE_SLICE_H

#include "base/bytes/output.h"
#include "base/memory/map.h"
#include "xtrace/xtrace.h"

enum { SLICE_PAGE = 4096 };

/* A page of memory: what it begins with, and what it holds now, as far as the trace tells. */
struct slice_page {
	uint64_t address;
	uint8_t first[SLICE_PAGE], now[SLICE_PAGE];
	uint8_t known[SLICE_PAGE / 8];
	uint32_t touched[SLICE_PAGE]; /* by byte: the instruction that touched it last, plus 1 */
};

/* A byte that something else than the program changes. */
struct slice_write {
	uint64_t address;
	uint8_t byte;
	uint32_t next; /* number of the next one, plus 1; 0: none */
};

/* What happens at an execution of a place beside what its instruction does. */
struct slice_event {
	uint64_t after;   /* executions of the place up to this one */
	bool marks;       /* the interval begins here: nothing happens, and the place is executed once more */
	bool skips;       /* the instruction is not executed, and sets its register to: */
	bool stops;       /* the slice ends before it */
	bool sets_thread; /* the value is that of TPIDR_EL0 from here on */
	uint64_t value;
	uint32_t writes; /* number of its first write, plus 1; 0: none */
	uint32_t next;   /* number of the place's next event, plus 1; 0: none */
};

/* An instruction that was executed. */
struct slice_place {
	uint64_t pc, count;
	uint32_t opcode;
	uint32_t first, last; /* numbers of events, plus 1; 0: none */
	uint32_t zeros;       /* bytes that DC ZVA writes, which processors differ in; 0: another instruction */
	uint64_t stub;        /* where the stub is, once it is written */
};

static inline bool slice_has_stub(const struct slice_place *place)
{
	return place->first || place->zeros;
}

/* What is wanted of a track. */
struct slice_interval {
	uint64_t snapshot;     /* its number */
	uint64_t begin;        /* offset of the first instruction's token; before the snapshot: where that is */
	uint64_t instructions; /* how many instructions from there on */
	bool shorter;          /* or as many as there are */
};

struct slice {
	struct tw_reader *reader;
	const struct xtrace_track *track;
	uint64_t start_pc;
	uint64_t before;       /* instructions from the snapshot to where the interval begins */
	uint64_t instructions; /* of the interval */
	uint64_t accesses;
	struct tw_xtrace_snapshot snapshot;
	uint8_t vectors[32 * 16];
	struct slice_pages {
		struct slice_page **items;
		size_t count, room, most;
		struct tw_map map; /* by address */
	} pages;
	struct slice_places {
		struct slice_place *items;
		size_t count, room;
		struct tw_map map; /* by PC */
	} places;
	struct slice_events {
		struct slice_event *items;
		size_t count, room;
	} events;
	struct slice_writes {
		struct slice_write *items;
		size_t count, room;
	} writes;
	struct slice_stubs { /* where stubs are, once they are written */
		struct slice_range {
			uint64_t from, to; /* to: past the last byte */
		} * items;
		size_t count, room;
	} stubs;
};

/* Goes to a snapshot of a track. Returns 0 or a negative status: there may be none of that number. */
int slice_find_snapshot(struct xtrace_files *files, struct xtrace_snapshots *snapshots, uint64_t number);

/* Reads an interval of a track. Returns 0 or a negative status. Free it in any case. */
int slice_read(struct slice *slice, struct tw_reader *reader, const struct xtrace_track *track,
               const struct slice_interval *interval);

/* The page of an address; made where it is not there. NULL when there is no room. */
struct slice_page *slice_page_at(struct slice *slice, uint64_t address, bool make);

/* The most bytes that others change, and the most instructions, which the limit of memory allows. */
size_t slice_writes_most(const struct slice *slice);
size_t slice_places_most(const struct slice *slice);

/* Tells that there was none: for want of memory, or by the limit. Returns the status. */
int slice_no_room(const struct slice *slice);

/* Writes it as a static AArch64 program. Returns 0 or a negative status. */
int slice_write_program(struct slice *slice, struct tw_output *out);

void slice_free(struct slice *slice);

/* ---- sync.c: all threads between two points of the order of their accesses. ---- */

/* What a thread does between the two points: nothing where `instructions` is 0. */
struct slice_cut {
	const struct xtrace_track *track;
	struct slice_interval interval;
};

struct slice_sync {
	uint64_t after, until; /* TIMEs: later than one, up to the other */
	uint64_t accesses;     /* how many accesses are in the order */
	struct slice_cut *cuts;
	size_t count;
};

/* Cuts all threads where the interval of one of them begins and ends, and writes the order of their accesses in
 * between. Returns 0 or a negative status. Free it in any case. */
int slice_sync_read(struct slice_sync *sync, struct tw_reader *reader, const struct xtrace_track *track,
                    const struct slice_interval *interval, struct tw_output *order);
void slice_sync_free(struct slice_sync *sync);

#endif
