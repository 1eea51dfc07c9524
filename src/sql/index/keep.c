/* keep.c - a survey and its index beside the file that they are of. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "sql/index/keep.h"

#include "core/dictionary.h"
#include "core/index_file/place.h"
#include "sql/index/index.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST = 1 << 28 /* bytes of an index */ };

static const struct tw_index_kind kind = {.magic = "TWINDEX", .version = 8, .suffix = ".twindex"};

/* ---- Writing. Names are numbers of the session: those that are used are written, and numbered anew. ---- */

struct names {
	struct tw_map map; /* the session's number to the file's */
	uint32_t *list;
	size_t count, room;
	bool failed;
};

static uint64_t name_number(struct names *names, uint32_t name)
{
	uint32_t number;
	if (name == 0)
		return 0;
	if (tw_map_find(&names->map, name, &number))
		return number;
	number = (uint32_t)names->count + 1;
	if (!tw_grow(&names->list, &names->room, names->count + 1, sizeof *names->list) ||
	    !tw_map_add(&names->map, name, number)) {
		names->failed = true;
		return 0;
	}
	names->list[names->count++] = name;
	return number;
}

static void put_tracks(struct tw_output *out, const struct sql_survey *survey, struct names *names)
{
	tw_put_word(out, survey->tracks.count);
	for (size_t i = 0; i < survey->tracks.count; i++) {
		const struct sql_track *track = &survey->tracks.items[i];
		tw_put_word(out, track->process);
		tw_put_word(out, track->thread);
		tw_put_word(out, name_number(names, track->name));
		tw_put_word(out, track->upid);
		tw_put_word(out, (uint64_t)track->kind);
		tw_put_word(out, track->idle);
		tw_put_word(out, track->last);
		tw_put_word(out, track->died);
		tw_put_word(out, track->made);
	}
	tw_put_word(out, survey->processes.count);
	for (size_t i = 0; i < survey->processes.count; i++) {
		tw_put_word(out, survey->processes.items[i].pid);
		tw_put_word(out, name_number(names, survey->processes.items[i].name));
	}
}

static void put_series(struct tw_output *out, const struct sql_survey *survey, struct names *names)
{
	tw_put_word(out, survey->series.count);
	for (size_t i = 0; i < survey->series.count; i++) {
		const struct sql_series *series = &survey->series.items[i];
		tw_put_word(out, series->process);
		tw_put_word(out, series->id);
		tw_put_word(out, series->upid);
		tw_put_word(out, name_number(names, series->category));
		tw_put_word(out, name_number(names, series->name));
		tw_put_word(out, name_number(names, series->argument));
	}
}

static void put_stacks(struct tw_output *out, const struct sql_survey *survey, struct names *names)
{
	tw_put_word(out, survey->frames.count);
	for (size_t i = 0; i < survey->frames.count; i++) {
		const struct sql_frame *frame = &survey->frames.items[i];
		tw_put_word(out, frame->address);
		tw_put_word(out, frame->id);
		tw_put_word(out, name_number(names, frame->name));
		tw_put_word(out, name_number(names, frame->file));
		tw_put_word(out, frame->line);
		tw_put_word(out, name_number(names, frame->module));
	}
	tw_put_word(out, survey->stacks.count);
	for (size_t i = 0; i < survey->stacks.count; i++) {
		tw_put_word(out, survey->stacks.items[i].caller);
		tw_put_word(out, survey->stacks.items[i].location);
		tw_put_word(out, survey->stacks.items[i].depth);
	}
}

static void put_names(struct tw_output *out, const struct sql_session *session, const struct names *names)
{
	tw_put_word(out, names->count);
	for (size_t i = 0; i < names->count; i++) {
		const struct tw_name *name = tw_dictionary_name(session->names, names->list[i]);
		tw_put_padded(out, name->text, name->length);
	}
}

/* The lists, and before them the names that they use. */
static bool put_survey(struct tw_output *out, const struct sql_session *session, const struct sql_survey *survey)
{
	struct names names = {0};
	struct tw_text text = {0};
	struct tw_output lists;
	tw_put_format(out, survey->format);
	tw_put_word(out, survey->bytes);
	tw_put_word(out, survey->events);
	tw_put_word(out, survey->start_ns);
	tw_put_word(out, survey->end_ns);
	tw_put_word(out, survey->late_ns);
	if (tw_output_text(&lists, &text))
		return false;
	put_tracks(&lists, survey, &names);
	put_series(&lists, survey, &names);
	put_stacks(&lists, survey, &names);
	bool fine = tw_output_close(&lists) == 0 && !names.failed;
	put_names(out, session, &names);
	tw_put(out, text.bytes, text.length);
	sql_index_put(out, survey->index);
	tw_text_free(&text);
	tw_map_free(&names.map);
	free(names.list);
	return fine;
}

