/* fxt.h - Fuchsia's trace format, record by record.
 *
 * Sources: Fuchsia's page "Trace format" (called "the document" here) and what real writers and readers do beyond it:
 * Fuchsia's trace engine ("the engine"), its newest sources (the profiler records), magic-trace (the longer
 * initialization record). doc/formats/fxt.md, in the sources, tells the whole format. Nothing here allocates, does I/O
 * or keeps globals. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRACKWAY_FXT_H
#define TRACKWAY_FXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <trackway/status.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
	TW_FXT_WORD = 8,              /* bytes; every record is a whole number of words */
	TW_FXT_RECORD_MAX = 4095,     /* words of a record that is not large: 12 bits */
	TW_FXT_ARGUMENTS_MAX = 15,    /* of a record: 4 bits */
	TW_FXT_STRING_MAX = 32000,    /* bytes: the document, "String References" */
	TW_FXT_STRINGS_MAX = 32767,   /* indices 1 to this */
	TW_FXT_THREADS_MAX = 255,     /* indices 1 to this */
	TW_FXT_STRING_INLINE = 0x8000 /* set in a reference whose low 15 bits are a length */
};

/* The first word of an archive: the document, "Magic number record". */
#define TW_FXT_MAGIC_WORD UINT64_C(0x0016547846040010)

/* The types of record, bits 0 to 3 of the header. */
enum tw_fxt_type {
	TW_FXT_TYPE_METADATA = 0,
	TW_FXT_TYPE_INITIALIZATION = 1,
	TW_FXT_TYPE_STRING = 2,
	TW_FXT_TYPE_THREAD = 3,
	TW_FXT_TYPE_EVENT = 4,
	TW_FXT_TYPE_BLOB = 5,
	TW_FXT_TYPE_USERSPACE_OBJECT = 6,
	TW_FXT_TYPE_KERNEL_OBJECT = 7,
	TW_FXT_TYPE_SCHEDULING = 8,
	TW_FXT_TYPE_LOG = 9,
	TW_FXT_TYPE_PROFILER = 10, /* the newest Fuchsia sources; not in the document */
	TW_FXT_TYPE_LARGE = 15
};

/* The kinds of record that the decoder tells apart. `type` is the record type, `subtype` the metadata, event,
 * scheduling, profiler type or the blob format.
 *
 * X(name, type, subtype, text) */
#define TW_FXT_KIND_LIST(X)                                                                                            \
	X(TW_FXT_UNKNOWN, 0, 0, "unknown") /* any type or subtype that is not in this list */                          \
	X(TW_FXT_PROVIDER_INFO, 0, 1, "provider-info")                                                                 \
	X(TW_FXT_PROVIDER_SECTION, 0, 2, "provider-section")                                                           \
	X(TW_FXT_PROVIDER_EVENT, 0, 3, "provider-event")                                                               \
	X(TW_FXT_MAGIC, 0, 4, "magic")                                                                                 \
	X(TW_FXT_INITIALIZATION, 1, 0, "initialization")                                                               \
	X(TW_FXT_STRING, 2, 0, "string")                                                                               \
	X(TW_FXT_THREAD, 3, 0, "thread")                                                                               \
	X(TW_FXT_INSTANT, 4, 0, "event.instant")                                                                       \
	X(TW_FXT_COUNTER, 4, 1, "event.counter")                                                                       \
	X(TW_FXT_DURATION_BEGIN, 4, 2, "event.duration-begin")                                                         \
	X(TW_FXT_DURATION_END, 4, 3, "event.duration-end")                                                             \
	X(TW_FXT_DURATION_COMPLETE, 4, 4, "event.duration-complete")                                                   \
	X(TW_FXT_ASYNC_BEGIN, 4, 5, "event.async-begin")                                                               \
	X(TW_FXT_ASYNC_INSTANT, 4, 6, "event.async-instant")                                                           \
	X(TW_FXT_ASYNC_END, 4, 7, "event.async-end")                                                                   \
	X(TW_FXT_FLOW_BEGIN, 4, 8, "event.flow-begin")                                                                 \
	X(TW_FXT_FLOW_STEP, 4, 9, "event.flow-step")                                                                   \
	X(TW_FXT_FLOW_END, 4, 10, "event.flow-end")                                                                    \
	X(TW_FXT_BLOB, 5, 0, "blob")                                                                                   \
	X(TW_FXT_USERSPACE_OBJECT, 6, 0, "userspace-object")                                                           \
	X(TW_FXT_KERNEL_OBJECT, 7, 0, "kernel-object")                                                                 \
	X(TW_FXT_LEGACY_CONTEXT_SWITCH, 8, 0, "scheduling.legacy-context-switch")                                      \
	X(TW_FXT_CONTEXT_SWITCH, 8, 1, "scheduling.context-switch")                                                    \
	X(TW_FXT_THREAD_WAKEUP, 8, 2, "scheduling.thread-wakeup")                                                      \
	X(TW_FXT_LOG, 9, 0, "log")                                                                                     \
	X(TW_FXT_PROFILER_MODULE, 10, 0, "profiler.module")                                                            \
	X(TW_FXT_PROFILER_MMAP, 10, 1, "profiler.mmap")                                                                \
	X(TW_FXT_PROFILER_BACKTRACE, 10, 2, "profiler.backtrace")                                                      \
	X(TW_FXT_LARGE_BLOB, 15, 0, "large-blob")

