/* kinds.c - the one table of FXT: the fields of each kind of record, in the order of their words. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "fxt/format/kinds.h"

#include "fxt/format/rules.h"

#include <stddef.h>

/* ---- Fields. ---- */

/* clang-format off */
#define FORM(name) .form = FXT_FIELD_##name
#define AT(bit, width) .low = (bit), .high = (bit) + (width) - 1
#define IN(to) .member = offsetof(struct tw_fxt_record, to), .member_size = sizeof(((struct tw_fxt_record *)0)->to)
#define AS(type, ...) .shown = TW_FIELD_##type, .names = {__VA_ARGS__}
#define THREAD_NAMES(before) AS(UINT, before "process", before "thread", before "thread_ref")

#define BITS(bit, width, to, name) {FORM(BITS), AT(bit, width), IN(to), AS(UINT, name)}
#define WORD(to, name, expected) {FORM(WORD), IN(to), AS(UINT, name), .fault = expected}
#define HEX(to, name, expected) {FORM(WORD), IN(to), AS(HEX, name), .fault = expected}
#define STRING(bit, to, expected) {FORM(STRING), AT(bit, 16), IN(to), AS(TEXT, #to, #to "_ref"), .fault = expected}
#define NAME(bit, width, expected) {FORM(NAME), AT(bit, width), IN(name), AS(TEXT, "name"), .fault = expected}
#define PAYLOAD(bit, width, as, expected) {FORM(PAYLOAD), AT(bit, width), as, .fault = expected}
#define ARGUMENTS(bit) {FORM(ARGUMENTS), AT(bit, 4), AS(ARRAY, "arguments")}
#define PROCESS(bit) {FORM(PROCESS), AT(bit, 8), IN(thread), THREAD_NAMES(""), .fault = KOID}
#define KOID "the process that is given inline"
#define THREAD_AS(bit, to, before) {FORM(THREAD), AT(bit, 8), IN(to), THREAD_NAMES(before), .fault = KOIDS}
#define KOIDS "the process of a thread that is given inline"
#define TIME WORD(time, "timestamp", "a time")
#define THREAD(bit) THREAD_AS(bit, thread, "")
#define END {.form = FXT_FIELDS_END}
/* clang-format on */

static const struct fxt_record_field unknown[] = {{FORM(REST), AS(BYTES, "data")}, END};
static const struct fxt_record_field magic[] = {END};

/* ---- Metadata, tables. ---- */

#define PROVIDER BITS(20, 32, id, "provider_id")
static const struct fxt_record_field provider_info[] = {PROVIDER, NAME(52, 8, "the name of a provider"), END};
static const struct fxt_record_field provider_section[] = {PROVIDER, END};
static const struct fxt_record_field provider_event[] = {PROVIDER, BITS(52, 4, object_type, "event_id"), END};

/* magic-trace adds two words to the document's two. */
static const struct fxt_record_field initialization[] = {
    WORD(id, "ticks_per_second", "the ticks of a second"),
    {FORM(BASE), AS(UINT, "base_ticks", "base_time_ns")},
    END,
};

static const struct fxt_record_field string[] = {
    BITS(16, 15, index, "index"),
    PAYLOAD(32, 15, AS(TEXT, "value"), "the text of a string record"),
    END,
};

static const struct fxt_record_field thread[] = {
    BITS(16, 8, index, "index"),
    WORD(thread.process, "process", KOIDS),
    WORD(thread.thread, "thread", "the thread that is given inline"),
    END,
};

/* ---- Events, logs, blobs. ---- */

#define EVENT TIME, THREAD(24), STRING(32, category, "a category"), STRING(48, name, "a name"), ARGUMENTS(20)
static const struct fxt_record_field instant[] = {EVENT, {FORM(SCOPE), AS(UINT, "scope")}, END};
static const struct fxt_record_field counter[] = {EVENT, WORD(id, "counter_id", "the counter's id"), END};
static const struct fxt_record_field duration[] = {EVENT, END};
static const struct fxt_record_field complete[] = {EVENT, WORD(end, "end_time", "the time of the end"), END};
static const struct fxt_record_field async[] = {EVENT, WORD(id, "async_correlation_id", "a correlation id"), END};
static const struct fxt_record_field flow[] = {EVENT, WORD(id, "flow_correlation_id", "a correlation id"), END};

