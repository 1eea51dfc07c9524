/* decode.c - one line of folded stacks. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "folded/decode.h"

#include "base/text/utf8.h"
#include "folded/rules.h"

#include <stdbool.h>
#include <string.h>

static bool is_digit(uint8_t byte)
{
	return byte >= '0' && byte <= '9';
}

static bool is_blank(uint8_t byte)
{
	return byte == ' ' || byte == '\t';
}

static size_t without_blanks(const uint8_t *bytes, size_t size)
{
	while (size && is_blank(bytes[size - 1]))
		size--;
	return size;
}

/* Returns where the number begins that a line ends with, behind a blank; `size` where there is none. */
static size_t find_number(const uint8_t *bytes, size_t size)
{
	size_t at = size;
	bool point = false, digit = false;
	for (; at && (is_digit(bytes[at - 1]) || (bytes[at - 1] == '.' && !point)); at--) {
		point |= bytes[at - 1] == '.';
		digit |= is_digit(bytes[at - 1]);
	}
	return digit && bytes[at] != '.' && (at == 0 || is_blank(bytes[at - 1])) ? at : size;
}

/* A fraction is rounded by its first digit. */
static void read_number(struct folded_line *line, const uint8_t *bytes, size_t size)
{
	uint64_t value = 0;
	size_t i = 0;
	bool over = false;
	for (; i < size && is_digit(bytes[i]); i++) {
		over |= __builtin_mul_overflow(value, 10, &value);
		over |= __builtin_add_overflow(value, bytes[i] - '0', &value);
	}
	if (i + 1 < size) {
		line->odd |= 1U << FOLDED_FRACTION;
		over |= __builtin_add_overflow(value, bytes[i + 1] >= '5', &value);
	}
	line->count = value;
	if (over) {
		line->kind = FOLDED_BAD;
		line->odd = 1U << FOLDED_COUNT_RANGE;
	}
}

static void judge_stack(struct folded_line *line)
{
	const uint8_t *left = line->stack;
	size_t rest = line->size, size;
	if (!line->size)
		line->odd |= 1U << FOLDED_NO_STACK;
	while (line->size && (folded_next_frame(&left, &rest, &size), size != SIZE_MAX))
		line->odd |= size ? 0 : 1U << FOLDED_EMPTY_FRAME;
	if (!tw_is_utf8(line->stack, line->size))
		line->odd |= 1U << FOLDED_UTF8;
}

static size_t without_end(struct folded_line *line, const uint8_t *bytes, size_t size)
{
	if (size && bytes[size - 1] == '\n')
		size--;
	else
		line->odd |= 1U << FOLDED_CUT_LINE;
	if (size && bytes[size - 1] == '\r') {
		line->odd |= 1U << FOLDED_CRLF;
		size--;
	}
	return without_blanks(bytes, size);
}

/* "# text" and "#text" are comments; "#12 5" is a function without a name. */
static bool is_comment(const uint8_t *bytes, bool has_count)
{
	return bytes[0] == '#' && (!has_count || is_blank(bytes[1]));
}

void folded_decode(const uint8_t *bytes, size_t size, struct folded_line *line)
{
	*line = (struct folded_line){.kind = FOLDED_STACK, .stack = bytes};
	size = without_end(line, bytes, size);
	line->size = size;
	if (size == 0) {
		line->kind = FOLDED_EMPTY;
		return;
	}
	size_t at = find_number(bytes, size);
	if (is_comment(bytes, at != size)) {
		line->kind = FOLDED_COMMENT;
		return;
	}
	if (at == size) {
		line->kind = FOLDED_BAD;
		line->odd |= 1U << FOLDED_NO_COUNT;
		return;
	}
	read_number(line, bytes + at, size - at);
	line->size = without_blanks(bytes, at);
	if (line->kind == FOLDED_STACK)
		judge_stack(line);
}

const uint8_t *folded_next_frame(const uint8_t **stack, size_t *left, size_t *size)
{
	const uint8_t *frame = *stack;
	if (*left == SIZE_MAX) {
		*size = SIZE_MAX;
		return frame;
	}
	const uint8_t *end = memchr(frame, ';', *left);
	*size = end ? (size_t)(end - frame) : *left;
	*stack = frame + *size + (end != NULL);
	*left = end ? *left - *size - 1 : SIZE_MAX;
	return frame;
}
