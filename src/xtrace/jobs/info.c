/* info.c - what is in a set: instructions, tokens by kind, snapshots, times. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "xtrace/layout.h"
#include "xtrace/xtrace.h"

#include <stdlib.h>

enum { BYTES = 256, FIELDS = 16, LONGEST = 9 + 256, LEVEL_BIT = 6 };

struct token_counts {
	uint64_t tokens[BYTES]; /* by token byte */
	uint64_t snapshots;
	uint64_t data_bytes, snapshot_bytes, lost_bytes;
	uint64_t first_time, last_time; /* of TIME tokens; first above last while there is none */
	uint64_t files;
	uint64_t vector_bits; /* of the first track that has snapshots */
	struct tw_xtrace_header header;
	bool has_header;
};

struct xtrace_survey {
	bool tokens[BYTES];    /* whether a token begins with the byte */
	uint16_t sizes[BYTES]; /* by token byte: the size, where all such tokens have the same; otherwise 0 */
	struct token_counts all;
	struct tw_thread_info *threads;
	struct tw_kind_count kinds[TW_XTRACE_KINDS + 1];
	struct tw_field fields[FIELDS];
};

void xtrace_survey_free(struct xtrace_survey *survey)
{
	if (!survey)
		return;
	free(survey->threads);
	free(survey);
}

/* ---- Counting. ---- */

static void fill_tables(struct xtrace_survey *survey)
{
	for (unsigned byte = 0; byte < BYTES; byte++) {
		uint8_t bytes[LONGEST] = {(uint8_t)byte};
		struct tw_xtrace_token token;
		bool plain = tw_xtrace_decode(bytes, sizeof bytes, &token) > 0 && token.kind != TW_XTRACE_SYSCALL_VEC &&
		             token.kind != TW_XTRACE_TIME;
		survey->sizes[byte] = plain ? (uint16_t)token.size : 0;
		survey->tokens[byte] = xtrace_is_token((uint8_t)byte);
	}
}

static bool is_instruction(unsigned byte)
{
	enum { INST = 0x01 };
	return (byte & XTRACE_INST_BITS) == INST || (byte & XTRACE_INST_BITS) == XTRACE_PCINST;
}

static void note_time(struct token_counts *tally, uint64_t time)
{
	tally->first_time = time < tally->first_time ? time : tally->first_time;
	tally->last_time = time > tally->last_time ? time : tally->last_time;
}

/* The fast path: tokens that are held whole, and of a size that their byte tells. Most are INST, and a jump that is
 * foreseen is faster than a size that is looked up. `make bench` measures it (info). */
static void count_run(const struct xtrace_survey *survey, struct xtrace_cursor *cursor, struct token_counts *tally)
{
	enum { INST = 0x01, INST_SIZE = 5, PCINST_SIZE = 13, TIME = 0x07, TIME_SIZE = 9 };
	const uint8_t *p = cursor->bytes, *end = cursor->left > LONGEST ? p + (cursor->left - LONGEST) : p;
	uint64_t plain = 0;
	while (p < end) {
		unsigned byte = *p;
		if (byte == INST && survey->tokens[p[INST_SIZE]] && tw_load32(p + 1, false)) {
			plain++;
			p += INST_SIZE;
			continue;
		}
		size_t size = byte == XTRACE_PCINST ? PCINST_SIZE : survey->sizes[byte];
		if (byte == TIME) {
			note_time(tally, tw_load64(p + 1, false));
			size = TIME_SIZE;
		}
		if (!size || (is_instruction(byte) && !xtrace_is_instruction(p, size)))
			break;
		tally->tokens[byte]++;
		p += size;
	}
	size_t took = (size_t)(p - cursor->bytes);
	tally->tokens[INST] += plain;
	cursor->bytes = p;
	cursor->left -= took;
	cursor->next += took;
}

