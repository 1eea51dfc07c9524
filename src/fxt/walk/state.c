/* state.c - providers and their tables. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "fxt/walk/state.h"

#include "base/memory/memory.h"
#include "core/format.h"
#include "core/ticks.h"
#include "fxt/format/layout.h"
#include "fxt/walk/chunk.h"

#include <assert.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What a name costs besides its text, and what a track does: their rows and slots here, and those in the tables of
 * whoever takes them, a dictionary behind the reader and a target first of all. */
enum { NAME_COST = 160, TRACK_COST = 320, STACK_COST = 160 };

/* Whether there is memory for so much within the limit. */
static bool has_room(struct fxt_state *state, size_t size)
{
	bool fits = state->memory + size <= state->limit;
	state->full |= !fits;
	return fits;
}

/* Memory within the limit, all zero; NULL and `full` or `failed` otherwise. */
static void *take(struct fxt_state *state, size_t size)
{
	if (!has_room(state, size))
		return NULL;
	void *memory = calloc(1, size);
	if (!memory)
		state->failed = true;
	else
		state->memory += size;
	return memory;
}

/* ---- Names and tracks. ---- */

uint32_t fxt_state_name(struct fxt_state *state, const void *text, size_t length)
{
	uint32_t before = tw_dictionary_names(state->dictionary);
	const struct tw_name name = {.text = text, .length = length};
	bool room = has_room(state, length + NAME_COST);
	uint32_t number =
	    room ? tw_dictionary_intern(state->dictionary, &name) : tw_dictionary_text(state->dictionary, "(other)");
	if (number == UINT32_MAX) {
		state->failed = true;
		return 0;
	}
	if (room && number == before)
		state->memory += length + NAME_COST;
	return number;
}

uint32_t fxt_state_stack(struct fxt_state *state, uint32_t caller, const struct tw_location *frame)
{
	uint32_t before = tw_dictionary_stacks(state->dictionary);
	if (!has_room(state, STACK_COST))
		return caller;
	uint32_t place = tw_dictionary_add_place(state->dictionary, frame);
	uint32_t stack = place == UINT32_MAX ? place : tw_dictionary_push(state->dictionary, caller, place);
	if (stack == before)
		state->memory += STACK_COST;
	state->failed |= stack == UINT32_MAX;
	return stack == UINT32_MAX ? 0 : stack;
}

/* 0 where the limit is reached, or there is no memory. */
static uint32_t add_track(struct fxt_state *state, const struct tw_track *track)
{
	enum { SHARE = 2 }; /* of the memory limit, about: state->limit */
	uint32_t before = tw_dictionary_tracks(state->dictionary);
	size_t cost = tw_thread_cost(state->options, TRACK_COST, SHARE);
	if (!has_room(state, cost))
		return 0;
	uint32_t number = tw_dictionary_add_track(state->dictionary, track);
	if (number == before)
		state->memory += cost;
	state->failed |= number == UINT32_MAX;
	return number == UINT32_MAX ? 0 : number;
}

static uint32_t add_thread(struct fxt_state *state, uint64_t process, uint64_t thread)
{
	const struct tw_track track = {.process = process, .thread = thread, .kind = TW_TRACK_THREAD};
	uint32_t number = add_track(state, &track);
	if (number)
		state->failed |= !tw_map_set(&state->threads.tracks, thread, number);
	return number;
}

uint32_t fxt_state_process(struct fxt_state *state, uint64_t process)
{
	const struct tw_track track = {.process = process, .kind = TW_TRACK_PROCESS};
	return add_track(state, &track);
}

/* A track that was met without its process gets it now. Process 0 is one, too, where a record names it. */
uint32_t fxt_state_track(struct fxt_state *state, uint64_t process, uint64_t thread)
{
	uint32_t *orphan = tw_map_stored(&state->threads.orphans, thread);
	if (orphan && *orphan > 1) {
		if (process)
			tw_dictionary_set_process(state->dictionary, *orphan - 1, process);
		*orphan = 1;
	}
	return add_thread(state, process, thread);
}

uint32_t fxt_state_track_of_thread(struct fxt_state *state, uint64_t thread)
{
	uint32_t number;
	if (tw_map_find(&state->threads.tracks, thread, &number))
		return number;
	number = add_thread(state, 0, thread);
	if (number && !tw_map_add(&state->threads.orphans, thread, number))
		state->failed = true;
	return number;
}

uint64_t fxt_undefined_koid(uint64_t generation, uint64_t index)
{
	enum { INDEX_BITS = 8 };
	return FXT_INVENTED_UNDEFINED | generation << INDEX_BITS | index;
}

