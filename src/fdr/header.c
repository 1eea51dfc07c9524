/* header.c - a log's header. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/bytes/bytes.h"
#include "base/text/plural.h"
#include "fdr/known.h"

#include <inttypes.h>
#include <stdlib.h>

enum { RECORD = TW_FDR_METADATA_SIZE };
enum { BUFFER_MIN = 4 * RECORD + 2 * TW_FDR_FUNCTION_SIZE }; /* what a buffer begins with, and one call */

static void check_header(struct tw_reader *reader, const struct tw_fdr_header *header)
{
	uint64_t frequency = header->cycle_frequency;
	if (!header->constant_tsc || !header->nonstop_tsc)
		tw_report(reader, &fdr_rules[XRAY_TSC_FLAGS], 0, 4, 0,
		          "constant_tsc is %d and nonstop_tsc %d, expected 1 and 1", header->constant_tsc,
		          header->nonstop_tsc);
	if (frequency == 0)
		tw_report(reader, &fdr_rules[XRAY_FREQUENCY_ZERO], 0, 8, 0,
		          "the cycle frequency is 0: a tick is shown as 1 ns");
	else if (frequency < 1000000 || frequency > 100 * TW_NS_PER_SECOND)
		tw_report(reader, &fdr_rules[XRAY_FREQUENCY_IMPLAUSIBLE], 0, 8, 0,
		          "the cycle frequency is %" PRIu64 " Hz, expected 1 MHz to 100 GHz", frequency);
	else if (frequency == TW_NS_PER_SECOND && reader->options.checking == TW_CHECK_ALL)
		tw_report(reader, &fdr_rules[XRAY_CLOCK_FALLBACK], 0, 8, 0,
		          "the cycle frequency is 1 GHz: the runtime used clock_gettime, CPU numbers are not real");
	if (header->type == 1 && header->buffer_size < BUFFER_MIN)
		tw_report(reader, &fdr_rules[FDR_BUFFER_SIZE], 0, 16, 0,
		          "the buffer size is %" PRIu64 " byte%s, expected at least %d", header->buffer_size,
		          tw_plural(header->buffer_size), BUFFER_MIN);
	if (reader->options.checking == TW_CHECK_ALL &&
	    (header->reserved_bits || (header->type == 1 && header->reserved && !fdr_is_flight(header))))
		tw_report(reader, &fdr_rules[XRAY_HEADER_RESERVED], 0, header->reserved_bits ? 4 : 24, 0,
		          "reserved bits are 0x%" PRIx32 " and reserved bytes 0x%" PRIx64 ", expected 0",
		          header->reserved_bits, header->reserved);
}

/* Whether the first buffer has a NewBuffer record without bytes that mean nothing and are not 0. */
static bool begins_clean(const struct fdr_log *log, const uint8_t *bytes, size_t have)
{
	struct tw_fdr_decoder decoder = {.bytes = bytes,
	                                 .left = have,
	                                 .version = log->header.version,
	                                 .layout = log->header.layout};
	struct tw_fdr_record record;
	int status = tw_fdr_next(&decoder, &record);
	if (status > 0 && record.kind == TW_FDR_BUFFER_EXTENTS)
		status = tw_fdr_next(&decoder, &record);
	return status > 0 && record.kind == TW_FDR_NEW_BUFFER && !record.padded;
}

unsigned fdr_newer_version(const uint8_t *bytes, size_t size)
{
	enum { VERSION_MOST = 99 };
	if (size < TW_FDR_HEADER_SIZE)
		return 0;
	const unsigned version = tw_load16(bytes, false), type = tw_load16(bytes + 2, false);
	const uint64_t frequency = tw_load64(bytes + 8, false);
	const unsigned most = type == 0 ? BASIC_VERSION_MAX : FDR_VERSION_MAX;
	bool plausible =
	    type <= 1 && (bytes[4] & 3) == 3 && frequency >= 1000000 && frequency <= 100 * TW_NS_PER_SECOND;
	return plausible && version > most && version <= VERSION_MOST ? version : 0;
}

/* Source: doc/formats/xray-fdr.md, "Logs of the flight recorder". */
const char fdr_flight_mark[8] = {'t', 'w', 'f', 'l', 'i', 'g', 'h', 't'};

bool fdr_is_flight(const struct tw_fdr_header *header)
{
	uint8_t bytes[8];
	tw_store64(bytes, header->reserved, false);
	return header->type == 1 && header->layout == TW_FDR_LITTLE &&
	       memcmp(bytes, fdr_flight_mark, sizeof fdr_flight_mark) == 0;
}

int fdr_read_header(struct tw_reader *reader, struct fdr_log *log)
{
	const uint8_t *bytes;
	size_t have;
	const char *name = tw_input_name(reader->input);
	int status = tw_window_view(&reader->window, 0, TW_PROBE_SIZE, &bytes, &have);
	if (status < 0)
		return tw_fail(reader, status, "%s", tw_input_error(reader->input));
	if (have < TW_FDR_HEADER_SIZE)
		return tw_fail(reader, TW_ERR_EMPTY,
		               "%s: offset 0x%zx: expected the %d bytes of an XRay log's header, found the end of "
		               "the file after %zu",
		               name, have, TW_FDR_HEADER_SIZE, have);
	if (fdr_newer_version(bytes, have) && tw_fdr_header_decode(bytes, have, &log->header) < 0)
		return tw_fail(reader, TW_ERR_FORMAT,
		               "%s: offset 0x0: version %u of %s is not known: versions 1 to %d are", name,
		               fdr_newer_version(bytes, have), reader->format->name,
		               strcmp(reader->format->name, FDR_BASIC_NAME) == 0 ? BASIC_VERSION_MAX : FDR_VERSION_MAX);
	if (tw_fdr_header_decode(bytes, have, &log->header) < 0)
		return tw_fail(reader, TW_ERR_FORMAT,
		               "%s: offset 0x0: expected version 1 to 5 and type 0 or 1 of an XRay log, found "
		               "the bytes %02x %02x %02x %02x",
		               name, bytes[0], bytes[1], bytes[2], bytes[3]);
	memcpy(log->header_bytes, bytes, sizeof log->header_bytes);
	uint16_t type = strcmp(reader->format->name, FDR_BASIC_NAME) == 0 ? 0 : 1;
	if (log->header.type != type)
		return tw_fail(reader, TW_ERR_FORMAT, "%s: offset 0x2: expected type %u of %s, found type %u", name,
		               type, reader->format->name, log->header.type);
	if (reader->options.frequency)
		log->header.cycle_frequency = reader->options.frequency;
	uint64_t frequency = log->header.cycle_frequency;
	log->frequency = frequency == 0 || frequency > TW_FREQUENCY_MAX ? TW_NS_PER_SECOND : frequency;
	reader->clock.ticks_per_second = log->frequency == frequency ? frequency : 0;
	reader->clock.has_cpu = true;
	check_header(reader, &log->header);
	log->clean = type == 1 && begins_clean(log, bytes + TW_FDR_HEADER_SIZE, have - TW_FDR_HEADER_SIZE);
	return 0;
}
void fdr_log_free(struct fdr_log *log)
{
	if (!log)
		return;
	free(log->places);
	free(log->threads);
	tw_text_free(&log->notes);
	tw_map_free(&log->types);
	tw_text_free(&log->type_names);
	free(atomic_load(&log->known));
	free(log);
}
