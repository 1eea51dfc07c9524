/* source.c - a statement as SQLite gets it, and where each part of it stands in what was written. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "sql/perfetto/source.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static void add(struct sql_source *source, struct sql_source_piece piece, const char *bytes, size_t length)
{
	if (!tw_grow(&source->pieces, &source->room, source->count + 1, sizeof *source->pieces) ||
	    !tw_text_add(&source->text, bytes, length)) {
		source->failed = true;
		return;
	}
	source->pieces[source->count++] = piece;
}

void sql_source_keep(struct sql_source *source, const char *from, const char *to)
{
	add(source, (struct sql_source_piece){source->text.length, (size_t)(from - source->written), true}, from,
	    (size_t)(to - from));
}

void sql_source_make(struct sql_source *source, const char *at, const char *bytes, size_t length)
{
	add(source, (struct sql_source_piece){source->text.length, (size_t)(at - source->written), false}, bytes,
	    length);
}

size_t sql_source_place(const struct sql_source *source, size_t offset)
{
	size_t i = source->count;
	while (i > 1 && source->pieces[i - 1].out > offset)
		i--;
	if (i == 0)
		return offset;
	const struct sql_source_piece *piece = &source->pieces[i - 1];
	return piece->in + (piece->same ? offset - piece->out : 0);
}

void sql_source_free(struct sql_source *source)
{
	tw_text_free(&source->text);
	free(source->pieces);
}

void sql_fault_one_line(struct sql_fault *fault)
{
	for (char *c = fault->text; *c; c++)
		if (*c == '\n' || *c == '\r')
			*c = ' ';
}

bool sql_fault_set(struct sql_fault *fault, size_t offset, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	(void)vsnprintf(fault->text, sizeof fault->text, format, arguments);
	va_end(arguments);
	sql_fault_one_line(fault);
	fault->offset = offset;
	fault->code = 0;
	fault->placed = true;
	return false;
}
