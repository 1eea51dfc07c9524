/* records.c - a track as it stands in its files: instructions with what they did, or token by token. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "xtrace/format/disassemble.h"
#include "xtrace/format/line.h"
#include "xtrace/xtrace.h"

#include <stdlib.h>
#include <string.h>

struct xtrace_records {
	size_t next; /* track */
	bool open;   /* a track is being read */
	const struct xtrace_track *track;
	struct xtrace_names names; /* of the track */
	struct xtrace_files files;
	struct xtrace_cursor cursor;
	struct xtrace_snapshots snapshots;
	bool has_snapshot;            /* the last one is not delivered */
	bool no_snapshots;            /* there is none behind it */
	struct tw_xtrace_token token; /* the next token */
	bool has_token;
	bool ended;                         /* there is none behind it */
	struct tw_xtrace_token instruction; /* the instruction whose tokens are taken */
	bool continues;                     /* the instruction has more tokens than the last record holds */
	uint64_t offset;                    /* of it */
	struct xtrace_at at;                /* where what comes next is */
	struct xtrace_disassembler *disassembler;
	char text[XTRACE_TEXT];
	struct xtrace_fields all;
	struct xtrace_line line;
};

void xtrace_records_free(struct xtrace_records *records)
{
	if (!records)
		return;
	xtrace_files_close(&records->files);
	xtrace_disassembler_free(records->disassembler);
	free(records);
}

/* Whether another token has room. */
static bool has_room(const struct xtrace_records *records)
{
	return xtrace_fields_have_room(&records->all) && xtrace_line_has_room(&records->line);
}

static void clear(struct xtrace_records *records)
{
	xtrace_fields_clear(&records->all);
	xtrace_line_clear(&records->line);
}

static void fill(struct xtrace_records *records, const char *kind, uint64_t offset, uint64_t size,
                 struct tw_record *record)
{
	*record = (struct tw_record){
	    .kind = kind,
	    .offset = offset,
	    .size = size,
	    .fields = records->all.fields,
	    .field_count = records->all.field_count,
	    .text = records->line.length ? records->line.text : NULL,
	    .text_size = records->line.length,
	};
}

/* ---- Instructions. ---- */

/* Finds the function of the PC. */
static void name_pc(struct xtrace_records *records)
{
	const struct tw_namer *namer = records->names.namer;
	uint64_t pc = records->at.pc;
	if (!namer || !namer->address ||
	    (records->at.has_pc && pc >= records->at.range.start && pc < records->at.range.end))
		return;
	records->at.range = (struct tw_range){0};
	records->at.function = (struct tw_name){0};
	if (records->at.has_pc && !namer->address(namer->context, pc, &records->at.function, &records->at.range))
		records->at.function = (struct tw_name){0};
}

static void add_function(struct xtrace_records *records)
{
	const struct tw_name *function = &records->at.function;
	if (!function->text)
		return;
	xtrace_fields_add_text(&records->all, "function", function->text, function->length);
	xtrace_fields_add(&records->all, "function_offset", TW_FIELD_UINT, records->at.pc - records->at.range.start);
	if (function->file) {
		xtrace_fields_add_text(&records->all, "file", function->file, strlen(function->file));
		xtrace_fields_add(&records->all, "line", TW_FIELD_UINT, function->line);
	}
}

static bool is_instruction(const struct tw_xtrace_token *token)
{
	return token->kind == TW_XTRACE_INST || token->kind == TW_XTRACE_PCINST;
}

static void add_instruction(struct xtrace_records *records, const struct tw_xtrace_token *token, size_t text_size)
{
	xtrace_fields_add(&records->all, "thread", TW_FIELD_UINT, records->track->name.number);
	xtrace_fields_add(&records->all, "index", TW_FIELD_UINT, records->at.index);
	xtrace_fields_add(&records->all, "pc", records->at.has_pc ? TW_FIELD_HEX : TW_FIELD_NULL, records->at.pc);
	add_function(records);
	xtrace_fields_add(&records->all, "level", TW_FIELD_UINT, token->level);
	xtrace_fields_add(&records->all, "opcode", TW_FIELD_HEX, token->opcode);
	xtrace_fields_add_text(&records->all, "text", records->text, text_size);
	if (records->continues)
		xtrace_fields_add(&records->all, "continued", TW_FIELD_BOOL, true);
	xtrace_fields_add(&records->all, "tokens", TW_FIELD_ARRAY, 0)->value.fields = records->all.tokens;
}

