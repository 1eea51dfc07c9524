/* chunk.h - a piece of an archive on its way from bytes to rows.
 *
 * The walk goes through the archive in order: it finds where records begin and end, and takes those that others depend
 * on (providers, strings, threads, clocks) into the tables. What it has walked is then decoded to rows, chunk by chunk,
 * by any thread and in any order; what needs the dictionary (inline strings, names of objects) waits until the rows are
 * committed, which is done in order again. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FXT_WALK_CHUNK_H
#define FXT_WALK_CHUNK_H

#include "base/loops.h"
#include "core/order/slab.h"
#include "core/ticks.h"
#include "fxt/format/layout.h"
#include "fxt/format/rules.h"
#include "fxt/jobs/steps.h"
#include "fxt/walk/state.h"

#include <trackway/fxt.h>

enum {
	FXT_CHUNK = 1 << 18,       /* bytes read at a time */
	FXT_CHUNK_LEAST = 1 << 14, /* the same where many archives are read at once */
	FXT_HEAD = 16,     /* a 16th of the bytes is room before them, for a record that the chunk before began */
	FXT_LOOK = 1 << 15 /* bytes behind a doubtful place that are enough to judge it */
};

enum fxt_piece_kind {
	FXT_RECORDS, /* records one after the other, each of the size that its header says */
	FXT_BROKEN,  /* a record whose size can be trusted, but not its contents */
	FXT_LOST,    /* bytes that are no records */
	FXT_CUT,     /* the beginning of a record that goes beyond the end of the file */
	FXT_PAYLOAD  /* bytes of a large blob that began in an earlier chunk */
};

struct fxt_piece {
	enum fxt_piece_kind kind;
	bool big;       /* its words are big endian */
	bool odd;       /* FXT_RECORDS: a single one, with something unknown in it */
	bool last;      /* FXT_PAYLOAD: the blob ends with it */
	bool behind;    /* FXT_PAYLOAD: words behind the blob's bytes, which make no row */
	size_t from;    /* places in the chunk's bytes */
	size_t to;      /* FXT_PAYLOAD: without the padding */
	uint64_t count; /* FXT_RECORDS: how many */
	/* FXT_LOST: bytes in all, with those in earlier chunks; FXT_CUT: bytes that the record should have. */
	uint64_t lost;
	const char *fault; /* what was expected: a constant */
	uint64_t found;    /* the word that is there */
};

/* Provider and clock of the records behind a metadata or initialization record, up to the next one. */
struct fxt_context {
	struct fxt_provider *provider; /* may be gone where another archive begins, until the next context is taken */
	uint32_t generation;           /* the provider's */
	uint64_t frequency;
	uint32_t name;  /* of the provider */
	uint8_t number; /* of the provider in the dictionary */
	bool announced, initialized;
	bool gave_ticks, gave_first; /* struct fxt_provider */
	bool foreign;  /* the options leave the provider out: only its objects become rows, for the names */
	bool has_wall; /* struct tw_clock */
	int64_t wall_ns;
};

/* A member of a row that the commit completes, with the dictionary. */
enum fxt_fix_kind {
	FXT_FIX_NAME,
	FXT_FIX_CATEGORY,
	FXT_FIX_TRACK,            /* a: process, b: thread */
	FXT_FIX_TRACK_BY_KOID,    /* b: thread */
	FXT_FIX_TRACK_UNDEFINED,  /* a: generation of the provider, b: index */
	FXT_FIX_ARGUMENT_NAME,    /* argument: which */
	FXT_FIX_ARGUMENT_TEXT,    /* argument: which */
	FXT_FIX_REFERENCE,        /* an argument that refers to an object: a, b as in struct fxt_object */
	FXT_FIX_OBJECT,           /* the row gives an object its name: a, b as in struct fxt_object */
	FXT_FIX_KERNEL_OBJECT,    /* the row describes a kernel object: b: koid */
	FXT_FIX_TRACK_OF_PROCESS, /* b: process */
	FXT_FIX_PAYLOAD,          /* more of the blob of an earlier row */
	FXT_FIX_PIECE             /* a blob without a time: it may be more of one by that name */
};

struct fxt_fix {
	uint32_t row;
	uint8_t kind; /* enum fxt_fix_kind */
	uint8_t argument;
	uint16_t reference; /* names: an index that is not registered; 0: the text is in `bytes` */
	uint32_t length;
	bool other;           /* tracks: it is that of the second thread */
	const uint8_t *bytes; /* names: the text */
	uint64_t a, b;
};

