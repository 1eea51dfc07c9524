/* test_fxt_records.c - FXT records, word by word: what each of 91 vectors means, and that it is encoded as it was.
 *
 * The vectors are the numbers of other projects' tests: Fuchsia's serializer (cpp_), its Rust reader (rs_), Perfetto's
 * importer (pf_). The meanings below were read off the words with the document's bit numbers. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include <trackway/fxt.h>

#include "base/bytes/bytes.h"
#include "fxt/format/layout.h"

#include "suite.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

enum { VECTORS = 91, WORDS_MAX = 256, TEXT_MAX = 4096 };

/* ---- A record as text: every member that is not 0 or empty. Numbers are hexadecimal but for signed ones. ---- */

struct text {
	char bytes[TEXT_MAX];
	size_t size;
};

__attribute__((format(printf, 2, 3))) static void put(struct text *text, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	int took = vsnprintf(text->bytes + text->size, TEXT_MAX - text->size, format, arguments);
	va_end(arguments);
	assert_in_range(took, 0, TEXT_MAX - 1 - text->size);
	text->size += (size_t)took;
}

static bool printable(const uint8_t *bytes, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		if (bytes[i] < ' ' || bytes[i] > '~')
			return false;
	}
	return true;
}

/* In quotes, or in hexadecimal; many equal ones as N*value. */
static void put_bytes(struct text *text, const uint8_t *bytes, size_t size)
{
	if (size > 64 && memcmp(bytes, bytes + 1, size - 1) == 0) {
		put(text, "%zx*%02x", size, bytes[0]);
	} else if (printable(bytes, size)) {
		put(text, "\"%.*s\"", (int)size, (const char *)bytes);
	} else {
		for (size_t i = 0; i < size; i++)
			put(text, "%02x", bytes[i]);
	}
}

static void put_words(struct text *text, const char *name, const uint8_t *bytes, uint64_t size, bool big)
{
	if (!size)
		return;
	put(text, " %s=[", name);
	for (size_t at = 0; at < size; at += TW_FXT_WORD)
		put(text, "%s%" PRIx64, at ? " " : "", tw_load64(bytes + at, big));
	put(text, "]");
}

static void put_string(struct text *text, const struct tw_fxt_string *string)
{
	if (string->length)
		put_bytes(text, string->bytes, string->length);
	else if (string->reference)
		put(text, "#%x", string->reference);
	else
		put(text, "empty");
}

static void put_named(struct text *text, const char *name, const struct tw_fxt_string *string)
{
	if (!string->length && !string->reference)
		return;
	put(text, " %s=", name);
	put_string(text, string);
}

static void put_thread(struct text *text, const char *name, const struct tw_fxt_thread *thread)
{
	if (thread->index)
		put(text, " %s=#%x", name, thread->index);
	else if (thread->process || thread->thread)
		put(text, " %s=%" PRIx64 "/%" PRIx64, name, thread->process, thread->thread);
}

static void put_argument(struct text *text, const struct tw_fxt_argument *argument, bool big)
{
	static const char *const names[16] = {"null",   "int32",   "uint32", "int64", "uint64", "double",
	                                      "string", "pointer", "koid",   "bool",  "blob"};
	put(text, " {");
	put_string(text, &argument->name);
	put(text, " %s", names[argument->type] ? names[argument->type] : "unknown");
	if (argument->type == TW_FXT_ARG_INT32 || argument->type == TW_FXT_ARG_INT64) {
		put(text, " %" PRId64, argument->value.i);
	} else if (argument->type == TW_FXT_ARG_DOUBLE) {
		put(text, " %.9g", argument->value.d);
	} else if (argument->type == TW_FXT_ARG_STRING) {
		put(text, " ");
		put_string(text, &argument->text);
	} else if (argument->type == TW_FXT_ARG_BLOB) {
		put(text, " ");
		put_bytes(text, argument->bytes, argument->size);
	} else if (argument->type != TW_FXT_ARG_NULL) {
		put(text, " %" PRIx64, argument->value.u);
	}
	if (argument->type > TW_FXT_ARG_BLOB)
		put_words(text, "rest", argument->bytes, argument->size, big);
	put_words(text, "trailing", argument->trailing, argument->trailing_size, big);
	put(text, "}");
}

static void put_number(struct text *text, const char *name, uint64_t number)
{
	if (number)
		put(text, " %s=%" PRIx64, name, number);
}

