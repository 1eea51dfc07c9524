/* records.c - a track as it stands in its files: instructions with what they did, or token by token. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/digits.h"
#include "base/output.h"
#include "xtrace/disassemble.h"
#include "xtrace/layout.h"
#include "xtrace/xtrace.h"

/* What a record holds at most; what an instruction has beyond is in a record of its own. */
enum {
	FIELDS = 32,
	TOKENS = 512,
	CHILDREN = TOKENS * 8 + 4 * 1024, /* of all tokens: the largest is a SYSCALL_VEC of 1,024 parts */
	VALUES = 1 << 16,
	LARGEST = 1 << 15,
	LINE = 1 << 16,
	PC_DIGITS = 12,
	FUNCTION_COLUMN = 28, /* characters that most functions and offsets fit in */
	FUNCTION_MOST = 1024, /* characters of a name in a line */
	TEXT_COLUMN = 40
};

struct xtrace_records {
	size_t next; /* track */
	bool open;   /* one is being read */
	const struct xtrace_track *track;
	struct xtrace_files files;
	struct xtrace_cursor cursor;
	struct xtrace_snapshots snapshots;
	bool has_snapshot;            /* the last one is not delivered */
	bool no_snapshots;            /* there is none behind it */
	struct tw_xtrace_token token; /* what comes next of the tokens */
	bool has_token;
	bool ended;                         /* there is none behind it */
	struct tw_xtrace_token instruction; /* whose tokens are taken */
	bool continues;                     /* it has more than the last record holds */
	uint64_t offset;                    /* of it */
	uint64_t index;                     /* instructions before what comes next */
	uint64_t pc;
	bool has_pc;
	struct tw_name function; /* of the PC; no text: not known */
	struct tw_range range;   /* of it */
	struct xtrace_disassembler *disassembler;
	char text[XTRACE_TEXT];
	struct tw_field fields[FIELDS];
	size_t field_count;
	struct tw_field tokens[TOKENS];
	size_t token_count;
	struct tw_field children[CHILDREN];
	size_t child_count;
	uint8_t values[VALUES];
	size_t value_count;
	char line[LINE];
	size_t length;
	size_t column; /* where its tokens stand */
};

void xtrace_records_free(struct xtrace_records *records)
{
	if (!records)
		return;
	xtrace_files_close(&records->files);
	xtrace_disassembler_free(records->disassembler);
	free(records);
}

/* ---- Fields. ---- */

static struct tw_field *add(struct xtrace_records *records, const char *name, enum tw_field_type type, uint64_t value)
{
	struct tw_field *field = &records->fields[records->field_count++];
	*field = (struct tw_field){.name = name, .type = type, .value.u = value};
	return field;
}

static void add_text(struct xtrace_records *records, const char *name, const char *text, size_t size)
{
	struct tw_field *field = add(records, name, TW_FIELD_TEXT, 0);
	field->value.bytes = text;
	field->size = size;
}

static struct tw_field *child(struct xtrace_records *records, const char *name, enum tw_field_type type, uint64_t value)
{
	struct tw_field *field = &records->children[records->child_count++];
	*field = (struct tw_field){.name = name, .type = type, .value.u = value};
	return field;
}

/* Words as an array, which come behind it. */
static void add_words(struct xtrace_records *records, const uint8_t *words, size_t count)
{
	struct tw_field *array = child(records, "x", TW_FIELD_ARRAY, 0);
	array->value.fields = array + 1;
	array->size = count;
	for (size_t i = 0; i < count; i++)
		child(records, NULL, TW_FIELD_HEX, tw_xtrace_word(words, i));
}

static void add_parts(struct xtrace_records *records, const uint8_t *words, size_t count)
{
	struct tw_field *array = child(records, "parts", TW_FIELD_ARRAY, 0), *part = array + 1;
	array->value.fields = part;
	array->size = count;
	records->child_count += count;
	for (size_t i = 0; i < count; i++, part++) {
		*part = (struct tw_field){.type = TW_FIELD_OBJECT, .size = 2};
		part->value.fields = child(records, "base", TW_FIELD_HEX, tw_xtrace_word(words, 2 * i));
		child(records, "length", TW_FIELD_UINT, tw_xtrace_word(words, 2 * i + 1));
	}
}

