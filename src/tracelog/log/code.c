/* code.c - where an instruction is: a line of the source, or an offset in the intermediate language. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tracelog/log/code.h"

#include "base/memory/memory.h"
#include "base/memory/order.h"
#include "tracelog/jobs/source_lines.h"
#include "tracelog/log/log.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* Of a function: so many bodies are looked through, from the newest on. */
enum { BODIES_MOST = 1024 };

enum { LOCATION_COST = sizeof(struct tw_location) + 2 * sizeof(uint32_t) + 48 /* of a map */ };

/* ---- What records tell. ---- */

static struct tw_interval span_of_code(const struct tracelog_code *code)
{
	uint64_t end = code->start + code->size;
	return (struct tw_interval){code->start, end < code->start ? UINT64_MAX : end};
}

static void take_block(struct tracelog_log *log, struct tracelog_body *body, const struct tw_tracelog_item *item)
{
	struct tracelog_sources *sources = &log->sources;
	if (!tracelog_grow(log, &sources->codes, &sources->code_room, sources->code_count, sizeof *sources->codes))
		return;
	const struct tracelog_code code = {item->start, item->bytes, body->bytes};
	const struct tw_interval span = span_of_code(&code);
	sources->codes[sources->code_count++] = code;
	if (!body->block_count || span.start < body->span.start)
		body->span.start = span.start;
	if (span.end > body->span.end)
		body->span.end = span.end;
	body->block_count++;
	body->bytes += item->bytes;
}

static void take_range(struct tracelog_log *log, struct tracelog_body *body, const struct tw_tracelog_item *item)
{
	struct tracelog_sources *sources = &log->sources;
	if (item->end < item->start)
		tracelog_report(log, TRACELOG_MAP_REVERSED,
		                "the range 0x%" PRIx64 " to 0x%" PRIx64 " ends before it starts", item->start,
		                item->end);
	if (!tracelog_grow(log, &sources->ranges, &sources->range_room, sources->range_count, sizeof *sources->ranges))
		return;
	sources->ranges[sources->range_count++] = (struct tracelog_range){item->start, item->end, item->il};
	body->range_count++;
}

static int by_start(const void *left, const void *right)
{
	const struct tracelog_range *a = left, *b = right;
	return tw_compare(a->start, b->start);
}

static void judge_overlap(struct tracelog_log *log, const struct tracelog_range *ranges, size_t count)
{
	struct tracelog_range *sorted = malloc((count + 1) * sizeof *sorted);
	if (!sorted) {
		log->failed = true;
		return;
	}
	uint64_t end = 0;
	memcpy(sorted, ranges, count * sizeof *sorted);
	qsort(sorted, count, sizeof *sorted, by_start);
	for (size_t i = 0; i < count; i++) {
		if (sorted[i].end <= sorted[i].start)
			continue;
		if (sorted[i].start < end) {
			tracelog_report(log, TRACELOG_MAP_OVERLAP,
			                "a range ends at 0x%" PRIx64 ", another starts at 0x%" PRIx64, end,
			                sorted[i].start);
			break;
		}
		end = sorted[i].end;
	}
	free(sorted);
}

static void judge_map(struct tracelog_log *log, const struct tracelog_body *body)
{
	if (body->range_count == 0)
		return;
	const struct tracelog_range *ranges = log->sources.ranges + body->first_range;
	for (size_t i = 0; i < body->range_count; i++)
		if (ranges[i].end > body->bytes) {
			tracelog_report(log, TRACELOG_MAP_OUTSIDE,
			                "the range 0x%" PRIx64 " to 0x%" PRIx64 " is not in the code of 0x%" PRIx64
			                " bytes",
			                ranges[i].start, ranges[i].end, body->bytes);
			break;
		}
	if (body->range_count > 1)
		judge_overlap(log, ranges, body->range_count);
}

/* ---- Placing. ---- */

static struct tw_interval span_of_range(const struct tracelog_range *range)
{
	return (struct tw_interval){range->start, range->end};
}

static bool holds(struct tw_interval span, uint64_t number)
{
	return span.start <= number && number < span.end;
}

