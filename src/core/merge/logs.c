/* logs.c - logs that stand one behind the other in a file, each of a kind, clock or program of its own, read as one.
 *
 * In the order of time all are open at once, and merged. In the order of the file a log is opened when the one before
 * has ended. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "core/merge/logs.h"

#include "base/memory/memory.h"
#include "core/filter/filter.h"
#include "core/merge/merge.h"
#include "core/ticks.h"

#include <stdlib.h>
#include <string.h>

/* ---- Their findings. ---- */

static const struct tw_rule unreadable_rule = {
    .name = "logs.unreadable",
    .severity = TW_ERROR,
    .text = "A log begins behind another one in a file, and cannot be read.",
};
static const struct tw_rule placed_rule = {
    .name = "logs.placed",
    .severity = TW_NOTE,
    .text = "Logs of several clocks in a file tell the wall time: they are placed by it.",
};
static const struct tw_rule unplaced_rule = {
    .name = "logs.unplaced",
    .severity = TW_WARNING,
    .text = "Nothing tells when logs of several clocks in a file were in relation to each other: each begins at 0.",
};
static const struct tw_rule sums_rule = {
    .name = "logs.sums",
    .severity = TW_WARNING,
    .text = "Logs of calls and logs of their sums stand in one file: where calls are counted, sums are left out.",
};

/* Whether a log cannot be opened because of what is in it. */
static bool is_of_log(int status)
{
	return status == TW_ERR_FORMAT || status == TW_ERR_EMPTY || status == TW_ERR_UNSUPPORTED;
}

/* ---- In the order of the file. ---- */

/* The log behind one that has ended. */
struct tw_log_behind {
	struct tw_reader *reader;
	struct tw_mapping mapping;
	struct tw_homes homes;
	struct tw_event *events;
	struct tw_argument *arguments;
	size_t event_room, argument_room;
};

static void close_behind(struct tw_reader *reader)
{
	struct tw_log_behind *behind = reader->log.behind;
	if (!behind)
		return;
	tw_close(behind->reader);
	tw_mapping_free(&behind->mapping);
	tw_homes_free(&behind->homes);
	free(behind->events);
	free(behind->arguments);
	free(behind);
}

static uint64_t findings_behind(const struct tw_reader *reader, enum tw_severity severity)
{
	const struct tw_log_behind *behind = reader->log.behind;
	return behind && behind->reader ? tw_reader_findings(behind->reader, severity) : 0;
}

/* Opens the log behind this one. Returns 1, 0 where there is none that the reader has to read, or a negative status. */
static int open_behind(struct tw_reader *reader)
{
	struct tw_read_options options = reader->options;
	if (!reader->log.another_at || reader->log.apart || reader->log.behind)
		return reader->log.behind != NULL;
	struct tw_log_behind *behind = reader->log.behind = calloc(1, sizeof *behind);
	if (!behind)
		return tw_fail_memory(reader);
	options.format = NULL;
	options.before_count = 0;
	int status =
	    tw_open_log(&behind->reader, reader, reader->log.another_at, reader->log.before + 1, false, &options);
	if (!behind->reader)
		return tw_fail_memory(reader);
	if (status < 0 && is_of_log(status)) {
		const uint64_t at = reader->log.another_at;
		tw_report(reader, &unreadable_rule, at, at, 0, "%s", tw_reader_error(behind->reader));
		close_behind(reader);
		reader->log.behind = NULL;
		reader->log.another_at = 0;
		return 0;
	}
	if (status == 0)
		status = tw_begin(behind->reader, reader->use, &reader->request);
	if (status < 0)
		return tw_fail(reader, status, "%s", tw_reader_error(behind->reader));
	behind->homes.together = true;
	behind->mapping = (struct tw_mapping){.place = 1,
	                                      .trace = 1,
	                                      .from = behind->reader->dictionary,
	                                      .to = reader->dictionary,
	                                      .homes = &behind->homes};
	return 1;
}

