/* trace.c - the answers about the whole trace: its files, its tracks, and how far it has been read. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "core/format.h"
#include "view/serve/place.h"
#include "view/serve/starts.h"

static const char *const states[] = {[VIEW_READING] = "reading", [VIEW_DONE] = "done", [VIEW_FAILED] = "failed"};

static void digits_or_null(struct tw_json *json, const char *key, uint64_t value, bool known)
{
	if (known)
		view_json_digits(json, key, value);
	else
		tw_json_text(json, key, NULL);
}

static void put_progress(struct tw_json *json, struct view *view, const struct view_request *request)
{
	uint64_t done = view->reading.progress.done, all = view->reading.progress.size;
	if (view->reading.reader && view->reading.format)
		tw_reader_progress(view->reading.reader, &done, &all);
	tw_json_u64(json, "generation", view->reading.generation);
	tw_json_u64(json, "tracks", view->index.tracks.changes);
	tw_json_text(json, "state", states[view->reading.state]);
	view_json_digits(json, "read", done);
	digits_or_null(json, "size", all, all != 0);
	view_json_digits(json, "events", view->index.events);
	view_json_digits(json, "left", view->index.left);
	view_json_digits(json, "end", view_end(view, request));
	tw_json_bool(json, "follows", view->follower.running);
	tw_json_text(json, "error", view->reading.error[0] ? view->reading.error : NULL);
}

static void put_files(struct tw_json *json, const struct view *view, const struct view_request *request)
{
	tw_json_array(json, "files");
	for (size_t i = 0; i < view->options.count; i++) {
		const struct view_file *file = &view->files[i];
		tw_json_object(json, NULL);
		tw_json_system(json, "path", view->options.paths[i]);
		tw_json_text(json, "format", file->format ? file->format->name : view->reading.format);
		tw_json_text(json, "title", file->format ? file->format->title : view->reading.title);
		digits_or_null(json, "size", (uint64_t)file->status.st_size, file->regular);
		view_json_digits(json, "start", view_file_begin(view, request, i));
		view_json_digits(json, "begin", view_since_start(view, file->start, 0));
		tw_json_text(json, "changed", view_file_change(view, i));
		view_json_digits(json, "findings", view->findings.by_file[i]);
		tw_json_object_end(json);
	}
	tw_json_array_end(json);
}

/* What the command leaves out is told by its numbers; all its options as they were typed. */
static void put_options(struct tw_json *json, const struct view *view)
{
	const struct tw_read_options *read = &view->options.read;
	digits_or_null(json, "from_time", read->from_ns, read->from_ns != 0);
	digits_or_null(json, "to_time", read->to_ns, read->to_ns != 0);
	tw_json_array(json, "options");
	for (size_t i = 0; i < view->options.given_count; i++) {
		tw_json_object(json, NULL);
		tw_json_text(json, "name", view->options.given[i].name);
		tw_json_system(json, "value", view->options.given[i].value);
		tw_json_object_end(json);
	}
	tw_json_array_end(json);
}

static void put_lost(struct tw_json *json, const struct view *view, const struct view_request *request)
{
	view_json_digits(json, "lost_count", view->index.lost.count);
	tw_json_array(json, "lost");
	for (size_t i = 0; i < VIEW_LOST_KEPT && i < view->index.lost.count; i++) {
		const struct view_lost *lost = &view->index.lost.items[i];
		const int64_t later = view_track_later(view, request, lost->track);
		tw_json_object(json, NULL);
		tw_json_known(json, "track", lost->track, lost->track != VIEW_NONE);
		view_json_digits(json, "from", view_since_start(view, lost->from, later));
		view_json_digits(json, "to", view_since_start(view, lost->to, later));
		view_json_digits(json, "bytes", lost->bytes);
		view_json_digits(json, "offset", lost->offset);
		tw_json_object_end(json);
	}
	tw_json_array_end(json);
}

/* Where what it made lost is, or until when the index went. */
static uint64_t time_of(const struct view *view, const struct view_finding *finding)
{
	const struct view_index *index = &view->index;
	for (size_t i = 0; view->options.count == 1 && i < VIEW_LOST_KEPT && i < index->lost.count; i++) {
		const struct view_lost *lost = &index->lost.items[i];
		const uint64_t bytes = lost->bytes ? lost->bytes : 1;
		if (finding->offset >= lost->offset && finding->offset - lost->offset < bytes)
			return lost->from;
	}
	return finding->time;
}

static void put_findings(struct tw_json *json, const struct view *view, const struct view_request *request)
{
	view_json_digits(json, "finding_count", view->findings.count);
	tw_json_array(json, "findings");
	for (size_t i = 0; i < VIEW_FINDINGS_KEPT && i < view->findings.count; i++) {
		const struct view_finding *finding = &view->findings.first[i];
		const uint64_t time = time_of(view, finding);
		tw_json_object(json, NULL);
		tw_json_text(json, "rule", finding->rule);
		tw_json_text(json, "severity", tw_severity_name(finding->severity));
		view_json_digits(json, "offset", finding->offset);
		tw_json_known(json, "file", finding->file, finding->file < view->options.count);
		digits_or_null(json, "time", view_since_start(view, time, view_later(request, finding->file)),
		               time != 0);
		tw_json_text(json, "text", finding->text ? finding->text : "");
		tw_json_object_end(json);
	}
	tw_json_array_end(json);
}

