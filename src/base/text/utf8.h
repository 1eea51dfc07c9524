/* utf8.h - what is UTF-8 and what is not. */
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

/* The code point of a well-formed character of that length. */
uint32_t tw_utf8_code(const char *bytes, size_t length);

#endif
