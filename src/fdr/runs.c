/* runs.c - basic logs: each run of one thread's records is taken as a buffer, so that all else is shared. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/bytes/bytes.h"
#include "fdr/state.h"
#include "fdr/write.h"

enum { ARGUMENT = 1, RECORD = TW_BASIC_RECORD_SIZE };

/* ---- Where runs begin and end. ---- */

struct run_finder {
	struct tw_reader *reader;
	const struct fdr_log *log;
	struct tw_window *window;
};

/* Decodes the record at an offset. Returns 1, 0 at the end of the file (or of its last whole record), or a negative
 * status; *good tells whether there is such a record. */
static int look_at(struct run_finder *f, uint64_t at, struct tw_basic_record *record, bool *good, size_t *have)
{
	const uint8_t *bytes;
	int status = tw_window_view(f->window, at, RECORD, &bytes, have);
	if (status < 0)
		return tw_fail(f->reader, status, "%s", tw_input_error(f->reader->input));
	if (*have < RECORD)
		return 0;
	*good = tw_basic_decode(bytes, f->log->header.version, f->log->header.layout, record) == 0;
	return 1;
}

static void report_bad(struct run_finder *f, uint64_t at, const struct tw_basic_record *record)
{
	if (record->record_type > ARGUMENT)
		tw_report(f->reader, &fdr_rules[BASIC_RECORD_TYPE], at, at, 0, "expected record type 0 or 1, found %u",
		          record->record_type);
	else
		tw_report(f->reader, &fdr_rules[BASIC_KIND], at, at + 3, 0, "expected kind 0 to 3, found %u",
		          record->kind);
}

static bool same_thread(const struct fdr_buffer *run, const struct tw_basic_record *record)
{
	return run->thread == record->thread && run->process == record->process;
}

/* An argument of versions before 3 tells a process, its function does not: it goes with its thread. */
static void fit_process(const struct fdr_log *log, struct tw_basic_record *record)
{
	if (log->header.version < 3)
		record->process = 0;
}

static int follow_run(struct run_finder *f, struct fdr_buffer *run)
{
	for (;;) {
		struct tw_basic_record record = {0};
		bool good = false;
		size_t have;
		int status = look_at(f, run->next, &record, &good, &have);
		if (status <= 0)
			return status < 0 ? status : 1;
		fit_process(f->log, &record);
		if (run->has_thread ? !good || !same_thread(run, &record) : good)
			return 1;
		if (!good)
			report_bad(f, run->next, &record);
		run->next += RECORD;
	}
}

int fdr_find_run(struct tw_reader *reader, const struct fdr_log *log, struct tw_window *window, uint64_t offset,
                 struct fdr_buffer *run)
{
	struct run_finder f = {.reader = reader, .log = log, .window = window};
	struct tw_basic_record record = {0};
	bool good = false;
	size_t have;
	*run = (struct fdr_buffer){.offset = offset, .end = offset, .next = offset, .wall_us = 0, .tsc = UINT64_MAX};
	int status = look_at(&f, offset, &record, &good, &have);
	if (status < 0 || have == 0)
		return status;
	if (have < RECORD) {
		run->next += have;
		tw_report(reader, &fdr_rules[BASIC_SIZE], offset, offset + have, 0,
		          "expected a record of %d bytes, found the end of the file after %zu", RECORD, have);
		return 1;
	}
	fit_process(log, &record);
	run->has_thread = good;
	run->thread = record.thread;
	run->process = record.process;
	if (good && record.record_type != ARGUMENT)
		run->tsc = record.tsc;
	status = follow_run(&f, run);
	if (run->has_thread)
		run->end = run->next;
	return status;
}

/* ---- The cursor. ---- */

int fdr_run_next(struct fdr_cursor *cursor, struct fdr_item *item)
{
	const uint8_t *bytes;
	size_t have;
	struct tw_basic_record record;
	if (cursor->at == cursor->end)
		return 0;
	int status = fdr_cursor_bytes(cursor, &bytes, &have);
	if (status < 0)
		return tw_fail(cursor->reader, status, "%s", tw_input_error(cursor->reader->input));
	if (have < RECORD ||
	    tw_basic_decode(bytes, cursor->log->header.version, cursor->log->header.layout, &record) < 0)
		return 0;
	bool argument = record.record_type == ARGUMENT;
	if (!argument) {
		cursor->tsc = record.tsc;
		cursor->cpu = record.cpu;
	}
	*item = (struct fdr_item){
	    .offset = cursor->at,
	    .record = {.kind = argument ? TW_FDR_CALL_ARGUMENT : (enum tw_fdr_kind)record.kind,
	               .size = RECORD,
	               .function_id = (uint32_t)record.function_id,
	               .tsc = record.tsc,
	               .value = record.argument,
	               .padded = record.padded},
	};
	cursor->at += RECORD;
	return 1;
}

/* ---- Writing again. ---- */

/* What a version cannot hold: version 1 has no tail exits, versions before 3 no processes. */
static bool fit(struct tw_basic_record *record, uint16_t version)
{
	bool changed = false;
	if (version < 2 && record->record_type != ARGUMENT && record->kind == TW_FDR_TAIL_EXIT) {
		record->kind = TW_FDR_EXIT;
		changed = true;
	}
	if (version < 3 && record->record_type != ARGUMENT && record->process) {
		record->process = 0;
		changed = true;
	}
	return changed;
}

static int rewrite_run(struct tw_reader *reader, struct tw_window *window, const struct fdr_buffer *run,
                       const struct tw_fdr_header *target, struct tw_output *out, struct tw_rewrite_result *result)
{
	struct run_finder f = {.reader = reader, .log = ((struct fdr_state *)reader->state)->log, .window = window};
	for (uint64_t at = run->offset; at < run->end; at += RECORD) {
		struct tw_basic_record record = {0};
		bool good = false;
		size_t have;
		uint8_t bytes[RECORD];
		int status = look_at(&f, at, &record, &good, &have);
		if (status <= 0)
			return status;
		result->records_in++;
		if (target->version >= 3)
			fit_process(f.log, &record);
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
	if (tw_fdr_header_decode(bytes, size, &header) < 0 || header.type != 0)
		return 0;
	if (size < TW_FDR_HEADER_SIZE + RECORD)
		return 40;
	return tw_basic_decode(bytes + TW_FDR_HEADER_SIZE, header.version, header.layout, &record) == 0 ? 80 : 10;
}

const struct tw_format tw_format_basic = {
    .name = "xray-basic",
    .title = "XRay basic mode log (LLVM, xray-basic)",
    .rules = fdr_rules,
    .rule_count = FDR_RULES,
    .traits =
	{
	    .copy_order = TW_ORDER_TIME,
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
