/* cursor.c - a data file from token to token, over what is damaged. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text/plural.h"
#include "xtrace/layout.h"
#include "xtrace/xtrace.h"

#include <inttypes.h>

/* The largest tokens that are believed: no system call of Linux has more parts (UIO_MAXIOV). */
enum { VECTORS_MOST = 1024, ACCESS_HEAD = 9 };

/* How many bytes are looked at, and how many tokens must follow, for a place to go on at after damage; among how many
 * the next instruction is looked for. */
enum { LOOK = 1024, TOKENS = 8, TOKENS_LEAST = 3, TOKENS_MOST = 16 };

void xtrace_cursor_init(struct xtrace_cursor *cursor, struct xtrace_files *files)
{
	*cursor = (struct xtrace_cursor){.files = files, .next = files->layout.data_start};
}

/* Whether what is there of a large store can be what DC ZVA does: zeros, at a multiple of their size. */
static bool makes_zero(const uint8_t *bytes, size_t left, size_t size)
{
	if (size > XTRACE_ZERO_MOST)
		return false;
	if (left <= ACCESS_HEAD)
		return true;
	left = left - ACCESS_HEAD < size ? left - ACCESS_HEAD : size;
	return tw_load64(bytes + 1, false) % size == 0 && !tw_any_set(bytes + ACCESS_HEAD, left);
}

static bool is_believed(const struct tw_xtrace_token *token, const uint8_t *bytes, size_t left)
{
	size_t size = (size_t)1 << (bytes[0] >> 4);
	if (token->kind == TW_XTRACE_LOAD || token->kind == TW_XTRACE_STORE)
		return size <= XTRACE_ACCESS_MOST || (token->kind == TW_XTRACE_STORE && makes_zero(bytes, left, size));
	return token->kind != TW_XTRACE_SYSCALL_VEC || token->size < 9 + XTRACE_VECTOR_SIZE * (VECTORS_MOST + 1);
}

/* Zeros are an instruction, UDF #0, only where a token follows, or the file ends; not where an INST does: the next
 * instruction is never the one behind them in memory. TW_ERR_ROOM: that cannot be seen. */
static int judge_zeros(const uint8_t *bytes, size_t left, struct tw_xtrace_token *token)
{
	struct tw_xtrace_token next;
	if (left > token->size) {
		int status = tw_xtrace_decode(bytes + token->size, left - token->size, &next);
		return status == TW_ERR_FORMAT || next.kind == TW_XTRACE_INST ? TW_ERR_FORMAT : 1;
	}
	token->size++;
	return TW_ERR_ROOM;
}

/* An instruction without an address is one only where a token follows, or the file ends: any five bytes with a 1 in
 * front look like one, those of damage too. TW_ERR_ROOM: that cannot be seen. */
static int judge_instruction(const uint8_t *bytes, size_t left, struct tw_xtrace_token *token)
{
	if (left > token->size)
		return xtrace_is_token(bytes[token->size]) ? 1 : TW_ERR_FORMAT;
	token->size++;
	return TW_ERR_ROOM;
}

/* As tw_xtrace_decode(), but tokens that are too large to be believed are none, nor is a PC that cannot be. */
static int decode(const uint8_t *bytes, size_t left, struct tw_xtrace_token *token)
{
	int status = tw_xtrace_decode(bytes, left, token);
	if (status > 0 && token->kind == TW_XTRACE_PCINST && !xtrace_is_canonical(token->pc))
		return TW_ERR_FORMAT;
	if (status > 0 && (token->kind == TW_XTRACE_INST || token->kind == TW_XTRACE_PCINST) && token->opcode == 0)
		return judge_zeros(bytes, left, token);
	if (status > 0 && token->kind == TW_XTRACE_INST)
		return judge_instruction(bytes, left, token);
	return (status > 0 || status == TW_ERR_ROOM) && !is_believed(token, bytes, left) ? TW_ERR_FORMAT : status;
}

/* ---- After damage. ---- */

/* Whether tokens show that the instruction before them is none: the next is of another level, which an ALLGPR between
 * both would tell. *next: an instruction was found. */
static bool changes_level(const struct tw_xtrace_token *token, uint8_t level, bool *next, bool *has_registers)
{
	bool instruction = token->kind == TW_XTRACE_INST || token->kind == TW_XTRACE_PCINST;
	bool wrong = instruction && !*next && !*has_registers && token->level != level;
	*next |= instruction;
	*has_registers |= token->kind == TW_XTRACE_ALLGPR;
	return wrong;
}

/* Whether a stream goes on here: a PCINST, and tokens behind it. */
static bool goes_on(const uint8_t *bytes, size_t left, bool at_end)
{
	struct tw_xtrace_token token;
	size_t at = 0;
	if ((bytes[0] & XTRACE_INST_BITS) != XTRACE_PCINST || tw_xtrace_decode(bytes, left, &token) <= 0 ||
	    token.pc % 4 || !xtrace_is_canonical(token.pc))
		return false;
	const uint8_t level = token.level;
	bool next = false, has_registers = false;
	at_end = at_end && left <= LOOK;
	left = left < LOOK ? left : LOOK;
	for (unsigned count = 0; count < TOKENS || (count < TOKENS_MOST && !next); count++) {
		int status = decode(bytes + at, left - at, &token);
		if (status == TW_ERR_ROOM)
			return count >= TOKENS_LEAST || at_end;
		if (status <= 0)
			return status == 0 && (count >= TOKENS_LEAST || at_end);
		if (count && changes_level(&token, level, &next, &has_registers))
			return false;
		at += token.size;
	}
	return true;
}

