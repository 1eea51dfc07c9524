/* vectors.c - basic block vectors from SimPoint's files, as if the intervals had been read from a trace. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory/memory.h"
#include "base/text/scan.h"
#include "core/text/lines.h"
#include "study/study.h"
#include "study/tool.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LINE_MOST = 1 << 24 /* bytes of a line */ };

struct vector_reader {
	const struct study_vectors *wanted;
	struct study_part *all;
	const char *path; /* of the file that is read */
	uint64_t line;
	char *text; /* of the line */
	size_t text_room;
	uint64_t vectors;                 /* of the file */
	uint64_t thread, interval, start; /* interval: what the list of blocks tells, or the longest so far */
	bool interval_known;              /* by "#interval" */
	uint64_t *pcs;                    /* of blocks, by number; 0: not told */
	size_t pc_room;
	struct study_weight *entries;
	size_t entry_count, entry_room;
};

static int refuse(struct vector_reader *reader, const char *what)
{
	snprintf(reader->wanted->fault, STUDY_FAULT_ROOM, "%s:%" PRIu64 ": %s", reader->path, reader->line, what);
	return TW_ERR_VALUE;
}

/* Calls `take` with a line, terminated. */
static int take_text(struct vector_reader *reader, const struct tw_text_line *line,
                     int (*take)(struct vector_reader *, const char *text))
{
	reader->line = line->number;
	if (line->cut)
		return refuse(reader, "a line is longer than 16 MiB");
	if (memchr(line->bytes, '\0', line->size))
		return refuse(reader, "a line has a byte that is 0");
	if (!tw_grow(&reader->text, &reader->text_room, line->size + 1, 1))
		return TW_ERR_MEMORY;
	memcpy(reader->text, line->bytes, line->size);
	reader->text[line->size] = '\0';
	return take(reader, reader->text);
}

/* Calls `take` with each line of an input, which is closed. */
static int read_lines(struct vector_reader *reader, struct tw_input *input,
                      int (*take)(struct vector_reader *, const char *text))
{
	struct tw_text_lines lines = {.window = {.input = input}, .limit = LINE_MOST};
	struct tw_text_line line;
	int status;
	while ((status = tw_text_lines_next(&lines, &line)) > 0 && (status = take_text(reader, &line, take)) == 0)
		;
	if (status == TW_ERR_SYSTEM)
		snprintf(reader->wanted->fault, STUDY_FAULT_ROOM, "%s", tw_input_error(input));
	tw_text_lines_free(&lines);
	tw_input_close(input);
	return status;
}

static int read_file(struct vector_reader *reader, const char *path,
                     int (*take)(struct vector_reader *, const char *text))
{
	struct tw_input *input;
	int status = tw_input_open(&input, path);
	if (status == 0)
		return read_lines(reader, input, take);
	if (status == TW_ERR_SYSTEM)
		snprintf(reader->wanted->fault, STUDY_FAULT_ROOM, "%s", tw_input_error(input));
	tw_input_close(input);
	return status;
}

/* ---- PREFIX.blocks: where the blocks are. ---- */

static bool take_word(const char **text, const char *word)
{
	size_t length = strlen(word);
	bool is = strncmp(*text, word, length) == 0;
	*text += is ? length : 0;
	return is;
}

/* Two intervals cannot be compared that are not of one length. */
static int report_interval(struct vector_reader *reader, uint64_t interval)
{
	if (!interval || interval > UINT32_MAX || (reader->interval_known && interval != reader->interval))
		return refuse(reader, "vectors are of intervals of one length, of at most 2^32 - 1 instructions");
	reader->interval = interval;
	reader->interval_known = true;
	return 0;
}

/* "#interval N thread ID", or "NUMBER 0xPC" */
static int take_block(struct vector_reader *reader, const char *text)
{
	enum { BLOCKS = 1 << 24 };
	uint64_t number, pc;
	if (take_word(&text, "#interval "))
		return tw_scan_number(&text, 10, &number) && take_word(&text, " thread ") &&
		               tw_scan_number(&text, 10, &reader->thread)
		           ? report_interval(reader, number)
		           : refuse(reader, "not #interval N thread ID");
	if (!tw_scan_number(&text, 10, &number) || !take_word(&text, " ") || !tw_scan_number(&text, 16, &pc) ||
	    number >= BLOCKS)
		return refuse(reader, "not NUMBER 0xPC");
	if (!tw_grow(&reader->pcs, &reader->pc_room, (size_t)number + 1, sizeof *reader->pcs))
		return TW_ERR_MEMORY;
	reader->pcs[number] = pc;
	return 0;
}

