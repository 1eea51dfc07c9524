/* archive.c - images to an archive: their events in order of time, each image as a provider. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/bytes/bytes.h"
#include "fxt/format/layout.h"
#include "image/image.h"

#include <trackway/fxt.h>
#include <trackway/status.h>
#include <trackway/trace.h>

#include <stdlib.h>
#include <string.h>

enum { RECORD_ROOM = TW_FXT_RECORD_MAX * TW_FXT_WORD, INLINE_MOST = 8000, PROVIDER_NAME_MOST = 255 };

/* An event of a chunk that is open, to be put in order. */
struct open_event {
	uint64_t time, end; /* ns; end: of a complete one, otherwise its time */
	uint32_t offset, thread;
};

/* A chunk that is open. */
struct cursor {
	struct provider *provider;
	uint8_t *bytes;
	struct open_event *places;
	size_t count, next, size;
};

/* An image that is written, and the tables of its provider. */
struct provider {
	struct trace_image *image;
	uint32_t id;
	uint16_t *strings; /* indices, by number; 0: none yet */
	uint8_t *threads;
	uint16_t string_count;
	uint8_t thread_count;
	bool begun;
	struct trace_image_chunk **order; /* by when their first event begins */
	size_t chunk_count, next_chunk;
	bool scopes_open; /* the cursor of open scopes has been made */
};

struct merge {
	struct tw_output *out;
	struct provider *providers;
	size_t provider_count;
	struct provider *current; /* whose section it is */
	struct cursor **heap;     /* the one whose next event comes first is the first */
	size_t open, room;
	uint64_t held, most; /* bytes of chunks */
	bool failed;         /* no memory */
};

/* ---- Records. ---- */

static bool put(struct merge *merge, const struct tw_fxt_record *record)
{
	size_t size;
	uint8_t *room = (uint8_t *)tw_output_room(merge->out, RECORD_ROOM);
	if (tw_fxt_encode(record, false, room, RECORD_ROOM, &size) < 0)
		return false;
	tw_output_took(merge->out, size);
	return true;
}

static struct tw_fxt_string inline_string(const void *bytes, size_t length)
{
	return (struct tw_fxt_string){
	    .reference = (uint16_t)(length ? TW_FXT_STRING_INLINE | length : 0),
	    .length = (uint16_t)length,
	    .bytes = bytes,
	};
}

/* A string of an image: its index, with its record where it is new; where the table is full it stands inline. */
static struct tw_fxt_string string_of(struct merge *merge, struct provider *provider, uint32_t number)
{
	const struct trace_image *image = provider->image;
	const struct trace_image_text *text = number < image->strings.count ? &image->strings.items[number] : NULL;
	if (!text || !text->defined || text->length == 0)
		return (struct tw_fxt_string){0};
	const uint8_t *bytes = (const uint8_t *)image->texts.bytes + text->offset;
	size_t length = text->length < TW_FXT_STRING_MAX ? text->length : TW_FXT_STRING_MAX;
	if (provider->strings[number])
		return (struct tw_fxt_string){.reference = provider->strings[number]};
	if (provider->string_count == TW_FXT_STRINGS_MAX)
		return inline_string(bytes, length < INLINE_MOST ? length : INLINE_MOST);
	provider->strings[number] = ++provider->string_count;
	put(merge, &(struct tw_fxt_record){.kind = TW_FXT_STRING,
	                                   .index = provider->strings[number],
	                                   .payload = bytes,
	                                   .payload_size = length,
	                                   .payload_here = length});
	return (struct tw_fxt_string){.reference = provider->strings[number]};
}

static struct tw_fxt_thread thread_of(struct merge *merge, struct provider *provider, uint32_t number)
{
	const struct trace_image *image = provider->image;
	const struct trace_image_thread *known = number < image->threads.count ? &image->threads.items[number] : NULL;
	struct tw_fxt_thread thread = {.process = image->header.process};
	if (!known || !known->defined)
		return thread;
	thread.process = known->process;
	thread.thread = known->thread;
	if (!provider->threads[number] && provider->thread_count < TW_FXT_THREADS_MAX) {
		provider->threads[number] = ++provider->thread_count;
		put(merge, &(struct tw_fxt_record){.kind = TW_FXT_THREAD,
		                                   .index = provider->threads[number],
		                                   .thread = {.process = thread.process, .thread = thread.thread}});
	}
	thread.index = provider->threads[number];
	return thread;
}