/* The head, a hash of what follows, and that. */
static int write_all(struct tw_output *out, const struct tw_index_trace *trace, const struct tw_text *body)
{
	tw_put_index_head(out, &kind, trace);
	tw_put_word(out, tw_mix_bytes(body->bytes, body->length, kind.version));
	tw_put(out, body->bytes, body->length);
	return tw_output_close(out);
}

/* Returns 0 or an errno. */
static int save(struct sql_session *session, const struct sql_file *file, const struct sql_survey *survey,
                const char *path)
{
	struct tw_index_trace trace;
	struct tw_text body = {0};
	struct tw_output out;
	int error = tw_index_trace(file->path, &file->stamp, &trace) && tw_output_text(&out, &body) == 0 ? 0 : ENOMEM;
	if (!error) {
		bool fine = put_survey(&out, session, survey);
		error = tw_output_close(&out);
		error = fine ? error : ENOMEM;
	}
	error = error ? error : tw_output_open_here(&out, path);
	error = error ? error : write_all(&out, &trace, &body);
	tw_text_free(&body);
	return error;
}

const char *sql_keep_save(struct sql_session *session, size_t number, const struct sql_survey *survey)
{
	const struct sql_file *file = &session->files[number];
	char *path = tw_index_path(&kind, file->path);
	const char *why = path ? tw_index_refusal(&kind, path, file->path) : strerror(ENOMEM);
	int error = why ? 0 : save(session, file, survey, path);
	free(path);
	return error ? strerror(error) : why;
}

/* ---- Reading. Everything is checked: the file may be anybody's. ---- */

struct kept_file {
	struct tw_words words;
	struct sql_session *session;
	struct sql_survey *survey;
	uint32_t *names; /* the file's numbers to the session's */
	size_t name_count;
};

static void take_names(struct kept_file *source)
{
	struct tw_words *words = &source->words;
	size_t count = tw_take_count(words, 1), room = 0;
	if (!tw_grow(&source->names, &room, count + 1, sizeof *source->names)) {
		words->failed = true;
		return;
	}
	source->name_count = count + 1;
	for (size_t i = 1; i <= count && !words->failed; i++) {
		struct tw_name name = {0};
		name.text = tw_take_padded(words, &name.length);
		source->names[i] = tw_dictionary_intern(source->session->names, &name);
		words->failed = words->failed || source->names[i] == UINT32_MAX;
	}
}

static uint32_t take_name(struct kept_file *source)
{
	uint64_t number = tw_take_below(&source->words, source->name_count ? source->name_count : 1);
	return source->name_count ? source->names[number] : 0;
}

/* How many items follow, with room for them. */
static size_t take_list(struct kept_file *source, size_t each, void *array, size_t *room, size_t size)
{
	size_t count = tw_take_count(&source->words, each);
	source->words.failed = source->words.failed || !tw_grow(array, room, count + 1, size);
	return source->words.failed ? 0 : count;
}

static void take_tracks(struct kept_file *source)
{
	struct sql_survey *survey = source->survey;
	struct tw_words *words = &source->words;
	survey->tracks.count =
	    take_list(source, 9, &survey->tracks.items, &survey->tracks.room, sizeof *survey->tracks.items);
	for (size_t i = 0; i < survey->tracks.count; i++) {
		struct sql_track *track = &survey->tracks.items[i];
		track->process = tw_take_word(words);
		track->thread = tw_take_word(words);
		track->name = take_name(source);
		track->upid = (uint32_t)tw_take_below(words, UINT32_MAX);
		track->kind = (enum tw_track_kind)tw_take_below(words, TW_TRACK_OTHER + 1);
		track->idle = tw_take_below(words, 2);
		track->last = tw_take_word(words);
		track->died = tw_take_word(words);
		track->made = tw_take_word(words);
	}
	survey->processes.count =
	    take_list(source, 2, &survey->processes.items, &survey->processes.room, sizeof *survey->processes.items);
	for (size_t i = 0; i < survey->processes.count; i++) {
		survey->processes.items[i].pid = tw_take_word(words);
		survey->processes.items[i].name = take_name(source);
	}
}