enum tw_fxt_kind {
#define X(name, type, subtype, text) name,
	TW_FXT_KIND_LIST(X)
#undef X
	    TW_FXT_KINDS
};

/* Returns the name of a kind as TW_FXT_KIND_LIST has it, NULL for a number that is none. */
TW_API const char *tw_fxt_kind_name(unsigned kind);

/* A string: the document, "String References". Reference 0 is the empty string; with bit 15 the text stands in the
 * record (bytes, length; a length of 0 is read, too); otherwise an index of the string table, and bytes is NULL. */
struct tw_fxt_string {
	uint16_t reference;
	uint16_t length;      /* of an inline text in bytes, otherwise 0 */
	const uint8_t *bytes; /* into the record; not terminated, not checked to be UTF-8 */
};

/* A thread: the document, "Thread References". Index 0: the koids stand in the record. */
struct tw_fxt_thread {
	uint8_t index;
	uint64_t process, thread; /* koids; only with index 0 (and of thread records) */
};

/* The types of argument, bits 0 to 3 of its header: the document, "Argument Types". */
enum tw_fxt_argument_type {
	TW_FXT_ARG_NULL,
	TW_FXT_ARG_INT32,
	TW_FXT_ARG_UINT32,
	TW_FXT_ARG_INT64,
	TW_FXT_ARG_UINT64,
	TW_FXT_ARG_DOUBLE,
	TW_FXT_ARG_STRING,
	TW_FXT_ARG_POINTER,
	TW_FXT_ARG_KOID,
	TW_FXT_ARG_BOOL,
	TW_FXT_ARG_BLOB
};

/* One argument. */
struct tw_fxt_argument {
	uint8_t type; /* enum tw_fxt_argument_type, or another number: unknown */
	struct tw_fxt_string name;
	union {
		int64_t i; /* int32, int64 */
		/* uint32, uint64, pointer, koid, bool (0 or 1), the upper half of an unknown type's header. */
		uint64_t u;
		double d;
	} value;
	struct tw_fxt_string text; /* string */
	const uint8_t *bytes;      /* blob: the payload; unknown type: all that follows the name */
	uint32_t size;             /* of bytes */
	uint32_t trailing_size;    /* in bytes */
	const uint8_t *trailing;   /* words behind the value that the argument's size takes in: kept */
};

/* One record. Which members hold something depends on the kind; the others are 0. Pointers lead into the input
 * bytes. */
struct tw_fxt_record {
	enum tw_fxt_kind kind;
	uint8_t type;    /* bits 0 to 3 of the header */
	uint8_t subtype; /* metadata, event, scheduling, profiler type; large: the large type */
	uint64_t size;   /* in bytes, with payload and padding */
	uint64_t header; /* as found */
	uint64_t time;   /* ticks: events, scheduling, log, profiler, large blob with metadata */
	uint64_t end;    /* duration-complete: ticks */
	/* Counter: its id; async, flow: the correlation id; userspace object: pointer; kernel object: koid;
	 * initialization: ticks per second; provider records: provider id; profiler: module id. */
	uint64_t id;
	uint16_t index; /* string and thread records: the index that is set */
	/* Events, log, userspace object (process alone matters), thread records (the koids), profiler, large blob
	 * with metadata, legacy context switch: the outgoing thread; context switch: thread.thread is the outgoing
	 * thread; wake-up: the waking one. */
	struct tw_fxt_thread thread;
	struct tw_fxt_thread incoming; /* context switches */
	struct tw_fxt_string category; /* events, large blob */
	/* Events, blobs, objects; provider info, module: bytes and length, reference unused. */
	struct tw_fxt_string name;
	uint16_t cpu;                                 /* scheduling */
	uint8_t state;                                /* context switches: what the outgoing thread becomes */
	uint8_t outgoing_priority, incoming_priority; /* legacy context switch */
	/* Kernel object: ZX_OBJ_TYPE_..; blob: the blob type; provider event: the event; mmap: flags. */
	uint8_t object_type;
	uint8_t format; /* large blob: 0 with metadata, 1 without */
	bool has_scope; /* instant: a scope word stands behind the arguments, as the engine writes it */
	/* Userspace object, profiler: with index 0, two words (process, thread) stand there, not one. */
	bool wide_process;
	uint64_t scope; /* 0 thread, 1 process, 2 global */
	/* Initialization of 4 words: ticks at a wall time, and that time (ns since 1970). */
	uint64_t base_ticks, base_ns;
	bool has_base;
	uint64_t mmap_start, mmap_range, mmap_address;
	uint32_t flags; /* backtrace: bits 36 to 63 */
	/* String and log: the text; blobs: the bytes; module: the build id; backtrace: the addresses as words in the
	 * archive's byte order; unknown: all that follows the header. */
	const uint8_t *payload;
	uint64_t payload_size;   /* in bytes; of a blob cut off by the end of the bytes given: what the record says */
	uint64_t payload_here;   /* of these, how many are in the bytes given: less only for large blobs */
	const uint8_t *trailing; /* words behind all that the document knows: extensions, kept */
	uint64_t trailing_size;  /* in bytes; trailing is NULL when not all of a large record is here */
	bool padded;             /* some padding byte is not 0 */
	bool reserved;           /* some reserved bit is not 0 */
	bool as_found;           /* tw_fxt_next() gave the record: it may be encoded with what is wrong in it */
	uint8_t argument_count;
	struct tw_fxt_argument arguments[TW_FXT_ARGUMENTS_MAX]; /* those beyond argument_count stay as they were */
};

