/* names.c - names of classes and functions that come later than the window reaches, looked for ahead. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tracelog/log/names.h"

#include <stdlib.h>

enum { BLOCK = 1 << 20 /* bytes that are looked through together: a line of names that is longer is passed over */ };

/* The first name of a class or function that has none yet. The signatures of others
 * tell which names are those of several functions. */
static void take_name(struct tracelog_log *log, enum tracelog_object_kind kind, const struct tw_tracelog_record *record)
{
	uint32_t number = 0;
	bool known = tw_map_find(&log->objects[kind].by_iid, record->iid, &number);
	bool new = known && !tracelog_object(log, kind, number)->named;
	if (kind == TRACELOG_CLASS && new)
		tracelog_name_object(log, kind, number, record->name);
	else if (kind == TRACELOG_FUNCTION && new)
		tracelog_name_function(log, number, record);
	else if (kind == TRACELOG_FUNCTION && !known)
		tracelog_meet_signature(log, record);
}

static bool starts_session(const uint8_t *line, size_t size)
{
	static const char start[] = "prf stm ";
	return size > sizeof start && memcmp(line, start, sizeof start - 1) == 0;
}

static void take_line(struct tracelog_log *log, const uint8_t *line, size_t size)
{
	static const char function[] = "fun nam ", class[] = "cls nam ";
	struct tw_tracelog_record record;
	struct tw_tracelog_fault fault;
	bool may_be = size > sizeof class &&
	              (memcmp(line, function, sizeof function - 1) == 0 || memcmp(line, class, sizeof class - 1) == 0);
	if (!may_be || tw_tracelog_decode(line, size, &record, &fault) != 0)
		return;
	take_name(log, record.kind == TW_TRACELOG_FUN_NAM ? TRACELOG_FUNCTION : TRACELOG_CLASS, &record);
}

/* Takes the names of all whole lines of the session. Returns the size of these lines. */
static size_t take_lines(struct tracelog_log *log, const uint8_t *bytes, size_t size, bool *ended)
{
	const uint8_t *line = bytes, *end;
	while ((end = memchr(line, '\n', size - (size_t)(line - bytes)))) {
		*ended = starts_session(line, (size_t)(end - line) + 1);
		if (*ended)
			break;
		take_line(log, line, (size_t)(end - line) + 1);
		line = end + 1;
	}
	return (size_t)(line - bytes);
}

/* Goes forward to an offset: false when it is not reached. */
static bool skip(struct tw_input *input, uint64_t to, uint8_t *block)
{
	int64_t got = 1;
	for (uint64_t at = 0; at < to && got > 0; at += got > 0 ? (uint64_t)got : 0)
		got = tw_input_read(input, at, block, to - at < BLOCK ? (size_t)(to - at) : BLOCK);
	return got > 0;
}

/* Takes the lines from an offset on. */
static bool take_rest(struct tracelog_log *log, struct tw_input *input, uint64_t from, uint8_t *block)
{
	int64_t got = 0;
	bool ended = false;
	for (size_t left = 0; !ended && (got = tw_input_read(input, from, block + left, BLOCK - left)) > 0;) {
		size_t size = left + (size_t)got, taken = take_lines(log, block, size, &ended);
		from += (uint64_t)got;
		left = size - taken;
		memmove(block, block + taken, left);
		left = left == BLOCK ? 0 : left;
	}
	return got >= 0;
}

/* What cannot go back is opened once more. What it lacks now it will lack when its turn comes, and is told then. */
static bool look_again(struct tracelog_log *log, uint64_t from, uint8_t *block)
{
	struct tw_input *again;
	int status = tw_input_again(&again, log->reader->input);
	log->failed |= status == TW_ERR_MEMORY;
	if (status == 0 && skip(again, from, block))
		take_rest(log, again, from, block);
	tw_input_close(again);
	return true;
}

bool tracelog_look_for_names(struct tracelog_log *log, uint64_t from)
{
	struct tw_input *input = log->reader->input;
	uint8_t *block = malloc(BLOCK);
	log->failed |= !block;
	bool read =
	    block && (tw_input_seekable(input) ? take_rest(log, input, from, block) : look_again(log, from, block));
	free(block);
	return read && !log->failed;
}
