/* rewrite.c - a set written again: repaired, or a part of it that begins at a snapshot. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/bytes/begun.h"
#include "base/bytes/bytes.h"
#include "base/bytes/outdir.h"
#include "xtrace/format/opcode.h"
#include "xtrace/jobs/pick.h"
#include "xtrace/layout.h"
#include "xtrace/xtrace.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORD = 4, FIRST_MOST = 13 };

/* Where a part begins: an instruction. */
struct start {
	uint64_t offset, index, pc;
	bool has_pc;
	bool found; /* a snapshot is there */
};

struct first_instruction {
	uint8_t bytes[UINT8_MAX];
	size_t size;
};

struct set_rewrite {
	struct tw_reader *reader;
	struct xtrace_files files;
	struct xtrace_cursor cursor;
	struct xtrace_snapshots snapshots;
	bool has_snapshot;
	struct tw_output *data, *registers; /* NULL: there is no such file */
	struct first_instruction head; /* of the data file: the PCINST that is written behind it tells that it is one */
	struct tw_rewrite_result *result;
	bool cuts;        /* cuts a part; otherwise it repairs */
	bool picks;       /* the part has some instructions of the track, and no snapshots */
	uint64_t index;   /* instructions before the next one of the source */
	uint64_t written; /* instructions */
	uint64_t pc;
	bool has_pc;   /* the PC of the last instruction is known, and it was kept */
	bool found;    /* a thread has what is asked for */
	bool needs_pc; /* the next instruction must be a PCINST */
};

static bool is_instruction(const struct tw_xtrace_token *token)
{
	return token->kind == TW_XTRACE_INST || token->kind == TW_XTRACE_PCINST;
}

/* Whether an opcode leads elsewhere than to the next, so that an INST behind it has no PC. */
static bool leads_away(uint32_t opcode)
{
	struct xtrace_operation operation;
	xtrace_operation(opcode, &operation);
	switch ((enum xtrace_flow)operation.flow) {
	case XTRACE_JUMP:
	case XTRACE_CALL:
		return operation.target != WORD;
	case XTRACE_JUMP_TO:
	case XTRACE_CALL_TO:
	case XTRACE_RETURN:
	case XTRACE_EXCEPTION_RETURN:
		return true;
	default:
		return false;
	}
}

/* ---- Writing. ---- */

static void put_token(struct set_rewrite *r, const struct tw_xtrace_token *token)
{
	r->result->records_out++;
	if (r->head.size)
		tw_put(r->data, r->head.bytes, r->head.size);
	r->head.size = 0;
	if (!is_instruction(token)) {
		tw_put(r->data, r->cursor.bytes - token->size, token->size);
		return;
	}
	uint8_t bytes[FIRST_MOST];
	size_t size;
	tw_xtrace_encode(token, bytes, sizeof bytes, &size);
	tw_put(r->data, bytes, size);
	r->written++;
}

/* Whether the PC of the next instruction is known, and can be told where it must be: by the first that is written. */
static bool has_place(const struct set_rewrite *r, const struct tw_xtrace_token *token)
{
	return token->kind == TW_XTRACE_PCINST ||
	       (r->has_pc && !r->needs_pc && (r->written || xtrace_is_canonical(r->pc + WORD)));
}

/* An indirect branch to the next instruction is told by TARGET_B only: it is taken for one that leads there. */
static void take_instruction(struct set_rewrite *r, struct tw_xtrace_token *token)
{
	bool states_pc = token->kind == TW_XTRACE_PCINST;
	uint64_t pc = states_pc ? token->pc : r->pc + WORD;
	bool known = has_place(r, token);
	r->index++;
	r->has_pc = known;
	r->pc = pc;
	r->needs_pc = leads_away(token->opcode);
	if (!known) {
		r->result->records_dropped++;
		return;
	}
	if (r->written == 0 && !states_pc) {
		token->kind = TW_XTRACE_PCINST;
		token->pc = pc;
		r->result->records_changed++;
	}
	put_token(r, token);
}

static void take_token(struct set_rewrite *r, struct tw_xtrace_token *token)
{
	if (token->kind == TW_XTRACE_UNKNOWN) {
		r->has_pc = false;
		return;
	}
	r->result->records_in++;
	if (is_instruction(token))
		take_instruction(r, token);
	else if (r->has_pc)
		put_token(r, token);
	else
		r->result->records_dropped++;
}

