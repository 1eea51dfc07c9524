/* state.h - what records of an archive depend on: each provider's strings, threads and clock. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FXT_WALK_STATE_H
#define FXT_WALK_STATE_H

#include "base/memory/map.h"
#include "core/dictionary.h"

#include <trackway/reader.h>

#include <stdatomic.h>

/* The meaning of an index of a string or thread table, from some offset on. Records are decoded behind the walk that
 * fills the tables, maybe in other threads: an earlier meaning is kept as long as a record may ask for it. */
struct fxt_entry {
	uint64_t since; /* offset of the record that registered it */
	struct fxt_entry *before;
	const char *text; /* strings: as in the dictionary */
	uint32_t length;
	uint32_t number;          /* of the name or the track */
	uint64_t process, thread; /* threads: the koids */
	bool wanted;              /* threads: the options let it through */
	struct fxt_entry *next;   /* of those withdrawn */
};

struct fxt_context;

enum { FXT_PAGE = 256, FXT_PAGES = 128 };

/* The meanings of 256 indices. */
struct fxt_page {
	struct fxt_entry *_Atomic entries[FXT_PAGE];
};

struct fxt_provider {
	uint32_t id;
	uint32_t generation; /* another one when it is announced again; no two providers have the same */
	uint32_t archive;    /* which of those in the file */
	uint32_t name;       /* of the dictionary */
	uint8_t number;      /* the same, of the provider; 0: there are too many, or it was never named */
	uint64_t frequency;  /* ticks per second */
	bool announced;      /* by a provider info record */
	bool initialized;    /* by an initialization record */
	bool gave_ticks;     /* its initialization was the first to tell the ticks of its number */
	bool gave_first;     /* its initialization was the first to tell ticks at all */
	bool timed;          /* a record with a time came before any initialization */
	bool has_wall;       /* its initialization stated a wall time */
	int64_t wall_ns;     /* added to a time it gives that since 1970 */
	bool wanted;         /* the options let it through */
	bool replaced_string, replaced_thread; /* it was noted that an index got another meaning */
	struct fxt_page *_Atomic strings[FXT_PAGES];
	struct fxt_page *_Atomic threads;
};

struct fxt_state {
	struct tw_dictionary *dictionary;
	const struct tw_read_options *options;
	struct fxt_provider **providers; /* in the order of their coming; the first is who writes before any is named */
	size_t provider_count, provider_room;
	struct tw_map by_id;            /* id to place in `providers` */
	uint32_t generations, archives; /* how many there were */
	uint64_t first_frequency;       /* of the first provider of which it is known; 0: none yet */
	struct fxt_provider *current;
	struct fxt_entry *spare;     /* entries that nobody asks for any more */
	struct fxt_entry *withdrawn; /* entries that are none, but may be looked at */
	uint64_t oldest;             /* records before this offset ask for nothing any more */
	struct {
		struct tw_map tracks; /* to the track that it was last met on */
		struct tw_map
		    orphans;  /* of one that was met without its process to its track; to 0 when that is no longer so */
	} threads;            /* by koid */
	size_t memory, limit; /* bytes that tables take, and may take */
	bool full;            /* the limit was reached: something is missing */
	bool failed;          /* no memory: the same, and nothing that follows can be trusted */
	uint64_t strings;     /* how often the meaning of a string changed */
	/* Where a string or thread was first registered beyond the limit: what is not found behind it may be one of
	 * these. UINT64_MAX: all are there. */
	uint64_t unindexed;
};

/* False when there is no memory. */
bool fxt_state_init(struct fxt_state *state, struct tw_dictionary *dictionary, const struct tw_read_options *options,
                    size_t limit);
void fxt_state_free(struct fxt_state *state);

/* Another archive begins: forgets all providers. No record before may be asked for any more. */
bool fxt_state_reset(struct fxt_state *state);

/* The number of a stack: one more frame on another one. That other one where the limit is reached. */
uint32_t fxt_state_stack(struct fxt_state *state, uint32_t caller, const struct tw_location *frame);

/* Makes a provider the current one; one that is not known comes into being. False when there is no memory for it. */
bool fxt_state_select(struct fxt_state *state, uint32_t id);

/* Makes a provider the current one, for a provider info record: a known provider loses its tables, and no record before
 * may be asked for any more. */