static const struct fxt_record_field log_record[] = {
    TIME,
    THREAD(32),
    PAYLOAD(16, 15, AS(TEXT, "message"), "the message of a log record"),
    END,
};

static const struct fxt_record_field blob[] = {
    STRING(16, name, "the name of a blob"),
    BITS(48, 8, object_type, "blob_type"),
    PAYLOAD(32, 15, AS(BYTES, "payload", "payload_size"), "the bytes of a blob"),
    END,
};

/* From bit 64 on those of the second header. */
#define SECOND                                                                                                         \
	BITS(40, 1, format, "blob_format"),                                                                            \
	{                                                                                                              \
		.form = FXT_FIELD_SECOND                                                                               \
	}
#define NAMES STRING(64, category, "a category"), STRING(80, name, "the name of a blob")
#define LARGE                                                                                                          \
	{                                                                                                              \
		FORM(LARGE), AS(BYTES, "payload", "payload_size")                                                      \
	}
static const struct fxt_record_field large_blob[] = {SECOND, NAMES, TIME, THREAD(100), ARGUMENTS(96), LARGE, END};
static const struct fxt_record_field large_blob_without_metadata[] = {SECOND, NAMES, LARGE, END};

/* ---- Scheduling, objects. ---- */

static const struct fxt_record_field legacy_switch[] = {
    TIME,
    BITS(16, 8, cpu, "cpu"),
    BITS(24, 4, state, "outgoing_thread_state"),
    THREAD_AS(28, thread, "outgoing_"),
    THREAD_AS(36, incoming, "incoming_"),
    BITS(44, 8, outgoing_priority, "outgoing_thread_priority"),
    BITS(52, 8, incoming_priority, "incoming_thread_priority"),
    END,
};

static const struct fxt_record_field context_switch[] = {
    TIME,
    BITS(20, 16, cpu, "cpu"),
    BITS(36, 4, state, "outgoing_thread_state"),
    WORD(thread.thread, "outgoing_thread", "the outgoing thread"),
    WORD(incoming.thread, "incoming_thread", "the incoming thread"),
    ARGUMENTS(16),
    END,
};

static const struct fxt_record_field wakeup[] = {
    TIME, BITS(20, 16, cpu, "cpu"), WORD(thread.thread, "waking_thread", "the waking thread"), ARGUMENTS(16), END,
};

#define OBJECT_NAME STRING(24, name, "the name of an object"), ARGUMENTS(40)
static const struct fxt_record_field userspace_object[] = {
    HEX(id, "pointer", "the pointer of an object"),
    PROCESS(16),
    OBJECT_NAME,
    END,
};

static const struct fxt_record_field kernel_object[] = {
    BITS(16, 8, object_type, "object_type"),
    WORD(id, "koid", "the koid of an object"),
    OBJECT_NAME,
    END,
};

/* ---- Profiler. ---- */

#define PROFILED TIME, PROCESS(20)
#define MODULE_ID BITS(28, 16, id, "module_id")

static const struct fxt_record_field module[] = {
    PROFILED,
    MODULE_ID,
    NAME(44, 8, "the name of a module"),
    PAYLOAD(52, 8, AS(BYTES, "build_id"), "the build id of a module"),
    END,
};

static const struct fxt_record_field mmap[] = {
    PROFILED,
    MODULE_ID,
    BITS(44, 3, object_type, "flags"),
    HEX(mmap_start, "start", "the start of a mapping"),
    HEX(mmap_range, "range", "the size of a mapping"),
    HEX(mmap_address, "vaddr", "the address of a mapping in its module"),
    END,
};

static const struct fxt_record_field backtrace[] = {
    PROFILED,
    BITS(36, 28, flags, "flags"),
    {FORM(ADDRESSES), AT(28, 8), AS(ARRAY, "pcs"), .fault = "as many addresses as the header says"},
    END,
};

/* ---- Kinds. ---- */

