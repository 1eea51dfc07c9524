/* names.c - names of classes and functions from metadata. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "coreprofiler/profiler.h"

#include <string.h>

enum { NAME = 1024, ARGUMENTS = 32, DEEPEST = 12 };
static const char unknown[] = "<UNKNOWN>";

/* Source: the runtime's cor.h. */
static const struct com_guid metadata_import = {0x7dac8207,
                                                0xd3ae,
                                                0x4c75,
                                                {0x9b, 0x67, 0x92, 0x80, 0x1a, 0x49, 0x7d, 0x44}};

static struct com *metadata_of(uint64_t module)
{
	struct com *metadata = NULL;
	if (!module || COM_CALL(profiler.info, module_metadata, module, 0, &metadata_import, &metadata) < 0)
		return NULL;
	return metadata;
}

static void release(struct com *metadata)
{
	if (metadata)
		COM_DO(metadata, release);
}

/* ---- Types by token. ---- */

enum { TABLE_BIT = 24, TYPE_REFERENCE = 0x01, TYPE_DEFINITION = 0x02, VISIBILITY = 7, NESTED = 2 };

/* "List`1" is List: the arguments stand behind it. */
static void add_name(struct text *text, const uint16_t *name)
{
	size_t length = 0;
	while (length < NAME && name[length])
		length++;
	size_t digits = length;
	while (digits && name[digits - 1] >= '0' && name[digits - 1] <= '9')
		digits--;
	if (digits && digits < length && name[digits - 1] == '`')
		length = digits - 1;
	text_utf16(text, name, length);
}

static void add_type(struct text *text, struct com *metadata, uint32_t token, unsigned depth)
{
	uint16_t name[NAME] = {0};
	uint32_t length = 0, flags = 0, outer = 0;
	bool nested = false, known = false;
	switch (token >> TABLE_BIT) {
	case TYPE_DEFINITION:
		known = COM_CALL(metadata, type_definition, token, name, NAME, &length, &flags, NULL) >= 0;
		nested =
		    known && (flags & VISIBILITY) >= NESTED && COM_CALL(metadata, enclosing_type, token, &outer) >= 0;
		break;
	case TYPE_REFERENCE:
		known = COM_CALL(metadata, type_reference, token, &outer, name, NAME, &length) >= 0;
		nested = known && outer >> TABLE_BIT == TYPE_REFERENCE;
		break;
	default:
		break;
	}
	if (!known || depth > DEEPEST) {
		text_string(text, unknown);
		return;
	}
	if (nested) {
		add_type(text, metadata, outer, depth + 1);
		text_char(text, '.');
	}
	name[NAME - 1] = 0;
	add_name(text, name);
}

/* ---- Element types. Source: ECMA-335, II.23.1.16. ---- */

enum {
	POINTER = 0x0f,
	BY_REFERENCE = 0x10,
	VALUE_TYPE = 0x11,
	CLASS = 0x12,
	TYPE_ARGUMENT = 0x13,
	ARRAY = 0x14,
	GENERIC = 0x15,
	VECTOR = 0x1d,
	METHOD_ARGUMENT = 0x1e,
	REQUIRED_MODIFIER = 0x1f,
	OPTIONAL_MODIFIER = 0x20,
	SENTINEL = 0x41,
	PINNED = 0x45
};

static void add_rank(struct text *text, uint64_t rank)
{
	text_char(text, '[');
	for (uint64_t i = 1; i < rank && i < ARGUMENTS; i++)
		text_char(text, ',');
	text_char(text, ']');
}

/* ---- Classes that are loaded. ---- */

static void add_class(struct text *text, uint64_t id, unsigned depth);

static void add_arguments(struct text *text, const char *letters, const uint64_t *arguments, uint32_t count,
                          unsigned depth)
{
	if (count == 0 || count > ARGUMENTS)
		return;
	for (uint32_t i = 0; i < count; i++) {
		text_string(text, i ? ", " : "<");
		profiler_add_parameter(text, letters, i);
		if (!arguments[i])
			continue;
		text_char(text, '=');
		add_class(text, arguments[i], depth + 1);
	}
	text_char(text, '>');
}

