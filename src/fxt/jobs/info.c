/* info.c - what is in an archive: records by kind, providers, threads, categories, times, losses. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory/memory.h"
#include "base/memory/order.h"
#include "core/text/fields.h"
#include "fxt/fxt.h"
#include "fxt/jobs/census.h"

#include <stdlib.h>

/* One provider, thread or category. */
struct row {
	uint32_t number; /* thread: the track; category: the name; provider: its name */
	uint32_t id;     /* provider */
	uint64_t records, bytes;
	uint64_t first, last; /* ns; first > last: nothing had a time */
	uint64_t dropped, frequency;
};

struct rows {
	struct row *rows;
	size_t count, room;
	struct tw_map by_key;
};

enum { PROVIDER_COLUMNS = 7, CATEGORY_COLUMNS = 2, LISTS = 2 };

struct fxt_survey {
	struct rows providers, threads, categories;
	uint64_t kinds[TW_FXT_KINDS];
	struct tw_kind_count kind_counts[TW_FXT_KINDS];
	struct tw_thread_info *thread_infos;
	struct tw_field *provider_fields, *category_fields;
	struct tw_field fields[2]; /* the time of day, and what became of the recording */
	char wall[TW_WALL_ROOM];
	struct tw_info_list lists[LISTS];
	uint64_t left_out_ns; /* the first time of a provider that is left out; UINT64_MAX: there is none */
	bool failed;
};

static void free_rows(struct rows *rows)
{
	free(rows->rows);
	tw_map_free(&rows->by_key);
}

void fxt_survey_free(struct fxt_survey *survey)
{
	if (!survey)
		return;
	free_rows(&survey->providers);
	free_rows(&survey->threads);
	free_rows(&survey->categories);
	free(survey->thread_infos);
	free(survey->provider_fields);
	free(survey->category_fields);
	free(survey);
}

/* ---- Adding up. ---- */

static struct row *row_of(struct fxt_survey *survey, struct rows *rows, uint32_t key)
{
	uint32_t place = (uint32_t)rows->count;
	if (tw_map_find(&rows->by_key, key, &place))
		return &rows->rows[place];
	if (!tw_grow(&rows->rows, &rows->room, rows->count + 1, sizeof *rows->rows) ||
	    !tw_map_add(&rows->by_key, key, place)) {
		survey->failed = true;
		return NULL;
	}
	rows->rows[rows->count] = (struct row){
	    .number = rows == &survey->providers ? 0 : key,
	    .id = key,
	    .first = UINT64_MAX,
	};
	return &rows->rows[rows->count++];
}

static void add_up(struct row *row, const struct fxt_count *count)
{
	const struct fxt_tally *tally = &count->sum.tally;
	row->records += tally->records;
	row->bytes += tally->bytes;
	row->dropped += count->dropped;
	if (count->frequency) {
		row->number = count->name;
		row->frequency = count->frequency;
	}
	row->first = tally->first < row->first ? tally->first : row->first;
	row->last = tally->first <= tally->last && tally->last > row->last ? tally->last : row->last;
}

/* The name that events have whose category is not registered, or may be one that there was no room for. */
static uint32_t undefined_of(struct fxt_state *state, const struct fxt_chunk *chunk, unsigned index)
{
	char text[FXT_UNDEFINED_MAX] = "(other)";
	bool there = fxt_offset(chunk, chunk->end) <= state->unindexed;
	return fxt_state_name(state, text, there ? fxt_undefined_name(text, index) : strlen(text));
}

static enum fxt_counted what_of(const struct fxt_count *count)
{
	return (enum fxt_counted)(count->sum.key.what >> 32);
}

static uint32_t number_of(struct fxt_state *state, const struct fxt_chunk *chunk, const struct fxt_count *count)
{
	const struct fxt_counted_key *key = &count->sum.key;
	const uint32_t number = (uint32_t)key->what;
	switch (what_of(count)) {
	case FXT_COUNTED_THREAD_UNDEFINED:
		return fxt_state_undefined_thread(state, key->process, number);
	case FXT_COUNTED_THREAD:
		return fxt_state_track(state, key->process, key->thread);
	case FXT_COUNTED_THREAD_ALONE:
		return fxt_state_track_of_thread(state, key->thread);
	case FXT_COUNTED_CATEGORY_UNDEFINED:
		return undefined_of(state, chunk, number);
	case FXT_COUNTED_CATEGORY_TEXT:
		return fxt_state_name(state, count->text, count->length);
	case FXT_COUNTED_PROVIDER:
	case FXT_COUNTED_TRACK:
	case FXT_COUNTED_CATEGORY:
		break;
	}
	return number;
}

