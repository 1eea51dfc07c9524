/* write.c - what is the same of both kinds of XRay log that are written. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "fdr/write.h"

#include <stdlib.h>

enum tw_fdr_layout fdr_layout_for(enum tw_byte_order order)
{
	static const enum tw_fdr_layout layouts[] = {
	    [TW_BYTES_AS_SOURCE] = TW_FDR_LITTLE,
	    [TW_BYTES_LITTLE] = TW_FDR_LITTLE,
	    [TW_BYTES_BIG] = TW_FDR_BIG_MSB,
	    [TW_BYTES_BIG_LSB] = TW_FDR_BIG_LSB,
	};
	return layouts[order];
}

int fdr_writing_open(struct tw_writer *writer, size_t size, uint16_t latest)
{
	const struct tw_write_options *options = &writer->options;
	if (options->version > latest)
		return tw_writer_fail(writer, TW_ERR_VALUE, "%s has no version %u, only 1 to %d", writer->target->name,
		                      options->version, latest);
	struct fdr_writing *w = writer->state = calloc(1, size);
	if (!w)
		return tw_writer_fail(writer, TW_ERR_MEMORY, "out of memory");
	w->header = (struct tw_fdr_header){
	    .version = options->version ? (uint16_t)options->version : latest,
	    .constant_tsc = true,
	    .nonstop_tsc = true,
	    .layout = fdr_layout_for(options->byte_order),
	};
	return 0;
}

void fdr_begin_log(struct tw_writer *writer, const struct tw_clock *clock)
{
	struct fdr_writing *w = writer->state;
	uint64_t asked = writer->options.ticks_per_second, frequency = asked   ? asked
	                                                               : clock ? clock->ticks_per_second
	                                                                       : 0;
	uint8_t bytes[TW_FDR_HEADER_SIZE];
	if (w->header.cycle_frequency)
		return;
	w->header.cycle_frequency = frequency ? frequency : TW_NS_PER_SECOND;
	tw_fdr_header_encode(&w->header, bytes);
	tw_put(&writer->out, bytes, sizeof bytes);
}

int fdr_write_batch(struct tw_writer *writer, const struct tw_reader *reader, const struct tw_batch *batch,
                    fdr_put_fn *put)
{
	struct fdr_writing *w = writer->state;
	int status = 0;
	w->dictionary = tw_reader_dictionary(reader);
	fdr_functions_of(&w->functions, reader);
	fdr_begin_log(writer, tw_reader_clock(reader));
	for (size_t i = 0; i < batch->count && status >= 0; i++) {
		const struct tw_event *event = &batch->events[i];
		status = put(writer, event, event->argument_count ? batch->arguments + event->first_argument : NULL);
	}
	return status;
}
