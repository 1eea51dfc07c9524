/* merge_many.c - more traces than can be open at once, merged.
 *
 * They are read one after the other, and the rows of each put into a temporary file as they come: a run, in the order
 * of time. Then it is known when each trace begins, and how its times change; the runs are merged, as many at once as
 * memory allows, until so few are left that they can be handed on. Names are those of one dictionary from the start,
 * but tracks and processes are kept apart by trace: who keeps its number is told by the order of time, as it is where
 * all are read at once. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "core/merge/merge.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum {
	READER_SHARE = 2, /* of the memory limit, for the trace that is read, */
	NAMES_SHARE = 6,  /* for names, threads and stacks, which take four times as much when they are handed on, */
	RUNS_SHARE = 4,   /* and for the runs that are merged at once, */
	RUNS_LEAST = 8    /* which are not fewer */
};

static const struct tw_rule name_limit = {
    .name = "merge.name-limit",
    .severity = TW_WARNING,
    .text =
	"There are more names, threads and stacks in all files than the memory limit allows: from here on, new names "
	"are shown as \"(other)\", and new threads as one.",
};

struct tw_merge_many {
	struct tw_dictionary *dictionary;
	struct tw_mapping_room room; /* in it, */
	bool reported_room;          /* and that there is no more */
	struct tw_mapping mapping;   /* from that to the merged trace's */
	struct tw_spill file;
	struct tw_spill_run *runs; /* of the traces, one each; then what was merged of them */
	size_t run_count;
	bool begun;     /* that is done once, */
	int status;     /* and ended so */
	bool aligned;   /* runs have the times of the merged trace, not those of their traces */
	size_t shared;  /* traces whose traits are taken */
	uint32_t taken; /* and that have been read */
	bool met;       /* the first trace has been read, with: */
	struct tw_moments first;
	struct tw_argument arguments[UINT8_MAX]; /* of the row that is put */
};

static int no_memory(struct tw_reader *merged)
{
	return tw_fail(merged, TW_ERR_MEMORY, "out of memory");
}

/* ---- The beginning. ---- */

/* Looks whether a trace can be opened, where it can be read again: a pipe would lose its first bytes. Findings are
 * reported later, when it is read. */
static int look_at(struct tw_reader *merged, size_t i)
{
	struct tw_merge *merge = merged->state;
	struct tw_merge_trace *trace = &merge->traces[i];
	const char *path = trace->path;
	struct tw_read_options options = tw_merge_options_of(merged, READER_SHARE);
	struct tw_reader *reader;
	struct stat status;
	options.on_finding = NULL;
	bool piped = stat(path, &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode);
	if (piped || strcmp(path, "-") == 0) {
		tw_merge_share(merged, merge->many->shared++, NULL);
		return 0;
	}
	int result = tw_open(&reader, path, &options);
	if (result < 0)
		result = tw_merge_leave_out(merged, trace, reader, result);
	else
		tw_merge_share(merged, merge->many->shared++, reader);
	tw_close(reader);
	return result;
}

int tw_merge_many_begin(struct tw_reader *merged)
{
	struct tw_merge *merge = merged->state;
	struct tw_merge_many *many = merge->many = calloc(1, sizeof *many);
	if (!many)
		return no_memory(merged);
	many->file.fd = -1;
	many->room.most = tw_memory_limit(merged) / NAMES_SHARE;
	many->dictionary = tw_dictionary_new();
	if (!many->dictionary)
		return no_memory(merged);
	many->mapping = (struct tw_mapping){.kind = TW_MAPPING_TOGETHER,
	                                    .from = many->dictionary,
	                                    .to = merged->dictionary,
	                                    .homes = &merge->homes};
	int status = 0;
	for (size_t i = 0; i < merge->trace_count && status >= 0; i++)
		status = look_at(merged, i);
	return status;
}

bool tw_merge_many_end(struct tw_merge_many *many)
{
	return !many->mapping.from || tw_mapping_end(&many->mapping);
}

void tw_merge_many_free(struct tw_merge_many *many)
{
	if (!many)
		return;
	tw_mapping_free(&many->mapping);
	tw_spill_free(&many->file);
	tw_dictionary_free(many->dictionary);
	free(many->runs);
	free(many);
}

/* ---- A run of each trace. ---- */

