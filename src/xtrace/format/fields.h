/* fields.h - what a record of an xtrace tells, as fields. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XTRACE_FORMAT_FIELDS_H
#define XTRACE_FORMAT_FIELDS_H

#include <trackway/reader.h>
#include <trackway/xtrace.h>

#include <stdbool.h>

enum {
	XTRACE_FIELDS = 32,
	XTRACE_TOKENS_MOST = 512,    /* of an instruction in one record */
	XTRACE_CHILDREN_MOST = 4096, /* fields inside of one token: a SYSCALL_VEC has 1,024 parts */
	XTRACE_VALUE_MOST = 1 << 15, /* bytes of one access, at most */
	XTRACE_VALUES = 1 << 16      /* of all accesses */
};

/* The fields of one record: all zero to begin. They point into each other: it must not be moved. */
struct xtrace_fields {
	struct tw_field fields[XTRACE_FIELDS];
	size_t field_count;
	struct tw_field tokens[XTRACE_TOKENS_MOST]; /* an object each */
	size_t token_count;
	struct tw_field children[XTRACE_TOKENS_MOST * 8 + XTRACE_CHILDREN_MOST]; /* what is in arrays and objects */
	size_t child_count;
	uint8_t values[XTRACE_VALUES]; /* what was loaded and stored */
	size_t value_count;
};

static inline void xtrace_fields_clear(struct xtrace_fields *all)
{
	all->field_count = all->token_count = all->child_count = all->value_count = 0;
}

/* Adds a field, which is returned. */
struct tw_field *xtrace_fields_add(struct xtrace_fields *all, const char *name, enum tw_field_type type,
                                   uint64_t value);
void xtrace_fields_add_text(struct xtrace_fields *all, const char *name, const char *text, size_t size);

/* Adds what a token tells that is no instruction. */
void xtrace_fields_add_token(struct xtrace_fields *all, const struct tw_xtrace_token *token);

/* Adds such a token of an instruction as an object to `tokens`. */
void xtrace_fields_add_object(struct xtrace_fields *all, const struct tw_xtrace_token *token);

/* Whether there is room for any other object. */
static inline bool xtrace_fields_have_room(const struct xtrace_fields *all)
{
	return all->token_count < XTRACE_TOKENS_MOST &&
	       all->child_count < sizeof all->children / sizeof *all->children - XTRACE_CHILDREN_MOST &&
	       all->value_count < XTRACE_VALUES - XTRACE_VALUE_MOST;
}

/* Adds what a snapshot tells. Its bytes are not copied. */
void xtrace_fields_add_snapshot(struct xtrace_fields *all, const struct tw_xtrace_snapshot *snapshot);

#endif