/* Begins the record of records->instruction, or of what it has more than a record holds. */
static void begin_instruction(struct tw_reader *reader, struct xtrace_records *records)
{
	const struct tw_xtrace_token *token = &records->instruction;
	size_t size = xtrace_disassemble(records->disassembler, token->opcode, records->at.pc, records->text);
	name_pc(records);
	if (!reader->options.listing) {
		add_instruction(records, token, size);
		return;
	}
	xtrace_line_begin(&records->line, &records->at, token, records->text, size);
}

/* Reads on until an instruction or a gap comes, or there is no more room. Returns 1, 0 at the end, or a negative
 * status. */
static int take_tokens(struct tw_reader *reader, struct xtrace_records *records)
{
	struct tw_xtrace_token *token = &records->token;
	while (has_room(records)) {
		int status = xtrace_cursor_next(&records->cursor, token);
		if (status <= 0)
			return status;
		records->has_token = is_instruction(token) || token->kind == TW_XTRACE_UNKNOWN;
		if (records->has_token)
			return 1;
		if (reader->options.listing)
			xtrace_line_add_token(&records->line, token);
		else
			xtrace_fields_add_object(&records->all, token);
	}
	records->continues = true;
	return 1;
}

/* Makes the record of an instruction with all tokens that follow it. */
static int take_instruction(struct tw_reader *reader, struct xtrace_records *records, struct tw_record *record)
{
	begin_instruction(reader, records);
	records->continues = false;
	int status = take_tokens(reader, records);
	if (status < 0)
		return status;
	records->ended = status == 0;
	if (!reader->options.listing)
		records->all.fields[records->all.field_count - 1].size = records->all.token_count;
	uint64_t next = records->has_token ? records->cursor.offset : records->cursor.next;
	fill(records, tw_xtrace_kind_name(records->instruction.kind), records->offset, next - records->offset, record);
	records->at.index += !records->continues;
	return 1;
}

/* ---- Tokens, as they stand. ---- */

static void take_token(struct xtrace_records *records, const struct tw_xtrace_token *token, struct tw_record *record)
{
	xtrace_fields_add(&records->all, "thread", TW_FIELD_UINT, records->track->name.number);
	if (is_instruction(token)) {
		xtrace_fields_add(&records->all, "level", TW_FIELD_UINT, token->level);
		if (token->kind == TW_XTRACE_PCINST)
			xtrace_fields_add(&records->all, "pc", TW_FIELD_HEX, token->pc);
		xtrace_fields_add(&records->all, "opcode", TW_FIELD_HEX, token->opcode);
		records->at.index++;
	} else if (token->kind == TW_XTRACE_UNKNOWN) {
		xtrace_fields_add(&records->all, "size", TW_FIELD_UINT, records->cursor.gap);
	} else {
		xtrace_fields_add_token(&records->all, token);
	}
	bool unknown = token->kind == TW_XTRACE_UNKNOWN;
	fill(records, tw_xtrace_kind_name(token->kind), records->cursor.offset,
	     unknown ? records->cursor.gap : token->size, record);
}

/* ---- Snapshots. ---- */

static void add_snapshot(struct xtrace_records *records)
{
	xtrace_fields_add(&records->all, "thread", TW_FIELD_UINT, records->track->name.number);
	xtrace_fields_add_snapshot(&records->all, &records->snapshots.last);
}

static void take_snapshot(struct tw_reader *reader, struct xtrace_records *records, struct tw_record *record)
{
	if (reader->options.listing && !xtrace_options(reader)->tokens)
		xtrace_line_put_snapshot(&records->line, &records->snapshots.last);
	else
		add_snapshot(records);
	fill(records, "snapshot", records->snapshots.offset, records->snapshots.next - records->snapshots.offset,
	     record);
}

/* Whether the snapshot that comes next was taken before the token that comes next, or there is no more token. */
static bool snapshot_is_due(const struct xtrace_records *records)
{
	if (!records->has_snapshot || records->ended)
		return records->has_snapshot;
	uint64_t index = records->snapshots.place;
	if (records->files.layout.counts_index)
		return is_instruction(&records->token) && records->at.index >= index;
	return records->cursor.offset >= index;
}

/* ---- A track. ---- */