/* Ends a run that began at this place of a file. Returns 0 or a negative status. */
static int end_run(struct tw_reader *merged, struct tw_spill *file, uint64_t begin, struct tw_spill_run *run)
{
	int status = tw_merge_file_status(merged, tw_spill_flush(file));
	*run = (struct tw_spill_run){begin, tw_spill_end(file)};
	return status;
}

static int put_row(struct tw_reader *merged, struct tw_mapping *apart, const struct tw_batch *batch, size_t i)
{
	struct tw_merge_many *many = ((struct tw_merge *)merged->state)->many;
	struct tw_event event = batch->events[i];
	if (event.argument_count)
		memcpy(many->arguments, tw_event_arguments(batch, &event),
		       event.argument_count * sizeof *many->arguments);
	if (!tw_map_row(apart, &event, many->arguments))
		return no_memory(merged);
	return tw_merge_file_status(merged, tw_spill_put(&many->file, &event, many->arguments));
}

static void report_room(struct tw_merge_many *many, struct tw_reader *reader, uint64_t offset)
{
	if (many->room.full && !many->reported_room)
		tw_report_limit(reader, &name_limit, offset, offset, "%s", name_limit.text);
	many->reported_room = many->room.full;
}

/* Puts all rows of a trace. Returns 0 or a negative status. */
static int put_rows(struct tw_reader *merged, struct tw_merge_trace *trace, struct tw_reader *reader,
                    struct tw_mapping *apart, struct tw_moments *moments)
{
	const struct tw_merge *merge = merged->state;
	bool missing = merge->options.alignment == TW_ALIGN_MARKERS;
	struct tw_batch batch;
	int n = 1, status = 0;
	while (status == 0 && (n = tw_read(reader, &batch)) > 0) {
		trace->clock = trace->some ? trace->clock : reader->clock;
		trace->some = true;
		missing = missing && tw_merge_look(merge, reader->dictionary, &batch, moments);
		for (size_t i = 0; i < batch.count && status == 0; i++) {
			status = put_row(merged, apart, &batch, i);
			report_room(merge->many, reader, batch.events[i].offset);
		}
	}
	if (n < 0)
		status = tw_fail(merged, n, "%s", tw_reader_error(reader));
	return status < 0 || tw_mapping_end(apart) ? status : no_memory(merged);
}

static int take_reader(struct tw_reader *merged, size_t i, struct tw_reader *reader)
{
	struct tw_merge *merge = merged->state;
	struct tw_merge_many *many = merge->many;
	struct tw_merge_trace *trace = &merge->traces[i];
	struct tw_mapping apart = {.kind = TW_MAPPING_APART,
	                           .trace = (uint32_t)i,
	                           .place = many->taken++,
	                           .from = reader->dictionary,
	                           .to = many->dictionary,
	                           .homes = &merge->homes,
	                           .koids = reader->traits.koids,
	                           .room = &many->room};
	struct tw_moments moments = {0};
	tw_merge_share(merged, many->met ? 1 : 0, reader);
	uint64_t begin = tw_spill_end(&many->file);
	int status = put_rows(merged, trace, reader, &apart, &moments);
	if (status == 0)
		status = end_run(merged, &many->file, begin, &many->runs[many->run_count++]);
	tw_mapping_free(&apart);
	for (int severity = TW_NOTE; severity <= TW_ERROR; severity++)
		merge->findings[severity] += reader->reports.findings[severity];
	many->first = many->met ? many->first : moments;
	many->met = true;
	if (status == 0 && merge->options.alignment == TW_ALIGN_MARKERS)
		status = tw_merge_meet(merged, trace, &moments, &many->first);
	return status < 0 ? status : tw_merge_take_document(merged, reader);
}

static int take_trace(struct tw_reader *merged, size_t i)
{
	struct tw_merge *merge = merged->state;
	struct tw_merge_many *many = merge->many;
	const struct tw_read_options options = tw_merge_options_of(merged, READER_SHARE);
	struct tw_reader *reader = NULL;
	int status = merge->traces[i].left_out ? 0 : tw_open(&reader, merge->traces[i].path, &options);
	if (status < 0)
		status = tw_merge_leave_out(merged, &merge->traces[i], reader, status);
	if (status == 0 && merge->traces[i].left_out) {
		uint64_t end = tw_spill_end(&many->file);
		many->runs[many->run_count++] = (struct tw_spill_run){end, end};
	} else if (status == 0) {
		reader->request.texts = merged->request.texts;
		reader->request.merged = (unsigned)merge->trace_count;
		status = take_reader(merged, i, reader);
	}
	tw_close(reader);
	return status;
}