static void put_numbers(struct text *text, const struct tw_fxt_record *record)
{
	put_number(text, "end", record->end);
	put_number(text, "id", record->id);
	put_number(text, "index", record->index);
	put_number(text, "cpu", record->cpu);
	put_number(text, "state", record->state);
	put_number(text, "out-priority", record->outgoing_priority);
	put_number(text, "in-priority", record->incoming_priority);
	put_number(text, "type", record->object_type);
	put_number(text, "format", record->format);
	if (record->has_scope)
		put(text, " scope=%" PRIx64, record->scope);
	if (record->has_base)
		put(text, " base=%" PRIx64 "/%" PRIx64, record->base_ticks, record->base_ns);
	put_number(text, "start", record->mmap_start);
	put_number(text, "range", record->mmap_range);
	put_number(text, "address", record->mmap_address);
	put_number(text, "flags", record->flags);
	put_number(text, "wide", record->wide_process);
	put_number(text, "padded", record->padded);
	put_number(text, "reserved", record->reserved);
}

static void put_payload(struct text *text, const struct tw_fxt_record *record, bool big)
{
	assert_true(record->payload_here == record->payload_size);
	if (record->kind == TW_FXT_UNKNOWN || record->kind == TW_FXT_PROFILER_BACKTRACE) {
		put_words(text, "payload", record->payload, record->payload_size, big);
	} else if (record->payload_size) {
		put(text, " payload=");
		put_bytes(text, record->payload, (size_t)record->payload_size);
	}
}

static void describe(struct text *text, const struct tw_fxt_record *record, bool big)
{
	text->size = 0;
	put(text, "%s", tw_fxt_kind_name(record->kind));
	if (record->kind == TW_FXT_UNKNOWN)
		put(text, " %x.%x", record->type, record->subtype);
	put_number(text, "time", record->time);
	put_thread(text, "thread", &record->thread);
	put_thread(text, "incoming", &record->incoming);
	put_named(text, "category", &record->category);
	put_named(text, "name", &record->name);
	put_numbers(text, record);
	put_payload(text, record, big);
	for (unsigned i = 0; i < record->argument_count; i++)
		put_argument(text, &record->arguments[i], big);
	put_words(text, "trailing", record->trailing, record->trailing_size, big);
}

/* ---- What the vectors mean. ---- */

#define TIME "time=1234567890abcdef"
#define TIME2 "time=aabbccddeeff0011"
#define TEST "event.instant time=1 thread=#1 category=#2 name=#3 "
#define RAIN "\"the rain in spain falls mainly on the plain\""
#define PHONE "\"123-456-7890\""
#define A "1aaaaaaaaaaaaaaa"
#define B "1bbbbbbbbbbbbbbb"
#define C "2ccccccccccccccc"
#define D "2ddddddddddddddd"
#define SLICE(time, thread, name) " time=" time " thread=" thread " category=\"CAT_AAAA\" name=\"" name "\""
#define FLOW(time, thread) SLICE(time, thread, "FLOW_XXX") " id=64"

