/* write.c - the header of an XRay log that is written. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "fdr/write.h"

#include "fdr/fdr.h"

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

struct tw_fdr_header fdr_header_for(const struct tw_write_options *options, uint16_t latest)
{
	return (struct tw_fdr_header){
	    .version = options->version ? (uint16_t)options->version : latest,
	    .constant_tsc = true,
	    .nonstop_tsc = true,
	    .layout = fdr_layout_for(options->byte_order),
	};
}

static uint64_t frequency_for(const struct tw_write_options *options, const struct tw_clock *clock)
{
	uint64_t frequency = options->ticks_per_second ? options->ticks_per_second : clock->ticks_per_second;
	return frequency ? frequency : TW_NS_PER_SECOND;
}

void fdr_begin_log(struct tw_writer *writer, struct tw_fdr_header *header, const struct tw_clock *clock)
{
	uint8_t bytes[TW_FDR_HEADER_SIZE];
	if (header->cycle_frequency)
		return;
	header->cycle_frequency = frequency_for(&writer->options, clock);
	tw_fdr_header_encode(header, bytes);
	tw_put(&writer->out, bytes, sizeof bytes);
}