/* The first block that an instruction is in; NULL where it is in none. */
static const struct tracelog_code *find_code(const struct tracelog_sources *sources, const struct tracelog_body *body,
                                             uint64_t ip)
{
	const struct tracelog_edges *edges = &body->block_edges;
	if (!holds(body->span, ip))
		return NULL;
	if (edges->count) {
		uint32_t found = tw_cover_find(sources->edges + edges->first, edges->count, ip);
		return found == TW_NO_SPAN ? NULL : &sources->codes[body->first_block + found];
	}
	for (uint32_t i = 0; i < body->block_count; i++) {
		const struct tracelog_code *code = &sources->codes[body->first_block + i];
		if (holds(span_of_code(code), ip))
			return code;
	}
	return NULL;
}

/* A body of a function before another; NULL where there is none. */
static const struct tracelog_body *older(const struct tracelog_sources *sources, const struct tracelog_body *body)
{
	return body->older ? &sources->bodies[body->older - 1] : NULL;
}

/* The newest body of a function that an instruction is in, and its block; NULL where it is in none. */
static const struct tracelog_body *find_body(const struct tracelog_sources *sources,
                                             const struct tracelog_object *function, uint64_t ip,
                                             const struct tracelog_code **code)
{
	const struct tracelog_body *body = &function->code.body;
	for (uint32_t i = 0; body && i < BODIES_MOST; i++, body = older(sources, body))
		if ((*code = find_code(sources, body, ip)))
			return body;
	return NULL;
}

static const struct tracelog_range *find_range(const struct tracelog_sources *sources, const struct tracelog_body *body,
                                               uint64_t offset)
{
	const struct tracelog_edges *edges = &body->range_edges;
	if (edges->count) {
		uint32_t found = tw_cover_find(sources->edges + edges->first, edges->count, offset);
		return found == TW_NO_SPAN ? NULL : &sources->ranges[body->first_range + found];
	}
	for (uint32_t i = 0; i < body->range_count; i++) {
		const struct tracelog_range *range = &sources->ranges[body->first_range + i];
		if (holds(span_of_range(range), offset))
			return range;
	}
	return NULL;
}

/* An offset in the IL as its assembler writes it: IL_0007. */
static uint32_t name_offset(struct tracelog_log *log, int64_t il)
{
	char text[32];
	if (il == TW_TRACELOG_IL_NO_MAPPING)
		return 0;
	if (il == TW_TRACELOG_IL_PROLOG)
		return TRACELOG_TEXT(log, "IL_prolog");
	if (il == TW_TRACELOG_IL_EPILOG)
		return TRACELOG_TEXT(log, "IL_epilog");
	int length = snprintf(text, sizeof text, "IL_%04" PRIx64, (uint64_t)il);
	return tracelog_name(log, text, (size_t)length);
}

static bool is_line(const struct tracelog_sources *sources, uint64_t number)
{
	uint32_t place;
	return number <= UINT32_MAX && tw_map_find(&sources->lines.by_number, number, &place);
}

/* Places a location by the number of a line, which stands in the place of the instruction where the log was made for
 * Visual Studio. False where the line is not known. */
static bool place_by_line(struct tracelog_log *log, uint32_t location, uint64_t number)
{
	const struct tracelog_sources *sources = &log->sources;
	uint32_t place, file = 0;
	if (number > UINT32_MAX || !tw_map_find(&sources->lines.by_number, number, &place))
		return false;
	const struct tracelog_source_line *line = &sources->lines.items[place];
	if (tw_map_find(&sources->files, line->file, &file))
		tw_dictionary_locate(log->dictionary, location, file, line->line);
	return true;
}

/* Where a body begins; 0: nowhere. */
static uint64_t first_start(const struct tracelog_sources *sources, const struct tracelog_body *body)
{
	return body->block_count ? sources->codes[body->first_block].start : 0;
}

/* An instruction that is in no block of its function's code. Behind the last instruction is where a call returns to
 * that is the last; and where a function was compiled several times, not all of its bodies may be known. */
static void judge_ip(struct tracelog_log *log, const struct tracelog_object *function, uint64_t ip)
{
	const struct tracelog_body *body = &function->code.body;
	bool behind = ip && find_code(&log->sources, body, ip - 1);
	if (body->block_count && !behind && !body->older)
		tracelog_report(log, TRACELOG_IP_OUTSIDE_CODE,
		                "0x%" PRIx64 " is not in the code of function 0x%" PRIx32 ", which is at 0x%" PRIx64,
		                ip, function->iid, first_start(&log->sources, body));
}

