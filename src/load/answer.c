/* answer.c - what a server answers: input, as any other. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "load/answer.h"

#include "base/text/utf8.h"

#include <string.h>

/* ---- Rows. ---- */

unsigned load_next_row(const char *bytes, size_t size, size_t *at, struct load_cell cells[LOAD_CELLS])
{
	unsigned count = 0;
	if (*at >= size)
		return 0;
	const char *from = bytes + *at, *newline = memchr(from, '\n', size - *at);
	const char *end = newline ? newline : bytes + size;
	for (const char *tab = from; tab; from = tab + 1, count++) {
		tab = memchr(from, '\t', (size_t)(end - from));
		if (count < LOAD_CELLS)
			cells[count] = (struct load_cell){from, (size_t)((tab ? tab : end) - from)};
		if (!tab) {
			count++;
			break;
		}
	}
	*at = (size_t)(end - bytes) + (newline != NULL);
	return count;
}

bool load_cell_number(const struct load_cell *cell, uint64_t *number)
{
	*number = 0;
	for (size_t i = 0; i < cell->size; i++) {
		unsigned digit = (unsigned)(unsigned char)cell->bytes[i] - '0';
		if (digit > 9 || __builtin_mul_overflow(*number, 10, number) ||
		    __builtin_add_overflow(*number, digit, number))
			return false;
	}
	return cell->size > 0;
}

bool load_cell_is(const struct load_cell *cell, const char *text)
{
	return cell->size == strlen(text) && memcmp(cell->bytes, text, cell->size) == 0;
}

/* ---- Errors. ---- */

/* The bytes behind a text; NULL: it is not there. */
static const char *behind(const char *bytes, const char *end, const char *text)
{
	const char *found = memmem(bytes, (size_t)(end - bytes), text, strlen(text));
	return found ? found + strlen(text) : NULL;
}

/* Copies what can be shown; anything else is a blank, one for several. */
static void copy_shown(char line[LOAD_LINE], const char *from, const char *end)
{
	size_t size = 0;
	while (from < end && size < LOAD_LINE - 1) {
		size_t length = tw_utf8_length(from, (size_t)(end - from));
		bool shown = length && !tw_is_hidden(tw_utf8_code(from, length));
		if (shown && size + length >= LOAD_LINE)
			break;
		if (shown)
			memcpy(line + size, from, length);
		else if (size && line[size - 1] != ' ')
			line[size++] = ' ';
		size += shown ? length : 0;
		from += length ? length : 1;
	}
	while (size && line[size - 1] == ' ')
		size--;
	line[size] = '\0';
}

static unsigned code_of(const char *from, const char *end)
{
	enum { MOST = 1000000 };
	unsigned code = 0;
	for (; from < end && *from >= '0' && *from <= '9' && code < MOST; from++)
		code = code * 10 + (unsigned)(*from - '0');
	return code;
}

unsigned load_error_line(const char *bytes, size_t size, char line[LOAD_LINE])
{
	static const char *const ends[] = {", e.what() =", ", Stack trace", " (version ", "\n"};
	const char *end = bytes + size, *code = behind(bytes, end, "Code: "), *text = code;
	for (const char *next = text; next; next = behind(next, end, "DB::Exception: "))
		text = next;
	const char *from = text && text != code ? text : bytes;
	for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
		const char *found = memmem(from, (size_t)(end - from), ends[i], strlen(ends[i]));
		end = found && found > from ? found : end;
	}
	copy_shown(line, from, end);
	return code ? code_of(code, bytes + size) : 0;
}
