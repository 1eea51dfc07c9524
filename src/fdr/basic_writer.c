/* basic_writer.c - events to an XRay basic log. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "fdr/fdr.h"
#include "fdr/write.h"

#include <stdlib.h>

enum { CPU_MAX = UINT8_MAX };

static int open_writer(struct tw_writer *writer)
{
	return fdr_writing_open(writer, sizeof(struct fdr_writing), BASIC_VERSION_MAX);
}

static bool put(struct tw_writer *writer, const struct tw_basic_record *record)
{
	struct fdr_writing *w = writer->state;
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
	const struct fdr_writing *w = writer->state;
	for (unsigned i = record.kind == TW_FDR_ENTER_ARGS; i < event->argument_count; i++)
		if (event->kind == TW_SLICE_BEGIN || !fdr_is_tail_mark(w->dictionary, &arguments[i]))
			tw_count_loss(writer, "argument", false);
	if (record.kind != TW_FDR_ENTER_ARGS)
		return;
	record.record_type = FDR_BASIC_ARGUMENT;
	record.argument = arguments[0].value.u;
	put(writer, &record);
}

static void put_call(struct tw_writer *writer, const struct tw_event *event, const struct tw_argument *arguments)
{
	struct fdr_writing *w = writer->state;
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
	    .record_type = FDR_BASIC_FUNCTION,
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

static int put_event(struct tw_writer *writer, const struct tw_event *event, const struct tw_argument *arguments)
{
	if (event->kind == TW_SLICE_BEGIN || event->kind == TW_SLICE_END)
		put_call(writer, event, arguments);
	else
		tw_leave_out(writer, event);
	return 0;
}

static int write_batch(struct tw_writer *writer, const struct tw_reader *reader, const struct tw_batch *batch)
{
	return fdr_write_batch(writer, reader, batch, put_event);
}

static int finish(struct tw_writer *writer)
{
	struct fdr_writing *w = writer->state;
	fdr_begin_log(writer, NULL);
	return fdr_functions_write(&w->functions, w->dictionary, writer);
}

static void close_writer(struct tw_writer *writer)
{
	struct fdr_writing *w = writer->state;
	fdr_functions_free(&w->functions);
	free(w);
}

const struct tw_target tw_target_basic = {
    .name = "xray-basic",
    .extensions = (const char *const[]){NULL},
    .order = TW_ORDER_TIME,
    .one_stack = true,
    .choices = TW_CHOOSES_VERSION | TW_CHOOSES_BYTE_ORDER,
    .beside = (const char *const[]){".functions", NULL}, /* as the tool names the table */
    .no_category = TW_SLICES,
    .open = open_writer,
    .write = write_batch,
    .finish = finish,
    .close = close_writer,
};