static int map_row(struct tw_reader *reader, struct tw_log_behind *behind, const struct tw_batch *batch, size_t i,
                   size_t *used)
{
	struct tw_event *event = &behind->events[i];
	*event = batch->events[i];
	const size_t n = event->argument_count;
	if (!tw_extend(&behind->arguments, &behind->argument_room, *used + n + 1, sizeof *behind->arguments))
		return tw_fail_memory(reader);
	struct tw_argument *arguments = behind->arguments + *used;
	if (n)
		memcpy(arguments, batch->arguments + event->first_argument, n * sizeof *arguments);
	event->first_argument = (uint16_t)*used;
	event->offset += reader->log.another_at;
	*used += n;
	return tw_map_row(&behind->mapping, event, arguments) ? 0 : tw_fail_memory(reader);
}

static int read_behind(struct tw_reader *reader, struct tw_batch *batch)
{
	size_t used = 0;
	int status = open_behind(reader);
	if (status <= 0)
		return status;
	struct tw_log_behind *behind = reader->log.behind;
	status = tw_read(behind->reader, batch);
	if (status < 0)
		return tw_fail(reader, status, "%s", tw_reader_error(behind->reader));
	if (!tw_grow(&behind->events, &behind->event_room, batch->count + 1, sizeof *behind->events))
		return tw_fail_memory(reader);
	for (size_t i = 0; i < batch->count; i++)
		if (map_row(reader, behind, batch, i, &used) < 0)
			return TW_ERR_MEMORY;
	batch->events = behind->events;
	batch->arguments = behind->arguments;
	return status > 0 || tw_mapping_end(&behind->mapping) ? status : tw_fail_memory(reader);
}

static int read_record_behind(struct tw_reader *reader, struct tw_record *record)
{
	int status = open_behind(reader);
	if (status <= 0)
		return status;
	struct tw_reader *behind = reader->log.behind->reader;
	status = tw_read_record(behind, record);
	if (status < 0)
		return tw_fail(reader, status, "%s", tw_reader_error(behind));
	record->offset += reader->log.another_at;
	return status;
}

static void add_result(struct tw_rewrite_result *all, const struct tw_rewrite_result *more)
{
	all->records_in += more->records_in;
	all->records_out += more->records_out;
	all->records_changed += more->records_changed;
	all->records_dropped += more->records_dropped;
	all->lost_bytes += more->lost_bytes;
	all->missing_bytes += more->missing_bytes;
}

static int rewrite_behind(struct tw_reader *reader, struct tw_output *out, const struct tw_write_options *options,
                          struct tw_rewrite_result *result)
{
	int status = 0;
	for (struct tw_reader *last = reader; (status = open_behind(last)) > 0; last = last->log.behind->reader) {
		struct tw_rewrite_result more = {0};
		const struct tw_reader *behind = last->log.behind->reader;
		const struct tw_format_rewriting *how = &behind->format->rewriting;
		if (options ? !how->transcode : !how->repair)
			return tw_fail(reader, TW_ERR_UNSUPPORTED, "%s: the log of format %s in it cannot be written",
			               tw_source_name(reader), behind->format->name);
		status = options ? how->transcode(last->log.behind->reader, out, options, &more)
		                 : how->repair(last->log.behind->reader, out, &more);
		add_result(result, &more);
		if (status < 0)
			return tw_fail(reader, status, "%s", tw_reader_error(behind));
	}
	return status;
}

/* ---- In the order of time. ---- */

static int read_record(struct tw_reader *reader, struct tw_record *record)
{
	struct tw_merge *merge = reader->state;
	for (size_t i = 0; i < merge->count; i++) {
		struct tw_merge_input *input = &merge->inputs[i];
		int status = input->ended ? 0 : tw_read_record(input->reader, record);
		input->ended = status <= 0;
		if (status < 0)
			return tw_fail(reader, status, "%s", tw_reader_error(input->reader));
		record->offset += status ? input->reader->log.base : 0;
		if (status)
			return status;
	}
	tw_merge_count_findings(reader);
	return 0;
}

static void report(struct tw_reader *reader, const struct tw_rule *rule, uint64_t at, const char *text)
{
	struct tw_merge *merge = reader->state;
	tw_report(reader, rule, at, at, 0, "%s", text);
	merge->findings[rule->severity]++; /* those of the logs are added */
}

