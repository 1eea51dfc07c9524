/* load.c - what is in an image: its header, its chunks, and all that stands in durable ones. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/bytes/bytes.h"
#include "base/bytes/temporary.h"
#include "base/bytes/whole.h"
#include "base/memory/memory.h"
#include "image/image.h"

#include <trackway/status.h>
#include <trackway/trace.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Numbers of strings, labels and threads are given out one after the other: one beyond all that an image of its size
 * could hold is damage. */
enum { LEAST_DURABLE = 16 };

bool trace_image_probe(const uint8_t *bytes, size_t size)
{
	return size >= IMAGE_WORD && tw_load64(bytes, false) == IMAGE_MAGIC;
}

static void note_damage(struct trace_image *image, uint64_t offset, uint64_t size)
{
	image->damage = image->damaged ? image->damage : offset;
	image->damaged += size;
}

/* Reads as much as is there; what is missing is zero. Returns 0 or a negative status. */
static int read_at(const struct trace_image *image, uint64_t offset, void *bytes, size_t size)
{
	int64_t n = tw_input_read(image->input, offset, bytes, size);
	if (n >= 0 && (size_t)n < size)
		memset((uint8_t *)bytes + n, 0, size - (size_t)n);
	return n < 0 ? (int)n : 0;
}

/* The file of a program that goes on has grown before its header says so. */
static int read_header(struct trace_image *image)
{
	int status = read_at(image, 0, &image->header, sizeof image->header);
	tw_input_measure(image->input);
	return status;
}

/* ---- A ring that is written while it is read: its chunks are copied before anything is made of them, to their offsets
 * in a file without a name. ---- */

static int open_copy(struct trace_image *image, const char *directory)
{
	if (image->header.mode != TW_TRACE_CIRCULAR || image->header.now.state == IMAGE_COMPLETE)
		return 0;
	image->copy = tw_temporary_open(directory);
	image->copied = image->copy >= 0;
	return image->copied ? 0 : TW_ERR_SYSTEM;
}

static void close_copy(struct trace_image *image)
{
	if (image->copied)
		close(image->copy);
	image->copied = false;
}

static int64_t get_copy(const struct trace_image *image, uint64_t offset, uint8_t *bytes, size_t size)
{
	size_t done = 0;
	while (done < size) {
		ssize_t n = pread(image->copy, bytes + done, size - done, (off_t)(offset + done));
		if (n == 0 || (n < 0 && errno != EINTR))
			return TW_ERR_SYSTEM;
		done += n > 0 ? (size_t)n : 0;
	}
	return (int64_t)done;
}

/* ---- Chunks. ---- */

static bool is_chunk(const struct image_chunk *head)
{
	return head->magic == IMAGE_CHUNK_MAGIC && head->size >= IMAGE_CHUNK_LEAST && head->size <= IMAGE_CHUNK_MOST &&
	       head->size % IMAGE_PAGE == 0 && head->committed <= head->size - IMAGE_CHUNK_HEAD &&
	       head->committed % IMAGE_WORD == 0;
}

int64_t trace_image_copy(const struct trace_image *image, const struct trace_image_chunk *chunk, uint8_t *bytes)
{
	struct image_chunk head;
	if (image->copied && chunk->kept)
		return get_copy(image, chunk->offset, bytes, (size_t)chunk->committed);
	int status = read_at(image, chunk->offset + IMAGE_CHUNK_HEAD, bytes, (size_t)chunk->committed);
	status = status < 0 ? status : read_at(image, chunk->offset, &head, sizeof head);
	if (status < 0)
		return status;
	bool ring = image->header.mode == TW_TRACE_CIRCULAR; /* what is committed stays where it is otherwise */
	bool same = (!ring || head.owner == chunk->owner) && head.committed >= chunk->committed;
	return same ? (int64_t)chunk->committed : 0;
}

/* ---- Durable records. ---- */

static uint64_t durable_most(const struct trace_image *image)
{
	return tw_input_size(image->input) / LEAST_DURABLE;
}

/* Makes room for a number in a table, and tells whether one may be so great. */
#define PLACE(table, number, most)                                                                                     \
	((number) && (number) <= (most) &&                                                                             \
	 tw_grow(&(table)->items, &(table)->room, (size_t)(number) + 1, sizeof *(table)->items) &&                     \
	 ((table)->count = (table)->count > (number) ? (table)->count : (size_t)(number) + 1))

static bool take_string(struct trace_image *image, const struct trace_image_record *record, uint64_t most)
{
	if (!PLACE(&image->strings, record->number, most))
		return false;
	image->strings.items[record->number] = (struct trace_image_text){
	    .offset = image->texts.length,
	    .length = (uint32_t)record->payload_size,
	    .defined = true,
	};
	return tw_text_add(&image->texts, (const char *)record->payload, record->payload_size);
}

