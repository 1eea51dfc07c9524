/* firefox_tables.c - processed profiles of the Firefox Profiler: threads with their tables, columns and strings. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "export/firefox/firefox.h"
#include "export/text/labels.h"

#include <trackway/version.h>

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char *const weight_types[MEASURES] = {
    [MEASURE_SLICES] = "tracing-ms", [MEASURE_TICKS] = "samples", [MEASURE_WALL] = "tracing-ms",
    [MEASURE_CPU] = "tracing-ms",    [MEASURE_BYTES] = "bytes",
};

/* ---- Tables. ---- */

/* Writes a column of `count` cells that are all the same: as many at a time as there is room for. */
static void put_same(struct tw_output *out, const char *name, const char *cell, uint64_t count)
{
	enum { CELLS = 256, CELL_MAX = 8 };
	char cells[CELLS * CELL_MAX];
	size_t size = strlen(cell) + 1;
	assert(size <= CELL_MAX);
	for (size_t i = 0; i < CELLS; i++) {
		memcpy(cells + i * size, cell, size - 1);
		cells[i * size + size - 1] = ',';
	}
	tw_putf(out, "\"%s\":[", name);
	for (; count > CELLS; count -= CELLS)
		tw_put(out, cells, CELLS * size);
	tw_put(out, cells, count ? (size_t)count * size - 1 : 0);
	tw_put_text(out, "],");
}

static void put_column(struct firefox *firefox, const char *name, enum firefox_column column)
{
	struct tw_output *out = &firefox->measured.writer->out;
	tw_putf(out, "\"%s\":[", name);
	tw_firefox_put_column(firefox, column);
	tw_put_text(out, "],");
}

static void put_samples(struct firefox *firefox, uint32_t number, enum tw_measure measure)
{
	struct tw_output *out = &firefox->measured.writer->out;
	tw_putf(out, "\"samples\":{\"weightType\":\"%s\",", weight_types[measure]);
	put_column(firefox, "time", SAMPLE_TIME);
	put_column(firefox, "stack", SAMPLE_STACK);
	put_column(firefox, "weight", tw_firefox_weight(measure));
	tw_putf(out, "\"length\":%" PRIu64 "},\n", firefox->tracks[number].records[measure]);
}

static const struct {
	const char *name;
	enum firefox_column column;
} marker_columns[] = {
    {"name", MARKER_NAME},
    {"startTime", MARKER_START},
    {"endTime", MARKER_END},
    {"phase", MARKER_PHASE},
};

/* Markers are the thread's, not those of what else is measured. */
static void put_markers(struct firefox *firefox, uint32_t number, enum tw_measure measure)
{
	struct tw_output *out = &firefox->measured.writer->out;
	bool any = measure == MEASURE_SLICES;
	uint64_t count = any ? firefox->tracks[number].records[FIREFOX_MARKERS] : 0;
	tw_put_text(out, "\"markers\":{");
	for (size_t i = 0; i < sizeof marker_columns / sizeof *marker_columns; i++)
		if (any)
			put_column(firefox, marker_columns[i].name, marker_columns[i].column);
		else
			put_same(out, marker_columns[i].name, "", 0);
	tw_put_text(out, "\"data\":[");
	if (any)
		tw_spool_put(&firefox->measured.spool, tw_firefox_text(number, FIREFOX_DATA), out);
	tw_put_text(out, "],");
	put_same(out, "category", "0", count);
	tw_putf(out, "\"length\":%" PRIu64 "},\n", count);
}

/* Gives the frames of a thread numbers of its own, in the order of its stacks. Returns how many. */
static uint32_t meet_frames(struct firefox *firefox, const struct firefox_track *track)
{
	uint32_t count = 0;
	for (size_t i = TW_ROW_FIRST; i < track->count; i++) {
		uint32_t frame = tw_firefox_frame(track, i);
		if (firefox->local_frames[frame])
			continue;
		firefox->thread_frames[count] = frame;
		firefox->local_frames[frame] = ++count;
	}
	return count;
}

static void put_stacks(struct firefox *firefox, uint32_t number)
{
	struct tw_output *out = &firefox->measured.writer->out;
	uint32_t nodes = tw_firefox_stacks(&firefox->tracks[number]);
	tw_put_text(out, "\"stackTable\":{");
	put_column(firefox, "frame", STACK_FRAME);
	put_column(firefox, "prefix", STACK_PREFIX);
	put_same(out, "category", "0", nodes);
	put_same(out, "subcategory", "0", nodes);
	tw_putf(out, "\"length\":%u},\n", (unsigned)nodes);
}

