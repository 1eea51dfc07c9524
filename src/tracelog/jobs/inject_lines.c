/* inject_lines.c - a log with the lines of its source, as the adaptor of the plug-in for Visual Studio writes it.
 *
 * The first pass reads the log as for a profile, with code and maps that may come late, and notes the line of each
 * instruction by its session, function and address. The second follows the stacks of the records that are written:
 * which function an instruction of a record is in, its stack tells. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tracelog/jobs/inject_lines.h"

#include "base/memory/memory.h"
#include "tracelog/jobs/source_lines.h"
#include "tracelog/log/record.h"
#include "tracelog/tracelog.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	SHARE = 8,       /* of the memory limit, for all instructions and lines */
	NUMBER_ROOM = 16 /* bytes of a line's number in an item */
};

struct tracelog_lines_injector {
	struct tracelog_source_lines known; /* of the first pass */
	struct tw_reader *reader;           /* of the second, as all that follows */
	struct tracelog_cursor cursor;
	struct tracelog_log *log;
	uint32_t *pending; /* lines to be written */
	size_t pending_count, pending_room, next;
	struct tw_text list;
	bool failed; /* no memory */
};

/* The number of an instruction's line, which is to be written before it; 0: not known. */
static uint32_t number_of(struct tracelog_lines_injector *lines, uint32_t iid, uint64_t ip)
{
	const struct tracelog_placed_ip wanted = {.ip = ip, .session = lines->log->session.number, .iid = iid};
	uint32_t place;
	if (!tracelog_find_line(&lines->known, &wanted, &place))
		return 0;
	struct tracelog_line_of_function *line = &lines->known.lines[place];
	if (line->met)
		return place + 1;
	if (!tw_grow(&lines->pending, &lines->pending_room, lines->pending_count + 1, sizeof *lines->pending)) {
		lines->failed = true;
		return 0;
	}
	line->met = true;
	lines->pending[lines->pending_count++] = place;
	return place + 1;
}

/* The function of a frame of a thread's stack, by its depth from 1; none where no record told it. */
static uint32_t function_of(const struct tracelog_thread *thread, size_t depth)
{
	const struct tracelog_stack_frame *frame =
	    depth && depth <= thread->stack.depth ? &thread->stack.frames[depth - 1] : NULL;
	return frame && frame->is_function ? frame->iid : TW_TRACELOG_IID_NONE;
}

/* An item with the number of a line in the place of its instruction. */
static bool add_item(struct tracelog_lines_injector *lines, const uint8_t *item, size_t size, uint32_t number)
{
	char text[NUMBER_ROOM];
	const uint8_t *colon = memrchr(item, ':', size);
	int length = snprintf(text, sizeof text, ":0x%" PRIx32, number);
	return tw_text_add(&lines->list, (const char *)item, (size_t)(colon - item)) &&
	       tw_text_add(&lines->list, text, (size_t)length);
}

/* Renews the items of a record. `innermost` is the function of an allocation. */
static bool take_list(struct tracelog_lines_injector *lines, struct tw_tracelog_record *record, uint32_t innermost)
{
	struct tw_text *list = &lines->list;
	struct tw_tracelog_text rest = record->list;
	struct tw_tracelog_item item;
	const uint8_t *start = rest.bytes;
	bool any = false, good = true;
	list->length = 0;
	lines->cursor.record = *record;
	lines->cursor.line = (struct tw_text_line){.bytes = start, .size = rest.size};
	while (good && tracelog_cursor_item(&lines->cursor, &rest, &item)) {
		const uint32_t iid = item.kind == TW_TRACELOG_FRAME ? item.iid : innermost;
		const size_t size = (size_t)(rest.bytes - start);
		good = !item.has_ip ? tw_text_add(list, (const char *)start, size)
		                    : add_item(lines, start, size, item.ip_known ? number_of(lines, iid, item.ip) : 0);
		any |= item.has_ip;
		start = rest.bytes;
	}
	lines->failed |= !good;
	if (any && good)
		record->list = (struct tw_tracelog_text){(const uint8_t *)list->bytes, list->length};
	return any;
}

/* The state of the log needs no code: the lines are known. */
static void follow(struct tracelog_lines_injector *lines, const struct tw_tracelog_record *record)
{
	struct tw_tracelog_record followed = *record;
	const bool is_function = record->kind == TW_TRACELOG_FUN_INF || record->kind == TW_TRACELOG_FUN_CMF ||
	                         record->kind == TW_TRACELOG_FUN_CSF;
	if (is_function)
		followed.list.size = 0;
	lines->cursor.record = followed;
	lines->cursor.line = (struct tw_text_line){.bytes = followed.list.bytes, .size = followed.list.size};
	tracelog_take(lines->log, &followed);
	lines->failed |= lines->log->failed;
}