/* Writes the snapshot with a new index: where its instruction is in the new file. */
static int put_snapshot(struct set_rewrite *r, uint64_t index)
{
	const uint8_t *bytes;
	size_t have, size = tw_xtrace_snapshot_size(&r->files.layout);
	uint8_t word[8];
	int status = tw_window_view(&r->files.snapshot_window, r->snapshots.offset, size, &bytes, &have);
	if (status < 0 || have < size)
		return tw_fail(r->reader, TW_ERR_SYSTEM, "%s: the file was cut while it was read",
		               r->files.snapshots_name);
	tw_store64(word, 0, false); /* several data files become one */
	tw_put(r->registers, r->files.parts.count ? word : bytes, sizeof word);
	tw_store64(word, index, false);
	tw_put(r->registers, word, sizeof word);
	tw_put(r->registers, bytes + 2 * sizeof word, size - 2 * sizeof word);
	r->result->records_out++;
	return 0;
}

static int next_snapshot(struct set_rewrite *r)
{
	int status = xtrace_snapshots_next(&r->snapshots);
	r->has_snapshot = status > 0;
	r->result->records_in += status > 0;
	return status;
}

/* Leaves out the snapshot, and tells why where that is not its instruction's fault. */
static int drop_snapshot(struct set_rewrite *r, bool lands)
{
	r->result->records_dropped++;
	if (!lands && r->files.data)
		xtrace_snapshots_report_index(&r->snapshots);
	return 0;
}

/* Takes the snapshots up to a token; that of the token is written, unless it will be left out itself. */
static int take_snapshots(struct set_rewrite *r, const struct tw_xtrace_token *token)
{
	bool counts = r->files.layout.counts_index, begins = is_instruction(token);
	uint64_t at = counts ? r->index : r->cursor.offset;
	bool kept = begins && has_place(r, token);
	int status = 0;
	while (status >= 0 && r->has_snapshot && r->snapshots.place <= at) {
		if (counts && !begins && r->snapshots.place == at)
			return 0;
		if (kept && r->snapshots.place == at)
			status = put_snapshot(r, counts ? r->written : tw_output_position(r->data) + r->head.size);
		else
			status = drop_snapshot(r, begins && r->snapshots.place == at);
		if (status >= 0)
			status = next_snapshot(r);
	}
	return status;
}

/* ---- A track. ---- */

static uint64_t end_of(const struct set_rewrite *r)
{
	return r->cuts && r->reader->options.to_ns ? r->reader->options.to_ns : UINT64_MAX;
}

/* Whether the part ends before a token: at an instruction, or at a snapshot of it. */
static bool ends(const struct set_rewrite *r, const struct tw_xtrace_token *token)
{
	uint64_t at = r->files.layout.counts_index ? r->index : r->cursor.offset,
		 last = xtrace_options(r->reader)->to_snapshot;
	if (!r->cuts || !is_instruction(token))
		return false;
	return r->index >= end_of(r) ||
	       (last && r->has_snapshot && r->snapshots.number > last && r->snapshots.place <= at);
}

/* Takes an instruction of a part that was picked. Behind one that is left out the PC must be told. */
static void put_picked(struct set_rewrite *r, struct tw_xtrace_token *token, uint64_t pc, bool after)
{
	if (!after) {
		token->kind = TW_XTRACE_PCINST;
		token->pc = pc;
	}
	put_token(r, token);
}

/* Takes a token. *kept: whether the last instruction was; what follows it is its own. Returns 0 or a negative
 * status. */
static int pick_token(struct set_rewrite *r, struct xtrace_pick *pick, struct tw_xtrace_token *token, bool *kept)
{
	bool begins = is_instruction(token), states_pc = token->kind == TW_XTRACE_PCINST;
	uint64_t pc = states_pc ? token->pc : r->pc + WORD;
	int status = xtrace_pick_take(pick, token, r->cursor.offset, pc);
	r->result->records_in += token->kind != TW_XTRACE_UNKNOWN;
	if (token->kind == TW_XTRACE_UNKNOWN)
		r->has_pc = *kept = false;
	if (!begins) {
		if (*kept)
			put_token(r, token);
		return status;
	}
	bool known = states_pc || (r->has_pc && !r->needs_pc);
	bool wanted =
	    status > 0 && known && r->index >= r->reader->options.from_ns && (*kept || xtrace_is_canonical(pc));
	if (wanted)
		put_picked(r, token, pc, *kept && !states_pc);
	*kept = wanted;
	r->index++;
	r->has_pc = known;
	r->pc = pc;
	r->needs_pc = leads_away(token->opcode);
	return status < 0 ? status : 0;
}

