/* utf8.h - what is UTF-8 and what is not, and which characters are not shown as they are. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_TEXT_UTF8_H
#define BASE_TEXT_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Length of the well-formed character at the front of size bytes (1 to 4), 0 when it is none. Source: RFC 3629. */
size_t tw_utf8_length(const char *bytes, size_t size);

/* Whether all of some bytes are well-formed characters. */
bool tw_is_utf8(const uint8_t *bytes, size_t size);

/* Whether bytes are text: UTF-8 without what is obeyed, but for tabs and ends of lines, and some of it. */
bool tw_is_printable(const uint8_t *bytes, size_t size);

/* The code point of a well-formed character of that length. */
uint32_t tw_utf8_code(const char *bytes, size_t length);

/* Whether a terminal or a viewer obeys a character instead of showing it: controls (C0, C1 and DEL), those that change
 * the direction of what follows, separators of lines. */
bool tw_is_obeyed(uint32_t code);

/* The same, and those that cannot be seen: of no width, soft hyphens, byte order marks, tags. */
bool tw_is_hidden(uint32_t code);

enum { TW_ESCAPE_ROOM = 12 };

/* Writes what stands for a character of that length: "\x1b", "\u{202e}"; length 0: for a byte that is no UTF-8. Returns
 * how many bytes, below TW_ESCAPE_ROOM; there is a zero behind them. */
size_t tw_escape_character(char *escape, const char *bytes, size_t length);

#endif
