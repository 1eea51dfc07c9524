/* args.c - the arguments of an event as one JSON object. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "export/args.h"

#include "base/map.h"

/* Two for each argument: its name, and that with a number. */
struct keys {
	uint64_t hashes[2 * UINT8_MAX];
	size_t count;
};

static unsigned same_as(const struct keys *keys, uint64_t hash)
{
	unsigned same = 0;
	for (size_t i = 0; i < keys->count; i++)
		same += keys->hashes[i] == hash;
	return same;
}

/* Names are told apart by their hashes: two that are alike by chance cost a number that was not needed. */
static void add_key(struct tw_line *line, struct keys *keys, const char *text, size_t length)
{
	uint64_t hash = tw_hash_bytes(text, length, 0);
	unsigned same = same_as(keys, hash);
	keys->hashes[keys->count++] = hash;
	tw_line_text(line, keys->count > 1 ? ",\"" : "\"");
	tw_line_escaped(line, text, length);
	if (same) {
		do
			same++;
		while (same_as(keys, tw_hash64(hash + same)));
		keys->hashes[keys->count++] = tw_hash64(hash + same);
		tw_line_text(line, " ");
		tw_line_u64(line, same);
	}
	tw_line_text(line, "\":");
}

static void add_bytes(struct tw_line *line, struct tw_writer *writer, const struct tw_argument *argument)
{
	size_t size = argument->size < ARGS_VALUE_MAX ? (size_t)argument->size : ARGS_VALUE_MAX;
	if (size < argument->size)
		tw_count_loss(writer, "long argument", true);
	if (argument->type == TW_ARG_TEXT)
		tw_line_string(line, argument->value.bytes, size);
	else
		tw_line_bytes(line, argument->value.bytes, size);
}

static void add_value(struct tw_line *line, struct tw_writer *writer, const struct tw_argument *argument)
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
	case TW_ARG_KOID:
		tw_line_exact_u64(line, argument->value.u);
		return;
	case TW_ARG_POINTER:
		tw_line_hex(line, argument->value.u);
		return;
	case TW_ARG_DOUBLE:
		tw_line_double(line, argument->value.d);
		return;
	case TW_ARG_TEXT:
	case TW_ARG_BYTES:
		add_bytes(line, writer, argument);
		return;
	}
}

void tw_args_add(struct tw_line *line, struct tw_writer *writer, const struct tw_dictionary *dictionary,
                 const struct tw_argument *arguments, unsigned count)
{
	struct keys keys = {.count = 0};
	size_t begin = line->text.length;
	tw_line_text(line, "{");
	for (unsigned i = 0; i < count; i++) {
		const struct tw_name *name = tw_dictionary_name(dictionary, arguments[i].name);
		bool cut = name->length > ARGS_KEY_MAX;
		if (line->text.length - begin > ARGS_MAX) {
			tw_count_losses(writer, "argument", false, count - i);
			break;
		}
		if (cut)
			tw_count_loss(writer, "long name", true);
		if (name->length)
			add_key(line, &keys, name->text, cut ? ARGS_KEY_MAX : name->length);
		else
			add_key(line, &keys, "argument", strlen("argument"));
		add_value(line, writer, &arguments[i]);
	}
	tw_line_text(line, "}");
}