/* Something found wrong while decoding, to be reported in order. */
struct fxt_note {
	enum fxt_rule rule;
	uint64_t record, at; /* offsets */
	uint64_t a, b;       /* numbers for the rule's text */
	const char *text;    /* a constant, or NULL */
};

/* A reference that was looked up, and the number of its name. */
struct fxt_known {
	uint32_t key; /* the epoch in which it holds, and the reference */
	uint32_t number;
};

enum {
	FXT_KNOWN = 1024,
	FXT_NAME_CACHES = 4 /* providers whose looked-up names are kept at once */
};

/* The category and the name of an event that were looked up, both defined. */
struct fxt_pair {
	uint64_t key; /* the references as the header has them; above them the epoch */
	uint32_t category, name;
};

enum { FXT_THREAD_REFERENCES = TW_FXT_THREADS_MAX + 1 };

/* What is known of the thread of calls (calls.c). All zero: nothing yet. */
struct fxt_call_cursor {
	uint64_t latest; /* ticks of the thread's last event */
	uint32_t track;  /* number of its calls among those of the chunk, or why it has none */
	bool met;        /* `track` is known */
	bool has_track;
};

/* The names of a provider that a thread has looked up. A cache holds from context to context and from chunk to chunk,
 * until a string gets another meaning. */
struct fxt_name_cache {
	const struct fxt_provider *provider; /* whose references these are */
	uint32_t generation;                 /* as in the context */
	uint64_t strings;                    /* as in the chunk that it was used for last */
	struct fxt_known known[FXT_KNOWN];   /* by the low bits of the reference */
	uint32_t epoch;                      /* of the context, above the bits of a reference; 0: no context yet */
	struct fxt_pair pairs[FXT_KNOWN];    /* by the low bits of the name's reference */
	/* By thread index, all zero between runs of the fast path; and a bit for each that is not. */
	struct fxt_call_cursor cursors[FXT_THREAD_REFERENCES];
	uint64_t met[FXT_THREAD_REFERENCES / 64];
	uint64_t pair_epoch; /* of the context, or of the strings registered since, above 32 bits; 0: no context yet */
};

#define FXT_STRINGS_NEW UINT64_MAX

/* Times of records that no rows were made of: nobody looks at them, or they are left out. */
struct fxt_passed {
	uint64_t least, last; /* ns; UINT64_MAX and 0: there are none */
};

/* Written by the walk. */
struct fxt_chunk_walk {
	size_t place; /* that the walk has come to */
	struct fxt_piece *pieces;
	size_t piece_count, piece_room;
	struct fxt_context *contexts; /* that begin in the chunk */
	size_t context_count, context_room;
	uint64_t first_frequency; /* of the archive, as far as it has been walked; 0: none was stated */
};

/* Written by the thread that decodes, which begins with the context and the strings of the walk, and has its caches. */
struct fxt_chunk_decoder {
	bool big;           /* byte order of the piece that is being decoded */
	size_t pieces_done; /* pieces that have been decoded */
	struct fxt_context context;
	size_t contexts_taken;
	bool reported_provider, reported_clock; /* it was reported that this context has no provider, no clock */
	struct tw_ticks clock;
	uint64_t first_without; /* the least tick count whose time is beyond 64 bits */
	uint64_t time;          /* ns of the last timed row; UINT64_MAX before the first */
	uint64_t first;         /* time of the first record that has a time */
	bool timed;             /* a record had a time of its own */
	size_t untimed;         /* rows at the start of the chunk that had no time before them */
	struct fxt_passed passed;
	struct fxt_name_cache *name_caches; /* one for each of a few providers */
	uint32_t name_cache_count;          /* 1 to FXT_NAME_CACHES */
	struct fxt_name_cache *name_cache;  /* of those, that of the context */
	uint64_t strings; /* fxt_state.strings before the chunk; FXT_STRINGS_NEW: it registers some itself */
};

/* Written by the thread that decodes; the commit makes the fixes. */
struct fxt_chunk_rows {
	struct tw_slab slab;
	struct fxt_fix *fixes;
	size_t fix_count, fix_room;
};