static int take_traces(struct tw_reader *merged)
{
	struct tw_merge *merge = merged->state;
	struct tw_merge_many *many = merge->many;
	int status = tw_merge_file_status(merged, tw_spill_open(&many->file, merged->options.temporary_directory));
	many->runs = status == 0 ? calloc(merge->trace_count, sizeof *many->runs) : NULL;
	if (status == 0 && !many->runs)
		return no_memory(merged);
	for (size_t i = 0; i < merge->trace_count && status == 0; i++)
		status = take_trace(merged, i);
	return status;
}

/* ---- Fewer runs. ---- */

static size_t runs_most(const struct tw_reader *merged)
{
	size_t most = tw_memory_limit(merged) / RUNS_SHARE / (TW_SPILL_BLOCK + sizeof(struct tw_merge_input));
	return most < RUNS_LEAST ? RUNS_LEAST : most;
}

/* Makes runs the inputs of the merge. Returns 0 or a negative status. */
static int open_runs(struct tw_reader *merged, size_t from, size_t count, struct tw_mapping *mapping)
{
	struct tw_merge *merge = merged->state;
	const struct tw_merge_many *many = merge->many;
	tw_merge_close_inputs(merge);
	int status = tw_merge_reserve(merged, count);
	for (size_t i = from; i < from + count && status == 0; i++) {
		struct tw_merge_input *input = &merge->inputs[merge->count++];
		input->time = many->aligned ? (struct tw_merge_time){.from = 1, .to = 1} : merge->traces[i].time;
		input->mapping = mapping;
		status = tw_merge_file_status(merged, tw_spill_cursor_open(&input->run, &many->file, &many->runs[i]));
	}
	return status;
}

/* Merges runs into one of another file. Returns 0 or a negative status. */
static int merge_runs(struct tw_reader *merged, size_t from, size_t count, struct tw_spill *to,
                      struct tw_spill_run *run)
{
	uint64_t begin = tw_spill_end(to);
	struct tw_batch batch;
	int n = 1, status = open_runs(merged, from, count, NULL);
	while (status == 0 && (n = tw_merge_rows(merged, &batch)) > 0)
		for (size_t i = 0; i < batch.count && status == 0; i++)
			status =
			    tw_merge_file_status(merged, tw_spill_put(to, &batch.events[i],
			                                              tw_event_arguments(&batch, &batch.events[i])));
	status = n < 0 ? n : status;
	return status < 0 ? status : end_run(merged, to, begin, run);
}

/* Merges each `most` runs into one. */
static int merge_round(struct tw_reader *merged, size_t most)
{
	struct tw_merge_many *many = ((struct tw_merge *)merged->state)->many;
	struct tw_spill next;
	size_t made = 0;
	int status = tw_merge_file_status(merged, tw_spill_open(&next, merged->options.temporary_directory));
	if (status < 0)
		return status;
	for (size_t from = 0, count; from < many->run_count && status == 0; from += count) {
		count = many->run_count - from < most ? many->run_count - from : most;
		status = merge_runs(merged, from, count, &next, &many->runs[made++]);
	}
	tw_spill_free(&many->file);
	many->file = next;
	many->run_count = made;
	many->aligned = true;
	return status;
}

static int merge_many(struct tw_reader *merged)
{
	struct tw_merge_many *many = ((struct tw_merge *)merged->state)->many;
	size_t most = runs_most(merged);
	int status = take_traces(merged);
	status = status < 0 ? status : tw_merge_align(merged);
	while (status == 0 && many->run_count > most)
		status = merge_round(merged, most);
	return status < 0 ? status : open_runs(merged, 0, many->run_count, &many->mapping);
}

int tw_merge_many(struct tw_reader *merged)
{
	struct tw_merge_many *many = ((struct tw_merge *)merged->state)->many;
	if (!many->begun) {
		many->begun = true;
		many->status = merge_many(merged);
	}
	return many->status;
}
