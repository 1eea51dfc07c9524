/* args.h - the arguments of an event as members of a JSON object. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef EXPORT_TEXT_ARGS_H
#define EXPORT_TEXT_ARGS_H

#include "core/format.h"
#include "export/text/names.h"

enum {
	ARGS_VALUE_MAX = 64 << 10, /* bytes of one argument; the rest is cut off and counted as "long argument" */
	ARGS_KEY_MAX = 1 << 10,    /* the same for its name, and its object's */
	ARGS_MAX = 512 << 10,      /* bytes of JSON after which there are no more arguments; they are counted */
	ARGS_KEYS = 2 * (255 + 4) +
	            8 /* two for each argument and each number of an event, and the words that are a target's own */
};

/* The keys of an object. Each is there once: a second "a" becomes "a 2". They are compared by hashes of what is
 * written; two that have the same hash by chance cost a number that was not needed. */
struct tw_args {
	struct tw_writer *writer; /* counts what is lost */
	struct tw_names names;    /* of arguments: what stands in the quotes */
	uint64_t keys[ARGS_KEYS];
	size_t key_count;
	size_t own_keys;         /* how many at the front are the target's own words, which no argument may have */
	size_t first_key;        /* of the object: behind the words of the target's own where they mean nothing in it */
	uint64_t seen, own_seen; /* a bit for each key, chosen by its hash: a key whose bit is not set is new */
	bool apart;              /* the object has no arguments, whose keys could be the same: none is remembered */
};

/* All zero before. */
void tw_args_init(struct tw_args *args, struct tw_writer *writer);
void tw_args_free(struct tw_args *args);

/* A word that no argument may have as its key. */
void tw_args_reserve(struct tw_args *args, const char *word);

/* Begins another object with this many arguments, beside keys of the target's own, which are not counted. */
static inline void tw_args_begin(struct tw_args *args, unsigned arguments)
{
	args->key_count = args->own_keys;
	args->first_key = 0;
	args->seen = args->own_seen;
	args->apart = arguments == 0;
}

/* The same for an object in which the words that were reserved mean nothing. */
static inline void tw_args_begin_free(struct tw_args *args, unsigned arguments)
{
	args->key_count = args->first_key = args->own_keys;
	args->seen = 0;
	args->apart = arguments == 0;
}

/* Adds "key": with a comma before it where it is not the first. */
void tw_args_key(struct tw_args *args, struct tw_line *line, const char *word, bool first);

/* The same for the name of an argument. */
void tw_args_name(struct tw_args *args, struct tw_line *line, const struct tw_dictionary *dictionary, uint32_t name,
                  bool first);

/* Adds the value of an argument. Integers that a double cannot hold are texts, and so are pointers, "0x1f", and bytes,
 * in hexadecimal; of pointers and koids whose object is known "0x1f (its name)". */
void tw_args_value(struct tw_args *args, struct tw_line *line, const struct tw_dictionary *dictionary,
                   const struct tw_argument *argument);

/* Adds "0x1f", or "0x1f (name)" where the object of a pointer or koid is known. */
void tw_args_reference(struct tw_args *args, struct tw_line *line, const struct tw_dictionary *dictionary,
                       const struct tw_argument *argument);

/* Returns how many bytes of a text or bytes argument are written; counts the others as lost. */
size_t tw_args_size(struct tw_args *args, const struct tw_argument *argument);

/* Whether it is a number that can be drawn, as counters have them. */
bool tw_args_is_number(const struct tw_argument *argument);

/* Adds {"name":value,...} to a line. */
void tw_args_add(struct tw_args *args, struct tw_line *line, const struct tw_dictionary *dictionary,
                 const struct tw_argument *arguments, unsigned count);

#endif