static void take_series(struct kept_file *source)
{
	struct sql_survey *survey = source->survey;
	struct tw_words *words = &source->words;
	survey->series.count =
	    take_list(source, 6, &survey->series.items, &survey->series.room, sizeof *survey->series.items);
	for (size_t i = 0; i < survey->series.count; i++) {
		struct sql_series *series = &survey->series.items[i];
		series->process = tw_take_word(words);
		series->id = tw_take_word(words);
		series->upid = (uint32_t)tw_take_below(words, UINT32_MAX);
		series->category = take_name(source);
		series->name = take_name(source);
		series->argument = take_name(source);
	}
}

static void take_stacks(struct kept_file *source)
{
	struct sql_survey *survey = source->survey;
	struct tw_words *words = &source->words;
	survey->frames.count =
	    take_list(source, 6, &survey->frames.items, &survey->frames.room, sizeof *survey->frames.items);
	for (size_t i = 0; i < survey->frames.count; i++) {
		struct sql_frame *frame = &survey->frames.items[i];
		frame->address = tw_take_word(words);
		frame->id = tw_take_word(words);
		frame->name = take_name(source);
		frame->file = take_name(source);
		frame->line = (uint32_t)tw_take_below(words, UINT64_C(1) << 32);
		frame->module = take_name(source);
	}
	survey->stacks.count =
	    take_list(source, 3, &survey->stacks.items, &survey->stacks.room, sizeof *survey->stacks.items);
	for (size_t i = 0; i < survey->stacks.count; i++) {
		survey->stacks.items[i].caller = (uint32_t)tw_take_below(words, i ? i : 1);
		survey->stacks.items[i].location = (uint32_t)tw_take_below(words, UINT32_MAX);
		survey->stacks.items[i].depth = (uint32_t)tw_take_below(words, UINT32_MAX);
	}
}

static bool take_survey(struct kept_file *source)
{
	struct sql_survey *survey = source->survey;
	struct tw_words *words = &source->words;
	const struct tw_format *format = tw_take_format(words);
	survey->format = format ? format->name : NULL;
	survey->bytes = tw_take_word(words);
	survey->events = tw_take_word(words);
	survey->start_ns = tw_take_word(words);
	survey->end_ns = tw_take_word(words);
	survey->late_ns = tw_take_word(words);
	take_names(source);
	take_tracks(source);
	take_series(source);
	take_stacks(source);
	survey->index = words->failed ? NULL : sql_index_get(words, survey);
	return survey->format && !words->failed && words->left == 0 && sql_survey_map(survey);
}

/* All of a file that is not too large; NULL, or NULL and *why. */
static uint8_t *read_all(const char *path, const char *trace, size_t *size, const char **why)
{
	int fd = tw_index_open(path, trace, why);
	FILE *stream = fd < 0 ? NULL : fdopen(fd, "rb");
	struct stat status;
	uint8_t *bytes = NULL;
	if (!stream && fd >= 0)
		close(fd);
	if (!stream)
		return NULL;
	*why = "it cannot be read";
	if (fstat(fd, &status) == 0 && status.st_size < MOST) {
		*size = (size_t)status.st_size;
		bytes = malloc(*size + 1);
		if (bytes && fread(bytes, 1, *size, stream) != *size) {
			free(bytes);
			bytes = NULL;
		}
	}
	fclose(stream);
	return bytes;
}

static const char *check_head(struct tw_words *words, const struct sql_file *file)
{
	struct tw_index_trace trace;
	if (!tw_index_trace(file->path, &file->stamp, &trace))
		return "the file cannot be read";
	const char *why = tw_take_index_head(words, &kind, &trace);
	const uint64_t hash = tw_take_word(words);
	if (why)
		return why;
	return words->failed || hash != tw_mix_bytes(words->bytes, words->left, kind.version) ? "it is damaged" : NULL;
}

struct sql_survey *sql_keep_load(struct sql_session *session, size_t number, const char **why)
{
	const struct sql_file *file = &session->files[number];
	char *path = tw_index_path(&kind, file->path);
	size_t size = 0;
	uint8_t *bytes = path ? read_all(path, file->path, &size, why) : NULL;
	struct kept_file source = {.words = {.bytes = bytes, .left = size}, .session = session};
	free(path);
	if (!bytes)
		return NULL;
	*why = check_head(&source.words, file);
	source.survey = *why ? NULL : calloc(1, sizeof *source.survey);
	if (source.survey && !take_survey(&source)) {
		*why = "it is damaged, or there is no memory for it";
		sql_survey_free(source.survey);
		source.survey = NULL;
	}
	free(source.names);
	free(bytes);
	return source.survey;
}
