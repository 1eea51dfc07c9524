/* log.c - a log's header, and where its buffers begin and end. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/bytes/bytes.h"
#include "base/text/plural.h"
#include "fdr/known.h"

#include <inttypes.h>
#include <stdlib.h>

/* How many bytes at the start of a buffer are looked at: BufferExtents, NewBuffer, WallTime, Pid, NewCPUId and some
 * more. */
enum { LEAD = 8 * TW_FDR_METADATA_SIZE, RECORD = TW_FDR_METADATA_SIZE };
enum { MICROSECONDS = 9 };                                   /* offset in a WallTime record */
enum { BUFFER_MIN = 4 * RECORD + 2 * TW_FDR_FUNCTION_SIZE }; /* what a buffer begins with, and one call */

#define NO_LIMIT UINT64_MAX

/* ---- The header. ---- */

static void check_header(struct tw_reader *reader, const struct tw_fdr_header *header)
{
	uint64_t frequency = header->cycle_frequency;
	if (!header->constant_tsc || !header->nonstop_tsc)
		tw_report(reader, &fdr_rules[XRAY_TSC_FLAGS], 0, 4, 0,
		          "constant_tsc is %d and nonstop_tsc %d, expected 1 and 1", header->constant_tsc,
		          header->nonstop_tsc);
	if (frequency == 0)
		tw_report(reader, &fdr_rules[XRAY_FREQUENCY_ZERO], 0, 8, 0,
		          "the cycle frequency is 0: a tick is shown as 1 ns");
	else if (frequency < 1000000 || frequency > 100 * TW_NS_PER_SECOND)
		tw_report(reader, &fdr_rules[XRAY_FREQUENCY_IMPLAUSIBLE], 0, 8, 0,
		          "the cycle frequency is %" PRIu64 " Hz, expected 1 MHz to 100 GHz", frequency);
	else if (frequency == TW_NS_PER_SECOND && reader->options.checking == TW_CHECK_ALL)
		tw_report(reader, &fdr_rules[XRAY_CLOCK_FALLBACK], 0, 8, 0,
		          "the cycle frequency is 1 GHz: the runtime used clock_gettime, CPU numbers are not real");
	if (header->type == 1 && header->buffer_size < BUFFER_MIN)
		tw_report(reader, &fdr_rules[FDR_BUFFER_SIZE], 0, 16, 0,
		          "the buffer size is %" PRIu64 " byte%s, expected at least %d", header->buffer_size,
		          tw_plural(header->buffer_size), BUFFER_MIN);
	if (reader->options.checking == TW_CHECK_ALL &&
	    (header->reserved_bits || (header->type == 1 && header->reserved && !fdr_is_flight(header))))
		tw_report(reader, &fdr_rules[XRAY_HEADER_RESERVED], 0, header->reserved_bits ? 4 : 24, 0,
		          "reserved bits are 0x%" PRIx32 " and reserved bytes 0x%" PRIx64 ", expected 0",
		          header->reserved_bits, header->reserved);
}

/* Whether the first buffer has a NewBuffer record without bytes that mean nothing and are not 0. */
static bool begins_clean(const struct fdr_log *log, const uint8_t *bytes, size_t have)
{
	struct tw_fdr_decoder decoder = {.bytes = bytes,
	                                 .left = have,
	                                 .version = log->header.version,
	                                 .layout = log->header.layout};
	struct tw_fdr_record record;
	int status = tw_fdr_next(&decoder, &record);
	if (status > 0 && record.kind == TW_FDR_BUFFER_EXTENTS)
		status = tw_fdr_next(&decoder, &record);
	return status > 0 && record.kind == TW_FDR_NEW_BUFFER && !record.padded;
}

unsigned fdr_newer_version(const uint8_t *bytes, size_t size)
{
	enum { VERSION_MOST = 99 };
	if (size < TW_FDR_HEADER_SIZE)
		return 0;
	const unsigned version = tw_load16(bytes, false), type = tw_load16(bytes + 2, false);
	const uint64_t frequency = tw_load64(bytes + 8, false);
	const unsigned most = type == 0 ? BASIC_VERSION_MAX : FDR_VERSION_MAX;
	bool plausible =
	    type <= 1 && (bytes[4] & 3) == 3 && frequency >= 1000000 && frequency <= 100 * TW_NS_PER_SECOND;
	return plausible && version > most && version <= VERSION_MOST ? version : 0;
}