/* Arguments of an event as they stand in it; types have the same numbers in both. */
static void set_arguments(struct merge *merge, struct provider *provider, struct tw_fxt_record *to,
                          const struct trace_image_record *from)
{
	const uint8_t *at = from->payload;
	for (unsigned i = 0; i < from->arguments; i++) {
		struct trace_image_argument argument;
		struct tw_fxt_argument *set = &to->arguments[i];
		trace_image_argument(&at, &argument);
		*set = (struct tw_fxt_argument){.type = (uint8_t)argument.type};
		set->name = string_of(merge, provider, argument.name);
		if (argument.type == TW_TRACE_TYPE_TEXT) {
			size_t most = argument.number < TW_FXT_STRING_MAX ? argument.number : TW_FXT_STRING_MAX;
			set->text = inline_string(argument.bytes, most);
		} else if (argument.type == TW_TRACE_TYPE_BYTES) {
			set->bytes = argument.bytes;
			set->size = (uint32_t)argument.number;
		} else if (argument.type == TW_TRACE_TYPE_I32) {
			set->value.i = (int32_t)argument.number;
		} else if (argument.type == TW_TRACE_TYPE_U32) {
			set->value.u = (uint32_t)argument.number;
		} else {
			set->value.u = argument.type == TW_TRACE_TYPE_BOOL ? argument.number != 0 : argument.number;
		}
	}
	to->argument_count = (uint8_t)from->arguments;
}

/* Names that stand inline may be too much with all arguments: the last are left out then. */
static void put_event(struct merge *merge, struct provider *provider, struct tw_fxt_record *record)
{
	while (!put(merge, record) && record->argument_count) {
		record->argument_count--;
		provider->image->header.now.cut++;
	}
}

static void emit_event(struct merge *merge, struct provider *provider, const struct trace_image_record *from,
                       const struct open_event *place)
{
	const struct trace_image *image = provider->image;
	bool known = from->number < image->labels.count;
	struct tw_fxt_record record = {
	    .kind = (enum tw_fxt_kind)(TW_FXT_INSTANT + from->kind),
	    .time = place->time,
	    .end = place->end,
	    .id = from->second,
	    .scope = from->kind == TW_TRACE_KIND_INSTANT ? from->second : 0,
	    .has_scope = from->kind == TW_TRACE_KIND_INSTANT,
	};
	record.thread = thread_of(merge, provider, place->thread);
	record.category = string_of(merge, provider, known ? image->labels.items[from->number].category : 0);
	record.name = string_of(merge, provider, known ? image->labels.items[from->number].name : 0);
	set_arguments(merge, provider, &record, from);
	put_event(merge, provider, &record);
}

static void emit_log(struct merge *merge, struct provider *provider, const struct trace_image_record *from,
                     const struct open_event *place)
{
	uint64_t size = from->payload_size < TW_FXT_STRING_MAX ? from->payload_size : TW_FXT_STRING_MAX;
	put(merge, &(struct tw_fxt_record){.kind = TW_FXT_LOG,
	                                   .time = place->time,
	                                   .thread = thread_of(merge, provider, place->thread),
	                                   .payload = from->payload,
	                                   .payload_size = size,
	                                   .payload_here = size});
}

static void emit_blob(struct merge *merge, struct provider *provider, const struct trace_image_record *from)
{
	enum { DATA = 1 };
	put(merge, &(struct tw_fxt_record){.kind = TW_FXT_BLOB,
	                                   .object_type = DATA,
	                                   .name = string_of(merge, provider, from->number),
	                                   .payload = from->payload,
	                                   .payload_size = from->payload_size,
	                                   .payload_here = from->payload_size});
}

static void emit_switch(struct merge *merge, const struct trace_image_record *from, const struct open_event *place)
{
	put(merge,
	    &(struct tw_fxt_record){.kind = TW_FXT_CONTEXT_SWITCH,
	                            .time = place->time,
	                            .cpu = (uint16_t)from->number,
	                            .state = (uint8_t)tw_bits(from->number, IMAGE_STATE_BIT, IMAGE_STATE_BIT + 3),
	                            .thread.thread = (uint32_t)from->second,
	                            .incoming.thread = from->second >> 32});
}

