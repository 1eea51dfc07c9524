/* decode.c - bytes of an FXT archive to records. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "fxt/format/layout.h"

#include <trackway/fxt.h>

/* A record that is being taken apart. What does not fit sets fault or need; all that is taken after that is 0, so that
 * the kinds need no checks of their own. */
struct cursor {
	const uint8_t *bytes; /* of the record */
	uint64_t at;
	uint64_t end;  /* of the record, or of the argument that is being read */
	uint64_t here; /* of the record's bytes: less than its size only in large ones */
	uint64_t need;
	const char *fault;
	bool big, padded, reserved;
};

typedef void take_kind(struct cursor *in, uint64_t header, struct tw_fxt_record *record);

const char *tw_fxt_kind_name(unsigned kind)
{
	static const char *const names[TW_FXT_KINDS] = {
#define X(name, type, subtype, text) text,
	    TW_FXT_KIND_LIST(X)
#undef X
	};
	return kind < TW_FXT_KINDS ? names[kind] : NULL;
}

int tw_fxt_magic(const uint8_t bytes[TW_FXT_WORD], bool *big)
{
	bool is_big = tw_load64(bytes, true) == TW_FXT_MAGIC_WORD;
	if (!is_big && tw_load64(bytes, false) != TW_FXT_MAGIC_WORD)
		return TW_ERR_FORMAT;
	*big = is_big;
	return 0;
}

/* ---- Words and streams. ---- */

static bool broken(const struct cursor *in)
{
	return in->fault || in->need;
}

static bool fits(struct cursor *in, uint64_t bytes, const char *fault)
{
	if (broken(in))
		return false;
	if (bytes > in->end - in->at)
		in->fault = fault;
	else if (bytes > in->here - in->at)
		in->need = in->at + bytes;
	return !broken(in);
}

static uint64_t take_word(struct cursor *in, const char *fault)
{
	if (!fits(in, TW_FXT_WORD, fault))
		return 0;
	uint64_t word = tw_load64(in->bytes + in->at, in->big);
	in->at += TW_FXT_WORD;
	return word;
}

/* Takes the bytes of a stream and its padding. length is of at most 32 bits. */
static const uint8_t *take_stream(struct cursor *in, uint64_t length, const char *fault)
{
	uint64_t size = fxt_words(length) * TW_FXT_WORD;
	if (!fits(in, size, fault))
		return NULL;
	const uint8_t *bytes = in->bytes + in->at;
	in->padded |= tw_any_set(bytes + length, (size_t)(size - length));
	in->at += size;
	return bytes;
}

static const uint8_t *take_rest(struct cursor *in, uint32_t *size)
{
	*size = broken(in) ? 0 : (uint32_t)(in->end - in->at);
	return *size ? take_stream(in, *size, NULL) : NULL;
}

static struct tw_fxt_string take_string(struct cursor *in, uint64_t reference, const char *fault)
{
	struct tw_fxt_string string = {.reference = (uint16_t)reference};
	if (!(reference & TW_FXT_STRING_INLINE))
		return string;
	string.length = (uint16_t)(reference & FXT_TEXT_MAX);
	string.bytes = take_stream(in, string.length, fault);
	return string;
}

static struct tw_fxt_thread take_thread(struct cursor *in, uint64_t index)
{
	struct tw_fxt_thread thread = {.index = (uint8_t)index};
	if (index == 0) {
		thread.process = take_word(in, "the process of a thread that is given inline");
		thread.thread = take_word(in, "the thread that is given inline");
	}
	return thread;
}

static uint64_t take_time(struct cursor *in)
{
	return take_word(in, "a time");
}

/* ---- Arguments. ---- */

