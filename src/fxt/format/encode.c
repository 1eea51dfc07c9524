/* encode.c - records of an FXT archive to bytes. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "fxt/format/layout.h"

#include <trackway/fxt.h>

/* Where a record is put together. Everything is counted, and written as far as there is room. */
struct output {
	uint8_t *bytes;
	size_t room;
	uint64_t at;
	uint64_t later; /* bytes of the record that the caller writes behind these */
	bool big;
	bool wrong; /* a value that no record can hold */
};

/* Puts the body of a record and returns the bits of its header from bit 16 on. */
typedef uint64_t put_kind(struct output *out, const struct tw_fxt_record *record);

/* Bytes of the largest record: 32 bits count its words. */
#define RECORD_MOST ((uint64_t)UINT32_MAX * TW_FXT_WORD)

/* ---- Fields, words, streams. ---- */

static uint64_t field(struct output *out, unsigned low, unsigned high, uint64_t value)
{
	out->wrong |= value > tw_bits(UINT64_MAX, low, high);
	return value << low;
}

static void put_word(struct output *out, uint64_t word)
{
	if (out->at <= out->room && out->room - out->at >= TW_FXT_WORD)
		tw_store64(out->bytes + out->at, word, out->big);
	out->at += TW_FXT_WORD;
}

static void put_stream(struct output *out, const uint8_t *bytes, uint64_t length)
{
	if (length > RECORD_MOST || (length && !bytes)) {
		out->wrong = true;
		return;
	}
	uint64_t size = fxt_words(length) * TW_FXT_WORD;
	if (size && out->at <= out->room && out->room - out->at >= size) {
		memset(out->bytes + out->at + size - TW_FXT_WORD, 0, TW_FXT_WORD);
		memcpy(out->bytes + out->at, bytes, (size_t)length);
	}
	out->at += size;
}

/* Puts words that are kept as they were found. */
static void put_words(struct output *out, const uint8_t *bytes, uint64_t length)
{
	out->wrong |= length % TW_FXT_WORD != 0;
	put_stream(out, bytes, length);
}

static bool is_inline(const struct tw_fxt_string *string)
{
	return string->reference & TW_FXT_STRING_INLINE;
}

/* The 16 bits of a reference, to stand at bit `low` of a header. */
static uint64_t reference(struct output *out, const struct tw_fxt_string *string, unsigned low)
{
	if (!is_inline(string))
		return (uint64_t)string->reference << low;
	return (TW_FXT_STRING_INLINE | field(out, 0, 14, string->length)) << low;
}

static void put_text(struct output *out, const struct tw_fxt_string *string)
{
	if (is_inline(string))
		put_stream(out, string->bytes, string->length);
}

static void put_thread(struct output *out, const struct tw_fxt_thread *thread)
{
	if (thread->index)
		return;
	put_word(out, thread->process);
	put_word(out, thread->thread);
}

/* ---- Arguments. ---- */

static uint64_t upper_half(struct output *out, const struct tw_fxt_argument *argument)
{
	switch (argument->type) {
	case TW_FXT_ARG_INT32:
		out->wrong |= argument->value.i != (int32_t)argument->value.i;
		return (uint64_t)(uint32_t)argument->value.i << 32;
	case TW_FXT_ARG_STRING:
		return reference(out, &argument->text, 32);
	case TW_FXT_ARG_BOOL:
		return field(out, 32, 32, argument->value.u);
	case TW_FXT_ARG_BLOB:
		return (uint64_t)argument->size << 32;
	case TW_FXT_ARG_NULL:
	case TW_FXT_ARG_INT64:
	case TW_FXT_ARG_UINT64:
	case TW_FXT_ARG_DOUBLE:
	case TW_FXT_ARG_POINTER:
	case TW_FXT_ARG_KOID:
		return 0;
	default: /* uint32, and unknown types */
		return field(out, 32, 63, argument->value.u);
	}
}

static void put_value(struct output *out, const struct tw_fxt_argument *argument)
{
	switch (argument->type) {
	case TW_FXT_ARG_NULL:
	case TW_FXT_ARG_INT32:
	case TW_FXT_ARG_UINT32:
	case TW_FXT_ARG_BOOL:
		break;
	case TW_FXT_ARG_INT64:
	case TW_FXT_ARG_UINT64:
	case TW_FXT_ARG_DOUBLE:
	case TW_FXT_ARG_POINTER:
	case TW_FXT_ARG_KOID:
		put_word(out, argument->value.u);
		break;
	case TW_FXT_ARG_STRING:
		put_text(out, &argument->text);
		break;
	case TW_FXT_ARG_BLOB:
		put_stream(out, argument->bytes, argument->size);
		break;
	default:
		put_words(out, argument->bytes, argument->size);
		break;
	}
}

