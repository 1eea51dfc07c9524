/* known.h - what a log holds where nothing is wrong, and which bytes of a damaged buffer are its records. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FDR_KNOWN_H
#define FDR_KNOWN_H

#include "fdr/fdr.h"

/* ---- starts.c: where buffers begin. ---- */

enum { FDR_PID_LIMIT = 1 << 22 };

/* Whether the bytes here are a NewBuffer record, by the thread in it. */
bool fdr_is_new_buffer(const struct fdr_log *log, const uint8_t *new_buffer);

/* Whether the WallTime record that may stand here, behind a NewBuffer record, is one by what both say. */
bool fdr_is_wall_time(const struct fdr_log *log, const uint8_t *wall, size_t have);

/* Where in these bytes, before `limit`, a buffer begins for certain; SIZE_MAX where none does. */
size_t fdr_find_start(const struct fdr_log *log, const uint8_t *bytes, size_t have, size_t limit);

/* The same from a place on; `have` where none does. */
size_t fdr_next_start(const struct fdr_log *log, const uint8_t *bytes, size_t have, size_t from);

/* ---- known.c: what is known. ---- */

enum { FDR_KNOWN_IDS = 1 << 16 };

struct fdr_known {
	uint64_t calls, wide;         /* function records, and those with a delta that LLVM's runtime does not write */
	uint64_t first_tsc, last_tsc; /* of NewCPUId records; first > last: there are none */
	uint64_t bare;                /* entries with arguments that have none */
	uint32_t largest_event;
	bool padded; /* bytes that mean nothing are not 0 */
	bool timed;  /* buffers have a WallTime record behind NewBuffer */
	uint8_t functions[FDR_KNOWN_IDS / 8];
	uint8_t threads[FDR_KNOWN_IDS / 8]; /* of such buffers */
};

/* What the beginning of a log holds: found once for all parts of a reader. Returns 0 or a negative status. */
int fdr_known_of(struct tw_reader *reader, const struct fdr_log *log, const struct fdr_known **known);

/* Whether a call is one byte over and over, zeros or another, as damage leaves them. */
static inline bool fdr_is_filled(enum tw_fdr_layout layout, const struct tw_fdr_record *record)
{
	const uint32_t kind = (uint32_t)record->kind, id = record->function_id;
	const uint32_t word = layout == TW_FDR_BIG_MSB ? kind << 28 | id : id << 4 | kind << 1;
	return record->kind <= TW_FDR_ENTER_ARGS && record->size && word == record->tsc_delta &&
	       word == (word << 8 | word >> 24);
}

bool fdr_knows_function(const struct fdr_known *known, uint32_t id);

/* Whether an entry with arguments has some: the log does not have several without. */
static inline bool fdr_has_arguments(const struct fdr_known *known)
{
	return known->bare <= 1;
}

/* Whether what a NewBuffer record without a WallTime record behind it tells is to be believed: some other buffer is of
 * that thread, or none of the log has a WallTime record. Returns 0 or a negative status. */
int fdr_check_thread(struct tw_reader *reader, const struct fdr_log *log, uint32_t thread, bool *believed);

/* False for an EndOfBuffer record of version 1 that is none: one of a log whose records are clean is, too. */
static inline bool fdr_may_end(const struct fdr_log *log, const struct tw_fdr_record *record)
{
	return record->kind != TW_FDR_END_OF_BUFFER || log->header.version != 1 || !record->padded || !log->clean;
}

/* ---- sound.c: whether anything is wrong. ---- */

enum {
	FDR_LEAD = 6 * TW_FDR_METADATA_SIZE, /* BufferExtents, NewBuffer, WallTime and Pid stand in here */
	FDR_FEW_CALLS = 64,                  /* of which not enough functions are known */
	FDR_LARGE_DELTA = 1 << 24            /* ticks, some milliseconds: below it a wrong delta does little harm */
};

/* Where NewCPUId stands in a buffer, behind the BufferExtents, NewBuffer, WallTime and Pid that its version has. */
static inline size_t fdr_lead_end(const struct fdr_log *log)
{
	const unsigned version = log->header.version;
	return (2 + (size_t)(version >= 2) + (size_t)(version >= 3)) * TW_FDR_METADATA_SIZE;
}