/* Fetches what comes next of both files. Returns 1, 0 at the end of both, or a negative status. */
static int fetch(struct xtrace_records *records)
{
	int status = 1;
	if (!records->has_snapshot && !records->no_snapshots) {
		status = xtrace_snapshots_next(&records->snapshots);
		records->has_snapshot = status > 0;
		records->no_snapshots = status <= 0;
	}
	if (status >= 0 && !records->has_token && !records->ended && !records->continues) {
		status = xtrace_cursor_next(&records->cursor, &records->token);
		records->has_token = status > 0;
		records->ended = status == 0;
	}
	if (status < 0)
		return status;
	return records->has_token || records->continues || records->has_snapshot;
}

/* Whether nothing more of the track can be wanted. */
static bool is_over(const struct tw_reader *reader, const struct xtrace_records *records)
{
	return reader->options.to_ns && records->at.index >= reader->options.to_ns && !records->continues;
}

/* Whether the window in time, which is instructions, lets what comes next through. */
static bool is_wanted(const struct tw_reader *reader, const struct xtrace_records *records)
{
	const struct tw_read_options *options = &reader->options;
	return records->at.index >= options->from_ns && (!options->to_ns || records->at.index < options->to_ns);
}

/* Returns 1, 0 when nothing comes of this (what is not wanted), or a negative status. */
static int take_next(struct tw_reader *reader, struct xtrace_records *records, struct tw_record *record)
{
	const struct tw_xtrace_token *token = &records->token;
	if (records->continues)
		return take_instruction(reader, records, record);
	if (snapshot_is_due(records)) {
		bool wanted = is_wanted(reader, records);
		records->has_snapshot = false;
		if (wanted)
			take_snapshot(reader, records, record);
		return wanted;
	}
	records->has_token = false;
	if (is_instruction(token)) {
		records->at.pc = token->kind == TW_XTRACE_PCINST ? token->pc : records->at.pc + 4;
		records->at.has_pc |= token->kind == TW_XTRACE_PCINST;
	}
	records->at.has_pc &= token->kind != TW_XTRACE_UNKNOWN;
	if (!is_wanted(reader, records)) {
		records->at.index += is_instruction(token);
		return 0;
	}
	if (!is_instruction(token) || xtrace_options(reader)->tokens) {
		take_token(records, token, record);
		return 1;
	}
	records->instruction = *token;
	records->offset = records->cursor.offset;
	return take_instruction(reader, records, record);
}

static int open_next(struct tw_reader *reader, struct xtrace_records *records)
{
	const struct xtrace_set *set = &xtrace_of(reader)->set;
	while (records->next < set->count &&
	       !tw_thread_wanted(&reader->options, set->tracks[records->next].name.number))
		records->next++;
	if (records->next == set->count)
		return 0;
	records->track = &set->tracks[records->next++];
	int status = xtrace_files_open(&records->files, reader, records->track);
	xtrace_cursor_init(&records->cursor, &records->files);
	xtrace_snapshots_init(&records->snapshots, &records->files);
	records->open = true;
	records->at.thread = set->count > 1 ? &records->track->name.number : NULL;
	records->names = xtrace_names_of(reader, records->track);
	records->at.named = records->names.namer != NULL;
	records->at.range = (struct tw_range){0};
	records->at.index = 0;
	records->at.has_pc = records->has_token = records->has_snapshot = false;
	records->ended = records->no_snapshots = records->continues = false;
	return status < 0 ? status : 1;
}

/* ---- The job. ---- */

static int begin(struct tw_reader *reader)
{
	const struct tw_read_options *options = &reader->options;
	struct xtrace_records *records = xtrace_of(reader)->records = calloc(1, sizeof *records);
	if (!records || !(records->disassembler = xtrace_disassembler_new()))
		return tw_fail_memory(reader);
	if (options->function || options->category || options->min_duration_ns)
		return tw_fail(
		    reader, TW_ERR_UNSUPPORTED,
		    "%s: records of an xtrace are chosen by thread and by count of instructions (as times) only",
		    tw_source_name(reader));
	return 0;
}

int xtrace_read_record(struct tw_reader *reader, struct tw_record *record)
{
	struct xtrace_reader *state = xtrace_of(reader);
	int status = state->records ? 0 : begin(reader);
	struct xtrace_records *records = state->records;
	while (status >= 0) {
		clear(records);
		if (!records->open && (status = open_next(reader, records)) <= 0)
			return status;
		status = is_over(reader, records) ? 0 : fetch(records);
		if (status > 0)
			status = take_next(reader, records, record);
		else if (status == 0) {
			xtrace_files_close(&records->files);
			records->open = false;
		}
		if (status > 0)
			return 1;
	}
	return status;
}