static int read_blocks(struct vector_reader *reader)
{
	static const char suffix[] = ".bb";
	char path[PATH_MAX];
	const char *own = reader->path;
	size_t length = strlen(own);
	tw_clear(&reader->pcs, 0, reader->pc_room, sizeof *reader->pcs);
	if (length < strlen(suffix) || strcmp(own + length - strlen(suffix), suffix) != 0 ||
	    snprintf(path, sizeof path, "%.*s.blocks", (int)(length - strlen(suffix)), own) >= (int)sizeof path)
		return 0;
	if (access(path, F_OK) != 0)
		return 0;
	reader->path = path;
	int status = read_file(reader, path, take_block);
	reader->path = own;
	return status;
}

/* ---- PREFIX.bb ---- */

/* The place of a block: that of its address, or of its number where that is not known. */
static uint32_t site_of(struct vector_reader *reader, uint64_t number)
{
	uint64_t pc = number < reader->pc_room ? reader->pcs[number] : 0;
	return study_sites_find(&reader->all->sites, &(struct study_site){.pc = pc ? pc : number});
}

static int take_entry(struct vector_reader *reader, uint64_t block, uint64_t count, uint64_t *sum)
{
	*sum += count;
	if (!count || *sum > UINT32_MAX)
		return refuse(reader, "no interval has 0, or 2^32 instructions");
	if (!tw_grow(&reader->entries, &reader->entry_room, reader->entry_count + 1, sizeof *reader->entries))
		return TW_ERR_MEMORY;
	reader->entries[reader->entry_count++] = (struct study_weight){site_of(reader, block), (uint32_t)count};
	return 0;
}

static int close_vector(struct vector_reader *reader, uint64_t sum)
{
	if (reader->interval_known && sum > reader->interval)
		return refuse(reader, "more instructions than an interval has");
	reader->interval = sum > reader->interval ? sum : reader->interval;
	reader->all->totals.instructions += sum;
	study_phases_add(reader->all, reader->thread, reader->start, sum, reader->entries, reader->entry_count);
	reader->start += sum;
	return 0;
}

/* "T:BLOCK:INSTRUCTIONS :BLOCK:INSTRUCTIONS ..."; SimPoint passes over other lines. */
static int take_vector(struct vector_reader *reader, const char *text)
{
	uint64_t block, count, sum = 0;
	int status = 0;
	if (*text++ != 'T')
		return 0;
	reader->vectors++;
	reader->entry_count = 0;
	for (text += strspn(text, " \t"); status == 0 && *text == ':'; text += strspn(text, " \t")) {
		text++;
		if (!tw_scan_number(&text, 10, &block) || *text++ != ':' || !tw_scan_number(&text, 10, &count))
			return refuse(reader, "not :BLOCK:INSTRUCTIONS");
		status = take_entry(reader, block, count, &sum);
	}
	if (status == 0 && (text[strspn(text, "\r\n")] || !sum))
		status = refuse(reader, "not T:BLOCK:INSTRUCTIONS ...");
	return status < 0 ? status : close_vector(reader, sum);
}

static bool is_wanted(const struct study_vectors *wanted, uint64_t thread)
{
	for (size_t i = 0; i < wanted->thread_count; i++)
		if (wanted->threads[i] == thread)
			return true;
	return wanted->thread_count == 0;
}

static int read_vectors(struct vector_reader *reader, const char *path, size_t number)
{
	reader->path = path;
	reader->thread = number;
	reader->start = 0;
	int status = read_blocks(reader);
	if (status < 0 || !is_wanted(reader->wanted, reader->thread))
		return status;
	reader->vectors = 0;
	status = read_file(reader, path, take_vector);
	return status == 0 && !reader->vectors
	           ? refuse(reader, "no line T:BLOCK:INSTRUCTIONS ... is there: expected vectors as SimPoint has them")
	           : status;
}

static int fill(struct study_part *all, uint64_t *interval, void *context)
{
	const struct study_vectors *wanted = context;
	struct vector_reader reader = {.wanted = wanted, .all = all};
	int status = 0;
	for (size_t i = 0; status == 0 && i < wanted->count; i++)
		status = read_vectors(&reader, wanted->paths[i], i);
	if (status == 0 && *interval && reader.interval && *interval != reader.interval) {
		reader.line = 1;
		status = refuse(&reader, "vectors are of another --interval");
	}
	*interval = reader.interval ? reader.interval : *interval;
	free(reader.pcs);
	free(reader.entries);
	free(reader.text);
	return status;
}

int study_read_vectors(struct tw_study **study, const struct study_vectors *wanted,
                       const struct tw_study_options *options)
{
	wanted->fault[0] = '\0';
	int status = study_make(study, options, fill, (void *)(uintptr_t)wanted);
	if (status < 0 && !wanted->fault[0])
		snprintf(wanted->fault, STUDY_FAULT_ROOM, "%s", tw_status_text(status));
	return status;
}
