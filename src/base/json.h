/* json.h - writing JSON text to an output. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_JSON_H
#define BASE_JSON_H

#include "base/output.h"

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
void tw_json_hex(struct tw_json *json, const char *key, const void *bytes,
                 size_t size); /* "00ff": bytes that are no text */
void tw_json_u64(struct tw_json *json, const char *key, uint64_t value);
void tw_json_i64(struct tw_json *json, const char *key, int64_t value);
void tw_json_bool(struct tw_json *json, const char *key, bool value);
void tw_json_fixed(struct tw_json *json, const char *key, double value, int decimals);

/* Ends a line of JSON Lines. */
void tw_json_line_end(struct tw_json *json);

/* Writes bytes as a JSON string, quotes included. What is not UTF-8 becomes U+FFFD, one a byte. */
void tw_json_put_string(struct tw_output *out, const char *bytes, size_t size);

#endif