/* Where in an archive the decoder stands. Set up: bytes, left, big; the rest is 0. */
struct tw_fxt_decoder {
	const uint8_t *bytes; /* the next record */
	size_t left;
	bool big;          /* the archive's words are big endian */
	uint64_t need;     /* after TW_ERR_ROOM: bytes that the record takes */
	size_t at;         /* after TW_ERR_VALUE or TW_ERR_FORMAT: where in the record the guilty byte is */
	const char *fault; /* after TW_ERR_VALUE or TW_ERR_FORMAT: what was expected there, a constant */
};

/* Tells the byte order from the first word of an archive: returns 0 and sets *big when it is the magic number in either
 * order, otherwise TW_ERR_FORMAT (archives without magic exist, and are little endian as far as anyone knows). */
TW_API int tw_fxt_magic(const uint8_t bytes[TW_FXT_WORD], bool *big);

/* Decodes the next record. Returns 1 and moves on; 0 at the end of the bytes; TW_ERR_ROOM when the record goes beyond
 * the bytes (decoder->need says what it takes); TW_ERR_FORMAT when its header cannot be that of a record (size 0);
 * TW_ERR_VALUE when its size is right but what it holds does not fit in it (decoder->at and fault say where and what).
 * On failure the decoder has not moved, and *record holds kind, type, subtype, size and header where they are known.
 * A large record (a blob, or one of an unknown large type) is decoded as soon as all that precedes its payload is
 * there: until then TW_ERR_ROOM, and decoder->need is what the next step takes. The decoder then moves to the end of
 * the record or of the bytes, whichever comes first. */
TW_API int tw_fxt_next(struct tw_fxt_decoder *decoder, struct tw_fxt_record *record);

/* Encodes a record into the `room` bytes at out, big endian where `big` is true; TW_FXT_RECORD_MAX words are enough for
 * every record that is not large. Padding and reserved bits are 0. Header, size, type and subtype need not be
 * set, but for the kind TW_FXT_UNKNOWN, whose header is written as it is with the right size. Words that are kept as
 * they were found (trailing words, unknown records and arguments, the addresses of backtraces) are not turned to
 * another byte order. Large records whose payload is NULL are encoded up to their payload: payload_size bytes, padding
 * to a word and trailing_size bytes must follow. So for a decoded record of which not all of the payload is here, set
 * payload to NULL first.
 * Returns 0 and *size, the bytes written; TW_ERR_ROOM when room is too small (*size: what it takes); TW_ERR_VALUE
 * for what no record can hold (a text of more than 32,767 bytes, an index out of range, more than 15 arguments,
 * more than 4,095 words), and for a text that would be lost: its reference is an index, or tells another length than
 * `length` (TW_FXT_STRING_INLINE alone tells none). An inline text without a byte (reference 0 is the empty string),
 * and a duration that ends before it begins, are TW_ERR_VALUE, too, unless record->as_found is set: what tw_fxt_next()
 * gave is encoded as it was. */
TW_API int tw_fxt_encode(const struct tw_fxt_record *record, bool big, uint8_t *out, size_t room, size_t *size);

#ifdef __cplusplus
}
#endif

#endif