static void emit_wakeup(struct merge *merge, const struct trace_image_record *from, const struct open_event *place)
{
	struct tw_fxt_record record = {.kind = TW_FXT_THREAD_WAKEUP,
	                               .time = place->time,
	                               .cpu = (uint16_t)from->number,
	                               .thread.thread = (uint32_t)from->second};
	if (from->second >> 32) {
		record.argument_count = 1;
		record.arguments[0] =
		    (struct tw_fxt_argument){.type = TW_FXT_ARG_KOID, .name = inline_string("waker", 5)};
		record.arguments[0].value.u = from->second >> 32;
	}
	put(merge, &record);
}

/* ---- Providers. ---- */

static struct tw_fxt_string name_of(const struct trace_image *image)
{
	return inline_string(image->header.name, strnlen(image->header.name, IMAGE_NAME));
}

static struct tw_fxt_record object_record(unsigned type, uint64_t koid, struct tw_fxt_string name)
{
	return (
	    struct tw_fxt_record){.kind = TW_FXT_KERNEL_OBJECT, .object_type = (uint8_t)type, .id = koid, .name = name};
}

static struct tw_fxt_record thread_object(const struct trace_image_thread *thread, struct tw_fxt_string name)
{
	struct tw_fxt_record record = object_record(FXT_OBJECT_THREAD, thread->thread, name);
	record.argument_count = 1;
	record.arguments[0] = (struct tw_fxt_argument){.type = TW_FXT_ARG_KOID};
	record.arguments[0].name = inline_string("process", 7);
	record.arguments[0].value.u = thread->process;
	return record;
}

static void put_objects(struct merge *merge, struct provider *provider)
{
	const struct trace_image *image = provider->image;
	const uint8_t *bytes = (const uint8_t *)image->objects.bytes;
	struct trace_image_record from;
	for (size_t at = 0; at < image->objects.length; at += from.size) {
		if (!trace_image_record(bytes + at, image->objects.length - at, &from))
			return;
		struct tw_fxt_record record = {.kind = TW_FXT_USERSPACE_OBJECT,
		                               .id = from.time,
		                               .thread = {.process = image->header.process}};
		record.name = string_of(merge, provider, from.number);
		set_arguments(merge, provider, &record, &from);
		put_event(merge, provider, &record);
	}
}

/* What has no time stands first. */
static void begin_provider(struct merge *merge, struct provider *provider)
{
	static const uint64_t nanoseconds = 1000000000;
	const struct trace_image *image = provider->image;
	size_t length = strnlen(image->header.name, IMAGE_NAME);
	struct tw_fxt_string name = {.length = (uint16_t)length, .bytes = (const uint8_t *)image->header.name};
	merge->current = provider;
	provider->begun = true;
	put(merge, &(struct tw_fxt_record){.kind = TW_FXT_PROVIDER_INFO, .id = provider->id, .name = name});
	put(merge, &(struct tw_fxt_record){.kind = TW_FXT_INITIALIZATION, .id = nanoseconds});
	struct tw_fxt_record object = object_record(FXT_OBJECT_PROCESS, image->header.process, name_of(image));
	if (length && image->header.process)
		put(merge, &object);
	for (size_t i = 0; i < image->threads.count; i++) {
		const struct trace_image_thread *thread = &image->threads.items[i];
		if (!thread->defined || !thread->name)
			continue;
		object = thread_object(thread, string_of(merge, provider, thread->name));
		put(merge, &object);
	}
	put_objects(merge, provider);
}

static void set_current(struct merge *merge, struct provider *provider)
{
	if (merge->current == provider)
		return;
	merge->current = provider;
	put(merge, &(struct tw_fxt_record){.kind = TW_FXT_PROVIDER_SECTION, .id = provider->id});
}

/* Adds to the record of an object what it has lost, where that is anything. */
static void put_loss(struct tw_fxt_record *object, const char *what, uint64_t count)
{
	if (!count)
		return;
	struct tw_fxt_argument *argument = &object->arguments[object->argument_count++];
	*argument = (struct tw_fxt_argument){.type = TW_FXT_ARG_UINT64, .name = inline_string(what, strlen(what))};
	argument->value.u = count;
}