/* A vector's records, in order. */
static const struct meaning {
	const char *vector;
	const char *layout; /* runs of words and of streams; NULL: words only */
	const char *text;   /* of a record that does not decode: what was expected */
	int status;         /* 0: it decodes */
	size_t at;          /* otherwise */
} meanings[] = {
    {"cpp_provider_info", "w1 s2", "provider-info name=\"test_provider\" id=aabbccdd", 0, 0},
    {"cpp_provider_section", NULL, "provider-section id=aabbccdd", 0, 0},
    {"cpp_provider_event", NULL, "provider-event id=aabbccdd type=7", 0, 0},
    {"cpp_magic", NULL, "magic", 0, 0},
    {"cpp_init", NULL, "initialization id=abcd", 0, 0},
    {"cpp_instant", NULL, "event.instant " TIME " thread=#1 category=#7777 name=#1234", 0, 0},
    {"cpp_instant_inline_strings", "w2 s5",
     "event.instant " TIME " thread=#1 category=\"category\" name=\"name longer than eight bytes\"", 0, 0},
    {"cpp_instant_thread_ab", NULL, "event.instant " TIME " thread=#ab category=#1 name=#2", 0, 0},
    {"cpp_instant_inline_thread", NULL, "event.instant " TIME " thread=deadbeef/cafef00d category=#1 name=#2", 0, 0},
    {"cpp_instant_null_arg", NULL, "event.instant " TIME " thread=#1 category=#2 name=#3 {#7fff null}", 0, 0},
    {"cpp_instant_null_arg_inline", "w3 s1", "event.instant " TIME " thread=#1 category=#2 name=#3 {\"argname\" null}",
     0, 0},
    {"cpp_arguments", "w18 s1 w1 s2 w1 s1",
     "event.instant " TIME " thread=#1 category=#2 name=#3 {#7fff null} {#7fff bool 1} {#7fff int32 305419896} "
     "{#7fff uint32 567890ab} {#7fff int64 1311768467294899695} {#7fff uint64 fedcba0987654321} "
     "{#7fff double 1234.5678} {#7fff pointer deadbeef} {#7fff koid 12345678} {#7fff string #b} "
     "{#7fff string \"inline\"} {\"inline\" string \"inline\"} {#7fff blob 0102030405}",
     0, 0},
    {"cpp_counter", NULL, "event.counter " TIME " thread=#1 category=#7777 name=#1234 id=334455667788 {#2345 bool 1}",
     0, 0},
    {"cpp_dur_begin", NULL, "event.duration-begin " TIME " thread=#1 category=#7777 name=#1234", 0, 0},
    {"cpp_dur_end", NULL, "event.duration-end " TIME " thread=#1 category=#7777 name=#1234", 0, 0},
    {"cpp_dur_complete", NULL,
     "event.duration-complete " TIME " thread=#1 category=#7777 name=#1234 end=1122334455667788", 0, 0},
    {"cpp_async_begin", NULL, "event.async-begin " TIME " thread=#1 category=#7777 name=#1234 id=1122334455667788", 0,
     0},
    {"cpp_async_instant", NULL, "event.async-instant " TIME " thread=#1 category=#7777 name=#1234 id=1122334455667788",
     0, 0},
    {"cpp_async_end", NULL, "event.async-end " TIME " thread=#1 category=#7777 name=#1234 id=1122334455667788", 0, 0},
    {"cpp_flow_begin", NULL, "event.flow-begin " TIME " thread=#1 category=#7777 name=#1234 id=1122334455667788", 0, 0},
    {"cpp_flow_step", NULL, "event.flow-step " TIME " thread=#1 category=#7777 name=#1234 id=1122334455667788", 0, 0},
    {"cpp_flow_end", NULL, "event.flow-end " TIME " thread=#1 category=#7777 name=#1234 id=1122334455667788", 0, 0},
    {"cpp_blob", "w1 s5", "blob name=#7777 type=1 payload=\"This is some data that we are writing\"", 0, 0},
    {"cpp_userspace_object", NULL, "userspace-object thread=#aa name=#7777 id=deadbeef {#1234 bool 1}", 0, 0},
    {"cpp_kernel_object", NULL, "kernel-object name=#7777 id=deadbeef type=4 {#4321 bool 0}", 0, 0},
    {"cpp_kernel_object_inline", "w2 s1 w1 s1", "kernel-object name=\"name\" id=deadbeef type=4 {\"arg\" bool 0}", 0,
     0},
    {"cpp_legacy_switch", NULL,
     "scheduling.legacy-context-switch " TIME2 " thread=#1 incoming=#2 cpu=bb state=2 out-priority=3 in-priority=4", 0,
     0},
    {"cpp_switch", NULL,
     "scheduling.context-switch " TIME2 " thread=0/1 incoming=0/2 cpu=bbbb state=2 {#1 int32 3} {#2 int32 4}", 0, 0},
    {"cpp_wakeup", NULL, "scheduling.thread-wakeup " TIME2 " thread=0/2 cpu=bbbb {#2 int32 4}", 0, 0},
    {"cpp_log", "w2 s3", "log " TIME2 " thread=#1 payload=\"This is a log message\"", 0, 0},
    {"cpp_large_blob_meta", "w5 s5",
     "large-blob " TIME2
     " thread=#cc category=#7aaa name=#7bbb payload=\"Some data to write into the buffer\" {#2345 bool 1}",
     0, 0},
    {"cpp_large_blob_nometa", "w3 s5",
     "large-blob category=#7aaa name=#7bbb format=1 payload=\"Some data to write into the buffer\"", 0, 0},
    {"cpp_thread", NULL, "thread thread=123456789abcdef/fecdba9876543210 index=aa", 0, 0},
    {"cpp_prof_module", "w2 s5",
     "profiler.module " TIME
     " thread=#cc name=\"module_name\" id=abcd payload=333e89f0c175000cee9b7e201fedcd6f9b4ba8ae",
     0, 0},
    {"cpp_prof_mmap", NULL, "profiler.mmap " TIME " thread=#cc id=abcd type=5 start=1000 range=2000 address=3000", 0,
     0},
    {"cpp_prof_backtrace", NULL, "profiler.backtrace " TIME " thread=deadbeef/cafef00d wide=1 payload=[1 2 3]", 0, 0},

    {"rs_event_no_args", NULL, "event.instant time=800 thread=#b category=#1b name=#5d", 0, 0},
    {"rs_event_with_args", "w4 s4 w1 s2 w1 s1 w2",
     "event.duration-complete time=800 thread=159/2a6 category=\"event_category\" name=\"event_name\" end=1000 "
     "{\"arg1\" string \"val1\"} {\"arg2\" pointer 1e240}",
     0, 0},
    {"rs_arg_null_index", NULL, TEST "{#a null}", 0, 0},
    {"rs_arg_i32_index", NULL, TEST "{#a int32 -19}", 0, 0},
    {"rs_arg_u32_index", NULL, TEST "{#a uint32 17}", 0, 0},
    {"rs_arg_i64_index", NULL, TEST "{#a int64 -79}", 0, 0},
    {"rs_arg_u64_index", NULL, TEST "{#a uint64 400}", 0, 0},
    {"rs_arg_f64_index", NULL, TEST "{#a double 1007.893}", 0, 0},
    {"rs_arg_str_index_vindex", NULL, TEST "{#a string #b}", 0, 0},
    {"rs_arg_str_index_vinline", "w3 s2", TEST "{#a string " PHONE "}", 0, 0},
    {"rs_arg_ptr_index", NULL, TEST "{#a pointer 100}", 0, 0},
    {"rs_arg_koid_index", NULL, TEST "{#a koid 11}", 0, 0},
    {"rs_arg_bool_index", NULL, TEST "{#a bool 1}", 0, 0},
    {"rs_arg_blob_index", "w3 s6", TEST "{#a blob " RAIN "}", 0, 0},
    {"rs_arg_null_inline", "w3 s1", TEST "{\"hello\" null}", 0, 0},
    {"rs_arg_i32_inline", "w3 s1", TEST "{\"hello\" int32 -19}", 0, 0},
    {"rs_arg_u32_inline", "w3 s1", TEST "{\"hello\" uint32 17}", 0, 0},
    {"rs_arg_i64_inline", "w3 s1 w1", TEST "{\"hello\" int64 -845}", 0, 0},
    {"rs_arg_u64_inline", "w3 s1 w1", TEST "{\"hello\" uint64 1000}", 0, 0},
    {"rs_arg_f64_inline", "w3 s1 w1", TEST "{\"hello\" double 23634.1231}", 0, 0},
    {"rs_arg_str_inline_vindex", "w3 s1", TEST "{\"hello\" string #d}", 0, 0},
    {"rs_arg_str_inline_vinline", "w3 s3", TEST "{\"hello\" string " PHONE "}", 0, 0},
    {"rs_arg_ptr_inline", "w3 s1 w1", TEST "{\"hello\" pointer 200}", 0, 0},
    {"rs_arg_koid_inline", "w3 s1 w1", TEST "{\"hello\" koid 15}", 0, 0},
    {"rs_arg_bool_inline", "w3 s1", TEST "{\"hello\" bool 1}", 0, 0},
    {"rs_arg_blob_inline", "w3 s7", TEST "{\"hello\" blob " RAIN "}", 0, 0},
    {"rs_blob_index", "w1 s3", "blob name=#f type=1 payload=0102030405060708090a0b0c0d0e0f1011121314151617", 0, 0},
    {"rs_blob_1024", "w1 s128", "blob name=#f type=1 payload=400*ef", 0, 0},
    {"rs_blob_inline", "w1 s5",
     "blob name=\"foo_blob\" type=3 payload=0102030405060708090a0b0c0d0e0f10111213141516171819", 0, 0},
    /* The Rust reader exchanges large type (bits 36 to 39) and blob format (40 to 43). By the document this is of large
     * type 1, which does not exist.. */
    {"rs_large_blob_nometa_DISAGREES", NULL,
     "unknown f.1 payload=[80007 24 807060504030201 100f0e0d0c0b0a09 1817161514131211 201f1e1d1c1b1a19 24232221]", 0,
     0},
    /* .. and this one is without metadata, so that its third word, 0x400, is the size of the blob: more than is
     * there. */
    {"rs_large_blob_meta_DISAGREES", NULL, "a size of a large blob that ends within its record", TW_ERR_VALUE, 16},
    {"rs_switch", "w5 s2 w1 s2",
     "scheduling.context-switch time=400 thread=0/5 incoming=0/8 cpu=6 state=4 {\"incoming_weight\" int32 12} "
     "{\"outgoing_weight\" int32 14}",
     0, 0},
    {"rs_wakeup", "w4 s1", "scheduling.thread-wakeup time=400 thread=0/5 cpu=6 {\"weight\" int32 12}", 0, 0},
    {"rs_legacy_switch", NULL,
     "scheduling.legacy-context-switch time=400 thread=19/1a incoming=64/65 cpu=6 state=2 out-priority=a "
     "in-priority=b",
     0, 0},
    {"rs_uobj", NULL, "userspace-object thread=#c name=#12 id=400", 0, 0},
    {"rs_uobj_args", "w5 s2 w1 s1",
     "userspace-object thread=#c name=#12 id=800 {#a double 1007.893} {#b string " PHONE "} {\"hello\" uint32 17}", 0,
     0},
    {"rs_kobj", NULL, "kernel-object name=#13 id=40 type=4", 0, 0},
    {"rs_kobj_args", "w5 s2 w1 s1",
     "kernel-object name=#5b id=80 type=13 {#a double 1007.893} {#b string " PHONE "} {\"hello\" uint32 17}", 0, 0},
    {"rs_provider_info", "w1 s1", "provider-info name=\"hello\" id=10", 0, 0},
    {"rs_provider_section", NULL, "provider-section id=10", 0, 0},
    {"rs_provider_event", NULL, "provider-event id=10", 0, 0},
    {"rs_string", "w1 s2", "string index=a payload=\"hellooooo\"", 0, 0},
    {"rs_prof_module", "w4 s5",
     "profiler.module time=1388 thread=7b/0 name=\"test_module.so\" id=63 wide=1 "
     "payload=68920bd06a8149b58004cea8a0dd260b05e87d57",
     0, 0},
    {"rs_prof_module_old", "w3 s5",
     "profiler.module time=1388 thread=7b/0 name=\"test_module.so\" id=63 "
     "payload=68920bd06a8149b58004cea8a0dd260b05e87d57",
     0, 0},
    {"rs_prof_mmap", NULL,
     "profiler.mmap time=1770 thread=1c8/0 id=65 type=1 start=1000 range=2000 address=3000 wide=1", 0, 0},
    {"rs_prof_backtrace", NULL,
     "profiler.backtrace time=1b58 thread=315/3db flags=2 wide=1 payload=[402a964b1499 4ae0293b]", 0, 0},

    {"pf_corrupt_size0", NULL, "a record of at least one word", TW_ERR_FORMAT, 0},
    {"pf_inline_instant", "w4 s2",
     "event.instant time=5555555555555555 thread=bbbbbbbbbbbbbbbb/cccccccccccccccc category=dddddddddddddddd "
     "name=eeeeeeeeeeeeeeee",
     0, 0},
    {"pf_bool_args", "w4 s2 w1 s1 w1 s1", /* the second is of type 10, a blob by today's document */
     "event.instant time=5555555555555555 thread=bbbbbbbbbbbbbbbb/cccccccccccccccc category=dddddddddddddddd "
     "name=eeeeeeeeeeeeeeee {0000000000000000 bool 1} {0000000000000000 blob \"\"}",
     0, 0},
    {"pf_sched", NULL, "scheduling.thread-wakeup time=1 thread=0/" A " cpu=1", 0, 0},
    {"pf_sched", NULL, "scheduling.context-switch time=2 thread=0/" A " incoming=0/" C " cpu=1", 0, 0},
    {"pf_sched", NULL, "scheduling.context-switch time=3 thread=0/" C " incoming=0/" A " cpu=1", 0, 0},
    {"pf_sched_waker", NULL, "scheduling.context-switch time=1 thread=0/" A " incoming=0/" C " cpu=1", 0, 0},
    {"pf_sched_waker", "w4 s1 w1", "scheduling.thread-wakeup time=2 thread=0/" A " cpu=1 {\"waker\" koid " C "}", 0, 0},
    {"pf_legacy", NULL, "scheduling.legacy-context-switch time=1 incoming=" A "/" B " cpu=1 state=2 in-priority=1", 0,
     0},
    {"pf_legacy", NULL,
     "scheduling.legacy-context-switch time=2 thread=" A "/" B " incoming=" C "/" D
     " cpu=1 state=2 out-priority=1 in-priority=1",
     0, 0},
    {"pf_legacy", NULL,
     "scheduling.legacy-context-switch time=3 thread=" C "/" D " incoming=" A "/" B
     " cpu=1 state=2 out-priority=1 in-priority=1",
     0, 0},
    {"pf_flow", "w4 s2", "event.duration-begin" SLICE("a", "1/2", "NAME_S_1"), 0, 0},
    {"pf_flow", "w4 s2 w1", "event.flow-begin" FLOW("c", "1/2"), 0, 0},
    {"pf_flow", "w4 s2", "event.duration-end" SLICE("d", "1/2", "NAME_S_1"), 0, 0},
    {"pf_flow", "w4 s2", "event.duration-begin" SLICE("e", "1/3", "NAME_S_2"), 0, 0},
    {"pf_flow", "w4 s2 w1", "event.flow-end" FLOW("f", "1/3"), 0, 0},
    {"pf_flow", "w4 s2", "event.duration-end" SLICE("10", "1/3", "NAME_S_2"), 0, 0},
    {"pf_flow_xproc", "w4 s2", "event.duration-begin" SLICE("a", "1/2", "NAME_S_1"), 0, 0},
    {"pf_flow_xproc", "w4 s2 w1", "event.flow-begin" FLOW("c", "1/2"), 0, 0},
    {"pf_flow_xproc", "w4 s2", "event.duration-end" SLICE("d", "1/2", "NAME_S_1"), 0, 0},
    {"pf_flow_xproc", "w4 s2", "event.duration-begin" SLICE("e", "2/3", "NAME_S_2"), 0, 0},
    {"pf_flow_xproc", "w4 s2 w1", "event.flow-end" FLOW("f", "2/3"), 0, 0},
    {"pf_flow_xproc", "w4 s2", "event.duration-end" SLICE("10", "2/3", "NAME_S_2"), 0, 0},
    {"pf_flow_ambiguous", "w4 s2", "event.duration-begin" SLICE("a", "1/2", "NAME_S_1"), 0, 0},
    {"pf_flow_ambiguous", "w4 s2 w1", "event.flow-begin" FLOW("c", "1/2"), 0, 0},
    {"pf_flow_ambiguous", "w4 s2", "event.duration-end" SLICE("d", "1/2", "NAME_S_1"), 0, 0},
    {"pf_flow_ambiguous", "w4 s2", "event.duration-begin" SLICE("a", "3/4", "NAME_S_4"), 0, 0},
    {"pf_flow_ambiguous", "w4 s2 w1", "event.flow-begin" FLOW("c", "3/4"), 0, 0},
    {"pf_flow_ambiguous", "w4 s2", "event.duration-end" SLICE("d", "3/4", "NAME_S_4"), 0, 0},
    {"pf_flow_ambiguous", "w4 s2", "event.duration-begin" SLICE("e", "1/2", "NAME_S_3"), 0, 0},
    {"pf_flow_ambiguous", "w4 s2 w1", "event.flow-end" FLOW("f", "1/2"), 0, 0},
    {"pf_flow_ambiguous", "w4 s2", "event.duration-end" SLICE("10", "1/2", "NAME_S_3"), 0, 0},
    {"pf_flow_ambiguous", "w4 s2", "event.duration-begin" SLICE("e", "2/3", "NAME_S_2"), 0, 0},
    {"pf_flow_ambiguous", "w4 s2 w1", "event.flow-end" FLOW("f", "2/3"), 0, 0},
    {"pf_flow_ambiguous", "w4 s2", "event.duration-end" SLICE("10", "2/3", "NAME_S_2"), 0, 0},
};