int fdr_read_header(struct tw_reader *reader, struct fdr_log *log)
{
	const uint8_t *bytes;
	size_t have;
	const char *name = tw_input_name(reader->input);
	int status = tw_window_view(&reader->window, 0, TW_PROBE_SIZE, &bytes, &have);
	if (status < 0)
		return tw_fail(reader, status, "%s", tw_input_error(reader->input));
	if (have < TW_FDR_HEADER_SIZE)
		return tw_fail(reader, TW_ERR_EMPTY,
		               "%s: offset 0x%zx: expected the %d bytes of an XRay log's header, found the end of "
		               "the file after %zu",
		               name, have, TW_FDR_HEADER_SIZE, have);
	if (fdr_newer_version(bytes, have) && tw_fdr_header_decode(bytes, have, &log->header) < 0)
		return tw_fail(reader, TW_ERR_FORMAT,
		               "%s: offset 0x0: version %u of %s is not known: versions 1 to %d are", name,
		               fdr_newer_version(bytes, have), reader->format->name,
		               strcmp(reader->format->name, FDR_BASIC_NAME) == 0 ? BASIC_VERSION_MAX : FDR_VERSION_MAX);
	if (tw_fdr_header_decode(bytes, have, &log->header) < 0)
		return tw_fail(reader, TW_ERR_FORMAT,
		               "%s: offset 0x0: expected version 1 to 5 and type 0 or 1 of an XRay log, found "
		               "the bytes %02x %02x %02x %02x",
		               name, bytes[0], bytes[1], bytes[2], bytes[3]);
	memcpy(log->header_bytes, bytes, sizeof log->header_bytes);
	uint16_t type = strcmp(reader->format->name, FDR_BASIC_NAME) == 0 ? 0 : 1;
	if (log->header.type != type)
		return tw_fail(reader, TW_ERR_FORMAT, "%s: offset 0x2: expected type %u of %s, found type %u", name,
		               type, reader->format->name, log->header.type);
	if (reader->options.frequency)
		log->header.cycle_frequency = reader->options.frequency;
	uint64_t frequency = log->header.cycle_frequency;
	log->frequency = frequency == 0 || frequency > TW_FREQUENCY_MAX ? TW_NS_PER_SECOND : frequency;
	reader->clock.ticks_per_second = log->frequency == frequency ? frequency : 0;
	reader->clock.has_cpu = true;
	check_header(reader, &log->header);
	log->clean = type == 1 && begins_clean(log, bytes + TW_FDR_HEADER_SIZE, have - TW_FDR_HEADER_SIZE);
	return 0;
}

/* ---- What stands at an offset. ---- */

struct look {
	const uint8_t *bytes;
	size_t have;
	bool extents; /* a BufferExtents record comes first */
	bool follows; /* BufferExtents and NewBuffer: this is a buffer where the extents of the last one lead */
	bool strong;  /* NewBuffer and WallTime where they belong: this is a buffer wherever it is met */
	bool weak;    /* enough of them where a buffer is expected */
	bool sure; /* as strong with a time that can be, or one of both behind BufferExtents: where records are, too */
};

/* Looks for records in one place of the log. */
struct finder {
	struct tw_reader *reader;
	const struct fdr_log *log;
	struct tw_window *window;
	uint64_t size; /* of the input */
};

static uint8_t first_byte(const struct fdr_log *log, enum tw_fdr_kind kind)
{
	return fdr_first_byte(log->header.layout, kind);
}

static void judge(const struct fdr_log *log, struct look *look)
{
	const size_t header = fdr_is_header(log, look->bytes, look->have) ? TW_FDR_HEADER_SIZE : 0;
	const uint8_t *p = look->bytes + header;
	size_t have = look->have - header;
	look->extents = have && p[0] == first_byte(log, TW_FDR_BUFFER_EXTENTS);
	size_t at = look->extents ? RECORD : 0;
	bool new_buffer = have > at && p[at] == first_byte(log, TW_FDR_NEW_BUFFER);
	bool wall = have > at + RECORD && p[at + RECORD] == first_byte(log, TW_FDR_WALL_TIME);
	bool cut = have <= at;
	look->follows = look->extents && new_buffer;
	look->strong = new_buffer && wall;
	bool impossible = have - at >= RECORD && !look->extents && !wall && !fdr_tells_thread(log, p + at);
	look->weak = (new_buffer && !impossible) || (look->extents && (wall || cut));
	bool timed = look->strong && fdr_tells_time(log, p + at + RECORD, have - at - RECORD);
	look->sure = timed || (look->extents && (new_buffer || wall));
}

static int look_at(struct finder *f, uint64_t at, struct look *look)
{
	*look = (struct look){0};
	int status = tw_window_view(f->window, at, LEAD, &look->bytes, &look->have);
	if (status < 0)
		return tw_fail(f->reader, status, "%s", tw_input_error(f->reader->input));
	judge(f->log, look);
	return 0;
}

