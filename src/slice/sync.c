/* sync.c - the threads of a trace between two points of the order of their accesses. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory/heap.h"
#include "slice/slice.h"

#include <inttypes.h>
#include <stdlib.h>

enum { ACCESSES = 1024 }; /* accesses of an instruction, at most: LD4 has 64 */

struct timed_access {
	uint64_t address;
	uint32_t size;
	bool stores;
};

/* A track on its way between the two points. */
struct ordered_track {
	struct xtrace_files files;
	struct xtrace_cursor cursor;
	struct slice_cut *cut;
	uint64_t begin;  /* offset of the first instruction behind what comes before */
	uint64_t first;  /* how many are before it */
	uint64_t number; /* of the instruction, from 1 */
	uint64_t length;
	bool opens; /* the next instruction is the first */
	uint64_t time;
	struct timed_access accesses[ACCESSES]; /* at that time */
	size_t count;
};

struct order_reader {
	struct slice_sync *sync;
	struct tw_reader *reader;
	struct tw_output *order;
	size_t chosen;  /* the track whose interval is wanted */
	uint64_t begin; /* offset of its first instruction */
	struct ordered_track *tracks;
	uint32_t *heap; /* numbers of the tracks that have another TIME, the earliest on top */
	size_t waiting;
};

static bool is_instruction(const struct tw_xtrace_token *token)
{
	return token->kind == TW_XTRACE_INST || token->kind == TW_XTRACE_PCINST;
}

static int refuse_kernel(const struct order_reader *work, const struct xtrace_track *track)
{
	return tw_fail(work->reader, TW_ERR_UNSUPPORTED,
	               "core %" PRIu64 " executes a kernel, and goes from task to task: --sync is of threads; without "
	               "it there is a slice of a program",
	               track->name.number);
}

/* ---- The two points. ---- */

static void take_point(struct slice_sync *sync, bool inside, bool *before, uint64_t time)
{
	if (inside && !*before)
		sync->after = time - 1;
	if (inside)
		sync->until = time;
	else
		sync->after = time;
	*before = true;
}

/* Finds where the interval lies in the order: the last TIME before it, or one less than its first, and the last TIME in
 * it. */
static int scan(struct order_reader *work, struct xtrace_files *files, uint64_t index, uint64_t instructions)
{
	struct xtrace_cursor cursor;
	struct tw_xtrace_token token;
	uint64_t number = 0, taken = 0;
	bool before = false;
	int status;
	xtrace_cursor_init(&cursor, files);
	while ((status = xtrace_cursor_next(&cursor, &token)) > 0) {
		bool inside = taken > 0;
		if (is_instruction(&token) && token.level)
			return refuse_kernel(work, files->track);
		if (is_instruction(&token)) {
			inside = inside || (files->layout.counts_index ? number : cursor.offset) >= index;
			if (inside && taken == 0)
				work->begin = cursor.offset;
			number++;
			taken += inside;
		}
		if (taken > instructions)
			break;
		if (token.kind == TW_XTRACE_TIME)
			take_point(work->sync, inside, &before, token.value);
	}
	return status;
}

static int find_points(struct order_reader *work, const struct xtrace_track *track,
                       const struct slice_interval *interval)
{
	struct xtrace_files files;
	struct xtrace_snapshots snapshots;
	int status = xtrace_files_open(&files, work->reader, track);
	if (status >= 0)
		status = slice_find_snapshot(&files, &snapshots, interval->snapshot);
	if (status >= 0)
		status = scan(work, &files, snapshots.place, interval->instructions);
	xtrace_files_close(&files);
	if (status >= 0 && !work->sync->until)
		return tw_fail(work->reader, TW_ERR_VALUE,
		               "the interval of thread %" PRIu64 " has no TIME, by which to cut the others",
		               track->name.number);
	return status < 0 ? status : 0;
}

/* ---- A track. ---- */

