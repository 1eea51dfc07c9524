/* basic_writer.c - events to an XRay basic log. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "fdr/fdr.h"
#include "fdr/write.h"

#include <stdlib.h>

enum { FUNCTION = 0, ARGUMENT = 1, CPU_MAX = UINT8_MAX };

struct basic_writer {
	struct tw_fdr_header header;
	const struct tw_dictionary *dictionary;
	struct fdr_functions functions;
};

static int open_writer(struct tw_writer *writer)
{
	const struct tw_write_options *options = &writer->options;
	if (options->version > BASIC_VERSION_MAX)
		return tw_writer_fail(writer, TW_ERR_VALUE, "xray-basic has no version %u, only 1 to %d",
		                      options->version, BASIC_VERSION_MAX);
	struct basic_writer *w = calloc(1, sizeof *w);
	if (!w)
		return tw_writer_fail(writer, TW_ERR_MEMORY, "out of memory");
	writer->state = w;
	w->header = fdr_header_for(options, BASIC_VERSION_MAX);
	return 0;
}

static bool put(struct tw_writer *writer, const struct tw_basic_record *record)
{
	struct basic_writer *w = writer->state;
	uint8_t bytes[TW_BASIC_RECORD_SIZE];
	if (tw_basic_encode(record, w->header.version, w->header.layout, bytes) < 0)
		return false;
	tw_put(&writer->out, bytes, sizeof bytes);
	return true;
}

/* Only the first argument has a place, and only a number is one. */
static void put_argument(struct tw_writer *writer, const struct tw_event *event, const struct tw_argument *arguments,
                         struct tw_basic_record record)
{
	const struct basic_writer *w = writer->state;
	for (unsigned i = record.kind == TW_FDR_ENTER_ARGS; i < event->argument_count; i++)
		if (event->kind == TW_SLICE_BEGIN || !fdr_is_tail_mark(w->dictionary, &arguments[i]))
			tw_count_loss(writer, "argument", false);
	if (record.kind != TW_FDR_ENTER_ARGS)
		return;
	record.record_type = ARGUMENT;
	record.argument = arguments[0].value.u;
	put(writer, &record);
}

static void put_call(struct tw_writer *writer, const struct tw_event *event, const struct tw_argument *arguments)
{
	struct basic_writer *w = writer->state;
	const struct tw_track *track = tw_dictionary_track(w->dictionary, event->track);
	bool nameless = event->kind == TW_SLICE_END && event->name == 0;
	uint32_t id =
	    nameless ? FDR_NO_FUNCTION : fdr_function_id(&w->functions, w->dictionary, event->name, INT32_MAX);
	if (id == FDR_NO_FUNCTION) {
		tw_count_loss(writer, "slice without a function id", false);
		return;
	}
	if (event->cpu > CPU_MAX)
		tw_count_loss(writer, "CPU number above 255", true);
	struct tw_basic_record record = {
	    .record_type = FUNCTION,
	    .cpu = (uint8_t)event->cpu,
	    .kind = TW_FDR_EXIT,
	    .function_id = (int32_t)id,
	    .tsc = fdr_ticks_of(writer, event->time, w->header.cycle_frequency),
	    .thread = fdr_number_of(writer, event->track, track->thread),
	    .process = fdr_number_of(writer, event->track, track->process),
	};
	if (event->kind == TW_SLICE_BEGIN)
		record.kind = event->argument_count && fdr_is_number(&arguments[0]) ? TW_FDR_ENTER_ARGS : TW_FDR_ENTER;
	else if (fdr_is_tail(w->dictionary, event, arguments) && w->header.version >= 2)
		record.kind = TW_FDR_TAIL_EXIT;
	else if (fdr_is_tail(w->dictionary, event, arguments))
		tw_count_loss(writer, "tail exit", true);
	put(writer, &record);
	put_argument(writer, event, arguments, record);
}

static int write_batch(struct tw_writer *writer, const struct tw_reader *reader, const struct tw_batch *batch)
{
	struct basic_writer *w = writer->state;
	w->dictionary = tw_reader_dictionary(reader);
	fdr_functions_of(&w->functions, reader);
	fdr_begin_log(writer, &w->header, tw_reader_clock(reader));
	for (size_t i = 0; i < batch->count; i++) {
		const struct tw_event *event = &batch->events[i];
		if (event->kind == TW_SLICE_BEGIN || event->kind == TW_SLICE_END)
			put_call(writer, event,
			         event->argument_count ? batch->arguments + event->first_argument : NULL);
		else
			tw_leave_out(writer, event);
	}
	return 0;
}

static int finish(struct tw_writer *writer)
{
	struct basic_writer *w = writer->state;
	fdr_begin_log(writer, &w->header, &(struct tw_clock){0});
	return fdr_functions_write(&w->functions, w->dictionary, writer);
}

static void close_writer(struct tw_writer *writer)
{
	struct basic_writer *w = writer->state;
	fdr_functions_free(&w->functions);
	free(w);
}

const struct tw_target tw_target_basic = {
    .name = "xray-basic",
    .extensions = (const char *const[]){NULL},
    .order = TW_ORDER_TIME,
    .choices = TW_CHOOSES_VERSION | TW_CHOOSES_BYTE_ORDER,
    .beside = (const char *const[]){".functions", NULL}, /* as the tool names the table */
    .no_category = TW_SLICES,
    .open = open_writer,
    .write = write_batch,
    .finish = finish,
    .close = close_writer,
};