/* ---- The file of vectors. ---- */

struct vector {
	char name[64];
	uint64_t words[WORDS_MAX];
	size_t count;
};

/* Reads a line: a name, a tab, words in hexadecimal. Returns whether there was one. */
static bool next_vector(FILE *file, struct vector *vector)
{
	char line[8192], *at;
	if (!fgets(line, sizeof line, file))
		return false;
	vector->count = 0;
	assert_int_equal(sscanf(line, "%63s", vector->name), 1);
	for (at = strchr(line, '\t'); at && *at && *at != '\n';) {
		assert_in_range(vector->count, 0, WORDS_MAX - 1);
		vector->words[vector->count++] = strtoull(at, &at, 16);
	}
	return true;
}

static FILE *open_vectors(void)
{
	char path[4096];
	const char *folder = getenv("TW_TEST_DATA");
	assert_non_null(folder);
	assert_in_range(snprintf(path, sizeof path, "%s/fxt/vectors.tsv", folder), 1, sizeof path - 1);
	FILE *file = fopen(path, "r");
	assert_non_null(file);
	return file;
}

/* Writes words as an archive has them: only words are turned, never streams. Returns how many the layout takes. */
static size_t lay_out(const char *layout, const uint64_t *words, size_t count, bool big, uint8_t *bytes)
{
	size_t done = 0;
	for (const char *at = layout; at && *at; at += strspn(at, " ")) {
		bool is_word = *at++ == 'w';
		char *end;
		for (unsigned long n = strtoul(at, &end, 10); n; n--, done++)
			tw_store64(bytes + 8 * done, words[done], is_word && big);
		at = end;
	}
	for (; !layout && done < count; done++)
		tw_store64(bytes + 8 * done, words[done], big);
	return done;
}

