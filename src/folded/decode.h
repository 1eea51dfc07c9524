/* decode.h - one line of folded stacks. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FOLDED_DECODE_H
#define FOLDED_DECODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum folded_kind { FOLDED_EMPTY, FOLDED_COMMENT, FOLDED_STACK, FOLDED_BAD };

/* What is odd about a line, bits: 1 << enum folded_rule. */
struct folded_line {
	enum folded_kind kind;
	const uint8_t *stack; /* the frames with ';' between them, the outermost first; of a comment all of it */
	size_t size;
	uint64_t count, before; /* before: where there are two counts, the first */
	unsigned odd;
};

/* Decodes a line with its end. two: there are two counts, as difffolded.pl writes them; otherwise the first of them is
 * part of the innermost frame. Of a bad line `odd` tells why. */
void folded_decode(const uint8_t *bytes, size_t size, bool two, struct folded_line *line);

/* Whether all lines with a stack have two counts. What is behind the last line end is looked at where it is `whole`. */
bool folded_has_two_counts(const uint8_t *bytes, size_t size, bool whole);

/* Takes the next frame off the front of a stack; *size is SIZE_MAX behind the last. */
const uint8_t *folded_next_frame(const uint8_t **stack, size_t *left, size_t *size);

#endif
