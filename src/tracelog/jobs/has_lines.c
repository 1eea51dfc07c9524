/* has_lines.c - whether a log has lines of its source, whose numbers stand in the place of instructions. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tracelog/jobs/has_lines.h"

#include "core/format.h"
#include "tracelog/lines/cursor.h"

enum { LINES_MOST = 1 << 20 }; /* lines of source have smaller numbers, instructions larger addresses */

static bool is_address(uint64_t ip, unsigned style)
{
	return ip >= LINES_MOST || (ip && style & TW_TRACELOG_BARE_IP);
}

/* Whether the first instruction of a list is one. */
static bool has_address(const struct tw_tracelog_record *record)
{
	struct tw_tracelog_text list = record->list;
	struct tw_tracelog_item item = {0};
	struct tw_tracelog_fault fault;
	if (record->has_ip && record->ip_known)
		return is_address(record->ip, record->style);
	while (tw_tracelog_next(record, &list, &item, &fault) != 0)
		if (item.ip_known)
			return is_address(item.ip, item.style);
	return false;
}

static int look(struct tw_reader *reader, bool *has)
{
	struct tracelog_cursor cursor;
	int status;
	tracelog_cursor_init(&cursor, reader);
	while ((status = tracelog_cursor_next(&cursor)) > 0 && !*has) {
		const enum tw_tracelog_kind kind = cursor.record.kind;
		*has = cursor.readable && (kind == TW_TRACELOG_LIN_SRC || kind == TW_TRACELOG_FIL_SRC);
		if (cursor.readable && (kind == TW_TRACELOG_SAM_STR || kind == TW_TRACELOG_SAM_MEM) &&
		    has_address(&cursor.record))
			break;
	}
	tracelog_cursor_free(&cursor);
	return status < 0 ? status : 0;
}

int tracelog_has_lines(struct tw_reader *reader, bool *has)
{
	struct tw_reader *first = NULL;
	int status = tw_input_spool(reader->input, reader->options.temporary_directory);
	*has = false;
	if (status == 0)
		status = tw_open_again(&first, reader);
	if (status == 0)
		status = look(first, has);
	if (status < 0)
		tw_fail(reader, status, "%s", first ? tw_reader_error(first) : tw_status_text(status));
	tw_close(first);
	return status;
}