/* Puts a word at a place that was counted before. */
static void put_word_at(struct output *out, uint64_t at, uint64_t word)
{
	uint64_t end = out->at;
	out->at = at;
	put_word(out, word);
	out->at = end;
}

static void put_argument(struct output *out, const struct tw_fxt_argument *argument)
{
	uint64_t start = out->at;
	uint64_t header = field(out, 0, 3, argument->type);
	header |= reference(out, &argument->name, 16) | upper_half(out, argument);
	out->at += TW_FXT_WORD;
	put_text(out, &argument->name);
	put_value(out, argument);
	put_words(out, argument->trailing, argument->trailing_size);
	put_word_at(out, start, header | field(out, 4, 15, (out->at - start) / TW_FXT_WORD));
}

static void put_arguments(struct output *out, const struct tw_fxt_record *record)
{
	unsigned count = record->argument_count;
	out->wrong |= count > TW_FXT_ARGUMENTS_MAX;
	for (unsigned i = 0; i < count && !out->wrong; i++)
		put_argument(out, &record->arguments[i]);
}

/* ---- Metadata, tables. ---- */

static uint64_t put_provider_info(struct output *out, const struct tw_fxt_record *record)
{
	put_stream(out, record->name.bytes, record->name.length);
	return field(out, 20, 51, record->id) | field(out, 52, 59, record->name.length);
}

static uint64_t put_provider_section(struct output *out, const struct tw_fxt_record *record)
{
	return field(out, 20, 51, record->id);
}

static uint64_t put_provider_event(struct output *out, const struct tw_fxt_record *record)
{
	return field(out, 20, 51, record->id) | field(out, 52, 55, record->object_type);
}

static uint64_t put_magic(struct output *out, const struct tw_fxt_record *record)
{
	out->wrong |= record->trailing_size != 0;
	return TW_FXT_MAGIC_WORD & FXT_BITS(20, 63);
}

static uint64_t put_initialization(struct output *out, const struct tw_fxt_record *record)
{
	put_word(out, record->id);
	if (record->has_base) {
		put_word(out, record->base_ticks);
		put_word(out, record->base_ns);
	}
	return 0;
}

static uint64_t put_string(struct output *out, const struct tw_fxt_record *record)
{
	put_stream(out, record->payload, record->payload_size);
	return field(out, 16, 30, record->index) | field(out, 32, 46, record->payload_size);
}

static uint64_t put_thread_record(struct output *out, const struct tw_fxt_record *record)
{
	put_word(out, record->thread.process);
	put_word(out, record->thread.thread);
	return field(out, 16, 23, record->index);
}

/* ---- Events, logs, blobs. ---- */

static uint64_t put_event(struct output *out, const struct tw_fxt_record *record)
{
	put_word(out, record->time);
	put_thread(out, &record->thread);
	put_text(out, &record->category);
	put_text(out, &record->name);
	put_arguments(out, record);
	if (fxt_event_extra(record->kind))
		put_word(out, record->kind == TW_FXT_DURATION_COMPLETE ? record->end : record->id);
	if (record->kind == TW_FXT_INSTANT && record->has_scope)
		put_word(out, record->scope);
	return field(out, 20, 23, record->argument_count) | field(out, 24, 31, record->thread.index) |
	       reference(out, &record->category, 32) | reference(out, &record->name, 48);
}

static uint64_t put_log(struct output *out, const struct tw_fxt_record *record)
{
	put_word(out, record->time);
	put_thread(out, &record->thread);
	put_stream(out, record->payload, record->payload_size);
	return field(out, 16, 30, record->payload_size) | field(out, 32, 39, record->thread.index);
}

static uint64_t put_blob(struct output *out, const struct tw_fxt_record *record)
{
	put_text(out, &record->name);
	put_stream(out, record->payload, record->payload_size);
	return reference(out, &record->name, 16) | field(out, 32, 46, record->payload_size) |
	       field(out, 48, 55, record->object_type);
}