static void take_value(struct cursor *in, uint64_t header, struct tw_fxt_argument *argument)
{
	uint64_t upper = tw_bits(header, 32, 63);
	switch (argument->type) {
	case TW_FXT_ARG_NULL:
		break;
	case TW_FXT_ARG_INT32:
		argument->value.i = (int32_t)(uint32_t)upper;
		break;
	case TW_FXT_ARG_UINT32:
		argument->value.u = upper;
		break;
	case TW_FXT_ARG_INT64:
	case TW_FXT_ARG_UINT64:
	case TW_FXT_ARG_DOUBLE:
	case TW_FXT_ARG_POINTER:
	case TW_FXT_ARG_KOID:
		argument->value.u = take_word(in, "the value of an argument, within its size");
		break;
	case TW_FXT_ARG_STRING:
		argument->text = take_string(in, tw_bits(header, 32, 47), "the text of an argument, within its size");
		break;
	case TW_FXT_ARG_BOOL:
		argument->value.u = tw_bits(header, 32, 32);
		break;
	case TW_FXT_ARG_BLOB:
		argument->size = (uint32_t)upper;
		argument->bytes = take_stream(in, upper, "the bytes of an argument, within its size");
		break;
	default:
		argument->value.u = upper;
		argument->bytes = take_rest(in, &argument->size);
		break;
	}
}

static void take_argument(struct cursor *in, struct tw_fxt_argument *argument)
{
	uint64_t start = in->at, end = in->end;
	uint64_t header = take_word(in, "as many arguments as the header says");
	uint64_t size = tw_bits(header, 4, 15) * TW_FXT_WORD;
	*argument = (struct tw_fxt_argument){.type = (uint8_t)tw_bits(header, 0, 3)};
	if (broken(in))
		return;
	if (size == 0 || size > end - start) {
		in->at = start;
		in->fault = size ? "an argument that ends within its record" : "an argument of at least one word";
		return;
	}
	in->end = start + size;
	in->reserved |= (header & fxt_argument_reserved(argument->type)) != 0;
	argument->name = take_string(in, tw_bits(header, 16, 31), "the name of an argument, within its size");
	take_value(in, header, argument);
	argument->trailing = take_rest(in, &argument->trailing_size);
	in->end = end;
}

static void take_arguments(struct cursor *in, uint64_t count, struct tw_fxt_record *record)
{
	record->argument_count = (uint8_t)count;
	for (unsigned i = 0; i < count && !broken(in); i++)
		take_argument(in, &record->arguments[i]);
}

/* ---- Metadata, tables. ---- */

static void take_provider(struct cursor *in, uint64_t header, struct tw_fxt_record *record)
{
	record->id = tw_bits(header, 20, 51);
	if (record->kind == TW_FXT_PROVIDER_EVENT)
		record->object_type = (uint8_t)tw_bits(header, 52, 55);
	if (record->kind != TW_FXT_PROVIDER_INFO)
		return;
	record->name.length = (uint16_t)tw_bits(header, 52, 59);
	record->name.bytes = take_stream(in, record->name.length, "the name of a provider");
}

static void take_magic(struct cursor *in, uint64_t header, struct tw_fxt_record *record)
{
	(void)in, (void)header, (void)record;
}

/* magic-trace adds two words to the document's two. */
static void take_initialization(struct cursor *in, uint64_t header, struct tw_fxt_record *record)
{
	(void)header;
	record->id = take_word(in, "the ticks of a second");
	record->has_base = in->end - in->at >= 2 * (uint64_t)TW_FXT_WORD;
	if (!record->has_base)
		return;
	record->base_ticks = take_word(in, NULL);
	record->base_ns = take_word(in, NULL);
}

static void take_payload(struct cursor *in, uint64_t length, const char *fault, struct tw_fxt_record *record)
{
	record->payload = take_stream(in, length, fault);
	record->payload_size = record->payload_here = length;
}

static void take_text(struct cursor *in, uint64_t header, struct tw_fxt_record *record)
{
	record->index = (uint16_t)tw_bits(header, 16, 30);
	take_payload(in, tw_bits(header, 32, 46), "the text of a string record", record);
}

static void take_thread_record(struct cursor *in, uint64_t header, struct tw_fxt_record *record)
{
	record->index = (uint16_t)tw_bits(header, 16, 23);
	record->thread = take_thread(in, 0);
}

/* ---- Events, logs, blobs. ---- */