uint32_t fxt_state_undefined_thread(struct fxt_state *state, uint64_t generation, uint64_t index)
{
	const struct tw_track track = {.thread = fxt_undefined_koid(generation, index), .kind = TW_TRACK_THREAD};
	char text[FXT_UNDEFINED_MAX];
	uint32_t number = add_track(state, &track);
	size_t length = fxt_undefined_thread(text, (unsigned)index);
	if (number && tw_dictionary_track(state->dictionary, number)->name == 0)
		tw_dictionary_name_track(state->dictionary, number, fxt_state_name(state, text, length));
	return number;
}

size_t fxt_undefined_thread(char text[static FXT_UNDEFINED_MAX], unsigned index)
{
	return (size_t)snprintf(text, FXT_UNDEFINED_MAX, "undefined thread %u", index);
}

static const char undefined[] = "undefined string ";

size_t fxt_undefined_name(char text[static FXT_UNDEFINED_MAX], unsigned index)
{
	return (size_t)snprintf(text, FXT_UNDEFINED_MAX, "%s%u", undefined, index);
}

bool fxt_is_undefined(const struct fxt_entry *entry, unsigned index)
{
	char text[FXT_UNDEFINED_MAX];
	if (entry->length < sizeof undefined || memcmp(entry->text, undefined, sizeof undefined - 1) != 0)
		return false;
	return fxt_undefined_name(text, index) == entry->length && memcmp(entry->text, text, entry->length) == 0;
}

/* ---- Entries. ---- */

static struct fxt_entry *new_entry(struct fxt_state *state)
{
	struct fxt_entry *entry = state->spare;
	if (!entry)
		return take(state, sizeof *entry);
	state->spare = entry->before;
	*entry = (struct fxt_entry){0};
	return entry;
}

/* Gives back an entry and those before it. */
static void give_back(struct fxt_state *state, struct fxt_entry *entry)
{
	for (struct fxt_entry *before; entry; entry = before) {
		before = entry->before;
		entry->before = state->spare;
		state->spare = entry;
	}
}

/* Forgets meanings that no record asks for any more. Whoever looks up stops at the one that stays last. */
static void forget(struct fxt_state *state, struct fxt_entry *entry)
{
	while (entry && entry->since > state->oldest)
		entry = entry->before;
	if (!entry)
		return;
	give_back(state, entry->before);
	entry->before = NULL;
}

static struct fxt_page *page_of(struct fxt_state *state, struct fxt_page *_Atomic *place)
{
	struct fxt_page *page = atomic_load_explicit(place, memory_order_relaxed);
	if (!page) {
		page = take(state, sizeof *page);
		atomic_store_explicit(place, page, memory_order_release);
	}
	return page;
}

static struct fxt_page *_Atomic *place_of(const struct fxt_state *state, bool thread, unsigned index)
{
	return thread ? &state->current->threads : &state->current->strings[index / FXT_PAGE];
}

/* A new meaning of an index, for the caller to fill and publish(). */
static struct fxt_entry *add_meaning(struct fxt_state *state, bool thread, unsigned index, uint64_t offset)
{
	struct fxt_page *page = page_of(state, place_of(state, thread, index));
	struct fxt_entry *entry = page ? new_entry(state) : NULL;
	if (!entry) {
		state->unindexed = offset < state->unindexed ? offset : state->unindexed;
		return NULL;
	}
	entry->since = offset;
	entry->before = atomic_load_explicit(&page->entries[index % FXT_PAGE], memory_order_relaxed);
	forget(state, entry->before);
	return entry;
}

static void publish(struct fxt_state *state, bool thread, unsigned index, struct fxt_entry *entry)
{
	struct fxt_page *page = atomic_load_explicit(place_of(state, thread, index), memory_order_relaxed);
	atomic_store_explicit(&page->entries[index % FXT_PAGE], entry, memory_order_release);
	state->strings += !thread;
}

bool fxt_state_string(struct fxt_state *state, unsigned index, const uint8_t *text, size_t length, uint64_t offset)
{
	assert(index > 0 && index < FXT_PAGE * FXT_PAGES);
	struct fxt_entry *entry = add_meaning(state, false, index, offset);
	if (!entry)
		return false;
	entry->number = fxt_state_name(state, text, length);
	const struct tw_name *name = tw_dictionary_name(state->dictionary, entry->number);
	entry->text = name->text;
	entry->length = (uint32_t)name->length;
	publish(state, false, index, entry);
	return true;
}