/* The words of the record that begins here: bits 4 to 15, or 4 to 35. */
static size_t words_of(const uint64_t *words)
{
	uint64_t size = (words[0] & 15) == 15 ? words[0] >> 4 & 0xffffffff : words[0] >> 4 & 0xfff;
	return size ? (size_t)size : 1;
}

/* ---- Tests. ---- */

/* Whether a decoded record has nothing that fxt_measure() leaves to the decoder. */
static bool is_plain(const struct tw_fxt_record *record)
{
	if (record->kind == TW_FXT_UNKNOWN || record->trailing_size || record->reserved)
		return false;
	for (unsigned i = 0; i < record->argument_count; i++) {
		if (record->arguments[i].type > TW_FXT_ARG_BLOB || record->arguments[i].trailing_size)
			return false;
	}
	return true;
}

/* fxt_measure() takes what the decoder takes, if it is plain, and nothing else. Where the words of an inline process
 * are guessed, what it takes the decoder must take, too, but perhaps in the other form. */
static void expect_measure(const uint8_t *bytes, size_t words, bool big)
{
	struct tw_fxt_decoder decoder = {.bytes = bytes, .left = words * 8, .big = big};
	struct tw_fxt_record record;
	int status = tw_fxt_next(&decoder, &record);
	uint32_t measured = fxt_measure(tw_load64(bytes, big), bytes, words, big);
	bool guessed = record.kind == TW_FXT_USERSPACE_OBJECT && record.thread.index == 0;
	bool here = record.size <= words * 8;
	if (measured || !guessed)
		assert_int_equal(measured, status == 1 && here && (guessed || is_plain(&record)) ? record.size / 8 : 0);
}

