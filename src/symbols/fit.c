/* fit.c - whether the programs that give names are those of a log: by its first records. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "symbols/tool.h"

#include "core/text/function_name.h"
#include "symbols/program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LOOK = 1 << 18, ANY_SLED = -1 };

/* What kind of sled a record comes from that not every function has. */
static const struct {
	const char *record;
	int sled;
	const char *text; /* of a function that has none */
} kinds[] = {
    {"function.enter", ANY_SLED, NULL},
    {"function.exit", ANY_SLED, NULL},
    {"function.tail-exit", TW_SLED_TAIL_EXIT, "a tail exit of %s, which has no such sled"},
    {"function.enter-args", TW_SLED_ARGS_ENTRY, "arguments of %s, which has no sled that takes them"},
};

static const struct tw_field *field_of(const struct tw_record *record, const char *name)
{
	for (size_t i = 0; i < record->field_count; i++)
		if (strcmp(record->fields[i].name, name) == 0)
			return &record->fields[i];
	return NULL;
}

static uint32_t function_id(const struct tw_record *record)
{
	const struct tw_field *id = field_of(record, "function_id");
	return id ? (uint32_t)id->value.u : 0;
}

/* What an id is in: one of the objects, or the handle itself; NULL: nothing that was given. */
static struct tw_symbols *object_of(struct tw_symbols *symbols, uint32_t id)
{
	struct tw_symbols *object = symbols->objects;
	while (object && object->number != id >> TW_OBJECT_BITS)
		object = object->next;
	return object || id >> TW_OBJECT_BITS || !symbols->count ? object : symbols;
}

/* Learns which kinds of sleds each function of an object has. Returns whether there was memory. */
static bool learn(struct tw_symbols *object)
{
	if (object->kinds)
		return true;
	object->kinds = object->count ? calloc(object->count, 1) : NULL;
	for (size_t i = 0; object->kinds && i < object->sled_count; i++) {
		const struct tw_symbols_sled *sled = &object->sleds[i];
		const struct tw_symbols_function *function = tw_symbols_find(object, sled->id);
		const unsigned kind = sled->kind < TW_SLED_KINDS ? sled->kind : TW_SLED_KINDS;
		if (function)
			object->kinds[function - object->functions] |= (uint8_t)(1u << kind);
	}
	return object->kinds != NULL;
}

/* Tells the first reason alone. */
static void give_reason(char why[static TW_MISFIT_TEXT], const struct tw_symbols *object, const char *format,
                        const char *name)
{
	if (*why)
		return;
	int used = snprintf(why, TW_MISFIT_TEXT, "%s: the log has ", object->path);
	if (used > 0 && used < TW_MISFIT_TEXT)
		snprintf(why + used, TW_MISFIT_TEXT - (size_t)used, format, name);
}

static void look_at(struct tw_symbols *symbols, uint32_t id, size_t kind, char why[static TW_MISFIT_TEXT])
{
	const uint32_t own = id & ((UINT32_C(1) << TW_OBJECT_BITS) - 1);
	struct tw_symbols *object = object_of(symbols, id);
	const struct tw_symbols_function *function = object ? tw_symbols_find(object, own) : NULL;
	char number[32];
	if (object && !function) {
		tw_function_number(number, sizeof number, id);
		give_reason(why, object, "%s, which it has not", number);
	}
	if (!function || kinds[kind].sled == ANY_SLED || !learn(object))
		return;
	uint8_t *has = &object->kinds[function - object->functions];
	if (*has & (1u << kinds[kind].sled | 1u << TW_SLED_KINDS))
		return;
	give_reason(why, object, kinds[kind].text, function->name);
	*has |= TW_SYMBOLS_UNFIT;
}

/* "#4;#2;#1:7", as tw_function_number() writes them. */
static void look_at_path(struct tw_symbols *symbols, const struct tw_record *record, char why[static TW_MISFIT_TEXT])
{
	const struct tw_field *path = field_of(record, "path");
	const char *at = path ? path->value.bytes : NULL, *end = at ? at + path->size : NULL;
	uint32_t object = 0, id = 0;
	for (; at < end; at++) {
		if (*at == ':')
			object = id;
		id = *at >= '0' && *at <= '9' ? id * 10 + (uint32_t)(*at - '0') : 0;
		if (at + 1 < end && at[1] != ';')
			continue;
		look_at(symbols, object << TW_OBJECT_BITS | id, 0, why);
		object = 0;
	}
}

static void look_at_record(struct tw_symbols *symbols, const struct tw_record *record, char why[static TW_MISFIT_TEXT])
{
	if (strcmp(record->kind, "path") == 0)
		look_at_path(symbols, record, why);
	for (size_t kind = 0; kind < sizeof kinds / sizeof *kinds; kind++)
		if (strcmp(record->kind, kinds[kind].record) == 0)
			look_at(symbols, function_id(record), kind, why);
}

static int look_at_records(struct tw_symbols *symbols, const char *path, char why[static TW_MISFIT_TEXT])
{
	const struct tw_read_options options = {.order = TW_ORDER_FILE};
	struct tw_reader *reader;
	struct tw_record record;
	int status = tw_open(&reader, path, &options);
	if (status == 0 && strncmp(tw_reader_format(reader), "xray-", 5) != 0)
		status = TW_ERR_VALUE;
	for (size_t i = 0; i < LOOK && status >= 0 && (status = tw_read_record(reader, &record)) > 0; i++)
		look_at_record(symbols, &record, why);
	tw_close(reader);
	return status == TW_ERR_MEMORY ? status : 0;
}

/* No function of it has a name from now on. Returns 0 or TW_ERR_MEMORY. */
static int drop(struct tw_symbols *object)
{
	if (object->count && !learn(object))
		return TW_ERR_MEMORY;
	for (size_t i = 0; i < object->count; i++)
		object->kinds[i] |= TW_SYMBOLS_UNFIT;
	return 0;
}

int tw_symbols_fit(struct tw_symbols *symbols, const char *path, bool alone, char why[static TW_MISFIT_TEXT])
{
	char *list = NULL;
	int status = tw_recorded_list(path, 0, &list);
	*why = '\0';
	if (status == 0 && !list)
		return look_at_records(symbols, path, why);
	/* Such a log knows its programs. */
	for (struct tw_symbols *object = symbols->objects; list && object && status == 0; object = object->next) {
		if (tw_recorded_has(list, object->path))
			continue;
		snprintf(why, TW_MISFIT_TEXT, "%s: the build ids in the log are others", object->path);
		status = alone ? drop(object) : 0;
	}
	free(list);
	return status;
}