/* What a cell of a frame's or function's column is. */
/* NOLINTNEXTLINE(readability-non-const-parameter): one type for all of the table */
static void put_frame_line(struct firefox *firefox, const struct tw_frame_place *place, uint32_t *files)
{
	(void)files;
	if (place->line)
		tw_put_u64(&firefox->measured.writer->out, place->line);
	else
		tw_put_text(&firefox->measured.writer->out, "null");
}

/* One after the other, behind the names. */
static void put_file(struct firefox *firefox, const struct tw_frame_place *place, uint32_t *files)
{
	if (place->file)
		tw_put_u64(&firefox->measured.writer->out, firefox->strings + (uint64_t)(*files)++);
	else
		tw_put_text(&firefox->measured.writer->out, "null");
}

/* The texts of files, and behind them those of addresses, which have no names. *strings is how many stand before. */
static void put_file_text(struct firefox *firefox, const struct tw_frame_place *place, uint32_t *strings)
{
	if (!place->file)
		return;
	tw_line_text(&firefox->measured.line, (*strings)++ ? "," : "");
	tw_line_string(&firefox->measured.line, place->file, place->file_length);
	tw_put(&firefox->measured.writer->out, firefox->measured.line.text.bytes, firefox->measured.line.text.length);
	tw_line_clear(&firefox->measured.line);
}

static void put_address_text(struct firefox *firefox, const struct tw_frame_place *place, uint32_t *strings)
{
	if (place->name || !place->address)
		return;
	tw_line_text(&firefox->measured.line, (*strings)++ ? "," : "");
	tw_line_hex(&firefox->measured.line, place->address);
	tw_put(&firefox->measured.writer->out, firefox->measured.line.text.bytes, firefox->measured.line.text.length);
	tw_line_clear(&firefox->measured.line);
}

static void count_file(struct firefox *firefox, const struct tw_frame_place *place, uint32_t *files)
{
	(void)firefox;
	*files += place->file != NULL;
}

static void put_name(struct firefox *firefox, const struct tw_frame_place *place, uint32_t *addresses)
{
	if (place->name || !place->address)
		tw_put_u64(&firefox->measured.writer->out, tw_firefox_string(firefox, tw_firefox_name(place->name)));
	else
		tw_put_u64(&firefox->measured.writer->out, firefox->strings + (uint64_t)(*addresses)++);
}

/* NOLINTNEXTLINE(readability-non-const-parameter): one type for all of the table */
static void meet_name(struct firefox *firefox, const struct tw_frame_place *place, uint32_t *files)
{
	(void)files;
	if (place->name || !place->address)
		tw_firefox_string(firefox, tw_firefox_name(place->name));
}

typedef void cell_fn(struct firefox *firefox, const struct tw_frame_place *place, uint32_t *count);

/* Goes through the frames of a thread. Returns the count. */
static uint32_t each_frame(struct firefox *firefox, uint32_t frames, cell_fn *put, uint32_t count, const char *comma)
{
	struct tw_measured *measured = &firefox->measured;
	for (uint32_t i = 0; i < frames; i++) {
		struct tw_frame_place place =
		    tw_frames_place(&measured->frames, measured->dictionary, firefox->thread_frames[i]);
		if (i)
			tw_put_text(&measured->writer->out, comma);
		put(firefox, &place, &count);
	}
	return count;
}

static void put_sequence(struct tw_output *out, const char *name, uint32_t count)
{
	tw_putf(out, "\"%s\":[", name);
	for (uint32_t i = 0; i < count; i++) {
		if (i)
			tw_put_char(out, ',');
		tw_put_u64(out, i);
	}
	tw_put_text(out, "],");
}

/* Each frame has a function of its own. */
static void put_frames(struct firefox *firefox, uint32_t count)
{
	struct tw_output *out = &firefox->measured.writer->out;
	tw_put_text(out, "\"frameTable\":{");
	put_same(out, "address", "-1", count);
	put_same(out, "inlineDepth", "0", count);
	put_same(out, "category", "0", count);
	put_same(out, "subcategory", "0", count);
	put_sequence(out, "func", count);
	put_same(out, "nativeSymbol", "null", count);
	put_same(out, "innerWindowID", "0", count);
	put_same(out, "implementation", "null", count);
	tw_put_text(out, "\"line\":[");
	each_frame(firefox, count, put_frame_line, 0, ",");
	tw_put_text(out, "],");
	put_same(out, "column", "null", count);
	tw_putf(out, "\"length\":%u},\n", (unsigned)count);
}