static void expect_refusal(const struct meaning *meaning, const uint8_t *bytes, size_t size, bool big)
{
	struct tw_fxt_decoder decoder = {.bytes = bytes, .left = size, .big = big};
	struct tw_fxt_record record;
	assert_int_equal(tw_fxt_next(&decoder, &record), meaning->status);
	assert_int_equal(decoder.at, meaning->at);
	assert_string_equal(decoder.fault, meaning->text);
	assert_ptr_equal(decoder.bytes, bytes);
	assert_int_equal(decoder.left, size);
}

static void expect_record(const struct meaning *meaning, const uint8_t *bytes, size_t size, bool big)
{
	static struct text text;
	struct tw_fxt_decoder decoder = {.bytes = bytes, .left = size, .big = big};
	struct tw_fxt_record record;
	uint8_t again[8 * WORDS_MAX];
	size_t took = 0;
	assert_int_equal(tw_fxt_next(&decoder, &record), 1);
	assert_ptr_equal(decoder.bytes, bytes + size);
	assert_int_equal(decoder.left, 0);
	assert_int_equal(record.size, size);
	describe(&text, &record, big);
	assert_string_equal(text.bytes, meaning->text);
	assert_int_equal(tw_fxt_encode(&record, big, again, sizeof again, &took), 0);
	assert_int_equal(took, size);
	assert_memory_equal(again, bytes, size);
	assert_int_equal(tw_fxt_encode(&record, big, again, size - 1, &took), TW_ERR_ROOM);
	assert_int_equal(took, size);
}