static void add_chunk(struct fxt_survey *survey, struct fxt_state *state, const struct fxt_chunk *chunk)
{
	const struct fxt_census *census = chunk->census;
	if (chunk->decoder.passed.least < survey->left_out_ns)
		survey->left_out_ns = chunk->decoder.passed.least;
	for (size_t i = 0; census && i < census->count; i++) {
		const struct fxt_count *count = &census->counts[i];
		struct rows *rows = what_of(count) == FXT_COUNTED_PROVIDER  ? &survey->providers
		                    : what_of(count) < FXT_COUNTED_CATEGORY ? &survey->threads
		                                                            : &survey->categories;
		struct row *row = row_of(survey, rows, number_of(state, chunk, count));
		if (row)
			add_up(row, count);
	}
	for (unsigned i = 0; census && i < TW_FXT_KINDS; i++)
		survey->kinds[i] += census->kinds[i];
	survey->failed |= chunk->failed;
}

/* Of those that are still there, names are known at the end, clocks too. */
static void name_providers(struct fxt_survey *survey, const struct fxt_state *state)
{
	for (size_t i = 0; i < survey->providers.count; i++) {
		struct row *row = &survey->providers.rows[i];
		uint32_t place;
		if (!tw_map_find(&state->by_id, row->id, &place))
			continue;
		row->number = state->providers[place]->name;
		row->frequency = state->providers[place]->frequency;
	}
}

/* ---- The answer. ---- */

static void set_kinds(struct fxt_survey *survey, struct tw_info *info)
{
	for (unsigned i = 0; i < TW_FXT_KINDS; i++) {
		if (survey->kinds[i] == 0)
			continue;
		survey->kind_counts[info->kind_count++] = (struct tw_kind_count){tw_fxt_kind_name(i), survey->kinds[i]};
		info->records += survey->kinds[i];
		bool is_event = i == TW_FXT_UNKNOWN || i == TW_FXT_PROVIDER_EVENT || i > TW_FXT_THREAD;
		info->events += is_event ? survey->kinds[i] : 0;
	}
	info->kinds = survey->kind_counts;
}

static uint64_t since(uint64_t start, uint64_t time)
{
	return time > start ? time - start : 0;
}

static void set_times(struct fxt_survey *survey, struct tw_info *info)
{
	const struct rows *providers = &survey->providers;
	uint64_t first = UINT64_MAX, last = 0;
	for (size_t i = 0; i < providers->count; i++) {
		first = providers->rows[i].first < first ? providers->rows[i].first : first;
		last = providers->rows[i].last > last ? providers->rows[i].last : last;
	}
	const uint64_t start = survey->left_out_ns < first ? survey->left_out_ns : first;
	info->clock_start_ns = start == UINT64_MAX ? 0 : start;
	info->span_ns = since(first, last);
}

/* When the first record with a time was written. */
static void set_wall(struct fxt_survey *survey, const struct tw_reader *reader, struct tw_info *info)
{
	uint64_t start = tw_time_of_day(&reader->clock, info->clock_start_ns);
	info->fields = survey->fields;
	info->field_count = start > 0 && tw_wall_field(survey->fields, start / 1000, survey->wall);
}

/* Of an image, as of XRay's flight recordings. */
static void set_recording(struct fxt_survey *survey, const struct tw_reader *reader, struct tw_info *info)
{
	const enum fxt_recording recording = ((const struct fxt_reader *)reader->state)->recording;
	const char *text = recording == FXT_RECORDING_COMPLETE ? "complete" : "unfinished";
	if (recording == FXT_RECORDING_NONE)
		return;
	survey->fields[info->field_count++] =
	    (struct tw_field){.name = "recording", .type = TW_FIELD_TEXT, .value.bytes = text, .size = strlen(text)};
}

static int by_koids(const void *left, const void *right)
{
	const struct tw_thread_info *a = left, *b = right;
	int order = tw_compare(a->process, b->process);
	return order ? order : tw_compare(a->thread, b->thread);
}

static bool set_threads(struct fxt_survey *survey, const struct tw_reader *reader, struct tw_info *info)
{
	const struct rows *rows = &survey->threads;
	survey->thread_infos = calloc(rows->count + 1, sizeof *survey->thread_infos);
	if (!survey->thread_infos)
		return false;
	for (size_t i = 0; i < rows->count; i++) {
		const struct row *row = &rows->rows[i];
		const struct tw_track *track = tw_dictionary_track(reader->dictionary, row->number);
		survey->thread_infos[i] = (struct tw_thread_info){
		    track->process,
		    track->thread,
		    row->records,
		    row->bytes,
		    row->first <= row->last ? since(info->clock_start_ns, row->first) : 0,
		    since(info->clock_start_ns, row->last),
		    0,
		};
	}
	qsort(survey->thread_infos, rows->count, sizeof *survey->thread_infos, by_koids);
	info->threads = survey->thread_infos;
	info->thread_count = rows->count;
	for (size_t i = 0; i < rows->count; i++)
		info->processes += i == 0 || survey->thread_infos[i].process != survey->thread_infos[i - 1].process;
	return true;
}