/* All of it by the process, and then by threads. */
static void put_losses(struct merge *merge, struct provider *provider)
{
	const struct trace_image *image = provider->image;
	const uint64_t process = image->header.process;
	struct tw_fxt_record record = object_record(process ? FXT_OBJECT_PROCESS : 0, process, name_of(image));
	put_loss(&record, FXT_EVENTS_DROPPED, image->dropped);
	put_loss(&record, FXT_BYTES_OVERWRITTEN, image->header.now.overwritten);
	put_loss(&record, FXT_EVENTS_CUT, image->header.now.cut);
	put_loss(&record, FXT_SCOPES_TOO_DEEP, image->header.now.unkept);
	put_loss(&record, FXT_CHILDREN_UNRECORDED_COUNT, image->header.now.unrecorded);
	put_loss(&record, FXT_CHILD_UNRECORDED_LAST, image->header.now.last_unrecorded);
	put_loss(&record, FXT_BYTES_DAMAGED, image->damaged);
	put_loss(&record, FXT_RECORDER_GONE, image->header.now.abandoned);
	put(merge, &record);
	for (size_t i = 0; i < image->threads.count; i++) {
		const struct trace_image_thread *thread = &image->threads.items[i];
		if (!thread->dropped || !thread->defined)
			continue;
		record = thread_object(thread, string_of(merge, provider, thread->name));
		put_loss(&record, FXT_EVENTS_DROPPED, thread->dropped);
		put(merge, &record);
	}
}

/* A buffer was full: for how many events, or that a ring kept the newest, its process and threads tell before. */
static void end_provider(struct merge *merge, struct provider *provider)
{
	enum { RECORDS_DROPPED = 0 };
	const struct trace_image *image = provider->image;
	const bool full = image->dropped || image->header.now.overwritten;
	if (!full && !image->header.now.cut && !image->header.now.unkept && !image->header.now.unrecorded &&
	    !image->header.now.abandoned && !image->damaged)
		return;
	set_current(merge, provider);
	put_losses(merge, provider);
	if (full)
		put(merge, &(struct tw_fxt_record){.kind = TW_FXT_PROVIDER_EVENT,
		                                   .id = provider->id,
		                                   .object_type = RECORDS_DROPPED});
}

static int by_first(const void *left, const void *right)
{
	const struct trace_image_chunk *a = *(struct trace_image_chunk *const *)left;
	const struct trace_image_chunk *b = *(struct trace_image_chunk *const *)right;
	if (a->least != b->least)
		return a->least < b->least ? -1 : 1;
	return (a->offset > b->offset) - (a->offset < b->offset);
}

static bool prepare(struct provider *provider, struct trace_image *image, uint32_t id)
{
	*provider = (struct provider){.image = image, .id = id};
	provider->strings = calloc(image->strings.count + 1, sizeof *provider->strings);
	provider->threads = calloc(image->threads.count + 1, sizeof *provider->threads);
	provider->order = calloc(image->chunks.count + 1, sizeof(struct trace_image_chunk *));
	if (!provider->strings || !provider->threads || !provider->order)
		return false;
	for (size_t i = 0; i < image->chunks.count; i++)
		if (image->chunks.items[i].committed && image->chunks.items[i].least != UINT64_MAX)
			provider->order[provider->chunk_count++] = &image->chunks.items[i];
	if (provider->chunk_count)
		qsort(provider->order, provider->chunk_count, sizeof *provider->order, by_first);
	return true;
}

/* ---- The heap of open chunks. ---- */

static bool is_before(const struct cursor *a, const struct cursor *b)
{
	uint64_t left = a->places[a->next].time, right = b->places[b->next].time;
	return left != right ? left < right : a->provider->id < b->provider->id;
}

static void sink(struct merge *merge, size_t at)
{
	for (size_t child; (child = 2 * at + 1) < merge->open; at = child) {
		if (child + 1 < merge->open && is_before(merge->heap[child + 1], merge->heap[child]))
			child++;
		if (!is_before(merge->heap[child], merge->heap[at]))
			return;
		struct cursor *moved = merge->heap[at];
		merge->heap[at] = merge->heap[child];
		merge->heap[child] = moved;
	}
}

