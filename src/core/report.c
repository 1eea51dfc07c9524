/* report.c - why a call failed, and what is found wrong in a trace. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/bytes/temporary.h"
#include "core/format.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

void tw_error_write(char text[TW_ERROR_TEXT], const char *format, va_list arguments)
{
	static const char gap[] = "...";
	enum { HEAD = 64, TAIL = TW_ERROR_TEXT - HEAD - sizeof gap };
	char whole[PATH_MAX + TW_ERROR_TEXT];
	vsnprintf(whole, sizeof whole, format, arguments);
	size_t length = strlen(whole);
	if (length < TW_ERROR_TEXT)
		memcpy(text, whole, length + 1);
	else
		snprintf(text, TW_ERROR_TEXT, "%.*s%s%s", HEAD, whole, gap, whole + length - TAIL);
}

int tw_fail(struct tw_reader *reader, int status, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	tw_error_write(reader->error, format, arguments);
	va_end(arguments);
	return status;
}

int tw_stopped(struct tw_reader *reader)
{
	return tw_fail(reader, TW_ERR_LIMIT, "%s: interrupted", tw_source_name(reader));
}

int tw_fail_memory(struct tw_reader *reader)
{
	bool named = reader->path || reader->input;
	return tw_fail(reader, TW_ERR_MEMORY, "%s%sout of memory", named ? tw_source_name(reader) : "",
	               named ? ": " : "");
}

int tw_fail_file(struct tw_reader *reader, int error)
{
	if (error == ENOMEM)
		return tw_fail_memory(reader);
	return tw_fail(reader, TW_ERR_SYSTEM, "temporary file in %s: %s",
	               tw_temporary_place(reader->options.temporary_directory), strerror(error));
}

static struct tw_reader *whole_of(struct tw_reader *reader)
{
	return reader->whole ? reader->whole : reader;
}

void tw_report_finding(struct tw_reader *reader, const struct tw_finding *finding)
{
	struct tw_reader *whole = whole_of(reader);
	pthread_mutex_lock(&whole->reports.lock);
	whole->reports.findings[finding->severity]++;
	if (whole->options.on_finding)
		whole->options.on_finding(whole->options.finding_context, finding);
	pthread_mutex_unlock(&whole->reports.lock);
}

/* Completes a finding by its text, counts it and hands it on. */
static void find(struct tw_reader *reader, const struct tw_finding *begun, const char *format, va_list arguments)
{
	char text[TW_ERROR_TEXT];
	struct tw_reader *whole = whole_of(reader);
	struct tw_finding finding = *begun;
	vsnprintf(text, sizeof text, format, arguments);
	finding.text = text;
	finding.record += whole->log.base;
	finding.at += whole->log.base;
	finding.file = reader->reports.file ? reader->reports.file : tw_input_name(whole->input);
	tw_report_finding(whole, &finding);
}

/* A finding by a rule, without its text. */
static struct tw_finding begin(const struct tw_rule *rule, uint64_t record, uint64_t at, struct tw_line_place line)
{
	return (struct tw_finding){
	    .severity = rule->severity,
	    .rule = rule->name,
	    .record = record,
	    .at = at,
	    .line = line.number,
	    .column = line.number ? at - line.start + 1 : 0,
	};
}

static bool is_silent(struct tw_reader *reader)
{
	return reader->reports.quiet || whole_of(reader)->reports.again;
}

void tw_report(struct tw_reader *reader, const struct tw_rule *rule, uint64_t record, uint64_t at, uint64_t line,
               const char *format, ...)
{
	const struct tw_finding finding = begin(rule, record, at, (struct tw_line_place){line, record});
	va_list arguments;
	if (is_silent(reader))
		return;
	va_start(arguments, format);
	find(reader, &finding, format, arguments);
	va_end(arguments);
}

void tw_report_in_line(struct tw_reader *reader, const struct tw_rule *rule, uint64_t record, uint64_t at,
                       struct tw_line_place line, const char *format, ...)
{
	const struct tw_finding finding = begin(rule, record, at, line);
	va_list arguments;
	if (is_silent(reader))
		return;
	va_start(arguments, format);
	find(reader, &finding, format, arguments);
	va_end(arguments);
}

void tw_report_limit(struct tw_reader *reader, const struct tw_rule *rule, uint64_t record, uint64_t at,
                     const char *format, ...)
{
	const struct tw_finding finding = begin(rule, record, at, (struct tw_line_place){0});
	va_list arguments;
	reader->reports.fell_short = true;
	if (reader->reports.quiet || reader->whole)
		return;
	va_start(arguments, format);
	find(reader, &finding, format, arguments);
	va_end(arguments);
}
