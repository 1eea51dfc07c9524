/* counts.c - how often each function was called, from what the flight recorder has counted. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/record/counts.h"

#include "base/bytes/bytes.h"
#include "base/memory/memory.h"
#include "base/memory/order.h"
#include "base/text/demangle.h"
#include "cli/output/message.h"
#include "cli/output/show.h"
#include "symbols/tool.h"

#include <trackway/reader.h>
#include <trackway/writer.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Source: doc/formats/xray-fdr.md, "Logs of the flight recorder". */
static const char counts_name[17] = "trackway.counts";
enum { ENTRY = 16, ID_AT = 8 };

/* Functions that make up less of all calls cost little to record. */
enum { DEAR = 100 /* a hundredth */ };

enum { NAME_MOST = 64 * 1024 };

/* ---- Taking. ---- */

static bool add(struct tw_call_totals *counts, const char *name, bool is_known, uint64_t calls)
{
	if (!tw_grow(&counts->items, &counts->room, counts->count + 1, sizeof *counts->items))
		return false;
	struct tw_counted *counted = &counts->items[counts->count];
	*counted = (struct tw_counted){.name = strdup(name), .is_known = is_known, .calls = calls};
	counts->count += counted->name != NULL;
	counts->calls += calls;
	return counted->name != NULL;
}

static bool take_function(struct tw_call_totals *counts, const struct tw_namer *namer, uint32_t id, uint64_t calls)
{
	struct tw_name name = {0};
	char number[32];
	const bool is_known = namer->name && namer->name(namer->context, id, &name) > 0 && *name.text != '@';
	snprintf(number, sizeof number, "#%" PRIu32, id);
	return add(counts, name.text ? name.text : number, is_known, calls);
}

static bool take_table(struct tw_call_totals *counts, const struct tw_namer *namer, const uint8_t *bytes, size_t size)
{
	for (; size >= ENTRY; bytes += ENTRY, size -= ENTRY) {
		const uint64_t calls = tw_load64(bytes, false);
		const uint32_t id = tw_load32(bytes + ID_AT, false);
		if (id && calls && !take_function(counts, namer, id, calls))
			return false;
	}
	return true;
}

/* The notes of the log, of which one is the table. */
static int take_log(struct tw_call_totals *counts, const struct tw_namer *namer, const char *log)
{
	static const uint64_t recorder = 0; /* the thread of all notes */
	const struct tw_read_options options = {.order = TW_ORDER_TRACK, .threads = &recorder, .thread_count = 1};
	struct tw_reader *reader = NULL;
	struct tw_record record;
	int status = tw_open(&reader, log, &options);
	while (status >= 0 && (status = tw_read_record(reader, &record)) > 0)
		for (size_t i = 0; i < record.field_count; i++) {
			const struct tw_field *field = &record.fields[i];
			if (field->type == TW_FIELD_BYTES && field->size > sizeof counts_name &&
			    memcmp(field->value.bytes, counts_name, sizeof counts_name) == 0 &&
			    !take_table(counts, namer, (const uint8_t *)field->value.bytes + sizeof counts_name,
			                field->size - sizeof counts_name))
				status = TW_ERR_MEMORY;
		}
	tw_close(reader);
	return status;
}

int tw_counts_take(struct tw_call_totals *counts, const char *log)
{
	struct tw_symbols *symbols = NULL;
	char *programs = NULL;
	int status = tw_symbols_new(&symbols);
	if (status >= 0)
		tw_symbols_keep_mangled(symbols); /* what demangled names say, several functions may have in common */
	if (status >= 0)
		status = tw_recorded_list(log, 0, &programs);
	if (status >= 0 && programs)
		status = tw_symbols_add_recorded(symbols, programs);
	if (status > 0)
		tw_say("no names of %s%s", tw_show_such_as((uint64_t)status, "program").text,
		       tw_symbols_error(symbols));
	if (status >= 0)
		status = take_log(counts, tw_symbols_namer(symbols), log);
	free(programs);
	tw_symbols_close(symbols);
	return status < 0 ? tw_say_error("%s: %s", log, tw_status_text(status)) : 0;
}

/* ---- Writing. ---- */

static int by_name(const void *a, const void *b)
{
	const struct tw_counted *left = a, *right = b;
	return strcmp(left->name, right->name);
}

static int by_calls(const void *a, const void *b)
{
	const struct tw_counted *left = a, *right = b;
	const int order = tw_compare(right->calls, left->calls);
	return order ? order : by_name(a, b);
}

/* Those of several processes, and of several objects that have a name, are one. */
static void join(struct tw_call_totals *counts)
{
	size_t kept = 0;
	if (counts->count)
		qsort(counts->items, counts->count, sizeof *counts->items, by_name);
	for (size_t i = 0; i < counts->count; i++) {
		struct tw_counted *last = kept ? &counts->items[kept - 1] : NULL;
		if (last && by_name(last, &counts->items[i]) == 0) {
			last->calls += counts->items[i].calls;
			free(counts->items[i].name);
		} else {
			counts->items[kept++] = counts->items[i];
		}
	}
	counts->count = kept;
	if (kept)
		qsort(counts->items, kept, sizeof *counts->items, by_calls);
}

static void put_line(struct tw_output *out, const char *name)
{
	tw_put_safe(out, name, strlen(name));
	tw_putf(out, "\n");
}

/* A function to leave out has a line with its symbol. */
static void put_function(struct tw_output *out, const struct tw_counted *counted, uint64_t all)
{
	size_t budget = NAME_MOST;
	char *shown = tw_demangle(counted->name, &budget);
	tw_putf(out, "# %s, %s: ", tw_show_plural(counted->calls, "call").text,
	        tw_show_percent(counted->calls, all).text);
	put_line(out, shown ? shown : counted->name);
	if (counted->is_known && counted->calls >= all / DEAR)
		put_line(out, counted->name);
	free(shown);
}

int tw_counts_write(struct tw_call_totals *counts, const char *path)
{
	struct tw_output out;
	int error = tw_output_open(&out, path);
	if (error)
		return tw_say_error("%s: %s", path, strerror(error));
	join(counts);
	tw_putf(&out,
	        "# %s of %s; lines without '#' name those with a hundredth of them or more, for --not-function @FILE\n",
	        tw_show_plural(counts->calls, "call").text, tw_show_plural(counts->count, "function").text);
	for (size_t i = 0; i < counts->count; i++)
		put_function(&out, &counts->items[i], counts->calls);
	error = tw_output_close(&out);
	return error ? tw_say_error("%s: %s", path, strerror(error)) : 0;
}

void tw_counts_free(struct tw_call_totals *counts)
{
	for (size_t i = 0; i < counts->count; i++)
		free(counts->items[i].name);
	free(counts->items);
}
