/* firefox_columns.c - columns of numbers, which are most of a processed profile: made in pieces, by several threads. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "export/firefox.h"

#include <stdlib.h>

#include "core/ahead.h"

enum { MS_DECIMALS = 6, NS_PER_MS = 1000000 };
enum { PIECES = 6, PIECE_NODES = 8192, RECORD_MIN = 3, CELL_MAX = TW_DIGITS_MAX + 2 };
enum { PIECE_CELLS = SPOOL_PIECE / RECORD_MIN };

/* A part of a column: records of one block, or nodes. */
struct firefox_piece {
	const uint8_t *bytes;
	size_t size;
	size_t from, to;
	char *end; /* of the text */
	uint8_t block[SPOOL_BLOCK];
	char text[PIECE_CELLS * CELL_MAX]; /* each cell has a comma before it */
};

struct columns {
	struct firefox *firefox;
	const struct firefox_track *track;
	struct tw_spool_cursor cursor;
	size_t node; /* the next one */
};

/* ---- Records. ---- */

#define INLINE static inline __attribute__((always_inline)) /* so that `column` is a constant: `make bench` */

INLINE const uint8_t *take_varint(const uint8_t *p, uint64_t *value)
{
	*value = *p & 0x7f;
	for (unsigned shift = 7; *p++ & 0x80; shift += 7)
		*value |= (uint64_t)(*p & 0x7f) << shift;
	return p;
}

static inline char *put_null(char *p)
{
	memcpy(p, "null", 4);
	return p + 4;
}

/* Nanoseconds as milliseconds: most are less than one. */
INLINE char *put_ms(char *p, uint64_t ns)
{
	if (ns >= NS_PER_MS)
		return tw_decimal(p, ns, MS_DECIMALS);
	memcpy(p, "0.", 2);
	memcpy(p + 2, tw_digit_pairs + ns / 10000 * 2, 2);
	memcpy(p + 4, tw_digit_pairs + ns / 100 % 100 * 2, 2);
	memcpy(p + 6, tw_digit_pairs + ns % 100 * 2, 2);
	return p + 2 + MS_DECIMALS;
}

INLINE char *put_cell(enum firefox_column column, char *p, uint64_t time, uint64_t told, uint64_t weight)
{
	bool at_end = told % FIREFOX_PHASES == PHASE_END;
	switch (column) {
	case SAMPLE_TIME:
		return tw_decimal(p, time, MS_DECIMALS);
	case SAMPLE_STACK:
		return told ? tw_digits(p, told - 1) : put_null(p);
	case SAMPLE_WEIGHT:
		return put_ms(p, weight);
	case SAMPLE_COUNT:
		return tw_digits(p, weight);
	case MARKER_NAME:
		return tw_digits(p, told / FIREFOX_PHASES);
	case MARKER_START:
		return at_end ? put_null(p) : tw_decimal(p, time, MS_DECIMALS);
	case MARKER_END:
		return at_end ? tw_decimal(p, time, MS_DECIMALS) : put_null(p);
	case MARKER_PHASE:
		return tw_digits(p, told % FIREFOX_PHASES);
	case STACK_FRAME:
	case STACK_PREFIX:
		break;
	}
	return p;
}

INLINE void put_cells(struct firefox_piece *piece, enum firefox_column column)
{
	uint64_t over = 0;
	char *p = piece->text;
	for (const uint8_t *at = piece->bytes, *end = at + piece->size; at < end;) {
		uint64_t gap, told, weight;
		at = take_varint(take_varint(take_varint(at, &gap), &told), &weight);
		uint64_t time = over + (gap >> 1 ^ -(gap & 1));
		*p++ = ',';
		p = put_cell(column, p, time, told, weight);
		over = time + weight;
	}
	piece->end = p;
}

#define RECORD_COLUMN(name, column)                                                                                    \
	static void name(void *context, void *piece)                                                                   \
	{                                                                                                              \
		(void)context;                                                                                         \
		put_cells(piece, column);                                                                              \
	}