static void note(struct tracelog_log *log, const struct tracelog_object *function, uint64_t ip,
                 const struct tracelog_source *source)
{
	const struct tracelog_placed_ip placed = {.ip = ip, .session = log->session.number, .iid = function->iid};
	tracelog_note_line(log->source_lines, &placed, source->file, tw_dictionary_name(log->dictionary, source->file),
	                   &source->at);
}

/* Places a location whose instruction is in a block of a body. */
static void place_in(struct tracelog_log *log, uint32_t location, const struct tracelog_object *function,
                     const struct tracelog_body *body, const struct tracelog_code *code)
{
	uint64_t ip = tw_dictionary_location(log->dictionary, location)->address;
	const struct tracelog_range *range = find_range(&log->sources, body, code->before + (ip - code->start));
	struct tracelog_source source;
	bool known = range && tracelog_find_source(log, function, range->il, &source);
	if (known && log->source_lines)
		note(log, function, ip, &source);
	if (range && !known)
		source.file = name_offset(log, range->il);
	if (range)
		tw_dictionary_locate(log->dictionary, location, source.file, source.at.line);
}

/* Places a location, as far as its function's code is known: all of it, or its newest body, where the others have been
 * looked at. Returns whether nothing more is to be learned: a body that has it may still be told. */
static bool place(struct tracelog_log *log, uint32_t location, const struct tracelog_object *function, bool newest)
{
	uint64_t ip = tw_dictionary_location(log->dictionary, location)->address;
	const struct tracelog_code *code = NULL;
	const struct tracelog_body *body = &function->code.body;
	if (place_by_line(log, location, ip))
		return true;
	if (newest)
		code = find_code(&log->sources, body, ip);
	else
		body = find_body(&log->sources, function, ip, &code);
	if (body && code)
		place_in(log, location, function, body, code);
	else if (!log->sources.lines.count)
		judge_ip(log, function, ip);
	return body && code;
}

/* Places the locations of a function that were met before the code that they are in was told. */
static void place_all(struct tracelog_log *log, uint32_t number)
{
	struct tracelog_object *function = tracelog_object(log, TRACELOG_FUNCTION, number);
	uint32_t next = function->code.unplaced;
	if (function->code.body.count >= BODIES_MOST)
		return;
	function->code.unplaced = 0;
	while (next) {
		uint32_t location = next - 1;
		next = log->sources.unplaced.items[location];
		if (place(log, location, function, true))
			continue;
		log->sources.unplaced.items[location] = function->code.unplaced;
		function->code.unplaced = location + 1;
	}
}

/* Adds the edges of many spans; of none where there is no room for them. */
static struct tracelog_edges add_edges(struct tracelog_log *log, const struct tw_interval *spans, uint32_t *count)
{
	struct tracelog_sources *sources = &log->sources;
	struct tracelog_edges edges = {.first = (uint32_t)sources->edge_count};
	size_t most = 2 * (size_t)*count, made = 0;
	if (!tracelog_take_memory(log, most * sizeof *sources->edges))
		*count = 0;
	else if (!tw_grow(&sources->edges, &sources->edge_room, sources->edge_count + most, sizeof *sources->edges) ||
	         !tw_cover_make(spans, *count, sources->edges + edges.first, &made))
		log->failed = true;
	sources->edge_count += made;
	edges.count = (uint32_t)made;
	return edges;
}

/* What holds an instruction is found without looking at each block and range, where there are many. */
static void index_code(struct tracelog_log *log, struct tracelog_body *body)
{
	enum { FEW = 32 };
	const struct tracelog_sources *sources = &log->sources;
	uint32_t most = body->block_count > body->range_count ? body->block_count : body->range_count;
	body->block_edges = body->range_edges = (struct tracelog_edges){0};
	if (most <= FEW)
		return;
	struct tw_interval *spans = malloc(most * sizeof *spans);
	log->failed |= !spans;
	for (uint32_t i = 0; spans && i < body->block_count; i++)
		spans[i] = span_of_code(&sources->codes[body->first_block + i]);
	if (spans && body->block_count > FEW)
		body->block_edges = add_edges(log, spans, &body->block_count);
	for (uint32_t i = 0; spans && i < body->range_count; i++)
		spans[i] = span_of_range(&sources->ranges[body->first_range + i]);
	if (spans && body->range_count > FEW)
		body->range_edges = add_edges(log, spans, &body->range_count);
	free(spans);
}