static void add_access(struct xtrace_records *records, const struct tw_xtrace_token *token)
{
	uint8_t *copy = records->values + records->value_count;
	memcpy(copy, token->payload, token->payload_size);
	records->value_count += token->payload_size;
	child(records, "address", TW_FIELD_HEX, token->value);
	struct tw_field *value = child(records, "data", TW_FIELD_BYTES, 0);
	value->value.bytes = (const char *)copy;
	value->size = token->payload_size;
}

/* The fields of a token that is no instruction. */
static void add_token_fields(struct xtrace_records *records, const struct tw_xtrace_token *token)
{
	switch (token->kind) {
	case TW_XTRACE_LOAD:
	case TW_XTRACE_STORE:
		add_access(records, token);
		break;
	case TW_XTRACE_ALLGPR:
		add_words(records, token->payload, TW_XTRACE_REGISTERS);
		break;
	case TW_XTRACE_SYSCALL_VEC:
		add_parts(records, token->payload, (size_t)token->value);
		break;
	case TW_XTRACE_TIME:
		child(records, "order", TW_FIELD_UINT, token->value);
		break;
	default:
		child(records, "value", TW_FIELD_HEX, token->value);
	}
}

/* Whether another token has room. */
static bool has_room(const struct xtrace_records *records)
{
	return records->token_count < TOKENS && records->child_count < CHILDREN - 4 * 1024 &&
	       records->value_count < VALUES - LARGEST && records->length < LINE - LARGEST;
}

static size_t fields_of_token(const struct tw_xtrace_token *token)
{
	return token->kind == TW_XTRACE_LOAD || token->kind == TW_XTRACE_STORE ? 2 : 1;
}

/* A token of an instruction, as an object. */
static void add_token(struct xtrace_records *records, const struct tw_xtrace_token *token)
{
	const char *kind = tw_xtrace_kind_name(token->kind);
	struct tw_field *object = &records->tokens[records->token_count++];
	struct tw_field *name = child(records, "record", TW_FIELD_TEXT, 0);
	name->value.bytes = kind;
	name->size = strlen(kind);
	add_token_fields(records, token);
	*object = (struct tw_field){.type = TW_FIELD_OBJECT, .size = 1 + fields_of_token(token)};
	object->value.fields = name;
}

/* ---- Lines. ---- */

static void put(struct xtrace_records *records, const char *text, size_t size)
{
	memcpy(records->line + records->length, text, size);
	records->length += size;
}

static void put_text(struct xtrace_records *records, const char *text)
{
	put(records, text, strlen(text));
}

/* At least so many digits. */
static void put_digits(struct xtrace_records *records, uint64_t value, unsigned least)
{
	static const char digits[] = "0123456789abcdef";
	unsigned count = value ? (unsigned)(64 - __builtin_clzll(value) + 3) / 4 : 1;
	count = count > least ? count : least;
	char *p = records->line + records->length;
	for (unsigned i = 0; i < count; i++)
		p[i] = digits[value >> (4 * (count - 1 - i)) & 15];
	records->length += count;
}

static void put_hex(struct xtrace_records *records, uint64_t value)
{
	put(records, "0x", 2);
	put_digits(records, value, 1);
}

static void put_spaces(struct xtrace_records *records, size_t until)
{
	do
		records->line[records->length++] = ' ';
	while (records->length < until);
}

/* What was loaded or stored, as one number. */
static void put_value(struct xtrace_records *records, const uint8_t *bytes, size_t size)
{
	put(records, " = 0x", 5);
	if (size == 8)
		put_digits(records, tw_load64(bytes, false), 1);
	else
		for (size_t i = size; i-- > 0;)
			put_digits(records, bytes[i], 2);
}

static void put_words(struct xtrace_records *records, const uint8_t *words, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		put(records, " ", 1);
		put_hex(records, tw_xtrace_word(words, i));
	}
}