static bool take_label(struct trace_image *image, const struct trace_image_record *record, uint64_t most)
{
	if (!PLACE(&image->labels, record->number, most))
		return false;
	image->labels.items[record->number].category = (uint32_t)record->time;
	image->labels.items[record->number].name = (uint32_t)(record->time >> 32);
	return true;
}

static bool take_thread(struct trace_image *image, const struct trace_image_record *record, uint64_t most)
{
	if (!PLACE(&image->threads, record->number, most))
		return false;
	struct trace_image_thread *thread = &image->threads.items[record->number];
	thread->process = record->time;
	thread->thread = record->second;
	thread->defined = true;
	return true;
}

static bool take_thread_name(struct trace_image *image, const struct trace_image_record *record, uint64_t most)
{
	if (!PLACE(&image->threads, record->number, most))
		return false;
	image->threads.items[record->number].name = (uint32_t)record->time;
	return true;
}

static bool take_object(struct trace_image *image, const struct trace_image_record *record, uint64_t most)
{
	(void)most;
	return tw_text_add(&image->objects, (const char *)record->at, record->size);
}

/* Events that a thread had no room for. False where there is no such thread: nobody's, then. */
static bool add_drops(struct trace_image *image, uint32_t thread, uint64_t dropped, uint64_t most)
{
	image->dropped += dropped;
	if (!PLACE(&image->threads, thread, most))
		return false;
	image->threads.items[thread].dropped += dropped;
	return true;
}

static bool take_drops(struct trace_image *image, const struct trace_image_record *record, uint64_t most)
{
	return add_drops(image, record->number, record->time, most);
}

static bool take_pair(struct trace_image *image, const struct trace_image_record *record, uint64_t most)
{
	(void)most;
	return trace_image_times_add(&image->times, (struct image_pair){record->time, record->second});
}

typedef bool take_fn(struct trace_image *image, const struct trace_image_record *record, uint64_t most);

static take_fn *const takers[] = {
    [IMAGE_STRING] = take_string, [IMAGE_LABEL] = take_label,
    [IMAGE_THREAD] = take_thread, [IMAGE_THREAD_NAME] = take_thread_name,
    [IMAGE_OBJECT] = take_object, [IMAGE_DROPS] = take_drops,
    [IMAGE_PAIR] = take_pair,
};

static void take_durable(struct trace_image *image, const struct trace_image_chunk *chunk, const uint8_t *bytes,
                         size_t size)
{
	struct trace_image_record record;
	const uint64_t most = durable_most(image);
	for (size_t at = 0; at < size; at += record.size) {
		bool fine = trace_image_record(bytes + at, size - at, &record) &&
		            record.kind < sizeof takers / sizeof *takers && takers[record.kind] &&
		            takers[record.kind](image, &record, most);
		if (!fine) {
			note_damage(image, chunk->offset + IMAGE_CHUNK_HEAD + at, size - at);
			return;
		}
	}
}

/* ---- Slots. ---- */

/* Depth first, scopes then: what has been closed in between is found by its record. */
static void take_slots(struct trace_image *image, const uint8_t *bytes, size_t size)
{
	struct image_slot slot;
	const uint64_t most = durable_most(image);
	for (size_t at = 0; size - at >= sizeof slot; at += sizeof slot) {
		memcpy((void *)&slot, bytes + at, sizeof slot);
		uint32_t depth = slot.depth < IMAGE_DEPTH ? slot.depth : IMAGE_DEPTH;
		if (slot.dropped)
			add_drops(image, slot.thread, slot.dropped, most);
		if (!slot.thread || !tw_grow(&image->scopes.items, &image->scopes.room, image->scopes.count + depth,
		                             sizeof *image->scopes.items))
			continue;
		for (uint32_t i = 0; i < depth; i++)
			image->scopes.items[image->scopes.count++] =
			    (struct trace_image_scope){.begin = slot.scopes[i].begin,
			                               .label = slot.scopes[i].label,
			                               .thread = slot.thread};
	}
}

/* ---- All chunks. ---- */

enum pass { SLOTS, EVENTS, DURABLE };

/* The pass that takes a chunk, by its owner. */
static enum pass pass_of(uint64_t owner)
{
	uint32_t whose = (uint32_t)owner;
	return whose == IMAGE_DURABLE ? DURABLE : whose == IMAGE_SLOTS ? SLOTS : EVENTS;
}