/* Whether a body is told again, perhaps with another map. */
static bool is_same_body(const struct tracelog_sources *sources, const struct tracelog_body *a,
                         const struct tracelog_body *b)
{
	return a->bytes == b->bytes && first_start(sources, a) == first_start(sources, b);
}

/* Makes a body the newest of a function. */
static void add_body(struct tracelog_log *log, struct tracelog_object *function, struct tracelog_body body)
{
	struct tracelog_sources *sources = &log->sources;
	struct tracelog_body *newest = &function->code.body;
	const struct tracelog_body *known = newest;
	for (uint32_t i = 1; i < BODIES_MOST && known->older && !is_same_body(sources, known, &body); i++)
		known = &sources->bodies[known->older - 1];
	bool again = is_same_body(sources, known, &body);
	body.has_size_row = again && known->has_size_row;
	body.older = newest->older;
	body.count = newest->count;
	if (newest->block_count && !(again && known == newest)) {
		if (!tracelog_grow(log, &sources->bodies, &sources->body_room, sources->body_count, sizeof body))
			return;
		sources->bodies[sources->body_count++] = *newest;
		body.older = (uint32_t)sources->body_count;
		body.count++;
	}
	*newest = body;
}

void tracelog_take_code(struct tracelog_log *log, uint32_t number, const struct tw_tracelog_record *record)
{
	if (!number || number == log->objects[TRACELOG_FUNCTION].other)
		return;
	struct tracelog_object *function = tracelog_object(log, TRACELOG_FUNCTION, number);
	struct tw_tracelog_text list = record->list;
	struct tw_tracelog_item item;
	struct tracelog_body body = {
	    .first_block = (uint32_t)log->sources.code_count,
	    .first_range = (uint32_t)log->sources.range_count,
	};
	while (tracelog_cursor_item(log->cursor, &list, &item))
		if (item.kind == TW_TRACELOG_CODE)
			take_block(log, &body, &item);
		else if (item.kind == TW_TRACELOG_MAP)
			take_range(log, &body, &item);
	index_code(log, &body);
	if (log->request.check && body.range_count)
		judge_map(log, &body);
	if (!body.block_count)
		return;
	add_body(log, function, body);
	place_all(log, number);
}

void tracelog_take_file(struct tracelog_log *log, const struct tw_tracelog_record *record)
{
	struct tw_map *files = &log->sources.files;
	uint32_t name = tracelog_name(log, record->name.bytes, record->name.size);
	uint32_t *stored = tw_map_stored(files, record->file);
	if (stored && *stored != name + 1)
		tracelog_report(log, TRACELOG_SOURCE_AGAIN, "file 0x%" PRIx32 " was another one", record->file);
	if (stored)
		*stored = name + 1;
	else if (tracelog_take_memory(log, 2 * sizeof(struct tw_map_slot)))
		log->failed |= !tw_map_add(files, record->file, name);
}

static void add_line(struct tracelog_log *log, const struct tw_tracelog_record *record)
{
	struct tracelog_sources *sources = &log->sources;
	const struct tracelog_source_line line = {record->iid,          record->file,     record->start_line,
	                                          record->start_column, record->end_line, record->end_column};
	uint32_t place;
	if (tw_map_find(&sources->lines.by_number, record->line, &place)) {
		if (memcmp(&sources->lines.items[place], &line, sizeof line) != 0)
			tracelog_report(log, TRACELOG_SOURCE_AGAIN, "line 0x%" PRIx32 " was another one", record->line);
		sources->lines.items[place] = line;
		return;
	}
	place = (uint32_t)sources->lines.count;
	if (!tracelog_grow(log, &sources->lines.items, &sources->lines.room, place, sizeof line) ||
	    !tracelog_take_memory(log, 2 * sizeof(struct tw_map_slot)))
		return;
	sources->lines.items[sources->lines.count++] = line;
	log->failed |= !tw_map_add(&sources->lines.by_number, record->line, place);
}

