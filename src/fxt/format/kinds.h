/* kinds.h - the one table of FXT: its types of event, its types of argument, and the fields of each kind of record.
 * Everything that needs the shape of a record takes it from here. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FXT_FORMAT_KINDS_H
#define FXT_FORMAT_KINDS_H

#include <trackway/event.h>
#include <trackway/fxt.h>
#include <trackway/reader.h>

/* Bits low to high (both in), for tables. */
#define FXT_BITS(low, high) ((UINT64_MAX >> (63 - ((high) - (low)))) << (low))

enum { FXT_TYPES = 16 }; /* of anything whose type has 4 bits */

/* ---- Events. ---- */

/* The word behind the arguments of an event. */
enum fxt_last {
	FXT_LAST_NONE,
	FXT_LAST_SCOPE, /* may be absent: the engine writes it, the document does not tell of it */
	FXT_LAST_COUNTER_ID,
	FXT_LAST_END_TIME,
	FXT_LAST_CORRELATION_ID
};

/* What an event is of a call. */
enum fxt_call_part { FXT_NO_CALL, FXT_CALL_BEGIN, FXT_CALL_END, FXT_CALL_COMPLETE };

/* The types of event, bits 16 to 19 of the header: the document, "Event record". All have the time as second word, the
 * thread in bits 24 to 31, category and name in bits 32 and 48, and in bits 20 to 23 how many arguments they have.
 *
 * X(type, kind of row, part of a call, last word) */
#define FXT_EVENT_LIST(X)                                                                                              \
	X(FXT_INSTANT, TW_INSTANT, FXT_NO_CALL, FXT_LAST_SCOPE)                                                        \
	X(FXT_COUNTER, TW_COUNTER, FXT_NO_CALL, FXT_LAST_COUNTER_ID)                                                   \
	X(FXT_BEGIN, TW_SLICE_BEGIN, FXT_CALL_BEGIN, FXT_LAST_NONE)                                                    \
	X(FXT_END, TW_SLICE_END, FXT_CALL_END, FXT_LAST_NONE)                                                          \
	X(FXT_COMPLETE, TW_SLICE_COMPLETE, FXT_CALL_COMPLETE, FXT_LAST_END_TIME)                                       \
	X(FXT_ASYNC_BEGIN, TW_ASYNC_BEGIN, FXT_NO_CALL, FXT_LAST_CORRELATION_ID)                                       \
	X(FXT_ASYNC_INSTANT, TW_ASYNC_INSTANT, FXT_NO_CALL, FXT_LAST_CORRELATION_ID)                                   \
	X(FXT_ASYNC_END, TW_ASYNC_END, FXT_NO_CALL, FXT_LAST_CORRELATION_ID)                                           \
	X(FXT_FLOW_BEGIN, TW_FLOW_BEGIN, FXT_NO_CALL, FXT_LAST_CORRELATION_ID)                                         \
	X(FXT_FLOW_STEP, TW_FLOW_STEP, FXT_NO_CALL, FXT_LAST_CORRELATION_ID)                                           \
	X(FXT_FLOW_END, TW_FLOW_END, FXT_NO_CALL, FXT_LAST_CORRELATION_ID)

enum fxt_event_type {
#define X(type, row, call, last) type,
	FXT_EVENT_LIST(X)
#undef X
	    FXT_EVENT_TYPES
};

/* The kind of row of each type of event. */
extern const uint8_t fxt_event_kinds[FXT_TYPES];

/* Words of an event without koids, texts and arguments; an instant may have one more. For tables. */
#define FXT_EVENT_WORDS(last) ((last) > FXT_LAST_SCOPE ? 3 : 2)

/* ---- Arguments. ---- */

/* Where the value of an argument stands. */
enum fxt_value {
	FXT_VALUE_UNKNOWN,
	FXT_VALUE_NONE,
	FXT_VALUE_SIGNED, /* bits 32 to 63 of the header */
	FXT_VALUE_UPPER,  /* the same, without a sign */
	FXT_VALUE_BIT,    /* bit 32 */
	FXT_VALUE_WORD,   /* a word */
	FXT_VALUE_TEXT,   /* a string reference in bits 32 to 47 */
	FXT_VALUE_BYTES   /* bytes, as many as bits 32 to 63 say */
};

/* The types of argument: the document, "Argument Types".
 *
 * X(type, name, type in events, where its value stands, how it is shown, reserved bits of the header) */