static void put_token(struct xtrace_records *records, const struct tw_xtrace_token *token)
{
	bool access = token->kind == TW_XTRACE_LOAD || token->kind == TW_XTRACE_STORE;
	if (records->token_count == 0 && records->length < records->column)
		put_spaces(records, records->column);
	put(records, records->token_count++ ? ", " : "  ", 2);
	put_text(records, tw_xtrace_kind_name(token->kind));
	if (token->kind == TW_XTRACE_ALLGPR) {
		put_words(records, token->payload, TW_XTRACE_REGISTERS);
		return;
	}
	put(records, " ", 1);
	put_hex(records, token->value);
	if (access)
		put_value(records, token->payload, token->payload_size);
	else if (token->kind == TW_XTRACE_SYSCALL_VEC)
		put_words(records, token->payload, 2 * (size_t)token->value);
}

/* "main+0x10", where the program's symbols are known. */
static void put_function(struct tw_reader *reader, struct xtrace_records *records)
{
	if (!reader->options.namer)
		return;
	size_t column = records->length + 2 + FUNCTION_COLUMN;
	put(records, "  ", 2);
	if (records->function.text) {
		size_t length = records->function.length;
		put(records, records->function.text, length < FUNCTION_MOST ? length : FUNCTION_MOST);
		if (records->pc > records->range.start) {
			put(records, "+", 1);
			put_hex(records, records->pc - records->range.start);
		}
	}
	while (records->length < column)
		put(records, " ", 1);
}

static void put_instruction(struct tw_reader *reader, struct xtrace_records *records,
                            const struct tw_xtrace_token *token)
{
	enum { INDEX = 9 };
	char number[24];
	size_t digits = (size_t)(tw_digits(number, records->index) - number);
	if (xtrace_of(reader)->set.count > 1) {
		char thread[24];
		put(records, thread, (size_t)(tw_digits(thread, records->track->name.number) - thread));
		put(records, "  ", 2);
	}
	while (digits + records->length < INDEX)
		put(records, " ", 1);
	put(records, number, digits);
	put(records, "  0x", 4);
	if (records->has_pc)
		put_digits(records, records->pc, PC_DIGITS);
	else
		put(records, "????????????", PC_DIGITS);
	put_function(reader, records);
	put(records, "  EL", 4);
	records->line[records->length++] = (char)('0' + token->level);
	put(records, "  ", 2);
	put_digits(records, token->opcode, 8);
	put(records, "  ", 2);
}

static void clear(struct xtrace_records *records)
{
	records->field_count = records->token_count = records->child_count = records->value_count = records->length = 0;
}

static void fill(struct xtrace_records *records, const char *kind, uint64_t offset, uint64_t size,
                 struct tw_record *record)
{
	*record = (struct tw_record){
	    .kind = kind,
	    .offset = offset,
	    .size = size,
	    .fields = records->fields,
	    .field_count = records->field_count,
	    .text = records->length ? records->line : NULL,
	    .text_size = records->length,
	};
}

/* ---- Instructions. ---- */

/* Finds the function of the PC. */
static void name_pc(struct tw_reader *reader, struct xtrace_records *records)
{
	const struct tw_namer *namer = reader->options.namer;
	uint64_t pc = records->pc;
	if (!namer || !namer->address || (records->has_pc && pc >= records->range.start && pc < records->range.end))
		return;
	records->range = (struct tw_range){0};
	records->function = (struct tw_name){0};
	if (records->has_pc && !namer->address(namer->context, pc, &records->function, &records->range))
		records->function = (struct tw_name){0};
}

static void add_function(struct xtrace_records *records)
{
	const struct tw_name *function = &records->function;
	if (!function->text)
		return;
	add_text(records, "function", function->text, function->length);
	add(records, "function_offset", TW_FIELD_UINT, records->pc - records->range.start);
	if (function->file) {
		add_text(records, "file", function->file, strlen(function->file));
		add(records, "line", TW_FIELD_UINT, function->line);
	}
}