static int open_log(struct tw_reader *reader, uint64_t offset)
{
	struct tw_merge *merge = reader->state;
	struct tw_merge_input *input = &merge->inputs[merge->count];
	struct tw_merge_trace *trace = &merge->traces[merge->trace_count];
	enum { SHARES = 4 };
	const unsigned before = (unsigned)merge->count;
	struct tw_read_options options = tw_merge_options_of(reader, SHARES);
	if (offset) {
		options.format = NULL;
		options.before_count = 0;
	}
	trace->time.from = trace->time.to = 1;
	int status = (trace->path = strdup(tw_source_name(reader)))
	                 ? tw_open_log(&input->reader, reader, offset, before, true, &options)
	                 : TW_ERR_MEMORY;
	if (!input->reader)
		return tw_fail_memory(reader);
	if (status < 0 && before && is_of_log(status)) {
		report(reader, &unreadable_rule, offset, tw_reader_error(input->reader));
		tw_close(input->reader);
		input->reader = NULL;
		free(trace->path);
		return 0;
	}
	merge->trace_count++;
	input->trace = trace;
	input->mapping = &input->own;
	input->own = (struct tw_mapping){.trace = (uint32_t)merge->count,
	                                 .place = (uint32_t)merge->count,
	                                 .from = input->reader->dictionary,
	                                 .to = reader->dictionary,
	                                 .homes = &merge->homes};
	merge->count++;
	if (status < 0)
		return tw_fail(reader, status, "%s", tw_reader_error(input->reader));
	tw_merge_share(reader, merge->count - 1, input->reader);
	return 0;
}

static int open_logs(struct tw_reader *reader)
{
	struct tw_merge *merge = reader->state;
	merge->traces = calloc(TW_LOGS_MOST, sizeof *merge->traces);
	if (!merge->traces)
		return tw_fail_memory(reader);
	int status = tw_merge_reserve(reader, TW_LOGS_MOST);
	uint64_t offset = 0, behind = 1;
	while (status >= 0 && behind) {
		const size_t count = merge->count;
		status = open_log(reader, offset);
		behind = merge->count > count ? merge->inputs[count].reader->log.another_at : 0;
		offset += behind;
	}
	return status;
}

static void report_sums(struct tw_reader *reader)
{
	const struct tw_merge *merge = reader->state;
	const struct tw_reader *sums = NULL;
	for (size_t i = 0; i < merge->count; i++)
		if (merge->inputs[i].reader->traits.summed)
			sums = sums ? sums : merge->inputs[i].reader;
	if (sums && !reader->traits.summed)
		report(reader, &sums_rule, sums->log.base,
		       "a log of sums stands among logs of calls: where calls are counted it is left out, --weight "
		       "wall shows it");
}

static enum tw_alignment choose_alignment(struct tw_reader *reader)
{
	const struct tw_merge *merge = reader->state;
	const struct tw_merge_trace *first = NULL;
	bool placed = true;
	size_t some = 0;
	for (size_t i = 0; i < merge->count; i++) {
		const struct tw_merge_trace *trace = &merge->traces[i];
		first = trace->some && !first ? trace : first;
		some += trace->some;
		placed &= !trace->some || (trace->clock.has_wall && trace->clock.since_boot == first->clock.since_boot);
	}
	const uint64_t at = merge->count > 1 ? merge->inputs[1].reader->log.base : 0;
	if (some > 1 && placed && first->clock.since_boot)
		report(reader, &placed_rule, at,
		       "the logs in the file are placed by the time since boot, which they tell");
	else if (some > 1 && placed)
		report(reader, &placed_rule, at, "the logs in the file are placed by the wall time, which they tell");
	else if (some > 1)
		report(reader, &unplaced_rule, at,
		       "the logs in the file do not all tell the same wall time: each begins at 0");
	return placed && some ? TW_ALIGN_WALL : TW_ALIGN_FIRST;
}

/* ---- What is in all of them. ---- */

enum { COLUMNS = 6 };
struct tw_logs_survey {
	struct tw_info *infos;
	struct tw_kind_count *kinds;
	struct tw_thread_info *threads;
	struct tw_field *fields; /* of `list` */
	struct tw_info_list list;
};

static void close_logs(struct tw_merge *merge)
{
	struct tw_logs_survey *survey = merge->one_file.survey;
	if (!survey)
		return;
	free(survey->infos);
	free(survey->kinds);
	free(survey->threads);
	free(survey->fields);
	free(survey);
}