static void add_name(struct tw_field_list *list, const struct tw_reader *reader, uint32_t number)
{
	const struct tw_name *text = tw_dictionary_name(reader->dictionary, number);
	tw_add_bytes(list, "name", TW_FIELD_TEXT, text->text, text->length);
}

static bool set_providers(struct fxt_survey *survey, const struct tw_reader *reader, const struct tw_info *info)
{
	const struct rows *rows = &survey->providers;
	struct tw_field_list list = {.fields = calloc(rows->count * PROVIDER_COLUMNS + 1, sizeof *list.fields)};
	survey->provider_fields = list.fields;
	for (size_t i = 0; i < rows->count && list.fields; i++) {
		const struct row *row = &rows->rows[i];
		tw_add_number(&list, "provider_id", TW_FIELD_UINT, row->id);
		tw_add_number(&list, "ticks_per_second", TW_FIELD_UINT, row->frequency);
		tw_add_number(&list, "records", TW_FIELD_UINT, row->records);
		tw_add_number(&list, "bytes", TW_FIELD_UINT, row->bytes);
		tw_add_number(&list, "end_ns", TW_FIELD_NS, since(info->clock_start_ns, row->last));
		tw_add_number(&list, "buffer_full", TW_FIELD_UINT, row->dropped);
		add_name(&list, reader, row->number);
	}
	survey->lists[0] = (struct tw_info_list){"providers", list.fields, PROVIDER_COLUMNS, rows->count};
	return list.fields;
}

static int most_first(const void *left, const void *right, void *context)
{
	const struct row *a = left, *b = right;
	const struct tw_dictionary *dictionary = context;
	if (a->records != b->records)
		return a->records > b->records ? -1 : 1;
	return strcmp(tw_dictionary_name(dictionary, a->number)->text, tw_dictionary_name(dictionary, b->number)->text);
}

static bool set_categories(struct fxt_survey *survey, const struct tw_reader *reader)
{
	const struct rows *rows = &survey->categories;
	struct tw_field_list list = {.fields = calloc(rows->count * CATEGORY_COLUMNS + 1, sizeof *list.fields)};
	survey->category_fields = list.fields;
	if (rows->count)
		qsort_r(rows->rows, rows->count, sizeof *rows->rows, most_first, reader->dictionary);
	for (size_t i = 0; i < rows->count && list.fields; i++) {
		const struct row *row = &rows->rows[i];
		tw_add_number(&list, "events", TW_FIELD_UINT, row->records);
		add_name(&list, reader, row->number);
	}
	survey->lists[1] = (struct tw_info_list){"categories", list.fields, CATEGORY_COLUMNS, rows->count};
	return list.fields;
}

/* ---- The whole. ---- */

static int count_all(struct tw_reader *reader, struct fxt_survey *survey, unsigned jobs)
{
	static const struct fxt_work work = {.decode = fxt_count};
	const struct fxt_wish wish = {.options = &reader->options};
	struct fxt_reader *fxt = reader->state;
	struct fxt_chunk *chunk;
	int status = fxt_start(reader, &work, &wish, jobs);
	if (status < 0)
		return status;
	struct fxt_state *state = fxt->commit.state;
	survey->left_out_ns = UINT64_MAX;
	while ((status = fxt_pipeline_next(fxt->pipeline, &chunk)) > 0) {
		fxt_set_wall(reader, chunk);
		fxt_commit(&fxt->commit, chunk);
		add_chunk(survey, state, chunk);
		fxt_pipeline_give(fxt->pipeline, chunk);
	}
	name_providers(survey, state);
	return survey->failed ? TW_ERR_MEMORY : status;
}

int fxt_info(struct tw_reader *reader, unsigned jobs, struct tw_info *info)
{
	struct fxt_reader *fxt = reader->state;
	struct fxt_survey *survey = fxt->survey = calloc(1, sizeof *survey);
	int status = survey ? count_all(reader, survey, jobs) : TW_ERR_MEMORY;
	if (status >= 0) {
		set_kinds(survey, info);
		set_times(survey, info);
		set_wall(survey, reader, info);
		set_recording(survey, reader, info);
		if (!set_threads(survey, reader, info) || !set_categories(survey, reader) ||
		    !set_providers(survey, reader, info))
			status = TW_ERR_MEMORY;
	}
	if (status < 0)
		return fxt_fail(reader, status);
	fxt_finish(reader);
	info->bytes = tw_input_size(reader->input);
	info->lost_bytes = fxt->commit.lost_bytes;
	info->lists = survey->lists;
	info->list_count = LISTS;
	return 0;
}