static bool push(struct merge *merge, struct cursor *cursor)
{
	if (!tw_grow(&merge->heap, &merge->room, merge->open + 1, sizeof(struct cursor *)))
		return false;
	size_t at = merge->open++;
	for (size_t parent; at > 0; at = parent) {
		parent = (at - 1) / 2;
		if (!is_before(cursor, merge->heap[parent]))
			break;
		merge->heap[at] = merge->heap[parent];
	}
	merge->heap[at] = cursor;
	merge->held += cursor->size;
	return true;
}

static void free_cursor(struct cursor *cursor)
{
	if (!cursor)
		return;
	free(cursor->bytes);
	free(cursor->places);
	free(cursor);
}

/* ---- Opening chunks. ---- */

/* By time; of records that begin together the longer is around the other, and goes first. */
static int by_time(const void *left, const void *right)
{
	const struct open_event *a = left, *b = right;
	if (a->time != b->time)
		return a->time < b->time ? -1 : 1;
	bool both = a->end > a->time && b->end > b->time;
	if (both && a->end != b->end)
		return a->end > b->end ? -1 : 1;
	return (a->offset > b->offset) - (a->offset < b->offset);
}

static size_t count_records(const uint8_t *bytes, size_t size)
{
	struct trace_image_record record;
	size_t count = 0;
	for (size_t at = 0; at < size && trace_image_record(bytes + at, size - at, &record); at += record.size)
		count += record.kind != IMAGE_OWNER;
	return count;
}

/* Where events are, and when; a blob has the time of the event before it. */
static void find_places(struct cursor *cursor, const struct trace_image *image, size_t size, uint64_t first)
{
	const struct trace_image_times *times = &image->times;
	struct trace_image_record record;
	bool left_out = false;
	uint32_t thread = 0;
	uint64_t last = first;
	for (size_t at = 0; at < size && trace_image_record(cursor->bytes + at, size - at, &record);
	     at += record.size) {
		if (record.kind == IMAGE_OWNER) {
			thread = record.number;
			left_out = trace_image_leaves_out(image, &record, left_out);
			continue;
		}
		if (left_out)
			continue;
		uint64_t time = record.kind == IMAGE_BLOB ? last : trace_image_time(times, record.time), end = time;
		if (record.kind == TW_TRACE_KIND_COMPLETE)
			end = trace_image_time(times, record.second);
		last = end > last ? end : last;
		cursor->places[cursor->count++] =
		    (struct open_event){.time = time, .end = end, .offset = (uint32_t)at, .thread = thread};
	}
}

/* Puts a cursor over records into the heap, which has the bytes from then on. */
static int open_records(struct merge *merge, struct provider *provider, uint8_t *bytes, size_t size, uint64_t first)
{
	size_t count = count_records(bytes, size);
	struct cursor *cursor = calloc(1, sizeof *cursor);
	if (cursor) {
		*cursor = (struct cursor){.provider = provider, .bytes = bytes};
		cursor->places = calloc(count + 1, sizeof *cursor->places);
		cursor->size = size + count * sizeof *cursor->places;
	}
	if (!cursor || !cursor->places) {
		free(cursor ? NULL : bytes);
		free_cursor(cursor);
		return TW_ERR_MEMORY;
	}
	find_places(cursor, provider->image, size, first);
	if (cursor->count)
		qsort(cursor->places, cursor->count, sizeof *cursor->places, by_time);
	if (cursor->count && push(merge, cursor))
		return 0;
	int status = cursor->count ? TW_ERR_MEMORY : 0;
	free_cursor(cursor);
	return status;
}

static int open_chunk(struct merge *merge, struct provider *provider)
{
	const struct trace_image_chunk *chunk = provider->order[provider->next_chunk++];
	uint8_t *bytes = malloc(chunk->committed);
	int64_t size = bytes ? trace_image_copy(provider->image, chunk, bytes) : TW_ERR_MEMORY;
	if (size > 0)
		return open_records(merge, provider, bytes, (size_t)size, chunk->least);
	free(bytes);
	return (int)size;
}

