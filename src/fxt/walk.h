/* walk.h - from record to record through an archive, around what is damaged. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FXT_WALK_H
#define FXT_WALK_H

#include "fxt/chunk.h"

/* What a place that does not look like a record at once turns out to be. */
enum fxt_verdict {
	FXT_IS_RECORD,  /* of that size, with something in it that is not known */
	FXT_IS_BROKEN,  /* of that size, with something in it that does not fit */
	FXT_IS_GARBAGE, /* so many bytes until the next record, or until where more bytes are needed to tell */
	FXT_IS_CUT,     /* the file ends in it */
	FXT_IS_SWAPPED, /* the magic number in the other byte order */
	FXT_WANTS_MORE, /* bytes, to be judged */
	FXT_WANTS_LAST  /* the same, and the record before with them */
};

struct fxt_judgement {
	enum fxt_verdict verdict;
	uint64_t size;
	const char *fault; /* what was expected */
	size_t at;         /* where in the record */
	bool joins;        /* a record: others that are as they should be begin where it ends */
};

/* judge.c: judges bytes[0, left). at_end: nothing comes after them. offset: theirs in the archive. in_garbage: the
 * bytes before are no records. */
struct fxt_judgement fxt_judge(const struct fxt_state *state, const uint8_t *bytes, size_t left, bool at_end, bool big,
                               bool in_garbage, uint64_t offset);

/* Whether the first record of the bytes has no flaw in its padding, texts and numbers. */
bool fxt_is_flawless(const uint8_t *bytes, size_t left, bool big);

/* Where in a record of `size` bytes, which something follows that is none, others begin that follow one another: then
 * bytes of it are missing, and it has swallowed them. `size` if nowhere. left: bytes there are. offset: its own. */
size_t fxt_look_inside(const struct fxt_state *state, const uint8_t *bytes, size_t size, size_t left, bool at_end,
                       bool big, uint64_t offset);

/* Where in bytes[0, end), which say that they are records, others begin that follow one another to where records go on,
 * past what is none between `end` and `next`; `end` if nowhere. left: bytes there are. offset: their own. */
size_t fxt_look_across(const struct fxt_state *state, const uint8_t *bytes, size_t end, size_t next, size_t left,
                       bool at_end, bool big, uint64_t offset);

/* Whether a metadata record that measures right has a record behind it, and a good name if it has one: otherwise it is
 * to be judged before tables start anew with it, or what follows is another provider's. */
bool fxt_is_turn(const struct fxt_state *state, const uint8_t *bytes, size_t left, bool at_end, bool big,
                 uint64_t offset);

/* Where in bytes[0, size), the contents of a large record that nobody knows, so many records follow one another that it
 * is none but damage; `size` if nowhere. left: bytes there are. */
size_t fxt_look_for(const struct fxt_state *state, const uint8_t *bytes, size_t size, size_t left, bool big,
                    uint64_t offset);

/* Counts the records that follow one another from the beginning of the bytes; returns where they end. */
size_t fxt_chain(const uint8_t *bytes, size_t left, bool big, unsigned *count);

struct fxt_walk {
	struct fxt_state *state;
	bool big;
	bool check;                            /* notes the rules about tables, too */
	const struct tw_read_options *options; /* whose records are wanted; NULL: everybody's */
	bool unwanted;                         /* the large blob that goes on is left out */
	uint64_t blob_left;                    /* bytes of a large blob that are still to come */
	bool in_doubt;                         /* it is a large record that nobody knows: others may begin in it */
	bool ends_early;                       /* they do */
	size_t last;                           /* place in the chunk of the last record that was passed */
	uint64_t lost_from;                    /* where the garbage began that the walk is in; UINT64_MAX: in none */
	const char *fault;
	uint64_t found;
};

/* Tells the byte order from the first chunk of an archive: that of its magic number, or without one that in which its
 * first record makes sense. */
void fxt_walk_begin(struct fxt_walk *walk, struct fxt_chunk *chunk);

enum fxt_walked {
	FXT_WALKED, /* as far as the bytes allow */
	FXT_BARRIER /* all that was walked must be decoded first, then walk on */
};

/* Walks on through a chunk. */
enum fxt_walked fxt_walk(struct fxt_walk *walk, struct fxt_chunk *chunk);

#endif
