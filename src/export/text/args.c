/* args.c - the arguments of an event as members of a JSON object. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "export/text/args.h"

#include "base/memory/map.h"

#include <math.h>

/* ---- Keys. ---- */

static void render(struct tw_line *line, const struct tw_name *name, struct tw_rendered *piece)
{
	piece->cut = name->length > ARGS_KEY_MAX;
	if (name->length)
		tw_line_escaped(line, name->text, piece->cut ? ARGS_KEY_MAX : name->length);
	else
		tw_line_text(line, "argument");
}

void tw_args_init(struct tw_args *args, struct tw_writer *writer)
{
	args->writer = writer;
	tw_names_init(&args->names, render);
}

void tw_args_free(struct tw_args *args)
{
	tw_names_free(&args->names);
}

static uint64_t bit_of(uint64_t key)
{
	return UINT64_C(1) << key % 64;
}

void tw_args_reserve(struct tw_args *args, const char *word)
{
	uint64_t key = tw_hash_bytes(word, strlen(word), 0);
	args->keys[args->own_keys++] = key;
	args->own_seen |= bit_of(key);
}

static void keep_key(struct tw_args *args, uint64_t key)
{
	args->keys[args->key_count++] = key;
	args->seen |= bit_of(key);
}

static inline unsigned count_key(const struct tw_args *args, uint64_t key)
{
	unsigned count = 0;
	if (!(args->seen & bit_of(key)))
		return 0;
	for (size_t i = args->first_key; i < args->key_count; i++)
		count += args->keys[i] == key;
	return count;
}

/* Makes the key that begins at `start` unique, which `same` other arguments have: with the lowest number behind it that
 * none has yet. */
static void add_number(struct tw_args *args, struct tw_line *line, size_t start, unsigned same)
{
	size_t end = line->text.length;
	uint64_t key;
	do {
		line->text.length = end;
		tw_line_text(line, " ");
		tw_line_u64(line, ++same);
		key = tw_hash_bytes(line->text.bytes + start, line->text.length - start, 0);
	} while (!line->failed && count_key(args, key));
	keep_key(args, key);
}

/* A key that is about to be written. */
struct argument_key {
	const char *bytes;
	size_t size;
	uint64_t hash;
	bool kept; /* it lies among the kept names: TW_NAMES_BEHIND bytes behind it may be read */
};

/* Puts "key": with a comma before it where it is not the first. Returns where in the line it begins. */
static inline size_t put_key(struct tw_line *line, const struct argument_key *key, bool first)
{
	enum { AROUND = 4, STEP = TW_NAMES_BEHIND };
	size_t size = key->size;
	char *p = tw_line_room(line, size + AROUND + STEP);
	if (!p)
		return line->text.length;
	memcpy(p, ",\"", 2);
	p = p + 2 - first;
	p[-1] = '"';
	size_t start = (size_t)(p - line->text.bytes);
	for (size_t i = 0; i < size && key->kept; i += STEP)
		memcpy(p + i, key->bytes + i, STEP);
	if (!key->kept && size)
		memcpy(p, key->bytes, size);
	memcpy(p + size, "\":", 2);
	tw_line_end(line, p + size + 2);
	return start;
}

static inline void add_key(struct tw_args *args, struct tw_line *line, const struct argument_key *key, bool first)
{
	enum { BEHIND = 2 };
	unsigned same = count_key(args, key->hash);
	size_t start = put_key(line, key, first);
	keep_key(args, key->hash);
	if (__builtin_expect(!same || line->failed, 1))
		return;
	line->text.length -= BEHIND;
	add_number(args, line, start, same);
	tw_line_text(line, "\":");
}

void tw_args_key(struct tw_args *args, struct tw_line *line, const char *word, bool first)
{
	struct argument_key key = {.bytes = word, .size = strlen(word)};
	if (args->apart) {
		put_key(line, &key, first);
		return;
	}
	key.hash = tw_hash_bytes(word, key.size, 0);
	add_key(args, line, &key, first);
}

