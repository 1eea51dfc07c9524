/* snapshots.c - a snapshot file from one to the next, over what is damaged. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "xtrace/xtrace.h"

#include <inttypes.h>
#include <stdio.h>

void xtrace_snapshots_init(struct xtrace_snapshots *snapshots, struct xtrace_files *files)
{
	*snapshots = (struct xtrace_snapshots){.files = files, .next = files->head_size};
}

/* Whether a snapshot was made after another one. */
static bool follows(const struct tw_xtrace_snapshot *snapshot, const struct tw_xtrace_snapshot *other)
{
	bool behind = snapshot->file == other->file ? snapshot->index > other->index : snapshot->file > other->file;
	return snapshot->count > other->count && behind && snapshot->user_count >= other->user_count;
}

/* Reads a snapshot; false where what stands here is none that comes after the last one. */
static bool take(const struct xtrace_snapshots *snapshots, const uint8_t *bytes, struct tw_xtrace_snapshot *found)
{
	return tw_xtrace_snapshot_decode(bytes, &snapshots->files->layout, found) >= 0 &&
	       found->user_count <= found->count && (snapshots->number == 0 || follows(found, &snapshots->last));
}

static bool fits(const struct xtrace_snapshots *snapshots, const uint8_t *bytes)
{
	struct tw_xtrace_snapshot found;
	return take(snapshots, bytes, &found);
}

/* Whether of three snapshots the first is too far ahead: the other two come after the last one and after each other,
 * but before it. Taken for whole it would cost all behind it. */
static bool runs_ahead(const struct xtrace_snapshots *snapshots, const uint8_t *bytes, size_t step)
{
	struct tw_xtrace_snapshot first, second, third;
	return take(snapshots, bytes, &first) && take(snapshots, bytes + step, &second) &&
	       take(snapshots, bytes + 2 * step, &third) && follows(&third, &second) && !follows(&second, &first) &&
	       !follows(&third, &first);
}

/* Finds the next place from *at on where one stands. Returns 1, 0 at the end, or a negative status. */
static int find(struct xtrace_snapshots *snapshots, uint64_t *at)
{
	struct xtrace_files *files = snapshots->files;
	size_t step = tw_xtrace_snapshot_size(&files->layout);
	for (;; ++*at) {
		const uint8_t *bytes;
		size_t have;
		int status = tw_window_view(&files->snapshot_window, *at, step, &bytes, &have);
		if (status < 0)
			return status;
		if (have < step) {
			*at += have;
			return 0;
		}
		if (fits(snapshots, bytes))
			return 1;
	}
}

static int fail(struct xtrace_snapshots *snapshots, int status)
{
	return tw_fail(snapshots->files->reader, status, "%s", tw_input_error(snapshots->files->snapshots));
}

/* Reports what is wrong with a snapshot that stands where one should. */
static void report(struct xtrace_snapshots *snapshots, const struct tw_xtrace_snapshot *found, bool ahead,
                   uint64_t lost)
{
	const struct tw_xtrace_layout *layout = &snapshots->files->layout;
	uint64_t at = snapshots->next;
	snapshots->lost_bytes += lost;
	if (found->vector_bits != layout->vector_bits)
		xtrace_report(snapshots->files, true, XTRACE_SNAPSHOT_LENGTH, at,
		              at + tw_xtrace_snapshot_size(layout) - 8,
		              "Expected %u, the vector length, found %" PRIu64 "; %" PRIu64 " bytes are left out.",
		              layout->vector_bits, found->vector_bits, lost);
	else
		xtrace_report(snapshots->files, true, XTRACE_SNAPSHOT_ORDER, at, at + 16,
		              "%" PRIu64 " instructions (%" PRIu64 " of user mode) before 0x%" PRIx64
		              ": that is not %s; %" PRIu64 " bytes are left out.",
		              found->count, found->user_count, found->index,
		              ahead ? "before the snapshots behind it" : "behind the snapshot before", lost);
}

void xtrace_snapshots_report_index(const struct xtrace_snapshots *snapshots)
{
	char file[sizeof " number " + 20] = "";
	if (snapshots->files->parts.count || snapshots->last.file != snapshots->first_file)
		snprintf(file, sizeof file, " number %" PRIu64, snapshots->last.file);
	xtrace_report(snapshots->files, true, XTRACE_SNAPSHOT_INDEX, snapshots->offset, snapshots->offset + 8,
	              "No instruction begins at %s %" PRIu64 " of the data file%s.",
	              snapshots->files->layout.counts_index ? "number" : "offset", snapshots->last.index, file);
}