const struct fxt_record_kind fxt_record_kinds[TW_FXT_KINDS] = {
#define TIMED .timed = true
    [TW_FXT_UNKNOWN] = {.fields = unknown},
    [TW_FXT_PROVIDER_INFO] = {.fields = provider_info, .reserved = FXT_BITS(60, 63)},
    [TW_FXT_PROVIDER_SECTION] = {.fields = provider_section, .reserved = FXT_BITS(52, 63)},
    [TW_FXT_PROVIDER_EVENT] = {.fields = provider_event, .reserved = FXT_BITS(56, 63)},
    [TW_FXT_MAGIC] = {.fields = magic},
    [TW_FXT_INITIALIZATION] = {.fields = initialization, .reserved = FXT_BITS(16, 63)},
    [TW_FXT_STRING] = {.fields = string, .reserved = FXT_BITS(31, 31) | FXT_BITS(47, 63)},
    [TW_FXT_THREAD] = {.fields = thread, .reserved = FXT_BITS(24, 63)},
    [TW_FXT_INSTANT] = {.fields = instant, TIMED},
    [TW_FXT_COUNTER] = {.fields = counter, TIMED},
    [TW_FXT_DURATION_BEGIN] = {.fields = duration, TIMED},
    [TW_FXT_DURATION_END] = {.fields = duration, TIMED},
    [TW_FXT_DURATION_COMPLETE] = {.fields = complete, TIMED},
    [TW_FXT_ASYNC_BEGIN] = {.fields = async, TIMED},
    [TW_FXT_ASYNC_INSTANT] = {.fields = async, TIMED},
    [TW_FXT_ASYNC_END] = {.fields = async, TIMED},
    [TW_FXT_FLOW_BEGIN] = {.fields = flow, TIMED},
    [TW_FXT_FLOW_STEP] = {.fields = flow, TIMED},
    [TW_FXT_FLOW_END] = {.fields = flow, TIMED},
    [TW_FXT_BLOB] = {.fields = blob, .reserved = FXT_BITS(47, 47) | FXT_BITS(56, 63)},
    [TW_FXT_USERSPACE_OBJECT] = {.fields = userspace_object, .reserved = FXT_BITS(44, 63), .has_process = true},
    [TW_FXT_KERNEL_OBJECT] = {.fields = kernel_object, .reserved = FXT_BITS(44, 63)},
    [TW_FXT_LEGACY_CONTEXT_SWITCH] = {.fields = legacy_switch, TIMED},
    [TW_FXT_CONTEXT_SWITCH] = {.fields = context_switch, .reserved = FXT_BITS(40, 59), TIMED},
    [TW_FXT_THREAD_WAKEUP] = {.fields = wakeup, .reserved = FXT_BITS(36, 59), TIMED},
    [TW_FXT_LOG] = {.fields = log_record, .reserved = FXT_BITS(31, 31) | FXT_BITS(40, 63), TIMED},
    [TW_FXT_PROFILER_MODULE] =
	{.fields = module, .reserved = FXT_BITS(60, 63), TIMED, .has_process = true, .wide = true},
    [TW_FXT_PROFILER_MMAP] = {.fields = mmap, .reserved = FXT_BITS(47, 63), TIMED, .has_process = true, .wide = true},
    [TW_FXT_PROFILER_BACKTRACE] = {.fields = backtrace, TIMED, .has_process = true, .wide = true},
    [TW_FXT_LARGE_BLOB] = {.fields = large_blob, .reserved = FXT_BITS(41, 63)},
#undef TIMED
};

const uint8_t fxt_event_kinds[FXT_TYPES] = {
#define X(type, row, call, last) row,
    FXT_EVENT_LIST(X)
#undef X
};

const uint8_t fxt_kinds_by_type[FXT_TYPES][FXT_TYPES] = {
#define X(name, type, subtype, text) [type][subtype] = name,
    TW_FXT_KIND_LIST(X)
#undef X
};

const struct fxt_argument_kind fxt_argument_kinds[FXT_TYPES] = {
#define X(type, name, row, value, shown, reserved)                                                                     \
	[type] = {name, row, FXT_ARGUMENT_WORDS(value), value, shown, reserved},
    FXT_ARGUMENT_LIST(X)
#undef X
};

const struct fxt_record_field *fxt_fields(enum tw_fxt_kind kind, uint64_t format)
{
	return kind == TW_FXT_LARGE_BLOB && format ? large_blob_without_metadata : fxt_record_kinds[kind].fields;
}

/* ---- Rules. ---- */

const struct tw_rule fxt_rules[FXT_RULES] = {
#define X(id, name, severity, text) [id] = {name, severity, text},
    FXT_RULE_LIST(X)
#undef X
};