/* Written by the walk and by the thread that decodes. */
struct fxt_chunk_found {
	struct fxt_note *notes;
	size_t note_count, note_room;
	uint64_t lost_bytes; /* of damage that was found */
};

/* Written where archives are merged, whose rows are made when their time comes: wait.c. */
struct fxt_chunk_wait {
	bool eager;           /* rows are made as it is walked: tables that they need are about to be forgotten */
	bool waits;           /* its rows are still to be made */
	bool later;           /* they may be made after those of chunks behind it */
	uint64_t last;        /* while it waits: time of its last record, */
	uint64_t fingerprint; /* and by what its bytes are known again */
	int status;           /* what became of them: 0, or a negative status */
};

/* The bytes of a chunk, and a member for each step of its way: src/fxt/README.md. */
struct fxt_chunk {
	size_t size;    /* read at a time */
	uint8_t *bytes; /* from `begin` to `end` they are the archive's; NULL before it is read */
	size_t room, begin, end;
	uint64_t base; /* offset in the archive of bytes[0]; wraps where the head goes beyond the start */
	bool at_end;   /* the archive ends with it */
	struct fxt_chunk_walk walk;
	struct fxt_chunk_decoder decoder;
	struct fxt_chunk_found found;
	struct fxt_chunk_rows rows;
	struct fxt_census *census; /* instead of rows, for info: count.c */
	struct fxt_calls *calls;   /* instead of rows, for profiles: calls.c */
	struct fxt_steps steps;    /* instead of rows, for checking: check_archive.c */
	struct fxt_chunk_wait wait;
	bool moved;  /* the commit gave a row another time */
	bool failed; /* no memory: something of it is missing */
};

/* A flag of the rows of objects whose provider is left out: the commit learns their names and removes the rows. Rows of
 * objects have no tail, so the bit is free. */
enum { FXT_FLAG_FOREIGN = TW_FLAG_TAIL };

/* A request: the events that the caller wants of the archive, and how. */
struct fxt_wish {
	const struct tw_read_options *options;
	uint32_t kinds; /* bits by enum tw_event_kind: other events need no rows */
	uint32_t skips; /* fxt_skips(): records that are skipped for that */
	bool sort;      /* rows by time */
	bool check;     /* every rule is checked */
};

/* How much of the archive a chunk has. */
static inline size_t fxt_bytes_of(const struct fxt_chunk *chunk)
{
	return chunk->end - chunk->begin;
}

static inline uint64_t fxt_offset(const struct fxt_chunk *chunk, size_t place)
{
	return chunk->base + place;
}

/* Notes something found wrong; the second, at a place of the chunk. */
void fxt_add_note(struct fxt_chunk *chunk, const struct fxt_note *note);
void fxt_note(struct fxt_chunk *chunk, enum fxt_rule rule, size_t record, size_t at, uint64_t a, uint64_t b,
              const char *text);

/* Adds a fix for the last row; all of it is given but the row. */
void fxt_add_fix(struct fxt_chunk *chunk, const struct fxt_fix *fix);

/* Sets the time of the record that is being decoded. Rows without a time of their own have that of the record before
 * them, or, at the start of a chunk, of the first record that has one until the chunk before is known: commit.c. */
static inline void fxt_set_time(struct fxt_chunk *chunk, uint64_t time)
{
	if (!chunk->decoder.timed) {
		chunk->decoder.untimed = chunk->rows.slab.count;
		chunk->decoder.first = time;
	}
	chunk->decoder.timed = true;
	chunk->decoder.time = time;
}

/* Notes the time of a record that no row is made of. */
static inline void fxt_pass_by(struct fxt_chunk *chunk, uint64_t time)
{
	chunk->decoder.passed.least = time < chunk->decoder.passed.least ? time : chunk->decoder.passed.least;
	chunk->decoder.passed.last = time > chunk->decoder.passed.last ? time : chunk->decoder.passed.last;
}

/* Whether provider and clock of the context are known, or it was reported that they are not. */
static inline bool fxt_is_context_settled(const struct fxt_chunk *chunk)
{
	return (chunk->decoder.context.initialized || chunk->decoder.reported_clock) &&
	       (chunk->decoder.context.announced || chunk->decoder.reported_provider);
}

