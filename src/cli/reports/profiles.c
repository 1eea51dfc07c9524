/* profiles.c - reading files into a profile. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/reports/profiles.h"

#include "cli/files/walk.h"
#include "cli/output/message.h"
#include "cli/reports/call_notes.h"

static int read_profile(struct tw_walk *walk, struct tw_reader *reader, const char *path)
{
	(void)path;
	return tw_profile_add(walk->context, reader);
}

/* What an earlier profile of the files had room for, this one may not: it is said once. */
static void say_notes(const struct tw_profiling *profiling)
{
	const struct tw_profile_notes *notes = tw_profile_notes(profiling->profile);
	const enum tw_weight weight = tw_profile_weight(profiling->profile);
	const uint64_t said = profiling->earlier ? tw_profile_notes(profiling->earlier)->rows_folded : 0;
	if (!profiling->earlier)
		tw_say_weight(profiling->common, weight);
	if (!said)
		tw_say_folded(notes, weight);
	if (!profiling->earlier)
		tw_say_uncertain(notes);
}

/* A profile that has been read keeps half of its memory; the one that is read takes what the others leave. */
static size_t memory_of(const struct tw_profiling *profiling)
{
	const size_t all = profiling->parts ? profiling->parts : 1;
	return tw_memory_asked(profiling->common) / (all + 1) * 2;
}

int tw_profile_files(struct tw_profiling *profiling, char **paths, size_t count)
{
	const struct tw_common *common = profiling->common;
	const struct tw_profile_options options = {
	    .by = profiling->by,
	    .weight = tw_weight_asked(common),
	    .one_weight = true,
	    .recursive = profiling->recursive,
	    .min_duration_ns = common->filter.min_duration,
	    .jobs = tw_jobs(common),
	    .memory_limit = memory_of(profiling),
	};
	if (tw_profile_new(&profiling->profile, &options) < 0) {
		profiling->profile = NULL;
		return tw_say_error("out of memory");
	}
	struct tw_walk walk = {
	    .options.order = profiling->by == TW_BY_ASYNC ? TW_ORDER_TIME : TW_ORDER_TRACK,
	    .common = common,
	    .own_findings = profiling->earlier != NULL,
	    .together = true,
	    .context = profiling->profile,
	    .read = read_profile,
	};
	int status = tw_walk(&walk, paths, count);
	profiling->readable = walk.readable;
	if (tw_refuse_durations(common, tw_profile_weight(profiling->profile))) {
		profiling->readable = 0;
		return TW_EXIT_FAILED;
	}
	say_notes(profiling);
	return status;
}