/* Scopes that were open when the program died, or are: records of begins. */
static int open_scopes(struct merge *merge, struct provider *provider)
{
	enum { WORDS = 3 }; /* an owner, a begin */
	const struct trace_image *image = provider->image;
	size_t size = image->scopes.count * WORDS * IMAGE_WORD, used = 0;
	uint8_t *bytes = size ? malloc(size) : NULL;
	provider->scopes_open = true;
	if (!bytes)
		return size ? TW_ERR_MEMORY : 0;
	for (size_t i = 0; i < image->scopes.count; i++) {
		const struct trace_image_scope *scope = &image->scopes.items[i];
		if (scope->closed)
			continue;
		uint8_t *to = bytes + used;
		tw_store64(to, image_word(IMAGE_OWNER, 1, 0, scope->thread), false);
		tw_store64(to + IMAGE_WORD, image_word(TW_TRACE_KIND_BEGIN, 2, 0, scope->label), false);
		tw_store64(to + (size_t)2 * IMAGE_WORD, scope->begin, false);
		used += (size_t)WORDS * IMAGE_WORD;
	}
	return open_records(merge, provider, bytes, used, 0);
}

/* Opens all chunks that may have the next event. Where that is more than the memory there is for them, the others wait,
 * and their events come late. */
static int open_all(struct merge *merge)
{
	int status = 0;
	for (size_t i = 0; i < merge->provider_count && status == 0; i++) {
		struct provider *provider = &merge->providers[i];
		if (!provider->scopes_open)
			status = open_scopes(merge, provider);
		while (status == 0 && provider->next_chunk < provider->chunk_count) {
			uint64_t first = provider->order[provider->next_chunk]->least;
			bool later = merge->open && merge->heap[0]->places[merge->heap[0]->next].time < first;
			if (later || (merge->open && merge->held > merge->most))
				break;
			status = open_chunk(merge, provider);
		}
	}
	return status;
}

/* ---- All of it. ---- */

static void emit(struct merge *merge, const struct cursor *cursor)
{
	const struct open_event *place = &cursor->places[cursor->next];
	struct trace_image_record record;
	set_current(merge, cursor->provider);
	if (!trace_image_record(cursor->bytes + place->offset, SIZE_MAX / 2, &record)) /* it has been taken before */
		return;
	if (record.kind == IMAGE_LOG)
		emit_log(merge, cursor->provider, &record, place);
	else if (record.kind == IMAGE_BLOB)
		emit_blob(merge, cursor->provider, &record);
	else if (record.kind == IMAGE_SWITCH)
		emit_switch(merge, &record, place);
	else if (record.kind == IMAGE_WAKEUP)
		emit_wakeup(merge, &record, place);
	else if (record.kind < IMAGE_EVENTS)
		emit_event(merge, cursor->provider, &record, place);
}

static int write_events(struct merge *merge)
{
	int status = open_all(merge);
	while (status == 0 && merge->open && !merge->out->error) {
		struct cursor *first = merge->heap[0];
		emit(merge, first);
		if (++first->next == first->count) {
			merge->held -= first->size;
			merge->heap[0] = merge->heap[--merge->open];
			free_cursor(first);
		}
		sink(merge, 0);
		status = open_all(merge);
	}
	return status;
}

static int write_all(struct merge *merge)
{
	put(merge, &(struct tw_fxt_record){.kind = TW_FXT_MAGIC});
	for (size_t i = 0; i < merge->provider_count; i++)
		begin_provider(merge, &merge->providers[i]);
	int status = write_events(merge);
	for (size_t i = 0; i < merge->provider_count; i++)
		end_provider(merge, &merge->providers[i]);
	return status;
}

int trace_images_write(struct trace_image *const *images, size_t count, struct tw_output *out, uint64_t memory)
{
	struct merge merge = {.out = out, .most = memory};
	int status = 0;
	merge.providers = calloc(count + 1, sizeof *merge.providers);
	if (!merge.providers)
		return TW_ERR_MEMORY;
	for (; merge.provider_count < count && status == 0; merge.provider_count++)
		if (!prepare(&merge.providers[merge.provider_count], images[merge.provider_count],
		             (uint32_t)merge.provider_count + 1))
			status = TW_ERR_MEMORY;
	status = status < 0 ? status : write_all(&merge);
	for (size_t i = 0; i < merge.open; i++)
		free_cursor(merge.heap[i]);
	for (size_t i = 0; i < merge.provider_count; i++) {
		free(merge.providers[i].strings);
		free(merge.providers[i].threads);
		free(merge.providers[i].order);
	}
	free(merge.providers);
	free(merge.heap);
	return status;
}