static bool add_array(struct text *text, uint64_t id, unsigned depth)
{
	uint32_t type = 0, rank = 0;
	uint64_t base = 0;
	if (COM_CALL(profiler.info, is_array, id, &type, &base, &rank) != COM_OK)
		return false;
	if (base)
		add_class(text, base, depth + 1);
	else
		text_string(text, type < PROFILER_PRIMITIVES && profiler_primitives[type].name
		                      ? profiler_primitives[type].name
		                      : unknown);
	add_rank(text, rank);
	return true;
}

static void add_class(struct text *text, uint64_t id, unsigned depth)
{
	uint64_t module = 0, parent = 0, arguments[ARGUMENTS] = {0};
	uint32_t token = 0, count = 0;
	if (depth <= DEEPEST && add_array(text, id, depth))
		return;
	const bool known = depth <= DEEPEST && COM_CALL(profiler.info, class_arguments, id, &module, &token, &parent,
	                                                ARGUMENTS, &count, arguments) >= 0;
	struct com *metadata = known ? metadata_of(module) : NULL;
	if (metadata) {
		add_type(text, metadata, token, 0);
		add_arguments(text, profiler_type_letters, arguments, count, depth);
	} else
		text_string(text, unknown);
	release(metadata);
}

void profiler_add_class(struct text *text, uint64_t id)
{
	add_class(text, id, 0);
}

/* ---- Signatures. Source: ECMA-335, II.23.2. ---- */

struct signature {
	const uint8_t *at, *end;
	struct com *metadata;
};

static uint32_t next_byte(struct signature *signature)
{
	return signature->at < signature->end ? *signature->at++ : 0;
}

/* Source: II.23.2, "Compressing integers". */
static uint32_t next_number(struct signature *signature)
{
	uint32_t value = next_byte(signature);
	unsigned more = 0;
	if ((value & 0xc0) == 0x80) {
		value &= 0x3f;
		more = 1;
	} else if ((value & 0xe0) == 0xc0) {
		value &= 0x1f;
		more = 3;
	}
	while (more--)
		value = value << 8 | next_byte(signature);
	return value;
}

/* Source: II.23.2.8, TypeDefOrRefOrSpecEncoded. */
static uint32_t next_token(struct signature *signature)
{
	static const uint32_t tables[] = {TYPE_DEFINITION, TYPE_REFERENCE, 0x1b, 0};
	const uint32_t value = next_number(signature);
	return tables[value & 3] << TABLE_BIT | value >> 2;
}

static void add_next(struct text *text, struct signature *signature, unsigned depth);

static void add_next_array(struct text *text, struct signature *signature, unsigned depth)
{
	add_next(text, signature, depth);
	const uint32_t rank = next_number(signature);
	for (unsigned list = 0; list < 2; list++) /* sizes, lower bounds */
		for (uint32_t count = next_number(signature); count && signature->at < signature->end; count--)
			next_number(signature);
	add_rank(text, rank);
}

static void add_next_generic(struct text *text, struct signature *signature, unsigned depth)
{
	add_next(text, signature, depth);
	const uint32_t count = next_number(signature);
	for (uint32_t i = 0; i < count && signature->at < signature->end; i++) {
		text_string(text, i ? ", " : "<");
		add_next(text, signature, depth);
	}
	text_char(text, '>');
}

