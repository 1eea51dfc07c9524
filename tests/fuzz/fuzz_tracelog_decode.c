/* fuzz_tracelog_decode.c - any bytes as lines of TraceLog: what decodes encodes, to the same bytes where nothing is
 * odd. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#include <trackway/tracelog.h>

#include "tracelog/format/fast_decode.h"
#include "tracelog/format/layout.h"
#include "tracelog/lines/line_block.h"

static bool inside(struct tw_tracelog_text text, const uint8_t *bytes, size_t size)
{
	return text.bytes >= bytes && text.bytes <= bytes + size && text.size <= (size_t)(bytes + size - text.bytes);
}

static void check_texts(const struct tw_tracelog_record *record, const uint8_t *bytes, size_t size)
{
	const struct tw_tracelog_text texts[] = {record->name, record->value, record->return_type, record->signature,
	                                         record->list};
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		fuzz_require(!texts[i].bytes || inside(texts[i], bytes, size), "texts point into the line");
}

/* Goes through the list. Returns whether all items are good; adds what is odd in them. */
static bool check_list(const struct tw_tracelog_record *record, unsigned *odd)
{
	struct tw_tracelog_text list = record->list;
	bool good = true;
	for (;;) {
		struct tw_tracelog_item item;
		struct tw_tracelog_fault fault;
		struct tw_tracelog_text before = list;
		int status = tw_tracelog_next(record, &list, &item, &fault);
		if (status == 0)
			return good;
		fuzz_require(list.size < before.size && inside(list, before.bytes, before.size), "a list moves on");
		fuzz_require(status > 0 || (fault.expected && inside(fault.found, before.bytes, before.size)),
		             "a fault of an item says where");
		good &= status > 0;
		*odd |= item.odd;
	}
}

static void back_and_forth(const uint8_t *line, size_t size, const struct tw_tracelog_record *record)
{
	unsigned odd = record->odd;
	bool good = check_list(record, &odd);
	size_t room = 3 * record->size + 512;
	uint8_t *once = malloc(room), *twice = malloc(room);
	fuzz_require(once && twice, "memory is enough");
	int64_t took = tw_tracelog_encode(record, once, room);
	fuzz_require(good ? took > 0 : took == TW_ERR_VALUE, "what decodes can be encoded");
	if (good) {
		struct tw_tracelog_record again;
		struct tw_tracelog_fault fault;
		unsigned odd_again = 0;
		fuzz_require((odd & ~(unsigned)TW_TRACELOG_QUOTES) ||
		                 ((size_t)took == size && memcmp(once, line, size) == 0),
		             "a line is encoded as it was");
		fuzz_require(tw_tracelog_decode(once, (size_t)took, &again, &fault) == 0, "what is encoded decodes");
		fuzz_require(check_list(&again, &odd_again), "with its list");
		fuzz_require(((odd_again | again.odd) & ~(unsigned)TW_TRACELOG_QUOTES) == 0, "nothing odd is encoded");
		int64_t size_again = tw_tracelog_encode(&again, twice, room);
		fuzz_require(size_again == took && memcmp(once, twice, (size_t)took) == 0,
		             "encoding twice changes nothing");
		fuzz_require(tw_tracelog_dialects(record) != 0, "a record is of some dialect");
	}
	free(once);
	free(twice);
}

static bool same_items(const struct tracelog_fast_lists *lists, const struct tw_tracelog_record *record)
{
	struct tw_tracelog_text list = record->list;
	struct tw_tracelog_item item;
	struct tw_tracelog_fault fault;
	bool same = true, frames = record->kind == TW_TRACELOG_SAM_STR;
	size_t i = 0;
	for (; tw_tracelog_next(record, &list, &item, &fault) > 0 && same; i++) {
		fuzz_require(i < lists->frame_count + lists->allocation_count, "no item is left out");
		const struct tracelog_frame *frame = frames ? &lists->frames[i] : NULL;
		const struct tracelog_allocation *allocation = frames ? NULL : &lists->allocations[i];
		uint64_t ip = item.ip_known ? item.ip : 0;
		same = item.odd == 0 && (frames ? frame->iid == item.iid && frame->ip == ip
		                                : allocation->iid == item.iid && allocation->count == item.count &&
		                                      allocation->bytes == item.bytes && allocation->ip == ip);
	}
	return same && i == lists->frame_count + lists->allocation_count;
}