/* Puts bytes that may be more than memory: without them, what precedes them. */
static void put_large_payload(struct output *out, const struct tw_fxt_record *record)
{
	if (record->payload || (!record->payload_size && record->trailing)) {
		put_stream(out, record->payload, record->payload_size);
		return;
	}
	out->wrong |= record->payload_size > RECORD_MOST || record->trailing_size > RECORD_MOST ||
	              record->trailing_size % TW_FXT_WORD != 0;
	out->later = fxt_words(record->payload_size) * TW_FXT_WORD + record->trailing_size;
}

static uint64_t put_large_blob(struct output *out, const struct tw_fxt_record *record)
{
	bool plain = record->format != 0;
	uint64_t second = reference(out, &record->category, 0) | reference(out, &record->name, 16);
	if (!plain)
		second |= field(out, 32, 35, record->argument_count) | field(out, 36, 43, record->thread.index);
	put_word(out, second);
	put_text(out, &record->category);
	put_text(out, &record->name);
	if (!plain) {
		put_word(out, record->time);
		put_thread(out, &record->thread);
		put_arguments(out, record);
	}
	put_word(out, record->payload_size);
	put_large_payload(out, record);
	return field(out, 40, 40, record->format);
}

static uint64_t put_unknown(struct output *out, const struct tw_fxt_record *record)
{
	bool large = fxt_type(record->header) == TW_FXT_TYPE_LARGE;
	out->wrong |= record->payload_size % TW_FXT_WORD != 0;
	if (large)
		put_large_payload(out, record);
	else
		put_stream(out, record->payload, record->payload_size);
	return record->header & (large ? FXT_BITS(36, 63) : FXT_BITS(16, 63));
}

/* ---- Scheduling, objects, profiler. ---- */

static uint64_t put_legacy_switch(struct output *out, const struct tw_fxt_record *record)
{
	put_word(out, record->time);
	put_thread(out, &record->thread);
	put_thread(out, &record->incoming);
	return field(out, 16, 23, record->cpu) | field(out, 24, 27, record->state) |
	       field(out, 28, 35, record->thread.index) | field(out, 36, 43, record->incoming.index) |
	       field(out, 44, 51, record->outgoing_priority) | field(out, 52, 59, record->incoming_priority);
}

static uint64_t put_context_switch(struct output *out, const struct tw_fxt_record *record)
{
	put_word(out, record->time);
	put_word(out, record->thread.thread);
	put_word(out, record->incoming.thread);
	put_arguments(out, record);
	return field(out, 16, 19, record->argument_count) | field(out, 20, 35, record->cpu) |
	       field(out, 36, 39, record->state);
}

static uint64_t put_wakeup(struct output *out, const struct tw_fxt_record *record)
{
	put_word(out, record->time);
	put_word(out, record->thread.thread);
	put_arguments(out, record);
	return field(out, 16, 19, record->argument_count) | field(out, 20, 35, record->cpu);
}

static void put_process(struct output *out, const struct tw_fxt_record *record)
{
	if (record->thread.index)
		return;
	put_word(out, record->thread.process);
	if (record->wide_process)
		put_word(out, record->thread.thread);
}

static uint64_t put_userspace_object(struct output *out, const struct tw_fxt_record *record)
{
	put_word(out, record->id);
	put_process(out, record);
	put_text(out, &record->name);
	put_arguments(out, record);
	return field(out, 16, 23, record->thread.index) | reference(out, &record->name, 24) |
	       field(out, 40, 43, record->argument_count);
}

static uint64_t put_kernel_object(struct output *out, const struct tw_fxt_record *record)
{
	put_word(out, record->id);
	put_text(out, &record->name);
	put_arguments(out, record);
	return field(out, 16, 23, record->object_type) | reference(out, &record->name, 24) |
	       field(out, 40, 43, record->argument_count);
}

static uint64_t put_module(struct output *out, const struct tw_fxt_record *record)
{
	put_word(out, record->time);
	put_process(out, record);
	put_stream(out, record->name.bytes, record->name.length);
	put_stream(out, record->payload, record->payload_size);
	return field(out, 20, 27, record->thread.index) | field(out, 28, 43, record->id) |
	       field(out, 44, 51, record->name.length) | field(out, 52, 59, record->payload_size);
}

