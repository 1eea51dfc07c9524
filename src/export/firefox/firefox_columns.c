/* firefox_columns.c - columns of numbers, which are most of a processed profile: made in pieces, by several threads. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/bytes/bytes.h"
#include "base/inline.h"
#include "export/firefox/firefox.h"

enum { MS_DECIMALS = 6, MS_MAX = 16 /* bytes of the milliseconds in 64 bits of nanoseconds, and more */ };
enum { CELL_MAX = TW_DIGITS_MAX + 2, PIECE_CELLS = SPOOL_PIECE / FIREFOX_RECORD, PIECE_NODES = PIECE_CELLS };

/* ---- Records. ---- */

static inline char *put_null(char *p)
{
	memcpy(p, "null", 4);
	return p + 4;
}

/* Nanoseconds, less than a millisecond, as its decimals. */
TW_INLINE char *put_decimals(char *p, uint32_t ns)
{
	memcpy(p, tw_digit_pairs + ns / 10000 * 2, 2);
	memcpy(p + 2, tw_digit_pairs + ns / 100 % 100 * 2, 2);
	memcpy(p + 4, tw_digit_pairs + ns % 100 * 2, 2);
	return p + MS_DECIMALS;
}

/* Nanoseconds as milliseconds: most are less than one. */
TW_INLINE char *put_ms(char *p, uint64_t ns)
{
	if (ns >= NS_PER_MS)
		return tw_decimal(p, ns, MS_DECIMALS);
	memcpy(p, "0.", 2);
	return put_decimals(p + 2, (uint32_t)ns);
}

/* The milliseconds of the time before, and the point: most times have the same. All zero to begin. */
struct milliseconds {
	uint64_t ns;
	size_t size;
	char text[TW_DIGITS_MAX];
};

TW_INLINE char *put_time(struct milliseconds *before, char *p, uint64_t ns)
{
	if (ns - before->ns >= NS_PER_MS || !before->size) {
		before->ns = ns / NS_PER_MS * NS_PER_MS;
		char *end = tw_digits(before->text, ns / NS_PER_MS);
		*end++ = '.';
		before->size = (size_t)(end - before->text);
	}
	memcpy(p, before->text, MS_MAX);
	return put_decimals(p + before->size, (uint32_t)(ns - before->ns));
}

TW_INLINE char *put_cell(const struct firefox *firefox, enum firefox_column column, char *p,
                         struct milliseconds *before, uint64_t time, uint64_t payload, uint64_t weight)
{
	bool at_end = payload % FIREFOX_PHASES == PHASE_END;
	switch (column) {
	case SAMPLE_TIME:
		return put_time(before, p, time);
	case SAMPLE_STACK:
		return payload ? tw_digits(p, payload - 1) : put_null(p);
	case SAMPLE_WEIGHT:
		return put_ms(p, weight);
	case SAMPLE_COUNT:
		return tw_digits(p, weight);
	case MARKER_NAME:
		return tw_digits(p, firefox->local_strings[payload / FIREFOX_PHASES] - UINT64_C(1));
	case MARKER_START:
		return at_end ? put_null(p) : put_time(before, p, time);
	case MARKER_END:
		return at_end ? put_time(before, p, time) : put_null(p);
	case MARKER_PHASE:
		return tw_digits(p, payload % FIREFOX_PHASES);
	case STACK_FRAME:
	case STACK_PREFIX:
	case FIREFOX_COLUMNS:
		break;
	}
	return p;
}

static bool is_of_marker(enum firefox_column column)
{
	return column >= MARKER_NAME && column <= MARKER_PHASE;
}

TW_INLINE void put_cells(struct firefox *firefox, struct tw_piece_text *piece, enum firefox_column column)
{
	uint64_t time = 0, weight = 0;
	struct milliseconds before = {0};
	char *p = piece->text;
	const uint8_t *at = tw_pieces_records(piece, &firefox->measured.spool);
	for (const uint8_t *end = at + piece->records.size; at < end; at += FIREFOX_RECORD) {
		uint64_t word = tw_load64(at, false), payload = (uint32_t)word, step = word >> 32;
		time += is_of_marker(column) ? step : weight;
		weight = is_of_marker(column) ? 0 : step;
		if (payload == FIREFOX_LONG) {
			time = tw_load64(at + 8, false);
			payload = tw_load64(at + 16, false);
			weight = tw_load64(at + 24, false);
			at += FIREFOX_LONG_RECORD - FIREFOX_RECORD;
		}
		*p++ = ',';
		p = put_cell(firefox, column, p, &before, time, payload, weight);
	}
	piece->end = p;
}

