/* snapshots.c - a snapshot file from one to the next, over what is damaged. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "xtrace/xtrace.h"

#include <inttypes.h>

void xtrace_snapshots_init(struct xtrace_snapshots *snapshots, struct xtrace_files *files)
{
	*snapshots = (struct xtrace_snapshots){.files = files, .next = files->head_size};
}

/* Whether a snapshot that comes after the last one stands here. */
static bool fits(const struct xtrace_snapshots *snapshots, const uint8_t *bytes)
{
	struct tw_xtrace_snapshot found;
	if (tw_xtrace_snapshot_decode(bytes, &snapshots->files->layout, &found) < 0 || found.user_count > found.count)
		return false;
	return snapshots->number == 0 || (found.count > snapshots->last.count && found.index > snapshots->last.index &&
	                                  found.user_count >= snapshots->last.user_count);
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
static void tell(struct xtrace_snapshots *snapshots, const struct tw_xtrace_snapshot *found, uint64_t lost)
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
		              ": that is not behind the snapshot before; %" PRIu64 " bytes are left out.",
		              found->count, found->user_count, found->index, lost);
}

static void tell_compression(struct xtrace_snapshots *snapshots)
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
	tell_compression(snapshots);
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
	tell_compression(snapshots);
	return 0;
}

/* Steps over what is damaged. Returns 1, 0 at the end, or a negative status. */
static int skip(struct xtrace_snapshots *snapshots, const uint8_t *bytes)
{
	struct xtrace_files *files = snapshots->files;
	size_t step = tw_xtrace_snapshot_size(&files->layout), have;
	struct tw_xtrace_snapshot found;
	uint64_t at = snapshots->next + 1;
	tw_xtrace_snapshot_decode(bytes, &files->layout, &found);
	int status = find(snapshots, &at);
	if (status < 0)
		return fail(snapshots, status);
	tell(snapshots, &found, at - snapshots->next);
	snapshots->next = at;
	if (status == 0)
		return 0;
	status = tw_window_view(&files->snapshot_window, at, step, &bytes, &have);
	if (status < 0)
		return fail(snapshots, status);
	tw_xtrace_snapshot_decode(bytes, &files->layout, &snapshots->last);
	return 1;
}

int xtrace_snapshots_next(struct xtrace_snapshots *snapshots)
{
	struct xtrace_files *files = snapshots->files;
	const uint8_t *bytes;
	size_t have;
	if (!files->has_layout)
		return pass_by(snapshots);
	size_t step = tw_xtrace_snapshot_size(&files->layout);
	int status = tw_window_view(&files->snapshot_window, snapshots->next, step, &bytes, &have);
	if (status < 0)
		return fail(snapshots, status);
	if (have < step) {
		end(snapshots, have);
		return 0;
	}
	status = 1;
	if (fits(snapshots, bytes))
		tw_xtrace_snapshot_decode(bytes, &files->layout, &snapshots->last);
	else
		status = skip(snapshots, bytes);
	if (status <= 0)
		return status;
	snapshots->offset = snapshots->next;
	snapshots->next += step;
	snapshots->number++;
	return 1;
}