/* Finds the next place, from an offset on and before `to`, where a buffer begins for certain; `to` where none does. */
static int scan(struct finder *f, uint64_t at, uint64_t to, uint64_t *found)
{
	enum { STEP = 1 << 16, FIRST = 1 << 12, LEAST = 3 * RECORD };
	*found = to;
	for (size_t step = FIRST; at < to; step = step < STEP ? 2 * step : step) {
		size_t have, want = to - at < step - LEAST ? (size_t)(to - at) + LEAST : step;
		const uint8_t *bytes;
		int status = tw_window_view(f->window, at, want, &bytes, &have);
		if (status < 0)
			return tw_fail(f->reader, status, "%s", tw_input_error(f->reader->input));
		have = have < want ? have : want;
		size_t limit = have == step ? step - (LEAST - 1) : step; /* whole, where more bytes follow */
		size_t start = fdr_find_start(f->log, bytes, have, (size_t)(to - at < limit ? to - at : limit));
		if (start != SIZE_MAX) {
			*found = at + start;
			return 0;
		}
		if (have < want)
			break;
		at += want - (LEAST - 1);
	}
	return 0;
}

/* ---- Buffers inside of payloads. ---- */

/* NewBuffer, and WallTime up to its microseconds, which must make sense: random bytes do so once in 2^28. */
enum { HELD = RECORD + MICROSECONDS + 4 };

static bool holds_start(const uint8_t *bytes, size_t have, enum tw_fdr_layout layout)
{
	uint8_t new_buffer = fdr_first_byte(layout, TW_FDR_NEW_BUFFER), wall = fdr_first_byte(layout, TW_FDR_WALL_TIME);
	for (size_t at = RECORD; at + HELD - RECORD <= have; at++) {
		const uint8_t *found = memchr(bytes + at, wall, have - at - (HELD - RECORD - 1));
		if (!found)
			return false;
		at = (size_t)(found - bytes);
		if (found[-RECORD] == new_buffer && tw_load32(found + MICROSECONDS, layout != TW_FDR_LITTLE) < 1000000)
			return true;
	}
	return false;
}

int fdr_holds_buffer(struct tw_reader *reader, struct tw_window *window, enum tw_fdr_layout layout, uint64_t from,
                     uint64_t to, bool *holds)
{
	enum { STEP = 1 << 16 };
	*holds = false;
	while (!*holds && to - from >= HELD) {
		size_t have, want = to - from < STEP ? (size_t)(to - from) : STEP;
		const uint8_t *bytes;
		int status = tw_window_view(window, from, want, &bytes, &have);
		if (status < 0)
			return tw_fail(reader, status, "%s", tw_input_error(reader->input));
		if (have < want)
			return 0;
		*holds = holds_start(bytes, want, layout);
		from += want - (HELD - 1);
	}
	return 0;
}

/* ---- Walking records, where the sizes cannot be trusted. ---- */

enum stop { STOP_NOT, STOP_START, STOP_PASSED, STOP_DAMAGE, STOP_END_OF_BUFFER, STOP_END };

struct buffer_walk {
	uint64_t at; /* where it stopped: after the last good record */
	enum stop why;
	bool met_mark; /* a record ended exactly at the mark */
	bool doubtful; /* the EndOfBuffer that it stopped at may be none */
};

/* Whether an event's size must be damaged: its payload holds the beginning of a buffer. What goes beyond the file is
 * wrong anyway: less has to be found there. */
static int judge_event(struct finder *f, uint64_t at, uint64_t need, enum stop *why)
{
	uint64_t left = f->size - at, found;
	bool damaged;
	int status;
	if (need <= left) {
		status =
		    fdr_holds_buffer(f->reader, f->window, f->log->header.layout, at + RECORD, at + need, &damaged);
	} else {
		status = scan(f, at + RECORD, f->size, &found);
		damaged = found < f->size;
	}
	if (damaged)
		*why = STOP_DAMAGE;
	else if (need > left)
		*why = STOP_END;
	return status;
}

/* Why a walk cannot go past a record, given what its decoder said; STOP_NOT when it can. */
static int judge_step(struct finder *f, uint64_t at, int decoded, uint64_t need, const struct tw_fdr_record *record,
                      enum stop *why)
{
	*why = STOP_NOT;
	if (decoded == 0)
		*why = STOP_END;
	else if (decoded < 0 && decoded != TW_ERR_ROOM)
		*why = STOP_DAMAGE;
	if (*why == STOP_NOT && record->payload_size)
		return judge_event(f, at, need, why);
	if (decoded == TW_ERR_ROOM)
		*why = STOP_END;
	return 0;
}

/* A size that was damaged may end inside the next buffer's NewBuffer, whose zeros then look like calls: WallTime gives
 * it away. Goes back to where the NewBuffer begins. */
static int stop_after_swallowed_start(struct finder *f, struct buffer_walk *walk)
{
	const uint8_t *bytes;
	size_t have;
	int status = tw_window_view(f->window, walk->at - RECORD, 2 * (size_t)RECORD, &bytes, &have);
	if (status < 0)
		return tw_fail(f->reader, status, "%s", tw_input_error(f->reader->input));
	if (have > RECORD && bytes[0] == first_byte(f->log, TW_FDR_NEW_BUFFER) &&
	    fdr_tells_time(f->log, bytes + RECORD, have - RECORD)) {
		walk->at -= RECORD;
		walk->why = STOP_PASSED;
	}
	return 0;
}

