/* findings.c - findings about a log, and the memory that its tables may take. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tracelog/log/findings.h"

#include "base/memory/memory.h"
#include "tracelog/log/log.h"

#include <stdarg.h>
#include <stdio.h>

enum {
	NAME_COST = 96,  /* of a name, beside its text */
	ARRAY_START = 16 /* elements */
};

/* ---- Findings. ---- */

/* Whoever asks for stacks must know where they are guesses. */
static bool is_wanted(const struct tracelog_log *log, enum tracelog_rule rule)
{
	return !log->line.beyond &&
	       (log->request.check || rule == TRACELOG_DEPTH_MISMATCH || rule == TRACELOG_MATCH_ABOVE_SIZE);
}

static void report(struct tracelog_log *log, enum tracelog_rule rule, struct tracelog_place place, const char *format,
                   va_list arguments)
{
	char text[TW_ERROR_TEXT];
	vsnprintf(text, sizeof text, format, arguments);
	tw_report(log->reader, &tracelog_rules[rule], place.offset, place.offset, place.line, "%s", text);
}

void tracelog_report(struct tracelog_log *log, enum tracelog_rule rule, const char *format, ...)
{
	va_list arguments;
	if (!is_wanted(log, rule))
		return;
	va_start(arguments, format);
	report(log, rule, log->line.at, format, arguments);
	va_end(arguments);
}

void tracelog_report_at(struct tracelog_log *log, enum tracelog_rule rule, struct tracelog_place place,
                        const char *format, ...)
{
	va_list arguments;
	if (!is_wanted(log, rule))
		return;
	va_start(arguments, format);
	report(log, rule, place, format, arguments);
	va_end(arguments);
}

/* ---- Memory. ---- */

bool tracelog_take_memory(struct tracelog_log *log, size_t bytes)
{
	if (bytes <= log->memory.limit - log->memory.used) {
		log->memory.used += bytes;
		return true;
	}
	if (!log->memory.reported)
		tw_report_limit(log->reader, &tracelog_rules[TRACELOG_TABLE_LIMIT], log->line.at.offset,
		                log->line.at.offset,
		                "tables take %zu bytes: what comes from here on is shown as (other)", log->memory.used);
	log->memory.reported = true;
	return false;
}

bool tracelog_take_shared(struct tracelog_log *log, size_t bytes, size_t kept)
{
	const bool taken = tracelog_take_memory(log, bytes);
	log->memory.kept += taken ? kept : 0;
	return taken;
}

bool tracelog_grow(struct tracelog_log *log, void *array, size_t *room, size_t count, size_t size)
{
	if (count < *room)
		return true;
	size_t more = *room ? *room : ARRAY_START;
	if (!tracelog_take_memory(log, more * size))
		return false;
	if (tw_grow(array, room, count + 1, size))
		return true;
	log->failed = true;
	return false;
}

uint32_t tracelog_name(struct tracelog_log *log, const void *text, size_t length)
{
	const struct tw_name name = {.text = text, .length = length};
	uint32_t number = tw_dictionary_find(log->dictionary, &name);
	if (number != UINT32_MAX)
		return number;
	number = tracelog_take_shared(log, length + NAME_COST, length + NAME_COST)
	             ? tw_dictionary_intern(log->dictionary, &name)
	             : tw_dictionary_text(log->dictionary, "(other)");
	log->failed |= number == UINT32_MAX;
	return number == UINT32_MAX ? 0 : number;
}