bool fxt_state_thread(struct fxt_state *state, unsigned index, uint64_t process, uint64_t thread, uint64_t offset)
{
	assert(index > 0 && index < FXT_PAGE);
	struct fxt_entry *entry = add_meaning(state, true, index, offset);
	if (!entry)
		return false;
	entry->number = fxt_state_track(state, process, thread);
	entry->process = process;
	entry->thread = thread;
	entry->wanted = tw_thread_wanted(state->options, thread);
	publish(state, true, index, entry);
	return true;
}

/* Records that are being decoded may be looking at the entry: it is left as it is, and not used again. */
void fxt_state_withdraw(struct fxt_state *state, bool thread, unsigned index, uint64_t offset)
{
	struct fxt_page *page = atomic_load_explicit(place_of(state, thread, index), memory_order_relaxed);
	struct fxt_entry *entry =
	    page ? atomic_load_explicit(&page->entries[index % FXT_PAGE], memory_order_relaxed) : NULL;
	if (!entry || entry->since != offset)
		return;
	publish(state, thread, index, entry->before);
	entry->next = state->withdrawn;
	state->withdrawn = entry;
}

unsigned fxt_state_meanings(const struct fxt_state *state, bool thread, unsigned index)
{
	struct fxt_page *page = atomic_load_explicit(place_of(state, thread, index), memory_order_relaxed);
	unsigned count = 0;
	if (!page)
		return 0;
	const struct fxt_entry *entry = atomic_load_explicit(&page->entries[index % FXT_PAGE], memory_order_relaxed);
	for (; entry && entry->since > state->oldest; entry = entry->before)
		count++;
	return count + (entry != NULL);
}

/* ---- Providers. ---- */

static void clear_page(struct fxt_state *state, struct fxt_page *_Atomic *place)
{
	struct fxt_page *page = atomic_load_explicit(place, memory_order_relaxed);
	for (unsigned i = 0; page && i < FXT_PAGE; i++)
		give_back(state, atomic_load_explicit(&page->entries[i], memory_order_relaxed));
	free(page);
	state->memory -= page ? sizeof *page : 0;
	atomic_store_explicit(place, NULL, memory_order_relaxed);
}

static void clear_tables(struct fxt_state *state, struct fxt_provider *provider)
{
	for (unsigned i = 0; i < FXT_PAGES; i++)
		clear_page(state, &provider->strings[i]);
	clear_page(state, &provider->threads);
	state->strings++;
	provider->generation = ++state->generations;
	provider->frequency = TW_NS_PER_SECOND;
	provider->initialized = provider->timed = false;
}

/* A provider is known by its name and by its number. */
static bool is_wanted(const struct fxt_state *state, uint32_t id, uint32_t name)
{
	const char *glob = state->options->provider;
	char number[16];
	snprintf(number, sizeof number, "%" PRIu32, id);
	return !glob || fnmatch(glob, number, 0) == 0 ||
	       fnmatch(glob, tw_dictionary_name(state->dictionary, name)->text, 0) == 0;
}

/* Gives a provider the dictionary's number of one like it. ticks: what it must have; 0: nothing has stated them yet. */
static void set_number(struct fxt_state *state, struct fxt_provider *provider, uint64_t ticks)
{
	struct tw_dictionary *dictionary = state->dictionary;
	uint32_t number = tw_dictionary_add_provider(dictionary, provider->id, provider->name, ticks);
	bool fine = number != UINT32_MAX;
	state->failed |= !fine;
	provider->number = fine ? (uint8_t)number : 0;
	provider->gave_ticks =
	    ticks && provider->number && tw_dictionary_provider(dictionary, number)->ticks_per_second == 0;
	if (provider->gave_ticks)
		tw_dictionary_set_ticks(dictionary, number, ticks);
}

/* The same for one that is named. */
static void name_number(struct fxt_state *state, struct fxt_provider *provider)
{
	set_number(state, provider, provider->initialized || provider->timed ? provider->frequency : 0);
}

static void set_up(struct fxt_state *state, struct fxt_provider *provider, uint32_t id)
{
	provider->id = id;
	provider->generation = ++state->generations;
	provider->archive = state->archives;
	provider->frequency = TW_NS_PER_SECOND;
	provider->wanted = is_wanted(state, id, 0);
}

static bool add_provider(struct fxt_state *state, uint32_t id)
{
	struct fxt_provider *provider = take(state, sizeof *provider);
	size_t place = state->provider_count;
	if (!provider)
		return false;
	set_up(state, provider, id);
	if (!tw_grow(&state->providers, &state->provider_room, place + 1, sizeof(struct fxt_provider *)) ||
	    !tw_map_add(&state->by_id, id, (uint32_t)place)) {
		free(provider);
		state->failed = true;
		return false;
	}
	state->providers[state->provider_count++] = provider;
	state->current = provider;
	return true;
}

