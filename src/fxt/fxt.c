/* fxt.c - FXT archives as a format: what is one, opening and closing, and who reads it. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "fxt/fxt.h"

#include "core/filter/filter.h"
#include "fxt/resync/resync.h"

#include <stdlib.h>
#include <string.h>

/* ---- Opening. ---- */

/* Whether the first string of an archive is the category of samples: then Trackway wrote it, of a trace of samples. */
static bool begins_with_samples(struct tw_reader *reader)
{
	enum { LOOK = 512, STRING = TW_FXT_WORD + 12 };
	static const uint64_t header = TW_FXT_TYPE_STRING | 3 << 4 | 1 << 16 | UINT64_C(12) << 32;
	uint8_t little[STRING + 1], big[STRING + 1];
	const uint8_t *bytes;
	size_t have;
	if (tw_window_view(&reader->window, 0, 1, &bytes, &have) < 0)
		return false;
	have = have < LOOK ? have : LOOK;
	tw_store64(little, header, false);
	tw_store64(big, header, true);
	memcpy(little + TW_FXT_WORD, "stack-sample", STRING - TW_FXT_WORD);
	memcpy(big + TW_FXT_WORD, "stack-sample", STRING - TW_FXT_WORD);
	return have && (memmem(bytes, have, little, STRING) || memmem(bytes, have, big, STRING));
}

static int fxt_open(struct tw_reader *reader)
{
	int status = fxt_images->open(reader);
	if (status < 0)
		return status;
	struct fxt_reader *fxt = reader->state = calloc(1, sizeof *fxt);
	reader->traits.timeless = reader->traits.koids = reader->traits.ends_unordered = true;
	reader->traits.sampled = begins_with_samples(reader);
	if (reader->options.order == TW_ORDER_FILE && tw_filter_needs_time(&reader->options))
		reader->options.order = TW_ORDER_TIME;
	if (!reader->state)
		return tw_fail(reader, TW_ERR_MEMORY, "%s: out of memory", tw_input_name(reader->input));
	fxt->recording = (enum fxt_recording)status;
	return 0;
}

static void fxt_close(struct tw_reader *reader)
{
	struct fxt_reader *fxt = reader->state;
	fxt_pipeline_free(fxt->pipeline);
	for (size_t i = 0; i < fxt->held_count; i++)
		fxt_chunk_free(fxt->held[i]);
	tw_sorter_free(&fxt->sorter);
	fxt_commit_free(&fxt->commit);
	free(fxt->delays.items);
	fxt_pairs_free(&fxt->pairs);
	fxt_survey_free(fxt->survey);
	fxt_records_free(fxt->records);
	free(fxt);
}

/* ---- Reading. ---- */

static int look(struct tw_reader *reader)
{
	return fxt_check_early(reader) ? 0 : fxt_look(reader);
}

static int fxt_read(struct tw_reader *reader, struct tw_batch *batch)
{
	struct fxt_reader *fxt = reader->state;
	const struct tw_read_options *options = &reader->options;
	*batch = (struct tw_batch){0};
	if (fxt->finished)
		return 0;
	if (options->checking != TW_CHECK_ALL || !options->findings_only || fxt->late)
		return fxt_read_events(reader, batch);
	fxt->finished = true;
	return fxt_check_archive(reader, NULL);
}

/* Pairs of events that came late. */
static int fxt_check(struct tw_reader *reader, const struct tw_batch *batch)
{
	struct fxt_reader *fxt = reader->state;
	if (fxt->late && batch->count)
		fxt_pairs_take(&fxt->pairs, batch);
	else if (fxt->late)
		fxt_pairs_end(&fxt->pairs);
	return fxt->pairs.failed ? fxt_fail(reader, TW_ERR_MEMORY) : 0;
}

static bool fxt_help(struct tw_reader *reader, bool guest)
{
	struct fxt_reader *fxt = reader->state;
	return fxt->pipeline && fxt_pipeline_lend_hand(fxt->pipeline, guest);
}

/* ---- The format. ---- */

/* Whether these bytes may be the beginning of a record that is not all here. */
static bool is_begun(const uint8_t *bytes, size_t size, bool big)
{
	if (size < TW_FXT_WORD)
		return false;
	const uint64_t header = tw_load64(bytes, big);
	const enum tw_fxt_kind kind = fxt_kind(header);
	return kind != TW_FXT_UNKNOWN && !(header & fxt_reserved(kind)) && fxt_size(header) > size / TW_FXT_WORD;
}

/* How sure records without a magic number make it: several must follow one another, and a file that is shorter must end
 * with one. Where one of the first two is longer than what is here, more would tell. */
static int probe_records(const uint8_t *bytes, size_t size, bool big)
{
	enum { SURE = 4 };
	bool cut = size == TW_PROBE_SIZE || size == TW_PROBE_MOST;
	unsigned count;
	size_t end = fxt_chain(bytes, size, big, &count);
	if (count >= SURE)
		return 60;
	if (count > 1)
		return end == size || cut ? 25 : 0;
	return size == TW_PROBE_SIZE && is_begun(bytes + end, size - end, big) ? TW_PROBE_MORE : 0;
}

static int probe(const uint8_t *bytes, size_t size)
{
	bool big;
	if (size < TW_FXT_WORD)
		return 0;
	if (tw_fxt_magic(bytes, &big) == 0 || fxt_images->probe(bytes, size))
		return 100;
	int little = probe_records(bytes, size, false);
	int other = little > 0 ? 0 : probe_records(bytes, size, true);
	return other ? other : little;
}

const struct tw_format tw_format_fxt = {
    .name = "fxt",
    .title = "Fuchsia trace format archive (Fuchsia, Perfetto's UI, magic-trace)",
    .rules = fxt_rules,
    .rule_count = FXT_RULES,
    .traits =
	{
	    .copy_order = TW_ORDER_FILE,
	    .samples_beside = true,
	    .has_providers = true,
	    .keeps_clock = true,
	},
    .files =
	{
	    .probe = probe,
	},
    .reading =
	{
	    .open = fxt_open,
	    .look = look,
	    .orders_tracks = true,
	    .read = fxt_read,
	    .check = fxt_check,
	    .help = fxt_help,
	    .calls_by_track = fxt_profile_by_track,
	    .read_record = fxt_read_record,
	    .close = fxt_close,
	},
    .survey =
	{
	    .outline = fxt_outline,
	    .record_size = fxt_record_size,
	    .info = fxt_info,
	},
    .rewriting =
	{
	    .repair = fxt_repair,
	    .transcode = fxt_transcode,
	},
};