static void take_instruction(const struct order_reader *work, struct ordered_track *track)
{
	uint64_t offset = track->cursor.offset;
	if (track->opens || (track == &work->tracks[work->chosen] && offset == work->begin)) {
		track->begin = offset;
		track->first = track->number;
		track->opens = false;
	}
	track->number++;
	track->count = 0;
}

static int take_access(const struct order_reader *work, struct ordered_track *track,
                       const struct tw_xtrace_token *token)
{
	if (track->count == ACCESSES)
		return tw_fail(work->reader, TW_ERR_UNSUPPORTED, "an instruction with more than %d accesses", ACCESSES);
	track->accesses[track->count++] =
	    (struct timed_access){token->value, token->payload_size, token->kind == TW_XTRACE_STORE};
	return 0;
}

/* Whether this TIME is between the two points. */
static bool take_time(const struct order_reader *work, struct ordered_track *track, uint64_t time)
{
	if (time <= work->sync->after) {
		track->opens = true;
		track->count = 0;
		return false;
	}
	track->time = time;
	track->length = track->number - track->first;
	return track->number > 0;
}

/* Goes to the next TIME between the two points. Returns 1, 0 when there is none, or a negative status. */
static int advance(const struct order_reader *work, struct ordered_track *track)
{
	struct tw_xtrace_token token;
	int status;
	track->count = 0;
	while ((status = xtrace_cursor_next(&track->cursor, &token)) > 0) {
		if (is_instruction(&token) && token.level)
			return refuse_kernel(work, track->cut->track);
		if (is_instruction(&token))
			take_instruction(work, track);
		else if (token.kind == TW_XTRACE_LOAD || token.kind == TW_XTRACE_STORE)
			status = take_access(work, track, &token);
		else if (token.kind == TW_XTRACE_TIME && token.value > work->sync->until)
			return 0;
		else if (token.kind == TW_XTRACE_TIME && take_time(work, track, token.value))
			return 1;
		if (status < 0)
			return status;
	}
	return status;
}

/* ---- The order. ---- */

static void put_access(const struct order_reader *work, const struct ordered_track *track, const char *kind,
                       const struct timed_access *access)
{
	tw_putf(work->order, "%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%s\t0x%" PRIx64 "\t%" PRIu32 "\n", track->time,
	        track->cut->track->name.number, track->number - 1 - track->first, kind, access->address, access->size);
	work->sync->accesses++;
}

static void put_time(const struct order_reader *work, const struct ordered_track *track)
{
	const struct timed_access call = {0};
	for (size_t i = 0; i < track->count; i++)
		put_access(work, track, track->accesses[i].stores ? "store" : "load", &track->accesses[i]);
	if (!track->count)
		put_access(work, track, "call", &call);
}

static bool earlier(const void *context, uint32_t a, uint32_t b)
{
	const struct order_reader *work = context;
	return work->tracks[a].time < work->tracks[b].time;
}

static int open_track(struct order_reader *work, uint32_t number)
{
	struct ordered_track *track = &work->tracks[number];
	int status = xtrace_files_open(&track->files, work->reader, track->cut->track);
	xtrace_files_thin(&track->files);
	xtrace_cursor_init(&track->cursor, &track->files);
	track->opens = true;
	if (status >= 0)
		status = advance(work, track);
	if (status > 0)
		work->heap[work->waiting++] = number;
	return status;
}

static int read_tracks(struct order_reader *work)
{
	int status = 0;
	tw_putf(work->order, "# accesses of threads, later than TIME %" PRIu64 ", up to %" PRIu64 "\n",
	        work->sync->after, work->sync->until);
	tw_put_text(work->order, "time\tthread\tinstruction\tkind\taddress\tbytes\n");
	for (uint32_t i = 0; status >= 0 && i < work->sync->count; i++)
		status = open_track(work, i);
	tw_heap_make(work->heap, work->waiting, earlier, work);
	while (status >= 0 && work->waiting) {
		struct ordered_track *track = &work->tracks[work->heap[0]];
		put_time(work, track);
		status = advance(work, track);
		if (status == 0)
			work->heap[0] = work->heap[--work->waiting];
		tw_heap_sift(work->heap, work->waiting, 0, earlier, work);
	}
	return status;
}