bool fxt_state_select(struct fxt_state *state, uint32_t id)
{
	uint32_t place;
	if (!tw_map_find(&state->by_id, id, &place)) {
		if (!add_provider(state, id))
			return false;
		place = (uint32_t)state->provider_count - 1;
	}
	state->current = state->providers[place];
	if (state->current->number == 0)
		name_number(state, state->current);
	return true;
}

/* Events tell their ticks by the number of their provider: with other ticks it is another, as in concatenated archives.
 * Who was never named needs one only if his are not those that the reader's clock tells, which are the first. */
static void use_ticks(struct fxt_state *state)
{
	struct fxt_provider *provider = state->current;
	provider->gave_ticks = false;
	provider->gave_first = state->first_frequency == 0;
	state->first_frequency = provider->gave_first ? provider->frequency : state->first_frequency;
	if (provider->number || provider->frequency != state->first_frequency)
		set_number(state, provider, provider->frequency);
}

void fxt_state_set_ticks(struct fxt_state *state, uint64_t frequency)
{
	state->current->frequency = frequency;
	state->current->initialized = true;
	use_ticks(state);
}

bool fxt_state_time(struct fxt_state *state)
{
	if (state->current->initialized || state->current->timed)
		return false;
	state->current->timed = true;
	use_ticks(state);
	return true;
}

void fxt_state_withdraw_ticks(struct fxt_state *state, const struct fxt_context *withdrawn,
                              const struct fxt_context *before)
{
	struct fxt_provider *provider = state->current;
	if (withdrawn->gave_ticks)
		tw_dictionary_set_ticks(state->dictionary, withdrawn->number, 0);
	if (withdrawn->gave_first)
		state->first_frequency = 0;
	provider->frequency = before->frequency;
	provider->initialized = before->initialized;
	provider->number = before->number;
	provider->has_wall = before->has_wall;
	provider->wall_ns = before->wall_ns;
}

bool fxt_state_announce(struct fxt_state *state, uint32_t id, const uint8_t *name, size_t length)
{
	uint32_t place;
	bool known = tw_map_find(&state->by_id, id, &place);
	if (!known && !add_provider(state, id))
		return false;
	if (known)
		state->current = state->providers[place];
	if (state->current->announced)
		clear_tables(state, state->current);
	state->current->announced = true;
	state->current->name = fxt_state_name(state, name, length);
	name_number(state, state->current);
	state->current->wanted = is_wanted(state, id, state->current->name);
	return true;
}

bool fxt_state_knows(const struct fxt_state *state, uint32_t id)
{
	uint32_t place;
	return tw_map_find(&state->by_id, id, &place) && state->providers[place]->announced;
}

bool fxt_state_wants(const struct fxt_state *state, uint32_t id)
{
	uint32_t place;
	return tw_map_find(&state->by_id, id, &place) ? state->providers[place]->wanted : is_wanted(state, id, 0);
}

/* All but so many. */
static void free_providers(struct fxt_state *state, size_t kept)
{
	while (state->provider_count > kept) {
		struct fxt_provider *provider = state->providers[--state->provider_count];
		clear_tables(state, provider);
		free(provider);
		state->memory -= sizeof *provider;
	}
	tw_map_free(&state->by_id);
}

/* One provider is used again: where the limit is reached there is no room for another. */
bool fxt_state_reset(struct fxt_state *state)
{
	struct fxt_provider *first = state->providers[0];
	free_providers(state, 1);
	clear_tables(state, first);
	memset(first, 0, sizeof *first);
	state->archives++;
	set_up(state, first, 0);
	state->current = first;
	state->failed |= !tw_map_add(&state->by_id, 0, 0);
	return !state->failed;
}

bool fxt_state_init(struct fxt_state *state, struct tw_dictionary *dictionary, const struct tw_read_options *options,
                    size_t limit)
{
	const size_t least = sizeof(struct fxt_provider); /* without the first nothing can be read */
	*state = (struct fxt_state){.dictionary = dictionary,
	                            .options = options,
	                            .limit = limit < least ? least : limit,
	                            .unindexed = UINT64_MAX};
	return add_provider(state, 0);
}

void fxt_state_free(struct fxt_state *state)
{
	free_providers(state, 0);
	free(state->providers);
	tw_map_free(&state->threads.tracks);
	tw_map_free(&state->threads.orphans);
	for (struct fxt_entry *entry = state->spare, *before; entry; entry = before) {
		before = entry->before;
		free(entry);
	}
	for (struct fxt_entry *entry = state->withdrawn, *next; entry; entry = next) {
		next = entry->next;
		free(entry);
	}
}