/* Copies the instructions that are picked, of the whole track: who calls whom must be known. Snapshots are of none. */
static int copy_picked(struct set_rewrite *r)
{
	struct xtrace_pick pick = {.calls.reader = r->reader,
	                           .stack.names = xtrace_names_of(r->reader, r->files.track)};
	struct tw_xtrace_token token;
	bool kept = false;
	int status = 0;
	while (status >= 0 && (status = xtrace_cursor_next(&r->cursor, &token)) > 0 && !ends(r, &token))
		status = pick_token(r, &pick, &token, &kept);
	xtrace_pick_free(&pick);
	return status < 0 ? status : 0;
}

static int copy_tokens(struct set_rewrite *r)
{
	struct tw_xtrace_token token;
	uint64_t first = r->files.layout.counts_index ? r->index : r->cursor.next;
	int status = next_snapshot(r);
	while (status >= 0 && r->cuts && r->has_snapshot && r->snapshots.place < first)
		status = next_snapshot(r);
	while (status >= 0 && (status = xtrace_cursor_next(&r->cursor, &token)) > 0) {
		if (ends(r, &token))
			return 0;
		if (token.kind != TW_XTRACE_UNKNOWN)
			status = take_snapshots(r, &token);
		if (status >= 0)
			take_token(r, &token);
	}
	for (; status >= 0 && r->has_snapshot; status = next_snapshot(r))
		drop_snapshot(r, false);
	return status;
}

/* Reads what stands before tokens or snapshots: it is kept, whatever it means. */
static int read_head(struct set_rewrite *r, struct tw_window *window, uint8_t size, struct first_instruction *head)
{
	const uint8_t *bytes;
	size_t have;
	int status = tw_window_view(window, 0, size, &bytes, &have);
	if (status < 0)
		return tw_fail(r->reader, status, "%s", tw_input_error(window->input));
	head->size = have < size ? have : size;
	if (head->size)
		memcpy(head->bytes, bytes, head->size);
	return 0;
}

static int copy_headers(struct set_rewrite *r)
{
	struct first_instruction head = {.size = 0};
	int status = 0;
	r->head.size = 0;
	if (r->data && r->files.data)
		status = read_head(r, &r->files.data_window, r->files.layout.data_start, &r->head);
	if (status >= 0 && r->registers && r->files.snapshots)
		status = read_head(r, &r->files.snapshot_window, (uint8_t)r->files.head_size, &head);
	if (head.size)
		tw_put(r->registers, head.bytes, head.size);
	return status;
}

/* Whether the snapshot that comes next was made before this instruction. */
static int passes_snapshot(struct set_rewrite *r, bool *lands)
{
	uint64_t at = r->files.layout.counts_index ? r->index : r->cursor.offset;
	int status = 0;
	while (status >= 0 && r->has_snapshot && r->snapshots.place < at)
		status = next_snapshot(r);
	*lands = r->has_snapshot && r->snapshots.place == at;
	return status;
}

/* Takes an instruction on the way to the start. Returns 1 when it is the start for sure, 0 to go on, or a negative
 * status. */
static int pass(struct set_rewrite *r, struct start *start)
{
	const struct tw_read_options *options = &r->reader->options;
	const struct tw_xtrace_read_options *xtrace = xtrace_options(r->reader);
	bool lands, by_snapshot = xtrace->from_snapshot || xtrace->to_snapshot;
	int status = passes_snapshot(r, &lands);
	bool wanted = by_snapshot && lands && r->snapshots.number > xtrace->from_snapshot;
	if (by_snapshot ? wanted : lands || (!r->found && r->index == options->from_ns))
		*start = (struct start){r->cursor.offset, r->index, r->pc - WORD, r->has_pc, lands};
	r->found |= by_snapshot ? wanted : lands;
	r->index++;
	return status < 0 ? status : wanted;
}