/* The time of a tick count in the record at a place. */
static inline uint64_t fxt_time(struct fxt_chunk *chunk, uint64_t ticks, size_t place)
{
	__extension__ typedef unsigned __int128 wide;
	fxt_set_time(chunk, tw_ticks_ns(&chunk->decoder.clock, ticks));
	if (chunk->decoder.time == UINT64_MAX &&
	    (wide)ticks * TW_NS_PER_SECOND / chunk->decoder.clock.frequency > UINT64_MAX)
		fxt_note(chunk, FXT_TIME_OVERFLOW, place, place, chunk->decoder.context.provider->id, 0, NULL);
	return chunk->decoder.time;
}

/* context.c: what a reference to a string, or an index of threads, means for the record at a place of the current
 * context; NULL where nothing has registered it, or it is inline. */
const struct fxt_entry *fxt_string_of(const struct fxt_chunk *chunk, unsigned reference, size_t place);
const struct fxt_entry *fxt_thread_of(const struct fxt_chunk *chunk, unsigned index, size_t place);

/* context.c: the number of the name of a string, in one look instead of three: nearly all records refer to a few
 * hundred names. False where it is inline or not registered. `make bench` measures stat and check of FXT. */
bool fxt_look_up(struct fxt_chunk *chunk, unsigned reference, uint64_t offset, uint32_t *number);

static inline bool fxt_known_number(struct fxt_chunk *chunk, unsigned reference, uint64_t offset, uint32_t *number)
{
	const struct fxt_known *known = &chunk->decoder.name_cache->known[reference % FXT_KNOWN];
	*number = known->number;
	return known->key == (chunk->decoder.name_cache->epoch | reference) ||
	       fxt_look_up(chunk, reference, offset, number);
}

/* context.c: category and name of an event at a place in one look; NULL where one is inline or not defined. */
const struct fxt_pair *fxt_look_up_pair(struct fxt_chunk *chunk, uint64_t header, size_t place);

/* The same, in the cache first. */
static inline const struct fxt_pair *fxt_pair_of(struct fxt_chunk *chunk, uint64_t header, size_t place)
{
	const struct fxt_pair *pair = &chunk->decoder.name_cache->pairs[tw_bits(header, 48, 63) % FXT_KNOWN];
	return __builtin_expect(pair->key == (header >> 32 | chunk->decoder.name_cache->pair_epoch), 1)
	           ? pair
	           : fxt_look_up_pair(chunk, header, place);
}

/* How many rows, arguments and fixes there are; and back to that. */
struct fxt_row_mark {
	size_t rows, arguments, fixes;
};

static inline struct fxt_row_mark fxt_mark_rows(const struct fxt_chunk *chunk)
{
	return (struct fxt_row_mark){chunk->rows.slab.count, chunk->rows.slab.argument_count, chunk->rows.fix_count};
}

static inline void fxt_take_rows_back(struct fxt_chunk *chunk, const struct fxt_row_mark *mark)
{
	chunk->rows.slab.count = mark->rows;
	chunk->rows.slab.argument_count = mark->arguments;
	chunk->rows.fix_count = mark->fixes;
}

/* Room for calls: calls.c. */
struct fxt_call_room {
	struct fxt_call *calls;
	size_t room;
};

/* Memory that a thread uses for one chunk after the other; all zero to begin. */
struct fxt_scratch {
	struct fxt_name_cache name_caches[FXT_NAME_CACHES];
	struct tw_slab_scratch sort;
	struct fxt_call_room calls; /* calls.c */
	uint32_t *below;            /* track_calls.c */
	size_t below_room;
};

/* Lends a chunk name caches, until it has been decoded. */
static inline void fxt_lend_name_caches(struct fxt_chunk *chunk, struct fxt_name_cache *name_caches, uint32_t count)
{
	chunk->decoder.name_caches = name_caches;
	chunk->decoder.name_cache_count = count;
}

/* Frees what it holds. NULL is fine. */
void fxt_scratch_free(struct fxt_scratch *scratch);

/* NULL when there is no memory. */
struct fxt_chunk *fxt_chunk_new(size_t size);
void fxt_chunk_free(struct fxt_chunk *chunk);

struct tw_reader;

/* Gives a chunk that has none room for bytes. False when there is no memory. */
bool fxt_chunk_make_room(struct fxt_chunk *chunk);

/* Empties a chunk and reads the next bytes of an archive into it; *position is moved on. Returns 0 or a negative
 * status. */