static void put_functions(struct firefox *firefox, uint32_t count)
{
	struct tw_output *out = &firefox->measured.writer->out;
	uint32_t files = each_frame(firefox, count, count_file, 0, "");
	each_frame(firefox, count, meet_name, 0, "");
	tw_put_text(out, "\"funcTable\":{\"name\":[");
	each_frame(firefox, count, put_name, files, ",");
	tw_put_text(out, "],\"fileName\":[");
	each_frame(firefox, count, put_file, 0, ",");
	tw_put_text(out, "],");
	put_same(out, "isJS", "false", count);
	put_same(out, "relevantForJS", "false", count);
	put_same(out, "resource", "-1", count);
	put_same(out, "lineNumber", "null", count);
	put_same(out, "columnNumber", "null", count);
	tw_putf(out, "\"length\":%u},\n", (unsigned)count);
}

static void add_string(struct firefox *firefox, uint32_t string)
{
	const char *kind = tw_event_kind_name(string);
	if (kind)
		tw_line_text(&firefox->text, kind);
	else if (!tw_label_name(&firefox->text,
	                        tw_dictionary_name(firefox->measured.dictionary, string - tw_firefox_name(0))))
		tw_count_loss(firefox->measured.writer, "long name", true);
	if (!firefox->text.text.length)
		tw_line_text(&firefox->text, "(no name)");
}

static void put_strings(struct firefox *firefox, uint32_t frames)
{
	struct tw_output *out = &firefox->measured.writer->out;
	tw_put_text(out, "\"stringArray\":[");
	for (uint32_t i = 0; i < firefox->strings; i++) {
		tw_line_clear(&firefox->text);
		tw_line_text(&firefox->measured.line, i ? "," : "");
		add_string(firefox, firefox->thread_strings[i]);
		tw_line_string(&firefox->measured.line, firefox->text.text.bytes, firefox->text.text.length);
		tw_put(out, firefox->measured.line.text.bytes, firefox->measured.line.text.length);
		tw_line_clear(&firefox->measured.line);
	}
	uint32_t count = each_frame(firefox, frames, put_file_text, firefox->strings, "");
	each_frame(firefox, frames, put_address_text, count, "");
	tw_put_text(out, "]");
}

/* Numbers are given anew for each thread. */
static void forget_numbers(struct firefox *firefox, uint32_t frames)
{
	for (uint32_t i = 0; i < frames; i++)
		firefox->local_frames[firefox->thread_frames[i]] = 0;
	for (uint32_t i = 0; i < firefox->strings; i++)
		firefox->local_strings[firefox->thread_strings[i]] = 0;
	firefox->strings = 0;
}

/* ---- The file. ---- */

static void put_text(struct firefox *firefox, const char *key)
{
	tw_line_clear(&firefox->measured.line);
	tw_line_string(&firefox->measured.line, firefox->text.text.bytes, firefox->text.text.length);
	tw_putf(&firefox->measured.writer->out, "\"%s\":", key);
	tw_put(&firefox->measured.writer->out, firefox->measured.line.text.bytes, firefox->measured.line.text.length);
	tw_put_char(&firefox->measured.writer->out, ',');
	tw_line_clear(&firefox->measured.line);
	tw_line_clear(&firefox->text);
}

static void put_thread(struct firefox *firefox, uint32_t number, enum tw_measure measure)
{
	struct tw_output *out = &firefox->measured.writer->out;
	const struct tw_track *track = tw_dictionary_track(firefox->measured.dictionary, number);
	bool thread = track->kind == TW_TRACK_THREAD,
	     main = thread && track->process == track->thread && measure == MEASURE_SLICES;
	tw_put_text(out, "{\"processType\":\"default\",\"processStartupTime\":0,\"processShutdownTime\":null,"
	                 "\"registerTime\":0,\"unregisterTime\":null,\"pausedRanges\":[],");
	tw_line_clear(&firefox->text);
	tw_label_track(&firefox->text, firefox->measured.dictionary, track);
	tw_line_text(&firefox->text, tw_measure_words[measure]);
	put_text(firefox, "name");
	tw_label_process(&firefox->text, firefox->measured.dictionary, track->process);
	put_text(firefox, "processName");
	tw_putf(out, "\"isMainThread\":%s,\"pid\":\"%" PRIu64 "\",\"tid\":\"%s", main ? "true" : "false",
	        track->process, thread ? "" : "track ");
	tw_put_task(out, thread ? track->thread : number);
	tw_putf(out, "%s\",\n", tw_measure_words[measure]);
	uint32_t frames = meet_frames(firefox, &firefox->tracks[number]);
	if (measure == MEASURE_SLICES)
		tw_firefox_meet_markers(firefox, number);
	tw_firefox_begin_columns(firefox, number, measure);
	put_samples(firefox, number, measure);
	put_markers(firefox, number, measure);
	put_stacks(firefox, number);
	tw_firefox_end_columns(firefox);
	put_frames(firefox, frames);
	put_functions(firefox, frames);
	tw_put_text(
	    out, "\"resourceTable\":{\"lib\":[],\"name\":[],\"host\":[],\"type\":[],\"length\":0},"
		 "\"nativeSymbols\":{\"libIndex\":[],\"address\":[],\"name\":[],\"functionSize\":[],\"length\":0},\n");
	put_strings(firefox, frames);
	forget_numbers(firefox, frames);
	tw_put_char(out, '}');
}

