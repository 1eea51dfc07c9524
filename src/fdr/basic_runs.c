/* basic_runs.c - basic logs: each run of one thread's records is taken as a buffer, so that all else is shared. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "fdr/fdr.h"

enum { RECORD = TW_BASIC_RECORD_SIZE };

/* ---- Where runs begin and end. ---- */

int fdr_basic_record_at(const struct fdr_basic_source *f, uint64_t at, struct tw_basic_record *record, bool *good,
                        size_t *have)
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

static void report_bad(struct fdr_basic_source *f, uint64_t at, const struct tw_basic_record *record)
{
	if (record->record_type > FDR_BASIC_ARGUMENT)
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

static int follow_run(struct fdr_basic_source *f, struct fdr_buffer *run)
{
	for (;;) {
		struct tw_basic_record record = {0};
		bool good = false;
		size_t have;
		int status = fdr_basic_record_at(f, run->next, &record, &good, &have);
		if (status <= 0)
			return status < 0 ? status : 1;
		fdr_basic_fit_process(f->log, &record);
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
	struct fdr_basic_source f = {.reader = reader, .log = log, .window = window};
	struct tw_basic_record record = {0};
	bool good = false;
	size_t have;
	*run = (struct fdr_buffer){.offset = offset, .end = offset, .next = offset, .wall_us = 0, .tsc = UINT64_MAX};
	int status = fdr_basic_record_at(&f, offset, &record, &good, &have);
	if (status < 0 || have == 0)
		return status;
	if (have < RECORD) {
		run->next += have;
		tw_report(reader, &fdr_rules[BASIC_SIZE], offset, offset + have, 0,
		          "expected a record of %d bytes, found the end of the file after %zu", RECORD, have);
		return 1;
	}
	fdr_basic_fit_process(log, &record);
	run->has_thread = good;
	run->thread = record.thread;
	run->process = record.process;
	if (good && record.record_type != FDR_BASIC_ARGUMENT)
		run->tsc = record.tsc;
	status = follow_run(&f, run);
	if (run->has_thread)
		run->end = run->next;
	return status;
}
