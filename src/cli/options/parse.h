/* parse.h - numbers, sizes and times as people write them. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_OPTIONS_PARSE_H
#define CLI_OPTIONS_PARSE_H

#include <stdint.h>

/* Each returns NULL, or what is wrong as the end of a sentence: "is not a number". Nothing is rounded. */

/* "123" or "0x7b". */
const char *tw_parse_count(const char *text, uint64_t *value);

/* "4096", "64K", "64KiB", "1.5G": bytes. */
const char *tw_parse_size(const char *text, uint64_t *bytes);

/* "100" (nanoseconds), "1.5ms", "2s". */
const char *tw_parse_duration(const char *text, uint64_t *ns);

/* "24000000", "24MHz", "2.1GHz": ticks a second. */
const char *tw_parse_hertz(const char *text, uint64_t *hertz);

#endif