static void put_head(struct firefox *firefox)
{
	struct tw_output *out = &firefox->measured.writer->out;
	uint64_t day = firefox->measured.day;
	tw_putf(
	    out,
	    "{\"meta\":{\"interval\":0.000001,\"startTime\":%" PRIu64
	    ".%06u,\"processType\":0,\"product\":\"Trackway\","
	    "\"stackwalk\":1,"
	    "\"version\":30,\"preprocessedProfileVersion\":48,\"symbolicated\":true,\"importedFrom\":\"trackway %s\","
	    "\"sourceCodeIsNotOnSearchfox\":true,\"usesOnlyOneStackType\":true,"
	    "\"categories\":[{\"name\":\"Other\",\"color\":\"grey\",\"subcategories\":[\"Other\"]}],\n"
	    "\"markerSchema\":[{\"name\":\"event\",\"display\":[\"marker-chart\",\"marker-table\"],"
	    "\"tableLabel\":\"{marker.data.args}\",\"data\":["
	    "{\"key\":\"category\",\"label\":\"Category\",\"format\":\"string\",\"searchable\":true},"
	    "{\"key\":\"value\",\"label\":\"Value\",\"format\":\"integer\"},"
	    "{\"key\":\"args\",\"label\":\"Arguments\",\"format\":\"string\",\"searchable\":true}]}]},\n"
	    "\"libs\":[],\"pages\":[],\"counters\":[",
	    day / NS_PER_MS, (unsigned)(day % NS_PER_MS), tw_version());
}

static bool has_thread(const struct firefox *firefox, uint32_t number, enum tw_measure measure)
{
	const struct firefox_track *track = &firefox->tracks[number];
	return track->records[measure] ||
	       (measure == MEASURE_SLICES && (track->records[FIREFOX_MARKERS] || track->counted));
}

/* Counters tell the number of their thread. */
static void number_threads(struct firefox *firefox, uint32_t tracks)
{
	uint32_t threads = 0;
	for (uint32_t number = 0; number < tracks; number++) {
		firefox->tracks[number].index = threads;
		for (unsigned measure = 0; measure < MEASURES; measure++)
			threads += has_thread(firefox, number, measure);
	}
}

static void put_all(struct firefox *firefox)
{
	struct tw_output *out = &firefox->measured.writer->out;
	uint32_t tracks = firefox->measured.dictionary ? tw_dictionary_tracks(firefox->measured.dictionary) : 0;
	unsigned threads = 0;
	number_threads(firefox, tracks);
	put_head(firefox);
	tw_firefox_put_counters(firefox);
	tw_put_text(out, "],\"threads\":[");
	for (uint32_t number = 0; number < tracks; number++)
		for (unsigned measure = 0; measure < MEASURES; measure++)
			if (has_thread(firefox, number, measure)) {
				tw_put_text(out, threads++ ? ",\n" : "\n");
				put_thread(firefox, number, measure);
			}
	tw_put_text(out, "]}\n");
}

static bool make_numbers(uint32_t **local, uint32_t **thread, size_t count)
{
	*local = calloc(count, sizeof **local);
	*thread = calloc(count, sizeof **thread);
	return *local && *thread;
}

bool tw_firefox_put(struct firefox *firefox)
{
	const struct tw_dictionary *dictionary = firefox->measured.dictionary;
	size_t frames = firefox->measured.frames.count + 1;
	size_t strings = tw_firefox_name(dictionary ? tw_dictionary_names(dictionary) : 0) + (size_t)1;
	if (!make_numbers(&firefox->local_frames, &firefox->thread_frames, frames) ||
	    !make_numbers(&firefox->local_strings, &firefox->thread_strings, strings))
		return false;
	put_all(firefox);
	return true;
}