static void take_event(struct cursor *in, uint64_t header, struct tw_fxt_record *record)
{
	record->time = take_time(in);
	record->thread = take_thread(in, tw_bits(header, 24, 31));
	record->category = take_string(in, tw_bits(header, 32, 47), "a category");
	record->name = take_string(in, tw_bits(header, 48, 63), "a name");
	take_arguments(in, tw_bits(header, 20, 23), record);
	if (record->kind == TW_FXT_DURATION_COMPLETE)
		record->end = take_word(in, "the time of the end");
	else if (fxt_event_extra(record->kind))
		record->id = take_word(in, record->kind == TW_FXT_COUNTER ? "the counter's id" : "a correlation id");
	/* The document has no scope; the engine writes it and its old reader demands it. */
	record->has_scope = record->kind == TW_FXT_INSTANT && !broken(in) && in->at < in->end;
	if (record->has_scope)
		record->scope = take_word(in, NULL);
}

static void take_log(struct cursor *in, uint64_t header, struct tw_fxt_record *record)
{
	record->time = take_time(in);
	record->thread = take_thread(in, tw_bits(header, 32, 39));
	take_payload(in, tw_bits(header, 16, 30), "the message of a log record", record);
}

static void take_blob(struct cursor *in, uint64_t header, struct tw_fxt_record *record)
{
	record->object_type = (uint8_t)tw_bits(header, 48, 55);
	record->name = take_string(in, tw_bits(header, 16, 31), "the name of a blob");
	take_payload(in, tw_bits(header, 32, 46), "the bytes of a blob", record);
}

/* Takes what is here of bytes that may be more than memory. */
static void take_large_payload(struct cursor *in, uint64_t length, struct tw_fxt_record *record)
{
	uint64_t size = fxt_words(length) * TW_FXT_WORD;
	uint64_t here = in->here - in->at;
	record->payload = in->bytes + in->at;
	record->payload_size = length;
	record->payload_here = length < here ? length : here;
	if (size <= here)
		in->padded |= tw_any_set(record->payload + length, (size_t)(size - length));
	in->at += size;
}

static void take_large_blob(struct cursor *in, uint64_t header, struct tw_fxt_record *record)
{
	record->format = (uint8_t)tw_bits(header, 40, 43);
	uint64_t second = take_word(in, "the second header of a large blob");
	in->reserved |= (second & fxt_blob_reserved(record->format)) != 0;
	record->category = take_string(in, tw_bits(second, 0, 15), "a category");
	record->name = take_string(in, tw_bits(second, 16, 31), "the name of a blob");
	if (record->format == 0) {
		record->time = take_time(in);
		record->thread = take_thread(in, tw_bits(second, 36, 43));
		take_arguments(in, tw_bits(second, 32, 35), record);
	}
	uint64_t length = take_word(in, "the size of a large blob");
	if (!broken(in) && length > in->end - in->at) {
		in->at -= TW_FXT_WORD;
		in->fault = "a size of a large blob that ends within its record";
	}
	if (!broken(in))
		take_large_payload(in, length, record);
}

static void take_unknown(struct cursor *in, uint64_t header, struct tw_fxt_record *record)
{
	(void)header;
	take_large_payload(in, in->end - in->at, record);
}

/* ---- Scheduling. ---- */

static void take_legacy_switch(struct cursor *in, uint64_t header, struct tw_fxt_record *record)
{
	record->cpu = (uint16_t)tw_bits(header, 16, 23);
	record->state = (uint8_t)tw_bits(header, 24, 27);
	record->outgoing_priority = (uint8_t)tw_bits(header, 44, 51);
	record->incoming_priority = (uint8_t)tw_bits(header, 52, 59);
	record->time = take_time(in);
	record->thread = take_thread(in, tw_bits(header, 28, 35));
	record->incoming = take_thread(in, tw_bits(header, 36, 43));
}

static void take_scheduling(struct cursor *in, uint64_t header, struct tw_fxt_record *record)
{
	bool is_switch = record->kind == TW_FXT_CONTEXT_SWITCH;
	record->cpu = (uint16_t)tw_bits(header, 20, 35);
	record->time = take_time(in);
	record->thread.thread = take_word(in, is_switch ? "the outgoing thread" : "the waking thread");
	if (is_switch) {
		record->state = (uint8_t)tw_bits(header, 36, 39);
		record->incoming.thread = take_word(in, "the incoming thread");
	}
	take_arguments(in, tw_bits(header, 16, 19), record);
}

/* ---- Objects, profiler. ---- */

