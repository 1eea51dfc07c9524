/* durable.c - strings, labels, threads and objects: registered once, in chunks that are never overwritten. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/session.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { DURABLE_CHUNK = 1 << 14, TEXT_MOST = 32000, TABLE_LEAST = 1 << 10 };

static struct trace_session *const session = &trace_session;

/* What has a number: a string; a label, whose text is NULL, and `length` both strings. */
struct interned {
	uint64_t hash, length;
	const uint8_t *text; /* in the image */
	uint32_t number;     /* 0: empty */
};

/* By hash, with empty places between; at most half of it is used. */
static struct {
	struct interned *entries;
	uint64_t room, used; /* room: a power of two */
} table;

/* ---- Room. ---- */

uint64_t *trace_durable_room(uint64_t words)
{
	struct trace_writer *writer = &session->tables.durable;
	uint64_t size = words * IMAGE_WORD;
	if ((uint64_t)(writer->end - writer->at) >= size)
		return (uint64_t *)writer->at;
	uint64_t pages = (size + IMAGE_CHUNK_HEAD + IMAGE_PAGE - 1) / IMAGE_PAGE * IMAGE_PAGE;
	uint64_t room = pages > DURABLE_CHUNK ? pages : DURABLE_CHUNK;
	struct image_chunk *chunk = trace_chunk_new(room);
	if (!chunk)
		return NULL;
	atomic_store_explicit(&chunk->owner, trace_next_given() << 32 | IMAGE_DURABLE, memory_order_release);
	writer->chunk = chunk;
	writer->at = (uint8_t *)chunk + IMAGE_CHUNK_HEAD;
	writer->end = (uint8_t *)chunk + room;
	return (uint64_t *)writer->at;
}

void trace_durable_put(uint64_t words)
{
	trace_commit(&session->tables.durable, words * IMAGE_WORD);
}

void trace_durable_forget(void)
{
	if (table.entries)
		munmap(table.entries, table.room * sizeof *table.entries);
	table.entries = NULL;
	table.room = table.used = 0;
}

/* ---- The table. ---- */

static uint64_t hash_of(const void *bytes, size_t size)
{
	const uint8_t *at = bytes;
	uint64_t hash = UINT64_C(0xcbf29ce484222325); /* FNV-1a */
	for (size_t i = 0; i < size; i++)
		hash = (hash ^ at[i]) * UINT64_C(0x100000001b3);
	return hash ^ hash >> 32;
}

/* A label has no text, and `length` tells it. */
static bool is_same(const struct interned *entry, const struct interned *wanted)
{
	if (entry->hash != wanted->hash || entry->length != wanted->length)
		return false;
	if (!entry->text || !wanted->text)
		return entry->text == wanted->text;
	return memcmp(entry->text, wanted->text, entry->length) == 0;
}

static struct interned *place_of(const struct interned *wanted)
{
	uint64_t at = wanted->hash & (table.room - 1);
	while (table.entries[at].number && !is_same(&table.entries[at], wanted))
		at = (at + 1) & (table.room - 1);
	return &table.entries[at];
}

static bool grow(void)
{
	struct interned *old = table.entries;
	uint64_t old_room = table.room, room = old_room ? old_room * 2 : TABLE_LEAST;
	if (table.used * 2 < table.room)
		return true;
	struct interned *entries = trace_map(room * sizeof *entries);
	if (!entries)
		return false;
	table.entries = entries;
	table.room = room;
	for (uint64_t i = 0; i < old_room; i++)
		if (old[i].number)
			*place_of(&old[i]) = old[i];
	if (old)
		munmap(old, old_room * sizeof *old);
	return true;
}

static uint32_t add(struct interned *place, const struct interned *wanted, const uint8_t *text, uint32_t number)
{
	*place = *wanted;
	place->text = text;
	place->number = number;
	table.used++;
	return number;
}

/* ---- Records. ---- */

static const uint8_t *put_text(unsigned kind, uint32_t number, const void *text, uint64_t length)
{
	uint64_t words = 2 + image_words(length), *to = trace_durable_room(words);
	if (!to)
		return NULL;
	to[words - 1] = 0;
	to[0] = image_word(kind, words, 0, number);
	to[1] = length;
	memcpy(to + 2, text, length);
	trace_durable_put(words);
	return (const uint8_t *)(to + 2);
}

uint32_t trace_string(const char *text)
{
	text = trace_text(text);
	size_t length = strlen(text);
	length = length < TEXT_MOST ? length : TEXT_MOST;
	const struct interned wanted = {hash_of(text, length), length, (const uint8_t *)text, 0};
	if (!grow())
		return 0;
	struct interned *place = place_of(&wanted);
	if (place->number)
		return place->number;
	const uint8_t *kept = put_text(IMAGE_STRING, session->tables.strings + 1, text, length);
	return kept ? add(place, &wanted, kept, ++session->tables.strings) : 0;
}

uint32_t trace_label(const char *category, const char *name)
{
	uint32_t of_category = trace_string(category);
	uint32_t of_name = of_category ? trace_string(name) : 0;
	uint64_t both = of_category | (uint64_t)of_name << 32;
	const struct interned wanted = {hash_of(&both, sizeof both), both, NULL, 0};
	if (!of_name || !grow())
		return 0;
	struct interned *place = place_of(&wanted);
	if (place->number)
		return place->number;
	uint64_t *to = trace_durable_room(2);
	if (!to)
		return 0;
	to[0] = image_word(IMAGE_LABEL, 2, 0, session->tables.labels + 1);
	to[1] = both;
	trace_durable_put(2);
	return add(place, &wanted, NULL, ++session->tables.labels);
}

void trace_put_thread_name(uint32_t number, const char *name)
{
	uint32_t string = trace_string(name);
	uint64_t *to = string ? trace_durable_room(2) : NULL;
	if (!to)
		return;
	to[0] = image_word(IMAGE_THREAD_NAME, 2, 0, number);
	to[1] = string;
	trace_durable_put(2);
}

void trace_put_thread(uint32_t number, uint64_t process, uint64_t thread, const char *name)
{
	uint64_t *to = trace_durable_room(3);
	if (!to)
		return;
	to[0] = image_word(IMAGE_THREAD, 3, 0, number);
	to[1] = process;
	to[2] = thread;
	trace_durable_put(3);
	if (name && *name)
		trace_put_thread_name(number, name);
}

uint32_t trace_put_track(const char *name)
{
	uint32_t number = ++session->tables.threads;
	trace_put_thread(number, (uint64_t)getpid(), UINT64_C(1) << 63 | number, name);
	return number;
}

bool trace_put_drops(uint32_t number, uint64_t count)
{
	uint64_t *to = trace_durable_room(2);
	if (!to)
		return false;
	to[0] = image_word(IMAGE_DROPS, 2, 0, number);
	to[1] = count;
	trace_durable_put(2);
	return true;
}