/* The instruction that a part begins at: the last with a snapshot at or before the first that is wanted, or that one
 * itself where there is none; or the one of the snapshot that is wanted. */
static int look_for_start(struct set_rewrite *r, struct start *start)
{
	const struct tw_read_options *options = &r->reader->options;
	const struct tw_xtrace_read_options *xtrace = xtrace_options(r->reader);
	uint64_t from = xtrace->from_snapshot || xtrace->to_snapshot ? UINT64_MAX : options->from_ns;
	struct tw_xtrace_token token;
	int status = next_snapshot(r);
	while (status >= 0 && r->index <= from && (status = xtrace_cursor_next(&r->cursor, &token)) > 0) {
		r->has_pc &= token.kind != TW_XTRACE_UNKNOWN;
		if (!is_instruction(&token))
			continue;
		r->pc = token.kind == TW_XTRACE_PCINST ? token.pc : r->pc + WORD;
		r->has_pc |= token.kind == TW_XTRACE_PCINST;
		status = pass(r, start);
		if (status > 0)
			return 0;
	}
	if (status >= 0 && r->index <= from) /* there are fewer */
		*start = (struct start){r->cursor.next, r->index, 0, false, false};
	return status < 0 ? status : 0;
}

static int find_start(struct tw_reader *reader, const struct xtrace_track *track, struct start *start)
{
	struct tw_rewrite_result unused = {0};
	struct set_rewrite r = {.reader = reader, .result = &unused};
	int status = xtrace_files_open(&r.files, reader, track);
	xtrace_cursor_init(&r.cursor, &r.files);
	xtrace_snapshots_init(&r.snapshots, &r.files);
	if (status >= 0)
		status = look_for_start(&r, start);
	xtrace_files_close(&r.files);
	return status;
}

static int rewrite_track(struct set_rewrite *r, const struct xtrace_track *track)
{
	struct start start = {0};
	int status = 0;
	if (r->cuts && !r->picks) {
		r->reader->reports.quiet = true; /* findings are reported when it is read the second time */
		status = find_start(r->reader, track, &start);
		r->reader->reports.quiet = false;
	}
	if (status >= 0)
		status = xtrace_files_open(&r->files, r->reader, track);
	xtrace_cursor_init(&r->cursor, &r->files);
	xtrace_snapshots_init(&r->snapshots, &r->files);
	if (r->cuts && start.offset > r->cursor.next)
		r->cursor.next = start.offset;
	r->index = start.index;
	r->pc = start.pc;
	r->has_pc = start.has_pc;
	r->found |= start.found;
	r->needs_pc = false;
	r->written = 0;
	if (status >= 0)
		status = copy_headers(r);
	if (status >= 0)
		status = r->picks ? copy_picked(r) : copy_tokens(r);
	r->result->lost_bytes += r->cursor.lost_bytes + r->snapshots.lost_bytes;
	xtrace_files_close(&r->files);
	return status;
}

int xtrace_repair(struct tw_reader *reader, struct tw_output *out, struct tw_rewrite_result *result)
{
	struct set_rewrite r = {.reader = reader, .data = out, .registers = out, .result = result};
	return rewrite_track(&r, xtrace_of(reader)->set.tracks);
}

/* ---- A set. ---- */

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

/* The place of a file in the new directory. Freed by the caller; NULL where there is no file, or no memory. */
static char *place(const char *directory, const char *path)
{
	char *text = NULL;
	if (path && asprintf(&text, "%s/%s", directory, base_name(path)) < 0)
		return NULL;
	return text;
}

/* Makes the directory; one that is there must be empty, but for what a killed program had begun. */
static int make_directory(struct tw_reader *reader, const char *path, struct tw_outdir *made)
{
	DIR *there = opendir(path);
	bool empty = true;
	for (const struct dirent *entry; there && empty && (entry = readdir(there));)
		empty = strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 ||
		        tw_begun_place(entry->d_name, strlen(entry->d_name));
	if (there)
		closedir(there);
	if (!empty)
		return tw_fail(reader, TW_ERR_SYSTEM, "%s: expected an empty directory, or none", path);
	int error = tw_outdir_open(made, path);
	return error ? tw_fail(reader, TW_ERR_SYSTEM, "%s: %s", path, strerror(error)) : 0;
}

