/* format.c - XRay FDR logs as a format: finding, opening and closing them, and their parts. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory/order.h"
#include "core/filter/filter.h"
#include "fdr/state.h"

#include <stdlib.h>

/* ---- Opening. ---- */

static int compare_bytes(const void *left, const void *right, void *context)
{
	const struct fdr_thread *threads = context;
	uint32_t l = *(const uint32_t *)left, r = *(const uint32_t *)right;
	int order = tw_compare(threads[r].bytes, threads[l].bytes);
	return order ? order : tw_compare(l, r);
}

static int compare_numbers(const void *left, const void *right)
{
	uint32_t l = *(const uint32_t *)left, r = *(const uint32_t *)right;
	return tw_compare(l, r);
}

/* Deals the threads out to the parts, the largest first to the part with the least, and keeps those of this part. */
static void share_threads(struct fdr_state *state, unsigned shard, unsigned shards)
{
	enum { PARTS_MAX = 256 };
	uint64_t load[PARTS_MAX] = {0};
	struct fdr_thread *threads = state->log->threads;
	size_t kept = 0;
	unsigned parts = shards < PARTS_MAX ? shards : PARTS_MAX;
	qsort_r(state->threads, state->thread_count, sizeof *state->threads, compare_bytes, threads);
	for (size_t i = 0; i < state->thread_count; i++) {
		unsigned least = 0;
		for (unsigned part = 1; part < parts; part++)
			if (load[part] < load[least])
				least = part;
		load[least] += threads[state->threads[i]].bytes;
		if (least == shard)
			state->threads[kept++] = state->threads[i];
	}
	state->thread_count = kept;
	qsort(state->threads, kept, sizeof *state->threads, compare_numbers);
}

static int choose_threads(struct tw_reader *reader, unsigned shard, unsigned shards)
{
	struct fdr_state *state = reader->state;
	const struct fdr_log *log = state->log;
	state->threads = calloc(log->thread_count + 1, sizeof *state->threads);
	if (!state->threads)
		return tw_fail_memory(reader);
	for (uint32_t i = 0; i < log->thread_count; i++)
		if (log->threads[i].count && (i == 0 || tw_thread_wanted(&reader->options, log->threads[i].thread)))
			state->threads[state->thread_count++] = i;
	if (shards > 1)
		share_threads(state, shard, shards);
	return 0;
}

static int choose_thread(struct tw_reader *reader, uint32_t thread)
{
	struct fdr_state *state = reader->state;
	state->threads = malloc(sizeof *state->threads);
	if (!state->threads)
		return tw_fail_memory(reader);
	state->threads[0] = thread;
	state->thread_count = 1;
	return 0;
}

static int open_state(struct tw_reader *reader, struct fdr_log *log, bool borrowed)
{
	struct fdr_state *state = calloc(1, sizeof *state);
	if (!state) {
		if (!borrowed)
			fdr_log_free(log);
		return tw_fail_memory(reader);
	}
	reader->state = state;
	state->log = log;
	state->borrowed = borrowed;
	state->borders = (struct tw_window){.input = reader->input, .chunk = 4096};
	if (!fdr_rows_init(&state->rows, FDR_ROWS, FDR_ARGUMENTS, FDR_BYTES))
		return tw_fail_memory(reader);
	state->checker.buffers_only = reader->options.order == TW_ORDER_FILE;
	int status = fdr_words_init(reader->dictionary, &state->words);
	fdr_stream_init(&state->stream, reader, 0);
	state->stream.cursor.buffer.next = TW_FDR_HEADER_SIZE;
	state->stream.cursor.buffer.resumes = reader->options.order == TW_ORDER_FILE;
	return status;
}