static void judge_function(struct tracelog_log *log, uint32_t iid)
{
	uint32_t function;
	if (iid == TW_TRACELOG_IID_NONE)
		return;
	bool known = tw_map_find(&log->objects[TRACELOG_FUNCTION].by_iid, iid, &function);
	const struct tracelog_object *object = tracelog_object(log, TRACELOG_FUNCTION, known ? function : 0);
	if (!object->announced && !object->named)
		tracelog_report(log, TRACELOG_LINE_EARLY, "function 0x%" PRIx32 " was not announced", iid);
}

void tracelog_take_line(struct tracelog_log *log, const struct tw_tracelog_record *record)
{
	uint32_t file;
	if (log->source_lines)
		log->source_lines->own = true;
	if (!tw_map_find(&log->sources.files, record->file, &file))
		tracelog_report(log, TRACELOG_FILE_UNKNOWN, "file 0x%" PRIx32 " was not named", record->file);
	add_line(log, record);
	judge_function(log, record->iid);
	/* It may have been met before. */
	uint32_t function = tracelog_object_of(log, TRACELOG_FUNCTION, record->iid);
	struct tw_location met = {.name = tracelog_object(log, TRACELOG_FUNCTION, function)->name,
	                          .address = record->line};
	uint32_t location = tw_dictionary_find_location(log->dictionary, &met);
	if (location != UINT32_MAX)
		place_by_line(log, location, record->line);
}

/* ---- Locations. ---- */

/* Notes whose a new location is. */
static void enter(struct tracelog_log *log, uint32_t location, uint32_t number)
{
	struct tracelog_sources *sources = &log->sources;
	const struct tracelog_object *function = tracelog_object(log, TRACELOG_FUNCTION, number);
	size_t need = location + (size_t)1;
	if (!tw_grow(&sources->functions.items, &sources->functions.room, need, sizeof *sources->functions.items) ||
	    !tw_grow(&sources->unplaced.items, &sources->unplaced.room, need, sizeof *sources->unplaced.items)) {
		log->failed = true;
		return;
	}
	sources->functions.items[location] = number;
	uint64_t ip = tw_dictionary_location(log->dictionary, location)->address;
	const struct tracelog_code *code;
	if (ip && sources->lines.count && !is_line(sources, ip) && !find_body(sources, function, ip, &code))
		tracelog_report(log, TRACELOG_LINE_UNKNOWN, "no line 0x%" PRIx64 " was told", ip);
	if (ip == 0 || place(log, location, function, false))
		return;
	uint32_t *unplaced = &tracelog_object(log, TRACELOG_FUNCTION, number)->code.unplaced;
	sources->unplaced.items[location] = *unplaced;
	*unplaced = location + 1;
}

static uint32_t add_location(struct tracelog_log *log, uint32_t number, uint64_t ip)
{
	const struct tw_location location = {.name = tracelog_object(log, TRACELOG_FUNCTION, number)->name,
	                                     .address = ip};
	uint32_t found = tw_dictionary_find_location(log->dictionary, &location);
	if (found != UINT32_MAX && found < log->sources.functions.room && log->sources.functions.items[found])
		return found;
	if (ip && !tracelog_take_shared(log, LOCATION_COST, LOCATION_COST))
		return tracelog_location(log, number, 0);
	found = tw_dictionary_add_location(log->dictionary, &location);
	if (found == UINT32_MAX)
		log->failed = true;
	else
		enter(log, found, number);
	return found;
}

uint32_t tracelog_location(struct tracelog_log *log, uint32_t number, uint64_t ip)
{
	if (ip)
		return add_location(log, number, ip);
	uint32_t known = tracelog_object(log, TRACELOG_FUNCTION, number)->code.location;
	if (known)
		return known - 1;
	uint32_t location = add_location(log, number, 0);
	tracelog_object(log, TRACELOG_FUNCTION, number)->code.location = location + 1;
	return location;
}

void tracelog_sources_free(struct tracelog_sources *sources)
{
	free(sources->codes);
	free(sources->ranges);
	free(sources->bodies);
	free(sources->edges);
	free(sources->lines.items);
	free(sources->functions.items);
	free(sources->unplaced.items);
	tw_map_free(&sources->lines.by_number);
	tw_map_free(&sources->files);
}