static bool is_instruction(const struct tw_xtrace_token *token)
{
	return token->kind == TW_XTRACE_INST || token->kind == TW_XTRACE_PCINST;
}

static void add_instruction(struct xtrace_records *records, const struct tw_xtrace_token *token, size_t text_size)
{
	add(records, "thread", TW_FIELD_UINT, records->track->name.number);
	add(records, "index", TW_FIELD_UINT, records->index);
	add(records, "pc", records->has_pc ? TW_FIELD_HEX : TW_FIELD_NULL, records->pc);
	add_function(records);
	add(records, "level", TW_FIELD_UINT, token->level);
	add(records, "opcode", TW_FIELD_HEX, token->opcode);
	add_text(records, "text", records->text, text_size);
	if (records->continues)
		add(records, "continued", TW_FIELD_BOOL, true);
	add(records, "tokens", TW_FIELD_ARRAY, 0)->value.fields = records->tokens;
}

/* Begins the record of records->instruction, or of what it has more than a record holds. */
static void begin_instruction(struct tw_reader *reader, struct xtrace_records *records)
{
	const struct tw_xtrace_token *token = &records->instruction;
	size_t size = xtrace_disassemble(records->disassembler, token->opcode, records->pc, records->text);
	name_pc(reader, records);
	if (!reader->options.listing) {
		add_instruction(records, token, size);
		return;
	}
	put_instruction(reader, records, token);
	records->column = records->length + TEXT_COLUMN;
	put(records, records->text, size);
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
			put_token(records, token);
		else
			add_token(records, token);
	}
	records->continues = true;
	return 1;
}

/* The instruction that was met, with all that follows. */
static int take_instruction(struct tw_reader *reader, struct xtrace_records *records, struct tw_record *record)
{
	begin_instruction(reader, records);
	records->continues = false;
	int status = take_tokens(reader, records);
	if (status < 0)
		return status;
	records->ended = status == 0;
	if (!reader->options.listing)
		records->fields[records->field_count - 1].size = records->token_count;
	uint64_t next = records->has_token ? records->cursor.offset : records->cursor.next;
	fill(records, tw_xtrace_kind_name(records->instruction.kind), records->offset, next - records->offset, record);
	records->index += !records->continues;
	return 1;
}

/* ---- Tokens, as they stand. ---- */

static void take_token(struct xtrace_records *records, const struct tw_xtrace_token *token, struct tw_record *record)
{
	add(records, "thread", TW_FIELD_UINT, records->track->name.number);
	if (is_instruction(token)) {
		add(records, "level", TW_FIELD_UINT, token->level);
		if (token->kind == TW_XTRACE_PCINST)
			add(records, "pc", TW_FIELD_HEX, token->pc);
		add(records, "opcode", TW_FIELD_HEX, token->opcode);
		records->index++;
	} else if (token->kind == TW_XTRACE_UNKNOWN) {
		add(records, "size", TW_FIELD_UINT, records->cursor.gap);
	} else {
		struct tw_field *fields = records->fields + records->field_count;
		add_token_fields(records, token);
		memcpy(fields, records->children, fields_of_token(token) * sizeof *fields);
		records->field_count += fields_of_token(token);
	}
	bool unknown = token->kind == TW_XTRACE_UNKNOWN;
	fill(records, tw_xtrace_kind_name(token->kind), records->cursor.offset,
	     unknown ? records->cursor.gap : token->size, record);
}

/* ---- Snapshots. ---- */

static void add_registers(struct xtrace_records *records, const char *name, const uint8_t *bytes, size_t count,
                          size_t size, size_t step)
{
	struct tw_field *array = add(records, name, TW_FIELD_ARRAY, 0);
	array->value.fields = records->children + records->child_count;
	array->size = count;
	for (size_t i = 0; i < count; i++) {
		struct tw_field *field = child(records, NULL, TW_FIELD_BYTES, 0);
		field->value.bytes = (const char *)bytes + i * step;
		field->size = size;
	}
}