/* Whether an event has been decoded that goes beyond a place. */
static bool reaches_over(int decoded, uint64_t need, const struct tw_fdr_record *record, uint64_t left)
{
	return (decoded > 0 || decoded == TW_ERR_ROOM) && record->payload_size && need > left;
}

/* Goes on with a walk that began at `from`, up to a record that is at another place or goes beyond it: STOP_NOT. */
static int walk_on(struct finder *f, uint64_t from, uint64_t mark, uint64_t until, struct buffer_walk *walk)
{
	enum { STEP = 4096, ZEROS = 2 }; /* as many are none: pages of zeros are what is left of much damage */
	unsigned zeros = 0;
	if (f->window->chunk < STEP) /* who hops from border to border reads less */
		f->window->chunk = STEP;
	while (walk->at < until) {
		struct tw_fdr_decoder decoder = {.version = f->log->header.version, .layout = f->log->header.layout};
		struct tw_fdr_record record;
		int status = tw_window_view(f->window, walk->at, TW_FDR_HEADER_SIZE, &decoder.bytes, &decoder.left);
		if (status < 0)
			return tw_fail(f->reader, status, "%s", tw_input_error(f->reader->input));
		if (walk->at != from && fdr_is_header(f->log, decoder.bytes, decoder.left)) {
			walk->why = STOP_START;
			return 0;
		}
		if (decoder.left > f->size - walk->at)
			decoder.left = (size_t)(f->size - walk->at);
		int decoded = tw_fdr_next(&decoder, &record);
		if (reaches_over(decoded, decoder.need, &record, until - walk->at))
			return 0;
		status = judge_step(f, walk->at, decoded, decoder.need, &record, &walk->why);
		if (status < 0)
			return status;
		bool starts = record.kind == TW_FDR_NEW_BUFFER || record.kind == TW_FDR_BUFFER_EXTENTS;
		if (walk->why == STOP_NOT && starts && walk->at != from)
			walk->why = STOP_START;
		if (walk->why == STOP_NOT && record.kind == TW_FDR_WALL_TIME && walk->at > from + RECORD)
			status = stop_after_swallowed_start(f, walk);
		if (status < 0)
			return status;
		if (walk->why != STOP_NOT)
			return 0;
		zeros = fdr_is_zero(&record) ? zeros + 1 : 0;
		if (zeros == ZEROS) {
			walk->at -= (ZEROS - 1) * TW_FDR_FUNCTION_SIZE;
			walk->why = STOP_DAMAGE;
			return 0;
		}
		walk->at += decoder.need;
		walk->met_mark |= walk->at == mark;
		if (record.kind == TW_FDR_END_OF_BUFFER && f->log->header.version == 1) {
			walk->why = STOP_END_OF_BUFFER;
			walk->doubtful = !fdr_may_end(f->log, &record);
			return 0;
		}
	}
	return 0;
}

static int walk(struct finder *f, uint64_t from, uint64_t mark, struct buffer_walk *walk)
{
	*walk = (struct buffer_walk){.at = from, .met_mark = from == mark};
	return walk_on(f, from, mark, NO_LIMIT, walk);
}

/* Whether what begins here for certain is a buffer even in the midst of records that could be decoded: function ids may
 * look like NewBuffer and WallTime, but not like a part of a second in the one and the record behind them, or a size
 * before them that may be. by_extents: only that counts. */
static bool begins_buffer(const struct finder *f, const struct look *look, uint64_t at, bool by_extents)
{
	enum tw_fdr_layout layout = f->log->header.layout;
	if (by_extents)
		return look->extents && tw_load64(look->bytes + 1, layout != TW_FDR_LITTLE) <= f->size - at;
	size_t next = (look->extents ? 3 : 2) * (size_t)RECORD;
	uint8_t first = look->have > next ? look->bytes[next] : 0;
	return first && tw_load32(look->bytes + next - RECORD + MICROSECONDS, layout != TW_FDR_LITTLE) < 1000000 &&
	       (first == first_byte(f->log, TW_FDR_PID) || first == first_byte(f->log, TW_FDR_NEW_CPU_ID));
}

/* After a damaged size, or where bytes are missing, records may be decoded across the beginning of the next buffer:
 * where begins_buffer() in the bytes `from` to `to` of a walk, it ends. */
static int stop_at_swallowed(struct finder *f, uint64_t from, uint64_t to, bool by_extents, struct buffer_walk *w)
{
	for (uint64_t at = from, found; at < to; at = found + 1) {
		struct look look;
		int status = scan(f, at, to, &found);
		if (status >= 0 && found < to)
			status = look_at(f, found, &look);
		if (status < 0 || found >= to)
			return status;
		if (begins_buffer(f, &look, found, by_extents)) {
			w->at = found;
			w->why = STOP_PASSED;
			return 0;
		}
	}
	return 0;
}

