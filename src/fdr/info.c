/* info.c - what is in a log: records by kind, threads, times, losses. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/bytes/bytes.h"
#include "base/loops.h"
#include "base/memory/order.h"
#include "base/threads/parallel.h"
#include "core/text/fields.h"
#include "fdr/state.h"

#include <stdlib.h>

struct thread_records {
	uint64_t records;
	uint64_t first_tsc, last_tsc; /* of its timed records; first above last while there is none */
};

/* What one job counts. */
struct counted_part {
	struct tw_reader *reader;
	const struct fdr_log *log;
	const struct fdr_place *const *places;
	size_t count;
	bool onward; /* they stand in the order of the file */
	struct thread_records *threads;
	uint64_t kinds[TW_FDR_KINDS];
	uint64_t lost;
	int status;
};

enum { FIELDS = 15, COMMON_FIELDS = 7 };

struct fdr_summary {
	const struct fdr_place **places; /* all */
	bool onward;                     /* in the order of the file */
	struct counted_part *parts;
	unsigned part_count;
	struct tw_thread_info *threads;
	struct tw_kind_count kinds[TW_FDR_KINDS];
	struct tw_field fields[FIELDS];
	char wall_start[TW_WALL_ROOM], wall_end[TW_WALL_ROOM];
};

void fdr_summary_free(struct fdr_summary *survey)
{
	if (!survey)
		return;
	for (unsigned i = 0; i < survey->part_count; i++)
		free(survey->parts[i].threads);
	free(survey->places);
	free(survey->parts);
	free(survey->threads);
	free(survey);
}

/* ---- Counting. ---- */

static void note_tsc(struct thread_records *tally, uint64_t tsc)
{
	tally->first_tsc = tsc < tally->first_tsc ? tsc : tally->first_tsc;
	tally->last_tsc = tsc > tally->last_tsc ? tsc : tally->last_tsc;
}

/* The fast path: function records of little-endian logs. `make bench` measures it (info). They are counted in a
 * register, with 16 bits for each kind: a count in memory would have to wait for the one before. */
static int count_run(struct counted_part *part, struct fdr_cursor *cursor, struct thread_records *tally)
{
	enum { COUNT_BITS = 16, MOST = ((1 << COUNT_BITS) - 1) * TW_FDR_FUNCTION_SIZE /* bytes */ };
	static const unsigned actions = 1 << (TW_FDR_ENTER << 1) | 1 << (TW_FDR_EXIT << 1) |
	                                1 << (TW_FDR_TAIL_EXIT << 1) | 1 << (TW_FDR_ENTER_ARGS << 1);
	const uint8_t *bytes;
	size_t size;
	int status = fdr_cursor_bytes(cursor, &bytes, &size);
	if (status < 0)
		return status;
	size = size < MOST ? size / TW_FDR_FUNCTION_SIZE * TW_FDR_FUNCTION_SIZE : MOST;
	const uint8_t *p = bytes, *end = bytes + size;
	uint64_t tsc = cursor->tsc, counts = 0;
	for (; p < end; p += TW_FDR_FUNCTION_SIZE) {
		uint64_t word = tw_load64(p, false);
		unsigned action = (unsigned)word & 0xf;
		if (!(actions >> action & 1))
			break;
		tsc += word >> 32;
		counts += UINT64_C(1) << action * COUNT_BITS / 2;
	}
	for (unsigned kind = 0; kind <= TW_FDR_ENTER_ARGS; kind++)
		part->kinds[kind] += counts >> kind * COUNT_BITS & ((1 << COUNT_BITS) - 1);
	if (p > bytes) {
		note_tsc(tally, cursor->tsc + (tw_load64(bytes, false) >> 32));
		note_tsc(tally, tsc);
	}
	tally->records += (uint64_t)(p - bytes) / TW_FDR_FUNCTION_SIZE;
	cursor->at += (uint64_t)(p - bytes);
	cursor->tsc = tsc;
	return 0;
}

static void count_item(struct counted_part *part, const struct fdr_cursor *cursor, const struct fdr_item *item,
                       struct thread_records *tally)
{
	unsigned kind = (unsigned)item->record.kind;
	bool old_event = kind == TW_FDR_CUSTOM_EVENT && cursor->log->header.version < 5;
	part->kinds[kind]++;
	tally->records++;
	if (kind <= TW_FDR_ENTER_ARGS || fdr_has_payload(kind))
		note_tsc(tally, old_event ? item->record.tsc : cursor->tsc);
}

