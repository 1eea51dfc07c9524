/* firefox_columns.c - columns of numbers, which are most of a processed profile: made in pieces, by several threads. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "export/firefox.h"

#include "base/bytes.h"

enum { MS_DECIMALS = 6 };
enum { CELL_MAX = TW_DIGITS_MAX + 2, PIECE_CELLS = SPOOL_PIECE / FIREFOX_RECORD, PIECE_NODES = PIECE_CELLS };

struct columns {
	struct tw_pieces_lane lane; /* first */
	struct firefox *firefox;
	const struct firefox_track *track;
	size_t node; /* the next one */
};

/* ---- Records. ---- */

#define INLINE static inline __attribute__((always_inline)) /* so that `column` is a constant: `make bench` */

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

static bool is_of_marker(enum firefox_column column)
{
	return column >= MARKER_NAME && column <= MARKER_PHASE;
}

INLINE void put_cells(struct tw_piece_text *piece, enum firefox_column column)
{
	uint64_t time = 0, weight = 0;
	char *p = piece->text;
	for (const uint8_t *at = piece->bytes, *end = at + piece->size; at < end; at += FIREFOX_RECORD) {
		uint64_t word = tw_load64(at, false), told = (uint32_t)word, step = word >> 32;
		time += is_of_marker(column) ? step : weight;
		weight = is_of_marker(column) ? 0 : step;
		if (told == FIREFOX_LONG) {
			time = tw_load64(at + 8, false);
			told = tw_load64(at + 16, false);
			weight = tw_load64(at + 24, false);
			at += FIREFOX_LONG_RECORD - FIREFOX_RECORD;
		}
		*p++ = ',';
		p = put_cell(column, p, time, told, weight);
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

/* ---- Stacks. ---- */

static void put_frames(void *context, void *state)
{
	const struct columns *columns = context;
	struct tw_piece_text *piece = state;
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
	struct tw_piece_text *piece = state;
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
	struct tw_piece_text *piece = state;
	size_t count = columns->track->count;
	piece->from = columns->node;
	piece->to = count > columns->node + PIECE_NODES ? columns->node + PIECE_NODES : count;
	columns->node = piece->to;
	return piece->from < piece->to;
}

/* ---- Columns. ---- */

static const struct tw_ahead_work works[] = {
    [SAMPLE_TIME] = {tw_pieces_read, put_times},     [SAMPLE_STACK] = {tw_pieces_read, put_sample_stacks},
    [SAMPLE_WEIGHT] = {tw_pieces_read, put_weights}, [SAMPLE_COUNT] = {tw_pieces_read, put_counts},
    [MARKER_NAME] = {tw_pieces_read, put_names},     [MARKER_START] = {tw_pieces_read, put_starts},
    [MARKER_END] = {tw_pieces_read, put_ends},       [MARKER_PHASE] = {tw_pieces_read, put_phases},
    [STACK_FRAME] = {take_nodes, put_frames},        [STACK_PREFIX] = {take_nodes, put_prefixes},
};

/* Several threads are worth their start where there are several pieces. */
static unsigned jobs_for(const struct columns *columns, const struct firefox_track *track, unsigned what)
{
	uint64_t stacks = tw_firefox_stacks(track), records = track->records[what];
	return stacks > PIECE_NODES || records > PIECE_CELLS ? columns->firefox->jobs : 1;
}

void tw_firefox_column(struct firefox *firefox, uint32_t number, unsigned what, enum firefox_column column)
{
	const struct firefox_track *track = &firefox->tracks[number];
	struct columns columns = {.lane = {.spool = &firefox->measured.spool,
	                                   .cursor.lane = tw_firefox_lane(number, what)},
	                          .firefox = firefox,
	                          .track = track,
	                          .node = TW_ROW_FIRST};
	if (!tw_pieces_put(&firefox->pieces, &works[column], &columns, (size_t)PIECE_CELLS * CELL_MAX,
	                   jobs_for(&columns, track, what), &firefox->measured.writer->out))
		firefox->measured.failed = true;
}