static int count_tokens(const struct xtrace_survey *survey, struct xtrace_files *files, struct token_counts *tally)
{
	struct xtrace_cursor cursor;
	struct tw_xtrace_token token;
	int status;
	xtrace_cursor_init(&cursor, files);
	for (;;) {
		count_run(survey, &cursor, tally);
		status = xtrace_cursor_next(&cursor, &token);
		if (status <= 0)
			break;
		if (token.kind == TW_XTRACE_UNKNOWN)
			continue;
		tally->tokens[cursor.bytes[-(ptrdiff_t)token.size]]++;
		if (token.kind == TW_XTRACE_TIME)
			note_time(tally, token.value);
	}
	tally->data_bytes += cursor.next - files->layout.data_start;
	tally->lost_bytes += cursor.lost_bytes;
	return status;
}

static int count_snapshots(struct xtrace_files *files, struct token_counts *tally)
{
	struct xtrace_snapshots snapshots;
	int status;
	xtrace_snapshots_init(&snapshots, files);
	while ((status = xtrace_snapshots_next(&snapshots)) > 0)
		;
	tally->snapshots += snapshots.number;
	tally->snapshot_bytes += files->snapshots ? tw_input_size(files->snapshots) : 0;
	tally->lost_bytes += snapshots.lost_bytes;
	return status;
}

static int count_track(struct tw_reader *reader, const struct xtrace_track *track, struct token_counts *tally)
{
	const struct xtrace_survey *survey = xtrace_of(reader)->survey;
	struct xtrace_files files;
	int status = xtrace_files_open(&files, reader, track);
	if (status >= 0)
		status = count_tokens(survey, &files, tally);
	if (status >= 0)
		status = count_snapshots(&files, tally);
	tally->files = files.data ? 1 + track->more.count : 0;
	tally->files += files.snapshots ? 1 : 0;
	tally->vector_bits = files.has_layout ? files.layout.vector_bits : 0;
	tally->has_header = files.has_header;
	tally->header = files.header;
	xtrace_files_close(&files);
	return status;
}

/* ---- Sums. ---- */

static uint64_t instructions(const struct token_counts *tally, unsigned first_level, unsigned last_level)
{
	uint64_t count = 0;
	for (unsigned byte = 0; byte < BYTES; byte++) {
		unsigned level = byte >> LEVEL_BIT;
		if (is_instruction(byte) && level >= first_level && level <= last_level)
			count += tally->tokens[byte];
	}
	return count;
}

static uint64_t tokens(const struct token_counts *tally)
{
	uint64_t count = 0;
	for (unsigned byte = 0; byte < BYTES; byte++)
		count += tally->tokens[byte];
	return count;
}

static void add(struct token_counts *all, const struct token_counts *tally)
{
	for (unsigned byte = 0; byte < BYTES; byte++)
		all->tokens[byte] += tally->tokens[byte];
	all->snapshots += tally->snapshots;
	all->data_bytes += tally->data_bytes;
	all->snapshot_bytes += tally->snapshot_bytes;
	all->lost_bytes += tally->lost_bytes;
	all->files += tally->files;
	if (tally->first_time <= tally->last_time) {
		note_time(all, tally->first_time);
		note_time(all, tally->last_time);
	}
	if (!all->vector_bits)
		all->vector_bits = tally->vector_bits;
	if (!all->has_header)
		all->header = tally->header;
	all->has_header |= tally->has_header;
}

static int count_part(void *context, struct tw_reader *part, size_t track)
{
	struct token_counts *tallies = context;
	return count_track(part, xtrace_of(part)->set.tracks, &tallies[track]);
}

static void add_track(struct xtrace_survey *survey, const struct tw_xtrace_name *name, const struct token_counts *tally,
                      struct tw_info *info)
{
	uint64_t count = instructions(tally, 0, 3);
	survey->threads[info->thread_count++] = (struct tw_thread_info){
	    .thread = name->number,
	    .records = tokens(tally) + tally->snapshots,
	    .bytes = tally->data_bytes + tally->snapshot_bytes,
	    .end_ns = count,
	};
	info->span_ns = count > info->span_ns ? count : info->span_ns;
	add(&survey->all, tally);
}