/* Walks, and looks for such beginnings, by extents, before it goes much further: if each of many walks went to the end
 * of the file first, they would take for ever. */
static int walk_and_look(struct finder *f, uint64_t from, uint64_t mark, struct buffer_walk *w)
{
	enum { FIRST_SPAN = 1024 };
	uint64_t looked = from + 1;
	int status = 0;
	*w = (struct buffer_walk){.at = from, .met_mark = from == mark};
	for (uint64_t span = FIRST_SPAN; status >= 0 && w->why == STOP_NOT; span *= 2) {
		const uint64_t until = span < f->size - from ? from + span : NO_LIMIT;
		status = walk_on(f, from, mark, until, w);
		const uint64_t to = w->why == STOP_NOT ? until : w->at;
		if (status >= 0)
			status = stop_at_swallowed(f, looked, to, true, w);
		looked = to;
	}
	return status;
}

/* ---- Borders. ---- */

/* Bytes up to the next certain buffer belong to none. */
static int find_junk(struct finder *f, struct fdr_buffer *buffer)
{
	int status = scan(f, buffer->offset + 1, f->size, &buffer->next);
	buffer->end = buffer->offset;
	if (status < 0)
		return status;
	uint64_t found = buffer->next - buffer->offset;
	tw_report(f->reader, &fdr_rules[FDR_JUNK], buffer->offset, buffer->offset, 0,
	          "expected a buffer, found %" PRIu64 " byte%s that belong%s to none", found, tw_plural(found),
	          found == 1 ? "s" : "");
	return 1;
}

static void report_wrong_extents(struct finder *f, struct fdr_buffer *buffer)
{
	const struct fdr_log *log = f->log;
	uint64_t body = buffer->offset + RECORD;
	buffer->cut = buffer->end == f->size && buffer->extents > f->size - body;
	if (buffer->cut)
		tw_report(f->reader, &fdr_rules[FDR_BUFFER_TRUNCATED], buffer->offset, f->size, 0,
		          "expected %" PRIu64 " byte%s of records, found the end of the file after %" PRIu64,
		          buffer->extents, tw_plural(buffer->extents), f->size - body);
	else
		tw_report(f->reader, &fdr_rules[FDR_EXTENTS_WRONG], buffer->offset,
		          buffer->offset + (log->header.layout == TW_FDR_LITTLE ? 1 : 8), 0,
		          "BufferExtents says %" PRIu64 " byte%s, the records go on for %" PRIu64, buffer->extents,
		          tw_plural(buffer->extents), buffer->end - body);
}

/* Whether the next buffer begins as this one does: then this is a copy of its beginning, and belongs to none. */
static int is_begun_twice(struct finder *f, struct fdr_buffer *buffer, bool *twice)
{
	struct look look;
	uint8_t lead[4 * RECORD];
	int status = look_at(f, buffer->next, &look);
	if (status < 0 || look.have < sizeof lead)
		return status;
	memcpy(lead, look.bytes, sizeof lead);
	status = look_at(f, buffer->offset, &look);
	*twice = status >= 0 && look.have >= sizeof lead && memcmp(lead, look.bytes, sizeof lead) == 0;
	if (!*twice)
		return status;
	buffer->has_thread = false;
	buffer->end = buffer->offset;
	tw_report(f->reader, &fdr_rules[FDR_BUFFER_TWICE], buffer->offset, buffer->offset, 0,
	          "the beginning of the buffer at 0x%" PRIx64 ": read there", buffer->next);
	return 0;
}

/* Whether the records that go on from one place up to where a size leads are at the wrong byte, or doubled: some of the
 * buffer are missing, or too many. */
static int find_misplaced(struct finder *f, uint64_t from, uint64_t to, bool *misplaced)
{
	const uint64_t until = f->size - to < to - from ? f->size : to + (to - from);
	uint64_t next;
	int status = scan(f, to, until, &next);
	if (status >= 0)
		status = fdr_find_misplaced(f->reader, f->log, f->window, from, to, next, misplaced);
	return status;
}

/* The size in BufferExtents does not lead to a buffer: decodes to see what holds. */
static int mend_extents(struct finder *f, struct fdr_buffer *buffer, uint64_t declared)
{
	struct buffer_walk w;
	struct look look;
	bool twice = false, misplaced = false;
	buffer->searched = true;
	int status = walk_and_look(f, buffer->offset + RECORD, declared, &w);
	if (status < 0)
		return status;
	status = look_at(f, w.at, &look);
	if (status < 0)
		return status;
	if (w.why == STOP_START && !look.sure)
		w.why = STOP_DAMAGE;
	bool goes_on = w.at != declared && w.why == STOP_START && look.extents;
	bool passed = w.at < declared && w.why == STOP_PASSED;
	bool met = w.met_mark && !goes_on && !passed;
	if (met && (status = find_misplaced(f, buffer->offset, declared, &misplaced)) < 0)
		return status;
	if (met && !misplaced) { /* the size is right, what follows it is not */
		buffer->end = buffer->next = declared;
		return 1;
	}
	buffer->end = buffer->next = w.at;
	if (w.why == STOP_DAMAGE && (status = scan(f, w.at, f->size, &buffer->next)) < 0)
		return status;
	if (w.why == STOP_END)
		buffer->end = buffer->next = f->size;
	else if (w.why == STOP_DAMAGE)
		buffer->end = buffer->next;
	if (buffer->next < declared && w.why != STOP_END && (status = is_begun_twice(f, buffer, &twice)) < 0)
		return status;
	if (twice)
		return 1;
	status = fdr_find_end(f->reader, f->log, f->window, buffer, declared);
	if (status < 0)
		return status;
	buffer->excess = declared < buffer->next ? buffer->next - declared : 0;
	if (buffer->next != declared)
		report_wrong_extents(f, buffer);
	return 1;
}

