/* study.h - what instructions did: their mix, blocks, branches, memory, caches, calls, phases (xtrace). */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRACKWAY_STUDY_H
#define TRACKWAY_STUDY_H

#include <trackway/reader.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What can be asked. Each gives tables; doc/formats/xtrace.md, in the sources, says what the columns mean. */
enum tw_study_kind {
	TW_STUDY_INSNS,    /* instructions by class, by mnemonic, by function */
	TW_STUDY_BLOCKS,   /* basic blocks with their disassembly */
	TW_STUDY_BRANCHES, /* how often they are taken and mispredicted, where indirect ones go */
	TW_STUDY_MEM,      /* accesses: sizes, strides, footprint over time, hot lines, sharing, reuse */
	TW_STUDY_CACHE,    /* a hierarchy of caches simulated */
	TW_STUDY_SYSCALLS, /* system calls with arguments and what they returned */
	TW_STUDY_CALLS,    /* the tree of calls, weighed by instructions */
	TW_STUDY_PHASES,   /* intervals that execute the same blocks, and those that stand for them */
	TW_STUDY_TASKS,    /* the schedule of cores: which task was executed when, the share of the kernel */
	TW_STUDY_TOOL,     /* an analysis of one's own: struct tw_study_tool */
	TW_STUDIES
};

enum tw_study_policy { TW_STUDY_LRU, TW_STUDY_FIFO, TW_STUDY_RANDOM, TW_STUDY_POLICIES };

enum { TW_STUDY_LEVELS = 4, TW_STUDY_HISTORY_MOST = 24, TW_STUDY_PHASES_MOST = 1000, TW_STUDY_THREADS = 64 };

/* One level of a hierarchy of caches. */
struct tw_study_cache {
	uint64_t size; /* bytes: ways * line * a power of 2 */
	uint32_t ways, line;
	enum tw_study_policy policy;
};

/* A TLB; entries 0: there is none. */
struct tw_study_tlb {
	uint32_t entries, ways; /* entries: ways * a power of 2 */
};

/* Which instructions are studied: all zero, all of them. What is not asked for is as if it was not executed. */
struct tw_study_range {
	uint64_t from, to;                 /* instructions of each thread, the first being 0; to 0: up to the end */
	uint64_t from_address, to_address; /* PCs; to 0: up to the highest */
	const char *function;              /* a glob, as fnmatch(3) has it, of functions; NULL: all */
	unsigned levels;                   /* exception levels: 1 << 0 for EL0, and so on; 0: all */
};

struct tw_study_options {
	size_t struct_size; /* trackway/status.h */
	enum tw_study_kind kind;
	unsigned jobs; /* files of a set read at a time; 0: as many as there are processors. The result is the same */
	size_t memory_limit; /* bytes for tables; 0: 256 MiB. What is beyond is counted as left out */
	unsigned history;    /* branches: bits of gshare's history, at most TW_STUDY_HISTORY_MOST; 0: 12 */
	uint64_t interval;   /* mem, cache, phases (at most UINT32_MAX): instructions of an interval; 0: 1,000,000 */
	unsigned phases;     /* phases: at most so many, at most TW_STUDY_PHASES_MOST; 0: 30 */
	bool reuse;          /* mem: reuse distances as well */
	struct tw_study_cache levels[TW_STUDY_LEVELS]; /* cache: from the first that is asked */
	unsigned level_count; /* 0: 32 KiB of 8 ways, then 512 KiB of 8 ways, LRU, lines of 64 bytes */
	/* cache: a last level of all threads, at most TW_STUDY_THREADS, where stores take the copies that others have.
	 * Its lines are as long as those of all levels, which it counts as one of. Size 0: there is none. */
	struct tw_study_cache llc;
	struct tw_study_cache icache;         /* cache: of instructions; size 0: there is none */
	struct tw_study_tlb itlb, dtlb, stlb; /* cache: of instructions, of data, and behind both */
	uint64_t page;                        /* cache, mem: bytes, a power of 2 from 4096 to 2^30; 0: 4096 */
	unsigned next_line, stride;           /* cache: lines that the prefetchers fetch, at most 64; 0: they do not */
	struct tw_study_range range;
	const struct tw_study_tool *tool; /* tool: as long as the study lives */
};

