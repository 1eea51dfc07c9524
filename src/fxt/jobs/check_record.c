/* check_record.c - the rules of single records. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/bytes/bytes.h"
#include "base/text/digits.h"
#include "base/text/utf8.h"
#include "fxt/format/layout.h"
#include "fxt/walk/chunk.h"

/* The document, "Context Switch Record" and "BLOB Record". */
enum { STATE_RUNNING = 1, BLOB_MAX = 3 };

/* A record that is being checked. */
struct checked {
	struct fxt_chunk *chunk;
	const struct tw_fxt_record *record;
	size_t place;
};

static void note(const struct checked *checked, enum fxt_rule rule, uint64_t number)
{
	fxt_note(checked->chunk, rule, checked->place, checked->place, number, 0, NULL);
}

/* ---- Texts. ---- */

static void check_text(const struct checked *checked, const uint8_t *bytes, uint64_t size)
{
	if (!bytes)
		return;
	if (size > TW_FXT_STRING_MAX)
		note(checked, FXT_STRING_TOO_LONG, size);
	if (!tw_is_utf8(bytes, (size_t)size))
		note(checked, FXT_UTF8, 0);
}

static bool is_text(enum tw_fxt_kind kind)
{
	return kind == TW_FXT_STRING || kind == TW_FXT_LOG;
}

static void check_texts(const struct checked *checked)
{
	const struct tw_fxt_record *record = checked->record;
	check_text(checked, record->category.bytes, record->category.length);
	check_text(checked, record->name.bytes, record->name.length);
	if (is_text(record->kind))
		check_text(checked, record->payload, record->payload_size);
	for (unsigned i = 0; i < record->argument_count; i++) {
		check_text(checked, record->arguments[i].name.bytes, record->arguments[i].name.length);
		check_text(checked, record->arguments[i].text.bytes, record->arguments[i].text.length);
	}
}

/* ---- What only some records have. ---- */

static void check_tables(const struct checked *checked)
{
	bool thread = checked->record->kind == TW_FXT_THREAD;
	if (checked->record->index == 0)
		note(checked, thread ? FXT_THREAD_INDEX_ZERO : FXT_STRING_INDEX_ZERO, 0);
}

static void check_initialization(const struct checked *checked)
{
	if (checked->record->id == 0)
		note(checked, FXT_FREQUENCY_ZERO, 0);
	if (checked->record->has_base)
		note(checked, FXT_INITIALIZATION_BASE, 0);
}

static void check_instant(const struct checked *checked)
{
	if (checked->record->scope > FXT_SCOPE_MAX)
		note(checked, FXT_SCOPE, checked->record->scope);
}

/* Whether an argument is a number, or a text that is one. */
static bool counts(const struct checked *checked, const struct tw_fxt_argument *argument)
{
	double number;
	size_t length;
	if (argument->type != TW_FXT_ARG_STRING)
		return fxt_is_number(argument->type) || argument->type > TW_FXT_ARG_BLOB;
	const char *text = fxt_text(checked->chunk, &argument->text, checked->place, &length);
	return text && tw_loose_number(text, length, &number);
}

static void check_counter(const struct checked *checked)
{
	const struct tw_fxt_record *record = checked->record;
	if (record->argument_count == 0)
		note(checked, FXT_COUNTER_EMPTY, 0);
	for (unsigned i = 0; i < record->argument_count; i++)
		if (!counts(checked, &record->arguments[i]))
			note(checked, FXT_COUNTER_VALUE, record->arguments[i].type);
}

static void check_blob(const struct checked *checked)
{
	if (checked->record->object_type == 0 || checked->record->object_type > BLOB_MAX)
		note(checked, FXT_BLOB_TYPE, checked->record->object_type);
}

/* Only of the legacy record the document says that the thread that leaves cannot be running: others say so of one that
 * could go on. */
static void check_switch(const struct checked *checked)
{
	const struct tw_fxt_record *record = checked->record;
	bool running = record->state == STATE_RUNNING && record->kind == TW_FXT_LEGACY_CONTEXT_SWITCH;
	if (record->state > FXT_STATE_KNOWN || running)
		note(checked, FXT_THREAD_STATE, record->state);
}

/* Which argument tells the process of a thread cannot be told without its name: any koid may be it. */
static void check_kernel_object(const struct checked *checked)
{
	const struct tw_fxt_record *record = checked->record;
	bool koid = false;
	for (unsigned i = 0; i < record->argument_count; i++)
		koid = koid || record->arguments[i].type == TW_FXT_ARG_KOID;
	if (record->object_type == FXT_OBJECT_THREAD && !koid)
		note(checked, FXT_THREAD_PROCESS, 0);
}

static void (*const checkers[TW_FXT_KINDS])(const struct checked *) = {
    [TW_FXT_INITIALIZATION] = check_initialization,
    [TW_FXT_STRING] = check_tables,
    [TW_FXT_THREAD] = check_tables,
    [TW_FXT_INSTANT] = check_instant,
    [TW_FXT_COUNTER] = check_counter,
    [TW_FXT_BLOB] = check_blob,
    [TW_FXT_KERNEL_OBJECT] = check_kernel_object,
    [TW_FXT_LEGACY_CONTEXT_SWITCH] = check_switch,
    [TW_FXT_CONTEXT_SWITCH] = check_switch,
};

/* ---- All records. ---- */

bool fxt_has_trailing(const struct tw_fxt_record *record)
{
	bool trailing = record->trailing_size != 0;
	for (unsigned i = 0; i < record->argument_count; i++)
		trailing = trailing || record->arguments[i].trailing_size != 0;
	return trailing;
}

/* What the record should come after. Told once for each context. */
static void check_context(const struct checked *checked)
{
	struct fxt_chunk *chunk = checked->chunk;
	bool own = checked->record->type >= TW_FXT_TYPE_STRING;
	if (own && !chunk->decoder.context.announced && !chunk->decoder.reported_provider) {
		if (chunk->decoder.context.provider->id == 0) /* of others a section was stated */
			note(checked, FXT_PROVIDER_MISSING, 0);
		chunk->decoder.reported_provider = true;
	}
	if (fxt_has_time(checked->record) && !chunk->decoder.context.initialized && !chunk->decoder.reported_clock) {
		note(checked, FXT_INITIALIZATION_MISSING, chunk->decoder.context.provider->id);
		chunk->decoder.reported_clock = true;
	}
}

void fxt_check_record(struct fxt_chunk *chunk, const struct tw_fxt_record *record, size_t place)
{
	const struct checked checked = {chunk, record, place};
	if (record->reserved)
		note(&checked, FXT_RESERVED, 0);
	if (record->padded)
		note(&checked, FXT_PADDING, 0);
	if (fxt_has_trailing(record))
		note(&checked, FXT_TRAILING_WORDS, 0);
	check_texts(&checked);
	if (checkers[record->kind])
		checkers[record->kind](&checked);
	check_context(&checked);
}