static void expect_meaning(const struct meaning *meaning, const uint64_t *words, size_t count, bool big)
{
	uint8_t bytes[8 * WORDS_MAX];
	if (lay_out(meaning->layout, words, count, big, bytes) != count)
		fail_msg("%s: the layout is not of %zu words", meaning->vector, count);
	expect_measure(bytes, count, big);
	if (meaning->status)
		expect_refusal(meaning, bytes, 8 * count, big);
	else
		expect_record(meaning, bytes, 8 * count, big);
}

static void test_vectors(void **state)
{
	FILE *file = open_vectors();
	struct vector vector;
	size_t vectors = 0, row = 0;
	(void)state;
	for (; next_vector(file, &vector); vectors++) {
		for (size_t at = 0; at < vector.count; row++) {
			assert_in_range(row, 0, COUNT(meanings) - 1);
			assert_string_equal(meanings[row].vector, vector.name);
			size_t count = words_of(vector.words + at);
			assert_in_range(count, 1, vector.count - at);
			expect_meaning(&meanings[row], vector.words + at, count, false);
			expect_meaning(&meanings[row], vector.words + at, count, true);
			at += count;
		}
	}
	fclose(file);
	assert_int_equal(vectors, VECTORS);
	assert_int_equal(row, COUNT(meanings));
}

