/* parse.h - JSON text in memory: values, the members of an event, strings and numbers. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CHROME_PARSE_H
#define CHROME_PARSE_H

#include "core/format.h"

#include <locale.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum chrome_type {
	CHROME_NOTHING,
	CHROME_STRING,
	CHROME_NUMBER,
	CHROME_OBJECT,
	CHROME_ARRAY,
	CHROME_TRUE,
	CHROME_FALSE,
	CHROME_NULL,
	CHROME_NAN,
	CHROME_INFINITY,
	CHROME_MINUS_INFINITY
};

/* A value as it is written: strings without their quotes, the others whole. */
struct chrome_value {
	const uint8_t *bytes;
	size_t size;
	uint8_t type; /* enum chrome_type */
	bool escaped; /* strings: has backslashes */
	bool deep;    /* something in it is nested too deep: only its members may be taken, one by one */
};

/* The number of the first process or thread that is a text: no system gives such out. */
enum { CHROME_FIRST_WORD = 0x70000000 };

/* tw_raw_text.marks. */
enum {
	CHROME_IN_SYSTEM = 1, /* an event of Fuchsia's "systemTraceEvents" */
	CHROME_KNOWS_CPU = 2  /* tw_event.cpu is known: the event tells it, or one before */
};

enum { CHROME_DEPTH = 128 }; /* levels of brackets in one event */

/* What a strict parser would refuse, reported once each. */
enum chrome_oddity {
	CHROME_ODD_COMMA = 1,   /* a comma before a closing bracket, or none between events */
	CHROME_ODD_CONTROL = 2, /* a control character in a string */
	CHROME_ODD_CONSTANT = 4,
	CHROME_ODD_ESCAPE = 8
};

/* Bytes that are being read. `at` moves; after CHROME_BAD it is the guilty byte. */
struct chrome_scan {
	const uint8_t *at, *end;
	const char *problem; /* what was expected */
	unsigned odd;        /* enum chrome_oddity */
	unsigned depth;      /* levels that are around it */
	bool too_deep;
};

enum chrome_status { CHROME_BAD = -1, CHROME_MORE = 0, CHROME_GOOD = 1 }; /* more: the bytes end inside */

/* Reads a value, whatever is in it, from its first byte; white space before it is skipped. */
enum chrome_status chrome_scan_value(struct chrome_scan *scan, struct chrome_value *value);

/* Reads a key and its colon; white space before it is skipped. */
enum chrome_status chrome_scan_key(struct chrome_scan *scan, struct chrome_value *key);

/* Walks an object that chrome_scan_value() has seen whole: to begin, scan over value.bytes + 1. False at its end. */
bool chrome_next_member(struct chrome_scan *scan, struct chrome_value *key, struct chrome_value *value);

/* X(enumerator, key): the members of events that mean something. */
#define CHROME_MEMBER_LIST(X)                                                                                          \
	X(PH, "ph")                                                                                                    \
	X(NAME, "name")                                                                                                \
	X(CAT, "cat")                                                                                                  \
	X(TS, "ts")                                                                                                    \
	X(DUR, "dur")                                                                                                  \
	X(PID, "pid")                                                                                                  \
	X(TID, "tid")                                                                                                  \
	X(ARGS, "args")                                                                                                \
	X(ID, "id")                                                                                                    \
	X(S, "s")                                                                                                      \
	X(ID2, "id2")                                                                                                  \
	X(SCOPE, "scope")                                                                                              \
	X(LOC, "loc")                                                                                                  \
	X(CPU, "cpu")                                                                                                  \
	X(OUT, "out")                                                                                                  \
	X(IN, "in")                                                                                                    \
	X(MESSAGE, "message")                                                                                          \
	X(BP, "bp")                                                                                                    \
	X(TTS, "tts")                                                                                                  \
	X(TDUR, "tdur")                                                                                                \
	X(PRIO, "prio")                                                                                                \
	X(BIND_ID, "bind_id")                                                                                          \
	X(FLOW_IN, "flow_in")                                                                                          \
	X(FLOW_OUT, "flow_out")                                                                                        \
	X(SF, "sf")                                                                                                    \
	X(STACK, "stack")

enum chrome_member {
#define X(id, key) CHROME_##id,
	CHROME_MEMBER_LIST(X)
#undef X
	    CHROME_MEMBERS
};

enum { CHROME_OTHERS = 16 };

/* An event as it is written. */
struct chrome_item {
	const uint8_t *deep; /* a value that is nested too deep, and taken for none; NULL: there is none */
	uint64_t offset;
	struct tw_line_place line;
	uint64_t lost;        /* bytes: it is no event but a gap */
	const uint8_t *bytes; /* the whole event */
	size_t size;
	unsigned odd; /* enum chrome_oddity */
	struct chrome_value values[CHROME_MEMBERS];
	struct chrome_value others[CHROME_OTHERS]; /* keys of members that are not in the list: the first of them */
	unsigned other_count;
};

/* Reads an event from its bracket on: fills the values, those that are not there have type CHROME_NOTHING. What has
 * been seen before the end is filled in when it does not return CHROME_GOOD too. */
enum chrome_status chrome_scan_event(struct chrome_scan *scan, struct chrome_item *item);

/* The phase that a string with escapes is; '\0' where it is not one character. */
char chrome_escaped_phase(const struct chrome_value *value);

/* The phase, or '\0' where the event has none of one character. */
static inline char chrome_phase_of(const struct chrome_item *item)
{
	const struct chrome_value *phase = &item->values[CHROME_PH];
	if (phase->type == CHROME_STRING && phase->escaped)
		return chrome_escaped_phase(phase);
	if (phase->type != CHROME_STRING || phase->size != 1)
		return '\0';
	return (char)phase->bytes[0];
}

bool chrome_is(const struct chrome_value *value, const char *text);

/* Whether a key is one of those that events have. */
bool chrome_is_member(const struct chrome_value *key);

/* Writes a string without its escapes to `out`, which has room for value->size bytes; lone surrogates become U+FFFD.
 * Returns the size, and adds CHROME_ODD_ESCAPE to *odd where it is due. */
size_t chrome_unescape(const struct chrome_value *value, uint8_t *out, unsigned *odd);

/* ---- Numbers. ---- */

/* ns + rest / 10^9 nanoseconds, rounded down to that. */
struct chrome_exact_time {
	int64_t ns;
	uint32_t rest; /* below 10^9 */
	bool wide;     /* did not fit: the nearest that does */
};

/* Microseconds of a number, or of a string that is one; false when it is none. Exact to 12 decimals. */
bool chrome_micros(const struct chrome_value *value, struct chrome_exact_time *time);

/* A whole number; negative ones as two's complement, fractions cut off. False when it is none, or not in 64 bits. */
bool chrome_integer(const struct chrome_value *value, uint64_t *number);

/* The same for an id, which may be a text of hexadecimal digits behind 0x. */
bool chrome_id_number(const struct chrome_value *value, uint64_t *number);

/* The number that a value is, or that a string is; false when it is none. */
bool chrome_number(const struct chrome_value *value, struct chrome_value *number);

/* Whether a number is written without point and exponent. */
bool chrome_is_whole(const struct chrome_value *value);

/* The double next to a number; false when it is written too long. c: the locale "C". */
bool chrome_double(const struct chrome_value *value, locale_t c, double *number);

/* White space of JSON. */
static inline bool chrome_is_space(uint8_t c)
{
	return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

#endif