/* Bytes of a buffer. */
struct fdr_span {
	const uint8_t *bytes;
	size_t size;
	size_t from_start; /* bytes of the buffer before them */
	uint64_t beyond;   /* bytes of the buffer behind them */
	uint64_t counter;  /* the last one before them in the buffer, 0: none; then, the last one in them */
	uint64_t excess;   /* so many bytes are too many in the buffer: 0 where that is not known */
	bool searched;     /* bytes of the buffer may be missing: its end is not where it was */
	bool bare;         /* set by fdr_is_sound(): a call follows an entry with arguments that has none */
	bool halved;       /* the same: two calls may be what follows */
	struct fdr_half {  /* a NewCPUId whose first byte was hit */
		uint64_t tsc;
		uint32_t function; /* of the second of the calls that it looks like */
	} half;
};

/* Whether a span can be taken as it is: all records, the next where the one before ends, of kinds that belong there, no
 * zeros among them, no counter that goes past the next one stated. *sound: how far its whole records go. */
bool fdr_is_sound(const struct fdr_log *log, struct fdr_span *span, size_t *sound);

/* Takes the two calls at a place for a NewCPUId whose first byte was hit. False where it is none that a writer makes.
 * counter: the last one before them; 0: none. */
bool fdr_take_half(const struct fdr_log *log, const struct fdr_span *span, size_t at, uint64_t counter,
                   struct fdr_half *half);

/* Whether they are one: the log does not have the function, and its counters are near this one. */
bool fdr_is_half(const struct fdr_known *known, const struct fdr_half *half);

/* Whether calls of functions that the log has stand here, several in a row. */
bool fdr_has_known_calls(struct tw_fdr_decoder decoder, const struct fdr_known *known);

/* Whether calls of a span whose records follow each other stand at the wrong byte, or among bytes that were put in:
 * their functions are none that the log has elsewhere, and those of what begins a few bytes on are, or bytes are too
 * many. */
bool fdr_is_misplaced(const struct fdr_log *log, const struct fdr_known *known, const struct fdr_span *span);

/* ---- fit.c: which bytes are records. ---- */

/* Whether as many bytes as are too many, a record at least, stand in a span twice, one copy behind the other. */
bool fdr_finds_copy(const struct fdr_span *span);

/* Finds the records of a damaged span. Gives at most `most` stretches, whose offsets count from the span's beginning,
 * in order, and between them gaps; *done: how far that goes. Returns how many, or a negative status. */
int fdr_fit(const struct fdr_log *log, const struct fdr_known *known, struct fdr_span *span,
            struct fdr_stretch *stretches, size_t most, size_t *done);

/* ---- ends.c: where a buffer ends whose size leads nowhere. ---- */

enum { FDR_COUNTERS_DIFFER = 1 << 16 }; /* ticks: more than the counters of processors differ */

/* Whether the records of a buffer that lead up to where its size does are not as they were: they stand at the wrong
 * byte, some stand there twice, or calls go on there, and it may be another buffer's middle. next: where the next
 * buffer begins, or how far one was looked for. False where that is too long to be looked at. Returns 0 or a negative
 * status. */
int fdr_find_misplaced(struct tw_reader *reader, const struct fdr_log *log, struct tw_window *window, uint64_t from,
                       uint64_t to, uint64_t next, bool *misplaced);

/* Moves the end of a buffer, where its records end or the next certain one begins, or the file ends, back to where they
 * are another buffer's from there on, if some are; the next one begins there then. declared: where the size says that
 * it ends, UINT64_MAX beyond the file or without one. Returns 0 or a negative status. */
int fdr_find_end(struct tw_reader *reader, const struct fdr_log *log, struct tw_window *window,
                 struct fdr_buffer *buffer, uint64_t declared);

/* The same of a buffer whose end is where it should be, but in which a counter goes back: that is another buffer's if
 * calls end before it that never began, while others are open. */
int fdr_find_joint(struct tw_reader *reader, const struct fdr_log *log, struct tw_window *window,
                   struct fdr_buffer *buffer);

#endif