static int open_output(struct tw_reader *reader, struct tw_output *out, const char *path, struct tw_output **opened)
{
	int error = path ? tw_output_open(out, path) : 0;
	if (error)
		return tw_fail(reader, TW_ERR_SYSTEM, "%s: %s", path, strerror(error));
	*opened = path ? out : NULL;
	return 0;
}

static int close_output(struct set_rewrite *r, struct tw_output *out, const char *path, int status)
{
	if (!out)
		return status;
	if (status < 0) {
		tw_output_discard(out);
		return status;
	}
	r->result->bytes_out += tw_output_position(out);
	int error = tw_output_close(out);
	return error ? tw_fail(r->reader, TW_ERR_SYSTEM, "%s: %s", path, strerror(error)) : 0;
}

static int write_track(struct set_rewrite *r, const char *directory, const struct xtrace_track *track)
{
	struct tw_output data, registers;
	char *data_path = place(directory, track->data), *registers_path = place(directory, track->snapshots);
	bool no_memory = (track->data && !data_path) || (track->snapshots && !registers_path);
	r->data = r->registers = NULL;
	int status = no_memory ? tw_fail_memory(r->reader) : 0;
	if (status >= 0)
		status = open_output(r->reader, &data, data_path, &r->data);
	if (status >= 0)
		status = open_output(r->reader, &registers, registers_path, &r->registers);
	if (status >= 0)
		status = rewrite_track(r, track);
	status = close_output(r, r->data, data_path, status);
	status = close_output(r, r->registers, registers_path, status);
	free(data_path);
	free(registers_path);
	return status;
}

/* The directory gets its name, or is gone. */
static int end_directory(struct tw_reader *reader, const char *path, struct tw_outdir *made, int status)
{
	int error = status < 0 ? 0 : tw_outdir_keep(made, NULL);
	tw_outdir_drop(made);
	return error ? tw_fail(reader, TW_ERR_SYSTEM, "%s: %s", path, strerror(error)) : status;
}

int xtrace_rewrite_set(struct tw_reader *reader, const char *directory, bool repairs, struct tw_rewrite_result *result)
{
	const struct xtrace_set *set = &xtrace_of(reader)->set;
	const struct tw_xtrace_read_options *xtrace = xtrace_options(reader);
	struct set_rewrite r = {.reader = reader, .result = result, .cuts = !repairs};
	struct tw_outdir made = {.lock = -1};
	int status = 0;
	r.picks = !repairs && xtrace_picks(reader);
	if (reader->options.category || reader->options.min_duration_ns || (repairs && reader->options.function))
		return tw_fail(reader, TW_ERR_UNSUPPORTED,
		               "%s: a part of an xtrace is chosen by thread, function, level, address and count of "
		               "instructions (as times) only",
		               tw_source_name(reader));
	if (r.picks && (xtrace->from_snapshot || xtrace->to_snapshot))
		return tw_fail(reader, TW_ERR_VALUE,
		               "%s: a part by functions, levels or addresses has no snapshots to be chosen by",
		               tw_source_name(reader));
	if (strcmp(directory, "-") == 0)
		status =
		    tw_fail(reader, TW_ERR_VALUE, "%s: an xtrace is a directory: it does not go to standard output",
		            tw_source_name(reader));
	else
		status = make_directory(reader, directory, &made);
	if (status < 0) {
		tw_use_not(reader); /* another directory may do */
		return status;
	}
	for (size_t i = 0; i < set->count && status >= 0; i++)
		if (tw_thread_wanted(&reader->options, set->tracks[i].name.number))
			status = write_track(&r, made.temporary, &set->tracks[i]);
	if (status >= 0 && (xtrace->from_snapshot || xtrace->to_snapshot) && !r.found)
		status = tw_fail(reader, TW_ERR_VALUE, "%s: no thread has a snapshot number %" PRIu64,
		                 tw_source_name(reader), xtrace->from_snapshot);
	if (status >= 0)
		status = xtrace_list_copy(reader, set, made.temporary, &result->bytes_out);
	status = end_directory(reader, directory, &made, status);
	result->nothing_passed = r.cuts && status >= 0 && result->records_out == 0;
	return status;
}
