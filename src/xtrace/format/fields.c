/* fields.c - what a record of an xtrace tells, as fields. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "xtrace/format/fields.h"

#include <string.h>

struct tw_field *xtrace_fields_add(struct xtrace_fields *all, const char *name, enum tw_field_type type, uint64_t value)
{
	struct tw_field *field = &all->fields[all->field_count++];
	*field = (struct tw_field){.name = name, .type = type, .value.u = value};
	return field;
}

void xtrace_fields_add_text(struct xtrace_fields *all, const char *name, const char *text, size_t size)
{
	struct tw_field *field = xtrace_fields_add(all, name, TW_FIELD_TEXT, 0);
	field->value.bytes = text;
	field->size = size;
}

static struct tw_field *child(struct xtrace_fields *all, const char *name, enum tw_field_type type, uint64_t value)
{
	struct tw_field *field = &all->children[all->child_count++];
	*field = (struct tw_field){.name = name, .type = type, .value.u = value};
	return field;
}

/* Words as an array, which come behind it. */
static void add_words(struct xtrace_fields *all, const uint8_t *words, size_t count)
{
	struct tw_field *array = child(all, "x", TW_FIELD_ARRAY, 0);
	array->value.fields = array + 1;
	array->size = count;
	for (size_t i = 0; i < count; i++)
		child(all, NULL, TW_FIELD_HEX, tw_xtrace_word(words, i));
}

static void add_parts(struct xtrace_fields *all, const uint8_t *words, size_t count)
{
	struct tw_field *array = child(all, "parts", TW_FIELD_ARRAY, 0), *part = array + 1;
	array->value.fields = part;
	array->size = count;
	all->child_count += count;
	for (size_t i = 0; i < count; i++, part++) {
		*part = (struct tw_field){.type = TW_FIELD_OBJECT, .size = 2};
		part->value.fields = child(all, "base", TW_FIELD_HEX, tw_xtrace_word(words, 2 * i));
		child(all, "length", TW_FIELD_UINT, tw_xtrace_word(words, 2 * i + 1));
	}
}

static void add_access(struct xtrace_fields *all, const struct tw_xtrace_token *token)
{
	uint8_t *copy = all->values + all->value_count;
	memcpy(copy, token->payload, token->payload_size);
	all->value_count += token->payload_size;
	child(all, "address", TW_FIELD_HEX, token->value);
	struct tw_field *value = child(all, "data", TW_FIELD_BYTES, 0);
	value->value.bytes = (const char *)copy;
	value->size = token->payload_size;
}

/* The fields of a token that is no instruction. */
static void add_token_fields(struct xtrace_fields *all, const struct tw_xtrace_token *token)
{
	switch (token->kind) {
	case TW_XTRACE_LOAD:
	case TW_XTRACE_STORE:
		add_access(all, token);
		break;
	case TW_XTRACE_ALLGPR:
		add_words(all, token->payload, TW_XTRACE_REGISTERS);
		break;
	case TW_XTRACE_SYSCALL_VEC:
		add_parts(all, token->payload, (size_t)token->value);
		break;
	case TW_XTRACE_TIME:
		child(all, "order", TW_FIELD_UINT, token->value);
		break;
	default:
		child(all, "value", TW_FIELD_HEX, token->value);
	}
}

static size_t fields_of_token(const struct tw_xtrace_token *token)
{
	return token->kind == TW_XTRACE_LOAD || token->kind == TW_XTRACE_STORE ? 2 : 1;
}

void xtrace_fields_add_object(struct xtrace_fields *all, const struct tw_xtrace_token *token)
{
	const char *kind = tw_xtrace_kind_name(token->kind);
	struct tw_field *object = &all->tokens[all->token_count++];
	struct tw_field *name = child(all, "record", TW_FIELD_TEXT, 0);
	name->value.bytes = kind;
	name->size = strlen(kind);
	add_token_fields(all, token);
	*object = (struct tw_field){.type = TW_FIELD_OBJECT, .size = 1 + fields_of_token(token)};
	object->value.fields = name;
}

static void add_registers(struct xtrace_fields *all, const char *name, const uint8_t *bytes, size_t count, size_t size,
                          size_t step)
{
	struct tw_field *array = xtrace_fields_add(all, name, TW_FIELD_ARRAY, 0);
	array->value.fields = all->children + all->child_count;
	array->size = count;
	for (size_t i = 0; i < count; i++) {
		struct tw_field *field = child(all, NULL, TW_FIELD_BYTES, 0);
		field->value.bytes = (const char *)bytes + i * step;
		field->size = size;
	}
}

static void add_x(struct xtrace_fields *all, const uint64_t *x)
{
	struct tw_field *array = xtrace_fields_add(all, "x", TW_FIELD_ARRAY, 0);
	array->value.fields = all->children + all->child_count;
	array->size = TW_XTRACE_REGISTERS;
	for (size_t i = 0; i < TW_XTRACE_REGISTERS; i++)
		child(all, NULL, TW_FIELD_HEX, x[i]);
}

void xtrace_fields_add_token(struct xtrace_fields *all, const struct tw_xtrace_token *token)
{
	struct tw_field *fields = all->fields + all->field_count;
	add_token_fields(all, token);
	memcpy(fields, all->children, fields_of_token(token) * sizeof *fields);
	all->field_count += fields_of_token(token);
}

void xtrace_fields_add_snapshot(struct xtrace_fields *all, const struct tw_xtrace_snapshot *snapshot)
{
	size_t vector = snapshot->vector_bits / 8, predicate = vector / 8, step = predicate < 16 ? 16 : predicate;
	xtrace_fields_add(all, "file_number", TW_FIELD_UINT, snapshot->file);
	xtrace_fields_add(all, "index", TW_FIELD_UINT, snapshot->index);
	xtrace_fields_add(all, "user_instructions", TW_FIELD_UINT, snapshot->user_count);
	xtrace_fields_add(all, "instructions", TW_FIELD_UINT, snapshot->count);
	add_x(all, snapshot->x);
	add_registers(all, "z", snapshot->z, TW_XTRACE_REGISTERS, vector, vector);
	add_registers(all, "p", snapshot->p, 16, predicate, step);
	add_registers(all, "ffr", snapshot->ffr, 1, predicate, step);
	if (snapshot->za)
		add_registers(all, "za", snapshot->za, vector, vector, vector);
#define X(member) xtrace_fields_add(all, #member, TW_FIELD_HEX, snapshot->member);
	TW_XTRACE_SYSTEM_LIST(X)
#undef X
	xtrace_fields_add(all, "vector_bits", TW_FIELD_UINT, snapshot->vector_bits);
}