static int list_chunk(struct trace_image *image, const struct trace_image_chunk *chunk, struct image_pair pair)
{
	if (!tw_grow(&image->chunks.items, &image->chunks.room, image->chunks.count + 1, sizeof *chunk) ||
	    (pair.ticks && !trace_image_times_add(&image->times, pair)))
		return TW_ERR_MEMORY;
	image->chunks.items[image->chunks.count++] = *chunk;
	return 0;
}

/* Copies a chunk as it is now, which may be another's every time that it is looked at. The owner is read first: then
 * `committed` is that owner's, too. */
static int keep_chunk(struct trace_image *image, struct trace_image_chunk *chunk, struct image_pair *pair,
                      uint8_t *bytes)
{
	enum { TRIES = 4 };
	struct image_chunk head;
	int64_t size = 0;
	int status = 0;
	for (int i = 0; i < TRIES && size == 0 && status == 0; i++) {
		status = read_at(image, chunk->offset, &head, sizeof head);
		chunk->owner = head.owner;
		status = status < 0 ? status : read_at(image, chunk->offset, &head, sizeof head);
		chunk->committed = head.owner == chunk->owner && is_chunk(&head) ? head.committed : 0;
		*pair = head.pair;
		size = status < 0 ? status : trace_image_copy(image, chunk, bytes);
	}
	if (size <= 0)
		return (int)size;
	chunk->kept = true;
	return tw_write_whole_at(image->copy, bytes, (size_t)size, chunk->offset) ? TW_ERR_SYSTEM : 0;
}

static int take_chunk(struct trace_image *image, enum pass pass, struct trace_image_chunk *chunk,
                      const struct image_chunk *head, uint8_t *bytes)
{
	if (pass == EVENTS) {
		struct image_pair pair = head->pair;
		int status = image->copied ? keep_chunk(image, chunk, &pair, bytes) : 0;
		return status < 0 || (image->copied && !chunk->kept) ? status : list_chunk(image, chunk, pair);
	}
	int64_t size = trace_image_copy(image, chunk, bytes);
	if (size > 0 && pass == SLOTS)
		take_slots(image, bytes, (size_t)size);
	if (size > 0 && pass == DURABLE)
		take_durable(image, chunk, bytes, (size_t)size);
	return size < 0 ? (int)size : 0;
}

/* Steps over what is no chunk page by page; the last pass counts it. */
static int walk(struct trace_image *image, enum pass pass, uint8_t *bytes)
{
	struct image_chunk head;
	int status = read_header(image);
	uint64_t size = tw_input_size(image->input), end = IMAGE_PAGE;
	end = image->header.now.chunks > size - IMAGE_PAGE ? size : IMAGE_PAGE + image->header.now.chunks;
	if (pass == DURABLE && end - IMAGE_PAGE < image->header.now.chunks)
		note_damage(image, end, image->header.now.chunks - (end - IMAGE_PAGE));
	for (uint64_t at = IMAGE_PAGE, step; at < end && status == 0; at += step) {
		status = read_at(image, at, &head, sizeof head);
		bool good = is_chunk(&head);
		step = good ? head.size : IMAGE_PAGE;
		if (!good && pass == DURABLE)
			note_damage(image, at, step);
		struct trace_image_chunk chunk = {at, head.committed, head.owner, head.pair.ticks, UINT64_MAX, false};
		if (good && head.committed && pass_of(head.owner) == pass && status == 0)
			status = take_chunk(image, pass, &chunk, &head, bytes);
	}
	return status;
}

/* The scopes of a thread stand together. */
static void find_scopes(struct trace_image *image)
{
	for (size_t i = 0; i < image->scopes.count; i++) {
		uint32_t number = image->scopes.items[i].thread;
		struct trace_image_thread *thread =
		    number < image->threads.count ? &image->threads.items[number] : NULL;
		if (!thread)
			continue;
		thread->first_scope = thread->scopes ? thread->first_scope : i;
		thread->scopes++;
	}
}

/* The scopes of a thread whose end has been committed: the recorder had no time left to take them from its slot. */
static void close_scopes(struct trace_image *image, uint32_t number, const struct trace_image_record *record)
{
	const struct trace_image_thread *thread = number < image->threads.count ? &image->threads.items[number] : NULL;
	for (size_t i = 0; thread && i < thread->scopes; i++) {
		struct trace_image_scope *scope = &image->scopes.items[thread->first_scope + i];
		scope->closed |= scope->begin == record->time && scope->label == record->number;
	}
}