static uint64_t put_mmap(struct output *out, const struct tw_fxt_record *record)
{
	put_word(out, record->time);
	put_process(out, record);
	put_word(out, record->mmap_start);
	put_word(out, record->mmap_range);
	put_word(out, record->mmap_address);
	return field(out, 20, 27, record->thread.index) | field(out, 28, 43, record->id) |
	       field(out, 44, 46, record->object_type);
}

static uint64_t put_backtrace(struct output *out, const struct tw_fxt_record *record)
{
	put_word(out, record->time);
	put_process(out, record);
	put_words(out, record->payload, record->payload_size);
	return field(out, 20, 27, record->thread.index) | field(out, 28, 35, record->payload_size / TW_FXT_WORD) |
	       field(out, 36, 63, record->flags);
}

/* ---- Records. ---- */

#define X(name, type, subtype, text) [name] = {type, subtype},
static const struct {
	uint8_t type, subtype;
} numbers[TW_FXT_KINDS] = {TW_FXT_KIND_LIST(X)};
#undef X

static put_kind *const puts_of[TW_FXT_KINDS] = {
    [TW_FXT_UNKNOWN] = put_unknown,
    [TW_FXT_PROVIDER_INFO] = put_provider_info,
    [TW_FXT_PROVIDER_SECTION] = put_provider_section,
    [TW_FXT_PROVIDER_EVENT] = put_provider_event,
    [TW_FXT_MAGIC] = put_magic,
    [TW_FXT_INITIALIZATION] = put_initialization,
    [TW_FXT_STRING] = put_string,
    [TW_FXT_THREAD] = put_thread_record,
    [TW_FXT_INSTANT] = put_event,
    [TW_FXT_COUNTER] = put_event,
    [TW_FXT_DURATION_BEGIN] = put_event,
    [TW_FXT_DURATION_END] = put_event,
    [TW_FXT_DURATION_COMPLETE] = put_event,
    [TW_FXT_ASYNC_BEGIN] = put_event,
    [TW_FXT_ASYNC_INSTANT] = put_event,
    [TW_FXT_ASYNC_END] = put_event,
    [TW_FXT_FLOW_BEGIN] = put_event,
    [TW_FXT_FLOW_STEP] = put_event,
    [TW_FXT_FLOW_END] = put_event,
    [TW_FXT_BLOB] = put_blob,
    [TW_FXT_USERSPACE_OBJECT] = put_userspace_object,
    [TW_FXT_KERNEL_OBJECT] = put_kernel_object,
    [TW_FXT_LEGACY_CONTEXT_SWITCH] = put_legacy_switch,
    [TW_FXT_CONTEXT_SWITCH] = put_context_switch,
    [TW_FXT_THREAD_WAKEUP] = put_wakeup,
    [TW_FXT_LOG] = put_log,
    [TW_FXT_PROFILER_MODULE] = put_module,
    [TW_FXT_PROFILER_MMAP] = put_mmap,
    [TW_FXT_PROFILER_BACKTRACE] = put_backtrace,
    [TW_FXT_LARGE_BLOB] = put_large_blob,
};

/* The lowest 16 bits of a header (36 of a large one), and the subtype that stands elsewhere. */
static uint64_t numbers_and_size(struct output *out, const struct tw_fxt_record *record)
{
	unsigned type = numbers[record->kind].type, subtype = numbers[record->kind].subtype;
	if (record->kind == TW_FXT_UNKNOWN)
		type = fxt_type(record->header);
	uint64_t words = (out->at + out->later) / TW_FXT_WORD;
	uint64_t size = field(out, 4, type == TW_FXT_TYPE_LARGE ? 35 : 15, words);
	unsigned low = type == TW_FXT_TYPE_SCHEDULING ? 60 : 16;
	return type | size | (uint64_t)subtype << low;
}

int tw_fxt_encode(const struct tw_fxt_record *record, bool big, uint8_t *out, size_t room, size_t *size)
{
	struct output to = {.room = room, .at = TW_FXT_WORD, .big = big};
	to.bytes = out;
	if ((unsigned)record->kind >= TW_FXT_KINDS)
		return TW_ERR_VALUE;
	uint64_t header = puts_of[record->kind](&to, record);
	if (!to.later)
		put_words(&to, record->trailing, record->trailing_size);
	header |= numbers_and_size(&to, record);
	put_word_at(&to, 0, header);
	if (to.wrong)
		return TW_ERR_VALUE;
	*size = (size_t)to.at;
	return to.at > room ? TW_ERR_ROOM : 0;
}