static int make_survey(struct tw_reader *reader, unsigned jobs)
{
	struct tw_merge *merge = reader->state;
	struct tw_logs_survey *survey = merge->one_file.survey = calloc(1, sizeof *survey);
	size_t kinds = 0, threads = 0;
	if (!survey || !(survey->infos = calloc(merge->count, sizeof *survey->infos)))
		return TW_ERR_MEMORY;
	for (size_t i = 0; i < merge->count; i++) {
		struct tw_merge_trace *trace = &merge->traces[i];
		int status = tw_read_info(merge->inputs[i].reader, jobs, &survey->infos[i]);
		if (status < 0)
			return tw_fail(reader, status, "%s", tw_reader_error(merge->inputs[i].reader));
		trace->some = survey->infos[i].records > 0;
		kinds += survey->infos[i].kind_count;
		threads += survey->infos[i].thread_count;
	}
	survey->kinds = calloc(kinds + 1, sizeof *survey->kinds);
	survey->threads = calloc(threads + 1, sizeof *survey->threads);
	survey->fields = calloc(merge->count * COLUMNS, sizeof *survey->fields);
	return survey->kinds && survey->threads && survey->fields ? tw_merge_align(reader) : TW_ERR_MEMORY;
}

static void add_kind(struct tw_logs_survey *survey, struct tw_info *info, const struct tw_kind_count *kind)
{
	size_t i = 0;
	while (i < info->kind_count && strcmp(survey->kinds[i].kind, kind->kind) != 0)
		i++;
	survey->kinds[i] = (struct tw_kind_count){kind->kind, survey->kinds[i].count + kind->count};
	info->kind_count += i == info->kind_count;
}

static uint64_t since_start(const struct tw_reader *reader, const struct tw_merge_time *how, uint64_t time)
{
	const uint64_t moved = tw_merge_time(how, time), start = reader->clock.start_ns;
	return moved > start ? moved - start : 0;
}

static void add_log(struct tw_reader *reader, size_t i, struct tw_info *info)
{
	const struct tw_merge *merge = reader->state;
	struct tw_logs_survey *survey = merge->one_file.survey;
	const struct tw_info *own = &survey->infos[i];
	const struct tw_merge_input *input = &merge->inputs[i];
	const uint64_t start = own->clock_start_ns, from = since_start(reader, &input->time, start),
		       to = since_start(reader, &input->time, start + own->span_ns);
	info->records += own->records;
	info->events += own->events;
	info->processes += own->processes;
	info->lost_bytes += own->lost_bytes;
	info->span_ns = to > info->span_ns ? to : info->span_ns;
	for (size_t k = 0; k < own->kind_count; k++)
		add_kind(survey, info, &own->kinds[k]);
	for (size_t k = 0; k < own->thread_count; k++) {
		struct tw_thread_info *thread = &survey->threads[info->thread_count++];
		*thread = own->threads[k];
		thread->start_ns = since_start(reader, &input->time, start + thread->start_ns);
		thread->end_ns = since_start(reader, &input->time, start + thread->end_ns);
	}
	const struct tw_field fields[COLUMNS] = {
	    {.name = "offset", .type = TW_FIELD_UINT, .value.u = input->reader->log.base},
	    {.name = "format", .type = TW_FIELD_TEXT, .value.bytes = own->format, .size = strlen(own->format)},
	    {.name = "ticks_per_second", .type = TW_FIELD_UINT, .value.u = input->reader->clock.ticks_per_second},
	    {.name = "records", .type = TW_FIELD_UINT, .value.u = own->records},
	    {.name = "from_ns", .type = TW_FIELD_NS, .value.u = from},
	    {.name = "to_ns", .type = TW_FIELD_NS, .value.u = to},
	};
	memcpy(&survey->fields[i * COLUMNS], fields, sizeof fields);
}