static void add_x(struct xtrace_records *records, const uint64_t *x)
{
	struct tw_field *array = add(records, "x", TW_FIELD_ARRAY, 0);
	array->value.fields = records->children + records->child_count;
	array->size = TW_XTRACE_REGISTERS;
	for (size_t i = 0; i < TW_XTRACE_REGISTERS; i++)
		child(records, NULL, TW_FIELD_HEX, x[i]);
}

static void put_snapshot(struct xtrace_records *records)
{
	const struct tw_xtrace_snapshot *snapshot = &records->snapshots.last;
	records->length = (size_t)snprintf(records->line, LINE,
	                                   "# snapshot: %" PRIu64 " instructions before, %" PRIu64
	                                   " of them of user mode; index %" PRIu64 " of file %" PRIu64,
	                                   snapshot->count, snapshot->user_count, snapshot->index, snapshot->file);
}

static void add_snapshot(struct xtrace_records *records)
{
	const struct tw_xtrace_snapshot *snapshot = &records->snapshots.last;
	size_t vector = snapshot->vector_bits / 8, predicate = vector / 8, step = predicate < 16 ? 16 : predicate;
	add(records, "thread", TW_FIELD_UINT, records->track->name.number);
	add(records, "file_number", TW_FIELD_UINT, snapshot->file);
	add(records, "index", TW_FIELD_UINT, snapshot->index);
	add(records, "user_instructions", TW_FIELD_UINT, snapshot->user_count);
	add(records, "instructions", TW_FIELD_UINT, snapshot->count);
	add_x(records, snapshot->x);
	add_registers(records, "z", snapshot->z, TW_XTRACE_REGISTERS, vector, vector);
	add_registers(records, "p", snapshot->p, 16, predicate, step);
	add_registers(records, "ffr", snapshot->ffr, 1, predicate, step);
	if (snapshot->za)
		add_registers(records, "za", snapshot->za, vector, vector, vector);
#define X(member) add(records, #member, TW_FIELD_HEX, snapshot->member);
	TW_XTRACE_SYSTEM_LIST(X)
#undef X
	add(records, "vector_bits", TW_FIELD_UINT, snapshot->vector_bits);
}

static void take_snapshot(struct tw_reader *reader, struct xtrace_records *records, struct tw_record *record)
{
	if (reader->options.listing && !reader->options.tokens)
		put_snapshot(records);
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
	uint64_t index = records->snapshots.last.index;
	if (records->files.layout.counts_index)
		return is_instruction(&records->token) && records->index >= index;
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
	return reader->options.to_ns && records->index >= reader->options.to_ns && !records->continues;
}

/* Whether the window in time, which is instructions, lets what comes next through. */
static bool is_wanted(const struct tw_reader *reader, const struct xtrace_records *records)
{
	const struct tw_read_options *options = &reader->options;
	return records->index >= options->from_ns && (!options->to_ns || records->index < options->to_ns);
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
		records->pc = token->kind == TW_XTRACE_PCINST ? token->pc : records->pc + 4;
		records->has_pc |= token->kind == TW_XTRACE_PCINST;
	}
	records->has_pc &= token->kind != TW_XTRACE_UNKNOWN;
	if (!is_wanted(reader, records)) {
		records->index += is_instruction(token);
		return 0;
	}
	if (!is_instruction(token) || reader->options.tokens) {
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
	records->index = 0;
	records->has_pc = records->has_token = records->has_snapshot = false;
	records->ended = records->no_snapshots = records->continues = false;
	return status < 0 ? status : 1;
}

/* ---- The job. ---- */

static int begin(struct tw_reader *reader)
{
	const struct tw_read_options *options = &reader->options;
	struct xtrace_records *records = xtrace_of(reader)->records = calloc(1, sizeof *records);
	if (!records || !(records->disassembler = xtrace_disassembler_new()))
		return xtrace_no_memory(reader);
	if (options->function || options->category || options->min_duration_ns)
		return tw_fail(reader, TW_ERR_UNSUPPORTED,
		               "xtrace: records are chosen by thread and by count of instructions (as times) only");
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