static int count_place(struct counted_part *part, struct fdr_cursor *cursor, const struct fdr_place *place)
{
	struct thread_records *tally = &part->threads[place->thread];
	bool runs =
	    part->log->header.layout == TW_FDR_LITTLE && !fdr_is_basic(part->log) && tw_loop_is_on(TW_LOOP_XRAY_COUNT);
	fdr_cursor_enter(cursor, place);
	for (;;) {
		struct fdr_item item;
		int status = runs ? count_run(part, cursor, tally) : 0;
		if (status >= 0)
			status = fdr_cursor_next(cursor, &item);
		if (status < 0)
			return status;
		if (status == 0)
			break;
		count_item(part, cursor, &item, tally);
	}
	part->lost += fdr_cursor_lost(cursor);
	return 0;
}

/* Whether nothing of the buffer before counts for a place: a thread begins, or the buffer begins with its own
 * counter. */
static bool begins_anew(const struct fdr_log *log, const struct fdr_place *place)
{
	return place == log->places || place->thread != place[-1].thread || place->tsc != UINT64_MAX;
}

static void count_part(void *context, unsigned i)
{
	struct counted_part *part = (struct counted_part *)context + i;
	struct fdr_cursor cursor;
	fdr_cursor_init(&cursor, part->reader, part->log, 0);
	cursor.onward = part->onward;
	for (size_t k = 0; k < part->count && part->status >= 0; k++) {
		const struct fdr_place *place = part->places[k];
		if (begins_anew(part->log, place))
			cursor.tsc = 0;
		if (!place->thread ||
		    tw_thread_wanted(&part->reader->options, part->log->threads[place->thread].thread))
			part->status = count_place(part, &cursor, place);
	}
	fdr_cursor_free(&cursor);
}

/* ---- Several jobs. ---- */

static int compare_offsets(const void *left, const void *right)
{
	const struct fdr_place *const *a = left, *const *b = right;
	return tw_compare((*a)->offset, (*b)->offset);
}

/* Lists all places: in the order of the file, where each can be counted without the one before it. Then much can be
 * read at a time. `make bench` measures info. */
static bool list_places(const struct fdr_log *log, struct fdr_summary *survey)
{
	bool onward = true;
	survey->places = calloc(log->place_count + 1, sizeof *survey->places);
	for (size_t i = 0; survey->places && i < log->place_count; i++) {
		survey->places[i] = &log->places[i];
		onward &= begins_anew(log, &log->places[i]);
	}
	survey->onward = onward;
	if (survey->places && onward)
		qsort(survey->places, log->place_count, sizeof *survey->places, compare_offsets);
	return survey->places;
}

/* The first place from k on that can be counted without those before it. */
static size_t border(const struct fdr_log *log, const struct fdr_summary *survey, size_t k)
{
	while (k < log->place_count && !begins_anew(log, survey->places[k]))
		k++;
	return k;
}

static bool new_part(struct tw_reader *reader, const struct fdr_log *log, struct counted_part *part)
{
	*part = (struct counted_part){.reader = reader,
	                              .log = log,
	                              .threads = calloc(log->thread_count, sizeof *part->threads)};
	for (size_t i = 0; part->threads && i < log->thread_count; i++)
		part->threads[i].first_tsc = UINT64_MAX;
	return part->threads != NULL;
}

static void merge(struct counted_part *into, const struct counted_part *from)
{
	for (size_t i = 0; i < into->log->thread_count; i++) {
		into->threads[i].records += from->threads[i].records;
		if (from->threads[i].first_tsc <= from->threads[i].last_tsc) {
			note_tsc(&into->threads[i], from->threads[i].first_tsc);
			note_tsc(&into->threads[i], from->threads[i].last_tsc);
		}
	}
	for (unsigned kind = 0; kind < TW_FDR_KINDS; kind++)
		into->kinds[kind] += from->kinds[kind];
	into->lost += from->lost;
	if (into->status >= 0 && from->status < 0)
		into->status = from->status;
}

static int count_all(struct tw_reader *reader, const struct fdr_log *log, unsigned jobs, struct fdr_summary *survey)
{
	if (jobs == 0)
		jobs = tw_processors();
	if (jobs > log->place_count)
		jobs = log->place_count ? (unsigned)log->place_count : 1;
	survey->parts = calloc(jobs, sizeof *survey->parts);
	if (!survey->parts || !list_places(log, survey))
		return TW_ERR_MEMORY;
	survey->part_count = jobs;
	for (unsigned i = 0; i < jobs; i++) {
		struct counted_part *part = &survey->parts[i];
		if (!new_part(reader, log, part))
			return TW_ERR_MEMORY;
		size_t first = border(log, survey, log->place_count * i / jobs);
		part->places = survey->places + first;
		part->count = border(log, survey, log->place_count * (i + 1) / jobs) - first;
		part->onward = survey->onward;
	}
	tw_parallel(jobs, count_part, survey->parts);
	for (unsigned i = 1; i < jobs; i++)
		merge(&survey->parts[0], &survey->parts[i]);
	return survey->parts[0].status;
}