#define FXT_ARGUMENT_LIST(X)                                                                                           \
	X(TW_FXT_ARG_NULL, "null", TW_ARG_NULL, FXT_VALUE_NONE, TW_FIELD_NULL, FXT_BITS(32, 63))                       \
	X(TW_FXT_ARG_INT32, "int32", TW_ARG_INT, FXT_VALUE_SIGNED, TW_FIELD_INT, 0)                                    \
	X(TW_FXT_ARG_UINT32, "uint32", TW_ARG_UINT, FXT_VALUE_UPPER, TW_FIELD_UINT, 0)                                 \
	X(TW_FXT_ARG_INT64, "int64", TW_ARG_INT, FXT_VALUE_WORD, TW_FIELD_INT, FXT_BITS(32, 63))                       \
	X(TW_FXT_ARG_UINT64, "uint64", TW_ARG_UINT, FXT_VALUE_WORD, TW_FIELD_UINT, FXT_BITS(32, 63))                   \
	X(TW_FXT_ARG_DOUBLE, "double", TW_ARG_DOUBLE, FXT_VALUE_WORD, TW_FIELD_DOUBLE, FXT_BITS(32, 63))               \
	X(TW_FXT_ARG_STRING, "string", TW_ARG_TEXT, FXT_VALUE_TEXT, TW_FIELD_TEXT, FXT_BITS(48, 63))                   \
	X(TW_FXT_ARG_POINTER, "pointer", TW_ARG_POINTER, FXT_VALUE_WORD, TW_FIELD_HEX, FXT_BITS(32, 63))               \
	X(TW_FXT_ARG_KOID, "koid", TW_ARG_KOID, FXT_VALUE_WORD, TW_FIELD_UINT, FXT_BITS(32, 63))                       \
	X(TW_FXT_ARG_BOOL, "bool", TW_ARG_BOOL, FXT_VALUE_BIT, TW_FIELD_BOOL, FXT_BITS(33, 63))                        \
	X(TW_FXT_ARG_BLOB, "blob", TW_ARG_BYTES, FXT_VALUE_BYTES, TW_FIELD_BYTES, 0)

/* Words of an argument without texts and bytes. For tables. */
#define FXT_ARGUMENT_WORDS(value) ((value) == FXT_VALUE_WORD ? 2 : 1)

/* An argument by its type. Of an unknown type all is 0 but the name. */
struct fxt_argument_kind {
	const char *name;
	uint8_t type;  /* enum tw_argument_type */
	uint8_t words; /* without texts and bytes */
	enum fxt_value value;
	enum tw_field_type shown;
	uint64_t reserved;
};

extern const struct fxt_argument_kind fxt_argument_kinds[FXT_TYPES];

/* ---- Records. ---- */

/* What a field is. Those in bits have them in the header, or from bit 64 on in the second header of a large blob; what
 * goes with them stands among the words, in the order of the fields. */
enum fxt_field_form {
	FXT_FIELDS_END,
	FXT_FIELD_BITS,      /* a number in bits */
	FXT_FIELD_WORD,      /* a word */
	FXT_FIELD_STRING,    /* a string reference in bits */
	FXT_FIELD_THREAD,    /* a thread index in bits; 0: both koids are words */
	FXT_FIELD_PROCESS,   /* the same; 0: some writers give both koids, some that of the process alone */
	FXT_FIELD_NAME,      /* a text without a reference: its length in bits */
	FXT_FIELD_PAYLOAD,   /* bytes: their number in bits */
	FXT_FIELD_ADDRESSES, /* words: their number in bits */
	FXT_FIELD_ARGUMENTS, /* arguments: their number in bits */
	FXT_FIELD_SCOPE,     /* the scope of an instant, if there is a word left */
	FXT_FIELD_BASE,      /* ticks at a wall time, and that time, if there are two words left */
	FXT_FIELD_SECOND,    /* the second header of a large blob */
	FXT_FIELD_LARGE,     /* a word with a number of bytes, and so many: they may be more than memory */
	FXT_FIELD_REST       /* all there is: nothing of it is known */
};

/* A field of a record. */
struct fxt_record_field {
	uint8_t form; /* enum fxt_field_form */
	uint8_t low, high;
	uint8_t member_size; /* of the member of struct tw_fxt_record that holds it, and its place in it */
	uint16_t member;
	uint8_t shown;        /* enum tw_field_type */
	const char *fault;    /* what is missing where it does not fit */
	const char *names[3]; /* as it is shown; of a string and its reference, of a thread and its reference */
};

/* The kind of a record. */
struct fxt_record_kind {
	const struct fxt_record_field *fields;
	uint64_t reserved; /* bits of the header that must be 0; of unknown records none that we know of */
	bool timed;        /* the second word is its time */
	bool has_process;  /* it has an FXT_FIELD_PROCESS */
	bool wide;         /* of which most writers give both koids */
};

extern const struct fxt_record_kind fxt_record_kinds[TW_FXT_KINDS];

/* Kinds by type and subtype; TW_FXT_UNKNOWN where there is none. */
extern const uint8_t fxt_kinds_by_type[FXT_TYPES][FXT_TYPES];

/* The fields of a record. format: that of a large blob. */
const struct fxt_record_field *fxt_fields(enum tw_fxt_kind kind, uint64_t format);

/* Whether records of other providers need those of a type: what turns to a provider and its clock, and objects, which
 * name things of all. */
static inline bool fxt_is_needed(unsigned type)
{
	return type < TW_FXT_TYPE_EVENT || type == TW_FXT_TYPE_USERSPACE_OBJECT || type == TW_FXT_TYPE_KERNEL_OBJECT;
}

#endif