#define RECORD_COLUMN(name, column)                                                                                    \
	static void name(const struct firefox_columns *columns, struct tw_piece_text *piece)                           \
	{                                                                                                              \
		put_cells(columns->firefox, piece, column);                                                            \
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

static const struct firefox_track *track_of(const struct firefox_columns *columns)
{
	return &columns->firefox->tracks[columns->track];
}

static void put_frames(const struct firefox_columns *columns, struct tw_piece_text *piece)
{
	const struct firefox_track *track = track_of(columns);
	char *p = piece->text;
	for (size_t i = piece->from; i < piece->to; i++) {
		*p++ = ',';
		p = tw_digits(p, columns->firefox->local_frames[tw_firefox_frame(track, i)] - UINT64_C(1));
	}
	piece->end = p;
}

static void put_prefixes(const struct firefox_columns *columns, struct tw_piece_text *piece)
{
	const uint32_t *parents = track_of(columns)->parents;
	char *p = piece->text;
	for (size_t i = piece->from; i < piece->to; i++) {
		*p++ = ',';
		p = parents[i] ? tw_digits(p, parents[i] - (uint64_t)TW_ROW_FIRST) : put_null(p);
	}
	piece->end = p;
}

static bool take_nodes(struct firefox_columns *columns, struct tw_piece_text *piece)
{
	size_t count = track_of(columns)->count, left = count > columns->node ? count - columns->node : 0;
	piece->from = columns->node;
	piece->to = columns->node += left < PIECE_NODES ? left : PIECE_NODES;
	return left > 0;
}

/* ---- Columns. ---- */

static void (*const make_column[FIREFOX_COLUMNS])(const struct firefox_columns *columns,
                                                  struct tw_piece_text *piece) = {
    [SAMPLE_TIME] = put_times,     [SAMPLE_STACK] = put_sample_stacks, [SAMPLE_WEIGHT] = put_weights,
    [SAMPLE_COUNT] = put_counts,   [MARKER_NAME] = put_names,          [MARKER_START] = put_starts,
    [MARKER_END] = put_ends,       [MARKER_PHASE] = put_phases,        [STACK_FRAME] = put_frames,
    [STACK_PREFIX] = put_prefixes,
};

static bool is_filled(const struct firefox_columns *columns)
{
	if (columns->column == SAMPLE_WEIGHT || columns->column == SAMPLE_COUNT)
		return columns->column == tw_firefox_weight(columns->measure);
	return columns->measure == MEASURE_SLICES || !is_of_marker(columns->column);
}

static bool take_of_column(struct firefox_columns *columns, struct tw_piece_text *piece)
{
	if (!is_filled(columns))
		return false;
	if (columns->column >= STACK_FRAME)
		return take_nodes(columns, piece);
	return tw_spool_find(&columns->firefox->measured.spool, &columns->cursor, &piece->records);
}

static void begin_column(struct firefox_columns *columns, enum firefox_column column)
{
	unsigned what = is_of_marker(column) ? (unsigned)FIREFOX_MARKERS : (unsigned)columns->measure;
	columns->column = column;
	columns->cursor = (struct tw_spool_cursor){.text = tw_firefox_text(columns->track, what)};
	columns->node = TW_ROW_FIRST;
}

static int take_piece(void *context, void *state)
{
	struct firefox_columns *columns = context;
	struct tw_piece_text *piece = state;
	while (columns->column < FIREFOX_COLUMNS && !take_of_column(columns, piece))
		begin_column(columns, columns->column + 1);
	piece->part = columns->column;
	return columns->column < FIREFOX_COLUMNS;
}

static void make_piece(void *context, void *state)
{
	struct tw_piece_text *piece = state;
	make_column[piece->part](context, piece);
}

void tw_firefox_meet_markers(struct firefox *firefox, uint32_t track)
{
	struct tw_spool_cursor cursor = {.text = tw_firefox_text(track, FIREFOX_MARKERS)};
	uint8_t block[SPOOL_BLOCK];
	const uint8_t *at;
	size_t size;
	while (tw_spool_next(&firefox->measured.spool, &cursor, block, &at, &size))
		for (const uint8_t *end = at + size; at < end;) {
			bool is_long = tw_load32(at, false) == FIREFOX_LONG;
			uint64_t payload = is_long ? tw_load64(at + 16, false) : tw_load32(at, false);
			tw_firefox_string(firefox, (uint32_t)(payload / FIREFOX_PHASES));
			at += is_long ? FIREFOX_LONG_RECORD : FIREFOX_RECORD;
		}
}

/* Several threads are worth their start where there are several pieces. */
static unsigned jobs_for(const struct firefox_columns *columns)
{
	const struct firefox_track *track = track_of(columns);
	bool several = tw_firefox_stacks(track) > PIECE_NODES || track->records[columns->measure] > PIECE_CELLS ||
	               track->records[FIREFOX_MARKERS] > PIECE_CELLS;
	return several ? columns->firefox->jobs : 1;
}

void tw_firefox_begin_columns(struct firefox *firefox, uint32_t track, enum tw_measure measure)
{
	static const struct tw_pipeline_steps work = {.read = take_piece, .work = make_piece};
	struct firefox_columns *columns = &firefox->columns;
	*columns = (struct firefox_columns){.firefox = firefox, .track = track, .measure = measure};
	begin_column(columns, SAMPLE_TIME);
	if (!tw_pieces_begin(&firefox->pieces, &work, columns, (size_t)PIECE_CELLS * CELL_MAX, jobs_for(columns)))
		firefox->measured.failed = true;
}

void tw_firefox_put_column(struct firefox *firefox, enum firefox_column column)
{
	tw_pieces_put(&firefox->pieces, column, &firefox->measured.writer->out);
}

void tw_firefox_end_columns(struct firefox *firefox)
{
	tw_pieces_end(&firefox->pieces);
}