/* What the cells of a column are. */
enum tw_study_unit {
	TW_STUDY_COUNT,  /* UINT64_MAX: there is none */
	TW_STUDY_SIGNED, /* int64_t in `number` */
	TW_STUDY_HEX,
	TW_STUDY_ID,    /* a number that is no count */
	TW_STUDY_SHARE, /* a part of one: 0 to 1 */
	TW_STUDY_TEXT,
	TW_STUDY_LINES /* text, with '\n' between lines */
};

struct tw_study_column {
	const char *name, *title; /* in JSON, in a heading; either NULL: not there */
	enum tw_study_unit unit;
};

/* Which member is set depends on the unit of the column; text NULL: there is none. */
struct tw_study_cell {
	uint64_t number;
	double share;
	const char *text;
};

struct tw_study_table {
	const char *name, *title;
	const struct tw_study_column *columns;
	size_t column_count;
	const struct tw_study_cell *cells; /* row after row */
	size_t row_count;
	bool ranked; /* the rows that matter most come first: some of them may do */
};

/* ---- An analysis of one's own. ---- */

/* What an instruction loads, or stores, without a gap. */
struct tw_study_access {
	uint64_t address;
	uint64_t time; /* its TIME, the order over all threads; 0: there is none */
	uint32_t size; /* bytes, at least 1 */
	bool stores;
};

/* An instruction that was executed. */
struct tw_study_step {
	uint64_t index;       /* of the thread's instructions before it */
	uint64_t pc;          /* UINT64_MAX: not known; then neither is the opcode, 0 */
	const char *function; /* that it was executed in first, "" where not known; lives until the thread is merged */
	const struct tw_study_access *accesses; /* in their order; they live until take() returns */
	size_t access_count;
	uint32_t opcode;
	uint8_t level; /* exception level */
};

/* Takes a row: a cell for each column. */
typedef void (*tw_study_put_fn)(void *context, const struct tw_study_cell *cells);

/* The version of struct tw_study_tool, and of what it is given. Another one has another layout. */
enum { TW_STUDY_TOOL_VERSION = 1 };

/* The analysis. A shared object that `trackway insns --tool` opens exports one by the name tw_study_tool; a program
 * puts it into struct tw_study_options. Threads of the trace are taken side by side, each with a state of its own, and
 * so that one is in one thread of the program at a time. No member may be NULL. */
struct tw_study_tool {
	unsigned version;         /* TW_STUDY_TOOL_VERSION */
	const char *name, *title; /* of the table */
	const struct tw_study_column *columns;
	size_t column_count; /* 1 to 32 */

	/* Begins a thread of this number. Returns its state; NULL without memory. */
	void *(*begin)(uint64_t thread);

	/* Takes the instructions that come next, at least one. Returns 0; another ends the study: the tool refused. */
	int (*take)(void *state, const struct tw_study_step *steps, size_t count);

	/* Adds a thread to that of all, which is the state of the first one; one after the other, in the order of the
	 * files. Returns as take(). */
	int (*merge)(void *all, const void *one);

	/* Gives the rows of all threads, one after the other. Those beyond the memory limit are left out, and counted.
	 * Returns as take(). */
	int (*rows)(void *all, tw_study_put_fn put, void *context);

	/* Ends a state. */
	void (*free)(void *state);
};

struct tw_study;

/* Reads a whole trace, not read from. *study is set even on failure (NULL only for TW_ERR_MEMORY) and has what was
 * read; free it in any case. Returns 0, TW_ERR_UNSUPPORTED for a trace without instructions, TW_ERR_VALUE for options
 * that make no sense, TW_ERR_LIMIT for caches beyond the memory limit, or the negative status of the read;
 * tw_reader_error() explains. */
TW_API int tw_study_read(struct tw_study **study, struct tw_reader *reader, const struct tw_study_options *options);

/* Returns table i, NULL past the last. Lives until the study is freed. */
TW_API const struct tw_study_table *tw_study_table(const struct tw_study *study, size_t i);

/* Returns how many instructions were read. */
TW_API uint64_t tw_study_instructions(const struct tw_study *study);

/* Returns how many instructions, accesses or rows were left out because of the memory limit. */
TW_API uint64_t tw_study_left_out(const struct tw_study *study);

/* Frees; NULL is fine. */
TW_API void tw_study_free(struct tw_study *study);

#ifdef __cplusplus
}
#endif

#endif