/* Takes a thread of which some writers give both words and some only the process: record->wide_process tells. */
static struct tw_fxt_thread take_process(struct cursor *in, const struct tw_fxt_record *record, uint64_t index)
{
	struct tw_fxt_thread thread = {.index = (uint8_t)index};
	if (index == 0)
		thread.process = take_word(in, "the process that is given inline");
	if (index == 0 && record->wide_process)
		thread.thread = take_word(in, "the thread that is given inline");
	return thread;
}

static bool is_exact(const struct cursor *in)
{
	return !broken(in) && in->at == in->end;
}

/* Takes a record in the form that fills it exactly; when neither does, in the preferred one if that fits at all. */
static void take_either(struct cursor *in, uint64_t header, struct tw_fxt_record *record, take_kind *take, bool wide)
{
	struct cursor start = *in;
	record->wide_process = wide;
	take(in, header, record);
	if (is_exact(in) || record->thread.index != 0) {
		record->wide_process = wide && record->thread.index == 0;
		return;
	}
	struct cursor other = start;
	record->wide_process = !wide;
	take(&other, header, record);
	if (is_exact(&other) || (broken(in) && !broken(&other))) {
		*in = other;
		return;
	}
	*in = start;
	record->wide_process = wide;
	take(in, header, record);
}

static void take_userspace_fields(struct cursor *in, uint64_t header, struct tw_fxt_record *record)
{
	record->id = take_word(in, "the pointer of an object");
	record->thread = take_process(in, record, tw_bits(header, 16, 23));
	record->name = take_string(in, tw_bits(header, 24, 39), "the name of an object");
	take_arguments(in, tw_bits(header, 40, 43), record);
}

/* One word by the document, two by the engine. */
static void take_userspace_object(struct cursor *in, uint64_t header, struct tw_fxt_record *record)
{
	take_either(in, header, record, take_userspace_fields, false);
}

static void take_kernel_object(struct cursor *in, uint64_t header, struct tw_fxt_record *record)
{
	record->object_type = (uint8_t)tw_bits(header, 16, 23);
	record->id = take_word(in, "the koid of an object");
	record->name = take_string(in, tw_bits(header, 24, 39), "the name of an object");
	take_arguments(in, tw_bits(header, 40, 43), record);
}

static void take_module(struct cursor *in, uint64_t header, struct tw_fxt_record *record)
{
	record->id = tw_bits(header, 28, 43);
	record->name.length = (uint16_t)tw_bits(header, 44, 51);
	record->name.bytes = take_stream(in, record->name.length, "the name of a module");
	take_payload(in, tw_bits(header, 52, 59), "the build id of a module", record);
}

static void take_mmap(struct cursor *in, uint64_t header, struct tw_fxt_record *record)
{
	record->id = tw_bits(header, 28, 43);
	record->object_type = (uint8_t)tw_bits(header, 44, 46);
	record->mmap_start = take_word(in, "the start of a mapping");
	record->mmap_range = take_word(in, "the size of a mapping");
	record->mmap_address = take_word(in, "the address of a mapping in its module");
}

static void take_backtrace(struct cursor *in, uint64_t header, struct tw_fxt_record *record)
{
	record->flags = (uint32_t)tw_bits(header, 36, 63);
	take_payload(in, tw_bits(header, 28, 35) * TW_FXT_WORD, "as many addresses as the header says", record);
}

static void take_profiler_fields(struct cursor *in, uint64_t header, struct tw_fxt_record *record)
{
	record->time = take_time(in);
	record->thread = take_process(in, record, tw_bits(header, 20, 27));
	if (record->kind == TW_FXT_PROFILER_MODULE)
		take_module(in, header, record);
	else if (record->kind == TW_FXT_PROFILER_MMAP)
		take_mmap(in, header, record);
	else
		take_backtrace(in, header, record);
}

/* Two words; an older reader, and so perhaps an older writer, had one. */
static void take_profiler(struct cursor *in, uint64_t header, struct tw_fxt_record *record)
{
	take_either(in, header, record, take_profiler_fields, true);
}

/* ---- Records. ---- */