void tw_args_name(struct tw_args *args, struct tw_line *line, const struct tw_dictionary *dictionary, uint32_t name,
                  bool first)
{
	const struct tw_rendered *piece = tw_names_find(&args->names, dictionary, name);
	if (piece->cut)
		tw_count_loss(args->writer, "long name", true);
	const struct argument_key key = {tw_names_bytes(&args->names, piece), piece->size, piece->hash, true};
	add_key(args, line, &key, first);
	line->failed |= args->names.text.failed;
}

/* ---- Values. ---- */

size_t tw_args_size(struct tw_args *args, const struct tw_argument *argument)
{
	if (argument->size <= ARGS_VALUE_MAX)
		return (size_t)argument->size;
	tw_count_loss(args->writer, "long argument", true);
	return ARGS_VALUE_MAX;
}

static const struct tw_name *object_of(const struct tw_dictionary *dictionary, const struct tw_argument *argument)
{
	return tw_dictionary_name(dictionary, argument->size < UINT32_MAX ? (uint32_t)argument->size : 0);
}

void tw_args_reference(struct tw_args *args, struct tw_line *line, const struct tw_dictionary *dictionary,
                       const struct tw_argument *argument)
{
	const struct tw_name *object = object_of(dictionary, argument);
	size_t length = object->length < ARGS_KEY_MAX ? object->length : ARGS_KEY_MAX;
	tw_line_hex(line, argument->value.u);
	if (length == 0 || line->failed)
		return;
	if (length < object->length)
		tw_count_loss(args->writer, "long name", true);
	line->text.length--; /* the closing quote */
	tw_line_text(line, " (");
	tw_line_escaped(line, object->text, length);
	tw_line_text(line, ")\"");
}

void tw_args_value(struct tw_args *args, struct tw_line *line, const struct tw_dictionary *dictionary,
                   const struct tw_argument *argument)
{
	switch ((enum tw_argument_type)argument->type) {
	case TW_ARG_NULL:
		tw_line_text(line, "null");
		return;
	case TW_ARG_BOOL:
		tw_line_text(line, argument->value.u ? "true" : "false");
		return;
	case TW_ARG_INT:
		tw_line_exact_i64(line, argument->value.i);
		return;
	case TW_ARG_UINT:
		tw_line_exact_u64(line, argument->value.u);
		return;
	case TW_ARG_KOID:
		if (object_of(dictionary, argument)->length == 0)
			tw_line_exact_u64(line, argument->value.u);
		else
			tw_args_reference(args, line, dictionary, argument);
		return;
	case TW_ARG_POINTER:
		tw_args_reference(args, line, dictionary, argument);
		return;
	case TW_ARG_DOUBLE:
		tw_line_double(line, argument->value.d);
		return;
	case TW_ARG_TEXT:
		tw_line_string(line, argument->value.bytes, tw_args_size(args, argument));
		return;
	case TW_ARG_BYTES:
		tw_count_unknown(args->writer, argument);
		tw_line_bytes(line, argument->value.bytes, tw_args_size(args, argument));
		return;
	}
}

void tw_args_add(struct tw_args *args, struct tw_line *line, const struct tw_dictionary *dictionary,
                 const struct tw_argument *arguments, unsigned count)
{
	size_t begin = line->text.length;
	tw_args_begin(args, count);
	tw_line_text(line, "{");
	for (unsigned i = 0; i < count; i++) {
		if (line->text.length - begin > ARGS_MAX) {
			tw_count_losses(args->writer, "argument", false, count - i);
			break;
		}
		tw_args_name(args, line, dictionary, arguments[i].name, i == 0);
		tw_args_value(args, line, dictionary, &arguments[i]);
	}
	tw_line_text(line, "}");
}

bool tw_args_is_number(const struct tw_argument *argument)
{
	if (argument->type == TW_ARG_DOUBLE)
		return isfinite(argument->value.d);
	return argument->type == TW_ARG_INT || argument->type == TW_ARG_UINT;
}