/* Whether as much as is told by who wants little of a plain line is what is told by who wants all. */
static bool same_judged(const struct tracelog_fast_line *entry, const uint8_t *line, const uint8_t *next)
{
	struct tracelog_fast_line judged = {0};
	if (tracelog_fast_decode_head(&judged, line) != next)
		return false;
	return !next || (judged.kind == entry->kind && judged.ms == entry->ms && judged.ip_known == entry->ip_known &&
	                 judged.ip_style == entry->ip_style && judged.thread == entry->thread &&
	                 (entry->kind != TRACELOG_SAMPLE || judged.number == entry->number));
}

/* The same for what is read of plain lines alone. */
static void check_plain(const uint8_t *line, size_t size)
{
	struct tracelog_fast_lists lists = {0};
	struct tracelog_fast_line entry = {0};
	struct tw_tracelog_record record;
	struct tw_tracelog_fault fault;
	uint8_t *slack = calloc(1, size + TRACELOG_SLACK);
	fuzz_require(slack != NULL, "memory is enough");
	memcpy(slack, line, size);
	const uint8_t *next = line[size - 1] == '\n' ? tracelog_fast_decode(&lists, &entry, slack) : NULL;
	fuzz_require(line[size - 1] != '\n' || same_judged(&entry, slack, next), "little is told as all is");
	if (next) {
		fuzz_require(next == slack + size, "a plain line ends with the line");
		fuzz_require(tw_tracelog_decode(line, size, &record, &fault) == 0 && record.odd == 0,
		             "what is plain can be read");
		bool usage = record.kind == TW_TRACELOG_THR_CPU || record.kind == TW_TRACELOG_PRC_CPU;
		bool sample = record.kind == TW_TRACELOG_SAM_STR;
		fuzz_require(record.kind == tracelog_kind_of_line(entry.kind) && record.ms == entry.ms &&
		                 (record.kind == TW_TRACELOG_PRC_CPU || record.thread == entry.thread) &&
		                 (!usage || record.us == entry.number) &&
		                 (!sample || (record.count == entry.number && record.match == entry.match &&
		                              record.depth == entry.depth && record.has_ip == entry.has_ip &&
		                              (record.ip_known ? record.ip : 0) == entry.ip)) &&
		                 same_items(&lists, &record),
		             "and means the same");
		fuzz_require(tw_tracelog_dialects(&record) ==
		                 tracelog_dialects_by(record.kind, entry.ip_known, entry.ip_style),
		             "of the same dialects");
	}
	tracelog_fast_lists_free(&lists);
	free(slack);
}

static void check_line(const uint8_t *line, size_t size)
{
	check_plain(line, size);
	struct tw_tracelog_record record;
	struct tw_tracelog_fault fault = {0};
	int status = tw_tracelog_decode(line, size, &record, &fault);
	fuzz_require(record.size == size, "a record has the size of its line");
	check_texts(&record, line, size);
	if (status == 0) {
		back_and_forth(line, size, &record);
		return;
	}
	fuzz_require(status == TW_ERR_FORMAT && fault.expected && fault.at <= size, "a fault says where");
	fuzz_require(inside(fault.found, line, size), "and what is there");
}

FUZZ_TARGET(tracelog_decode, const uint8_t *bytes, size_t size)
{
	if (size < 1)
		return 0;
	for (size_t at = 1; at < size;) {
		const uint8_t *end = memchr(bytes + at, '\n', size - at);
		size_t length = end ? (size_t)(end - bytes) + 1 - at : size - at;
		uint8_t *line = malloc(length); /* of its own, so that the sanitizer sees what reads beyond */
		fuzz_require(line != NULL, "memory is enough");
		memcpy(line, bytes + at, length);
		check_line(line, length);
		free(line);
		at += length;
	}
	return 0;
}