static take_kind *const takes[TW_FXT_KINDS] = {
    [TW_FXT_UNKNOWN] = take_unknown,
    [TW_FXT_PROVIDER_INFO] = take_provider,
    [TW_FXT_PROVIDER_SECTION] = take_provider,
    [TW_FXT_PROVIDER_EVENT] = take_provider,
    [TW_FXT_MAGIC] = take_magic,
    [TW_FXT_INITIALIZATION] = take_initialization,
    [TW_FXT_STRING] = take_text,
    [TW_FXT_THREAD] = take_thread_record,
    [TW_FXT_INSTANT] = take_event,
    [TW_FXT_COUNTER] = take_event,
    [TW_FXT_DURATION_BEGIN] = take_event,
    [TW_FXT_DURATION_END] = take_event,
    [TW_FXT_DURATION_COMPLETE] = take_event,
    [TW_FXT_ASYNC_BEGIN] = take_event,
    [TW_FXT_ASYNC_INSTANT] = take_event,
    [TW_FXT_ASYNC_END] = take_event,
    [TW_FXT_FLOW_BEGIN] = take_event,
    [TW_FXT_FLOW_STEP] = take_event,
    [TW_FXT_FLOW_END] = take_event,
    [TW_FXT_BLOB] = take_blob,
    [TW_FXT_USERSPACE_OBJECT] = take_userspace_object,
    [TW_FXT_KERNEL_OBJECT] = take_kernel_object,
    [TW_FXT_LEGACY_CONTEXT_SWITCH] = take_legacy_switch,
    [TW_FXT_CONTEXT_SWITCH] = take_scheduling,
    [TW_FXT_THREAD_WAKEUP] = take_scheduling,
    [TW_FXT_LOG] = take_log,
    [TW_FXT_PROFILER_MODULE] = take_profiler,
    [TW_FXT_PROFILER_MMAP] = take_profiler,
    [TW_FXT_PROFILER_BACKTRACE] = take_profiler,
    [TW_FXT_LARGE_BLOB] = take_large_blob,
};

static int refuse(struct tw_fxt_decoder *decoder, int status, uint64_t at, const char *fault)
{
	decoder->at = (size_t)at;
	decoder->fault = fault;
	return status;
}

static int lack(struct tw_fxt_decoder *decoder, uint64_t need)
{
	decoder->need = need;
	return TW_ERR_ROOM;
}

static int take_record(struct tw_fxt_decoder *decoder, struct tw_fxt_record *record)
{
	struct cursor in = {
	    .bytes = decoder->bytes,
	    .at = TW_FXT_WORD,
	    .end = record->size,
	    .here = decoder->left < record->size ? decoder->left : record->size,
	    .big = decoder->big,
	    .reserved = (record->header & fxt_reserved(record->kind)) != 0,
	};
	takes[record->kind](&in, record->header, record);
	if (in.need)
		return lack(decoder, in.need);
	if (in.fault)
		return refuse(decoder, TW_ERR_VALUE, in.at, in.fault);
	record->padded = in.padded;
	record->reserved = in.reserved;
	record->trailing_size = in.end - in.at;
	if (record->trailing_size && in.here == in.end)
		record->trailing = in.bytes + in.at;
	decoder->bytes += in.here;
	decoder->left -= (size_t)in.here;
	return 1;
}

int tw_fxt_next(struct tw_fxt_decoder *decoder, struct tw_fxt_record *record)
{
	/* The arguments are set one by one, as far as there are any. */
	memset(record, 0, offsetof(struct tw_fxt_record, arguments));
	if (!decoder->left)
		return 0;
	if (decoder->left < TW_FXT_WORD)
		return lack(decoder, TW_FXT_WORD);
	uint64_t header = tw_load64(decoder->bytes, decoder->big);
	record->header = header;
	record->type = (uint8_t)fxt_type(header);
	record->subtype = (uint8_t)fxt_subtype(header);
	record->kind = fxt_kind(header);
	record->size = (uint64_t)fxt_size(header) * TW_FXT_WORD;
	if (record->size == 0)
		return refuse(decoder, TW_ERR_FORMAT, 0, "a record of at least one word");
	/* Large records may be larger than memory: what precedes their bytes is enough. */
	if (record->type != TW_FXT_TYPE_LARGE && decoder->left < record->size)
		return lack(decoder, record->size);
	return take_record(decoder, record);
}