static int count_all(struct tw_reader *reader, unsigned jobs, struct tw_info *info)
{
	const struct xtrace_set *set = &xtrace_of(reader)->set;
	struct xtrace_survey *survey = xtrace_of(reader)->survey;
	struct token_counts *tallies = calloc(set->count, sizeof *tallies);
	if (!tallies)
		return tw_fail_memory(reader);
	for (size_t i = 0; i < set->count; i++)
		tallies[i].first_time = UINT64_MAX;
	int status = xtrace_take_all(reader, jobs, count_part, NULL, tallies);
	for (size_t i = 0; status >= 0 && i < set->count; i++)
		if (tw_thread_wanted(&reader->options, set->tracks[i].name.number))
			add_track(survey, &set->tracks[i].name, &tallies[i], info);
	info->threads = survey->threads;
	free(tallies);
	return status;
}

/* ---- Telling. ---- */

static void fill_kinds(struct xtrace_survey *survey, struct tw_info *info)
{
	uint64_t counts[TW_XTRACE_KINDS] = {0};
	for (unsigned byte = 0; byte < BYTES; byte++) {
		uint8_t bytes[LONGEST] = {(uint8_t)byte};
		struct tw_xtrace_token token;
		tw_xtrace_decode(bytes, sizeof bytes, &token);
		counts[token.kind] += survey->all.tokens[byte];
	}
	for (unsigned kind = 1; kind < TW_XTRACE_KINDS; kind++) {
		if (counts[kind])
			survey->kinds[info->kind_count++] =
			    (struct tw_kind_count){tw_xtrace_kind_name(kind), counts[kind]};
	}
	if (survey->all.snapshots)
		survey->kinds[info->kind_count++] = (struct tw_kind_count){"snapshot", survey->all.snapshots};
	info->kinds = survey->kinds;
	info->records = tokens(&survey->all) + survey->all.snapshots;
}

static void add_number(struct xtrace_survey *survey, struct tw_info *info, const char *name, uint64_t value)
{
	survey->fields[info->field_count++] = (struct tw_field){.name = name, .type = TW_FIELD_UINT, .value.u = value};
}

static void fill_header(struct xtrace_survey *survey, struct tw_info *info)
{
	const struct tw_xtrace_header *header = &survey->all.header;
	if (!survey->all.has_header)
		return;
	info->version = header->version <= UINT32_MAX ? (unsigned)header->version : 0;
	add_number(survey, info, "identification", header->identification);
	add_number(survey, info, "global_snapshot", header->global_snapshot);
	add_number(survey, info, "division", header->division);
	add_number(survey, info, "stream", header->stream);
	add_number(survey, info, "has_order", header->has_order);
}

static void fill_fields(struct xtrace_survey *survey, struct tw_info *info)
{
	const struct token_counts *all = &survey->all;
	uint64_t count = instructions(all, 0, 3), hundredths = count ? all->data_bytes * 100 / count : 0;
	add_number(survey, info, "files", all->files);
	add_number(survey, info, "instructions", count);
	add_number(survey, info, "user_instructions", instructions(all, 0, 0));
	add_number(survey, info, "kernel_instructions", instructions(all, 1, 3));
	if (count)
		survey->fields[info->field_count++] = (struct tw_field){.name = "bytes_per_instruction",
		                                                        .type = TW_FIELD_DOUBLE,
		                                                        .value.d = (double)hundredths / 100};
	if (all->vector_bits)
		add_number(survey, info, "vector_bits", all->vector_bits);
	add_number(survey, info, "snapshots", all->snapshots);
	if (all->first_time <= all->last_time) {
		add_number(survey, info, "first_time", all->first_time);
		add_number(survey, info, "last_time", all->last_time);
	}
	fill_header(survey, info);
	info->fields = survey->fields;
}

int xtrace_info(struct tw_reader *reader, unsigned jobs, struct tw_info *info)
{
	struct xtrace_reader *state = xtrace_of(reader);
	struct xtrace_survey *survey = state->survey = calloc(1, sizeof *survey);
	if (!survey || !(survey->threads = calloc(state->set.count, sizeof *survey->threads)))
		return tw_fail_memory(reader);
	fill_tables(survey);
	survey->all.first_time = UINT64_MAX;
	int status = count_all(reader, jobs, info);
	if (status < 0)
		return status;
	info->events = UINT64_MAX;
	info->bytes = survey->all.data_bytes + survey->all.snapshot_bytes;
	info->lost_bytes = survey->all.lost_bytes;
	fill_kinds(survey, info);
	fill_fields(survey, info);
	return 0;
}