/* Reads what is needed before events: in time order a list of the buffers, which takes a second look at the file. */
int fdr_open(struct tw_reader *reader)
{
	if (!tw_input_seekable(reader->input)) {
		int status = tw_input_spool(reader->input, reader->options.temporary_directory);
		if (status < 0)
			return tw_fail(reader, status, "%s", tw_input_error(reader->input));
	}
	int status = fdr_core_open(reader);
	if (status < 0)
		return status;
	struct fdr_log *log = calloc(1, sizeof *log);
	if (!log)
		return tw_fail_memory(reader);
	status = fdr_read_header(reader, log);
	struct fdr_flight_state state;
	log->recorded = status >= 0 && !fdr_is_basic(log) && fdr_flight_state(reader, &state);
	if (status >= 0 && fdr_is_basic(log))
		status = fdr_basic_take_reference(reader, log);
	if (status < 0) {
		fdr_log_free(log);
		return status;
	}
	if (tw_input_damaged(reader->input))
		tw_report(reader, &fdr_rules[XRAY_COMPRESSION], tw_input_size(reader->input),
		          tw_input_size(reader->input), 0, "%s", tw_input_damage(reader->input));
	/* Filters need times since the start, and each thread's in order. */
	if (reader->options.order == TW_ORDER_FILE && tw_filter_needed(&reader->options))
		reader->options.order = TW_ORDER_TRACK;
	status = open_state(reader, log, false);
	if (status < 0 || reader->options.order == TW_ORDER_FILE)
		return status;
	reader->traits.in_turn = reader->options.order == TW_ORDER_TRACK;
	status = fdr_index(reader, log);
	if (status >= 0)
		status = fdr_keep_notes(reader, log);
	if (status >= 0)
		status = choose_threads(reader, 0, 1);
	if (status >= 0 && reader->options.order == TW_ORDER_TIME)
		status = fdr_merge_open(reader);
	return status;
}

int fdr_open_shard(struct tw_reader *part, unsigned shard, unsigned shards)
{
	struct fdr_state *whole = part->whole->state;
	if (shards > 1 && whole->thread_count < 2)
		return TW_ERR_UNSUPPORTED; /* a second part would have nothing to read */
	int status = open_state(part, whole->log, true);
	if (status < 0)
		return status;
	return whole->alone ? choose_thread(part, *whole->alone) : choose_threads(part, shard, shards);
}

void fdr_close(struct tw_reader *reader)
{
	struct fdr_state *state = reader->state;
	fdr_merge_free(state->merge);
	fdr_records_free(state->records);
	fdr_summary_free(state->survey);
	fdr_cursor_free(&state->stream.cursor);
	fdr_rows_free(&state->rows);
	fdr_names_free(&state->names);
	fdr_checker_free(&state->checker);
	tw_window_free(&state->borders);
	if (!state->borrowed)
		fdr_log_free(state->log);
	free(state->threads);
	free(state);
}

/* ---- The format. ---- */

/* There is no magic number: the header must make sense and a buffer must follow. */
static int probe(const uint8_t *bytes, size_t size)
{
	struct tw_fdr_header header;
	if (fdr_is_core(bytes, size))
		return 60;
	if (size < TW_FDR_HEADER_SIZE) {
		bool little =
		    size >= 4 && bytes[0] >= 1 && bytes[0] <= 5 && bytes[1] == 0 && bytes[2] == 1 && bytes[3] == 0;
		bool big =
		    size >= 4 && bytes[1] >= 1 && bytes[1] <= 5 && bytes[0] == 0 && bytes[2] == 0 && bytes[3] == 1;
		return little || big ? 20 : 0;
	}
	if (tw_fdr_header_decode(bytes, size, &header) < 0)
		return fdr_newer_version(bytes, size) && bytes[2] == 1 ? 15 : 0;
	if (header.type != 1)
		return 0;
	if (size == TW_FDR_HEADER_SIZE)
		return 50;
	unsigned first = bytes[TW_FDR_HEADER_SIZE];
	unsigned kind = FDR_METADATA + (header.layout == TW_FDR_BIG_MSB ? first & 0x7f : first >> 1);
	return kind == TW_FDR_NEW_BUFFER || kind == TW_FDR_BUFFER_EXTENTS ? 90 : 30;
}

const struct tw_format tw_format_fdr = {
    .name = "xray-fdr",
    .title = "XRay flight data recorder log (LLVM, clang -fxray-instrument)",
    .rules = fdr_rules,
    .rule_count = FDR_RULES,
    .traits =
	{
	    .takes_frequency = true,
	    .names_events = true,
	},
    .files =
	{
	    .probe = probe,
	},
    .reading =
	{
	    .open = fdr_open,
	    .open_shard = fdr_open_shard,
	    .read = fdr_read,
	    .read_calls = fdr_read_calls,
	    .read_record = fdr_read_record,
	    .keep = fdr_keep,
	    .close = fdr_close,
	},
    .survey =
	{
	    .outline = fdr_outline,
	    .borders = fdr_borders,
	    .info = fdr_info,
	},
    .rewriting =
	{
	    .repair = fdr_repair,
	    .transcode = fdr_transcode,
	},
};