/* Finds when the first event of a chunk begins, and whose events are in it. */
static bool look_at_events(struct trace_image *image, struct trace_image_chunk *chunk, const uint8_t *bytes,
                           size_t size)
{
	struct trace_image_record record;
	uint32_t thread = 0;
	const size_t before = image->parts.count;
	for (size_t at = 0; at < size; at += record.size) {
		if (!trace_image_record(bytes + at, size - at, &record)) {
			note_damage(image, chunk->offset + IMAGE_CHUNK_HEAD + at, size - at);
			chunk->committed = at;
			return true;
		}
		if (record.kind == IMAGE_OWNER) {
			thread = record.number;
			if (!trace_image_part_add(image, &record))
				return false;
			continue;
		}
		if (image->parts.count > before)
			image->parts.items[image->parts.count - 1].bytes += record.size;
		uint64_t ticks = record.kind == IMAGE_BLOB ? chunk->taken : record.time;
		uint64_t time = trace_image_time(&image->times, ticks);
		chunk->least = time < chunk->least ? time : chunk->least;
		if (record.kind == TW_TRACE_KIND_COMPLETE && image->scopes.count)
			close_scopes(image, thread, &record);
	}
	return true;
}

static int survey_events(struct trace_image *image, uint8_t *bytes)
{
	for (size_t i = 0; i < image->chunks.count; i++) {
		struct trace_image_chunk *chunk = &image->chunks.items[i];
		int64_t size = trace_image_copy(image, chunk, bytes);
		if (size < 0)
			return (int)size;
		if (!look_at_events(image, chunk, bytes, (size_t)size))
			return TW_ERR_MEMORY;
		if (size == 0)
			chunk->committed = 0;
	}
	return trace_image_runs_find(image) ? 0 : TW_ERR_MEMORY;
}

/* ---- The whole. ---- */

static int set_times(struct trace_image *image)
{
	const struct image_header *header = &image->header;
	struct trace_image_times *times = &image->times;
	times->plain = header->clock == IMAGE_MONOTONIC;
	times->ticks_per_second = header->ticks_per_second;
	bool fine = trace_image_times_add(times, header->start);
	if (header->now.pair_number % 2 == 0 && header->now.pair_ticks)
		fine = fine &&
		       trace_image_times_add(times, (struct image_pair){header->now.pair_ticks, header->now.pair_ns});
	trace_image_times_fit(times);
	return fine ? 0 : TW_ERR_MEMORY;
}

/* Lists the chunks of events, and copies them where they may be overwritten. Each chunk that was given away before is
 * complete or its writer's last. Where the ring has gone round by half meanwhile, what is left may be little: then once
 * more, but not for ever. */
static int walk_events(struct trace_image *image, uint8_t *bytes)
{
	enum { TRIES = 4 };
	int status = 0;
	for (int i = 0; i < TRIES && status == 0; i++) {
		image->chunks.count = 0;
		status = read_header(image);
		image->cut = image->header.now.given;
		status = status < 0 ? status : walk(image, EVENTS, bytes);
		status = status < 0 ? status : read_header(image);
		if (!image->copied || image->header.now.given - image->cut <= image->chunks.count / 2)
			break;
	}
	if (image->header.now.given == image->cut)
		image->cut = UINT64_MAX; /* nothing is written, whatever numbers there are */
	return status;
}

/* Open scopes before events, and events before what they name: whatever a program that goes on adds meanwhile, all that
 * is taken is complete. */
static int load(struct trace_image *image, uint8_t *bytes)
{
	int status = walk(image, SLOTS, bytes);
	status = status < 0 ? status : walk_events(image, bytes);
	status = status < 0 ? status : walk(image, DURABLE, bytes);
	status = status < 0 ? status : set_times(image);
	image->dropped += image->header.now.dropped;
	find_scopes(image);
	return status < 0 ? status : survey_events(image, bytes);
}

int trace_image_load(struct trace_image *image, struct tw_input *input, const char *directory)
{
	*image = (struct trace_image){.input = input};
	int status = read_at(image, 0, &image->header, sizeof image->header);
	if (status < 0)
		return status;
	if (tw_input_size(input) < IMAGE_PAGE || image->header.magic != IMAGE_MAGIC ||
	    image->header.version != IMAGE_VERSION)
		return TW_ERR_FORMAT;
	status = open_copy(image, directory);
	if (status < 0)
		return status;
	uint8_t *bytes = malloc(IMAGE_CHUNK_MOST);
	status = bytes ? load(image, bytes) : TW_ERR_MEMORY;
	free(bytes);
	return status;
}

void trace_image_free(struct trace_image *image)
{
	free(image->times.pairs);
	tw_text_free(&image->texts);
	tw_text_free(&image->objects);
	free(image->strings.items);
	free(image->labels.items);
	free(image->threads.items);
	free(image->chunks.items);
	free(image->scopes.items);
	free(image->parts.items);
	free(image->runs.items);
	close_copy(image);
	*image = (struct trace_image){0};
}