/* One that there was no room for has no name. */
static void put_series(struct tw_json *json, const struct view *view, const struct view_track *track)
{
	if (track->kind != VIEW_COUNTERS)
		return;
	tw_json_array(json, "series");
	for (uint32_t lane = 0; lane < track->lane_count; lane++)
		view_put_name(json, view, NULL, track->series_names[lane]);
	tw_json_array_end(json);
}

static void put_track(struct tw_json *json, const struct view *view, uint32_t number)
{
	const struct view_track *track = &view->index.tracks.items[number];
	bool numbered = track->kind == VIEW_THREAD || track->kind == VIEW_CPU;
	tw_json_object(json, NULL);
	tw_json_u64(json, "id", number);
	tw_json_known(json, "parent", track->parent, track->parent != VIEW_NONE);
	tw_json_text(json, "kind", view_track_kind_name(track->kind));
	tw_json_bytes(json, "name", track->name.bytes ? track->name.bytes : "", track->name.length);
	digits_or_null(json, "pid", track->own_process, track->process || track->kind == VIEW_PROCESS);
	digits_or_null(json, "tid", track->own_thread, numbered);
	tw_json_known(json, "file", track->file - 1, track->file != 0);
	tw_json_i64(json, "sort", track->sort_index);
	tw_json_array(json, "lanes");
	for (uint32_t lane = 0; lane < track->lane_count; lane++)
		tw_json_u64(json, NULL, track->lanes[lane]);
	tw_json_array_end(json);
	put_series(json, view, track);
	tw_json_bool(json, "points", view_index_row(&view->index, number, VIEW_POINTS_LANE, 0) != NULL);
	view_json_digits(json, "slices", track->slices);
	tw_json_bool(json, "states", view_index_row(&view->index, number, VIEW_STATES_LANE, 0) != NULL);
	tw_json_object_end(json);
}

static void put_bulk(struct tw_json *json, struct view *view)
{
	const struct view_bulk *bulk = view_bulk(view);
	if (!bulk) {
		tw_json_text(json, "bulk", NULL);
		return;
	}
	tw_json_object(json, "bulk");
	view_json_digits(json, "from", bulk->from);
	view_json_digits(json, "to", bulk->to);
	tw_json_object_end(json);
}

static void put_trace(struct tw_json *json, struct view *view, const struct view_request *request)
{
	tw_json_u64(json, "version", 1);
	tw_json_text(json, "unit", view->reading.clock.instructions ? "instructions" : "ns");
	view_json_digits(json, "begin", 0);
	uint64_t wall = tw_time_of_day(&view->reading.clock, view->reading.start);
	digits_or_null(json, "wall", wall, wall != 0);
	put_bulk(json, view);
	put_files(json, view, request);
	put_options(json, view);
	put_lost(json, view, request);
	put_findings(json, view, request);
	tw_json_array(json, "list");
	for (size_t i = 0; i < view->index.tracks.count; i++)
		put_track(json, view, (uint32_t)i);
	tw_json_array_end(json);
}

static void answer(struct view *view, const struct view_request *request, struct view_answer *answer, bool whole)
{
	struct tw_output out;
	struct tw_json json;
	if (!view_json_begin(&json, &out, answer))
		return;
	view_lock(view);
	tw_json_object(&json, NULL);
	put_progress(&json, view, request);
	if (whole)
		put_trace(&json, view, request);
	tw_json_object_end(&json);
	view_unlock(view);
	view_json_end(&out, answer);
}

void view_answer_trace(struct view *view, const struct view_request *request, struct view_answer *to)
{
	answer(view, request, to, true);
}

void view_answer_progress(struct view *view, const struct view_request *request, struct view_answer *to)
{
	answer(view, request, to, false);
}

/* ---- Questions that are being worked on. ---- */

void view_answer_question(struct view *view, const struct view_request *request, struct view_answer *to)
{
	const char *name = view_request_text(request, "question");
	struct view_question_state state;
	struct tw_output out;
	struct tw_json json;
	if (!view_json_begin(&json, &out, to))
		return;
	bool found = view_question_find(&view->questions, name, &state);
	tw_json_object(&json, NULL);
	tw_json_bool(&json, "found", found);
	if (found) {
		tw_json_text(&json, "asked", state.asked);
		view_json_digits(&json, "elapsed", state.elapsed);
		digits_or_null(&json, "read", state.read, state.size != 0);
		digits_or_null(&json, "size", state.size, state.size != 0);
	}
	tw_json_object_end(&json);
	view_json_end(&out, to);
}

void view_answer_cancel(struct view *view, const struct view_request *request, struct view_answer *to)
{
	const char *name = view_request_text(request, "question");
	struct tw_output out;
	struct tw_json json;
	if (!view_json_begin(&json, &out, to))
		return;
	tw_json_object(&json, NULL);
	tw_json_bool(&json, "found", view_question_cancel(&view->questions, name));
	tw_json_object_end(&json);
	view_json_end(&out, to);
}