/* ---- Telling. ---- */

static void fill_kinds(const struct counted_part *all, struct fdr_summary *survey, struct tw_info *info)
{
	for (unsigned kind = 0; kind < TW_FDR_KINDS; kind++) {
		if (!all->kinds[kind])
			continue;
		survey->kinds[info->kind_count++] = (struct tw_kind_count){tw_fdr_kind_name(kind), all->kinds[kind]};
		info->records += all->kinds[kind];
		if (kind <= TW_FDR_ENTER_ARGS || fdr_has_payload(kind))
			info->events += all->kinds[kind];
	}
	info->kinds = survey->kinds;
}

static int count_processes(const struct fdr_log *log, uint64_t *count)
{
	struct tw_map map = {0};
	uint32_t there;
	for (size_t i = 1; i < log->thread_count; i++)
		if (log->threads[i].process && !tw_map_find(&map, log->threads[i].process, &there) &&
		    !tw_map_add(&map, log->threads[i].process, 0)) {
			tw_map_free(&map);
			return TW_ERR_MEMORY;
		}
	*count = map.count;
	tw_map_free(&map);
	return 0;
}

static uint64_t since(uint64_t start, uint64_t time)
{
	return time > start ? time - start : 0;
}

/* The start is the reader's: that of the earliest buffer, which may begin before its first event. */
static int fill_threads(struct tw_reader *reader, const struct counted_part *all, struct fdr_summary *survey,
                        struct tw_info *info)
{
	const struct fdr_log *log = all->log;
	struct tw_ticks clock;
	uint64_t start = reader->clock.start_ns, last = 0;
	const struct fdr_thread *thread = log->recorded ? fdr_notes_thread(log) : NULL;
	const size_t notes = thread ? (size_t)(thread - log->threads) : 0; /* no thread of the program */
	survey->threads = calloc(log->thread_count, sizeof *survey->threads);
	if (!survey->threads)
		return TW_ERR_MEMORY;
	for (size_t i = 1; i < log->thread_count; i++)
		if (i != notes && all->threads[i].last_tsc > last)
			last = all->threads[i].last_tsc;
	tw_ticks_set(&clock, log->frequency);
	info->clock_start_ns = start;
	info->span_ns = since(start, tw_ticks_ns(&clock, last));
	for (size_t i = 1; i < log->thread_count; i++) {
		const struct thread_records *tally = &all->threads[i];
		bool timed = tally->first_tsc <= tally->last_tsc;
		if (!log->threads[i].count || i == notes || !tw_thread_wanted(&reader->options, log->threads[i].thread))
			continue;
		survey->threads[info->thread_count++] = (struct tw_thread_info){
		    .process = log->threads[i].process,
		    .thread = log->threads[i].thread,
		    .records = tally->records,
		    .bytes = log->threads[i].bytes,
		    .start_ns = timed ? since(start, tw_ticks_ns(&clock, tally->first_tsc)) : 0,
		    .end_ns = timed ? since(start, tw_ticks_ns(&clock, tally->last_tsc)) : 0,
		};
	}
	info->threads = survey->threads;
	return count_processes(log, &info->processes);
}

/* The earliest wall time of a buffer, which is no time of day: CLOCK_MONOTONIC. There is none in basic logs. */
static void fill_wall(const struct fdr_log *log, struct fdr_summary *survey, struct tw_info *info)
{
	uint64_t first = UINT64_MAX;
	for (size_t i = 0; i < log->place_count; i++)
		if (log->places[i].wall_us && log->places[i].wall_us < first)
			first = log->places[i].wall_us;
	if (first <= UINT64_MAX / 1000)
		survey->fields[info->field_count++] =
		    (struct tw_field){.name = "start_since_boot_ns", .type = TW_FIELD_NS, .value.u = first * 1000};
}

/* The time of day of the first record and the last. */
static void fill_day(const struct fdr_log *log, const struct fdr_wall *wall, struct fdr_summary *survey,
                     struct tw_info *info)
{
	enum { NS_PER_US = 1000 };
	const struct counted_part *all = &survey->parts[0];
	uint64_t first = UINT64_MAX, last = 0;
	const struct fdr_thread *notes = fdr_notes_thread(log);
	for (size_t i = 1; i < log->thread_count; i++) {
		if (&log->threads[i] == notes)
			continue;
		first = all->threads[i].first_tsc < first ? all->threads[i].first_tsc : first;
		last = all->threads[i].last_tsc > last ? all->threads[i].last_tsc : last;
	}
	const uint64_t start = first <= last ? fdr_wall_at(wall, first, log->frequency) : 0,
		       end = start ? fdr_wall_at(wall, last, log->frequency) : 0;
	struct tw_field *field = &survey->fields[info->field_count];
	if (!end || !tw_wall_field(field, start / NS_PER_US, survey->wall_start) ||
	    !tw_wall_field(field + 1, end / NS_PER_US, survey->wall_end))
		return;
	field[1].name = "wall_end";
	info->field_count += 2;
}

