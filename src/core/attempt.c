/* attempt.c - a trace that is read for its findings in a way that may turn out not to do for it. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "core/attempt.h"

#include "base/memory/memory.h"

#include <stdlib.h>
#include <string.h>

enum { KEPT_MOST = 1024 };

/* A finding with a text of its own. */
struct attempt_finding {
	struct tw_finding finding;
	char text[TW_ERROR_TEXT];
};

struct kept_findings {
	struct attempt_finding *items;
	size_t count, room;
	bool full; /* or there was no memory */
};

static void keep(void *context, const struct tw_finding *finding)
{
	struct kept_findings *kept = context;
	kept->full |=
	    kept->count == KEPT_MOST || !tw_extend(&kept->items, &kept->room, kept->count + 1, sizeof *kept->items);
	if (kept->full)
		return;
	struct attempt_finding *item = &kept->items[kept->count++];
	item->finding = *finding;
	strcpy(item->text, finding->text);
}

static void report(struct tw_reader *reader, struct kept_findings *kept)
{
	for (size_t i = 0; i < kept->count; i++) {
		kept->items[i].finding.text = kept->items[i].text;
		tw_report_finding(reader, &kept->items[i].finding);
	}
}

/* A part reports by its whole, where findings go to `kept` meanwhile. */
static bool attempt(struct tw_reader *reader, struct kept_findings *kept, tw_attempt_fn *read, void *context)
{
	const struct tw_read_options options = reader->options;
	uint64_t counts[TW_ERROR + 1];
	struct tw_reader *again;
	memcpy(counts, reader->reports.findings, sizeof counts);
	int status = tw_open_again(&again, reader);
	reader->options.on_finding = keep;
	reader->options.finding_context = kept;
	if (status == 0) {
		again->reports.quiet = false;
		status = read(again, context);
	}
	reader->options = options;
	memcpy(reader->reports.findings, counts, sizeof counts);
	if (status == 0)
		reader->clock = again->clock;
	tw_close(again);
	return status == 0 && !kept->full;
}

bool tw_attempt(struct tw_reader *reader, tw_attempt_fn *read, void *context)
{
	struct kept_findings kept = {0};
	const bool done = attempt(reader, &kept, read, context);
	if (done)
		report(reader, &kept);
	free(kept.items);
	return done;
}
