/* fxt.h - FXT archives inside the library: the format, the target, and the parts of a reader. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FXT_FXT_H
#define FXT_FXT_H

#include "core/calls/nested.h"
#include "core/format.h"
#include "core/order/reach.h"
#include "fxt/events/events.h"
#include "fxt/jobs/pairs.h"
#include "fxt/walk/pipeline.h"

extern const struct tw_format tw_format_fxt;
extern const struct tw_target tw_target_fxt;

/* What a trace is: an archive, or the image of a recording. */
enum fxt_recording { FXT_RECORDING_NONE, FXT_RECORDING_COMPLETE, FXT_RECORDING_UNFINISHED };

/* Images of recordings, which become archives as they are opened; formats.c knows them: src/image. */
struct fxt_images {
	/* Whether bytes are the beginning of an image. */
	bool (*probe)(const uint8_t *bytes, size_t size);
	/* Where a reader's input is an image, puts the archive that it makes in the place of it, in a file without a
	 * name, and reports what became of the recording. Returns enum fxt_recording or a negative status. */
	int (*open)(struct tw_reader *reader);
};
extern const struct fxt_images *const fxt_images;

/* What a reader keeps. */
struct fxt_reader {
	struct fxt_pipeline *pipeline; /* events: made at the first read */
	struct fxt_commit commit;
	struct fxt_pairs pairs;
	struct fxt_delays delays;               /* where each track is put in order by itself */
	struct tw_sorter sorter;                /* of rows */
	struct fxt_chunk *held[TW_ORDER_SLABS]; /* chunks whose events have not all been delivered, the oldest first */
	size_t held_count;
	uint64_t held_bytes;
	uint64_t passed_ns;                  /* the latest time of the records that were skipped */
	struct tw_event kept[TW_SLAB_BLOCK]; /* of the last batch, where some of it was left out */
	uint64_t earliest;            /* look.c, where `looked`: the first time of all; UINT64_MAX: there is none */
	enum fxt_recording recording; /* what the input is */
	bool looked;
	bool late;                   /* the same: events come later than the window reaches */
	bool started;                /* the clock is set */
	bool ended;                  /* no more chunks come */
	bool finished;               /* no more rows either */
	struct fxt_survey *survey;   /* info; made when it is asked for */
	struct fxt_records *records; /* the same for records one by one */
};

/* report.c: tells of a failure; tells of the input at the end; tells of records that came too late,
 * if there were, and of the cure. */
int fxt_fail(struct tw_reader *reader, int status);
void fxt_finish(struct tw_reader *reader);
void fxt_report_late(struct tw_reader *reader, uint64_t late, uint64_t offset, uint64_t latest_by, const char *cure);

/* reader.c: gives the next events. Returns how many, 0 at the end, or a negative status. */
int fxt_read_events(struct tw_reader *reader, struct tw_batch *batch);

/* reader.c: begins to read ahead. Returns 0 or a negative status. */
int fxt_start(struct tw_reader *reader, const struct fxt_work *work, const struct fxt_wish *wish, unsigned jobs);

/* wait.c: lets chunks wait. Returns the work for an archive that is merged: rows are made of a chunk only if it cannot
 * wait. */
struct fxt_work fxt_wait_start(struct tw_reader *reader);

/* wait.c: takes a chunk that waits. */
void fxt_wait_put(struct tw_reader *reader, struct fxt_chunk *chunk);

/* wait.c: frees the memory of a chunk whose rows have been delivered. */
void fxt_wait_empty(struct fxt_reader *fxt, struct fxt_chunk *chunk);

/* look.c: finds the first and the last time of a chunk that was walked, without making rows. False where they have to
 * be made, because others depend on them, or not all of them have a time. */
bool fxt_find_times(struct fxt_chunk *chunk);

/* look.c: takes the times of the next chunk, which is not committed. */
void fxt_take_times(struct tw_reach *reach, const struct fxt_chunk *chunk);

/* pipeline.c: how many bytes of the archive records may come late by. */
uint64_t fxt_reorder_window(const struct tw_reader *reader);

/* pipeline.c: how much of the archive is read at a time. */
size_t fxt_chunk_size(const struct tw_reader *reader);

/* reader.c: takes the wall time from the first context of a chunk that tells one, unless it is known. */
void fxt_set_wall(struct tw_reader *reader, const struct fxt_chunk *chunk);

/* An archive checked with one look at it. */
struct fxt_early {
	struct tw_reach reach;
	struct tw_nested durations;
	bool has_steps; /* other than complete slices */
};

/* check_archive.c: reads all of the archive for what is wrong with it. Returns 0 or a negative status; `early` or NULL:
 * TW_ERR_UNSUPPORTED where that does not go on. */
int fxt_check_archive(struct tw_reader *reader, struct fxt_early *early);

/* check_archive.c: the same with one look. False where that cannot tell: nothing has been reported. */
bool fxt_check_early(struct tw_reader *reader);

/* check_early.c: takes the slices of a committed chunk, whose steps leave it; false where they have to be merged. Gives
 * the pairs what is still open, and the clock when all ended. */
bool fxt_early_take(struct fxt_early *early, struct fxt_pairs *pairs, struct fxt_chunk *chunk);
void fxt_early_end(const struct fxt_early *early, struct fxt_pairs *pairs);

/* ---- The jobs of struct tw_format, as core/format.h tells them, by file. ---- */

/* look.c */
int fxt_look(struct tw_reader *reader);

/* profile_by_track.c */
int fxt_profile_by_track(struct tw_reader *reader, const struct tw_call_taker *taker);

/* records.c */
int fxt_outline(struct tw_reader *reader, tw_outline_fn put, void *context);
uint64_t fxt_record_size(struct tw_input *input, uint64_t offset);

/* records.c */
int fxt_read_record(struct tw_reader *reader, struct tw_record *record);
void fxt_records_free(struct fxt_records *records);

/* rewrite.c */
int fxt_repair(struct tw_reader *reader, struct tw_output *out, struct tw_rewrite_result *result);
int fxt_transcode(struct tw_reader *reader, struct tw_output *out, const struct tw_write_options *options,
                  struct tw_rewrite_result *result);

/* info.c */
int fxt_info(struct tw_reader *reader, unsigned jobs, struct tw_info *info);
void fxt_survey_free(struct fxt_survey *survey);

#endif
