/* find.c - the buffer at an offset: what it begins with, and where it ends. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "fdr/buffer/finder.h"

int fdr_find_junk(struct fdr_finder *f, struct fdr_buffer *buffer)
{
	int status = fdr_scan(f, buffer->offset + 1, f->size, &buffer->next);
	buffer->end = buffer->offset;
	if (status < 0)
		return status;
	uint64_t found = buffer->next - buffer->offset;
	tw_report(f->reader, &fdr_rules[FDR_JUNK], buffer->offset, buffer->offset, 0,
	          "expected a buffer, found %" PRIu64 " byte%s that belong%s to none", found, tw_plural(found),
	          found == 1 ? "s" : "");
	return 1;
}

static void take_lead_record(const struct fdr_log *log, const struct tw_fdr_record *record, struct fdr_buffer *buffer)
{
	switch ((unsigned)record->kind) {
	case TW_FDR_BUFFER_EXTENTS:
		buffer->extents = record->value;
		break;
	case TW_FDR_NEW_BUFFER:
		buffer->thread = fdr_thread_of(&log->header, record->value);
		buffer->wide_thread = buffer->thread == (uint32_t)record->value;
		buffer->has_new_buffer = true;
		break;
	case TW_FDR_WALL_TIME:
		if (record->value < UINT64_MAX / 2000000)
			buffer->wall_us = record->value * 1000000 + record->microseconds;
		if (!buffer->wall_us) /* no clock says that: it is what version 1 needs where nothing is known */
			buffer->wall_us = UINT64_MAX;
		break;
	case TW_FDR_PID:
		buffer->process = (uint32_t)record->value;
		break;
	case TW_FDR_NEW_CPU_ID:
		buffer->tsc = record->tsc;
		break;
	}
}

/* Takes the records before the first that is timed by a delta. */
static void take_lead(const struct fdr_log *log, const struct fdr_look *look, struct fdr_buffer *buffer)
{
	struct tw_fdr_decoder decoder = {.bytes = look->bytes,
	                                 .left = look->have,
	                                 .version = log->header.version,
	                                 .layout = log->header.layout};
	struct tw_fdr_record record;
	bool seen[TW_FDR_KINDS] = {0};
	while (buffer->tsc == UINT64_MAX && tw_fdr_next(&decoder, &record) > 0) {
		if ((unsigned)record.kind < FDR_METADATA || seen[record.kind])
			break;
		seen[record.kind] = true;
		take_lead_record(log, &record, buffer);
	}
}

/* Reports what the first records should have been. */
static void check_lead(struct fdr_finder *f, const struct fdr_look *look, const struct fdr_buffer *buffer)
{
	uint16_t version = f->log->header.version;
	uint64_t at = buffer->offset;
	if (version == 1 && look->extents)
		tw_report(f->reader, &fdr_rules[FDR_EXTENTS_UNEXPECTED], at, at, 0,
		          "a log of version 1 has a BufferExtents record");
	if (version >= 2 && !look->extents)
		tw_report(f->reader, &fdr_rules[FDR_EXTENTS_MISSING], at, at, 0,
		          "expected BufferExtents, found NewBuffer");
	if (!buffer->thread_believed)
		tw_report(f->reader, &fdr_rules[FDR_NEW_BUFFER_MISSING], at, at + FDR_RECORD, 0,
		          "no other buffer is of NewBuffer's thread %" PRIu64
		          ", and no WallTime follows: the thread is unknown",
		          buffer->thread);
	else if (!buffer->has_new_buffer)
		tw_report(f->reader, &fdr_rules[FDR_NEW_BUFFER_MISSING], at, at + FDR_RECORD, 0,
		          "expected NewBuffer after BufferExtents: the thread is unknown");
	else if (!buffer->wide_thread)
		tw_report(f->reader, &fdr_rules[FDR_THREAD_ID], at, at + 1, 0,
		          "the 4-byte thread id is impossible, its 2 bytes say %" PRIu64, buffer->thread);
}

int fdr_find_buffer(struct tw_reader *reader, const struct fdr_log *log, struct tw_window *window, uint64_t offset,
                    struct fdr_buffer *buffer)
{
	struct fdr_finder f = {.reader = reader, .log = log, .window = window, .size = tw_input_size(reader->input)};
	struct fdr_look look;
	if (fdr_is_basic(log))
		return fdr_find_run(reader, log, window, offset, buffer);
	*buffer =
	    (struct fdr_buffer){.offset = offset, .wall_us = UINT64_MAX, .tsc = UINT64_MAX, .extents = UINT64_MAX};
	int status = fdr_pass_header(reader, log, window, &buffer->offset);
	if (status >= 0 && fdr_is_flight(&log->header))
		status = fdr_flight_first(reader, log, window, &buffer->offset);
	offset = buffer->offset;
	if (status < 0 || offset >= f.size)
		return status;
	status = fdr_pass_foreign(reader, log, window, offset);
	if (status)
		return status < 0 ? status : 0;
	status = fdr_look_at(&f, offset, &look);
	if (status < 0)
		return status;
	if (look.have == 0)
		return 0;
	if (!look.weak)
		return fdr_find_junk(&f, buffer);
	if (look.extents && look.have < FDR_RECORD) {
		buffer->end = buffer->next = f.size;
		buffer->cut = true;
		tw_report(reader, &fdr_rules[FDR_BUFFER_TRUNCATED], offset, f.size, 0,
		          "expected a BufferExtents record of 16 bytes, found the end of the file after %zu",
		          look.have);
		return 1;
	}
	take_lead(log, &look, buffer);
	buffer->has_thread = buffer->thread_believed = true;
	if (buffer->has_new_buffer && !look.strong && buffer->thread)
		status = fdr_check_thread(reader, log, (uint32_t)buffer->thread, &buffer->thread_believed);
	if (status < 0)
		return status;
	check_lead(&f, &look, buffer);
	buffer->has_new_buffer &= buffer->thread_believed && (look.strong || buffer->thread);
	buffer->thread = buffer->has_new_buffer ? buffer->thread : 0;
	return look.extents ? fdr_find_by_extents(&f, buffer) : fdr_find_by_walking(&f, buffer);
}