static int read_info(struct tw_reader *reader, unsigned jobs, struct tw_info *info)
{
	struct tw_merge *merge = reader->state;
	int status = make_survey(reader, jobs);
	if (status < 0)
		return *reader->error ? status : tw_fail_memory(reader);
	struct tw_logs_survey *survey = merge->one_file.survey;
	for (size_t i = 0; i < merge->count; i++)
		add_log(reader, i, info);
	survey->list =
	    (struct tw_info_list){.name = "logs", .fields = survey->fields, .columns = COLUMNS, .rows = merge->count};
	info->version = survey->infos[0].version;
	for (size_t i = 0; i < merge->count; i++)
		info->bytes += survey->infos[i].bytes;
	info->clock_start_ns = reader->clock.start_ns;
	info->kinds = survey->kinds;
	info->threads = survey->threads;
	info->lists = &survey->list;
	info->list_count = 1;
	tw_merge_count_findings(reader);
	return 0;
}

/* ---- All of them written again. ---- */

/* A repair goes by the order of the file. What there is to find has been reported. */
static int repair(struct tw_reader *reader, struct tw_output *out, struct tw_rewrite_result *result)
{
	struct tw_read_options options = reader->options;
	struct tw_reader *first;
	options.order = TW_ORDER_FILE;
	options.on_finding = NULL;
	int status = tw_open_log(&first, reader, 0, 0, false, &options);
	if (!first)
		return tw_fail_memory(reader);
	if (status == 0)
		status = tw_begin(first, TW_USE_WHOLE, &(struct tw_request){0});
	if (status == 0 && !first->format->rewriting.repair)
		status = tw_fail(first, TW_ERR_UNSUPPORTED, "%s: cannot be repaired", tw_source_name(reader));
	if (status == 0)
		status = first->format->rewriting.repair(first, out, result);
	if (status == 0)
		status = rewrite_behind(first, out, NULL, result);
	if (status < 0)
		tw_fail(reader, status, "%s", tw_reader_error(first));
	tw_close(first);
	return status;
}

/* ---- The entry. ---- */

static const struct tw_merge_logs logs = {.alignment = choose_alignment, .close = close_logs};

static int begin(struct tw_reader *reader)
{
	struct tw_merge *merge = reader->state = calloc(1, sizeof *merge);
	if (!merge)
		return tw_fail_memory(reader);
	merge->one_file.logs = &logs;
	reader->options.order = TW_ORDER_TIME;
	reader->log.another_at = 0;
	tw_input_end_at(reader->input, UINT64_MAX);
	reader->traits = (struct tw_traits){.origin = reader->format->name, .numbers_clash = true};
	reader->clock = (struct tw_clock){.ticks_per_second = TW_NS_PER_SECOND};
	return open_logs(reader);
}

/* What there was to find when the first was opened has been reported. */
static void count_reported(struct tw_reader *reader, const uint64_t reported[TW_ERROR + 1])
{
	struct tw_merge *merge = reader->state;
	for (int severity = TW_NOTE; severity <= TW_ERROR; severity++)
		merge->findings[severity] += reported[severity];
}

static int open_all(struct tw_reader *reader)
{
	const struct tw_format *first = reader->format;
	struct tw_dictionary *dictionary = tw_dictionary_new();
	uint64_t reported[TW_ERROR + 1];
	if (!dictionary)
		return tw_fail_memory(reader);
	first->reading.close(reader);
	reader->state = NULL;
	tw_dictionary_free(reader->dictionary);
	reader->dictionary = dictionary;
	memcpy(reported, reader->reports.findings, sizeof reported);
	int status = begin(reader);
	struct tw_merge *merge = reader->state;
	if (!merge)
		return status;
	merge->one_file.format = (struct tw_format){
	    .name = first->name,
	    .title = first->title,
	    .rules = first->rules,
	    .rule_count = first->rule_count,
	    .traits = {.samples_beside = true},
	    .reading = {.open = begin, .read = tw_merge_read, .read_record = read_record, .close = tw_merge_close},
	    .survey = {.info = read_info},
	    .rewriting = {.repair = repair},
	};
	reader->format = &merge->one_file.format;
	count_reported(reader, reported);
	if (status == 0)
		report_sums(reader);
	tw_merge_count_findings(reader);
	return status;
}

const struct tw_logs_reading tw_logs_of_file = {
    .open = open_all,
    .read = read_behind,
    .read_record = read_record_behind,
    .rewrite = rewrite_behind,
    .findings = findings_behind,
    .close = close_behind,
};
