/* basic_format.c - XRay basic logs as a format: finding, repairing and rewriting them. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/bytes/bytes.h"
#include "fdr/state.h"
#include "fdr/write.h"

enum { RECORD = TW_BASIC_RECORD_SIZE };

/* What a version cannot hold: version 1 has no tail exits, versions before 3 no processes. */
static bool fit(struct tw_basic_record *record, uint16_t version)
{
	bool changed = false;
	if (version < 2 && record->record_type != FDR_BASIC_ARGUMENT && record->kind == TW_FDR_TAIL_EXIT) {
		record->kind = TW_FDR_EXIT;
		changed = true;
	}
	if (version < 3 && record->record_type != FDR_BASIC_ARGUMENT && record->process) {
		record->process = 0;
		changed = true;
	}
	return changed;
}

static int rewrite_run(struct tw_reader *reader, struct tw_window *window, const struct fdr_buffer *run,
                       const struct tw_fdr_header *target, struct tw_output *out, struct tw_rewrite_result *result)
{
	const struct fdr_basic_source f = {.reader = reader,
	                                   .log = ((struct fdr_state *)reader->state)->log,
	                                   .window = window};
	for (uint64_t at = run->offset; at < run->end; at += RECORD) {
		struct tw_basic_record record = {0};
		bool good = false;
		size_t have;
		uint8_t bytes[RECORD];
		int status = fdr_basic_record_at(&f, at, &record, &good, &have);
		if (status <= 0)
			return status;
		result->records_in++;
		if (target->version >= 3)
			fdr_basic_fit_process(f.log, &record);
		result->records_changed += fit(&record, target->version);
		if (!good || tw_basic_encode(&record, target->version, target->layout, bytes) < 0) {
			result->records_dropped++;
			continue;
		}
		tw_put(out, bytes, sizeof bytes);
		result->records_out++;
	}
	return 0;
}

static int rewrite_all(struct tw_reader *reader, const struct tw_fdr_header *target, struct tw_output *out,
                       struct tw_rewrite_result *result)
{
	struct fdr_state *state = reader->state;
	struct tw_window records = {.input = reader->input};
	struct fdr_buffer run = {.next = TW_FDR_HEADER_SIZE};
	uint8_t header[TW_FDR_HEADER_SIZE];
	int status;
	tw_fdr_header_encode(target, header);
	tw_put(out, header, sizeof header);
	while ((status = fdr_find_run(reader, state->log, &state->borders, run.next, &run)) > 0 && !out->error) {
		if (!run.has_thread)
			result->lost_bytes += run.next - run.offset;
		else if (tw_thread_wanted(&reader->options, run.thread))
			status = rewrite_run(reader, &records, &run, target, out, result);
		if (status < 0)
			break;
	}
	tw_window_free(&records);
	return status < 0 ? status : 0;
}

static int repair(struct tw_reader *reader, struct tw_output *out, struct tw_rewrite_result *result)
{
	struct tw_fdr_header header = ((struct fdr_state *)reader->state)->log->header;
	header.reserved_bits = 0;
	return rewrite_all(reader, &header, out, result);
}

static int transcode(struct tw_reader *reader, struct tw_output *out, const struct tw_write_options *options,
                     struct tw_rewrite_result *result)
{
	struct tw_fdr_header header = ((struct fdr_state *)reader->state)->log->header;
	header.reserved_bits = 0;
	if (options->version > BASIC_VERSION_MAX)
		return tw_fail(reader, TW_ERR_VALUE, "xray-basic has no version %u, only 1 to %d", options->version,
		               BASIC_VERSION_MAX);
	if (options->version)
		header.version = (uint16_t)options->version;
	if (options->byte_order != TW_BYTES_AS_SOURCE)
		header.layout = fdr_layout_for(options->byte_order);
	return rewrite_all(reader, &header, out, result);
}

/* ---- The format. ---- */

static int probe(const uint8_t *bytes, size_t size)
{
	struct tw_fdr_header header;
	struct tw_basic_record record;
	if (size < 4 || (size < TW_FDR_HEADER_SIZE && memcmp(bytes + 1, "\0\0\0", 3) != 0))
		return 0;
	if (size < TW_FDR_HEADER_SIZE)
		return bytes[0] >= 1 && bytes[0] <= BASIC_VERSION_MAX ? 20 : 0;
	if (tw_fdr_header_decode(bytes, size, &header) < 0)
		return fdr_newer_version(bytes, size) && bytes[2] == 0 ? 15 : 0;
	if (header.type != 0)
		return 0;
	if (size < TW_FDR_HEADER_SIZE + RECORD)
		return 40;
	return tw_basic_decode(bytes + TW_FDR_HEADER_SIZE, header.version, header.layout, &record) == 0 ? 80 : 10;
}

const struct tw_format tw_format_basic = {
    .name = FDR_BASIC_NAME,
    .title = "XRay basic mode log (LLVM, xray-basic)",
    .rules = fdr_rules,
    .rule_count = FDR_RULES,
    .traits =
	{
	    .copy_order = TW_ORDER_TIME,
	    .takes_frequency = true,
	    .names_events = true,
	},
    .files =
	{
	    .probe = probe,
	},
    .reading =
	{
	    .open = fdr_open,
	    .open_shard = fdr_open_shard,
	    .read = fdr_read,
	    .read_record = fdr_read_record,
	    .close = fdr_close,
	},
    .survey =
	{
	    .info = fdr_info,
	},
    .rewriting =
	{
	    .repair = repair,
	    .transcode = transcode,
	},
};