/* Of a single data file nothing tells which number it has: it has that of the first snapshot. */
static uint64_t place_of(const struct xtrace_snapshots *snapshots)
{
	const struct xtrace_parts *parts = &snapshots->files->parts;
	const struct tw_xtrace_snapshot *last = &snapshots->last;
	if (snapshots->files->layout.counts_index)
		return last->index;
	if (!parts->count)
		return last->file == snapshots->first_file ? last->index : UINT64_MAX;
	if (last->file >= parts->count || last->index >= parts->items[last->file].size)
		return UINT64_MAX;
	return parts->items[last->file].begin + last->index;
}

static void report_compression(struct xtrace_snapshots *snapshots)
{
	struct xtrace_files *files = snapshots->files;
	if (tw_input_damaged(files->snapshots))
		xtrace_report(files, true, XTRACE_COMPRESSION, snapshots->next, snapshots->next, "%s",
		              tw_input_damage(files->snapshots));
}

static void end(struct xtrace_snapshots *snapshots, uint64_t left)
{
	struct xtrace_files *files = snapshots->files;
	if (left)
		xtrace_report(files, true, XTRACE_SNAPSHOT_CUT, snapshots->next, snapshots->next + left,
		              "The file ends inside a snapshot: %" PRIu64 " of %zu bytes are there.", left,
		              tw_xtrace_snapshot_size(&files->layout));
	snapshots->lost_bytes += left;
	snapshots->next += left;
	report_compression(snapshots);
}

/* Passes by what is in a file whose layout is not known: nothing of it can be read. */
static int pass_by(struct xtrace_snapshots *snapshots)
{
	const uint8_t *bytes;
	size_t have;
	int status;
	if (!snapshots->files->snapshots)
		return 0;
	while ((status = tw_window_view(&snapshots->files->snapshot_window, snapshots->next, 1, &bytes, &have)) >= 0 &&
	       have) {
		snapshots->next += have;
		snapshots->lost_bytes += have;
	}
	if (status < 0)
		return fail(snapshots, status);
	report_compression(snapshots);
	return 0;
}

/* Steps over what is damaged: one that runs ahead, or up to the next that fits. Returns 1, 0 at the end, or a negative
 * status. */
static int skip(struct xtrace_snapshots *snapshots, const uint8_t *bytes, bool ahead)
{
	const struct tw_xtrace_layout *layout = &snapshots->files->layout;
	struct tw_xtrace_snapshot found;
	uint64_t at = snapshots->next + (ahead ? tw_xtrace_snapshot_size(layout) : 1);
	tw_xtrace_snapshot_decode(bytes, layout, &found);
	int status = find(snapshots, &at);
	if (status < 0)
		return fail(snapshots, status);
	report(snapshots, &found, ahead, at - snapshots->next);
	snapshots->next = at;
	return status;
}

int xtrace_snapshots_next(struct xtrace_snapshots *snapshots)
{
	struct xtrace_files *files = snapshots->files;
	const uint8_t *bytes;
	size_t have, step = tw_xtrace_snapshot_size(&files->layout);
	int status;
	if (!files->has_layout)
		return pass_by(snapshots);
	while ((status = tw_window_view(&files->snapshot_window, snapshots->next, 3 * step, &bytes, &have)) >= 0) {
		if (have < step) {
			end(snapshots, have);
			return 0;
		}
		bool ahead = have >= 3 * step && runs_ahead(snapshots, bytes, step);
		if (!ahead && fits(snapshots, bytes))
			break;
		status = skip(snapshots, bytes, ahead);
		if (status <= 0)
			return status;
	}
	if (status < 0)
		return fail(snapshots, status);
	tw_xtrace_snapshot_decode(bytes, &files->layout, &snapshots->last);
	if (snapshots->number == 0)
		snapshots->first_file = snapshots->last.file;
	snapshots->place = place_of(snapshots);
	snapshots->offset = snapshots->next;
	snapshots->next += step;
	snapshots->number++;
	return 1;
}