RECORD_COLUMN(put_times, SAMPLE_TIME)
RECORD_COLUMN(put_sample_stacks, SAMPLE_STACK)
RECORD_COLUMN(put_weights, SAMPLE_WEIGHT)
RECORD_COLUMN(put_counts, SAMPLE_COUNT)
RECORD_COLUMN(put_names, MARKER_NAME)
RECORD_COLUMN(put_starts, MARKER_START)
RECORD_COLUMN(put_ends, MARKER_END)
RECORD_COLUMN(put_phases, MARKER_PHASE)
#undef RECORD_COLUMN

static int take_block(void *context, void *state)
{
	struct columns *columns = context;
	struct firefox_piece *piece = state;
	return tw_spool_next(&columns->firefox->measured.spool, &columns->cursor, piece->block, &piece->bytes,
	                     &piece->size);
}

/* ---- Stacks. ---- */

static void put_frames(void *context, void *state)
{
	const struct columns *columns = context;
	struct firefox_piece *piece = state;
	char *p = piece->text;
	for (size_t i = piece->from; i < piece->to; i++) {
		*p++ = ',';
		p = tw_digits(p, columns->firefox->local_frames[columns->track->nodes[i].frame] - UINT64_C(1));
	}
	piece->end = p;
}

static void put_prefixes(void *context, void *state)
{
	const struct columns *columns = context;
	struct firefox_piece *piece = state;
	char *p = piece->text;
	for (size_t i = piece->from; i < piece->to; i++) {
		uint32_t parent = columns->track->nodes[i].parent;
		*p++ = ',';
		p = parent ? tw_digits(p, parent - (uint64_t)TW_ROW_FIRST) : put_null(p);
	}
	piece->end = p;
}

static int take_nodes(void *context, void *state)
{
	struct columns *columns = context;
	struct firefox_piece *piece = state;
	size_t count = columns->track->count;
	piece->from = columns->node;
	piece->to = count > columns->node + PIECE_NODES ? columns->node + PIECE_NODES : count;
	columns->node = piece->to;
	return piece->from < piece->to;
}

/* ---- Columns. ---- */

static const struct tw_ahead_work works[] = {
    [SAMPLE_TIME] = {take_block, put_times},     [SAMPLE_STACK] = {take_block, put_sample_stacks},
    [SAMPLE_WEIGHT] = {take_block, put_weights}, [SAMPLE_COUNT] = {take_block, put_counts},
    [MARKER_NAME] = {take_block, put_names},     [MARKER_START] = {take_block, put_starts},
    [MARKER_END] = {take_block, put_ends},       [MARKER_PHASE] = {take_block, put_phases},
    [STACK_FRAME] = {take_nodes, put_frames},    [STACK_PREFIX] = {take_nodes, put_prefixes},
};

static void put_pieces(struct firefox *firefox, struct tw_ahead *ahead)
{
	struct tw_output *out = &firefox->measured.writer->out;
	void *next;
	for (bool begun = false; !out->error && tw_ahead_next(ahead, &next) > 0; begun = true) {
		const struct firefox_piece *piece = next;
		const char *text = piece->text + !begun;
		tw_put(out, text, (size_t)(piece->end - text));
	}
}

/* Several threads are worth their start where there are several pieces. */
static unsigned jobs_for(const struct columns *columns, const struct firefox_track *track, unsigned what)
{
	uint64_t stacks = tw_firefox_stacks(track), records = track->records[what];
	return stacks > PIECE_NODES || records > PIECE_CELLS ? columns->firefox->jobs : 1;
}

void tw_firefox_column(struct firefox *firefox, uint32_t number, unsigned what, enum firefox_column column)
{
	const struct firefox_track *track = &firefox->tracks[number];
	struct columns columns = {.firefox = firefox,
	                          .track = track,
	                          .cursor.lane = tw_firefox_lane(number, what),
	                          .node = TW_ROW_FIRST};
	void *pieces[PIECES];
	if (!firefox->pieces)
		firefox->pieces = malloc(PIECES * sizeof *firefox->pieces);
	for (unsigned i = 0; i < PIECES && firefox->pieces; i++)
		pieces[i] = &firefox->pieces[i];
	struct tw_ahead *ahead =
	    firefox->pieces ? tw_ahead_new(&works[column], &columns, pieces, PIECES, jobs_for(&columns, track, what))
			    : NULL;
	if (ahead)
		put_pieces(firefox, ahead);
	else
		firefox->measured.failed = true;
	tw_ahead_free(ahead);
}