/* What there is none of is not told. */
static void fill_losses(const struct fdr_flight_state *state, struct fdr_summary *survey, struct tw_info *info)
{
	const struct tw_field fields[] = {
	    {.name = "lost_in_handlers", .type = TW_FIELD_UINT, .value.u = state->lost_in_handlers},
	    {.name = "children_without_log", .type = TW_FIELD_UINT, .value.u = state->children},
	    {.name = "children_errno", .type = TW_FIELD_UINT, .value.u = state->error},
	};
	for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
		if (fields[i].value.u)
			survey->fields[info->field_count++] = fields[i];
}

/* What a flight recorder says of its log. */
static void fill_flight(struct tw_reader *reader, const struct fdr_log *log, struct fdr_summary *survey,
                        struct tw_info *info)
{
	struct fdr_flight_state state;
	if (!fdr_flight_state(reader, &state))
		return;
	const bool open = fdr_is_flight(&log->header);
	const char *text = open ? "unfinished" : state.ended ? "complete" : "cut";
	survey->fields[info->field_count++] =
	    (struct tw_field){.name = "recording", .type = TW_FIELD_TEXT, .value.bytes = text, .size = strlen(text)};
	survey->fields[info->field_count++] =
	    (struct tw_field){.name = "lost_records", .type = TW_FIELD_UINT, .value.u = state.lost};
	fill_losses(&state, survey, info);
	fill_day(log, &state.wall, survey, info);
}

static void fill_fields(const struct fdr_log *log, struct fdr_summary *survey, struct tw_info *info)
{
	const struct tw_fdr_header *header = &log->header;
	const char *order = header->layout == TW_FDR_LITTLE ? "little" : "big";
	const char *bits = header->layout == TW_FDR_BIG_MSB ? "msb" : "lsb";
	size_t buffers = 0;
	for (size_t i = 1; i < log->thread_count; i++)
		buffers += log->threads[i].count;
	const struct tw_field fields[COMMON_FIELDS] = {
	    {.name = "byte_order", .type = TW_FIELD_TEXT, .value.bytes = order, .size = strlen(order)},
	    {.name = "bit_order", .type = TW_FIELD_TEXT, .value.bytes = bits, .size = strlen(bits)},
	    {.name = "cycle_frequency", .type = TW_FIELD_UINT, .value.u = header->cycle_frequency},
	    {.name = "constant_tsc", .type = TW_FIELD_BOOL, .value.u = header->constant_tsc},
	    {.name = "nonstop_tsc", .type = TW_FIELD_BOOL, .value.u = header->nonstop_tsc},
	    /* what follows is of FDR logs only */
	    {.name = "buffer_size", .type = TW_FIELD_UINT, .value.u = header->buffer_size},
	    {.name = "buffers", .type = TW_FIELD_UINT, .value.u = buffers},
	};
	memcpy(survey->fields, fields, sizeof fields);
	info->fields = survey->fields;
	info->field_count = fdr_is_basic(log) ? 5 : COMMON_FIELDS;
	fill_wall(log, survey, info);
}

int fdr_info(struct tw_reader *reader, unsigned jobs, struct tw_info *info)
{
	struct fdr_state *state = reader->state;
	struct fdr_log *log = state->log;
	state->survey = calloc(1, sizeof *state->survey);
	int status = state->survey ? 0 : TW_ERR_MEMORY;
	if (status >= 0 && !log->indexed)
		status = fdr_index(reader, log);
	if (status >= 0)
		status = count_all(reader, log, jobs, state->survey);
	if (status < 0)
		return *reader->error ? status : tw_fail_memory(reader);
	info->version = log->header.version;
	info->bytes = tw_input_size(reader->input);
	info->lost_bytes = state->survey->parts[0].lost;
	fill_kinds(&state->survey->parts[0], state->survey, info);
	fill_fields(log, state->survey, info);
	fill_flight(reader, log, state->survey, info);
	status = fill_threads(reader, &state->survey->parts[0], state->survey, info);
	return status < 0 ? tw_fail_memory(reader) : 0;
}