bool fxt_state_announce(struct fxt_state *state, uint32_t id, const uint8_t *name, size_t length);

/* The current provider has so many ticks per second. */
void fxt_state_set_ticks(struct fxt_state *state, uint64_t frequency);

/* The current provider has a record with a time: where nothing has stated its ticks, they are nanoseconds. Returns
 * whether its number may be another one now. */
bool fxt_state_time(struct fxt_state *state);

/* The record that set the current provider's ticks was none: all that it stated is as before. */
void fxt_state_withdraw_ticks(struct fxt_state *state, const struct fxt_context *withdrawn,
                              const struct fxt_context *before);

/* Whether a provider info record of this id has been there. */
bool fxt_state_knows(const struct fxt_state *state, uint32_t id);

/* Whether the options let a provider through: one that is not known by its number alone. */
bool fxt_state_wants(const struct fxt_state *state, uint32_t id);

/* Registers with the current provider. False when there is no memory for it. */
bool fxt_state_string(struct fxt_state *state, unsigned index, const uint8_t *text, size_t length, uint64_t offset);
bool fxt_state_thread(struct fxt_state *state, unsigned index, uint64_t process, uint64_t thread, uint64_t offset);

/* The record at an offset, the last that registered an index with the current provider, turns out to be none. */
void fxt_state_withdraw(struct fxt_state *state, bool thread, unsigned index, uint64_t offset);

/* How many meanings of an index of the current provider there are that records from `oldest` on may ask for. */
unsigned fxt_state_meanings(const struct fxt_state *state, bool thread, unsigned index);

/* The track of a thread. Koids are unique: where only that of the thread is known, as in context switches, its process
 * is the one that it was met with. */
uint32_t fxt_state_track(struct fxt_state *state, uint64_t process, uint64_t thread);
uint32_t fxt_state_track_of_thread(struct fxt_state *state, uint64_t thread);

/* The track of what refers to an index of a provider's thread table that nothing has registered. */
uint32_t fxt_state_undefined_thread(struct fxt_state *state, uint64_t generation, uint64_t index);

/* The track of a process, and of what is of none of its threads: 0 may be one, the kernel. */
uint32_t fxt_state_process(struct fxt_state *state, uint64_t process);

/* A name of the dictionary; "(other)" where the memory limit is reached. */
uint32_t fxt_state_name(struct fxt_state *state, const void *text, size_t length);

/* Writes how an index of strings is called that nothing has registered; repair registers it so. Returns the length. */
enum { FXT_UNDEFINED_MAX = 32 };
size_t fxt_undefined_name(char text[static FXT_UNDEFINED_MAX], unsigned index);

/* The koid of a thread whose index nothing has registered; and its name. */
uint64_t fxt_undefined_koid(uint64_t generation, uint64_t index);
size_t fxt_undefined_thread(char text[static FXT_UNDEFINED_MAX], unsigned index);

/* Whether that is what an index of strings means. */
bool fxt_is_undefined(const struct fxt_entry *entry, unsigned index);

/* ---- Looking up: from any thread, while the tables grow. Nothing is ever registered as 0. ---- */

static inline const struct fxt_entry *fxt_entry_at(struct fxt_page *page, unsigned index, uint64_t offset)
{
	const struct fxt_entry *entry = page ? atomic_load_explicit(&page->entries[index], memory_order_acquire) : NULL;
	while (entry && entry->since > offset)
		entry = entry->before;
	return entry;
}

/* The string that a reference means for a record at an offset; NULL where none is registered, or the text is inline. */
static inline const struct fxt_entry *fxt_string_at(struct fxt_provider *provider, unsigned index, uint64_t offset)
{
	if (index >= FXT_PAGE * FXT_PAGES)
		return NULL;
	return fxt_entry_at(atomic_load_explicit(&provider->strings[index / FXT_PAGE], memory_order_acquire),
	                    index % FXT_PAGE, offset);
}

/* The same for an index of threads. */
static inline const struct fxt_entry *fxt_thread_at(struct fxt_provider *provider, unsigned index, uint64_t offset)
{
	return fxt_entry_at(atomic_load_explicit(&provider->threads, memory_order_acquire), index, offset);
}

#endif