/* One bit turned over, anywhere in a record; and fewer words than it has. */
static void test_measure_of_mutations(void **state)
{
	FILE *file = open_vectors();
	struct vector vector;
	uint8_t bytes[8 * WORDS_MAX];
	(void)state;
	while (next_vector(file, &vector)) {
		lay_out(NULL, vector.words, vector.count, false, bytes);
		for (size_t bit = 0; bit < 64 * vector.count; bit++) {
			bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
			expect_measure(bytes, vector.count, false);
			bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
		}
		for (size_t words = 1; words <= vector.count; words++)
			expect_measure(bytes, words, false);
	}
	fclose(file);
}

/* Whatever the first byte of the size says. */
static void test_measure_of_sizes(void **state)
{
	FILE *file = open_vectors();
	struct vector vector;
	uint8_t bytes[8 * WORDS_MAX];
	(void)state;
	while (next_vector(file, &vector)) {
		memset(bytes, 0, sizeof bytes);
		lay_out(NULL, vector.words, vector.count, true, bytes);
		for (uint64_t size = 0; size < WORDS_MAX; size++) {
			tw_store64(bytes, (vector.words[0] & ~UINT64_C(0xfff0)) | size << 4, true);
			expect_measure(bytes, WORDS_MAX, true);
		}
	}
	fclose(file);
}

static void test_magic(void **state)
{
	static const uint8_t little[8] = {0x10, 0x00, 0x04, 0x46, 0x78, 0x54, 0x16, 0x00};
	static const uint8_t large[8] = {0x00, 0x16, 0x54, 0x78, 0x46, 0x04, 0x00, 0x10};
	uint8_t other[8];
	bool big = true;
	(void)state;
	assert_int_equal(tw_fxt_magic(little, &big), 0);
	assert_false(big);
	assert_int_equal(tw_fxt_magic(large, &big), 0);
	assert_true(big);
	for (size_t i = 0; i < sizeof other; i++) {
		memcpy(other, little, sizeof other);
		other[i] ^= 1;
		assert_int_equal(tw_fxt_magic(other, &big), TW_ERR_FORMAT);
	}
}

static void test_kind_names(void **state)
{
	(void)state;
	assert_string_equal(tw_fxt_kind_name(TW_FXT_UNKNOWN), "unknown");
	assert_string_equal(tw_fxt_kind_name(TW_FXT_LARGE_BLOB), "large-blob");
	assert_string_equal(tw_fxt_kind_name(TW_FXT_THREAD_WAKEUP), "scheduling.thread-wakeup");
	assert_null(tw_fxt_kind_name(TW_FXT_KINDS));
}

/* ---- The table of kinds. ---- */

/* The bits of a header that say something: its type, size and subtype, and those of fields. */
static uint64_t used_bits(enum tw_fxt_kind kind, unsigned type, const struct fxt_record_field *field)
{
	uint64_t bits = type == TW_FXT_TYPE_LARGE ? FXT_BITS(0, 35) : FXT_BITS(0, 15);
	if (fxt_subtype_bit(type))
		bits |= (uint64_t)0xf << fxt_subtype_bit(type);
	for (; kind != TW_FXT_MAGIC && field->form; field++)
		if (field->low < 64 && field->high)
			bits |= FXT_BITS(field->low, field->high);
	return kind == TW_FXT_MAGIC ? UINT64_MAX : bits;
}

static void test_reserved_bits_are_of_no_field(void **state)
{
	(void)state;
	static const uint8_t types[TW_FXT_KINDS] = {
#define X(name, type, subtype, text) [name] = type,
	    TW_FXT_KIND_LIST(X)
#undef X
	};
	for (unsigned kind = TW_FXT_UNKNOWN + 1; kind < TW_FXT_KINDS; kind++)
		assert_int_equal(fxt_record_kinds[kind].reserved,
		                 ~used_bits((enum tw_fxt_kind)kind, types[kind], fxt_record_kinds[kind].fields));
}

/* The words of an event in the list of events are those of its fields. */
static void test_words_of_events(void **state)
{
	(void)state;
	static const uint8_t words[] = {
#define X(type, row, call, last) FXT_EVENT_WORDS(last),
	    FXT_EVENT_LIST(X)
#undef X
	};
	for (unsigned type = 0; type < FXT_EVENT_TYPES; type++) {
		unsigned count = 1;
		for (const struct fxt_record_field *field = fxt_record_kinds[TW_FXT_INSTANT + type].fields; field->form;
		     field++)
			count += field->form == FXT_FIELD_WORD;
		assert_int_equal(count, words[type]);
	}
}

SUITE(fxt_records)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_vectors),          cmocka_unit_test(test_measure_of_mutations),
	    cmocka_unit_test(test_measure_of_sizes), cmocka_unit_test(test_magic),
	    cmocka_unit_test(test_kind_names),       cmocka_unit_test(test_reserved_bits_are_of_no_field),
	    cmocka_unit_test(test_words_of_events),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
