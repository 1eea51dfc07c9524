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
static uint64_t read_number(struct folded_line *line, const uint8_t *bytes, size_t size)
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
	if (over) {
		line->kind = FOLDED_BAD;
		line->odd = 1U << FOLDED_COUNT_RANGE;
	}
	return value;
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

/* Takes the number off that what is left of a line ends with; false where there is none. */
static bool take_number(struct folded_line *line, uint64_t *number)
{
	size_t at = find_number(line->stack, line->size);
	if (at == line->size)
		return false;
	*number = read_number(line, line->stack + at, line->size - at);
	line->size = without_blanks(line->stack, at);
	return true;
}

void folded_decode(const uint8_t *bytes, size_t size, bool two, struct folded_line *line)
{
	*line = (struct folded_line){.kind = FOLDED_STACK, .stack = bytes};
	size = without_end(line, bytes, size);
	line->size = size;
	if (size == 0) {
		line->kind = FOLDED_EMPTY;
		return;
	}
	if (is_comment(bytes, find_number(bytes, size) != size)) {
		line->kind = FOLDED_COMMENT;
		return;
	}
	if (!take_number(line, &line->count) || (two && !take_number(line, &line->before))) {
		line->kind = FOLDED_BAD;
		line->odd |= 1U << FOLDED_NO_COUNT;
	}
	if (line->kind == FOLDED_STACK)
		judge_stack(line);
}

bool folded_has_two_counts(const uint8_t *bytes, size_t size, bool whole)
{
	bool any = false;
	while (size) {
		struct folded_line line;
		const uint8_t *end = memchr(bytes, '\n', size);
		size_t length = end ? (size_t)(end - bytes) + 1 : size;
		if (!end && !whole)
			break;
		folded_decode(bytes, length, true, &line);
		if (line.kind == FOLDED_BAD || (line.kind == FOLDED_STACK && !line.size))
			return false;
		any |= line.kind == FOLDED_STACK;
		bytes += length;
		size -= length;
	}
	return any;
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