static void add_next(struct text *text, struct signature *signature, unsigned depth)
{
	uint32_t type = next_byte(signature);
	while (type == REQUIRED_MODIFIER || type == OPTIONAL_MODIFIER || type == SENTINEL || type == PINNED) {
		if (type == REQUIRED_MODIFIER || type == OPTIONAL_MODIFIER)
			next_number(signature);
		type = next_byte(signature);
	}
	if (type < PROFILER_PRIMITIVES && profiler_primitives[type].keyword)
		text_string(text, profiler_primitives[type].keyword);
	else if (depth > DEEPEST)
		text_string(text, unknown);
	else if (type == CLASS || type == VALUE_TYPE)
		add_type(text, signature->metadata, next_token(signature), 0);
	else if (type == TYPE_ARGUMENT || type == METHOD_ARGUMENT)
		profiler_add_parameter(text, type == TYPE_ARGUMENT ? profiler_type_letters : profiler_method_letters,
		                       next_number(signature));
	else if (type == ARRAY)
		add_next_array(text, signature, depth + 1);
	else if (type == GENERIC)
		add_next_generic(text, signature, depth + 1);
	else if (type == POINTER || type == BY_REFERENCE || type == VECTOR) {
		text_string(text, type == BY_REFERENCE ? "ref " : "");
		add_next(text, signature, depth + 1);
		text_string(text, type == POINTER ? "*" : type == VECTOR ? "[]" : "");
	} else {
		text_string(text, unknown);
		signature->at = signature->end;
	}
}

/* What a method returns, and its parameters: II.23.2.1. */
static void add_signature(struct text *text, struct signature *signature)
{
	enum { HAS_ARGUMENTS = 0x10 };
	if (signature->at == signature->end) {
		text_string(text, "\" \"<UNKNOWN>\" \"(?)\"");
		return;
	}
	if (next_byte(signature) & HAS_ARGUMENTS)
		next_number(signature);
	const uint32_t count = next_number(signature);
	text_string(text, "\" \"");
	add_next(text, signature, 0);
	text_string(text, "\" \"(");
	for (uint32_t i = 0; i < count && signature->at < signature->end; i++) {
		text_string(text, i ? ", " : "");
		add_next(text, signature, 0);
	}
	text_string(text, ")\"");
}

/* ---- Functions. ---- */

/* Adds the name of a function that the program has made at run time. */
static void add_dynamic(struct text *text, uint64_t id)
{
	uint16_t name[NAME] = {0};
	uint64_t module = 0;
	uint32_t length = 0, size = 0;
	struct signature signature = {NULL, NULL, NULL};
	if (COM_CALL(profiler.info, dynamic_function, id, &module, &signature.at, &size, NAME, &length, name) < 0) {
		text_string(text, "\"<UNKNOWN>\" \"<UNKNOWN>\" \"(?)\"");
		return;
	}
	name[NAME - 1] = 0;
	text_string(text, "\"DynamicClass::");
	text_utf16(text, name, NAME);
	signature.metadata = metadata_of(module);
	signature.end = signature.at && signature.metadata ? signature.at + size : signature.at;
	add_signature(text, &signature);
	release(signature.metadata);
}

void profiler_add_function(struct text *text, uint64_t id)
{
	uint64_t class_id = 0, module = 0, arguments[ARGUMENTS] = {0};
	uint32_t token = 0, count = 0, type = 0, length = 0, size = 0;
	uint16_t name[NAME] = {0};
	struct signature signature = {NULL, NULL, NULL};
	const bool known = COM_CALL(profiler.info, function_info, id, 0, &class_id, &module, &token, ARGUMENTS, &count,
	                            arguments) >= 0;
	signature.metadata = known ? metadata_of(module) : NULL;
	if (!signature.metadata || COM_CALL(signature.metadata, method, token, &type, name, NAME, &length, NULL,
	                                    &signature.at, &size, NULL, NULL) < 0) {
		release(signature.metadata);
		add_dynamic(text, id);
		return;
	}
	signature.end = signature.at ? signature.at + size : NULL;
	name[NAME - 1] = 0;
	text_char(text, '"');
	if (class_id)
		add_class(text, class_id, 0);
	else
		add_type(text, signature.metadata, type, 0);
	text_string(text, "::");
	text_utf16(text, name, NAME);
	add_arguments(text, profiler_method_letters, arguments, count, 0);
	add_signature(text, &signature);
	release(signature.metadata);
}