bool tracelog_inject_lines_take(struct tracelog_lines_injector *lines, struct tw_tracelog_record *record)
{
	const bool is_sample = record->kind == TW_TRACELOG_SAM_STR || record->kind == TW_TRACELOG_STR_SAM;
	lines->next = 0;
	follow(lines, record);
	if (lines->failed || (!is_sample && record->kind != TW_TRACELOG_SAM_MEM))
		return false;
	const struct tracelog_thread *thread = tracelog_living_thread(lines->log, record->thread);
	bool any = take_list(lines, record, function_of(thread, thread->stack.depth));
	if (!record->has_ip)
		return any;
	record->ip = record->ip_known ? number_of(lines, function_of(thread, record->match), record->ip) : 0;
	record->ip_known = true;
	record->style &= ~(unsigned)(TW_TRACELOG_BARE_IP | TW_TRACELOG_PADDED_IP);
	return true;
}

static bool is_announced(const struct tracelog_lines_injector *lines, const struct tracelog_line_of_function *line)
{
	struct tracelog_log *log = lines->log;
	uint32_t place;
	if (line->session != log->session.number)
		return true;
	if (!tw_map_find(&log->objects[TRACELOG_FUNCTION].by_iid, line->iid, &place))
		return false;
	const struct tracelog_object *function = tracelog_object(log, TRACELOG_FUNCTION, place);
	return function->announced || function->named;
}

bool tracelog_inject_lines_next(struct tracelog_lines_injector *lines, bool at_end, struct tw_tracelog_record *made)
{
	while (lines->next < lines->pending_count) {
		const uint32_t place = lines->pending[lines->next];
		const struct tracelog_line_of_function *line = &lines->known.lines[place];
		struct tracelog_line_file *file = &lines->known.files[line->file];
		*made = (struct tw_tracelog_record){.kind = TW_TRACELOG_FIL_SRC,
		                                    .file = line->file + 1,
		                                    .name = {(const uint8_t *)file->path, file->size}};
		if (!at_end && !is_announced(lines, line)) {
			lines->next++;
			continue;
		}
		if (!file->written)
			return file->written = true;
		*made = (struct tw_tracelog_record){.kind = TW_TRACELOG_LIN_SRC,
		                                    .iid = line->iid,
		                                    .file = line->file + 1,
		                                    .line = place + 1,
		                                    .start_line = line->at.line,
		                                    .start_column = line->at.column,
		                                    .end_line = line->at.end_line,
		                                    .end_column = line->at.end_column};
		lines->pending_count--;
		memmove(lines->pending + lines->next, lines->pending + lines->next + 1,
		        (lines->pending_count - lines->next) * sizeof *lines->pending);
		return true;
	}
	return false;
}

bool tracelog_inject_lines_failed(const struct tracelog_lines_injector *lines)
{
	return lines->failed;
}

/* ---- The beginning and the end. ---- */

static int read_all(struct tracelog_lines_injector *lines, struct tw_reader *reader)
{
	struct tw_reader *first = NULL;
	int status = tw_input_spool(reader->input, reader->options.temporary_directory);
	if (status == 0)
		status = tw_open_again(&first, reader);
	if (status == 0) {
		first->request = (struct tw_request){.kinds = 1u << TW_ALLOCATION_SAMPLE, .unordered = true};
		status = tracelog_find_lines(first, &lines->known, reader);
	}
	if (status < 0)
		tw_fail(reader, status, "%s", first ? tw_reader_error(first) : tw_status_text(status));
	tw_close(first);
	return status < 0 ? status : 0;
}

/* Nothing is looked at but what the stacks are. */
static int begin_second(struct tracelog_lines_injector *lines, struct tw_reader *reader)
{
	int status = tw_open_again(&lines->reader, reader);
	if (status < 0)
		return tw_fail(reader, status, "%s",
		               lines->reader ? tw_reader_error(lines->reader) : tw_status_text(status));
	lines->log = calloc(1, sizeof *lines->log);
	if (!lines->log)
		return tw_fail_memory(reader);
	tracelog_cursor_init(&lines->cursor, lines->reader);
	if (!tracelog_log_init(lines->log, lines->reader, &lines->cursor))
		return tw_fail_memory(reader);
	lines->log->request = (struct tracelog_request){0};
	return 0;
}

int tracelog_inject_lines_new(struct tracelog_lines_injector **made, struct tw_reader *reader, bool *own)
{
	struct tracelog_lines_injector *lines = *made = calloc(1, sizeof *lines);
	if (!lines)
		return tw_fail_memory(reader);
	lines->known.memory = tw_memory_limit(reader) / SHARE;
	int status = read_all(lines, reader);
	if (status == 0 && lines->known.failed)
		status = tw_fail_memory(reader);
	*own = lines->known.own;
	if (status == 0 && lines->known.line_count && !lines->known.own)
		return begin_second(lines, reader);
	tracelog_inject_lines_free(lines);
	*made = NULL;
	return status;
}

void tracelog_inject_lines_free(struct tracelog_lines_injector *lines)
{
	if (!lines)
		return;
	if (lines->log)
		tracelog_log_free(lines->log);
	free(lines->log);
	tracelog_cursor_free(&lines->cursor);
	tw_close(lines->reader);
	free(lines->pending);
	tw_text_free(&lines->list);
	tracelog_source_lines_free(&lines->known);
	free(lines);
}
