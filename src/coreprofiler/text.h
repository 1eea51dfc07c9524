/* text.h - a line that grows: what is on the stack is enough for most. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COREPROFILER_TEXT_H
#define COREPROFILER_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TEXT_INSIDE = 1000 };

struct text {
	char *bytes; /* `inside`, or of the heap */
	size_t length, room;
	bool failed; /* there was no memory: the line is not complete */
	char inside[TEXT_INSIDE];
};

#define TEXT_NO_ID UINT32_MAX /* an internal id that is not known: "?" */

void text_begin(struct text *text, const char *start);
void text_end(struct text *text); /* frees */

void text_bytes(struct text *text, const char *bytes, size_t size);
void text_string(struct text *text, const char *string);
void text_char(struct text *text, char c);

/* Numbers, as the format has them: decimal, "0x1f", "0x0000001f", and pointers of the process, "0x000000000000001F". */
void text_decimal(struct text *text, uint64_t value);
void text_hex(struct text *text, uint64_t value);
void text_hex8(struct text *text, uint32_t value);
void text_pointer(struct text *text, uint64_t value);

/* Internal ids: "0x0000001f" in most records, "0x1f" in lists. */
void text_id(struct text *text, uint32_t id);
void text_short_id(struct text *text, uint32_t id);

/* UTF-16, up to a 0, as UTF-8. Line ends become spaces: the format has no way to write them. */
void text_utf16(struct text *text, const uint16_t *units, size_t most);

#endif
