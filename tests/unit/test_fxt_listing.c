/* test_fxt_listing.c - an archive of Fuchsia's own engine says what the program that called the engine put into it. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include <trackway/fxt.h>

#include "base/bytes/bytes.h"

#include "suite.h"

enum { LINE = 1 << 12, ARCHIVE_MAX = 1 << 18, LONG = 1000 };

/* What references lead to, and the line that a record makes. */
struct listing {
	struct tw_fxt_string strings[TW_FXT_STRINGS_MAX + 1];
	struct tw_fxt_thread threads[TW_FXT_THREADS_MAX + 1];
	char line[LINE];
	size_t size;
};

__attribute__((format(printf, 2, 3))) static void put(struct listing *to, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	int took = vsnprintf(to->line + to->size, LINE - to->size, format, arguments);
	va_end(arguments);
	assert_in_range(took, 0, LINE - 1 - to->size);
	to->size += (size_t)took;
}

/* Long texts are of one letter: @N and the letter. */
static void put_text(struct listing *to, const uint8_t *bytes, size_t size)
{
	if (size < LONG) {
		put(to, "\"%.*s\"", (int)size, size ? (const char *)bytes : "");
		return;
	}
	assert_memory_equal(bytes, bytes + 1, size - 1);
	put(to, "@%zu%c", size, bytes[0]);
}

static void put_string(struct listing *to, const struct tw_fxt_string *string)
{
	if (!(string->reference & TW_FXT_STRING_INLINE) && !string->bytes)
		string = &to->strings[string->reference];
	put_text(to, string->bytes, string->length);
}

static struct tw_fxt_thread thread_of(const struct listing *to, const struct tw_fxt_thread *thread)
{
	return thread->index ? to->threads[thread->index] : *thread;
}

static void put_value(struct listing *to, const struct tw_fxt_argument *argument)
{
	switch ((enum tw_fxt_argument_type)argument->type) {
	case TW_FXT_ARG_NULL:
		put(to, "null");
		break;
	case TW_FXT_ARG_INT32:
	case TW_FXT_ARG_INT64:
		put(to, "%s=%" PRId64, argument->type == TW_FXT_ARG_INT32 ? "i32" : "i64", argument->value.i);
		break;
	case TW_FXT_ARG_UINT32:
	case TW_FXT_ARG_UINT64:
		put(to, "%s=%" PRIu64, argument->type == TW_FXT_ARG_UINT32 ? "u32" : "u64", argument->value.u);
		break;
	case TW_FXT_ARG_DOUBLE:
		put(to, "f64=%g", argument->value.d);
		break;
	case TW_FXT_ARG_STRING:
		put(to, "str=");
		put_string(to, &argument->text);
		break;
	case TW_FXT_ARG_POINTER:
		put(to, "ptr=0x%" PRIx64, argument->value.u);
		break;
	case TW_FXT_ARG_KOID:
		put(to, "koid=%" PRIu64, argument->value.u);
		break;
	case TW_FXT_ARG_BOOL:
		put(to, "bool=%s", argument->value.u ? "true" : "false");
		break;
	case TW_FXT_ARG_BLOB:
		fail_msg("the engine of 2019 has no blob arguments");
	}
}

static void put_arguments(struct listing *to, const struct tw_fxt_record *record)
{
	for (unsigned i = 0; i < record->argument_count; i++) {
		put(to, i ? ", " : " args=[");
		put_string(to, &record->arguments[i].name);
		put(to, ":");
		put_value(to, &record->arguments[i]);
	}
	put(to, record->argument_count ? "]" : "");
}

