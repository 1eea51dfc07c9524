/* json.h - writing JSON text to an output. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_TEXT_JSON_H
#define BASE_TEXT_JSON_H

#include "base/bytes/output.h"

/* A writer of one JSON value; all zero but `out` to begin. Commas are put where they belong. */
struct tw_json {
	struct tw_output *out;
	bool comma; /* the next value in this object or array needs one */
};

/* key is NULL inside an array and for the outermost value. */
void tw_json_object(struct tw_json *json, const char *key);
void tw_json_object_end(struct tw_json *json);
void tw_json_array(struct tw_json *json, const char *key);
void tw_json_array_end(struct tw_json *json);
void tw_json_text(struct tw_json *json, const char *key, const char *text); /* NULL text: null */
void tw_json_bytes(struct tw_json *json, const char *key, const char *bytes, size_t size);
/* A word of the system, as a path is: a byte that is no UTF-8 is \udc80 to \udcff (PEP 383). NULL word: null */
void tw_json_system(struct tw_json *json, const char *key, const char *word);
void tw_json_hex(struct tw_json *json, const char *key, const void *bytes,
                 size_t size); /* "00ff": bytes that are no text */
void tw_json_u64(struct tw_json *json, const char *key, uint64_t value);
void tw_json_task(struct tw_json *json, const char *key, uint64_t id); /* of a process or a thread; null: not known */
void tw_json_known_task(struct tw_json *json, const char *key, uint64_t id, bool known); /* null: not known */
void tw_json_known(struct tw_json *json, const char *key, uint64_t value, bool known);   /* unknown: null */
void tw_json_change(struct tw_json *json, const char *key, uint64_t from, uint64_t to);  /* to - from */
void tw_json_i64(struct tw_json *json, const char *key, int64_t value);
void tw_json_bool(struct tw_json *json, const char *key, bool value);
void tw_json_double(struct tw_json *json, const char *key, double value); /* infinite, or no number: null */
void tw_json_fixed(struct tw_json *json, const char *key, double value, int decimals);

/* Ends a line of JSON Lines. */
void tw_json_line_end(struct tw_json *json);

/* Ends the object that is a line. */
void tw_json_object_line_end(struct tw_json *json);

/* A piece of the inside of a JSON string. */
struct tw_json_piece {
	const char *bytes; /* to be written: the text's own, or `escape` */
	size_t length;
	size_t taken;    /* of the text that they stand for */
	char escape[12]; /* of two surrogates */
};

/* The same for a character that must be escaped, or is not ASCII. */
void tw_json_special(struct tw_json_piece *piece, const char *bytes, size_t size);

/* Takes the next piece from the front of a text of at least one byte. What is not UTF-8 becomes U+FFFD, one a byte;
 * what is hidden (base/text/utf8.h) is escaped. */
static inline void tw_json_next(struct tw_json_piece *piece, const char *bytes, size_t size)
{
	size_t plain = 0;
	while (plain < size && bytes[plain] >= 0x20 && bytes[plain] < 0x7f && bytes[plain] != '"' &&
	       bytes[plain] != '\\')
		plain++;
	piece->bytes = bytes;
	piece->length = piece->taken = plain;
	if (plain == 0)
		tw_json_special(piece, bytes, size);
}

/* Writes bytes as a JSON string, quotes included. What is not UTF-8 becomes U+FFFD, one a byte. */
void tw_json_put_string(struct tw_output *out, const char *bytes, size_t size);

#endif