/* Looks at extents above the buffer size: either the buffer is that long, or they lead over other buffers to a later
 * one. */
static int check_overrun(struct finder *f, struct fdr_buffer *buffer)
{
	struct finder inside = {.reader = f->reader, .log = f->log, .window = f->window, .size = buffer->end};
	struct buffer_walk w;
	int status = walk(&inside, buffer->offset + RECORD, NO_LIMIT, &w);
	if (status < 0)
		return status;
	if (w.why == STOP_START) {
		buffer->end = buffer->next = w.at;
		report_wrong_extents(f, buffer);
		return 1;
	}
	tw_report(f->reader, &fdr_rules[FDR_BUFFER_OVERRUN], buffer->offset, buffer->offset + 1, 0,
	          "the buffer is %" PRIu64 " byte%s long, the header's buffer size is %" PRIu64, buffer->extents,
	          tw_plural(buffer->extents), f->log->header.buffer_size);
	return 1;
}

static int find_by_extents(struct finder *f, struct fdr_buffer *buffer)
{
	uint64_t body = buffer->offset + RECORD, room = f->size - body;
	uint64_t limit = f->log->header.buffer_size;
	struct look look = {0};
	if (buffer->extents <= room) {
		buffer->end = buffer->next = body + buffer->extents;
		buffer->filled = fdr_is_flight(&f->log->header);
		int status = buffer->filled ? fdr_flight_next(f->reader, f->window, buffer->offset, &buffer->next) : 0;
		if (status >= 0)
			status = look_at(f, buffer->next, &look);
		if (status < 0)
			return status;
	}
	bool trusted = buffer->extents <= room && (buffer->next == f->size || look.follows);
	if (trusted && (buffer->extents <= limit || limit == 0))
		return 1;
	if (!trusted)
		return mend_extents(f, buffer, buffer->extents <= room ? buffer->next : NO_LIMIT);
	return check_overrun(f, buffer);
}

/* Version 1: where the header's buffer size leads, if a buffer or the end of the file is there; 0 if not. Where all
 * stand at multiples of the size, the beginning of the next ones may be damaged. */
static int filled_end(struct finder *f, const struct fdr_buffer *buffer, uint64_t *end)
{
	enum { DAMAGED = 3 };
	const uint64_t size = f->log->header.buffer_size;
	*end = 0;
	if (f->log->header.version != 1 || size < RECORD)
		return 0;
	const uint64_t most = (buffer->offset - TW_FDR_HEADER_SIZE) % size ? 1 : 1 + DAMAGED;
	for (uint64_t i = 1; !*end && i <= most && size <= (f->size - buffer->offset) / i; i++) {
		struct look look;
		int status = look_at(f, buffer->offset + i * size, &look);
		if (status < 0)
			return status;
		if (buffer->offset + i * size == f->size || look.strong)
			*end = buffer->offset + size;
	}
	return 0;
}

/* Version 1 after EndOfBuffer: the next buffer follows at once, as LLVM reads it, or after fill, as the document
 * says. */
static int find_after_end(struct finder *f, struct fdr_buffer *buffer, uint64_t filled)
{
	uint64_t at = buffer->end;
	struct look look;
	int status = look_at(f, at, &look);
	if (status < 0)
		return status;
	buffer->filled = filled && !look.strong;
	buffer->next = buffer->filled ? filled : at;
	if (buffer->filled || look.weak || at == f->size)
		return 1;
	uint64_t size = f->log->header.buffer_size;
	buffer->filled = size > f->size - buffer->offset; /* the file is cut in the fill */
	status = scan(f, at, f->size, &buffer->next);
	return status < 0 ? status : 1;
}

/* The file ends without the buffer's end: in version 1 there is no EndOfBuffer, later a record is cut. */
static void end_with_file(struct finder *f, struct fdr_buffer *buffer, uint64_t at)
{
	buffer->end = buffer->next = f->size;
	buffer->cut = f->log->header.version == 1 || at != f->size;
	if (buffer->cut)
		tw_report(f->reader, &fdr_rules[FDR_BUFFER_TRUNCATED], buffer->offset, f->size, 0,
		          "expected %s, found the end of the file",
		          at != f->size ? "the rest of a record" : "an EndOfBuffer record");
}