static void put_event(struct listing *to, const struct tw_fxt_record *record)
{
	static const char *const names[] = {"instant",      "counter",     "dur_begin",     "dur_end",
	                                    "dur_complete", "async_begin", "async_instant", "async_end",
	                                    "flow_begin",   "flow_step",   "flow_end"};
	struct tw_fxt_thread thread = thread_of(to, &record->thread);
	put(to, "EVENT %s ts=%" PRIu64 " pid=%" PRIu64 " tid=%" PRIu64 " cat=", names[record->subtype], record->time,
	    thread.process, thread.thread);
	put_string(to, &record->category);
	put(to, " name=");
	put_string(to, &record->name);
	if (record->has_scope)
		put(to, " scope=%" PRIu64, record->scope);
	else if (record->kind == TW_FXT_DURATION_COMPLETE)
		put(to, " end=%" PRIu64, record->end);
	else if (record->kind == TW_FXT_COUNTER || record->kind >= TW_FXT_ASYNC_BEGIN)
		put(to, " id=%" PRIu64, record->id);
	put_arguments(to, record);
}

/* Of the bytes only what the name of the pattern tells is compared: byte n of a ramp of 7 is 7 n. */
static void put_blob(struct listing *to, const struct tw_fxt_record *record)
{
	put(to, "BLOB name=");
	put_string(to, &record->name);
	put(to, " type=%u size=%" PRIu64 " sha1=", record->object_type, record->payload_size);
	if (record->payload_size < LONG) {
		put(to, "@%" PRIu64, record->payload_size);
		return;
	}
	for (size_t i = 0; i < record->payload_size; i++)
		assert_int_equal(record->payload[i], (uint8_t)(7 * i));
	put(to, "@ramp7");
}

static void put_switch(struct listing *to, const struct tw_fxt_record *record)
{
	struct tw_fxt_thread from = thread_of(to, &record->thread), into = thread_of(to, &record->incoming);
	put(to, "LEGACYSWITCH cpu=%u state=%u ts=%" PRIu64 " out=%" PRIu64 "/%" PRIu64, record->cpu, record->state,
	    record->time, from.process, from.thread);
	put(to, " in=%" PRIu64 "/%" PRIu64 " outprio=%u inprio=%u", into.process, into.thread,
	    record->outgoing_priority, record->incoming_priority);
}

static void put_log(struct listing *to, const struct tw_fxt_record *record)
{
	struct tw_fxt_thread thread = thread_of(to, &record->thread);
	put(to, "LOG ts=%" PRIu64 " pid=%" PRIu64 " tid=%" PRIu64 " msg=", record->time, thread.process, thread.thread);
	put_text(to, record->payload, (size_t)record->payload_size);
}

static void put_kernel_object(struct listing *to, const struct tw_fxt_record *record)
{
	put(to, "KOBJ type=%u koid=%" PRIu64 " name=", record->object_type, record->id);
	put_string(to, &record->name);
	put_arguments(to, record);
}

/* Makes the line of a record; string and thread records make none. */
static void list(struct listing *to, const struct tw_fxt_record *record)
{
	to->size = 0;
	to->line[0] = '\0';
	if (record->kind == TW_FXT_STRING) {
		to->strings[record->index] =
		    (struct tw_fxt_string){.length = (uint16_t)record->payload_size, .bytes = record->payload};
	} else if (record->kind == TW_FXT_THREAD) {
		to->threads[record->index] = record->thread;
	} else if (record->kind == TW_FXT_MAGIC) {
		put(to, "MAGIC");
	} else if (record->kind == TW_FXT_PROVIDER_INFO) {
		put(to, "PROVIDER id=%" PRIu64 " name=", record->id);
		put_string(to, &record->name);
	} else if (record->kind == TW_FXT_INITIALIZATION) {
		put(to, "INIT ticks_per_second=%" PRIu64, record->id);
	} else if (record->type == TW_FXT_TYPE_EVENT) {
		put_event(to, record);
	} else if (record->kind == TW_FXT_BLOB) {
		put_blob(to, record);
	} else if (record->kind == TW_FXT_KERNEL_OBJECT) {
		put_kernel_object(to, record);
	} else if (record->kind == TW_FXT_LEGACY_CONTEXT_SWITCH) {
		put_switch(to, record);
	} else if (record->kind == TW_FXT_LOG) {
		put_log(to, record);
	} else {
		fail_msg("no %s in this archive", tw_fxt_kind_name(record->kind));
	}
}