int fxt_chunk_read(struct fxt_chunk *chunk, struct tw_reader *reader, uint64_t *position);

/* Puts what the chunk before could not finish in front of a chunk. False when there is no memory. */
bool fxt_chunk_carry(struct fxt_chunk *chunk, const struct fxt_chunk *before);

/* pieces.c: makes rows of what was walked since the last time; then, when all of the chunk is rows, puts them in
 * order. */
void fxt_decode(struct fxt_chunk *chunk, const struct fxt_wish *wish, struct fxt_scratch *scratch);
void fxt_decoded(struct fxt_chunk *chunk, const struct fxt_wish *wish, struct fxt_scratch *scratch);

static inline uint8_t fxt_scope_flags(uint64_t scope)
{
	return scope == 1 ? TW_FLAG_PROCESS : scope == 2 ? TW_FLAG_GLOBAL : 0;
}

/* Takes records from a place on, in the byte order of the decoder. A fast loop returns the place of the first that it
 * leaves to the other, or the end; the other takes one, and returns its size, as far as it is in the chunk. */
typedef size_t fxt_take_fn(struct fxt_chunk *chunk, const struct fxt_wish *wish, size_t place, size_t end);

/* check_plain.c: adds the steps of records that are right for sure. */
fxt_take_fn fxt_check_plain;

/* plain.c: makes rows of records that have nothing inline and nothing wrong. `make bench` measures convert of FXT: rows
 * take less than half as long. */
fxt_take_fn fxt_take_plain;

/* plain.c: which records can be skipped where only some kinds of event are looked at: bits by the types of events, then
 * by those of scheduling records. Legacy context switches, which may have threads inline, are never skipped. */
enum { FXT_SKIPS_SCHEDULING = FXT_TYPES };
uint32_t fxt_skips(uint32_t kinds);

/* Whether a record with this header is one of these. A thread that is inline tells whose thread a koid is. */
static inline bool fxt_is_skipped(uint32_t skips, uint64_t header)
{
	if (__builtin_expect(fxt_type(header) == TW_FXT_TYPE_EVENT, 1))
		return skips >> tw_bits(header, 16, 19) & 1 && tw_bits(header, 24, 31);
	return fxt_type(header) == TW_FXT_TYPE_SCHEDULING &&
	       skips >> FXT_SKIPS_SCHEDULING >> tw_bits(header, 60, 63) & 1;
}

/* rows.c: makes the row of a record of any kind. */
fxt_take_fn fxt_take_record;

/* What is made of records: in a fast loop, as far as that goes, and of any. */
struct fxt_way {
	enum tw_loop loop;
	fxt_take_fn *fast, *any;
};

/* pieces.c: takes the pieces that were walked since the last time: those of records in a way, others to rows about what
 * was lost. */
void fxt_take_pieces(struct fxt_chunk *chunk, const struct fxt_wish *wish, const struct fxt_way *way);

/* check_record.c: notes what rules a record breaks. */
void fxt_check_record(struct fxt_chunk *chunk, const struct tw_fxt_record *record, size_t place);

/* Whether there are words behind what is known of a record, or of an argument of it. */
bool fxt_has_trailing(const struct tw_fxt_record *record);

/* context.c: the text of a string of the record at a place, and its length; NULL where its index is not registered. */
const char *fxt_text(const struct fxt_chunk *chunk, const struct tw_fxt_string *string, size_t place, size_t *length);

/* A thread as a record refers to it. */
struct fxt_referred {
	uint64_t process, thread; /* koids */
	uint32_t track;           /* UINT32_MAX: the koids stand in the record */
	bool known;               /* false: its index is not registered */
};

/* context.c: a thread of the record at a place. */
struct fxt_referred fxt_refer_to(const struct fxt_chunk *chunk, const struct tw_fxt_thread *thread, size_t place);

/* context.c: provider and clock at the place of the walk. */
struct fxt_context fxt_context_of(const struct fxt_state *state);

/* context.c: begins with the context of a chunk, before any of it is decoded; passes to the next context, which begins
 * behind each metadata and initialization record. */
void fxt_begin_context(struct fxt_chunk *chunk);
void fxt_next_context(struct fxt_chunk *chunk);

/* context.c: the record that is being decoded registers a string: the index has another meaning from here on. */
void fxt_forget_string(struct fxt_chunk *chunk, unsigned index);

#endif