/* Whether a walk ended where a buffer may end: what was walked is then no damage, whatever it looks like. */
static bool ended_well(const struct finder *f, const struct buffer_walk *w, const struct look *next, uint64_t filled)
{
	if (f->log->header.version == 1)
		return w->why == STOP_END_OF_BUFFER && (w->at == f->size || next->strong || w->at <= filled);
	return (w->why == STOP_START && next->strong) || (w->why == STOP_END && w->at == f->size);
}

/* How far to walk where a buffer seems to begin at a distance: to see whether all ends well behind it, but not so far
 * that each of many buffers would take the whole rest of the file. */
static uint64_t reach_over(uint64_t from, uint64_t distance)
{
	enum { LEAST = 1 << 12, TIMES = 32 };
	uint64_t reach = distance < NO_LIMIT / TIMES ? distance * TIMES : NO_LIMIT;
	reach = reach < LEAST ? LEAST : reach;
	return reach < NO_LIMIT - from ? from + reach : NO_LIMIT;
}

/* Walks, but not on where it is sure that the next buffer begins. */
static int walk_to_next(struct finder *f, uint64_t from, uint64_t filled, struct buffer_walk *w)
{
	enum { FIRST_SPAN = 1024 };
	struct finder inside = *f;
	struct buffer_walk swallowed = {.why = STOP_NOT};
	uint64_t looked = from + 1, limit = NO_LIMIT;
	int status = 0;
	if (filled && f->size - filled > RECORD)
		inside.size = filled + RECORD;
	*w = (struct buffer_walk){.at = from};
	for (uint64_t span = FIRST_SPAN; status >= 0 && w->why == STOP_NOT; span *= 2) {
		uint64_t until = span < inside.size - from ? from + span : NO_LIMIT;
		until = until < limit ? until : limit;
		status = walk_on(&inside, from, NO_LIMIT, until, w);
		const uint64_t to = w->why == STOP_NOT ? until : w->at;
		if (status >= 0 && swallowed.why == STOP_NOT && looked < to)
			status = stop_at_swallowed(f, looked, to, false, &swallowed);
		looked = to;
		if (w->why == STOP_NOT && until == limit)
			*w = swallowed;
		else if (swallowed.why != STOP_NOT)
			limit = reach_over(from, swallowed.at - from);
	}
	return status;
}

/* The buffer ends where a walk did, or where the next one begins for certain behind damage. */
static int find_after_walk(struct finder *f, struct fdr_buffer *buffer, const struct buffer_walk *w,
                           const struct look *look)
{
	int status = 0;
	if (w->why == STOP_END)
		end_with_file(f, buffer, w->at);
	else if (w->why != STOP_PASSED && !(w->why == STOP_START && look->sure))
		status = scan(f, w->at, f->size, &buffer->next);
	buffer->end = buffer->next;
	return status;
}

static int find_by_walking(struct finder *f, struct fdr_buffer *buffer)
{
	struct buffer_walk w;
	struct look look;
	uint64_t filled;
	int status = filled_end(f, buffer, &filled);
	if (status >= 0)
		status = walk_to_next(f, buffer->offset, filled, &w);
	if (status >= 0)
		status = look_at(f, w.at, &look);
	if (status >= 0 && !ended_well(f, &w, &look, filled)) {
		buffer->searched = true;
		if (w.doubtful)
			w.why = STOP_DAMAGE;
		status = stop_at_swallowed(f, buffer->offset + 1, w.at, false, &w);
		if (status >= 0)
			status = look_at(f, w.at, &look);
	}
	if (status < 0)
		return status;
	buffer->end = buffer->next = w.at;
	if (w.why == STOP_END_OF_BUFFER && (!filled || w.at <= filled))
		status = find_after_end(f, buffer, filled);
	else if (!filled || (w.at <= filled && look.strong))
		status = find_after_walk(f, buffer, &w, &look);
	else /* damaged: its place is known all the same */
		buffer->end = buffer->next = filled;
	if (status >= 0 && buffer->searched && buffer->next != filled)
		status = fdr_find_end(f->reader, f->log, f->window, buffer, NO_LIMIT);
	return status < 0 ? status : 1;
}

/* ---- What a buffer begins with. ---- */

static void take_lead_record(const struct fdr_log *log, const struct tw_fdr_record *record, struct fdr_buffer *buffer)
{
	switch ((unsigned)record->kind) {
	case TW_FDR_BUFFER_EXTENTS:
		buffer->extents = record->value;
		break;
	case TW_FDR_NEW_BUFFER:
		buffer->thread = fdr_thread_of(&log->header, record->value);
		buffer->wide_thread = buffer->thread == (uint32_t)record->value;
		buffer->has_new_buffer = true;
		break;
	case TW_FDR_WALL_TIME:
		if (record->value < UINT64_MAX / 2000000)
			buffer->wall_us = record->value * 1000000 + record->microseconds;
		if (!buffer->wall_us) /* no clock says that: it is what version 1 needs where nothing is known */
			buffer->wall_us = UINT64_MAX;
		break;
	case TW_FDR_PID:
		buffer->process = (uint32_t)record->value;
		break;
	case TW_FDR_NEW_CPU_ID:
		buffer->tsc = record->tsc;
		break;
	}
}