static FILE *open_data(const char *name)
{
	char path[4096];
	const char *folder = getenv("TW_TEST_DATA");
	assert_non_null(folder);
	assert_in_range(snprintf(path, sizeof path, "%s/fxt/%s", folder, name), 1, sizeof path - 1);
	FILE *file = fopen(path, "rb");
	assert_non_null(file);
	return file;
}

static size_t load(const char *name, uint8_t *bytes)
{
	FILE *file = open_data(name);
	size_t size = fread(bytes, 1, ARCHIVE_MAX, file);
	fclose(file);
	assert_in_range(size, 1, ARCHIVE_MAX - 1);
	return size;
}

/* Turns the words of a record, as its kind has them: what the encoder makes of it in the other order. */
static void expect_both_orders(const struct tw_fxt_record *record, const uint8_t *bytes)
{
	static uint8_t big[8 * TW_FXT_RECORD_MAX], little[8 * TW_FXT_RECORD_MAX];
	struct tw_fxt_record other;
	size_t size = 0;
	assert_int_equal(tw_fxt_encode(record, false, little, sizeof little, &size), 0);
	assert_int_equal(size, record->size);
	assert_memory_equal(little, bytes, size);
	assert_int_equal(tw_fxt_encode(record, true, big, sizeof big, &size), 0);
	struct tw_fxt_decoder decoder = {.bytes = big, .left = size, .big = true};
	assert_int_equal(tw_fxt_next(&decoder, &other), 1);
	assert_int_equal(tw_fxt_encode(&other, false, little, sizeof little, &size), 0);
	assert_memory_equal(little, bytes, size);
}

static void test_listing(void **state)
{
	static uint8_t bytes[ARCHIVE_MAX];
	static struct listing listing;
	struct tw_fxt_decoder decoder = {.bytes = bytes, .left = load("oneshot_all.fxt", bytes)};
	struct tw_fxt_record record;
	FILE *file = open_data("oneshot_all.expected.txt");
	char wanted[LINE];
	(void)state;
	for (const uint8_t *start = bytes; tw_fxt_next(&decoder, &record) == 1; start = decoder.bytes) {
		expect_both_orders(&record, start);
		list(&listing, &record);
		if (!listing.line[0])
			continue;
		assert_non_null(fgets(wanted, sizeof wanted, file));
		wanted[strcspn(wanted, "\n")] = '\0';
		assert_string_equal(listing.line, wanted);
	}
	assert_int_equal(decoder.left, 0);
	assert_null(fgets(wanted, sizeof wanted, file));
	fclose(file);
}

/* 24 sections, 5,000 complete durations, 715 counters; each record as it was. Counted by their headers alone. */
static void test_streaming(void **state)
{
	static uint8_t bytes[ARCHIVE_MAX];
	struct tw_fxt_decoder decoder = {.bytes = bytes, .left = load("streaming.fxt", bytes)};
	struct tw_fxt_record record;
	unsigned counts[TW_FXT_KINDS] = {0};
	(void)state;
	for (const uint8_t *start = bytes; tw_fxt_next(&decoder, &record) == 1; start = decoder.bytes) {
		expect_both_orders(&record, start);
		counts[record.kind]++;
	}
	assert_int_equal(decoder.left, 0);
	assert_int_equal(counts[TW_FXT_PROVIDER_SECTION], 24);
	assert_int_equal(counts[TW_FXT_DURATION_COMPLETE], 5000);
	assert_int_equal(counts[TW_FXT_COUNTER], 715);
	assert_int_equal(counts[TW_FXT_UNKNOWN], 0);
}

SUITE(fxt_listing)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_listing),
	    cmocka_unit_test(test_streaming),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