/* Finds the next place to go on at, or the end. */
static int resynchronise(struct xtrace_cursor *cursor, uint64_t *at)
{
	struct tw_window *window = &cursor->files->data_window;
	for (;;) {
		const uint8_t *bytes;
		size_t have;
		int status = tw_window_view(window, *at - cursor->files->parts.begin, LOOK + 1, &bytes, &have);
		if (status < 0 || have == 0)
			return status;
		size_t last = window->at_end ? have : have - LOOK;
		for (size_t i = 0; i < last; i++) {
			if (!goes_on(bytes + i, have - i, window->at_end))
				continue;
			*at += i;
			return 0;
		}
		*at += last;
	}
}

static int skip(struct xtrace_cursor *cursor, struct tw_xtrace_token *token, enum xtrace_rule rule, uint8_t byte)
{
	uint64_t at = cursor->next + 1;
	int status = resynchronise(cursor, &at);
	if (status < 0)
		return status;
	*token = (struct tw_xtrace_token){.size = 1};
	cursor->offset = cursor->next;
	cursor->gap = at - cursor->next;
	cursor->next = at;
	cursor->lost_bytes += cursor->gap;
	xtrace_report(cursor->files, false, rule, cursor->offset, cursor->offset,
	              "Expected a token, found 0x%02x; %" PRIu64 " byte%s left out, up to 0x%" PRIx64 ".", byte,
	              cursor->gap, tw_plural(cursor->gap), at);
	return 1;
}

/* ---- Going on. ---- */

static void report_compression(const struct xtrace_cursor *cursor, uint64_t at)
{
	const struct xtrace_files *files = cursor->files;
	if (tw_input_damaged(files->data))
		xtrace_report(files, false, XTRACE_COMPRESSION, at, at, "%s", tw_input_damage(files->data));
}

/* What is left in a file is no token. Returns 1 where another file goes on, or 0. */
static int end(struct xtrace_cursor *cursor, const struct tw_xtrace_token *token)
{
	const struct xtrace_files *files = cursor->files;
	if (cursor->left) {
		xtrace_report(files, false, XTRACE_CUT_TOKEN, cursor->next, cursor->next + cursor->left,
		              "The file ends inside a token of %" PRIu32 " bytes (%s), of which it has %zu.",
		              token->size, tw_xtrace_kind_name(token->kind), cursor->left);
		cursor->lost_bytes += cursor->left;
	}
	bool more = cursor->left && files->parts.now + 1 < files->parts.count;
	cursor->next += cursor->left;
	cursor->left = 0;
	if (!more)
		report_compression(cursor, cursor->next);
	return more;
}

static int fail(struct xtrace_cursor *cursor, int status)
{
	struct tw_reader *reader = cursor->files->reader;
	return *reader->error ? status : tw_fail(reader, status, "%s", tw_input_error(cursor->files->data));
}

/* Goes to the next file where one ends. */
static int next_file(struct xtrace_cursor *cursor)
{
	const struct xtrace_part *part = xtrace_parts_at(cursor->files, cursor->next);
	if (part && part == &cursor->files->parts.items[cursor->files->parts.now + 1])
		report_compression(cursor, cursor->next - 1);
	return xtrace_parts_advance(cursor->files, &cursor->next);
}

/* Gives the next token where that needs more bytes, or there is a gap. */
static int next_beyond(struct xtrace_cursor *cursor, struct tw_xtrace_token *token)
{
	size_t want = 1;
	for (;;) {
		int status = cursor->files->parts.count ? next_file(cursor) : 0;
		if (status >= 0)
			status = tw_window_view(&cursor->files->data_window, cursor->next - cursor->files->parts.begin,
			                        want, &cursor->bytes, &cursor->left);
		if (status < 0)
			return fail(cursor, status);
		status = decode(cursor->bytes, cursor->left, token);
		if (status > 0)
			return 1;
		if (status == TW_ERR_FORMAT) {
			bool reserved = xtrace_is_reserved(cursor->bytes[0]);
			status = skip(cursor, token, reserved ? XTRACE_RESERVED_TOKEN : XTRACE_UNKNOWN_TOKEN,
			              cursor->bytes[0]);
			cursor->left = 0;
			return status < 0 ? fail(cursor, status) : 1;
		}
		if (cursor->left >= want && token->size > want)
			want = token->size;
		else if (tw_xtrace_decode(cursor->bytes, cursor->left, token) > 0)
			return 1;
		else if (!end(cursor, token))
			return 0;
		else
			want = 1;
	}
}

int xtrace_cursor_peek(struct xtrace_cursor *cursor)
{
	const struct xtrace_files *files = cursor->files;
	struct tw_window *window = &cursor->files->data_window;
	if (!cursor->left &&
	    ((files->parts.count && next_file(cursor) < 0) ||
	     tw_window_view(window, cursor->next - files->parts.begin, 1, &cursor->bytes, &cursor->left) < 0))
		cursor->left = 0;
	return cursor->left ? cursor->bytes[0] : -1;
}

int xtrace_cursor_next(struct xtrace_cursor *cursor, struct tw_xtrace_token *token)
{
	if (!cursor->files->data)
		return 0;
	if (decode(cursor->bytes, cursor->left, token) <= 0) {
		int status = next_beyond(cursor, token);
		if (status <= 0 || token->kind == TW_XTRACE_UNKNOWN)
			return status;
	}
	cursor->offset = cursor->next;
	cursor->next += token->size;
	cursor->bytes += token->size;
	cursor->left -= token->size;
	return 1;
}