/* Takes the records before the first that is timed by a delta. */
static void take_lead(const struct fdr_log *log, const struct look *look, struct fdr_buffer *buffer)
{
	struct tw_fdr_decoder decoder = {.bytes = look->bytes,
	                                 .left = look->have,
	                                 .version = log->header.version,
	                                 .layout = log->header.layout};
	struct tw_fdr_record record;
	bool seen[TW_FDR_KINDS] = {0};
	while (buffer->tsc == UINT64_MAX && tw_fdr_next(&decoder, &record) > 0) {
		if ((unsigned)record.kind < FDR_METADATA || seen[record.kind])
			break;
		seen[record.kind] = true;
		take_lead_record(log, &record, buffer);
	}
}

/* Reports what the first records should have been. */
static void check_lead(struct finder *f, const struct look *look, const struct fdr_buffer *buffer)
{
	uint16_t version = f->log->header.version;
	uint64_t at = buffer->offset;
	if (version == 1 && look->extents)
		tw_report(f->reader, &fdr_rules[FDR_EXTENTS_UNEXPECTED], at, at, 0,
		          "a log of version 1 has a BufferExtents record");
	if (version >= 2 && !look->extents)
		tw_report(f->reader, &fdr_rules[FDR_EXTENTS_MISSING], at, at, 0,
		          "expected BufferExtents, found NewBuffer");
	if (!buffer->thread_believed)
		tw_report(f->reader, &fdr_rules[FDR_NEW_BUFFER_MISSING], at, at + RECORD, 0,
		          "no other buffer is of NewBuffer's thread %" PRIu64
		          ", and no WallTime follows: the thread is unknown",
		          buffer->thread);
	else if (!buffer->has_new_buffer)
		tw_report(f->reader, &fdr_rules[FDR_NEW_BUFFER_MISSING], at, at + RECORD, 0,
		          "expected NewBuffer after BufferExtents: the thread is unknown");
	else if (!buffer->wide_thread)
		tw_report(f->reader, &fdr_rules[FDR_THREAD_ID], at, at + 1, 0,
		          "the 4-byte thread id is impossible, its 2 bytes say %" PRIu64, buffer->thread);
}

int fdr_find_buffer(struct tw_reader *reader, const struct fdr_log *log, struct tw_window *window, uint64_t offset,
                    struct fdr_buffer *buffer)
{
	struct finder f = {.reader = reader, .log = log, .window = window, .size = tw_input_size(reader->input)};
	struct look look;
	if (fdr_is_basic(log))
		return fdr_find_run(reader, log, window, offset, buffer);
	*buffer =
	    (struct fdr_buffer){.offset = offset, .wall_us = UINT64_MAX, .tsc = UINT64_MAX, .extents = UINT64_MAX};
	int status = fdr_pass_header(reader, log, window, &buffer->offset);
	if (status >= 0 && fdr_is_flight(&log->header))
		status = fdr_flight_first(reader, window, &buffer->offset);
	offset = buffer->offset;
	if (status < 0 || offset >= f.size)
		return status;
	status = look_at(&f, offset, &look);
	if (status < 0)
		return status;
	if (look.have == 0)
		return 0;
	if (!look.weak)
		return find_junk(&f, buffer);
	if (look.extents && look.have < RECORD) {
		buffer->end = buffer->next = f.size;
		buffer->cut = true;
		tw_report(reader, &fdr_rules[FDR_BUFFER_TRUNCATED], offset, f.size, 0,
		          "expected a BufferExtents record of 16 bytes, found the end of the file after %zu",
		          look.have);
		return 1;
	}
	take_lead(log, &look, buffer);
	buffer->has_thread = buffer->thread_believed = true;
	if (buffer->has_new_buffer && !look.strong && buffer->thread)
		status = fdr_check_thread(reader, log, (uint32_t)buffer->thread, &buffer->thread_believed);
	if (status < 0)
		return status;
	check_lead(&f, &look, buffer);
	buffer->has_new_buffer &= buffer->thread_believed && (look.strong || buffer->thread);
	buffer->thread = buffer->has_new_buffer ? buffer->thread : 0;
	return look.extents ? find_by_extents(&f, buffer) : find_by_walking(&f, buffer);
}

void fdr_log_free(struct fdr_log *log)
{
	if (!log)
		return;
	free(log->places);
	free(log->threads);
	tw_text_free(&log->notes);
	free(atomic_load(&log->known));
	free(log);
}