/* ---- Snapshots. ---- */

/* Finds the last snapshot before the interval. */
static int find_snapshot(struct order_reader *work, const struct ordered_track *track, struct slice_cut *cut)
{
	struct xtrace_files files;
	struct xtrace_snapshots snapshots;
	uint64_t most = track->files.layout.counts_index ? track->first : track->begin, found = 0;
	int status = xtrace_files_open(&files, work->reader, cut->track);
	xtrace_snapshots_init(&snapshots, &files);
	while (status >= 0 && files.snapshots && (status = xtrace_snapshots_next(&snapshots)) > 0) {
		if (snapshots.place > most)
			break;
		found = snapshots.number;
	}
	xtrace_files_close(&files);
	if (status >= 0 && !found)
		return tw_fail(work->reader, TW_ERR_VALUE, "thread %" PRIu64 " has no snapshot before TIME %" PRIu64,
		               cut->track->name.number, work->sync->after + 1);
	cut->interval.snapshot = found - 1;
	return status < 0 ? status : 0;
}

static int make_cuts(struct order_reader *work, const struct slice_interval *interval)
{
	int status = 0;
	for (size_t i = 0; status == 0 && i < work->sync->count; i++) {
		struct slice_cut *cut = &work->sync->cuts[i];
		const struct ordered_track *track = &work->tracks[i];
		cut->interval = (struct slice_interval){.begin = track->begin, .instructions = track->length};
		if (i == work->chosen)
			cut->interval = *interval;
		else if (track->length)
			status = find_snapshot(work, track, cut);
	}
	return status;
}

static int prepare(struct order_reader *work, const struct xtrace_track *track)
{
	const struct xtrace_set *set = &xtrace_of(work->reader)->set;
	struct slice_sync *sync = work->sync;
	work->tracks = calloc(set->count, sizeof *work->tracks);
	work->heap = calloc(set->count, sizeof *work->heap);
	sync->cuts = calloc(set->count, sizeof *sync->cuts);
	if (!work->tracks || !work->heap || !sync->cuts) {
		tw_fail_memory(work->reader);
		return TW_ERR_MEMORY;
	}
	sync->count = set->count;
	work->chosen = (size_t)(track - set->tracks);
	for (size_t i = 0; i < sync->count; i++) {
		sync->cuts[i].track = &set->tracks[i];
		work->tracks[i].cut = &sync->cuts[i];
	}
	return 0;
}

int slice_sync_read(struct slice_sync *sync, struct tw_reader *reader, const struct xtrace_track *track,
                    const struct slice_interval *interval, struct tw_output *order)
{
	struct order_reader *work = calloc(1, sizeof *work);
	*sync = (struct slice_sync){0};
	if (!work)
		return tw_fail_memory(reader);
	work->sync = sync;
	work->reader = reader;
	work->order = order;
	bool quiet = reader->reports.quiet;
	reader->reports.quiet = true; /* what is wrong is reported when it is read for a slice */
	int status = prepare(work, track);
	if (status >= 0)
		status = find_points(work, track, interval);
	if (status >= 0)
		status = read_tracks(work);
	if (status >= 0)
		status = make_cuts(work, interval);
	reader->reports.quiet = quiet;
	for (size_t i = 0; work->tracks && i < sync->count; i++)
		xtrace_files_close(&work->tracks[i].files);
	free(work->tracks);
	free(work->heap);
	free(work);
	return status;
}

void slice_sync_free(struct slice_sync *sync)
{
	free(sync->cuts);
	sync->cuts = NULL;
}
